"""Constants of the methods at a shown setting: as the papers print them beside those used here.

The tables of `docs/methods/` are these, word for word; a test compares them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

from engine.core.enumerations import Guarantee
from engine.core.types import Budget, Design, Public, PublicFacts, Sizes
from engine.language.numbers import number, small
from engine.mechanisms import Mechanism, mechanisms, univariate_mean
from engine.mechanisms.families.adaptive.release import AdaptiveRelease
from engine.mechanisms.families.descent import NoisyGradient
from engine.mechanisms.families.functional.release import FunctionalRelease
from engine.mechanisms.families.sparse.inference import ball
from engine.mechanisms.families.sparse.printed import published_costs
from engine.mechanisms.iclp import Iclp
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.mechanisms.sparse_heterogeneous import SparseHeterogeneous
from engine.mechanisms.sparse_inference import SparseInference
from engine.mechanisms.sparse_mean_laplace import SparseMeanLaplace
from engine.mechanisms.sparse_mean_signs import SparseMeanSigns
from engine.mechanisms.sparse_mean_trusted import SparseMeanTrusted
from engine.mechanisms.sparse_newton import SparseNewton
from engine.mechanisms.sparse_regression import SparseRegression
from engine.mechanisms.wavelet_adaptive import WaveletAdaptive
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.numerics.wavelet_bases import WaveletBasis
from engine.numerics.wavelets import printed_sensitivity_constant
from engine.privacy import accounting
from engine.sources.event_times import EventTimes
from engine.sources.numbers import Numbers
from engine.sources.regression_points import RegressionPoints
from engine.topics.sparse.means import PRINTED, ROW, SparseMeanSetting, rates_of, simulated

_DELTA = 1e-3
_EPSILONS = (0.5, 1.0, 3.0, 8.0)


@dataclass(frozen=True)
class ConstantsTable:
    """A small table: names of columns, and rows of the same length."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def markdown(self) -> str:
        lines = [self.columns, ("---",) * len(self.columns), *self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def constants_of(key: str) -> ConstantsTable | None:
    """Return the table of a registered mechanism; None if there is nothing to compare with."""
    return _table(mechanisms.get(key)())


@singledispatch
def _table(method: Mechanism) -> ConstantsTable | None:
    """Make the table by the method's class: the same for a family without more settings."""
    return None


def _compared(
    heading: str, printed: str, used: str, rows: Sequence[tuple[str, float, float]]
) -> ConstantsTable:
    """Tabulate two numbers a row and the first over the second."""
    return ConstantsTable(
        (heading, printed, used, "Ratio"),
        tuple(
            (name, _short(first), _short(second), _short(first / second))
            for name, first, second in rows
        ),
    )


def _short(value: float) -> str:
    return small(value) if value < 0.001 else number(value)


# -- Gaussian noise for averages of curves ------------------------------------------------------


def _over_sensitivity(noise: str, printed: str) -> ConstantsTable:
    return _compared(
        f"ε, at δ = {_DELTA:g}",
        printed,
        "Used here",
        [
            (
                f"{epsilon:g}",
                1 / accounting.printed_mu(epsilon, _DELTA, noise),
                1 / accounting.exact_mu(epsilon, _DELTA),
            )
            for epsilon in _EPSILONS
        ],
    )


@_table.register(AdaptiveRelease)
def _textbook(method: AdaptiveRelease[Any, Any]) -> ConstantsTable:
    return _over_sensitivity("isotropic", "Textbook formula")


@_table.register
def _lemma_1(method: NoisyGradient) -> ConstantsTable:
    return _over_sensitivity("anisotropic", "As published")


# -- wavelets -------------------------------------------------------------------------------------

_LEVEL, _MOMENTS = 6, (1, 2, 4, 8)


def _wavelet_name(moments: int) -> str:
    return "Haar" if moments == 1 else f"Daubechies {moments}"


@_table.register
def _centred_first(method: WaveletAdaptive) -> ConstantsTable | None:
    """Return None: nothing is published of it, though it is a way of making whole curves."""
    return None


@_table.register
def _whole_curve(method: WaveletGlobal) -> ConstantsTable:
    rows = []
    for moments in _MOMENTS:
        printed = printed_sensitivity_constant(moments) * 2 ** ((_LEVEL - 1) / 2)
        exact = 2 * WaveletBasis(2**_LEVEL, moments, "periodic").sup_norm
        rows.append((f"{_wavelet_name(moments)}: sensitivity, τ = n = 1", printed, exact))
    source, budget = RegressionPoints(n_curves=64_000, n_servers=16), (Budget(1.0, 1e-5),)
    printed, used = (
        WaveletGlobal(plan_rule=rule).exact_risk(source, budget) or math.nan
        for rule in ("literal", "tuned")
    )
    rows.append(("Mean squared error, 16 sites of 4000, ε = 1, δ = 10⁻⁵", printed, used))
    return _compared("Periodic wavelets, level 6", "As published", "Used here", rows)


@_table.register
def _one_point(method: WaveletPointwise) -> ConstantsTable:
    rows = []
    for moments in _MOMENTS:
        constants = WaveletPointwise(points="0.37", moments=moments).sensitivity_constants(_LEVEL)
        rows.append((_wavelet_name(moments), *constants))
    return _compared("Sensitivity at 0.37, level 6, τ = n = 1", "As published", "Used here", rows)


# -- whole functions ------------------------------------------------------------------------------


_MIDDLES = tuple((k + 0.5) / 100 for k in range(100))


@_table.register
def _mean_noise(method: FunctionalRelease) -> ConstantsTable:
    """Compute the expected squared noise of a mean: norm one on a hundred points, ε = 1."""
    delta = _DELTA if method.guarantee is Guarantee.APPROXIMATE else 0.0
    used = "optimal" if isinstance(method, Iclp) else "tight"
    facts = PublicFacts(norm_bound=1.0, design=Design.common(_MIDDLES))

    def energy(constants: str, n: int) -> float:
        error = replace(method, constants=constants).expected_error(
            Sizes((n,), 100 * n, 100), (Budget(1.0, delta),), facts
        )
        return error or math.nan

    return _compared(
        "Curves, at ε = 1",
        "As published",
        "Used here",
        [(str(n), energy("published", n), energy(used, n)) for n in (100, 1000, 5000)],
    )


# -- sparse regression and means ------------------------------------------------------------------

_MACHINES, _ROWS, _FEATURES, _PROMISE = 15, 4000, 800, 0.8


@_table.register
def _before_and_after(method: SparseNewton) -> ConstantsTable:
    sizes, facts = Sizes((20_000,), 20_000, 1, 40), PublicFacts(reading_sd=0.5, unit_scale=True)
    budgets = (Budget(1.0, 1e-6),)
    step = SparseNewton().plan(Public(sizes, facts), budgets)
    rounds = SparseRegression().plan(Public(sizes, facts), budgets).scales.values
    return _compared(
        "20 000 rows, 40 features, 5 kept, ε = 1",
        "Last round of hard thresholding",
        "Newton step on the five",
        [("Noise in a coefficient", rounds, ball(step.sparsity) * step.last)],
    )


@_table.register
def _one_round(method: SparseRegression) -> ConstantsTable:
    n = _MACHINES * _ROWS
    sizes = Sizes((_ROWS,) * _MACHINES, n, 1, _FEATURES)
    facts = PublicFacts(reading_sd=0.5, unit_scale=True)
    budgets = (Budget(_PROMISE, 1 / (2 * n)),) * _MACHINES

    def noise(constants: str) -> float:
        method = SparseRegression(constants=constants, sparsity=15)
        plan = method.plan(Public(sizes, facts), budgets)
        return float(method.law.value_deviation * plan.scales.values)

    return _compared(
        "15 machines of 4000 rows, 800 features, 15 kept, ε = 0.8",
        "As published",
        "Used here",
        [("Noise in a coefficient, each round", noise("published"), noise("tight"))],
    )


def _spent(tasks: Sequence[int]) -> ConstantsTable:
    costs = published_costs(_PROMISE, _MACHINES, _ROWS, _FEATURES, 10, 500, is_sharp=True)
    rows = [(costs[k].task.capitalize(), costs[k].total, _PROMISE) for k in tasks]
    return _compared(
        "800 features, 15 machines of 4000 rows", "ε spent as printed", "ε claimed", rows
    )


@_table.register
def _spent_on_all(method: SparseInference) -> ConstantsTable:
    return _spent((1, 3))


@_table.register
def _spent_on_each(method: SparseHeterogeneous) -> ConstantsTable:
    return _spent((4,))


@_table.register
def _hiding_rows(method: SparseMeanLaplace) -> ConstantsTable:
    setting = SparseMeanSetting(size=50, machines=1000)
    rates, errors = rates_of(setting), simulated(setting, 200)
    return _compared(
        "1000 machines of 10000 rows, 50 means, 5 not zero, ε = 1",
        "Printed bound, constant one",
        "Measured error",
        [("Squared error", rates[PRINTED], errors[ROW])],
    )


@_table.register
def _truthful_bits(method: SparseMeanSigns) -> ConstantsTable:
    setting, rows = SparseMeanSetting(), []
    for epsilon in (0.5, 1.0, 2.0):
        method = SparseMeanSigns(per_machine=1)
        plan = method.plan(setting.public, (Budget(epsilon),) * setting.machines)
        rows.append(
            (
                f"{epsilon:g}",
                _short(100 * (1 - float(method.turn_chance(plan)[0]))),
                _short(float(method.gain(plan)[0]) ** 2),
            )
        )
    return ConstantsTable(
        ("ε, one bit each", "True bits, in percent", "Variance of an answer"), tuple(rows)
    )


@_table.register
def _pure_choice(method: SparseMeanTrusted) -> ConstantsTable:
    setting, rows = SparseMeanSetting(), []
    for epsilon in (0.5, 1.0, 2.0):
        plan = SparseMeanTrusted(sparsity=5).plan(setting.public, (Budget(epsilon),))
        choice_alone = 2 * plan.n_selected * plan.sensitivity / epsilon
        rows.append((f"{epsilon:g}", choice_alone, plan.scales.values))
    return _compared(
        "ε, with δ = 0 and 5 means kept",
        "Scale for the choice alone",
        "Used here, values paid for",
        rows,
    )


@_table.register
def _numbers(method: univariate_mean.UnivariateMean) -> ConstantsTable:
    names = {
        univariate_mean.Setting.CENTRAL_ITEM: "One centre, single numbers",
        univariate_mean.Setting.CENTRAL_USER: "One centre, people",
        univariate_mean.Setting.SITE: "Each site its own, single numbers",
        univariate_mean.Setting.LOCAL_ITEM: "Nobody trusted, single numbers",
        univariate_mean.Setting.LOCAL_USER: "Nobody trusted, people",
    }
    source = Numbers()
    rows = []
    for setting, name in names.items():
        variance = univariate_mean.UnivariateMean(setting=setting).expected_error(
            source.sizes, (Budget(1.0),) * source.n_servers, source.facts
        )
        rows.append((name, _short(math.sqrt(variance or math.nan))))
    return ConstantsTable(
        (
            "200 people with 50 numbers in 0 … 1, ε = 1",
            "Standard deviation of the noise in the mean",
        ),
        tuple(rows),
    )


# -- counts ---------------------------------------------------------------------------------------


@_table.register
def _intervals(method: NoisyCounts) -> ConstantsTable:
    rows = []
    for n in (100, 228, 1000, 10_000):
        for epsilon in (0.5, 1.0, 3.0):
            plan = method.plan(EventTimes(n_curves=n).public, (Budget(epsilon),))
            rows.append(
                (
                    f"{n}",
                    f"{epsilon:g}",
                    f"{plan.cells.n_intervals}",
                    _short(plan.verdict.noise),
                    plan.verdict.verdict,
                )
            )
    return ConstantsTable(("People", "ε", "Intervals", "Noise in a share", "Verdict"), tuple(rows))
