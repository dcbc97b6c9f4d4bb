"""`python -m tests.benchmark.ablation`: what each ingredient of the adaptive mean is worth.

One ingredient at a time is taken out and the integrated squared error compared with that of the
whole, on the same data and noise. The figures stand in docs/methods.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from engine.core.random_streams import generator
from engine.core.types import Array, Budget
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.families.adaptive import location, mean_fit
from engine.mechanisms.families.adaptive.filters import Independent
from engine.mechanisms.families.adaptive.rules import effective_size
from engine.numerics import deviations
from engine.numerics.reference_law import ReferenceLaw, heavy_tailed
from engine.simulation.metrics import coverage, integrated_squared_errors
from engine.sources.sparse_curves import SparseCurves

EPSILONS = (0.25, 0.5, 1.0, 3.0, 8.0)
REPEATS = {100: 60, 250: 40, 1000: 16}
GRID = [
    SparseCurves(mean=mean, n_curves=n, n_observations_per_curve=m)
    for mean, n, m in product(("mu1", "mu2", "logistic", "wiggly"), REPEATS, (3, 10, 30))
]
HARD = [
    SparseCurves(mean="flat", level=8.0, value_low=-10.0, value_high=10.0),
    SparseCurves(mean="mu1", value_low=-12.0, value_high=12.0),
    SparseCurves(mean="line", value_low=-5.0, value_high=5.0),
]
Patch = Callable[[pytest.MonkeyPatch], None]


def separate_releases(patch: pytest.MonkeyPatch) -> None:
    """Sizes and second moments are releases of their own, with shares of their own."""
    patch.setattr(AdaptiveMean, "is_joint", lambda self, facts, budgets: False)


def no_filter(patch: pytest.MonkeyPatch) -> None:
    """Every release moves the centre by all it measured; nothing before it is remembered."""
    honest = location._move

    def forgetful(sites, state, *rest):
        unknown = Independent(np.full_like(state.centre, 1e12))
        return honest(sites, replace(state, filter=unknown), *rest)

    patch.setattr(location, "_move", forgetful)


def no_clipping_correction(patch: pytest.MonkeyPatch) -> None:
    """Clipped averages and sizes are taken as they are."""
    patch.setattr(location, "_slope", lambda state, law, constants: np.ones_like(state.centre))
    patch.setattr(
        ReferenceLaw, "retained_share", lambda self, spread, shape, radius: np.ones_like(spread)
    )


def no_times_in_the_law(patch: pytest.MonkeyPatch) -> None:
    """What clipping does is computed for curves that all tell equally much of every coefficient."""
    patch.setattr(
        mean_fit, "of_observed_curves", lambda basis, observations, design: heavy_tailed(basis.size)
    )


def no_weighting_within_curves(patch: pytest.MonkeyPatch) -> None:
    """Every reading of a curve counts the same."""

    def plain(moments, counts, sizes, design):
        for size in sorted(sizes):
            yield size, deviations.plain(moments.first(size))

    patch.setattr(mean_fit, "weighted_within_curves", plain)


def no_isotonic_fit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(location, "non_increasing_fit", lambda values: values)


ABLATIONS: tuple[Patch, ...] = (
    separate_releases,
    no_filter,
    no_clipping_correction,
    no_times_in_the_law,
    no_weighting_within_curves,
    no_isotonic_fit,
)


def measured(sources: list[SparseCurves]) -> tuple[Array, Array, Array]:
    """Errors, pointwise coverage, and N of every source and ε, flat."""
    method, rows = AdaptiveMean(band="pointwise"), []
    for source in sources:
        budgets = [(Budget(e, source.n_curves**-2),) for e in EPSILONS]
        data = source.draw(REPEATS[source.n_curves], generator(8, 0, 0))
        estimate = method.release_many(data, budgets, 2, generator(8, 1, 0))
        errors = integrated_squared_errors(estimate, data.truth).total
        held = coverage(estimate, data.truth)
        assert errors is not None and held is not None
        rows.append(
            (
                errors.mean(axis=(1, 2)),
                held.of_kept.mean(axis=(1, 2)),
                [effective_size(source.sizes, b) for b in budgets],
            )
        )
    joined = [np.concatenate(part) for part in zip(*rows, strict=True)]
    return joined[0], joined[1], joined[2]


def main() -> None:
    whole, hard = measured(GRID), measured(HARD)
    used, sure = whole[2] >= 12, whole[2] >= 35
    print(f"{'taken out':30}{'ISE ratio':>10}{'worst':>8}{'hard cases':>18}{'coverage':>10}")
    print(f"{'nothing':30}{1:10.3f}{1:8.2f}{'':18}{whole[1][sure].mean():10.3f}")
    for ablation in ABLATIONS:
        with pytest.MonkeyPatch.context() as patch:
            ablation(patch)
            without, hard_without = measured(GRID), measured(HARD)
        ratio = (without[0] / whole[0])[used]
        ratios = (hard_without[0] / hard[0])[hard[2] >= 12].reshape(len(HARD), -1)
        worst = " ".join(f"{row.max():5.2f}" for row in ratios)
        print(
            f"{ablation.__name__.replace('_', ' '):30}{np.exp(np.log(ratio).mean()):10.3f}"
            f"{ratio.max():8.2f}{worst:>18}{without[1][sure].mean():10.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
