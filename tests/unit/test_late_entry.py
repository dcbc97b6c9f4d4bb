"""Late entry and adjusted curves: what is counted, what follows, and what the ledger says."""

import io
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from engine.api import read_survival
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.random_streams import generator
from engine.core.types import Budget, EventData, EventFacts
from engine.language.counts import begins_late, too_few
from engine.mechanisms.noisy_counts import COUNTS, ENTRIES, NoisyCounts, usual_intervals
from engine.numerics.counts.cells import Cells, EntryCells, entered
from engine.numerics.counts.curves import survival_curves
from engine.numerics.counts.life_tables import LifeTable, life_tables
from engine.numerics.counts.tables import CountTable
from engine.numerics.product_limit import kaplan_meier
from engine.sources.event_times import EventTimes
from engine.topics.counting import charts, live, words
from engine.topics.counting.answer import counting_answer
from tests.sentences import of_topic

wording = of_topic("counting")
ONE = (Budget(1.0),)
LATE = EventTimes(n_curves=1000, late_share=0.6, follow_up=1.0)
STRATA = EventTimes(n_curves=800, comparison="strata", follow_up=1.0)


def by_hand(time, status, entry, points):
    """Survival by risk sets that are counted one by one."""
    events = np.unique(time[status == 1])
    factors = [
        1 - ((time == t) & (status == 1)).sum() / ((entry < t) & (time >= t)).sum() for t in events
    ]
    return np.array(
        [np.prod([f for f, t in zip(factors, events, strict=True) if t <= p]) for p in points]
    )


def noiseless(data, **settings):
    """The table of the data without noise, with the mechanism's cells."""
    mechanism = NoisyCounts(**settings)
    plan = mechanism.plan(data.public, (Budget(1e3),))
    exits, entries = mechanism.counts(data, plan)[:, 0], mechanism.entries(data, plan)[:, 0]
    return plan.table(exits, entries).picked(0).without_noise()


def test_four_people_of_whom_three_enter_late_have_the_curve_of_their_risk_sets():
    """.75, .5, 0 would take durations for times."""
    time, status = np.array([3.0, 5.0, 6.0, 8.0]), np.array([1, 0, 1, 1])
    entry = np.array([0.0, 2.0, 4.0, 1.0])
    exact = kaplan_meier(time, status, np.array([2.9, 3.0, 6.0, 8.0]), entry=entry)[0]
    assert exact == pytest.approx([1, 2 / 3, 1 / 3, 0])
    facts = EventFacts(time_high=10.0, edges=tuple(map(float, range(11))), late_entry=True)
    data = EventData(time[None], status[None], np.zeros(4, int), facts, entry=entry[None])
    (life,) = life_tables(noiseless(data), min_at_risk=0)
    assert life.survival[[2, 5, 7]] == pytest.approx([2 / 3, 1 / 3, 0], abs=1e-9)


@pytest.mark.parametrize(("intervals", "off"), [(9, 0.008), (20, 0.002), (60, 0.001)])
def test_without_noise_the_table_is_that_of_risk_sets_with_entry(intervals, off):
    data = LATE.draw(1, generator(3, 0, 0))
    table = noiseless(data, intervals=intervals)
    edges = np.asarray(table.cells.edges[1:])
    (life,) = life_tables(table)
    true = by_hand(data.time[0], data.status[0], data.entry[0], edges)
    shown = edges <= 0.8
    assert np.sqrt(np.mean((life.survival - true)[shown] ** 2)) < off
    ignored = kaplan_meier(data.time[0], data.status[0], edges)[0]
    assert np.abs(ignored - true).max() > 0.05


def test_the_ordinary_curve_with_entry_is_that_of_risk_sets_counted_one_by_one():
    rng = np.random.default_rng(4)
    time = rng.integers(1, 30, 200).astype(float)
    entry, status = rng.integers(0, 12, 200).astype(float), rng.integers(0, 2, 200)
    seen = entry < time
    seen[:20] = True
    entry[:20] = 0.0
    time, status, entry = time[seen], status[seen], entry[seen]
    points = np.arange(0.5, 30)
    found = kaplan_meier(time, status, points, entry=entry)[0]
    assert found == pytest.approx(by_hand(time, status, entry, points))
    assert kaplan_meier(time, status, points, entry=np.zeros(len(time)))[0] == pytest.approx(
        kaplan_meier(time, status, points)[0]
    )


def test_if_all_enter_at_the_start_the_curve_is_the_usual_one_at_the_budget_of_exits():
    data = EventTimes(n_curves=500).draw(1, generator(1, 0, 0))
    facts = replace(data.facts, late_entry=True)
    late = replace(data, facts=facts, entry=np.zeros_like(data.time))
    share, k = 0.35, usual_intervals(500, 1.0)
    usual = NoisyCounts(intervals=k).release(data, (Budget(1 - share),), generator(1, 1, 0))
    table = NoisyCounts().release(late, ONE, generator(1, 1, 0)).released[0]
    exact = np.zeros_like(table.entries.noisy)
    exact[..., 0] = 500
    table = replace(table, entries=replace(table.entries, noisy=exact, scales=(0.0,)))
    assert (table.noisy == usual.released[0].noisy).all()
    (with_entry,), (without,) = life_tables(table), life_tables(usual.released[0])
    assert with_entry.survival == pytest.approx(without.survival, abs=1e-12)
    assert with_entry.at_risk[..., :-1] == pytest.approx(without.at_risk[..., :-1], abs=1e-9)


def test_gradients_by_both_tables_are_those_of_differences():
    cells = Cells((0.0, 1.0, 2.0, 3.0))
    exits, entries = np.array([9.0, 7, 4, 2, 3, 5, 30]), np.array([30.0, 12, 8, 6, 4])
    life = LifeTable(exits, cells, entered=entries)

    def along(name, counts):
        each = np.eye(len(counts)) * 1e-5
        ends = [replace(life, **{name: counts + sign * each}).survival for sign in (1, -1)]
        return (ends[0] - ends[1]).T / 2e-5

    assert life.survival_gradient == pytest.approx(along("counts", exits), abs=1e-8)
    assert life.entry_gradient == pytest.approx(along("entered", entries), abs=1e-8)


ENDS = [-np.inf, -1.0, 0.0, 0.3, 1.0, 1.7, 2.0, 2.1, np.inf, np.nan]


def test_one_person_moves_each_table_by_two_at_most_and_both_by_two_somewhere():
    """Over all pairs of rows: ℓ₁ of exits over b_out and of entries over b_in add up to ε."""
    exits, entries = Cells((0.0, 1.0, 2.0), n_groups=3), EntryCells((0.0, 1.0, 2.0), n_groups=3)
    rows = list(product(ENDS, [-1, 0, 1, 9], ENDS, [0, 1, 2, 7]))
    time, status, entry, group = (np.array(column) for column in zip(*rows, strict=True))
    out, come_in = (
        np.eye(cells.size * cells.n_groups)[cells.of_rows(when, status, group)]
        for cells, when in ((exits, time), (entries, entered(entry, time)))
    )
    pick = np.random.default_rng(1).integers(len(rows), size=(2, 20_000))
    moved = [np.abs(each[pick[0]] - each[pick[1]]).sum(axis=1) for each in (out, come_in)]
    assert set(np.unique(moved)) == {0.0, 2.0}
    assert (np.add(*moved) == 4.0).any()
    assert (come_in.max(axis=0) == 1).all()  # every cell of entries is somebody's


def test_an_entry_is_a_function_of_its_row_alone_and_never_after_the_exit():
    entry = np.array([np.nan, 5.0, 1.0, -2.0, np.inf, 1.0])
    exits = np.array([2.0, 2.0, 2.0, 2.0, np.inf, np.nan])
    assert entered(entry, exits).tolist() == [-np.inf, 2.0, 1.0, -2.0, np.inf, -np.inf]


def test_the_ledger_has_a_line_for_each_table_and_both_together_cost_epsilon():
    data = LATE.draw(1, generator(1, 0, 0))
    lines = NoisyCounts().release(data, (Budget(0.8, 1e-6),), generator(1, 1, 0)).spends[0]
    assert [line.step for line in lines] == [ENTRIES, COUNTS]
    assert [line.epsilon for line in lines] == pytest.approx([0.35 * 0.8, 0.65 * 0.8])
    assert [line.noise_scale[0] * line.epsilon for line in lines] == pytest.approx([2, 2])
    with pytest.raises(InputError, match="must lie between"):
        NoisyCounts(entry_share=0.05)


def few_at_first(late=0.0):
    """Exits and entries of 300 people, of whom nobody is there before the second interval."""
    cells = Cells((0.0, 1.0, 2.0, 3.0, 4.0))
    exits = np.array([[2.0, 10, 20, 20, 0, 10, 20, 20, 198]])
    entries = np.array([[4.0, 196, 100, 0, 0, 0]])
    of_entries = CountTable(EntryCells(cells.edges), entries, (300.0,), (late,))
    return CountTable(cells, exits, (300.0,), (late,), entries=of_entries)


def test_where_few_are_there_at_the_start_the_curve_begins_later_and_says_so():
    (curve,) = survival_curves(few_at_first())
    assert float(curve.first) == 1.0 and curve.values[0] == 1.0 and curve.drawn.all()
    assert curve.low[0] == curve.high[0] == 1.0
    assert curve.values[1] == pytest.approx(1 - 10 / (198 + 50 - 5))
    said = begins_late([curve], EventFacts(time_high=4.0, time_unit="years"))
    wording.found("curve begins", said, 1)


def test_nothing_is_shown_where_there_are_never_enough():
    table = few_at_first()
    (curve,) = survival_curves(replace(table, entries=table.entries), min_at_risk=500)
    assert not curve.drawn.any() and float(curve.first) == 0.0


def test_noises_of_both_tables_are_independent_even_where_they_have_as_many_cells():
    cells = Cells((0.0, 1.0))
    of_entries = CountTable(EntryCells(cells.edges), np.ones((1, 3)), (3.0,), (2.0,))
    exits = CountTable(cells, np.ones((1, 3)), (3.0,), (2.0,))
    one = np.array([[[1.0, 0, 0]]])
    together = np.corrcoef(exits.noise_errors(one)[0], of_entries.noise_errors(one)[0])
    assert abs(together[0, 1]) < 5 / np.sqrt(1000)


@pytest.mark.parametrize("task", ["cumulative_incidence"])
def test_late_entry_and_weights_are_refused_where_no_errors_are_known(task):
    for source in (LATE, STRATA):
        with pytest.raises(InputError, match="Only survival curves"):
            NoisyCounts(task=task).plan(source.public, ONE)


# -- adjusted curves -------------------------------------------------------------------------------


def test_an_adjusted_curve_is_the_weighted_sum_with_the_error_of_that_sum():
    data = STRATA.draw(1, generator(2, 0, 0))
    estimate = NoisyCounts().release(data, ONE, generator(2, 1, 0))
    table = estimate.released[0].picked(0, 0)
    (adjusted,) = survival_curves(table)
    alone = survival_curves(replace(table, group_weights=()))
    assert len(alone) == 4 and estimate.functions == ()
    assert adjusted.values == pytest.approx(sum(each.values for each in alone) / 4)
    off = sum(each.limits.errors for each in alone) / 4
    assert adjusted.limits.errors == pytest.approx(off)
    assert (adjusted.drawn <= np.logical_and.reduce([each.drawn for each in alone])).all()
    ended_by = int(adjusted.ended_by)
    counts = [int(each.enough.sum()) for each in alone]
    assert counts[ended_by] == min(counts)
    assert data.facts.groups[ended_by] in too_few([adjusted], data.facts)
    assert estimate.coefficients.shape[-1] == len(drawing_grid())


def test_an_adjusted_curve_has_the_intervals_and_the_whole_budget_of_its_smallest_stratum():
    plan = NoisyCounts().plan(STRATA.public, ONE)
    assert plan.cells.n_intervals == usual_intervals(80, 1.0) and plan.cells.n_groups == 4
    (line,) = plan.spends
    assert (line.epsilon, line.sensitivity) == (1.0, (2.0,))


@pytest.mark.parametrize(
    "change",
    [
        {"group_weights": (0.5, 0.5)},
        {"group_weights": (0.3, 0.3, 0.3, 0.2)},
        {"group_weights": (0.5, 0.7, -0.2, 0.0)},
        {"groups": tuple(map(str, range(13))), "group_sizes": (), "group_weights": ()},
        {"groups": ("one",), "group_sizes": (), "group_weights": ()},
    ],
)
def test_weights_are_shares_of_two_to_twelve_groups(change):
    with pytest.raises(InputError) as refused:
        replace(STRATA.facts, **change)
    assert refused.value.field in ("group_weights", "groups")


def test_time_of_late_entry_counts_from_zero_and_edges_may_begin_later():
    with pytest.raises(InputError) as refused:
        EventFacts(time_low=50.0, time_high=90.0, late_entry=True)
    assert refused.value.field == "time_low"
    stated = EventFacts(time_high=90.0, edges=(0.0, 50.0, 70.0, 90.0), late_entry=True)
    assert stated.edges[1] == 50


def test_facts_of_earlier_plans_are_written_as_they_were():
    plain = EventTimes().facts.to_plain()
    assert not {"group_weights", "late_entry"} & plain.keys()
    assert EventFacts.from_plain(STRATA.facts.to_plain()) == STRATA.facts
    assert EventFacts.from_plain(LATE.facts.to_plain()) == LATE.facts


# -- in Lab ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [LATE, STRATA], ids=["late entry", "strata"])
def test_a_page_has_a_curve_its_sentences_and_no_test_of_groups(source):
    answer = counting_answer(source, NoisyCounts(), ONE[0], 1)
    assert answer.test is None and answer.hazard_ratio is None and not answer.has_groups
    assert answer.error < 0.05 and words.band(answer) and words.test(answer) == ""
    assert len(charts.curve(answer).spec["data"]) > 4 and live.figure_payload([answer])
    if source is LATE:
        assert len(words.entries(answer)["noised count"]) == answer.table.entries.cells.size
    else:
        assert words.entries(answer) == {}
        assert any(name in words.band(answer) for name in source.facts.groups)


def test_two_groups_who_enter_late_are_compared_by_milestones_and_means_alone():
    source = EventTimes(n_curves=2000, late_share=0.6, comparison="hazard ratio")
    answer = counting_answer(source, NoisyCounts(), ONE[0], 1)
    assert answer.test is None and answer.has_groups
    difference = answer.contrasts.milestone
    until = difference.until / source.follow_up
    true = source.survival(np.array([until]))[:, 0]
    assert abs(float(difference.difference) - (true[0] - true[1])) < 3 * float(
        difference.half_width
    )
    assert "Control minus Treatment" in words.test(answer)


def test_a_file_with_late_entry_serves_survival_and_no_other_curve():
    text = "id,came,left,end\n" + "".join(f"{k},{k % 3},{4 + k % 5},{k % 3}\n" for k in range(40))
    ends = {"name": "end", "kind": "word", "words": {"1": "a", "2": "b"}, "other": "censored"}
    source = read_survival(
        pd.read_csv(io.StringIO(text), dtype=str),
        reading={
            "frame": {"header": ["id", "came", "left", "end"]},
            "person": {"column": "id"},
            "columns": {"entry": {"name": "came"}, "time": {"name": "left"}, "status": ends},
        },
        follow_up=10,
        origin="a plan",
    )
    assert source.facts.late_entry and source.serves("survival")
    assert not source.serves("cumulative_incidence")
