"""Which column plays which role: what a person may change of a proposed reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st

from engine.answers.groups import MAX_GROUPS
from engine.core.errors import InputError
from engine.core.lists import counted, shortened
from engine.core.tasks import MEAN_FUNCTION, TASKS, DataType
from engine.language.numbers import whole
from engine.numerics.counts.cells import Counted
from engine.uploads import examples
from engine.uploads.curves import CurveTable
from engine.uploads.events import EventTable, counted_for
from engine.uploads.examples import Example
from engine.uploads.facts import check_columns
from engine.uploads.proposing.questions import Option, answered
from engine.uploads.reading_of_files import DAY, FIRST, UNITS, Kind, Reading
from engine.uploads.regressors import MAX_COVARIATES
from pages.shared.frame.controls import plain
from pages.shared.uploads import draft
from pages.shared.uploads.draft import Draft
from pages.shared.uploads.files import key_of

EVERY_ROW = "every line is another person"
ONE_CENTRE, EACH_SITE = "One trusted centre holds all of it", "Each site adds its own noise"
_NONE = "none"
_CALENDAR, _SINCE = "calendar years", "a public day"
_OF_DAY, _OF_FIRST = "midnight: the time of day", "each person’s first observation"


class _File(NamedTuple):
    """What is asked of a file of one kind: its uploader, an example, the columns it must have."""

    label: str
    example: Example
    roles: Mapping[str, str]


_FILES = {
    DataType.CURVES: _File("Curves as CSV, TSV or XLSX: a row per observation, or a row or column "
                           "per curve; or exports of glucose monitors, GGIR or Green Button, a "
                           "file per person in a .zip", examples.GROWTH_CURVES,
                           {"time": "Column of times", "value": "Column of values"}),
    DataType.READINGS: _File("Observations as CSV, TSV or XLSX: one row per person",
                             examples.TEMPERATURES,
                             {"time": "Column of times", "value": "Column of values"}),
    DataType.RECORDS: _File("Records as CSV, TSV or XLSX: one row per record, numbers in columns",
                            examples.RECORDS, {}),
    Counted.OUTCOMES: _File("Times as CSV, TSV or XLSX: a row per person, or per interval",
                            examples.OUTCOMES,
                            {"time": "Time, or end date", "status": "Status"}),
    Counted.VALUES: _File("Values as CSV, TSV or XLSX: one row per person",
                          examples.CONCENTRATIONS, {"time": "Value"}),
    Counted.LABELS: _File("Scores and labels as CSV, TSV or XLSX: one row per person",
                          examples.SCORES, {"time": "Score", "status": "Label"})}


def kind_of(task: str) -> DataType | Counted:
    """What a file holds of each person, for this task."""
    data = TASKS[task].data
    return counted_for(task) if data is DataType.EVENTS else data


def file_of(task: str) -> tuple[str, Example]:
    """The words of the uploader, and an example of such a file."""
    file = _FILES[kind_of(task)]
    return file.label, file.example


# -- what was chosen, as a proposal takes it -------------------------------------------------------


def stated(task: str) -> dict[str, Any]:
    """What was chosen otherwise than the file proposed, by the keys of a request."""
    proposed: Mapping[str, Any] = st.session_state.get("upload_defaults", {})
    chosen = {role: draft.answered(key_of(key)) for role, key in _keys(task).items()}
    columns = {role: name for role, name in chosen.items()
               if name not in (None, [], proposed.get(role))}
    if columns.get("id") == EVERY_ROW:
        columns["id"] = _NONE
    if draft.answered(key_of("upload_trust")) != EACH_SITE:
        columns.pop("server", None)
    features = columns.pop("features", None)
    columns = {role: None if name == _NONE else name for role, name in columns.items()}
    return {**({"columns": columns} if columns else {}),
            **({"features": features} if features else {})}


def _keys(task: str) -> dict[str, str]:
    """The keys of all choices of columns, by role."""
    is_of_rows = TASKS[task].data is DataType.RECORDS
    roles = ("id", "time", "value", "status", "start", "group", "covariates", "server")
    return {**{role: f"upload_role_{role}" for role in roles},
            **({"value": "rows_response", "features": f"rows_features_{task}"}
               if is_of_rows else {})}


def proposed(task: str, reading: Reading) -> dict[str, Any]:
    """The columns of a proposal, by role, as the choices on screen have them at first."""
    columns = {role: column.name for role, column in reading.columns.items()}
    person = reading.person
    return {**columns, "server": columns.get("site"),
            "id": EVERY_ROW if person is not None and person.rows else
            person.column if person is not None and person.column else None,
            "covariates": [column.name for column in reading.covariates],
            "features": [column.name for column in reading.features]
            if _takes_all(task) else []}


def _takes_all(task: str) -> bool:
    features = TASKS[task].features
    return features is not None and not features.is_bounded


# -- the choices -----------------------------------------------------------------------------------


def draw(task: str, header: Sequence[str], reading: Reading | None) -> None:
    """The columns that must be there, and who one line belongs to, as the reading has them."""
    now = {} if reading is None else proposed(task, reading)
    keys, is_turned = _keys(task), reading is not None and reading.frame.people == "columns"
    with st.container(horizontal=True):
        if reading is None or now["id"] is not None:
            _choice("Who a line belongs to", [EVERY_ROW, *header], now.get("id"), keys["id"],
                    "The protection is that of one person. Where people may have several lines a "
                    "column must tell them apart.")
        is_wide = reading is not None and reading.is_wide
        for role, label in _FILES[kind_of(task)].roles.items() if not is_turned else ():
            _choice(label, header, now.get(role), keys[role],
                    placeholder="In the header" if is_wide else "Choose")
        if kind_of(task) is Counted.OUTCOMES:
            _choice("Start", [_NONE, *header], now.get("start", _NONE), keys["start"],
                    "For files with dates, and with several intervals of a person: times go from "
                    "the first start to the last end.")
    if TASKS[task].data is DataType.RECORDS:
        _features(task, header, now)
    free = [name for name in header if reading is None or name not in reading.used
            or name in now.get("covariates", [])]
    if "covariates" in TASKS[task].roles and TASKS[task].features is None and free:
        st.multiselect("Columns that may explain the curves", free, now["covariates"] if now else
                       [], key=key_of(keys["covariates"]), format_func=shortened,
                       max_selections=MAX_COVARIATES, placeholder="None chosen",
                       help="Numbers, or yes and no, that stay the same along a curve.")


def _choice(label: str, names: Sequence[str], default: str | None, key: str, why: str = "",
            placeholder: str = "Choose") -> None:
    st.selectbox(label, names, index=names.index(default) if default in names else None,
                 format_func=shortened, placeholder=placeholder, key=key_of(key),
                 help=why or None)


def _features(task: str, header: Sequence[str], now: Mapping[str, Any]) -> None:
    """What is predicted, and from which columns: a few, or all that are left."""
    keys, features = _keys(task), TASKS[task].features
    assert features is not None
    if "value" in TASKS[task].roles:
        _choice("What is predicted", [_NONE, *header], now.get("value", _NONE), keys["value"])
    st.multiselect(features.label, [name for name in header if name != now.get("id")],
                   now.get("features", []), key=key_of(keys["features"]), format_func=shortened,
                   max_selections=features.most if features.is_bounded else None,
                   placeholder="Choose", help="Columns of numbers; yes and no, or another known "
                   "pair of words, are 1 and 0.")


def check_features(task: str, reading: Reading) -> None:
    """Ask for the columns of features, if too few or too many are chosen.

    Raises
    ------
    InputError
        Saying how many are needed.
    """
    features = TASKS[task].features
    if features is None:
        return
    if features.is_bounded and not draft.answered(key_of(_keys(task)["features"])):
        predicts = "value" in TASKS[task].roles
        raise InputError("Choose what is predicted and from which columns." if predicts else
                         "Choose the columns.", field="columns",
                         hint=f"This needs {features.words}.")
    check_columns(task, [column.name for column in reading.features])


def trust_and_groups(task: str, header: Sequence[str], reading: Reading, site_like: str) -> None:
    """Ask who is trusted with the data, and for groups that everybody may know.

    Nobody is asked where no column is left. Where one looks like one of sites the question who is
    trusted has no answer at first.

    Raises
    ------
    InputError
        While that question has none.
    """
    group, site = reading.columns.get("group"), reading.columns.get("site")
    taken = {*reading.used} - {column.name for column in (group, site) if column is not None}
    free = [name for name in header if name not in taken]
    if not free:
        return
    if task == MEAN_FUNCTION.key or kind_of(task) is Counted.OUTCOMES:
        _choice("Public groups to compare (optional)", free,
                None if group is None else group.name, _keys(task)["group"],
                "A column such as the arms of a trial. Choose it only if everybody may know who is "
                f"in which group, and nobody is in two. At most {MAX_GROUPS} groups.", "None")
    likely = site_like if site_like in free else ""
    trusted = st.radio("Who is trusted with the data?", [ONE_CENTRE, EACH_SITE],
                       index=None if likely and not draft.is_example() else 0,
                       key=key_of("upload_trust"), help="With one trusted centre noise is added "
                       "once. Sites that trust nobody with their data each add noise of their own, "
                       "which makes the result less accurate.")
    if likely:
        st.markdown(f":small[The column “{plain(shortened(likely))}” seems to name sites. It is "
                    "used only if each site adds its own noise.]")
    if trusted is None:
        raise InputError("State who is trusted with the data.", field="trust",
                         hint="Nothing is shown before that.")
    if trusted == EACH_SITE:
        _choice("The column that names the sites", free, likely or None, _keys(task)["server"])
        if site is None:
            raise InputError("Choose the column that names the sites.", field="trust")


# -- times, and several lines of one person --------------------------------------------------------


def with_times(task: str, reading: Reading) -> Reading:
    """The reading with what times are counted from, and what becomes of several observations."""
    time = reading.columns.get("time")
    if time is not None and time.kind in (Kind.DATE, Kind.CLOCK) and "start" not in reading.columns:
        counted = _counted_from(time.kind, time.counted, TASKS[task].data is DataType.READINGS)
        reading = answered(reading, Option("", {"columns": {"time": {"from": counted}}}))
    options = _several(task, reading)
    if not options:
        return reading
    several = st.selectbox("If one person has several lines" if reading.is_wide or kind_of(task) in
                           (Counted.VALUES, Counted.LABELS) else
                           "If one person has several observations at one time", [*options],
                           index=[*options].index(reading.several)
                           if reading.several in options else 0,
                           format_func=options.__getitem__, key=key_of("upload_several"))
    return answered(reading, Option("", {"several": several}))


def _several(task: str, reading: Reading) -> dict[str, str]:
    kind = kind_of(task)
    if kind is DataType.CURVES and reading.frame.people == "rows":
        keep = {} if reading.is_wide else {"keep": "keep all of them"}
        return {**keep, "average": "average them", "refuse": "refuse the file"}
    if kind in (Counted.VALUES, Counted.LABELS):
        return {"refuse": "refuse the file", "average": "average them"}
    return {}


def _counted_from(kind: Kind, now: str, is_single: bool) -> str:
    """What times are counted from, at first as it is proposed, and in which unit."""
    offered = [_CALENDAR, _SINCE, _OF_DAY, _OF_FIRST] if kind is Kind.DATE else [_OF_DAY, _OF_FIRST]
    offered = [each for each in offered if each != _OF_FIRST or not is_single]
    unit, _, rest = now.partition(" ")
    likely = (_OF_DAY if now.endswith(DAY) else _OF_FIRST if now.endswith(FIRST) else
              _SINCE if "since" in rest else offered[0])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        beginning = st.selectbox(
            "Time is counted from", offered, index=offered.index(likely),
            key=key_of("upload_beginning"), help="The time of day suits days that are to be laid "
            "over each other. From the first observation is common where people enter a study on "
            "different days. Either follows from a person’s own observations alone.")
        if beginning == _CALENDAR:
            return "calendar years"
        units = UNITS[:3] if beginning == _OF_DAY else UNITS
        default = "hours" if beginning == _OF_DAY else "days"
        unit = st.selectbox("in", units, index=units.index(unit if unit in units else default),
                            key=key_of(f"upload_unit_{beginning}"))
        if beginning == _SINCE:
            day = st.text_input("That day", rest.removeprefix("since ") if likely == _SINCE else "",
                                key=key_of("upload_since"), max_chars=10,
                                placeholder="e.g. 2024-01-31, the start of the study")
            return f"{unit} since {day.strip()}" if day.strip() else "calendar years"
    return f"{unit} {DAY}" if beginning == _OF_DAY else f"{unit} since {FIRST}"


# -- in words --------------------------------------------------------------------------------------


def counts(confirmed: Draft) -> str:
    """How many people were read, and of how many observations."""
    read = confirmed.observations
    if not isinstance(read, CurveTable):
        noun = "people" if isinstance(read, EventTable) else "records"
        return f"{whole(len(read.server))} {noun}"
    if TASKS[confirmed.task].data is DataType.READINGS:
        return f"{whole(read.n_curves)} people with one observation each"
    used = read.counts[read.counts > 0]
    fewest, most = int(used.min()), int(used.max())
    each = whole(most) if fewest == most else f"{whole(fewest)} to {whole(most)}"
    return f"{counted(read.n_curves, 'curve')} · {each} observation{'s' * (most != 1)} each"
