"""Figures 3 and 4, at the paper's sizes and at sizes where the noise leaves a signal."""

from __future__ import annotations

import numpy as np

from engine.exhibits import Call, Claim, Exhibit, Finding, Form, Panel, Row, Table, Work
from engine.figures.exhibits import Scale, Series, lines, styles
from engine.papers.comparing import known, numbers, rows_with, share_limits, slope
from engine.papers.sparse_federated import studies
from engine.papers.sparse_federated.studies import Setting
from engine.papers.sparse_federated.tables import FEWER, IMPOSSIBLE
from engine.theme import Theme, colour

PAPER, FEASIBLE = "At the paper’s sizes", "Where the noise leaves a signal"

# -- Figure 3 --------------------------------------------------------------------------------------

_SHOWN, _EPSILON, _PRINTED_LENGTH = 60, 0.8, 0.0437
_LARGE = Setting(n=200_000, m=8, d=100)


def interval_rows(where: str, n: int, m: int, d: int, repeats: int) -> list[Row]:
    """Average intervals of 60 coefficients of one machine, chosen at random."""
    setting = Setting(n, m, d)
    rng = np.random.default_rng(3)
    chosen = np.sort(rng.permutation(d)[:_SHOWN])
    found = studies.limits(setting, (_EPSILON,), repeats, chosen.tolist())
    return [{"where": where, "feature": int(feature) + 1, "true": float(found.truth[k]),
             "centre": float(found.centre[0, k]), "length": float(found.length[0, k]),
             "held": float(found.held[0, k]), "repeats": repeats, "features run": d}
            for k, feature in enumerate(chosen)]


def _figure_3_work(form: Form) -> Work:
    repeats = 20 if form == "quick" else 50
    paper = (4000, 15, 800 // FEWER[form])
    return Work(calls=(Call(f"{__name__}:interval_rows", (PAPER, *paper, repeats)), Call(
        f"{__name__}:interval_rows", (FEASIBLE, _LARGE.n, _LARGE.m, _LARGE.d, repeats))))


def _draw_figure_3(table: Table, theme: Theme) -> tuple[Panel, ...]:
    panels = []
    for where in (PAPER, FEASIBLE):
        rows = sorted(rows_with(table, where=where), key=lambda row: float(row["true"] or 0))
        x = [float(k + 1) for k in range(len(rows))]
        series = [Series("Average interval", x, known(rows, "centre"), colour("sparse", theme),
                         mode="markers", half=[length / 2 for length in numbers(rows, "length")]),
                  Series("True", x, known(rows, "true"), colour("truth", theme),
                         marker="line-ew-open", mode="markers")]
        panels.append(Panel(where, lines(
            series, Scale("60 coefficients, by their true value"), Scale("Coefficient"), theme,
            f"{where}: average intervals of 60 coefficients.")))
    return tuple(panels)


def _mean(rows: Table, name: str) -> float:
    return float(np.mean(numbers(rows, name)))


def _short(table: Table) -> Finding:
    rows = rows_with(table, where=PAPER)
    found, held = _mean(rows, "length"), _mean(rows, "held")
    return Finding(found < 2 * _PRINTED_LENGTH, f"{found:.2f} on average with ε kept and "
                   f"{rows[0]['features run']} features, {_PRINTED_LENGTH} in Table 2; the "
                   f"coefficients that matter are 0.258; {held:.3f} of the intervals hold")


def _held(table: Table) -> Finding:
    """Coverage over all intervals; those of one data set are nearly independent."""
    rows = rows_with(table, where=FEASIBLE)
    count, share = int(sum(numbers(rows, "repeats"))), _mean(rows, "held")
    low, high = share_limits(round(share * count), count)
    return Finding(low < 0.97 and high > 0.92, f"{share:.3f} of {count} intervals")


def _apart(table: Table) -> Finding:
    rows = rows_with(table, where=FEASIBLE)
    seen = [row for row in rows if float(row["true"] or 0) > 0]
    clear = [row for row in seen if float(row["centre"] or 0) > float(row["length"] or 0) / 2]
    return Finding(len(clear) == len(seen), f"{len(clear)} of {len(seen)} intervals lie above "
                   f"zero, with an average length of {_mean(rows, 'length'):.4f}")


FIGURE_3 = Exhibit(
    "figure-3", "Figure 3: intervals for 60 coefficients",
    "Intervals of 60 coefficients of one machine at ε = 0.8, averaged over data sets: everything "
    "that is published shares one budget. At the paper’s base point, and with fifty times as many "
    "rows on eight machines. The quick form has an eighth of the paper’s features.",
    _figure_3_work, _draw_figure_3, (
        Claim("At the base point intervals are about as short as printed", _short, IMPOSSIBLE),
        Claim("Where the noise leaves a signal they hold about 95 times in 100", _held),
        Claim("There, every coefficient that matters is told from zero", _apart)))


# -- Figure 4 --------------------------------------------------------------------------------------

_BY_N, _BY_S, _BY_M = "Rows of a machine n", "Features that matter s*", "Machines m"
_BUDGETS = (0.3, 0.5, 0.8)
_SHARED = (4, 8)
_AT = {PAPER: Setting(n=4000, m=15, d=800, s=16), FEASIBLE: Setting(n=100_000, m=8, d=100, s=16)}
_GRIDS: dict[str, dict[str, tuple[int, ...]]] = {
    PAPER: {_BY_N: (3000, 4000, 5000, 6000), _BY_S: (10, 13, 16, 20), _BY_M: (5, 10, 15, 20)},
    FEASIBLE: {_BY_N: (25_000, 50_000, 100_000, 200_000), _BY_S: (10, 13, 16, 20),
               _BY_M: (4, 8, 16)}}


def error_rows(where: str, along: str, value: int, s0: int, fewer: int, repeats: int) -> list[Row]:
    """Errors at one place of a panel, for each budget."""
    base = _AT[where]
    setting = Setting(n=value if along == _BY_N else base.n, m=value if along == _BY_M else base.m,
                      d=base.d // (fewer if where == PAPER else 1),
                      s=value if along == _BY_S else base.s, s0=s0)
    epsilons = _BUDGETS if along == _BY_N else (0.5,)
    found = studies.errors(setting, epsilons, repeats)
    quiet, quiet_se = studies.mean_and_error(found.quiet)
    rows: list[Row] = []
    for k, epsilon in enumerate(epsilons):
        error, error_se = studies.mean_and_error(found.released[:, k])
        rows.append({"where": where, "along": along, "x": value, "s0": s0, "eps": epsilon,
                     "error": error, "error_se": error_se, "quiet": quiet, "quiet_se": quiet_se,
                     "features run": setting.d, "repeats": repeats})
    return rows


def _figure_4_work(form: Form) -> Work:
    repeats = {PAPER: 4, FEASIBLE: 16} if form == "quick" else {PAPER: 50, FEASIBLE: 200}
    return Work(calls=tuple(
        Call(f"{__name__}:error_rows", (where, along, value, s0, FEWER[form], repeats[where]))
        for where, grids in _GRIDS.items() for along, grid in grids.items() for value in grid
        for s0 in (_SHARED if along == _BY_S else (8,))))


def _lines_of(along: str) -> tuple[tuple[str, str, float], ...]:
    """Name of a line, and what tells its rows from others."""
    if along == _BY_N:
        return tuple((f"ε = {epsilon:g}", "eps", epsilon) for epsilon in _BUDGETS)
    if along == _BY_S:
        return tuple((f"{s0} shared, ε = 0.5", "s0", s0) for s0 in _SHARED)
    return (("ε = 0.5", "eps", 0.5),)


def _draw_figure_4(table: Table, theme: Theme) -> tuple[Panel, ...]:
    return tuple(Panel(f"{where}: {along[0].lower()}{along[1:]}", lines(
        _figure_4_series(rows_with(table, where=where, along=along), along, theme),
        Scale(along, log=where == FEASIBLE and along != _BY_S), Scale("Squared error", log=True),
        theme, f"{where}: errors against {along}."))
        for where, grids in _GRIDS.items() for along in grids)


def _figure_4_series(rows: Table, along: str, theme: Theme) -> list[Series]:
    kinds, series = _lines_of(along), []
    for (name, key, value), (shade, dash, marker) in zip(kinds, styles(len(kinds), theme),
                                                         strict=True):
        own = [row for row in rows if row[key] == value]
        series.append(Series(name, numbers(own, "x"), known(own, "error"), shade, dash, marker,
                             se=known(own, "error_se")))
    last = [row for row in rows if row[kinds[-1][1]] == kinds[-1][2]]
    series.append(Series("Without noise", numbers(last, "x"), known(last, "quiet"),
                         colour("without", theme), "2px,3px", "square", se=known(last, "quiet_se")))
    return series


def _hopeless(table: Table) -> Finding:
    errors = numbers(rows_with(table, where=PAPER), "error")
    return Finding(max(errors) < 0.5, f"from {min(errors):.2f} to {max(errors):.2f}, where "
                   "answering zero has 1")


def _by_rows(table: Table) -> Finding:
    found = [numbers(rows_with(table, where=FEASIBLE, along=_BY_N, eps=epsilon), "error")
             for epsilon in _BUDGETS]
    return Finding(all(own[-1] < own[0] / 8 for own in found), "; ".join(
        f"ε = {epsilon:g}: from {own[0]:.2g} to {own[-1]:.2g}"
        for epsilon, own in zip(_BUDGETS, found, strict=True)))


def _by_budget(table: Table) -> Finding:
    rows = rows_with(table, where=FEASIBLE, along=_BY_N, x=25_000)
    errors = numbers(sorted(rows, key=lambda row: float(row["eps"] or 0)), "error")
    return Finding(errors[0] > 1.5 * errors[1] > 2 * errors[2], ", ".join(
        f"{error:.2g}" for error in errors) + " at ε = 0.3, 0.5 and 0.8 with 25 000 rows")


def _by_sparsity(table: Table) -> Finding:
    found = [numbers(rows_with(table, where=FEASIBLE, along=_BY_S, s0=s0), "error")
             for s0 in _SHARED]
    return Finding(all(one[-1] > 2 * one[0] for one in found), "; ".join(
        f"{s0} shared: from {one[0]:.2g} to {one[-1]:.2g}"
        for s0, one in zip(_SHARED, found, strict=True)))


def _by_machines(table: Table) -> Finding:
    rows = rows_with(table, where=FEASIBLE, along=_BY_M)
    found = slope(numbers(rows, "x"), numbers(rows, "error"))
    return Finding(found < -0.6, f"m^{found:.2f}, from {rows[0]['error']:.2g} with {rows[0]['x']} "
                   f"to {rows[-1]['error']:.2g} with {rows[-1]['x']} machines")


FIGURE_4 = Exhibit(
    "figure-4", "Figure 4: errors against rows, sparsity and machines",
    "Squared errors that keep ε for machines that differ, averaged over data sets with "
    "coefficients of their own; the printed figure has no numbers. Above at its sizes (the quick "
    "form with an eighth of the features), below where the noise leaves a signal.",
    _figure_4_work, _draw_figure_4, (
        Claim("At the paper’s sizes errors are far below that of answering zero", _hopeless,
              IMPOSSIBLE),
        Claim("Where the noise leaves a signal eight times the rows cut errors to an eighth or "
              "less, at every ε", _by_rows),
        Claim("There they fall as ε grows", _by_budget),
        Claim("There they more than double from 10 to 20 features that matter", _by_sparsity),
        Claim("There they fall with the number of machines as in Table 2, where it is m^−0.8",
              _by_machines, "What a machine has of its own is learned from its own rows, however "
              "many other machines there are; Theorem 7 says so, too.")))
