"""Roles of columns: what a person may change of a proposed reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st

from engine.core.errors import InputError
from engine.core.lists import counted, shortened
from engine.core.tasks import MEAN_FUNCTION, SURVIVAL, TASKS, VARYING_COEFFICIENTS, DataType
from engine.language.numbers import whole
from engine.numerics.counts.cells import Counted
from engine.uploads import examples
from engine.uploads.curves import CurveTable
from engine.uploads.events import EventTable, counted_for
from engine.uploads.examples import Example
from engine.uploads.facts import check_columns
from engine.uploads.proposing.questions import ReadingOption, answered
from engine.uploads.reading_of_files import Reading
from engine.uploads.regressors import MAX_COVARIATES
from pages.shared.uploads import draft
from pages.shared.uploads.draft import Draft
from pages.shared.uploads.files import key_of

EVERY_ROW = "every line is another person"
_NONE = "none"


class _File(NamedTuple):
    """The form for a file of one kind: its uploader, an example, the columns it must have."""

    label: str
    example: Example
    roles: Mapping[str, str]


_FILES = {
    DataType.CURVES: _File(
        "Curves as CSV, XLSX or Parquet: a row per observation, or a row or column "
        "per curve; or exports of glucose monitors, GGIR or Green Button, a "
        "file per person in a .zip",
        examples.GROWTH_CURVES,
        {"time": "Column of times", "value": "Column of values"},
    ),
    DataType.READINGS: _File(
        "Observations as CSV, XLSX or Parquet: one row per person",
        examples.TEMPERATURES,
        {"time": "Column of times", "value": "Column of values"},
    ),
    DataType.RECORDS: _File(
        "Records as CSV, XLSX or Parquet: one row per record, numbers in columns",
        examples.RECORDS,
        {},
    ),
    Counted.OUTCOMES: _File(
        "Times as CSV, XLSX or Parquet: a row per person, or per interval",
        examples.OUTCOMES,
        {"time": "Time, or end date", "status": "Status"},
    ),
    Counted.VALUES: _File(
        "Values as CSV, XLSX or Parquet: one row per person",
        examples.CONCENTRATIONS,
        {"time": "Value"},
    ),
    Counted.LABELS: _File(
        "Scores and labels as CSV, XLSX or Parquet: one row per person",
        examples.SCORES,
        {"time": "Score", "status": "Label"},
    ),
}


def kind_of(task: str) -> DataType | Counted:
    """Return a file's content per person, for this task."""
    data = TASKS[task].data
    return counted_for(task) if data is DataType.EVENTS else data


def file_of(task: str) -> tuple[str, Example]:
    """Return the words of the uploader, and an example of such a file."""
    file = _FILES[kind_of(task)]
    is_by_covariate = task == VARYING_COEFFICIENTS.key
    return file.label, examples.GROWTH_BY_MOTHER if is_by_covariate else file.example


# -- what was chosen, as a proposal takes it -------------------------------------------------------


def stated(task: str) -> dict[str, Any]:
    """Return choices that differ from the file's proposal, by the keys of a request."""
    proposed: Mapping[str, Any] = st.session_state.get("upload_defaults", {})
    chosen = {role: draft.answered(key_of(key)) for role, key in _keys(task).items()}
    who = draft.answered(key_of("upload_who"))
    if who in ("rows", "proposed"):
        chosen["id"] = EVERY_ROW if who == "rows" else None
    columns = {
        role: name
        for role, name in chosen.items()
        if name not in (None, [], proposed.get(role) or _NONE)
    }
    if columns.get("id") == EVERY_ROW:
        columns["id"] = _NONE
    features = columns.pop("features", None)
    if features and chosen.get("value") is not None:
        columns["value"] = chosen["value"]  # named features need a named response
    columns = {role: None if name == _NONE else name for role, name in columns.items()}
    return {
        **({"columns": columns} if columns else {}),
        **({"features": features} if features else {}),
    }


def _keys(task: str) -> dict[str, str]:
    """Return the keys of all choices of columns, by role."""
    is_of_rows = TASKS[task].data is DataType.RECORDS
    roles = ("id", "time", "value", "status", "start", "entry", "without", "group", "covariates")
    return {
        **{role: f"upload_role_{role}" for role in roles},
        **({"value": "rows_response", "features": f"rows_features_{task}"} if is_of_rows else {}),
    }


def proposed(task: str, reading: Reading) -> dict[str, Any]:
    """Return the columns of a proposal, by role, as the choices on screen first show them."""
    columns = {role: column.name for role, column in reading.columns.items()}
    person = reading.person
    return {
        **columns,
        "server": columns.get("site"),
        "id": EVERY_ROW
        if person is not None and person.rows
        else person.column
        if person is not None and person.column
        else None,
        "covariates": [column.name for column in reading.covariates],
        "features": [column.name for column in reading.features] if _takes_all(task) else [],
    }


def _takes_all(task: str) -> bool:
    features = TASKS[task].features
    return features is not None and not features.is_bounded


# -- the choices -----------------------------------------------------------------------------------


def draw(task: str, header: Sequence[str], reading: Reading | None) -> None:
    """Draw the required columns as the reading has them, and without one the owner of a line."""
    now = {} if reading is None else proposed(task, reading)
    keys, is_turned = _keys(task), reading is not None and reading.frame.people == "columns"
    with st.container(horizontal=True):
        if reading is None:
            person([EVERY_ROW, *header])
        is_wide = reading is not None and reading.is_wide
        is_of_visits = reading is not None and "without" in reading.columns
        for role, label in _FILES[kind_of(task)].roles.items() if not is_turned else ():
            if is_of_visits and role == "status":
                continue
            _choice(
                "First visit with the event" if is_of_visits else label,
                header,
                now.get(role),
                keys[role],
                placeholder="In the header" if is_wide else "Choose",
            )
        if kind_of(task) is Counted.OUTCOMES:
            _choice(
                "Start",
                [_NONE, *header],
                now.get("start", _NONE),
                keys["start"],
                "For files with dates, and with several intervals of a person: times go from "
                "the first start to the last end.",
            )
            if not is_of_visits:
                _choice(
                    "Entry",
                    [_NONE, *header],
                    now.get("entry", _NONE),
                    keys["entry"],
                    "Late entry: when observation began, if that is after a person’s own time "
                    "began.",
                )
            if task == SURVIVAL.key:
                _choice(
                    "Last visit without",
                    [_NONE, *header],
                    now.get("without", _NONE),
                    keys["without"],
                    "Where people are seen at visits alone: the last visit without the event. The time "
                    "is then the first visit with it, and no status is needed.",
                )
    if TASKS[task].data is DataType.RECORDS:
        _features(task, header, now)
    if reading is not None and not is_turned:
        _optional(task, header, reading, now)


def person(names: Sequence[str]) -> None:
    """Choose the column that names people."""
    _choice("Who a line belongs to", names, None, "upload_role_id")


def sites(names: Sequence[str]) -> None:
    """Choose the column that names sites."""
    _choice("Column of sites", names, None, "upload_role_server")


def _optional(task: str, header: Sequence[str], reading: Reading, now: Mapping[str, Any]) -> None:
    """Choose optional columns: covariates of curves, public groups."""
    keys, data = _keys(task), TASKS[task].data
    free = [name for name in header if name not in reading.used]
    chosen = {
        role: [name for name in ([now.get(role)] if role != "covariates" else now[role]) if name]
        for role in ("covariates", "group")
    }
    if data is DataType.CURVES and (free or chosen["covariates"]):
        st.multiselect(
            "Columns that may explain the curves (optional)",
            [*chosen["covariates"], *free],
            chosen["covariates"],
            key=key_of(keys["covariates"]),
            format_func=shortened,
            max_selections=MAX_COVARIATES,
            placeholder="None",
            help="Numbers, or yes and no, that stay the same along a curve. The average "
            "does not use them.",
        )
    with st.container(horizontal=True):
        if task == MEAN_FUNCTION.key or kind_of(task) is Counted.OUTCOMES:
            _choice(
                "Public groups to compare (optional)",
                [_NONE, *chosen["group"], *free],
                now.get("group", _NONE),
                keys["group"],
                "A column such as the arms of a trial. "
                "Choose it only if everybody may know who is in which group, and nobody is in "
                "two. Each group is then released on its own, and their budgets do not add.",
            )


def _choice(
    label: str,
    names: Sequence[str],
    default: str | None,
    key: str,
    why: str = "",
    placeholder: str = "Choose",
) -> None:
    st.selectbox(
        label,
        names,
        index=names.index(default) if default in names else None,
        format_func=shortened,
        placeholder=placeholder,
        key=key_of(key),
        help=why or None,
    )


def _features(task: str, header: Sequence[str], now: Mapping[str, Any]) -> None:
    """Choose the response and its features: a few columns, or all that are left."""
    keys, features = _keys(task), TASKS[task].features
    assert features is not None
    if "value" in TASKS[task].roles:
        _choice("What is predicted", [_NONE, *header], now.get("value", _NONE), keys["value"])
    st.multiselect(
        features.label,
        [name for name in header if name != now.get("id")],
        now.get("features", []),
        key=key_of(keys["features"]),
        format_func=shortened,
        max_selections=features.most if features.is_bounded else None,
        placeholder="Choose",
        help="Columns of numbers; yes and no, or another known pair of words, are 1 and 0.",
    )


def lacks_covariates(task: str, reading: Reading) -> bool:
    """Tell whether a column that explains the curves is still to be chosen."""
    return task == VARYING_COEFFICIENTS.key and not reading.covariates


def check_covariates(task: str, reading: Reading) -> None:
    """Ask for a column that explains the curves, where coefficients are of such columns."""
    if lacks_covariates(task, reading):
        raise InputError(
            "Choose the columns that may explain the curves.",
            field="columns",
            hint="Each has a coefficient function.",
        )


def check_features(task: str, reading: Reading) -> None:
    """Ask for the columns of features, if too few or too many are chosen."""
    features = TASKS[task].features
    if features is None:
        return
    if features.is_bounded and not draft.answered(key_of(_keys(task)["features"])):
        predicts = "value" in TASKS[task].roles
        raise InputError(
            "Choose what is predicted and from which columns."
            if predicts
            else "Choose the columns.",
            field="columns",
            hint=f"This needs {features.words}.",
        )
    check_columns(task, [column.name for column in reading.features])


def several(task: str, reading: Reading) -> Reading:
    """Ask what becomes of several lines or observations of one person; return the reading."""
    kind, is_wide = kind_of(task), reading.is_wide
    if reading.frame.people == "columns" or not (
        kind is DataType.CURVES or kind in (Counted.VALUES, Counted.LABELS)
    ):
        return reading
    keeps = kind is DataType.CURVES and not is_wide
    options = {
        **({"keep": "keep all of them"} if keeps else {}),
        "average": "average them",
        "refuse": "refuse the file",
    }
    chosen = st.selectbox(
        "If one person has several observations at one time"
        if keeps
        else "If one person has several lines",
        [*options],
        index=[*options].index(reading.several),
        format_func=options.__getitem__,
        key=key_of("upload_several"),
    )
    return answered(reading, ReadingOption("", {"several": chosen}))


# -- in words --------------------------------------------------------------------------------------


def counts(confirmed: Draft) -> str:
    """Write the numbers of people and observations that were read."""
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
