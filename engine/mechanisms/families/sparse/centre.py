"""Means of features and response first, which stand in for a constant in the model.

Coefficients of y = a + x'β are those of rows less their means. Where nobody knows the means, the
middle of a stated range stands far from them: ages of 0 to 105 have a mean of 40. The constant that
is then left in the responses goes into all coefficients of correlated or uncentred features. So the
means are released first, and features and response are measured from what was released.

*Privacy.* Every feature, and the response, is clipped to its stated range, which counts as [−1, 1].
Then replacing one of N rows moves each of the d + 1 means by at most 2/N, and all together by
2√(d + 1)/N in the Euclidean norm, which rows at opposite ends of all ranges attain. All that
follows clips the rows, less the released means, as it would without: each message has the
sensitivity that it has without this one, because the means are constants then.

*What is left* of the constant is a, the mean of residuals; what is left of the means of features is
the noise δ in them. So β̃ is off by −Θ̂δa, a product of two small numbers. δ has the law of our
noise, and a is released beside the residuals, so that intervals count it: a²Θ̂ Cov(δ) Θ̂'.

A constant as a further feature has no such error, but makes every row longer, and its products with
features are as noisy as theirs with each other: measured at N = 5000 and 20 000, errors were larger
and more intervals refused (docs/methods_sparse.md).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.core.types import Array, Budget, Fit, PublicFacts, SampleData, Sizes, Spend, Step
from engine.mechanisms.families.sparse.averages import RowAverages
from engine.mechanisms.families.sparse.inference import (
    WHY,
    Columns,
    gaussian,
    joined,
    line,
    published,
)
from engine.mechanisms.families.sparse.thresholding import CLIP, is_standard, rows_of

SHARE = 0.05  # of ρ
CENTRE = Step("means of features and response")
_IN_RANGES = " In halves of stated ranges, to which features and response are held."


def sensitivity(size: int, n: int) -> float:
    """2√(d + 1)/N, by which one row moves the means of d features and a response together.

    Examples
    --------
    >>> sensitivity(size=8, n=100)
    0.06
    """
    return 2 * math.sqrt(size + 1) / n


@dataclass(frozen=True)
class MeanConstants:
    """Constants of the means, fixed before any row is read."""

    # of the noise in each, in halves of its stated range; None where no means are released
    deviation: float | None
    rest: float  # ρ that is left
    spends: tuple[Spend, ...] = ()

    @classmethod
    def planned(cls, sizes: Sizes, budgets: Sequence[Budget], rho: float) -> MeanConstants:
        """5 % of ρ."""
        means_sensitivity = sensitivity(sizes.n_covariates, sizes.n_curves)
        lines = tuple(
            line(CENTRE, means_sensitivity, SHARE * rho, server, budget, WHY + _IN_RANGES)
            for server, budget in enumerate(budgets)
        )
        return cls(gaussian(means_sensitivity, SHARE * rho), (1 - SHARE) * rho, lines)


def exact_means(data: SampleData, is_secure: bool = False, is_clipped: bool = True) -> Array:
    """Average features and response, each stated range taken as [−1, 1]: (repeats, d + 1).

    `is_clipped` clips values to their ranges, as for a release.
    """
    feature_bound, half = _feature_bound(data.facts), data.facts.value_half_width
    rows = rows_of(
        data, 1.0, *((feature_bound, half) if is_clipped else (math.inf, math.inf)), is_secure
    )
    both = np.concatenate([rows.x / feature_bound, rows.y[..., None] / half], axis=-1)
    return RowAverages(replace(rows, x=both)).means()


def measured_from(data: SampleData, means: Array) -> SampleData:
    """Subtract means (repeats, d + 1), as of `exact_means`: 0 is then the middle of the ranges."""
    assert data.y is not None
    facts = data.facts
    half = (
        np.full(data.x.shape[-1], _feature_bound(facts))
        if is_standard(facts)
        else np.array([(each.high - each.low) / 2 for each in facts.covariates])
    )
    with np.errstate(over="ignore", invalid="ignore"):
        return replace(
            data,
            x=data.x - (means[:, :-1] * half)[:, None],
            truth=None,
            y=data.y - means[:, -1:] * facts.value_half_width,
        )


def _feature_bound(facts: PublicFacts) -> float:
    """Clip of features here, in units of half their range, or of their deviation."""
    return CLIP if is_standard(facts) else 1.0


def by_centre(
    data: SampleData,
    is_secure: bool,
    deviations: Sequence[float],
    draws: int,
    rng: np.random.Generator,
    fit: Callable[[SampleData, int, np.random.Generator], Fit],
) -> Fit:
    """Release the means for every budget and draw, and fit each on rows measured from its own.

    Draws share their noise across budgets. `deviations` are in halves of stated ranges.
    """
    columns = Columns(data.n_repeats, len(deviations), draws)
    exact = exact_means(data, is_secure)[:, None]
    means = columns.released(
        published(
            CENTRE, exact, columns.per_budget(deviations), columns.normals(exact.shape[-1:], rng)
        )
    )
    by_draw = []
    for draw in range(draws):
        streams = [*(copy.deepcopy(rng) for _ in deviations[1:]), rng]
        by_draw.append(
            joined(
                [
                    fit(measured_from(data, means[k, :, draw]), k, stream)
                    for k, stream in enumerate(streams)
                ],
                axis=0,
            )
        )
    return joined(by_draw, axis=2)
