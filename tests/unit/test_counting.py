"""Counts of people by cell: what is counted, what follows from it, and that nothing else does."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.random_streams import generator
from engine.core.tasks import COUNTED, TASKS
from engine.core.types import Budget, EventData, EventFacts
from engine.language.counts import at_edge, censoring, mean, median, too_few
from engine.language.numbers import in_unit
from engine.mechanisms.noisy_counts import NoisyCounts, usual_intervals
from engine.noise.laplace import laplace
from engine.numerics import product_limit
from engine.numerics.counts.bands import (
    CurveLimits,
    monotone_cubic,
    quantile,
    restricted_mean,
    staircase,
)
from engine.numerics.counts.cells import Cells, Counted, equal_edges
from engine.numerics.counts.comparisons import difference, hazard_ratio, log_rank
from engine.numerics.counts.curves import incidence_curves, survival_curves
from engine.numerics.counts.distributions import calibration, distribution, roc
from engine.numerics.counts.estimands import ESTIMANDS
from engine.numerics.counts.life_tables import (
    LifeTable,
    is_shown,
    life_tables,
    of_group,
    whole_at_risk,
    whole_cells,
)
from engine.numerics.counts.tables import CountTable, discretised, projected, variance_of_discrete
from engine.privacy import accounting, risk
from engine.privacy.tradeoff import CountsNoise, Losses, PurePart
from engine.sources import sources
from engine.sources.bounded_values import BoundedValues
from engine.sources.competing_events import CompetingEvents
from engine.sources.event_times import SHAPES, EventTimes
from engine.sources.scored_people import ScoredPeople

ONE = (Budget(1.0),)
GOLDEN = CountTable(
    Cells((0.0, 1.0, 2.0, 3.0)), np.array([[5.0, 3, -2, 1, 4, 0, 5]]), (20.0,), (2.0,)
)
ALL_CELLS = [
    Cells((0.0, 0.5, 1.0, 2.0)),
    Cells((0.0, 1.0, 2.0), n_causes=2, n_codes=2, n_groups=2),
    Cells((0.0, 1.0, 2.0), Counted.VALUES),
    Cells((0.0, 1.0, 2.0), Counted.LABELS),
]


def exact_table(cells, counts, blocks=1):
    """A table without noise."""
    by_block = counts.reshape(blocks, -1)
    return CountTable(
        cells, counts.reshape(cells.n_groups, -1), tuple(by_block.sum(axis=1)), (0.0,)
    )


@pytest.mark.parametrize("task", COUNTED)
def test_every_counted_task_has_the_estimand_whose_curves_begin_at_its_known_value(task):
    estimand = ESTIMANDS[task]
    assert estimand.task is TASKS[task] and tuple(ESTIMANDS) == COUNTED
    source = sources.default(TASKS[task].source, task)
    curves = (
        NoisyCounts(task=task)
        .release(source.draw(1, generator(1, 0, 0)), ONE, generator(1, 1, 0))
        .values(drawing_grid())
    )
    np.testing.assert_allclose(curves[..., 0], estimand.start, atol=1e-12)


# -- cells ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("time", "status", "cell"),
    [
        (0.2, 1, 0),
        (1.0, 1, 0),
        (1.5, 2, 3),
        (2.0, 0, 5),
        (9.0, 1, 6),
        (np.inf, 0, 6),
        (-3.0, 1, 0),
        (-np.inf, 2, 2),
        (0.0, 0, 4),
        (np.nan, 1, 4),
        (1.5, 3, 5),
        (1.5, -1, 5),
        (0.5, 99, 4),
    ],
)
def test_every_row_has_a_cell_whatever_it_holds(time, status, cell):
    cells = Cells((0.0, 1.0, 2.0), n_causes=2, n_codes=2)
    assert cells.of_rows(np.array([time]), np.array([status])).tolist() == [cell]


@pytest.mark.parametrize(
    ("time", "status", "cell"),
    [(-1.0, 1, 0), (np.nan, 1, 0), (7.0, 1, 1), (1.5, 0, 3), (np.inf, -1, 3), (np.nan, 7, 2)],
)
def test_a_score_beyond_the_range_is_in_an_end_bin_and_a_label_is_one_or_none(time, status, cell):
    cells = Cells((0.0, 1.0, 2.0), Counted.LABELS)
    assert cells.of_rows(np.array([time]), np.array([status])).tolist() == [cell]


@pytest.mark.parametrize("cells", ALL_CELLS, ids=str)
def test_over_all_pairs_of_rows_one_person_moves_the_counts_by_two_at_most_and_by_two_somewhere(
    cells,
):
    rows = list(
        product(
            [-np.inf, -1.0, 0.0, 0.3, 0.5, 1.0, 1.7, 2.0, 2.1, np.inf, np.nan],
            [-1, 0, 1, 2, 3],
            [0, 1, 7],
        )
    )
    time, status, group = (np.array(column) for column in zip(*rows, strict=True))
    counts = cells.counts(time[:, None], status[:, None], group[:, None], np.zeros(1, dtype=int), 1)
    each = counts.reshape(len(rows), -1)
    assert (each.sum(axis=1) == 1).all()
    moved = np.abs(each[:, None] - each[None]).sum(axis=-1)
    assert moved.max() == 2.0
    assert set(np.unique(moved)) == {0.0, 2.0}
    assert (each.max(axis=0) == 1).all()  # every cell is somebody's


def test_strange_rows_change_nothing_of_the_release_but_their_own_cells():
    source = EventTimes(n_curves=300)
    data = source.draw(1, generator(1, 0, 0))
    time, status = data.time.copy(), data.status.copy()
    time[0, :5], status[0, :5] = [np.nan, np.inf, -np.inf, -4.0, 1.0], [1, 1, 0, 1, 77]
    odd = replace(data, time=time, status=status)
    ordinary, strange = (
        NoisyCounts().release(each, ONE, generator(1, 1, 0)) for each in (data, odd)
    )
    assert ordinary.spends == strange.spends and ordinary.tuning == strange.tuning
    moved = strange.released[0].noisy - ordinary.released[0].noisy
    assert moved.sum() == 0 and np.abs(moved).sum() <= 10


def test_the_order_of_people_makes_no_difference():
    data = EventTimes(n_curves=200, comparison="hazard ratio").draw(1, generator(2, 0, 0))
    order = np.random.default_rng(1).permutation(200)
    first, second = (
        NoisyCounts().release(each, ONE, generator(1, 1, 0))
        for each in (data, data.in_order(order))
    )
    assert (first.coefficients == second.coefficients).all()


# -- noise ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.2, 0.7, 2.0, 8.0])
def test_discretised_noise_has_the_law_that_is_said(scale):
    drawn, a = discretised(laplace((400_000,), np.random.default_rng(3)), scale), np.exp(-1 / scale)
    assert (drawn == np.rint(drawn)).all()
    for k in range(4):
        chance = (1 - a) / (1 + a) * a**k
        for sign in (-1, 1):
            assert abs((drawn == sign * k).mean() - chance) < 5 * np.sqrt(chance / 400_000)
    spread = 5 * np.sqrt((drawn**4).mean() / 400_000)
    assert (drawn**2).mean() == pytest.approx(variance_of_discrete(scale), abs=spread)


def test_what_an_attacker_gets_is_that_of_the_exact_law_of_both_counts():
    for epsilon in (0.3, 1.0, 4.0):
        chance = 1 / (1 + np.exp(-epsilon / 2))
        curve = CountsNoise(epsilon)
        assert float(curve.right()) == pytest.approx(chance)
        assert float(curve.delta(epsilon)) == pytest.approx(0.0, abs=1e-15)
        composed = Losses((PurePart.of_counts(epsilon, 1),))
        for at in (0.0, 0.1, epsilon / 2, 0.9 * epsilon):
            assert float(composed.delta(at)) == pytest.approx(float(curve.delta(at)), abs=2e-3)
            assert float(composed.delta(at)) >= float(curve.delta(at)) - 1e-9


def test_one_line_of_the_ledger_states_pure_privacy_of_a_person():
    data = EventTimes(n_curves=200).draw(1, generator(1, 0, 0))
    (line,) = NoisyCounts().release(data, (Budget(0.7, 1e-6),), generator(1, 1, 0)).spends[0]
    assert (line.epsilon, line.sensitivity, line.unit, line.norm) == (0.7, (2.0,), "person", "ℓ1")
    assert line.noise_scale == (2 / 0.7,)
    assert [budget.epsilon for budget in accounting.guarantees((line,))] == [0.7]
    assert risk.of_ledger((line,)).right == pytest.approx(1 / (1 + np.exp(-0.35)))


# -- closed forms and golden numbers ----------------------------------------------------------------


def test_the_golden_table_gives_the_golden_numbers():
    (life,) = life_tables(GOLDEN)
    jacobian = of_group(life.survival_gradient, 0, 1)
    assert GOLDEN.estimated[0] == pytest.approx([16 / 3, 10 / 3, 0, 4 / 3, 13 / 3, 1 / 3, 16 / 3])
    assert life.survival == pytest.approx([0.724138, 0.507977, 0.507977], abs=1e-6)
    assert life.at_risk[:3] == pytest.approx([20, 13.3333, 5.6667], abs=1e-4)
    assert GOLDEN.spread_of(np.array([7, 5, 3])) == pytest.approx([0, 3.345657, 3.664984], abs=1e-6)
    assert sum(GOLDEN.variances(jacobian)) == pytest.approx(
        [0.027256, 0.050268, 0.076936], abs=1e-6
    )
    assert whole_cells(life).tolist() == [5, 2, 3, 4, 0, 1, 5]
    assert whole_at_risk(life).tolist() == [20, 13, 6, 5]


@pytest.mark.parametrize(
    ("n", "epsilon", "intervals", "noise"),
    [
        (100, 0.5, 4, 0.0728),
        (228, 0.25, 4, 0.0640),
        (228, 1.0, 7, 0.0200),
        (228, 3.0, 12, 0.0079),
        (1000, 0.5, 10, 0.0108),
        (1000, 1.0, 13, 0.0060),
        (10_000, 1.0, 34, 0.0010),
    ],
)
def test_intervals_and_feasibility_follow_from_public_numbers(n, epsilon, intervals, noise):
    budget = (Budget(epsilon),)
    plan = NoisyCounts().plan(EventTimes(n_curves=n).public, budget)
    assert plan.cells.n_intervals == intervals == usual_intervals(n, epsilon)
    assert plan.verdict.noise == pytest.approx(noise, abs=6e-5)
    assert plan.verdict == NoisyCounts().feasibility(EventTimes(n_curves=n).sizes, budget)


def test_below_thirty_six_people_times_epsilon_nothing_is_released():
    source = EventTimes(n_curves=100)
    assert NoisyCounts().plan(source.public, (Budget(0.38),)).verdict.is_feasible
    refused = NoisyCounts().plan(source.public, (Budget(0.35),)).verdict
    assert refused.verdict == "not feasible" and refused.curves_needed(100) > 100
    estimate = NoisyCounts().release(
        source.draw(1, generator(1, 0, 0)), (Budget(0.35),), generator(1, 1, 0)
    )
    assert estimate.released == (None,)


def test_noise_in_cumulative_shares_has_the_variance_of_the_rule():
    for m in (5, 17, 100):
        table = CountTable(
            Cells(equal_edges(0, 1, m), Counted.VALUES), np.ones((1, m)), (float(m),), (2.0,)
        )
        noise = table.variances(distribution(table)[1])[1] * m**2
        k = np.arange(1, m + 1)
        assert noise == pytest.approx(table.noise_variance * k * (m - k) / m)
        assert noise[:-1].mean() == pytest.approx(table.noise_variance * (m + 1) / 6)


@pytest.mark.parametrize("n_causes", [1, 2])
def test_gradients_are_central_differences(n_causes):
    cells = Cells(equal_edges(0, 1, 5), n_causes=n_causes, n_codes=n_causes)
    counts = np.random.default_rng(4).uniform(20, 60, cells.size)
    life, step = LifeTable(counts, cells), 1e-4
    for name in ("survival", "incidence"):
        slopes = np.stack(
            [
                (
                    getattr(LifeTable(counts + step * unit, cells), name)
                    - getattr(LifeTable(counts - step * unit, cells), name)
                )
                / (2 * step)
                for unit in np.eye(cells.size)
            ],
            axis=-1,
        )
        assert getattr(life, f"{name}_gradient") == pytest.approx(slopes, abs=1e-9)


def test_projection_is_nearest_among_tables_of_the_total_without_a_negative_count():
    rng = np.random.default_rng(5)
    noisy = rng.normal(3, 6, (40, 9))
    near = projected(noisy, 20.0)
    assert near.min() >= 0 and near.sum(axis=-1) == pytest.approx(np.full(40, 20.0))
    others = rng.dirichlet(np.ones(9), (40, 200)) * 20
    assert (
        ((others - noisy[:, None]) ** 2).sum(axis=-1) >= ((near - noisy) ** 2).sum(axis=-1)[:, None]
    ).all()


def test_the_sample_of_errors_has_the_stated_covariance():
    (life,) = life_tables(GOLDEN)
    jacobian = of_group(life.survival_gradient, 0, 1)
    stated = np.sqrt(sum(GOLDEN.variances(jacobian)))
    assert np.sqrt((GOLDEN.errors(jacobian) ** 2).mean(axis=-1)) == pytest.approx(stated, rel=0.1)


# -- properties of what follows -----------------------------------------------------------------------


def released(source, epsilon=1.0, repeats=30, seed=1, **settings):
    data = source.draw(repeats, generator(seed, 0, 0))
    return NoisyCounts(**settings).release_many(
        data, [(Budget(epsilon),)], 2, generator(seed, 1, 0)
    )


def test_survival_falls_within_0_and_1_and_numbers_at_risk_are_whole_and_fall():
    table = released(EventTimes(n_curves=150)).released[0]
    (life,) = life_tables(table)
    assert (np.diff(life.survival, axis=-1) <= 0).all()
    assert (life.survival >= 0).all() and (life.survival <= 1).all()
    at_risk = whole_at_risk(life)
    assert (at_risk == np.rint(at_risk)).all() and (np.diff(at_risk, axis=-1) <= 0).all()
    assert (at_risk[..., 0] == 150).all()
    assert np.abs(whole_cells(life).sum(axis=-1) - 150).max() == 0


def test_incidences_of_all_causes_are_what_survival_leaves():
    table = released(CompetingEvents(n_curves=200), task="cumulative_incidence").released[0]
    (life,) = life_tables(table)
    assert life.incidence.sum(axis=-2) == pytest.approx(1 - life.survival, abs=1e-12)


def test_the_same_counts_give_the_same_limits_and_they_hold_the_curve():
    table = released(EventTimes(n_curves=228)).released[0]
    (life,) = life_tables(table)
    limits = [
        CurveLimits(
            life.survival,
            each.errors(of_group(life.survival_gradient, 0, 1)),
            is_shown(each, life),
            228.0,
        )
        for each in (table, replace(table))
    ]
    both = [limit.monotone(limit.simultaneous_width) for limit in limits]
    assert (both[0][0] == both[1][0]).all() and (both[0][1] == both[1][1]).all()
    times = np.linspace(0, 5, 301)
    low, high = staircase(table.cells.edges, *both[0], times)
    inside = times <= np.asarray(table.cells.edges)[limits[0].drawn.sum(axis=-1)][..., None]
    drawn = monotone_cubic(table.cells.edges, life.survival)(times)
    assert ((low <= drawn + 1e-12) & (drawn <= high + 1e-12))[inside].all()
    assert (np.diff(low, axis=-1) <= 1e-12).all() and (np.diff(high, axis=-1) <= 1e-12).all()


def test_the_ends_of_censoring_are_the_life_tables_of_people_who_leave_first_or_last():
    rng = np.random.default_rng(4)
    cells = Cells(equal_edges(0.0, 1.0, 5), n_causes=2, n_codes=2)
    counts = rng.integers(0, 30, cells.size).astype(float)
    life = LifeTable(counts, cells)
    events, censored, at_risk = life.events.sum(axis=0), life.censored, life.at_risk[:-1]
    first, last = (np.cumprod(1 - events / exposed) for exposed in (at_risk - censored, at_risk))
    np.testing.assert_allclose(life.of_early_censoring.survival, first)
    np.testing.assert_allclose(life.of_late_censoring.survival, last)
    assert (first <= life.survival).all() and (life.survival <= last).all()
    low, high = life.incidence_extremes
    for unexposed in (0.0, 1.0):
        hazards = life.events / (at_risk - unexposed * censored)
        before = np.concatenate([[1.0], np.cumprod(1 - hazards.sum(axis=0))[:-1]])
        incidence = np.cumsum(before * hazards, axis=-1)
        assert (low <= incidence + 1e-12).all() and (incidence <= high + 1e-12).all()


def ended(end, n=1000):
    """A table without noise of events at rate 1, a part of which is censored at shares of an interval."""
    rng = np.random.default_rng(8)
    event, leaves = rng.exponential(1.0, n), rng.random(n) < 0.4
    time = np.where(leaves & (event > end), end, event)
    cells = Cells(equal_edges(0.0, 1.0, 8))
    counts = cells.counts(
        time[None], (time == event).astype(int)[None], None, np.zeros(n, dtype=int), 1
    )
    return exact_table(cells, counts[0, 0])


def test_limits_hold_a_curve_wherever_within_the_interval_people_leave():
    truth = np.exp(-np.arange(1, 9) / 8)
    for end in (1e-6, 0.124):  # at the start and at the end of the first interval
        (curve,) = survival_curves(ended(end))
        assert (curve.pointwise_low <= truth).all() and (truth <= curve.pointwise_high).all()
        assert curve.drawn.all() and float(curve.limits.widening) > 0.25
        tight = replace(curve.limits, extremes=None)
        assert (tight.monotone(tight.pointwise_width)[0] >= curve.pointwise_low).all()
        assert curve.mean.half_width > restricted_mean(curve.edges, tight).half_width
        both, plain = difference(curve.limits, curve.limits), difference(tight, tight)
        assert (both.half_width > plain.half_width).all()


def test_without_people_censored_within_an_interval_limits_are_as_they_were():
    cells = Cells(equal_edges(0.0, 1.0, 4))
    (curve,) = survival_curves(exact_table(cells, np.array([30.0, 20, 10, 5, 0, 0, 0, 0, 35])))
    assert curve.limits.widening == 0 and not curve.is_ended_by_censoring
    low, high = curve.limits.monotone(curve.limits.pointwise_width)
    np.testing.assert_allclose(low, np.clip(curve.values - curve.limits.pointwise_width, 0, 1))
    np.testing.assert_allclose(
        high, np.minimum.accumulate(curve.values + curve.limits.pointwise_width)
    )


def test_nothing_is_shown_from_where_counts_leave_the_curve_open():
    cells = Cells(equal_edges(0.0, 10.0, 4))
    for counts in ([300.0, 0, 0, 0, 650, 0, 0, 0, 50], [10.0, 300, 0, 0, 0, 600, 0, 0, 90]):
        table = exact_table(cells, np.array(counts))
        (curve,) = survival_curves(table)
        assert curve.is_ended_by_censoring and curve.last == (0.0 if counts[0] == 300 else 2.5)
        of_causes = incidence_curves(table)
        assert [float(each.last) for each in of_causes] == [float(curve.last)]
        told = censoring([curve], EventFacts(time_unit="years"))
        assert "censored" in told and told.startswith("Beyond 2.5" if curve.last else "Nothing")
        assert not too_few([curve], EventFacts())


def test_intervals_beyond_which_too_few_are_left_are_not_shown():
    table = released(EventTimes(n_curves=228)).released[0]
    (life,) = life_tables(table)
    result = is_shown(table, life)
    assert (life.at_risk[..., 1:][result] >= 10).all()
    assert (result[..., :-1] >= result[..., 1:]).all()
    assert is_shown(table, life, 60.0).sum() < result.sum()


# -- against other formulas, written here -----------------------------------------------------------------


def kaplan_meier_by_hand(time, status, at):
    survival, variance = 1.0, 0.0
    for t in sorted(set(time[status > 0])):
        if t <= at:
            at_risk, events = (time >= t).sum(), ((time == t) & (status > 0)).sum()
            survival *= 1 - events / at_risk
            variance += events / (at_risk * (at_risk - events)) if events < at_risk else 0.0
    return survival, survival * np.sqrt(variance)


def test_ordinary_curves_and_tests_are_those_of_the_textbooks():
    rng = np.random.default_rng(6)
    time, status = np.ceil(rng.exponential(6, 120)), rng.integers(0, 3, 120)
    group, points = rng.integers(0, 2, 120), np.array([0.5, 2.0, 5.0, 9.0])
    survival, error = product_limit.kaplan_meier(time, status, points, 2)
    by_hand = [kaplan_meier_by_hand(time, status, at) for at in points]
    assert survival == pytest.approx([each[0] for each in by_hand], abs=1e-12)
    assert error == pytest.approx([each[1] for each in by_hand], abs=1e-12)
    expected, variance, observed, incidence = 0.0, 0.0, 0.0, np.zeros(2)
    for t in sorted(set(time[status > 0])):
        at_risk, first = (time >= t).sum(), ((time >= t) & (group == 0)).sum()
        events = ((time == t) & (status > 0)).sum()
        observed += ((time == t) & (status > 0) & (group == 0)).sum()
        expected += events * first / at_risk
        if at_risk > 1:
            variance += (
                events
                * first
                * (at_risk - first)
                * (at_risk - events)
                / (at_risk**2 * (at_risk - 1))
            )
        if t <= 5:
            before = kaplan_meier_by_hand(time, status, t - 0.5)[0]
            incidence += (
                before * np.array([((time == t) & (status == k)).sum() for k in (1, 2)]) / at_risk
            )
    assert product_limit.log_rank(time, status, group, 2)[0] == pytest.approx(
        (observed - expected) / np.sqrt(variance), abs=1e-12
    )
    assert product_limit.aalen_johansen(time, status, np.array([5.0]), 2)[:, 0] == pytest.approx(
        incidence, abs=1e-12
    )


def test_without_noise_it_is_the_ordinary_curve_of_grouped_data():
    """Events in the middle of intervals, and people censored only at the end of the last one."""
    rng = np.random.default_rng(7)
    edges = equal_edges(0.0, 1.0, 8)
    event = rng.random(400) < 0.6
    time = np.where(event, (rng.integers(0, 8, 400) + 0.5) / 8, 2.0)
    cells = Cells(edges)
    counts = cells.counts(time[None], event[None].astype(int), None, np.zeros(400, dtype=int), 1)[
        0, 0
    ]
    table = exact_table(cells, counts)
    (life,) = life_tables(table)
    survival, error = product_limit.kaplan_meier(time, event.astype(int), np.array(edges[1:]))
    assert life.survival == pytest.approx(survival, abs=1e-10)
    sampling, noise = table.variances(of_group(life.survival_gradient, 0, 1))
    assert np.sqrt(sampling) == pytest.approx(error, rel=0.03)  # half a person more in every cell
    assert noise == pytest.approx(np.zeros(8), abs=1e-12)


def test_the_life_table_is_the_actuarial_one_with_censoring_and_two_causes():
    rng = np.random.default_rng(8)
    cells = Cells(equal_edges(0.0, 1.0, 6), n_causes=2, n_codes=2)
    counts = rng.integers(1, 30, cells.size).astype(float)
    (life,) = life_tables(exact_table(cells, counts))
    left, survival, incidence = counts.sum(), 1.0, np.zeros(2)
    for k in range(6):
        events, censored = counts[[k, 6 + k]], counts[12 + k]
        exposed = left - censored / 2
        incidence = incidence + survival * events / exposed
        survival *= 1 - events.sum() / exposed
        left -= events.sum() + censored
        assert life.survival[k] == pytest.approx(survival, abs=1e-12)
        assert life.incidence[:, k] == pytest.approx(incidence, abs=1e-12)


def test_with_many_intervals_and_no_noise_it_tends_to_kaplan_meier():
    source = EventTimes(n_curves=1000)
    data = source.draw(40, generator(3, 0, 0))
    exact = NoisyCounts().exact_fit(data).coefficients[0, :, 0]
    errors = []
    for intervals in (3, 6, 12, 20, 200):
        released = NoisyCounts(intervals=intervals).release_many(
            data, [(Budget(1e6),)], 1, generator(3, 1, 0)
        )
        errors.append(np.sqrt(((released.coefficients[0, :, 0] - exact) ** 2).mean()))
    assert errors[:4] == pytest.approx([0.0223, 0.0089, 0.0045, 0.0032], rel=0.1)
    assert errors[4] < 0.002


def two_groups(leave, stated, n=2000, repeats=40):
    """Tables of two groups with hazard 1, censored at two rates; follow-up is stated too long."""
    rng = np.random.default_rng(12)
    event, end = (
        rng.exponential(1.0, (repeats, n, 2)),
        rng.exponential(1 / np.asarray(leave), (repeats, n, 2)),
    )
    facts = EventFacts(groups=("A", "B"), time_high=float(stated))
    data = EventData(
        np.minimum(event, end).reshape(repeats, -1),
        (event <= end).astype(int).reshape(repeats, -1),
        np.zeros(2 * n, dtype=int),
        facts,
        np.broadcast_to([0, 1], (repeats, n, 2)).reshape(repeats, -1),
        None,
    )
    return NoisyCounts().release_many(data, [(Budget(1.0),)], 1, generator(2, 1, 0)).released[0]


def test_equal_hazards_are_not_rejected_where_one_group_is_censored_within_an_interval():
    test = log_rank(two_groups((0.1, 3.0), 10))
    assert (test.p_value > 0.05).mean() > 0.9 and (test.allowance > 2).all()
    hazards = hazard_ratio(two_groups((0.1, 3.0), 10))
    assert ((hazards.low <= 1) & (hazards.high >= 1) == (test.p_value >= 0.05)).mean() > 0.95


def test_where_few_leave_within_an_interval_the_log_rank_test_is_the_ordinary_one():
    assert (log_rank(two_groups((0.2, 0.2), 1)).allowance == 0).all()


def test_the_log_rank_statistic_is_unbiased_and_has_the_ordinary_sign():
    table = released(
        EventTimes(n_curves=2000, comparison="hazard ratio", ratio=2.0), 3.0, 3
    ).released[0]
    assert (log_rank(table).statistic > 5).all()  # the first group has twice the hazard
    assert ((log_rank(table).noise_share > 0) & (log_rank(table).noise_share < 0.5)).all()


def test_scores_and_labels_without_noise_give_the_ordinary_area_and_rates():
    rng = np.random.default_rng(9)
    bins, label = rng.integers(0, 10, 500), rng.integers(0, 2, 500)
    score = (bins + 0.5) / 10 + 0 * label
    cells = Cells(equal_edges(0, 1, 10), Counted.LABELS)
    counts = cells.counts(score[None], label[None], None, np.zeros(500, dtype=int), 1)[0, 0]
    curve = roc(exact_table(cells, counts))
    positive, negative = score[label == 1], score[label == 0]
    pairs = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    assert float(curve.area) == pytest.approx(pairs.mean(), abs=1e-10)
    assert np.trapezoid(curve.true_positive, curve.false_positive) == pytest.approx(
        pairs.mean(), abs=1e-10
    )
    rates = calibration(exact_table(cells, counts))
    assert rates.rate == pytest.approx([label[bins == b].mean() for b in range(10)], abs=1e-10)


def area_covered(score, label, true_area, epsilon=1.0, draws=200):
    """How often the interval of the area covers the true one."""
    data = EventData(score[None], label[None], np.zeros(len(score), dtype=int), EventFacts())
    estimate = NoisyCounts(task="roc").release_many(
        data, [(Budget(epsilon),)], draws, generator(5, 1, 0)
    )
    curve = roc(estimate.released[0])
    return (np.abs(curve.area - true_area) <= curve.half_width).mean()


@pytest.mark.parametrize(("shift", "scale"), [(3.0, 1.0), (1.0, 0.1)])
def test_the_interval_of_an_area_counts_what_bins_of_the_score_hide(shift, scale):
    """Of scores that are told apart well, and of such as lie in a tenth of the stated range."""
    rng = np.random.default_rng(4)
    label = np.arange(1000) % 2
    score = 0.5 + scale * (norm.cdf(rng.standard_normal(1000) + shift * label) - 0.5)
    pairs = (score[label == 1][:, None] > score[label == 0]).mean()
    assert area_covered(score, label, pairs) > 0.9


def test_a_release_with_hardly_anybody_of_one_label_says_so():
    rng = np.random.default_rng(4)
    score, labels = rng.random(300), (np.arange(300) % 50 == 0, np.arange(300) % 2 == 0)
    shares = []
    for label in labels:
        data = EventData(
            score[None], label.astype(int)[None], np.zeros(300, dtype=int), EventFacts()
        )
        shares.append(
            NoisyCounts(task="roc")
            .release_many(data, [(Budget(1.0),)], 50, generator(5, 1, 0))
            .is_doubted.mean()
        )
    assert shares[0] > 0.9 and shares[1] == 0


def test_a_median_and_a_restricted_mean_are_read_off_the_curve():
    source = EventTimes(n_curves=100_000, design="expo", follow_up=1.0)
    table = released(source, 1.0, 4).released[0]
    (life,) = life_tables(table)
    limits = CurveLimits(
        life.survival,
        table.errors(of_group(life.survival_gradient, 0, 1)),
        is_shown(table, life),
        1e5,
    )
    median = quantile(table.cells.edges, limits)
    assert median.time == pytest.approx(np.full((4, 2), 0.5 * np.log(2)), abs=0.01)
    assert ((median.low < median.time) & (median.time < median.high)).all()
    mean = restricted_mean(table.cells.edges, limits)
    assert mean.mean == pytest.approx(0.5 * (1 - np.exp(-mean.until / 0.5)), abs=0.005)
    never = quantile(table.cells.edges, limits, 0.01)
    assert np.isinf(never.time).all() and np.isinf(never.high).all()


@pytest.mark.parametrize(
    ("end", "written"), [(1095.0, "1 095 days"), (36.5, "36.5 days"), (12_345.75, "12 345.75 days")]
)
def test_the_end_that_was_stated_is_never_rounded_and_computed_edges_are(end, written):
    cells = Cells(equal_edges(0.0, end, 7))
    (curve,) = survival_curves(exact_table(cells, np.array([20.0] * 7 + [10.0] * 7 + [790.0])))
    spoken = " ".join([median(curve, "days"), mean(curve, "days")]).replace("\u202f", " ")
    assert curve.last == end and spoken.count(written) == 2
    assert at_edge(curve.edges[1], curve, "days") == in_unit(curve.edges[1], "days")


# -- groups and sites ------------------------------------------------------------------------------------


def test_public_sizes_of_groups_must_be_those_of_the_data():
    data = EventTimes(n_curves=200, comparison="hazard ratio").draw(1, generator(1, 0, 0))
    wrong = replace(data, facts=replace(data.facts, group_sizes=(120, 80)))
    with pytest.raises(InputError, match="sizes of the groups"):
        NoisyCounts().release(wrong, ONE, generator(1, 1, 0))
    table = NoisyCounts().release(data, ONE, generator(1, 1, 0)).released[0]
    assert table.estimated.sum(axis=-1) == pytest.approx(np.full((1, 1, 2), 100.0))


def test_private_sizes_of_groups_are_estimated_and_only_their_sum_is_known():
    source = EventTimes(n_curves=2000, comparison="hazard ratio", sizes_public=False)
    table = (
        NoisyCounts()
        .release(source.draw(1, generator(1, 0, 0)), ONE, generator(1, 1, 0))
        .released[0]
    )
    sizes = table.estimated.sum(axis=-1)[0, 0]
    assert sizes.sum() == pytest.approx(2000.0) and sizes[0] != 1000.0
    assert sizes == pytest.approx([1000.0, 1000.0], abs=60)


@pytest.mark.parametrize(
    ("epsilons", "n", "intervals"),
    [
        ((1.0,) * 4, 1000, 10),
        ((1.0,) * 20, 1000, 7),
        ((0.5, 1.0, 1.0, 3.0), 1000, 9),
        ((0.1, 1.0, 1.0, 1.0), 1000, 5),
    ],
)
def test_intervals_of_several_sites_follow_from_the_noise_of_their_sum(epsilons, n, intervals):
    source = EventTimes(n_curves=n, n_servers=len(epsilons))
    plan = NoisyCounts().plan(source.public, tuple(map(Budget, epsilons)))
    assert plan.cells.n_intervals == intervals
    assert max(plan.weights) == 1.0
    assert (
        np.argsort(plan.weights, kind="stable")
        == np.argsort([epsilon for epsilon in epsilons], kind="stable")
    ).all()


def test_equal_sites_are_plainly_added():
    plan = NoisyCounts().plan(EventTimes(n_curves=800, n_servers=4).public, ONE)
    assert plan.weights == (1.0,) * 4 and plan.totals == (800.0,) and plan.spread == 1.0


@pytest.mark.parametrize(
    ("sites", "epsilons", "known"),
    [(4, (1.0,) * 4, 2), (4, (1.0, 1.0, 1.0, 3.0), 1), (1, (1.0,), 2)],
)
def test_public_sizes_of_groups_are_used_over_sites_where_all_weigh_the_same(
    sites, epsilons, known
):
    source = EventTimes(n_curves=1000, n_servers=sites, comparison="hazard ratio")
    budgets = tuple(map(Budget, epsilons))
    plan = NoisyCounts().plan(source.public, budgets)
    assert len(plan.totals) == known
    table = (
        NoisyCounts()
        .release(source.draw(1, generator(1, 0, 0)), budgets, generator(1, 1, 0))
        .released[0]
    )
    assert (table.estimated.sum(axis=-1) == pytest.approx(np.full((1, 1, 2), 500.0))) == (
        known == 2
    )


def test_stated_edges_are_taken_as_they_are():
    data = EventTimes(n_curves=500, follow_up=5.0).draw(1, generator(1, 0, 0))
    edges = (0.0, 0.5, 1.0, 2.0, 5.0)
    stated = replace(data, facts=replace(data.facts, edges=edges))
    table = NoisyCounts().release(stated, ONE, generator(1, 1, 0)).released[0]
    assert table.cells.edges == edges
    with pytest.raises(InputError, match="edges"):
        replace(data.facts, edges=(0.0, 3.0, 2.0, 5.0))


def test_data_of_other_kinds_are_refused_kindly():
    from engine.sources.sparse_curves import SparseCurves

    with pytest.raises(InputError, match="one time each"):
        NoisyCounts().release(
            SparseCurves(n_curves=50).draw(1, generator(1, 0, 0)), ONE, generator(1, 1, 0)
        )
    with pytest.raises(InputError, match="shape"):
        EventData(
            np.zeros((1, 3)), np.zeros((1, 2), dtype=int), np.zeros(3, dtype=int), EventFacts()
        )


# -- sources -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        *(EventTimes(n_curves=4000, design=name, follow_up=2.0) for name in SHAPES),
        EventTimes(n_curves=8000, comparison="hazard ratio"),
        EventTimes(n_curves=8000, comparison="crossing", design="wei2"),
        CompetingEvents(n_curves=4000),
        BoundedValues(n_curves=4000),
        ScoredPeople(n_curves=4000),
    ],
    ids=str,
)
def test_the_stated_truth_is_the_law_that_is_drawn(source):
    mechanism = NoisyCounts(task=next(iter(source.tasks)))
    exact = (
        mechanism.exact_fit(source.draw(20, generator(5, 0, 0))).coefficients[0, :, 0].mean(axis=0)
    )
    error = np.abs(exact - source.truth.grid_values)[..., :96]  # where people are left at risk
    assert error.max() < 0.02


def test_the_area_under_a_simulated_roc_curve_is_known():
    table = released(ScoredPeople(n_curves=200_000), 2.0, 1, task="roc").released[0]
    assert float(roc(table).area[0, 0]) == pytest.approx(ScoredPeople().area, abs=0.01)


# -- people as they come ----------------------------------------------------------------------------


def followed(time, censored, epsilon=5.0, task="survival"):
    """Released curves of data sets (repeats, people) with times of events and of censoring."""
    data = EventData(
        np.minimum(time, censored),
        (time <= censored).astype(np.int64),
        np.zeros(time.shape[1], dtype=int),
        EventFacts(),
    )
    table = (
        NoisyCounts(task=task)
        .release_many(data, [(Budget(epsilon),)], 1, generator(6, 1, 0))
        .released[0]
    )
    return ESTIMANDS[task].bands(table)[0]


def test_bands_hold_where_half_are_censored_before_anything_happens():
    rng, shape = np.random.default_rng(6), (300, 300)
    curve = followed(rng.standard_exponential(shape), np.where(rng.random(shape) < 0.5, 0.0, 2.0))
    truth = np.exp(-np.array(curve.edges[1:]))
    inside = (curve.low <= truth) & (truth <= curve.high)
    assert (inside | ~curve.drawn).all(axis=-1).mean() > 0.89


def test_a_median_within_a_steep_interval_has_limits_that_hold_it():
    """Half of the people have their event at once, as after an operation."""
    rng, shape = np.random.default_rng(7), (100, 300)
    at_once = rng.random(shape) < 0.55
    curve = followed(rng.standard_exponential(shape) * np.where(at_once, 0.005, 1.0), 2.0)
    times = np.linspace(0, 1, 100_001)
    truth = 0.55 * np.exp(-times / 0.005) + 0.45 * np.exp(-times)
    median = times[np.argmax(truth <= 0.5)]
    assert ((curve.median.low <= median) & (median <= curve.median.high)).mean() > 0.9


def test_a_restricted_mean_allows_for_events_that_are_seen_at_few_visits():
    rng, shape = np.random.default_rng(8), (200, 300)
    curve = followed(np.ceil(rng.standard_exponential(shape) * 4) / 4, 2.0, epsilon=1.0)
    truth = np.exp(-np.arange(4) / 4).mean()  # a staircase with steps of a quarter
    is_whole = (curve.mean.until == 1.0)[:, 0]
    assert is_whole.mean() > 0.9
    covered = np.abs(curve.mean.mean - truth) <= curve.mean.half_width
    assert covered[is_whole].mean() > 0.85


@pytest.mark.parametrize(("task", "truth"), [("survival", 0.7), ("distribution", 0.3)])
def test_a_band_holds_at_the_start_what_has_happened_there(task, truth):
    """Three in ten have their event, or their value, at the lowest edge itself."""
    rng, shape = np.random.default_rng(9), (20, 300)
    time = np.where(rng.random(shape) < 0.3, 0.0, rng.standard_exponential(shape))
    low, high = followed(time, 2.0, task=task).staircase(np.zeros(1))
    assert ((low <= truth) & (truth <= high)).all()
