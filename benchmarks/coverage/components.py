"""Are directions in which people differ as a release tells them? A table of known people.

Each row repeats one scenario of people whose components are known. They are released once, and the
directions and shares that the release tells are compared with the true ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import bdtr

from benchmarks.coverage.table import RepeatedStudy, notes_table
from engine.answers import ReleasedCurve
from engine.answers.components import WIDEST, components_of
from engine.answers.spread import PERSON_FROM, refusal_of_spread
from engine.core.grids import quadrature
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget, CurveData, Truth
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.study import Study
from engine.numerics.legendre import polynomial_rows
from engine.sources.sparse_curves import SparseCurves

_SD, _ERROR, _LENGTH = 0.71, 0.2, 0.35  # of people's curves, of an observation; of the kernel
_POLYNOMIALS, _OF_KERNEL = 12, 4  # that draw people, and components that people of the kernel have
_SHARES = (0.6, 0.3, 0.1)  # of a level, a trend and a bend
_DEGREES = 5  # of the t law of heavy tails
_COMPARED = 3  # components
_WITHIN, _COVERED = 0.95, 0.90  # what is asked of directions that are told, and of shares
_UNLIKELY = 0.02  # chance of so few right ones, below which a row does not hold
_LAWS = {"normal": "normal", "heavy": "t", "skewed": "exponential"}


@dataclass(frozen=True, kw_only=True)
class KnownPeople(SparseCurves):
    """People about a flat mean who differ in known directions.

    "polynomials": a level, a trend and a bend. "kernel": the first eigenfunctions of
    exp(−(s − t)²/(2 · .35²)).
    """

    shape: str = "kernel"

    @property
    def covariance_of_people(self) -> Truth:
        shares, directions = components_of_people(self.shape)
        covariance = (directions * _SD**2 * shares) @ directions.T

        def values(points: Array) -> Array:
            first, second = (polynomial_rows(_POLYNOMIALS, points[..., k]) for k in (0, 1))
            return np.asarray(np.einsum("...j,jk,...k->...", first, covariance, second))

        return Truth.of(values, "square")

    def values_at(self, times: Array, rng: np.random.Generator) -> Array:
        """Observations of new people, with independent scores of the stated law."""
        shares, directions = components_of_people(self.shape)
        scores = _scores(self.deviation_tails, rng, (len(times), len(shares)))
        coefficients = _SD * (np.sqrt(shares) * scores) @ directions.T
        values = np.einsum("nmk,nk->nm", polynomial_rows(_POLYNOMIALS, times), coefficients)
        return np.asarray(values + _ERROR * rng.standard_normal(times.shape))


@lru_cache
def components_of_people(shape: str) -> tuple[Array, Array]:
    """True shares (k,), and directions in polynomials (12, k)."""
    if shape == "polynomials":
        return np.array(_SHARES), np.eye(_POLYNOMIALS)[:, : len(_SHARES)]
    nodes, weights = quadrature()
    rows = weights[:, None] * polynomial_rows(_POLYNOMIALS, nodes)
    kernel = np.exp(-((nodes[:, None] - nodes) ** 2) / (2 * _LENGTH**2))
    values, vectors = np.linalg.eigh(rows.T @ kernel @ rows)
    first = values[::-1][:_OF_KERNEL]
    return first / first.sum(), vectors[:, ::-1][:, :_OF_KERNEL]


def _scores(law: str, rng: np.random.Generator, size: tuple[int, int]) -> Array:
    """Draw scores of mean 0 and variance 1."""
    if law == "heavy":
        return np.asarray(rng.standard_t(_DEGREES, size) * np.sqrt((_DEGREES - 2) / _DEGREES))
    if law == "skewed":
        return rng.standard_exponential(size) - 1.0
    return rng.standard_normal(size)


@dataclass(frozen=True)
class ComponentRow:
    """Measurements of one setting, of each of the first components; NaN where none is told."""

    setting: RepeatedStudy
    effective_size: float
    repeats: int
    told: Array  # share of releases that tell it
    angle: Array  # median degrees to the true direction, told or not
    within: Array  # share of told directions within 30°
    share: Array  # mean of told shares
    covered: Array  # share of intervals that hold the true share

    @property
    def holds(self) -> bool:
        """True if told directions and shares are right often enough, up to chance in the row."""
        told = np.rint(self.told * self.repeats).astype(np.int64)
        chances = [
            bdtr(np.rint(np.nan_to_num(right) * told), told, asked)
            for right, asked in ((self.within, _WITHIN), (self.covered, _COVERED))
        ]
        return bool((np.where(told > 0, chances, 1.0) > _UNLIKELY).all())


def settings() -> Iterator[RepeatedStudy]:
    """List all rows: common and even times, two kinds of people, laws, numbers and budgets."""
    for times, m in (("common", 24), ("even", 5)):
        for n, epsilon in ((200, 0.5), (200, 2.0), (600, 1.0), (2000, 1.0)):
            yield _repeated("kernel", "normal", times, m, n, epsilon)
    yield _repeated("kernel", "normal", "even", 5, 20_000, 1.0)
    for times, m in (("common", 24), ("even", 5), ("even", 3)):
        for law in _LAWS:
            yield _repeated("polynomials", law, times, m, 2000, 1.0)


def _repeated(shape: str, law: str, times: str, m: int, n: int, epsilon: float) -> RepeatedStudy:
    source = KnownPeople(
        mean="flat",
        shape=shape,
        times=times,
        deviation_tails=law,
        n_curves=n,
        n_observations_per_curve=m,
    )
    study = Study(
        source=source, mechanism=AdaptiveMean(), budgets=(Budget(epsilon, float(n) ** -2),)
    )
    return RepeatedStudy(f"{shape}, {_LAWS[law]}, {m} {times} times", study)


def measured(setting: RepeatedStudy, repeats: int, seed: int) -> ComponentRow:
    """Repeat a setting and return its row."""
    source = setting.study.source
    assert isinstance(source, KnownPeople)
    curves = [_released(setting.study, seed, repeat) for repeat in range(repeats)]
    found = np.stack([_compared(curve, source.shape) for curve in curves])
    told, angle, within, share, covered = found.swapaxes(0, 1)
    with np.errstate(invalid="ignore"):
        of_told = [np.nansum(each, axis=0) / told.sum(axis=0) for each in (within, share, covered)]
    return ComponentRow(
        setting,
        curves[0].effective_size,
        repeats,
        told.mean(axis=0),
        np.median(angle, axis=0),
        *of_told,
    )


def _released(study: Study[CurveData], seed: int, repeat: int) -> ReleasedCurve:
    data = study.source.draw(1, generator(seed, DATA_STREAM, repeat))
    rng = generator(seed, NOISE_STREAM, repeat)
    return ReleasedCurve.of(study.mechanism.release(data, study.budgets, rng), data.facts)


def _compared(curve: ReleasedCurve, shape: str) -> Array:
    """Compare the first components: told, degrees, within 30°, share, covered: (5, 3)."""
    shares, directions = components_of_people(shape)
    found = np.full((5, _COMPARED), np.nan)
    found[0] = 0.0
    assert curve.spread is not None
    vectors = np.linalg.eigh(curve.spread.estimate.covariance)[1][:, ::-1]
    n_compared = min(_COMPARED, vectors.shape[1])
    turned = np.abs((vectors[:, :n_compared] * directions[: len(vectors), :n_compared]).sum(axis=0))
    found[1] = 90.0
    found[1, :n_compared] = np.degrees(np.arccos(np.minimum(turned, 1.0)))
    if refusal_of_spread(curve, PERSON_FROM):
        return found
    components = components_of(curve.spread)
    for k in range(min(components.n_shown, _COMPARED)):
        low, high = components.limits[k]
        found[0, k] = 1.0
        found[2:, k] = found[1, k] <= WIDEST, components.shares[k], low <= shares[k] <= high
    return found


def as_markdown(rows: list[ComponentRow]) -> str:
    """Write the table for the notes on the methods."""
    names = (
        "People, law, observations",
        "n",
        "ε",
        "N",
        "Told, 1st to 3rd",
        "Degrees away",
        "Within 30°",
        "Mean share",
        "Share covered",
    )
    return notes_table(names, map(_cells, rows))


def _cells(row: ComponentRow) -> Sequence[str]:
    def three(values: Array, decimals: int) -> str:
        return " ".join("–" if np.isnan(each) else f"{each:.{decimals}f}" for each in values)

    return (
        row.setting.label,
        f"{row.setting.study.source.sizes.n_curves}",
        f"{row.setting.budget.epsilon:g}",
        f"{row.effective_size:.0f}",
        three(row.told, 2),
        three(row.angle, 0),
        three(row.within, 2),
        three(row.share, 2),
        three(row.covered, 2),
    )
