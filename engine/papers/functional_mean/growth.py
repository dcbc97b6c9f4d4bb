"""Figures 3, 6 and 8: how errors fall with people, over people and ε, and with the tuning."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from engine.exhibits import Claim, Exhibit, Finding, Form, Panel, Row, Work
from engine.experiments import Outcome, Run
from engine.figures import exhibits as figures
from engine.figures.exhibits import Scale, styles
from engine.papers.evidence import (
    Line,
    Number,
    Table,
    average,
    change,
    fall,
    lines,
    log_slope,
    values,
    where,
)
from engine.papers.functional_mean.designs import (
    ERROR,
    PEOPLE,
    PUBLISHED,
    cells,
    joined,
    measured,
    row,
    series_of,
)
from engine.theme import Theme, colour

# -- figure 3 -----------------------------------------------------------------------------------

_SHOWN = (1.0, 3.0, 4.0, 8.0)
_BEND = 800  # people: where the line is cut in two
_PRIVATE, _NOT_PRIVATE = -1.81, -1.06  # average slopes in the paper
_MOST_OF_OURS = 1200  # people: what ours costs is shown by then
_MARGIN = 0.15  # of a slope: reading of what the paper leaves open
_TITLES = {"published": "One logarithm in the radii", "printed": "Squared logarithm, as printed",
           "ours": "Our default"}
_LOG_REASON = (
    "The paper prints a squared logarithm in the clipping radii and does not give η. With the "
    "square and η = 0.05 noise outweighs chance at every n shown, so the line for ε = 8 stays "
    "steep. With one logarithm it does not.")
_ROUNDS_REASON = (
    "With steps of 0.1 and 4 log n rounds, what the rounds leave undone falls like n^−0.84 and is "
    "more than chance. A slope of −1 takes 4.75 log n rounds or larger steps.")


def _slopes(form: Form) -> Work:
    """With ⌊n^{1/3}⌋ readings each: on the edge of the dense curves of Figure 1."""
    sizes = range(200, 3601, 200)
    few = sizes if form == "full" else (200, 600, 1200, 2400, 3600)
    work = [cells("published", _SHOWN, n, _third_root(n)) for n in sizes]
    work += [cells("printed", _SHOWN, n, _third_root(n)) for n in few]
    work += [cells("ours", (1.0, 8.0), n, _third_root(n)) for n in few if n <= _MOST_OF_OURS]
    return Work(joined(work), Run(repeats=200, seed=2026))


def _third_root(n: int) -> int:
    """⌊n^{1/3}⌋; the third root of 1000 is 10."""
    return math.floor(float(n ** (1 / 3)) + 1e-9)


def _with_quiet(outcome: Outcome) -> Row:
    """The error with and without noise."""
    return {**row(outcome), **measured(outcome, "estimation_error", "quiet", "quiet_se")}


def _draw_slopes(table: Table, theme: Theme) -> tuple[Panel, ...]:
    return tuple(_slope_panel(where(table, estimator=name), title, theme)
                 for name, title in _TITLES.items())


def _slope_panel(table: Table, title: str, theme: Theme) -> Panel:
    chosen = values(table, "epsilon")
    series = [series_of(f"ε = {epsilon:g}", Line.of(table, "n", epsilon=epsilon), *style)
              for epsilon, style in zip(chosen, styles(len(chosen), theme), strict=True)]
    quiet = _quiet(table)
    series.append(series_of("same steps, no noise", quiet, colour("without", theme), "1px,3px",
                            "x"))
    slopes = "; ".join(f"ε = {epsilon:g}: {log_slope(Line.of(table, 'n', epsilon=epsilon))}"
                       for epsilon in chosen)
    return Panel(title, figures.lines(series, PEOPLE, ERROR, theme,
                 f"Mean squared error from {quiet.x[0]:g} to {quiet.x[-1]:g} people. Slopes on log "
                 f"scales: {slopes}; without noise: {log_slope(quiet)}."))


def _quiet(table: Table) -> Line:
    """The error without noise, which is the same at every ε."""
    return Line.of(table, "n", "quiet", "quiet_se", epsilon=values(table, "epsilon")[0])


def _slope_is(estimator: str, epsilon: float, printed: float, table: Table) -> Finding:
    slope = log_slope(Line.of(table, "n", estimator=estimator, epsilon=epsilon))
    return Finding(slope.near(printed, _MARGIN),
                   f"The slope at ε = {epsilon:g} is {slope}, against {printed:g} in the paper; "
                   f"{_MARGIN:g} and two standard errors are allowed for.".replace(" -", " −"))


def _bends(table: Table) -> Finding:
    """The first half is steeper than the second, for ε = 3 and 4."""
    told, holds = [], True
    for epsilon in (3.0, 4.0):
        line = Line.of(table, "n", estimator="published", epsilon=epsilon)
        first, second = (log_slope(line.between(*ends)) for ends in ((0, _BEND), (_BEND, 1e9)))
        bend: Number = first - second
        holds = holds and bend.value + 2 * bend.se < 0
        told.append(f"ε = {epsilon:g}: {first} and {second}")
    return Finding(holds, f"Slopes up to and from {_BEND} people: {'; '.join(told)}.")


def _without_noise(table: Table) -> Finding:
    slope = log_slope(_quiet(where(table, estimator="published")))
    return Finding(slope.near(-1.0, 0.0, errors=3), f"Without any noise the slope is {slope}.")


FIGURE_3 = Exhibit(
    "figure-3", "Figure 3: from privacy to chance as people join",
    "Mean squared error of Algorithm 1 for μ₁ with n people and ∛n readings each, δ = 0.001. "
    "In theory the error falls like 1/(n²ε²) while privacy rules and like 1/n after that, so the "
    "slope goes from −2 to −1, sooner for large ε.",
    _slopes, _draw_slopes,
    (Claim("At ε = 1 the error falls along one line, nearly like n^−2 (average slope −1.81).",
           partial(_slope_is, "published", 1.0, _PRIVATE)),
     Claim("At ε = 8 it falls along one line, nearly like 1/n (average slope −1.06).",
           partial(_slope_is, "published", 8.0, _NOT_PRIVATE)),
     Claim("At ε = 3 and 4 the line bends: it is steeper for few people.", _bends),
     Claim("With the radii as printed, too, the slope at ε = 8 is about −1.06.",
           partial(_slope_is, "printed", 8.0, _NOT_PRIVATE), _LOG_REASON),
     Claim("Where privacy costs nothing the algorithm attains the rate 1/n.", _without_noise,
           _ROUNDS_REASON)),
    ({"where": "privacy rules", "slope": _PRIVATE}, {"where": "chance rules",
                                                     "slope": _NOT_PRIVATE}), row=_with_quiet)


# -- figure 6 -----------------------------------------------------------------------------------

_READINGS = (2, 6, 10, 15)
_TICKS = (math.exp(-3), math.exp(3))  # of the colours in the paper


def _map(form: Form) -> Work:
    epsilons = np.round(np.linspace(0.2, 2.0, 10 if form == "full" else 7), 2).tolist()
    people = range(200, 1501, 100) if form == "full" else (200, 300, 500, 700, 900, 1200, 1500)
    work = [cells("published", epsilons, n, m) for m in _READINGS for n in people]
    return Work(joined(work), Run(repeats=200, seed=2027))


def _draw_map(table: Table, theme: Theme) -> tuple[Panel, ...]:
    logs = [math.log(row["error"]) for row in table]
    limits = (min(logs), max(logs))
    return tuple(_map_panel(where(table, m=m), m, limits, theme) for m in _READINGS)


def _map_panel(table: Table, m: int, limits: tuple[float, float], theme: Theme) -> Panel:
    people, epsilons = values(table, "n"), values(table, "epsilon")
    logs = {(row["n"], row["epsilon"]): math.log(row["error"]) for row in table}
    z = [[round(logs[n, epsilon], 3) for n in people] for epsilon in epsilons]
    corners = (z[0][0], z[-1][-1])
    return Panel(f"{m} readings each", figures.heat(
        people, epsilons, z, ("People n", "Protection (ε)", "log mean squared error"), theme,
        f"Logarithm of the mean squared error with {m} readings on each curve: from "
        f"{corners[0]:.1f} at {people[0]} people and ε = {epsilons[0]:g} down to {corners[1]:.1f} "
        f"at {people[-1]} and {epsilons[-1]:g}.", limits))


def _map_falls(along: str, by: str, table: Table) -> Finding:
    found = fall(lines(table, along, by.split()))
    return Finding(found.holds(), f"Over the map {found}.")


def _gain(table: Table, start: int, end: int) -> Number:
    """Change of log error between two numbers of readings, averaged over the map."""
    return average([change(line, start, end) for line in lines(table, "m", ["n", "epsilon"])])


def _first_readings_help_most(table: Table) -> Finding:
    first, last = _gain(table, 2, 6), _gain(table, 10, 15)
    return Finding(last.value - first.value > 3 * math.hypot(first.se, last.se),
                   f"Averaged over the map errors fall {math.exp(-first.value):.2f}-fold from 2 to "
                   f"6 readings and {math.exp(-last.value):.2f}-fold from 10 to 15.")


def _colours(table: Table) -> Finding:
    errors = [row["error"] for row in table]
    return Finding(min(errors) < _TICKS[0] and max(errors) > _TICKS[1],
                   f"Errors go from e^{math.log(min(errors)):.1f} to e^{math.log(max(errors)):.1f}."
                   .replace("-", "−"))


FIGURE_6 = Exhibit(
    "figure-6", "Figure 6: maps over people and ε",
    "Logarithm of the mean squared error of Algorithm 1 for μ₁, from few people and a strict ε "
    "(bottom left) to many and a loose one, with 2, 6, 10 and 15 readings on each curve and the "
    "same colours in all four; δ = 0.001.",
    _map, _draw_map,
    (Claim("The error falls with more people.", partial(_map_falls, "n", "m epsilon")),
     Claim("The error falls as ε grows.", partial(_map_falls, "epsilon", "m n")),
     Claim("From 2 to 6 readings the gain is plain, from 10 to 15 modest.",
           _first_readings_help_most),
     Claim("Colours run from below e^−3 to above e^3.", _colours)), row=row)


# -- figure 8 -----------------------------------------------------------------------------------

_TUNING: dict[str, tuple[str, str, tuple[float, ...]]] = {
    "radius_constant": ("Clipping C_R", "C_R", (0.25, 0.5, 0.75, 1.0, 1.25, 1.5)),
    "iterations_constant": ("Rounds C_T", "C_T", (2.0, 3.0, 4.0, 5.0, 6.0)),
    "step_size": ("Step size ρ", "ρ", (0.05, 0.1, 0.15, 0.2, 0.3, 0.5))}
_STABLE = 1.5  # factor within which an error is called stable
_ROUNDS_COST = (
    "Every further round takes people from the others: noise grows like the square of the number "
    "of rounds. At ε = 0.5 it rules; at large ε too few rounds leave the curve unfinished.")
_STEPS_COST = (
    "Noise that stays grows like ρ/(2 − ρ), and ρ multiplies what is left undone. Where privacy "
    "rules small steps err far less, and at ε = 8 the best step is near 0.12.")


def _tuning(form: Form) -> Work:
    epsilons = (0.5, 0.7, 1.0, 3.0, 5.0, 8.0) if form == "full" else (0.5, 1.0, 3.0, 8.0)
    work = [cells("published", epsilons, 250, 10,
                  mechanism=_tuned(name, value), knob=name, value=value)
            for name, (_, _, chosen) in _TUNING.items() for value in chosen]
    return Work(joined(work), Run(repeats=100 if form == "full" else 200, seed=2028))


def _tuned(name: str, value: float) -> Any:
    changed: dict[str, Any] = {name: value}
    return replace(PUBLISHED, **changed)


def _draw_tuning(table: Table, theme: Theme) -> tuple[Panel, ...]:
    panels = []
    for name, (title, sign, _) in _TUNING.items():
        rows = where(table, knob=name)
        chosen = values(rows, "epsilon")
        series = [series_of(f"ε = {epsilon:g}", Line.of(rows, "value", epsilon=epsilon), *style)
                  for epsilon, style in zip(chosen, styles(len(chosen), theme), strict=True)]
        told = "; ".join(f"{one.name}: {one.y[0]:.3g} to {one.y[-1]:.3g}" for one in series)
        panels.append(Panel(title, figures.lines(
            series, Scale(title), ERROR, theme,
            f"Mean squared error over {sign} from {series[0].x[0]:g} to {series[0].x[-1]:g}, 250 "
            f"people with 10 readings. {told}.")))
    return tuple(panels)


def _rises_with_clipping(table: Table) -> Finding:
    """Up from 0.5 to 1.5 at every ε, by a larger factor for small ε."""
    rises = {epsilon: change(Line.of(where(table, knob="radius_constant"), "value",
                                     epsilon=epsilon), 0.5, 1.5)
             for epsilon in values(table, "epsilon")}
    low, high = rises[min(rises)], rises[max(rises)]
    told = ", ".join(f"{math.exp(rise.value):.1f} at ε = {epsilon:g}"
                     for epsilon, rise in rises.items())
    holds = all(rise.value > 3 * rise.se for rise in rises.values()) and (
        (low - high).value > 3 * (low - high).se)
    return Finding(holds, f"From C_R = 0.5 to 1.5 the error is multiplied by {told}. Tighter "
                   "clipping than that bends the curve and costs more at large ε.")


def _is_stable(knob: str, table: Table) -> Finding:
    """No setting errs more than half as much again as the best one at the same ε."""
    sign, worst = _TUNING[knob][1], {}
    for epsilon in values(table, "epsilon"):
        line = Line.of(where(table, knob=knob), "value", epsilon=epsilon)
        worst[epsilon] = change(line, line.x[line.y.argmin()], line.x[line.y.argmax()])
    told = ", ".join(f"{math.exp(one.value):.1f} at ε = {epsilon:g}"
                     for epsilon, one in worst.items())
    holds = all(one.value <= math.log(_STABLE) + 2 * one.se for one in worst.values())
    return Finding(holds, f"The worst {sign} shown errs more than the best by factors of {told}; "
                   f"{_STABLE:g} would be stable.")


FIGURE_8 = Exhibit(
    "figure-8", "Figure 8: what the tuning constants do",
    "Mean squared error of Algorithm 1 for μ₁ with 250 people and 10 readings each, changing one "
    "constant at a time from C_R = 0.75, C_T = 4 and ρ = 0.1; δ = 0.001. The paper does not print "
    "its grids; these are ours.",
    _tuning, _draw_tuning,
    (Claim("The error grows with C_R, less so for large ε.", _rises_with_clipping),
     Claim("The error is stable in C_T.", partial(_is_stable, "iterations_constant"),
           _ROUNDS_COST),
     Claim("The error does not vary significantly with ρ.", partial(_is_stable, "step_size"),
           _STEPS_COST)), row=row)


EXHIBITS: tuple[Exhibit, ...] = (FIGURE_3, FIGURE_6, FIGURE_8)
