"""Averages of numbers with one bug each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.audit.broken import Broken, bug
from engine.core.types import Array, Budget, CurveData, Public, PublicFacts
from engine.mechanisms.univariate_mean import AveragePlan, Setting, UnivariateMean
from engine.privacy.transcript import Parts

_BUDGET, _FEW = Budget(0.8), 40


class _Mean(Broken, UnivariateMean):
    """The mean of numbers."""


@bug(_BUDGET, setting=Setting.CENTRAL_ITEM)
class RangeFromTheData(_Mean):
    """Numbers are held to the range they themselves have, which one of them can widen."""

    def clipped(self, data: CurveData) -> Array:
        known = np.nan_to_num(data.values, nan=0.0, posinf=1e9, neginf=-1e9)
        low, high = (getattr(known, end)(axis=1, keepdims=True) for end in ("min", "max"))
        return np.clip(known, low, high)


@bug(_BUDGET, _FEW, setting=Setting.CENTRAL_USER, person_spread=0.0)
class NoiseForOneNumber(_Mean):
    """People are protected as if only one of five of their numbers could change."""

    def exact_parts(self, data: CurveData, places: int) -> Array:
        return UnivariateMean(setting=self.setting).exact_parts(data, places)

    def clip_width(self, places: int, facts: PublicFacts) -> float:
        return super().clip_width(places, facts) / 5


@bug(_BUDGET, _FEW, setting=Setting.LOCAL_USER, person_spread=0.0)
class VoteAndAverageSpendAll(_Mean):
    """The vote and the average each take the whole of ε from the same people."""

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> AveragePlan:
        honest = super().planned(public, budgets)
        return replace(honest, vote=2 * honest.vote, measure=2 * honest.measure)


@bug(_BUDGET, _FEW, setting=Setting.CENTRAL_USER, person_spread=0.0)
class VotesForEveryNumber(_Mean):
    """Each number of a person may vote, with noise for one vote of a person."""

    def ballots(self, data: CurveData, places: int) -> Any:
        width = (data.facts.value_high - data.facts.value_low) / places
        place = np.clip((self.clipped(data) - data.facts.value_low) // width, 0, places - 1)
        return place[..., None] == np.arange(places)


@bug(_BUDGET, _FEW, setting=Setting.CENTRAL_USER, person_spread=0.0)
class SendsEveryInterval(_Mean):
    """Averages of all intervals are sent, each with the noise for the one that votes elect."""

    def _average_parts(
        self, data: CurveData, plan: AveragePlan, elected: NDArray[np.int64]
    ) -> Parts:
        honest = super()._average_parts(data, plan, elected)
        intervals = honest.values.shape[1]
        return replace(
            honest,
            values=honest.values.reshape(len(honest.values), 1, -1),
            noise=np.tile(honest.noise, intervals),
            chosen_index=np.zeros_like(elected),
        )


@bug(_BUDGET, _FEW, setting=Setting.LOCAL_USER, person_spread=0.0)
class ForgetsThatTwoEntriesChange(_Mean):
    """Entries of a ballot are flipped as if one alone could change, but a vote moves two."""

    def flip_chance(self, epsilon: Array) -> Array:
        return super().flip_chance(2 * epsilon)


@bug(_BUDGET, setting=Setting.CENTRAL_ITEM)
class DividesByKnownNumbers(_Mean):
    """Only numbers that are there are averaged, and how many those are is private."""

    def exact_parts(self, data: CurveData, places: int) -> Array:
        known = np.isfinite(data.values).mean(axis=1)[:, None, None]
        return np.asarray(super().exact_parts(data, places) / np.maximum(known, 1e-9))


@bug(_BUDGET, setting=Setting.LOCAL_ITEM)
class UnknownNumbersPass(_Mean):
    """A number that is none is sent on as it is."""

    def clipped(self, data: CurveData) -> Array:
        return np.clip(data.values, data.facts.value_low, data.facts.value_high)


@bug(_BUDGET, setting=Setting.SITE)
class HalfTheRange(_Mean):
    """A number is believed to move by half of the range, though it can go from end to end."""

    def exact_parts(self, data: CurveData, places: int) -> Array:
        return UnivariateMean(setting=self.setting).exact_parts(data, places)

    def clip_width(self, places: int, facts: PublicFacts) -> float:
        return super().clip_width(places, facts) / 2
