"""Figures and tables of arXiv 2412.06582 and of the slides, as settings of the rates page."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.rates import Rate
from engine.rates.differing_sites import Bound, DifferingMeanRate
from engine.rates.functional_mean import FunctionalMeanRate, Trust, VaryingCoefficientsRate
from engine.rates.univariate_mean import RateSetting, UnivariateMeanRate

_FIGURE = FunctionalMeanRate(privacy=Trust.CENTRAL, smoothness=2.0)


@dataclass(frozen=True)
class Preset:
    """One figure panel or table: its rate, its axes, and the point it is drawn at."""

    key: str
    label: str
    rate: Rate
    along: str = "epsilon"
    across: str = "m"
    point: dict[str, float] = field(default_factory=dict)


def _figure(key: str, label: str, m: float) -> Preset:
    return Preset(key, label, _FIGURE, "epsilon", "m", {"n": 400.0, "m": m, "S": 1.0,
                                                        "epsilon": 0.05})


def _table(number: int, label: str, rate: Rate, along: str = "epsilon", across: str = "m",
           **point: float) -> Preset:
    return Preset(f"table-{number}", f"Table {number}: {label}", rate, along, across,
                  {"n": 400.0, "m": 5.0, "S": 1.0, "epsilon": 0.1, **point})


PRESETS = {preset.key: preset for preset in (
    _figure("figure-1-left", "Figure 1, few observations", 2.0),
    _figure("figure-1-middle", "Figure 1, more observations", 9.0),
    _figure("figure-1-right", "Figure 1, many observations", 60.0),
    _table(1, "rates with one trusted centre", FunctionalMeanRate(privacy=Trust.CENTRAL)),
    _table(2, "what rules with one trusted centre", _FIGURE),
    _table(3, "one number each, for comparison", UnivariateMeanRate(setting=RateSetting.SITE),
           "n", "S"),
    _table(4, "rates with each site trusted", FunctionalMeanRate(privacy=Trust.FEDERATED), S=10.0),
    _table(5, "borders for a mean, one trusted centre", FunctionalMeanRate(privacy=Trust.CENTRAL)),
    _table(6, "borders for a mean, each site trusted", FunctionalMeanRate(), S=10.0),
    _table(7, "borders for varying coefficients, one trusted centre",
           VaryingCoefficientsRate(privacy=Trust.CENTRAL), d=3.0),
    _table(8, "borders for varying coefficients, each site trusted", VaryingCoefficientsRate(),
           S=10.0, d=3.0),
    Preset("slides-lower", "Slides: lower bound by rounds, sites alike",
           DifferingMeanRate(bound=Bound.LOWER, people_ratio=1.0, budget_ratio=1.0), "T", "epsilon",
           {"n": 400.0, "m": 5.0, "S": 10.0, "epsilon": 0.1, "T": 10.0}),
    Preset("slides-votes", "Slides: nobody trusted, many numbers, over S",
           UnivariateMeanRate(setting=RateSetting.LOCAL_USER_LARGE_N), "S", "epsilon",
           {"S": 200.0, "n": 2000.0, "epsilon": 0.2}),
)}
