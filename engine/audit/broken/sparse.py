"""Sparse regression and sparse means with one bug each."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from engine.audit.broken import Broken, bug
from engine.core.types import Array, Budget, Public, SampleData, Unit
from engine.mechanisms.families.untrusted_means import AnswerPlan, bound
from engine.mechanisms.sparse_mean_laplace import SparseMeanLaplace
from engine.mechanisms.sparse_mean_signs import SparseMeanSigns
from engine.mechanisms.sparse_mean_trusted import SparseMeanTrusted
from engine.mechanisms.sparse_newton import NewtonPlan, SparseNewton
from engine.mechanisms.sparse_regression import SparseRegression, ThresholdingPlan
from engine.noise.selection import PEELING, Scales, SelectionLaw

_ROWS, _MEANS, _CHUNK = Budget(1.0, 1e-6), Budget(0.8), 120


class _SparseRegression(Broken, SparseRegression):
    """Sparse regression."""


class _OtherScales(_SparseRegression):
    """Noise of another size than the ledger pays for."""

    of_choice, of_values = 1.0, 1.0

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> ThresholdingPlan:
        honest = super().planned(public, budgets)
        usual = honest.scales
        return replace(
            honest, scales=Scales(self.of_choice * usual.choice, self.of_values * usual.values)
        )


@bug(_ROWS, _CHUNK)
class FeaturesNotClipped(_SparseRegression):
    """Features are trusted to be small with high probability, as printed."""

    def _rows(self, data: Any, plan: Any) -> Any:
        return super()._rows(data, replace(plan, feature_clip=1e9))


@bug(_ROWS, _CHUNK)
class ClippedAtTheLargest(_SparseRegression):
    """Features are clipped at the largest of the data, which one row can raise."""

    def _rows(self, data: Any, plan: Any) -> Any:
        known = np.abs(np.nan_to_num(data.x, nan=0.0, posinf=0.0, neginf=0.0))
        return super()._rows(data, replace(plan, feature_clip=min(float(known.max()), 1e9)))


@bug(_ROWS, _CHUNK)
class ResidualsNotClipped(_SparseRegression):
    """Residuals are not clipped, so one response can move a step as far as it likes."""

    def _rows(self, data: Any, plan: Any) -> Any:
        rows = super()._rows(data, plan)
        clipped = rows.gradient
        object.__setattr__(rows, "gradient", lambda vectors, clip: clipped(vectors, math.inf))
        return rows


@bug(_ROWS, _CHUNK)
class MissingFeaturesPass(_SparseRegression):
    """A feature that is no number makes every average one."""

    def _rows(self, data: Any, plan: Any) -> Any:
        rows = super()._rows(data, plan)
        return replace(rows, x=np.where(np.isnan(data.x), np.nan, rows.x))


@bug(_ROWS, _CHUNK)
class CountsCompleteRows(_SparseRegression):
    """The average is over rows whose response is a number, and how many those are is private."""

    def _rows(self, data: Any, plan: Any) -> Any:
        rows = super()._rows(data, plan)
        share = np.isfinite(data.y).mean(axis=1)[:, None, None] ** 9
        return replace(rows, x=rows.x / share)


@bug(_ROWS, _CHUNK)
class RowsCannotTurn(_OtherScales):
    """Noise for a row that is left out, though it can go from one wall to the other."""

    of_choice, of_values = 0.5, 0.5


@bug(_ROWS, _CHUNK)
class ValuesForNothing(_OtherScales):
    """All goes to the choice of features, and their values get whatever noise is at hand."""

    of_values = 0.3


@bug(_ROWS, _CHUNK)
class OneRoundInTheLedger(_OtherScales):
    """Every round has the noise of a single one, though all rows take part in each."""

    of_choice, of_values = 0.4, 0.4


@bug(_ROWS, _CHUNK, selection="peeling")
class ValuesTooQuiet(_SparseRegression):
    """Values of chosen features are published with half of the noise that the ledger counts on."""

    @property
    def law(self) -> SelectionLaw:
        return replace(PEELING, value=lambda shape, rng: rng.laplace(size=shape) / 2)


@bug(_ROWS, _CHUNK, selection="peeling")
class NoiseThatEverybodyKnows(_SparseRegression):
    """Noise comes from a generator with a fixed seed, the same in every round and for everybody."""

    @property
    def law(self) -> SelectionLaw:
        return replace(
            PEELING, value=lambda shape, rng: np.random.default_rng(2024).laplace(size=shape)
        )


class _Newton(Broken, SparseNewton):
    """Features, then a Newton step."""


@bug(_ROWS, _CHUNK, sparsity=2, pilot="moments")
class GramOfRowsAsTheyAre(_Newton):
    """Rows of the Gram matrix are trusted to have the norm that most rows have."""

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> NewtonPlan:
        honest = super().planned(public, budgets)
        return replace(honest, row=4 * honest.row, feature_clip=4 * honest.feature_clip)


@bug(_ROWS, _CHUNK, sparsity=2, pilot="moments")
class StepOnTheExactGram(_Newton):
    """The Newton step takes the Gram matrix of the chosen features as it is."""

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> NewtonPlan:
        honest = super().planned(public, budgets)
        return replace(honest, chosen=0.0)


@bug(_ROWS, _CHUNK, sparsity=2, pilot="moments")
class NoiseForARowLeftOut(_Newton):
    """Noise is for a row that is left out, though it can be exchanged for its opposite."""

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> NewtonPlan:
        honest = super().planned(public, budgets)
        return replace(
            honest, last=honest.last / 2, residuals=honest.residuals / 2, gram=honest.gram / 2
        )


@bug(_ROWS, _CHUNK, sparsity=2, pilot="moments")
class GramOfHalfTheRow(_Newton):
    """The Gram matrix has noise for rows of about 0.7 times the norm that they are held to."""

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> NewtonPlan:
        honest = super().planned(public, budgets)
        return replace(honest, gram=honest.gram / 2)


@bug(_ROWS, _CHUNK, sparsity=2, pilot="moments", feature_scale="released")
class ScaleOfTheRowsAsTheyAre(_Newton):
    """The spread of features is sent with a thirtieth of the noise that hides one row."""

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> NewtonPlan:
        honest = super().planned(public, budgets)
        return replace(honest, scale=(honest.scale or 0.0) / 30)


@bug(_ROWS, _CHUNK, sparsity=2, pilot="moments", centre="released")
class CentreThatCostsNothing(_Newton):
    """Features are measured from means that have a tenth of the noise that hides one row."""

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> Any:
        honest = super().planned(public, budgets)
        return replace(honest, centre_noise_sd=(honest.centre_noise_sd or 0.0) / 10)


@bug(_ROWS, _CHUNK, sparsity=2, pilot="moments", centre="released")
class CentreOfTheRowsAsTheyAre(_Newton):
    """Features are measured from their exact means, and only the noisy ones are told."""

    def from_centre(self, data: Any, plans: Any, draws: int, rng: Any, fit: Any) -> Any:
        return super().from_centre(
            data, plans, draws, rng, lambda _, *rest: fit(self.without_constant(data), *rest)
        )


class _SparseLaplace(Broken, SparseMeanLaplace):
    """Averages of machines."""


@bug(_MEANS)
class HalfTheWidth(_SparseLaplace):
    """A number is believed to move by the bound, though it can go from one end to the other."""

    def scale(self, plan: AnswerPlan) -> Array:
        return super().scale(plan) / 2


@bug(_MEANS, per_machine=3)
class CoordinatesDoNotShare(_SparseLaplace):
    """Each coordinate of a machine spends the whole ε, though one row is in all of them."""

    def scale(self, plan: AnswerPlan) -> Array:
        return super().scale(plan) / plan.per_machine


@bug(_MEANS, per_machine=3)
class HidesMachinesLikeRows(_SparseLaplace):
    """Promises to hide whole machines with noise that hides one of their rows."""

    protects = Unit.MACHINE


@bug(_MEANS, per_machine=3)
class GainFromTheData(_SparseLaplace):
    """Averages are multiplied by how many of a machine's means are large, which one row decides."""

    def answers(self, means: Array) -> Array:
        return np.asarray(means * (1 + (np.abs(means) > 1).sum(axis=-1, keepdims=True)))


@bug(_MEANS, 2000, per_machine=2)
class TurnedTooSeldom(Broken, SparseMeanSigns):
    """Bits are turned round with the chance for all of ε, though a machine gives two of them."""

    def turn_chance(self, plan: AnswerPlan) -> Array:
        return super().turn_chance(replace(plan, epsilon=plan.per_machine * plan.epsilon))


@bug(_MEANS, 2000, per_machine=2)
class NeverTurned(Broken, SparseMeanSigns):
    """Bits are sent as they are, with the ledger of bits that are turned round."""

    def private(self, answers: Array, plan: AnswerPlan, standard: Array) -> Array:
        return np.broadcast_to(answers, standard.shape).copy()


@bug(Budget(0.8, 1e-3))
class PooledUnheld(Broken, SparseMeanTrusted):
    """The trusted server averages numbers as they are, though noise is for numbers in a bound."""

    def without_noise(self, data: SampleData) -> Array:
        return np.asarray(np.clip(np.nan_to_num(data.x), -1e9, 1e9).mean(axis=1))


@bug(Budget(0.8, 1e-3))
class PooledByThoseThere(Broken, SparseMeanTrusted):
    """The pooled mean is over the numbers that are there, and how many those are is private."""

    def without_noise(self, data: SampleData) -> Array:
        share = np.isfinite(data.x).mean(axis=1) ** 9
        numbers = np.clip(np.nan_to_num(data.x), -1e9, 1e9)
        clip = bound(data.sizes, data.facts)
        return np.asarray(np.clip(numbers, -clip, clip).mean(axis=1) / np.maximum(share, 1e-9))
