"""Remark 6: what noise shaped by the radii saves as basis functions are added."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.noise.gaussian import anisotropic_scales, isotropic_scales
from engine.privacy import accounting
from reproductions.drawing import curve, ends, log, look, panel
from reproductions.evidence import digits, slope, where, within
from reproductions.exhibits import Call, Claim, Exhibit, Panel, Row, Work
from reproductions.functional_mean.designs import DELTA

_PEOPLE, _EPSILON, _SMOOTHNESS = 1000, 1.0, 3.0
_FEW, _MANY = 10, 100_000_000  # observations per curve
_LAWS = {"shaped": anisotropic_scales, "round": isotropic_scales}
_GROWS_FROM = 9  # functions: below, the first radius is most of the sum


def noise_rows(most: int) -> list[Row]:
    """Compute E‖noise‖² of a mean gradient over the number of functions, for both laws.

    Radii are √(log n/m) + l^−α, sensitivities 2R_l/n, and both laws have exactly the same μ.
    """
    mu = accounting.exact_mu(_EPSILON, DELTA)
    rows: list[Row] = []
    for m in (_FEW, _MANY):
        radii = np.sqrt(np.log(_PEOPLE) / m) + np.arange(1.0, most + 1) ** -_SMOOTHNESS
        rows += [
            {
                "m": m,
                "functions": r,
                **{
                    name: digits(float((scales(2 * radii[:r] / _PEOPLE, mu) ** 2).sum()))
                    for name, scales in _LAWS.items()
                },
            }
            for r in range(1, most + 1, 2)
        ]
    return rows


def _draw(table: pd.DataFrame) -> tuple[Panel, ...]:
    panels = []
    for m in (_FEW, _MANY):
        rows = where(table, m=m)
        series = [
            curve(name, rows["functions"], rows[law], look(role, dash, marker))
            for law, name, role, dash, marker in (
                ("shaped", "shaped by the radii", "gradient", "solid", "circle"),
                ("round", "standard, round", "without", "8px,3px", "square"),
            )
        ]
        panels.append(
            panel(
                f"{m} observations each" if m == _FEW else "Dense curves, m = 10⁸",
                series,
                log("Basis functions r (log scale)"),
                log("Squared noise (log scale)"),
                f"Squared noise of one mean gradient over basis functions, {m} observations on "
                f"each curve. {ends(series, '.2g')}.",
            )
        )
    return tuple(panels)


def _growth(table: pd.DataFrame) -> dict[str, float]:
    """Fit the powers of r by which the squared noise of both laws grows on dense curves."""
    rows = where(table, m=_MANY)
    rows = rows[rows["functions"] >= _GROWS_FROM]
    powers = {law: slope(rows["functions"], rows[law]) for law in _LAWS}
    last = rows.iloc[-1]
    return {
        **powers,
        "apart": powers["round"] - powers["shaped"],
        "ratio": last["round"] / last["shaped"],
        "functions": last["functions"],
    }


REMARK_6 = Exhibit(
    "remark-6",
    "Remark 6: standard noise grows with the number of functions",
    "Squared noise in one mean gradient of 1000 people at (1, 0.001) over the number of basis "
    "functions, by radii √(log n/m) + l^(−3): with independent noise shaped by the radii, and with "
    "the standard round law. Both have exactly the same μ.",
    lambda form: Work(calls=(Call(noise_rows, (65 if form == "quick" else 257,)),)),
    _draw,
    (
        Claim(
            "With the standard Gaussian mechanism the term 1/(n²ε²), free of r, is not reached: "
            "its squared noise loses a factor r, the noise √r.",
            within(
                _growth,
                0.9,
                1.1,
                of="apart",
                text="On dense curves squared noise grows like r^{shaped:.2f} when shaped and like "
                "r^{round:.2f} when round; at r = {functions:g} the round law has {ratio:.3g} "
                "times as much.",
            ),
        ),
    ),
    extent="orders in r, many observations per curve",
)

EXHIBITS: tuple[Exhibit, ...] = (REMARK_6,)
