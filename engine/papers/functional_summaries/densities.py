"""Figures 3 and 4: densities of simulated points at ε = 1.

The paper leaves open n and the bandwidth. Here atoms have width
c n^(−1/(4 + d)) with c = 0.12 on an interval and 0.2 in the plane, and a density is shown as it is
released: what is negative stays. The powers K^η of a kernel are normalised to mass one in the
middle of the range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.signal import find_peaks

from engine.exhibits import Call, Claim, Exhibit, Finding, Form, Panel, Row, Table, Value, Work
from engine.experiments import generator
from engine.families.functional_release import FunctionalRelease
from engine.figures.exhibits import Scale, Series, heat, lines
from engine.mechanisms.bernstein import Bernstein
from engine.mechanisms.frl import Frl
from engine.mechanisms.iclp import Iclp
from engine.metrics import integrated_squared_errors
from engine.numerics.eigensystems import Eigenbasis, Kernel, midpoints
from engine.papers.functional_summaries.drawing import style
from engine.papers.functional_summaries.reading import (
    as_number,
    number,
    numbers,
    rows,
    short,
    spread,
)
from engine.sources.density_points import DensityPoints
from engine.theme import Theme, colour, translucent
from engine.types import Array, Budget, Estimate

PURE = (Budget(1.0),)
_PRIVATE = 10  # releases in each picture of Figure 3
_PLACES, _SQUARE = 51, 18  # where curves, and each axis of maps, are kept
_AXES = (20, 40)  # of the grids on which traces are compared
_PROMINENT = 0.1  # share of the highest value by which a mode stands out


def mechanism(way: str, **chosen: Any) -> FunctionalRelease:
    """A way by its name: "ICLP-QR 1.25" (η), "FRL" or "Bernstein 30" (degree)."""
    name, _, parameter = way.partition(" ")
    common = {"task": "density", "clean": False, **chosen}
    if name == "FRL":
        return Frl(**common)
    if name == "Bernstein":
        return Bernstein(**common, degree=int(parameter), iterations=1)
    return Iclp(**common, eta=float(parameter))


# -- what is run ---------------------------------------------------------------------------------

ON_LINE = ("ICLP-QR 1.25", "ICLP-QR 1.5", "FRL", "Bernstein 10", "Bernstein 30", "Bernstein 50")
IN_PLANE = ("ICLP-QR 1.01", "ICLP-QR 1.05", "ICLP-QR 1.2", "FRL", "Bernstein 5", "Bernstein 10")


def curves(draws: int) -> list[Row]:
    """Two modes on an interval: what each way is like over many releases, and ten of them."""
    source = DensityPoints()
    data, fine = source.draw(1, generator(1, 0, 0)), np.array(midpoints(200).times)
    places = np.linspace(0, 1, _PLACES)
    summary: list[Row] = []
    found: list[dict[str, Value]] = []
    for way in ON_LINE:
        own = mechanism(way)
        estimate = own.release_many(data, [PURE], draws, generator(1, 1, 0))
        released = estimate.on_grid(estimate.coefficients[0, 0], fine)
        quiet = estimate.on_grid(estimate.unprotected[0, 0], fine)
        noise = ((released - quiet)**2).mean(axis=0)
        summary.append({
            "way": way, **_errors(own, source, estimate),
            "modes_without_noise": len(modes(quiet)),
            "two_modes": short(float(np.mean([len(modes(one)) == 2 for one in released]))),
            "noise_in_tails": short(np.sqrt(noise[(fine < 0.1) | (fine > 0.9)].mean()))})
        shown = estimate.on_grid(estimate.coefficients[0, 0, :_PRIVATE], places)
        found += [{"curve": way, "x": short(x), "without": round(float(without), 2), **{
            str(k + 1): round(float(value), 2) for k, value in enumerate(column)}}
            for x, without, column in zip(places, estimate.on_grid(
                estimate.unprotected[0, 0], places), shown.T, strict=True)]
    truth: list[Row] = [{"curve": "truth", "x": short(x), "truth": three_digits(value)}
                        for x, value in zip(places, source.truth.at(places), strict=True)]
    return [*summary, *found, *truth]


def _errors(own: FunctionalRelease, source: DensityPoints, estimate: Estimate) -> dict[str, Value]:
    """Squared errors: without noise from the draws, and the exact energy of the noise."""
    estimation = integrated_squared_errors(estimate, source.truth).estimation
    energy = own.expected_error(source.sizes, PURE, source.facts)
    assert estimation is not None and energy is not None
    found: dict[str, Value] = {"estimation_error": short(float(estimation.mean())),
                               "noise": short(energy)}
    if isinstance(own, Bernstein):
        usual = replace(own, constants="published")
        found["noise_printed"] = short(
            usual.expected_error(source.sizes, PURE, source.facts) or 0.0)
    return found


def modes(curve: Array) -> Array:
    """Places of the modes that stand out by a tenth of the highest value, ends included."""
    padded = np.concatenate([[curve.min()], curve, [curve.min()]])
    return np.asarray(find_peaks(padded, prominence=_PROMINENT * padded.max())[0] - 1)


def three_digits(value: float) -> float:
    return round(float(value), 3)


def maps(draws: int) -> list[Row]:
    """Two modes in the plane: what each way is like, and one release of it on a coarse square."""
    source = DensityPoints(design="two_modes_2d")
    data = source.draw(1, generator(1, 0, 0))
    fine, coarse = midpoints(28, 2), midpoints(_SQUARE, 2)
    truth = source.truth.at(fine.points)
    summary: list[Row] = []
    shown = {"truth": source.truth.at(coarse.points)}
    for way in IN_PLANE:
        own = mechanism(way, kernel="exponential") if way.startswith("ICLP") else mechanism(way)
        estimate = own.release_many(data, [PURE], draws, generator(1, 1, 0))
        released = estimate.on_grid(estimate.coefficients[0, 0], fine.points)
        summary.append({"way": way, **_errors(own, source, estimate),
                        **_peaks(released, truth, fine.points)})
        shown[way] = estimate.on_grid(estimate.coefficients[0, 0, 0], coarse.points)
    cells = [{"x": short(x), "y": short(y), **{way: round(float(each[k]), 1)
                                               for way, each in shown.items()}}
             for k, (x, y) in enumerate(coarse.points)]
    return [*summary, *cells]


def _peaks(released: Array, truth: Array, points: Array) -> dict[str, Value]:
    """Height of the higher mode, how far its place is off, and roughness where nothing is."""
    empty, top = truth < 0.01 * truth.max(), points[truth.argmax()]
    height = released[:, truth.argmax()]
    off = np.sqrt(((points[released.argmax(axis=1)] - top)**2).sum(axis=1))
    return {"height": short(height.mean() / truth.max()), "off_place": short(off.mean()),
            "rough_where_empty": short(float(np.sqrt((released[:, empty]**2).mean())))}


def traces(etas: Sequence[float]) -> list[Row]:
    """The trace of K^(η − 1) in the plane, on a coarse and a fine grid; a finite one settles."""
    kernel = Kernel("exponential", length=0.2 * 5000 ** (-1 / 6))
    found: list[Row] = []
    for size in _AXES:
        eigenvalues = Eigenbasis.whole(kernel, midpoints(size, 2)).eigenvalues
        found += [{"eta": eta, "axis": size, "trace": short(float((eigenvalues**(eta - 1)).sum()))}
                  for eta in etas]
    return found


# -- claims --------------------------------------------------------------------------------------


def _total(table: Table, way: str) -> float:
    (row,) = rows(table, way=way)
    return as_number(row, "estimation_error") + as_number(row, "noise")


def qr_is_like_frl(table: Table) -> Finding:
    frl = _total(table, "FRL")
    ratios = [_total(table, way) / frl for way in ON_LINE[:2]]
    return Finding(max(*ratios, *(1 / one for one in ratios)) < 2,
                   f"Total error of QR over that of FRL: {spread(ratios, '{:.2f}'.format)}.")


def larger_power_is_calmer(table: Table) -> Finding:
    less, more = ([number(table, name, way=way) for name in ("noise", "noise_in_tails")]
                  for way in ON_LINE[:2])
    return Finding(all(b < a for a, b in zip(less, more, strict=True)),
                   f"From η = 1.25 to 1.5 the noise falls from {less[0]:.4f} to {more[0]:.4f}.")


def bernstein_needs_degrees(table: Table) -> Finding:
    found = {way: int(number(table, "modes_without_noise", way=way)) for way in ON_LINE[3:]}
    return Finding(list(found.values()) == [1, 2, 2], "Modes without noise: " + ", ".join(
        f"{count} with {way}" for way, count in found.items()) + "; both modes are in " + ", ".join(
            f"{number(table, 'two_modes', way=way):.0%}" for way in found) + " of releases.")


def bernstein_has_ragged_tails(table: Table) -> Finding:
    tails = {way: number(table, "noise_in_tails", way=way) for way in ON_LINE}
    usual = [tails[way] * np.sqrt(number(table, "noise_printed", way=way) / number(
        table, "noise", way=way)) for way in ON_LINE[4:]]
    return Finding(min(tails[way] for way in ON_LINE[4:]) > max(tails[way] for way in ON_LINE[:3]),
                   "Noise in the tails (root mean square): " + ", ".join(
                       f"{way} {value:.3f}" for way, value in tails.items())
                   + f"; by the usual rule {spread(usual, '{:.2f}'.format)} for Bernstein.")


LINE_CLAIMS = (
    Claim("ICLP-QR is much like FRL.", qr_is_like_frl),
    Claim("A larger η is smoother and varies less.", larger_power_is_calmer),
    Claim("Bernstein needs a degree of 30 or more for two modes.", bernstein_needs_degrees),
    Claim("Bernstein of degree 30 or more has more ragged tails than ICLP-QR and FRL.",
          bernstein_has_ragged_tails,
          "Its noise is made here for the exact change of its lattice values, which has far less "
          "variance than the rule that is usually stated."))


def small_power_is_rough(table: Table) -> Finding:
    rough = [number(table, "rough_where_empty", way=way) for way in IN_PLANE[:3]]
    return Finding(rough[0] > rough[1] > rough[2], "Root mean square where the density is nil, at "
                   "η = 1.01, 1.05, 1.2: " + ", ".join(f"{one:.3f}" for one in rough) + ".")


def large_power_flattens(table: Table) -> Finding:
    height = [number(table, "height", way=way) for way in IN_PLANE[:3]]
    return Finding(height[0] > height[1] > height[2], "Height of the higher mode over the true one "
                   "at η = 1.01, 1.05, 1.2: " + ", ".join(f"{one:.0%}" for one in height) + ".")


def frl_misplaces_peaks(table: Table) -> Finding:
    off = {way: number(table, "off_place", way=way) for way in IN_PLANE[:4]}
    return Finding(off["FRL"] > max(off[way] for way in IN_PLANE[:3]) + 0.02,
                   "The highest place is off by (share of an axis): " + ", ".join(
                       f"{way} {value:.3f}" for way, value in off.items()) + ".")


def bernstein_fails(table: Table) -> Finding:
    worst = max(_total(table, way) for way in IN_PLANE[:3])
    ratios = [_total(table, way) / worst for way in IN_PLANE[4:]]
    return Finding(min(ratios) > 2, f"Its total error is {spread(ratios)} times the largest of "
                                    "ICLP-QR.")


def powers_are_feasible(table: Table) -> Finding:
    coarse, fine = ([number(table, "trace", eta=eta, axis=axis) for eta in ETAS]
                    for axis in _AXES)
    growth = [b / a for a, b in zip(coarse, fine, strict=True)]
    return Finding(max(growth[:3]) < 2, "tr K^(η − 1) with four times as many points, for η = "
                   f"{', '.join(f'{eta:g}' for eta in ETAS)}: " + ", ".join(
                       f"× {one:.2f}" for one in growth) + "; a finite one would not grow.")


ETAS = (1.01, 1.05, 1.2, 2.5)
PLANE_CLAIMS = (
    Claim("A small η is rough where the density is low.", small_power_is_rough),
    Claim("A large η underestimates the peaks.", large_power_flattens),
    Claim("FRL puts the peaks in the wrong place.", frl_misplaces_peaks,
          "With √n cosines, which is not chosen on the data, the highest place is right."),
    Claim("Bernstein fails.", bernstein_fails),
    Claim("The powers η = 1.01, 1.05 and 1.2 are covered by the theorem.", powers_are_feasible,
          "With the exponential kernel in the plane it needs η > 5/3: below that the sensitivity "
          "grows with the grid, and only a coarse one hides it."))


# -- drawings ------------------------------------------------------------------------------------


def line_panels(table: Table, theme: Theme) -> tuple[Panel, ...]:
    truth = numbers(rows(table, curve="truth"), "truth")
    return tuple(_ten(rows(table, curve=way), truth, way, theme) for way in ON_LINE)


def _ten(found: Sequence[Row], truth: Sequence[float], way: str, theme: Theme) -> Panel:
    x = numbers(found, "x")
    every: list[float | None] = []
    for k in range(_PRIVATE):  # one line with gaps, so that the legend names it once
        every += [*numbers(found, str(k + 1)), None]
    shade = translucent(style(way.split()[0], theme)[0], 0.45)
    series = [Series("Released", [*x, x[-1]] * _PRIVATE, every, shade, mode="lines", width=1.2),
              Series("Without noise", x, numbers(found, "without"), colour("without", theme),
                     "4px,3px", mode="lines"),
              Series("Truth", x, truth, colour("truth", theme), mode="lines")]
    alt = f"Ten releases of a density with two modes by {way}, the same without noise, the truth."
    return Panel(way, lines(series, Scale("x"), Scale("Density"), theme, alt))


def plane_panels(table: Table, theme: Theme) -> tuple[Panel, ...]:
    cells = [row for row in table if "x" in row]
    axis = sorted({as_number(row, "x") for row in cells})
    limits = (0.0, max(numbers(cells, "truth")))
    return tuple(_map(cells, axis, way, limits, theme) for way in ("truth", *IN_PLANE))


def _map(cells: Sequence[Row], axis: Sequence[float], way: str, limits: tuple[float, float],
         theme: Theme) -> Panel:
    z = np.array(numbers(cells, way)).reshape(len(axis), len(axis)).T
    title = "Truth" if way == "truth" else way
    chart = heat(axis, axis, z.tolist(), ("x₁", "x₂", "Density"), theme,
                 f"{title}: a density with two modes in the plane.", limits)
    return Panel(title, chart)


# -- the exhibits --------------------------------------------------------------------------------


def _line_work(form: Form) -> Work:
    return Work(calls=(Call(f"{__name__}:curves", (400 if form == "quick" else 20_000,)),))


def _plane_work(form: Form) -> Work:
    return Work(calls=(Call(f"{__name__}:maps", (40 if form == "quick" else 1000,)),
                       Call(f"{__name__}:traces", (ETAS,))))


FIGURE_3 = Exhibit(
    "figure-3", "Figure 3: a density with two modes",
    "Ten releases of 1000 points of 0.6 N(0.3, 0.1²) + 0.4 N(0.7, 0.1²) on [0, 1] at ε = 1, with a "
    "Gaussian kernel of length 0.12 n^(−1/5). FRL keeps the cube root of n functions; in the paper "
    "their number is chosen on the data. Bernstein polynomials are plain, as in the paper.",
    _line_work, line_panels, LINE_CLAIMS)
FIGURE_4 = Exhibit(
    "figure-4", "Figure 4: a density with two modes in the plane",
    "One release of each mechanism from 5000 points at ε = 1, exponential kernel of length "
    "0.2 n^(−1/6), 28 × 28 cells. "
    "FRL keeps √n functions; in the paper their number is chosen on the data.",
    _plane_work, plane_panels, PLANE_CLAIMS)
EXHIBITS = (FIGURE_3, FIGURE_4)
