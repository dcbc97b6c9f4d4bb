"""Signs in a released predictor that its penalty has drawn it in, or may have.

What is told follows from released coefficients, public sizes and stated facts. The forecast is for
records spread evenly over the range, of which three bumps predict the response. Other records are
simulated from public facts, and releases of them are put to the same question.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from engine.core.types import Array
from engine.numerics.risk_minimisation import minimise
from engine.sources.twins import SPREAD, LabelledTwin

if TYPE_CHECKING:
    from engine.mechanisms.summaries.risk import RiskSummary

DRAWN_IN = (
    "By the released function its penalty has drawn it towards the middle of the bounds, or to "
    "even odds, by more than the error that was forecast, which is for three bumps about the "
    "middle. Where one class is rare its chance is stated far too high. Bounds closely around the "
    "numbers help, as do more records or a smaller weight of the penalty, stated beforehand."
)
MAY_BE_DRAWN_IN = (
    "This release could not reliably show classes of which one is rare or that x tells apart, or "
    "numbers near a bound or with a step by most of the range. Then the penalty draws the function "
    "in so far that the error is more than 1.5 times the forecast."
)
NOT_SPREAD = (
    "This release does not show where the records lie. If all of them lie within a third of the "
    "stated range, the error can be more than 1.5 times the forecast, which is for records spread "
    "evenly over it: beyond them the penalty draws the function to the middle of the bounds."
)
_OF_EACH = 200  # records at each point of the grid, by which known chances are written
_SMALL = 0.2  # a function so near to 0 that losses are squares
_RAREST = 0.02  # chance of a class that is told from a function which the penalty has flattened
# Forecast errors that are told, and the share of releases of the forecast that may be told by
# chance; a part of the range; and in how many of so many releases it is to be told where the error
# is so many times the forecast. Of more records than `_MANY` chance in them counts for nothing.
_DRAWN_IN, _BY_CHANCE, _PART = 1.25, 0.01, 1 / 3
_SURELY = 0.8  # of what is drawn in, squared, that is told all the same
_TOLD, _RELEASES, _BEYOND, _MANY = 0.9, 40, 1.5, 2500
_SEED = 20_270


@dataclass(frozen=True, eq=False)
class RiskJudgement:
    """Comparison of released predictors with their penalty, beside the forecast.

    Functions are at the K points of the grid: log-odds, or numbers in half-ranges from the middle.
    """

    summary: RiskSummary
    n_records: int

    def told(self, coefficients: Array, variances: Array) -> tuple[NDArray[np.bool_], bool, bool]:
        """Flag releases (…, r) drawn in, others that may be, and an error of records in a part."""
        rows = self.summary.basis(self.summary.grid.points[:, 0]) / self.summary.scale  # (K, r)
        standard = np.random.default_rng(_SEED).standard_normal((_RELEASES, len(variances)))
        noise, curves = standard * np.sqrt(variances) @ rows.T, coefficients @ rows.T
        energy = float((noise**2).mean())
        usual = self._exact(self._usual) + noise
        by_chance = float(np.quantile(self._drawn_in(usual, energy), 1 - _BY_CHANCE))
        forecast = self._taken() + energy

        def is_told(released: Array, share: float = 1.0) -> NDArray[np.bool_]:
            beyond = share * self._drawn_in(released, energy)
            return np.asarray((beyond + energy > _DRAWN_IN**2 * forecast) & (beyond > by_chance))

        def is_hidden(known: Array) -> bool:
            released = self._exact(known) + noise
            error, at_most = (
                ((each - truth) ** 2).mean()
                for each, truth in ((released, known), (usual, self._usual))
            )
            return bool(error > _BEYOND**2 * at_most and is_told(released, _SURELY).mean() < _TOLD)

        part = self._taken(max(1, round(_PART * len(self._usual)))) + energy
        return (
            is_told(curves),
            any(is_hidden(known) for known in self._others),
            part > _BEYOND**2 * forecast,
        )

    @cached_property
    def _usual(self) -> Array:
        """The function behind the forecast: (K,)."""
        return LabelledTwin.predictor(self.summary.grid.points[:, 0], self.summary.is_of_classes)

    @property
    def _others(self) -> tuple[Array, Array]:
        """A rare class, or numbers near a bound; and classes or numbers that x tells apart."""
        points = self.summary.grid.points[:, 0]
        level, height = (-3.0, 8.0) if self.summary.is_of_classes else (0.8, 0.9)
        return np.full(len(points), level), np.where(points > 0.5, height, -height)

    def _drawn_in(self, curves: Array, noise: float) -> Array:
        """Compute the squared distance by which the penalty draws in curves (…, K), without noise.

        It leaves about the same share of all functions that a few bumps can draw, so that a release
        tells what it was drawn in from.
        """
        share = self._share
        return np.asarray(
            np.mean((self._unpenalised(curves) - curves) ** 2, axis=-1)
            - (1 / share - 1) ** 2 * noise
        )

    @cached_property
    def _share(self) -> float:
        """Share of a small function that the penalty leaves."""
        small = np.full(len(self._usual), _SMALL)
        return float(self._smoothed(small).mean()) / _SMALL

    def _taken(self, size: int | None = None) -> float:
        """Compute what the penalty takes, squared, of the forecast's function on first points."""
        return float(((self._usual - self._smoothed(self._usual, size)) ** 2).mean())

    def _smoothed(self, curve: Array, size: int | None = None) -> Array:
        """Penalise a known function, for records on the first points: (K,)."""
        curve = curve[:size]
        places = np.arange(len(curve))
        if self.summary.is_of_classes:
            ones = np.round(_OF_EACH * expit(curve)).astype(int)
            places = np.repeat(places, _OF_EACH)
            curve = np.where(np.arange(_OF_EACH) < ones[:, None], 1.0, -1.0).ravel()
        return self._minimised(places, curve)

    def _unpenalised(self, curves: Array) -> Array:
        """Functions of which the penalty leaves these: (…, K).

        It draws a number towards the middle in proportion, and a chance p towards one half by as
        much as its log-odds f are from 0: p = σ(f) + λf, and near 0 λ is (1/share − 1)/4.
        """
        if not self.summary.is_of_classes:
            return curves / self._share
        chances = expit(curves) + (1 / self._share - 1) / 4 * curves
        return np.asarray(logit(np.clip(chances, _RAREST, 1 - _RAREST)))

    def _exact(self, known: Array) -> Array:
        """Releases of simulated records of a known function, without noise: (…, K)."""
        key = known.tobytes()
        if key not in self._simulated:
            is_many = self.n_records > _MANY
            self._simulated[key] = (self._smoothed if is_many else self._of_records)(known)
        return self._simulated[key]

    @cached_property
    def _simulated(self) -> dict[bytes, Array]:
        return {}

    def _of_records(self, known: Array) -> Array:
        rng, size = np.random.default_rng(_SEED), (_RELEASES, self.n_records)
        places = rng.integers(len(known), size=size)
        if self.summary.is_of_classes:
            labels = np.where(rng.random(size) < expit(known[places]), 1.0, -1.0)
        else:
            labels = np.clip(known[places] + SPREAD * rng.standard_normal(size), -1.0, 1.0)
        return self._minimised(places, labels)

    def _minimised(self, places: NDArray[np.int64], labels: Array) -> Array:
        """Compute what would be released of minimisers, without noise: (…, K)."""
        summary, features = self.summary, self.summary.features
        minimisers = minimise(summary.loss, features.table, places, labels, summary.penalty)
        rows = summary.basis(summary.grid.points[:, 0])
        return np.asarray(features.coefficients(minimisers.u) @ rows.T)
