"""The settings on screen: read from the address, changed by controls, written back.

Beside them the session keeps the visitor's own data, which no address ever holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from engine.core.enumerations import Guarantee
from engine.core.errors import InputError
from engine.core.tasks import TASKS, DataType
from engine.core.types import PublicFacts
from engine.mechanisms import Mechanism
from engine.privacy.failure import Delta, usual_delta
from engine.sources import Source
from engine.sources.twin import Twin
from pages.shared.state import allowed, links, pins
from pages.shared.state.settings import MAX_FOLDS, TASK, Settings, steps_of, with_look

if TYPE_CHECKING:
    from engine.uploads.curves import Upload
    from engine.uploads.events import UploadEvents
    from engine.uploads.rows import UploadRows

Option = TypeVar("Option")
# Session keys of the visitor's own data.
OWN_KEYS = {
    DataType.CURVES: "upload",
    DataType.READINGS: "upload_readings",
    DataType.RECORDS: "upload_rows",
    DataType.EVENTS: "upload_events",
}
LAB = "lab"
FIGURE = "figure"  # the key of the live figure
FRAME = "frame"  # the key of the frame of every page
_WITH_TABLE = ("", "home", "explore", LAB)  # Decide has the table itself
_TABS_WITH_OWN_DATA = ("estimate", "compare", "theory")
_STATED_ALONE = ("decide", "publish")  # these pages show no unconfirmed facts of a file
_PARAMETER = "s"


# -- the address ----------------------------------------------------------------------------


def load(page: str) -> None:
    """Take over the address at the first run, after Back and Forward, and when a link is followed.

    A bare address means "front page" after Back on the same page, but "leave as is" after a
    page switch, which drops the parameter; a link to another page counts, whatever changed on
    the way. A run started from the page is no navigation: its address may be an earlier one
    that the browser has not replaced yet. Such addresses count only if the browser reports that
    it went back.
    """
    state, written_token = st.session_state, st.query_params.get(_PARAMETER, "")
    same_page, state.page = state.get("page") == page, page
    moved = _figure_moved() | state.pop("changed", False)
    if not same_page:
        state.pop("left_out", None)
        state.drawn_here = set()
    if "settings" not in state:
        _follow(written_token, same_page)
        _move_folds(())
    elif (
        written_token != state.written
        and (written_token or same_page)
        and (not same_page or (not moved and (written_token not in state.behind or _went_back())))
    ):
        _follow(written_token, same_page)
        _move_folds(tuple(state))
    if written_token == state.written:
        state.behind = frozenset()


def _follow(written_token: str, same_page: bool) -> None:
    """Take over the settings and pins that an address holds."""
    state = st.session_state
    state.pop("brought", None)
    token, pinned, problems = pins.split(written_token)
    state.settings, problems_found = links.decode(token)
    state.link_problems = problems_found + problems
    if pinned:
        pins.take_over(pinned)
    elif same_page and shows_pins(state.page):  # Back neither loses pins nor writes them again
        state.left_out = pins.pinned()
    state.rev = state.get("rev", 0) + 1  # tells the browser to move
    state.written, state.own_epsilon = written_token, state.settings.epsilon
    state.behind = frozenset()  # addresses of earlier settings that the browser may still show
    state.followed_to = state.page


def _move_folds(known: tuple[Any, ...]) -> None:
    """Open the folds of the settings and close the others that are known."""
    state = st.session_state
    state.update({name: False for name in known if str(name).startswith("fold_")})
    state.update({f"fold_{name}": True for name in state.settings.open_folds})


def is_first_drawn(key: str) -> bool:
    """True at the first drawing of a control since its page was opened.

    The browser then begins with the control's default, even if the server knows its value from a
    control with the same key on the previous page.
    """
    drawn: set[str] = st.session_state.drawn_here
    if key in drawn:
        return False
    drawn.add(key)
    return True


def _figure_moved() -> bool:
    """True if the live figure's report changed since the last run."""
    state = st.session_state
    figure = state.get(FIGURE)
    report = figure.get("picked") if isinstance(figure, Mapping) else None
    before, state.last_report = state.get("last_report"), report
    return report is not None and report != before


def _went_back() -> bool:
    """True if Back or Forward of the browser led to the address of this run."""
    frame = st.session_state.get(FRAME)
    return isinstance(frame, Mapping) and frame.get("went_back") is not None


def save() -> None:
    """Write the settings into the address; a page on one's own data cannot be linked."""
    page = st.session_state.page
    is_own = shows_own_data() and uploaded(task_on_screen())
    token = "" if is_own else links.encode(st.session_state.settings)
    if shows_pins(page) and not is_own and pins.pinned() != st.session_state.get("left_out"):
        token = pins.join(token, pins.pinned())
    state, token_of_address = st.session_state, st.query_params.get(_PARAMETER, "")
    is_on_its_way = token_of_address in state.behind and token == state.written
    if token_of_address != token:
        state.behind |= {token_of_address, state.written} - {token}
    state.written = token
    if token_of_address == token or is_on_its_way:
        return
    if token:
        st.query_params[_PARAMETER] = token
    else:
        st.query_params.pop(_PARAMETER, None)


def task_on_screen() -> str:
    """Return the task of the page, whose data it shows."""
    page, now = st.session_state.page, current()
    if page == LAB:
        return now.estimated
    return data_task({"publish": now.published_task, "decide": now.decided_task}.get(page, TASK))


def shows_own_data() -> bool:
    """True if the page on screen can show the visitor's own data."""
    page = st.session_state.page
    return page != "learn" and (page != LAB or current().lab_tab in _TABS_WITH_OWN_DATA)


def shows_pins(page: str) -> bool:
    """True if this page shows pinned scenarios, which its address then carries."""
    return page == LAB and current().lab_tab == "compare"


def data_task(key: str) -> str:
    """Return the task whose data another one uses: an average number is that of whole curves."""
    return TASKS[key].data_of or key


def current() -> Settings:
    return st.session_state.settings


def take_over(**values: Any) -> None:
    """Replace some settings by what the browser shows already."""
    st.session_state.settings = replace(current(), **values)


def change(**values: Any) -> None:
    """Replace some settings; the browser side is told to follow where it shows them."""
    take_over(**values)
    st.session_state.changed = True
    st.session_state.pop("problem", None)


def open_of_link(fold_of: Mapping[str, str]) -> None:
    """Open the detail of a link that names none, as links of the first edition do.

    `fold_of` maps a setting to the only detail, or fold inside it, that uses it.
    """
    state = st.session_state
    if state.pop("followed_to", None) != state.page or current().open_folds:
        return
    initial = Settings()
    opened = {
        fold for name, fold in fold_of.items() if getattr(current(), name) != getattr(initial, name)
    }
    if opened:
        take_over(open_folds=tuple(sorted(opened)))
        _move_folds(())


def look_at(key: str, option: int) -> None:
    """Choose one of the ways to look."""
    change(looks=with_look(current().looks, key, option))


def looked_at(key: str, options: Sequence[Option], default: Option | None = None) -> Option:
    """Return the chosen way to look; else `default`, or the first of them."""
    index = dict(current().looks).get(key)
    if index is not None and index < len(options):
        return options[index]
    return options[0] if default is None else default


def note_fold(name: str, is_open: bool) -> None:
    """Keep in the settings whether a fold is open."""
    folds = {*current().open_folds}
    if (name in folds) != is_open:
        names = sorted(folds ^ {name})[:MAX_FOLDS]
        take_over(open_folds=tuple(names))


def steps(epsilon: float) -> tuple[float, ...]:
    """Return the steps of the slider, with a chosen ε added if it is none of them."""
    return steps_of(st.session_state.get("own_epsilon", epsilon), epsilon)


def set_epsilon(epsilon: float | None) -> None:
    """Choose any ε; the slider gets a step there and moves to it."""
    if epsilon is None:
        raise InputError("ε is needed.", field="epsilon")
    change(epsilon=allowed.epsilon(epsilon))
    st.session_state.own_epsilon = epsilon
    st.session_state.rev += 1


def bring_epsilon(epsilon: float) -> None:
    """Take over the ε that *Decide* recommends, and keep the one before it."""
    before = epsilon_before()
    before = current().epsilon if before is None else before
    set_epsilon(epsilon)
    st.session_state.brought = epsilon, before


def epsilon_before() -> float | None:
    """Return the ε before that of *Decide*; None unless *Decide* moved the ε on screen."""
    brought, before = st.session_state.get("brought", (None, None))
    return before if brought == current().epsilon != before else None


def set_delta(delta: float | None, task: str = TASK) -> None:
    """Choose δ below 1/n; nothing means the default 1/n²."""
    n = source(task).sizes.n_curves
    if delta is not None and not 0 <= delta < 1 / n:
        raise InputError(
            f"δ must be 0, or lie above 0 and below 1/n = {1 / n:.3g}; got {delta:g}.",
            field="delta",
            hint=f"The default is {usual_delta(n):.2g}.",
        )
    if delta == 0 and current().mechanism_of(task).guarantee is Guarantee.APPROXIMATE:
        raise InputError(
            "This method’s noise needs a δ above 0; got 0.",
            field="delta",
            hint="Choose another method, or a δ such as 1/n².",
        )
    default = delta is None or abs(delta / usual_delta(n) - 1) < 0.01
    change(delta=None if default else delta)


def set_seed(seed: int | None) -> None:
    change(seed=allowed.seed(0 if seed is None else seed))


# -- curves and methods ---------------------------------------------------------------------


def own_key(task: str) -> str:
    """Return the session key of the visitor’s own data: curves, readings, records or people."""
    return OWN_KEYS[TASKS[task].data]


def upload_of(task: str = TASK) -> Upload | UploadRows | UploadEvents | None:
    """Return the visitor's own data for a task, shown or not."""
    data = st.session_state.get(own_key(task))
    return data if data is not None and data.serves(data_task(task)) else None


def own_with(facts: PublicFacts) -> Upload | UploadRows | UploadEvents | None:
    """Return the visitor's own data with these stated facts."""
    for key in OWN_KEYS.values():
        data: Upload | UploadRows | UploadEvents | None = st.session_state.get(key)
        if data is not None and data.facts == facts:
            return data
    return None


def show_own(task: str, is_shown: bool) -> None:
    st.session_state[f"show_{own_key(task)}"] = is_shown


def uploaded(task: str = TASK) -> bool:
    """True if the visitor's own data are shown; effects need covariates with stated ranges.

    A first look stays on pages for looking: no forecast or release may take ranges of the file.
    """
    data = upload_of(task)
    if data is None or not st.session_state.get(f"show_{own_key(task)}"):
        return False
    if data.facts.is_proposed and st.session_state.get("page") in _STATED_ALONE:
        return False
    return "covariates" not in TASKS[task].roles or bool(data.facts.covariates)


def source(task: str = TASK) -> Source:
    """Return the source on screen: the visitor's own data, or the chosen recipe.

    If the table on *Decide* sets its sites, they hold on all pages with the scenario.
    """
    data, page = upload_of(task), st.session_state.get("page")
    if data is not None and uploaded(task):
        return data
    return current().studied(task) if page in _WITH_TABLE else current().source_of(task)


def twin_of(real: Source) -> Twin:
    """Return the twin of real curves, with sizes and spread as the visitor last chose them."""
    default = Twin.of(real.facts, real.sizes)
    origin, stated = st.session_state.get("twin", (None, default))
    return stated if origin == default else default


def change_twin(real: Source, twin: Twin) -> None:
    """Choose other sizes or another spread; they last as long as these curves are on screen."""
    st.session_state.twin = (Twin.of(real.facts, real.sizes), twin)
    st.session_state.pop("problem", None)


def change_source(task: str, source: Source) -> None:
    """Change the data; forget a target or typical error in another unit than theirs."""
    now = current()
    same_unit = now.source_of(task).facts.value_unit == source.facts.value_unit
    change(
        studies=now.with_study(task, source).studies,
        target_distance=now.target_distance if same_unit else None,
        typical_error=now.typical_error if same_unit else None,
    )


def change_mechanism(task: str, mechanism: Mechanism) -> None:
    change_study(task, mechanism=mechanism)


def change_study(
    task: str, source: Source | None = None, mechanism: Mechanism | None = None
) -> None:
    """Change data and method of a task at once; keep targets."""
    change(studies=current().with_study(task, source, mechanism).studies)


def delta(of: Source, task: str = TASK) -> Delta:
    """Return the δ of the chosen method: see `Settings.delta_on`."""
    return current().delta_on(of, current().mechanism_of(task))
