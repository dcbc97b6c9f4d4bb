"""Lecture slides on rates of univariate means under privacy: their table, and slopes measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.core.types import Budget
from engine.mechanisms.univariate_mean import UnivariateMean
from engine.rates.univariate_mean import RateSetting, UnivariateMeanRate
from engine.simulation.experiments import Cell, Outcome, Run
from engine.sources.numbers import Numbers
from reproductions.drawing import Series, curve, log, panel
from reproductions.evidence import Check, Line, Number, digits, log_slope, values, where
from reproductions.exhibits import Claim, Exhibit, Finding, Form, Panel, Paper, Row, Work

_MARGIN = 0.2  # of a slope: logarithms, and widths of places that are rounded


@dataclass(frozen=True)
class Sweep:
    """One symbol moved in one setting, and the power of it that the slides give.

    `setting` is that of the rate; in `regime` "privacy" privacy noise dominates, in "chance"
    sampling error does.
    """

    setting: str
    regime: str
    moved: str
    power: float
    steps: Sequence[float]
    people: int
    items: int
    epsilon: float = 1.0

    def cells(self) -> list[Cell]:
        return [
            self._cell(
                {
                    "S": float(self.people),
                    "n": float(self.items),
                    "epsilon": self.epsilon,
                    self.moved: float(step),
                }
            )
            for step in self.steps
        ]

    def _cell(self, point: dict[str, float]) -> Cell:
        setting = RateSetting(self.setting)
        mechanism = UnivariateMean.independent(setting.mechanism)
        rate = UnivariateMeanRate(setting=setting)
        source = Numbers(n_servers=int(point["S"]), n_items=int(point["n"]))
        return Cell(
            {
                "setting": self.setting,
                "regime": self.regime,
                "moved": self.moved,
                "power": self.power,
                **point,
                "rate": digits(float(rate.total(**point))),
            },
            source,
            mechanism,
            (Budget(point["epsilon"]),),
        )


_DOUBLING = (50, 100, 200, 400)
_EPSILONS = (0.1, 0.2, 0.4, 0.8)
SWEEPS = (
    Sweep("none", "chance", "n", -1, _DOUBLING, 50, 50),
    Sweep("none", "chance", "S", -1, _DOUBLING, 50, 50),
    Sweep("local_item", "privacy", "n", -1, _DOUBLING, 50, 50),
    Sweep("local_item", "privacy", "S", -1, _DOUBLING, 50, 50),
    Sweep("local_item", "privacy", "epsilon", -2, _EPSILONS, 50, 50),
    Sweep("local_user_small_n", "privacy", "n", -1, (600, 1200, 2400), 200, 600, 2.8),
    Sweep("local_user_small_n", "privacy", "epsilon", -2, (1.4, 2.0, 2.8), 400, 660),
    Sweep("local_user_large_n", "privacy", "n", 0, (2000, 4000, 8000), 50, 2000, 0.5),
    Sweep("central_item", "privacy", "n", -2, (5, 10, 20, 40), 10, 5, 0.05),
    Sweep("central_item", "privacy", "S", -2, (5, 10, 20, 40), 10, 5, 0.05),
    Sweep("central_item", "privacy", "epsilon", -2, (0.025, 0.05, 0.1, 0.2), 10, 5),
    Sweep("central_item", "chance", "n", -1, _DOUBLING, 200, 50),
    Sweep("central_item", "chance", "S", -1, _DOUBLING, 50, 200),
    Sweep("central_user", "privacy", "n", -1, (600, 1200, 2400, 4800), 50, 600),
    Sweep("central_user", "privacy", "S", -2, (50, 100, 200), 50, 1000),
    Sweep("central_user", "privacy", "epsilon", -2, (0.3, 0.45, 0.7, 1.0), 200, 800),
    Sweep("site", "privacy", "n", -2, (5, 10, 20, 40), 50, 10, 0.05),
    Sweep("site", "privacy", "S", -1, _DOUBLING, 50, 10, 0.05),
    Sweep("site", "privacy", "epsilon", -2, (0.025, 0.05, 0.1, 0.2), 50, 10),
    Sweep("site", "chance", "n", -1, (2000, 4000, 8000, 16000), 5, 2000),
    Sweep("site", "chance", "S", -1, (5, 10, 20, 40), 5, 2000),
)
# Votes that may miss, against the power of few numbers: no power of ε holds.
_VOTES_MISS = Sweep("local_user_large_n", "privacy", "epsilon", -2, (0.4, 0.6, 0.9, 1.3), 200, 4000)
# The same over people: the logarithm of the error falls in a straight line.
_VOTES_OVER_PEOPLE = Sweep(
    "local_user_large_n", "votes", "S", 0, (40, 80, 120, 160, 200, 240), 50, 4000
)
_NAMES = {
    "none": "No privacy: 1/(Sn)",
    "local_item": "Nobody trusted, single numbers: 1/(Snε²)",
    "local_user_small_n": "Nobody trusted, people, few numbers: 1/(Snε²)",
    "local_user_large_n": "Nobody trusted, people, many numbers: e^(−Sε²)",
    "central_item": "One centre, single numbers: 1/(Sn) + 1/(S²n²ε²)",
    "central_user": "One centre, people: 1/(Sn) + 1/(S²nε²)",
    "site": "Each site trusted: 1/(Sn) + 1/(Sn²ε²)",
}
_SIGNS = {"n": "n", "S": "S", "epsilon": "ε"}


def _work(form: Form) -> Work:
    cells = [cell for sweep in (*SWEEPS, _VOTES_MISS, _VOTES_OVER_PEOPLE) for cell in sweep.cells()]
    return Work(tuple(cells), Run(50 if form == "quick" else 200, draws=20, seed=31))


def _row(outcome: Outcome) -> Row:
    summary = outcome.summary("total_error") or {}
    return {
        **outcome.cell.at,
        "error": digits(summary.get("mean")),
        "se": digits(summary.get("se")),
        "repeats": outcome.repeats,
    }


# -- drawing ------------------------------------------------------------------------------------

_LOOKS = {
    "n": ("solid", "circle", "gradient"),
    "S": ("8px,3px", "square", "functional"),
    "epsilon": ("2px,3px", "diamond", "wavelet"),
}


def _panel(table: pd.DataFrame, title: str) -> Panel:
    """Draw errors and what the symbol is multiplied by, both from where each sweep starts."""
    series, slopes = [], []
    for regime in (name for name in values(table, "regime") if name != _VOTES_OVER_PEOPLE.regime):
        for moved, (dash, marker, role) in _LOOKS.items():
            rows = where(table, regime=regime, moved=moved)
            if len(rows):
                line, power = Line.of(rows, moved), rows["power"].iloc[0]
                name = f"{_SIGNS[moved]}, {regime}"
                shade = role if regime == "privacy" else "raw"
                series += _measured_and_power(line, power, name, shade, dash, marker)
                slopes.append(f"{name}: {log_slope(line)} for {power:g}".replace("-", "−"))
    return panel(
        title,
        series,
        log("Times the first value (log scale)"),
        log("Error, first = 1 (log scale)"),
        f"Measured slopes and powers of the slides. {'; '.join(slopes)}.",
    )


def _measured_and_power(
    line: Line, power: float, name: str, shade: str, dash: str, marker: str
) -> list[Series]:
    x, label = line.x / line.x[0], f"{name} ({power:g})".replace("-", "−")
    return [
        curve(
            label,
            x,
            line.y / line.y[0],
            (shade, "solid", marker),
            line.se / line.y[0],
            mode="markers",
        ),
        curve(
            f"{label}, stated",
            x,
            x**power,
            (shade, dash, "circle"),
            mode="lines",
            width=1.4,
            in_legend=False,
        ),
    ]


def _votes_panel(table: pd.DataFrame) -> Panel:
    """Draw the error of votes over Sε², with the exponential that fits it."""
    c, line = _exponent(table)
    x = line.x * _VOTES_OVER_PEOPLE.epsilon**2
    level = float(np.exp((np.log(line.y) + c.value * x).mean()))
    grid = np.linspace(x[0], x[-1], 60)
    return panel(
        "Nobody trusted, people, many numbers: over people",
        [
            curve("measured", x, line.y, ("gradient", "solid", "circle"), line.se, mode="markers"),
            curve(
                f"e^(−cSε²), c = {c.value:.2f}",
                grid,
                level * np.exp(-c.value * grid),
                ("gradient", "8px,3px", "circle"),
                mode="lines",
            ),
        ],
        "Sε²",
        log("Mean squared error (log scale)"),
        f"The error over people with the exponential that fits it best: c = {c}.",
    )


# -- claims -------------------------------------------------------------------------------------


def _slopes_are(setting: str, regime: str) -> Check:
    """Every sweep of a setting and regime has the slope of the slides."""
    sweeps = [sweep for sweep in SWEEPS if (sweep.setting, sweep.regime) == (setting, regime)]

    def check(table: pd.DataFrame) -> Finding:
        rows = where(table, setting=setting, regime=regime)
        slopes = [
            log_slope(Line.of(where(rows, moved=sweep.moved), sweep.moved)) for sweep in sweeps
        ]
        listed = "; ".join(
            f"{_SIGNS[sweep.moved]}: {slope} for {sweep.power:g}"
            for sweep, slope in zip(sweeps, slopes, strict=True)
        )
        return Finding(
            all(
                slope.near(sweep.power, _MARGIN)
                for sweep, slope in zip(sweeps, slopes, strict=True)
            ),
            f"Slopes, measured for stated: {listed.replace('-', '−')}. {_MARGIN:g} and "
            "two standard errors are allowed for.",
        )

    return check


def _falls_beyond_powers(table: pd.DataFrame) -> Finding:
    """Check that errors fall more steeply from step to step, at last more than 1/ε²."""
    line = Line.of(where(table, setting=_VOTES_MISS.setting, moved="epsilon"), "epsilon")
    first, last = (log_slope(line.between(*ends)) for ends in (line.x[:2], line.x[-2:]))
    return Finding(
        (last - first).is_below(0, 2) and last.is_below(-2, 2),
        f"With {_VOTES_MISS.people} people of {_VOTES_MISS.items} numbers the slope in "
        f"ε goes from {first} (ε = {line.x[0]:g} to {line.x[1]:g}) to {last} (ε = "
        f"{line.x[-2]:g} to {line.x[-1]:g}); few numbers have −2.",
    )


def _exponent(table: pd.DataFrame) -> tuple[Number, Line]:
    """Fit c of e^(−c S ε²) to the error over people, by its logarithm; and the line itself."""
    line = Line.of(where(table, setting=_VOTES_OVER_PEOPLE.setting, regime="votes"), "S")
    x = line.x * _VOTES_OVER_PEOPLE.epsilon**2
    centred = x - x.mean()
    spread = float((centred**2).sum())
    c = -float(centred @ np.log(line.y)) / spread
    return Number(c, math.sqrt(float((centred**2 * line.log_se**2).sum())) / spread), line


def _falls_like_an_exponential(table: pd.DataFrame) -> Finding:
    """Check that e^(−cSε²) fits over people, better than any power of S."""
    c, line = _exponent(table)
    x, y = line.x * _VOTES_OVER_PEOPLE.epsilon**2, np.log(line.y)
    off = {
        name: float(np.std(y - np.polyval(np.polyfit(by, y, 1), by)))
        for name, by in (("exponential", x), ("power", np.log(x)))
    }
    return Finding(
        c.is_above(0, 3) and off["exponential"] < off["power"],
        f"With {_VOTES_OVER_PEOPLE.items} numbers each and ε = {_VOTES_OVER_PEOPLE.epsilon:g} the "
        f"error over {line.x[0]:g} to {line.x[-1]:g} people is e^(−cSε²) with c = {c}; logarithms "
        f"miss that line by {off['exponential']:.2f} and the best power of S by "
        f"{off['power']:.2f} (standard deviations). The slides give no constant.",
    )


RATES = Exhibit(
    "rates",
    "Table of rates: a mean of numbers, by who is trusted",
    "S people or sites with n numbers each in [0, 1], δ = 0. In each setting one symbol is moved "
    "at a time and the measured error held against the power that the slides give; both start at "
    "1. Constants are not part of a rate. Where nobody is trusted and people with few numbers are "
    "protected, ε goes up to 2.8, so that the votes of some hundred people find the place; for "
    "many numbers the dotted line is 1/ε², which the error leaves behind.",
    _work,
    lambda t: (
        *(_panel(where(t, setting=setting), name) for setting, name in _NAMES.items()),
        _votes_panel(t),
    ),
    (
        Claim("No privacy: 1/(Sn).", _slopes_are("none", "chance")),
        Claim(
            "Nobody trusted, single numbers protected: 1/(Snε²).",
            _slopes_are("local_item", "privacy"),
        ),
        Claim(
            "Nobody trusted, people protected, few numbers each: 1/(Snε²).",
            _slopes_are("local_user_small_n", "privacy"),
        ),
        Claim(
            "The same with many numbers each: more numbers do not help any more.",
            _slopes_are("local_user_large_n", "privacy"),
        ),
        Claim(
            "There the error falls exponentially, like e^(−Sε²), and not like a power of ε.",
            _falls_beyond_powers,
        ),
        Claim(
            "There it falls exponentially over people, too: e^(−cSε²) with a constant c.",
            _falls_like_an_exponential,
        ),
        Claim(
            "One trusted centre, single numbers protected, while privacy noise dominates: "
            "1/(S²n²ε²).",
            _slopes_are("central_item", "privacy"),
        ),
        Claim(
            "One trusted centre, single numbers protected, while sampling error dominates: 1/(Sn).",
            _slopes_are("central_item", "chance"),
        ),
        Claim(
            "One trusted centre, people protected, few numbers each: 1/(S²nε²).",
            _slopes_are("central_user", "privacy"),
        ),
        Claim(
            "Each site trusted, while privacy noise dominates: 1/(Sn²ε²).",
            _slopes_are("site", "privacy"),
        ),
        Claim(
            "Each site trusted, while sampling error dominates: 1/(Sn).",
            _slopes_are("site", "chance"),
        ),
    ),
    tuple(
        {"setting": setting, "rate": name.partition(": ")[2]} for setting, name in _NAMES.items()
    ),
    row=_row,
    extent="up to constants, ε up to 1",
)

PAPER = Paper(
    "univariate_means",
    "Average numbers under privacy",
    "Lecture slides on optimal federated learning under differential privacy (Y. Yu)",
    (RATES,),
    order=20,
)
