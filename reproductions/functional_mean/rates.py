"""Figure 1 and tables 1 to 4: rates, what rules where, and slopes measured against them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from pandas import col

from engine.core.types import Array, Budget
from engine.rates.functional_mean import CurveRate, FunctionalMeanRate, VaryingCoefficientsRate
from engine.rates.trusted import Trust
from engine.rates.univariate_mean import RateSetting, UnivariateMeanRate
from engine.rates.wavelet_regression import WaveletRate
from engine.simulation.experiments import Cell, Run
from engine.sources.sparse_curves import SparseCurves
from engine.topics.rates.answer import PRESETS
from reproductions.drawing import Scale, curve, ends, level, log, look, means, panel, styles
from reproductions.evidence import (
    Check,
    Line,
    Listed,
    all_of,
    digits,
    log_slope,
    slope_near,
    values,
    where,
    within,
)
from reproductions.exhibits import Call, Claim, Exhibit, Finding, Form, Panel, Reason, Row, Work
from reproductions.functional_mean.designs import DELTA, PUBLISHED, measured

TERMS = ("I", "II", "III", "IV")  # in the order of `CurveRate.terms`
TERM_NAMES = {
    "I": "sparse observations",
    "II": "privacy, sparse",
    "III": "number of people",
    "IV": "privacy, dense",
}
EPSILON, RATE = log("Privacy budget ε (log scale)"), log("Rate, constants dropped (log scale)")
PEOPLE = log("People on each site n (log scale)")
_LOOKS = {
    "I": look("raw", "6px,3px"),
    "II": look("gradient", marker="square"),
    "III": look("text", "2px,3px", "diamond"),
    "IV": look("functional", "12px,3px,2px,3px", "triangle-up"),
}


def _calculated(function: Callable[[int], list[Row]], quick: int, full: int, form: Form) -> Work:
    """Make a calculation of this module at so many points."""
    return Work(calls=(Call(function, (quick if form == "quick" else full,)),))


# -- figure 1 -----------------------------------------------------------------------------------

_PANELS = {
    "figure-1-left": "Few observations",
    "figure-1-middle": "More observations",
    "figure-1-right": "Many observations",
}


def terms_over_epsilon(points: int) -> list[Row]:
    """Compute the four terms over ε at the observations of Figure 1, α = 2 and n = 400."""
    rows: list[Row] = []
    for key in _PANELS:
        preset = PRESETS[key]
        for epsilon in np.geomspace(5e-4, 2.0, points).tolist():
            sizes = preset.rate.evaluate(**{**preset.point, "epsilon": epsilon})
            rows.append(
                {
                    "m": preset.point["m"],
                    "n": preset.point["n"],
                    "epsilon": digits(epsilon),
                    **{
                        term: digits(float(size), 7)
                        for term, size in zip(TERMS, sizes, strict=True)
                    },
                }
            )
    return rows


def _terms_panel(table: pd.DataFrame, title: str) -> Panel:
    series = [
        curve(
            f"{term}, {TERM_NAMES[term]}",
            table["epsilon"],
            table[term],
            (shade, dash, "circle"),
            mode="lines",
        )
        for term, (shade, dash, _) in _LOOKS.items()
    ]
    order = ", then ".join(f"{term} ({TERM_NAMES[term]})" for term, _ in _order(table))
    return panel(
        title, series, EPSILON, RATE, f"Sizes of the four terms over ε. The largest is {order}."
    )


def _order(table: pd.DataFrame) -> list[tuple[str, float]]:
    """List terms that rule as ε grows, each with the ε from which it does.

    Terms are powers of ε, so that the straight line between two rows on log scales is exact.
    """
    x, sizes = np.log(table["epsilon"].to_numpy()), np.log(table[list(TERMS)].to_numpy())
    ruling = sizes.argmax(axis=1)
    order = [(TERMS[ruling[0]], 0.0)]
    for k in np.flatnonzero(np.diff(ruling)):
        before, after = ruling[k], ruling[k + 1]
        gap = sizes[k : k + 2, after] - sizes[k : k + 2, before]
        order.append((TERMS[after], math.exp(x[k] - gap[0] * (x[k + 1] - x[k]) / np.ptp(gap))))
    return order


def _rule_in_order(index: int, *expected: str) -> Check:
    """Check that the terms rule in this order in a panel, and change where the paper says."""

    def check(table: pd.DataFrame) -> Finding:
        m = values(table, "m")[index]
        rows = where(table, m=m)
        n, a = rows["n"].iloc[0], 2.0
        printed = {
            ("IV", "II"): m ** (a / 2) / n,
            ("II", "I"): n ** (-a / (2 * a + 1)) * m ** (1 / (4 * a + 2)),
            ("II", "III"): n ** ((1 - a) / (2 * a)) * m**-0.5,
            ("IV", "III"): n**-0.5,
        }
        order, predicted = _order(rows), [printed[pair] for pair in pairwise(expected)]
        terms, changes = [term for term, _ in order], [epsilon for _, epsilon in order[1:]]
        ruling = [f"{TERM_NAMES[term]} ({term})" for term in terms]
        later = [
            f"from ε = {epsilon:.4g}: {name}"
            for name, epsilon in zip(ruling[1:], changes, strict=True)
        ]
        return Finding(
            terms == list(expected) and np.allclose(changes, predicted, rtol=1e-3),
            f"Largest: {'; '.join([ruling[0], *later])}. Printed: ε = {Listed(predicted):.4g}.",
        )

    return check


FIGURE_1 = Exhibit(
    "figure-1",
    "Figure 1: which term dominates as ε grows",
    "The four terms of the rate of a mean curve with one trusted centre, 400 people and smoothness "
    "α = 2, for three numbers of observations per curve. The largest one rules. Constants and "
    "logarithms are dropped, and in practice move the borders in ε by a factor of ten or more.",
    partial(_calculated, terms_over_epsilon, 33, 201),
    lambda t: tuple(
        _terms_panel(where(t, m=m), f"{title}, m = {m:g}")
        for m, title in zip(values(t, "m"), _PANELS.values(), strict=True)
    ),
    (
        Claim(
            "Few observations, m ≤ n^(1/(2α)): (n²ε²)^−1 up to ε = m^(α/2)/n, then "
            "(n²mε²)^(−α/(α+1)) up to n^(−α/(2α+1)) m^(1/(4α+2)), then (nm)^(−2α/(2α+1)).",
            _rule_in_order(0, "IV", "II", "I"),
        ),
        Claim(
            "More observations, n^(1/(2α)) ≤ m ≤ n^(1/α): (n²ε²)^−1, then (n²mε²)^(−α/(α+1)) up to "
            "n^((1−α)/(2α)) m^(−1/2), then 1/n.",
            _rule_in_order(1, "IV", "II", "III"),
        ),
        Claim(
            "Many observations, m ≥ n^(1/α): (n²ε²)^−1 up to ε = n^(−1/2), then 1/n.",
            _rule_in_order(2, "IV", "III"),
        ),
    ),
    extent="orders, without constants and logarithms",
)


# -- tables 1 and 4: rates, bounds and slopes ----------------------------------------------------

_SYMBOLS = ("n", "m", "S", "epsilon", "d")
_FREE = (0, 2)  # of the four terms, those without privacy
_TABLE_1 = (Trust.CENTRAL, Trust.FEDERATED)
_TABLE_4 = (Trust.NONE, Trust.CENTRAL, Trust.FEDERATED, Trust.LOCAL)
_LOGS = 0.25  # of a slope: logarithms that rates leave out
_FACTOR = 4.0  # a sum of four and its largest term differ by no more


def _printed(problem: str, notion: Trust) -> tuple[Row, ...]:
    """Return exponents of the terms as printed, at α = 3; with one centre S sites are one."""
    a = 3.0
    sparse, private = -2 * a / (2 * a + 1), -a / (a + 1)
    d = (1.0, (2 * a + 1) / (a + 1), 1.0, 2.0) if problem == "coefficients" else (0.0,) * 4
    people = 1.0 if notion is Trust.LOCAL else 2.0  # power of n in the effective private size
    sites = 2.0 if notion is Trust.CENTRAL else 1.0  # and of S
    n = (sparse, people * private, -1.0, -people)
    m = (sparse, private, 0.0, 0.0)
    over_sites = (sparse, sites * private, -1.0, -sites)
    epsilon = (0.0, 2 * private, 0.0, -2.0)
    return tuple(
        {
            "trust": notion.short,
            "of": problem,
            "term": term,
            "n": digits(n[k]),
            "m": digits(m[k]),
            "S": digits(over_sites[k]),
            "epsilon": digits(epsilon[k]),
            "d": digits(d[k]),
        }
        for k, term in enumerate(TERMS)
        if notion is not Trust.NONE or k in _FREE
    )


def _as_printed(notion: Trust) -> tuple[Row, ...]:
    """Return all rows of Table 1, where `notion` is one centre, or of Table 4."""
    return tuple(
        row
        for each in (_TABLE_1 if notion is Trust.CENTRAL else _TABLE_4)
        for problem in ("mean", "coefficients")
        for row in _printed(problem, each)
    )


def _rate(problem: str, notion: Trust) -> CurveRate:
    kind = VaryingCoefficientsRate if problem == "coefficients" else FunctionalMeanRate
    return kind(privacy=notion)


def exponents(notions: tuple[Trust, ...]) -> list[Row]:
    """Compute ∂ log term / ∂ log symbol of every term of both problems, kind by kind of trust."""
    rows: list[Row] = []
    for notion in notions:
        for problem in ("mean", "coefficients"):
            rate, point = _rate(problem, notion), {"n": 300.0, "m": 5.0, "S": 2.0, "epsilon": 0.3}
            if problem == "coefficients":
                point["d"] = 3.0
            slopes = {s: rate.slopes(s, **point) for s in _SYMBOLS if s in point}
            names = [TERMS[k] for k in (_FREE if notion is Trust.NONE else range(len(TERMS)))]
            rows += [
                {
                    "part": "exponents",
                    "trust": notion.short,
                    "of": problem,
                    "term": term,
                    **{
                        s: round(float(slopes[s][k]), 6) + 0.0 if s in slopes else 0.0
                        for s in _SYMBOLS
                    },
                }
                for k, term in enumerate(names)
            ]
    return rows


def by_trust(notions: tuple[Trust, ...]) -> list[Row]:
    """Compute the rate of a mean curve over n under each kind of trust: ten sites, ε = 0.3."""
    return [
        {
            "part": "trust",
            "trust": notion.short,
            "n": n,
            "rate": digits(float(_rate("mean", notion).total(n=n, m=5.0, S=10.0, epsilon=0.3))),
        }
        for notion in notions
        for n in np.geomspace(10, 1e5, 9).round().tolist()
    ]


def bounds(notion: Trust) -> list[Row]:
    """Put the rate beside squared bias and variances at the best dimension, over n and ε."""
    rows: list[Row] = []
    for problem in ("mean", "coefficients"):
        for epsilon in (0.03, 0.3, 3.0):
            for n in np.geomspace(100, 1e6, 9).round().tolist():
                point = {
                    "n": n,
                    "m": 5.0,
                    "S": 10.0 if notion is Trust.FEDERATED else 1.0,
                    "epsilon": epsilon,
                } | ({"d": 3.0} if problem == "coefficients" else {})
                rows.append(
                    {
                        "part": "bounds",
                        "of": problem,
                        "epsilon": epsilon,
                        "n": n,
                        "rate": digits(float(_rate(problem, notion).total(**point))),
                        "best": digits(_best_bound(point)),
                    }
                )
    return rows


def _best_bound(point: dict[str, float]) -> float:
    """Minimize d r^−2α + d r/(Snm) + d²r²/(Km) + d/(Sn) + d²/K over real r, α = 3."""
    people, d = point["S"] * point["n"], point.get("d", 1.0)
    private = people * point["n"] * point["epsilon"] ** 2  # S n² ε²; S = 1 with one centre
    r = np.geomspace(1e-2, 1e6, 8001)
    bound = (
        d * r**-6.0
        + d * r / (people * point["m"])
        + (d * r) ** 2 / (private * point["m"])
        + d / people
        + d**2 / private
    )
    return float(bound.min())


_STEPS = replace(PUBLISHED, n_iterations=30)  # the same rounds everywhere: a logarithm less


def _cell(n: int, epsilon: float, sites: int = 1, **at: Any) -> Cell:
    source = SparseCurves(n_curves=n * sites, n_servers=sites, n_observations_per_curve=10)
    return Cell(
        {"part": "measured", **at, "n": n, "S": sites, "epsilon": epsilon},
        source,
        _STEPS,
        (Budget(epsilon, DELTA),),
    )


_WEIGHTS = ("rate", "inverse_variance")  # of sites: the paper's, and by the declared noise
_UNLIKE = SparseCurves(
    n_curves=750, n_servers=3, site_sizes="400, 250, 100", n_observations_per_curve=10
)
_BUDGETS = tuple(Budget(epsilon, DELTA) for epsilon in (4.0, 1.0, 0.5))
_WEIGHTS_REASON = (
    "They drop all constants, so that 1/n decides for each of the three sites, "
    "while what they really add differs by a factor of a thousand."
)


def _table_of_rates(notion: Trust, form: Form) -> Work:
    notions = _TABLE_1 if notion is Trust.CENTRAL else _TABLE_4
    calls = (Call(exponents, (notions,)), Call(bounds, (notion,)), Call(by_trust, (notions,)))
    epsilons = (0.5, 0.7, 1.0, 1.4, 2.0)
    if notion is Trust.CENTRAL:
        work = [_cell(n, 1.0, sweep="n") for n in (1000, 1500, 2200, 3200, 4700)]
        work += [_cell(2200, epsilon, sweep="epsilon") for epsilon in epsilons]
    else:
        work = [_cell(n, 1.0, 4, sweep="n") for n in (1000, 1500, 2200, 3200)]
        work += [_cell(1000, 1.0, sites, sweep="S") for sites in (1, 2, 4, 8)]
        work += [_cell(1500, epsilon, 4, sweep="epsilon") for epsilon in epsilons]
        work += [
            Cell(
                {"part": "weights", "weights": weights},
                _UNLIKE,
                replace(PUBLISHED, weights=weights),
                _BUDGETS,
            )
            for weights in _WEIGHTS
        ]
    return Work(tuple(work), Run(repeats=30 if form == "quick" else 200, draws=8, seed=2029), calls)


def _draw_rates(table: pd.DataFrame) -> tuple[Panel, ...]:
    return (
        _trust_panel(where(table, part="trust")),
        *(
            _bounds_panel(where(table, part="bounds", of=problem), title)
            for problem, title in (
                ("mean", "Mean curve"),
                ("coefficients", "Varying coefficients, d = 3"),
            )
        ),
        *(
            _measured_panel(table, name, axis)
            for name, axis in _AXES.items()
            if name in values(where(table, part="measured"), "sweep")
        ),
    )


_TRUST_LOOKS = {
    "none": look("without", "2px,3px", "x"),
    "CDP": look("gradient"),
    "FDP": look("functional", "8px,3px", "square"),
    "LDP": look("wavelet", "6px,3px", "diamond"),
}


def _trust_panel(table: pd.DataFrame) -> Panel:
    series = [
        curve(name, rows["n"], rows["rate"], _TRUST_LOOKS[name])
        for name in values(table, "trust")
        if len(rows := where(table, trust=name))
    ]
    return panel(
        "Rates by who is trusted",
        series,
        log("People n on each of ten sites (log scale)"),
        RATE,
        f"Rates of a mean curve with five observations each, ε = 0.3. {ends(series)}.",
    )


def _bounds_panel(table: pd.DataFrame, title: str) -> Panel:
    series = []
    epsilons = values(table, "epsilon")
    for epsilon, style in zip(epsilons, styles(len(epsilons)), strict=True):
        rows, (shade, dash, marker) = where(table, epsilon=epsilon), style
        series += [
            curve(
                f"rate, ε = {epsilon:g}",
                rows["n"],
                rows["rate"],
                (shade, dash, "circle"),
                mode="lines",
            ),
            curve(
                f"best bound, ε = {epsilon:g}",
                rows["n"],
                rows["best"],
                (shade, "solid", marker),
                mode="markers",
            ),
        ]
    ratios = table["best"] / table["rate"]
    return panel(
        title,
        series,
        PEOPLE,
        RATE,
        f"The rate and the bound at the best number of functions, for three ε from 100 to "
        f"a million people: the bound is {ratios.min():.2f} to {ratios.max():.2f} times "
        "the rate.",
    )


_AXES = {
    "n": ("Cost of privacy over people", PEOPLE),
    "S": ("Cost of privacy over sites", log("Sites S (log scale)")),
    "epsilon": ("Cost of privacy over ε", EPSILON),
}
_POWERS = {"n": -2.0, "S": -1.0, "epsilon": -2.0}


def _cost(table: pd.DataFrame, along: str) -> Line:
    return Line.of(table, along, part="measured", sweep=along)


def _measured_panel(table: pd.DataFrame, along: str, axis: tuple[str, Scale]) -> Panel:
    line, power = _cost(table, along), _POWERS[along]
    series = [
        means("measured, as published", line, look("gradient")),
        level(
            f"power {power:g} of the rate".replace("-", "−"),
            line.x,
            line.y[0] * (line.x / line.x[0]) ** power,
        ),
    ]
    return panel(
        axis[0],
        series,
        axis[1],
        log("Squared error that privacy adds (log scale)"),
        f"What privacy adds falls from {line.y[0]:.2g} to {line.y[-1]:.2g}; the "
        f"slope is {log_slope(line)}, that of the rate {power:g}.",
    )


def _exponents_apart(notion: Trust, table: pd.DataFrame) -> Array:
    """Subtract printed exponents from those of the engine's rates: (terms of both, symbols)."""
    printed = pd.DataFrame(_as_printed(notion))
    both = printed.merge(
        where(table, part="exponents"),
        on=["trust", "of", "term"],
        how="left",
        suffixes=("_printed", ""),
    )
    return np.asarray(
        abs(
            both[list(_SYMBOLS)].to_numpy()
            - both[[f"{symbol}_printed" for symbol in _SYMBOLS]].to_numpy()
        )
    )


def _weights_are_best(table: pd.DataFrame) -> Finding:
    """Compare the error with the paper's weights to that with inverse variances."""
    paper, best = (where(table, part="weights", weights=weights).iloc[0] for weights in _WEIGHTS)
    gap = math.log(paper["error"] / best["error"])
    se = math.hypot(paper["se"] / paper["error"], best["se"] / best["error"])
    return Finding(
        gap <= 2 * se,
        "With 400, 250 and 100 people at ε = 4, 1 and 0.5 privacy adds "
        f"{paper['error']:.3f} ± {paper['se']:.3f}; with inverse variances of the "
        f"declared noise {best['error']:.4f} ± {best['se']:.4f}.",
    )


def _claims_on_rates(notion: Trust) -> tuple[Claim, ...]:
    notions = _TABLE_1 if notion is Trust.CENTRAL else _TABLE_4
    names = {"n": "people (n^−2)", "S": "sites (S^−1)", "epsilon": "ε (ε^−2)"}  # of both terms
    along = ("n", "epsilon") if notion is Trust.CENTRAL else ("n", "S", "epsilon")
    slopes = [
        Claim(
            f"With as many basis functions everywhere, what privacy adds falls with {names[symbol]}.",
            slope_near(
                partial(_cost, along=symbol),
                _POWERS[symbol],
                _LOGS,
                "Measured {slope}, rate {power}; {margin} for logarithms and two standard "
                "errors are allowed for.",
            ),
        )
        for symbol in along
    ]
    best = Claim(
        "Weights by the rate are optimal for sites that differ.",
        _weights_are_best,
        _WEIGHTS_REASON,
        Reason.CONDITION,
        place="Theorem 4.2, and the text below Algorithm 2",
        extent="up to constants and logarithms",
    )
    return (
        Claim(
            f"Each term has the printed exponents (smoothness 3), in the rows of "
            f"{', '.join(each.short for each in notions)}.",
            within(
                partial(_exponents_apart, notion),
                high=1e-4,
                text="{0.count} exponents "
                "in n, m, S, ε and d: those of the rates differ by at most "
                "{0.high:.1g}.",
            ),
        ),
        Claim(
            "The rate is squared bias and variances at the best number of functions.",
            within(
                col("best") / col("rate"),
                1 / _FACTOR,
                _FACTOR,
                text="At {0.count} "
                "points the bound is {0.low:.2f} to {0.high:.2f} times the sum of the "
                "four terms.",
            ),
            is_ours=True,
        ),
        *slopes,
        *([] if notion is Trust.CENTRAL else [best]),
    )


def _rates(number: int, title: str, notion: Trust, about: str) -> Exhibit:
    return Exhibit(  # a row is what privacy alone adds: distances to the same steps without noise
        f"table-{number}",
        f"Table {number}: {title}",
        about,
        partial(_table_of_rates, notion),
        _draw_rates,
        _claims_on_rates(notion),
        _as_printed(notion),
        row=lambda outcome: {
            **outcome.cell.at,
            **measured(outcome, "privacy_error"),
            "repeats": outcome.repeats,
        },
        extent="up to constants and logarithms",
    )


TABLE_1 = _rates(
    1,
    "rates with one trusted centre",
    Trust.CENTRAL,
    "Four terms for a mean curve and for varying coefficients: sparse observations, privacy with "
    "sparse observations, number of people, privacy. Lines are the rates at smoothness α = 3, "
    "markers bias and variances at the best number of functions; then what privacy adds to "
    "Algorithm 1 with three basis functions, 30 rounds and 10 observations each. There both terms "
    "of privacy have the slopes n^−2 and ε^−2, since the number of functions is held fixed.",
)
TABLE_4 = _rates(
    4,
    "rates with each site trusted",
    Trust.FEDERATED,
    "The four terms when each of S sites protects its own curves: lines are the rates for ten "
    "sites at smoothness α = 3, markers bias and variances at the best number of functions; then "
    "what privacy adds to Algorithm 2 with three basis functions, 30 rounds and 10 observations "
    "each. There both terms of privacy have the slopes n^−2, S^−1 and ε^−2, since the number of "
    "functions is held fixed.",
)


# -- table 2: what rules where -------------------------------------------------------------------

_PEOPLE_2, _ALPHA_2 = 1e4, 2.0


def regimes(points: int) -> list[Row]:
    """Name the ruling term on a grid of observations and ε, and the part of Table 2 it lies in."""
    rate = FunctionalMeanRate(privacy=Trust.CENTRAL, smoothness=_ALPHA_2)
    rows: list[Row] = []
    for m in np.geomspace(1.2, 900, points).tolist():
        for epsilon in np.geomspace(1.1e-4, 0.9, points).tolist():
            ruling = int(rate.dominant(n=_PEOPLE_2, m=m, S=1.0, epsilon=epsilon))
            rows.append(
                {
                    "m": digits(m),
                    "epsilon": digits(epsilon),
                    "rules": TERMS[ruling],
                    "printed": " + ".join(_printed_regime(m, epsilon)),
                }
            )
    return rows


def _printed_regime(m: float, epsilon: float) -> tuple[str, ...]:
    """Name terms that Table 2 names: m and ε decide."""
    n, a = _PEOPLE_2, _ALPHA_2
    if epsilon <= n**-0.5:
        return ("II",) if m <= (n * epsilon) ** (2 / a) else ("IV",)
    if m <= n ** (1 / (2 * a)):
        return ("I", "II")
    return ("III", "II") if m <= n ** (1 / a) else ("III",)


def _draw_regimes(table: pd.DataFrame) -> tuple[Panel, ...]:
    series = [
        curve(
            f"{term}, {TERM_NAMES[term]}",
            rows["epsilon"],
            rows["m"],
            (shade, "solid", marker),
            mode="markers",
        )
        for term, (shade, _, marker) in _LOOKS.items()
        if len(rows := where(table, rules=term))
    ]
    counts = ", ".join(f"{line.name} at {len(line.x)}" for line in series)
    return (
        panel(
            "What rules, 10 000 people",
            series,
            EPSILON,
            log("Observations per curve m (log scale)"),
            f"The largest of the four terms at {len(table)} points: {counts}.",
        ),
    )


TABLE_2 = Exhibit(
    "table-2",
    "Table 2: which terms make up the rate",
    "The ruling term of the rate of a mean curve with one trusted centre, for 10 000 people and "
    "smoothness α = 2, over observations per curve and ε.",
    partial(_calculated, regimes, 14, 40),
    _draw_regimes,
    (
        Claim(
            "Up to ε = n^(−1/2): II if m ≤ (n²ε²)^(1/α), else IV. Above: I + II if m ≤ n^(1/(2α)), "
            "III + II up to n^(1/α), III beyond.",
            all_of(
                lambda t: [
                    rules in printed.split(" + ")
                    for rules, printed in zip(t["rules"], t["printed"], strict=True)
                ],
                "At {held} of {count} points the largest term is one that the table names.",
            ),
        ),
    ),
    extent="orders, without constants and logarithms",
)


# -- table 3: beside simpler problems ------------------------------------------------------------


def beside(points: int) -> list[Row]:
    """Compute rates of a number, a mean and a regression curve over observations; ε = 0.1.

    Site s holds n people. A number each for the univariate mean, m observations each for the curve,
    and nm independent observations for the regression curve, which protects
    single observations.
    """
    number, curve = UnivariateMeanRate(setting=RateSetting.SITE), FunctionalMeanRate()
    regression = WaveletRate(smoothness=3.0)
    rows: list[Row] = []
    for m in np.geomspace(1, 1e4, points).round().tolist():
        point = {"n": 1000.0, "S": 10.0, "epsilon": 0.1}
        _, private, _, _ = curve.evaluate(**point, m=m)
        _, single = regression.evaluate(n=1000.0 * m, S=10.0, epsilon=0.1)
        rows.append(
            {
                "m": m,
                "number": digits(float(number.total(**point)), 7),
                "curve": digits(float(curve.total(**point, m=m)), 7),
                "regression": digits(float(regression.total(n=1000.0 * m, S=10.0, epsilon=0.1)), 7),
                "curve_private_sparse": digits(float(private), 10),
                "regression_private": digits(float(single), 10),
            }
        )
    return rows


def _draw_beside(table: pd.DataFrame) -> tuple[Panel, ...]:
    series = [
        curve(name, table["m"], table[column], look(role, dash), mode="lines")
        for column, name, role, dash in (
            ("curve", "mean curve, people protected", "gradient", "solid"),
            ("regression", "regression curve, single observations protected", "wavelet", "6px,3px"),
            ("number", "one number from each person", "without", "2px,3px"),
        )
    ]
    return (
        panel(
            "Rates over observations",
            series,
            log("Observations per curve m (log scale)"),
            RATE,
            f"Rates from one to ten thousand observations per curve. {ends(series, '.2g')}.",
        ),
    )


def _private_sizes(table: pd.DataFrame) -> pd.Series[float]:
    """Divide effective private sizes of the private terms, Sn²mε² by Sn²m²ε², over m; α = 3."""
    terms = table["regression_private"] / table["curve_private_sparse"]
    return terms ** (-4 / 3) / table["m"]


TABLE_3 = Exhibit(
    "table-3",
    "Table 3: beside a number and a regression curve",
    "Rates over observations per curve for ten sites of 1000 people, ε = 0.1 and smoothness α = 3: "
    "the mean curve, a number from each person, and a regression curve from as many independent "
    "observations, where privacy is for single observations.",
    partial(_calculated, beside, 25, 101),
    _draw_beside,
    (
        Claim(
            "On dense curves the mean curve costs what a number costs: 1/(Sn) + 1/(Sn²ε²).",
            within(
                lambda t: {"ratio": (t["curve"] / t["number"]).iloc[-1], "m": t["m"].iloc[-1]},
                high=1.05,
                of="ratio",
                text="With {m:g} observations per curve the rate of the "
                "curve is {ratio:.3f} times that of a number.",
            ),
        ),
        Claim(
            "Protecting people, not single observations, costs a factor m in the private term.",
            within(
                _private_sizes,
                1 - 1e-6,
                1 + 1e-6,
                text="Private sizes differ by m times {0.low:.6f} to {0.high:.6f}.",
            ),
        ),
    ),
    extent="up to constants and logarithms",
)

EXHIBITS: tuple[Exhibit, ...] = (FIGURE_1, TABLE_1, TABLE_2, TABLE_3, TABLE_4)
