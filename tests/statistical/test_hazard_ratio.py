"""The ratio of two hazards from noised counts: right without noise, consistent with the test, and covering."""

from dataclasses import replace

import numpy as np
import pytest

from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.numerics.counts.comparisons import hazard_ratio, log_rank
from engine.sources.event_times import EventTimes
from tests.heavy import all_but

LARGE = [(5000, 1.0, 0.3, "early"), (20_000, 0.5, 0.4, "early"), (50_000, 1.0, 0.5, "bump")]
CELLS = [
    (228, 1.0, 1.5, True, "lung"),
    (500, 1.0, 1.5, False, "lung"),
    (1000, 1.0, 3.0, True, "early"),
    (1000, 1.0, 0.5, True, "cure"),
    (500, 3.0, 1.0, True, "lung"),
]


def tables(n, epsilon, ratio, public, design, repeats=400):
    source = EventTimes(
        n_curves=n, comparison="hazard ratio", ratio=ratio, sizes_public=public, design=design
    )
    table = (
        NoisyCounts()
        .release_many(
            source.draw(repeats, generator(5, 0, 0)), [(Budget(epsilon),)], 1, generator(5, 1, 0)
        )
        .released[0]
    )
    return table.picked(slice(None), 0)


@pytest.mark.parametrize(("n", "epsilon", "ratio", "public", "design"), all_but(CELLS[1:], CELLS))
def test_the_interval_covers_the_true_ratio_and_is_that_of_the_test(
    n, epsilon, ratio, public, design
):
    table = tables(n, epsilon, ratio, public, design)
    found, test = hazard_ratio(table), log_rank(table)
    covered = ((found.low <= ratio) & (ratio <= found.high)).mean()
    assert abs(covered - 0.95) < 5 * np.sqrt(0.95 * 0.05 / 400)
    assert (((found.low > 1) | (found.high < 1)) == (test.p_value < 0.05)).mean() > 0.99
    middle = np.nanmedian(found.ratio)
    assert abs(np.log(middle / ratio)) < 5 * 1.25 * np.nanstd(np.log(found.ratio)) / np.sqrt(400)


@pytest.mark.parametrize(("n", "epsilon", "ratio", "design"), all_but(LARGE[1:], LARGE))
def test_the_ratio_of_large_groups_is_in_the_middle_of_its_interval(n, epsilon, ratio, design):
    found = hazard_ratio(tables(n, epsilon, ratio, True, design, repeats=100))
    off = np.log(found.ratio / ratio) / (np.log(found.high / found.low) / 3.92)
    assert abs(off.mean()) < 5 / np.sqrt(100) and 0.75 < off.std() < 1.25
    assert abs(((found.low <= ratio) & (ratio <= found.high)).mean() - 0.95) < 5 * np.sqrt(
        0.95 * 0.05 / 100
    )


def test_without_noise_it_is_the_ratio_of_the_hazards():
    table = tables(100_000, 1e6, 2.0, True, "lung", repeats=1)
    result = hazard_ratio(table)
    assert (
        abs(np.log(result.ratio / 2.0)).item()
        < 5 * (np.log(result.high / result.low) / 3.92).item()
    )
    assert (result.low < result.ratio).all() and (result.ratio < result.high).all()


def test_no_events_leave_no_ratio_and_no_interval():
    table = tables(500, 1.0, 1.0, True, "lung", repeats=1)
    empty = replace(
        table,
        noisy=np.where(np.arange(table.noisy.shape[-1]) < table.noisy.shape[-1] - 1, 0.0, 250.0)
        * np.ones_like(table.noisy),
    )
    result = hazard_ratio(empty)
    assert np.isnan(result.ratio).all() and (result.low == 0).all() and np.isinf(result.high).all()
