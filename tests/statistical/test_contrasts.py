"""Differences and ratios of restricted means and of survival at a time, from noised counts."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.numerics.counts.comparisons import difference
from engine.numerics.counts.contrasts import milestones, nearest_edge, restricted_means
from engine.numerics.counts.curves import survival_curves
from engine.sources.event_times import EventTimes
from tests.heavy import few

SETS = 150
# people of both groups, ε, the time compared as a share of the follow-up, hazard ratio
CELLS = [
    (500, 1.0, 2 / 3, 1.5),
    (200, 1.0, 0.5, 1.5),
    (1000, 0.5, 2 / 3, 1.5),
    (1000, 3.0, 0.58, 1.5),
    (4000, 1.0, 0.57, 1.5),
    (1000, 1.0, 0.5, 1.0),
    (1000, 1.0, 0.5, 3.0),
]


@lru_cache
def curves(n, epsilon, ratio):
    source = EventTimes(
        n_curves=n,
        comparison="hazard ratio",
        ratio=ratio,
        sizes_public=True,
        design="lung",
        follow_up=1.0,
    )
    table = (
        NoisyCounts()
        .release_many(
            source.draw(SETS, generator(6, 0, 0)), [(Budget(epsilon),)], 1, generator(6, 1, 0)
        )
        .released[0]
    )
    return source, survival_curves(table.picked(slice(None), 0))


def truths(source, until):
    """True survival at a time of both groups, and their areas up to it: (2,) each."""
    times = np.linspace(0, until, 4001)
    survival = np.atleast_2d(source.truth.at(times))
    return survival[:, -1], np.trapezoid(survival, times, axis=-1)


@pytest.mark.parametrize(("n", "epsilon", "share", "ratio"), few(CELLS, 2))
def test_intervals_of_differences_and_ratios_cover_the_truth(n, epsilon, share, ratio):
    source, (first, second) = curves(n, epsilon, ratio)
    for compare, place in ((milestones, 0), (restricted_means, 1)):
        found = compare(first.edges, first.limits, second.limits, share)
        true = truths(source, found.until)[place]
        shown = np.isfinite(found.difference)
        assert shown.mean() > 0.8
        off = np.abs(found.difference - (true[0] - true[1]))[shown]
        least = 0.95 - 5 * np.sqrt(0.95 * 0.05 / shown.sum())
        assert (off <= found.half_width[shown]).mean() > least
        told = np.isfinite(found.ratio)
        held = (found.low <= true[0] / true[1]) & (true[0] / true[1] <= found.high)
        assert held[told].mean() > least


def test_a_difference_of_restricted_means_is_about_as_wide_as_its_error_asks():
    source, (first, second) = curves(500, 1.0, 1.5)
    found = restricted_means(first.edges, first.limits, second.limits, 2 / 3)
    assert np.nanmean(found.half_width) <= 0.065


def test_no_number_is_given_beyond_what_is_shown_in_both_groups():
    _, (first, second) = curves(200, 1.0, 1.5)
    ended = replace(second.limits, drawn=second.limits.drawn & False)
    for compare in (milestones, restricted_means):
        found = compare(first.edges, first.limits, ended, 0.5)
        assert np.isnan(found.difference).all() and np.isnan(found.ratio).all()
        assert np.isnan(found.half_width).all()


def test_where_nearly_nobody_may_be_left_there_is_a_difference_and_no_ratio():
    _, (first, second) = curves(1000, 1.0, 3.0)
    edge = first.limits.drawn.sum(axis=-1).min() - 1
    low = replace(first.limits, values=np.minimum(first.limits.values, 0.04))
    found = milestones(first.edges, low, second.limits, first.edges[edge])
    assert np.isfinite(found.difference).all() and np.isnan(found.ratio).all()


def test_the_edge_is_the_nearest_one_and_is_named():
    _, (first, second) = curves(500, 1.0, 1.5)
    found = milestones(first.edges, first.limits, second.limits, 0.5)
    assert found.until == min(first.edges[1:], key=lambda edge: abs(edge - 0.5))
    assert first.edges[nearest_edge(first.edges, 0.5) + 1] == found.until


def test_curves_of_two_tables_are_not_subtracted():
    """Tables of equal size have one sample of errors, which would cancel."""
    (first, _), (_, second) = (curves(500, 1.0, 1.5)[1], curves(500, 1.0, 1.0)[1])
    for compare in (milestones, restricted_means):
        with pytest.raises(InputError, match="two releases"):
            compare(first.edges, first.limits, second.limits, 0.5)
    with pytest.raises(InputError, match="two releases"):
        difference(first.limits, second.limits)
