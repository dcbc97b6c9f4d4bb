"""Whole functions say where their smoothing moves a curve by more than was forecast."""

import numpy as np
import pytest

from engine.core.random_streams import generator
from engine.core.tasks import COVARIANCE, DENSITY, RISK_MINIMISATION
from engine.core.types import (
    Budget,
    Covariate,
    CurveData,
    DataKind,
    Design,
    PublicFacts,
    SampleData,
)
from engine.mechanisms.bernstein import Bernstein
from engine.mechanisms.frl import Frl
from engine.mechanisms.gaussian_process import GaussianProcess
from engine.mechanisms.iclp import Iclp
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.mechanisms.summaries.covariance_cautions import FADED, NARROW, ROUGH, SHRUNK, WIDE
from engine.mechanisms.summaries.density import GATHERED, GATHERING_NOT_SEEN
from engine.mechanisms.summaries.risk_cautions import DRAWN_IN, MAY_BE_DRAWN_IN, NOT_SPREAD
from engine.mechanisms.summaries.smoothing_cautions import (
    BEND_OR_STEP,
    NOT_FOLLOWED,
    SHORT_FEATURES,
    STEP_NOT_SEEN,
)
from engine.numerics.end_slopes import cosine_rows
from engine.numerics.smoothing_errors import COSINES, POINTS, SmoothingErrors
from engine.sources.twin import Twin
from tests.heavy import few

SMOOTH = {
    "flat": lambda t: 50 + 0 * t,
    "rise": lambda t: 40 + 20 * t,
    "wave": lambda t: 50 + 5 * np.sin(2 * np.pi * t),
}
STEPS = {
    "step": lambda t: 30 + 40 * (t > 0.5),
    "early step": lambda t: 30 + 40 * (t > 0.3),
    "peak": lambda t: 45 + 40 * np.exp(-(((t - 0.5) / 0.05) ** 2)),
}
METHODS = (Frl(), Iclp(), Bernstein(), GaussianProcess(), Frl(messages="planned"))


def kept(size, shrink=1.0, variance=0.0):
    """A smoothing that keeps the first cosines, times `shrink`."""
    rows = cosine_rows(size, POINTS)
    images = np.zeros((COSINES, len(POINTS)))
    images[:size] = shrink * rows.T
    return SmoothingErrors(images, rows, variance * np.eye(size))


def curves(mean, n=1000, seed=1, high=100.0, m=50):
    """People at common times who differ in level."""
    rng, times = np.random.default_rng(seed), np.linspace(0.01, 0.99, m)
    values = mean(times) + 6 * rng.standard_normal((n, 1)) + 2 * rng.standard_normal((n, m))
    facts = PublicFacts(
        value_low=0, value_high=high, kind=DataKind.UPLOAD, design=Design.common(times.tolist())
    )
    return CurveData(
        np.tile(times, n)[None],
        np.clip(values, 0, high).reshape(1, -1),
        np.full(n, m),
        np.zeros(n, int),
        facts,
    )


def told(mechanism, data, epsilon=5.0, draws=20):
    """The shares of releases that say of too much smoothing, and of short features or bends."""
    delta = 0.0 if mechanism.key != "gaussian_process" else 1e-6
    estimate = mechanism.release_many(data, [(Budget(epsilon, delta),)], draws, generator(1, 1, 0))
    applies = {caution.text: caution.applies.mean() for caution in estimate.cautions}
    return (
        applies.get(NOT_FOLLOWED, 0.0),
        applies.get(SHORT_FEATURES, 0.0) + applies.get(BEND_OR_STEP, 0.0),
    )


def test_a_projection_moves_a_curve_by_what_it_leaves_out():
    curve = 1 + cosine_rows(12, POINTS)[:, 3] + 2 * cosine_rows(12, POINTS)[:, 11]
    assert kept(8).of_known(curve) == pytest.approx(2.0, rel=1e-6)
    assert kept(12).of_known(curve) == pytest.approx(0.0, abs=1e-9)


def test_a_shrinking_is_undone_as_far_as_it_is_followed():
    errors = kept(8, shrink=0.6)
    released = 0.6 * (cosine_rows(8, POINTS) @ np.arange(1.0, 9.0))
    assert errors.order == 8
    cosines = errors.followed(released)
    assert np.allclose(cosines, np.arange(1.0, 9.0))
    assert errors.moved(cosines) == pytest.approx(0.4 * np.linalg.norm(np.arange(1.0, 9.0)))


def test_noise_alone_is_hardly_ever_taken_for_an_error():
    errors, rng = kept(10, shrink=0.5, variance=1.0), np.random.default_rng(2)
    noise = rng.standard_normal((2000, 10)) @ cosine_rows(10, POINTS).T
    cosines = errors.followed(noise)
    assert (errors.moved(cosines) > 0).mean() < 0.02 + 5 * np.sqrt(0.02 / 2000)
    p_values, _ = errors.short_features(cosines, 0.0)
    assert (p_values < 0.05).mean() == pytest.approx(0.05, abs=5 * np.sqrt(0.05 / 2000))
    assert errors.noise == pytest.approx(np.sqrt(10), rel=1e-6)


def test_too_few_functions_tell_nothing_of_short_features():
    p_values, sizes = kept(5).short_features(np.ones((3, 5)), 1.0)
    assert (p_values == 1).all() and (sizes == 0).all()


def test_a_jump_is_told_from_noise_and_its_size_is_what_the_followed_cosines_leave():
    errors, rng = kept(14, variance=0.01), np.random.default_rng(4)
    noise = 0.1 * rng.standard_normal((3000, 14))
    p_values, _, _ = errors.jumps(noise, 0.0)
    assert (p_values < 0.01).mean() < 0.01 + 5 * np.sqrt(0.01 / 3000)
    fine = (np.arange(20_000) + 0.5) / 20_000
    step = 8.0 * (fine > 0.4)
    cosines = step @ cosine_rows(14, fine) / len(fine)
    beyond = np.sqrt(((step - cosine_rows(14, fine) @ cosines) ** 2).mean())
    p_values, fits, sizes = errors.jumps(cosines + noise, 0.0)
    assert (p_values < 1e-4).mean() > 0.95 and (fits > 0.05).mean() > 0.9
    assert np.median(sizes) == pytest.approx(beyond, rel=0.1)
    assert kept(8).jumps(np.ones((3, 8)), 0.0)[0].min() == 1


def test_bends_are_what_straight_lines_leave_and_noise_is_none():
    errors, simple = kept(5, variance=0.04), POINTS[:, None] ** np.arange(2)
    line, wave = 40 + 3 * POINTS, cosine_rows(5, POINTS)[:, 4]
    noise = 0.2 * np.random.default_rng(3).standard_normal((2000, 5)) @ errors.rows.T
    p_values, _ = errors.bends(errors.smoothed(line) + noise, simple, 0.0)
    assert (p_values < 0.05).mean() == pytest.approx(0.05, abs=5 * np.sqrt(0.05 / 2000))
    p_value, size = errors.bends(line + 2 * wave, simple, 0.0)
    assert p_value < 1e-9 and size == pytest.approx(2.0, rel=0.05)
    assert errors.bends(line, POINTS[:, None] ** np.arange(6), 0.0) == (1.0, 0.0)


@pytest.mark.parametrize("mechanism", METHODS, ids=lambda one: f"{one.key} {one.changed()}")
def test_steps_and_peaks_are_told_and_smooth_curves_are_not(mechanism):
    for mean in STEPS.values():
        assert max(told(mechanism, curves(mean))) == 1
    for name, mean in SMOOTH.items():
        if mechanism.key == "bernstein" and name == "wave":
            continue  # of which it takes a quarter away
        assert max(told(mechanism, curves(mean))) == 0


@pytest.mark.parametrize(
    "mechanism", few([Iclp(), Frl(), GaussianProcess()], 2), ids=lambda one: one.key
)
def test_a_step_by_a_sixth_of_the_range_is_told_by_all_cosines_together(mechanism):
    """Its error is 1.3 to 1.9 times the forecast; the last cosines alone tell it in half."""

    def share(mean):
        return told(mechanism, curves(mean, 2000), epsilon=1.0, draws=100)[1]

    assert share(lambda t: 42 + 16 * (t > 0.5)) > 0.85
    for name, mean in {**SMOOTH, "two turns": lambda t: 50 + 10 * np.sin(4 * np.pi * t)}.items():
        assert share(mean) <= 0.03, name


def test_the_curve_of_the_forecast_and_a_wide_bump_are_not_warned_of():
    data = curves(SMOOTH["flat"])
    assert max(told(Bernstein(), curves(Twin.of(data.facts, data.sizes).mean))) <= 0.1
    assert max(told(Frl(), curves(lambda t: 45 + 20 * np.exp(-(((t - 0.5) / 0.2) ** 2)), 500))) == 0


@pytest.mark.parametrize(
    "mechanism", few([Frl(), Iclp(), GaussianProcess()], 1), ids=lambda one: one.key
)
def test_a_curve_far_from_the_middle_of_wide_bounds_is_told_by_what_few_functions_cannot_draw(
    mechanism,
):
    far, near = (
        curves(lambda t, level=level: level + 5 * np.sin(2 * np.pi * t), 2000, high=1000.0)
        for level in (60, 500)
    )
    assert told(mechanism, far)[0] == 1 and max(told(mechanism, near)) == 0


def test_noise_that_is_larger_than_all_that_is_smoothed_away_hides_it():
    assert max(told(Iclp(), curves(STEPS["step"], 100), epsilon=0.5)) < 0.5


@pytest.mark.parametrize("mechanism", METHODS[:4], ids=lambda one: one.key)
@pytest.mark.parametrize("m", [6, 12, 24])
def test_smooth_curves_at_few_common_times_are_not_warned_of(mechanism, m):
    for name in ("flat", "rise"):
        assert max(told(mechanism, curves(SMOOTH[name], m=m))) <= 0.05


@pytest.mark.parametrize("mechanism", few([NoisyGradientMean(), *METHODS]), ids=lambda one: one.key)
def test_a_step_beyond_the_forecast_is_told_or_the_release_says_that_it_could_not_show_it(
    mechanism,
):
    """By a sixth of the range, at 300 to 10000 curves; where nine of ten are told, no other says so."""
    budget = (Budget(2.0, 1e-6),)

    def step(times):
        return 42 + 16 * (times > 0.5)

    def released(data):
        return mechanism.release_many(data, [budget], 40, generator(1, 1, 0))

    for n in (300, 1000, 3000, 10_000):
        data = curves(step, n=n)
        twin = Twin.of(data.facts, data.sizes).mean
        expected, estimate = released(curves(twin, n=n)), released(data)
        forecast, error = (
            np.sqrt(((each.values(POINTS) - mean(POINTS)) ** 2).mean())
            for each, mean in ((expected, twin), (estimate, step))
        )
        if error > 1.6 * forecast:
            assert np.any([caution.applies for caution in estimate.cautions], axis=0).mean() > 0.8


def test_a_release_that_would_show_a_step_does_not_say_that_it_could_not():
    estimate = Iclp().release_many(
        curves(SMOOTH["flat"], n=5000), [(Budget(5.0),)], 20, generator(1, 1, 0)
    )
    assert STEP_NOT_SEEN not in [caution.text for caution in estimate.cautions]


# -- densities --------------------------------------------------------------------------------------

GATHERED_POINTS = {
    "bounds ten times too wide": lambda rng, n: rng.normal(0.5, 0.015, n),
    "a sudden start": lambda rng, n: rng.exponential(0.15, n),
    "a steep start": lambda rng, n: rng.lognormal(np.log(0.1), 0.8, n),
}
SPREAD_POINTS = {
    "even": lambda rng, n: rng.random(n),
    "bell": lambda rng, n: rng.normal(0.5, 0.1, n),
    "skewed": lambda rng, n: rng.beta(2, 5, n),
}


def said_to_gather(mechanism, draw, n=1000, text=GATHERED, epsilon=1.0):
    """The share of releases of a density that say that its peaks are flattened, or may be."""
    points = np.clip(draw(np.random.default_rng(1), n), 0, 1)
    data = SampleData(
        points[None, :, None],
        None,
        np.zeros(n, int),
        PublicFacts(covariates=(Covariate("x", 0.0, 1.0),)),
    )
    delta = 0.0 if mechanism.guarantee.is_pure else 1e-6
    estimate = mechanism.release_many(data, [(Budget(epsilon, delta),)], 20, generator(1, 1, 0))
    return sum(caution.applies.mean() for caution in estimate.cautions if caution.text == text)


@pytest.mark.parametrize(
    "mechanism",
    few(
        [
            Iclp(task=DENSITY.key),
            Frl(task=DENSITY.key),
            Bernstein(task=DENSITY.key),
            GaussianProcess(task=DENSITY.key),
            Iclp(task=DENSITY.key, clean=False),
        ]
    ),
)
def test_a_density_that_its_atoms_flatten_says_so_and_no_other(mechanism):
    for name, draw in GATHERED_POINTS.items():
        assert said_to_gather(mechanism, draw) > 0.5, name
    for name, draw in SPREAD_POINTS.items():
        assert said_to_gather(mechanism, draw) < 0.1, name


def test_a_few_cosines_tell_of_those_that_are_cut_off_where_they_do_not_become_small():
    few_cosines = Frl(task=DENSITY.key)
    assert said_to_gather(few_cosines, lambda rng, n: rng.lognormal(np.log(0.15), 0.8, n)) > 0.9
    assert said_to_gather(few_cosines, lambda rng, n: rng.lognormal(np.log(0.2), 0.5, n)) < 0.1


def test_a_release_that_could_not_show_points_that_gather_says_so():
    def untold(mechanism, n):
        return said_to_gather(mechanism, SPREAD_POINTS["even"], n, GATHERING_NOT_SEEN)

    assert untold(Iclp(task=DENSITY.key), 100) > 0.9
    assert untold(Iclp(task=DENSITY.key), 1000) == 0.0


# -- predictors ------------------------------------------------------------------------------------


def said_to_be_drawn_in(mechanism, predictor, two_classes, n=1000, text=DRAWN_IN):
    """The share of releases of a predictor that say that its penalty has drawn it in, or may."""
    rng = np.random.default_rng(3)
    x = rng.random(n)
    known = predictor(x)
    y = (
        (rng.random(n) < 1 / (1 + np.exp(-known))) * 1.0
        if two_classes
        else (known + 0.1 * rng.standard_normal(n))
    )
    facts = PublicFacts(
        covariates=(Covariate("x", 0.0, 1.0),),
        value_low=0.0 if two_classes else -1.0,
        two_classes=two_classes,
    )
    delta = 0.0 if mechanism.guarantee.is_pure else 1e-6
    estimate = mechanism.release_many(
        SampleData(x[None, :, None], y[None], np.zeros(n, int), facts),
        [(Budget(2.0, delta),)],
        20,
        generator(1, 1, 0),
    )
    return sum(caution.applies.mean() for caution in estimate.cautions if caution.text == text)


PREDICTORS = [each(task=RISK_MINIMISATION.key) for each in (Iclp, Frl, Bernstein, GaussianProcess)]


@pytest.mark.parametrize("mechanism", few(PREDICTORS))
def test_a_predictor_far_from_even_odds_or_the_middle_says_that_it_is_drawn_there(mechanism):
    assert said_to_be_drawn_in(mechanism, lambda x: -3 + 0 * x, True) > 0.9  # one in twenty
    assert said_to_be_drawn_in(mechanism, lambda x: 0.8 + 0.05 * x, False) > 0.9
    assert said_to_be_drawn_in(mechanism, lambda x: 4 * x - 2, True) < 0.1
    assert said_to_be_drawn_in(mechanism, lambda x: 1.2 * x - 0.6, False) < 0.1


@pytest.mark.parametrize("mechanism", few(PREDICTORS))
def test_a_predictor_that_noise_hides_says_what_it_could_not_show(mechanism):
    for predictor, two_classes in (
        (lambda x: -3 + 0 * x, True),
        (lambda x: 2 * (x > 0.5) - 1, False),
    ):
        told, may_be = (
            said_to_be_drawn_in(mechanism, predictor, two_classes, 100, text)
            for text in (DRAWN_IN, MAY_BE_DRAWN_IN)
        )
        assert told + may_be == pytest.approx(1.0)
    many = said_to_be_drawn_in(mechanism, lambda x: 1.2 * x - 0.6, False, 1000, MAY_BE_DRAWN_IN)
    assert many == isinstance(mechanism, Bernstein)  # whose polynomials never show a step


def test_a_predictor_that_needs_records_all_over_the_range_says_so():
    def says_so(n, two_classes=False):
        return said_to_be_drawn_in(
            Iclp(task=RISK_MINIMISATION.key), lambda x: 0.4 * x, two_classes, n, NOT_SPREAD
        )

    assert says_so(1000) == 1.0
    assert says_so(100) == says_so(1000, two_classes=True) == 0.0  # the penalty takes most anyhow


# -- covariances -----------------------------------------------------------------------------------


def said_of_covariance(mechanism, spread, n, epsilon, errors=0.0):
    """The shares of releases of a covariance that carry each caution."""
    rng, times = np.random.default_rng(5), (np.arange(20) + 0.5) / 20
    people = rng.standard_normal((2, n, 1))
    values = spread * (people[0] + 0.7 * people[1] * np.cos(np.pi * times))
    values += errors * rng.standard_normal((n, 20))
    facts = PublicFacts(design=Design.common(times.tolist()))
    data = CurveData(
        np.tile(times, n)[None], values.reshape(1, -1), np.full(n, 20), np.zeros(n, int), facts
    )
    delta = 0.0 if mechanism.guarantee.is_pure else 1e-6
    estimate = mechanism.release_many(data, [(Budget(epsilon, delta),)], 20, generator(1, 1, 0))
    applies = {caution.text: caution.applies.mean() for caution in estimate.cautions}
    return [applies.get(text, 0.0) for text in (FADED, SHRUNK, WIDE, ROUGH, NARROW)]


COVARIANCES = [each(task=COVARIANCE.key) for each in (GaussianProcess, Iclp, Frl, Bernstein)]


@pytest.mark.parametrize("mechanism", few(COVARIANCES[:2]))
def test_a_covariance_of_which_smoothing_leaves_little_says_so(mechanism):
    assert said_of_covariance(mechanism, 0.2, 100, 0.5)[:2] == [1.0, 0.0]  # by public facts alone
    assert said_of_covariance(mechanism, 0.5, 1000, 0.5)[0] == 1.0
    assert said_of_covariance(mechanism, 0.5, 1000, 5.0)[1] > 0.9
    assert max(said_of_covariance(mechanism, 0.2, 1000, 5.0)[:2]) < 0.1


@pytest.mark.parametrize("mechanism", few(COVARIANCES))
def test_a_covariance_says_which_people_it_could_not_show(mechanism):
    told = said_of_covariance(mechanism, 0.1, 1000, 5.0, errors=0.3)
    assert told[3] == 1.0 or isinstance(mechanism, Frl)  # whose noise is larger
    assert said_of_covariance(mechanism, 0.2, 100, 0.5)[2:] == [0.0, 0.0, 0.0]  # noise hides more


def test_curves_that_differ_much_or_hardly_are_told_or_the_release_says_it_could_not():
    for mechanism in COVARIANCES[:2]:
        wide = said_of_covariance(mechanism, 0.45, 300, 1.0)
        assert wide[1] + wide[2] == pytest.approx(1.0)
        assert said_of_covariance(mechanism, 0.03, 100, 5.0)[4] > 0.9
