"""What a row of the file is: which column plays which role, and the observations this gives.

Who is one person and who is trusted with the data is asked, never guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from engine.answers.groups import MAX_GROUPS
from engine.core.errors import InputError
from engine.core.lists import counted, shortened
from engine.core.tasks import MEAN_FUNCTION, TASKS, DataType
from engine.language.grammar import capital
from engine.language.numbers import whole
from engine.uploads import examples
from engine.uploads.beginnings import kind_of_times, suggested_dates
from engine.uploads.conversions import HOURS_IN, UNITS_OF_DAY, Dates, Kind
from engine.uploads.curves import CurveTable, read_curves
from engine.uploads.events import EventColumns, EventTable, read_events
from engine.uploads.facts import check_columns
from engine.uploads.layout import (
    KINDS,
    Layout,
    has_people_in_columns,
    roles_by_name,
    site_like,
    suggest_layout,
)
from engine.uploads.regressors import MAX_COVARIATES
from engine.uploads.rows import RowTable, read_rows
from engine.uploads.tables import Table
from engine.uploads.units import known_unit
from pages.shared.frame.controls import plain
from pages.shared.uploads import draft, tables
from pages.shared.uploads.draft import Draft
from pages.shared.uploads.tables import key_of

_FILES = {
    DataType.CURVES: ("Curves as CSV, TSV or XLSX: a row per observation, or a row or column per "
                      "curve; or exports of glucose monitors, GGIR or Green Button, a file per "
                      "person in a .zip",
                      examples.GROWTH_CURVES),
    DataType.READINGS: ("Observations as CSV, TSV or XLSX: one row per person",
                        examples.TEMPERATURES),
    DataType.RECORDS: ("Records as CSV, TSV or XLSX: one row per record, numbers in columns",
                       examples.RECORDS)}
_ROLES = {"id": "Column of people", "time": "Column of times", "value": "Column of values"}
_WHO = "Who a row belongs to"
_ONE_CENTRE, _EACH_SITE = "One trusted centre holds all of it", "Each site adds its own noise"
_SEVERAL = {"average": "average them: protect the person", "keep": "protect one row"}
_DAYS = {"average": "average them by the time of day",
         "keep": "keep all observations, as an ambulatory glucose profile does"}
_EVERY_ROW = "every row is another person"
_CALENDAR, _OF_DAY, _FROM_FIRST, _ELAPSED = "calendar", "of_day", "from_first", "elapsed"
_BEGINNINGS = {_CALENDAR: "the calendar, or a public day", _OF_DAY: "midnight: the time of day",
               _FROM_FIRST: "each person’s first observation",
               _ELAPSED: "a start: 1:40:00 is elapsed time"}
_OFFERED = {Kind.DATES: (_CALENDAR, _OF_DAY, _FROM_FIRST),
            Kind.CLOCK: (_OF_DAY, _ELAPSED, _FROM_FIRST)}


def file_step(task: str) -> bool:
    """The file and the roles of its columns; whether it can be read so.

    Raises
    ------
    InputError
        Whatever the file or its columns are refused for.
    """
    before = draft.of(task)
    draft.keep(None)
    data = TASKS[task].data
    table = tables.uploaded(*_FILES[data])
    if table is None:
        return False
    layout = _layout(table, task)
    several = _several(table, layout)
    layout = replace(layout, server=site_column(layout.of(table), layout))
    observations = _read(table, layout, several)
    draft.keep(Draft(layout, several, observations,
                     None if before is None else before.declared,
                     _groups(observations, layout)))
    in_short(_counts(observations, layout), observations.notes)
    if isinstance(observations, CurveTable) and observations.is_of_rows:
        st.warning("**One row is protected, not one person.** Average the rows of each person, or "
                   "state beside the odds how many rows one person has.",
                   icon=":material/warning:")
    return True


def _several(table: Table, layout: Layout | EventColumns) -> str:
    """What is done with several rows or days of one person, asked where there can be any."""
    if table.export is not None and not layout.is_wide:
        return st.selectbox("Several days of one person", [*_DAYS], format_func=_DAYS.__getitem__,
                            key=key_of("upload_days"), help="All days of a person are one record, "
                            "and the person is protected, both ways. Averages hide how much days "
                            "differ: percentile curves lie closer together, and less time is spent "
                            "out of range.")
    return st.selectbox("If one person has several rows", [*_SEVERAL],
                        format_func=_SEVERAL.__getitem__,
                        key=key_of("upload_several")) if layout.is_wide else "keep"


def _read(table: Table, layout: Layout | EventColumns, several: str
          ) -> CurveTable | RowTable | EventTable:
    """What is in the columns; dates that can be read in two ways are asked for."""
    if isinstance(layout, EventColumns):
        return tables.read(read_events, table, layout, None)
    if layout.data is DataType.RECORDS:
        return tables.read(read_rows, table, layout, None)
    return tables.read(read_curves, table, layout, several)


def _counts(observations: CurveTable | RowTable | EventTable, layout: Layout | EventColumns
            ) -> list[str]:
    """How many there are, of what and where."""
    if isinstance(observations, EventTable) or isinstance(layout, EventColumns):
        return [f"{whole(len(observations.server))} people"]
    if isinstance(observations, RowTable):
        n_columns = len(observations.covariate_names) + (observations.values is not None)
        return [f"{whole(observations.n_rows)} records of {counted(n_columns, 'number')}"]
    return _numbers_of(observations, layout.is_single)


def _numbers_of(read: CurveTable, is_single: bool) -> list[str]:
    """How many curves there are, and of how many observations."""
    if is_single:
        return [f"{whole(read.n_curves)} people with one observation each"]
    used = read.counts[read.counts > 0]
    fewest, largest = int(used.min()), int(used.max())
    each = whole(largest) if fewest == largest else f"{whole(fewest)} to {whole(largest)}"
    return [f"{whole(read.n_curves)} curve{'' if read.n_curves == 1 else 's'}",
            f"{each} {'observation' if largest == 1 else 'observations'} each"]


def in_short(counts: Sequence[str], notes: Sequence[str]) -> None:
    """What was read in a bold line, and a list of what to know of it."""
    listed = "".join(f"\n- {plain(capital(note))}" for note in notes)
    st.markdown(f"**{plain(' · '.join(counts))}**\n{listed}")


# -- the roles ------------------------------------------------------------------------------------


def _layout(table: Table, task: str) -> Layout:
    """Suggested roles, which the person may change, and those that are theirs alone to say."""
    data = TASKS[task].data
    kind = _kind(table) if data is DataType.CURVES else None
    dates = Dates(st.session_state.get(key_of("upload_dates")))
    dated = replace(table, dates=dates)
    try:
        layout, unknown = suggest_layout(dated, kind=kind, data=data), None
    except InputError as problem:  # the names do not say: the person may choose
        by_name = roles_by_name(table, {})
        layout, unknown = Layout(by_name.get("id"), by_name.get("time"), by_name.get("value"),
                                 data=data, dates=dates), problem
    table = layout.of(table)
    is_curve = data is DataType.CURVES
    person = layout.id if is_curve else who(table, layout.id)
    is_known = is_curve or person in table.columns
    layout = replace(layout, id=person if is_known else None, covariates=())
    roles = [role for role in _ROLES if role != "id" or is_curve]
    layout = (_with_response(table, layout, task) if data is DataType.RECORDS else
              _with_roles(table, layout, roles))
    if unknown is not None and None in (getattr(layout, role) for role in roles):
        raise InputError(unknown.message, field="columns", hint=unknown.hint)  # not wrong, but open
    layout = layout.dated(_dates(table, layout))
    if task == MEAN_FUNCTION.key:
        layout = replace(layout, group=_group_column(table, layout))
    try:
        return replace(layout, covariates=_covariates(table, layout, task))
    finally:
        if person is None and not is_curve:  # of what is not said yet, what stands first
            raise InputError("Say who a row belongs to.", field="id", hint="A column that names "
                             "the people, or every row is another person: only you know.")


def _group_column(table: Table, layout: Layout) -> str | None:
    """A column of groups that everybody may know, if groups are to be compared."""
    free = layout.unused(table)
    if not free:
        return None
    return st.selectbox(
        "Public groups to compare (optional)", free, index=None, format_func=shortened,
        placeholder="None", key=key_of("upload_group"), help="A column such as the arms of a "
        "trial. Choose it only if everybody may know who is in which group, and nobody is in two. "
        "Each group is then released on its own, and their budgets do not add.")


def _groups(observations: CurveTable | RowTable | EventTable, layout: Layout) -> tuple[str, ...]:
    """Which texts of that column are groups; fewer than two are refused."""
    if not isinstance(observations, CurveTable) or layout.group is None:
        return ()
    key, names = key_of(f"upload_groups_{layout.group}"), [
        name for name in observations.group_names if name]
    groups = tuple(st.multiselect(
        "The groups", names, key=key, format_func=shortened,
        placeholder="Choose two or more", max_selections=MAX_GROUPS))
    if not groups and 1 < len(names) <= MAX_GROUPS:  # never without being told so
        st.button(f"All of them: {', '.join(map(shortened, names))}", key=f"{key}_all",
                  icon=":material/done_all:", type="tertiary",
                  on_click=lambda: st.session_state.update({key: names}),
                  help="Only if everybody may know that there are these groups.")
    if len(groups) < 2:
        raise InputError("Choose two or more groups.", field="groups",
                         hint="Whoever is in none of them counts in the mean of all people only.")
    return groups


def _kind(table: Table) -> str | None:
    """What a row of the file is, asked where people may stand in columns."""
    if not has_people_in_columns(table):
        return None
    return st.selectbox("In the file there is", ["transposed", "wide", "long"],
                        format_func=KINDS.__getitem__, key=key_of("upload_kind"))


def _dates(table: Table, layout: Layout) -> Dates:
    """How dates and clock times are meant, asked where there are any."""
    day_first = layout.dates.day_first
    times = [layout.time] if layout.time else []
    read = [table.numbers(name) for name in [*times, *([layout.value] if layout.value else [])]]
    if any(column.is_ambiguous for column in read) or day_first is not None:
        date_order()
    kind = kind_of_times(table, layout)
    if kind not in _OFFERED or any(column.is_ambiguous for column in read):
        return layout.dates
    default = tables.once_of_file("upload_beginning", suggested_dates, table, layout)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        return _counted_from(layout, Kind(kind), default)


def date_order() -> None:
    """Whether the day or the month comes first, where dates can be read in two ways."""
    st.selectbox("Dates such as 3/4/2024 are", [True, False], index=None,
                 format_func=lambda is_day: "day/month/year" if is_day else "month/day/year",
                 key=key_of("upload_dates"), placeholder="Choose")


def _counted_from(layout: Layout, kind: Kind, default: Dates) -> Dates:
    """What times are counted from, at first what is likely, and in the unit that is stated."""
    offered = [each for each in _OFFERED[kind] if each != _FROM_FIRST or not layout.is_single]
    likely = next((each for each in offered if each != _CALENDAR and getattr(default, each)),
                  offered[0])
    column = layout.time or "header"
    beginning = st.selectbox(
        "Time is counted from", offered, index=offered.index(likely),
        format_func=_BEGINNINGS.__getitem__, key=key_of(f"upload_beginning_{column}"),
        help="The time of day suits days that are to be laid over each other. From the first "
        "observation is common where people enter a study on different days. Either follows from a "
        "person’s own observations alone, so the protection stays the same.")
    day_first = layout.dates.day_first
    if beginning == _CALENDAR:
        since = st.text_input(
            "Count days from (optional)", key=key_of("upload_since"), max_chars=10,
            placeholder="calendar years, or e.g. 2024-01-31", help="A public day, such as the "
            "start of the study. Left empty, dates are calendar years: 1 July 2024 is 2024.497.")
        return Dates(day_first, since.strip())
    units = [*HOURS_IN] if beginning == _FROM_FIRST else [*UNITS_OF_DAY]
    stated = known_unit(str(st.session_state.get("upload_time_unit") or ""))
    first = next(unit for unit in (stated, getattr(default, beginning), "days", "hours")
                 if unit in units)
    unit = st.selectbox("in", units, index=units.index(first),
                        key=key_of(f"upload_unit_{beginning}_{column}_{stated}"))
    return Dates(day_first, **{beginning: unit})


def _with_roles(table: Table, layout: Layout, roles: Sequence[str]) -> Layout:
    """A column for each role; one row per curve has none but that of people, and may lack it."""
    times = [name for name, _ in layout.times]
    names: list[str | None] = [name for name in table.columns if name not in times]
    if layout.is_wide:
        roles = ["id"] if names else []
        names = [None, *names]
    columns: dict[str, Any] = {}
    with st.container(horizontal=True):
        for role in roles:
            default = getattr(layout, role)
            is_known = default in names
            columns[role] = st.selectbox(
                _ROLES[role], names, index=names.index(default) if is_known else None,
                format_func=_person if role == "id" else shortened, placeholder="Choose",
                key=key_of(f"upload_role_{role}" if is_known else f"upload_role_{role}_open"))
    return replace(layout, **columns)


def _person(name: str | None) -> str:
    return _EVERY_ROW if name is None else shortened(name)


def _with_response(table: Table, layout: Layout, task: str) -> Layout:
    """The column that is predicted, if any; a density has none."""
    if "value" not in TASKS[task].roles:
        return replace(layout, value=None)
    names = [None, *(name for name in table.columns if name != layout.id)]
    default = names.index(layout.value) if layout.value in names else 0
    return replace(layout, value=st.selectbox(
        "What is predicted", names, index=default, key=key_of("rows_response"),
        format_func=lambda name: "none" if name is None else shortened(name)))


def who(table: Table, suggested: str | None) -> str | None:
    """Who a row belongs to, as chosen: a column, or every row is another person."""
    names = list(table.columns)
    return st.selectbox(
        _WHO, [_EVERY_ROW, *names], placeholder="Choose",
        index=1 + names.index(suggested) if suggested else None,
        format_func=lambda name: name if name == _EVERY_ROW else f"column {shortened(name)}",
        key=key_of("upload_who"), help="The protection is that of one person. Where people may "
        "have several rows a column must tell them apart.")


def site_column(table: Table, layout: Layout | EventColumns) -> str | None:
    """Who is trusted with the data: a column of sites, or None for one trusted centre.

    Nobody is asked where no column is left that could name sites. Where a column looks like one of
    sites the question has no answer at first, and nothing is shown before it has one.

    Raises
    ------
    InputError
        While the question has no answer.
    """
    free = replace(layout, server=None).unused(table)
    if not free:
        return None
    likely = site_like(table)
    likely = likely if likely in free else None
    trusted = st.radio("Who is trusted with the data?", [_ONE_CENTRE, _EACH_SITE],
                       index=None if likely and not draft.is_example() else 0,
                       key=key_of("upload_trust"), help="With one "
                       "trusted centre noise is added once. Sites that trust nobody with their "
                       "data each add noise of their own, which makes the result less accurate.")
    if likely:
        st.markdown(f":small[The column “{plain(shortened(likely))}” seems to name sites. It is "
                    "used only if each site adds its own noise.]")
    if trusted is None:
        raise InputError("State who is trusted with the data.", field="trust",
                         hint="Nothing is shown before that.")
    if trusted == _ONE_CENTRE:
        return None
    column = st.selectbox("The column that names the sites", free, placeholder="Choose",
                          index=free.index(likely) if likely else None, format_func=shortened,
                          key=key_of("upload_sites"))
    if column is None:
        raise InputError("Choose the column that names the sites.", field="trust")
    return column


def _covariates(table: Table, layout: Layout, task: str) -> tuple[str, ...]:
    """What may explain curves, or the features of records: a few, or all that are left."""
    free, features = layout.unused(table), TASKS[task].features
    if features is None:
        return () if layout.is_single or not free else tuple(st.multiselect(
            "Columns that may explain the curves (optional)", free,
            key=key_of("upload_covariates"), format_func=shortened,
            max_selections=MAX_COVARIATES, placeholder="None chosen",
            help="Numbers, or yes and no, that stay the same along a curve. The average does not "
            "use them."))
    max_features = features.most if features.is_bounded else None
    names = tuple(st.multiselect(
        features.label, free, key=key_of(f"rows_features_{task}"), format_func=shortened,
        max_selections=max_features, placeholder="Choose" if max_features else "All other columns",
        help="Columns of numbers; yes and no, or another known pair of words, count as 1 and 0."))
    if not names and max_features:  # nothing is wrong yet
        predicts = "value" in TASKS[task].roles
        raise InputError("Choose what is predicted and from which columns." if predicts else
                         "Choose the columns.", field="columns",
                         hint=f"This needs {features.words}.")
    if not names:
        names = tuple(name for name in free if name != site_like(table))
    check_columns(task, names)
    return names
