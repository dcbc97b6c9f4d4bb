"""Percentile curves: what the surface of shares gives, what the stages do, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from engine.core.errors import InputError
from engine.core.grids import PERCENTAGES, drawing_grid
from engine.core.random_streams import generator
from engine.core.types import (
    NON_PRIVATE,
    Budget,
    CurveData,
    DataKind,
    Design,
    PublicFacts,
    Sizes,
    Truth,
)
from engine.mechanisms.families.adaptive.checked_facts import FACTS
from engine.mechanisms.families.adaptive.percentile_stages import releases
from engine.mechanisms.families.adaptive.scales import bounds_of
from engine.mechanisms.percentile_curves import (
    BEYOND,
    FEW_COMMON_TIMES,
    FINER_DETAIL,
    HARDLY_OBSERVED,
    NOT_NORMAL,
    SPREAD_DETAIL,
    PercentileCurves,
    ValueScale,
)
from engine.numerics.monotone import non_increasing_fit
from engine.numerics.percentile_shape import log_spread, shape_of_shares
from engine.numerics.percentile_surface import ShareSurface
from engine.privacy import accounting, transcript
from engine.sources.population_readings import PopulationReadings
from engine.sources.sparse_curves import SparseCurves
from tests.heavy import few

GROWTH = PopulationReadings(population="growth", n_curves=1500, n_observations_per_curve=4)
BUDGET = (Budget(2.0, 1e-6),)
MEAN = PercentileCurves()


def released(mechanism, data, budgets=BUDGET, seed=1):
    return mechanism.release(data, budgets, generator(seed, 1, 0))


@pytest.fixture(scope="module")
def data():
    return GROWTH.draw(1, generator(1, 0, 0))


# -- the surface ----------------------------------------------------------------------------------


def normal_surface(noise=0.0, levels=(0.05, 0.25, 0.5, 0.75, 0.95)):
    """Shares of normal readings with mean t and standard deviation ½ + t/2, placed for N(0, 1)."""
    rng, grid = np.random.default_rng(1), drawing_grid()
    thresholds = np.broadcast_to(ndtri(np.array(levels))[:, None], (len(levels), len(grid))).copy()
    shares = ndtr((thresholds - grid) / (0.5 + grid / 2))
    waves = np.sqrt(2) * np.cos(np.pi * np.arange(12) * grid[:, None])
    waves[:, 0] = 1.0
    expected = np.broadcast_to(np.array(levels)[:, None], shares.shape)
    coefficients = np.linalg.lstsq(waves, (shares - expected).T, rcond=None)[0].T
    coefficients = coefficients + noise * rng.standard_normal(coefficients.shape)
    p = coefficients.size
    return ShareSurface(
        thresholds,
        expected,
        np.eye(len(levels)),
        coefficients,
        coefficients,
        1e-8 * np.eye(p),
        waves,
        0.5 + grid / 2,
        np.zeros((0, len(grid))),
        np.zeros(0),
    )


def test_percentiles_of_normal_readings_are_straight_lines_in_the_probit():
    grid, levels = drawing_grid(), np.array([0.1, 0.5, 0.9])
    curves = normal_surface().percentiles(levels)
    exact = grid + (0.5 + grid / 2) * ndtri(levels)[:, None]
    assert np.abs(curves - np.clip(exact, -1, 1))[:, 5:-5].max() < 0.02


def test_percentile_curves_never_cross_whatever_the_noise():
    curves = normal_surface(noise=0.3).percentiles(np.linspace(0.02, 0.98, 33))
    assert (np.diff(curves, axis=0) >= 0).all()


@pytest.mark.parametrize("is_simultaneous", [False, True])
def test_limits_of_bands_are_in_order_and_hold_the_unshrunk_curve(is_simultaneous):
    surface = normal_surface(noise=0.02)
    levels = np.array([0.25, 0.5, 0.75])
    lower, upper = surface.band(levels, is_simultaneous)
    curves = surface.percentiles(levels)
    assert (lower <= curves).all() and (curves <= upper).all()


def test_a_simultaneous_band_is_wider_than_a_pointwise_one():
    surface = normal_surface()
    ends = [np.subtract(*surface.band(np.array([0.5]), chosen)[::-1]) for chosen in (False, True)]
    assert (ends[1] >= ends[0]).all() and (ends[1] > ends[0]).any()


def test_shares_in_ranges_are_those_of_the_law_and_sum_to_one():
    grid = drawing_grid()
    shares, errors, average, error = normal_surface().shares_in_ranges(np.array([-0.5, 0.7]))
    exact = ndtr((0.7 - grid) / (0.5 + grid / 2)) - ndtr((-0.5 - grid) / (0.5 + grid / 2))
    assert np.abs(shares[1] - exact)[5:-5].max() < 0.02
    assert np.allclose(shares.sum(axis=0), 1) and np.isclose(average.sum(), 1)
    assert (shares >= 0).all() and (errors >= 0).all() and (error > 0).all()


def test_what_shrinking_takes_away_does_not_add_up_in_shares_over_time():
    surface, limits = normal_surface(), np.array([-0.5, 0.7])
    shrunk = replace(surface, coefficients=0.5 * surface.coefficients)
    assert not np.allclose(
        shrunk.percentiles(np.array([0.25])), surface.percentiles(np.array([0.25]))
    )
    assert np.allclose(shrunk.shares_in_ranges(limits)[2], surface.shares_in_ranges(limits)[2])


@pytest.mark.slow
def test_errors_of_shares_are_those_of_the_coefficients_by_simulation():
    """The standard error of the time in a range against draws of the coefficients."""
    surface, limits = normal_surface(), np.array([0.0, 0.6])
    surface = replace(surface, covariance=1e-5 * np.eye(surface.coefficients.size))
    rng, averages = np.random.default_rng(2), []
    for _ in range(400):
        moved = surface.coefficients + np.sqrt(1e-5) * rng.standard_normal(
            surface.coefficients.shape
        )
        averages.append(
            replace(surface, coefficients=moved, unshrunk=moved).shares_in_ranges(limits)[2][1]
        )
    stated = surface.shares_in_ranges(limits)[3][1]
    assert np.std(averages) == pytest.approx(stated, rel=5 / np.sqrt(2 * 400))


def mixture_surface(shift, levels=(0.02, 0.05, 0.12, 0.25, 0.5, 0.75, 0.88, 0.95, 0.98)):
    """A fifth of readings lies `shift` above the others; thresholds placed by mean and size."""
    grid, levels = drawing_grid(), np.array(levels)
    spread = 0.05 * np.sqrt(1 + 0.16 * shift**2)
    heights = 0.01 * shift + spread * ndtri(levels)
    shares = 0.8 * ndtr(heights / 0.05) + 0.2 * ndtr(heights / 0.05 - shift)
    shape = (len(levels), len(grid))
    thresholds, expected, exact = (
        np.broadcast_to(each[:, None], shape) for each in (heights, levels, shares)
    )
    coefficients = (exact - expected)[:, :1]
    return ShareSurface(
        thresholds,
        expected,
        np.eye(len(levels)),
        coefficients,
        coefficients,
        4e-4 * np.eye(len(levels)) * (shares * (1 - shares))[:, None],
        np.ones((len(grid), 1)),
        np.full(len(grid), spread),
        np.zeros((0, len(grid))),
        np.zeros(0),
    )


def test_groups_depart_from_a_normal_law_and_normal_readings_do_not():
    assert shape_of_shares(mixture_surface(0.0), 9).departure == pytest.approx(0.0, abs=1e-6)
    departures = [
        float(shape_of_shares(mixture_surface(shift), 9).departure) for shift in (2, 4, 8)
    ]
    assert departures == sorted(departures) and departures[-1] > 10


def test_the_asymmetry_of_normal_readings_is_standard_normal_and_that_of_skewed_ones_is_negative():
    def asymmetries(tails, repeats):
        source = replace(PEOPLE, n_curves=500, deviation_tails=tails)
        data, budgets = source.draw(repeats, generator(5, 0, 0)), (Budget(4.0, 1e-6),)
        plan = MEAN.plan(source.public, budgets)
        return np.concatenate(
            [
                np.ravel(shape_of_shares(surface, 9).asymmetry[:, 0])
                for _, _, surface in MEAN.fit(data, [plan], 1, generator(5, 1, 0)).surfaces([plan])
            ]
        )

    normal = asymmetries("normal", 8)
    assert abs(normal.mean()) < 3 / np.sqrt(8) and 0.5 < normal.std(ddof=1) < 1.6
    assert (asymmetries("skewed", 3) < -2).all()


def test_normal_readings_on_badly_placed_thresholds_do_not_depart():
    """They are on a line in the probit wherever the thresholds are."""
    surface = normal_surface()
    badly = replace(surface, covariance=1e-4 * np.eye(surface.coefficients.size))
    assert float(shape_of_shares(badly, 5).departure) < 0.1


@pytest.mark.parametrize("is_simultaneous", [False, True])
@pytest.mark.parametrize("side", [1, -1])
def test_beyond_all_thresholds_a_band_reaches_to_the_bound(side, is_simultaneous):
    """Nothing was measured there, so nothing but the outermost threshold can be said."""
    surface = mixture_surface(12.0)
    if side < 0:
        shares = surface.expected + surface.coefficients
        surface = replace(
            surface,
            thresholds=-surface.thresholds,
            coefficients=(1 - shares - surface.expected)[:, :1],
            unshrunk=(1 - shares - surface.expected)[:, :1],
        )
    levels = np.array([0.5, 0.97 if side > 0 else 0.03])
    lower, upper = surface.band(levels, is_simultaneous)
    outermost = side * (side * surface.thresholds).max(axis=0)
    near, far = (lower, upper) if side > 0 else (upper, lower)
    assert far[1] == pytest.approx(side) and near[1] == pytest.approx(outermost)
    assert (np.abs(far[0]) < 1).all()
    assert surface.time_beyond(levels) == pytest.approx([0.0, 1.0])


def test_weighted_isotonic_means_are_those_of_repeated_entries():
    values, weights = np.array([2.0, 3.0, 1.0, 4.0]), np.array([1, 2, 3, 1])
    repeated = non_increasing_fit(np.repeat(values, weights))
    firsts = np.cumsum(weights) - weights
    assert non_increasing_fit(values, weights.astype(float)) == pytest.approx(repeated[firsts])


# -- the release ----------------------------------------------------------------------------------


def test_the_shares_of_all_releases_sum_to_one_and_each_has_its_own_line(data):
    steps = [step.key for step, _ in releases()]
    assert sum(share for _, share in releases()) == pytest.approx(1)
    assert len(set(steps)) == len(steps) == 16
    with transcript.recorded() as messages:
        estimate = released(MEAN, data)
    assert [message.step.key for message in messages] == [FACTS.key, *steps]
    assert [line.step.key for line in estimate.spends[0]] == [FACTS.key, *steps]
    assert accounting.keeps_promise(estimate.spends[0])


def test_without_noise_and_clipping_shares_are_means_of_the_shares_of_people(data):
    """One wave, every person with the same weight, however many readings: by hand."""
    counts = np.array([4, 1, 3, 2] * 375)
    result = np.concatenate([4 * k + np.arange(m) for k, m in enumerate(counts)])
    some = replace(data, times=data.times[:, result], values=data.values[:, result], counts=counts)
    plan = replace(MEAN.plan(some.public, (NON_PRIVATE,)), width=1e6, shape_size=1, spread_size=1)
    scale = MEAN.scale(some.facts)
    fit = MEAN.fit_class(
        some,
        scale(some.values),
        "cosine",
        some.facts.design,
        [plan],
        1,
        bounds_of(some.facts),
        generator(1, 1, 0),
    )
    ((_, _, surface),) = fit.surfaces([plan])
    shares = surface.expected + surface.rotation @ (surface.unshrunk @ surface.waves.T)
    owner = np.repeat(np.arange(len(counts)), counts)
    heights = np.stack(
        [np.interp(some.times[0], drawing_grid(), row) for row in surface.thresholds[0, -1]]
    )
    below = scale(some.values[0]) <= heights
    by_hand = [np.mean(np.bincount(owner, row) / counts) for row in below]
    assert shares[0, -1].mean(axis=-1) == pytest.approx(by_hand, abs=3e-3)


def test_readings_on_another_scale_have_their_percentiles_there(data):
    facts = data.facts
    moved = replace(
        data,
        values=2 * data.values + 30,
        facts=replace(
            facts, value_low=2 * facts.value_low + 30, value_high=2 * facts.value_high + 30
        ),
    )
    assert released(MEAN, moved).coefficients == pytest.approx(
        2 * released(MEAN, data).coefficients + 30
    )


def test_one_site_of_all_is_the_trusted_centre_and_order_does_not_matter(data):
    order = np.random.default_rng(3).permutation(data.n_curves)
    readings = (4 * order[:, None] + np.arange(4)).ravel()
    mixed = replace(data, times=data.times[:, readings], values=data.values[:, readings])
    assert released(MEAN, mixed).coefficients == pytest.approx(released(MEAN, data).coefficients)


def test_a_person_without_a_number_stays_in_the_count_and_tells_nothing(data):
    values = data.values.copy()
    values[0, 0] = np.nan
    hidden = replace(data, values=values)
    assert hidden.public == data.public
    first, second = (released(MEAN, each) for each in (data, hidden))
    assert first.spends == second.spends
    assert np.abs(first.coefficients - second.coefficients).max() < 1.0


def test_time_in_range_is_of_the_same_release_and_sums_to_one(data):
    mechanism = replace(MEAN, limits="120, 150")
    estimate = released(mechanism, data)
    (in_ranges,) = estimate.released
    assert in_ranges.limits == (120.0, 150.0)
    assert np.allclose(in_ranges.shares.sum(axis=-2), 1)
    median, below = estimate.coefficients[0, 0, 0, 2], in_ranges.shares[0, 0, 0]
    assert ((below > 0.5) == (median < 120)).mean() > 0.97
    assert released(MEAN, data).released == (None,)


@pytest.mark.parametrize("percentiles", ["5, 25, 50, 75, 95", "2, 98", "33.5", "29"])
def test_the_truth_of_any_percentile_lies_between_those_that_the_population_states(percentiles):
    mechanism, known = PercentileCurves(percentiles=percentiles), GROWTH.truth
    data = replace(GROWTH, n_curves=2).draw(1, generator(1, 0, 0))
    truth = mechanism.truth_of(data)
    for k, percentage in enumerate(100 * mechanism.levels):
        above = int(np.ceil(round(percentage, 9))) - PERCENTAGES[0]
        below = int(round(percentage, 9)) - PERCENTAGES[0]
        for rows, stated in (
            (truth.grid_values, known.grid_values),
            (truth.node_values, known.node_values),
        ):
            assert rows[k] == pytest.approx((stated[below] + stated[above]) / 2)
    assert mechanism.truth_of(replace(data, truth=None)) is None
    assert mechanism.truth_of(replace(data, truth=Truth.of(np.sin))) is None


def test_zeros_with_a_share_of_their_own_are_the_low_percentiles():
    source = PopulationReadings(population="activity", n_curves=1500, n_observations_per_curve=10)
    mechanism = PercentileCurves(value_scale="log1p", log_offset=20.0, point_mass=0.0)
    estimate = released(mechanism, source.draw(1, generator(1, 0, 0)), (Budget(4.0, 1e-6),))
    assert (estimate.coefficients[0, 0, 0, 0] == 0).all()  # more than 5 % are zeros at any time
    assert (estimate.coefficients[0, 0, 0, -1] > 0).all()


# -- what is stated, and what is refused ------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"percentiles": "1, 50"}, "percentiles"),
        ({"percentiles": "half"}, "percentiles"),
        ({"percentiles": ""}, "percentiles"),
        ({"limits": "70, x"}, "limits"),
        ({"limits": "60,61,62,63,64,65,66"}, "limits"),
        ({"value_scale": "log1p", "log_offset": 1.0}, ""),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, field):
    mechanism = PercentileCurves(**settings)
    if not field:
        mechanism.scale(GROWTH.facts)
        return
    with pytest.raises(InputError) as problem:
        mechanism.plan(GROWTH.public, BUDGET)
    assert problem.value.field == field


def test_a_logarithm_of_a_bound_that_has_none_is_refused():
    facts = PublicFacts(value_low=0.0, value_high=10.0)
    with pytest.raises(InputError, match="lowest value above 0"):
        PercentileCurves(value_scale="log").scale(facts)


def test_scale_and_basis_follow_from_what_is_stated():
    glucose, growth = (PopulationReadings(population=name).facts for name in ("glucose", "growth"))
    assert (MEAN.scale(glucose).kind, MEAN.family_of_waves(glucose)) == ("log", "fourier")
    assert (MEAN.scale(growth).kind, MEAN.family_of_waves(growth)) == ("linear", "cosine")


def test_limits_outside_the_bounds_need_no_threshold():
    assert replace(MEAN, limits="10, 120, 500").stated_limits(GROWTH.facts) == (120.0,)


@pytest.mark.parametrize(
    "scale",
    [ValueScale(40.0, 400.0), ValueScale(40.0, 400.0, "log"), ValueScale(0.0, 1e4, "log1p", 20.0)],
)
def test_a_scale_of_readings_maps_back(scale):
    values = np.linspace(scale.low, scale.high, 50)
    assert scale.back(scale(values)) == pytest.approx(values)
    assert scale(np.array([scale.low, scale.high])) == pytest.approx([-1, 1])


@pytest.mark.parametrize(
    ("n", "settings", "feasible"),
    [
        (100, {}, False),
        (100, {"coarse": "show"}, False),
        (100, {"coarse": "show", "percentiles": "25, 50, 75"}, True),
        (115, {"percentiles": "25, 50, 75"}, True),
        (115, {}, False),
        (125, {}, True),
        (125, {"percentiles": "3, 50"}, False),
        (205, {"percentiles": "3, 50"}, True),
    ],
)
def test_few_people_are_refused_by_public_numbers_alone(n, settings, feasible):
    """N is the number of people times μ = 1; outer percentiles need six readings below them."""
    budget = Budget(accounting.exact_epsilon(1.0, 1e-5), 1e-5)
    verdict = PercentileCurves(**settings).feasibility(Sizes((n,), 4 * n, 4), (budget,))
    assert verdict.effective_size == pytest.approx(n)
    assert verdict.is_feasible is feasible


PEOPLE = SparseCurves(mean="growth", n_curves=2000, n_observations_per_curve=6)


@pytest.mark.parametrize(
    ("tails", "warnings"),
    [("normal", set()), ("groups", {NOT_NORMAL, BEYOND}), ("skewed", {NOT_NORMAL, BEYOND})],
)
def test_a_release_says_that_people_fall_into_groups_or_are_skewed(tails, warnings):
    source = replace(PEOPLE, deviation_tails=tails)
    estimate = MEAN.release_many(
        source.draw(2, generator(1, 0, 0)), [(Budget(2.0, 2.5e-7),)], 2, generator(1, 1, 0)
    )
    applies = {caution.text: caution.applies for caution in estimate.cautions}
    for text in (NOT_NORMAL, BEYOND):
        assert (applies[text] == (text in warnings)).all(), text


def test_zeros_piled_up_are_said():
    source = PopulationReadings(population="activity", n_curves=2000, n_observations_per_curve=10)
    mechanism = PercentileCurves(value_scale="log1p", log_offset=20.0, point_mass=0.0)
    estimate = released(mechanism, source.draw(1, generator(1, 0, 0)), (Budget(2.0, 1e-6),))
    assert NOT_NORMAL in estimate.warnings


def test_outliers_that_no_release_shows_are_named_where_the_band_is():
    assert "outliers" in MEAN.limit_of_band(PEOPLE.facts)


def test_times_that_are_not_stated_are_refused_before_anything_is_drawn():
    facts = replace(PEOPLE.facts, design=Design(law="unknown"))
    data = replace(PEOPLE.draw(1, generator(1, 0, 0)), facts=facts)
    with pytest.raises(InputError) as problem:
        MEAN.plan(data.public, BUDGET)
    assert problem.value.field == "design" and problem.value.hint


@pytest.mark.parametrize(
    ("design", "text"),
    [
        ({"times": "density", "time_density": "1, 1, 1, 1, 1, 0, 0"}, HARDLY_OBSERVED),
        ({"times": "common"}, FEW_COMMON_TIMES),
    ],
)
def test_a_release_says_where_the_stated_times_tell_nothing(design, text):
    data = replace(PEOPLE, **design).draw(1, generator(1, 0, 0))
    assert text in released(MEAN, data).warnings
    assert text not in released(MEAN, PEOPLE.draw(1, generator(1, 0, 0))).warnings


def test_bands_of_few_people_carry_a_warning(data):
    few = PopulationReadings(population="growth", n_curves=300, n_observations_per_curve=4)
    estimate = released(MEAN, few.draw(1, generator(1, 0, 0)), (Budget(3.0, 1e-5),))
    assert any("too narrow" in text for text in estimate.warnings)
    assert not any("too narrow" in text for text in released(MEAN, data).warnings)


# -- steps and peaks ------------------------------------------------------------------------------


def people_about(mean, seed, n=1000, spread=lambda t: 1.0):
    """Normal observations of people who differ in level, at ten even times each."""
    rng = np.random.default_rng(seed)
    times = rng.random((n, 10))
    levels, rest = 5 * rng.standard_normal((n, 1)), 3 * rng.standard_normal(times.shape)
    values = mean(times) + spread(times) * (levels + rest)
    facts = PublicFacts(value_low=0, value_high=100, kind=DataKind.UPLOAD)
    return CurveData(
        times.reshape(1, -1),
        np.clip(values, 0, 100).reshape(1, -1),
        np.full(n, 10),
        np.zeros(n, int),
        facts,
    )


@pytest.mark.parametrize(
    ("mean", "expected"),
    [
        (lambda t: 50 + 12 * np.sin(2 * np.pi * t), False),
        (lambda t: 35 + 30 * t, False),
        (lambda t: 42 + 16 * (t > 0.5), True),
        (lambda t: 42 + 16 * (t > 0.3), True),
        (lambda t: 45 + 20 * np.exp(-(((t - 0.5) / 0.05) ** 2)), True),
    ],
)
def test_steps_and_peaks_of_the_middle_are_told_and_smooth_curves_are_not(mean, expected):
    for seed in range(2):
        estimate = released(MEAN, people_about(mean, seed), (Budget(5.0, 1e-6),), seed)
        assert (FINER_DETAIL in estimate.warnings) == expected


@pytest.mark.parametrize(
    ("spread", "expected"),
    few(
        [
            (lambda t: 1.0 + (t > 0.5), True),
            (lambda t: 1 + t, False),
            (lambda t: 1 + np.exp(-(((t - 0.5) / 0.2) ** 2)), False),
            (lambda t: 1 + np.exp(-(((t - 0.5) / 0.04) ** 2)), True),
            (lambda t: 2.0 - (t > 0.3), True),
        ],
        3,
    ),
)
def test_steps_and_peaks_of_the_spread_are_told_and_smooth_spreads_are_not(spread, expected):
    """Bands of the outer curves hold at .9 of times about a step, and at .8 about a narrow peak."""
    data = people_about(lambda t: 50 + 0 * t, 1, 3000, spread)
    estimate = released(MEAN, data, (Budget(5.0, 1e-6),))
    assert (SPREAD_DETAIL in estimate.warnings) == expected


def test_the_spread_of_shares_has_the_errors_of_the_shares_it_is_of():
    """Shares of a spread that is larger by 0.1 + 0.05 φ, with the noise of their covariance."""
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    flat = normal_surface(levels=levels)
    scores = ndtri(np.array(levels))
    off = np.zeros(flat.unshrunk.shape[-1])
    off[:2] = 0.1, 0.05
    shares = -scores[:, None] * np.exp(-(scores[:, None] ** 2) / 2) / np.sqrt(2 * np.pi) * off
    rng, (k, r) = np.random.default_rng(5), flat.unshrunk.shape[-2:]
    root = 0.01 * rng.standard_normal((k * r, k * r))
    noise = (rng.standard_normal((2000, k * r)) @ root.T).reshape(2000, k, r)
    surface = replace(
        flat,
        unshrunk=flat.rotation.swapaxes(-1, -2) @ shares + noise,
        covariance=np.broadcast_to(root @ root.T, (2000, k * r, k * r)),
    )
    surface = replace(
        surface,
        **{
            name: np.broadcast_to(
                getattr(flat, name),
                (2000, *getattr(flat, name).shape[-2 if name != "spread" else -1 :]),
            )
            for name in ("thresholds", "expected", "rotation", "coefficients", "spread")
        },
    )
    coefficients, covariance = log_spread(surface, k)
    error = np.sqrt(np.diagonal(covariance[0]))
    placed = (
        np.log(surface.spread[0] / surface.spread[0].mean()) @ surface.waves / len(surface.waves)
    )
    assert coefficients.std(axis=0) == pytest.approx(error, rel=5 / np.sqrt(2 * 2000) + 0.01)
    assert np.abs(coefficients.mean(axis=0) - off - placed).max() < 5 * error.max() / np.sqrt(2000)


def test_bands_reach_to_where_slopes_at_the_ends_take_the_centre():
    """Eight data sets of three waves, with which bands of flat ends covered .78 of times."""
    covered = []
    for seed in range(8):
        rng, middle = np.random.default_rng(seed), lambda t: 50 + 25 * np.sin(6 * np.pi * t)
        times = rng.random((2000, 8))
        values = (
            middle(times)
            + 5 * rng.standard_normal((2000, 1))
            + 5 * rng.standard_normal(times.shape)
        )
        curves = CurveData(
            times.reshape(1, -1),
            values.reshape(1, -1),
            np.full(2000, 8),
            np.zeros(2000, int),
            PublicFacts(value_low=0, value_high=100),
        )
        lower, upper = (end[0, 0, 0, 2] for end in released(MEAN, curves, seed=seed).limits)
        truth = middle(drawing_grid())
        covered.append([((lower <= truth) & (truth <= upper)).mean(), lower[0] <= 50 <= upper[0]])
    assert np.mean(covered, axis=0).min() > 0.93
