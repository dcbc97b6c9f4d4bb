"""Data of people, in batches of data sets of equal sizes: curves, rows of numbers, events."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.errors import InputError
from engine.core.grids import read_only
from engine.core.identity import people_in_order
from engine.core.resampling import on_grid as at_grid
from engine.core.tasks import DataType
from engine.core.typed import check_fields, checked_record
from engine.core.types.facts import EventFacts, PublicFacts
from engine.core.types.sizes import Public, Sizes
from engine.core.types.truth import Truth

R = TypeVar("R")
_FEW = 2  # people of a server, where they count as all of it


class Records:
    """Records of people on servers, in batches of data sets of equal sizes: the base of all data.

    A record is a curve, a row of numbers, or one time. A subclass names in `_arrays` what begins
    with an axis for data sets and has its records along the second.
    """

    data_types: ClassVar[frozenset[DataType]]  # the tasks of which types take such data
    facts_type: ClassVar[type[PublicFacts]] = PublicFacts
    unit: ClassVar[str] = "record"
    # whether each has observations at times of which it is stated how they come about
    has_design: ClassVar[bool] = False
    # which of "value" and "time" have a stated range that numbers are moved into
    bounded_axes: ClassVar[tuple[str, ...]] = ()
    # what happens to numbers beyond the stated ranges, in words
    applied_bounds: ClassVar[str] = (
        "numbers beyond are moved to the nearest bound before anything else"
    )
    server: NDArray[np.int64]
    facts: PublicFacts
    _arrays: ClassVar[tuple[str, ...]]
    _flag: ClassVar[tuple[str, bool]]  # by which public facts say that they are of such data
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]  # subclasses are dataclasses

    @property
    def n_curves(self) -> int:
        """The number of records, curves or not."""
        return len(self.server)

    @property
    def sizes(self) -> Sizes:
        """Sizes of the data, as far as tuning may know."""
        raise NotImplementedError

    @property
    def public(self) -> Public:
        """Public facts and sizes: all that tuning may see."""
        return Public(self.sizes, self.facts)

    def pooled(self) -> Self:
        """The same records on one server: central instead of federated privacy."""
        return replace(self, server=np.zeros_like(self.server))

    def repeat(self, index: int) -> Self:
        """One of the data sets, as a batch of one."""
        return replace(self, **self._each(lambda array: array[index : index + 1]))

    def of_servers(self, servers: Sequence[int]) -> Self:
        """Keep some of the servers, renumbered from 0 in their present order."""
        mine = np.isin(self.server, servers)
        return self._taken(mine, np.searchsorted(np.sort(servers), self.server[mine]))

    def of_people(self, people: NDArray[Any]) -> Self:
        """Keep some of the records; servers that have any are numbered from 0.

        `people` has a mark for each, (n,) of bool, or places, (k,) of int, which may come several
        times.
        """
        numbers = np.unique(self.server[people], return_inverse=True)[1]
        return self._taken(people, numbers.astype(np.int64))

    def in_order(self, order: NDArray[np.int64]) -> Self:
        """Reorder the records; places keep their servers."""
        return self._taken(order, self.server)

    @property
    def parts(self) -> list[slice]:
        """The records of each server, which lie side by side."""
        ends = np.searchsorted(self.server, np.arange(-1, self.sizes.n_servers), side="right")
        return [slice(*each) for each in pairwise(ends.tolist())]

    # -- what is public of them -------------------------------------------------------------------

    @classmethod
    def of_sizes(
        cls, facts: PublicFacts, people: Sequence[int], has_response: bool = False
    ) -> Self:
        """Make data of so many people, of whom no number is known.

        `has_response` if something is to be predicted of them; for rows of numbers alone.
        """
        raise NotImplementedError

    def stand_in(self) -> Self:
        """Data of the same public sizes that hold nobody's numbers: all in the middle of its range.

        Sizes and facts alone are looked at; observations of single curves are counted only where
        it is not stated how many were planned.
        """
        raise NotImplementedError

    @classmethod
    def few_of_sizes(
        cls, facts: PublicFacts, people: Sequence[int], has_response: bool = False
    ) -> Self:
        """Make `stand_in` data with two people of each server who count as all, where they can."""
        return cls.of_sizes(facts, people, has_response).stand_in()

    def few(self) -> Self:
        """Make `stand_in` data with two people of each server who count as all, where they can."""
        return self.stand_in()

    def public_facts(self) -> dict[str, Any]:
        """Return stated facts, and the number of people on each server, as plain values."""
        name, value = self._flag
        return {
            "facts": self.facts.to_plain(),
            name: value,
            "people_per_site": list(self.sizes.n_curves_per_server),
        }

    @classmethod
    def from_public_facts(cls, plain: Mapping[str, Any], is_few: bool = False) -> Self:
        """Stand-ins with what `public_facts` wrote; `is_few` if two of each server count as all."""
        make = cls.few_of_sizes if is_few else cls.of_sizes
        return make(
            cls.facts_type.from_plain(plain["facts"]),
            plain["people_per_site"],
            plain.get("has_response", False),
        )

    @classmethod
    def is_of(cls, plain: Mapping[str, Any]) -> bool:
        """True if public facts are those of such data."""
        name, value = cls._flag
        return plain.get(name) is value

    def public_sizes(self) -> dict[str, Any]:
        """Return the publishable sizes, by name."""
        return {"people_per_site": list(self.sizes.n_curves_per_server)}

    def counted(self) -> dict[str, Any]:
        """Return the counts of the records, by name; none if they are not counted."""
        return {}

    # -- single records ---------------------------------------------------------------------------

    def with_site(self, server: int, records: Records) -> Self:
        """Replace the records of one server by as many of the same kind."""
        here = self.server == server
        return replace(
            self,
            **{
                name: _placed(array, getattr(records, name), here)
                for name in self._arrays
                if (array := getattr(self, name)) is not None
            },
        )

    def record_bytes(self) -> list[bytes]:
        """Each record of the first data set as bytes, with its server."""
        columns = self._each(lambda array: array[0].astype("<f8")).values()
        return [
            server.tobytes() + row.tobytes()
            for server, row in zip(
                self.server.astype("<i8"), np.column_stack([*columns]), strict=True
            )
        ]

    def content(self) -> bytes:
        """All records of the first data set as bytes, the same in whatever order they come."""
        return b"".join(sorted(hashlib.sha256(record).digest() for record in self.record_bytes()))

    def _taken(self, people: NDArray[Any], server: NDArray[np.int64]) -> Self:
        """These records, on such servers."""
        return replace(self, server=server, **self._each(lambda array: array[:, people]))

    def _each(self, pick: Callable[[Array], Array]) -> dict[str, Array]:
        """Pick from every array that is there."""
        there = {name: getattr(self, name) for name in self._arrays}
        return {name: pick(array) for name, array in there.items() if array is not None}


def order_in_time(times: Array, values: Array, counts: NDArray[np.int64]) -> Any:
    """Order observations (N,) of curves by time and then by value; as they are if they are so.

    The result is an index: of all, or the place of each.
    """
    curve = np.repeat(np.arange(len(counts)), counts)
    later, is_same = times[1:] > times[:-1], times[1:] == times[:-1]
    follows = later | (is_same & (values[1:] >= values[:-1])) | (curve[1:] != curve[:-1])
    is_ordered = follows.all() and np.isfinite(times).all() and np.isfinite(values).all()
    return slice(None) if is_ordered else np.lexsort((values, times, curve))


def _placed(
    array: NDArray[Any], records: NDArray[Any] | None, here: NDArray[np.bool_]
) -> NDArray[Any] | None:
    """An array (1, n, …) with the entries of some of the n replaced; None where there are none."""
    if records is None:
        return None
    out = np.array(array)
    out[:, here] = records
    return out


def _servers(people: Sequence[int]) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(people)), people)


@checked_record
@dataclass(frozen=True)
class CurveData(Records):
    """Functional observations in long form, `n_repeats` data sets of equal sizes at once.

    Parameters
    ----------
    times : (n_repeats, N)
        Times of observation on [0, 1], curve after curve; methods move others into it.
    values : (n_repeats, N)
        Readings in response units, in the same order.
    counts : (n_curves,)
        Readings on each curve; they sum to N. Public, unless a planned number is stated in `facts`.
    server : (n_curves,)
        Server of each curve, 0 … n_servers − 1, in non-decreasing order. Public.
    facts : PublicFacts
        What is stated of the curves.
    truth : Truth, optional
        The function to be estimated, where it is known.
    covariates : (n_repeats, n_curves, d), optional
        Numbers known of every person, in their own units.
    counts_as : Sizes, optional
        The public sizes, where these curves stand for all of a larger data set.

    Raises
    ------
    InputError
        If the shapes do not agree.

    Examples
    --------
    >>> data = CurveData(times=np.array([[0.0, 1.0, 0.5]]), values=np.array([[1.0, 2.0, 3.0]]),
    ...                  counts=np.array([2, 1]), server=np.array([0, 1]))
    >>> data.n_curves, data.sizes.n_curves_per_server, data.public.lengths
    (2, (1, 1), ((2,), (1,)))
    """

    times: Array
    values: Array
    counts: NDArray[np.int64]
    server: NDArray[np.int64]
    facts: PublicFacts = field(default_factory=PublicFacts)
    truth: Truth | None = None
    covariates: Array | None = None
    counts_as: Sizes | None = None
    data_types = frozenset({DataType.CURVES, DataType.READINGS})
    unit = "curve"
    has_design = True
    bounded_axes = ("value", "time")
    _arrays = ("times", "values", "covariates")
    _flag = ("is_of_curves", True)

    def __post_init__(self) -> None:
        check_fields(self)
        if self.times.shape != self.values.shape or self.times.ndim != 2:
            raise InputError(
                f"times {self.times.shape} and values {self.values.shape} must both "
                "have the shape (repeats, observations).",
                field="values",
            )
        if self.counts.ndim != 1 or self.counts.shape != self.server.shape:
            raise InputError(
                f"counts {self.counts.shape} and server {self.server.shape} must both "
                "have the shape (curves,).",
                field="counts",
            )
        if self.counts.sum() != self.times.shape[1] or (self.counts < 0).any():
            raise InputError(
                "The observations per curve must add up to the number of observations.",
                field="counts",
            )
        if len(self.server) and (self.server[0] < 0 or (np.diff(self.server) < 0).any()):
            raise InputError(
                "Curves must be ordered by server, and servers numbered from 0.", field="server"
            )
        if self.covariates is not None:
            expected = (self.n_repeats, self.n_curves, len(self.facts.covariates))
            if self.covariates.shape != expected:
                raise InputError(
                    f"covariates must have the shape {expected}; got {self.covariates.shape}.",
                    field="covariates",
                )
            object.__setattr__(self, "covariates", read_only(self.covariates))
        for name in ("times", "values", "counts", "server"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def n_repeats(self) -> int:
        return len(self.times)

    @cached_property
    def sizes(self) -> Sizes:
        return self.counts_as or Sizes.public(self.server, self.counts, self.facts)

    @cached_property
    def public(self) -> Public:
        """Public view for tuning; lengths of curves only if those of single ones are public."""
        if self.facts.observations_per_curve:
            return Public(self.sizes, self.facts)
        if self.counts_as is not None:
            return Public(self.sizes, self.facts, _lengths(self.server, self.counts))
        observations = np.bincount(self.server, weights=self.counts).astype(np.int64)
        return Public(
            self.sizes, self.facts, _lengths(self.server, self.counts), tuple(observations.tolist())
        )

    def on_grid(self, times: tuple[float, ...]) -> Array:
        """Every curve at the same public times.

        Readings are held to the stated bounds and the middle of these is taken off; see
        `engine.core.resampling` for what happens in between. Kept, because methods that are
        compared on the same data all begin with it.

        Parameters
        ----------
        times : tuple of float
            K increasing times on [0, 1].

        Returns
        -------
        (n_repeats, n_curves, K)
            In response units, around the middle of the bounds; read-only.
        """
        if times not in self._on_grids:
            facts = self.facts
            inside = np.clip(self.values, facts.value_low, facts.value_high)
            inside -= facts.value_middle
            self._on_grids[times] = read_only(
                at_grid(self.times, inside, self.counts, np.array(times))
            )
        return self._on_grids[times]

    @cached_property
    def _on_grids(self) -> dict[tuple[float, ...], Array]:
        return {}

    def _taken(self, people: NDArray[Any], server: NDArray[np.int64]) -> CurveData:
        # Observations lie curve after curve along the last axis; `observations` is the old place of
        # each in the new order: its place there, plus how far its curve has moved.
        counts = self.counts[people]
        starts = (np.cumsum(self.counts) - self.counts)[people]
        moved = np.repeat(starts - (np.cumsum(counts) - counts), counts)
        observations = moved + np.arange(counts.sum())
        known = self.covariates
        return replace(
            self,
            times=self.times[:, observations],
            values=self.values[:, observations],
            counts=counts,
            server=server,
            covariates=None if known is None else known[:, people],
            counts_as=None,
        )

    @classmethod
    def of_sizes(
        cls, facts: PublicFacts, people: Sequence[int], has_response: bool = False
    ) -> CurveData:
        n, d = sum(people), len(facts.covariates)
        counts = np.full(n, facts.observations_per_curve)
        readings = np.zeros((1, counts.sum()))
        return cls(
            readings,
            readings,
            counts,
            _servers(people),
            facts,
            covariates=np.zeros((1, n, d)) if d else None,
        )

    @classmethod
    def few_of_sizes(
        cls, facts: PublicFacts, people: Sequence[int], has_response: bool = False
    ) -> CurveData:
        planned = facts.observations_per_curve
        if not planned:
            return super().few_of_sizes(facts, people, has_response)
        few = cls.of_sizes(facts, [min(n, _FEW) for n in people]).stand_in()
        sizes = Sizes(tuple(people), planned * sum(people), planned, len(facts.covariates))
        return replace(few, counts_as=sizes)

    def few(self) -> CurveData:
        if not self.facts.observations_per_curve:  # lengths of single curves are public
            return self.stand_in()
        few = self.few_of_sizes(self.facts, self.sizes.n_curves_per_server)
        return few if self.covariates is not None else replace(few, covariates=None)

    def of_servers(self, servers: Sequence[int]) -> CurveData:
        some, known = super().of_servers(servers), self.counts_as
        if known is None:
            return some
        people = tuple(known.n_curves_per_server[k] for k in sorted({*servers}))
        mine = round(known.n_observations_per_curve * sum(people))
        sizes = replace(known, n_curves_per_server=people, n_observations=mine)
        return replace(some, counts_as=sizes)

    def pooled(self) -> CurveData:
        together = super().pooled()
        if self.counts_as is None:
            return together
        sizes = replace(self.counts_as, n_curves_per_server=(self.counts_as.n_curves,))
        return replace(together, counts_as=sizes)

    def stand_in(self) -> CurveData:
        """The same public sizes, and all values in the middle of their range.

        Times are the first of the common ones, again from the first where there are fewer, or else
        evenly spread.
        """
        facts, common = self.facts, np.array(self.facts.design.times)
        planned = facts.observations_per_curve
        counts = np.full(self.n_curves, planned) if planned else self.counts
        times = np.concatenate(
            [
                np.sort(np.resize(common, count))
                if len(common)
                else (np.arange(count) + 0.5) / count
                for count in counts
            ]
            or [np.empty(0)]
        )
        known = self.covariates
        return replace(
            self,
            times=times[None],
            counts=counts,
            truth=None,
            values=np.full((1, len(times)), facts.value_middle),
            covariates=None if known is None else np.broadcast_to(_middles(facts), known.shape),
        )

    def public_facts(self) -> dict[str, Any]:
        return {**super().public_facts(), "has_response": False}

    def public_sizes(self) -> dict[str, Any]:
        """People, and observations: of each if that was planned, else in all."""
        planned = self.facts.observations_per_curve
        return {
            **super().public_sizes(),
            **(
                {"observations_per_person": planned}
                if planned
                else {"observations": self.sizes.n_observations}
            ),
        }

    def with_site(self, server: int, records: Records) -> CurveData:
        assert isinstance(records, CurveData)
        # Observations lie curve after curve along the last axis, those of a server are together.
        here, counts = self.server == server, self.counts.copy()
        first, last = np.flatnonzero(here)[[0, -1]]
        start, end = self.counts[:first].sum(), self.counts[: last + 1].sum()
        counts[here] = records.counts
        times, values = (
            np.concatenate([others[:, :start], added, others[:, end:]], axis=1)
            for others, added in ((self.times, records.times), (self.values, records.values))
        )
        known = self.covariates
        return replace(
            self,
            times=times,
            values=values,
            counts=counts,
            covariates=None if known is None else _placed(known, records.covariates, here),
        )

    def record_bytes(self) -> list[bytes]:
        """Each curve as bytes, observations in order of time and then of value."""
        order = order_in_time(self.times[0], self.values[0], self.counts)
        known = np.empty((self.n_curves, 0)) if self.covariates is None else self.covariates[0]
        # all records one after the other: server, times, values and covariates of each
        ends = np.cumsum(1 + 2 * self.counts + known.shape[1])
        numbers = np.empty(int(ends[-1]) if len(ends) else 0)
        starts = ends - (1 + 2 * self.counts + known.shape[1])
        numbers[starts] = self.server.astype(np.int64).view(np.float64)
        first = starts + 1 - (np.cumsum(self.counts) - self.counts)
        places = np.arange(self.times.shape[1]) + np.repeat(first, self.counts)
        numbers[places] = self.times[0][order]
        places += np.repeat(self.counts, self.counts)
        numbers[places] = self.values[0][order]
        for k, column in enumerate(known.T):
            numbers[ends - known.shape[1] + k] = column
        text, cuts = numbers.tobytes(), (8 * np.append(0, ends)).tolist()
        return [text[start:end] for start, end in pairwise(cuts)]

    def blocks(self, site: int) -> Iterator[CurveData]:
        """Yield the curves of a site: all of them at once."""
        ends = np.cumsum([0, *self.counts])
        people = self.parts[site]
        mine = slice(ends[people.start], ends[people.stop])
        yield CurveData(
            self.times[:, mine],
            self.values[:, mine],
            self.counts[people],
            np.zeros(people.stop - people.start, dtype=np.int64),
            self.facts,
            covariates=None if self.covariates is None else self.covariates[:, people],
        )

    def of_parts(self, site: int, function: Callable[[Iterator[CurveData]], R]) -> list[R]:
        """Apply a function to the blocks of a site, which are one part."""
        return [function(self.blocks(site))]

    @property
    def regressors(self) -> Array:
        """1 and the covariates of every person on [−1, 1]: (n_repeats, d + 1, n_curves)."""
        if self.covariates is None:
            return np.ones((self.n_repeats, 1, self.n_curves))
        return np.ascontiguousarray(self.facts.to_regressors(self.covariates).swapaxes(1, 2))

    def curves(self, limit: int) -> list[tuple[Array, Array]]:
        """The first curves of the first data set, sorted in time.

        Parameters
        ----------
        limit : int
            How many at most.

        Returns
        -------
        list of (times, values)
            (m,) each, for a curve of m readings.
        """
        ends = np.cumsum(self.counts)
        out = []
        for stop, count in zip(ends[:limit], self.counts[:limit], strict=True):
            t, y = self.times[0, stop - count : stop], self.values[0, stop - count : stop]
            order = np.argsort(t, kind="stable")
            out.append((t[order], y[order]))
        return out


def _middles(facts: PublicFacts) -> Array:
    """Return the middles of the stated ranges of covariates: (d,)."""
    return np.array([(c.low + c.high) / 2 for c in facts.covariates])


def _lengths(server: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[tuple[int, ...], ...]:
    """The different counts at every server, increasing."""
    if not len(counts):
        return ()
    n_servers, base = int(server[-1]) + 1, int(counts.max()) + 1
    if counts.min() == base - 1 and n_servers == 1 + np.count_nonzero(np.diff(server)):
        return ((base - 1,),) * n_servers
    pairs = np.unique(server * base + counts)  # server after server, counts rising
    ends = np.searchsorted(pairs, base * np.arange(1, n_servers))
    return tuple(tuple(lengths.tolist()) for lengths in np.split(pairs % base, ends))


@dataclass(frozen=True)
class SampleData(Records):
    """Records that are rows of numbers instead of curves, `n_repeats` data sets at once.

    Parameters
    ----------
    x : (n_repeats, n, d)
        The numbers of every record, in their own units; `facts.covariates` names the columns and
        states their ranges.
    y : (n_repeats, n) or None
        What is to be predicted from x, in response units; bounded by `facts`. None if there is
        nothing to predict, as for densities.
    server : (n,)
        Server of each record, 0 … n_servers − 1, in non-decreasing order. Public.
    facts : PublicFacts
        What is stated of the records.
    truth : Truth, optional
        The function to be estimated, where it is known.

    Raises
    ------
    InputError
        If the shapes do not agree.
    """

    x: Array
    y: Array | None
    server: NDArray[np.int64]
    facts: PublicFacts
    truth: Truth | None = None
    data_types = frozenset({DataType.RECORDS})
    _arrays = ("x", "y")
    _flag = ("is_of_curves", False)

    def __post_init__(self) -> None:
        if self.x.ndim != 3 or self.x.shape[2] != len(self.facts.covariates):
            raise InputError(
                f"x must have the shape (repeats, records, "
                f"{len(self.facts.covariates)}); got {self.x.shape}.",
                field="x",
            )
        if self.y is not None and self.y.shape != self.x.shape[:2]:
            raise InputError(
                f"y must have the shape {self.x.shape[:2]}; got {self.y.shape}.", field="y"
            )
        if self.server.shape != self.x.shape[1:2]:
            raise InputError(
                f"Each of the {self.x.shape[1]} records needs its server; got {self.server.shape}.",
                field="server",
            )
        if (np.diff(self.server) < 0).any():
            raise InputError("Records must be ordered by server.", field="server")
        for name in ("x", "server", *(() if self.y is None else ("y",))):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def n_repeats(self) -> int:
        return len(self.x)

    @cached_property
    def sizes(self) -> Sizes:
        return Sizes(
            tuple(int(k) for k in np.bincount(self.server)), self.n_curves, 1, self.x.shape[2]
        )

    @classmethod
    def of_sizes(
        cls, facts: PublicFacts, people: Sequence[int], has_response: bool = False
    ) -> SampleData:
        n = sum(people)
        return cls(
            np.zeros((1, n, len(facts.covariates))),
            np.zeros((1, n)) if has_response else None,
            _servers(people),
            facts,
        )

    def stand_in(self) -> SampleData:
        return replace(
            self,
            x=np.broadcast_to(_middles(self.facts), self.x.shape),
            truth=None,
            y=None if self.y is None else np.full(self.y.shape, self.facts.value_middle),
        )

    def public_facts(self) -> dict[str, Any]:
        return {**super().public_facts(), "has_response": self.y is not None}

    @property
    def unit_x(self) -> Array:
        """The numbers moved into their stated ranges, on [0, 1]^d: (n_repeats, n, d).

        What is no number stands at the middle of its range.
        """
        return np.asarray((self.facts.to_regressors(self.x)[..., 1:] + 1) / 2)


@dataclass(frozen=True)
class EventData(Records):
    """One time for each person and how it ended, `n_repeats` data sets at once.

    Also values, of which the time alone counts, and scores with a label, which is status 1 or
    another. Nothing is moved here: what a strange row counts as is said by
    `engine.numerics.counts.cells`, row by row.

    Parameters
    ----------
    time : (n_repeats, n)
        In their own unit.
    status : (n_repeats, n) of int
        0 where a time was censored, else the code of the event.
    server : (n,)
        Server of each person, 0 … n_servers − 1, in non-decreasing order. Public.
    facts : EventFacts
        What is stated of the people.
    group : (n_repeats, n) of int, optional
        0 or 1.
    truth : Truth, optional
        The function to be estimated, on [0, 1], where it is known.
    entry : (n_repeats, n), optional
        When people came under observation, in the unit of the times; needed where the facts state
        late entry.
    without : (n_repeats, n), optional
        The last visit without the event; needed where the facts state visits. Times are then first
        visits with it, and no number where there was none.
    counts_as : Sizes, optional
        The public sizes, where these people stand for all of a larger data set.

    Raises
    ------
    InputError
        If the shapes do not agree.

    Examples
    --------
    >>> data = EventData(np.array([[0.4, 2.0]]), np.array([[1, 0]]), np.zeros(2, dtype=np.int64),
    ...                  EventFacts(time_high=1.0))
    >>> data.n_curves, data.sizes.n_curves_per_server
    (2, (2,))
    """

    time: Array
    status: NDArray[np.int64]
    server: NDArray[np.int64]
    facts: EventFacts
    group: NDArray[np.int64] | None = None
    truth: Truth | None = None
    entry: Array | None = None
    without: Array | None = None
    counts_as: Sizes | None = None
    data_types = frozenset({DataType.EVENTS})
    facts_type = EventFacts
    bounded_axes = ("time",)
    applied_bounds = (
        "everybody is counted in one cell: times beyond in that of the end, what is "
        "no time or no stated event as censored"
    )
    _arrays = ("time", "status", "group", "entry", "without")
    _flag = ("is_of_events", True)

    def __post_init__(self) -> None:
        if self.time.ndim != 2 or self.status.shape != self.time.shape:
            raise InputError(
                f"time {self.time.shape} and status {self.status.shape} must both "
                "have the shape (repeats, people).",
                field="time",
            )
        optional = {"group": self.group, "entry": self.entry, "without": self.without}
        known = {name: array for name, array in optional.items() if array is not None}
        for name, array in known.items():
            if array.shape != self.time.shape:
                raise InputError(
                    f"{name} must have the shape {self.time.shape}; got {array.shape}.", field=name
                )
        if self.server.shape != self.time.shape[1:] or (np.diff(self.server) < 0).any():
            raise InputError(
                "Each person needs a server, and people must be ordered by it.", field="server"
            )
        for name in ("time", "status", "server", *known):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def n_repeats(self) -> int:
        return len(self.time)

    @property
    def earlier(self) -> Array | None:
        """The earlier time of people who have two: of their entry, or of a visit."""
        if self.facts.at_visits:
            return self.without
        return self.entry if self.facts.late_entry else None

    @cached_property
    def sizes(self) -> Sizes:
        if self.counts_as is not None or not self.n_curves:
            return self.counts_as or Sizes((), 0, 1)
        starts = np.searchsorted(self.server, np.arange(int(self.server[-1]) + 2))  # it is sorted
        return Sizes(tuple(np.diff(starts).tolist()), self.n_curves, 1)

    @classmethod
    def few_of_sizes(
        cls, facts: PublicFacts, people: Sequence[int], has_response: bool = False
    ) -> EventData:
        few = cls.of_sizes(facts, [min(n, _FEW) for n in people]).stand_in()
        return replace(few, counts_as=Sizes(tuple(people), sum(people), 1))

    def few(self) -> EventData:
        return self.few_of_sizes(self.facts, self.sizes.n_curves_per_server)

    @classmethod
    def of_sizes(
        cls, facts: PublicFacts, people: Sequence[int], has_response: bool = False
    ) -> EventData:
        assert isinstance(facts, EventFacts)
        n = sum(people)
        group = np.zeros((1, n), dtype=np.int64) if facts.groups else None
        return cls(
            np.zeros((1, n)),
            np.zeros((1, n), dtype=np.int64),
            _servers(people),
            facts,
            group,
            entry=np.zeros((1, n)) if facts.late_entry else None,
            without=np.zeros((1, n)) if facts.at_visits else None,
        )

    def stand_in(self) -> EventData:
        """The same public sizes: everybody is observed from the start to beyond the end.

        Groups have their stated sizes; where those are private everybody is in the first.
        """
        beyond = np.full(self.time.shape, np.nextafter(self.facts.time_high, np.inf))
        ends = np.cumsum(self.facts.group_sizes[:0:-1])  # of later groups, from the last
        place = np.arange(self.n_curves)
        in_group = (len(ends) - np.searchsorted(ends, place, side="right")).astype(np.int64)
        return replace(
            self,
            time=beyond,
            status=np.zeros(beyond.shape, dtype=np.int64),
            group=None if self.group is None else in_group[None],
            entry=None if self.entry is None else np.full(beyond.shape, self.facts.time_low),
            without=None if self.without is None else np.full(beyond.shape, self.facts.time_high),
            truth=None,
        )

    def counted(self) -> dict[str, Any]:
        """Codes of what ends a time, and the groups that are told apart."""
        facts = self.facts
        return {
            "counted": {
                "causes": list(facts.causes),
                "groups": list(facts.groups),
                "group_sizes": list(facts.group_sizes),
                **({"group_weights": list(facts.group_weights)} if facts.group_weights else {}),
                **({"late_entry": True} if facts.late_entry else {}),
                **({"at_visits": True} if facts.at_visits else {}),
            }
        }

    def content(self) -> bytes:
        """All people as bytes, in an order that tells nothing; a million take a moment."""
        group, earlier = (None if each is None else each[0] for each in (self.group, self.earlier))
        return people_in_order(self.time[0], self.status[0], group, self.server, earlier=earlier)


Data = CurveData | SampleData | EventData
_KINDS: tuple[type[Data], ...] = get_args(Data)


def kind_of(data_type: DataType) -> type[Data]:
    """The kind of data that tasks of a type take."""
    return next(kind for kind in _KINDS if data_type in kind.data_types)


def from_public_facts(plain: Mapping[str, Any], is_few: bool = False) -> Data:
    """Data with public facts that `Records.public_facts` wrote, and no number of anybody."""
    return next(kind for kind in _KINDS if kind.is_of(plain)).from_public_facts(plain, is_few)
