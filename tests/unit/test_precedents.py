"""Budgets of others, and a rule of one's own."""

import pytest

from engine.core.types import Budget
from engine.exports.memo import decision_memo
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.sources.sparse_curves import SparseCurves
from engine.topics.planning import precedents
from engine.topics.planning.answer import Measured, PlannedStudy, PlanningAnswer, protection
from pages.shared.components.figure import Anchor, placed

SETTING = PlannedStudy(SparseCurves(mean="growth"), AdaptiveMean(), 2.5, 200, 10)


def memo(rule=None):
    reached = Measured(SETTING, 1.0, 0.01)
    answer = PlanningAnswer("epsilon", 1.0, 2.5, 2.4, 2.6, reached, protection=protection(SETTING))
    return decision_memo(SETTING, answer, SETTING.source.facts, rule).decode()


def test_every_precedent_names_its_budget_its_unit_and_a_source():
    assert [one.budget.epsilon for one in precedents.PRECEDENTS] == sorted(
        one.budget.epsilon for one in precedents.PRECEDENTS
    )
    for one in precedents.PRECEDENTS:
        assert one.budget.is_private and one.unit and one.source
    assert len({len(column) for column in precedents.table().values()}) == 1


def test_the_nearest_precedents_are_so_by_ratio():
    assert [one.budget for one in precedents.nearest(2.2)] == [
        Budget(1.68),
        Budget(2.19, 1e-5),
        Budget(2.64),
    ]
    assert precedents.nearest(0.01, 1)[0].budget.epsilon == 1.68


@pytest.mark.parametrize(
    ("epsilon", "rule", "said"),
    [(2.0, None, False), (2.0, 2.0, False), (2.0, 1.9, True), (0.1, 5.0, False)],
)
def test_a_budget_above_ones_own_rule_is_pointed_out(epsilon, rule, said):
    assert bool(precedents.beyond_rule(epsilon, rule)) is said


def test_the_memo_sets_the_budget_beside_a_rule_and_precedents_without_advice():
    assert "above your own rule" in memo(2.0) and "Within our own rule" in memo(3.0)
    plain = memo()
    assert "No rule of our own" in plain and "ε = 2.64" in plain
    assert "Not comparable as they stand" in plain


def test_marks_stand_where_the_slider_has_their_epsilon_and_none_beyond_it():
    steps = ["0.1", "1", "10"]
    marks = placed(
        [
            Anchor(epsilon, "help", "word", is_own=epsilon == 1.0)
            for epsilon in (0.1, 1.0, 10**0.5, 17.0, 0.01)
        ],
        steps,
    )
    assert [mark["at"] for mark in marks] == [0.0, 0.5, 0.75]
    assert [mark["is_own"] for mark in marks] == [False, True, False]
