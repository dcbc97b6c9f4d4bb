"""Means of numbers: noise as declared, votes that find the place, and one promise per setting."""

import math

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import NON_PRIVATE, Budget, CurveData, DataKind, PublicFacts
from engine.mechanisms.univariate_mean import AVERAGE, PLACE, Setting, UnivariateMean
from engine.privacy import accounting, transcript
from engine.running import executors
from engine.simulation.experiments import Cell, Run, run_cells
from engine.simulation.metrics import integrated_squared_errors
from engine.sources.numbers import Numbers
from engine.sources.sparse_curves import SparseCurves
from tests.heavy import few

ITEM_SETTINGS = ("local_item", "central_item", "site")
USER_SETTINGS = ("local_user", "central_user")
SETTINGS = (*ITEM_SETTINGS, *USER_SETTINGS, "none")
FEW = Numbers(n_servers=12, n_items=5, value_low=-1.0, value_high=3.0)
MANY = Numbers(n_servers=1000, n_items=2000)
every_setting = pytest.mark.parametrize("setting", SETTINGS)


ONE = [(Budget(1.0),)]


def release(mechanism, data, budgets=ONE, draws=1, seed=1):
    return mechanism.release_many(data, budgets, draws, generator(seed, 1, 0))


def privacy_errors(mechanism, data, budget, draws):
    estimate = release(mechanism, data, [(budget,)], draws)
    return integrated_squared_errors(estimate, data.truth).privacy.ravel()


def hand_made(values, counts, server, low=0.0, high=1.0):
    values = np.array([values], dtype=float)
    return CurveData(
        np.zeros_like(values),
        values,
        np.array(counts),
        np.array(server),
        PublicFacts(value_low=low, value_high=high),
    )


# -- noise --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "by_hand"),
    [
        # range 4, S = 12, n = 5, ε = 0.5: 2·16 over what the slides name
        ("none", 0.0),
        ("local_item", 32 / (12 * 5 * 0.25)),
        ("local_user", 32 / (12 * 0.25)),
        ("central_item", 32 / (12**2 * 5**2 * 0.25)),
        ("central_user", 32 / (12**2 * 0.25)),
        ("site", 32 / (12 * 5**2 * 0.25)),
    ],
)
def test_noise_has_the_variance_of_the_table(setting, by_hand):
    """One data set, 20 000 draws: within 5 standard errors of the closed form."""
    data, mechanism = FEW.draw(1, generator(1, 0, 0)), UnivariateMean.independent(setting)
    exact = mechanism.exact_error(data.sizes, (Budget(0.5),), data.facts)
    assert exact == pytest.approx(by_hand, rel=1e-12)
    errors = privacy_errors(mechanism, data, Budget(0.5), 20_000)
    assert abs(errors.mean() - exact) <= 5 * errors.std() / math.sqrt(len(errors))


@pytest.mark.parametrize("setting", ["local_item", "local_user", "site"])
def test_sites_with_their_own_budgets_add_their_own_noise(setting):
    """Four servers, two with half of the others' ε, 20 000 draws: within 5 standard errors."""
    source = Numbers(n_servers=4, n_items=3)
    data, mechanism = source.draw(1, generator(1, 0, 0)), UnivariateMean.independent(setting)
    budgets = (Budget(1.0), Budget(2.0), Budget(1.0), Budget(2.0))
    estimate = release(mechanism, data, [budgets], 20_000)
    errors = integrated_squared_errors(estimate, data.truth).privacy.ravel()
    exact = mechanism.exact_error(data.sizes, budgets, data.facts)
    assert abs(errors.mean() - exact) <= 5 * errors.std() / math.sqrt(len(errors))
    assert accounting.guarantees(estimate.spends[0]) == budgets


@pytest.mark.parametrize("setting", USER_SETTINGS)
def test_after_a_vote_the_noise_is_the_planned_one(setting):
    """ε = 2, one data set, 400 draws: votes never miss, noise within 5 standard errors.

    All means lie inside the interval, so that the noise is all that privacy adds.
    """
    data, mechanism = MANY.draw(1, generator(1, 0, 0)), UnivariateMean.independent(setting)
    errors = privacy_errors(mechanism, data, Budget(2.0), 400)
    planned = mechanism.expected_error(data.sizes, (Budget(2.0),), data.facts)
    assert abs(errors.mean() - planned) <= 5 * errors.std() / math.sqrt(len(errors))
    assert mechanism.exact_error(data.sizes, (Budget(2.0),), data.facts) is None


@every_setting
def test_without_a_limit_nothing_is_added(setting):
    for source in (FEW, Numbers(n_servers=100, n_items=2000)):
        data = source.draw(2, generator(1, 0, 0))
        estimate = release(UnivariateMean.independent(setting), data, [(NON_PRIVATE,)], 3)
        assert (estimate.coefficients == estimate.unprotected[:, :, None]).all()


@every_setting
def test_budgets_share_their_draws_so_that_noise_only_shrinks_with_epsilon(setting):
    data = FEW.draw(2, generator(1, 0, 0))
    estimate = release(
        UnivariateMean.independent(setting), data, [(Budget(1.0),), (Budget(2.0),)], 5
    )
    noise = estimate.coefficients - estimate.unprotected[:, :, None]
    assert np.allclose(noise[0], 2 * noise[1], atol=1e-12)
    assert (noise[0] != 0).all() == (setting != "none")


@every_setting
def test_the_same_seed_gives_the_same_release_and_another_seed_another(setting):
    data = FEW.draw(2, generator(1, 0, 0))
    first, again, other = (
        release(UnivariateMean.independent(setting), data, seed=s).coefficients for s in (1, 1, 2)
    )
    assert (first == again).all()
    assert (first != other).any() == (setting != "none")


# -- votes --------------------------------------------------------------------------------------


def elected(mechanism, data, plan, draws):
    """Which interval each of so many votes elects."""
    ballots = mechanism.ballots(data, plan.places)
    (votes,) = mechanism.noisy_votes(ballots, data, [plan], draws, generator(1, 1, 0))
    return mechanism.elected(votes, plan)


def test_votes_are_held_only_where_three_places_are_less_than_half_of_the_range():
    mechanism = UnivariateMean.independent("local_user")
    few, many = FEW.sizes, MANY.sizes
    assert mechanism.places(few, FEW.facts) == 1
    assert mechanism.places(many, MANY.facts) >= 7
    assert mechanism.clip_width(mechanism.places(many, MANY.facts), MANY.facts) < 0.5
    wide = UnivariateMean(setting="local_user", person_spread=0.1)
    assert wide.places(many, MANY.facts) == 1
    assert UnivariateMean.independent("local_item").places(many, MANY.facts) == 1


@pytest.mark.parametrize("setting", USER_SETTINGS)
@pytest.mark.parametrize("mean", few([0.27, 0.02, 0.5, 0.98]))
def test_votes_rarely_miss_when_there_are_many_people(setting, mean):
    """S = 1000, ε = 2, 4 data sets × 100 draws: no interval leaves the mean of the data."""
    source = Numbers(**{**MANY.values(), "mean": mean})
    data, mechanism = source.draw(4, generator(1, 0, 0)), UnivariateMean.independent(setting)
    plan = mechanism.plan(data.public, (Budget(2.0),) * 1000)
    chosen = elected(mechanism, data, plan, 100)
    low = mechanism._lowest(plan.places, data.facts)[chosen]
    truth = data.values.mean(axis=1)[:, None]
    assert ((low <= truth) & (truth <= low + mechanism.clip_width(plan.places, data.facts))).all()


def test_votes_miss_where_people_are_few_however_many_numbers_they_hold():
    """S = 8, ε = 0.5, 500 draws: above 1 in 4 local votes miss, and more numbers do not help."""
    for n_items in (2000, 20_000):
        data = Numbers(n_servers=8, n_items=n_items).draw(1, generator(1, 0, 0))
        mechanism = UnivariateMean.independent("local_user")
        plan = mechanism.plan(data.public, (Budget(0.5),) * 8)
        chosen = elected(mechanism, data, plan, 500)
        low = mechanism._lowest(plan.places, data.facts)[chosen]
        missed = np.abs(
            low + mechanism.clip_width(plan.places, data.facts) / 2 - data.values.mean()
        )
        assert (missed > mechanism.clip_width(plan.places, data.facts) / 2).mean() > 0.25


def people_who_differ(law, people=300, n_items=20_000, sd=0.0):
    """Numbers in 0 … 200: own means by the law, and as many numbers as make a vote pay."""
    rng = np.random.default_rng(5)
    means = law(rng, (people, 1))
    values = np.clip(means + sd * rng.standard_normal((people, 2)), 0.0, 200.0)
    values = np.repeat(values, n_items // 2, axis=1)
    return hand_made(values.ravel(), [n_items] * people, [0] * people, 0.0, 200.0)


def skewed(rng, size):
    return 10 * rng.lognormal(-0.5, 1, size)


@pytest.mark.parametrize("setting", [*USER_SETTINGS, "site_user"])
def test_however_people_differ_the_average_is_theirs_unless_a_spread_is_stated(setting):
    """Lognormal means, 400 draws: within five standard errors of the mean of the data."""
    data = people_who_differ(skewed)
    released = release(UnivariateMean(setting=setting), data, draws=400)
    draws = released.coefficients.ravel()
    assert abs(draws.mean() - data.values.mean()) < 5 * draws.std() / math.sqrt(len(draws))
    assert not released.cautions


def test_a_stated_spread_of_skewed_people_costs_no_more_than_the_inequality_says():
    """Exponential means of standard deviation 2, 400 draws at ε = 20, five standard errors."""
    data = people_who_differ(lambda rng, size: 50 + rng.exponential(2, size))
    mechanism = UnivariateMean(setting="central_user", person_spread=2.0)
    assert mechanism.places(data.sizes, data.facts) > 1
    released = release(mechanism, data, [(Budget(20.0),)], draws=400)
    off = released.coefficients.ravel() - data.values.mean()
    most = 2.0 / (4 * math.sqrt(2 * math.log(2 * 300)))
    assert abs(off.mean()) < most + 5 * off.std() / math.sqrt(len(off))
    assert not released.is_doubted.mean() > 0.05


@pytest.mark.parametrize(("setting", "epsilon"), [("central_user", 8.0), ("local_user", 16.0)])
def test_votes_that_contradict_the_stated_spread_are_published_as_a_caution(setting, epsilon):
    """A quarter of the people lie beyond the places that alike people would need."""
    mechanism = UnivariateMean.independent(setting)
    differing, alike = (
        release(mechanism, people_who_differ(law), [(Budget(epsilon),)], draws=100)
        for law in (skewed, lambda rng, size: np.full(size, 50.0))
    )
    assert differing.is_doubted.mean() > 0.9
    assert alike.is_doubted.mean() < 0.05


@pytest.mark.parametrize("setting", USER_SETTINGS)
def test_votes_that_miss_say_that_they_do_not_decide(setting):
    """S = 8, ε = 0.2: nearly every average of a wrong place carries a caution."""
    data = people_who_differ(lambda rng, size: np.full(size, 50.0), people=8)
    released = release(UnivariateMean.independent(setting), data, [(Budget(0.2),)], draws=300)
    missed = np.abs(released.coefficients[..., 0] - 50) > 60
    assert missed.mean() > 0.1
    assert released.is_doubted[missed].mean() > 0.95


def test_with_many_numbers_protecting_people_by_votes_beats_protecting_each_number():
    """Equal protection of people: every number at ε/n, or means held to the elected interval.

    One data set, 200 draws; a tenth of the error is far outside the error of either mean.
    """
    data, n = MANY.draw(1, generator(1, 0, 0)), MANY.n_items
    by_vote = privacy_errors(UnivariateMean.independent("local_user"), data, Budget(1.0), 200)
    by_item = privacy_errors(UnivariateMean.independent("local_item"), data, Budget(1.0 / n), 200)
    whole_range = 2 / (MANY.n_servers * 1.0**2)
    assert by_vote.mean() < 0.1 * by_item.mean()
    assert by_vote.mean() < 0.5 * whole_range


def test_a_release_of_stated_bounds_says_how_many_numbers_beyond_them_count():
    """Public arithmetic; a twentieth of these lie beyond the bound."""
    facts = PublicFacts(value_low=0.0, value_high=1.0, kind=DataKind.UPLOAD)
    values = np.random.default_rng(1).lognormal(-1.3, 0.8, 1000)  # 5 % beyond
    data = CurveData(
        np.zeros((1, 1000)), values[None], np.ones(1000, int), np.zeros(1000, int), facts
    )
    mechanism = UnivariateMean(setting="central_user")
    budgets = [(Budget(5.0),), (Budget(0.05),), (Budget(0.005),)]
    estimate = release(mechanism, data, budgets, draws=200)
    told = {
        share: caution.applies.all(axis=(1, 2)).tolist()
        for caution in estimate.cautions
        for share in (1, 10)
        if f" {share} %" in caution.text
    }
    assert told == {1: [True, False, False], 10: [False, True, False]}  # noise alone is more
    errors = np.sqrt(((estimate.coefficients[0] - values.mean()) ** 2).mean())
    assert (
        not estimate.is_doubted.any() and errors > 0.01
    )  # which more than 1 % by half the range have
    assert not release(UnivariateMean(), FEW.draw(1, generator(1, 0, 0))).cautions


# -- ledger -------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", [*ITEM_SETTINGS, *USER_SETTINGS])
@pytest.mark.parametrize("asked", [Budget(0.3), Budget(2.0, 1e-6)])
def test_every_server_spends_what_was_asked_and_needs_no_delta(setting, asked):
    for source in (FEW, Numbers(n_servers=20, n_items=2000)):
        data = source.draw(1, generator(1, 0, 0))
        spends = release(UnivariateMean.independent(setting), data, [(asked,)]).spends[0]
        assert accounting.guarantees(spends) == (asked,) * source.n_servers
        assert accounting.keeps_promise(spends)
        rows = [spend for spend in spends if spend.server == 0]
        assert accounting.total_epsilon(rows) == pytest.approx(asked.epsilon, rel=1e-12)
        assert {spend.mu for spend in spends} == {None}
        steps = 2 if setting in USER_SETTINGS and source is not FEW else 1
        assert len(rows) == steps


def test_one_centre_keeps_the_strictest_promise():
    data = Numbers(n_servers=2, n_items=3).draw(1, generator(1, 0, 0))
    given = [(Budget(0.5), Budget(4.0))]
    spends = release(UnivariateMean.independent("central_item"), data, given).spends[0]
    assert [budget.epsilon for budget in accounting.guarantees(spends)] == [0.5, 0.5]


def test_without_privacy_the_ledger_says_that_nothing_is_protected():
    spends = release(UnivariateMean.independent("none"), FEW.draw(1, generator(1, 0, 0))).spends[0]
    assert all(math.isinf(budget.epsilon) for budget in accounting.guarantees(spends))
    assert not accounting.keeps_promise(spends)
    assert "nothing is protected" in spends[0].why


def test_the_ledger_says_what_one_exchange_can_do():
    """Range 4, S = 12 and n = 5, as in the docstring of the mechanism."""
    data = FEW.draw(1, generator(1, 0, 0))
    most = {
        s: release(UnivariateMean.independent(s), data).spends[0][0].sensitivity[0]
        for s in SETTINGS
    }
    assert most == pytest.approx(
        {
            "local_item": 4.0,
            "local_user": 4.0,
            "site": 4 / 5,
            "central_item": 4 / 60,
            "central_user": 4 / 12,
            "none": 4 / 60,
        }
    )


# -- inputs -------------------------------------------------------------------------------------


@every_setting
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_counts_as_the_middle(setting, bad):
    mechanism = UnivariateMean.independent(setting)
    broken, middle = (hand_made([v, 0.9, 0.2, 0.1], [2, 2], [0, 1]) for v in (bad, 0.5))
    assert (
        release(mechanism, broken).coefficients == release(mechanism, middle).coefficients
    ).all()


@every_setting
@pytest.mark.parametrize("far", [1e308, -1e308])
def test_a_number_out_of_range_counts_as_the_bound(setting, far):
    mechanism = UnivariateMean.independent(setting)
    broken, bound = (hand_made([v, 0.9, 0.2, 0.1], [2, 2], [0, 1]) for v in (far, float(far > 0)))
    assert (release(mechanism, broken).coefficients == release(mechanism, bound).coefficients).all()


@every_setting
def test_the_order_of_numbers_and_of_people_on_one_server_does_not_matter(setting):
    mechanism = UnivariateMean.independent(setting)
    data = FEW.draw(1, generator(1, 0, 0)).pooled()
    people = data.values.reshape(12, 5)
    turned = hand_made(people[::-1, ::-1].ravel(), data.counts, data.server, -1.0, 3.0)
    assert np.allclose(
        release(mechanism, data).coefficients, release(mechanism, turned).coefficients, atol=1e-12
    )


@pytest.mark.parametrize("setting", USER_SETTINGS)
def test_the_order_of_one_persons_numbers_does_not_matter_to_votes(setting):
    mechanism, data = UnivariateMean.independent(setting), MANY.draw(1, generator(1, 0, 0))
    turned = CurveData(
        data.times,
        data.values.reshape(1000, 2000)[:, ::-1].reshape(1, -1),
        data.counts,
        data.server,
        data.facts,
    )
    assert np.allclose(
        release(mechanism, data).coefficients, release(mechanism, turned).coefficients, atol=1e-12
    )


def test_people_with_unequal_numbers_weigh_equally_only_where_people_are_protected():
    data = hand_made([1.0, 0.0, 0.0, 0.0], [1, 3], [0, 1])
    means = {
        s: UnivariateMean.independent(s).without_protection(data).unprotected.item()
        for s in SETTINGS
    }
    assert means == pytest.approx(
        {**dict.fromkeys((*ITEM_SETTINGS, "none"), 0.25), **dict.fromkeys(USER_SETTINGS, 0.5)}
    )


@pytest.mark.parametrize(
    ("counts", "server", "field"), [([2, 0], [0, 1], "counts"), ([1, 1], [0, 2], "server")]
)
def test_a_person_without_numbers_and_a_site_without_people_are_refused(counts, server, field):
    data = hand_made([0.1, 0.2], counts, server)
    for call in (release, lambda mechanism, data: mechanism.without_protection(data)):
        with pytest.raises(InputError, match="at least one") as caught:
            call(UnivariateMean(), data)
        assert caught.value.field == field


def test_a_wrong_number_of_budgets_and_an_unknown_setting_are_refused():
    with pytest.raises(InputError, match="2 budgets for 12 servers"):
        release(UnivariateMean(), FEW.draw(1, generator(1, 0, 0)), [(Budget(1.0),) * 2])
    with pytest.raises(InputError, match="central_item"):
        UnivariateMean.independent("trusted")


# -- the source ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "chosen",
    [{}, {"person_sd": 0.2}, {"item_sd": 1.0, "mean": 0.9}, {"item_sd": 0.0, "mean": 0.3}],
    ids=str,
)
def test_the_known_mean_is_that_of_numbers_held_within_the_range(chosen):
    """200 data sets of 200 × 50 numbers: within 5 standard errors."""
    source = Numbers(**chosen)
    means = source.draw(200, generator(1, 0, 0)).values.mean(axis=1)
    allowed = 5 * means.std() / math.sqrt(200) + 1e-12
    assert abs(means.mean() - source.true_mean) <= allowed
    assert np.allclose(source.truth.grid_values, source.true_mean)


def test_each_person_is_one_curve_on_a_server_of_their_own():
    data = FEW.draw(3, generator(1, 0, 0))
    assert data.values.shape == (3, 60)
    assert (data.server == np.arange(12)).all()
    assert data.sizes == FEW.sizes
    assert data.values.min() >= -1.0 and data.values.max() <= 3.0


def test_bounds_and_a_mean_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="below the highest"):
        Numbers(value_low=1.0, value_high=0.0, mean=0.5)
    with pytest.raises(InputError, match="must lie between 0 and 1") as caught:
        Numbers(mean=2.0)
    assert caught.value.field == "mean"


def test_a_sweep_runs_and_its_error_is_sampling_plus_noise():
    """400 repeats: total error within 5 standard errors of variance/(Sn) + privacy error."""
    mechanism, budget = UnivariateMean.independent("site"), (Budget(1.0),)
    source = Numbers(mean=0.5, item_sd=0.1)
    with executors.make("serial") as executor:
        (outcome,) = run_cells([Cell({}, source, mechanism, budget)], Run(repeats=400), executor)
    summary = outcome.summary("total_error")
    planned = 0.1**2 / (200 * 50) + mechanism.exact_error(source.sizes, budget, source.facts)
    assert abs(summary["mean"] - planned) <= 5 * summary["se"]


# -- whoever listens --------------------------------------------------------------------------


class Listener:
    """Notes what is computed from, and answers as a test wants."""

    def __init__(self, answer):
        self.answer, self.heard = answer, []

    def summed(self, step, parts):
        self.heard.append((step, parts))
        return self.answer(parts)


OF_FEW_AND_MANY = [(setting, source) for setting in Setting for source in (FEW, MANY)]


@pytest.mark.parametrize(("setting", "source"), OF_FEW_AND_MANY, ids=str)
def test_who_listens_and_adds_no_noise_changes_no_release(setting, source):
    data, mechanism = source.draw(1, generator(1, 0, 0)), UnivariateMean.independent(setting)
    listener = Listener(lambda parts: None)
    unrecorded = release(mechanism, data, [(Budget(1.0),)], 3)
    with transcript.overheard(listener):
        heard = release(mechanism, data, [(Budget(1.0),)], 3)
    assert (unrecorded.coefficients == heard.coefficients).all()
    assert [step for step, _ in listener.heard] == [
        step
        for step in (PLACE, AVERAGE)
        if setting is not Setting.NONE and (step == AVERAGE or unrecorded.tuning[0]["places"] > 1)
    ]


@pytest.mark.parametrize(("setting", "source"), OF_FEW_AND_MANY, ids=str)
def test_parts_without_noise_give_the_estimate_without_noise(setting, source):
    """What a listener answers is put together as the mechanism's own noise is."""
    data, mechanism = source.draw(1, generator(1, 0, 0)), UnivariateMean.independent(setting)
    with transcript.overheard(Listener(lambda parts: parts.used)):
        heard = release(mechanism, data, [(Budget(1.0),)], 1)
    assert np.allclose(heard.coefficients[:, :, 0], heard.unprotected, atol=1e-12)


@pytest.mark.parametrize("setting", few([Setting.CENTRAL_ITEM, Setting.SITE, Setting.LOCAL_ITEM]))
def test_noise_that_a_listener_adds_to_every_part_is_as_large_as_that_of_sums(setting):
    """400 releases each way: variances within 6 standard errors (kurtosis at most 6)."""
    data, mechanism = FEW.draw(1, generator(1, 0, 0)), UnivariateMean.independent(setting)
    rng, budget = np.random.default_rng(5), (Budget(1.0),)

    def noised(parts):
        return parts.used + rng.laplace(size=parts.used.shape) * parts.noise / math.sqrt(2)

    sizes = []
    for _ in range(400):
        with transcript.overheard(Listener(noised)):
            heard = release(mechanism, data, [budget], 1)
        sizes.append((heard.coefficients - heard.unprotected[:, :, None]).item() ** 2)
    exact = mechanism.exact_error(data.sizes, budget, data.facts)
    assert abs(np.mean(sizes) - exact) < 6 * exact * math.sqrt(5 / len(sizes))


def test_a_site_that_protects_people_adds_noise_by_its_own_people_alone():
    """Range over people and ε, with three sites of 4, 8 and 16 people, whatever each of them has."""
    for observations in (3, 300):
        curves = SparseCurves(mean="growth").with_sites([4, 8, 16], [observations] * 3)
        data, budget = curves.draw(1, generator(1, 0, 0)), Budget(0.5)
        estimate = UnivariateMean.independent(Setting.SITE_USER).release(
            data, (budget,), generator(1, 1, 0)
        )
        width = 2 * curves.facts.value_half_width
        assert [line.noise_scale[0] for line in estimate.spends[0]] == pytest.approx(
            [width / (people * 0.5) for people in (4, 8, 16)]
        )
        means = [
            data.values[0][data.server.repeat(data.counts) == site].mean() for site in range(3)
        ]
        assert estimate.unprotected.item() == pytest.approx(np.average(means, weights=[4, 8, 16]))
