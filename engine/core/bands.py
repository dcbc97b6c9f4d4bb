"""Bands around curves: pointwise and simultaneous, from a covariance of coefficients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

import numpy as np

from engine.core.arrays import Array
from engine.core.grids import drawing_grid, read_only

LEVEL = 0.95
NORMAL = 1.959963984540054  # standard deviations within which a normal law is LEVEL of the time
ROUNDED_NORMAL = 1.96  # the same to two decimals, as many methods and their stored results have it
UNCOVERED_END = 0.03  # of the range at each end, where bands that know no end tails may miss
WIDER = 1.1  # of simultaneous bands: clipped curves are less normal than what is simulated
_SAMPLE, _SEED = 1000, 20_241_206
_POINTS = slice(None, None, 2)  # of the drawing grid: two or more for each wave that is kept
_BLOCK = 6  # bands simulated at once: their deviations stay in cache


@dataclass(frozen=True, eq=False)
class SecondMoments:
    """M, released together with a mean curve: how deviations of people's curves go together.

    D M D, D = diag(stretch), estimates the covariance of how far each curve says the mean is from
    the centre. Of several sites M is averaged by their public numbers of people.

    Parameters
    ----------
    moments : (…, r, r)
        M as released, before negative eigenvalues are taken off; symmetric, in units of the shape.
        NaN where it was not released.
    noise : (…)
        τ, the standard deviation of its noise on the diagonal; beside it τ/√2.
    stretch : (…, r)
        d/J, in response units.
    privacy : (…, r)
        Variance of the privacy noise of the centre, in squared response units.
    readings : tuple of pairs of int
        Observations of a curve, and how many people have so many: public.
    """

    moments: Array
    noise: Array
    stretch: Array
    privacy: Array
    readings: tuple[tuple[int, int], ...] = ()

    def of(self, *where: Any) -> SecondMoments:
        """Those of some of the budgets, repeats or draws.

        Parameters
        ----------
        *where : index
            As numpy indexes the leading axes.
        """
        return SecondMoments(self.moments[where], self.noise[where], self.stretch[where],
                             self.privacy[where], self.readings)


class Unseen(Protocol):
    """Details of curves that the design of a release leaves open, as in
    `engine.numerics.unseen_details`.
    """

    @property
    def times(self) -> tuple[float, ...]:
        """The common times, on [0, 1]."""
        ...

    def are_open(self, size: int) -> bool:
        """Whether they are, where this many functions are kept."""
        ...

    def functions(self, size: int) -> Callable[[Array], Array]:
        """The kept functions and those of the details, at times (n,): (n, all)."""
        ...

    def covariance(self, released: Array) -> Array:
        """Of the coefficients of all these functions: (…, r, r) to (…, all, all)."""
        ...


@dataclass(frozen=True)
class Band:
    """Limits around released curves, as a centre and a covariance of its coefficients.

    Parameters
    ----------
    centre : (…, r)
        Coefficients of the middle, in response units.
    covariance : (…, r, r)
        Of the released coefficients, in squared response units; NaN where nothing is known.
    kind : {"simultaneous", "pointwise"}
        Whether the band is about the whole curve, or each time on its own; 95 % either way.
    bias : (…,), optional
        A public bound on how far the mean of the released curve is from the truth at any time; the
        band is wider by it on both sides. None: there is no such bound.
    people : SecondMoments, optional
        How people's curves deviate, where that was released along with the centre.
    unseen : Unseen, optional
        Details that few common times leave open; the band is wider by them between the times.
    """

    centre: Array
    covariance: Array
    kind: str = "simultaneous"
    bias: Array | None = None
    people: SecondMoments | None = None
    unseen: Unseen | None = None

    def of(self, *where: Any) -> Band:
        """The band of some of the budgets, repeats or draws.

        Parameters
        ----------
        *where : index
            As numpy indexes the leading axes.
        """
        return Band(self.centre[where], self.covariance[where], self.kind,
                    None if self.bias is None else self.bias[where],
                    None if self.people is None else self.people.of(*where), self.unseen)


@runtime_checkable
class BasisWithTails(Protocol):
    """A basis whose coefficients tell what the curve is at its ends, beyond the kept functions."""

    @property
    def size(self) -> int:
        """How many functions it has."""
        ...

    @property
    def is_periodic(self) -> bool:
        """Whether its curves end where they began, so that they have no ends."""
        ...

    def end_tails(self, size: int, times: Array) -> Array | None:
        """Rows of the part of a curve that its first functions leave out at the ends.

        Parameters
        ----------
        size : int
            How many functions are kept.
        times : (n,)
            On [0, 1].

        Returns
        -------
        (n, r) or None
            Times coefficients (r,), of which the first count. None where nothing is told.
        """
        ...


class Curves(Protocol):
    """What limits need of the curves that a band is about."""

    @property
    def basis(self) -> Callable[[Array], Array]:
        """The functions that coefficients belong to, at times (…): (…, r)."""
        ...

    @property
    def basis_sizes(self) -> Sequence[int]:
        """How many of the functions each budget keeps."""
        ...

    def on_grid(self, coefficients: Array, grid: Array) -> Array:
        """Curves with these coefficients.

        Parameters
        ----------
        coefficients : (…, r)
            In the basis of the curves.
        grid : (n,)
            Times on [0, 1].

        Returns
        -------
        (…, n)
        """
        ...


def limits(estimate: Curves, band: Band) -> tuple[Array, Array]:
    """Lower and upper limits on the drawing grid.

    "pointwise": the middle ± 1.96 standard errors, for every time on its own. "simultaneous": the
    95 % quantile of the largest |deviation|/standard error over the whole curve, simulated from
    the covariance, times 1.1; the factor makes up for deviations that are not quite normal. Where
    the band bounds the bias, both limits move outwards by that bound.

    Cosines are flat at both ends and most curves are not. The same coefficients are therefore read
    in two ways, as they stand and with the end tails that they imply (`numerics.end_slopes`), and
    the limits are the outer ones of both. So the band holds the true curve up to its ends, unless
    that has details finer than the kept functions can draw. Where few common times tell nothing of
    the ends, such details are counted instead, as far as the times leave them open.

    Parameters
    ----------
    estimate : Curves
        Has the basis that coefficients belong to, such as an `Estimate`.
    band : Band
        With leading axes (budgets, …): the first budgets of the estimate, or all.

    Returns
    -------
    lower, upper : (budgets, …, GRID_SIZE)
        In response units; NaN where unknown.
    """
    grid, basis = drawing_grid(), estimate.basis
    rows = basis(grid)
    middle = estimate.on_grid(band.centre, grid)
    half_width = _half_width(band.covariance, rows, band.kind)
    lower, upper = middle - half_width, middle + half_width
    if isinstance(basis, BasisWithTails):
        sizes = estimate.basis_sizes or (basis.size,) * len(middle)
        for k, size in enumerate(sizes[:len(middle)]):
            if band.unseen is not None and band.unseen.are_open(size):
                joint = band.unseen.covariance(band.covariance[k, ..., :size, :size])
                half_width = _half_width(joint, band.unseen.functions(size)(grid), band.kind)
                lower[k], upper[k] = middle[k] - half_width, middle[k] + half_width
                continue
            tails = basis.end_tails(size, grid)
            if tails is not None:
                sloped = middle[k] + band.centre[k] @ tails.T
                half_width = _half_width(band.covariance[k], rows + tails, band.kind)
                lower[k] = np.minimum(lower[k], sloped - half_width)
                upper[k] = np.maximum(upper[k], sloped + half_width)
    if band.bias is not None:
        lower, upper = lower - band.bias[..., None], upper + band.bias[..., None]
    return lower, upper


def reach_the_ends(estimate: Curves) -> bool:
    """Whether limits hold up to both ends of the time range, steep or not; a period has no ends.

    Parameters
    ----------
    estimate : Curves
        What the limits are about; of several budgets the first counts.
    """
    basis = estimate.basis
    if not isinstance(basis, BasisWithTails):
        return False
    if basis.is_periodic:
        return True
    size = estimate.basis_sizes[0] if estimate.basis_sizes else basis.size
    return basis.end_tails(size, drawing_grid()[:1]) is not None


def holds_a_constant(low: Array, high: Array) -> bool:
    """Whether a constant curve fits between limits, so that they tell no change.

    Parameters
    ----------
    low, high : (k,)
        Ends of a band at some places.
    """
    return bool(low.max() <= high.min())


def least_change(low: Array, high: Array) -> float:
    """About how far a curve must rise or fall so that its band holds no constant curve.

    That is where the lower end at its highest place comes above the upper end at its lowest: from
    the width of the band on.

    Parameters
    ----------
    low, high : (…, k)
        Ends of a band, or of several, at some places.
    """
    return float(np.mean(high - low))


def width_at(low: Array, high: Array, times: Sequence[float]) -> float:
    """The average width of bands at some times.

    Parameters
    ----------
    low, high : (…, k)
        Ends of a band, or of several, on the drawing grid.
    times : sequence of float
        On [0, 1].
    """
    width = (high - low).reshape(-1, np.shape(low)[-1]).mean(axis=0)
    return float(np.interp(times, drawing_grid(), width).mean())


def _half_width(covariance: Array, rows: Array, kind: str) -> Array:
    """How far limits are from the curve w(t)'a at each time, of rows w(t): (…, points)."""
    errors = standard_errors(covariance, rows)
    if kind == "pointwise":
        return np.asarray(errors * NORMAL)
    return errors * simultaneous_factor(covariance, rows[_POINTS])[..., None]


def standard_errors(covariance: Array, waves: Array) -> Array:
    """Standard errors √(φ(t)'Cφ(t)) of curves.

    Parameters
    ----------
    covariance : (…, r, r)
        C, of the coefficients.
    waves : (points, r)
        φ(t), the basis functions at each time.

    Returns
    -------
    (…, points)

    Examples
    --------
    >>> covariance, waves = 4 * np.eye(2), np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> standard_errors(covariance, waves).round(3).tolist()
    [2.0, 2.828]
    """
    squared = ((waves @ covariance) * waves).sum(axis=-1)
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))


def simultaneous_factor(covariance: Array, waves: Array) -> Array:
    """How many standard errors hold the whole curve in 95 of 100 cases, widened by a tenth.

    Parameters
    ----------
    covariance : (…, r, r)
        Of the coefficients.
    waves : (points, r)
        The basis functions at enough times to follow the curve.

    Returns
    -------
    (…,)
        The same for equal covariances, because the sample is fixed; NaN where one is unknown.
    """
    flat = covariance.reshape(-1, *covariance.shape[-2:])
    factors = [_factor(flat[k:k + _BLOCK], waves) for k in range(0, len(flat), _BLOCK)]
    return WIDER * np.concatenate(factors).reshape(covariance.shape[:-2])


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
    """A fixed public sample: the same band for the same release, always.

    Parameters
    ----------
    size : int
        r, how many coefficients.
    sample : int
        How many draws.

    Returns
    -------
    (size, sample)
        Standard normals; nobody may write to them.
    """
    return read_only(np.random.default_rng(_SEED).standard_normal((size, sample)))
