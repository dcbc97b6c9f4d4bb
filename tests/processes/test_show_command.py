"""`python -m engine show`: the numbers of a page, and what is said where there are none."""

import json

import pytest

from engine.__main__ import main
from engine.commands import show as show_command
from engine.errors import InputError
from engine.exports import code_for
from engine.mechanisms import mechanisms
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.sources.sparse_curves import SparseCurves
from engine.types import Budget
from engine.views import shown
from engine.views.planner import Setting
from engine.views.preview import at_budget, preview, with_own_budget

SOURCE = SparseCurves(n_curves=60, n_observations_per_curve=6)
MECHANISM = AdaptiveMean()


def view_of(code):
    return code.command.split("<<'END'\n")[1].removesuffix("\nEND")


def test_a_view_file_gives_the_numbers_of_the_picture(tmp_path, capsys):
    budget = Budget(2.0, 1e-4)
    file = tmp_path / "view.json"
    file.write_text(view_of(code_for.curves(SOURCE, MECHANISM, budget, 3)), "utf-8")
    assert main(["show", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    picture = preview(SOURCE, MECHANISM, 1e-4, 3)
    assert found == shown.curves(picture, budget)
    at = picture.budgets.index(budget)
    assert found["error"] == picture.study.error[at]
    assert found["proved ε"] <= 2 and found["proved δ"] == 1e-4
    assert main(["show", str(file)]) == 0
    assert capsys.readouterr().out.strip() == shown.lines(found)


def test_a_budget_between_the_steps_is_put_among_them():
    budget = Budget(0.7, 1e-4)
    steps = preview(SOURCE, MECHANISM, 1e-4, 3)
    wanted = shown.curves(with_own_budget(steps, SOURCE, MECHANISM, 3, 0.7), budget)
    assert shown.curves(at_budget(SOURCE, MECHANISM, budget, 3), budget) == pytest.approx(
        wanted, nan_ok=True)


@pytest.mark.parametrize("key", ["bernstein", "noisy_gradient_mean"])
def test_a_method_with_and_without_tuning_has_numbers_between_the_steps(key):
    method = mechanisms.build(key, {})
    budget = Budget(0.7, 0.0 if method.guarantee == "pure" else 1e-4)
    picture = at_budget(SOURCE, method, budget, 1)
    at = picture.budgets.index(budget)
    assert len(picture.tuning) == len(picture.budgets)
    assert shown.curves(picture, budget)["proved ε"] == picture.budgets[at].epsilon


def test_where_nothing_would_be_published_no_error_is_claimed():
    source, budget = SparseCurves(n_curves=20, n_observations_per_curve=3), Budget(0.05, 1e-4)
    picture = at_budget(source, MECHANISM, budget, 1)
    assert picture.is_refused(0)
    found = shown.curves(picture, budget)
    hidden = [name for name, value in found.items() if value != value]
    assert {"error", "95 % of releases within"} <= set(hidden)
    assert found["right guess, at most"] < 0.53


@pytest.mark.parametrize(("text", "said"), [
    ("no", "not valid JSON"), ('{"view": "nothing"}', "no view"), ('{"view": "curves"}', "lacks"),
    ('{"view": "rate", "rate": {"key": "univariate_mean", "parameters": {}}}', "lacks")])
def test_what_is_no_view_is_told_in_one_sentence(text, said):
    with pytest.raises(InputError, match=said):
        show_command.numbers(text)


def test_an_unknown_dial_is_named():
    setting = Setting.of(SOURCE, MECHANISM, 1.0)
    view = json.loads(view_of(code_for.plan(setting, "epsilon", 1.0, 1))) | {"unknown": "luck"}
    with pytest.raises(InputError, match="luck"):
        show_command.numbers(json.dumps(view))


def test_a_missing_file_is_told_and_is_no_fault(tmp_path, capsys):
    assert main(["show", str(tmp_path / "nothing.json")]) == 2
    assert "Cannot read" in capsys.readouterr().err


def methods_view(*epsilons, units=1):
    methods = (MECHANISM, mechanisms.build("noisy_gradient_mean", {"scheme": "split",
                                                                   "n_iterations": 500}))
    return view_of(code_for.methods(SOURCE, methods, epsilons, 1e-4, 1, units=units))


def test_methods_side_by_side_leave_out_those_that_refuse_and_count_all_units_of_a_person():
    alone, together = (show_command.numbers(methods_view(1.0, units=units)) for units in (1, 3))
    assert {name.split(":")[0] for name in alone} == {"ε = 1, Adaptive mean", "Adaptive mean"}
    right = "ε = 1, Adaptive mean: right guess, at most"
    assert 0.5 < alone[right] < together[right]


def test_methods_are_compared_at_steps_of_the_slider_alone():
    with pytest.raises(InputError, match="no step"):
        show_command.numbers(methods_view(0.7))
