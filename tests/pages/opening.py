"""Pages opened in the framework's own tester, as a link opens them: without another page before."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from engine.uploads.curves import Upload, read_curves
from engine.uploads.facts import declare
from engine.uploads.layout import suggest_layout
from engine.uploads.tables import read_table
from pages.shared import places
from tests import files
from tests.waiting import PATIENCE

SHELL = str(Path(__file__).parents[2] / "pages" / "shared" / "shell.py")


def open_page(token="", page="explore", fine=True, **state):
    """One page, by default the home page; `fine` says that nothing of ours may go wrong."""
    page, token = places.present(page, token)
    at = AppTest.from_file(SHELL, default_timeout=2 * PATIENCE)
    if page != "explore":
        at.switch_page(f"../{page}.py")
    if token:
        at.query_params["s"] = token
    for name, value in state.items():
        at.session_state[name] = value
    at.run()
    assert not at.exception
    assert not fine or not any("our side" in error.value for error in at.error)
    return at


def keys(at):
    """The keys of all buttons on screen."""
    return {button.key for button in at.button}


ONE_CENTRE, EACH_SITE = "One trusted centre holds all of it", "Each site adds its own noise"


def trust(at, who=ONE_CENTRE):
    """Answer who is trusted with the data, where the form for one's own file asks."""
    for radio in at.radio:
        if str(radio.key).startswith("upload_trust") and radio.value is None:
            radio.set_value(who)
            at.run()
            assert not at.exception
    return at


def visit(page, token="", **state):
    """A page at an address of any edition; a fold of one that went into Lab is a detail there."""
    folds = ".".join(name.removeprefix("fold_") for name in state if name.startswith("fold_"))
    if folds and "open-" not in token and places.present(page)[0] == "lab":
        token = "~".join(filter(None, [token, f"open-{folds}"]))
    return open_page(token, page, **state)


def own_curves():
    table = read_table(files.csv(files.growth_frame(80, 8)))
    return Upload(curves=read_curves(table, suggest_layout(table)), declared=declare(
        60, 210, 2, 18, "growth chart", person="child", people="children", value_unit="cm",
        **files.EVEN))
