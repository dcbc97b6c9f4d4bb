"""Experiment 3: how fast exact errors fall along nine paths, beside the rates."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from engine.core.types import NON_PRIVATE, Array
from engine.figures.theme import method_style
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.numerics.signals import SELF_SIMILAR_RADIUS
from engine.simulation.experiments import Cell, Run
from engine.sources.regression_points import RegressionPoints
from engine.topics.regression.slopes import PATHS, Path
from reproductions.drawing import Series, curve, log, look, panel
from reproductions.evidence import as_exact, slope, when, where, within
from reproductions.exhibits import Call, Claim, Exhibit, Finding, Form, Panel, Reason, Row, Work
from reproductions.federated_wavelets.errors import simulated_row

_MAX_READINGS = {"quick": 14, "full": 18}  # powers of two that are simulated
_CLOSE = 0.05  # from the slope of a rate
# Slopes of exact errors, worked out independently.
KNOWN = {
    "G1": -0.65687,
    "G2": -0.49813,
    "G3": -0.88658,
    "G4": 0.48200,
    "G5": -0.44191,
    "P1": -0.57926,
    "P2": -0.39617,
    "P3": -0.77057,
    "P4": 0.42580,
}
_PANELS = {
    "No protection": ("G1", "P1"),
    "ε falling like 1/√n": ("G2", "P2"),
    "Protection": ("G3", "P3"),
    "More sites, as many observations": ("G4", "P4"),
    "More sites, more observations": ("G5",),
}
_AXES = {
    "G1": "Observations N",
    "G2": "Observations of a site n",
    "G3": "Privacy budget ε",
    "G4": "Sites m",
    "G5": "Sites m",
}
_CURVED = (
    "Over the range that is shown the clip grows like √log, the error without privacy is "
    "not yet negligible at one end, and levels are whole numbers."
)
_BENT = ("G3", "G5", "P3")
_SMOOTHER = (
    "The paper’s own formula says the opposite: the excess at fixed N goes like "
    "m^(γ/(γ+1)), and γ is smaller for a point than for the whole curve."
)


def path_rows(key: str) -> list[Row]:
    """Compute exact errors along a path."""
    path = _path(key)
    return [
        {"path": key, "x": x, "exact": float(risk)}
        for x, risk in zip(path.x, path.risks(), strict=True)
    ]


def _path(key: str) -> Path:
    return next(path for path in PATHS if path.key == key)


def _work(form: Form) -> Work:
    cells = tuple(
        Cell(
            {"path": "G1", "x": 2.0**k},
            RegressionPoints(signal="self_similar", n_curves=2**k),
            WaveletGlobal(radius=SELF_SIMILAR_RADIUS),
            (NON_PRIVATE,) * 16,
        )
        for k in range(10, _MAX_READINGS[form] + 1)
    )
    return Work(cells, Run(100, seed=3), tuple(Call(path_rows, (path.key,)) for path in PATHS))


def _exact(table: pd.DataFrame, key: str) -> pd.DataFrame:
    return where(table, path=key).dropna(subset="exact")


def _slope(table: pd.DataFrame, key: str) -> float:
    rows = _exact(table, key)
    return slope(rows["x"], rows["exact"])


# -- drawing ---------------------------------------------------------------------------------------


def _draw(table: pd.DataFrame) -> tuple[Panel, ...]:
    return tuple(
        panel(
            title,
            [line for key in keys for line in _series(table, key)],
            log(_AXES[keys[0]]),
            log("Mean squared error"),
            f"{title}: exact errors and the rates.",
        )
        for title, keys in _PANELS.items()
    )


def _series(table: pd.DataFrame, key: str) -> list[Series]:
    path, rows = _path(key), _exact(table, key)
    name, mechanism, dash = (
        ("One point", "wavelet_pointwise", "8px,3px")
        if path.is_pointwise
        else ("Whole curve", "wavelet_global", "2px,3px")
    )
    shade, own_dash, marker = method_style(mechanism, "wavelet")
    x, y = rows["x"].to_numpy(), rows["exact"].to_numpy()
    series = [
        curve(f"{name}, exact", x, y, (shade, own_dash if path.is_pointwise else "solid", marker)),
        curve(
            f"Rate, slope {path.theory:+.2f}".replace("-", "−"),
            x,
            _rate(x, y, path.theory),
            look("without", dash),
            mode="lines",
            width=1.5,
        ),
    ]
    simulated = _simulated(table, key)
    if len(simulated):
        series.append(
            curve(
                f"{name}, simulated",
                simulated["x"],
                simulated["error"],
                look("truth", marker="x"),
                simulated["se"],
                mode="markers",
            )
        )
    return series


def _simulated(table: pd.DataFrame, key: str) -> pd.DataFrame:
    """Put simulated errors along a path beside the exact ones."""
    simulated = where(table, path=key).dropna(subset="error").drop(columns="exact")
    return simulated.merge(_exact(table, key)[["x", "exact"]], on="x")


def _rate(x: Array, y: Array, theory: float) -> Array:
    """Draw a line of this slope through the middle of the path."""
    middle, centre = math.exp(np.log(y).mean()), math.exp(np.log(x).mean())
    return np.asarray(middle * (np.asarray(x) / centre) ** theory)


# -- claims ----------------------------------------------------------------------------------------


def _as_in_theory(path: Path) -> Claim:
    def check(table: pd.DataFrame) -> Finding:
        measured = _slope(table, path.key)
        return Finding(
            abs(measured - path.theory) < _CLOSE,
            f"{measured:+.3f} beside {path.theory:+.3f}; {_CLOSE:g} is allowed for",
        )

    subject = "one point" if path.is_pointwise else "the whole curve"
    return Claim(
        f"The error of {subject} against {path.what} has the slope of the rate",
        check,
        _CURVED if path.key in _BENT else "",
        Reason.CRITERION if path.key in _BENT else None,
        place="Corollary 2" if path.is_pointwise else "Corollary 1",
        extent="as sizes grow, up to constants and logarithms",
    )


SLOPES = Exhibit(
    "experiment-3",
    "Experiment 3: errors beside the rates",
    "Exact errors of the method with the least bound along nine ways through sizes and budgets, "
    "with lines that have the slope of the rate; a curve and a cusp that are exactly as rough as "
    "stated. Crosses are simulated.",
    _work,
    _draw,
    (
        Claim(
            "Slopes agree with independently worked-out ones to three digits",
            within(
                lambda t: max(abs(_slope(t, key) - stated) for key, stated in KNOWN.items()),
                high=5e-4,
                text="nine slopes, largest difference {:.1g}",
            ),
            is_ours=True,
        ),
        *(_as_in_theory(path) for path in PATHS),
        Claim(
            "Simulated errors are the exact ones, within 3.5 standard errors",
            as_exact(lambda t: _simulated(t, "G1"), unit="sizes"),
            is_ours=True,
        ),
        Claim(
            "Spreading the same observations over more sites costs a single point more than the "
            "whole curve",
            when(
                lambda x: bool(x[0] > x[1]),
                lambda t: {"point": _slope(t, "P4"), "curve": _slope(t, "G4")},
                "the error grows like m^{point:.3f} at a point and like m^{curve:.3f} for the "
                "curve",
            ),
            _SMOOTHER,
            Reason.MISPRINT,
            place="Text after Corollary 2",
            extent="N and ε fixed",
        ),
    ),
    row=simulated_row,
)
