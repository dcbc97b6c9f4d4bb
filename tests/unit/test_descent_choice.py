"""A paid choice of the number of functions: what it costs, whom it lets see what, and when it helps."""

import math
from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.families.descent_choice import CLIP, COUNTS
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.privacy import accounting
from engine.release import published
from engine.sources import sources
from engine.sources.glucose_days import GlucoseDays
from engine.sources.sparse_curves import SparseCurves

BUDGET = Budget(1.0, 1e-6)
PAID = NoisyGradientMean(selection_rule="paid", functions="cosine")
CURVES = SparseCurves(n_curves=40, n_observations_per_curve=6)
PEOPLE, HALF = 40, 20


def curves():
    return CURVES.draw(1, generator(1, 0, 0))


def with_values(data, person, values, times=None):
    """The same with other observations of one person."""
    its = np.repeat(np.arange(data.n_curves), data.counts) == person
    changed = {"values": np.where(its, values, data.values)}
    if times is not None:
        changed["times"] = np.where(its, times, data.times)
    return replace(data, **changed)


def split_at(time, facts):
    """Trained coefficients of which the reference alone is high at a time, and all others low."""
    basis, ends, reference = PAID.basis(COUNTS[-1], facts), facts.value_half_width, COUNTS[1]
    at = basis(np.array([time]))[0]
    coefficients = np.zeros(COUNTS[-1])
    coefficients[0] = -ends / at[0]
    coefficients[reference - 1] = 2 * ends / at[reference - 1]
    coefficients[reference] = -2 * ends / at[reference]
    return coefficients[None, None]


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_choice_and_release_together_cost_the_budget_and_the_choice_its_share(share):
    data = curves()
    estimate = replace(PAID, selection_share=share).release(data, (BUDGET,), generator(1, 1, 0))
    (guaranteed,) = accounting.guarantees(estimate.spends[0])
    assert guaranteed.epsilon == pytest.approx(1.0, rel=1e-6) and accounting.keeps_promise(
        estimate.spends[0]
    )
    choice, rounds = estimate.spends[0]
    whole = accounting.exact_mu(BUDGET.epsilon, BUDGET.delta)
    assert choice.mu**2 == pytest.approx(share * whole**2)
    assert rounds.count * rounds.mu**2 == pytest.approx((1 - share) * whole**2)


def test_a_person_who_scores_moves_comparisons_as_far_as_the_noise_allows_and_no_further():
    """One at the reference and one at all others are opposite, at the length that is let through."""
    data, time = curves(), 0.3
    plan = PAID.plan(data.public, (BUDGET,))
    trained, ends = split_at(time, data.facts), data.facts.value_half_width
    mu = math.sqrt(PAID.selection_share) * accounting.exact_mu(BUDGET.epsilon, BUDGET.delta)
    worst = 0.0
    for values, when in ((-ends, time), (1e9, time), (np.nan, time), (ends, np.nan)):
        moved = [
            PAID.comparisons(with_values(data, 1, *each), trained, 1)
            for each in ((ends, time), (values, when))
        ]
        assert np.isfinite(moved).all()
        worst = max(worst, float(np.linalg.norm(moved[0] - moved[1])) / plan.noise_scale)
    assert 0.999 * mu <= worst <= mu * (1 + 1e-9)


def test_who_trains_is_seen_by_scores_through_the_noisy_descent_alone():
    data = curves()
    trained = split_at(0.3, data.facts)
    before = PAID.comparisons(data, trained, 1)
    for person in range(0, PEOPLE, 2):
        after = PAID.comparisons(with_values(data, person, 1e9), trained, 1)
        np.testing.assert_array_equal(after, before)


def test_comparisons_average_what_each_person_who_scores_says_of_the_candidates():
    rng, counts = np.random.default_rng(0), np.arange(PEOPLE) % 5  # some have no observation
    data, n = curves(), counts.sum()
    low, high = data.facts.value_low, data.facts.value_high
    times, values = rng.random((2, n)), rng.uniform(low - 1, high + 1, (2, n))
    data = replace(data, times=times, values=values, counts=counts)
    trained = rng.normal(0, 0.3, (2, 3, COUNTS[-1]))
    raw = replace(PAID, value_scale="raw")
    found, basis = raw.comparisons(data, trained, 2), raw.basis(COUNTS[-1], data.facts)
    ends, lengths = np.cumsum(counts), []
    for k, d in np.ndindex(2, 3):
        total = np.zeros(len(COUNTS))
        for person in range(1, PEOPLE, 2):
            its = slice(ends[person] - counts[person], ends[person])
            if counts[person]:
                rows = basis(times[k, its])
                curve = np.array([rows[:, :g] @ trained[k, d, :g] for g in COUNTS])
                away = np.clip(values[k, its], low, high) - np.clip(curve, low, high)
                distances = ((2 * away / (high - low)) ** 2).mean(axis=1)
                compared = distances - distances[2]
                lengths.append(np.linalg.norm(compared))
                total += compared * min(1, CLIP / lengths[-1])
        np.testing.assert_allclose(found[k, d], total / HALF, rtol=0, atol=1e-12)
    assert min(lengths) < CLIP < max(lengths)


def test_training_has_the_noise_that_half_of_the_people_and_the_share_ask_for():
    data = curves()
    plan = PAID.plan(data.public, (BUDGET,))
    largest = replace(PAID, selection_rule="formula", truncation=COUNTS[-1])
    (line,) = largest.plan(data.public, (BUDGET,)).spends
    moved = np.array(line.sensitivity) * PEOPLE / HALF
    spent = plan.rounds * (moved**2 / plan.training.scales[0] ** 2).sum()
    whole = accounting.exact_mu(BUDGET.epsilon, BUDGET.delta)
    assert spent == pytest.approx(PAID.selection_share * whole**2)


def test_whatever_number_is_chosen_its_rounds_cost_the_same():
    plan = PAID.plan(curves().public, (BUDGET,))
    costs = {round(accounting.guarantees(each.spends)[0].epsilon, 9) for each in plan.candidates}
    assert len(costs) == 1 and len(plan.candidates) == len(COUNTS)


def test_it_finds_the_peaks_that_the_rule_smooths_away_where_people_are_many():
    source = GlucoseDays(n_curves=5000)
    data, budget = source.draw(1, generator(1, 0, 0)), Budget(1.0, 4e-8)
    by_rule, chosen = (
        float(
            (
                (
                    method.release_many(data, [(budget,)], 5, generator(1, 1, 0)).values(
                        drawing_grid()
                    )
                    - source.truth.grid_values
                )
                ** 2
            ).mean()
        )
        for method in (replace(PAID, selection_rule="formula"), PAID)
    )
    assert chosen < by_rule / 2


@pytest.mark.parametrize(
    ("source", "chosen"),
    [
        (SparseCurves(n_curves=40, n_servers=2), {}),
        (SparseCurves(n_curves=12), {}),
        (CURVES, {"truncation": 5}),
        (CURVES, {"scheme": "split"}),
        (CURVES, {"constants": "published"}),
    ],
    ids=["two sites", "few people", "stated", "fresh curves", "published constants"],
)
def test_a_choice_for_which_nothing_is_proved_is_refused(source, chosen):
    data = source.draw(1, generator(1, 0, 0))
    budgets = (BUDGET,) * data.sizes.n_servers
    with pytest.raises(InputError) as caught:
        replace(PAID, **chosen).release(data, budgets, generator(1, 1, 0))
    assert caught.value.field == "selection_rule"


def test_a_choice_on_the_curves_is_not_published():
    with pytest.raises(InputError):
        published.release_cost(sources.build("sea_temperature", {}), PAID, BUDGET)
