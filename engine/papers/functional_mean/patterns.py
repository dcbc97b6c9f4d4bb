"""Figures 2, 5 and 7: errors of Algorithm 1 over ε, readings and people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from engine.exhibits import Claim, Exhibit, Finding, Form, Panel, Work
from engine.experiments import Run
from engine.figures import exhibits as figures
from engine.figures.exhibits import Series, styles
from engine.papers.evidence import (
    Line,
    Number,
    Table,
    average,
    fall,
    lines,
    log_slope,
    values,
    where,
)
from engine.papers.functional_mean.designs import (
    ERROR,
    HIGH,
    LOW,
    PEOPLE,
    READINGS,
    cells,
    joined,
    row,
    series_of,
)
from engine.theme import Theme, colour

_GROUPS = {"small ε": LOW, "large ε": HIGH}
_LITTLE = math.log2(0.75)  # power of m at which twice as many readings take a quarter off
_SPARSE_REASON = ("At small ε the error is privacy's, and the part that comes from few readings "
                  "falls like 1/m; it is flat only where chance rules, from ε = 3 on.")
_SHAPE_REASON = ("Lemma 1 prints 4 log(2/δ), about twice what the standard mechanism pays, and "
                 "with few readings the radii are so even that the shape saves at most 4 %. With "
                 "exact noise the shape never costs more.")


# -- figures 2 and 5 ----------------------------------------------------------------------------


def _two_sweeps(mean: str, estimator: str, form: Form) -> Work:
    """Readings at 250 people, and people at 10 readings; our default beside it for mu1."""
    epsilons = LOW + HIGH if form == "full" else (0.5, 0.7, 1.0, 3.0, 5.0, 8.0)
    readings = range(2, 21, 2) if form == "full" else (2, 4, 6, 8, 12, 14, 16, 18, 20)
    people = range(100, 501, 50) if form == "full" else (100, 150, 200, 300, 400, 500)
    work = [cells(estimator, epsilons, 250, m, mean, part="readings") for m in readings]
    work += [cells(estimator, epsilons, n, 10, mean, part="people") for n in people]
    if mean == "mu1":
        work += [cells("ours", (1.0, 8.0), 250, m, part="readings") for m in (2, 8, 20)]
        work += [cells("ours", (1.0, 8.0), n, 10, part="people") for n in (100, 250, 500)]
        work += [cells(shape, (0.5, 1.0, 3.0, 5.0), 250, 10, part="noise")
                 for shape in ("published", "standard_noise")]
    return Work(joined(work), Run(repeats=100 if form == "full" else 200, seed=2024))


def _draw_sweeps(estimator: str, table: Table, theme: Theme) -> tuple[Panel, ...]:
    return tuple(
        _panel(where(table, part=part), estimator, along, group, theme)
        for part, along in (("readings", "m"), ("people", "n")) for group in _GROUPS)


def _panel(table: Table, estimator: str, along: str, group: str, theme: Theme) -> Panel:
    shown = [row for row in table if row["epsilon"] in _GROUPS[group]]
    series = _by_epsilon(where(shown, estimator=estimator), along, theme)
    for line, epsilon in _each_epsilon(where(shown, estimator="ours"), along):
        series.append(series_of(f"our default, ε = {epsilon:g}", line, colour("without", theme),
                              "solid", "square"))
    what, scale, fixed = {"m": ("Readings", READINGS, "250 people"),
                          "n": ("People", PEOPLE, "10 readings on each curve")}[along]
    return Panel(f"{what}, {group}", figures.lines(
        series, scale, ERROR, theme, _alt(series, f"With {fixed}", what.lower())))


def _by_epsilon(table: Table, along: str, theme: Theme) -> list[Series]:
    """A line for each ε, stronger for larger ones."""
    found = _each_epsilon(table, along)
    return [series_of(f"ε = {epsilon:g}", line, *style)
            for (line, epsilon), style in zip(found, styles(len(found), theme), strict=True)]


def _each_epsilon(table: Table, along: str) -> list[tuple[Line, float]]:
    return [(Line.of(table, along, epsilon=epsilon), epsilon)
            for epsilon in values(table, "epsilon")]


def _alt(series: Sequence[Series], fixed: str, what: str) -> str:
    told = "; ".join(f"{one.name}: {one.y[0]:.3g} to {one.y[-1]:.3g}" for one in series)
    return (f"{fixed}, mean squared errors from {series[0].x[0]:g} to {series[0].x[-1]:g} {what}. "
            f"{told}.")


# -- what is claimed ----------------------------------------------------------------------------


def _falls(along: str, by: str, table: Table, **at: str) -> Finding:
    """Errors of the published algorithm go down along one column, in every line."""
    rows = [row for row in table if row["estimator"] != "ours" and row.get("part") != "noise"]
    found = fall([line for part in ("readings", "people")
                  for line in lines(where(rows, part=part), along, by.split(), **at)
                  if len(line.x) > 1 and along in ("epsilon", _MOVED[part])])
    return Finding(found.holds(), f"In every sweep {found}.")


_MOVED = {"readings": "m", "people": "n"}


def _power_of_readings(group: str, least: float, by: str, table: Table) -> Number:
    """The power of m with which errors fall from `least` readings on, averaged over lines."""
    rows = [row for row in table if row["epsilon"] in _GROUPS[group]
            and row["estimator"] not in ("ours", "standard_noise")
            and row.get("part", "readings") == "readings"]
    return average([log_slope(line.between(least, 1e9))
                    for line in lines(rows, "m", by.split())])


def _little(group: str, least: float, by: str, table: Table) -> Finding:
    power = _power_of_readings(group, least, by, table)
    saved = 100 * (1 - 2**power.value)
    return Finding(power.value >= _LITTLE - 2 * power.se,
                   f"From {least:g} readings on the error goes like m to the power {power}: twice "
                   f"as many take {saved:.0f} % off. “Little” is 25 % at most, and two standard "
                   "errors are allowed for.")


def _shape_saves(table: Table) -> Finding:
    """Noise shaped by the radii against equal noise, both as printed."""
    rows = where(table, part="noise")
    shaped, equal = (Line.of(rows, "epsilon", estimator=name)
                     for name in ("published", "standard_noise"))
    ratios = shaped.y / equal.y
    return Finding(bool((ratios < 1).all()),
                   f"At 250 people with 10 readings, printed shaped noise gives {ratios.min():.2f} "
                   f"to {ratios.max():.2f} times the error of the standard mechanism "
                   f"(ε = {shaped.x[0]:g} to {shaped.x[-1]:g}).")


def _pattern() -> tuple[Claim, ...]:
    return (Claim("The error falls as ε grows.", partial(_falls, "epsilon", "m n")),
            Claim("The error falls with more readings on each curve.",
                  partial(_falls, "m", "epsilon")),
            Claim("The error falls with more people.", partial(_falls, "n", "epsilon")),
            Claim("Beyond about 12 readings more of them bring little (ε from 3 to 8).",
                  partial(_little, "large ε", 12, "epsilon")))


FIGURE_2 = Exhibit(
    "figure-2", "Figure 2: errors over readings, people and ε, smooth wave",
    "Mean squared error of Algorithm 1 for μ₁, a wave of one turn, with 250 people and 2 to 20 "
    "readings each, and with 10 readings and 100 to 500 people; δ = 0.001, bars of two standard "
    "errors. The paper gives no η and no projection; here η = 0.05, one logarithm in the radii and "
    "none. Our default is drawn beside it at the same (ε, δ).",
    partial(_two_sweeps, "mu1", "published"), partial(_draw_sweeps, "published"),
    (*_pattern(), Claim("Noise shaped by the radii costs substantially less than the standard "
                        "Gaussian mechanism.", _shape_saves, _SHAPE_REASON)), row=row)

FIGURE_5 = Exhibit(
    "figure-5", "Figure 5: errors over readings, people and ε, rising bend",
    "As Figure 2, for μ₂, a curve that does not end where it began, with as many waves as the "
    "paper's formula says: three or four. A power in the printed μ₂ cannot be read; here it is 4 "
    "(with 2 the error differs by less than 1 %). What the waves cannot follow leaves at least "
    "0.0167. With the fourth wave, from 150 to 200 people, noise grows and nothing is gained.",
    partial(_two_sweeps, "mu2", "by_rule"), partial(_draw_sweeps, "by_rule"), _pattern(), row=row)


# -- figure 7 -----------------------------------------------------------------------------------


def _readings(form: Form) -> Work:
    epsilons = LOW + HIGH if form == "full" else (0.5, 0.7, 1.0, 3.0, 5.0, 8.0)
    readings = range(2, 26) if form == "full" else (2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 25)
    work = [cells("published", epsilons, n, m) for n in (300, 800) for m in readings]
    return Work(joined(work), Run(repeats=200, seed=2025))


def _draw_readings(table: Table, theme: Theme) -> tuple[Panel, ...]:
    panels = []
    for n in (300, 800):
        for group, members in _GROUPS.items():
            series = _by_epsilon([row for row in where(table, n=n) if row["epsilon"] in members],
                                 "m", theme)
            panels.append(Panel(f"{n} people, {group}", figures.lines(
                series, READINGS, ERROR, theme, _alt(series, f"With {n} people", "readings"))))
    return tuple(panels)


def _falls_with_readings(table: Table) -> Finding:
    found = fall(lines(table, "m", ["n", "epsilon"]))
    return Finding(found.holds(), f"With 2 to 25 readings {found}.")


FIGURE_7 = Exhibit(
    "figure-7", "Figure 7: how many readings are enough",
    "Mean squared error of Algorithm 1 for μ₁ with 300 and 800 people and 2 to 25 readings on each "
    "curve; δ = 0.001, bars of two standard errors.",
    _readings, _draw_readings,
    (Claim("The error falls with more readings on each curve.", _falls_with_readings),
     Claim("Beyond about 10 readings the error is flat, ε from 3 to 8.",
           partial(_little, "large ε", 10, "n epsilon")),
     Claim("Beyond about 10 readings the error is flat, ε from 0.5 to 1.",
           partial(_little, "small ε", 10, "n epsilon"), _SPARSE_REASON)), row=row)


EXHIBITS: tuple[Exhibit, ...] = (FIGURE_2, FIGURE_5, FIGURE_7)
