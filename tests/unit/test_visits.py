"""People who are seen at visits: what is counted, the estimate, and the errors that follow."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.api import read_survival
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.random_streams import generator
from engine.core.types import Budget, EventData, EventFacts, Sizes
from engine.language.counts import count_columns
from engine.mechanisms.noisy_counts import COUNTS, NoisyCounts
from engine.numerics.counts import visits
from engine.numerics.counts.cells import VisitCells
from engine.numerics.counts.curves import survival_curves
from engine.numerics.counts.estimands import ESTIMANDS
from engine.numerics.counts.tables import CountTable
from engine.privacy import transcript
from engine.sources.event_times import EventTimes
from engine.sources.twins import EventTwin
from engine.topics.counting.answer import counting_answer

EDGES = (0.0, 6.0, 12.0, 24.0)
ONE = (Budget(1.0),)
SIX = EventTimes(n_curves=2000, visits=6, follow_up=1.0)
NAN = np.nan


def released(source, epsilon=1.0, seed=1, repeats=1):
    data = source.draw(repeats, generator(seed, 0, 0))
    table = NoisyCounts().release(data, (Budget(epsilon),), generator(seed, 1, 0)).released[0]
    return table.picked(0 if repeats == 1 else slice(None), 0)


@pytest.mark.parametrize(
    ("without", "first", "cell"),
    [
        (0, 6, (0, 1)),
        (0, 24, (0, 3)),
        (6, 12, (1, 2)),
        (12, NAN, (2, 4)),
        (24, NAN, (3, 4)),
        (NAN, NAN, (0, 4)),
        (NAN, 12, (0, 2)),
        (7, 11, (1, 2)),  # the nearest visits
        (5.9, 12.1, (1, 2)),
        (0.1 + 0.2 + 5.7, 12 - 1e-9, (1, 2)),
        (2, 2.5, (0, 1)),
        (24, 29.9, (2, 3)),
        (24, 30, (3, 4)),
        (12, 6, (0, 1)),  # the visit with the event counts
        (6, 6, (0, 1)),
        (99, 99, (3, 4)),
        (-5, -5, (0, 1)),
        (np.inf, np.inf, (3, 4)),
    ],
)
def test_a_row_is_in_one_cell_by_its_two_visits_whatever_they_hold(without, first, cell):
    cells = VisitCells(EDGES)
    places = cells.of_rows(np.array([first]), np.array([7]), without=np.array([without]))
    assert tuple(cells.visits[places[0]]) == cell


@pytest.mark.parametrize("follow_up", [1.0, 5.0, 0.7])
def test_a_visit_is_the_same_one_in_every_unit(follow_up):
    """Visits at k/6 of the follow-up are edges but for rounding."""
    years = replace(SIX, follow_up=follow_up)
    data, same = (each.draw(1, generator(4, 0, 0)) for each in (SIX, years))
    counts = [
        VisitCells(each.facts.edges).of_rows(each.time, each.status, without=each.without)
        for each in (data, same)
    ]
    assert (counts[0] == counts[1]).all()


@pytest.mark.parametrize(("k", "size"), [(1, 3), (6, 28), (10, 66)])
def test_cells_are_every_two_visits(k, size):
    cells = VisitCells(tuple(map(float, range(k + 1))))
    assert cells.size == size == len({tuple(pair) for pair in cells.visits})
    assert (cells.visits[:, 0] < cells.visits[:, 1]).all()


def test_the_estimate_is_the_share_where_no_visit_is_missed():
    cells = VisitCells(EDGES)
    counts = np.zeros(cells.size)
    for pair, number in {(0, 1): 10, (1, 2): 30, (2, 3): 20, (3, 4): 40}.items():
        counts[(cells.visits == pair).all(axis=1)] = number
    assert visits.survival(counts, cells) == pytest.approx([0.9, 0.6, 0.4])


def test_the_estimate_has_the_greatest_likelihood_of_all_curves():
    cells, rng = VisitCells(EDGES), np.random.default_rng(3)
    counts = rng.integers(1, 30, cells.size).astype(float)

    def likelihood(curve):
        shares = -np.diff(np.concatenate([[1.0], curve, [0.0]]))
        last, first = cells.visits.T
        of_cells = [shares[a:b].sum() for a, b in zip(last, first, strict=True)]
        return counts @ np.log(np.maximum(of_cells, 1e-300))

    best = visits.survival(counts, cells)
    others = np.sort(rng.random((2000, 3)), axis=1)[:, ::-1]
    near = np.clip(best + 0.01 * rng.standard_normal((2000, 3)), 0, 1)
    near = -np.sort(-near, axis=1)
    assert likelihood(best) >= max(map(likelihood, [*others, *near]))


def test_without_noise_the_table_has_the_ordinary_curve_at_every_visit():
    data = SIX.draw(1, generator(2, 0, 0))
    estimate = NoisyCounts().release_many(data, [ONE], 1, generator(2, 1, 0))
    exact = NoisyCounts().without_protection(data).coefficients[0, 0, 0]
    assert estimate.unprotected.ravel() == pytest.approx(exact.ravel(), abs=1e-9)


def test_one_message_has_the_whole_budget():
    estimate = NoisyCounts().release(SIX.draw(1, generator(1, 0, 0)), ONE, generator(1, 1, 0))
    (spend,) = estimate.spends[0]
    assert spend.step == COUNTS and spend.epsilon == 1.0 and spend.sensitivity == (2.0,)
    assert estimate.released[0].noisy.shape[-1] == 28


def test_the_sites_of_a_release_are_added_up_before_the_estimate():
    source = EventTimes(n_curves=2000, visits=5, n_servers=4, follow_up=1.0)
    (curve,) = survival_curves(released(source, 3.0))
    assert np.abs(curve.values - source.survival(np.arange(1, 6) / 5)).max() < 0.06


def test_an_adjusted_curve_at_visits_is_the_weighted_sum_of_those_of_groups():
    table = released(EventTimes(n_curves=2000, visits=4, comparison="strata"), 3.0)
    (adjusted,) = survival_curves(table)
    groups = survival_curves(replace(table, group_weights=()))
    assert adjusted.values == pytest.approx(np.mean([each.values for each in groups], axis=0))
    assert adjusted.limits.deviations.max() < max(g.limits.deviations.max() for g in groups)


def test_two_groups_at_visits_are_compared_and_not_tested():
    source = EventTimes(n_curves=2000, visits=4, comparison="hazard ratio")
    answer = counting_answer(source, NoisyCounts(), Budget(2.0), 1)
    assert answer.test is None and answer.hazard_ratio is None and answer.ordinary_test is None
    assert answer.contrasts is not None and np.isfinite(answer.contrasts.mean.difference)


def test_a_curve_ends_where_hardly_anybody_is_seen_any_more():
    cells = VisitCells(EDGES)
    counts = np.zeros((1, cells.size))
    counts[0, (cells.visits == (0, 4)).all(axis=1)] = 900
    counts[0, (cells.visits == (1, 4)).all(axis=1)] = 100
    (curve,) = survival_curves(CountTable(cells, counts, (1000.0,), (2.0,)))
    assert curve.drawn.tolist() == [True, False, False]
    assert curve.at_risk.tolist() == [1000, 100, 0, 0]
    assert (curve.low[1:] == 0).all()


def test_noise_is_most_of_the_variance_where_few_people_have_a_small_budget():
    few, many = (
        survival_curves(released(EventTimes(n_curves=n, visits=4), epsilon))[0]
        for n, epsilon in ((300, 0.5), (20_000, 3.0))
    )
    assert few.noise_share[0] > 0.3 > 0.1 > many.noise_share[0]


@pytest.mark.parametrize(
    ("facts", "field"),
    [
        ({}, "edges"),
        ({"edges": tuple(map(float, range(13)))}, "edges"),
        ({"edges": (0.0, 6.0, 12.0), "late_entry": True}, "entry"),
    ],
)
def test_visits_need_public_times_ten_at_most_and_no_late_entry(facts, field):
    with pytest.raises(InputError) as refused:
        EventFacts(time_high=12.0, at_visits=True, **facts)
    assert refused.value.field == field


def test_other_curves_are_not_computed_from_visits():
    facts = EventFacts(causes=("A", "B"), time_high=24.0, edges=EDGES, at_visits=True)
    with pytest.raises(InputError) as refused:
        ESTIMANDS["cumulative_incidence"].check_facts(facts)
    assert refused.value.field == "without"


def test_data_without_last_visits_are_refused():
    facts = EventFacts(time_high=24.0, edges=EDGES, at_visits=True)
    data = EventData(np.ones((1, 50)), np.ones((1, 50), dtype=int), np.zeros(50, dtype=int), facts)
    with pytest.raises(InputError) as refused:
        NoisyCounts().release(data, ONE, generator(1, 0, 0))
    assert refused.value.field == "without"


READING = {
    "frame": {"header": ["id", "free", "found"]},
    "person": {"column": "id"},
    "columns": {"without": {"name": "free"}, "time": {"name": "found"}},
}
TABLE = pd.DataFrame(
    {"id": ["a", "b", "c", "d"], "free": [6, None, 12, 24], "found": [12, 6, None, 12]}
)


def read(reading=READING, table=TABLE):
    return read_survival(
        table, reading=reading, follow_up=24, origin="a plan", time_unit="months", edges=EDGES
    )


def test_a_file_of_two_visits_is_read_without_a_status():
    source = read()
    assert source.facts.at_visits and source.serves("survival")
    assert not source.serves("cumulative_incidence")
    data = source.draw(1, generator(1, 0, 0))
    assert sorted(data.status[0].tolist()) == [0, 1, 1, 1]
    cells = VisitCells(EDGES)
    counts = cells.counts(data.time, data.status, None, data.server, 1, data.without)[0, 0, 0]
    found = {tuple(pair) for pair in cells.visits[counts > 0].tolist()}
    assert found == {(1, 2), (0, 1), (2, 4)}


def test_the_holder_hears_of_visits_that_are_missing_or_contradict_each_other():
    notes = " ".join(read().observations.notes)
    assert notes.count("1 people") == 3


@pytest.mark.parametrize("role", ["status", "entry"])
def test_a_status_or_an_entry_beside_two_visits_is_refused(role):
    more = {"name": "other"} | (
        {"kind": "word", "words": {"1": "x"}, "other": "censored"} if role == "status" else {}
    )
    reading = READING | {
        "frame": {"header": ["id", "free", "found", "other"]},
        "columns": READING["columns"] | {role: more},
    }
    with pytest.raises(InputError) as refused:
        read(reading, TABLE.assign(other=1))
    assert refused.value.field == role


def test_what_is_published_of_visits_names_both_of_every_cell():
    table = released(SIX)
    columns = count_columns(table, SIX.facts)
    assert columns["last without"][0] == 0 and columns["first with"][-1] == np.inf
    assert {len(column) for column in columns.values()} == {28}


def test_the_twin_of_stated_facts_is_seen_at_the_stated_visits():
    facts = EventFacts(time_high=24.0, edges=EDGES, at_visits=True)
    twin = EventTwin.of(facts, Sizes((4000,), 4000, 1), ESTIMANDS["survival"])
    data, truth = twin.simulated(1, generator(1, 0, 0))
    assert {*np.unique(data.without)} == {*EDGES}
    assert {*np.unique(data.time[~np.isnan(data.time)])} == {*EDGES[1:]}
    (curve,) = survival_curves(
        NoisyCounts().release(data, (Budget(3.0),), generator(1, 1, 0)).released[0].picked(0, 0)
    )
    at = np.interp(np.array(EDGES[1:]) / 24, drawing_grid(), truth[0])
    assert np.abs(curve.values - at).max() < 0.05


def test_questions_to_a_table_of_visits_send_no_message():
    table = released(SIX)
    with transcript.recorded() as messages:
        (curve,) = survival_curves(table)
        assert curve.median is not None and curve.mean is not None
    assert not messages


def test_the_holder_hears_of_times_that_are_at_no_stated_visit():
    assert not read().remarks()
    (remark,) = read(table=TABLE.assign(found=[12, 7, None, 9])).remarks()
    assert remark.startswith("2 recorded times")
