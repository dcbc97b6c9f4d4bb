"""Tables 5 to 8: where one regime gives way to another."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from engine.rates.functional_mean import CurveRate, FunctionalMeanRate, VaryingCoefficientsRate
from engine.rates.trusted import Trust
from reproductions.drawing import Scale, curve, log, panel, styles
from reproductions.evidence import Check, digits, groups, tell, where
from reproductions.exhibits import Call, Claim, Exhibit, Finding, Form, Panel, Row, Work
from reproductions.functional_mean.rates import PEOPLE, TERMS

_ALPHA = 3.0
_LETTERS = {
    "A": ("II", "IV", "m"),
    "B": ("I", "III", "m"),
    "C": ("II", "I", "epsilon"),
    "D": ("IV", "III", "epsilon"),
    "E": ("II", "III", "epsilon"),
}
_SAME = 1e-6
# As printed, with S = 1 for one trusted centre and d = 1 for a mean.
_PRINTED: dict[str, Callable[[float, float, float, float, float], float]] = {
    "A": lambda n, m, s, d, e: d ** (-1 / _ALPHA) * (s * n**2 * e**2) ** (1 / _ALPHA),
    "B": lambda n, m, s, d, e: (s * n) ** (1 / (2 * _ALPHA)),
    "C": lambda n, m, s, d, e: (
        d**0.5
        * s ** (1 / (4 * _ALPHA + 2))
        * n ** (-_ALPHA / (2 * _ALPHA + 1))
        * m ** (1 / (4 * _ALPHA + 2))
    ),
    "D": lambda n, m, s, d, e: d**0.5 * n**-0.5,
    "E": lambda n, m, s, d, e: (
        d**0.5 * s ** (1 / (2 * _ALPHA)) * n ** ((1 - _ALPHA) / (2 * _ALPHA)) * m**-0.5
    ),
}
_FORMULAS = {
    "A": "m = d^(−1/α) (Sn²ε²)^(1/α)",
    "B": "m = (Sn)^(1/(2α))",
    "C": "ε = d^(1/2) S^(1/(4α+2)) n^(−α/(2α+1)) m^(1/(4α+2))",
    "D": "ε = d^(1/2) n^(−1/2)",
    "E": "ε = d^(1/2) S^(1/(2α)) n^((1−α)/(2α)) m^(−1/2)",
}
_SEPARATES = {
    "A": "privacy on sparse and on dense curves",
    "B": "sparse and dense curves without privacy",
    "C": "privacy and chance on sparse curves",
    "D": "privacy and chance on dense curves",
    "E": "privacy on sparse curves and the number of people",
}


def borders(notion: Trust, sites: float, d: float, points: int) -> list[Row]:
    """Compute the printed border and where the two terms really cross, over people; α = 3.

    Each is taken where it separates regimes: C at few observations, E at more, D at many, A at an ε
    below D, B at an ε where privacy costs nothing.
    """
    rows: list[Row] = []
    for n in np.geomspace(100, 1e6, points).round().tolist():
        people = sites * n
        readings = {"C": people ** (1 / 12), "E": people**0.25, "D": people**0.5}
        for letter, (_, _, symbol) in _LETTERS.items():
            m = readings.get(letter, 5.0)
            epsilon = 0.3 * (d / n) ** 0.5 if letter == "A" else 20.0
            rows.append(
                {
                    "border": letter,
                    "symbol": symbol,
                    "n": n,
                    "m": digits(m),
                    "S": sites,
                    "d": d,
                    "epsilon": digits(epsilon),
                    **_compared(notion, letter, n, m, sites, d, epsilon),
                }
            )
    return rows


def _compared(
    notion: Trust, letter: str, n: float, m: float, sites: float, d: float, epsilon: float
) -> dict[str, float | bool | None]:
    rate, point = _rate(notion, d), {"n": n, "m": m, "S": sites, "epsilon": epsilon}
    if d > 1:
        point["d"] = d
    crossing = _crossing(rate, letter, point)
    sizes = rate.evaluate(**{**point, _LETTERS[letter][2]: crossing})
    two = [TERMS.index(term) for term in _LETTERS[letter][:2]]
    printed = _PRINTED[letter](n, m, sites, d, epsilon)
    return {
        "printed": digits(printed, 10),
        "crossing": digits(crossing, 10),
        "separates": bool(sizes[two].min() >= sizes.max() * (1 - _SAME)),
    }


def _rate(notion: Trust, d: float) -> CurveRate:
    if d > 1:
        return VaryingCoefficientsRate(privacy=notion, smoothness=_ALPHA)
    return FunctionalMeanRate(privacy=notion, smoothness=_ALPHA)


def _crossing(rate: CurveRate, letter: str, point: dict[str, float]) -> float:
    """Find where the two terms are equal, by a root of the difference of their logarithms."""
    first, second, symbol = _LETTERS[letter]

    def gap(log: float) -> float:
        sizes = np.log(rate.evaluate(**{**point, symbol: math.exp(log)}))
        return float(sizes[TERMS.index(first)] - sizes[TERMS.index(second)])

    return math.exp(brentq(gap, -40.0, 40.0, xtol=1e-13))


# -- drawings and claims ------------------------------------------------------------------------


def _draw(table: pd.DataFrame) -> tuple[Panel, ...]:
    return (
        _panel(where(table, symbol="epsilon"), "Borders in ε", log("Privacy budget ε (log scale)")),
        _panel(
            where(table, symbol="m"), "Borders in observations", log("Observations m (log scale)")
        ),
    )


def _panel(table: pd.DataFrame, title: str, scale: Scale) -> Panel:
    borders = {letter: rows for (letter,), rows in groups(table, ["border"])}
    series = []
    for (letter, rows), (shade, dash, marker) in zip(
        borders.items(), styles(len(borders)), strict=True
    ):
        series += [
            curve(
                f"{letter}, printed",
                rows["n"],
                rows["printed"],
                (shade, dash, "circle"),
                mode="lines",
            ),
            curve(
                f"{letter}, where the terms cross",
                rows["n"],
                rows["crossing"],
                (shade, "solid", marker),
                mode="markers",
            ),
        ]
    ranges = tell(
        {
            f"{letter}, {_SEPARATES[letter]}": "{:.3g} to {:.3g}".format(
                *rows["printed"].iloc[[0, -1]]
            )
            for letter, rows in borders.items()
        },
        "{0}: {1}",
        "; ",
    )
    n = table["n"]
    return panel(
        title,
        series,
        PEOPLE,
        scale,
        f"Borders from {n.iloc[0]:g} to {n.iloc[-1]:g} people on each site. {ranges}.",
    )


def _is_where_terms_cross(letter: str) -> Check:
    def check(table: pd.DataFrame) -> Finding:
        rows = where(table, border=letter)
        gap = (rows["printed"] / rows["crossing"] - 1).abs().max()
        separates = rows["separates"].astype(bool)
        return Finding(
            bool(gap < _SAME and separates.all()),
            f"At {len(rows)} sizes formula and crossing differ by at most "
            f"{max(gap, 1e-9):.0e} of their value; at {separates.sum()} of them these "
            "two terms are the largest.",
        )

    return check


def _table(number: int, title: str, notion: Trust, sites: float, d: float) -> Exhibit:
    def work(form: Form) -> Work:
        return Work(calls=(Call(borders, (notion, sites, d, 9 if form == "quick" else 33)),))

    claims = tuple(
        Claim(
            f"{letter}, between {_SEPARATES[letter]}: {_FORMULAS[letter]}.",
            _is_where_terms_cross(letter),
        )
        for letter in _LETTERS
    )
    return Exhibit(
        f"table-{number}",
        f"Table {number}: {title}",
        f"Borders between the four regimes for smoothness α = 3, S = {sites:g} and d = {d:g}, over "
        "people on each site: lines as printed, markers where the two terms of the rate are equal. "
        "C, D and E are drawn at few, many and a middle number of observations, where they "
        "separate regimes.",
        work,
        _draw,
        claims,
        extent="orders, without constants and logarithms",
    )


EXHIBITS: tuple[Exhibit, ...] = (
    _table(5, "borders for a mean curve, one trusted centre", Trust.CENTRAL, 1.0, 1.0),
    _table(6, "borders for a mean curve, each site trusted", Trust.FEDERATED, 10.0, 1.0),
    _table(7, "borders for varying coefficients, one trusted centre", Trust.CENTRAL, 1.0, 3.0),
    _table(8, "borders for varying coefficients, each site trusted", Trust.FEDERATED, 10.0, 3.0),
)
