"""Data of people, in batches of data sets of equal sizes: curves, rows of numbers, events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.errors import InputError
from engine.core.grids import read_only
from engine.core.resampling import on_grid as at_grid
from engine.core.types.facts import EventFacts, PublicFacts
from engine.core.types.sizes import Public, Sizes
from engine.core.types.truth import Truth


class Records:
    """What all data are: records of people on servers, in batches of data sets of equal sizes.

    A record is a curve, a row of numbers, or one time. A subclass names in `_arrays` what begins
    with an axis for data sets and has its records along the second.
    """

    server: NDArray[np.int64]
    facts: PublicFacts
    _arrays: ClassVar[tuple[str, ...]]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]  # subclasses are dataclasses

    @property
    def n_curves(self) -> int:
        """The number of records, curves or not."""
        return len(self.server)

    @property
    def sizes(self) -> Sizes:
        """How many there are, as far as tuning may know."""
        raise NotImplementedError

    @property
    def public(self) -> Public:
        """What tuning may see."""
        return Public(self.sizes, self.facts)

    def pooled(self) -> Self:
        """The same records on one server: central instead of federated privacy."""
        return replace(self, server=np.zeros_like(self.server))

    def repeat(self, index: int) -> Self:
        """One of the data sets, as a batch of one.

        Parameters
        ----------
        index : int
            Which, from 0.
        """
        return replace(self, **self._each(lambda array: array[index:index + 1]))

    def of_servers(self, servers: Sequence[int]) -> Self:
        """The records of some of the servers, which are then numbered from 0.

        Parameters
        ----------
        servers : sequence of int
            Their present numbers; the order of the numbers stays, whatever order is given.
        """
        mine = np.isin(self.server, servers)
        return self._taken(mine, np.searchsorted(np.sort(servers), self.server[mine]))

    def of_people(self, people: NDArray[Any]) -> Self:
        """Some of the records; servers that have any are numbered from 0.

        Parameters
        ----------
        people : (n,) of bool, or (k,) of int
            Whose they are: a mark for each, or their places, which may come several times.
        """
        numbers = np.unique(self.server[people], return_inverse=True)[1]
        return self._taken(people, numbers.astype(np.int64))

    def in_order(self, order: NDArray[np.int64]) -> Self:
        """The same records in another order; places keep their servers.

        Parameters
        ----------
        order : (n,) of int
            Which record comes first, second, ….
        """
        return self._taken(order, self.server)

    def _taken(self, people: NDArray[Any], server: NDArray[np.int64]) -> Self:
        """These records, on such servers."""
        return replace(self, server=server, **self._each(lambda array: array[:, people]))

    def _each(self, pick: Callable[[Array], Array]) -> dict[str, Array]:
        """What is picked of every array that is there."""
        there = {name: getattr(self, name) for name in self._arrays}
        return {name: pick(array) for name, array in there.items() if array is not None}


@dataclass(frozen=True)
class CurveData(Records):
    """Functional observations in long form, `n_repeats` data sets of equal sizes at once.

    Parameters
    ----------
    times : (n_repeats, N)
        Observation points on [0, 1], curve after curve.
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
    _arrays = ("times", "values", "covariates")

    def __post_init__(self) -> None:
        if self.times.shape != self.values.shape or self.times.ndim != 2:
            raise InputError(f"times {self.times.shape} and values {self.values.shape} must both "
                             "have the shape (repeats, observations).", field="values")
        if self.counts.sum() != self.times.shape[1] or len(self.server) != len(self.counts):
            raise InputError("The observations per curve must add up to the number of "
                             "observations.",
                             field="counts")
        if len(self.server) and (np.diff(self.server) < 0).any():
            raise InputError("Curves must be ordered by server.", field="server")
        if self.covariates is not None:
            expected = (self.n_repeats, self.n_curves, len(self.facts.covariates))
            if self.covariates.shape != expected:
                raise InputError(f"covariates must have the shape {expected}; got "
                                 f"{self.covariates.shape}.", field="covariates")
            object.__setattr__(self, "covariates", read_only(self.covariates))
        for name in ("times", "values", "counts", "server"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def n_repeats(self) -> int:
        return len(self.times)

    @cached_property
    def sizes(self) -> Sizes:
        return Sizes.public(self.server, self.counts, self.facts)

    @cached_property
    def public(self) -> Public:
        """What tuning may see; the lengths of curves only where those of single ones are public."""
        if self.facts.observations_per_curve:
            return Public(self.sizes, self.facts)
        observations = np.bincount(self.server, weights=self.counts).astype(np.int64)
        return Public(self.sizes, self.facts, _lengths(self.server, self.counts),
                      tuple(observations.tolist()))

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
            self._on_grids[times] = read_only(at_grid(self.times, inside, self.counts,
                                                       np.array(times)))
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
        return replace(self, times=self.times[:, observations], values=self.values[:, observations],
                       counts=counts, server=server,
                       covariates=None if known is None else known[:, people])

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
            t, y = self.times[0, stop - count:stop], self.values[0, stop - count:stop]
            order = np.argsort(t, kind="stable")
            out.append((t[order], y[order]))
        return out


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
    _arrays = ("x", "y")

    def __post_init__(self) -> None:
        if self.x.ndim != 3 or self.x.shape[2] != len(self.facts.covariates):
            raise InputError(f"x must have the shape (repeats, records, "
                             f"{len(self.facts.covariates)}); got {self.x.shape}.", field="x")
        if self.y is not None and self.y.shape != self.x.shape[:2]:
            raise InputError(f"y must have the shape {self.x.shape[:2]}; got {self.y.shape}.",
                             field="y")
        if self.server.shape != self.x.shape[1:2]:
            raise InputError(f"Each of the {self.x.shape[1]} records needs its server; got "
                             f"{self.server.shape}.", field="server")
        if (np.diff(self.server) < 0).any():
            raise InputError("Records must be ordered by server.", field="server")
        for name in ("x", "server", *(() if self.y is None else ("y",))):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def n_repeats(self) -> int:
        return len(self.x)

    @cached_property
    def sizes(self) -> Sizes:
        return Sizes(tuple(int(k) for k in np.bincount(self.server)), self.n_curves, 1,
                     self.x.shape[2])

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
    _arrays = ("time", "status", "group")

    def __post_init__(self) -> None:
        if self.time.ndim != 2 or self.status.shape != self.time.shape:
            raise InputError(f"time {self.time.shape} and status {self.status.shape} must both "
                             "have the shape (repeats, people).", field="time")
        if self.group is not None and self.group.shape != self.time.shape:
            raise InputError(f"group must have the shape {self.time.shape}; got "
                             f"{self.group.shape}.", field="group")
        if self.server.shape != self.time.shape[1:] or (np.diff(self.server) < 0).any():
            raise InputError("Each person needs a server, and people must be ordered by it.",
                             field="server")
        for name in ("time", "status", "server", *(() if self.group is None else ("group",))):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def n_repeats(self) -> int:
        return len(self.time)

    @cached_property
    def sizes(self) -> Sizes:
        return Sizes(tuple(int(k) for k in np.bincount(self.server)), self.n_curves, 1)


Data = CurveData | SampleData | EventData
