"""Theorems 1, 2 and 7, and what the algorithms spend together."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
from pandas import col

from engine.core.random_streams import generator
from engine.core.types import Array
from engine.figures.theme import method_style
from engine.mechanisms.families.sparse.printed import published_costs
from engine.mechanisms.sparse_mean_laplace import SparseMeanLaplace
from engine.topics.sparse import means as sparse_means
from engine.topics.sparse.means import ALONE, BIT, PRINTED, ROW, TRUSTED
from reproductions.drawing import Scale, curve, level, log, look, panel
from reproductions.evidence import known, number, slope, when, where, within
from reproductions.exhibits import Call, Claim, Exhibit, Form, Panel, Reason, Row, Value, Work
from reproductions.sparse_federated import studies
from reproductions.sparse_federated.studies import FederationSetting

# -- Theorems 1 and 2: what trust is worth ---------------------------------------------------------

_MEANS = sparse_means.SparseMeanSetting(machines=20_000, height=0.02)  # signs see 2/√n at most
_AXES = {
    "size": ("Numbers in a row d", (50, 100, 200, 400, 800)),
    "machines": ("Machines m", (5000, 10_000, 20_000, 40_000, 80_000)),
    "epsilon": ("Privacy budget ε", (0.25, 0.5, 1.0, 2.0, 4.0)),
}
_METHODS = {
    BIT: ("sparse_mean_signs", "A machine hidden"),
    ROW: ("sparse_mean_laplace", "A row hidden"),
    TRUSTED: ("sparse_mean_trusted", "Trusted server"),
}
# Many machines at a small ε, where the printed bound lies far above what is attained.
_BOUND = sparse_means.SparseMeanSetting(
    machines=2_000_000, rows=10_000, size=200, n_nonzero=5, epsilon=0.05, height=0.5
)


def trust_rows(name: str, repeats: int) -> list[Row]:
    """Simulate errors of every way along one size, and compute the printed rate."""
    axis, values = _AXES[name]
    errors = sparse_means.along(_MEANS, name, tuple(map(float, values)), repeats)
    kind = type(getattr(_MEANS, name))
    rows: list[Row] = []
    for k, value in enumerate(values):
        printed = sparse_means.rates_of(replace(_MEANS, **{name: kind(value)}))[PRINTED]
        rows.append(
            {
                "along": axis,
                "x": value,
                "repeats": repeats,
                "printed": printed,
                **{label: known(errors[label][k]) for label in (BIT, ROW, TRUSTED, ALONE)},
            }
        )
    return rows


def bound_rows(repeats: int) -> list[Row]:
    """Put the error of hiding rows at one setting beside the printed lower bound for it."""
    errors = sparse_means.untrusted_errors(
        SparseMeanLaplace(sparsity=_BOUND.n_nonzero), _BOUND, repeats, generator(1, 1, 0)
    )
    return [
        {
            "along": "bound",
            "error": float(errors.mean()),
            "error_se": float(errors.std(ddof=1) / math.sqrt(repeats)),
            "printed": sparse_means.rates_of(_BOUND)[PRINTED],
        }
    ]


def _trust_work(form: Form) -> Work:
    repeats = 20 if form == "quick" else 200
    return Work(
        calls=(
            *(Call(trust_rows, (name, repeats)) for name in _AXES),
            Call(bound_rows, (3 if form == "quick" else 20,)),
        )
    )


def _draw_trust(table: pd.DataFrame) -> tuple[Panel, ...]:
    panels = []
    for axis, _ in _AXES.values():
        rows = where(table, along=axis)
        series = [
            curve(name, rows["x"], rows[label], method_style(key, "sparse"))
            for label, (key, name) in _METHODS.items()
        ]
        series += [
            curve("One machine", rows["x"], rows[ALONE], look("raw", "2px,3px", "square-open")),
            curve(
                "Printed rate",
                rows["x"],
                rows["printed"],
                look("without", "12px,3px,2px,3px"),
                mode="lines",
            ),
        ]
        panels.append(
            panel(
                axis,
                series,
                log(axis),
                log("Squared error"),
                f"Errors with and without trust against {axis}.",
            )
        )
    return tuple(panels)


def _along_length(table: pd.DataFrame) -> pd.DataFrame:
    return where(table, along=_AXES["size"][0])


def _growth_with_trust(table: pd.DataFrame) -> dict[str, float]:
    rows = _along_length(table)
    return {
        "ratio": rows[TRUSTED].iloc[-1] / rows[TRUSTED].iloc[0],
        "least": rows["x"].iloc[0],
        "most": rows["x"].iloc[-1],
    }


TRUST = Exhibit(
    "theorems-1-2",
    "Theorems 1 and 2: what trusting a server is worth",
    "Errors of a sparse mean against its length, the number of machines and ε: where nobody is "
    "trusted and each machine or each row is hidden, and with a trusted server; with the printed "
    "rate sd/(mnε²). 20 000 machines with 10 000 rows of 200 numbers at ε = 1 unless drawn.",
    _trust_work,
    _draw_trust,
    (
        Claim(
            "Where nobody is trusted the error grows linearly with the length",
            within(
                lambda t: slope((rows := _along_length(t))["x"], rows[ROW]),
                0.7,
                1.4,
                text="d^{:.2f} where a row is hidden and nobody trusted",
            ),
            place="Theorems 1 and 2",
            extent="up to constants",
        ),
        Claim(
            "With a trusted server it hardly grows",
            within(
                _growth_with_trust,
                high=2,
                of="ratio",
                text="{ratio:.2f} times from {least:g} to {most:g} numbers",
            ),
            place="Text after Theorem 2",
            extent="up to constants and logarithms",
        ),
        Claim(
            "A trusted server has the smaller error everywhere",
            within(col(ROW) / col(TRUSTED), 1, text="{0.low:.3g} to {0.high:.3g} times less"),
            place="Text after Theorem 2",
            extent="up to constants and logarithms",
        ),
        Claim(
            "No method without a trusted server has a smaller error than Theorem 1 says",
            within(
                {
                    "ratio": (col("error") + 4 * col("error_se")) / col("printed"),
                    "error": "error",
                    "printed": "printed",
                },
                1,
                of="ratio",
                text="an error of {error:.2g} is attained, where {printed:.2g} is stated as "
                "the least, up to a constant; with more rows the ratio goes to ε²",
            ),
            "The proof has a total variation of more than one and takes nε² for small. The bound "
            "is right for hiding whole machines, not for one of their many rows.",
            Reason.PROOF,
            place="Theorem 1",
            extent="up to a constant, one row of a machine hidden",
        ),
    ),
)


# -- Theorem 7: machines that differ ---------------------------------------------------------------

_MANY = FederationSetting(n=30_000, m=8, d=100, s=7, s0=5)
_EPSILONS = (1.0, 2.0, 4.0)
_FITS = {
    "two_stage": ("Shared, then own", "sparse", "solid", "circle"),
    "local": ("Each machine alone", "functional", "8px,3px", "diamond"),
    "pooled": ("As if alike", "bias", "2px,3px", "triangle-up"),
}
_N_SHARED = (1, 2, 3, 4, 5, 6)
# Medians over 100 designs, worked out independently: two stages, and each machine alone.
_REFERENCE = {"two_stage": (6.4e-4, 3.1e-4, 1.3e-4), "local": (4.3e-3, 1.3e-3, 3.7e-4)}


def fit_rows(fit: str, s0: int, repeats: int) -> list[Row]:
    """Compute medians and means of errors over designs, at each ε and without noise.

    All machines share s0 of the coefficients that are not 0.
    """
    errors = studies.errors(replace(_MANY, s0=s0), _EPSILONS, repeats, fit)
    common: dict[str, Value] = {"fit": fit, "s0": s0, "repeats": repeats}
    rows: list[Row] = [
        {
            **common,
            "eps": epsilon,
            "median": float(np.median(released)),
            "mean": float(released.mean()),
        }
        for epsilon, released in zip(_EPSILONS, errors.released.T, strict=True)
    ]
    if fit == "two_stage" and s0 == _MANY.s0:
        rows.append(
            {
                **common,
                "eps": None,
                "median": float(np.median(errors.noise_free)),
                "mean": float(errors.noise_free.mean()),
                "mean, own features nearby": float(errors.noise_free[errors.near].mean()),
                "mean, own features apart": float(errors.noise_free[~errors.near].mean()),
            }
        )
    return rows


def _differing_work(form: Form) -> Work:
    repeats = 36 if form == "quick" else 400
    few = repeats // 3
    return Work(
        calls=(
            *(
                Call(fit_rows, (fit, _MANY.s0, repeats if fit == "two_stage" else few))
                for fit in _FITS
            ),
            *(
                Call(fit_rows, (fit, s0, few))
                for fit in ("two_stage", "local")
                for s0 in _N_SHARED
                if s0 != _MANY.s0
            ),
        )
    )


def _draw_differing(table: pd.DataFrame) -> tuple[Panel, ...]:
    by_budget, by_share = [], []
    for fit, (name, role, dash, marker) in _FITS.items():
        style = look(role, dash, marker)
        rows = where(table, fit=fit, s0=_MANY.s0).dropna(subset="eps")
        by_budget.append(curve(name, rows["eps"], rows["median"], style))
        rows = where(table, fit=fit, eps=1.0).sort_values("s0")
        if len(rows) > 1:
            by_share.append(curve(name, rows["s0"], rows["median"], style))
    label = log("Squared error, median")
    return (
        panel(
            "Five features shared, two own",
            by_budget,
            log("Privacy budget ε"),
            label,
            "Errors of three ways of fitting against ε.",
        ),
        panel(
            "Seven features, ε = 1",
            by_share,
            "Shared features s₀ of 7",
            label,
            "Errors of two ways of fitting against the number of shared features.",
        ),
    )


def _medians(table: pd.DataFrame, fit: str) -> Array:
    """Select median errors of one way of fitting, by ε."""
    return np.array(
        [number(table, "median", fit=fit, eps=epsilon, s0=_MANY.s0) for epsilon in _EPSILONS]
    )


def _off_reference(table: pd.DataFrame) -> float:
    """Find the largest factor between medians and those that were worked out."""
    logs = [np.log(_medians(table, fit) / stated) for fit, stated in _REFERENCE.items()]
    return math.exp(np.abs(logs).max())


def _heterogeneity(table: pd.DataFrame) -> dict[str, float]:
    rows = where(table, fit="two_stage")
    row = rows[rows["eps"].isna()].iloc[0]
    near, apart = row["mean, own features nearby"], row["mean, own features apart"]
    return {
        "near": near,
        "apart": apart,
        "ratio": near / apart,
        "median": row["median"],
        "mean": row["mean"],
    }


DIFFERING = Exhibit(
    "theorem-7",
    "Theorem 7: machines that differ",
    "Errors for eight machines with 30 000 rows each that share some coefficients and have own "
    "ones: fitted in two stages, machine by machine, and as if they were alike. Each data set has "
    "own features at other positions.",
    _differing_work,
    _draw_differing,
    (
        Claim(
            "Two stages have the smallest error at every ε",
            within(
                lambda t: (
                    np.minimum(_medians(t, "local"), _medians(t, "pooled"))
                    / _medians(t, "two_stage")
                ),
                1.5,
                text="less by factors of {0.each:.1f} at ε = 1, 2, 4",
            ),
            place="Text after Theorem 7",
            extent="machines that share most features",
        ),
        Claim(
            "The more features are shared, the smaller the error of two stages",
            when(
                lambda x: bool(x[1] < x[0] / 2),
                lambda t: {
                    name: number(t, "median", fit="two_stage", eps=1.0, s0=shared)
                    for name, shared in (("first", 1), ("last", 6))
                },
                "{first:.2g} with one shared, {last:.2g} with six of seven",
            ),
            extent="up to constants",
        ),
        Claim(
            "Medians agree with independently worked-out ones, to a factor of two",
            within(_off_reference, high=2, text="six medians, at most a factor of {:.2f} apart"),
            is_ours=True,
        ),
        Claim(
            "Heterogeneity is no part of the error",
            within(
                _heterogeneity,
                high=3,
                of="ratio",
                text="without noise {near:.2g} where some "
                "machine’s own feature is within three of shared ones, {apart:.2g} elsewhere; "
                "median {median:.2g}, mean {mean:.2g}",
            ),
            "The first stage finds the shared part plus the average of the others. Where own "
            "features are correlated with shared ones that is a bias, which the bound of Theorem "
            "7 does not have.",
            Reason.PROOF,
            extent="up to constants",
        ),
    ),
)


# -- what the algorithms spend together ------------------------------------------------------------

_NOMINAL = 0.8
_BY_HAND = (0.8, 5.6, 1923.0, 1682.0, 6.4)  # ε of all releases of each task, by hand
_TASKS = {
    "coefficients": "Coefficients",
    "one interval": "One interval",
    "an interval for every coefficient": "All 800 intervals",
    "a band around all coefficients": "A band",
    "one interval on one of several differing machines": "One interval, machines differ",
}


def cost_rows() -> list[Row]:
    """List what each task of the paper spends at its base point, with ε = 0.8 per release."""
    return [
        {
            "task": cost.task,
            "releases": cost.releases,
            "added": cost.added,
            "proved": cost.proved,
            "spent": cost.total,
        }
        for cost in published_costs(_NOMINAL, 15, 4000, 800, 10, 500)
    ]


def _draw_costs(table: pd.DataFrame) -> tuple[Panel, ...]:
    x = np.arange(len(table), dtype=float)
    series = [
        curve(name, x, table[column], look(role, marker=marker), mode="markers")
        for name, column, role, marker in (
            ("ε of all releases, added up", "added", "bias", "triangle-up"),
            ("ε that is proved, by ρ", "proved", "sparse", "circle"),
        )
    ]
    series.append(level("Stated", x, [_NOMINAL] * len(x)))
    return (
        panel(
            "At the base point",
            series,
            Scale("", names=tuple(_TASKS[task] for task in table["task"])),
            log("Privacy budget ε"),
            "What each task spends in two ways of counting, beside the stated ε.",
        ),
    )


def _spent(table: pd.DataFrame) -> dict[str, object]:
    worst = table.sort_values("spent").iloc[-1]
    return {
        "spent": table["spent"],
        "over": (table["spent"] > _NOMINAL * (1 + 1e-9)).sum(),
        "count": len(table),
        "task": worst["task"],
        "most": worst["spent"],
    }


COSTS = Exhibit(
    "budget",
    "Algorithms 2 to 10: what they spend together",
    "What the printed pipelines spend at the base point, where each of their releases has ε = 0.8: "
    "added up, and as zero-concentrated privacy proves it at the same δ.",
    lambda form: Work(calls=(Call(cost_rows),)),
    _draw_costs,
    (
        Claim(
            "Each interval and each band spends the ε it states",
            within(
                _spent,
                high=_NOMINAL * (1 + 1e-9),
                of="spent",
                text="{over} of {count} tasks "
                f"spend more than {_NOMINAL:g}; {{task}} spends {{most:.0f}}",
            ),
            "They are put together from many releases of the same rows, each with the whole "
            "budget; nothing adds them up.",
            Reason.PRIVACY,
            place="Algorithms 6, 7, 9 and 10, Theorems 4, 5 and 8",
            extent="ε = 0.8",
        ),
        Claim(
            "Numbers of releases are as counted by hand",
            within(
                lambda t: {"added": t["added"], "ratio": t["added"] / np.array(_BY_HAND)},
                1 - 1e-3,
                1 + 1e-3,
                of="ratio",
                text="{added.each:.4g}",
            ),
            is_ours=True,
        ),
    ),
)
