"""The few records that everything else is made of.

All are frozen and picklable; their arrays are read-only. Neighbouring data always *replace one
curve*, and the sizes (servers, curves, readings per curve) are public.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array as Array
from engine.core.bands import Band as Band
from engine.core.bands import limits
from engine.core.enumerations import Enumeration, NoiseLaw
from engine.core.errors import InputError, brief
from engine.core.grids import drawing_points, interpolated, quadrature, read_only
from engine.core.resampling import on_grid as at_grid
from engine.core.tasks import Unit as Unit

LEAST_EPSILON, MOST_EPSILON = 1e-12, 1e12


@dataclass(frozen=True, slots=True)
class Budget:
    """One privacy budget (ε, δ).

    Parameters
    ----------
    epsilon : float
        ε > 0; ∞ means no protection.
    delta : float
        δ in [0, 1).

    Raises
    ------
    InputError
        If ε is not positive, is finite and outside [1e-12, 1e12], beyond which squares and
        exponentials leave floating point, or if δ is outside [0, 1).

    Examples
    --------
    >>> Budget(1.0, 1e-6).is_pure, Budget(1.0).is_pure, NON_PRIVATE.is_private
    (False, True, False)
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("epsilon", self.epsilon), ("delta", self.delta)):
            if not isinstance(value, Real) or isinstance(value, bool):
                raise InputError(f"“{name}” must be a number; got {brief(value)}.", field=name)
        if not self.epsilon > 0:
            raise InputError(f"ε must be positive; got {brief(self.epsilon)}.", field="epsilon",
                             hint="Common values lie between 0.05 and 10.")
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON and self.epsilon != math.inf:
            raise InputError(f"ε must lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g}; got "
                             f"{brief(self.epsilon)}.", field="epsilon",
                             hint="Common values lie between 0.05 and 10.")
        if not 0 <= self.delta < 1:
            raise InputError(f"δ must lie between 0 and 1; got {brief(self.delta)}.",
                             field="delta", hint="Choose δ below 1/n, for example 1/n².")

    @classmethod
    def covering(cls, epsilon: float, delta: float = 0.0) -> Budget:
        """The smallest budget that promises no more than what was proved.

        Parameters
        ----------
        epsilon : float
            ε ≥ 0 that was proved, of any size.
        delta : float
            δ in [0, 1).

        Returns
        -------
        Budget
            With ε rounded up where no budget can state it: to 1e-12 below that, to ∞ above 1e12.

        Examples
        --------
        >>> Budget.covering(3e12).epsilon, Budget.covering(0.0).epsilon
        (inf, 1e-12)
        """
        return cls(math.inf if epsilon > MOST_EPSILON else max(epsilon, LEAST_EPSILON), delta)

    @property
    def is_private(self) -> bool:
        return math.isfinite(self.epsilon)

    @property
    def is_pure(self) -> bool:
        return self.delta == 0


NON_PRIVATE = Budget(math.inf)


@dataclass(frozen=True)
class Covariate:
    """A number known of every person, with the stated range it is moved into.

    Parameters
    ----------
    name : str
        What it is.
    low, high : float
        The range, in its own unit.
    unit : str
        That unit.

    Raises
    ------
    InputError
        If the range is empty or not finite.
    """

    name: str
    low: float = -1.0
    high: float = 1.0
    unit: str = ""

    def __post_init__(self) -> None:
        _check_range("covariate", self.low, self.high, self.name[:40], self.unit)


class TimeLaw(Enumeration):
    """How observation times come about; see `Design`."""

    INDEPENDENT = "independent"
    COMMON = "common"
    VISITS = "visits"
    WINDOWS = "windows"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Design:
    """How observation times come about: a public fact, on [0, 1].

    Parameters
    ----------
    law : TimeLaw, or its name
        "independent": each time on its own, evenly spread or by `density`. "common": everybody is
        observed at `times`. "visits": observations of a curve are `gap` apart, from a random start.
        "windows": observations of a curve are spread evenly over a stretch of length `window` with
        a random start. "unknown": nothing is stated, so only released quantities may be relied on.
    times : tuple of float
        The common times, increasing.
    gap, window : float
        Shares of the time range.
    density : tuple of float
        Relative heights at equally spaced times, joined by straight lines. Empty: evenly spread.

    Raises
    ------
    InputError
        If there is no such law.
    """

    law: TimeLaw = TimeLaw.INDEPENDENT
    times: tuple[float, ...] = ()
    gap: float = 0.0
    window: float = 0.0
    density: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "law", TimeLaw.named(self.law, "law"))

    @classmethod
    def common(cls, times: Sequence[float]) -> Design:
        """Everybody is observed at the same times.

        Parameters
        ----------
        times : sequence of float
            On [0, 1], increasing. Without any the design is that of no statement.

        Returns
        -------
        Design
        """
        return cls(law=TimeLaw.COMMON, times=tuple(times)) if len(times) else cls()

    @classmethod
    def visits(cls, gap: float) -> Design:
        """Observations of a curve are a fixed time apart, from a random start.

        Parameters
        ----------
        gap : float
            As a share of the time range.

        Returns
        -------
        Design
        """
        return cls(law=TimeLaw.VISITS, gap=gap)

    @property
    def is_known(self) -> bool:
        return self.law is not TimeLaw.UNKNOWN


class DataKind(Enumeration):
    """Whose data they are: the computer's, everybody's, a visitor's, or made like a visitor's."""

    SIMULATED = "simulated"
    PUBLIC = "public"
    UPLOAD = "upload"
    TWIN = "twin"


@dataclass(frozen=True, kw_only=True)
class PublicFacts:
    """What is stated about the curves from outside the data: words, units and bounds.

    Values outside the bounds are moved to the nearest bound.

    Parameters
    ----------
    name : str
        Of the data.
    kind : DataKind, or its name
        "simulated", "public", "upload", or "twin" for one that is simulated from what was stated of
        an upload.
    person, people : str
        The nouns for one and several of those who are protected.
    curve : str
        The noun for what each of them has; empty for the usual one.
    value_name, value_unit, time_name, time_unit : str
        How both axes are called, and their units.
    time_low, time_high : float
        The time range, in its unit; inside the engine times are on [0, 1].
    value_low, value_high : float
        The bounds of values, in response units.
    reading_sd : float
        The known standard deviation of a reading around its curve, in response units. Where it is
        above 0 the bounds are those of the curve, and single readings may lie beyond.
    unit_scale : bool
        Values are of size one as they stand, so that the papers' constants apply unchanged.
    periodic : bool
        A curve ends where it began.
    design : Design
        How observation times come about.
    observations_per_curve : int
        How many observations a curve was planned to have; 0 takes the sizes of the data for public,
        as they are where data are simulated.
    symmetric : bool
        People are spread about their mean without skew, groups or outliers.
    norm_bound : float
        The largest root mean square over time (L² norm on [0, 1]) that a curve less `value_middle`
        is stated to have, in response units; 0 means that only the bounds of values are known, so
        half their width.
    two_classes : bool
        Values only tell one class from another, above the middle of their bounds or not.
    covariates : tuple of Covariate
        The numbers known of every person, where there are any.
    reach : float
        How many of their standard deviations the stated ranges go to each side of the middle; 0
        where nothing is known of it.
    origin : str
        Where the bounds are from.
    credit : str
        Who measured the data and under which licence, or which publications a simulation follows.

    Raises
    ------
    InputError
        If a range is empty or not finite, or the norm bound is negative.
    """

    name: str = "Curves"
    kind: DataKind = DataKind.SIMULATED
    person: str = "person"
    people: str = "people"
    curve: str = ""
    value_name: str = "Value"
    value_unit: str = ""
    time_name: str = "Time"
    time_unit: str = ""
    time_low: float = 0.0
    time_high: float = 1.0
    value_low: float = -1.0
    value_high: float = 1.0
    reading_sd: float = 0.0
    unit_scale: bool = False
    periodic: bool = False
    design: Design = Design()
    observations_per_curve: int = 0
    symmetric: bool = False
    norm_bound: float = 0.0
    two_classes: bool = False
    covariates: tuple[Covariate, ...] = ()
    reach: float = 0.0
    origin: str = ""
    credit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", DataKind.named(self.kind, "kind"))
        _check_range("time", self.time_low, self.time_high, self.time_name, self.time_unit)
        _check_range("value", self.value_low, self.value_high, self.value_name, self.value_unit)
        if not 0 <= self.norm_bound < math.inf:
            raise InputError("The largest possible size of a curve must be 0 or a positive number; "
                             f"got {self.norm_bound:g}.", field="norm_bound",
                             hint="0 takes half the width of the stated range of values.")

    @property
    def is_simulated(self) -> bool:
        return self.kind is DataKind.SIMULATED

    @property
    def is_upload(self) -> bool:
        return self.kind is DataKind.UPLOAD

    @property
    def common_times(self) -> tuple[float, ...]:
        """The public grid at which everybody is observed, on [0, 1]; empty where there is none."""
        return self.design.times

    @property
    def visit_gap(self) -> float:
        """The public gap between observations of a curve; 0 where they are no visits."""
        return self.design.gap

    @property
    def value_middle(self) -> float:
        return (self.value_low + self.value_high) / 2

    @property
    def value_half_width(self) -> float:
        return (self.value_high - self.value_low) / 2

    @property
    def largest_norm(self) -> float:
        """τ: `norm_bound`, or what the bounds of values imply."""
        return self.norm_bound or self.value_half_width

    def to_unit_time(self, times: Array) -> Array:
        """Times on [0, 1].

        Parameters
        ----------
        times : ndarray
            In their own unit; moved into the stated range.

        Returns
        -------
        ndarray
            Of the same shape.
        """
        inside = np.clip(times, self.time_low, self.time_high)
        return (inside - self.time_low) / (self.time_high - self.time_low)

    def from_unit_time(self, times: Array) -> Array:
        """Times in their own unit.

        Parameters
        ----------
        times : ndarray
            On [0, 1].

        Returns
        -------
        ndarray
            Of the same shape.
        """
        return self.time_low + times * (self.time_high - self.time_low)

    def to_regressors(self, covariates: Array) -> Array:
        """1 and the covariates on [−1, 1], moved into their stated ranges.

        Parameters
        ----------
        covariates : (…, d)
            In their own units. What is no number stands at the middle of its range.

        Returns
        -------
        (…, d + 1)
            The first column is 1.

        Examples
        --------
        >>> facts = PublicFacts(covariates=(Covariate("age", 0.0, 100.0),))
        >>> facts.to_regressors(np.array([[75.0], [120.0], [np.nan]])).tolist()
        [[1.0, 0.5], [1.0, 1.0], [1.0, 0.0]]
        """
        out = np.ones((*covariates.shape[:-1], 1 + len(self.covariates)))
        for k, stated in enumerate(self.covariates):
            middle, half = (stated.low + stated.high) / 2, (stated.high - stated.low) / 2
            unit = (np.clip(covariates[..., k], stated.low, stated.high) - middle) / half
            unit[~np.isfinite(covariates[..., k])] = 0.0
            out[..., k + 1] = unit
        return out


def _check_range(field: str, low: float, high: float, name: str, unit: str) -> None:
    unit = f" {unit}" if unit else ""
    if not (math.isfinite(low) and math.isfinite(high)):
        raise InputError(f"The lowest and highest possible {name.lower()} must be finite numbers.",
                         field=f"{field}_low")
    if low >= high:
        raise InputError(f"The lowest {name.lower()} must be below the highest; got {low:g} and "
                         f"{high:g}{unit}.", field=f"{field}_low", hint="Swap or widen them.")


@dataclass(frozen=True)
class Truth:
    """A known function, as data: its values on a drawing grid and on quadrature nodes.

    Functions with jumps or kinks need the rule "midpoints", whose many nodes take the place of
    the 200. Functions on [0, 1]² have the rule "square": 96 × 96 midpoints, on which they are
    drawn as well, so that `grid_values` are the `node_values`. A vector has the rule "coordinates"
    (see `of_vector`): its entries are both kinds of values and its energy is their sum of squares.

    Parameters
    ----------
    grid_values : (GRID_SIZE,) or (d + 1, GRID_SIZE)
        On equally spaced points of [0, 1]; several functions, as in a varying-coefficient model,
        come first.
    node_values : (200,) or (d + 1, 200)
        On the nodes of the rule, from which coefficients and the energy of the tail follow.
    rule : {"gauss", "midpoints", "square", "coordinates"}
        See `grids.quadrature`.

    Examples
    --------
    >>> truth = Truth.of(lambda t: t**2)
    >>> round(float(truth.energy), 12), truth.at(np.array([0.3])).round(12).tolist()
    (0.2, [0.09])
    """

    grid_values: Array
    node_values: Array
    rule: str = "gauss"

    @classmethod
    def of(cls, function: Callable[[Array], Array], rule: str = "gauss") -> Truth:
        """The truth of a function that can be evaluated.

        Parameters
        ----------
        function : callable
            Takes points (n,), or (n, 2) for "square", to values (n,) or (functions, n).
        rule : {"gauss", "midpoints", "square"}
            See `grids.quadrature`.

        Returns
        -------
        Truth
        """
        drawn, nodes = drawing_points(rule), quadrature(rule)[0]
        return cls(read_only(function(drawn)), read_only(function(nodes)), rule)

    @classmethod
    def of_vector(cls, entries: Array) -> Truth:
        """A vector as a truth.

        Parameters
        ----------
        entries : (d,) or (machines, d)
            One vector, or one for each machine.

        Returns
        -------
        Truth
        """
        values = read_only(np.array(entries, dtype=float))
        return cls(values, values, "coordinates")

    def less(self, curve: Callable[[Array], Array]) -> Truth:
        """What is left of the truth when a known curve is taken off.

        Parameters
        ----------
        curve : callable
            Takes points to values, like those of `of`.

        Returns
        -------
        Truth
        """
        drawn, nodes = drawing_points(self.rule), self.quadrature[0]
        return replace(self, grid_values=read_only(self.grid_values - curve(drawn)),
                       node_values=read_only(self.node_values - curve(nodes)))

    def at(self, points: Array) -> Array:
        """Values at other points.

        "gauss": the polynomial through the nodes, exact to rounding for the smooth truths it is
        used for. "midpoints": the broken line. "square": the bicubic spline. A vector has no
        values between its entries.

        Parameters
        ----------
        points : (…) or (…, 2)
            Of [0, 1], or of the square.

        Returns
        -------
        (…) or (functions, …)
        """
        points = np.asarray(points)
        shape, dimension = points.shape, 1
        if self.rule == "square":
            shape, dimension = shape[:-1], 2
        rows = np.atleast_2d(self.node_values)
        values = interpolated(self.rule, rows, points.reshape(-1, dimension).T)
        return values.reshape(*self.node_values.shape[:-1], *shape)

    @property
    def quadrature(self) -> tuple[Array, Array]:
        """The nodes of `node_values` and their weights; for a vector, positions and ones."""
        if self.rule == "coordinates":
            size = self.node_values.shape[-1]
            return np.arange(size, dtype=float), np.ones(size)
        return quadrature(self.rule)

    @property
    def energy(self) -> Array:
        """∫ μ² over [0, 1], of each function; of a vector, Σ μ_j²."""
        return np.asarray(self.node_values**2 @ self.quadrature[1])


class FunctionBasis(Protocol):
    """What an `Estimate` needs of the functions b_1 … b_size its coefficients belong to."""

    @property
    def size(self) -> int: ...

    def __call__(self, times: Array, /) -> Array:
        """Values at `times` (...): (..., size)."""
        ...

    def first(self, size: int) -> FunctionBasis:
        """The basis of the first functions alone.

        Parameters
        ----------
        size : int
            How many.

        Returns
        -------
        FunctionBasis
        """
        ...

    def project(self, truth: Truth) -> tuple[Array, Array]:
        """The best approximation of a known function.

        Parameters
        ----------
        truth : Truth
            One function or several.

        Returns
        -------
        coefficients : (…, size)
            Several functions come first.
        energy : (…)
            ∫ of the square of what they leave out.
        """
        ...

    def squared_distance(self, difference: Array) -> Array:
        """∫ (Σ_l d_l b_l)²: the squared norm of a difference of two functions.

        Parameters
        ----------
        difference : (…, size)
            d, in coefficients.

        Returns
        -------
        (…)
        """
        ...


@dataclass(frozen=True)
class Sizes:
    """The public sizes of a data set: all that tuning by formula may look at.

    Parameters
    ----------
    n_curves_per_server : tuple of int
        One for each server.
    n_observations : int
        Of all curves together.
    fewest_per_curve : int
        Among curves with at least one reading.
    n_covariates : int
        d.
    """

    n_curves_per_server: tuple[int, ...]
    n_observations: int
    fewest_per_curve: int  # among curves with at least one reading
    n_covariates: int = 0

    @classmethod
    def public(cls, server: NDArray[np.int64], counts: NDArray[np.int64], facts: PublicFacts
               ) -> Sizes:
        """The sizes of curves.

        Where a number per curve is stated it counts for all of them: then those of single curves
        are private.

        Parameters
        ----------
        server : (n_curves,)
            Server of each curve.
        counts : (n_curves,)
            Observations of each.
        facts : PublicFacts
            What is stated of them.

        Returns
        -------
        Sizes
        """
        curves, d = tuple(int(k) for k in np.bincount(server)), len(facts.covariates)
        if stated := facts.observations_per_curve:
            return cls(curves, stated * len(counts), stated, d)
        used = counts[counts > 0]
        return cls(curves, int(counts.sum()), int(used.min()) if len(used) else 0, d)

    @property
    def n_servers(self) -> int:
        return len(self.n_curves_per_server)

    @property
    def n_curves(self) -> int:
        return sum(self.n_curves_per_server)

    @property
    def n_observations_per_curve(self) -> float:
        return self.n_observations / self.n_curves


@dataclass(frozen=True)
class Public:
    """All that tuning may see of data: how many they are, and what is stated of them.

    It holds no reading, no time and no covariate, so that a plan made from it cannot depend on any.

    Parameters
    ----------
    sizes : Sizes
        How many curves and observations.
    facts : PublicFacts
        What is stated of them.
    lengths : tuple of tuple of int
        The different numbers of observations that curves have at each server, increasing, where
        those of single curves are public. Empty: every curve counts as the shortest.
    observations : tuple of int
        How many observations there are at each server. Empty: as many as there are curves, times
        the average.
    """

    sizes: Sizes
    facts: PublicFacts
    lengths: tuple[tuple[int, ...], ...] = ()
    observations: tuple[int, ...] = ()

    @property
    def lengths_per_server(self) -> tuple[tuple[int, ...], ...]:
        """`lengths`, or that of the shortest curve for every server."""
        shortest = (max(self.sizes.fewest_per_curve, 1),)
        return self.lengths or (shortest,) * self.sizes.n_servers

    @property
    def observations_per_server(self) -> Array:
        """`observations`, or their average for every curve: (servers,)."""
        if self.observations:
            return np.array(self.observations, dtype=float)
        curves = np.array(self.sizes.n_curves_per_server)
        return np.asarray(curves * self.sizes.n_observations_per_curve)


@dataclass(frozen=True)
class CurveData:
    """Functional observations in long form, `n_repeats` data sets of equal sizes at once.

    Parameters
    ----------
    times : (n_repeats, N)
        Observation points on [0, 1], curve after curve.
    values : (n_repeats, N)
        Readings in response units, in the same order.
    counts : (n_curves,)
        Readings on each curve; they sum to N. Public.
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

    @property
    def n_curves(self) -> int:
        return len(self.counts)

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

    def pooled(self) -> CurveData:
        """The same curves on one server: central instead of federated privacy."""
        return replace(self, server=np.zeros_like(self.server))

    def repeat(self, index: int) -> CurveData:
        """One of the data sets, as a batch of one.

        Parameters
        ----------
        index : int
            Which, from 0.

        Returns
        -------
        CurveData
        """
        batch = slice(index, index + 1)
        return replace(self, times=self.times[batch], values=self.values[batch],
                       covariates=None if self.covariates is None else self.covariates[batch])

    @property
    def regressors(self) -> Array:
        """1 and the covariates of every person on [−1, 1]: (n_repeats, d + 1, n_curves)."""
        if self.covariates is None:
            return np.ones((self.n_repeats, 1, self.n_curves))
        return np.ascontiguousarray(self.facts.to_regressors(self.covariates).swapaxes(1, 2))

    def of_servers(self, servers: Sequence[int]) -> CurveData:
        """The curves of some of the servers, which are then numbered from 0.

        Parameters
        ----------
        servers : sequence of int
            Their present numbers; the order of the numbers stays, whatever order is given.

        Returns
        -------
        CurveData
        """
        mine = np.isin(self.server, servers)
        readings = np.repeat(mine, self.counts)
        numbers = np.searchsorted(np.sort(servers), self.server[mine])
        return replace(self, times=self.times[:, readings], values=self.values[:, readings],
                       counts=self.counts[mine], server=numbers,
                       covariates=None if self.covariates is None else self.covariates[:, mine])

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
class SampleData:
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

    def __post_init__(self) -> None:
        if self.x.ndim != 3 or self.x.shape[2] != len(self.facts.covariates):
            raise InputError(f"x must have the shape (repeats, records, "
                             f"{len(self.facts.covariates)}); got {self.x.shape}.", field="x")
        if self.y is not None and self.y.shape != self.x.shape[:2]:
            raise InputError(f"y must have the shape {self.x.shape[:2]}; got {self.y.shape}.",
                             field="y")
        if self.server.shape != self.x.shape[1:2]:
            raise InputError(f"Each of the {self.n_curves} records needs its server; got "
                             f"{self.server.shape}.", field="server")
        if (np.diff(self.server) < 0).any():
            raise InputError("Records must be ordered by server.", field="server")
        for name in ("x", "server", *(() if self.y is None else ("y",))):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def n_repeats(self) -> int:
        return len(self.x)

    @property
    def n_curves(self) -> int:
        """The number of records: what is a curve elsewhere is a record here."""
        return int(self.x.shape[1])

    @cached_property
    def sizes(self) -> Sizes:
        return Sizes(tuple(int(k) for k in np.bincount(self.server)), self.n_curves, 1,
                     self.x.shape[2])

    @property
    def public(self) -> Public:
        """What tuning may see."""
        return Public(self.sizes, self.facts)

    @property
    def unit_x(self) -> Array:
        """The numbers moved into their stated ranges, on [0, 1]^d: (n_repeats, n, d).

        What is no number stands at the middle of its range.
        """
        return np.asarray((self.facts.to_regressors(self.x)[..., 1:] + 1) / 2)

    def of_servers(self, servers: Sequence[int]) -> SampleData:
        """The records of some of the servers, which are then numbered from 0.

        Parameters
        ----------
        servers : sequence of int
            Their present numbers; the order of the numbers stays, whatever order is given.

        Returns
        -------
        SampleData
        """
        mine = np.isin(self.server, servers)
        return replace(self, x=self.x[:, mine], y=None if self.y is None else self.y[:, mine],
                       server=np.searchsorted(np.sort(servers), self.server[mine]))

    def pooled(self) -> SampleData:
        """The same records on one server: central instead of federated privacy."""
        return replace(self, server=np.zeros_like(self.server))

    def repeat(self, index: int) -> SampleData:
        """One of the data sets, as a batch of one.

        Parameters
        ----------
        index : int
            Which, from 0.

        Returns
        -------
        SampleData
        """
        batch = slice(index, index + 1)
        return replace(self, x=self.x[batch], y=None if self.y is None else self.y[batch])


@dataclass(frozen=True, kw_only=True)
class EventFacts(PublicFacts):
    """What is stated of people with one time each, from outside the data.

    The time range is public: it begins where people come under observation and ends at the planned
    follow-up, not at the longest time seen. For scores and values it is their stated range.

    Parameters
    ----------
    causes : tuple of str
        What can happen, in the order of the codes 1, 2, …; all other codes are censored. Of labels
        only the first is looked at.
    edges : tuple of float
        Those of the intervals in which people are counted, in the unit of the times, from the
        lowest to the highest. Empty: equally wide ones, as many as a method takes.
    groups : tuple of str
        Names of two groups that are compared; empty where there is one.
    group_sizes : tuple of int
        Their sizes, where those are public as in a trial; empty where they are private.

    Raises
    ------
    InputError
        If edges do not rise over the range, or there are other than no or two groups.
    """

    causes: tuple[str, ...] = ("Event",)
    edges: tuple[float, ...] = ()
    groups: tuple[str, ...] = ()
    group_sizes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.causes:
            raise InputError("Name at least one event.", field="causes")
        if len(self.groups) not in (0, 2):
            raise InputError(f"Two groups can be compared; got {len(self.groups)}.",
                             field="groups", hint="State two values, or none.")
        if self.group_sizes and (len(self.group_sizes) != len(self.groups)
                                 or min(self.group_sizes) < 1):
            raise InputError("The size of each group must be stated, or none of them.",
                             field="group_sizes")
        rises = all(a < b for a, b in zip(self.edges, self.edges[1:], strict=False))
        if self.edges and not (rises and self.edges[0] == self.time_low
                               and self.edges[-1] == self.time_high):
            raise InputError("The edges of intervals must rise from the beginning to the end of "
                             "the follow-up.", field="edges",
                             hint="Begin with the lowest time and end with the highest.")


@dataclass(frozen=True)
class EventData:
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

    @property
    def n_curves(self) -> int:
        """The number of people: what is a curve elsewhere is a person here."""
        return int(self.time.shape[1])

    @cached_property
    def sizes(self) -> Sizes:
        return Sizes(tuple(int(k) for k in np.bincount(self.server)), self.n_curves, 1)

    @property
    def public(self) -> Public:
        """What tuning may see."""
        return Public(self.sizes, self.facts)

    def of_servers(self, servers: Sequence[int]) -> EventData:
        """The people of some of the servers, which are then numbered from 0.

        Parameters
        ----------
        servers : sequence of int
            Their present numbers; the order of the numbers stays, whatever order is given.

        Returns
        -------
        EventData
        """
        mine = np.isin(self.server, servers)
        return replace(self._of_people(mine),
                       server=np.searchsorted(np.sort(servers), self.server[mine]))

    def in_order(self, order: NDArray[np.int64]) -> EventData:
        """The same people in another order within their servers.

        Parameters
        ----------
        order : (n,) of int
            Who comes first, second, …

        Returns
        -------
        EventData
        """
        return self._of_people(order)

    def _of_people(self, people: NDArray[Any]) -> EventData:
        return replace(self, time=self.time[:, people], status=self.status[:, people],
                       server=self.server[people],
                       group=None if self.group is None else self.group[:, people])

    def pooled(self) -> EventData:
        """The same people on one server: central instead of federated privacy."""
        return replace(self, server=np.zeros_like(self.server))

    def repeat(self, index: int) -> EventData:
        """One of the data sets, as a batch of one.

        Parameters
        ----------
        index : int
            Which, from 0.

        Returns
        -------
        EventData
        """
        batch = slice(index, index + 1)
        return replace(self, time=self.time[batch], status=self.status[batch],
                       group=None if self.group is None else self.group[batch])


Data = CurveData | SampleData | EventData


class Composition(Enumeration):
    """How several alike releases add up: about the same people, or each about others."""

    SEQUENTIAL = "sequential"
    PARALLEL = "parallel"


@dataclass(frozen=True)
class Step:
    """One kind of message of a mechanism, and the lines of the ledger it is charged to.

    Messages, lines of the ledger and noise of a release are matched by keys and by nothing else.
    Keys are written into ledgers that must open for ever: they never change. Labels may.

    Parameters
    ----------
    key : str
        Its name in a mechanism; of a line of the ledger, that of the line.
    label : str
        What people read; nothing follows from it. Empty: the key.
    charged_to : tuple of str
        Keys of the lines that state its noise and its cost. Empty: that of the same key.
    sensitivity : float, optional
        The most that exchanging one of n curves moves n times an average, in units of the radius
        that curves are clipped to; None where it is no property of the step alone.
    """

    key: str
    label: str = ""
    charged_to: tuple[str, ...] = ()
    sensitivity: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.key)
        object.__setattr__(self, "charged_to", self.charged_to or (self.key,))


@dataclass(frozen=True)
class Spend:
    """One line of the ledger: what left a server and what it cost.

    Neighbouring data differ in one `unit` by `relation`, always "replace one". Members of
    enumerations may be given as their text.

    Parameters
    ----------
    step : Step
        What left.
    server : int
        Which server it left.
    mu : float or None
        The Gaussian-DP parameter of one such release (∞ without noise); None where the noise is not
        Gaussian.
    sensitivity, noise_scale : tuple of float
        In units of what is released, in its own words.
    count : int
        How many such releases there are.
    composition : Composition, or its name
        "sequential" when the same people take part in each (μ's add in squares) or "parallel" when
        every person takes part in one.
    budget : Budget
        What was asked for, for the whole ledger of this server.
    why : str
        How the noise follows, for people.
    epsilon : float, optional
        Of a release whose noise is not Gaussian: holds with δ = 0, and those add.
    rho : float, optional
        The zCDP parameter of one release, where neither of the two says all, as for a noisy choice;
        those add, too.
    unit : Unit, or its name
        What is protected.
    relation : str
        How neighbours differ.
    norm : str
        The norm in which `sensitivity` is measured.
    noise : NoiseLaw, or its name
        The law of the noise.

    Raises
    ------
    InputError
        If a composition, a unit or a law has no such name.
    """

    step: Step
    server: int
    mu: float | None
    sensitivity: tuple[float, ...]
    noise_scale: tuple[float, ...]
    count: int
    composition: Composition
    budget: Budget
    why: str
    epsilon: float | None = None
    rho: float | None = None
    unit: Unit = Unit.UNSTATED
    relation: str = "replace one"
    norm: str = ""
    noise: NoiseLaw = NoiseLaw.UNSTATED

    def __post_init__(self) -> None:
        if (type(self.composition) is Composition and type(self.unit) is Unit
                and type(self.noise) is NoiseLaw):  # as in each of thousands of lines
            return
        for name, names in (("composition", Composition), ("unit", Unit), ("noise", NoiseLaw)):
            object.__setattr__(self, name, names.named(getattr(self, name), name))

    def at(self, server: int, **other: Any) -> Spend:
        """The line of another server, of which only these fields differ; they are not checked.

        Thousands of machines have lines alike: this takes a fifth of the time of a new record.

        Parameters
        ----------
        server : int
            Its number.
        **other
            Fields with other values.

        Returns
        -------
        Spend
        """
        line = object.__new__(Spend)
        line.__dict__.update(self.__dict__, server=server, **other)
        return line

    @property
    def what(self) -> str:
        """What left the server, for people."""
        return self.step.label

    @property
    def rounds(self) -> int:
        """How many of its releases one person takes part in."""
        return self.count if self.composition is Composition.SEQUENTIAL else 1


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is fixed before any observation is looked at; each method adds its tuning and its noise.

    Parameters
    ----------
    spends : tuple of Spend
        The ledger, where a plan states it. Empty where `Mechanism.ledger` makes it of the plan.
    """

    spends: tuple[Spend, ...] = ()

    @property
    def tuning(self) -> dict[str, Any]:
        """What people are told of the plan, in plain numbers."""
        return {}


@dataclass(frozen=True)
class Intervals:
    """Limits around the entries of released vectors: `centre` ± `half_width`.

    Parameters
    ----------
    centre, half_width : (…, d)
        In response units; NaN where nothing is said about an entry.
    error : (…, d)
        Standard errors.
    kind : {"pointwise", "simultaneous"}
        Each entry on its own, 95 in 100, or all of them together.
    """

    centre: Array
    half_width: Array
    error: Array
    kind: str = "pointwise"

    @property
    def limits(self) -> tuple[Array, Array]:
        return self.centre - self.half_width, self.centre + self.half_width


@dataclass(frozen=True)
class ServerParts:
    """What each server brings to a release, averaged over coefficients.

    Parameters
    ----------
    weight : (budgets, servers)
        Its share in the combination.
    noise, sampling : (budgets, servers)
        What its noise, and chance in who takes part there, add to the squared error, in squared
        response units. `sampling` is computed from the curves: like `unprotected` it is for
        simulated data and never leaves a server.
    """

    weight: Array
    noise: Array
    sampling: Array


@dataclass(frozen=True)
class Caution:
    """Why a release may be farther off than it says, seen in released quantities or stated facts.

    Parameters
    ----------
    text : str
        One sentence for whoever reads the release; it is published with it.
    applies : (budgets, repeats, draws), bool
        To which releases. It is computed from what is released or public, never from the curves.
    """

    text: str
    applies: NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Fit:
    """The numbers of an `Estimate`, before it is said what they cost.

    Parameters
    ----------
    basis : FunctionBasis of r functions.
    coefficients : (budgets, repeats, draws, [functions,] r), in response units.
    unprotected : (budgets, repeats, [functions,] r), the same without noise.
    basis_sizes : how many of the r each budget uses. Empty: all of them.
    band, offset, functions, parts, intervals, cautions, released : as in `Estimate`.
    """

    basis: FunctionBasis
    coefficients: Array
    unprotected: Array
    basis_sizes: tuple[int, ...] = ()
    band: Band | None = None
    offset: Callable[[Array], Array] | None = None
    functions: tuple[str, ...] = ()
    parts: ServerParts | None = None
    intervals: Intervals | None = None
    cautions: tuple[Caution, ...] = ()
    released: tuple[Any, ...] = ()

    @classmethod
    def exact(cls, basis: FunctionBasis, values: Array, covariance: Array | None = None,
              kind: str = "pointwise", **other: Any) -> Fit:
        """What would be published without protection: one budget, one draw.

        Parameters
        ----------
        basis : FunctionBasis of r functions.
        values : coefficients (repeats, [functions,] r), in response units.
        covariance : (repeats, [functions,] r, r), how far chance in who took part moves them. None:
            there is no band.
        kind : that of the band.
        other : further fields.
        """
        coefficients = values[None, :, None]
        band = None if covariance is None else Band(coefficients, covariance[None, :, None], kind)
        return cls(basis=basis, coefficients=coefficients, unprotected=values[None], band=band,
                   **other)


@dataclass(frozen=True)
class Estimate:
    """What a mechanism released, for every budget, repeat and draw, as basis coefficients.

    Several functions at once, as in a varying-coefficient model, have their names in `functions`;
    their axis comes before the last one everywhere: (budgets, repeats, draws, d + 1, r). They
    belong to regressors on [−1, 1], so that all are in response units.

    Parameters
    ----------
    task : str
        Key of the task.
    basis : FunctionBasis
        The functions that coefficients belong to.
    coefficients : (budgets, repeats, draws, r)
        In response units.
    spends : tuple of tuple of Spend
        One ledger for each budget.
    unprotected : (budgets, repeats, r)
        The estimate without noise that the private one is compared with; it never leaves a server.
    band : Band, optional
        Of mechanisms that know how far off they may be.
    tuning : tuple of dict
        What each budget's plan chose, by name.
    offset : callable, optional
        A public curve that is added to all.
    basis_sizes : tuple of int
        How many coefficients each budget uses; the rest are zero. Empty: all.
    functions : tuple of str
        Names of the functions, where there are several.
    parts : ServerParts, optional
        Of mechanisms that know who adds what.
    intervals : Intervals, optional
        Of mechanisms that know how far off entries of vectors may be.
    cautions : tuple of Caution
        Which releases may be farther off than their band says.
    released : tuple
        For each budget what follows from its release beside the coefficients: the `CountTable` of
        counts, or the `TimeInRanges` of percentile curves; None where there is none.
    """

    task: str
    basis: FunctionBasis
    coefficients: Array
    spends: tuple[tuple[Spend, ...], ...]
    unprotected: Array
    band: Band | None = None
    tuning: tuple[dict[str, Any], ...] = ()
    offset: Callable[[Array], Array] | None = None
    basis_sizes: tuple[int, ...] = ()
    functions: tuple[str, ...] = ()
    parts: ServerParts | None = None
    intervals: Intervals | None = None
    cautions: tuple[Caution, ...] = ()
    released: tuple[Any, ...] = ()

    @classmethod
    def of(cls, task: str, fit: Fit, spends: tuple[tuple[Spend, ...], ...],
           tuning: tuple[dict[str, Any], ...] = ()) -> Estimate:
        """A fit with what it costs: a ledger for each budget.

        Parameters
        ----------
        task : str
            Key of the task.
        fit : Fit
            At every budget.
        spends : tuple of tuple of Spend
            A ledger for each budget.
        tuning : tuple of dict
            What each plan chose.

        Returns
        -------
        Estimate
        """
        return cls(
            task=task, basis=fit.basis, coefficients=fit.coefficients, spends=spends,
            unprotected=fit.unprotected, band=fit.band, tuning=tuning, offset=fit.offset,
            basis_sizes=fit.basis_sizes or (fit.basis.size,) * len(spends), functions=fit.functions,
            parts=fit.parts, intervals=fit.intervals, cautions=fit.cautions,
            released=fit.released)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is to be said with the first release, such as the only one that is published."""
        return tuple(caution.text for caution in self.cautions if caution.applies.flat[0])

    def usual_warnings(self, budget: int) -> tuple[str, ...]:
        """What at least half of the releases at one of the budgets carry.

        Parameters
        ----------
        budget : int
            Which, from 0.

        Returns
        -------
        tuple of str
            Sentences.
        """
        return tuple(caution.text for caution in self.cautions
                     if caution.applies[budget].mean() >= 0.5)

    def warning_shares(self) -> tuple[tuple[str, float], ...]:
        """What releases of the first data set at the first budget carry, each with their share."""
        return tuple((caution.text, float(caution.applies[0, 0].mean()))
                     for caution in self.cautions if caution.applies[0, 0].any())

    @property
    def is_doubted(self) -> NDArray[np.bool_]:
        """Which releases carry a warning: (budgets, repeats, draws)."""
        doubted = np.zeros(self.coefficients.shape[:3], dtype=bool)
        for caution in self.cautions:
            doubted |= caution.applies
        return doubted

    def values(self, grid: Array) -> Array:
        """The released curves on a grid.

        Parameters
        ----------
        grid : (n,)
            Times on [0, 1].

        Returns
        -------
        (budgets, repeats, draws, n)
            In response units; several functions before the last axis.
        """
        return self.on_grid(self.coefficients, grid)

    def on_grid(self, coefficients: Array, grid: Array) -> Array:
        """Curves with these coefficients on a grid.

        Parameters
        ----------
        coefficients : (…, r)
            In the basis of the estimate; its offset is added.
        grid : (n,)
            Times on [0, 1].

        Returns
        -------
        (…, n)
            In response units.
        """
        values = np.asarray(coefficients @ self.basis(grid).T)
        return values if self.offset is None else values + self.offset(grid)

    def project(self, truth: Truth) -> tuple[Array, Array]:
        """The best approximation of the truth in the basis of the estimate, its offset taken off.

        Parameters
        ----------
        truth : Truth
            One function, or as many as the estimate has.

        Returns
        -------
        coefficients : (…, r)
            Those that come nearest to the truth.
        energy : (…)
            Integrated square of what they leave out.
        """
        return self.basis.project(truth if self.offset is None else truth.less(self.offset))

    def squared_distance(self, difference: Array) -> Array:
        """Integrated squared size of a difference in coefficients, summed over the functions.

        Parameters
        ----------
        difference : (…, r), or (…, d + 1, r) for several functions
            In response units.

        Returns
        -------
        (…)
            In squared response units.
        """
        each = self.basis.squared_distance(difference)
        return np.asarray(each.sum(axis=-1)) if self.functions else each

    @cached_property
    def limits(self) -> tuple[Array, Array] | None:
        """Lower and upper band on the drawing grid: (budgets, repeats, draws, GRID_SIZE) each.

        For entries of vectors, the ends of their intervals: (budgets, repeats, draws, …, d).
        """
        if self.intervals is not None:
            return self.intervals.limits
        return None if self.band is None else limits(self, self.band)

    @property
    def band_kind(self) -> str:
        """"simultaneous" or "pointwise", of a band or of intervals; "" where there are none."""
        stated = self.band if self.intervals is None else self.intervals
        return "" if stated is None else stated.kind

    @property
    def lower(self) -> Array | None:
        return None if self.limits is None else self.limits[0]

    @property
    def upper(self) -> Array | None:
        return None if self.limits is None else self.limits[1]
