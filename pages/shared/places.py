"""The places of the dashboard, and where addresses of earlier editions lead.

A page answers at the name of its script. What was a page once, and is a part of another one now,
has a line in `EARLIER`: its address still works, with the settings it carries.
"""

from __future__ import annotations

from typing import NamedTuple

# Menu section ("" for the top level), script in `pages/`, title.
PAGES = (
    ("", "explore.py", "Explore"),
    ("", "decide.py", "Decide"),
    ("", "learn.py", "Learn"),
    ("Compare", "compare.py", "Methods"),
    ("Compare", "sweeps.py", "Sweeps"),
    ("Models", "coefficients.py", "Varying coefficients"),
    ("Models", "regression.py", "Regression"),
    ("Models", "summaries.py", "Summaries"),
    ("Models", "sparse.py", "Sparse regression"),
    ("Check", "rates.py", "Rates"),
    ("Check", "audit.py", "Audit"),
    ("Check", "reproduce.py", "Reproduce"),
    ("", "publish.py", "Publish"),
    ("Guide", "guide.py", "Guide"),
    ("Guide", "methods.py", "Method notes"),
)


class Moved(NamedTuple):
    """Where an earlier page went: the page, and the words of an address that show that part."""

    page: str
    token: str = ""

    def with_settings(self, token: str) -> str:
        """The address there for settings of the earlier page, which go before those of the part."""
        return "~".join(filter(None, (self.token, token)))


# By the address of the earlier page.
EARLIER = {
    "plan": Moved("decide", "open-planner"),
    "sites": Moved("decide", "sites-equal~open-hospitals"),
    "teach": Moved("learn"),
    "release": Moved("publish"),
}


def present(page: str, token: str = "") -> tuple[str, str]:
    """The page and the token that show today what an address of any edition asked for.

    Parameters
    ----------
    page : str
        The part of the address behind the slash; "" or "home" for the first page.
    token : str
        Its settings.

    Returns
    -------
    tuple of str
        Page and token.
    """
    if page not in EARLIER:
        return page, token
    moved = EARLIER[page]
    return moved.page, moved.with_settings(token)
