"""Experiment 3: how fast exact errors fall along nine paths, beside the rates."""

from __future__ import annotations

import math

from engine.exhibits import Call, Claim, Exhibit, Finding, Form, Panel, Row, Table, Work
from engine.experiments import Cell, Outcome, Run
from engine.figures.exhibits import Scale, Series, lines
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.numerics.signals import SELF_SIMILAR_RADIUS
from engine.papers.comparing import known, numbers, rows_with, slope
from engine.sources.regression_points import RegressionPoints
from engine.theme import Theme, colour, method_style
from engine.types import NON_PRIVATE
from engine.views.wavelet_slopes import PATHS, Path

_MOST_READINGS = {"quick": 14, "full": 18}  # powers of two that are simulated
_CLOSE = 0.05  # from the slope of a rate
# Slopes of exact errors, worked out independently.
KNOWN = {"G1": -.65687, "G2": -.49813, "G3": -.88658, "G4": .48200, "G5": -.44191,
         "P1": -.57926, "P2": -.39617, "P3": -.77057, "P4": .42580}
_PANELS = {"No protection": ("G1", "P1"), "ε falling like 1/√n": ("G2", "P2"),
           "Protection": ("G3", "P3"), "More sites, as many readings": ("G4", "P4"),
           "More sites, more readings": ("G5",)}
_AXES = {"G1": "Readings N", "G2": "Readings of a site n", "G3": "Protection ε",
         "G4": "Sites m", "G5": "Sites m"}
_CURVED = ("Over the range that is shown the clip grows like √log, the error without privacy is "
           "not yet negligible at one end, and levels are whole numbers.")
_BENT = ("G3", "G5", "P3")
_SMOOTHER = ("The paper’s own formula says the opposite: the excess at fixed N goes like "
             "m^(γ/(γ+1)), and γ is smaller for a point than for the whole curve.")


def path_rows(key: str) -> list[Row]:
    """Exact errors along a path."""
    path = _path(key)
    return [{"path": key, "x": x, "exact": float(risk)}
            for x, risk in zip(path.x, path.risks(), strict=True)]


def _path(key: str) -> Path:
    return next(path for path in PATHS if path.key == key)


def _work(form: Form) -> Work:
    cells = tuple(Cell(
        {"path": "G1", "x": 2.0**k}, RegressionPoints(signal="self_similar", n_curves=2**k),
        WaveletGlobal(radius=SELF_SIMILAR_RADIUS), (NON_PRIVATE,) * 16)
        for k in range(10, _MOST_READINGS[form] + 1))
    return Work(cells, Run(100, seed=3), tuple(Call(f"{__name__}:path_rows", (path.key,))
                                               for path in PATHS))


def _row(outcome: Outcome) -> Row:
    found = outcome.summary("total_error") or {}
    return {**outcome.cell.at, "error": found["mean"], "se": found["se"],
            "repeats": outcome.repeats}


def _exact(table: Table, key: str) -> list[Row]:
    return [row for row in rows_with(table, path=key) if "exact" in row]


def _slope(table: Table, key: str) -> float:
    rows = _exact(table, key)
    return slope(numbers(rows, "x"), numbers(rows, "exact"))


# -- drawing ---------------------------------------------------------------------------------------


def _draw(table: Table, theme: Theme) -> tuple[Panel, ...]:
    return tuple(Panel(title, lines(
        [one for key in keys for one in _series(table, key, theme)],
        Scale(_AXES[keys[0]], log=True), Scale("Mean squared error", log=True), theme,
        f"{title}: exact errors and the rates."))
        for title, keys in _PANELS.items())


def _series(table: Table, key: str, theme: Theme) -> list[Series]:
    path, rows = _path(key), _exact(table, key)
    name = "One point" if path.is_pointwise else "Whole curve"
    own = "wavelet_pointwise" if path.is_pointwise else "wavelet_global"
    shade, dash, marker = method_style(own, "wavelet", theme)
    x, y = numbers(rows, "x"), numbers(rows, "exact")
    drawn = [Series(f"{name}, exact", x, list(y), shade,
                    "solid" if own == "wavelet_global" else dash, marker),
             Series(f"Rate, slope {path.theory:+.2f}".replace("-", "−"), x,
                    _rate(x, y, path.theory), colour("without", theme),
                    "8px,3px" if path.is_pointwise else "2px,3px", mode="lines", width=1.5)]
    simulated = [row for row in rows_with(table, path=key) if "error" in row]
    if simulated:
        drawn.append(Series(f"{name}, simulated", numbers(simulated, "x"),
                            known(simulated, "error"), colour("truth", theme), marker="x",
                            se=known(simulated, "se"), mode="markers"))
    return drawn


def _rate(x: list[float], y: list[float], theory: float) -> list[float | None]:
    """A line of this slope through the middle of the path."""
    middle = math.exp(sum(map(math.log, y)) / len(y))
    centre = math.exp(sum(map(math.log, x)) / len(x))
    return [middle * (each / centre) ** theory for each in x]


# -- claims ----------------------------------------------------------------------------------------


def _three_digits(table: Table) -> Finding:
    off = max(abs(_slope(table, key) - stated) for key, stated in KNOWN.items())
    return Finding(off < 5e-4, f"nine slopes, largest difference {off:.1g}")


def _as_in_theory(path: Path) -> Claim:
    def check(table: Table) -> Finding:
        found = _slope(table, path.key)
        return Finding(abs(found - path.theory) < _CLOSE,
                       f"{found:+.3f} beside {path.theory:+.3f}")
    whose = "one point" if path.is_pointwise else "the whole curve"
    return Claim(f"The error of {whose} against {path.what} has the slope of the rate, to 0.05",
                 check, _CURVED if path.key in _BENT else "")


def _simulated(table: Table) -> Finding:
    exact = {row["x"]: float(row["exact"] or 0) for row in _exact(table, "G1")}
    rows = [row for row in rows_with(table, path="G1") if "error" in row]
    apart = [(float(row["error"] or 0) - exact[row["x"]]) / float(row["se"] or 1) for row in rows]
    return Finding(max(map(abs, apart)) < 3.5, f"{len(rows)} sizes of {rows[0]['repeats']} data "
                   f"sets, at most {max(map(abs, apart)):.1f} standard errors apart")


def _spreading(table: Table) -> Finding:
    whole, point = _slope(table, "G4"), _slope(table, "P4")
    return Finding(point > whole, f"the error grows like m^{point:.3f} at a point and like "
                   f"m^{whole:.3f} for the curve")


SLOPES = Exhibit(
    "experiment-3", "Experiment 3: errors beside the rates",
    "Exact errors of the method with the least bound along nine ways through sizes and budgets, "
    "with lines that have the slope of the rate; a curve and a cusp that are exactly as rough as "
    "stated. Crosses are simulated.",
    _work, _draw, (
        Claim("Slopes agree with independently worked-out ones to three digits", _three_digits),
        *(_as_in_theory(path) for path in PATHS),
        Claim("Simulated errors are the exact ones, within 3.5 standard errors", _simulated),
        Claim("Spreading the same readings over more sites costs a single point more than the "
              "whole curve", _spreading, _SMOOTHER)), row=_row)
