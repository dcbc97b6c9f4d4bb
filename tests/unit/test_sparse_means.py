"""Sparse means from machines that trust nobody: exact chances, predicted errors, ledgers."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import erf

from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.random_streams import generator
from engine.core.types import NON_PRIVATE, Budget, Public, PublicFacts, SampleData, Sizes
from engine.mechanisms import mechanisms
from engine.mechanisms.families.sparse.left_out import MORE_MATTER, MORE_MAY_MATTER
from engine.mechanisms.families.untrusted_means import per_coordinate
from engine.mechanisms.sparse_mean_laplace import SparseMeanLaplace
from engine.mechanisms.sparse_mean_signs import SparseMeanSigns
from engine.mechanisms.sparse_mean_trusted import SparseMeanTrusted
from engine.privacy import accounting
from engine.privacy.transcript import CENTRE, recorded
from engine.rates.sparse_regression import UntrustedServerRate
from engine.simulation.metrics import integrated_squared_errors
from engine.sources.sparse_means import SparseMeans
from engine.topics.sparse.means import (
    ALONE,
    BIT,
    PRINTED,
    ROW,
    TRUSTED,
    ZERO,
    SparseMeanSetting,
    along,
    rates_of,
    simulated,
    untrusted_errors,
)

BOTH = (SparseMeanSigns, SparseMeanLaplace)
every_mechanism = pytest.mark.parametrize(
    "mechanism", [cls(sparsity=sparsity) for cls in BOTH for sparsity in (5, None)], ids=repr
)
SOURCE = SparseMeans(n_curves=6000, n_servers=300, n_features=30)
BUDGETS = [(Budget(0.5),), (Budget(2.5, 1e-3),)]
FACTS = PublicFacts(value_low=-1.0, value_high=1.0, reading_sd=1.0)


def draw(seed=1, source=SOURCE, repeats=2):
    return source.draw(repeats, generator(seed, 0, 0))


def release(mechanism, data, budgets=BUDGETS, draws=3, seed=1):
    return mechanism.release_many(data, budgets, draws, generator(seed, 1, 0))


def errors_of(mechanism, mean, machines, rows, epsilon, repeats, seed=1):
    """Squared errors (repeats,) where means of machines are drawn as such, and the plan."""
    result = int((mean != 0).sum())
    setting = SparseMeanSetting(
        machines=machines,
        rows=rows,
        size=len(mean),
        n_nonzero=result,
        height=mean[0],
        epsilon=epsilon,
    )
    plan = mechanism.plan(setting.public, (Budget(epsilon),))
    return untrusted_errors(mechanism, setting, repeats, generator(seed, 0, 0)), plan


def error_of_kept(mechanism, plan):
    """Variances of kept means near zero, where machines are alike and the right ones are kept."""
    asked = len(plan.rows) * plan.per_machine / plan.size  # machines that answer for a coordinate
    variance = mechanism.variance(plan).mean() / asked
    return mechanism.slope(plan) ** 2 * min(mechanism.sparsity, plan.size) * variance


def spikes(size, n_nonzero, height):
    return np.where(np.arange(size) < n_nonzero, height, 0.0)


# -- what both keep ---------------------------------------------------------------------------


def test_both_serve_the_task_and_say_what_they_protect():
    assert mechanisms.for_task("sparse_mean") == (
        SparseMeanLaplace,
        SparseMeanSigns,
        SparseMeanTrusted,
    )
    assert (SparseMeanSigns.protects, SparseMeanLaplace.protects) == ("machine", "row")


@every_mechanism
def test_the_same_seed_gives_the_same_release_and_another_seed_another(mechanism):
    data = draw()
    budgets = [(Budget(0.5),), (Budget(9.0),)]
    first, again, other = (
        release(mechanism, data, budgets, seed=s).coefficients for s in (1, 1, 2)
    )
    assert (first == again).all() and (first[1] != other[1]).any()
    assert first.shape == (2, 2, 3, 30)


@every_mechanism
def test_data_are_unchanged_and_everything_pickles(mechanism):
    data = draw()
    before = digest(data)
    release(mechanism, data)
    assert digest(data) == before
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism


@every_mechanism
def test_without_a_limit_no_noise_is_added_and_every_machine_answers_for_everything(mechanism):
    estimate = release(mechanism, draw(), [(NON_PRIVATE,)])
    assert (estimate.coefficients[0] == estimate.unprotected[0][:, None]).all()
    assert estimate.tuning[0] == {"per machine": 30}


@every_mechanism
@pytest.mark.parametrize("epsilon", [0.05, 0.7, 3.0, 10.0])
def test_every_machine_spends_what_was_asked_and_delta_stays_zero(mechanism, epsilon):
    spends = release(mechanism, draw(), [(Budget(epsilon, 1e-4),)]).spends[0]
    for budget in accounting.guarantees(spends):
        assert budget.epsilon <= epsilon
        assert budget.epsilon == pytest.approx(epsilon, rel=1e-9)
    assert accounting.total_epsilon([spends[0]]) == pytest.approx(epsilon, rel=1e-12)
    assert len(spends) == 300 and all(mechanism.protects in spend.why for spend in spends)


@every_mechanism
def test_tuning_and_ledger_do_not_follow_the_rows(mechanism):
    one, other = release(mechanism, draw(1)), release(mechanism, draw(2))
    assert one.tuning == other.tuning and one.spends == other.spends


@every_mechanism
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e308])
def test_a_bad_number_leaves_the_release_finite_and_in_its_range(mechanism, bad):
    data = draw(repeats=1)
    x = data.x.copy()
    x[0, :25] = bad
    estimate = release(mechanism, replace(data, x=x)).coefficients
    assert np.isfinite(estimate).all() and np.abs(estimate).max() <= 1


@every_mechanism
def test_a_release_is_a_function_of_the_messages_alone(mechanism):
    """What machines sent, put together by hand, is the release."""
    data, epsilon = draw(repeats=1), 2.5
    with recorded() as messages:
        estimate = release(mechanism, data, [(Budget(epsilon),)], draws=1).coefficients[0, 0, 0]
    plan = mechanism.plan(data.public, (Budget(epsilon),))
    assert [message.server for message in messages] == list(range(300))
    answers, counts = np.zeros(30), np.zeros(30)
    for machine, message in enumerate(messages):
        assert message.values.shape == message.noise.shape == (plan.per_machine,)
        for a in range(plan.per_machine):
            coordinate = (machine * plan.per_machine + a) % 30
            answers[coordinate] += message.values[a]
            counts[coordinate] += 1
    means = np.clip(mechanism.means(answers / counts * mechanism.gain(plan)[0], plan), -1, 1)
    kept = estimate != 0
    np.testing.assert_allclose(estimate[kept], means[kept], rtol=1e-12)
    if mechanism.sparsity:
        assert kept.sum() == 5 and np.abs(means[kept]).min() >= np.abs(means[~kept]).max()


def test_no_message_is_a_mean_of_rows():
    """Signs are ±1; averages differ from the exact ones on every machine."""
    data = draw(repeats=1)
    for cls in BOTH:
        with recorded() as messages:
            release(cls(), data, [(Budget(1.0),)], draws=1)
        sent = np.concatenate([message.values for message in messages])
        exact = data.x[0].reshape(300, 20, 30).mean(axis=1)[np.arange(300), np.arange(300) % 30]
        assert set(np.abs(sent)) == {1.0} if cls is SparseMeanSigns else (sent != exact).all()


def test_every_coordinate_is_asked_equally_often_give_or_take_one():
    for machines, per_machine in ((300, 1), (41, 3), (30, 1), (7, 30)):
        sizes = Sizes((4,) * machines, 4 * machines, 1, 30)
        plan = SparseMeanSigns(per_machine=per_machine).plan(Public(sizes, FACTS), (Budget(1.0),))
        times = np.bincount(plan.coordinates.ravel(), minlength=30)
        assert times.max() - times.min() <= 1 and times.min() >= 1
        assert all(len(set(own)) == per_machine for own in plan.coordinates)
        ones = np.ones((machines, per_machine))
        assert (per_coordinate(ones, 30) == times).all()


@pytest.mark.parametrize(
    ("mechanism", "machines", "facts", "field"),
    [
        (SparseMeanSigns(), 29, FACTS, "n_servers"),
        (SparseMeanLaplace(per_machine=2), 14, FACTS, "n_servers"),
        (SparseMeanLaplace(), 40, replace(FACTS, reading_sd=0.0), "reading_sd"),
    ],
)
def test_what_cannot_be_asked_is_refused(mechanism, machines, facts, field):
    sizes = Sizes((4,) * machines, 4 * machines, 1, 30)
    with pytest.raises(InputError) as refused:
        mechanism.plan(Public(sizes, facts), (Budget(1.0),))
    assert refused.value.field == field


@pytest.mark.parametrize("cls", BOTH)
def test_a_machine_without_rows_is_refused(cls):
    data = draw(repeats=1)
    gap = SampleData(data.x, None, np.where(data.server == 299, 300, data.server), data.facts)
    with pytest.raises(InputError, match="at least one row"):
        release(cls(), gap)


@pytest.mark.parametrize("cls", BOTH)
def test_a_threshold_keeps_nothing_where_nothing_is(cls):
    """20 data sets with zero means: 2√(2 log d) standard errors are not passed by chance."""
    source = replace(SOURCE, size=0.0)
    estimate = release(cls(sparsity=None), draw(source=source, repeats=20), draws=1).coefficients
    assert (estimate == 0).all()


@pytest.mark.parametrize("cls", BOTH)
def test_without_protection_the_largest_means_of_all_rows_are_reported(cls):
    """50 data sets of 6000 rows: s/N on the kept five."""
    data = draw(repeats=50)
    errors = integrated_squared_errors(cls().without_protection(data), data.truth).total
    assert errors.mean() == pytest.approx(5 / 6000, rel=5 * np.sqrt(2 / 250))


@pytest.mark.parametrize("cls", BOTH)
def test_machines_may_have_budgets_and_sizes_of_their_own(cls):
    server = np.repeat(np.arange(60), np.tile([10, 30], 30))
    truth = SOURCE.truth
    rng = generator(1, 0, 0)
    x = truth.node_values + rng.standard_normal((1, len(server), 30))
    data = SampleData(x, None, server, SOURCE.facts, truth)
    budgets = tuple(Budget(1.0 + (i % 3)) for i in range(60))
    spends = release(cls(), data, [budgets]).spends[0]
    assert [b.epsilon for b in accounting.guarantees(spends)] == pytest.approx([1.0, 2.0, 3.0] * 20)


# -- one bit ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "bits"), [(0.3, 1), (1.0, 1), (2.7, 2), (8.0, 8), (90.0, 30)])
def test_bits_share_epsilon_exactly(epsilon, bits):
    plan = SparseMeanSigns().plan(Public(SOURCE.sizes, FACTS), (Budget(epsilon),))
    chance = SparseMeanSigns().turn_chance(plan)
    assert plan.per_machine == bits
    np.testing.assert_allclose(bits * np.log((1 - chance) / chance), epsilon, rtol=1e-12)


def test_a_bit_is_turned_round_with_its_chance_and_the_average_is_unbiased():
    """400 000 answers of +1: five standard errors."""
    mechanism = SparseMeanSigns()
    sizes = Sizes((1,) * 400, 400, 1, 30)
    plan = mechanism.plan(Public(sizes, FACTS), (Budget(0.8),))
    standard = mechanism.standard((1, 1000, 400, 1), generator(1, 0, 0))
    sent = mechanism.private(np.ones((1, 1, 400, 1)), plan, standard)
    chance = 1 / (1 + np.exp(0.8))
    assert (sent == -1).mean() == pytest.approx(chance, abs=5 * np.sqrt(chance / 400_000))
    assert mechanism.gain(plan)[0] == pytest.approx((np.exp(0.8) + 1) / (np.exp(0.8) - 1))
    assert mechanism.gain(plan)[0] * (1 - 2 * chance) == pytest.approx(1)


def test_signs_are_turned_back_into_means_and_end_at_a_cap():
    mechanism = SparseMeanSigns()
    plan = mechanism.plan(Public(Sizes((25,) * 30, 750, 1, 30), FACTS), (Budget(1.0),))
    mu = np.array([-0.5, 0.0, 0.01, 0.3])
    np.testing.assert_allclose(mechanism.means(erf(np.sqrt(25 / 2) * mu), plan), mu, atol=1e-12)
    assert mechanism.means(np.array([-1.4, 1.0, 7.0]), plan) == pytest.approx(
        np.array([-1, 1, 1]) * 3.29 / 5, abs=5e-4
    )


def test_means_far_above_their_scatter_all_look_alike():
    """Signs agree on 2000 machines, so that a mean of 0.5 and one of 0.9 give the same answer."""
    rows = [
        errors_of(SparseMeanSigns(sparsity=1), np.array([mean, 0.0]), 2000, 1000, 30.0, 1)[0]
        for mean in (0.5, 0.9)
    ]
    cap = 3.29 / np.sqrt(1000)
    np.testing.assert_allclose(
        np.concatenate(rows), [(0.5 - cap) ** 2, (0.9 - cap) ** 2], rtol=1e-3
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "factor"),
    [({"machines": 32_000}, 1 / 2), ({"size": 40}, 2), ({"rows": 200}, 1 / 2)],
)
def test_the_error_of_signs_falls_like_machines_and_rows_and_grows_like_the_dimension(
    changed, factor
):
    """100 runs each: the ratio of two means of 1000 squares, five standard errors."""

    def error(machines=16_000, size=20, rows=100):
        mean = spikes(size, 10, 1 / np.sqrt(rows))
        mechanism = SparseMeanSigns(sparsity=10)
        return errors_of(mechanism, mean, machines, rows, 1.9, 100)[0].mean()

    assert error(**changed) / error() == pytest.approx(factor, rel=5 * np.sqrt(4 / 1000))


def test_the_error_of_signs_near_zero_is_the_predicted_one():
    """100 runs of ten means, all kept: five standard errors."""
    mechanism = SparseMeanSigns(sparsity=10)
    errors, plan = errors_of(mechanism, np.zeros(10), 20_000, 100, 1.0, 100)
    a = np.exp(-1.0)
    closed = 10 * np.pi / 200 * 10 / 20_000 * ((1 + a) / (1 - a)) ** 2
    assert error_of_kept(mechanism, plan) == pytest.approx(closed)
    assert errors.mean() == pytest.approx(closed, rel=5 * np.sqrt(2 / 1000))


def test_unequal_machines_use_as_many_rows_as_the_smallest():
    sizes = Sizes((10, 30) * 15, 600, 1, 30)
    assert set(SparseMeanSigns().plan(Public(sizes, FACTS), (Budget(1.0),)).rows) == {10}
    assert set(SparseMeanLaplace().plan(Public(sizes, FACTS), (Budget(1.0),)).rows) == {10, 30}


# -- noisy averages ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "reference"), [(1, 5.1e-5), (2, 2.8e-5), (4, 2.1e-5), (8, 2.2e-5), (16, 3.3e-5)]
)
def test_errors_of_averages_are_the_reference_numbers(k, reference):
    """m = 2000, n = 10⁴, d = 200, s = 5, ε = 1; 150 runs, five standard errors of 750 squares."""
    mechanism = SparseMeanLaplace(per_machine=k)
    errors, plan = errors_of(mechanism, spikes(200, 5, 0.5), 2000, 10_000, 1.0, 150)
    assert error_of_kept(mechanism, plan) == pytest.approx(reference, rel=0.2)
    assert errors.mean() == pytest.approx(error_of_kept(mechanism, plan), rel=5 * np.sqrt(2 / 750))


@pytest.mark.slow
def test_averages_beat_the_bound_printed_for_rows():
    """m = 2·10⁶, n = 10⁴, d = 200, s = 5, ε = 0.05: 1.1e-6 against 2e-5; four runs."""
    mechanism = SparseMeanLaplace()
    errors, plan = errors_of(mechanism, spikes(200, 5, 0.5), 2_000_000, 10_000, 0.05, 4)
    assert plan.per_machine == 1
    assert error_of_kept(mechanism, plan) == pytest.approx(1.1e-6, rel=0.05)
    assert errors.mean() == pytest.approx(1.1e-6, rel=5 * np.sqrt(2 / 20))
    printed = UntrustedServerRate(hidden="machine").total(
        n=1e4, S=2e6, d=200.0, s=5.0, epsilon=0.05
    )
    assert printed == pytest.approx(2e-5) and errors.max() < printed / 2


def test_the_usual_number_of_coordinates_is_the_best_whole_one():
    sizes = Sizes((10_000,) * 2000, 20_000_000, 1, 200)
    for epsilon in (0.1, 1.0, 3.0):
        usual = SparseMeanLaplace().plan(Public(sizes, FACTS), (Budget(epsilon),)).per_machine
        errors = {}
        for k in range(1, 40):
            mechanism = SparseMeanLaplace(per_machine=k)
            errors[k] = error_of_kept(
                mechanism, mechanism.plan(Public(sizes, FACTS), (Budget(epsilon),))
            )
        assert errors[usual] <= min(errors.values()) * 1.01
    few = Sizes((100,) * 20, 2000, 1, 200)
    assert SparseMeanLaplace().plan(Public(few, FACTS), (Budget(0.1),)).per_machine == 10


def test_what_privacy_adds_to_averages_is_the_variance_of_laplace_noise():
    """The same data with and without noise, 200 draws of all 30 entries: five standard errors."""
    data, mechanism = draw(repeats=1), SparseMeanLaplace(sparsity=30)
    estimate = release(
        mechanism,
        replace(data, facts=replace(data.facts, value_low=-100.0)),
        [(Budget(3.0),)],
        draws=200,
    )
    found = integrated_squared_errors(estimate, data.truth).privacy.mean()
    planned = mechanism.expected_error(
        data.sizes, (Budget(3.0),), replace(data.facts, value_low=-100.0)
    )
    assert found == pytest.approx(planned, rel=5 * np.sqrt(2.3 / 6000))


def test_hiding_a_machine_costs_more_than_hiding_a_row_once_there_are_many_rows():
    sizes = Sizes((10_000,) * 2000, 20_000_000, 1, 50)
    row, machine = (
        cls().expected_error(sizes, (Budget(1.0),), FACTS)
        for cls in (SparseMeanLaplace, SparseMeanSigns)
    )
    assert machine > 10 * row


# -- a trusted server -------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [Budget(0.7), Budget(0.7, 1e-6), Budget(6.0, 1e-6), NON_PRIVATE])
def test_a_trusted_server_spends_what_was_asked(budget):
    estimate = release(SparseMeanTrusted(), draw(), [(budget,)])
    assert len(estimate.spends[0]) == 600
    for proved in accounting.guarantees(estimate.spends[0][:4]):
        assert proved.epsilon <= budget.epsilon
        assert proved.epsilon == pytest.approx(budget.epsilon, rel=1e-6)
        assert proved.delta == budget.delta
    exact = (estimate.coefficients[0] == estimate.unprotected[0][:, None]).all()
    assert exact == (not budget.is_private)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_what_a_trusted_server_adds_is_the_variance_of_its_noise(delta):
    """Large means, always chosen; 600 draws of five: five standard errors."""
    source = replace(SOURCE, size=0.9)
    data, mechanism, budget = (
        draw(source=source, repeats=1),
        SparseMeanTrusted(),
        Budget(2.0, delta),
    )
    estimate = integrated_squared_errors(
        release(mechanism, data, [(budget,)], draws=600), data.truth
    )
    planned = mechanism.expected_error(data.sizes, (budget,), data.facts)
    assert estimate.privacy.mean() == pytest.approx(planned, rel=5 * np.sqrt(5 / 3000))


def test_only_the_centre_publishes_and_only_what_it_chose():
    with recorded() as messages:
        estimate = release(SparseMeanTrusted(), draw(repeats=1), [(Budget(2.0, 1e-6),)], draws=1)
    assert [message.server for message in messages] == [CENTRE]
    assert (messages[0].values != 0).sum() == (messages[0].noise > 0).sum() == 5
    released = np.clip(messages[0].values, -1, 1)
    assert (estimate.coefficients[0, 0, 0] == released).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1e308])
def test_a_bad_number_leaves_a_trusted_release_finite(bad):
    data = draw(repeats=1)
    x = data.x.copy()
    x[0, :25] = bad
    assert np.isfinite(release(SparseMeanTrusted(), replace(data, x=x), BUDGETS).coefficients).all()


# -- side by side -----------------------------------------------------------------------------


def test_trust_is_worth_orders_of_magnitude_and_bits_the_least():
    """40 runs at the usual sizes."""
    result = simulated(SparseMeanSetting(), 40)
    assert 30 * result[TRUSTED] < result[ROW] < result[ALONE] / 5 < result[BIT] < result[ZERO]
    assert result[ZERO] == pytest.approx(5 / 4)


def test_what_is_achieved_for_rows_lies_below_what_is_printed_as_their_bound():
    setting = SparseMeanSetting(machines=2_000_000, epsilon=0.05)
    result = rates_of(setting)
    assert result[PRINTED] == pytest.approx(2e-5)
    assert result[ROW] == pytest.approx(1.1e-6, rel=0.05)
    assert result[TRUSTED] < result[ROW]


def test_one_machine_alone_errs_between_its_two_closed_forms():
    """200 runs: s/n with means that are plain, at most 2 s log d/n with none."""
    plain, none = (
        simulated(SparseMeanSetting(machines=200, rows=1000, height=height), 200)[ALONE]
        for height in (0.5, 0.0)
    )
    assert plain == pytest.approx(5 / 1000, rel=5 * np.sqrt(2 / 1000))
    assert plain < none < 2 * 5 * np.log(200) / 1000


def test_errors_are_compared_along_any_size():
    result = along(SparseMeanSetting(size=50, rows=100), "machines", (40, 1000, 4000), 30)
    assert np.isnan(result[BIT][0]) and np.isfinite(result[BIT][1:]).all()
    assert result[ROW][0] > result[ROW][1] > result[ROW][2]
    assert result[TRUSTED][0] > result[TRUSTED][2] and len(result[ALONE]) == 3


# -- a stated number of means that is too small ---------------------------------------------------


def says_that_more_matter(mechanism, n_nonzero, epsilon=5.0, delta=0.0):
    """The share of releases of five means that say that more, or perhaps more, matter."""
    data = SparseMeans(n_nonzero=n_nonzero, n_curves=20_000, n_servers=2000).draw(
        1, generator(1, 0, 0)
    )
    budgets = [(Budget(epsilon, delta),) * 2000]
    estimate = mechanism.release_many(data, budgets, 10, generator(1, 1, 0))
    return sum(
        caution.applies.mean()
        for caution in estimate.cautions
        if caution.text in (MORE_MATTER, MORE_MAY_MATTER)
    )


@pytest.mark.parametrize("mechanism", [SparseMeanLaplace(), SparseMeanSigns(), SparseMeanTrusted()])
def test_means_that_are_left_out_are_told_where_noise_does_not_hide_them(mechanism):
    assert says_that_more_matter(mechanism, 20) > 0.9
    assert says_that_more_matter(mechanism, 2) < 0.1
    assert says_that_more_matter(mechanism, 20, epsilon=0.001) < 0.1
