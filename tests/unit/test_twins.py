"""The twin of every published task has stated sizes alone, and its truth is that of what it draws."""

import typing
from dataclasses import replace

import numpy as np
import pytest

from engine.core.grids import drawing_grid
from engine.core.random_streams import generator
from engine.core.tasks import DENSITY, PUBLISHED, RISK_MINIMISATION, TASKS, UNIVARIATE_MEAN, Task
from engine.core.types import Covariate, PublicFacts, Sizes
from engine.sources import sources
from engine.sources.twins import twin_of

N = 40_000
RECORDS = PublicFacts(value_low=-20.0, value_high=60.0, covariates=(Covariate("age", 0.0, 100.0),))


def test_a_twin_is_given_nothing_that_can_hold_an_observation():
    hints = typing.get_type_hints(twin_of)
    assert {name: hints[name] for name in hints if name != "return"} == {
        "task": Task,
        "facts": PublicFacts,
        "sizes": Sizes,
    }


@pytest.mark.parametrize("task", PUBLISHED)
def test_the_twin_of_every_published_task_has_the_stated_sizes_and_a_truth_of_each_data_set(task):
    source = sources.default(TASKS[task].source, task)
    data, truths = twin_of(TASKS[task], source.facts, source.sizes).simulated(2, generator(1, 0, 0))
    assert data.sizes.n_curves_per_server == source.sizes.n_curves_per_server
    assert len(truths) == 2 and np.isfinite(truths).all()


def test_records_lie_as_the_density_of_their_twin_says():
    data, truths = twin_of(DENSITY, RECORDS, Sizes((N // 2, N // 2), N, 1)).simulated(
        1, generator(1, 0, 0)
    )
    grid = drawing_grid()
    below = np.concatenate([[0.0], np.cumsum((truths[0][1:] + truths[0][:-1]) / 2 * np.diff(grid))])
    found = (data.x[0, :, 0][:, None] <= 100 * grid[10:-10:10]).mean(axis=0)
    assert abs(found - below[10:-10:10]).max() < 5 * np.sqrt(0.25 / N) + 1e-3


@pytest.mark.parametrize("two_classes", [False, True])
def test_responses_are_on_average_what_their_twin_says_of_the_number_beside_them(two_classes):
    facts = replace(RECORDS, two_classes=two_classes)
    data, truths = twin_of(RISK_MINIMISATION, facts, Sizes((N,), N, 1)).simulated(
        1, generator(1, 0, 0)
    )
    x, y = data.x[0, :, 0], data.y[0]
    for age in (20.0, 50.0, 65.0):
        near = abs(x - age) < 2.0
        truth = np.interp(x[near], 100 * drawing_grid(), truths[0])
        expected = -20 + 80 / (1 + np.exp(-truth)) if two_classes else truth
        assert abs(y[near].mean() - expected.mean()) < 5 * y[near].std() / np.sqrt(near.sum())


def test_the_truth_of_numbers_is_the_mean_of_all_people_such_as_those_who_are_drawn():
    twin = twin_of(UNIVARIATE_MEAN, PublicFacts(), Sizes((300, 200), 500, 1))
    data, truths = twin.simulated(40, generator(1, 0, 0))
    assert np.ptp(truths) == 0
    means = data.values.mean(axis=1)  # of data sets, each of other people
    assert abs(means.mean() - truths[0, 0]) < 5 * means.std() / np.sqrt(40)
