"""Experiments 7 and 8: what the theory says of networks of sites, and what privacy costs them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from pandas import col

from engine.core.types import NON_PRIVATE, Budget
from engine.mechanisms.families.wavelets.sites import WaveletSites
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.numerics.signals import SELF_SIMILAR_RADIUS
from engine.rates.wavelet_regression import WaveletRate
from engine.simulation.experiments import Cell, Run
from engine.sources.regression_points import CONFIGURATIONS, RegressionPoints
from reproductions.drawing import curve, family, log, look, panel
from reproductions.evidence import agrees, as_exact, grows, number, where, within
from reproductions.exhibits import Call, Claim, Exhibit, Finding, Form, Panel, Row, Work
from reproductions.federated_wavelets.errors import NAMES, simulated_row

# -- 7: resolution, flags and regimes --------------------------------------------------------------

_GAMMAS = (0.6, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
_STATED = (0.75, 1.0, 2.0)
_KNOWN_D = {
    "homogeneous": (83.651164, 40.0, 9.146101),
    "dominant": (71.582484, 36.002619, 9.146101),
    "many_small": (61.682726, 36.846235, 9.146101),
    "mixed_eps": (79.338158, 40.0, 9.146101),
}
_REGIMES = {
    "homogeneous": ("neither",) * 3,
    "dominant": ("regime 9",) * 3,
    "many_small": ("regime 8", "regime 8", "neither"),
    "mixed_eps": ("neither",) * 3,
}
_SMALLEST_ERRORS = {
    "homogeneous": 2.209e-4,
    "dominant": 2.949e-4,
    "many_small": 3.247e-4,
    "mixed_eps": 2.381e-4,
}


def network_rows(network: str) -> list[Row]:
    """Plan resolution D, who is held back by privacy and the regime, by the curve's smoothness."""
    sites = WaveletSites(*(np.array(each, dtype=float) for each in CONFIGURATIONS[network]))
    rows: list[Row] = []
    for gamma in _GAMMAS:
        limited = sites.privacy_limited(gamma)
        rows.append(
            {
                "network": network,
                "gamma": gamma,
                "resolution": sites.resolution(gamma),
                "held back": float(limited.mean()),
                "regime": sites.regime(gamma),
                "rate": sites.rate(gamma),
                "strictest held back": bool(limited[sites.epsilon.argmin()]),
                "least error, δ = 0": sites.pure_dp_lower_bound(1.0, 2.0),
            }
        )
    return rows


def _draw_networks(table: pd.DataFrame) -> tuple[Panel, ...]:
    networks = {name: where(table, network=network) for network, name in NAMES.items()}
    return tuple(
        panel(
            title,
            family(networks, "gamma", column),
            "Smoothness γ",
            axis,
            f"{title}, in four networks.",
        )
        for title, column, axis in (
            ("How fine a curve can be", "resolution", log("Resolution D (log scale)")),
            ("Whom privacy holds back", "held back", "Share of the sites"),
        )
    )


def _at_gamma_one(table: pd.DataFrame, column: str) -> dict[Any, Any]:
    """Look up each network's value in a column at γ = 1."""
    return where(table, gamma=1.0).set_index("network")[column].to_dict()


def _regimes(table: pd.DataFrame) -> Finding:
    regimes = {
        network: tuple(
            where(table, network=network, gamma=gamma)["regime"].item() for gamma in _STATED
        )
        for network in _REGIMES
    }
    return Finding(
        regimes == _REGIMES,
        "; ".join(
            f"{NAMES[network].lower()}: {', '.join(each)}" for network, each in regimes.items()
        ),
    )


def _in_neither(table: pd.DataFrame) -> Finding:
    gaps = [
        NAMES[network].lower()
        for network, regime in _at_gamma_one(table, "regime").items()
        if regime == "neither"
    ]
    return Finding(bool(gaps), f"at γ = 1 in neither: {' and '.join(gaps)}")


NETWORKS = Exhibit(
    "experiment-7",
    "Experiment 7: sites that privacy holds back",
    "The resolution D at which a curve can be learned in four networks, the share of the sites "
    "with nε² ≤ D, which privacy and not the number of their observations holds back, and the "
    "regime.",
    lambda form: Work(calls=tuple(Call(network_rows, (name,)) for name in CONFIGURATIONS)),
    _draw_networks,
    (
        Claim(
            "Resolutions agree with independently worked-out ones to six digits",
            agrees(
                lambda t: [
                    number(t, "resolution", network=network, gamma=gamma)
                    for network in _KNOWN_D
                    for gamma in _STATED
                ],
                [value for stated in _KNOWN_D.values() for value in stated],
                1e-7,
            ),
            is_ours=True,
        ),
        Claim("Regimes at γ = ¾, 1 and 2 are as worked out", _regimes, is_ours=True),
        Claim(
            "The two regimes in focus leave a gap: sites that privacy does not hold back and of "
            "which none dominates",
            _in_neither,
            is_ours=True,
        ),
        Claim(
            "A site with nε² equal to D counts as held back",
            within(
                lambda t: {
                    "resolution": _at_gamma_one(t, "resolution")["mixed_eps"],
                    "held_back": _at_gamma_one(t, "strictest held back")["mixed_eps"],
                },
                1,
                of="held_back",
                text="D = {resolution:.10g}, and sites at ε = 0.1 have nε² = 40",
            ),
            is_ours=True,
        ),
        Claim(
            "The lower bounds for δ = 0 are as worked out",
            agrees(
                lambda t: [
                    number(t, "least error, δ = 0", network=network, gamma=1.0)
                    for network in _SMALLEST_ERRORS
                ],
                list(_SMALLEST_ERRORS.values()),
                5e-4,
            ),
            is_ours=True,
        ),
    ),
)


# -- 8: what privacy costs, over sites and budgets -------------------------------------------------

_READINGS = 65_536
_SITES = (1, 4, 16, 64, 256)
_EPSILONS = (0.03, 0.06, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
_SIMULATED = (0.25, 1.0, 4.0)
_SOURCE = RegressionPoints(signal="self_similar", n_curves=_READINGS, n_servers=16)
_MECHANISM = WaveletGlobal(radius=SELF_SIMILAR_RADIUS)


def site_errors(sites: int) -> list[Row]:
    """Compute exact errors over ε, as many observations in all on so many sites."""
    source, mechanism = replace(_SOURCE, n_servers=sites), _MECHANISM
    free = mechanism.exact_risk(source, (NON_PRIVATE,) * sites)
    rows: list[Row] = []
    for epsilon in _EPSILONS:
        budgets = (Budget(epsilon, 1e-5),) * sites
        plan = mechanism.plan(source.public, budgets)
        rows.append(
            {
                "sites": sites,
                "epsilon": epsilon,
                "free": free,
                "bound": plan.criterion,
                "exact": mechanism.exact_risk(source, budgets),
                "released": plan.released,
            }
        )
    return rows


def cost_rows(sites: int) -> list[Row]:
    """Compute by which factor privacy raises the error in the rates, for a curve and a point."""
    epsilons = np.geomspace(0.003, 10, 31)
    n = _READINGS / sites
    curve, point = (
        WaveletRate(smoothness=gamma).cost_of_privacy(n=n, S=sites, epsilon=epsilons)
        for gamma in (1.0, 0.75)
    )
    return [
        {"cost of": target, "epsilon": float(epsilon), "factor": float(factor), "sites": sites}
        for target, factors in (("Whole curve", curve), ("One point", point))
        for epsilon, factor in zip(epsilons, factors, strict=True)
    ]


def _sites_work(form: Form) -> Work:
    cells = tuple(
        Cell({"sites": 16, "epsilon": epsilon}, _SOURCE, _MECHANISM, (Budget(epsilon, 1e-5),) * 16)
        for epsilon in _SIMULATED
    )
    return Work(
        cells,
        Run(40 if form == "quick" else 400, seed=8),
        (*(Call(site_errors, (sites,)) for sites in _SITES), Call(cost_rows, (16,))),
    )


def _exact(table: pd.DataFrame) -> pd.DataFrame:
    """Select exact errors by sites and ε."""
    return table.dropna(subset="exact")


def _draw_sites(table: pd.DataFrame) -> tuple[Panel, ...]:
    by_sites = {
        f"{sites} site{'s' * (sites > 1)}": where(_exact(table), sites=sites) for sites in _SITES
    }
    simulated, free = table.dropna(subset="error"), by_sites["1 site"]
    series = [
        *family(by_sites, "epsilon", "exact"),
        curve(
            "16 sites, simulated",
            simulated["epsilon"],
            simulated["error"],
            look("truth", marker="x"),
            simulated["se"],
            mode="markers",
        ),
        curve(
            "No protection", free["epsilon"], free["free"], look("without", "8px,3px"), mode="lines"
        ),
    ]
    costs = []
    for subject, role, dash in (
        ("Whole curve", "wavelet", "solid"),
        ("One point", "functional", "8px,3px"),
    ):
        rows = where(table, **{"cost of": subject})
        costs.append(
            curve(subject, rows["epsilon"], rows["factor"], look(role, dash), mode="lines")
        )
    epsilon = log("Privacy budget ε")
    return (
        panel(
            "As many observations on more sites",
            series,
            epsilon,
            log("Mean squared error"),
            "Exact errors against ε, by the number of sites.",
        ),
        panel(
            "What privacy multiplies the error by, sixteen sites",
            costs,
            epsilon,
            log("By the rates"),
            "Cost of privacy against ε for the whole curve and a point.",
        ),
    )


def _elbow(table: pd.DataFrame) -> dict[str, object]:
    """Find the largest ε at which the rates’ factor is above 1, beside n^{-1/2} N^{1/(4γ+2)}."""
    ratios, words = [], []
    for subject, power in (("Whole curve", 1 / 6), ("One point", 0.2)):
        rows = where(table, **{"cost of": subject})
        last = rows["epsilon"][rows["factor"] > 1 + 1e-9].max()
        elbow = (_READINGS / 16) ** -0.5 * _READINGS**power
        ratios.append(last / elbow)
        words.append(f"{subject.lower()}: last above one at {last:.3f}, elbow at {elbow:.3f}")
    return {"ratios": ratios, "words": ", ".join(words)}


def _simulated(table: pd.DataFrame) -> pd.DataFrame:
    """Put simulated errors on 16 sites beside the exact ones."""
    simulated = table.dropna(subset="error").drop(columns="exact")
    return simulated.merge(where(_exact(table), sites=16)[["epsilon", "exact"]], on="epsilon")


SITES = Exhibit(
    "experiment-8",
    "Experiment 8: what privacy costs, over sites and budgets",
    "Exact errors of a curve that is as rough as stated everywhere, with 65 536 observations on 1 "
    "to 256 sites, against ε, and by how much the rates say privacy multiplies the error. A budget "
    "is that of each observation, wherever it is.",
    _sites_work,
    _draw_sites,
    (
        Claim(
            "At ε = 1 the same observations on more sites have a larger error",
            grows(
                lambda t: where(_exact(t), epsilon=1.0).sort_values("sites")["exact"],
                "at ε = 1: {0.each:.4f} with 1, 4, 16, 64 and 256 sites",
            ),
            place="Corollaries 1 and 2, and the text after them",
            extent="N and ε fixed, up to constants and logarithms",
        ),
        Claim(
            "The error falls as ε grows",
            within(
                lambda t: [
                    after / before
                    for sites in _SITES
                    for before, after in pairwise(where(_exact(t), sites=sites)["exact"])
                ],
                high=1,
                text="from one ε to the next the error changes by a factor of at most {0.high:.3f}",
            ),
            place="Corollaries 1 and 2",
            extent="sizes fixed, up to constants and logarithms",
        ),
        Claim(
            "Exact errors lie below the bound that the plan minimises",
            within(
                100 * col("exact") / col("bound"),
                high=100,
                on={"released": True},
                text="{0.count} plans, at most {0.high:.0f} % of the bound",
            ),
            is_ours=True,
        ),
        Claim(
            "Privacy costs nothing beyond the first elbow, which a point reaches at a larger ε",
            within(_elbow, 1 / 1.4, 1, of="ratios", text="{words}"),
            place="Corollaries 1 and 2, and the text after them",
            extent="up to constants and logarithms",
        ),
        Claim(
            "Simulated errors are the exact ones, within 3.5 standard errors",
            as_exact(_simulated),
            is_ours=True,
        ),
    ),
    row=simulated_row,
)
