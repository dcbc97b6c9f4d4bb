"""Growth, glucose, activity and electricity: their truths, what differs between people, and their bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.core.units import GLUCOSE
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.simulation.metrics import coverage
from engine.sources import sources
from engine.sources.activity_days import ActivityDays, rhythm
from engine.sources.electricity_days import ElectricityDays, load_shape
from engine.sources.glucose_days import GlucoseDays
from engine.sources.growth_curves import GrowthCurves
from engine.sources.human_curves import HumanCurves
from tests.heavy import few

PRESETS = [
    cls(**chosen)
    for cls in sources.all()
    if issubclass(cls, HumanCurves)
    for _, chosen in cls.presets()
]
HEALTHY = GlucoseDays(**GlucoseDays.presets()[1][1])
EXTREMES = [
    GrowthCurves(children="girls", height_sd=15, timing_sd=1.5, tempo_spread=0.5, error_sd=10),
    GlucoseDays(unit="mg/dL", level=12, level_sd=5, meal_rise=10, meal_spread=1, peak_hours=3),
    GlucoseDays(level=3, level_sd=1, meal_rise=0, meal_time_sd=0.5, error_sd=3),
    ActivityDays(daily_minutes=600, person_spread=1.5, clock_sd=4, bout_minutes=60),
    ActivityDays(person_spread=0.05, clock_sd=0, bout_minutes=2),
    ElectricityDays(mean_power=3, level_spread=1.5, clock_sd=4, moment_spread=1.5),
    ElectricityDays(mean_power=0.05, level_spread=0, clock_sd=0, moment_spread=0.05),
]
every_preset = pytest.mark.parametrize("source", PRESETS, ids=lambda source: source.facts.name)


@pytest.mark.parametrize("source", few([*PRESETS, *few(EXTREMES, 2)], 3), ids=repr)
def test_the_truth_is_the_mean_of_what_is_observed(source):
    """20,000 people with one observation each, in twelve parts of the range: 5 standard errors."""
    people = replace(source, n_curves=20_000, n_observations_per_curve=1, times="even")
    data = people.draw(1, np.random.default_rng(1))
    off, part = data.values[0] - source.truth.at(data.times[0]), (data.times[0] * 12).astype(int)
    for k in range(12):
        mine = off[part == k]
        assert abs(mine.mean()) < 5 * mine.std() / np.sqrt(len(mine)), k


@every_preset
def test_it_is_about_people_with_named_quantities_units_and_origins(source):
    facts = source.facts
    assert facts.is_simulated and facts.person not in {"day", "year"}
    assert all((facts.value_name, facts.value_unit, facts.time_name, facts.time_unit, facts.origin))
    assert facts.value_name != "Value" and "No real" in source.credit


@every_preset
def test_human_examples_stand_before_all_others(source):
    keys = [cls.key for cls in sources.for_task("mean_function")]
    assert keys.index(source.key) < 4
    assert sources.default("sparse_curves", "mean_function").facts.curve == "growth"


@pytest.mark.parametrize("source", few(PRESETS + EXTREMES, 5), ids=repr)
def test_observations_lie_within_the_stated_bounds(source):
    data = replace(source, n_curves=3000).draw(1, np.random.default_rng(2))
    assert data.values.min() >= data.facts.value_low
    assert data.values.max() <= data.facts.value_high
    if source in PRESETS:  # and the bounds cut off nearly nothing of what is plausible
        inside = data.values < data.facts.value_high
        assert inside.mean() > 0.995


@every_preset
def test_sites_do_not_depend_on_each_other_and_sizes_are_known_before_a_draw(source):
    spread = source.with_sites([97, 96, 50], [10, 12, 8])
    other = source.with_sites([97, 10], [10, 9])
    data = spread.draw(1, generator(1, 0, 0))
    assert data.sizes == spread.sizes and spread.sizes.n_curves == 243
    first = other.draw(1, generator(1, 0, 0)).of_servers([0])
    if source.times == "even":  # common times are those of the smallest number of observations
        assert (data.of_servers([0]).values == first.values).all()
    assert source.resized(100, 8, 3).sizes.n_curves_per_server == (100, 100, 100)
    with pytest.raises(InputError, match="Take fewer sites"):
        replace(source, n_curves=3, n_servers=4)


@every_preset
def test_the_same_seed_gives_the_same_people_and_repeats_differ(source):
    small = replace(source, n_curves=50)
    first, again, other = (small.draw(2, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert (first.values == again.values).all() and not (first.values == other.values).all()
    assert not (first.values[0] == first.values[1]).all()


def speed(source):
    """Growth of the mean curve in cm a year, from eight years on."""
    heights = source.truth.grid_values
    return np.gradient(heights, 16 / (len(heights) - 1))[6 * len(heights) // 16 :]


@pytest.mark.parametrize(("children", "fastest", "at"), [("girls", 8.3, 11.5), ("boys", 9.5, 13.5)])
def test_a_childs_spurt_is_that_of_the_literature_and_the_mean_of_many_is_smoother(
    children, fastest, at
):
    alike = speed(GrowthCurves(children=children, timing_sd=0, tempo_spread=0))
    many = speed(GrowthCurves(children=children))
    assert alike.max() == pytest.approx(fastest, abs=0.3)
    assert 8 + 10 * alike.argmax() / len(alike) == pytest.approx(at, abs=0.3)
    assert many.max() < 0.93 * alike.max()
    assert speed(GrowthCurves()).max() < many.max()  # girls and boys differ in timing as well


def test_heights_spread_as_growth_charts_say():
    """SD about 3.5 cm at two years and 6.5 cm of girls at eighteen; medians within 2 cm."""
    data = replace(
        GrowthCurves(children="girls"), n_curves=20_000, times="common", n_observations_per_curve=16
    ).draw(1, np.random.default_rng(3))
    heights = data.values.reshape(-1, 16)  # at half past every year, in an order of their own
    sorted_by_age = np.take_along_axis(heights, data.times.reshape(-1, 16).argsort(axis=1), axis=1)
    middle, spread = np.median(sorted_by_age, axis=0), sorted_by_age.std(axis=0)
    assert spread[0] == pytest.approx(3.6, abs=0.4) and spread[-1] == pytest.approx(6.5, abs=0.3)
    assert middle[[3, 8, -1]] == pytest.approx([112, 141, 163], abs=3)


@pytest.mark.slow
def test_bands_cover_the_mean_although_few_children_are_ahead_of_the_others():
    data = GrowthCurves(n_curves=2000).draw(60, np.random.default_rng(4))
    assert data.facts.symmetric
    budgets = [(Budget(e, 1 / 2000**2),) for e in (1.0, 8.0)]
    estimate = AdaptiveMean(band="pointwise").release_many(
        data, budgets, 1, np.random.default_rng(2)
    )
    assert (coverage(estimate, data.truth).of_kept.mean(axis=(1, 2)) > 0.92).all()


def test_glucose_rises_after_three_meals_and_a_day_ends_where_it_began():
    hours = np.linspace(0, 24, 2401)
    curve = HEALTHY.mean_at(hours)
    peaks = hours[1:-1][(np.diff(curve)[:-1] > 0) & (np.diff(curve)[1:] < 0)]
    assert len(peaks) == 3 and (np.abs(peaks - [8.8, 13.8, 20.3]) < 0.5).all()
    assert curve[0] == pytest.approx(curve[-1], abs=1e-9)
    assert curve.mean() * 18 == pytest.approx(100, abs=5)  # mg/dL
    diabetes = GlucoseDays().mean_at(hours)
    assert diabetes[600] > 7.0 and diabetes.max() > 11.1  # at six, and after breakfast


def test_a_patients_day_has_higher_peaks_than_the_mean_of_all():
    data = replace(
        HEALTHY, error_sd=0.05, n_curves=500, n_observations_per_curve=96, times="common"
    ).draw(1, np.random.default_rng(5))
    highest = data.values.reshape(500, 96).max(axis=1)
    assert np.median(highest) > HEALTHY.truth.grid_values.max() + 1


def test_both_units_of_glucose_tell_the_same():
    draws = [
        GlucoseDays(unit=unit, n_curves=100).draw(1, np.random.default_rng(6))
        for unit in ("mmol/L", "mg/dL")
    ]
    assert draws[1].values == pytest.approx(GLUCOSE["mg/dL"] * draws[0].values)
    assert (draws[1].facts.value_low, draws[1].facts.value_high) == (36, 450)


def test_most_hours_have_no_activity_and_nights_hardly_any():
    data = ActivityDays().draw(5, np.random.default_rng(7))
    hours, idle = data.times.ravel() * 24, data.values.ravel() == 0
    assert 0.6 < idle.mean() < 0.8 and idle[hours < 4].mean() > 0.98
    assert 24 * data.values.mean() == pytest.approx(90, rel=0.05)
    day = np.linspace(0, 24, 1441)
    assert rhythm(day)[:-1].mean() == pytest.approx(1 / 24, rel=1e-4)


def test_households_use_most_in_the_evening_and_differ_as_consumption_statistics_say():
    hours = np.linspace(0, 24, 241)
    load = ElectricityDays().truth.at(hours / 24)
    peaks = hours[1:-1][(np.diff(load)[:-1] > 0) & (np.diff(load)[1:] < 0)]
    assert peaks == pytest.approx([7.9, 19.0], abs=0.3)
    assert hours[load.argmax()] == peaks[1] and 2 < hours[load.argmin()] < 5
    assert load[0] == pytest.approx(load[-1], abs=1e-6)
    assert load_shape(np.linspace(0, 24, 1441))[:-1].mean() == pytest.approx(1, rel=1e-4)
    data = ElectricityDays(n_curves=5000, n_observations_per_curve=48).draw(
        1, np.random.default_rng(9)
    )
    a_year = np.quantile(data.values.reshape(5000, 48).mean(axis=1) * 8766, [0.25, 0.5, 0.75])
    assert a_year == pytest.approx([1800, 2700, 4100], rel=0.06)  # kWh


@every_preset
def test_a_hundred_thousand_curves_are_drawn_at_once(source):
    data = replace(source, n_curves=100_000, n_observations_per_curve=2).draw(
        1, np.random.default_rng(8)
    )
    assert data.values.shape == (1, 200_000) and np.isfinite(data.values).all()
