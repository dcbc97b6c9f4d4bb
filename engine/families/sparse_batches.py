"""Plans whose first estimates come from different messages, fitted one group after another.

What suits a budget is decided by public numbers, for each on its own, so that a release does not
depend on which others are asked for beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TypeVar

import numpy as np

from engine.types import Caution, Fit, Intervals

P = TypeVar("P")


def by_kind(plans: Sequence[P], kind: Callable[[P], Hashable],
            fit: Callable[[Sequence[P]], Fit]) -> Fit:
    """Fits of plans of the same kind at once, put together along the budgets."""
    return joined([fit(tuple(alike)) for _, alike in groupby(plans, kind)])


def joined(fits: Sequence[Fit]) -> Fit:
    """Fits of the same data at further budgets as one; all coefficients are kept."""
    if len(fits) == 1:
        return fits[0]
    limits = [fit.intervals for fit in fits if fit.intervals is not None]
    return replace(
        fits[0], coefficients=np.concatenate([fit.coefficients for fit in fits]),
        unprotected=np.concatenate([fit.unprotected for fit in fits]),
        intervals=None if not limits else Intervals(
            np.concatenate([limit.centre for limit in limits]),
            np.concatenate([limit.half_width for limit in limits]),
            np.concatenate([limit.error for limit in limits]), limits[0].kind),
        cautions=_cautions(fits))


def _cautions(fits: Sequence[Fit]) -> tuple[Caution, ...]:
    """Every text once, with the releases it applies to among all."""
    texts = dict.fromkeys(caution.text for fit in fits for caution in fit.cautions)
    return tuple(Caution(text, np.concatenate([
        next((caution.applies for caution in fit.cautions if caution.text == text),
             np.zeros(fit.coefficients.shape[:3], dtype=bool)) for fit in fits]))
        for text in texts)
