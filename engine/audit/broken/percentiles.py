"""Percentile curves with one bug each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.audit.broken import Broken, bug
from engine.core.types import Budget
from engine.mechanisms.families.adaptive.location import Located, SiteDeviations
from engine.mechanisms.families.adaptive.percentile_stages import SHARES, STAGES, PercentileFit
from engine.mechanisms.percentile_curves import PercentileCurves
from engine.numerics.deviations import Deviations
from engine.numerics.percentile_surface import ShareSurface

_BUDGET = Budget(60.0, 1e-3)


class _FullBudgetInEveryStage(PercentileFit):
    def _site(self, s: int, stage: str, *others: Any) -> SiteDeviations:
        honest = super()._site(s, stage, *others)
        return replace(honest, unit=honest.unit * np.sqrt(STAGES[stage]))


@bug(_BUDGET)
class StagesThatEachHaveTheBudget(Broken, PercentileCurves):
    """Centre, spread and shares each spend the whole budget, as if they were about other people."""

    fit_class = _FullBudgetInEveryStage


class _ExactPlaces(PercentileFit):
    def _located(
        self, stage: str, plan: Any, repeats: slice, by_site: Sequence[Deviations], *others: Any
    ) -> Located:
        located = super()._located(stage, plan, repeats, by_site, *others)
        if stage != SHARES:  # the mean as it is in place of the released one
            zero = np.zeros_like(located.centre)
            total = sum(site.from_centres(zero, slice(None)).sum(axis=-1) for site in by_site)
            mean = -np.asarray(total) / sum(site.n_curves for site in by_site)
            return replace(located, centre=mean)
        return located


@bug(_BUDGET)
class ThresholdsFromTheData(Broken, PercentileCurves):
    """Thresholds are placed by the exact centre and spread of readings, which were not released."""

    fit_class = _ExactPlaces


class _WithNumbersThatAreNone(PercentileFit):
    def _located(self, stage: str, plan: Any, repeats: slice, *others: Any) -> Located:
        located = super()._located(stage, plan, repeats, *others)
        unclipped = 0.0 * self.values[repeats].sum()  # nothing, unless one is no number
        return replace(located, centre=located.centre + unclipped)


@bug(_BUDGET)
class MissingReadingsLetThrough(Broken, PercentileCurves):
    """A reading that is no number passes every clip, because it is not smaller than any radius."""

    fit_class = _WithNumbersThatAreNone


class _SingleNoise(PercentileFit):
    def _site(self, s: int, stage: str, *others: Any) -> SiteDeviations:
        honest = super()._site(s, stage, *others)
        if stage != SHARES:
            return honest
        n_thresholds = honest.noise.shape[-1] // 3
        return replace(honest, unit=honest.unit / np.sqrt(max(n_thresholds, 2)))


@bug(_BUDGET)
class ThresholdsClippedTogetherInName(Broken, PercentileCurves):
    """Noise is that of one threshold, although a person moves the shares below all of them."""

    fit_class = _SingleNoise


class _Stretched(PercentileFit):
    def _surface(self, plan: Any, repeats: slice, readings: Any) -> ShareSurface:
        surface = super()._surface(plan, repeats, readings)
        size = np.abs(np.nan_to_num(self.values[repeats])).mean(axis=-1)
        return replace(surface, coefficients=surface.coefficients * (1 + size[:, None, None, None]))


@bug(_BUDGET)
class SharesThatLookAtReadings(Broken, PercentileCurves):
    """Published shares are stretched by the size of readings, past all that was sent."""

    fit_class = _Stretched
