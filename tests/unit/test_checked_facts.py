"""Two messages about stated facts: how far one person moves them, and what is decided from them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from engine.core.bands import limits
from engine.core.checks import CheckOutcome
from engine.core.grids import drawing_grid
from engine.core.random_streams import generator
from engine.core.types import Budget, Caution, CurveData, Design, PublicFacts, SaidIn
from engine.mechanisms.adaptive_coefficients import AdaptiveCoefficients
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.families.adaptive import check_words, checked_facts
from engine.mechanisms.families.adaptive.checked_facts import (
    FACTS,
    FAR,
    FINE_PARTS,
    PARTS,
    FirstMessage,
    Question,
    decide,
    first_share,
)
from engine.mechanisms.percentile_curves import PercentileCurves
from engine.numerics.clipping.clipped_averages import averages
from engine.numerics.deviations import AffineDeviations
from engine.numerics.exact_sums import Statistic
from engine.privacy import accounting, transcript
from engine.privacy.feasibility import Feasibility, verdict
from engine.release.uncertainty import band_of
from engine.sources.coefficient_curves import CoefficientCurves
from tests.panels.failures import SIX_TIMES, partly_observed
from tests.sentences import of_topic

wording = of_topic("upload")

VISITS = (0.0, 0.09, 0.18, 0.36, 0.73, 1.0)
MESSAGES = {
    "spread times": FirstMessage(),
    "common times": FirstMessage(VISITS, False),
    "too many common times": FirstMessage((), False),
}
PURE = {name: replace(message, pure=True) for name, message in MESSAGES.items()}


def statistics(message, rng, people=400, readings=6):
    """Weighted statistics (people, numbers) of people who are as unlike as can be."""
    spread = rng.choice([0.0, 0.02, 1.0], people)[:, None]
    times = np.clip(rng.random((people, 1)) + spread * rng.random((people, readings)), 0, 1)
    share = rng.choice([0.0, 0.5, 1.0], people)[:, None]
    side = np.where(rng.random(times.shape) < share, rng.integers(0, 2, (people, 1)), 2)
    counts = np.full(people, readings)
    each = message.statistic(times.reshape(1, -1), side.reshape(1, -1), counts)[0].T
    return each * message.weights


# -- privacy ----------------------------------------------------------------------------------


@pytest.mark.parametrize("message", [*MESSAGES.values(), *PURE.values()])
def test_one_person_moves_the_first_message_by_the_sensitivity_at_most(message):
    each = statistics(message, np.random.default_rng(1))
    apart = each[:, None] - each
    moved = np.abs(apart).sum(axis=-1) if message.pure else np.linalg.norm(apart, axis=-1)
    assert moved.max() <= message.step.sensitivity + 1e-12


@pytest.mark.parametrize("message", [*MESSAGES.values(), *PURE.values()])
def test_two_people_attain_the_sensitivity_of_the_first_message(message):
    """One is seen early and below the bounds, the other late and above; at no time and at all."""
    apart = [
        message.statistic(
            np.array([times]), np.array([[side] * len(times)]), np.array([len(times)])
        )[0, :, 0]
        for times, side in (([0.01], 0), ([0.99], 1))
    ]
    if message.times:  # a person who is observed at a time has observations, so that both are not
        apart[0][:-2], apart[1][:-2] = 0.0, 1.0  # extreme at once: the bound of each part is
    moved = (apart[0] - apart[1]) * message.weights
    size = np.abs(moved).sum() if message.pure else np.linalg.norm(moved)
    assert 0.999 * message.step.sensitivity <= size <= message.step.sensitivity * (1 + 1e-12)


@pytest.mark.parametrize("message", [*MESSAGES.values(), *PURE.values()])
def test_a_person_with_a_reading_that_is_no_number_adds_nothing_as_if_absent(message):
    side = np.array([[2, -1, 0, 2]])
    each = message.statistic(np.array([[0.1, 0.5, 0.9, 0.3]]), side, np.array([3, 1, 0]))[0]
    assert (
        (each[:, 0] == 0).all()
        and (each[:, 2] == 0).all()
        and each[:, 1].any() == bool(message.times or message.has_parts)
    )


def test_the_last_message_moves_by_root_two_at_most_and_attains_it():
    rng = np.random.default_rng(2)
    targets = rng.standard_normal((1, 3, 300)) * np.geomspace(0.01, 100, 300)
    shape, radius, centre = np.ones((1, 1, 3)), np.ones((1, 1)), np.zeros((1, 1, 3))
    each = np.array(
        [
            averages(
                AffineDeviations.of(np.zeros((1, 3, 3, 1)), targets[..., [k]]),
                centre,
                shape,
                radius,
                Statistic.BEYOND,
            )[0][0, 0]
            for k in range(300)
        ]
    )
    moved = np.linalg.norm(each[:, None] - each, axis=-1)
    assert moved.max() == pytest.approx(np.sqrt(2)) and {*map(tuple, each)} == {
        (0, 0),
        (1, 0),
        (0, 1),
    }
    distance = np.linalg.norm(targets[0], axis=0)
    assert (each[:, 1] == (distance > 2)).all()
    assert (each[:, 0] == ((distance > 1) & (distance <= 2))).all()


def test_the_last_message_with_sides_moves_by_root_two_at_most_and_mirrored_people_attain_it():
    rng = np.random.default_rng(2)
    half = rng.standard_normal((1, 3, 300)) * np.geomspace(0.01, 100, 300)
    targets = np.concatenate([half, -half, np.zeros((1, 3, 1))], axis=-1)
    shape, radius, centre = np.ones((1, 1, 3)), np.ones((1, 1)), np.zeros((1, 1, 3))
    weights = np.array([1, 1, checked_facts.SIDE])
    each = np.array(
        [
            np.concatenate(
                averages(
                    AffineDeviations.of(np.zeros((1, 3, 3, 1)), targets[..., [k]]),
                    centre,
                    shape,
                    radius,
                    Statistic.BEYOND,
                    Statistic.SIDES,
                ),
                axis=-1,
            )[0, 0]
            for k in range(targets.shape[-1])
        ]
    )
    moved = np.linalg.norm((each[:, None] - each) * weights, axis=-1)
    is_near = np.linalg.norm(targets[0], axis=0) <= 1
    assert moved.max() == pytest.approx(FAR.sensitivity)
    assert moved[0, 300] == pytest.approx(FAR.sensitivity)  # a person near the centre, mirrored
    assert (each[:, 2] == np.where(is_near, np.sign(targets[0, 0]), 0)).all()
    assert not each[-1].any()  # who adds no deviation, as with a reading that is no number


@pytest.mark.parametrize("effective", [50.0, 300.0, 5000.0])
@pytest.mark.parametrize(
    "chosen",
    [{}, {"checks": 0.15}, {"releases": "separate"}, {"band": "none"}, {"design": "unknown"}],
)
def test_squares_of_all_messages_add_up_to_the_budget(effective, chosen):
    data, budget = people(400), Budget(1.0, 1e-4)
    result = accounting.exact_mu(1.0, 1e-4)
    public = replace(
        data.public, sizes=replace(data.sizes, n_curves_per_server=(round(effective / result),))
    )
    plan = AdaptiveMean(**chosen).plan(public, (budget,))
    lines = [line for line in plan.spends if line.step.key in (FACTS.key, FAR.key)]
    assert sum(line.mu**2 for line in plan.spends) == pytest.approx(result**2, rel=1e-9)
    assert [line.sensitivity for line in lines] == [
        (pytest.approx(np.sqrt(2) / public.sizes.n_curves),)
    ] * 2
    share = chosen.get("checks", first_share(plan.verdict.effective_size, pure=False))
    assert lines[0].mu ** 2 == pytest.approx(share * result**2)


def test_each_site_has_the_noise_that_its_own_guarantee_needs():
    """Laplace of scale 4/(nεs) where δ = 0, and Gaussian of 4/(nμ√s) at a site beside it."""
    data = people(600)
    data = replace(data, server=np.repeat([0, 1], 300))
    budgets = (Budget(4.0), Budget(4.0, 1e-4))
    with transcript.recorded() as messages:
        estimate = AdaptiveMean().release(data, budgets, generator(1, 1, 0))
    stated = {
        message.server: message.noise for message in messages if message.step.key == FACTS.key
    }
    share = first_share(100.0, pure=True)
    mu = accounting.exact_mu(4.0, 1e-4)
    assert stated[0] == pytest.approx(np.sqrt(2) * 4 / (300 * 4.0 * share))
    assert stated[1] == pytest.approx(4 / (300 * mu * np.sqrt(share)))
    laws = {line.server: line.noise for line in estimate.spends[0] if line.step.key == FACTS.key}
    assert laws == {0: "laplace", 1: "gaussian"}


# -- decisions --------------------------------------------------------------------------------


def people(n, m=5, times=None, level=None, facts=None, seed=1, high=None):
    """People with a mean of 10 + 3 sin 2πt + 2t, of whom each is observed m times."""
    rng = np.random.default_rng(seed)
    times = rng.random((n, m)) if times is None else times(rng, (n, m))
    level = 2 * rng.standard_normal((n, 1)) if level is None else level(rng, (n, 1))
    values = 10 + 3 * np.sin(2 * np.pi * times) + 2 * times + level
    values += rng.standard_normal(times.shape)
    facts = PublicFacts(value_low=0.0, value_high=25.0) if facts is None else facts
    return CurveData(
        times.reshape(1, -1), values.reshape(1, -1), np.full(n, m), np.zeros(n, dtype=int), facts
    )


def released(data, epsilon, draws=12, **chosen):
    return AdaptiveMean(**chosen).release_many(
        data, [(Budget(epsilon, data.n_curves**-2.0),)], draws, generator(3, 1, 0)
    )


def share_told(estimate, kind):
    return float(
        np.any(
            [caution.applies for caution in estimate.cautions if caution.kind == kind]
            or [np.zeros((1, 1, 1))],
            axis=0,
        ).mean()
    )


def test_ordinary_people_are_hardly_ever_told_and_all_checks_hold():
    estimate = released(people(2000), 1.0, 40)
    told = np.any([check.outcome != CheckOutcome.HOLDS for check in estimate.checks], axis=0)
    assert len(estimate.checks) == 4 and told.mean() <= 0.1
    assert estimate.is_tested.all() and (estimate.is_unreliable == told).all()


@pytest.mark.parametrize(
    "times",
    [
        lambda rng, shape: rng.beta(2.5, 1, shape),
        lambda rng, shape: (lambda t: np.where(t > 0.4, t + 0.2, t))(0.8 * rng.random(shape)),
    ],
    ids=["late", "gap"],
)
def test_times_that_are_not_spread_as_stated_void_the_band_and_the_part_is_named(times):
    estimate = released(people(2000, times=times), 1.0)
    assert share_told(estimate, check_words.UNTRUE) == 1 and estimate.is_unreliable.all()


def test_a_stated_density_is_not_contradicted_by_times_that_follow_it():
    facts = PublicFacts(value_low=0, value_high=25, design=Design(density=(0.4, 1.6)))
    data = people(
        2000,
        times=lambda rng, shape: (-0.4 + np.sqrt(0.16 + 2.4 * rng.random(shape))) / 1.2,
        facts=facts,
    )
    assert share_told(released(data, 1.0), check_words.UNTRUE) == 0
    even = replace(people(2000), facts=facts)
    assert share_told(released(even, 1.0), check_words.UNTRUE) >= 0.9


def test_a_few_common_times_that_are_told_as_even_are_called_so():
    data = people(2000, times=lambda rng, shape: rng.choice(np.arange(12) / 11, size=shape))
    assert share_told(released(data, 1.0), check_words.CLUSTERED) == 1


def test_times_rounded_to_sixty_values_are_no_few_common_times_in_a_large_study():
    question = Question(FirstMessage(), Design(), ((5, 50_000),), 50_000)
    times = np.round(59 * np.random.default_rng(1).random((1, 250_000))) / 59
    means = (
        FirstMessage().statistic(times, np.full(times.shape, 2), np.full(50_000, 5)).mean(axis=2)
    )
    assert not decide(question, means, np.zeros(means.shape[1])).is_untrue.any()


def test_values_beyond_a_bound_void_the_band_and_those_at_a_bound_do_not():
    narrow = PublicFacts(value_low=8.0, value_high=25.0)
    beyond = people(1000, facts=narrow)
    at_bound = replace(beyond, values=np.clip(beyond.values, 8.0, 25.0))
    assert share_told(released(beyond, 2.0), check_words.MOVED) >= 0.9
    assert share_told(released(at_bound, 2.0), check_words.MOVED) == 0


def test_a_time_at_which_few_were_observed_is_left_out_and_the_curve_holds_there():
    """At the fifth of six times one in twelve people was observed, all of them low."""
    facts = PublicFacts(value_low=0, value_high=25, design=Design.common(VISITS))
    rng = np.random.default_rng(5)
    counts = np.where(rng.random(600) < 0.08, 6, 5)
    times = np.concatenate([VISITS if n == 6 else VISITS[:4] + VISITS[5:] for n in counts])
    curve = np.repeat(np.arange(600), counts)
    values = 10 + 2 * times + rng.standard_normal(600)[curve] + rng.standard_normal(len(times))
    data = CurveData(
        times[None],
        values[None],
        counts,
        np.zeros(600, int),
        replace(facts, observations_per_curve=6),
    )
    estimate = released(data, 1.0)
    assert share_told(estimate, check_words.LEFT_OUT) == 1 and not estimate.is_unreliable.any()
    error = np.abs(estimate.values(np.array([0.73]))[0, 0, :, 0] - 11.46)
    unchecked = np.abs(released(data, 1.0, design="stated").values(np.array([0.73])) - 11.46)
    assert error.mean() < min(0.6, unchecked.mean())
    low, high = estimate.limits
    assert (high - low).mean() < 4  # the others tell how the curve runs
    truth = 10 + 2 * drawing_grid()
    assert ((low <= truth) & (truth <= high)).all(axis=-1).mean() > 0.8


@pytest.mark.parametrize("at", [1, 3, 5])
def test_a_release_is_judged_whichever_common_time_is_left_out(at):
    """Functions that are not told apart have a covariance that lacks directions."""
    data = partly_observed(600, 40, generator(1, 0, 0), times=SIX_TIMES, at=at, share=0.08)
    estimate = AdaptiveMean().release_many(
        data, [(Budget(1.0, 1 / 600**2),)], 1, generator(1, 1, 0)
    )
    assert share_told(estimate, check_words.LEFT_OUT) > 0.9


@pytest.mark.parametrize("m", [2, 4, 6])
def test_no_time_is_left_out_where_people_were_observed_at_as_many_as_planned(m):
    facts = PublicFacts(
        value_low=0, value_high=25, design=Design.common(VISITS), observations_per_curve=m
    )
    data = people(
        600,
        m,
        times=lambda rng, shape: rng.permuted(np.tile(VISITS, (shape[0], 1)), axis=1)[:, :m],
        facts=facts,
    )
    estimate = released(data, 1.0)
    assert share_told(estimate, check_words.LEFT_OUT) == 0
    assert share_told(estimate, check_words.FEW_PRESENT) == 0


def test_people_far_from_the_others_void_the_band_where_there_is_power_and_else_are_named():
    facts = PublicFacts(value_low=-100, value_high=100, design=Design.common(np.arange(12) / 11))
    grid = {"times": lambda rng, shape: np.tile(np.arange(12) / 11, (shape[0], 1))}

    def with_far(n, share):
        return people(
            n,
            12,
            **grid,
            facts=facts,
            level=lambda rng, shape: (
                2 * rng.standard_normal(shape) + 85 * (rng.random(shape) < share)
            ),
        )

    assert share_told(released(with_far(5000, 0.02), 3.0), check_words.FAR_AWAY) > 0.9
    assert share_told(released(with_far(5000, 0.0), 3.0), check_words.FAR_AWAY) == 0
    small = released(with_far(500, 0.02), 1.0)
    wording.found("far others", small.not_shown)
    assert share_told(small, check_words.FAR_AWAY) < 0.3


SYMMETRIC = PublicFacts(value_low=-70, value_high=90, symmetric=True)


@pytest.mark.parametrize(
    ("level", "least", "most"),
    [
        (lambda rng, shape: 2 * rng.standard_normal(shape), 0.0, 0.05),
        (lambda rng, shape: 2 * rng.standard_t(4, shape), 0.0, 0.05),
        (lambda rng, shape: 2 * np.exp(1.2 * rng.standard_normal(shape)), 0.95, 1.0),
        (lambda rng, shape: -2 * rng.standard_exponential(shape), 0.95, 1.0),
    ],
    ids=["normal", "long tails", "lognormal", "exponential, mirrored"],
)
def test_people_who_are_not_spread_evenly_as_stated_void_the_band(level, least, most):
    estimate = released(people(2000, level=level, facts=SYMMETRIC), 1.0, 20)
    told = share_told(estimate, check_words.UNEVEN_PEOPLE)
    assert least <= told <= most
    assert (estimate.is_unreliable[0, 0].mean() >= 0.95) == (told > 0.9)


@pytest.mark.parametrize("radius", [1.0, 1.4, 2.0, 2.8])
@pytest.mark.parametrize("skewness", [0.2, 0.55])
def test_what_is_more_on_one_side_tells_how_far_slight_skew_moves_a_clipped_centre(
    radius, skewness
):
    shape = 4 / skewness**2
    people = (np.random.default_rng(1).gamma(shape, size=1_000_000) - shape) / np.sqrt(shape)
    centre = brentq(lambda at: np.clip(people - at, -radius, radius).mean(), -1, 1)
    inside = (people - centre)[np.abs(people - centre) <= radius]
    side = np.sign(inside).sum() / len(people)
    found = checked_facts.bias_of_side(np.array(side), np.array(0.0), np.array(radius))
    assert -centre == pytest.approx(found, abs=0.15 * -centre + 0.004)
    assert checked_facts.bias_of_side(np.array(side), np.array(abs(side)), np.array(radius)) == 0


def test_sides_are_counted_only_where_clipping_relies_on_symmetry():
    facts = {
        check.fact
        for stated, chosen in ((SYMMETRIC, {"clipping": "wide"}), (None, {"clipping": "tight"}))
        for check in released(people(300, facts=stated), 1.0, 1, **chosen).checks
    }
    relied_on = released(people(300, facts=SYMMETRIC), 1.0, 1).checks[-1]
    assert checked_facts.SIDES not in facts and relied_on.fact == checked_facts.SIDES
    assert relied_on.has(CheckOutcome.UNTESTED).all()  # 300 people are too few to tell


def test_effects_of_covariates_are_void_for_skewed_people_who_are_stated_to_be_spread_evenly():
    told = []
    for skewed in (False, True):
        rng = np.random.default_rng(1)
        data = with_covariate(3000, 0.0)
        lift = np.exp(rng.standard_normal(3000)) - np.exp(0.5) if skewed else np.zeros(3000)
        data = replace(
            data,
            values=data.values + 2 * np.repeat(lift, data.counts),
            facts=replace(data.facts, symmetric=True, value_low=-70.0, value_high=90.0),
        )
        estimate = AdaptiveCoefficients().release_many(
            data, [(Budget(2.0, 1e-7),)], 10, generator(3, 1, 0)
        )
        told.append(share_told(estimate, check_words.UNEVEN_PEOPLE))
    assert told[0] <= 0.1 and told[1] >= 0.9


def test_nobody_is_called_near_where_only_more_than_half_of_all_would_be_seen_far():
    for n, outcome in ((150, CheckOutcome.UNTESTED), (2000, CheckOutcome.HOLDS)):
        near = released(people(n), 1.0).checks[-1]
        assert near.has(outcome).mean() > 0.9
        assert (near.smallest < 0.5).all() == (outcome is CheckOutcome.HOLDS)


def test_unknown_times_are_taken_for_even_unless_the_first_message_contradicts_that():
    """Then the band is that of released times, and not valid where a part may be nearly empty."""
    facts = PublicFacts(value_low=0, value_high=25, design=Design(law="unknown"))
    grid = drawing_grid()
    truth = 10 + 3 * np.sin(2 * np.pi * grid) + 2 * grid

    def release(slope, **chosen):
        data = people(
            2000, times=lambda rng, shape: rng.beta(slope, 1, shape), facts=replace(facts, **chosen)
        )
        estimate = released(data, 3.0)
        low, high = limits(estimate, estimate.band)
        covers = ((low < truth) & (truth < high)).all(axis=-1).mean()
        error = np.sqrt(((estimate.values(grid)[0, 0] - truth) ** 2).mean())
        return estimate, covers, error

    even, covers, error = release(1.0)
    assert share_told(even, check_words.LEARNED) == 0 and covers > 0.9
    assert error < 1.1 * release(1.0, design=Design())[2]
    uneven, covers, _ = release(1.6)
    assert share_told(uneven, check_words.LEARNED) == 1
    assert covers > 0.9 and release(1.6, design=Design())[1] < 0.1
    assert share_told(release(2.5)[0], check_words.PART_EMPTY) == 1


@pytest.mark.parametrize(
    "data",
    [
        people(
            1500,
            times=lambda rng, shape: rng.beta(1.6, 1, shape),
            facts=PublicFacts(value_low=0, value_high=25, design=Design(law="unknown")),
        ),
        people(
            600,
            6,
            times=lambda rng, shape: np.tile(VISITS, (shape[0], 1)),
            facts=PublicFacts(value_low=0, value_high=25, design=Design.common(VISITS)),
        ),
    ],
    ids=["learned", "common"],
)
def test_a_release_is_a_function_of_its_messages_alone(data):
    """Replayed on people of whom nobody has a number, with the messages of the release."""
    heard, method, budget = [], AdaptiveMean(), Budget(2.0, 1e-6)

    class Keeper:
        def sent(self, server, step, values, noise):
            heard.append(values.copy())
            return values

    class Player:
        def __init__(self):
            self.left = iter(heard)

        def sent(self, server, step, values, noise):
            return next(self.left)

    with transcript.overheard(Keeper()):
        first = method.release_many(data, [(budget,)], 3, generator(3, 1, 0))
    nobody = replace(data, values=np.zeros_like(data.values))
    with transcript.overheard(Player()):
        again = method.release_many(nobody, [(budget,)], 3, generator(3, 1, 0))
    assert np.array_equal(first.coefficients, again.coefficients)
    assert [(caution.text, caution.applies.tolist()) for caution in first.cautions] == [
        (caution.text, caution.applies.tolist()) for caution in again.cautions
    ]
    for check, same in zip(first.checks, again.checks, strict=True):
        assert np.array_equal(check.measured, same.measured)
        assert np.array_equal(check.outcome, same.outcome)


@pytest.mark.parametrize(
    ("times", "effective", "told"),
    [
        (lambda rng, shape: rng.random(shape), 237, 0.03),
        (lambda rng, shape: rng.beta(2.5, 1, shape), 150, 0.99),
        (lambda rng, shape: rng.beta(1.5, 1, shape), 237, 0.82),
        (
            lambda rng, shape: (lambda t: np.where(t > 0.4, t + 0.2, t))(0.8 * rng.random(shape)),
            237,
            0.85,
        ),
        (lambda rng, shape: rng.choice(np.arange(9) / 8, size=shape), 237, 0.99),
        (lambda rng, shape: rng.choice(np.arange(24) / 23, size=shape), 1031, 0.97),
    ],
)
def test_the_power_of_the_law_of_times_is_as_measured(times, effective, told):
    """Cells of the table in the specification, 5 observations each, 150 simulated studies."""
    rng, n, message = np.random.default_rng(7), 1000, FirstMessage()
    question = Question(message, Design(), ((5, n),), n)
    noise = np.sqrt(2) / (effective * np.sqrt(first_share(effective, False))) / message.weights
    means = np.stack(
        [
            message.statistic(
                times(rng, (n, 5)).reshape(1, -1), np.full((1, 5 * n), 2), np.full(n, 5)
            )[0].mean(axis=1)
            for _ in range(150)
        ]
    )
    decision = decide(question, means + noise * rng.standard_normal(means.shape), noise)
    assert decision.is_untrue.mean() == pytest.approx(told, abs=0.1 if told > 0.1 else 0.05)


def test_the_limit_for_windows_is_exceeded_by_noise_alone_in_one_of_a_hundred():
    question = Question(FirstMessage(), Design(), ((5, 10**9),), 10**9)
    rng, noise = np.random.default_rng(1), np.full(PARTS + FINE_PARTS + 2, 0.05)
    even = np.concatenate([np.full(PARTS, 1 / PARTS), np.full(FINE_PARTS, 1 / FINE_PARTS), [0, 0]])
    decision = decide(question, even + noise * rng.standard_normal((20_000, len(even))), noise)
    assert decision.departs.mean() == pytest.approx(0.01, abs=0.002)


def with_covariate(n, follows, seed=1):
    """Curves whose times are Beta(1 + 3x, 1 + 3(1 − x)) of their covariate x, or even."""
    data = CoefficientCurves(n_curves=n, n_covariates=1, n_observations_per_curve=5).draw(
        1, generator(seed, 0, 0)
    )
    x = np.repeat((data.regressors[0, 1] + 1) / 2, 5)
    times = np.random.default_rng(seed).beta(1 + follows * x, 1 + follows * (1 - x))
    return replace(data, times=times[None])


@pytest.mark.parametrize(("follows", "least", "most"), [(0.0, 0.0, 0.05), (3.0, 0.9, 1.0)])
def test_times_that_follow_a_covariate_void_the_bands(follows, least, most):
    estimate = AdaptiveCoefficients().release_many(
        with_covariate(1500, follows), [(Budget(1.0, 1e-6),)], 40, generator(3, 1, 0)
    )
    assert least <= share_told(estimate, check_words.FOLLOWS) <= most


def test_one_person_moves_the_message_about_covariates_by_the_sensitivity_and_attains_it():
    message = FirstMessage(n_functions=3)
    corners = np.array([[1, a, b] for a in (-1, 1) for b in (-1, 1)], dtype=float)
    each = (
        np.concatenate(
            [
                message.statistic(
                    np.full((1, 4), time),
                    np.full((1, 4), side),
                    np.ones(4, dtype=int),
                    corners.T[None],
                )[0].T
                for time in (0.1, 0.4, 0.9)
                for side in (0, 1, 2)
            ]
        )
        * message.weights
    )
    moved = np.linalg.norm(each[:, None] - each, axis=-1)
    assert moved.max() == pytest.approx(message.step.sensitivity)
    missing = message.statistic(
        np.full((1, 1), 0.1), np.full((1, 1), 0), np.ones(1, dtype=int), np.zeros((1, 3, 1))
    )
    assert not missing.any()


# -- what is said -----------------------------------------------------------------------------


def test_what_a_release_would_not_show_is_no_doubt_and_stands_with_its_band():
    estimate = released(people(300), 1.0, 1)
    says = Caution("…", np.ones((1, 1, 1), dtype=bool), SaidIn.STATED, low_power_for=("peaks",))
    silent, doubted = (
        replace(estimate, cautions=(caution,))
        for caution in (says, replace(says, low_power_for=()))
    )
    assert not silent.is_doubted.any() and not silent.warnings and silent.not_shown == "…"
    assert doubted.is_doubted.all() and doubted.warnings and not doubted.not_shown
    assert silent.usually_not_shown(0) == "…" and not doubted.usually_not_shown(0)
    ends = [(np.zeros(101), np.ones(101))]
    band = band_of(silent, ends, drawing_grid(), "It relies on symmetry.")
    assert band.limit.startswith("It relies") and band.limit.endswith("…")


def test_sizes_are_written_out_whatever_the_range_of_values_is():
    steps = PublicFacts(value_low=0.0, value_high=30_000.0, value_unit="steps")
    data = people(1000, facts=steps, level=lambda rng, shape: 40_000 * rng.random(shape))
    estimate = released(data, 2.0)
    assert share_told(estimate, check_words.MOVED) >= 0.9
    texts = [caution.text for caution in estimate.cautions]
    assert any(f"{steps.value_high:.0f}" in text for text in texts) and not any(
        "e+" in text for text in texts
    )


def test_sentences_of_one_kind_count_together():
    estimate = released(people(300), 1.0, 4)
    marks = np.eye(4, dtype=bool)[:, None, None]
    alike = tuple(
        Caution(f"About {k} %.", mark, SaidIn.LINE, kind="About {} %.")
        for k, mark in enumerate(marks)
    )
    ((_, share),) = replace(estimate, cautions=alike).warning_shares()
    assert share == 1 and len(replace(estimate, cautions=alike).usual_warnings(0)) == 1


def test_facts_are_untested_in_small_studies_and_no_verdict_is_good_then():
    assert not released(people(300), 1.0, 2).is_tested.any()
    assert released(people(2000), 1.0, 2).is_tested.all()
    assert [verdict(Feasibility(500.0), is_tested=tested) for tested in (True, False)] == [
        "nearly free",
        "usable",
    ]
    assert verdict(Feasibility(50.0), is_tested=False) == Feasibility(50.0).verdict


def test_where_facts_are_relied_on_without_a_check_nothing_is_sent_and_drawn_noise_stays():
    data, budget = people(300), (Budget(1.0, 1e-4),)
    stated = AdaptiveMean(design="stated")
    with transcript.recorded() as messages:
        estimate = stated.release(data, budget, generator(1, 1, 0))
    assert not {FACTS.key, FAR.key} & {message.step.key for message in messages}
    assert not estimate.checks and AdaptiveMean.stored({})["design"] == "stated"


def test_a_check_is_a_line_of_the_card_with_its_sizes():
    rows = [check.of(0, 0, 0).row() for check in released(people(2000), 1.0, 1).checks]
    assert [row["fact"] for row in rows] == [
        fact.stated
        for fact in (
            checked_facts.LAW,
            checked_facts.CLUSTERS,
            checked_facts.BOUNDS,
            checked_facts.NEAR,
        )
    ]
    assert all("%" in row["measured"] and "%" in row["would_have_shown"] for row in rows)
    assert {row["outcome"] for row in rows} <= {*CheckOutcome}


# -- percentile curves --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "told"),
    [
        (lambda rng, shape: rng.random(shape), 0.0),
        (lambda rng, shape: rng.beta(2.5, 1, shape), 1.0),
    ],
)
def test_percentile_curves_send_the_first_message_and_are_void_where_times_are_untrue(times, told):
    estimate = PercentileCurves().release_many(
        people(2000, times=times), [(Budget(2.0, 1e-6),)], 3, generator(3, 1, 0)
    )
    assert share_told(estimate, check_words.UNTRUE) == told == estimate.is_unreliable.mean()
    assert FAR.key not in {line.step.key for line in estimate.spends[0]}


def test_percentiles_of_values_moved_to_a_bound_are_told_and_stay_valid():
    narrow = PublicFacts(value_low=8.0, value_high=25.0)
    estimate = PercentileCurves().release_many(
        people(2000, facts=narrow), [(Budget(2.0, 1e-6),)], 3, generator(3, 1, 0)
    )
    assert share_told(estimate, check_words.MOVED_PERCENTILES) == 1
    assert not estimate.is_unreliable.any()
