"""Bands around curves: pointwise and simultaneous, from a covariance of coefficients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from engine.core.arrays import Array
from engine.core.grids import drawing_grid, read_only

LEVEL = 0.95
NORMAL = 1.959963984540054  # standard deviations within which a normal law is LEVEL of the time
ROUNDED_NORMAL = 1.96  # the same to two decimals, as many methods and their stored results have it
UNCOVERED_END = 0.03  # of the range at each end, where bands that know no end tails may miss
WIDER = 1.05  # of simultaneous bands: clipped curves are less normal than what is simulated
WIDER_BEFORE, WIDEST = 1.1, 2.0  # the same up to version 0.6, and the most that may be chosen
_SAMPLE, _SEED = 1000, 20_241_206
EVERY_OTHER = slice(None, None, 2)  # of the drawing grid: two or more for each wave that is kept
_BLOCK = 6  # bands simulated at once: their deviations stay in cache


@dataclass(frozen=True, eq=False)
class SecondMoments:
    """M, released together with a mean curve: how deviations of people's curves go together.

    D M D, D = diag(stretch), estimates the covariance of how far each curve says the mean is from
    the centre. Of several sites M is averaged by their public numbers of people.
    """

    # (…, r, r): M as released, before negative eigenvalues are taken off; symmetric, in units of
    # the shape. NaN where it was not released.
    moments: Array
    noise: Array  # (…): τ, the standard deviation of its noise on the diagonal; beside it τ/√2
    stretch: Array  # (…, r): d/J, in response units
    privacy: Array  # (…, r): variance of the privacy noise of the centre, in squared response units
    # observations of a curve, and how many people have so many: public
    readings: tuple[tuple[int, int], ...] = ()

    def of(self, *where: Any) -> SecondMoments:
        """Those of some of the budgets, repeats or draws."""
        return SecondMoments(
            self.moments[where],
            self.noise[where],
            self.stretch[where],
            self.privacy[where],
            self.readings,
        )


@dataclass(frozen=True, eq=False)
class SiteLocations:
    """The means of the people of each site, as its message in the last step tells them.

    They follow from messages and public numbers alone. NaN where curves are observed too seldom for
    a site to tell all coefficients.
    """

    centres: Array  # (…, sites, r): coefficients, in response units
    # (…, sites, r): of noise and of who takes part, in squared response units
    variances: Array

    def of(self, *where: Any) -> SiteLocations:
        """Those of some of the budgets, repeats or draws."""
        return SiteLocations(self.centres[where], self.variances[where])


@dataclass(frozen=True)
class Band:
    """Limits around released curves, as a centre and a covariance of its coefficients."""

    centre: Array  # (…, r): coefficients of the middle, in response units
    # (…, r, r): of the released coefficients, in squared response units; NaN where nothing is known
    covariance: Array
    # {"simultaneous", "pointwise"}: whether the band is about the whole curve, or each time on its
    # own; 95 % either way
    kind: str = "simultaneous"
    # (…,), optional: a public bound on how far the mean of the released curve is from the truth at
    # any time; the band is wider by it on both sides. None: there is no such bound.
    bias: Array | None = None
    # how people's curves deviate, where that was released along with the centre
    people: SecondMoments | None = None
    # by how much simultaneous bands are wider than normal deviations make them
    wider: float = WIDER
    sites: SiteLocations | None = None  # None if there is one site

    def of(self, *where: Any) -> Band:
        """The band of some of the budgets, repeats or draws."""
        return Band(
            self.centre[where],
            self.covariance[where],
            self.kind,
            None if self.bias is None else self.bias[where],
            None if self.people is None else self.people.of(*where),
            self.wider,
            None if self.sites is None else self.sites.of(*where),
        )


class Readings(NamedTuple):
    """The ways in which the same coefficients can be read as curves."""

    rows: tuple[Array, ...]  # (places, r) each: the curve at these places; the first is drawn
    at: tuple[Array, ...]  # (points, r) each: where the factor of a simultaneous band is found
    outwards: float = 0.0  # of the distance between the ways, by which limits go on outwards


@runtime_checkable
class BasisWithReadings(Protocol):
    """A basis whose coefficients can be read in several ways."""

    @property
    def is_periodic(self) -> bool:
        """True where its curves end where they began, so that they have no ends."""
        ...

    def readings(self, size: int, places: Array) -> Readings:
        """All ways to read the first `size` coefficients, at places (n,) on [0, 1]."""
        ...


class Curves(Protocol):
    """Curves that a band is about, as limits need them."""

    @property
    def basis(self) -> Callable[[Array], Array]:
        """The functions that coefficients belong to, at times (…): (…, r)."""
        ...

    @property
    def basis_sizes(self) -> Sequence[int]:
        """Number of functions that each budget keeps."""
        ...

    def on_grid(self, coefficients: Array, grid: Array) -> Array:
        """Curves with these coefficients (…, r) at times on [0, 1]: (…, n)."""
        ...


def limits(estimate: Curves, band: Band) -> tuple[Array, Array]:
    """Lower and upper limits on the drawing grid: (budgets, …, GRID_SIZE); NaN if unknown.

    "pointwise": the middle ± 1.96 standard errors, for every time on its own. "simultaneous": the
    95 % quantile of the largest |deviation|/standard error over the whole curve, simulated from the
    covariance, times `Band.wider`; that makes up for deviations that are not quite normal. Where
    the band bounds the bias, both limits move outwards by that bound.

    Cosines are flat at both ends and most curves are not. The same coefficients are therefore read
    in two ways, as they stand and with the end tails that they imply (`numerics.end_slopes`), and
    the limits are the outer ones of both. So the band holds the true curve up to its ends, unless
    that has details finer than the kept functions can draw. Between few common times there are more
    ways to draw the curve (`numerics.between_times`), and the limits hold all of them.
    """
    grid, basis = drawing_grid(), estimate.basis
    offset = estimate.on_grid(np.zeros(band.centre.shape[-1]), grid)
    sizes = estimate.basis_sizes or (band.centre.shape[-1],) * len(band.centre)
    ends = [
        _limits_read(readings_of(basis, size, grid), band.of(k))
        for k, size in zip(range(len(band.centre)), sizes, strict=False)
    ]
    lower, upper = (np.array(each) + offset for each in zip(*ends, strict=True))
    if band.bias is not None:
        lower, upper = lower - band.bias[..., None], upper + band.bias[..., None]
    return lower, upper


def _limits_read(readings: Readings, band: Band) -> tuple[Array, Array]:
    """Limits of the bands of one budget, of which the readings have the first coefficients."""
    kept = slice(readings.rows[0].shape[1])
    centre, covariance = band.centre[..., kept], band.covariance[..., kept, kept]
    half_widths = [
        standard_errors(covariance, rows)
        * (
            NORMAL
            if band.kind == "pointwise"
            else simultaneous_factor(covariance, at, band.wider)[..., None]
        )
        for rows, at in zip(readings.rows, readings.at, strict=True)
    ]
    return outermost(
        np.array([centre @ rows.T for rows in readings.rows]),
        np.array(half_widths),
        readings.outwards,
    )


def readings_of(basis: Callable[[Array], Array], size: int, places: Array) -> Readings:
    """All ways to read the first coefficients in a basis; one where it says no more."""
    if isinstance(basis, BasisWithReadings):
        return basis.readings(size, places)
    rows = basis(places)
    return Readings((rows,), (rows[EVERY_OTHER],))


def outermost(middles: Array, half_widths: Array, outwards: float = 0.0) -> tuple[Array, Array]:
    """The outer limits of several readings (readings, …), moved out by a share of their distance.

    Examples
    --------
    >>> [float(end) for end in outermost(np.array([1.0, 3.0]), np.array([0.5, 0.5]), 0.25)]
    [0.0, 4.0]
    """
    move = outwards * np.ptp(middles, axis=0)
    return ((middles - half_widths).min(axis=0) - move, (middles + half_widths).max(axis=0) + move)


def reach_the_ends(estimate: Curves) -> bool:
    """True where limits hold up to both ends of the time range, steep or not.

    A period has no ends. Of several budgets the first counts.
    """
    basis = estimate.basis
    if not isinstance(basis, BasisWithReadings):
        return False
    size = estimate.basis_sizes[0] if estimate.basis_sizes else len(basis(drawing_grid()).T)
    return basis.is_periodic or len(basis.readings(size, drawing_grid()[:1]).rows) > 1


def holds_a_constant(low: Array, high: Array) -> bool:
    """True if a constant curve fits between limits (k,), so that they tell no change."""
    return bool(low.max() <= high.min())


def least_change(low: Array, high: Array) -> float:
    """About how far a curve must rise or fall so that its band (…, k) holds no constant curve.

    That is where the lower end at its highest place comes above the upper end at its lowest: from
    the width of the band on.
    """
    return float(np.mean(high - low))


def width_at(low: Array, high: Array, times: Sequence[float]) -> float:
    """Measure the average width at some times of bands, with ends (…, k) on the drawing grid."""
    width = (high - low).reshape(-1, np.shape(low)[-1]).mean(axis=0)
    return float(np.interp(times, drawing_grid(), width).mean())


def standard_errors(covariance: Array, waves: Array) -> Array:
    """Standard errors √(φ(t)'Cφ(t)) of curves: (…, points).

    Examples
    --------
    >>> covariance, waves = 4 * np.eye(2), np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> standard_errors(covariance, waves).round(3).tolist()
    [2.0, 2.828]
    """
    squared = ((waves @ covariance) * waves).sum(axis=-1)
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))


def simultaneous_factor(covariance: Array, waves: Array, wider: float = WIDER) -> Array:
    """Count the standard errors that hold the whole curve in 95 of 100 cases, a little widened.

    Equal for equal covariances (…, r, r), because the sample is fixed; NaN where one is unknown.
    `waves` (points, r) are the basis functions at enough places to follow the curve.
    """
    flat = covariance.reshape(-1, *covariance.shape[-2:])
    factors = [_factor(flat[k : k + _BLOCK], waves) for k in range(0, len(flat), _BLOCK)]
    return wider * np.concatenate(factors).reshape(covariance.shape[:-2])


def _factor(covariance: Array, waves: Array) -> Array:
    """The quantile of max |deviation|/standard error for covariances (bands, r, r): (bands,)."""
    known = np.asarray(np.isfinite(covariance).all(axis=(-1, -2)))
    values, vectors = np.linalg.eigh(np.where(known[:, None, None], covariance, 0.0))
    # The symmetric root (bands, r, r). Any other follows the signs of eigenvectors, and their
    # choice where eigenvalues nearly agree, which differ from processor to processor.
    root = (vectors * np.sqrt(np.maximum(values, 0.0))[:, None]) @ vectors.swapaxes(-1, -2)
    spread = waves @ root  # (bands, points, r), then rows of unit length
    spread /= np.maximum(np.sqrt((spread**2).sum(axis=-1, keepdims=True)), 1e-300)
    largest = np.abs(spread @ public_normals(waves.shape[1])).max(axis=1)  # (bands, sample)
    index = int(np.ceil(LEVEL * _SAMPLE)) - 1
    return np.where(known, np.partition(largest, index, axis=-1)[:, index], np.nan)


@lru_cache(maxsize=64)
def public_normals(size: int, sample: int = _SAMPLE) -> Array:
    """Draw a fixed public sample (size, sample): the same band for the same release, always.

    The numbers are standard normals for r = `size` coefficients; nobody may write to them.
    """
    return read_only(np.random.default_rng(_SEED).standard_normal((size, sample)))
