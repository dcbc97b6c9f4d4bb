"""Lab, percentile curves: what stands on the page, where no rate is known, and when nothing can."""

import pytest

from engine.rates import rates
from pages.shared.state.lab_tasks import LAB_TASKS, settings_of
from pages.shared.state.link_words import word_of
from tests.pages.opening import visit
from tests.sentences import of_topic

wording = of_topic("percentiles")

HEIGHTS = "J-population_readings~J.population-growth~J.n_curves-700~J.n_observations_per_curve-4~epsilon-3"


def page(*words):
    return visit("lab", "~".join(["estimand-percentiles", *words]))


def text(at):
    return "\n".join(element.value for element in at.markdown)


@pytest.mark.slow
def test_every_curve_and_all_together_have_their_error():
    at = page(HEIGHTS, "Z-percentile_curves~Z.percentiles-10, 50, 90")
    assert not at.error
    wording.found("published curve error", text(at))
    wording.found("curves together", text(at), 3)
    assert "State cut-offs" in text(at)


@pytest.mark.slow
def test_time_in_stated_ranges_follows_with_its_interval():
    at = page(HEIGHTS, "Z-percentile_curves~Z.limits-120, 150")
    result = text(at)
    wording.found("above cm", result, 150)
    wording.found("confidence interval", result)
    wording.found("cut offs ranges", result, 120, 150)


@pytest.mark.slow
def test_too_few_people_are_told_so_and_no_error_is_stated():
    at = page(HEIGHTS.replace("700", "100"))
    assert "Too few children" in at.error[0].value
    wording.missing("error", text(at))


@pytest.mark.slow
def test_a_chart_as_one_knows_it_sets_data_and_method_together():
    at = page(HEIGHTS)
    assert at.selectbox(key="w_percentile_chart").value == "Other"
    at.selectbox(key="w_percentile_chart").set_value("Ambulatory glucose profile").run()
    assert not at.exception and not at.error
    wording.found("mg dl", text(at), 70, 180)
    wording.found("above mg dl", text(at), 250)
    chosen = at.session_state.settings
    people = chosen.source_of("percentile_curves")
    assert (people.population, people.n_curves) == ("glucose", 700)


@pytest.mark.slow
def test_the_drawer_says_how_many_people_a_curve_needs():
    at = page(HEIGHTS, "open-percentile_plan", "planned_percentile-50", "percentile_target-2")
    assert "enough" in at.success[0].value and "2 cm" in at.success[0].value
    wording.found("curve error", text(at))


@pytest.mark.parametrize("task", LAB_TASKS)
def test_theory_shows_a_rate_of_what_is_estimated_or_says_that_there_is_none(task):
    chosen = [f"{word_of(setting)}-{value}" for setting, value in settings_of(task).items()]
    at = visit("lab", "~".join([*chosen, "tab-theory"]))
    known = [rate.label for rate in rates.for_task(task)]
    shown = [box.value for box in at.selectbox if box.key == "w_rate"]
    assert shown == known[:1]
    (wording.missing if known else wording.found)("no rate", [info.value for info in at.info])
