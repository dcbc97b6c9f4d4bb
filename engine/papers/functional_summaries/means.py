"""Figures 1, 2 and 6 to 8: errors of simulated means against the number of curves, at ε = 1.

The paper leaves open the sizes, the grid, the law of the Gaussian errors, τ, and which weights S-4
has; `engine.sources.dense_curves` says what is taken. PSS and PCV are its two ways to choose how
much to smooth: by a formula, and by cross-validation on the curves, which is not private.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from engine.exhibits import Claim, Exhibit, Finding, Form, Panel, Row, Table, Work
from engine.experiments import Cell, Outcome, Run
from engine.families.functional_release import FunctionalRelease
from engine.figures.exhibits import Scale, Series, lines, styles
from engine.mechanisms.bernstein import Bernstein
from engine.mechanisms.frl import Frl
from engine.mechanisms.gaussian_process import GaussianProcess
from engine.mechanisms.iclp import Iclp
from engine.papers.functional_summaries.drawing import line
from engine.papers.functional_summaries.reading import (
    as_number,
    is_below,
    number,
    numbers,
    pooled,
    rows,
    short,
    smallest,
    spread,
    values,
)
from engine.sources.dense_curves import DenseCurves
from engine.theme import Theme
from engine.types import Budget

MEANS = {"S-1": "rise", "S-2": "two_peaks", "S-3": "five_peaks", "S-4": "mixture"}
PURE = ("FRL", "ICLP-AR", "ICLP-QR", "Bernstein")
CHOSEN = ("FRL", "ICLP-AR", "ICLP-QR")
_SIZES = (50, 100, 200, 500, 1000, 2000, 5000)
_STEPS = (342, 343, 511, 512)  # M, the whole part of n^(1/3), rises at 343 and 512
_BUDGET = (Budget(1.0, 0.01),)
_ENOUGH = 100  # draws for each data set
_N = Scale("Curves n", log=True)
_LOOSE = ("The printed sensitivities let every coefficient change at its largest at once: too much "
          "by √M for FRL, by up to 5 for QR. QR adds up more of them than FRL, so it loses more. ")


@dataclass(frozen=True)
class Setting:
    """Errors of the curves and the smoothness ν of the kernel (printed α)."""

    errors: str = "gaussian_process"
    nu: float = 1.5

    def source(self, mean: str, n: int) -> DenseCurves:
        return DenseCurves(mean=MEANS[mean], n_curves=n, errors=self.errors,
                           kernel_smoothness=self.nu)

    @property
    def ways(self) -> dict[str, FunctionalRelease]:
        """The five mechanisms with exact sensitivities, tuned by formula."""
        at: dict[str, Any] = {"smoothness": self.nu}
        return {"FRL": Frl(**at), "ICLP-AR": Iclp(**at, penalty="absolute"), "ICLP-QR": Iclp(**at),
                "Bernstein": Bernstein(), "GP": GaussianProcess(**at)}

    def cells(self, choices: Sequence[str], ways: Sequence[str]) -> Iterator[Cell]:
        for mean in MEANS:
            for way in ways:
                for choice in choices if way in CHOSEN else choices[:1]:
                    for n in _SIZES:
                        yield self.cell(mean, way, choice, n)

    def cell(self, mean: str, way: str, choice: str, n: int) -> Cell:
        own = self.ways[way]
        if choice != "PSS":
            constants = "published" if choice == "PCV printed" else "tight"
            chosen: dict[str, Any] = {"selection_rule": "cross_validated", "constants": constants}
            own = replace(own, **chosen)
        at = {"mean": mean, "way": way, "choice": choice, "n": n}
        return Cell(at, self.source(mean, n), own, _BUDGET)


def error_row(outcome: Outcome) -> Row:
    """Of PSS the estimation error and the energy of the noise, which is known in closed form for
    exact and printed sensitivities; of PCV the total error, with noise drawn.

    Where noise was drawn often for PSS too, as in the full form, its mean energy stands beside.
    """
    cell = outcome.cell
    if outcome.failure:
        return {**cell.at, "failure": outcome.failure}
    kind = "estimation_error" if cell.at["choice"] == "PSS" else "total_error"
    found = outcome.summary(kind)
    assert found is not None and found["mean"] is not None and found["se"] is not None
    row = {**cell.at, kind: short(found["mean"]), f"{kind}_se": short(found["se"])}
    if kind == "total_error":
        return row
    noise = {name: _noise(cell, constants)
             for name, constants in (("noise", "tight"), ("noise_printed", "published"))}
    drawn, usual = outcome.errors["privacy_error"], Setting().cell(**cell.at)
    if drawn is not None and drawn.shape[1] >= _ENOUGH:
        noise |= {"noise_drawn": short(float(drawn.mean()))}
    if usual != cell:
        noise["noise_in_figure_2"] = _noise(usual, "tight")
    return {**row, **noise}


def _noise(cell: Cell, constants: str) -> float:
    """E‖noise‖²; exact, so that no draws are needed."""
    chosen: dict[str, Any] = {"constants": constants}
    mechanism = replace(cell.mechanism, **chosen)
    energy = mechanism.expected_error(cell.source.sizes, cell.budgets, cell.source.facts)
    assert energy is not None
    return short(energy)


# -- numbers of a table --------------------------------------------------------------------------


def total(row: Row, noise: str) -> float:
    """Estimation error and noise, which are independent."""
    return as_number(row, "estimation_error") + as_number(row, noise)


def _pss(table: Table) -> list[Row]:
    """What was tuned by formula, at the sizes of the figures."""
    return [row for row in rows(table, choice="PSS") if row["n"] in _SIZES]


def _cells(table: Table, means: Sequence[str] = tuple(MEANS)
           ) -> Iterator[tuple[str, dict[str, Row]]]:
    """For every mean and size the rows of the mechanisms, and a name of the place."""
    for mean in means:
        for n in _SIZES:
            found = [row for row in _pss(table) if row["mean"] == mean and row["n"] == n]
            yield f"{mean} at n = {n}", {str(row["way"]): row for row in found}


# -- claims of Figure 2 and of its copies --------------------------------------------------------


def qr_is_best(noise: str) -> Callable[[Table], Finding]:
    """Whether no other pure mechanism has a smaller total error than QR anywhere."""
    def check(table: Table) -> Finding:
        won, places = [], 0
        for place, found in _cells(table):
            best = min(PURE, key=lambda way: total(found[way], noise))
            won += [place] if best == "ICLP-QR" else []
            places += 1
        return Finding(len(won) == places,
                       f"QR is the best at {len(won)} of {places} places"
                       + (f": {_joined(won)}." if won else "."))
    return check


def _joined(places: Sequence[str]) -> str:
    """Places by their mean: "S-2 at n = 100, 200; S-4 at n = 500"."""
    by_mean: dict[str, list[str]] = {}
    for place in places:
        mean, n = place.split(" at n = ")
        by_mean.setdefault(mean, []).append(n)
    return "; ".join(f"{mean} at n = {', '.join(sizes)}" for mean, sizes in by_mean.items())


def noise_is_alike(table: Table) -> Finding:
    ratios = {noise: [as_number(found["ICLP-QR"], noise) / as_number(found["FRL"], noise)
                      for _, found in _cells(table)] for noise in ("noise_printed", "noise")}
    return Finding(max(ratios["noise_printed"]) < 2,
                   f"QR adds {spread(ratios['noise_printed'])} times the noise of FRL with printed "
                   f"sensitivities, {spread(ratios['noise'])} times with exact ones.")


def gaussian_noise_is_better(table: Table) -> Finding:
    ratios = {noise: [total(found["GP"], noise) / total(found["ICLP-QR"], noise)
                      for _, found in _cells(table)] for noise in ("noise_printed", "noise")}
    return Finding(max(max(each) for each in ratios.values()) < 1,
                   "Its total error is "
                   f"{spread(ratios['noise_printed'], '{:.0%}'.format)} of that of QR with printed "
                   f"constants, {spread(ratios['noise'], '{:.0%}'.format)} with exact ones.")


def ar_is_never_best(table: Table) -> Finding:
    best = [smallest({way: total(found[way], noise) for way in PURE})
            for _, found in _cells(table) for noise in ("noise_printed", "noise")]
    return Finding("ICLP-AR" not in best, f"Best at {best.count('ICLP-AR')} of {len(best)} places, "
                                          "printed and exact constants taken together.")


def ar_has_most_bias(table: Table) -> Finding:
    others = [place for place, found in _cells(table) if any(is_below(
        as_number(found["ICLP-AR"], "estimation_error"), as_number(found[way], "estimation_error"),
        pooled(as_number(found["ICLP-AR"], "estimation_error_se"),
               as_number(found[way], "estimation_error_se")))
        for way in ("FRL", "ICLP-QR", "Bernstein"))]
    said = f"Another has more at {_joined(others)}." if others else "It has, everywhere."
    return Finding(not others, said)


def qr_follows_peaks(table: Table) -> Finding:
    """Estimation errors: only these show shape; noise would hide it at small n."""
    worse = {way: [as_number(found[way], "estimation_error") / as_number(
        found["ICLP-QR"], "estimation_error") for _, found in _cells(table, ("S-2", "S-3", "S-4"))]
        for way in ("FRL", "Bernstein")}
    below = [place for place, found in _cells(table, ("S-2", "S-3", "S-4"))
             for way in worse if is_below(as_number(found[way], "estimation_error"),
                                          as_number(found["ICLP-QR"], "estimation_error"), pooled(
                 *(as_number(found[one], "estimation_error_se") for one in (way, "ICLP-QR"))))]
    return Finding(not below, f"Without noise, in S-2 to S-4 FRL has {spread(worse['FRL'])} times "
                   f"and Bernstein {spread(worse['Bernstein'])} times the error of QR"
                   + (f"; less at {_joined(below)}." if below else "."))


def split_claims() -> tuple[Claim, ...]:
    """What the paper says of Figure 2, and of its copies."""
    return (
        Claim("ICLP-QR has the least total error of the pure mechanisms (printed sensitivities).",
              qr_is_best("noise_printed"), _LOOSE + "FRL then has less in total."),
        Claim("ICLP-QR has the least total error of the pure mechanisms (exact sensitivities).",
              qr_is_best("noise"),
              "It is the best where a mean has many parts and n is neither small nor large: FRL "
              "overtakes when n^(1/3) reaches the number of parts, and wins where the mean is "
              "smooth or noise is all that counts."),
        Claim("The privacy error of ICLP-QR is similar to that of FRL.", noise_is_alike,
              _LOOSE + "Exact sensitivities leave a factor of about three."),
        Claim("GP-ADP, which is not pure, is better than ICLP-QR.", gaussian_noise_is_better),
        Claim("ICLP-AR is never the best.", ar_is_never_best),
        Claim("ICLP-AR has the largest bias of the pure mechanisms.", ar_has_most_bias,
              "Plain Bernstein polynomials flatten peaks more than soft thresholds do."),
        Claim("FRL and Bernstein are far behind ICLP-QR where the mean has peaks (S-2 to S-4).",
              qr_follows_peaks,
              "FRL overtakes where n^(1/3) reaches the number of parts of the mean, and QR, with ψ "
              "of 1/n, shrinks too much at the smallest n."))


def noise_is_as_in_figure_2(table: Table) -> Finding:
    ratios = {way: [as_number(row, "noise") / as_number(row, "noise_in_figure_2")
                    for row in rows(table, choice="PSS", way=way)] for way in (*PURE, "GP")}
    every = [ratio for each in ratios.values() for ratio in each]
    return Finding(min(every) > 0.8 and max(every) < 1.25, "The noise over that of Figure 2: "
                   + ", ".join(f"{spread(each)} for {way}" for way, each in ratios.items()) + ".")


# -- claims of Figure 1 --------------------------------------------------------------------------


def _over(table: Table, mean: str, way: str, choice: str, noise: str) -> list[float]:
    """Total error of PSS over that of PCV at every size."""
    found = []
    for n in _SIZES:
        (pss,) = rows(table, mean=mean, way=way, choice="PSS", n=n)
        found.append(total(pss, noise) / number(table, "total_error", mean=mean, way=way,
                                                choice=choice, n=n))
    return found


def formula_is_close(choice: str, noise: str) -> Callable[[Table], Finding]:
    def check(table: Table) -> Finding:
        found = {way: _over(table, "S-1", way, choice, noise) for way in ("FRL", "ICLP-QR")}
        return Finding(max(max(each) for each in found.values()) < 1.5,
                       "In S-1 the error of PSS is " + " and ".join(
                           f"{spread(each, '{:.2f}'.format)} times that of PCV for {way}"
                           for way, each in found.items()) + ".")
    return check


def choice_is_better(table: Table) -> Finding:
    found = {way: _over(table, "S-4", way, "PCV", "noise") for way in CHOSEN}
    middle = {way: sorted(each)[len(each) // 2] for way, each in found.items()}
    return Finding(min(middle.values()) > 1 and max(middle.values()) < 2,
                   "In S-4 the median of PSS over PCV is " + ", ".join(
                       f"{value:.2f} for {way}" for way, value in middle.items()) + ".")


def frl_falls_in_steps(table: Table) -> Finding:
    """Estimation errors of S-2 to S-4, whose bias is far above their variance."""
    at_step, between = [], []
    for mean in ("S-2", "S-3", "S-4"):
        at = {n: number(table, "estimation_error", mean=mean, way="FRL", choice="PSS", n=n)
              for n in _STEPS}
        at_step += [1 - at[b] / at[a] for a, b in ((342, 343), (511, 512))]
        between += [abs(1 - at[511] / at[343])]
    return Finding(max(at_step) > 5 * max(between),
                   f"Where M rises from one n to the next the error falls by up to "
                   f"{max(at_step):.1%}; from n = 343 to 511, with the same M, it changes by "
                   f"{max(between):.1%} at most.")


_CLOSE = "In S-1 the formula (PSS) is close to cross-validation (PCV) for FRL and ICLP-QR"
CHOICE_CLAIMS = (
    Claim(f"{_CLOSE} (exact sensitivities).", formula_is_close("PCV", "noise")),
    Claim(f"{_CLOSE} (printed sensitivities).", formula_is_close("PCV printed", "noise_printed"),
          "The printed sensitivities add so much noise that fewer functions, and a much larger ψ, "
          "than those of the formulas are better."),
    Claim("The error of FRL falls in steps, where M rises.", frl_falls_in_steps),
    Claim("In S-4 cross-validation is better, by less than a factor of two.", choice_is_better))


# -- drawings ------------------------------------------------------------------------------------


def split_panels(table: Table, theme: Theme) -> tuple[Panel, ...]:
    """Total errors with printed and exact constants and estimation errors; then the noise."""
    kinds: dict[str, Callable[[Row], float]] = {
        "total, printed constants": lambda row: total(row, "noise_printed"),
        "total, exact constants": lambda row: total(row, "noise"),
        "without noise": lambda row: as_number(row, "estimation_error")}
    panels = [_panel(table, f"{mean}: {kind}", mean, figure, theme)
              for mean in MEANS for kind, figure in kinds.items()]
    return (*panels, *(
        _panel(table, f"Noise in S-1: {name} constants", "S-1",
               partial(as_number, column=noise), theme)
        for name, noise in (("printed", "noise_printed"), ("exact", "noise"))))


def _panel(table: Table, title: str, mean: str, figure: Callable[[Row], float], theme: Theme
           ) -> Panel:
    every = rows(_pss(table), mean=mean)
    series = []
    for way in values(every, "way"):
        if way == "GP" and title.endswith("without noise"):
            continue  # smoothed as QR is
        found = rows(every, way=way)
        se = None if title.startswith("Noise") else numbers(found, "estimation_error_se")
        series.append(line(way, numbers(found, "n"), [figure(row) for row in found], theme, se))
    alt = f"{title}: squared error against the number of curves, falling for every mechanism."
    return Panel(title, lines(series, _N, Scale("Squared error", log=True), theme, alt))


def choice_panels(table: Table, theme: Theme) -> tuple[Panel, ...]:
    """For every mean and mechanism the error by formula and by cross-validation."""
    return tuple(_choice_panel(table, mean, way, theme) for mean in MEANS for way in CHOSEN)


def _choice_panel(table: Table, mean: str, way: str, theme: Theme) -> Panel:
    at = {"mean": mean, "way": way}
    pss = rows(_pss(table), **at)
    (pale, *_), (strong, *_) = styles(2, theme)
    series = []
    for words, noise, choice, shade in (("printed", "noise_printed", "PCV printed", pale),
                                        ("exact", "noise", "PCV", strong)):
        chosen = rows(table, choice=choice, **at)
        if not chosen:
            continue
        series += [Series(f"PSS, {words}", numbers(pss, "n"), [total(row, noise) for row in pss],
                          shade, se=numbers(pss, "estimation_error_se")),
                   Series(f"PCV, {words}", numbers(chosen, "n"), numbers(chosen, "total_error"),
                          shade, "6px,3px", "diamond-open", numbers(chosen, "total_error_se"))]
    alt = f"{mean}, {way}: total error by formula and by cross-validation against n."
    return Panel(f"{mean}: {way}", lines(series, _N, Scale("Squared error", log=True), theme, alt))


# -- the exhibits --------------------------------------------------------------------------------

_FULL = Run(repeats=100, draws=1000)


def _work(setting: Setting, choices: Sequence[str], ways: Sequence[str], quick: Run, steps: bool
          ) -> Callable[[Form], Work]:
    def work(form: Form) -> Work:
        cells = list(setting.cells(choices, ways))
        cells += [setting.cell(mean, "FRL", "PSS", n) for mean in MEANS for n in _STEPS if steps]
        return Work(tuple(cells), quick if form == "quick" else _FULL)
    return work


_GIVEN = ("ε = 1, δ = 0.01 for GP-ADP, 100 points, ρ = 0.1; noise is given by its exact energy. "
          "Printed constants are the sensitivities of the paper; exact ones are proved and "
          "smaller. ")
_TAU = "Errors are Gaussian; τ = 4.5, 4, 3 and 5 for S-1 to S-4."
_TAU_OF_T = "These errors have no bound (mean square 166.7), so τ is 16 in every design."
_ALL = (*PURE, "GP")

FIGURE_1 = Exhibit(
    "figure-1", "Figure 1: smoothing chosen by formula or by cross-validation",
    "Total error of three mechanisms when the smoothing follows from n and ε alone (PSS), and when "
    "it is chosen on the curves (PCV), which is not private. " + _GIVEN + _TAU,
    _work(Setting(), ("PSS", "PCV", "PCV printed"), CHOSEN, Run(8, 20), True), choice_panels,
    CHOICE_CLAIMS, row=error_row)
FIGURE_2 = Exhibit(
    "figure-2", "Figure 2: total, estimation and privacy errors of five mechanisms",
    "Errors of the private mean of S-1 to S-4 against the number of curves. " + _GIVEN + _TAU,
    _work(Setting(), ("PSS",), _ALL, Run(12), False), split_panels, split_claims(), row=error_row)


def _copy(number: int, setting: Setting, words: str, claims: tuple[Claim, ...]) -> Exhibit:
    def panels(table: Table, theme: Theme) -> tuple[Panel, ...]:
        return (*choice_panels(table, theme), *split_panels(table, theme))

    return Exhibit(
        f"figure-{number}", f"Figure {number}: Figures 1 and 2 with {words}",
        f"Both figures again with {words}. " + _GIVEN + (
            _TAU_OF_T if setting.errors == "t" else _TAU),
        _work(setting, ("PSS", "PCV"), _ALL, Run(4, 10), False),
        panels, claims, row=error_row)


def _copied(because: str) -> tuple[Claim, ...]:
    return (Claim("The errors are almost the same as in Figure 2.", noise_is_as_in_figure_2,
                  because), *split_claims())


_UNBOUNDED = "Errors of a t law need a τ of 16 in place of 3 to 5, and noise grows with τ²."
_SMOOTHER = "λ_j falls faster for ν = 5/2, so noise in proportion to it is dearer for QR and GP."
FIGURE_6 = _copy(6, Setting("t", 1.5), "errors of a t law", _copied(_UNBOUNDED))
FIGURE_7 = _copy(7, Setting(nu=2.5), "a smoother kernel (ν = 5/2)", _copied(_SMOOTHER))
FIGURE_8 = _copy(8, Setting("t", 2.5), "errors of a t law and ν = 5/2",
                 _copied(f"{_UNBOUNDED} {_SMOOTHER}"))
EXHIBITS = (FIGURE_1, FIGURE_2, FIGURE_6, FIGURE_7, FIGURE_8)
