"""Streamlit's own command, ``python -m tests.quick_streamlit run app.py``, with few data sets.

The process of the pages has them, and so have its workers, which are copies of a process that has
imported what the jobs need beforehand.
"""

if __name__ == "__main__":  # workers import this module again, and need nothing of it
    from streamlit.web.cli import main

    import tests.few_of_pages
    from pages.shared.server import jobs

    jobs._MODULES = (*jobs._MODULES, tests.few_of_pages.__name__)
    main(prog_name="streamlit")
