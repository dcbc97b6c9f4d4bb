"""Does the band of the adaptive mean hold on data as they come? A table of designs and people.

Each row repeats one scenario: data are drawn anew, released once, and the band is compared with the
mean of the people. Where the release carries a warning it is counted apart: what is asked of a band
is that it holds wherever it is given without one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget, CurveData
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.study import Study
from engine.simulation.metrics import coverage, integrated_squared_errors
from engine.sources import Source
from engine.sources.hormone_study import HormoneStudy
from engine.sources.sparse_curves import SparseCurves

POINTWISE, SIMULTANEOUS = (0.90, 0.99), 0.90  # what is asked of a band without a warning
_AT_ONCE = 10  # repeats
_BETA = ", ".join(f"{t * (1 - t):.4f}" for t in np.linspace(0, 1, 41))
_HALF_EARLY, _TRUNCATED = "3, 3, 3, 1, 1, 1, 1, 1, 1", "1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0"
_DESIGNS: dict[str, dict[str, Any]] = {
    "Beta(2, 2) times": {"times": "density", "time_density": _BETA},
    "times mostly early": {"times": "density", "time_density": _HALF_EARLY},
    "times end before the range": {"times": "density", "time_density": _TRUNCATED},
    "windows of a fifth": {"times": "windows", "time_span": 0.2},
    "common times": {"times": "common"},
}
_PEOPLE = {
    "two groups": "groups",
    "5 % outliers": "outliers",
    "exponential levels": "skewed",
    "heavy tails": "heavy",
}
_BOTH: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("windows of a fifth, two groups", "groups", _DESIGNS["windows of a fifth"]),
    ("visits a tenth apart, exponential levels", "skewed", {"times": "visits", "time_span": 0.1}),
    ("times mostly early, 5 % outliers", "outliers", _DESIGNS["times mostly early"]),
    ("common times, two groups", "groups", _DESIGNS["common times"]),
)
_CURVES: dict[str, dict[str, Any]] = {
    "steep start": {"mean": "growth"},
    "straight line": {"mean": "line", "value_low": -5.0, "value_high": 5.0},
    "four turns": {"mean": "wiggly"},
    "narrow peak": {"mean": "peak"},
    "fast drop at the start": {"mean": "drop"},
}


@dataclass(frozen=True)
class RepeatedStudy:
    """A row of a table, before it is measured."""

    label: str
    study: Study[Any]

    @property
    def budget(self) -> Budget:
        """The budget of every site."""
        return self.study.budgets[0]


@dataclass(frozen=True)
class Row:
    """Measurements of one setting; shares are of releases, or of the time range.

    `error` and `without_privacy` are root mean squared distances to the mean, in response units;
    `pointwise` and `simultaneous` coverage of releases without a warning, NaN where all have one,
    with the standard errors of both.
    """

    setting: RepeatedStudy
    effective_size: float
    error: float
    without_privacy: float
    pointwise: float
    simultaneous: float
    warned: float
    pointwise_error: float
    simultaneous_error: float

    @property
    def holds(self) -> bool:
        """True if the band has the required coverage, up to chance in the repeats of the row.

        The margin is two standard errors. A band that always carries a warning passes.
        """
        if np.isnan(self.pointwise):
            return True
        low, high = POINTWISE
        chance = 2 * self.pointwise_error
        return (
            low - chance <= self.pointwise <= high + chance
            and self.simultaneous >= SIMULTANEOUS - 2 * self.simultaneous_error
        )


def settings() -> Iterator[RepeatedStudy]:
    """List all rows: observations, designs stated and unknown, people who are not alike, curves."""
    for m in (1, 2, 3, 8, 30):
        yield _repeated(f"{m} even times each", _curves(m), AdaptiveMean())
    for label, design in _DESIGNS.items():
        for epsilon in (1.0, 4.0):
            yield _repeated(label, _curves(5, **design), AdaptiveMean(), epsilon)
            yield _repeated(
                f"{label}, unknown", _curves(5, **design), AdaptiveMean(design="unknown"), epsilon
            )
    yield _repeated("one time each, unknown", _curves(1), AdaptiveMean(design="unknown"))
    for label, law in _PEOPLE.items():
        for n in (250, 1000, 4000):
            yield _repeated(
                label, replace(_curves(8), n_curves=n, deviation_tails=law), AdaptiveMean()
            )
    for label, law, design in _BOTH:
        yield _repeated(
            label, replace(_curves(6), deviation_tails=law, **design), AdaptiveMean(), 4.0
        )
    for label, curve in _CURVES.items():
        for n, epsilon in ((250, 0.5), (250, 1.0), (1000, 1.0), (4000, 4.0)):
            yield _repeated(
                label,
                SparseCurves(n_curves=n, n_observations_per_curve=8, **curve),
                AdaptiveMean(),
                epsilon,
            )
    for epsilon in (0.5, 1.0, 3.0, 8.0):
        yield _repeated("hormone at yearly visits", HormoneStudy(), AdaptiveMean(), epsilon)
    yield _repeated(
        "hormone at visits, unknown", HormoneStudy(), AdaptiveMean(design="unknown"), 3.0
    )
    yield _repeated(
        "two groups, clipped tightly",
        replace(_curves(8), deviation_tails="groups"),
        AdaptiveMean(clipping="tight"),
    )


def _repeated(
    label: str, source: SparseCurves | HormoneStudy, mechanism: AdaptiveMean, epsilon: float = 1.0
) -> RepeatedStudy:
    """Make the row of a mean curve, with δ = 1/n²."""
    budgets = (Budget(epsilon, source.n_curves**-2.0),)
    return RepeatedStudy(label, Study(source=source, mechanism=mechanism, budgets=budgets))


def _curves(observations: int, **design: Any) -> SparseCurves:
    return SparseCurves(n_curves=1000, n_observations_per_curve=observations, **design)


def measured(setting: RepeatedStudy, repeats: int, seed: int) -> Row:
    """Repeat a setting so often, in blocks with random streams of their own."""
    parts = [
        _block(setting, min(_AT_ONCE, repeats - first), seed, first)
        for first in range(0, repeats, _AT_ONCE)
    ]
    squared, plain, before_noise, at_times, whole, warned = (
        np.concatenate(part) for part in zip(*parts, strict=True)
    )
    clear = ~warned.astype(bool)
    sizes = (
        AdaptiveMean().feasibility(setting.study.source.sizes, setting.study.budgets).effective_size
    )
    non_private = min(plain.mean(), before_noise.mean())
    return Row(
        setting,
        sizes,
        float(np.sqrt(squared.mean())),
        float(np.sqrt(non_private)),
        _mean(at_times[clear]),
        _mean(whole[clear]),
        float(warned.mean()),
        standard_error(at_times[clear]),
        standard_error(whole[clear]),
    )


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else float("nan")


def standard_error(shares: Array) -> float:
    """Compute the standard error of the mean of shares (repeats,); infinite for fewer than two."""
    return float(shares.std(ddof=1) / np.sqrt(len(shares))) if len(shares) > 1 else math.inf


def _block(setting: RepeatedStudy, repeats: int, seed: int, first: int) -> tuple[Array, ...]:
    """Measure squared errors, coverage of both bands, and warnings.

    Errors are those of releases, of least squares, and of releases before noise is added.
    """
    source: Source[CurveData] = setting.study.source
    data = source.draw(repeats, generator(seed, DATA_STREAM, first))
    mechanism = setting.study.mechanism
    estimate = mechanism.release_many(
        data, [setting.study.budgets], 1, generator(seed, NOISE_STREAM, first)
    )
    plain = mechanism.without_protection(data)
    assert estimate.band is not None
    covered = []
    for kind in ("pointwise", "simultaneous"):
        inside = coverage(replace(estimate, band=replace(estimate.band, kind=kind)), data.truth)
        assert inside is not None
        covered.append(inside.of_curve[0, :, 0])
    before_noise = replace(estimate, coefficients=estimate.unprotected[:, :, None])
    squared = [
        integrated_squared_errors(each, data.truth).total
        for each in (estimate, plain, before_noise)
    ]
    return (
        *[errors[0, :, 0] for errors in squared if errors is not None],
        *covered,
        estimate.is_doubted[0, :, 0].astype(float),
    )


def as_markdown(rows: list[Row]) -> str:
    """Write the table for the notes on the methods."""
    names = (
        "Design and people",
        "n",
        "m",
        "ε",
        "N",
        "Error",
        "Non-private",
        "Pointwise",
        "Simultaneous",
        "Warned",
    )
    return notes_table(names, map(_cells, rows))


def notes_table(names: Sequence[str], rows: Iterable[Sequence[str]], n_texts: int = 1) -> str:
    """Write a Markdown table for the notes on the methods.

    The first `n_texts` columns are texts, aligned left; the others are numbers.
    """
    ruler = "|--" * n_texts + "|--:" * (len(names) - n_texts) + "|"
    lines = [f"| {' | '.join(cells)} |" for cells in (names, *rows)]
    return "\n".join([lines[0], ruler, *lines[1:]]) + "\n"


def _cells(row: Row) -> Sequence[str]:
    sizes = row.setting.study.source.sizes
    return (
        row.setting.label,
        f"{sizes.n_curves}",
        f"{sizes.fewest_per_curve}",
        f"{row.setting.budget.epsilon:g}",
        f"{row.effective_size:.0f}",
        f"{row.error:.3g}",
        f"{row.without_privacy:.3g}",
        share_text(row.pointwise),
        share_text(row.simultaneous),
        f"{row.warned:.0%}".replace("%", " %"),
    )


def share_text(value: float) -> str:
    """Write a share between 0 and 1 as a cell; a dash for none."""
    return "–" if np.isnan(value) else f"{value:.2f}".lstrip("0") if value < 1 else "1.00"
