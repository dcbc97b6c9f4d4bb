"""`python -m engine ask` and `show`: the numbers of a page, and what is said where there are none."""

import json

import pytest

from engine.__main__ import main
from engine.commands import show as show_command
from engine.core.errors import InputError
from engine.core.types import Budget
from engine.mechanisms import mechanisms
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.questions import ask
from engine.questions.kinds import from_json, to_plain
from engine.sources.sparse_curves import SparseCurves
from engine.topics.compare.answer import at_budgets
from engine.topics.mean.answer import mean_answer, mean_over_budgets, with_budget

AT_MOST = "attacker’s accuracy, at most"  # name of a number of every answer

SOURCE = SparseCurves(n_curves=60, n_observations_per_curve=6)
MECHANISM = AdaptiveMean()


def asked(budget, source=SOURCE, mechanism=MECHANISM, seed=3):
    return ask(mean_answer, source, mechanism, budget, seed)


@pytest.mark.slow
def test_a_question_file_gives_the_numbers_of_the_picture(tmp_path, capsys):
    budget = Budget(2.0, 1e-4)
    question, file = asked(budget), tmp_path / "question.json"
    file.write_text(json.dumps(to_plain(question)), "utf-8")
    assert main(["ask", str(file), "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    picture = mean_over_budgets(SOURCE, MECHANISM, 1e-4, 3)
    assert plain == question.numbers(picture)
    at = picture.budgets.index(budget)
    assert plain["error"] == picture.study.error[at]
    assert plain["proved ε"] <= 2 and plain["proved δ"] == 1e-4
    assert main(["ask", str(file)]) == 0
    assert capsys.readouterr().out.strip() == question.text(picture)


@pytest.mark.slow
def test_a_view_file_of_earlier_versions_gives_the_same(tmp_path, capsys):
    file = tmp_path / "view.json"
    file.write_text(
        json.dumps(
            {
                "view": "curves",
                "scenario": {
                    "source": {
                        "key": "sparse_curves",
                        "parameters": {"n_curves": 60, "n_observations_per_curve": 6},
                    },
                    "mechanism": {"key": "adaptive_mean"},
                    "budgets": [{"epsilon": 2, "delta": 1e-4}],
                    "seed": 3,
                },
            }
        ),
        "utf-8",
    )
    question = asked(Budget(2.0, 1e-4))
    answer = question.answer()
    assert main(["show", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == question.numbers(answer)
    assert main(["show", str(file)]) == 0
    assert capsys.readouterr().out.strip() == question.text(answer)


@pytest.mark.slow
def test_a_budget_between_the_steps_is_put_among_them():
    question = asked(Budget(0.7, 1e-4))
    steps = mean_over_budgets(SOURCE, MECHANISM, 1e-4, 3)
    wanted = question.numbers(with_budget(steps, SOURCE, MECHANISM, 3, 0.7))
    assert question.numbers(question.answer()) == pytest.approx(wanted, nan_ok=True)


@pytest.mark.parametrize("key", ["bernstein", "noisy_gradient_mean"])
def test_a_method_with_and_without_tuning_has_numbers_between_the_steps(key):
    method = mechanisms.build(key, {})
    budget = method.suited(Budget(0.7, 1e-4))
    picture = mean_answer(SOURCE, method, budget, 1)
    at = picture.budgets.index(budget)
    assert len(picture.tuning) == len(picture.budgets)
    assert asked(budget, SOURCE, method).numbers(picture)["proved ε"] == picture.budgets[at].epsilon


def test_where_nothing_would_be_published_no_error_is_claimed(tmp_path, capsys):
    source, budget = SparseCurves(n_curves=20, n_observations_per_curve=3), Budget(0.05, 1e-4)
    question = asked(budget, source, seed=1)
    picture = question.answer()
    assert picture.is_refused(0)
    result = question.numbers(picture)
    hidden = {name for name, value in result.items() if value != value}
    assert {"error", "95 % of releases within"} <= hidden
    assert result[AT_MOST] < 0.53
    file = tmp_path / "question.json"
    file.write_text(json.dumps(to_plain(question)), "utf-8")
    assert main(["ask", str(file), "--json"]) == 0
    plain = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert {name for name, value in plain.items() if value is None} == hidden


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no", "not valid JSON"),
        ("[]", "no view"),
        ('{"view": "nothing"}', "no view"),
        ('{"view": "curves"}', "lacks"),
        ('{"view": "plan", "scenario": {}}', "no “source”"),
        ('{"view": "sites"}', "incomplete"),
        ('{"view": []}', "no view"),
        ('{"view": "rate", "rate": {"key": "univariate_mean", "parameters": {}}}', "lacks"),
    ],
)
def test_what_is_no_view_is_told_in_one_sentence(text, said):
    with pytest.raises(InputError, match=said):
        show_command.from_json(text)


def test_a_missing_file_is_told_and_is_no_fault(tmp_path, capsys):
    for command in ("ask", "show"):
        assert main([command, str(tmp_path / "nothing.json")]) == 2
        assert "Cannot read" in capsys.readouterr().err


def methods(*epsilons, units=1):
    others = mechanisms.build("noisy_gradient_mean", {"scheme": "split", "n_iterations": 500})
    return ask(at_budgets, SOURCE, (MECHANISM, others), epsilons, 1e-4, 1, units)


@pytest.mark.slow
def test_methods_side_by_side_leave_out_those_that_refuse_and_count_all_units_of_a_person():
    alone, together = (
        question.numbers(question.answer())
        for question in (methods(1.0, units=units) for units in (1, 3))
    )
    assert {name.split(":")[0] for name in alone} == {"ε = 1, Adaptive mean", "Adaptive mean"}
    right = "ε = 1, Adaptive mean: attacker’s accuracy, at most"
    assert 0.5 < alone[right] < together[right]


def test_methods_are_compared_at_steps_of_the_slider_alone():
    question = from_json(json.dumps(to_plain(methods(0.5)) | {"epsilons": [0.7]}))
    with pytest.raises(InputError, match="no step"):
        question.answer()
