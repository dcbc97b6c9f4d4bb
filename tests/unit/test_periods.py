"""Releases over time: what each period may spend, and what is said of it."""

import json
import math

import pytest

from engine import __main__
from engine.core.errors import InputError
from engine.core.types import Budget
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.privacy import accounting, transcript
from engine.running.steps import result_of
from engine.sources.sparse_curves import SparseCurves
from engine.topics.planning.answer import PlannedStudy
from engine.topics.planning.periods import periods, planned

TOTAL = Budget(3.0, 1e-6)


@pytest.mark.parametrize("count", range(1, 61))
def test_each_period_spends_the_most_that_keeps_the_total(count):
    whole = accounting.exact_mu(TOTAL.epsilon, TOTAL.delta) ** 2
    spent = count * periods(TOTAL, count).mu ** 2
    assert whole * (1 - 1e-9) < spent <= whole
    more = Budget(periods(TOTAL, count).each.epsilon * (1 + 1e-8), TOTAL.delta)
    assert count * accounting.exact_mu(more.epsilon, more.delta) ** 2 > whole


@pytest.mark.parametrize(
    ("epsilon", "count", "each", "for_curve", "for_spread"),
    [
        (1, 12, 0.264, 513, 2196),
        (1, 36, 0.147, 888, 3803),
        (3, 12, 0.776, 188, 803),
        (3, 36, 0.431, 325, 1390),
        (6, 12, 1.51, 102, 435),
        (6, 36, 0.83, 176, 753),
    ],
)
def test_budgets_and_people_of_a_period_are_those_of_the_table(
    epsilon, count, each, for_curve, for_spread
):
    plan = periods(Budget(epsilon, 1e-6), count)
    assert plan.each.epsilon == pytest.approx(each, rel=5e-3)
    assert (plan.people_for(35), plan.people_for(150)) == (for_curve, for_spread)


def test_a_plan_over_time_sends_no_message():
    with transcript.recorded() as messages:
        for count in (3, 12, 36):
            assert periods(TOTAL, count).people_for(35) > 0
    assert not messages


def test_who_leaves_after_a_year_leaves_more_for_each_month():
    always, a_year = periods(TOTAL, 36), periods(TOTAL, 36, 12)
    assert a_year.each == periods(TOTAL, 12).each
    assert a_year.each.epsilon > always.each.epsilon > always.even_share


@pytest.mark.parametrize(
    ("total", "count", "stays"),
    [(TOTAL, 0, None), (TOTAL, 1001, None), (TOTAL, 12, 0), (TOTAL, 12, 13), (Budget(3.0), 12, 1)],
)
def test_what_cannot_be_planned_is_refused(total, count, stays):
    with pytest.raises(InputError):
        periods(total, count, stays)


def test_fewer_releases_err_less_and_the_attacker_sees_all_periods():
    setting = PlannedStudy.of(SparseCurves(n_curves=1000), AdaptiveMean(), 3.0, 1e-6)
    plan = result_of(planned(setting, 36))
    assert [choice.n_periods for choice, _ in plan.fewer] == [12, 3, 2]
    errors = [plan.error.error, *(each.error for _, each in plan.fewer)]
    assert all(math.isfinite(error) for error in errors) and errors == sorted(errors)[::-1]
    assert 0.5 < plan.attacker_accuracy < 1


def test_the_command_plans_a_scenario_over_time(tmp_path, capsys):
    scenario = {
        "source": {"key": "sparse_curves", "parameters": {"n_curves": 400}},
        "mechanism": {"key": "adaptive_mean"},
        "budgets": [{"epsilon": 3.0, "delta": 1e-6}],
    }
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(scenario))
    assert __main__.main(["plan", str(file), "--periods", "12", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["epsilon"] == periods(TOTAL, 12).each.epsilon
    assert [row["periods"] for row in plan["fewer"]] == [4, 2]
    assert __main__.main(["plan", str(file), "--periods", "12", "--stays", "3"]) == 0
    assert capsys.readouterr().out
