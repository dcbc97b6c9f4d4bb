"""Budgets whose first estimates come from different messages, released one group after another.

What suits a budget is decided by public numbers, for each on its own, so that a release does not
depend on which others are asked for beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TypeVar

import numpy as np

from engine.types import Caution, Estimate, Intervals

P = TypeVar("P")


def by_kind(plans: Sequence[P], kind: Callable[[P], Hashable],
            estimate: Callable[[Sequence[P]], Estimate]) -> Estimate:
    """Estimates of plans of the same kind at once, put together along the budgets."""
    return joined([estimate(tuple(own)) for _, own in groupby(plans, kind)])


def joined(parts: Sequence[Estimate]) -> Estimate:
    """Estimates of the same data at further budgets as one."""
    first = parts[0]
    if len(parts) == 1:
        return first
    limits = [one.intervals for one in parts if one.intervals is not None]
    return replace(
        first, coefficients=np.concatenate([one.coefficients for one in parts]),
        unprotected=np.concatenate([one.unprotected for one in parts]),
        spends=tuple(line for one in parts for line in one.spends),
        tuning=tuple(own for one in parts for own in one.tuning),
        kept=tuple(own for one in parts for own in one.kept),
        intervals=None if not limits else Intervals(
            np.concatenate([one.centre for one in limits]),
            np.concatenate([one.half_width for one in limits]),
            np.concatenate([one.error for one in limits]), limits[0].kind),
        cautions=_cautions(parts))


def _cautions(parts: Sequence[Estimate]) -> tuple[Caution, ...]:
    """Every text once, with the releases it applies to among all."""
    texts = dict.fromkeys(caution.text for one in parts for caution in one.cautions)
    return tuple(Caution(text, np.concatenate([
        next((own.applies for own in one.cautions if own.text == text),
             np.zeros(one.coefficients.shape[:3], dtype=bool)) for one in parts]))
        for text in texts)
