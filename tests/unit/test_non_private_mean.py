"""Real curves are compared with one mean of them, whatever a method smooths or cuts."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from engine.core.grids import drawing_grid
from engine.core.types import Budget
from engine.mechanisms.adaptive_mean import FEATURES, AdaptiveMean
from engine.mechanisms.study import Study
from engine.simulation.non_private import non_private_mean
from engine.sources.bundled import AirportTemperature
from engine.topics.mean.answer import mean_over_budgets
from engine.topics.mean.error_parts import error_parts
from engine.uploads.curves import Upload
from engine.uploads.design import StatedDesign
from engine.uploads.facts import declare
from tests import files
from tests.readings import curves_in
from tests.sentences import of_topic

wording = of_topic("mean")

N_PEOPLE, TIMES = 80, tuple(np.linspace(0, 100, 201))


AT = np.array(TIMES) / 100


@cache
def upload(mean, low=0, high=100, times=TIMES):
    """People whose curves are shifted copies of a mean curve, one column for each time."""
    times = np.array(times)
    rng = np.random.default_rng(3)
    values = (
        mean(times / 100)
        + rng.normal(0, 5, (N_PEOPLE, 1))
        + rng.normal(0, 1, (N_PEOPLE, len(times)))
    )
    frame = pd.DataFrame(values.round(2), columns=[f"{t:g}" for t in times])
    frame.insert(0, "id", [f"p{i}" for i in range(N_PEOPLE)])
    facts = declare(
        value_low=low,
        value_high=high,
        time_low=0,
        time_high=100,
        origin="a manual",
        design=StatedDesign(law="common", times=tuple(times)),
        observations=len(times),
    )
    return Upload(curves=curves_in(files.csv(frame)), declared=facts)


def peak(t):
    return 20 + 50 * np.exp(-(((t - 0.3) / 0.02) ** 2))


def line(t):
    return 20 + 10 * t


def low_line(t):
    return 52 + 20 * t


def sample_mean(source):
    """Of each time, at that time."""
    return source.curves.values.reshape(N_PEOPLE, -1).mean(axis=0)


def test_a_peak_too_narrow_for_the_default_method_is_drawn():
    source = upload(peak)
    at_times = non_private_mean(source).values(AT)[0, 0, 0]
    assert np.abs(at_times - sample_mean(source)).max() < 1
    smoothed = AdaptiveMean().without_protection(source.draw(1, None)).values(AT)[0, 0, 0]
    assert np.abs(smoothed - sample_mean(source)).max() > 15


def test_curves_that_few_functions_draw_get_no_more():
    source = upload(lambda t: 20 + 40 * t)
    plain = AdaptiveMean().without_protection(source.draw(1, None))
    mean = non_private_mean(source)
    assert mean.basis.size == plain.basis.size
    grid = drawing_grid()
    assert np.allclose(mean.values(grid), plain.values(grid), atol=1e-6)
    assert np.allclose(mean.band.covariance, plain.band.covariance, rtol=1e-5)


def test_the_means_at_a_few_visits_are_joined_by_a_smooth_curve():
    visits = np.array([0.0, 4.0, 12.0, 25.0, 50.0, 100.0])
    source = upload(lambda t: 20 + 40 * (1 - np.exp(-4 * t)), times=tuple(visits))
    grid = drawing_grid()
    for mean in (non_private_mean(source), AdaptiveMean().without_protection(source.draw(1, None))):
        at_visits = mean.values(visits / 100)[0, 0, 0]
        assert np.abs(at_visits - sample_mean(source)).max() < 0.1
        assert np.abs(mean.values(grid)[0, 0, 0] - 20 - 40 * (1 - np.exp(-4 * grid))).max() < 5


def test_observations_beyond_the_bounds_count_as_recorded_and_releases_move_them_to_the_bound():
    source = upload(low_line, low=55)
    data = source.draw(1, None)
    moved = replace(data, values=np.maximum(data.values, 55))
    assert data.values.min() < 55 and np.array_equal(
        *(AdaptiveMean().without_protection(each).coefficients for each in (data, moved))
    )
    at_times = non_private_mean(source).values(AT)[0, 0, 0]
    assert np.abs(at_times - sample_mean(source)).max() < 2


def test_one_impossible_value_does_not_move_what_releases_are_compared_with():
    source = upload(line, low=0, high=60)
    values = source.curves.values.copy()
    values[1234] = 9999.0
    slipped = replace(source, curves=replace(source.curves, values=values))
    grid = drawing_grid()
    clean, moved = (non_private_mean(one).values(grid)[0, 0, 0] for one in (source, slipped))
    assert np.abs(moved - clean).max() < 1
    errors = [
        mean_over_budgets(one, AdaptiveMean(), 1e-4, 1, (4.0,)).study.error.max()
        for one in (source, slipped)
    ]
    assert errors[1] < 1.2 * errors[0]


def test_the_holder_hears_of_many_observations_beyond_the_bounds_and_not_of_one():
    def told(source):
        return [doubt for doubt in source.doubts if "non-private mean" in doubt]

    few = upload(line, low=0, high=60)
    assert not told(few)
    values = few.curves.values.copy()
    values[1234] = 9999.0
    assert not told(replace(few, curves=replace(few.curves, values=values)))
    wording.found("recorded", told(upload(low_line, low=55))[0])


def test_what_is_smoothed_away_or_cut_off_is_part_of_the_distance_and_warned_of():
    for source, away, warning in (
        (upload(peak), 3.9, FEATURES[:40]),
        (upload(lambda t: 90 + 30 * (t < 0.45), 0, 100), 8.0, "lie beyond the stated bound 100"),
    ):
        shown = mean_over_budgets(source, AdaptiveMean(), 1e-4, 1, (4.0, 8.0))
        assert shown.from_own_mean.min() > away
        assert any(warning in text for text in shown.warnings[-1])
        parts = error_parts(
            Study(source=source, mechanism=AdaptiveMean(), budgets=(Budget(8.0, 1e-4),))
        )
        assert np.abs(parts.steps.ordinary - shown.ordinary).max() < 1e-9


def test_the_holder_is_told_where_many_observations_lie_beyond_the_bounds():
    wording.found("below stated bounds", upload(low_line, low=55).doubts)
    assert not any("stated bounds" in doubt for doubt in upload(peak).doubts)


@pytest.mark.parametrize("servers", [(), (1,), (0, 2)])
def test_sites_have_the_mean_of_their_own_curves(servers):
    source = AirportTemperature(n_servers=3, n_curves=300)
    data = source.draw(1, None)
    wanted = AdaptiveMean().without_protection(data.of_servers(servers) if servers else data)
    mean = non_private_mean(source, servers)
    assert np.allclose(mean.values(drawing_grid()), wanted.values(drawing_grid()), atol=1e-6)
