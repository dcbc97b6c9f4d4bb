"""Synthetic people drawn from a released curve: what they keep, what not, and their watermark.

x_i(t) = f(t) + p(t)'Σ^½ Z_i, observed at simulated times of the stated design with normal errors of
variance σ², and moved into the bounds of the values. All of f, Σ and σ² is released or computed
from released numbers; Z and the times come from a passed generator and from nothing of the data.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

import numpy as np

from engine.answers.released_curve import ReleasedCurve
from engine.answers.spread import NUMBERS_FROM, refusal_of_spread
from engine.core.errors import InputError
from engine.core.types import Array
from engine.numerics.legendre import polynomial_rows
from engine.numerics.observation_times import draw_times
from engine.numerics.symmetric_matrices import matrix_root

MAX_PEOPLE, MAX_OBSERVATIONS = 100_000, 1_000
_TIMES = 101  # at which curves are given
KEPT = (
    "the released mean curve, up to chance in so many people",
    "how far people’s curves spread at each time, and how their values at two times go "
    "together, in a few basis functions",
    "percentiles, if people are roughly normal",
)
LOST = (
    "anybody’s own curve",
    "skewness, outliers, clusters and rare groups",
    "links with other variables",
    "detail beyond the basis functions of the release",
    "missing observations and the true times of visits",
)
OWN_UNCERTAINTY = (
    "More synthetic people add no information: to the squared standard error of "
    "whatever is computed from them, add that of the release itself."
)


@dataclass(frozen=True, eq=False)
class SyntheticPeople:
    """Simulated observations of people who do not exist."""

    # times, values, each (people, observations): in their own units
    times: Array
    values: Array
    curves: Array  # (people, times): the curves behind them, before errors and bounds, at `at`
    at: Array  # (times,): in the unit of times


def refusal_of_synthetic(curve: ReleasedCurve) -> str:
    """Why no synthetic people are drawn; empty where they are."""
    reason = refusal_of_spread(curve, NUMBERS_FROM)
    if not reason and not curve.is_whole:
        return (
            "No synthetic people: the mean curve may have finer detail than the release can "
            "draw, and they would lack it."
        )
    return reason


def synthetic_people(
    curve: ReleasedCurve, people: int, rng: np.random.Generator, observations: int | None = None
) -> SyntheticPeople:
    """Draw any number of synthetic people: nothing of the data is in them but the release.

    Each has `observations`, or as many as most people of the data.
    """
    reason = refusal_of_synthetic(curve)
    if reason:
        raise InputError(
            reason, field="synthetic", hint="Release with a larger budget or more people."
        )
    assert curve.spread is not None
    if observations is None:
        observations = max(curve.spread.observation_counts, key=lambda pair: pair[1])[0]
    for name, count, largest in (
        ("people", people, MAX_PEOPLE),
        ("observations", observations, MAX_OBSERVATIONS),
    ):
        if not 1 <= count <= largest:
            raise InputError(
                f"“{name}” must lie between 1 and {largest:,}; got {count:,}.", field=name
            )
    spread = curve.spread.estimate
    scores = rng.standard_normal((people, len(spread.covariance))) @ matrix_root(spread.covariance)

    def at(times: Array) -> tuple[Array, Array]:
        """The mean (…), and the basis functions of people (…, q)."""
        mean = curve.row_maps[0](times, 0) @ curve.centre + curve.public(times)
        return np.asarray(mean), polynomial_rows(scores.shape[1], times)

    grid = np.linspace(0.0, 1.0, _TIMES)
    mean, functions = at(grid)
    times = np.sort(draw_times(curve.spread.design, people, observations, rng), axis=1)
    heights, functions_there = at(times)
    values = heights + np.einsum("plq,pq->pl", functions_there, scores)
    values += np.sqrt(float(spread.error)) * rng.standard_normal(values.shape)
    facts = curve.facts
    return SyntheticPeople(
        np.asarray(facts.from_unit_time(times)),
        np.clip(values, facts.value_low, facts.value_high),
        mean + scores @ functions.T,
        np.asarray(facts.from_unit_time(grid)),
    )


def what_they_keep() -> str:
    """State what synthetic people keep of a release, what not, and what follows."""
    return f"They keep {'; '.join(KEPT)}. They do not keep {'; '.join(LOST)}. {OWN_UNCERTAINTY}"


def as_csv(synthetic: SyntheticPeople, curve: ReleasedCurve, mark: str) -> str:
    """The observations as a file: the watermark as its first line, then one row for each."""
    text = io.StringIO()
    text.write(f"# {' '.join(mark.split())}\n")
    writer = csv.writer(text, lineterminator="\n")
    facts = curve.facts
    writer.writerow(["synthetic person", facts.time_name, facts.value_name, "synthetic"])
    for index, (times, values) in enumerate(
        zip(synthetic.times.tolist(), synthetic.values.tolist(), strict=True), 1
    ):
        writer.writerows(
            [index, f"{time:.6g}", f"{value:.6g}", "yes"]
            for time, value in zip(times, values, strict=True)
        )
    return text.getvalue()
