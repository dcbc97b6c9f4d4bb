"""The frame around every page: title, logo, navigation.

Worker processes import the main script again, so whatever draws stands under the guard and
streamlit is only imported there.
"""

from __future__ import annotations

# Menu section ("" for the top level), script in `pages/`, title; the address is the script's name.
PAGES = (
    ("", "explore.py", "Explore"),
    ("", "plan.py", "Plan"),
    ("", "teach.py", "Teach"),
    ("Compare", "compare.py", "Methods"),
    ("Compare", "sites.py", "Sites"),
    ("Compare", "sweeps.py", "Sweeps"),
    ("Models", "coefficients.py", "Varying coefficients"),
    ("Models", "regression.py", "Regression"),
    ("Models", "summaries.py", "Summaries"),
    ("Models", "sparse.py", "Sparse regression"),
    ("Check", "rates.py", "Rates"),
    ("Check", "audit.py", "Audit"),
    ("Check", "reproduce.py", "Reproduce"),
    ("Publish", "release.py", "Release"),
    ("Guide", "guide.py", "Guide"),
    ("Guide", "methods.py", "Method notes"),
)

if __name__ == "__main__":
    from pathlib import Path

    import streamlit as st

    from pages.shared import components
    from pages.shared.frame import layout, word_fold
    from pages.shared.server import visitors
    from pages.shared.state import session

    HERE = Path(__file__).parent
    FOLDER = HERE.parent
    ASSETS = HERE / "assets"

    def navigation() -> dict[str, list]:
        """Menu section to its pages; the first page is the home page."""
        (section, script, title), *others = PAGES
        home = st.Page(FOLDER / script, title=title, url_path="home", default=True)
        # The default page answers at "/" only, so its own name is a second, hidden entry.
        alias = st.Page(FOLDER / script, title=title, visibility="hidden")
        menu = {section: [home, alias]}
        for section, script, title in others:
            menu.setdefault(section, []).append(st.Page(FOLDER / script, title=title))
        return menu

    page = st.navigation(navigation(), position="top")
    st.set_page_config(
        page_title=f"{page.title} · Privacy Curves",
        page_icon=str(ASSETS / "favicon.svg"),
        layout="wide",
    )
    theme = st.context.theme.type or "light"
    st.logo(str(ASSETS / f"logo_{theme}.svg"), size="large")
    visitors.admit()
    components.frame()
    session.load(page.url_path)
    with layout.user_errors():  # the last resort: whatever a page did not expect
        page.run()
        word_fold.show()
    session.save()
