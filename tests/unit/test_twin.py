"""A twin of real curves knows stated facts and public sizes, and looks like curves of that kind."""

import dataclasses
import typing

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.tasks import VARYING_COEFFICIENTS
from engine.core.types import Covariate, Design, PublicFacts, Sizes
from engine.sources import sources
from engine.sources.twin import PEAK, Twin
from engine.sources.twins import twin_of
from engine.uploads.curves import Upload
from tests.pages.opening import own_curves
from tests.sentences import of_topic

wording = of_topic("compare")

FACTS = PublicFacts(
    kind="upload",
    name="Your curves",
    person="child",
    people="children",
    value_unit="cm",
    value_low=60.0,
    value_high=210.0,
    time_low=2,
    time_high=18,
)
SIZES = Sizes((45, 35), 640, 3)


def leaves(value):
    if dataclasses.is_dataclass(value):
        for one in dataclasses.fields(value):
            yield from leaves(getattr(value, one.name))
    elif isinstance(value, tuple):
        for one in value:
            yield from leaves(one)
    else:
        yield value


# -- what it may know -------------------------------------------------------------------------


def test_a_twin_is_given_public_facts_and_sizes_and_nothing_that_can_hold_an_observation():
    result = typing.get_type_hints(Twin.of)
    assert set(result) == {"facts", "sizes", "spread", "return"}
    assert (result["facts"], result["sizes"]) == (PublicFacts, Sizes)
    twin = Twin.of(own_curves().facts, own_curves().sizes)
    assert all(leaf is None or isinstance(leaf, str | int | float) for leaf in leaves(twin))
    assert not issubclass(Twin, Upload) and "twin" not in [cls.key for cls in sources.all()]


def test_two_files_with_the_same_facts_and_sizes_have_the_same_twin():
    one = own_curves()
    values = one.curves.values[::-1] + 7.0
    other = dataclasses.replace(one, curves=dataclasses.replace(one.curves, values=values))
    twins = [Twin.of(source.facts, source.sizes) for source in (one, other)]
    assert twins[0] == twins[1]
    drawn = [twin.draw(1, np.random.default_rng(3)).values for twin in twins]
    assert (drawn[0] == drawn[1]).all() and not (one.curves.values == values).all()


# -- what it draws ----------------------------------------------------------------------------


@pytest.mark.parametrize("peaks", [0, 3])
def test_a_curve_that_is_stated_to_end_as_it_began_does_so_in_its_twin(peaks):
    twin = dataclasses.replace(
        Twin.of(dataclasses.replace(FACTS, periodic=True), SIZES), peaks=peaks
    )
    start, near_start, near_end, end = twin.mean(np.array([0.0, 1e-6, 1 - 1e-6, 1.0]))
    assert start == pytest.approx(end) and near_start - start == pytest.approx(
        end - near_end, abs=1e-6
    )
    assert Twin.of(FACTS, SIZES).mean(np.array([0.0, 1.0])) @ [-1, 1] > 0.5 * FACTS.value_half_width


def test_sizes_bounds_and_sites_are_those_that_were_stated():
    twin = Twin.of(FACTS, SIZES)
    assert twin.sizes == Sizes((45, 35), 640, 8)
    data = twin.draw(3, np.random.default_rng(0))
    assert data.sizes == twin.sizes and data.n_repeats == 3
    assert data.values.min() >= 60 and data.values.max() <= 210
    assert data.facts.kind == "twin"
    wording.found("twin curves", data.facts.name, alone=True)
    assert Twin.of(PublicFacts(kind="public"), SIZES).facts.kind == "simulated"
    wording.found("twin curves", Twin.of(twin.facts, twin.sizes).facts.name, alone=True)


def test_the_invented_curve_nowhere_falls_unless_it_ends_as_it_began():
    places = np.linspace(0, 1, 1001)
    assert (np.diff(Twin.of(FACTS, SIZES).mean(places)) >= 0).all()
    assert (np.diff(Twin.of(FACTS, SIZES).truth.at(places)) >= 0).all()


@pytest.mark.parametrize("spread", [None, 5.0, 60.0])
def test_the_truth_is_the_mean_of_what_is_drawn_and_the_spread_that_which_was_guessed(spread):
    """20 000 people at five common times, within five standard errors."""
    times = (0.0, 0.2, 0.5, 0.8, 1.0)
    facts = dataclasses.replace(FACTS, design=Design.common(times))
    twin = Twin.of(facts, Sizes((20_000,), 100_000, 5), spread)
    drawn = twin.draw(1, np.random.default_rng(1)).values.reshape(20_000, 5)
    error = drawn.std(axis=0) / np.sqrt(20_000)
    assert (np.abs(drawn.mean(axis=0) - twin.truth.at(np.array(times))) < 5 * error).all()
    assert twin.spread == (0.12 * 75 if spread is None else spread)
    if twin.spread < 20:  # hardly anything lies beyond the bounds
        assert drawn.std(axis=0) == pytest.approx(twin.spread, rel=0.06)


def test_people_are_smooth_over_time():
    facts = dataclasses.replace(FACTS, design=Design.common((0.5, 0.51, 0.9)))
    values = (
        Twin.of(facts, Sizes((4000,), 12_000, 3))
        .draw(1, np.random.default_rng(2))
        .values.reshape(4000, 3)
    )
    near, far = (np.corrcoef(values[:, 0], values[:, k])[0, 1] for k in (1, 2))
    assert near == pytest.approx(0.8, abs=0.05) and far < near - 0.05


def drawn_times(design, people, each):
    facts = dataclasses.replace(FACTS, design=design)
    twin = Twin.of(facts, Sizes((people,), people * each, each))
    return twin.draw(1, np.random.default_rng(4)).times.reshape(people, each)


def test_times_follow_the_stated_design():
    assert (drawn_times(Design.common((0.1, 0.4)), 5, 2) == [0.1, 0.4]).all()
    visits = drawn_times(Design.visits(0.05), 500, 4)
    assert (np.diff(visits, axis=1) > 0.039).all() and np.ptp(visits, axis=1).max() < 0.2
    windows = drawn_times(Design(law="windows", window=0.2), 500, 4)
    assert np.ptp(windows, axis=1).max() <= 0.2 and np.ptp(windows) > 0.8
    even = drawn_times(Design(), 4000, 5)
    assert even.mean() == pytest.approx(0.5, abs=5 * np.sqrt(1 / 12 / 20_000))
    assert (np.diff(even, axis=1) >= 0).all()
    assert (drawn_times(Design(density=(0.0, 1.0)), 4000, 5) > 0.5).mean() == pytest.approx(
        0.75, abs=5 * np.sqrt(0.75 * 0.25 / 20_000)
    )


def test_fewer_observations_than_common_times_are_some_of_them():
    facts = dataclasses.replace(
        FACTS, design=Design.common((0.1, 0.4, 0.9)), observations_per_curve=2
    )
    twin = Twin.of(facts, Sizes((50,), 100, 2))
    data = twin.draw(1, np.random.default_rng(0))
    assert set(data.times[0]) == {0.1, 0.4, 0.9} and twin.facts.design == facts.design
    assert data.sizes == twin.sizes == Sizes((50,), 100, 2)


def test_a_twin_with_peaks_has_so_many_of_the_stated_height():
    truth = dataclasses.replace(Twin.of(FACTS, SIZES, 5.0), peaks=3).truth
    drawn = truth.at(np.linspace(0, 1, 1201))
    tops = np.flatnonzero((drawn[1:-1] > drawn[:-2]) & (drawn[1:-1] > drawn[2:])) + 1
    assert len(tops) == 3 and drawn.max() == pytest.approx(135 + PEAK * 75, abs=0.5)


def test_other_sizes_keep_the_design():
    facts = dataclasses.replace(FACTS, design=Design.common((0.1, 0.4, 0.9)))
    other = Twin.of(facts, Sizes((10,), 30, 3)).resized(20, 5, 2)
    assert other.sizes == Sizes((20, 20), 200, 5)
    assert other.facts.common_times == pytest.approx((0.1, 0.3, 0.5, 0.7, 0.9))
    crowded = Twin.of(dataclasses.replace(FACTS, design=Design.visits(0.1)), Sizes((10,), 200, 20))
    assert crowded.draw(1, np.random.default_rng(0)).times.max() <= 1


@pytest.mark.parametrize(
    ("sizes", "spread"), [(Sizes((0, 5), 10, 2), None), (SIZES, 0.0), (SIZES, -3.0), (SIZES, 76.0)]
)
def test_what_cannot_be_a_twin_is_refused(sizes, spread):
    with pytest.raises(InputError):
        Twin.of(FACTS, sizes, spread)


# -- few people who count as all ----------------------------------------------------------------


AT_TIMES = dataclasses.replace(FACTS, design=Design.common([0.1, 0.4, 0.6, 0.9]))


@pytest.mark.parametrize("people", [(12_000, 8000), (100_000,)])
def test_few_people_have_an_average_as_variable_as_that_of_all(people):
    facts = AT_TIMES
    twin = Twin.of(facts, Sizes(people, 4 * sum(people), 4)).of_few()
    data = twin.draw(100, np.random.default_rng(1))
    assert data.n_curves <= 5050 and data.sizes.n_curves_per_server == people
    for site, n in enumerate(people):
        values = data.values.reshape(100, data.n_curves, 4)[:, data.server == site]
        errors = values.mean(axis=1) - twin.truth.at(np.array(facts.design.times))
        of_all = values.var(axis=1).mean() / n
        assert (errors**2).mean() == pytest.approx(of_all, rel=0.3)
        assert values.std() == pytest.approx(
            np.hypot(twin.spread, twin.truth.at(np.array(facts.design.times)).std()), rel=0.1
        )


def test_everybody_is_drawn_of_small_studies_and_of_small_sites():
    twin = Twin.of(FACTS, Sizes((3000, 2000), 15_000, 3))
    one, other = (each.draw(2, np.random.default_rng(1)) for each in (twin, twin.of_few()))
    assert np.array_equal(one.values, other.values) and one.counts_as is None
    skewed = Twin.of(dataclasses.replace(FACTS, value_low=0.0), Sizes((6000,), 18_000, 3))
    assert skewed.of_few().draw(1, np.random.default_rng(1)).n_curves == 6000
    many = Twin.of(FACTS, Sizes((20,) * 400, 24_000, 3)).of_few()
    assert many.draw(1, np.random.default_rng(1)).n_curves == 8000


def test_people_with_the_same_times_have_the_same_covariates():
    facts = dataclasses.replace(FACTS, covariates=(Covariate("age", 0, 100),))
    twin = twin_of(VARYING_COEFFICIENTS, facts, Sizes((50_000,), 150_000, 3, 1)).of_few()
    data, _ = twin.simulated(1, np.random.default_rng(1))
    times, ages = data.times[0].reshape(-1, 3)[-2:], data.covariates[0, -2:, 0]
    assert np.array_equal(times[0], times[1]) and ages[0] == ages[1]
    values = data.values[0].reshape(-1, 3)[-2:]
    assert values.mean(axis=0) == pytest.approx(twin.curves.mean(times[0]))
