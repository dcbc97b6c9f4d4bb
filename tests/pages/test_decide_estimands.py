"""What can be decided on besides the mean curve: each with the sizes, the method and the numbers of Lab."""

import contextlib
import io
from dataclasses import replace
from functools import cache

import pytest

from engine.core.tasks import TASKS
from engine.language import numbers
from engine.topics.decision import answer as decision_topic
from engine.topics.decision import words as decision_words
from pages.parts.compare import pins
from pages.shared.state import links
from pages.shared.state.lab_tasks import LAB_TASKS
from pages.shared.state.pins import Pin
from tests.heavy import all_but, few
from tests.pages.opening import own_curves, visit
from tests.pages.reading import components, words
from tests.sentences import of_topic

wording = of_topic("decide")

# A small study of each, and the target that it is to reach.
STUDIES = {
    "univariate_mean": "c-sparse_curves~c.n_curves-100~c.n_observations_per_curve-5~target-5",
    "varying_coefficients": "g-coefficient_curves~g.n_curves-600~g.n_observations_per_curve-6~target-6",
    "wavelet_regression": "network-4x500x1~target-0.4",
    "density": "d-density_points~d.n_curves-300~target-0.4",
}
LAB_STRIPS = {
    "varying_coefficients": "coefficients_strip",
    "wavelet_regression": "regression_strip",
    "density": "summaries_strip",
}


def token(key):
    return f"{STUDIES[key]}~decided-{key}"


def link(at):
    return "".join(at.query_params["s"])


def memo(at):
    sent = next(sent["html"] for sent in components(at, "memo_sheet") if "html" in sent)
    return sent.replace("\u00a0", " ")


def strip(at, key):
    return next(sent for sent in components(at, key) if "budgets" in sent)


@cache
def answered(key):
    """The engine's answer to the question of a link."""
    chosen, problems = links.decode(token(key))
    assert not problems
    source, delta = chosen.source_of(TASKS[key].data_of or key), chosen.delta
    if key == "wavelet_regression":
        source, delta = chosen.network.source(source), chosen.network.delta
    rows = decision_topic.equal_sites(
        source, decision_words.site_noun(source.facts)[0].capitalize()
    )
    return decision_topic.decision_of(
        source,
        chosen.mechanism_of(key),
        rows,
        delta,
        chosen.noise_place,
        chosen.target_distance,
        chosen.confidence,
    )


def test_what_can_be_decided_on_is_what_these_tests_try():
    assert {*STUDIES} == {*decision_topic.DECIDED} - {"mean_function"}


def error_of(answer):
    """The error of the recommended budget, as every strip writes it."""
    accuracy = answer.chosen.accuracy
    return numbers.error(accuracy.error, answer.profile.unit, accuracy.within)


@pytest.mark.parametrize("key", few(all_but({"varying_coefficients"}, STUDIES)))
def test_cards_memo_strip_and_code_have_the_numbers_of_the_engine(key):
    answer, at = answered(key), visit("decide", f"{token(key)}~open-decide_code")
    assert not at.error and answer.options and at.selectbox(key="w_decided").value == key
    for _, option in answer.options:
        error = decision_words.typical_error(option, answer.profile)
        assert f"Error **{error}**" in words(at)
        assert error in memo(at)
    assert decision_words.question(answer) in memo(at)
    assert decision_words.verdict(answer).split("**")[1] in memo(at)
    assert strip(at, "decide_strip")["budgets"][0]["error"] == error_of(answer)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(at.code[0].value, {})
    assert f"{answer.chosen.accuracy.error:.6g}" in printed.getvalue()


@pytest.mark.parametrize("key", all_but({"varying_coefficients"}, LAB_STRIPS))
def test_lab_has_the_same_error_at_the_recommended_budget(key):
    answer = answered(key)
    epsilon = answer.chosen.budget.epsilon
    at_epsilon = STUDIES[key].replace("4x500x1", f"4x500x{epsilon:g}")
    at = visit(
        "lab",
        f"{at_epsilon}~estimand-{LAB_TASKS[key].estimand}~epsilon-{epsilon:g}"
        + f"~summary-{key}" * (key == "density"),
    )
    assert strip(at, LAB_STRIPS[key])["budgets"][0]["error"] == error_of(answer)


@pytest.mark.parametrize("key", few(all_but({"varying_coefficients"}, STUDIES)))
def test_sizes_trust_and_link_of_a_study_follow_its_sentence(key):
    at = visit("decide", token(key), sites_of_study=True)
    at.text_input(key="w_study_people").set_value("150")
    at.text_input(key="w_study_sites").set_value("2").run()
    at.segmented_control(key="w_noise").set_value("centre").run()
    assert not at.error and "150" in memo(at) and "(300 in all)" in memo(at)
    wording.found("centre sees", memo(at))
    again = visit("decide", link(at))
    assert memo(again) == memo(at) and "decided-" in link(at)


@pytest.mark.parametrize("key", few(STUDIES))
def test_details_that_are_of_mean_curves_say_so_and_lead_there(key):
    at = visit("decide", f"{token(key)}~open-hospitals")
    assert decision_words.MEANS_ALONE in words(at)
    at.button(key="take_mean").click().run()
    assert not at.error and at.session_state.settings.decided_task == "mean_function"


@pytest.mark.parametrize("key", few(STUDIES, 2))
def test_a_pinned_study_has_its_error_and_is_not_compared_with_a_mean_curve(key):
    answer = answered(key)
    pin = pins.pinned_facts(Pin("A", "decide", token(key)))
    assert pin.brief.error == pytest.approx(answer.chosen.accuracy.error, rel=1e-9)
    assert pin.brief.budget == answer.chosen.budget and pin.estimated == key
    assert not pin.measures_like(replace(pin, estimated="mean_function"))


@pytest.mark.slow
def test_a_file_is_averaged_by_its_twin_and_never_linked():
    at = visit("decide", "target-5~decided-univariate_mean", upload=own_curves(), show_upload=True)
    assert not at.error and "80 children" in memo(at) and "s" not in at.query_params


def test_explore_leads_to_the_mean_curve_whatever_was_decided_on_before():
    at = visit("explore", "decided-density~target-0.2")
    assert not any("decided" in str(part.proto) for part in at.get("page_link"))


def test_another_estimand_of_the_same_curves_keeps_the_target_and_of_others_forgets_it():
    at = visit("decide", STUDIES["univariate_mean"])
    at.selectbox(key="w_decided").set_value("univariate_mean").run()
    assert at.session_state.settings.target_distance == 5 and "average" in memo(at)
    at.selectbox(key="w_decided").set_value("density").run()
    assert at.session_state.settings.target_distance is None and not at.error
    assert "c.n_curves-100" in link(at) and "decided-density" in link(at)


@pytest.mark.slow
def test_a_table_of_sites_serves_the_average_as_it_does_the_mean_curve():
    at = visit("decide", token("univariate_mean"))
    at.text_area(key="pasted_table").set_value("North;40;6\nSouth;90;3").run()
    at.button(key="use_pasted").click().run()
    assert not at.error
    wording.found("unequal sites", memo(at), 130, 2, 40, 90)


def test_real_records_are_refused_with_a_button_that_takes_simulated_ones():
    at = visit("decide", "d-ages_at_death~decided-density")
    assert "nothing stands in" in at.error[0].value and not components(at, "memo_sheet")
    at.button(key="use_simulated").click().run()
    assert not at.error and "density" in memo(at)


def test_too_many_devices_are_refused_with_a_button_that_lets_sites_add_the_noise():
    at = visit("decide", f"{STUDIES['density']}0~d.n_curves-1000~decided-density~noise-person")
    assert f"At most {decision_topic.MAX_DEVICES} are simulated" in at.error[0].value
    at.button(key="let_sites").click().run()
    assert not at.error and at.session_state.settings.noise_place == "sites"


def test_everybody_can_add_the_noise_of_an_average_alone():
    at = visit("decide", f"{token('univariate_mean')}~noise-person")
    wording.found("trusted nobody", memo(at))
    wording.found("message each device", memo(at))


@pytest.mark.slow
def test_a_network_of_unequal_sites_is_decided_on_as_it_is_until_one_of_alike_sites_is_chosen():
    at = visit("decide", "network-1x900x1_4x200x1~target-0.5~decided-wavelet_regression")
    assert not at.error
    wording.found("unequal sites", memo(at), "1 700", 5, 200, 900)
    assert "w_study_people" not in {box.key for box in at.text_input}  # no one size to be typed
    at.selectbox(key="w_network").set_value("Two hundred small sites").run()
    assert not at.exception
    wording.found("equal sites", memo(at), 320, 200)
    at.text_input(key="w_study_people").set_value("300").run()
    assert not at.error
    wording.found("equal sites", memo(at), 300, 200)
