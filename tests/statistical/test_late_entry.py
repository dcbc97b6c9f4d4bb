"""Coverage and error of survival with late entry, and of curves adjusted for strata.

Reference numbers are those of an independent study with other random numbers; shares are within
five standard errors of theirs, errors within a tenth.
"""

from functools import lru_cache

import numpy as np
import pytest

from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.mechanisms.study import Study
from engine.numerics.counts.contrasts import Contrasts
from engine.numerics.counts.curves import survival_curves
from engine.sources.event_times import EventTimes
from engine.topics.counting.answer import counting_study
from tests.heavy import all_but

SETS = 150
# People, ε: intervals, share of the follow-up that is shown, error where it is, error of a curve
# that ignores entry.
LATE = {
    (500, 1.0): (10, 0.62, 0.034, 0.092),
    (1000, 1.0): (13, 0.74, 0.022, 0.085),
    (4000, 0.5): (18, 0.88, 0.012, 0.078),
    (4000, 1.0): (23, 1.0, 0.0089, 0.074),
}


@lru_cache
def released(n, epsilon, **_):
    source = EventTimes(n_curves=n, late_share=0.6, follow_up=1.0)
    data = source.draw(SETS, generator(21, 0, 0))
    estimate = NoisyCounts().release_many(data, [(Budget(epsilon),)], 1, generator(21, 1, 0))
    table = estimate.released[0].picked(slice(None), 0)
    (curve,) = survival_curves(table)
    return source, data, curve


def least(share, sets=SETS):
    """Five standard errors below a share of so many data sets."""
    return share - 5 * np.sqrt(share * (1 - share) / sets)


def root_mean_square(off, curve):
    return np.sqrt((off[curve.drawn] ** 2).mean())


CELLS = list(LATE)


@pytest.mark.parametrize(("n", "epsilon"), all_but(CELLS[1:], CELLS), ids=str)
def test_late_entry_has_the_coverage_and_the_error_of_the_reference(n, epsilon):
    source, data, curve = released(n, epsilon)
    intervals, shown, error, ignoring = LATE[n, epsilon]
    edges = np.asarray(curve.edges[1:])
    true = np.asarray(source.truth.at(edges))
    assert len(edges) == intervals
    assert abs(float(curve.last.mean()) - shown) < 0.08
    assert root_mean_square(curve.values - true, curve) <= 1.1 * error
    inside = (curve.low - 1e-9 <= true) & (true <= curve.high + 1e-9)
    assert (inside | ~curve.drawn).all(axis=1).mean() >= least(0.95)
    each = (curve.pointwise_low <= true) & (true <= curve.pointwise_high)
    assert each[curve.drawn].mean() >= 0.93
    plain = NoisyCounts()
    facts = data.repeat(0).facts
    from_start = [
        plain.estimand.exact(data.time[r], data.status[r], facts) for r in range(min(SETS, 40))
    ]
    off = np.stack(from_start) - source.truth.grid_values
    assert np.sqrt((off**2).mean()) > 0.5 * ignoring > 2 * error * (n > 1000)


@pytest.mark.parametrize(("n", "epsilon"), all_but(CELLS[1:], CELLS), ids=str)
def test_without_the_allowance_for_intervals_limits_hold_as_often_as_in_the_reference(n, epsilon):
    """.99, .95, .94 and .94 of whole curves; standard errors are of 150 data sets on both sides."""
    source, _, curve = released(n, epsilon)
    true = np.asarray(source.truth.at(np.asarray(curve.edges[1:])))
    inside = np.abs(curve.values - true) <= curve.limits.simultaneous_width
    found = (inside | ~curve.drawn).all(axis=1).mean()
    wanted = {(500, 1.0): 0.99, (1000, 1.0): 0.95, (4000, 0.5): 0.94, (4000, 1.0): 0.94}
    share = wanted[n, epsilon]
    assert abs(found - share) < 5 * np.sqrt(2 * share * (1 - share) / SETS)


STRATA = [("lung", 800, 1.0), ("wei2", 800, 1.0), ("cure", 2000, 0.5), ("rare", 800, 1.0)]


@pytest.mark.parametrize(("design", "n", "epsilon"), all_but(STRATA[1:], STRATA), ids=str)
def test_bands_of_adjusted_curves_cover_as_they_say(design, n, epsilon):
    """In strata of 40, 30, 20 and 10 %."""
    study = counting_study(
        Study(
            source=EventTimes(n_curves=n, comparison="strata", design=design),
            mechanism=NoisyCounts(),
            budgets=(Budget(epsilon),),
            seed=22,
        ),
        SETS,
    )
    print(study)
    assert study.edges_drawn > 0.9
    assert study.simultaneous >= least(0.95) and study.pointwise >= 0.93


def test_bands_of_strata_over_sites_cover_where_nobody_knows_their_sizes():
    source = EventTimes(n_curves=2000, comparison="strata", sizes_public=False, n_servers=4)
    budgets = tuple(map(Budget, (1.0, 2.0, 2.0, 4.0)))
    study = Study(source=source, mechanism=NoisyCounts(), budgets=budgets, seed=25)
    counted = counting_study(study, SETS)
    print(counted)
    assert counted.edges_drawn > 0.9
    assert counted.simultaneous >= least(0.95) and counted.pointwise >= 0.93


def test_an_adjusted_curve_of_four_strata_has_the_error_of_the_reference():
    """.025 at 320, 240, 160 and 80 people, ε = 1; the half-width is .050 without allowances."""
    source = EventTimes(n_curves=800, comparison="strata", follow_up=1.0)
    data = source.draw(SETS, generator(23, 0, 0))
    estimate = NoisyCounts().release_many(data, [(Budget(1.0),)], 1, generator(23, 1, 0))
    (curve,) = survival_curves(estimate.released[0].picked(slice(None), 0))
    true = np.asarray(source.truth.at(np.asarray(curve.edges[1:])))
    assert root_mean_square(curve.values - true, curve) < 0.03
    half = curve.limits.simultaneous_width[curve.drawn].mean()
    assert 0.035 < half < 0.075


@pytest.mark.parametrize("n", all_but([4000], [1000, 4000]))
def test_differences_of_two_groups_who_enter_late_cover_the_truth(n):
    """At half of the follow-up, of hazards in the ratio 1.5."""
    source = EventTimes(
        n_curves=n, late_share=0.6, comparison="hazard ratio", ratio=1.5, follow_up=1.0
    )
    data = source.draw(SETS, generator(24, 0, 0))
    estimate = NoisyCounts().release_many(data, [(Budget(1.0),)], 1, generator(24, 1, 0))
    found = Contrasts.of(survival_curves(estimate.released[0].picked(slice(None), 0)))
    times = np.linspace(0, found.mean.until, 4001)
    curves = source.survival(times)
    areas = np.trapezoid(curves, times, axis=-1)
    for contrast, true in (
        (found.milestone, curves[0, -1] - curves[1, -1]),
        (found.mean, areas[0] - areas[1]),
    ):
        shown = np.isfinite(contrast.difference)
        off = np.abs(contrast.difference - true)[shown]
        print(shown.mean(), (off <= contrast.half_width[shown]).mean())
        assert shown.mean() > 0.7
        assert (off <= contrast.half_width[shown]).mean() >= least(0.95, shown.sum())
