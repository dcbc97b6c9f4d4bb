"""Figure 4, the data example, on a synthetic twin of the study."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from engine.core.types import Array, Budget, CurveData
from engine.mechanisms import Mechanism
from engine.sources.hormone_study import HormoneStudy
from reproductions.drawing import curve, ends, log, look, means, panel
from reproductions.evidence import Line, all_fall, digits, groups, where
from reproductions.exhibits import Call, Claim, Exhibit, Finding, Panel, Reason, Row, Work
from reproductions.functional_mean.designs import BY_RULE, DELTA, HIGH, LOW, OURS

_STUDY = HormoneStudy()
_HELD_BACK = 226  # women of 678 behind the estimate without privacy
_GRID = np.linspace(0, 1, 41)
_SHOWN = (1.0, 8.0)  # ε of the curves
_RANGE = _STUDY.facts.value_high  # pg/mL: 0 to 500 becomes 0 to 1, where the paper starts from 0
_PUBLISHED = replace(BY_RULE, baseline="gradient_descent", value_scale="raw", extension=0.25)


# -- calculations -------------------------------------------------------------------------------


def distances(repeats: int, seed: int) -> list[Row]:
    """Measure the squared distance of private curves from one without privacy, over ε.

    One study is drawn; in each repeat a random third of it gives the curve without privacy, by
    plain gradient descent, and the rest the private ones. Distances are on the scale on which
    0 to 500 pg/mL is 0 to 1.
    """
    rng = np.random.default_rng(seed)
    study = _study(rng)
    order = rng.permuted(np.tile(np.arange(study.n_curves), (repeats, 1)), axis=1)
    held_back, rest = (_women(study, part) for part in np.split(order, [_HELD_BACK], axis=1))
    reference = _without_privacy(held_back, rng)
    rows: list[Row] = []
    for name, mechanism in (("published", _PUBLISHED), ("ours", OURS)):
        epsilons = LOW + HIGH if name == "published" else (1.0, 8.0)
        curves = _released(mechanism, rest, epsilons, 1, rng)[:, :, 0]
        apart = ((curves - reference) ** 2).mean(axis=-1)
        rows += [
            {
                "part": "distance",
                "estimator": name,
                "epsilon": epsilon,
                "error": digits(float(squares.mean())),
                "se": digits(float(squares.std(ddof=1) / math.sqrt(repeats))),
                "repeats": repeats,
            }
            for epsilon, squares in zip(epsilons, apart, strict=True)
        ]
    return rows


def curves(runs: int, seed: int) -> list[Row]:
    """Draw the study without privacy, and mean, middle 90 % and first of many private curves."""
    rng = np.random.default_rng(seed)
    study = _study(rng)
    reference = _without_privacy(study, rng)[0]
    released = _released(_PUBLISHED, study, _SHOWN, runs, rng)[:, 0]
    ages = _STUDY.facts.from_unit_time(_GRID)
    return [
        {
            "part": "curve",
            "epsilon": epsilon,
            "age": digits(float(age)),
            **{
                name: round(_RANGE * float(value), 2)
                for name, value in (
                    ("without", reference[k]),
                    ("mean", of[:, k].mean()),
                    ("single", of[0, k]),
                    ("low", np.quantile(of[:, k], 0.05)),
                    ("high", np.quantile(of[:, k], 0.95)),
                )
            },
        }
        for epsilon, of in zip(_SHOWN, released, strict=True)
        for k, age in enumerate(ages)
    ]


def _study(rng: np.random.Generator) -> CurveData:
    """Draw one synthetic study, its observations mapped to [0, 1] by the public bounds."""
    drawn = _STUDY.draw(1, rng)
    facts = replace(drawn.facts, value_low=0.0, value_high=1.0)
    return replace(drawn, values=drawn.values / _RANGE, facts=facts, truth=None)


def _women(study: CurveData, women: Array) -> CurveData:
    """Select data sets of these women of one study, women (repeats, women)."""
    m = _STUDY.n_visits
    times, readings = (
        part[0].reshape(-1, m)[women].reshape(len(women), -1)
        for part in (study.times, study.values)
    )
    count = women.shape[1]
    return CurveData(times, readings, np.full(count, m), np.zeros(count, int), study.facts)


def _without_privacy(data: CurveData, rng: np.random.Generator) -> Array:
    """Run plain gradient descent on all curves, as long as the private one: (repeats, grid)."""
    budget = (Budget(8.0, DELTA),)
    estimate = _PUBLISHED.release_many(data, [budget], 1, rng)
    return estimate.on_grid(estimate.unprotected[0], _GRID)


def _released(
    mechanism: Mechanism,
    data: CurveData,
    epsilons: tuple[float, ...],
    draws: int,
    rng: np.random.Generator,
) -> Array:
    """Release private curves on [0, 1]: (budgets, repeats, draws, grid)."""
    budgets = [(Budget(epsilon, DELTA),) for epsilon in epsilons]
    return mechanism.release_many(data, budgets, draws, rng).values(_GRID)


# -- drawings and claims ------------------------------------------------------------------------


def _draw(table: pd.DataFrame) -> tuple[Panel, ...]:
    return (
        _distance_panel(table),
        *(_curve_panel(rows, epsilon) for epsilon, rows in _curves(table).items()),
    )


def _curves(table: pd.DataFrame) -> dict[float, pd.DataFrame]:
    """Select curves of the whole study by ε."""
    return {epsilon: rows for (epsilon,), rows in groups(where(table, part="curve"), ["epsilon"])}


def _distance_panel(table: pd.DataFrame) -> Panel:
    series = [
        means(label, _distance(table, name), look(role, dash, marker))
        for name, label, role, dash, marker in (
            ("published", "as published", "gradient", "8px,3px", "diamond-open"),
            ("ours", "our default", "without", "solid", "square"),
        )
    ]
    return panel(
        "Distance from women held back",
        series,
        log("Privacy budget ε (log scale)"),
        log("Mean squared distance, range = 1 (log scale)"),
        f"Mean squared distance between private curves and one without privacy on other "
        f"women, over ε. {ends(series, '.2g')}.",
    )


def _distance(table: pd.DataFrame, estimator: str) -> Line:
    return Line.of(table, "epsilon", part="distance", estimator=estimator)


def _curve_panel(rows: pd.DataFrame, epsilon: float) -> Panel:
    series = [
        curve(name, rows["age"], rows[column], look(role, dash), mode="lines", width=width)
        for column, name, role, dash, width in (
            ("without", "without privacy", "without", "2px,3px", 2.0),
            ("mean", "mean of 100 runs", "gradient", "solid", 2.6),
            ("single", "one run", "bias", "8px,3px", 1.6),
            ("low", "5 % of runs below", "gradient", "1px,3px", 1.2),
            ("high", "5 % of runs above", "gradient", "1px,3px", 1.2),
        )
    ]
    middle = rows["high"] - rows["low"]
    return panel(
        f"ε = {epsilon:g}, the same study 100 times",
        series,
        "Age (years)",
        "Estradiol (pg/mL)",
        f"At ε = {epsilon:g} the mean of 100 private curves is at most "
        f"{(rows['mean'] - rows['without']).abs().max():.0f} pg/mL from the curve without "
        f"privacy; the middle 90 % of runs is {middle.min():.0f} to {middle.max():.0f} "
        "pg/mL wide.",
    )


def _root_mean_square(column: pd.Series[float]) -> float:
    return math.sqrt((column**2).mean())


def _typical_distance(rows: pd.DataFrame) -> float:
    """Estimate how far a run is off: the middle 90 % of runs is 3.29 standard deviations wide."""
    return _root_mean_square((rows["high"] - rows["low"]) / 3.29)


def _mean_tracks(table: pd.DataFrame) -> Finding:
    """Check that the mean is within a quarter of how far a single run typically is."""
    distances = {
        epsilon: (_root_mean_square(rows["mean"] - rows["without"]), _typical_distance(rows))
        for epsilon, rows in _curves(table).items()
    }
    return Finding(
        all(mean <= typical / 4 for mean, typical in distances.values()),
        "From the curve without privacy the mean of 100 runs is "
        + " and ".join(
            f"{mean:.1f} against {typical:.1f} pg/mL at ε = {epsilon:g}"
            for epsilon, (mean, typical) in distances.items()
        )
        + " for a typical run.",
    )


def _single_strays(table: pd.DataFrame) -> Finding:
    """Check that a typical run is further off than half the fall over age."""
    rows = _curves(table)[1.0]
    fall_over_age, typical = float(np.ptp(rows["without"])), _typical_distance(rows)
    return Finding(
        typical > fall_over_age / 2,
        f"At ε = 1 a typical run is {typical:.0f} pg/mL off, and over all ages "
        f"the curve without privacy moves by {fall_over_age:.0f} pg/mL.",
    )


_TWIN = "The study is licensed; this is a synthetic twin of it, which behaves in the same way."
FIGURE_4 = Exhibit(
    "figure-4",
    "Figure 4: estradiol by age, on a synthetic twin",
    "678 synthetic women with six visits each, in the shape of the paper's data example; the real "
    "file is licensed. Left: a random third gives a curve without privacy, the rest private ones, "
    "δ = 0.001. Then the whole study, released 100 times. Ages and observations are scaled by "
    "public bounds, where the paper takes the smallest and largest of the data. To publish 100 "
    "runs of one study would cost ten times the μ of one: this is an illustration.",
    lambda form: Work(
        calls=(Call(distances, (100 if form == "full" else 50, 11)), Call(curves, (100, 12)))
    ),
    _draw,
    (
        Claim(
            "The distance falls as ε grows.",
            all_fall(lambda t: [_distance(t, "published")], "From ε = 0.5 to 8 {}."),
            _TWIN,
            Reason.DATA,
        ),
        Claim(
            "The mean of the private curves tracks the curve without privacy.",
            _mean_tracks,
            _TWIN,
            Reason.DATA,
        ),
        Claim("A single private curve need not, at small ε.", _single_strays, _TWIN, Reason.DATA),
    ),
    extent="678 women, six visits each",
)

EXHIBITS: tuple[Exhibit, ...] = (FIGURE_4,)
