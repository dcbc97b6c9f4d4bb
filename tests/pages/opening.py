"""Pages opened in the framework's own tester, as a link opens them: without another page before."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from engine.core.tasks import DataType
from engine.uploads.curves import Upload
from engine.uploads.facts import declare
from engine.uploads.looking import observations_of
from engine.uploads.proposal import propose
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


def visit(page, token="", **state):
    """A page at an address of any edition; a fold of one that went into Lab is a detail there."""
    folds = ".".join(name.removeprefix("fold_") for name in state if name.startswith("fold_"))
    if folds and "open-" not in token and places.present(page)[0] == "lab":
        token = "~".join(filter(None, [token, f"open-{folds}"]))
    return open_page(token, page, **state)


def upload_of(frame, declared, data=DataType.CURVES, groups=(), **columns):
    """Curves of a data frame or a text, by the reading that it proposes with these columns."""
    content = frame.encode() if isinstance(frame, str) else files.csv(frame)
    stated = {"columns": columns, "groups": list(groups)}
    reading = propose(content, data=data, stated=stated).reading
    return Upload(
        curves=observations_of(content, reading, data),
        declared=declared,
        reading=reading,
        groups=groups,
    )


def own_curves():
    return upload_of(
        files.growth_frame(80, 8),
        declare(
            60,
            210,
            2,
            18,
            "growth chart",
            person="child",
            people="children",
            value_unit="cm",
            **files.EVEN,
        ),
    )
