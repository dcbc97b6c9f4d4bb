"""The study as one sentence, every bracket of which can be changed, and its table of sites."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.core.errors import InputError
from engine.core.tasks import DataType
from engine.language.grammar import escape
from engine.language.numbers import whole, with_unit
from engine.topics.decision import words
from engine.topics.decision.answer import DECIDED
from engine.topics.planning.answer import PlannedStudy, bounds
from engine.topics.sites import site_table
from engine.topics.sites.site_table import SiteRow
from pages.parts import site_editor
from pages.parts.decide.view import DecideView, change_unit, choose, data_choice, resize
from pages.shared.frame import controls, layout
from pages.shared.state import allowed, links, session, settings
from pages.shared.state.settings import Settings
from pages.shared.state.site_table import one_more

_FEWER = 3  # empty parts at the end, so that nothing of a longer sentence stays in sight


def examples() -> None:
    """List worked examples, each one click away."""
    tokens = dict(example_studies())
    with st.container(horizontal=True, key="decide_examples", vertical_alignment="center"):
        st.markdown(":small[Examples:]", width="content")
        controls.bound(
            st.pills,
            "Worked examples",
            example_on_screen(session.current()),
            lambda label: _open(tokens[label]) if label else None,
            "study_example",
            options=list(tokens),
            label_visibility="collapsed",
            wrap=True,
        )


def _open(token: str) -> None:
    """Open another study; settings it does not state return to their defaults."""
    st.session_state.settings, _ = links.decode(token)
    session.show_own(settings.TASK, False)
    session.change()
    st.session_state.rev += 1


def show(view: DecideView) -> None:
    """Show the sentence with its brackets."""
    facts, included = view.facts, view.included
    task = view.decided
    people, observations = _means(view)
    with st.container(horizontal=True, vertical_alignment="center", key="sentence", gap="small"):
        _say("We publish the")
        with st.container(width=200):
            controls.bound(
                st.selectbox,
                "What is published",
                task.key,
                choose,
                "decided",
                options=list(DECIDED),
                label_visibility="collapsed",
                format_func=DECIDED.__getitem__,
            )
        _say("of")
        with st.container(width=250):
            data_choice(task, label_visibility="collapsed")
        if view.refusal is not None:
            return
        in_all = whole(site_table.people(view.rows))
        is_uneven = len({row.n_curves for row in included}) > 1
        if is_uneven:  # their sizes are in the table
            _say(f"for {in_all} {escape(facts.people)} at")
        else:
            _say("for")
            _count("people", f"{facts.people.capitalize()} at each {view.site}", people)
            _say(f"{escape(facts.people)} at{' each of' * (len(included) != 1)}")
        _sites_bracket(view)
        sizes = (
            f"({words.spread(view.rows)} at each)"
            if is_uneven
            else f"({in_all} in all)"
            if len(included) > 1
            else ""
        )
        if task.data is not DataType.CURVES:
            _say(f"{sizes}.")
        else:
            _say(f"{sizes} with" if sizes else "with")
            each = {row.n_observations_per_curve for row in included}
            if len(each) > 1:
                _say(f"{min(each)} to {max(each)}")
            else:
                _count("readings", f"Observations of each {facts.person}", observations)
            _say("observations each.")
        _say(words.subject(task))
        with st.container(width=110):
            controls.number(
                "Target",
                view.target,
                _set_target(view),
                "target",
                refused_here=False,
                label_visibility="collapsed",
                help=words.distance(task, facts),
            )
        _unit(view)
        _say("in")
        with st.container(width=120):
            controls.bound(
                st.selectbox,
                "Confidence",
                view.settings.confidence,
                lambda share: session.change(confidence=share),
                "confidence",
                options=list(words.CONFIDENCES),
                label_visibility="collapsed",
                format_func=words.CONFIDENCES.__getitem__,
            )
        _say("releases.")
        for _ in range(_FEWER):
            st.empty()
    is_below = not view.on_screen.has_free_sites  # else the box of the sites says it
    for key in ("people", "sites", "readings"):
        if key != "sites" or is_below:
            controls.show_problem(f"w_study_{key}")
    controls.show_problem("w_target")


def _sites_bracket(view: DecideView) -> None:
    """Choose the number of sites; a table of sites can be pasted if their sizes are free."""
    included = view.included
    nouns = words.site_noun(view.facts)
    if not view.on_screen.has_free_sites:
        _count("sites", nouns[1].capitalize(), len(included))
        _say(nouns[len(included) != 1])
        return
    with bracket(view):
        if is_open():  # a field that is not in sight would forget what it was told
            _count("sites", nouns[1].capitalize(), len(included), is_labelled=True)
        controls.show_problem("w_study_sites")
        paste(view)


def _means(view: DecideView) -> tuple[int, int]:
    """Return the mean numbers of people and of observations per site."""
    included = view.included
    return (
        round(sum(row.n_curves for row in included) / len(included)),
        round(sum(row.n_observations_per_curve for row in included) / len(included)),
    )


def _say(text: str) -> None:
    st.markdown(text, width="content")


def _set_target(view: DecideView) -> Callable[[float], None]:
    """Take a target over that asks for more than the middle of the stated range would give."""

    def write(value: float) -> None:
        unit, half = view.unit, view.facts.value_half_width
        target = allowed.target(value)
        if view.decided.has_value_unit and target >= half:
            raise InputError(
                f"The target must be below {with_unit(f'{half:g}', unit)}, half of the stated "
                f"range; got {target:g}.",
                field="target",
                hint="The middle of the range is as close without any data. "
                + (f"Errors are in {unit}." if unit else ""),
            )
        session.change(target_distance=target)

    return write


def _unit(view: DecideView) -> None:
    """Choose the unit of the target, and of all values, if the quantity has several."""
    units = view.on_screen.units
    if not view.unit:
        return
    if len(units) < 2:
        _say(escape(view.unit))
        return
    with st.container(width=110):
        controls.bound(
            st.selectbox,
            "Unit",
            view.unit,
            lambda unit: change_unit(view.decided, view.target, unit),
            "target_unit",
            options=list(units),
            label_visibility="collapsed",
        )


def _count(dial: str, label: str, value: int, is_labelled: bool = False) -> None:
    """Draw one size of all sites."""
    with st.container(width=92):
        controls.number(
            label,
            value,
            _resize(dial),
            f"study_{dial}",
            is_whole=True,
            refused_here=False,
            label_visibility="visible" if is_labelled else "collapsed",
        )


def _resize(dial: str) -> Callable[[int], None]:
    """Change a size of the study as it is by then: two can be typed before the page is drawn."""

    def write(value: int) -> None:
        view = DecideView()
        if view.refusal is not None:
            return
        if view.on_screen.has_free_sites and view.settings.sites:
            site_editor.replace_table(_table_with(view.rows, dial, value))
            return
        people, observations = _means(view)
        setting = PlannedStudy(
            view.source,
            view.mechanism,
            view.settings.epsilon,
            people,
            observations,
            len(view.included),
        )
        low, high = bounds(setting, dial)
        if dial == "sites":
            high = min(high, site_table.MAX_SITES)
        if not low <= value <= high:
            what = {
                "people": f"number of {view.facts.people} at each {view.site}",
                "sites": f"number of {words.site_noun(view.facts)[1]}",
                "readings": "number of observations",
            }[dial]
            raise InputError(
                f"The {what} must lie between {low:g} and {high:g}; got {value}.", field=dial
            )
        resize(view.decided, view.on_screen, setting.moved(dial, value).curves)
        site_editor.restart()

    return write


def _table_with(rows: Sequence[SiteRow], dial: str, value: int) -> list[SiteRow]:
    """Return the table with one size of all its sites changed; sites come and go at its end."""
    if dial == "people":
        return [replace(row, n_curves=value) for row in rows]
    if dial == "readings":
        return [replace(row, n_observations_per_curve=value) for row in rows]
    if not 1 <= value <= site_table.MAX_SITES:
        raise InputError(
            f"The table takes 1 to {site_table.MAX_SITES} sites; got {value}.", field="sites"
        )
    table = list(rows)
    while sum(row.included for row in table) < value:
        table = one_more(table)
    while sum(row.included for row in table) > value:
        table.pop()
    gone = [row.name for row in rows[len(table) :]]
    if gone:
        st.toast(
            f"Gone from the table: {', '.join(map(escape, gone))}. The browser’s Back brings "
            "them back.",
            icon=":material/info:",
        )
    return table


# -- worked examples -------------------------------------------------------------------------------


_EXAMPLES = (
    (
        ("Glucose in twelve hospitals", "c-glucose_days~c.n_curves-1800~c.n_servers-12~target-0.5"),
        ("Hormones in twelve hospitals", "c-hormone_study~c.n_curves-1800~c.n_servers-12~target-8"),
    ),
    (
        ("Growth in schools", "c-growth_curves~c.n_curves-1000~c.n_servers-10~target-2"),
        ("Growth in schools", "c-sparse_curves~c.n_curves-1000~c.n_servers-10~target-2"),
    ),
    (
        ("Electricity by district", "c-electricity_days~c.n_curves-2000~c.n_servers-8"),
        ("Activity by district", "c-activity_days~c.n_curves-2000~c.n_servers-8"),
        ("Growth by district", "c-sparse_curves~c.n_curves-2000~c.n_servers-8~target-2"),
    ),
)


@cache
def example_studies() -> tuple[tuple[str, str], ...]:
    """Return the label and address of every example."""
    return tuple(
        next(line for line in lines if not links.decode(line[1])[1]) for lines in _EXAMPLES
    )


def example_on_screen(settings: Settings) -> str | None:
    """Return the label of the example on screen, whichever details are open beside it; or None."""
    plain = links.encode(replace(settings, open_folds=()))
    return next(
        (
            label
            for label, token in example_studies()
            if links.encode(links.decode(token)[0]) == plain
        ),
        None,
    )


# -- the table of sites ----------------------------------------------------------------------------


TABLE = "table"  # its fold
_BOX = "sites_of_study"


def show_table(view: DecideView) -> None:
    """Show who takes part; curves that come with their sites keep them."""
    free, sizes = view.on_screen.has_free_sites, {row.n_curves for row in view.rows}
    if view.refusal is not None or (not free and view.on_screen.is_random and len(sizes) == 1):
        return  # the sentence says all there is
    if len(view.rows) == 1 and TABLE not in view.settings.open_folds:
        return
    several = words.site_noun(view.facts)[1]
    layout.folded(f"Table of {several}", TABLE, lambda: _table(view))


def _table(view: DecideView) -> None:
    """Show the sites; they can be edited if their sizes are free."""
    if not view.on_screen.has_free_sites:
        st.markdown(f":small[{words.given_sites(view.on_screen)}]")
        st.dataframe(
            {
                "Site": [row.name for row in view.rows],
                view.facts.people.capitalize(): [row.n_curves for row in view.rows],
            },
            hide_index=True,
        )
        return
    site_editor.editor(None, view.facts, site_editor.STUDY)
    controls.show_refusal(view.problem)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        site_editor.preset_choice()
        site_editor.buttons(view.facts)


def contributions(view: DecideView) -> None:
    """Show whose curves the result depends on."""
    layout.small("" if view.answer is None else words.contributions(view.answer))


def bracket(view: DecideView) -> DeltaGenerator:
    """Draw the sites in the sentence: their number, and behind it the box for a table."""
    n = len(view.included)
    return st.popover(
        f"{n} {_nouns(view)[n != 1]}",
        key=_BOX,
        on_change="rerun",
        help="Change their number, or paste a table of them.",
    )


def is_open() -> bool:
    """True if the box behind the bracket is in sight."""
    return bool(st.session_state.get(_BOX))


def paste(view: DecideView) -> None:
    """Draw the box for a table from a spreadsheet."""
    st.text_area(
        f"Or paste a table, one {view.site} per line: name, {view.facts.people}, and if "
        f"you like observations of each {view.facts.person}",
        key="pasted_table",
        placeholder="North, 150, 30\nSouth, 90, 30",
        height=160,
    )
    controls.show_problem("pasted_table")
    observations = view.included[0].n_observations_per_curve
    st.button(
        "Use this table",
        key="use_pasted",
        type="primary",
        on_click=_use_pasted,
        args=(observations, view.facts.people, _nouns(view)),
    )


def _nouns(view: DecideView) -> tuple[str, str]:
    return words.site_noun(view.facts)


def _use_pasted(observations: int, people: str, nouns: tuple[str, str]) -> None:
    """Take the pasted table over, say what was read, and close the box."""
    text = st.session_state.get("pasted_table", "")
    try:
        rows = site_table.pasted(text, observations)
        site_editor.replace_table(rows)
    except InputError as problem:
        st.session_state.problem = ("pasted_table", problem)
        return
    st.session_state[_BOX] = False
    st.toast(
        f"Read: {len(rows)} {nouns[len(rows) != 1]}, {whole(site_table.people(rows))} "
        f"{people}." + _renamed(text, rows),
        icon=":material/check:",
    )


def _renamed(text: str, rows: Sequence[SiteRow]) -> str:
    """Say which names of the table differ from the pasted ones."""
    others = [escape(row.name) for row in rows if row.name not in text]
    return f" Names here: {', '.join(others)}." if others else ""
