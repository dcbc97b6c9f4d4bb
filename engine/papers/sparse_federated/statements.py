"""Theorems 1, 2 and 7, and what the algorithms spend together."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from engine.exhibits import Call, Claim, Exhibit, Finding, Form, Panel, Row, Table, Value, Work
from engine.experiments import generator
from engine.families.sparse_printed import published_costs
from engine.figures.exhibits import Scale, Series, lines
from engine.mechanisms.sparse_mean_laplace import SparseMeanLaplace
from engine.papers.comparing import known, numbers, rows_with, slope
from engine.papers.sparse_federated import studies
from engine.papers.sparse_federated.studies import Setting
from engine.theme import Theme, colour, method_style
from engine.views import sparse_means as sparse_mean_view
from engine.views.sparse_means import ALONE, BIT, PRINTED, ROW, TRUSTED

# -- Theorems 1 and 2: what trust is worth ---------------------------------------------------------

_MEANS = sparse_mean_view.Setting(machines=20_000, height=0.02)  # signs see 2/√n at most
_AXES = {"size": ("Numbers in a row d", (50, 100, 200, 400, 800)),
         "machines": ("Machines m", (5000, 10_000, 20_000, 40_000, 80_000)),
         "epsilon": ("Protection ε", (0.25, 0.5, 1.0, 2.0, 4.0))}
_WAYS = {BIT: ("sparse_mean_signs", "A machine hidden"),
         ROW: ("sparse_mean_laplace", "A row hidden"),
         TRUSTED: ("sparse_mean_trusted", "Trusted server")}
# Many machines at a small ε, where the printed bound lies far above what is attained.
_BOUND = sparse_mean_view.Setting(machines=2_000_000, rows=10_000, size=200, n_nonzero=5,
                                  epsilon=0.05, height=0.5)


def trust_rows(name: str, repeats: int) -> list[Row]:
    """Simulated errors of every way along one size, and the printed rate."""
    axis, values = _AXES[name]
    found = sparse_mean_view.along(_MEANS, name, tuple(map(float, values)), repeats)
    kind = type(getattr(_MEANS, name))
    rows: list[Row] = []
    for k, value in enumerate(values):
        printed = sparse_mean_view.rates_of(replace(_MEANS, **{name: kind(value)}))[PRINTED]
        rows.append({"along": axis, "x": value, "repeats": repeats, "printed": printed,
                     **{label: _finite(found[label][k]) for label in (BIT, ROW, TRUSTED, ALONE)}})
    return rows


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def bound_rows(repeats: int) -> list[Row]:
    """The error of hiding rows at one setting, beside the printed lower bound for it."""
    errors = sparse_mean_view.untrusted_errors(SparseMeanLaplace(sparsity=_BOUND.n_nonzero), _BOUND,
                                               repeats, generator(1, 1, 0))
    return [{"along": "bound", "error": float(errors.mean()),
             "error_se": float(errors.std(ddof=1) / math.sqrt(repeats)),
             "printed": sparse_mean_view.rates_of(_BOUND)[PRINTED]}]


def _trust_work(form: Form) -> Work:
    repeats = 20 if form == "quick" else 200
    return Work(calls=(*(Call(f"{__name__}:trust_rows", (name, repeats)) for name in _AXES),
                       Call(f"{__name__}:bound_rows", (3 if form == "quick" else 20,))))


def _draw_trust(table: Table, theme: Theme) -> tuple[Panel, ...]:
    panels = []
    for axis, _ in _AXES.values():
        rows = rows_with(table, along=axis)
        x = numbers(rows, "x")
        series = []
        for label, (key, short) in _WAYS.items():
            shade, dash, marker = method_style(key, "sparse", theme)
            series.append(Series(short, x, known(rows, label), shade, dash, marker))
        series.append(Series("One machine", x, known(rows, ALONE), colour("raw", theme),
                             "2px,3px", "square-open"))
        series.append(Series("Printed rate", x, known(rows, "printed"),
                             colour("without", theme), "12px,3px,2px,3px", mode="lines"))
        panels.append(Panel(axis, lines(series, Scale(axis, log=True),
                                        Scale("Squared error", log=True), theme,
                                        f"Errors with and without trust against {axis}.")))
    return tuple(panels)


def _along(table: Table, name: str, label: str) -> tuple[list[float], list[float]]:
    rows = rows_with(table, along=_AXES[name][0])
    return numbers(rows, "x"), numbers(rows, label)


def _linear(table: Table) -> Finding:
    found = slope(*_along(table, "size", ROW))
    return Finding(0.7 < found < 1.4, f"d^{found:.2f} where a row is hidden and nobody trusted")


def _flat(table: Table) -> Finding:
    x, errors = _along(table, "size", TRUSTED)
    ratio = errors[-1] / errors[0]
    return Finding(ratio < 2, f"{ratio:.2f} times from {x[0]:g} to {x[-1]:g} numbers")


def _trust_pays(table: Table) -> Finding:
    ratios = [a / b for name in _AXES for a, b in zip(
        _along(table, name, ROW)[1], _along(table, name, TRUSTED)[1], strict=True)]
    return Finding(min(ratios) > 1, f"{min(ratios):.3g} to {max(ratios):.3g} times less")


def _is_bound(table: Table) -> Finding:
    row = rows_with(table, along="bound")[0]
    error, printed = float(row["error"] or 0), float(row["printed"] or 0)
    return Finding(error + 4 * float(row["error_se"] or 0) > printed,
                   f"an error of {error:.2g} is attained, where {printed:.2g} is stated as the "
                   "least, up to a constant; with more rows the ratio goes to ε²")


TRUST = Exhibit(
    "theorems-1-2", "Theorems 1 and 2: what trusting a server is worth",
    "Errors of a sparse mean against its length, the number of machines and ε: where nobody is "
    "trusted and each machine or each row is hidden, and with a trusted server; with the printed "
    "rate sd/(mnε²). 20 000 machines with 10 000 rows of 200 numbers at ε = 1 unless drawn.",
    _trust_work, _draw_trust, (
        Claim("Where nobody is trusted the error grows linearly with the length", _linear),
        Claim("With a trusted server it hardly grows", _flat),
        Claim("A trusted server errs less everywhere", _trust_pays),
        Claim("No method that hides a row without trust errs less than Theorem 1 says", _is_bound,
              "The proof has a total variation of more than one and takes nε² for small. The bound "
              "is right for hiding whole machines, not for one of their many rows.")))


# -- Theorem 7: machines that differ ---------------------------------------------------------------

_MANY = Setting(n=30_000, m=8, d=100, s=7, s0=5)
_EPSILONS = (1.0, 2.0, 4.0)
_FITS = {"two_stage": ("Shared, then own", "sparse", "solid", "circle"),
         "local": ("Each machine alone", "functional", "8px,3px", "diamond"),
         "pooled": ("As if alike", "bias", "2px,3px", "triangle-up")}
_SHARES = (1, 2, 3, 4, 5, 6)
# Medians over 100 designs, worked out independently: two stages, and each machine alone.
_REFERENCE = {"two_stage": (6.4e-4, 3.1e-4, 1.3e-4), "local": (4.3e-3, 1.3e-3, 3.7e-4)}


def fit_rows(fit: str, s0: int, repeats: int) -> list[Row]:
    """Medians and means of errors over designs, at each ε and without noise."""
    found = studies.errors(replace(_MANY, s0=s0), _EPSILONS, repeats, fit)
    common: dict[str, Value] = {"fit": fit, "s0": s0, "repeats": repeats}
    rows: list[Row] = [{**common, "eps": epsilon, "median": float(np.median(own)),
                        "mean": float(own.mean())}
                       for epsilon, own in zip(_EPSILONS, found.released.T, strict=True)]
    if fit == "two_stage" and s0 == _MANY.s0:
        rows.append({**common, "eps": None, "median": float(np.median(found.quiet)),
                     "mean": float(found.quiet.mean()),
                     "mean, own features nearby": float(found.quiet[found.near].mean()),
                     "mean, own features apart": float(found.quiet[~found.near].mean())})
    return rows


def _differing_work(form: Form) -> Work:
    repeats = 36 if form == "quick" else 400
    few = repeats // 3
    return Work(calls=(
        *(Call(f"{__name__}:fit_rows", (fit, _MANY.s0, repeats if fit == "two_stage" else few))
          for fit in _FITS),
        *(Call(f"{__name__}:fit_rows", (fit, s0, few)) for fit in ("two_stage", "local")
          for s0 in _SHARES if s0 != _MANY.s0)))


def _draw_differing(table: Table, theme: Theme) -> tuple[Panel, ...]:
    by_budget, by_share = [], []
    for fit, (name, role, dash, marker) in _FITS.items():
        rows = [row for row in rows_with(table, fit=fit, s0=_MANY.s0) if row["eps"] is not None]
        by_budget.append(Series(name, numbers(rows, "eps"), known(rows, "median"),
                                colour(role, theme), dash, marker))
        rows = sorted(rows_with(table, fit=fit, eps=1.0), key=lambda row: float(row["s0"] or 0))
        if len(rows) > 1:
            by_share.append(Series(name, numbers(rows, "s0"), known(rows, "median"),
                                   colour(role, theme), dash, marker))
    label = Scale("Squared error, median", log=True)
    return (Panel("Five features shared, two own", lines(
                by_budget, Scale("Protection ε", log=True), label, theme,
                "Errors of three ways of fitting against ε.")),
            Panel("Seven features, ε = 1", lines(
                by_share, Scale("Shared features s₀ of 7"), label, theme,
                "Errors of two ways of fitting against the number of shared features.")))


def _median(table: Table, fit: str, epsilon: float, s0: int = _MANY.s0) -> float:
    return numbers(rows_with(table, fit=fit, eps=epsilon, s0=s0), "median")[0]


def _reference(table: Table) -> Finding:
    off = [abs(math.log(_median(table, fit, epsilon) / stated))
           for fit, own in _REFERENCE.items()
           for epsilon, stated in zip(_EPSILONS, own, strict=True)]
    return Finding(max(off) < math.log(2), f"six medians, at most a factor of "
                   f"{math.exp(max(off)):.2f} apart")


def _two_stages(table: Table) -> Finding:
    ratios = [min(_median(table, fit, epsilon) for fit in ("local", "pooled"))
              / _median(table, "two_stage", epsilon) for epsilon in _EPSILONS]
    return Finding(min(ratios) > 1.5, "less by factors of " + ", ".join(
        f"{ratio:.1f}" for ratio in ratios) + " at ε = 1, 2, 4")


def _shared_help(table: Table) -> Finding:
    first, last = _median(table, "two_stage", 1.0, 1), _median(table, "two_stage", 1.0, 6)
    return Finding(last < first / 2, f"{first:.2g} with one shared, {last:.2g} with six of seven")


def _no_bias(table: Table) -> Finding:
    row = rows_with(table, fit="two_stage", eps=None)[0]
    near, apart = (float(row[name] or 0) for name in (
        "mean, own features nearby", "mean, own features apart"))
    return Finding(near < 3 * apart, f"without noise {near:.2g} where some machine’s own feature "
                   f"is within three of shared ones, {apart:.2g} elsewhere; median "
                   f"{row['median']:.2g}, mean {row['mean']:.2g}")


DIFFERING = Exhibit(
    "theorem-7", "Theorem 7: machines that differ",
    "Errors for eight machines with 30 000 rows each that share some coefficients and have own "
    "ones: fitted in two stages, machine by machine, and as if they were alike. Each data set has "
    "own features at other places.",
    _differing_work, _draw_differing, (
        Claim("Two stages err least, at every ε", _two_stages),
        Claim("The more features are shared, the less two stages err", _shared_help),
        Claim("Medians agree with independently worked-out ones, to a factor of two", _reference),
        Claim("Heterogeneity is no part of the error", _no_bias,
              "The first stage finds the shared part plus the average of the others. Where own "
              "features are correlated with shared ones that is a bias, which the bound of Theorem "
              "7 does not have.")))


# -- what the algorithms spend together ------------------------------------------------------------

_NOMINAL = 0.8
_TASKS = {"coefficients": "Coefficients", "one interval": "One interval",
          "an interval for every coefficient": "All 800 intervals",
          "a band around all coefficients": "A band",
          "one interval on one of several differing machines": "One interval, machines differ"}


def cost_rows() -> list[Row]:
    """What each task of the paper spends at its base point, where every release has ε = 0.8."""
    return [{"task": cost.task, "releases": cost.releases, "added": cost.added,
             "proved": cost.proved, "spent": cost.total}
            for cost in published_costs(_NOMINAL, 15, 4000, 800, 10, 500)]


def _costs_work(form: Form) -> Work:
    return Work(calls=(Call(f"{__name__}:cost_rows"),))


def _draw_costs(table: Table, theme: Theme) -> tuple[Panel, ...]:
    x = [float(k) for k in range(len(table))]
    series = [Series(name, x, known(table, column), colour(role, theme), marker=marker,
                     mode="markers") for name, column, role, marker in (
        ("ε of all releases, added up", "added", "bias", "triangle-up"),
        ("ε that is proved, by ρ", "proved", "sparse", "circle"))]
    series.append(Series("Stated", x, [_NOMINAL] * len(x), colour("without", theme), "2px,3px",
                         mode="lines"))
    names = tuple(_TASKS[str(row["task"])] for row in table)
    return (Panel("At the base point", lines(
        series, Scale("", names=names), Scale("Protection ε", log=True), theme,
        "What each task spends in two ways of counting, beside the stated ε.")),)


def _as_stated(table: Table) -> Finding:
    over = [row for row in table if float(row["spent"] or 0) > _NOMINAL * (1 + 1e-9)]
    worst = max(table, key=lambda row: float(row["spent"] or 0))
    return Finding(not over, f"{len(over)} of {len(table)} tasks spend more than {_NOMINAL:g}; "
                   f"{worst['task']} spends {worst['spent']:.0f}")


def _added(table: Table) -> Finding:
    stated = (0.8, 5.6, 1923.0, 1682.0, 6.4)
    off = max(abs(found / one - 1) for found, one in zip(numbers(table, "added"), stated,
                                                         strict=True))
    return Finding(off < 1e-3, ", ".join(f"{found:.4g}" for found in numbers(table, "added")))


COSTS = Exhibit(
    "budget", "Algorithms 2 to 10: what they spend together",
    "What the printed pipelines spend at the base point, where each of their releases has ε = 0.8: "
    "added up, and as zero-concentrated privacy proves it at the same δ.",
    _costs_work, _draw_costs, (
        Claim("Each interval and each band spends the ε it states", _as_stated,
              "They are put together from many releases of the same rows, each with the whole "
              "budget; nothing adds them up."),
        Claim("Numbers of releases are as counted by hand", _added)))
