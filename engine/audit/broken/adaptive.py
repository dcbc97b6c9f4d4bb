"""The adaptive releases with one bug each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from engine.audit.broken import Broken, bug
from engine.core.types import Array, Budget, CurveData, Estimate, Public, Step
from engine.mechanisms.adaptive_coefficients import AdaptiveCoefficients
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.families.adaptive.checked_facts import FirstMessage
from engine.mechanisms.families.adaptive.coefficient_fit import CoefficientFit, CoefficientPlan
from engine.mechanisms.families.adaptive.covariate_moments import SCALED, CovariateSite
from engine.mechanisms.families.adaptive.location import (
    FINAL_CENTRE,
    FIRST_CENTRE,
    FIRST_SPREAD,
    SECOND_CENTRE,
    SECOND_SPREAD,
    SEPARATE,
    SiteDeviations,
)
from engine.mechanisms.families.adaptive.mean_fit import MeanFit
from engine.numerics.deviations import AffineDeviations
from engine.privacy import transcript

_MEAN, _COEFFICIENTS = Budget(40.0, 1e-3), Budget(400.0, 1e-3)


def _places(*steps: Step) -> list[int]:
    """Rows of a site's noise that belong to these steps, where nothing is joint."""
    return [SEPARATE.index(step) for step in steps]


class _ChangedSites(MeanFit):
    """A fit that changes every site before it is used."""

    change: Callable[[SiteDeviations], SiteDeviations]

    def site(self, *args: Any) -> SiteDeviations:
        return self.change(super().site(*args))


class _OtherSites(Broken, AdaptiveMean):
    """Sites that do something else with their curves."""

    fit_class = _ChangedSites
    site_class: ClassVar[type[SiteDeviations]]

    def site(self, honest: SiteDeviations) -> SiteDeviations:
        """Replace an honest site: by default by another one with the same curves."""
        return self.site_class(
            honest.deviations,
            honest.n_curves,
            honest.unit,
            honest.noise,
            honest.symmetric,
            honest.index,
            honest.mixing,
            honest.steps,
            far_unit=honest.far_unit,
            far_noise=honest.far_noise,
        )

    def model_fit(self, *args: Any) -> MeanFit:
        fit = super().model_fit(*args)
        assert isinstance(fit, _ChangedSites)
        fit.change = self.site
        return fit


@bug(_MEAN, truncation=3)
class SharesSumToMoreThanOne(Broken, AdaptiveMean):
    """Each of the releases pays with a third more than its share of the budget."""

    def shares(self, *facts: Any) -> tuple[float, ...]:
        return tuple(4 / 3 * share for share in super().shares(*facts))


@bug(_MEAN, truncation=3)
class EveryReleaseSpendsEverything(Broken, AdaptiveMean):
    """Each release about the same people spends the whole budget."""

    def shares(self, *facts: Any) -> tuple[float, ...]:
        return (1.0,) * len(super().shares(*facts))


@bug(_MEAN, truncation=3, releases="separate")
class LocationsAsIfLeftOut(_OtherSites):
    """Noise of averages for a curve that is left out instead of one that is replaced."""

    def site(self, honest: SiteDeviations) -> SiteDeviations:
        unit = honest.unit.copy()
        unit[_places(FIRST_CENTRE, SECOND_CENTRE, FINAL_CENTRE)] /= 2
        return replace(honest, unit=unit)


@bug(_MEAN, truncation=3, releases="separate")
class SizesAreFree(_OtherSites):
    """The size of deviations is released with a tenth of its noise, being only a scale."""

    def site(self, honest: SiteDeviations) -> SiteDeviations:
        unit = honest.unit.copy()
        unit[_places(FIRST_SPREAD, SECOND_SPREAD)] /= 10
        return replace(honest, unit=unit)


class _Sending(SiteDeviations):
    """A site that changes what it is about to send: a statistic, its noise, and what it says."""

    def changed(self, step: Step, statistic: Array, scale: Array) -> tuple[Array, Array, Array]:
        """Change what is about to be sent: statistic, noise that is added, and noise as stated."""
        raise NotImplementedError

    def send(self, step: Step, statistic: Array, scale: Array) -> Array:
        sent, added, stated = self.changed(step, statistic, scale)
        return transcript.sent(self.index, step, sent + added * self.noise_of(step), stated)


class _FreeSizes(_Sending):
    def changed(self, step: Step, statistic: Array, scale: Array) -> tuple[Array, Array, Array]:
        is_location = np.arange(scale.shape[-1]) < self.noise.shape[-1]
        scale = np.where(is_location, scale, scale / 3)
        return statistic, scale, scale


@bug(_MEAN, truncation=3, releases="joint")
class WhatComesWithALocationIsFree(_OtherSites):
    """Sizes and second moments are sent with a location and get a third of its noise."""

    site_class = _FreeSizes


class _ScaledByData(_Sending):
    def changed(self, step: Step, statistic: Array, scale: Array) -> tuple[Array, Array, Array]:
        assert isinstance(self.deviations, AffineDeviations)
        largest = np.abs(self.deviations.targets).max(axis=(1, 2))
        scale = scale * largest.reshape(-1, *[1] * (scale.ndim - 1)) / 10
        return statistic, scale, scale


@bug(_MEAN, truncation=3)
class NoiseFollowsTheLargestCurve(_OtherSites):
    """The noise is made for the largest deviation at hand instead of the clip."""

    site_class = _ScaledByData


class _ByComplete(_Sending):
    def changed(self, step: Step, statistic: Array, scale: Array) -> tuple[Array, Array, Array]:
        assert isinstance(self.deviations, AffineDeviations)
        empty = (self.deviations.slopes == 0).all(axis=(1, 2))
        share = (~empty).mean(axis=1) ** 10
        return statistic / share.reshape(-1, *[1] * (statistic.ndim - 1)), scale, scale


@bug(_MEAN, 1000, truncation=3)
class DividesByCompleteCurves(_OtherSites):
    """Averages are reweighted by how many curves are complete, which is private."""

    site_class = _ByComplete


class _TooLittleNoise(_Sending):
    def changed(self, step: Step, statistic: Array, scale: Array) -> tuple[Array, Array, Array]:
        return statistic, 0.8 * scale, scale


@bug(_MEAN, 2000, truncation=3)
class AFifthOfTheNoiseIsMissing(_OtherSites):
    """Every message has four fifths of the noise that the ledger counts on."""

    site_class = _TooLittleNoise


@bug(_MEAN, 2000, truncation=3)
class SameNoiseInEveryStep(_OtherSites):
    """The five steps share one draw of noise, so that their differences give curves away."""

    def site(self, honest: SiteDeviations) -> SiteDeviations:
        return replace(honest, noise=np.broadcast_to(honest.noise[:1], honest.noise.shape))


class _PerObservation(MeanFit):
    def averages(self, message: FirstMessage) -> Array:
        assert isinstance(self.data, CurveData)
        return np.asarray(super().averages(message) * self.data.counts.max())


@bug(_MEAN, truncation=3)
class FactsAreCountedByObservation(Broken, AdaptiveMean):
    """Facts are averaged over observations, so that a person counts once for each."""

    fit_class = _PerObservation


class _MissingAreNumbers(MeanFit):
    def averages(self, message: FirstMessage) -> Array:
        assert isinstance(self.data, CurveData)
        is_complete = np.asarray(np.isfinite(self.data.values).all(axis=1))[:, None, None]
        return np.where(is_complete, super().averages(message), np.nan)


@bug(_MEAN, truncation=3)
class FactsTellThatAReadingIsMissing(Broken, AdaptiveMean):
    """A message about stated facts is no number as soon as one reading is none."""

    fit_class = _MissingAreNumbers


@bug(_MEAN, truncation=3)
class FarPeopleAreFree(_OtherSites):
    """People far away are counted with a tenth of the noise, as if even statistics were free."""

    def site(self, honest: SiteDeviations) -> SiteDeviations:
        assert honest.far_unit is not None
        return replace(honest, far_unit=honest.far_unit / 10)


@bug(_MEAN, truncation=3)
class CentredOnRawReadings(Broken, AdaptiveMean):
    """The released curve is moved to the raw average of the readings."""

    def release_many(self, data: Any, *args: Any) -> Estimate:
        honest = super().release_many(data, *args)
        middle = np.clip(np.nan_to_num(data.values), -1, 1).mean(axis=1)[:, None, None]
        return replace(honest, coefficients=honest.coefficients + middle)


def _fit_with(site_class: type[CovariateSite]) -> type[CoefficientFit]:
    """A fit whose sites do something else with their covariates."""

    class Fit(CoefficientFit):
        def covariate_site(self, *args: Any) -> CovariateSite:
            honest = super().covariate_site(*args)
            return site_class(honest.regressors, honest.unit, honest.noise, honest.index)

    return Fit


class _TooLittleNoiseSite(CovariateSite):
    def noise_scale(self, step: Step) -> Array:
        return super().noise_scale(step) / self.n_functions


@bug(_COEFFICIENTS, truncation=2)
class MomentsForgetTheCovariates(Broken, AdaptiveCoefficients):
    """Second moments of covariates get noise as if one person moved them by one over n."""

    fit_class = _fit_with(_TooLittleNoiseSite)


class _UnweightedSite(CovariateSite):
    def second(self, standard: Array) -> Array:
        scaled = standard @ self.regressors[:, None]
        return self.send(SCALED, scaled @ scaled.swapaxes(-1, -2) / self.regressors.shape[2])


@bug(_COEFFICIENTS, truncation=2)
class ScaledCovariatesWithoutWeights(Broken, AdaptiveCoefficients):
    """Covariates are scaled up to their released spread, and nobody's influence is cut again."""

    fit_class = _fit_with(_UnweightedSite)


class _RawSite(CovariateSite):
    def first(self) -> Array:
        sent = super().first()
        raw = self.regressors @ self.regressors.swapaxes(1, 2) / self.regressors.shape[2]
        return np.broadcast_to(raw[:, None], sent.shape).copy()


@bug(_COEFFICIENTS, truncation=2)
class ScaledByRawMoments(Broken, AdaptiveCoefficients):
    """Covariates are scaled by the second moments at hand instead of those that were released."""

    fit_class = _fit_with(_RawSite)


class _RawCovariates(CoefficientFit):
    def __init__(self, data: Any, *args: Any) -> None:
        super().__init__(data, *args)
        raw = np.clip(np.nan_to_num(data.covariates), -1e6, 1e6).swapaxes(1, 2)
        ones = np.ones((len(raw), 1, raw.shape[2]))
        self.of_people = np.concatenate([ones, raw], axis=1)


@bug(_COEFFICIENTS, truncation=2)
class CovariatesBeyondTheirRange(Broken, AdaptiveCoefficients):
    """Covariates outside their stated range are taken as they are."""

    fit_class = _RawCovariates


@bug(_COEFFICIENTS, truncation=2)
class LedgerForgetsTheMoments(Broken, AdaptiveCoefficients):
    """All of the budget goes to the later releases, though second moments had a fifth of it."""

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> CoefficientPlan:
        honest = super().planned(public, budgets)
        return replace(honest, shares=tuple(share / 0.8 for share in honest.shares))
