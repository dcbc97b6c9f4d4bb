"""Experiments 7 and 8: what the theory says of networks of sites, and what privacy costs them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from engine.exhibits import Call, Claim, Exhibit, Finding, Form, Panel, Row, Table, Work
from engine.experiments import Cell, Outcome, Run
from engine.families.wavelet_sites import WaveletSites
from engine.figures.exhibits import Scale, Series, lines, styles
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.numerics.signals import SELF_SIMILAR_RADIUS
from engine.papers.comparing import agreement, known, numbers, rows_with
from engine.papers.federated_wavelets.errors import NAMES
from engine.rates.wavelet_regression import WaveletRate
from engine.sources.regression_points import CONFIGURATIONS, RegressionPoints
from engine.theme import Theme, colour
from engine.types import NON_PRIVATE, Budget

# -- 7: resolution, flags and regimes --------------------------------------------------------------

_GAMMAS = (0.6, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
_STATED = (0.75, 1.0, 2.0)
_KNOWN_D = {"homogeneous": (83.651164, 40.0, 9.146101),
            "dominant": (71.582484, 36.002619, 9.146101),
            "many_small": (61.682726, 36.846235, 9.146101),
            "mixed_eps": (79.338158, 40.0, 9.146101)}
_REGIMES = {"homogeneous": ("neither",) * 3, "dominant": ("regime 9",) * 3,
            "many_small": ("regime 8", "regime 8", "neither"), "mixed_eps": ("neither",) * 3}
_LEAST = {"homogeneous": 2.209e-4, "dominant": 2.949e-4, "many_small": 3.247e-4,
          "mixed_eps": 2.381e-4}


def network_rows(network: str) -> list[Row]:
    """Resolution D, who is held back by privacy and the regime, by the smoothness of the curve."""
    sites = WaveletSites(*(np.array(each, dtype=float) for each in CONFIGURATIONS[network]))
    rows: list[Row] = []
    for gamma in _GAMMAS:
        limited = sites.privacy_limited(gamma)
        rows.append({"network": network, "gamma": gamma, "resolution": sites.resolution(gamma),
                     "held back": float(limited.mean()), "regime": sites.regime(gamma),
                     "rate": sites.rate(gamma), "strictest held back": bool(
                         limited[sites.epsilon.argmin()]),
                     "least error, δ = 0": sites.pure_dp_lower_bound(1.0, 2.0)})
    return rows


def _networks_work(form: Form) -> Work:
    return Work(calls=tuple(Call(f"{__name__}:network_rows", (name,)) for name in CONFIGURATIONS))


def _draw_networks(table: Table, theme: Theme) -> tuple[Panel, ...]:
    panels = []
    for title, column, is_log in (("How fine a curve can be", "resolution", True),
                                  ("Whom privacy holds back", "held back", False)):
        series = [Series(NAMES[name], numbers(rows_with(table, network=name), "gamma"),
                         known(rows_with(table, network=name), column), shade, dash, marker)
                  for name, (shade, dash, marker) in zip(NAMES, styles(len(NAMES), theme),
                                                         strict=True)]
        label = "Resolution D (log scale)" if is_log else "Share of the sites"
        panels.append(Panel(title, lines(series, Scale("Smoothness γ"), Scale(label, is_log), theme,
                                         f"{title}, in four networks.")))
    return tuple(panels)


def _resolutions(table: Table) -> Finding:
    found = [numbers(rows_with(table, network=name, gamma=gamma), "resolution")[0]
             for name in _KNOWN_D for gamma in _STATED]
    return agreement(found, [value for own in _KNOWN_D.values() for value in own], 1e-7)


def _regimes(table: Table) -> Finding:
    found = {name: tuple(str(rows_with(table, network=name, gamma=gamma)[0]["regime"])
                         for gamma in _STATED) for name in _REGIMES}
    return Finding(found == _REGIMES, "; ".join(f"{NAMES[name].lower()}: {', '.join(own)}"
                                                for name, own in found.items()))


def _covered(table: Table) -> Finding:
    rows = [row for row in table if row["gamma"] == 1.0]
    gaps = [NAMES[str(row["network"])].lower() for row in rows if row["regime"] == "neither"]
    return Finding(not gaps, f"at γ = 1 in neither: {' and '.join(gaps)}")


def _tie(table: Table) -> Finding:
    row = rows_with(table, network="mixed_eps", gamma=1.0)[0]
    return Finding(bool(row["strictest held back"]), f"D = {row['resolution']:.10g}, and sites at "
                   "ε = 0.1 have nε² = 40")


def _lower_bounds(table: Table) -> Finding:
    found = [numbers(rows_with(table, network=name, gamma=1.0), "least error, δ = 0")[0]
             for name in _LEAST]
    return agreement(found, list(_LEAST.values()), 5e-4)


NETWORKS = Exhibit(
    "experiment-7", "Experiment 7: sites that privacy holds back",
    "The resolution D at which a curve can be learned in four networks, the share of the sites "
    "with nε² ≤ D, which privacy and not the number of their readings holds back, and the regime.",
    _networks_work, _draw_networks, (
        Claim("Resolutions agree with independently worked-out ones to six digits", _resolutions),
        Claim("Regimes at γ = ¾, 1 and 2 are as worked out", _regimes),
        Claim("Every network is in the regime without a dominant site or in that with one",
              _covered, "The two conditions leave a gap: sites that privacy does not hold back and "
              "of which none dominates."),
        Claim("A site with nε² equal to D counts as held back", _tie),
        Claim("The lower bounds for δ = 0 are as worked out", _lower_bounds)))


# -- 8: what privacy costs, over sites and budgets -------------------------------------------------

_READINGS = 65_536
_SITES = (1, 4, 16, 64, 256)
_EPSILONS = (0.03, 0.06, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
_SIMULATED = (0.25, 1.0, 4.0)
_SOURCE = RegressionPoints(signal="self_similar", n_curves=_READINGS, n_servers=16)
_MECHANISM = WaveletGlobal(radius=SELF_SIMILAR_RADIUS)


def site_errors(sites: int) -> list[Row]:
    """Exact errors over ε, as many readings in all on so many sites."""
    source, mechanism = replace(_SOURCE, n_servers=sites), _MECHANISM
    free = mechanism.exact_risk(source, (NON_PRIVATE,) * sites)
    rows: list[Row] = []
    for epsilon in _EPSILONS:
        budgets = (Budget(epsilon, 1e-5),) * sites
        plan = mechanism.plan(source.public, budgets)
        rows.append({"sites": sites, "epsilon": epsilon, "free": free, "bound": plan.criterion,
                     "exact": mechanism.exact_risk(source, budgets), "released": plan.released})
    return rows


def cost_rows(sites: int) -> list[Row]:
    """By how much the rates say privacy multiplies the error, for a curve and for a point."""
    epsilons = np.geomspace(0.003, 10, 31)
    n = _READINGS / sites
    curve, point = (WaveletRate(smoothness=gamma).cost_of_privacy(n=n, S=sites, epsilon=epsilons)
                    for gamma in (1.0, 0.75))
    return [{"cost of": what, "epsilon": float(epsilon), "factor": float(factor), "sites": sites}
            for what, factors in (("Whole curve", curve), ("One point", point))
            for epsilon, factor in zip(epsilons, factors, strict=True)]


def _sites_work(form: Form) -> Work:
    cells = tuple(Cell({"sites": 16, "epsilon": epsilon}, _SOURCE, _MECHANISM,
                       (Budget(epsilon, 1e-5),) * 16) for epsilon in _SIMULATED)
    return Work(cells, Run(40 if form == "quick" else 400, seed=8), (
        *(Call(f"{__name__}:site_errors", (sites,)) for sites in _SITES),
        Call(f"{__name__}:cost_rows", (16,))))


def _sites_row(outcome: Outcome) -> Row:
    found = outcome.summary("total_error") or {}
    return {**outcome.cell.at, "error": found["mean"], "se": found["se"],
            "repeats": outcome.repeats}


def _exact(table: Table, sites: int) -> list[Row]:
    return [row for row in rows_with(table, sites=sites) if "exact" in row]


def _draw_sites(table: Table, theme: Theme) -> tuple[Panel, ...]:
    series = [Series(f"{sites} site{'s' * (sites > 1)}", numbers(_exact(table, sites), "epsilon"),
                     known(_exact(table, sites), "exact"), shade, dash, marker)
              for sites, (shade, dash, marker) in zip(_SITES, styles(len(_SITES), theme),
                                                      strict=True)]
    drawn = [row for row in table if "error" in row]
    series.append(Series("16 sites, simulated", numbers(drawn, "epsilon"), known(drawn, "error"),
                         colour("truth", theme), marker="x", se=known(drawn, "se"),
                         mode="markers"))
    free = _exact(table, 1)
    series.append(Series("No protection", numbers(free, "epsilon"), known(free, "free"),
                         colour("without", theme), "8px,3px", mode="lines"))
    costs = [Series(what, numbers(rows, "epsilon"), known(rows, "factor"), colour(role, theme),
                    dash, mode="lines")
             for what, role, dash in (("Whole curve", "wavelet", "solid"),
                                      ("One point", "functional", "8px,3px"))
             for rows in [[row for row in table if row.get("cost of") == what]]]
    scale = Scale("Protection ε", log=True)
    return (Panel("As many readings on more sites", lines(
                series, scale, Scale("Mean squared error", log=True), theme,
                "Exact errors against ε, by the number of sites.")),
            Panel("What privacy multiplies the error by, sixteen sites", lines(
                costs, scale, Scale("By the rates", log=True), theme,
                "Cost of privacy against ε for the whole curve and a point.")))


def _more_sites(table: Table) -> Finding:
    at = [numbers([row for row in _exact(table, sites) if row["epsilon"] == 1.0], "exact")[0]
          for sites in _SITES]
    rising = all(a < b for a, b in pairwise(at))
    return Finding(rising, "at ε = 1: " + ", ".join(f"{error:.4f}" for error in at)
                   + " with 1, 4, 16, 64 and 256 sites")


def _falls(table: Table) -> Finding:
    worst = max(b / a for sites in _SITES
                for a, b in pairwise(numbers(_exact(table, sites), "exact")))
    return Finding(worst <= 1.0, f"from one ε to the next the error changes by a factor of at most "
                   f"{worst:.3f}")


def _bounded(table: Table) -> Finding:
    rows = [row for sites in _SITES for row in _exact(table, sites) if row["released"]]
    share = max(float(row["exact"] or 0) / float(row["bound"] or 1) for row in rows)
    return Finding(share <= 1, f"{len(rows)} plans, at most {100 * share:.0f} % of the bound")


def _elbow(table: Table) -> Finding:
    """The largest ε at which the factor of the rates is above one, beside n^{-1/2} N^{1/(4γ+2)}."""
    found = {}
    for what in ("Whole curve", "One point"):
        rows = [row for row in table if row.get("cost of") == what]
        found[what] = max(e for e, f in zip(numbers(rows, "epsilon"), numbers(rows, "factor"),
                                            strict=True) if f > 1 + 1e-9)
    n = _READINGS / 16
    stated = {"Whole curve": n**-0.5 * _READINGS ** (1 / 6), "One point": n**-0.5 * _READINGS**0.2}
    near = all(stated[what] / 1.4 < found[what] <= stated[what] for what in stated)
    return Finding(near, ", ".join(f"{what.lower()}: last above one at {found[what]:.3f}, elbow at "
                                   f"{stated[what]:.3f}" for what in stated))


def _agrees(table: Table) -> Finding:
    drawn = [row for row in table if "error" in row]
    exact = {row["epsilon"]: float(row["exact"] or 0) for row in _exact(table, 16)}
    apart = max(abs(float(row["error"] or 0) - exact[row["epsilon"]]) / float(row["se"] or 1)
                for row in drawn)
    return Finding(apart < 3.5, f"{len(drawn)} cells of {drawn[0]['repeats']} data sets, at most "
                   f"{apart:.1f} standard errors apart")


SITES = Exhibit(
    "experiment-8", "Experiment 8: what privacy costs, over sites and budgets",
    "Exact errors of a curve that is as rough as stated everywhere, with 65 536 readings on 1 to "
    "256 sites, against ε, and by how much the rates say privacy multiplies the error. A budget is "
    "that of each reading, wherever it is.", _sites_work, _draw_sites, (
        Claim("At ε = 1 the same readings on more sites have a larger error", _more_sites),
        Claim("The error falls as ε grows", _falls),
        Claim("Exact errors lie below the bound that the plan minimises", _bounded),
        Claim("Privacy costs nothing beyond the first elbow, which a point reaches at a larger ε",
              _elbow),
        Claim("Simulated errors are the exact ones, within 3.5 standard errors", _agrees)),
    row=_sites_row)
