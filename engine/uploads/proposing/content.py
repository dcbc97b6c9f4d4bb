"""Contents of a column's cells: numbers of cells that the strict reader would read in each way.

Every count is of lines and looks at the whole column, as nothing certified may.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from engine.core.types import Array
from engine.uploads.cells import read_cells
from engine.uploads.reading_of_files import Column, Frame, Kind, Offset, Order, Reading

MISSING = ("", "na", "n/a", "#n/a", "nan", "-nan", "+nan", "null", "none", ".")
"""Usual texts of missing cells."""
ORDERS = (Order.YMD, Order.DMY, Order.MDY)
_HOURS = "hours since first observation"  # of dates, from one moment that is the same for all
_UNIX = {Order.UNIX: (3e8, 4e9), Order.UNIX_MILLISECONDS: (3e11, 4e12)}  # 1979 to 2096
_MANY = 5000  # different texts, which tell of what kind all are
_TELLING = 0.1  # of the dates, which fit one order alone: fewer may be typing errors
_WHOLE = r"^\s*[+-]?[0-9]+(?:[.,]0+)?\s*$"
_OFFSET = r"(?i):[0-9]{2}(?:\.[0-9]+)?\s*(z|utc|gmt|[+-][0-9]{2}:?[0-9]{2}|[+-][0-9]{2})\s*$"
_LIKE_DATES = r"[0-9][-/. ][0-9]{1,2}[-/. ]|[0-9][-/. ]*[A-Za-z]{3}|[A-Za-z]{3}[-/. ]*[0-9]"
_CLOCK = r"[0-9]:[0-5][0-9]"
_NEARLY_A_NUMBER = r"^[^0-9A-Za-z]{0,3}[0-9]"  # < 5, (5), € 5, 5 kg, 1 234


@dataclass(frozen=True, eq=False)
class Content:
    """A column of text, looked at as a whole."""

    name: str  # in the header
    text: pa.Array = field(repr=False)  # of each line

    @cached_property
    def _coded(self) -> tuple[NDArray[np.int64], pa.Array]:
        """The number of each line's text, and the different texts without outer blanks."""
        coded = pc.utf8_trim_whitespace(self.text).dictionary_encode()
        return np.asarray(coded.indices, dtype=np.int64), coded.dictionary

    @cached_property
    def lines(self) -> NDArray[np.int64]:
        """Lines of each different text."""
        codes, texts = self._coded
        return np.bincount(codes, minlength=len(texts))

    @property
    def texts(self) -> pa.Array:
        """The different texts, without outer blanks."""
        return self._coded[1]

    @property
    def codes(self) -> NDArray[np.int64]:
        """The number of each line's text."""
        return self._coded[0]

    @cached_property
    def _is_missing(self) -> NDArray[np.bool_]:
        return np.asarray(pc.is_in(pc.utf8_lower(self.texts), value_set=pa.array(MISSING)))

    @property
    def known(self) -> tuple[str, ...]:
        """The different texts that are not usual ones of missing cells."""
        return tuple(self.texts.filter(pa.array(~self._is_missing)).to_pylist())

    @property
    def missing(self) -> tuple[str, ...]:
        """The usual texts of missing cells that occur."""
        return tuple(
            text for text in self.texts.filter(pa.array(self._is_missing)).to_pylist() if text
        )

    @property
    def n_known(self) -> int:
        """Cells that are not missing."""
        return int(self.lines[~self._is_missing].sum())

    @property
    def n_different(self) -> int:
        """Different texts of cells that are not missing."""
        return int((~self._is_missing).sum())

    def _values(self, column: Column, decimal: str = ".") -> Array:
        """Return what each different text is as cells of a column; NaN where it is none."""
        reading = Reading(frame=Frame(header=("",)), decimal=decimal, missing=("", *MISSING))
        return read_cells([self.texts], column, reading).values

    def numbers(self, decimal: str = ".", kind: Kind = Kind.NUMBER) -> Array:
        """Return each line's number, percentage, or hours of a clock time; NaN where none is."""
        return self._values(Column(names=("",), kind=kind), decimal)[self.codes]

    def n(self, kind: Kind, decimal: str = ".") -> int:
        """Cells that are of a kind; dates in any order."""
        return int(self.lines[self.are(kind, decimal)].sum())

    def are(self, kind: Kind, decimal: str = ".") -> NDArray[np.bool_]:
        """Return which of the different texts are of a kind; dates in any order."""
        if kind is Kind.DATE:
            of_each = [np.isfinite(each) for each in self.dates.values()]
            return np.array(np.any(of_each, axis=0), dtype=np.bool_)
        return ~np.isnan(self._values(Column(names=("",), kind=kind), decimal))

    def kind(self, decimal: str = ".") -> Kind:
        """Return what most cells are, of many different ones by those that come first."""
        if len(self.texts) > _MANY:
            return Content(self.name, self.texts[:_MANY]).kind(decimal)
        for kind in (Kind.NUMBER, Kind.DATE, Kind.CLOCK, Kind.ELAPSED, Kind.PERCENTAGE):
            number = self.n(kind, decimal)
            if 2 * number > self.n_known:
                is_longer = kind is Kind.CLOCK and self.n(Kind.ELAPSED) > number
                return Kind.ELAPSED if is_longer else kind
        return Kind.WORD

    # -- numbers -----------------------------------------------------------------------------------

    def n_with(self, mark: str) -> int:
        """Numbers that show a mark."""
        return self._n_that(rf"^[+-]?[0-9]*{re.escape(mark)}[0-9]+(?:[eE][+-]?[0-9]+)?$")

    def _n_that(self, pattern: str) -> int:
        fits = np.asarray(pc.match_substring_regex(self.texts, pattern))
        return int(self.lines[fits & ~self._is_missing].sum())

    @property
    def are_whole(self) -> bool:
        """True if all that stands there is whole numbers."""
        return 0 < self.n_known == self._n_that(_WHOLE)

    @property
    def are_nearly_numbers(self) -> bool:
        """True if most cells begin as a number does, and are of no kind that is read."""
        return self.kind() is Kind.WORD and 2 * self._n_that(_NEARLY_A_NUMBER) > self.n_known

    def others_than(self, kind: Kind, decimal: str) -> dict[str, int]:
        """Return the texts that are neither of a kind nor missing, with their cells."""
        are_other = ~self.are(kind, decimal) & ~self._is_missing
        texts = self.texts.filter(pa.array(are_other)).to_pylist()
        return dict(zip(texts, self.lines[are_other].tolist(), strict=True))

    @property
    def first(self) -> str:
        """The text of the first line."""
        return str(self.texts[int(self.codes[0])].as_py()) if len(self.codes) else ""

    def could_be_thousands(self, mark: str) -> bool:
        """True if every number with a mark has three digits behind it."""
        three = rf"^[+-]?[1-9][0-9]{{0,2}}{re.escape(mark)}[0-9]{{3}}$"
        return 0 < self.n_with(mark) == self._n_that(three)

    def has_thousands(self, mark: str) -> bool:
        """True if the mark stands between thousands: 1,050 beside 980, which has none."""
        return (
            self.could_be_thousands(mark)
            and self._n_that(r"^[+-]?[0-9]+$") > 0
            and self._n_that(rf"{re.escape(mark)}[0-9]*0$") > 0
        )

    # -- dates -------------------------------------------------------------------------------------

    @cached_property
    def dates(self) -> dict[Order, Array]:
        """Hours from 1970 of each different text, by the order that it fits; else NaN."""
        if not pc.any(pc.match_substring_regex(self.texts, _LIKE_DATES)).as_py():
            return {order: np.full(len(self.texts), np.nan) for order in ORDERS}
        of_years = self._moments(Order.YMD)
        if np.isfinite(of_years[~self._is_missing]).all():  # which every order reads
            return dict.fromkeys(ORDERS, of_years)
        return {order: of_years if order is Order.YMD else self._moments(order) for order in ORDERS}

    def _moments(self, order: Order) -> Array:
        return self._values(
            Column(names=("",), kind=Kind.DATE, order=order, counted=_HOURS, offset=Offset.KEPT)
        )

    def n_in(self, order: Order) -> int:
        """Cells that are dates in an order."""
        return int(self.lines[np.isfinite(self.dates[order])].sum())

    @property
    def likely_order(self) -> Order:
        """The order that most dates fit: for looking alone."""
        return max(ORDERS, key=self.n_in)

    @property
    def order(self) -> Order:
        """The order that all dates fit; UNSTATED where the day may as well be the month.

        It is settled only if a tenth of the dates fit it alone. Of random days three in five do;
        a few may be typing errors, and one person's.
        """
        total, likely = self.n(Kind.DATE), self.likely_order
        if self.n_in(Order.YMD) == total:
            return Order.YMD
        alone = max(self.n_in(order) for order in ORDERS if order is not likely)
        is_told = self.n_in(likely) == total and total - alone >= _TELLING * total
        return likely if is_told else Order.UNSTATED

    @property
    def have_clock(self) -> bool:
        """True if most dates have a time of day."""
        return 2 * self._n_that(_CLOCK) > self.n_known

    @property
    def n_with_offset(self) -> int:
        """Stamps that end with a time zone."""
        return self._n_that(_OFFSET) if self.have_clock else 0

    @property
    def n_offsets(self) -> int:
        """Different time zones behind stamps."""
        if not self.have_clock:
            return 0
        found = pc.extract_regex(self.texts, _OFFSET.replace("(z", "(?P<zone>z"))
        return len({zone["zone"].lower() for zone in found.to_pylist() if zone})

    def unix(self) -> Order | None:
        """Return the order of Unix times, if all numbers lie between 1979 and 2096."""
        if self.n(Kind.NUMBER) < self.n_known:
            return None
        known = self.numbers()
        known = known[np.isfinite(known)]
        return next(
            (
                order
                for order, (low, high) in _UNIX.items()
                if len(known) and ((known > low) & (known < high)).all()
            ),
            None,
        )

    def hours(self, order: Order) -> Array:
        """Return hours from 1970 of each line's date; NaN where none is."""
        if order in _UNIX:
            column = Column(names=("",), kind=Kind.DATE, order=order, counted=_HOURS)
            return self._values(column)[self.codes]
        return self.dates[order][self.codes]


def decimal_of(columns: Iterable[Content]) -> str:
    """Return the decimal mark: a comma if in some column most numbers show one.

    A column that may as well have commas between thousands, 980 beside 1,050, tells nothing.
    """
    is_comma = any(
        content.n_with(",")
        and not content.n_with(".")
        and 2 * content.n(Kind.NUMBER, ",") > content.n_known
        and not content.has_thousands(",")
        for content in columns
    )
    return "," if is_comma else "."


def increases(times: Sequence[Array]) -> bool:
    """True if times, by one column and then the next, are all known and increase line by line."""
    if not all(np.isfinite(each).all() for each in times):
        return False
    steps = [np.diff(each) for each in times]
    further, same = np.zeros(len(steps[0]), dtype=bool), np.ones(len(steps[0]), dtype=bool)
    for step in steps:
        further |= same & (step > 0)
        same &= step == 0
    return bool(further.all())
