"""The decision memo: one page that stands alone, true and free of markup from outside."""

from dataclasses import replace

import pytest

from engine.core.types import PublicFacts
from engine.exports import memo
from engine.language import odds_words
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.sources.sparse_curves import SparseCurves
from engine.topics.planning import words as planning_words
from engine.topics.planning.answer import PlannedStudy, protection
from tests.unit.test_planner import answer

pytestmark = pytest.mark.usefixtures("few_data_sets")

HERE = PlannedStudy(SparseCurves(mean="growth"), AdaptiveMean(), 1.0, 150, 10)
FACTS = HERE.source.facts


def test_the_memo_holds_the_answer_the_odds_the_accuracy_and_the_alternatives():
    found = answer(HERE, "epsilon", 2.0)
    page = memo.decision_memo(HERE, found, FACTS).decode()
    assert f"<b>ε = {found.value:g} is enough</b>" in page
    assert "an attacker knows the curve of every child but one" in page
    assert "root mean squared distance" in page
    assert "Not covered:" in page and "One child’s whole curve" in page
    for row in (*found.steps, found.reached):
        assert planning_words.step(row, "epsilon", FACTS)[1] in page
    for row, given in found.rows():
        assert given == protection(row.setting)
        assert f"<td>{odds_words.odds_short(given.odds)}</td>" in page
    assert page.count("<td>the answer</td>") == 1
    assert "http:" not in page and "https:" not in page and "<script" not in page


@pytest.mark.slow
def test_the_memo_of_an_impossible_plan_says_no_and_what_would_do():
    few = replace(HERE, people=20)
    found = answer(few, "epsilon", 0.5)
    page = memo.decision_memo(few, found, FACTS).decode()
    assert "verdict no" in page and "<b>Not possible.</b>" in page
    assert "it would work" in page and "One step either way" not in page


def test_words_of_a_person_cannot_become_markup():
    found = answer(HERE, "error", 1.0)
    evil = PublicFacts(
        **{
            **FACTS.__dict__,
            "person": "<script>x</script>",
            "people": "a*b_c$",
            "value_unit": "<b>cm",
        }
    )
    page = memo.decision_memo(HERE, found, evil).decode()
    assert "<script" not in page and "&lt;script&gt;" in page
    assert "a*b_c$" in page and "&lt;b&gt;cm" in page
