"""Plan and Rates through the framework's own tester: they draw, react, refuse kindly and link."""

import dataclasses
import re

import pytest

from engine.language import odds_words
from engine.rates import rates
from engine.rates.functional_mean import FunctionalMeanRate
from engine.topics.coverage import answer as coverage_topic
from engine.topics.coverage import words as coverage_words
from engine.topics.mean.answer import EPSILON_STEPS
from engine.topics.planning import words as planning_words
from engine.topics.planning.answer import DIALS, PlannedStudy, plan
from engine.topics.rates import check as rate_check
from engine.topics.rates import words as rate_words
from engine.topics.rates.answer import PRESETS
from pages.shared.state import links, settings
from tests.heavy import few
from tests.pages.opening import own_curves, visit
from tests.pages.reading import components, typed, words
from tests.sentences import of_topic
from tests.waiting import PATIENCE

wording = of_topic("plan")


def answered(at, setting, unknown, target):
    steps = plan(setting, unknown, target)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


# -- Plan -----------------------------------------------------------------------------------


def test_plan_answers_on_arrival_with_the_engines_number():
    at, usual = visit("plan", "target-2"), settings.Settings()
    result = answered(at, PlannedStudy(usual.source, usual.mechanism, 1.0, 200, 30), "epsilon", 2.0)
    assert at.success[0].value.startswith(planning_words.verdict(result, usual.source.facts))
    assert odds_words.odds_main(result.protection.odds, "child") in words(at)
    assert not at.error


def test_a_typed_target_changes_the_answer_and_the_address():
    at = visit("plan")
    before = at.success[0].value
    at.text_input(key="w_plan_error").set_value("4.0").run()
    assert at.success[0].value != before
    assert "typical-4" in "".join(at.query_params["s"])


def test_the_solver_begins_with_the_typical_error_of_the_recommendation_and_finds_its_budget():
    """The page asks what 19 of 20 releases are within: that is another number."""
    at = visit("decide", "c-sparse_curves~c.n_curves-150~target-1~open-planner")
    study = typed(next(sent["html"] for sent in components(at, "memo_sheet") if "html" in sent))
    epsilon = float(re.search(r"differential privacy at ε = ([\d.]+)", study).group(1))
    asked = float(at.text_input(key="w_plan_error").value)
    said = float(re.search(r"the error is (?:<b>)?([\d.]+)", study).group(1))
    assert said <= asked < 1.01 * said < at.session_state.settings.target_distance
    found = float(re.search(r"ε = ([\d.]+) is enough", at.success[0].value).group(1))
    assert found <= epsilon and found > EPSILON_STEPS[EPSILON_STEPS.index(epsilon) - 1]
    at.text_input(key="w_plan_error").set_value("0.5").run()
    assert (
        at.session_state.settings.target_distance == 1
        and at.session_state.settings.typical_error == 0.5
    )


def test_the_solver_has_the_sizes_of_the_table_and_they_are_changed_there_alone():
    at = visit("decide", "c-sparse_curves~target-1~open-planner~sites-A_40_6_1__B_90_6_1")
    sizes = [at.text_input(key=f"w_plan_{dial}") for dial in ("people", "readings", "sites")]
    assert [size.value for size in sizes] == ["65", "6", "2"] and all(
        size.disabled for size in sizes
    )
    wording.found("sites alike people", words(at), 2, 65)


@pytest.mark.slow
def test_the_open_blank_can_be_chosen_and_the_others_set_sizes_that_explore_shows():
    at = visit("plan")
    at.segmented_control(key="w_unknown").set_value("people").run()
    assert "children are enough" in at.success[0].value
    at.text_input(key="w_plan_readings").set_value("10").run()
    assert at.session_state.settings.source.n_observations_per_curve == 10
    at.text_input(key="w_plan_sites").set_value("2").run()
    source = at.session_state.settings.source
    assert (source.n_servers, source.n_curves) == (2, 400)


@pytest.mark.slow
def test_an_impossible_target_is_refused_plainly_with_what_would_do():
    at = visit("decide", "target-0.05~typical-0.05~open-planner")
    of_study, of_planner = (error.value for error in at.error)
    wording.found("up reaches target", of_study, 10)
    wording.found("possible without noise", of_planner)
    wording.found("error", of_planner, 10)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("w_plan_error", -1.0, "above zero"),
        ("w_plan_people", 0, "must lie between"),
        ("w_plan_readings", 100_000, "must lie between"),
    ],
)
def test_a_value_that_cannot_be_is_refused_beside_its_blank_and_the_answer_stays(
    key, value, problem
):
    at = visit("plan")
    before = at.success[0].value
    at.text_input(key=key).set_value(str(value)).run()
    assert any(problem in error.value for error in at.error)
    assert at.success[0].value == before


@pytest.mark.slow
def test_every_dial_can_be_found():
    for unknown in DIALS:
        at = visit("plan", f"unknown-{unknown}~target-3")
        assert not at.error and len(at.success) == 1, unknown


@pytest.mark.slow
def test_a_method_that_refuses_these_sizes_is_said_by_study_and_planner_and_the_blanks_stay():
    at = visit("plan", "m-noisy_gradient_mean~m.scheme-split~m.n_iterations-500")
    of_study, of_planner = (error.value for error in at.error)
    assert of_study == of_planner
    wording.found("need least curves", of_study, 500)
    assert at.text_input(key="w_plan_people")
    at.button(key="reset").click().run()
    assert not any("need at least" in error.value for error in at.error)
    assert at.success or any("**Not possible.**" in error.value for error in at.error)


def test_constants_that_break_their_promise_are_not_planned_with_as_if_they_kept_it():
    at = visit(
        "plan",
        "m-noisy_gradient_mean~m.constants-published~m.noise-isotropic~epsilon-10"
        "~delta-0.001~unknown-error",
    )
    wording.found("not budget", [error.value for error in at.error], 10)


def test_the_numbers_behind_the_charts_are_there():
    at = visit("rates", fold_numbers=True)
    assert at.dataframe


@pytest.mark.slow
def test_own_curves_are_planned_with_by_their_twin_which_is_named_and_whose_guess_can_be_changed():
    result = own_curves()
    at = visit("decide", "open-planner~typical-5~target-20", upload=result, show_upload=True)
    setting = PlannedStudy.of(result, settings.Settings().mechanism, 1.0)
    found = answered(at, setting, "epsilon", 5.0)
    answer = planning_words.verdict(found, result.facts)
    assert found.is_possible and at.success[0].value.startswith(answer)
    wording.found("children observations", words(at), 80, 5)
    wording.found("guessed standard deviation", words(at), 9)
    assert not at.error
    assert "s" not in at.query_params
    at.text_input(key="w_twin_spread").set_value("30").run()
    assert not at.success[0].value.startswith(answer)
    wording.found("guessed standard deviation", words(at), 30)
    at.text_input(key="w_twin_spread").set_value("-1").run()
    wording.found("above", [error.value for error in at.error], 0)


@pytest.mark.slow
def test_other_sizes_of_own_curves_can_be_planned_for_and_nothing_else_changes():
    at = visit("plan", upload=own_curves(), show_upload=True)
    before = at.session_state.settings.source
    at.text_input(key="w_plan_people").set_value("300").run()
    wording.found("children observations", words(at), 300, 5)
    assert at.session_state.settings.source == before
    assert at.session_state["upload"].sizes.n_curves == 80


@pytest.mark.slow
def test_public_curves_are_planned_with_by_their_twin():
    at = visit("plan", "c-sea_temperature~unknown-error~epsilon-8")
    wording.found("planned simulated twin", words(at))
    assert not at.exception


# -- Rates ----------------------------------------------------------------------------------


def test_rates_says_what_limits_here_and_agrees_with_explore():
    at = visit("rates")
    wording.found("largest term rate", words(at))
    assert re.search(r"privacy makes up \d\d % of the squared error here", words(at))
    assert not at.error


def test_with_all_constants_one_the_disagreement_with_the_measured_error_is_said():
    at = visit("rates", "constants-one")
    wording.found("they disagree measured", words(at))
    point = {"n": 200.0, "m": 30.0, "S": 1.0, "epsilon": 1.0, "delta": 1 / 200**2}
    from engine.rates.fitted import Weighted

    assert rate_words.ruling(Weighted.plain(FunctionalMeanRate()), point) in words(at)


@pytest.mark.parametrize("cls", few(rates.all(), 3), ids=lambda cls: cls.key)
def test_every_problem_draws(cls):
    at = visit("rates", f"r-{cls.key}")
    assert not at.error
    assert "Largest term" in words(at) or rate_words.UNKNOWN_CONSTANTS in words(at)


@pytest.mark.slow
def test_figures_and_tables_of_the_paper_are_one_choice_away():
    at = visit("rates")
    for preset in PRESETS.values():
        at.selectbox(key="w_example").set_value(preset.label).run()
        assert not at.error, preset.key
        assert at.session_state.settings.rate == preset.rate
        assert f"example-{preset.key}" in "".join(at.query_params["s"])


def test_a_link_with_the_axis_of_a_chart_that_is_gone_still_opens():
    at = visit("rates", "against-smoothness")
    assert not at.error and not at.warning


def test_measured_points_of_numbers_come_from_a_mechanism_of_the_same_trust():
    at = visit("rates", "r-univariate_mean~r.setting-local_user_small_n~along-S")
    wording.found("nobody trusted people", words(at))
    assert not at.error


def measured(token, **state):
    """The page once *Measure* has been pressed and its job has ended."""
    at = visit("rates", token, **state)
    next(one for one in at.button if one.label == "Measure").click().run()
    assert at.session_state["rate_check"].job.wait(PATIENCE)
    return at.run()


@pytest.mark.slow
def test_one_press_gives_slope_and_coverage_with_the_numbers_of_the_engine(enough_data_sets):
    """The job is another process, which draws as many data sets as it does for everybody."""
    at = measured(
        "along-n~c-sparse_curves~c.n_curves-150~c.n_observations_per_curve-8~epsilon-2~seed-2"
    )
    asked = at.session_state["rate_check"].request
    assert asked.settings[1].people == 150 and asked.settings[1].readings == 8
    result = rate_check.joined(asked, list(rate_check.check(asked)))
    text = words(at)
    for line, is_proved in zip(result.compared(asked), (True, False), strict=True):
        assert rate_words.verdict(line, "n", is_proved) in text
    assert coverage_words.misses(result.limits.proper, asked.limits.kind) in text
    assert coverage_words.misses(result.limits.naive, asked.limits.kind, True) in text
    assert coverage_words.widths(result.limits, asked.limits.kind) in text


def test_one_press_measures_every_kind_of_trust_with_the_slopes_of_its_rate():
    at = visit("rates", "r-univariate_mean~along-n")
    next(one for one in at.button if one.label == "Measure all").click().run()
    assert at.session_state["trust_check"].job.wait(PATIENCE)
    at.run()
    assert not at.error
    assert "Local slopes" in words(at)
    assert any(len(shown.value) == 4 for shown in at.dataframe)


@pytest.mark.slow
def test_sizes_budget_and_smoothness_are_one_form():
    at = visit("rates", "along-n")
    fields = {field.label: field for field in at.text_input}
    for label, value in (
        ("People on each site (n)", 90),
        ("Observations each (m)", 7),
        ("Privacy budget ε", 2.5),
        ("Smoothness (α)", 2.0),
    ):
        fields[label].set_value(f"{value:g}")
    next(one for one in at.button if one.label == "Measure").click().run()
    now, asked = at.session_state.settings, at.session_state["rate_check"].request
    assert (now.source.n_curves, now.source.n_observations_per_curve) == (90, 7)
    assert now.epsilon == 2.5 and now.rate.smoothness == 2.0
    assert asked.point["n"] == 90 and asked.rate == now.rate and not at.error
    assert asked.limits.budget.epsilon == 2.5 and asked.limits.source == now.source


def test_varying_coefficients_have_the_sizes_and_methods_of_their_own_page():
    at = visit("rates", "r-varying_coefficients~along-n~k-noisy_gradient_coefficients")
    wording.found("point of rate", words(at), "2 000", 10, 1, 1, 2)
    wording.found("noisy gradient descent", words(at))
    fields = {field.label: field for field in at.text_input}
    fields["People on each site (n)"].set_value("300")
    next(one for one in at.button if one.label == "Measure").click().run()
    now, asked = at.session_state.settings, at.session_state["rate_check"].request
    assert now.source_of("varying_coefficients").n_curves == 300 and now.source.n_curves == 200
    assert {one.people for one in asked.settings} == {300} and asked.limits.kind == "effects"


def test_a_form_with_an_impossible_number_is_refused_whole():
    at = visit("rates", "along-n")
    fields = {field.label: field for field in at.text_input}
    fields["People on each site (n)"].set_value("90")
    fields["Privacy budget ε"].set_value("99")
    next(one for one in at.button if one.label == "Measure").click().run()
    assert any("ε" in error.value for error in at.error)
    assert at.session_state.settings.source.n_curves == 200
    assert "rate_check" not in at.session_state


@pytest.mark.parametrize(
    ("token", "state", "reason"),
    [
        ("example-table-3", {}, "Figures and tables of the paper are theory alone"),
        ("c-sea_temperature", {}, "The truth of these curves is not known"),
        ("", {"upload": own_curves(), "show_upload": True}, "no known truth"),
        ("r-functional_mean~r.privacy-local", {}, "set *Who is trusted* to *federated*"),
        ("r-sparse_mean_trusted", {}, "no method here gives a confidence band"),
    ],
)
def test_it_is_said_why_nothing_is_measured(token, state, reason):
    at = visit("rates", token, **state)
    assert reason in words(at) and not at.error
    assert not any(one.label == "Measure" for one in at.button)


def test_a_problem_whose_methods_give_no_limits_says_so():
    at = visit("rates", "r-univariate_mean")
    wording.found("method problem gives", words(at))
    assert f"{coverage_topic.REPEATS} times" not in words(at)


def test_axes_can_be_chosen_and_are_never_the_same():
    at = visit("rates", "along-m~across-m")
    assert not at.error
    at.selectbox(key="w_along").set_value("S").run()
    assert at.session_state.settings.rate_axis == "S"
    assert "S" not in at.selectbox(key="w_across").options


# -- the address ----------------------------------------------------------------------------


def variations():
    usual = settings.Settings()
    for name, value in (
        ("rate_axis", "n"),
        ("rate_second_axis", "S"),
        ("rate_preset", "table-3"),
        ("rate_constants", "one"),
        ("unknown_quantity", "people"),
        ("target_distance", 0.25),
    ):
        yield dataclasses.replace(usual, **{name: value})
    for cls in rates.all():
        yield dataclasses.replace(usual, rate=cls())
        for parameter in cls.parameters():
            if parameter.kind is float and not parameter.optional:
                value = (parameter.low + parameter.high) / 2
                try:
                    yield dataclasses.replace(usual, rate=cls(**{parameter.name: value}))
                except ValueError:
                    continue


def test_a_link_brings_back_rates_and_plans():
    for chosen in variations():
        token = links.encode(chosen)
        assert links.decode(token) == (chosen, []), token


def test_damaged_words_of_a_link_are_named():
    for token in (
        "along-zebra",
        "target--3",
        "target-nan",
        "unknown-weight",
        "example-table-99",
        "r-nothing",
    ):
        found, problems = links.decode(token)
        assert problems and found == settings.Settings(), token


@pytest.mark.slow
def test_a_plan_can_start_from_a_risk_and_take_the_epsilon_it_allows():
    at = visit("plan", "c-sparse_curves~c.n_curves-150~target-1~open-risk")
    wording.found("at most", words(at))
    wording.found("alone known", words(at))
    at.text_input(key="w_plan_risk").set_value("55").run()
    assert "risk-55" in "".join(at.query_params["s"])
    at.button(key="take_risk").click().run()
    now = at.session_state.settings
    assert now.unknown_quantity == "error" and 0.05 <= now.epsilon < 1.1


@pytest.mark.slow
def test_a_risk_below_a_coin_toss_is_refused_beside_its_field():
    at = visit("plan", "c-sparse_curves~c.n_curves-150~target-1~open-risk")
    at.text_input(key="w_plan_risk").set_value("40").run()
    assert any("above 50 %" in error.value for error in at.error)
    assert at.session_state.settings.attacker_accuracy == 60


@pytest.mark.slow
def test_a_total_is_split_over_outputs_and_a_lock_holds_one_of_them():
    at = visit("plan", "c-sparse_curves~c.n_curves-150~target-1~open-split")
    wording.found("all spent", words(at), 3, 3)
    assert at.dataframe[-1].value["ε"].tolist() == [1.0, 1.0, 1.0]
    at.toggle(key="w_split_lock_0").set_value(True).run()
    at.text_input(key="w_split_epsilon_0").set_value("2").run()
    assert at.dataframe[-1].value["ε"].tolist() == [2.0, 0.5, 0.5]
    assert "split-3_sum_l2_w1_w1" in "".join(at.query_params["s"])
    at.segmented_control(key="w_split_way").set_value("tight").run()
    assert min(at.dataframe[-1].value["ε"]) > 0.5
    wording.found("ledger charge", words(at))


def test_a_lock_above_the_total_is_refused_and_can_be_opened_again():
    at = visit("decide", "c-sparse_curves~c.n_curves-150~target-1~open-split~split-1_sum_l2_w1")
    assert any("leave nothing" in error.value for error in at.error)
    at.toggle(key="w_split_lock_0").set_value(False).run()
    assert not at.error
    wording.found("all spent", words(at), 1, 1)
