"""Records from a person's own table, one in each row, and the public facts they state about them.

As for curves (`engine.sources.upload`): nothing of the file travels in a link or a scenario, what
bounds one record's effect is declared, never read off the file, and no message holds a number, a
row or an id of it: column names and counts only.

One row is one record, and one record is what is protected. Who has several of them is protected
less, so a column that names the people is looked through for that where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from engine.errors import InputError
from engine.identity import named_once
from engine.sources import Source
from engine.sources.table_words import column_key, counted, listed, shortened
from engine.sources.tables import Table
from engine.sources.upload_columns import (
    Integers,
    named,
    numbers_or_words,
    order_by_person,
    people_of,
)
from engine.sources.upload_facts import (
    StatedCovariate,
    stated_origin,
    stated_range,
    stated_spread,
    stated_words,
)
from engine.sources.upload_layout import roles_by_name
from engine.tasks import TASKS
from engine.types import Array, DataKind, PublicFacts, SampleData, Sizes

MOST_ROWS = 1_000_000
REACHES = {"around the middle, hardly ever near the ends": 4.0,
           "evenly over the range": 1.7, "at both ends, as 0 and 1 do": 1.0}
"""How features may lie in their ranges: standard deviations from the middle to each end."""

_RESPONSES = ("y", "response", "outcome", "result", "target")  # usual names, without case
EXAMPLE_ROWS_CSV = "person_id,site,age,weight,steps,pressure\n" + "".join(
    f"{site[0]}-{k:02d},{site},{30 + 7 * k % 41},{58 + 11 * k % 37},{3000 + 1700 * k % 9000},"
    f"{110 + 5 * k % 33}\n" for site in ("North", "South") for k in range(1, 7))


@dataclass(frozen=True)
class RowLayout:
    """Which columns hold the numbers of a record, and which its response, its person, its site.

    Without `id` every row is taken for another person.
    """

    features: tuple[str, ...]
    response: str | None = None
    id: str | None = None
    server: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns with a role."""
        return (*self.features, *[name for name in (self.response, self.id, self.server) if name])


@named_once
@dataclass(frozen=True, eq=False)
class RowTable:
    """Records in the file's own units, by site and then by a hash of the ids.

    `x` (n, d) and `y` (n,), which is None without a response, have NaN where a cell holds no
    number; `server` (n,) is as in `SampleData`. `ids` (n,) are empty where no column names the
    people. `notes` say how the file was read and what to look
    at: they hold counts of private data, for the holder of the file alone.
    """

    x: Array
    y: Array | None
    server: Integers
    features: tuple[str, ...]
    response: str | None = None
    server_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        return len(self.x)


class ClampedRows(NamedTuple):
    """How many numbers were moved to a stated bound; for the holder of the records alone."""

    features: int
    responses: int


@dataclass(frozen=True, kw_only=True, eq=False)
class UploadRows(Source[SampleData]):
    """A person's own records with the facts they declared; the same in every draw.

    The columns used are those declared as covariates, in the order declared. What they can be used
    for follows from what was declared (`serves`).

    Raises
    ------
    InputError
        If a declared column was not read from the file.
    """

    key = "upload_rows"
    label = "Your records"
    tasks = frozenset(task.key for task in TASKS.values() if task.features)
    is_random: ClassVar[bool] = False

    rows: RowTable
    declared: PublicFacts = field(default_factory=lambda: PublicFacts(kind=DataKind.UPLOAD))

    def __post_init__(self) -> None:
        super().__post_init__()
        unread = [c.name for c in self.declared.covariates if c.name not in self.rows.features]
        if unread:
            raise InputError(f"Not among the columns that were read: {listed(unread)}.",
                             field="covariates", hint=f"Read: {listed(self.rows.features)}.")

    @property
    def facts(self) -> PublicFacts:
        return self.declared

    @property
    def sizes(self) -> Sizes:
        return Sizes(tuple(np.bincount(self.rows.server).tolist()), self.rows.n_rows, 1,
                     len(self.declared.covariates))

    @property
    def site_names(self) -> tuple[str, ...]:
        return self.rows.server_names

    def serves(self, task: str) -> bool:
        """Densities take one or two columns, the others a response; sparse regression needs σ."""
        if task not in self.tasks:
            return False
        asked, has_spread = TASKS[task], self.declared.reading_sd > 0
        return (asked.features is not None
                and asked.features.allows(len(self.declared.covariates))
                and ("response" not in asked.roles or self.rows.y is not None)
                and ("spread" not in asked.states or has_spread))

    @property
    def clamped(self) -> ClampedRows:
        """How many numbers are moved to a stated bound."""
        x, y = self._numbers
        inside_x, inside_y = self._held
        return ClampedRows(_moved(x, inside_x),
                           0 if y is None or inside_y is None else _moved(y, inside_y))

    def draw(self, n_repeats: int, rng: np.random.Generator) -> SampleData:
        """Return the records, moved into the stated ranges; `rng` is not used.

        What is no number stays NaN, which mechanisms take for the middle of its range.

        Raises
        ------
        InputError
            If more than one data set is asked for: there is only one.
        """
        self._only_once(n_repeats)
        x, y = self._held
        return SampleData(x[np.newaxis], None if y is None else y[np.newaxis], self.rows.server,
                          self.declared)

    @property
    def _numbers(self) -> tuple[Array, Array | None]:
        """The declared columns (n, d) and the response (n,), as they stand in the file."""
        where = [self.rows.features.index(c.name) for c in self.declared.covariates]
        return self.rows.x[:, where], self.rows.y

    @property
    def _held(self) -> tuple[Array, Array | None]:
        """The same, moved into the stated ranges."""
        x, y = self._numbers
        low, high = np.array([(c.low, c.high) for c in self.declared.covariates]).T
        return np.clip(x, low, high), (None if y is None else np.clip(
            y, self.declared.value_low, self.declared.value_high))


def _moved(numbers: Array, held: Array) -> int:
    return int(((numbers != held) & np.isfinite(numbers)).sum())


# -- what is stated -------------------------------------------------------------------------------


def declare_rows(task: str, features: Sequence[StatedCovariate], origin: str,
                 response: StatedCovariate | None = None, spread: float | None = None,
                 reach: float | None = None, two_classes: bool = False, **words: Any
                 ) -> PublicFacts:
    """Return the facts a person states about their records, from outside the data.

    Parameters
    ----------
    task : The key of what is to be estimated, which says what must be stated.
    features : The columns that are used, with their ranges in the units of the file.
    origin : Which public source the ranges come from.
    response : What is predicted, with its range. Not looked at for densities.
    spread : σ, how far a response typically lies from what its features say; `reach`, how many
        standard deviations of a feature its range reaches to each side of the middle (see
        `REACHES`). Both for sparse regression alone.
    two_classes : whether the response only tells two classes apart, as the prediction of one may.
    words : "person" and "people", of which empty ones are left as usual.

    Raises
    ------
    InputError
        If the number of columns does not suit the task, or a range, σ, the reach or the origin is
        missing or makes no sense.
    """
    check_columns(task, [feature.name for feature in features])
    chosen = stated_words(words)
    person = chosen.get("person", "person")
    ranges = tuple(stated_range(feature, person) for feature in features)
    states = TASKS[task].states
    if "response" in TASKS[task].roles:
        chosen |= _of_response(response, person)
        chosen["two_classes"] = two_classes and "two_classes" in states
    if "spread" in states:
        chosen["reading_sd"] = stated_spread(spread, "a response", "what its features say")
    if "reach" in states:
        chosen["reach"] = _stated_reach(reach)
    return PublicFacts(kind=DataKind.UPLOAD, name="Your records", covariates=ranges,
                       origin=stated_origin(origin), **chosen)


def check_columns(task: str, features: Sequence[str]) -> None:
    """Refuse a number of columns that the task does not take, and one that is named twice.

    Raises
    ------
    InputError
        Saying how many it takes.
    """
    columns = TASKS[task].features
    if columns is None or not columns.allows(len(features)):
        needed = "no columns of features" if columns is None else columns.words
        raise InputError(f"This needs {needed}; got {len(features):,}.", field="covariates",
                         hint="Choose which columns are used.")
    twice = [name for name in dict.fromkeys(features) if features.count(name) > 1]
    if twice:
        raise InputError(f"Chosen more than once: {listed(twice)}.", field="covariates",
                         hint="Choose each column once.")


def _of_response(response: StatedCovariate | None, person: str) -> dict[str, Any]:
    if response is None:
        raise InputError("Say which column is predicted.", field="response",
                         hint="It needs a stated range, too.")
    stated = stated_range(response, person)
    return {"value_name": stated.name, "value_low": stated.low, "value_high": stated.high,
            "value_unit": stated.unit}


def _stated_reach(reach: float | None) -> float:
    if reach is None:
        raise InputError("Say how features lie in their ranges.", field="reach",
                         hint="A public guess: a wrong one costs accuracy, never protection.")
    if not 1 <= reach <= 100:
        raise InputError("A range must reach between 1 and 100 standard deviations to each side; "
                         f"got {reach:g}.", field="reach", hint="Usual: 4; 1.7 for even spread.")
    return float(reach)


# -- reading the file -----------------------------------------------------------------------------


def suggest_row_layout(table: Table) -> RowLayout:
    """Find response and id from the names of the columns; all others are features.

    A column that looks like one of sites is none of them, and no site either: who is trusted with
    the records is for their holder to say.
    """
    found = roles_by_name(table, {"time": None, "value": None})
    response = next((name for name in table.columns if column_key(name) in _RESPONSES), None)
    roles = (response, found.get("id"))
    taken = (*roles, found.get("server"))
    return RowLayout(tuple(name for name in table.columns if name not in taken), *roles)


def read_rows(table: Table, layout: RowLayout) -> RowTable:
    """Read the records of a table.

    Raises
    ------
    InputError
        If a column has two roles, a cell holds text, a column has no number at all, a row has no
        id or site, somebody has several rows, or there are too few or too many rows.
    """
    _check_roles(layout)
    _check_n_rows(table.n_rows)
    notes = list(table.notes)
    server, ids = _people(table, layout, notes)
    order = order_by_person(server, ids)
    numbers = {name: _column(table, name, notes) for name in (*layout.features, layout.response)
               if name is not None}
    x = np.column_stack([numbers[name] for name in layout.features])[order]
    y = None if layout.response is None else numbers[layout.response][order]
    server = server[order]
    for array in (x, server, *(() if y is None else (y,))):
        array.flags.writeable = False
    sites = tuple(sorted(named(table, layout.server)[1])) if layout.server else ()
    return RowTable(x, y, server, layout.features, layout.response, sites,
                    (*notes, *_seen(table, layout, numbers)),
                    tuple(ids[k] for k in order.tolist()) if layout.id else ())


def _check_roles(layout: RowLayout) -> None:
    if not layout.features:
        raise InputError("Choose at least one column of numbers.", field="covariates",
                         hint="Every number of a record stands in a column of its own.")
    twice = next((name for name in layout.columns if layout.columns.count(name) > 1), None)
    if twice:
        raise InputError(f"The column “{shortened(twice)}” has two roles.", field="layout",
                         hint="Choose another column for one of them.")


def _check_n_rows(n_rows: int) -> None:
    if n_rows < 2:
        raise InputError("There is only one row.", field="file",
                         hint="Protection needs others: upload one row for every record.")
    if n_rows > MOST_ROWS:
        raise InputError(f"There are {n_rows:,} rows; at most {MOST_ROWS:,} are read.",
                         field="file", hint="Take a part of them, chosen without looking at the "
                         "numbers.")


def _people(table: Table, layout: RowLayout, notes: list[str]) -> tuple[Integers, tuple[str, ...]]:
    """Site and id of every row (rows,), after a look for people with several rows."""
    person, server, ids = people_of(table, layout.id, layout.server, notes)
    several = int((np.bincount(person) > 1).sum())
    if several:
        raise InputError(
            f"{several:,} of {len(ids):,} people have several rows.", field="id",
            hint="One row is protected, so they would be protected less. Keep one row of each, by "
            "a rule that does not look at the numbers, such as the first visit.")
    if layout.id is None:
        notes.append("a person with several rows is protected less")
    return server, ids


def _column(table: Table, name: str, notes: list[str]) -> Array:
    values = numbers_or_words(table, name, notes, "column")
    if not np.isfinite(values).any():
        raise InputError(f"The column “{shortened(name)}” holds no number.", field="covariates",
                         hint="Choose another column.")
    return values


def _seen(table: Table, layout: RowLayout, numbers: dict[str, Array]) -> list[str]:
    """What a person should know before they believe a picture; counts only."""
    missing = sum(int(np.isnan(column).sum()) for column in numbers.values())
    constant = [name for name, column in numbers.items() if np.nanmin(column) == np.nanmax(column)]
    unused = [column for column in table.columns if column not in layout.columns]
    applies = {
        f"{counted(missing, 'number')} missing: their rows count, with the middle of the stated "
        "range": missing,
        f"the same in all rows: {listed(constant)}": constant,
        f"not used: {listed(unused)}": unused}
    return [note for note, holds in applies.items() if holds]
