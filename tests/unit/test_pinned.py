"""Scenarios side by side: differences, warnings where ε or errors mean other things, the memo."""

import dataclasses
import math

import pytest

from engine.core.types import Budget, PublicFacts, Spend, Step
from engine.exports import memo
from engine.privacy import accounting
from engine.topics.brief import Brief
from engine.topics.pins import answer as pins_topic
from engine.topics.pins.answer import Pinned
from tests.sentences import of_topic

wording = of_topic("compare")

FACTS = PublicFacts(name="Growth, simulated", person="child", people="children", value_unit="cm")


def spends(mu, budget, unit="curve"):
    return (
        Spend(
            step=Step("average"),
            server=0,
            mu=mu,
            sensitivity=(1.0,),
            noise_scale=(1 / mu,),
            count=1,
            composition="sequential",
            budget=budget,
            why="",
            unit=unit,
            noise="gaussian",
        ),
    )


def pin(name="A", epsilon=1.0, delta=1e-5, unit="curve", page="Explore", **changes):
    budget = Budget(epsilon, delta)
    usual = {
        "facts": FACTS,
        "protects": "One child’s whole curve",
        "method": "Adaptive mean",
        "people": 200,
        "budget": budget,
        "error": 2.0,
        "within": math.nan,
        "budgets": f"ε = {epsilon:g}",
        "error_unit": "cm",
        "spends": spends(accounting.exact_mu(epsilon, max(delta, 1e-5)), budget, unit),
    }
    of_brief = {field.name for field in dataclasses.fields(Brief)}
    brief = Brief(**usual | {key: changes.pop(key) for key in of_brief & {*changes}})
    return Pinned(name, page, brief, **changes)


def row(pins, name):
    table = pins_topic.table(pins)
    at = table[""].index(name)
    return [column[at] for column in list(table.values())[1:]]


def test_a_scenario_beside_itself_shows_no_differences_and_no_warnings():
    same = [pin("A"), pin("B")]
    assert row(same, "ε") == ["1", "1"]
    assert row(same, "Error") == ["2.00 cm", "2.00 cm (no change)"]
    assert row(same, "Attacker’s accuracy")[1].endswith("(no change)")
    assert pins_topic.warnings(same) == []


def test_differences_are_against_the_first():
    pins = [pin("A"), pin("B", epsilon=2.0, people=500, error=3.0), pin("C", error=9.0)]
    assert row(pins, "ε") == ["1", "2 (2 times)", "1"]
    assert row(pins, "How many") == ["200", "500 (2.5 times)", "200"]
    assert row(pins, "Error") == ["2.00 cm", "3.00 cm (+50\u00a0%)", "9.00 cm (4.5 times)"]
    first, second, _ = row(pins, "Attacker’s accuracy")
    assert int(second.split("+")[1][:-1]) == int(second.split()[2]) - int(first.split()[2]) > 0


def test_where_nothing_is_published_the_table_says_so():
    pins = [pin("A", error=math.nan), pin("B")]
    assert row(pins, "Error") == [pins_topic.NOTHING, "2.00 cm"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"unit": "reading"}, "Different units of protection"),
        ({"delta": 1e-7}, "Different δ"),
        ({"population": 2000}, "A declares none, B declares one of 2\u202f000"),
        ({"group": 3}, "Odds for different numbers"),
        ({"facts": dataclasses.replace(FACTS, name="Smooth wave")}, "Errors of different things"),
        ({"estimated": "density"}, "Errors of different things"),
    ],
)
def test_what_cannot_be_compared_is_warned_of_and_nothing_else(changes, words):
    result = pins_topic.warnings([pin("A"), pin("B", **changes)])
    assert len(result) == 1 and words in result[0]


def test_a_promise_that_cannot_fail_beside_one_that_can_is_warned_of():
    pure = pin(
        "B",
        delta=0.0,
        spends=(
            dataclasses.replace(spends(1.0, Budget(1.0))[0], mu=None, epsilon=1.0, noise="laplace"),
        ),
    )
    wording.found("b has δ", pins_topic.warnings([pin(), pure])[0], 0)


def test_errors_of_other_things_are_never_shown_as_a_difference():
    other = pin("B", facts=dataclasses.replace(FACTS, name="Smooth wave"), error=40.0)
    wording.found("cm other things", row([pin("A"), other], "Error")[1], 40.0, alone=True)


def test_the_memo_holds_the_table_the_warnings_and_each_in_words_and_no_markup_from_outside():
    evil = dataclasses.replace(FACTS, name="<script>x</script>")
    pins = [pin("A"), pin("B", epsilon=2.0, delta=1e-7, facts=evil)]
    page = memo.comparison_memo(pins).decode()
    assert "<td>2.00 cm</td>" in page and "2 (2 times)" in page
    assert "Different δ" in page and page.count("an attacker knows the curve of every child") == 2
    wording.found("compare attacker’s accuracy", page)
    assert "is the default" not in page
    wording.found("chosen", page, "1×10⁻⁵")
    assert "δ is above" not in page
    large = memo.comparison_memo(
        [pin("A"), pin("B", delta=1e-2), pin("C", delta=1 / 200**2)]
    ).decode()
    assert "δ is large" in large
    wording.found("default people", large, 200)
    assert "<script" not in page and "&lt;script&gt;" in page and "http:" not in page
