"""Private choice of the largest entries: its law, what it costs, and what printed scales keep."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtri

from engine.core.arrays import hard_threshold, largest
from engine.core.errors import InputError
from engine.noise import selection
from engine.noise.selection import GUMBEL, LAWS, ONE_SHOT, PEELING, PERMUTE_AND_FLIP, Scales
from engine.privacy import accounting
from tests.heavy import few

SIZES = np.array([1.0, 0.6, 0.45, 0.0])
SCALE, TRIALS = 0.5, 200_000
every_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)


# -- the law of what is chosen ---------------------------------------------------------------------


def exponential_mechanisms(sizes, s, scale):
    """P of every ordered choice by s exponential mechanisms without replacement."""

    def chance(order):
        left, product = list(range(len(sizes))), 1.0
        for j in order:
            weights = np.exp(sizes[left] / scale)
            product *= math.exp(sizes[j] / scale) / weights.sum()
            left.remove(j)
        return product

    return {order: chance(order) for order in itertools.permutations(range(len(sizes)), s)}


def laplace_density(x):
    return np.exp(-np.abs(x)) / 2


def laplace_below(x):
    return np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)


def gumbel_density(x):
    return np.exp(-x - np.exp(-x))


def gumbel_below(x):
    return np.exp(-np.exp(-x))


def exponential_density(x):
    return np.where(x >= 0, np.exp(-np.maximum(x, 0)), 0.0)


def exponential_below(x):
    return -np.expm1(-np.maximum(x, 0))


NOISE = {
    "gumbel": (gumbel_density, gumbel_below),
    "peeling": (laplace_density, laplace_below),
    "permute_and_flip": (exponential_density, exponential_below),
    "one_shot": (laplace_density, laplace_below),
}


def winner(sizes, among, law, scale):
    """P that each of `among` has the largest noisy size, by the midpoint rule."""
    density, below = NOISE[law.key]
    low = -8.0 if law is GUMBEL else 0.0 if law is PERMUTE_AND_FLIP else -40.0
    cells = np.linspace(low, 44, 44_001)
    x, h = (cells[1:] + cells[:-1]) / 2, cells[1] - cells[0]
    return {
        j: h
        * float(
            (
                density(x)
                * np.prod(
                    [below(x + (sizes[j] - sizes[i]) / scale) for i in among if i != j], axis=0
                )
            ).sum()
        )
        for j in among
    }


def drawn_anew(sizes, law, scale):
    """P of every ordered pair when noise is drawn anew for the second."""
    everyone = range(len(sizes))
    first = winner(sizes, everyone, law, scale)
    out = {}
    for j in everyone:
        second = winner(sizes, [i for i in everyone if i != j], law, scale)
        out.update({(j, k): first[j] * second[k] for k in second})
    return out


def all_at_once(sizes, law, scale):
    """P of every ordered pair from one set of noisy sizes: k has x, j has more, the rest less."""
    density, below = NOISE[law.key]
    cells = np.linspace(-40.0, 44, 44_001)
    x, h = (cells[1:] + cells[:-1]) / 2, cells[1] - cells[0]

    def chance(j, k):
        rest = [
            below(x + (sizes[k] - sizes[i]) / scale) for i in range(len(sizes)) if i not in (j, k)
        ]
        above = 1 - below(x + (sizes[k] - sizes[j]) / scale)
        with np.errstate(over="ignore"):
            return h * float((density(x) * above * np.prod(rest, axis=0)).sum())

    return {pair: chance(*pair) for pair in itertools.permutations(range(len(sizes)), 2)}


def pairs_law(law, sizes, scale):
    with np.errstate(over="ignore"):
        return (drawn_anew if law.is_fresh else all_at_once)(sizes, law, scale)


def counted(law, s, sizes=SIZES, scale=SCALE, seed=1):
    noise = selection.draw(law, s, (TRIALS, len(sizes)), np.random.default_rng(seed))
    where = selection.choose(np.broadcast_to(sizes, (TRIALS, len(sizes))), s, noise.choice, scale)
    found, counts = np.unique(where, axis=0, return_counts=True)
    return {tuple(order): int(count) for order, count in zip(found.tolist(), counts, strict=True)}


def test_gumbel_at_once_is_a_sequence_of_exponential_mechanisms():
    """Equal to nine digits for all twelve ordered pairs of four."""
    at_once, one_by_one = pairs_law(GUMBEL, SIZES, SCALE), exponential_mechanisms(SIZES, 2, SCALE)
    for pair, chance in one_by_one.items():
        assert at_once[pair] == pytest.approx(chance, abs=1e-9)


@pytest.mark.slow
@every_law
def test_pairs_are_chosen_with_the_chances_of_the_law(law):
    """200 000 choices of two of four, twelve ordered pairs, each within five standard errors."""
    counts, chances = counted(law, 2), pairs_law(law, SIZES, SCALE)
    assert sum(chances.values()) == pytest.approx(1, abs=1e-5)
    for pair, chance in chances.items():
        error = math.sqrt(chance * (1 - chance) / TRIALS)
        assert abs(counts.get(pair, 0) / TRIALS - chance) <= 5 * error


def test_three_of_four_by_gumbel_noise_follow_the_exponential_mechanisms():
    """200 000 choices, 24 orders, each within five standard errors."""
    counts = counted(GUMBEL, 3)
    for order, chance in exponential_mechanisms(SIZES, 3, SCALE).items():
        assert abs(counts[order] / TRIALS - chance) <= 5 * math.sqrt(chance / TRIALS)


def test_permute_and_flip_is_the_largest_with_exponential_noise():
    """200 000 choices by coin flips in a random order, each within five standard errors."""
    rng = np.random.default_rng(2)
    chances = winner(SIZES, range(4), PERMUTE_AND_FLIP, SCALE)
    accept = np.exp((SIZES - SIZES.max()) / SCALE)
    order = rng.permuted(np.tile(np.arange(4), (TRIALS, 1)), axis=1)
    flips = rng.random(order.shape) < accept[order]
    assert flips.any(axis=1).all()  # the largest is accepted at once
    picked = order[np.arange(TRIALS), flips.argmax(axis=1)]
    for j, chance in chances.items():
        assert abs((picked == j).mean() - chance) <= 5 * math.sqrt(chance / TRIALS)


def test_noise_that_is_not_fresh_has_another_law():
    """Peeling with one draw for both choices: some pair is off by more than 20 standard errors."""
    stale = replace(PEELING, is_fresh=False)
    counts, chances = counted(stale, 2), pairs_law(PEELING, SIZES, SCALE)
    off = max(
        abs(counts.get(pair, 0) / TRIALS - p) / math.sqrt(p / TRIALS) for pair, p in chances.items()
    )
    assert off > 20


# -- what neighbours can see of it -----------------------------------------------------------------


def worst_ratio(law, scale, moved):
    """Largest log ratio of an ordered pair's chances over neighbours at both ends of their reach."""
    worst = 0.0
    for signs in itertools.product([-1, 1], repeat=3):
        one = SIZES[:3] + 0.5
        here, there = (pairs_law(law, v, scale) for v in (one, one + moved * np.array(signs)))
        worst = max(worst, max(abs(math.log(here[p] / there[p])) for p in here))
    return worst


@every_law
def test_no_neighbour_changes_the_odds_by_more_than_the_claim(law):
    """Two of three entries, all corners of the cube of changes: log ratios are at most 4λ/scale."""
    moved, claim = 0.2, 4 * 0.2 / SCALE
    assert worst_ratio(law, SCALE, moved) <= claim * (1 + 1e-5)
    assert worst_ratio(law, SCALE / 2.5, moved) > claim  # too little noise is caught


@pytest.mark.parametrize("law", few(list(LAWS.values()), 2))
def test_the_claim_is_attained_when_two_small_entries_beat_four_large_ones(law):
    moved, claim = 0.1, 4 * 0.1 / SCALE
    base, signs = np.array([0.0, 0.0, 4.0, 4.0, 4.0, 4.0]), np.array([1, 1, -1, -1, -1, -1])
    here, there = (pairs_law(law, base + way * moved * signs, SCALE)[0, 1] for way in (0, 1))
    assert 0.999 * claim <= math.log(there / here) <= claim * (1 + 1e-5)


def test_one_choice_by_gumbel_noise_keeps_its_bounded_range():
    """Log ratios of all chances lie within e₀ of each other: what ρ = e₀²/8 is proved from."""
    moved, e0 = 0.2, 2 * 0.2 / SCALE
    for signs in itertools.product([-1, 1], repeat=4):
        here = exponential_mechanisms(SIZES, 1, SCALE)
        there = exponential_mechanisms(SIZES + moved * np.array(signs), 1, SCALE)
        logs = [math.log(here[j] / there[j]) for j in here]
        assert max(logs) - min(logs) <= e0 * (1 + 1e-12)
        assert max(np.abs(logs)) <= e0


def renyi(here, there, order):
    """The Rényi divergence of two laws on the same outcomes."""
    moment = sum(p**order * there[k] ** (1 - order) for k, p in here.items())
    return math.log(moment) / (order - 1)


@every_law
def test_choices_are_concentrated_as_the_ledger_says(law):
    """Rényi divergences of orders 1.1 to 30 over all corners, pairs of three nearly equal sizes."""
    base, moved = np.array([1.0, 0.98, 0.99]), 0.05
    rho = selection.costs(law, 2, moved, Scales(SCALE, SCALE))[0]
    here = pairs_law(law, base, SCALE)
    for signs in itertools.product([-1, 1], repeat=3):
        there = pairs_law(law, base + moved * np.array(signs), SCALE)
        for order in (1.1, 2.0, 8.0, 30.0):
            assert renyi(here, there, order) <= order * rho + 1e-7
            assert renyi(there, here, order) <= order * rho + 1e-7


def test_the_cost_of_gumbel_noise_is_attained_where_all_entries_tie():
    """Two of four equal sizes move up by λ, two down: the divergence is 98 % of the claim or more."""
    moved, signs = 0.05, np.array([1, 1, -1, -1])
    rho = selection.costs(GUMBEL, 1, moved, Scales(SCALE, SCALE))[0]
    here, there = (exponential_mechanisms(1 + way * moved * signs, 1, SCALE) for way in (0, 1))
    assert 0.98 * 2 * rho <= renyi(here, there, 2.0) <= 2 * rho


@pytest.mark.slow
def test_sampled_gumbel_choices_keep_the_odds_of_neighbours():
    """Four entries, 200 000 choices of one each: log ratios of counts at most e₀ + 5 s.e."""
    moved, e0 = 0.2, 2 * 0.2 / SCALE
    one = counted(GUMBEL, 1, SIZES)
    for k, signs in enumerate([(1, -1, -1, -1), (-1, 1, 1, 1), (-1, -1, -1, 1)]):
        other = counted(GUMBEL, 1, SIZES + moved * np.array(signs), seed=10 + k)
        for j in one:
            ratio = abs(math.log(one[j] / other[j]))
            assert ratio <= e0 + 5 * math.sqrt(1 / one[j] + 1 / other[j])


# -- cost ------------------------------------------------------------------------------------------


@every_law
@pytest.mark.parametrize("s", [1, 5, 20])
def test_scales_spend_exactly_the_rho_that_they_are_made_for(law, s):
    scales = selection.scales_of(law, s, 0.3, 0.02)
    choice, values = selection.costs(law, s, 0.3, scales)
    assert choice + values == pytest.approx(0.02)
    if law.has_one_scale:
        assert scales.choice == scales.values
    else:
        assert choice == pytest.approx(values)


def test_the_default_divides_the_budget_in_halves():
    """e₀ = √(8ρ/s) for the choice at scale 2λ/e₀; values with variance λ²s/(2ρ)."""
    s, lam, rho = 5, 5.6e-5, 0.002
    scales = selection.scales_of(GUMBEL, s, lam, rho)
    assert scales.choice == pytest.approx(2 * lam / math.sqrt(8 * (rho / 2) / s))
    assert scales.values**2 == pytest.approx(lam**2 * s / (2 * (rho / 2)))


def test_the_scales_of_one_round_of_the_single_interval_plan_are_the_tabulated_ones():
    """ε = 1, δ = 1e-6, 200 000 rows, five entries, 12 rounds with shares .35 and .25."""
    rho = accounting.rho_of(1.0, 1e-6)
    beta = selection.scales_of(GUMBEL, 5, 5.6e-5, 0.35 * rho / 12)
    theta = selection.scales_of(GUMBEL, 3, 1.4e-4, 0.25 * rho / 12)
    assert beta.choice == pytest.approx(4.698e-3, rel=2e-4)
    assert beta.values == pytest.approx(4.698e-3, rel=2e-4)
    assert theta.choice == theta.values == pytest.approx(1.0765e-2, rel=2e-4)


def test_peeling_for_a_given_rho_has_the_derived_scale():
    scales = selection.scales_of(PEELING, 7, 1.0, 0.03)
    assert scales.choice == pytest.approx(2 / math.sqrt(8 * 0.03 / (5 * 7)))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 5.6])
def test_peeling_at_the_printed_scale_keeps_its_promise(epsilon):
    """It is (5/24)ε²/log(1/δ)-zCDP, which gives (ε, δ) up to ε = .41 log(1/δ) = 5.66."""
    delta, s, lam = 1e-6, 15, 2.0
    scale = selection.printed_scale(PEELING, s, lam, epsilon, delta, 800)
    rho = sum(selection.costs(PEELING, s, lam, Scales(scale, scale)))
    assert rho == pytest.approx(5 / 24 * epsilon**2 / math.log(1 / delta))
    assert accounting.epsilon_of_rho(rho, delta) <= epsilon


def test_the_printed_constants_do_not_hold_for_every_epsilon():
    rho = 5 / 24 * 60**2 / math.log(1e6)
    assert accounting.epsilon_of_rho(rho, 1e-6) > 60


def test_one_shot_with_delta_zero_pays_for_its_values_too():
    """At 3sλ/ε choice and values cost 2ε/3 + ε/3; at the printed 2sλ/ε they cost 1.5ε."""
    s, lam, epsilon = 4, 0.5, 0.9
    scale = selection.pure_one_shot_scale(s, lam, epsilon)
    choice, values = 2 * s * lam / scale, s * lam / scale
    assert choice == pytest.approx(0.6) and choice + values == pytest.approx(epsilon)
    assert 3 * s * lam / (2 * s * lam / epsilon) == pytest.approx(1.5 * epsilon)


def test_one_shot_is_noisier_than_peeling_at_the_printed_constants():
    one_shot, peeling = (
        selection.printed_scale(law, 5, 1.0, 0.1, 1e-6, 100) for law in (ONE_SHOT, PEELING)
    )
    assert one_shot / peeling == pytest.approx(
        8 / (2 * math.sqrt(3)) * math.sqrt(math.log(1e8) / math.log(1e6))
    )


@pytest.mark.parametrize(
    ("law", "epsilon", "delta"),
    [
        (GUMBEL, 1.0, 1e-6),
        (PERMUTE_AND_FLIP, 1.0, 1e-6),
        (ONE_SHOT, 0.3, 1e-6),
        (ONE_SHOT, 0.1, 0.1),
        (PEELING, 1.0, 0.0),
    ],
)
def test_printed_scales_are_refused_where_nothing_is_printed_or_proved(law, epsilon, delta):
    with pytest.raises(InputError):
        selection.printed_scale(law, 5, 1.0, epsilon, delta, 100)


# -- values ----------------------------------------------------------------------------------------


@every_law
def test_without_noise_the_largest_entries_are_kept_as_they_are(law):
    rng = np.random.default_rng(3)
    v = rng.standard_normal((4, 3, 30))
    noise = selection.draw(law, 6, v.shape, rng)
    result = selection.noisy_hard_threshold(v, 6, 0.0, 0.0, noise)
    assert (result == hard_threshold(v, 6)).all()
    assert ((result != 0).sum(axis=-1) == 6).all()
    assert np.abs(result[result != 0]).sum() == pytest.approx(
        np.sort(np.abs(v), axis=-1)[..., -6:].sum()
    )


@every_law
def test_values_have_noise_of_their_own_at_the_stated_scale(law):
    """50 000 releases of far apart entries: spread within five s.e., unrelated to the choice."""
    rng, v = np.random.default_rng(4), np.array([50.0, -40.0, 0.0, 0.0, 0.0])
    noise = selection.draw(law, 2, (50_000, 5), rng)
    out = selection.noisy_hard_threshold(v, 2, 0.3, 0.7, noise)
    assert (out[:, 2:] == 0).all()
    left = (out[:, :2] - v[:2]) / 0.7
    kurtosis = 3 if law.is_gaussian else 6
    assert left.var() == pytest.approx(
        law.value_deviation**2, rel=5 * math.sqrt((kurtosis - 1) / 1e5)
    )
    assert abs(np.corrcoef(left[:, 0], noise.choice[0, :, 0])[0, 1]) < 5 / math.sqrt(50_000)
    assert abs(left.mean()) < -ndtri(1e-6) * law.value_deviation / math.sqrt(1e5)


@every_law
def test_many_vectors_and_budgets_at_once_are_what_each_gives_alone(law):
    rng = np.random.default_rng(5)
    v, scale = rng.standard_normal((2, 3, 4, 20)), np.array([0.1, 1.0, 3.0])[:, None, None]
    noise = selection.draw(law, 5, (2, 1, 4, 20), rng)
    together = selection.noisy_hard_threshold(v, 5, scale, 2 * scale, noise)
    for r, b, k in itertools.product(range(2), range(3), range(4)):
        result = selection.Draw(noise.choice[:, r, 0, k], noise.values[r, 0, k])
        alone = selection.noisy_hard_threshold(
            v[r, b, k], 5, float(scale[b, 0, 0]), 2 * float(scale[b, 0, 0]), result
        )
        assert (together[r, b, k] == alone).all()


def test_all_entries_can_be_chosen():
    assert largest(np.array([2.0, 3.0, 1.0]), 3).tolist() == [1, 0, 2]
