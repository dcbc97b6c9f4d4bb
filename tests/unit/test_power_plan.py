"""How many people are needed to see a difference of two groups: power and its planner."""

import json
from functools import cache

import numpy as np
import pytest
from scipy.stats import norm

from engine import __main__
from engine.answers.groups import GroupComparison
from engine.answers.released_curve import ReleasedCurve
from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.sources.grouped_curves import GroupedCurves
from engine.sources.sparse_curves import SparseCurves
from engine.topics.planning.power import difference_errors, people_for_difference, power_of
from tests.heavy import few
from tests.sentences import of_topic

wording = of_topic("counting")

GROWTH, BUDGET = SparseCurves(mean="growth"), Budget(3.0, 1e-6)


@cache
def planned(difference, budget=BUDGET, **other):
    return people_for_difference(GROWTH, AdaptiveMean(), budget, difference, 12.0, **other)


def test_the_power_of_a_normal_test_is_that_of_the_normal_law():
    for ratio in (0.0, 0.5, 1.96, 4.0):
        assert power_of(ratio, 1.0) == pytest.approx(
            norm.sf(1.959964 - ratio) + norm.cdf(-1.959964 - ratio), rel=1e-6
        )
    assert power_of(1.0, float("inf")) == 0.0


@pytest.mark.slow
def test_a_smaller_difference_less_budget_or_more_power_need_more_people():
    usual = planned(8.0).people
    assert planned(6.0).people > usual
    assert planned(8.0, Budget(1.0, 1e-6)).people > usual
    assert planned(8.0, power=0.95).people > usual
    assert planned(-8.0).people == usual


def test_the_planned_size_reaches_its_power_and_a_smaller_one_does_not():
    plan = planned(6.0)
    reached = {size.people: size.power for size in plan.sizes}
    assert reached[plan.people] >= 0.8
    assert all(power < 0.8 for people, power in reached.items() if people < 0.97 * plan.people)


def test_a_difference_that_nobody_can_see_is_told_as_such():
    assert (
        people_for_difference(
            GROWTH, AdaptiveMean(), Budget(0.05, 1e-6), 0.05, 12.0, max_people=700
        ).people
        is None
    )


@pytest.mark.parametrize(
    "change",
    [
        {"difference": 0.0},
        {"time": 30.0},
        {"power": 1.0},
        {"budget": Budget(3.0)},
        {"mechanism": NoisyGradientMean()},
    ],
)
def test_plans_that_make_no_sense_are_refused(change):
    stated = {
        "source": GROWTH,
        "mechanism": AdaptiveMean(),
        "budget": BUDGET,
        "difference": 2.0,
        "time": 12.0,
        **change,
    }
    with pytest.raises(InputError):
        people_for_difference(**stated)


@pytest.mark.slow
@pytest.mark.parametrize("repeats", few([60, 400], 1))
def test_releases_of_groups_see_the_difference_as_often_as_planned(repeats):
    """80 of 100 pairs at the planned size, ± five standard errors."""
    source = GroupedCurves(difference=0.3)
    groups = [source.of_group(name).resized(500, 10, 1) for name in source.group_names]
    errors = difference_errors(groups[0], AdaptiveMean(), BUDGET, 500, 0.7)
    estimates = [
        AdaptiveMean().release_many(
            group.draw(repeats, generator(seed, 0, 0)), [(BUDGET,)], 1, generator(seed, 1, 0)
        )
        for seed, group in enumerate(groups, 5)
    ]
    seen = 0
    for k in range(repeats):
        pair = GroupComparison(
            ("a", "b"),
            [
                ReleasedCurve.of(estimate, group.facts, 0, k)
                for estimate, group in zip(estimates, groups, strict=True)
            ],
            True,
        )
        _, limits = pair.difference().linear(lambda f: f(0.7))
        seen += not limits[0] <= 0 <= limits[1]
    power = np.mean([power_of(0.3, error) for error in errors])
    assert seen / repeats == pytest.approx(power, abs=5 * (power * (1 - power) / repeats) ** 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("repeats", few([40, 300], 1))
def test_standardised_differences_hold_the_true_one(repeats):
    """0.3 of people whose standard deviation is 0.5, at the height of the bump."""
    source = GroupedCurves(difference=0.3)
    groups = [source.of_group(name).resized(500, 10, 1) for name in source.group_names]
    estimates = [
        AdaptiveMean().release_many(
            group.draw(repeats, generator(seed, 0, 0)), [(BUDGET,)], 1, generator(seed, 1, 0)
        )
        for seed, group in enumerate(groups, 5)
    ]
    sizes = [
        GroupComparison(
            ("a", "b"),
            [
                ReleasedCurve.of(estimate, group.facts, 0, k)
                for estimate, group in zip(estimates, groups, strict=True)
            ],
            True,
        ).standardised(0, 1, 0.7)
        for k in range(repeats)
    ]
    told = [size for size in sizes if size is not None]
    assert len(told) == repeats
    share = np.mean([low <= -0.6 <= high for _, (low, high) in told])
    assert share > 0.95 - 4 * (0.95 * 0.05 / repeats) ** 0.5
    assert np.mean([value for value, _ in told]) == pytest.approx(-0.6, abs=0.1)


def test_the_command_line_plans_a_difference(tmp_path, capsys):
    file = tmp_path / "s.json"
    file.write_text(
        json.dumps(
            {
                "version": 1,
                "source": {"key": "sparse_curves", "parameters": {"mean": "growth"}},
                "mechanism": {"key": "adaptive_mean", "parameters": {}},
                "budgets": [{"epsilon": 3.0, "delta": 1e-6}],
            }
        )
    )
    words = ["plan", str(file), "--difference", "8", "--at", "12"]
    assert __main__.main(words) == 0
    told = capsys.readouterr().out
    people = planned(8.0).people
    wording.found("children two groups", told, f"{people:,}", 8)
    assert __main__.main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["people"] == people
    assert __main__.main(words[:-2]) == 2
