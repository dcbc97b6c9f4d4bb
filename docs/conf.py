"""How the documentation site is built: `make docs`, by Sphinx from what stands in this folder."""

import os
import re
from pathlib import Path

import privacy_curves
from plotly.offline import get_plotlyjs

# Figures of notebooks bring the script that draws them: nothing is fetched from elsewhere.
os.environ["PLOTLY_RENDERER"] = "notebook"
# The notebook on figures of papers takes them from the repository: the wheel leaves them out.
os.environ["PYTHONPATH"] = str(Path(__file__).parents[1])

project = "Privacy Curves"
version = release = privacy_curves.__version__
copyright = "the authors of Privacy Curves"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
exclude_patterns = ["README.md", "review_checklist.md"]  # they point at files of the repository
suppress_warnings = ["myst.header"]  # a note on a method may open below the first rank of headings

myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]

# Notebooks are kept without results: each build runs them, and a cell that fails stops it.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300

autodoc_typehints = "none"  # the docstrings give types, with shapes and units
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"Privacy Curves {release}"
html_show_sphinx = False
html_copy_source = False  # the sources stand in the repository
html_show_copyright = False

# What plotly would load from elsewhere for formulas in figures, which have none.
_OUTSIDE = re.compile(r'<script src="https://[^"]*/mathjax/[^"]*"></script>')


def share_drawing(app, problem):
    """Keep the script that draws figures once, beside all pages: each notebook has a copy of it."""
    if problem or app.builder.name != "html":
        return
    script, folder = get_plotlyjs().strip(), Path(app.outdir)
    (folder / "_static/plotly.min.js").write_text(script, "utf-8")
    for page in (folder / "notebooks").glob("*.html"):
        text = page.read_text("utf-8")
        shared = '<script src="../_static/plotly.min.js"></script>'
        text = text.replace(f"<script>{script}</script>", shared)
        page.write_text(_OUTSIDE.sub("", text), "utf-8")


def setup(app):
    """Let the site share what its notebooks have in common."""
    app.connect("build-finished", share_drawing)
