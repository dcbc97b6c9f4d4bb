"""The term of a rate that rules at each point, and rates compared with measured errors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from engine.core.bands import NORMAL
from engine.core.types import Array
from engine.rates import Boundary, Rate
from engine.rates.differing_sites import Bound, DifferingMeanRate
from engine.rates.fitted import FittedRate, Weighted, beside
from engine.rates.functional_mean import FunctionalMeanRate, VaryingCoefficientsRate
from engine.rates.trusted import Trust
from engine.rates.univariate_mean import RateSetting, UnivariateMeanRate
from engine.rates.wavelet_regression import WaveletRate
from engine.simulation.agreement import Agreement
from engine.simulation.experiments import mean_and_se
from engine.topics.mean.answer import errors_and_shares
from engine.topics.planning.answer import PlannedStudy, bounds

_SAME = 1e-6  # of two terms on a border
SLOPE_TOLERANCE = 0.25  # exponents of the terms of a rate differ by more
_ROOM = 3.0  # beside a point at or beyond the usual end of its axis


# -- the map ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class RegimeMap:
    """The ruling term over two symbols: `regimes` (across, along) holds indices of terms."""

    along: str
    across: str
    x: Array
    y: Array
    regimes: Array


def regime_map(
    weighted: Weighted, along: str, across: str, point: Mapping[str, float], size: int = 400
) -> RegimeMap:
    """Map `across` against `along` over their usual ranges, which always hold the point."""
    x, y = (axis_values(weighted.rate, name, point, size) for name in (along, across))
    grid = moved(point, **{along: x[None, :], across: y[:, None]})
    return RegimeMap(along, across, x, y, weighted.dominant(**grid))


def moved(point: Mapping[str, float], **changes: Array) -> dict[str, float | Array]:
    """Replace some symbols of a point by whole axes."""
    return {**point, **changes}


def axis_values(rate: Rate, name: str, point: Mapping[str, float], size: int) -> Array:
    """Space values equally on the log scale, over the usual range of a symbol and the point."""
    symbol = next(symbol for symbol in rate.symbols if symbol.name == name)
    here = float(point.get(name, symbol.default))
    low = symbol.low if here > symbol.low else here / _ROOM
    high = symbol.high if here < symbol.high else here * _ROOM
    return np.geomspace(low, high, size)


def border(
    rate: Rate, boundary: Boundary, along: str, across: str, x: Array, point: Mapping[str, float]
) -> Array:
    """Trace a boundary on the map, as `across` over x; NaN where it separates no regimes.

    A boundary given in the symbol of the horizontal axis is turned round by its own values.
    """
    names = [term.name for term in rate.terms]
    if not set(boundary.between) <= set(names):
        return np.full(len(x), np.nan)
    if boundary.symbol == across:
        y = np.broadcast_to(boundary.value(rate.at(**moved(point, **{along: x}))), x.shape)
    elif boundary.symbol == along:
        y = _turned(rate, boundary, across, x, point)
    else:
        return np.full(len(x), np.nan)
    sizes = rate.evaluate(**moved(point, **{along: x, across: y}))
    rows = [names.index(name) for name in boundary.between]
    active = (sizes[rows] >= sizes.max(axis=0) * (1 - _SAME)).all(axis=0)
    return np.where(active, y, np.nan)


def _turned(
    rate: Rate, boundary: Boundary, across: str, x: Array, point: Mapping[str, float]
) -> Array:
    """Find the values of `across` at which the boundary in the other symbol equals x."""
    y = axis_values(rate, across, point, 2000)
    there = np.broadcast_to(boundary.value(rate.at(**moved(point, **{across: y}))), y.shape)
    if np.ptp(np.log(there)) == 0:
        return np.full(len(x), np.nan)
    order = np.argsort(there)
    inside = (x >= there.min()) & (x <= there.max())
    inverse = np.exp(np.interp(np.log(x), np.log(there[order]), np.log(y[order])))
    return np.where(inside, inverse, np.nan)


# -- measured against the rate ----------------------------------------------------------------


@dataclass(frozen=True)
class MeasuredError:
    """Mean squared error at one value of a symbol, with its standard error.

    `private` is the share of privacy noise in it; NaN where that is not known.
    """

    value: float
    mean: float
    se: float
    private: float = math.nan


@dataclass(frozen=True)
class Comparison:
    """A straight line through measured errors on log scales, beside that of the rate.

    `slope` ± `half_width` is that of the errors with its 95 % confidence interval, `theory` that of
    the rate over the same values. `fitted` is the rate with privacy as heavy as was measured at the
    middle value, and with the `constant` that makes it run through the points.
    """

    slope: float
    half_width: float
    theory: float
    constant: float
    fitted: FittedRate

    @property
    def agreement(self) -> Agreement:
        """Agreement of the measured slope with that of the rate, by its interval."""
        return Agreement(
            self.slope,
            self.slope - self.half_width,
            self.slope + self.half_width,
            self.theory,
            SLOPE_TOLERANCE,
        )


def sweep(
    setting: PlannedStudy, dial: str, values: Sequence[float], seed: int
) -> Iterator[MeasuredError]:
    """Measure a study's squared error at each value of a dial; NaN where nothing is published.

    δ stays what it is at `setting`, so that only one thing changes.
    """
    fixed = replace(setting, delta=setting.budget.delta)
    for value in values:
        here = fixed.moved(dial, value)
        verdict = here.mechanism.feasibility(here.curves.sizes, (here.budget,))
        if verdict is not None and not verdict.is_feasible:
            yield MeasuredError(value, math.nan, math.nan)
            continue
        errors, shares = errors_and_shares(here.curves, here.mechanism, [here.budget], seed)
        summary = mean_and_se(errors[0] ** 2)
        yield MeasuredError(
            value, float(summary["mean"] or 0.0), float(summary["se"] or 0.0), float(shares[0, 0])
        )


def sweep_values(setting: PlannedStudy, dial: str) -> list[float]:
    """Choose six values around the present one, a quarter to four times, that can be drawn."""
    low, high = bounds(setting, dial)
    here = float(getattr(setting, dial))
    span = np.geomspace(max(low, here / 4), min(high, here * 4), 6)
    values = span if dial == "epsilon" else np.unique(np.round(span))
    return [float(f"{value:.3g}") if dial == "epsilon" else float(value) for value in values]


def compare(
    points: Sequence[MeasuredError], of: Rate, symbol: str, point: Mapping[str, float]
) -> Comparison | None:
    """Fit both lines by least squares on log scales; None for fewer than three points.

    Terms of a rate fall at different speeds, so what it foretells hangs on how they are weighed.
    Privacy weighs what was measured at the middle value; no slope is used for that. The interval of
    the slope follows from the standard errors of the points alone: neither line need be straight,
    and both are fitted to the same values with the same weights.
    """
    known = [p for p in points if math.isfinite(p.mean) and p.mean > 0]
    if len(known) < 3:
        return None
    middle = known[len(known) // 2]
    weighted = Weighted.with_privacy_share(of, middle.private, **{**point, symbol: middle.value})
    x = np.log([p.value for p in known])
    y = np.log([p.mean for p in known])
    rate = np.log(weighted.total(**moved(point, **{symbol: np.exp(x)})))
    (slope, half_width), theory = compare_lines(known, rate)
    weights = _weights(known)
    constant = np.exp(np.average(y - rate, weights=weights**2))
    through = replace(
        weighted, statistical=weighted.statistical * constant, private=weighted.private * constant
    )
    return Comparison(
        slope,
        half_width,
        theory,
        float(constant),
        beside(through, moved(point, **{symbol: np.exp(x)}), np.exp(y)),
    )


def compare_lines(
    points: Sequence[MeasuredError], rate: Array
) -> tuple[tuple[float, float], float]:
    """Fit straight lines to logarithms of errors and of a rate, with the weights of the errors.

    Returns the slope of the errors with the half width of its 95 % interval, and that of the rate.
    """
    x = np.log([p.value for p in points])
    weights = _weights(points)
    centred = x - np.average(x, weights=weights**2)
    spread = (weights**2 * centred**2).sum()
    y = np.log([p.mean for p in points])
    slope, theory = (float((weights**2 * centred * line).sum() / spread) for line in (y, rate))
    return (slope, NORMAL / math.sqrt(spread)), theory


def _weights(points: Sequence[MeasuredError]) -> Array:
    return np.asarray(1 / np.maximum([p.se / p.mean for p in points], 1e-3))


# -- figures and tables of arXiv 2412.06582 and of the slides, as settings of the page -------------


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
    return Preset(
        key, label, _FIGURE, "epsilon", "m", {"n": 400.0, "m": m, "S": 1.0, "epsilon": 0.05}
    )


def _table(
    number: int, label: str, rate: Rate, along: str = "epsilon", across: str = "m", **point: float
) -> Preset:
    return Preset(
        f"table-{number}",
        f"Table {number}: {label}",
        rate,
        along,
        across,
        {"n": 400.0, "m": 5.0, "S": 1.0, "epsilon": 0.1, **point},
    )


PRESETS = {
    preset.key: preset
    for preset in (
        _figure("figure-1-left", "Figure 1, few observations", 2.0),
        _figure("figure-1-middle", "Figure 1, more observations", 9.0),
        _figure("figure-1-right", "Figure 1, many observations", 60.0),
        _table(1, "rates with one trusted centre", FunctionalMeanRate(privacy=Trust.CENTRAL)),
        _table(2, "what rules with one trusted centre", _FIGURE),
        _table(
            3,
            "one number each, for comparison",
            UnivariateMeanRate(setting=RateSetting.SITE),
            "n",
            "S",
        ),
        _table(
            4, "rates with each site trusted", FunctionalMeanRate(privacy=Trust.FEDERATED), S=10.0
        ),
        _table(
            5, "borders for a mean, one trusted centre", FunctionalMeanRate(privacy=Trust.CENTRAL)
        ),
        _table(6, "borders for a mean, each site trusted", FunctionalMeanRate(), S=10.0),
        _table(
            7,
            "borders for varying coefficients, one trusted centre",
            VaryingCoefficientsRate(privacy=Trust.CENTRAL),
            d=3.0,
        ),
        _table(
            8,
            "borders for varying coefficients, each site trusted",
            VaryingCoefficientsRate(),
            S=10.0,
            d=3.0,
        ),
        Preset(
            "local-curves",
            "Nobody trusted: one curve at each site",
            FunctionalMeanRate(privacy=Trust.FEDERATED, smoothness=2.0),
            "S",
            "epsilon",
            {"n": 1.0, "m": 10.0, "S": 1000.0, "epsilon": 1.0},
        ),
        Preset(
            "local-regression",
            "Nobody trusted: one observation at each site",
            WaveletRate(),
            "S",
            "epsilon",
            {"n": 1.0, "S": 10_000.0, "epsilon": 0.5},
        ),
        Preset(
            "sites-differ",
            "Sites that differ: eight hospitals",
            DifferingMeanRate(smoothness=2.0, people_ratio=30.0, budget_ratio=30.0),
            "epsilon",
            "n",
            {"n": 400.0, "m": 10.0, "S": 8.0, "epsilon": 0.2, "T": 1.0},
        ),
        Preset(
            "sites-gap",
            "Sites that differ: bounds that do not meet",
            DifferingMeanRate(smoothness=2.0, people_ratio=100.0, budget_ratio=1000.0),
            "epsilon",
            "n",
            {"n": 10_000.0, "m": 40.0, "S": 8.0, "epsilon": 0.1, "T": 1.0},
        ),
        Preset(
            "slides-lower",
            "Slides: lower bound by rounds, sites alike",
            DifferingMeanRate(bound=Bound.LOWER, people_ratio=1.0, budget_ratio=1.0),
            "T",
            "epsilon",
            {"n": 400.0, "m": 5.0, "S": 10.0, "epsilon": 0.1, "T": 10.0},
        ),
        Preset(
            "slides-votes",
            "Slides: nobody trusted, many numbers, over S",
            UnivariateMeanRate(setting=RateSetting.LOCAL_USER_LARGE_N),
            "S",
            "epsilon",
            {"S": 200.0, "n": 2000.0, "epsilon": 0.2},
        ),
    )
}
