"""Experiments 4 to 6: curves that do not close, times that are not even, and the clip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.exhibits import Call, Claim, Exhibit, Finding, Form, Panel, Row, Table, Work
from engine.experiments import Cell, Outcome, Run
from engine.figures.exhibits import Scale, Series, lines
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.papers.comparing import agreement, known, numbers, rows_with
from engine.sources.regression_points import RegressionPoints, configuration_budgets
from engine.theme import Theme, colour
from engine.types import NON_PRIVATE, Budget

_LIMIT = 3.5  # standard errors
_NETWORK = "homogeneous"


def _measured(outcome: Outcome) -> Row:
    """Simulated error and, where there is a formula, the exact one."""
    found, cell = outcome.summary("total_error") or {}, outcome.cell
    exact = cell.mechanism.exact_risk(cell.source, cell.budgets)
    return {**cell.at, "error": found["mean"], "se": found["se"], "exact": exact,
            "repeats": outcome.repeats}


def _agree(table: Table) -> Finding:
    rows = [row for row in table if row.get("error") is not None
            and row.get("exact") is not None]
    apart = [abs(float(row["error"] or 0) - float(row["exact"] or 0)) / float(row["se"] or 1)
             for row in rows]
    return Finding(max(apart) < _LIMIT, f"{len(rows)} cells of {rows[0]['repeats']} data sets, at "
                   f"most {max(apart):.1f} standard errors apart")


_AGREE = Claim("Simulated errors are the exact ones, within 3.5 standard errors", _agree)


# -- 4: a curve that does not end where it began ---------------------------------------------------

_SMOOTH = WaveletGlobal(smoothness=2.0, radius=8.0)
BASES_TRIED: Mapping[str, WaveletGlobal] = {
    "Periodic": _SMOOTH,
    "Corrected edges": replace(_SMOOTH, edges="corrected", edge_noise="equal"),
    "Corrected, noise weighted": replace(_SMOOTH, edges="corrected", level=4, clip=3.6)}
_KNOWN_BASES = (0.0313203, 0.00606597, 0.00382)
_PARTS = {"projection": ("Basis", "bias", "circle"),
          "clip": ("Clip", "functional", "triangle-up"),
          "data": ("Chance", "without", "square"),
          "privacy": ("Privacy noise", "wavelet", "diamond")}


def basis_parts(name: str) -> list[Row]:
    """The parts of the exact error of one basis."""
    source = RegressionPoints(configuration=_NETWORK, signal="ramp")
    parts = BASES_TRIED[name].risk_parts(source, source.budgets())
    assert parts is not None
    return [{"basis": name, **{part: getattr(parts, part) for part in _PARTS}}]


def _bases_work(form: Form) -> Work:
    source = RegressionPoints(configuration=_NETWORK, signal="ramp")
    return Work(tuple(Cell({"basis": name}, source, mechanism, source.budgets())
                      for name, mechanism in BASES_TRIED.items()),
                Run(100 if form == "quick" else 400, seed=4),
                tuple(Call(f"{__name__}:basis_parts", (name,)) for name in BASES_TRIED))


def _draw_bases(table: Table, theme: Theme) -> tuple[Panel, ...]:
    x = [float(k) for k in range(len(BASES_TRIED))]
    whole = [row for row in table if "error" in row]
    parts = [row for row in table if "data" in row]
    series = [Series(name, [place + 0.15 * (k - 2) for place in x], known(parts, part),
                     colour(role, theme), marker=marker, mode="markers")
              for k, (part, (name, role, marker)) in enumerate(_PARTS.items())]
    series.append(Series("All together, simulated", [place + 0.3 for place in x],
                         known(whole, "error"), colour("truth", theme), marker="cross",
                         se=known(whole, "se"), mode="markers"))
    return (Panel("A curve that rises from one end to the other", lines(
        series, Scale("Wavelets", names=tuple(BASES_TRIED)), Scale("Mean squared error", log=True),
        theme, "Parts of the error of a rising curve with three bases.")),)


def _bases_known(table: Table) -> Finding:
    rows = [row for row in table if "error" in row]
    return agreement(numbers(rows, "exact"), _KNOWN_BASES, 2e-3)


def _edges_pay(table: Table) -> Finding:
    periodic, equal, weighted = (row["exact"] for row in table if "error" in row)
    return Finding(float(periodic or 0) > 3 * float(equal or 0) > 3 * float(weighted or 0),
                   f"{periodic:.4f}, {equal:.4f}, {weighted:.4f}")


BASES = Exhibit(
    "experiment-4", "Experiment 4: a curve that does not end where it began",
    "What the basis cannot follow, what the clip shifts, chance in readings and privacy noise, as "
    "parts of the exact error, with periodic wavelets, with corrected edges, and with corrected "
    "edges that take more of the noise, for sixteen sites of 4000 readings at ε = 1.",
    _bases_work, _draw_bases, (
        Claim("Exact errors agree with independently worked-out ones", _bases_known),
        Claim("Corrected edges bring the error down to a third or less, and weighted noise brings "
              "it further down", _edges_pay), _AGREE), row=_measured)


# -- 5: times that are not spread evenly -----------------------------------------------------------

_DENSITY = "0.5, 1.5"
DESIGNS: Mapping[str, WaveletGlobal] = {
    "Taken for even": WaveletGlobal(),
    "Readings weighted": WaveletGlobal(design="weighted", density=_DENSITY),
    "Times ranked": WaveletGlobal(design="ranked", density=_DENSITY),
    "Density released": WaveletGlobal(design="released")}
_ROLES = {"Taken for even": ("bias", "triangle-up"), "Readings weighted": ("wavelet", "circle"),
          "Times ranked": ("functional", "diamond"), "Density released": ("sparse", "square")}
_SIZES = tuple(2**k for k in range(12, 25, 2))
_WITH, _FREE = "ε = 1", "No protection"
_BUDGETS = {_WITH: Budget(1.0, 1e-5), _FREE: NON_PRIVATE}
_SITES, _N = 16, 64_000


def design_errors(name: str, protection: str) -> list[Row]:
    """Exact errors of one treatment of rising times, by the number of readings."""
    rows: list[Row] = []
    for size in _SIZES:
        source = RegressionPoints(n_curves=size, n_servers=_SITES, times="rising")
        exact = DESIGNS[name].exact_risk(source, (_BUDGETS[protection],) * _SITES)
        rows.append({"design": name, "protection": protection, "n": size, "exact": exact})
    return rows


def _times_work(form: Form) -> Work:
    source = RegressionPoints(n_curves=_N, n_servers=_SITES, times="rising")
    cells = tuple(Cell({"design": name, "protection": protection, "n": _N}, source, mechanism,
                       (budget,) * _SITES)
                  for protection, budget in _BUDGETS.items() for name, mechanism in DESIGNS.items())
    return Work(cells, Run(30 if form == "quick" else 200, seed=5),
                tuple(Call(f"{__name__}:design_errors", (name, protection))
                      for protection in _BUDGETS for name in ("Taken for even",
                                                              "Readings weighted")))


def _draw_times(table: Table, theme: Theme) -> tuple[Panel, ...]:
    panels = []
    for protection in _BUDGETS:
        series = []
        for name, (role, marker) in _ROLES.items():
            rows = rows_with(table, design=name, protection=protection)
            exact, shade = [row for row in rows if "error" not in row], colour(role, theme)
            if exact:
                series.append(Series(f"{name}, exact", numbers(exact, "n"), known(exact, "exact"),
                                     shade, mode="lines"))
            drawn = [row for row in rows if "error" in row]
            series.append(Series(name, numbers(drawn, "n"), known(drawn, "error"), shade,
                                 marker=marker, se=known(drawn, "se"), mode="markers"))
        panels.append(Panel(protection, lines(
            series, Scale("Readings N", log=True), Scale("Mean squared error", log=True), theme,
            f"{protection}: errors of four treatments of rising times.")))
    return tuple(panels)


def _floor(table: Table) -> Finding:
    rows = [row for row in rows_with(table, design="Taken for even", protection=_FREE)
            if "error" not in row]
    first, last = numbers(rows, "exact")[0], numbers(rows, "exact")[-1]
    return Finding(0.5 * first < last, f"{first:.3f} with {_SIZES[0]} readings and {last:.3f} with "
                   f"{_SIZES[-1]:.2g}, without protection")


def _repaired(table: Table) -> Finding:
    errors = {name: numbers([row for row in rows_with(table, design=name, protection=_FREE)
                             if "error" in row], "error")[0] for name in DESIGNS}
    worst = max(value for name, value in errors.items() if name in (
        "Readings weighted", "Times ranked"))
    return Finding(worst < errors["Taken for even"] / 30,
                   f"{errors['Taken for even']:.3f} taken for even, {worst:.4f} with the worse of "
                   "the two repairs, without protection")


def _converges(table: Table) -> Finding:
    errors = numbers([row for row in rows_with(table, design="Taken for even", protection=_WITH)
                      if "error" not in row], "exact")
    return Finding(errors[-1] < errors[0] / 10, f"{errors[0]:.3f} at first, {errors[-1]:.3f} at "
                   "last, at ε = 1")


TIMES = Exhibit(
    "experiment-5", "Experiment 5: times that are not spread evenly",
    "Errors where times have the density ½ + x: taken for even ones, with the known density used "
    "in two ways, and with the density released in the same message. Sixteen sites.",
    _times_work, _draw_times, (
        Claim("The estimator converges to the curve whatever the density of the times", _converges,
              "The proofs take times to be uniform. Otherwise averages converge to the curve times "
              "the density, at any sample size."),
        Claim("Taken for even, the error stays however many readings there are", _floor),
        Claim("With the known density, weights and ranks each cut the error at least thirtyfold",
              _repaired), _AGREE), row=_measured)


# -- 6: the clip -----------------------------------------------------------------------------------

_CLIPS = (2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 4.0, 5.0)
_KNOWN_CLIPS = {2.0: .0316003, 2.5: .00934109, 3.0: .00479292, 3.5: .00489167}
_AS_IS, _UNDONE = "Clip left as it is", "Clip undone"


def _clips_work(form: Form) -> Work:
    source = RegressionPoints(configuration=_NETWORK)
    cells = tuple(Cell({"clip": clip, "way": way}, source,
                       WaveletGlobal(level=5, clip=clip, invert_clip=way == _UNDONE),
                       configuration_budgets(_NETWORK))
                  for way in (_AS_IS, _UNDONE) for clip in _CLIPS)
    return Work(cells, Run(30 if form == "quick" else 200, seed=6))


def _draw_clips(table: Table, theme: Theme) -> tuple[Panel, ...]:
    series = []
    for way, role, marker in ((_AS_IS, "bias", "triangle-up"), (_UNDONE, "wavelet", "circle")):
        rows = rows_with(table, way=way)
        series.append(Series(way, numbers(rows, "clip"), known(rows, "error"), colour(role, theme),
                             marker=marker, se=known(rows, "se"),
                             mode="markers" if way == _AS_IS else "lines+markers"))
    rows = rows_with(table, way=_AS_IS)
    series.append(Series("As it is, exact", numbers(rows, "clip"), known(rows, "exact"),
                         colour("text", theme), "2px,3px", mode="lines", width=1.5))
    return (Panel("Smooth curve within ±2", lines(
        series, Scale("Clip τ, in response units"), Scale("Mean squared error", log=True), theme,
        "Error against the clip, with the clip left as it is and undone.")),)


def _clips_known(table: Table) -> Finding:
    rows = [row for row in rows_with(table, way=_AS_IS) if row["clip"] in _KNOWN_CLIPS]
    return agreement(numbers(rows, "exact"), list(_KNOWN_CLIPS.values()), 1e-5)


def _undoing(table: Table) -> Finding:
    undone = numbers(rows_with(table, way=_UNDONE, clip=2.0), "error")[0]
    best = min(numbers(rows_with(table, way=_AS_IS), "exact"))
    return Finding(undone < 0.8 * best, f"{undone:.4f} undone at τ = 2, at best {best:.4f} as it "
                   "is")


CLIPS = Exhibit(
    "experiment-6", "Experiment 6: the clip, and undoing it",
    "Error of a smooth curve against the clip of the readings, for sixteen sites of 4000 readings "
    "at ε = 1 and 2⁵ functions. A clip shifts the curve; for normal readings that can be undone "
    "from what is published.",
    _clips_work, _draw_clips, (
        Claim("Exact errors agree with independently worked-out ones", _clips_known),
        Claim("Undoing the clip makes a narrow one better than any clip left as it is", _undoing),
        _AGREE), row=_measured)
