"""Experiments 4 to 6: curves that do not close, times that are not even, and the clip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from engine.core.types import NON_PRIVATE, Budget
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.simulation.experiments import Cell, Outcome, Run
from engine.sources.regression_points import RegressionPoints, configuration_budgets
from reproductions.drawing import Scale, curve, log, look, panel
from reproductions.evidence import agrees, as_exact, number, when, where, within
from reproductions.exhibits import Call, Claim, Exhibit, Form, Panel, Row, Work

_NETWORK = "homogeneous"


def _measured(outcome: Outcome) -> Row:
    """Return the simulated error and, where there is a formula, the exact one."""
    summary, cell = outcome.summary("total_error") or {}, outcome.cell
    exact = cell.mechanism.exact_risk(cell.source, cell.budgets)
    return {
        **cell.at,
        "error": summary["mean"],
        "se": summary["se"],
        "exact": exact,
        "repeats": outcome.repeats,
    }


def _simulated(table: pd.DataFrame) -> pd.DataFrame:
    return table.dropna(subset="error")


_AGREE = Claim(
    "Simulated errors are the exact ones, within 3.5 standard errors",
    as_exact(lambda t: t.dropna(subset=["error", "exact"])),
    is_ours=True,
)


# -- 4: a curve that does not end where it began ---------------------------------------------------

_SMOOTH = WaveletGlobal(smoothness=2.0, radius=8.0)
BASES_TRIED: Mapping[str, WaveletGlobal] = {
    "Periodic": _SMOOTH,
    "Corrected edges": replace(_SMOOTH, edges="corrected", edge_noise="equal"),
    "Corrected, noise weighted": replace(_SMOOTH, edges="corrected", level=4, clip=3.6),
}
_KNOWN_BASES = (0.0313203, 0.00606597, 0.00382)
_PARTS = {
    "projection": ("Basis", "bias", "circle"),
    "clip": ("Clip", "functional", "triangle-up"),
    "data": ("Chance", "without", "square"),
    "privacy": ("Privacy noise", "wavelet", "diamond"),
}


def basis_parts(name: str) -> list[Row]:
    """Compute the parts of the exact error of one basis."""
    source = RegressionPoints(configuration=_NETWORK, signal="ramp")
    parts = BASES_TRIED[name].risk_parts(source, source.budgets())
    assert parts is not None
    return [{"basis": name, **{part: getattr(parts, part) for part in _PARTS}}]


def _bases_work(form: Form) -> Work:
    source = RegressionPoints(configuration=_NETWORK, signal="ramp")
    return Work(
        tuple(
            Cell({"basis": name}, source, mechanism, source.budgets())
            for name, mechanism in BASES_TRIED.items()
        ),
        Run(100 if form == "quick" else 400, seed=4),
        tuple(Call(basis_parts, (name,)) for name in BASES_TRIED),
    )


def _draw_bases(table: pd.DataFrame) -> tuple[Panel, ...]:
    simulated, parts = _simulated(table), table.dropna(subset="data")
    x = np.arange(len(BASES_TRIED))
    series = [
        curve(name, x + 0.15 * (k - 2), parts[part], look(role, marker=marker), mode="markers")
        for k, (part, (name, role, marker)) in enumerate(_PARTS.items())
    ]
    series.append(
        curve(
            "All together, simulated",
            x + 0.3,
            simulated["error"],
            look("truth", marker="cross"),
            simulated["se"],
            mode="markers",
        )
    )
    return (
        panel(
            "A curve that rises from one end to the other",
            series,
            Scale("Wavelets", names=tuple(BASES_TRIED)),
            log("Mean squared error"),
            "Parts of the error of a rising curve with three bases.",
        ),
    )


BASES = Exhibit(
    "experiment-4",
    "Experiment 4: a curve that does not end where it began",
    "What the basis cannot follow, what the clip shifts, chance in observations and privacy noise, "
    "as parts of the exact error, with periodic wavelets, with corrected edges, and with corrected "
    "edges that take more of the noise, for sixteen sites of 4000 observations at ε = 1.",
    _bases_work,
    _draw_bases,
    (
        Claim(
            "Exact errors agree with independently worked-out ones",
            agrees(lambda t: _simulated(t)["exact"], _KNOWN_BASES, 2e-3),
            is_ours=True,
        ),
        Claim(
            "Corrected edges bring the error down to a third or less, and weighted noise brings "
            "it further down",
            when(
                lambda x: bool(x[0] > 3 * x[1] > 3 * x[2]),
                lambda t: _simulated(t)["exact"],
                "{0.each:.4f}",
            ),
            is_ours=True,
        ),
        _AGREE,
    ),
    row=_measured,
)


# -- 5: times that are not spread evenly -----------------------------------------------------------

_DENSITY = "0.5, 1.5"
DESIGNS: Mapping[str, WaveletGlobal] = {
    "Taken for even": WaveletGlobal(),
    "Observations weighted": WaveletGlobal(design="weighted", density=_DENSITY),
    "Times ranked": WaveletGlobal(design="ranked", density=_DENSITY),
    "Density released": WaveletGlobal(design="released"),
}
_ROLES = {
    "Taken for even": ("bias", "triangle-up"),
    "Observations weighted": ("wavelet", "circle"),
    "Times ranked": ("functional", "diamond"),
    "Density released": ("sparse", "square"),
}
_SIZES = tuple(2**k for k in range(12, 25, 2))
_WITH, _FREE = "ε = 1", "No protection"
_BUDGETS = {_WITH: Budget(1.0, 1e-5), _FREE: NON_PRIVATE}
_SITES, _N = 16, 64_000


def design_errors(name: str, protection: str) -> list[Row]:
    """Compute exact errors of one treatment of rising times, by the number of observations."""
    rows: list[Row] = []
    for size in _SIZES:
        source = RegressionPoints(n_curves=size, n_servers=_SITES, times="rising")
        exact = DESIGNS[name].exact_risk(source, (_BUDGETS[protection],) * _SITES)
        rows.append({"design": name, "protection": protection, "n": size, "exact": exact})
    return rows


def _times_work(form: Form) -> Work:
    source = RegressionPoints(n_curves=_N, n_servers=_SITES, times="rising")
    cells = tuple(
        Cell(
            {"design": name, "protection": protection, "n": _N},
            source,
            mechanism,
            (budget,) * _SITES,
        )
        for protection, budget in _BUDGETS.items()
        for name, mechanism in DESIGNS.items()
    )
    return Work(
        cells,
        Run(30 if form == "quick" else 200, seed=5),
        tuple(
            Call(design_errors, (name, protection))
            for protection in _BUDGETS
            for name in ("Taken for even", "Observations weighted")
        ),
    )


def _draw_times(table: pd.DataFrame) -> tuple[Panel, ...]:
    panels = []
    for protection in _BUDGETS:
        series = []
        for name, (role, marker) in _ROLES.items():
            exact = _exact(table, name, protection)
            simulated = where(_simulated(table), design=name, protection=protection)
            if len(exact):
                series.append(
                    curve(f"{name}, exact", exact["n"], exact["exact"], look(role), mode="lines")
                )
            series.append(
                curve(
                    name,
                    simulated["n"],
                    simulated["error"],
                    look(role, marker=marker),
                    simulated["se"],
                    mode="markers",
                )
            )
        panels.append(
            panel(
                protection,
                series,
                log("Observations N"),
                log("Mean squared error"),
                f"{protection}: errors of four treatments of rising times.",
            )
        )
    return tuple(panels)


def _exact(table: pd.DataFrame, design: str, protection: str) -> pd.DataFrame:
    """Select exact errors over the number of observations."""
    rows = where(table, design=design, protection=protection)
    return rows[rows["error"].isna()] if "error" in rows else rows


def _taken_for_even(table: pd.DataFrame, protection: str) -> dict[str, float]:
    """Return errors with the fewest and the most observations."""
    exact = _exact(table, "Taken for even", protection)["exact"]
    return {"first": exact.iloc[0], "last": exact.iloc[-1], "ratio": exact.iloc[-1] / exact.iloc[0]}


def _with_repairs(table: pd.DataFrame) -> dict[str, float]:
    even, *repaired = (
        number(_simulated(table), "error", design=name, protection=_FREE)
        for name in ("Taken for even", "Observations weighted", "Times ranked")
    )
    return {"even": even, "worst": max(repaired), "ratio": max(repaired) / even}


TIMES = Exhibit(
    "experiment-5",
    "Experiment 5: times that are not spread evenly",
    "Errors where times have the density ½ + x: taken for even ones, with the known density used "
    "in two ways, and with the density released in the same message. Sixteen sites.",
    _times_work,
    _draw_times,
    (
        Claim(
            "Taken for even, the error stays however many observations there are",
            within(
                lambda t: _taken_for_even(t, _FREE),
                0.5,
                of="ratio",
                text="{first:.3f} with "
                f"{_SIZES[0]} observations and {{last:.3f}} with {_SIZES[-1]:.2g}, without "
                "protection",
            ),
            is_ours=True,
        ),
        Claim(
            "With the known density, weights and ranks each cut the error at least thirtyfold",
            within(
                _with_repairs,
                high=1 / 30,
                of="ratio",
                text="{even:.3f} taken for even, "
                "{worst:.4f} with the worse of the two repairs, without protection",
            ),
            is_ours=True,
        ),
        _AGREE,
    ),
    row=_measured,
)


# -- 6: the clip -----------------------------------------------------------------------------------

_CLIPS = (2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 4.0, 5.0)
_KNOWN_CLIPS = {2.0: 0.0316003, 2.5: 0.00934109, 3.0: 0.00479292, 3.5: 0.00489167}
_AS_IS, _UNDONE = "Clip left as it is", "Clip undone"


def _clips_work(form: Form) -> Work:
    source = RegressionPoints(configuration=_NETWORK)
    cells = tuple(
        Cell(
            {"clip": clip, "way": kind},
            source,
            WaveletGlobal(level=5, clip=clip, invert_clip=kind == _UNDONE),
            configuration_budgets(_NETWORK),
        )
        for kind in (_AS_IS, _UNDONE)
        for clip in _CLIPS
    )
    return Work(cells, Run(30 if form == "quick" else 200, seed=6))


def _draw_clips(table: pd.DataFrame) -> tuple[Panel, ...]:
    series = []
    for kind, role, marker, mode in (
        (_AS_IS, "bias", "triangle-up", "markers"),
        (_UNDONE, "wavelet", "circle", "lines+markers"),
    ):
        rows = where(table, way=kind)
        series.append(
            curve(
                kind, rows["clip"], rows["error"], look(role, marker=marker), rows["se"], mode=mode
            )
        )
    rows = where(table, way=_AS_IS)
    series.append(
        curve(
            "As it is, exact",
            rows["clip"],
            rows["exact"],
            look("text", "2px,3px"),
            mode="lines",
            width=1.5,
        )
    )
    return (
        panel(
            "Smooth curve within ±2",
            series,
            "Clip τ, in response units",
            log("Mean squared error"),
            "Error against the clip, with the clip left as it is and undone.",
        ),
    )


def _with_clip_undone(table: pd.DataFrame) -> dict[str, float]:
    undone = number(table, "error", way=_UNDONE, clip=2.0)
    best = where(table, way=_AS_IS)["exact"].min()
    return {"undone": undone, "best": best, "ratio": undone / best}


CLIPS = Exhibit(
    "experiment-6",
    "Experiment 6: the clip, and undoing it",
    "Error of a smooth curve against the clip of the observations, for sixteen sites of 4000 "
    "observations at ε = 1 and 2⁵ functions. A clip shifts the curve; for normal observations that "
    "can be undone from what is published.",
    _clips_work,
    _draw_clips,
    (
        Claim(
            "Exact errors agree with independently worked-out ones",
            agrees(
                lambda t: [number(t, "exact", way=_AS_IS, clip=clip) for clip in _KNOWN_CLIPS],
                list(_KNOWN_CLIPS.values()),
                1e-5,
            ),
            is_ours=True,
        ),
        Claim(
            "Undoing the clip makes a narrow one better than any clip left as it is",
            within(
                _with_clip_undone,
                high=0.8,
                of="ratio",
                text="{undone:.4f} undone at τ = 2, at best {best:.4f} as it is",
            ),
            is_ours=True,
        ),
        _AGREE,
    ),
    row=_measured,
)
