"""Check for releases in which more entries may matter than the stated number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from engine.core.types import Array, Caution, Fit, SaidIn

MORE_MATTER = (
    "By the released answers, more means lie beyond what chance explains than are kept. Those that "
    "are left out count as zero: state a larger number of means."
)
MORE_MAY_MATTER = (
    "All entries that are kept stand far out of the noise. Those that are left out count as zero, "
    "and this release does not show whether some of them matter as well: one as large as the "
    "smallest that is kept would make the error larger than was forecast. A larger stated number "
    "would show."
)
_RARE = 0.01


def chance_limit(size: int) -> float:
    """Standard deviations that the largest of so many normal entries has in one of 100 cases."""
    return float(-ndtri(_RARE / (2 * size)))


def with_left_out(fit: Fit, deviations: Sequence[float], sparsity: int) -> Fit:
    """A fit that says where entries as large as the smallest that is kept may be left out.

    A deviation for each budget is that of a kept entry, by noise in choice and value and by
    sampling.
    """
    sizes: Array = np.abs(fit.coefficients)
    d = sizes.shape[-1]
    smallest = np.sort(sizes, axis=-1)[..., -min(sparsity, d)]
    least = max(chance_limit(d), math.sqrt(sparsity)) * np.array(deviations)
    may = (smallest > least[:, None, None]) & (sparsity < d)
    more = (
        (Caution(MORE_MAY_MATTER, may, SaidIn.STATED, ("further entries",)),) if may.any() else ()
    )
    return replace(fit, cautions=(*fit.cautions, *more))
