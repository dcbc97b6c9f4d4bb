"""Sweeps through the framework's own tester: built, foreseen, run, stopped, refused and linked."""

import pytest

from engine.simulation import sweeps
from engine.simulation.experiments import gather
from engine.simulation.scenario import from_plain
from engine.topics.sweeps.answer import EPSILON, sweep_view
from pages.parts import sweeps as sweep_cards
from pages.shared.state import links, settings
from pages.shared.state.lab_tasks import LAB_TASKS
from pages.shared.state.sweep_choice import SweepChoice
from tests.pages.opening import own_curves, visit
from tests.pages.reading import words
from tests.sentences import of_topic
from tests.waiting import PATIENCE, until

wording = of_topic("work")

SMALL = (
    "c-sparse_curves~c.n_curves-60~c.n_observations_per_curve-5~m-noisy_gradient_mean~"
    "sweep.values-0.5_2~sweep.repeats-5"
)


def after_run(at):
    at.button(key="sweep_run").click().run()
    job = at.session_state.sweep_ran.job
    assert job.wait(PATIENCE)
    at.run()
    assert not at.exception
    return job


@pytest.mark.parametrize("task", LAB_TASKS)
def test_every_problem_can_be_swept_over_its_own_curves_and_method(task):
    at = visit("sweeps", f"sweep.task-{task}")
    assert not at.error and at.button(key="sweep_run")
    assert at.session_state.settings.estimated == task
    assert EPSILON in str(at.selectbox(key="w_sweep_along").value)


@pytest.mark.slow
def test_time_and_memory_are_foreseen_before_anything_is_pressed():
    at = visit("sweeps", SMALL)
    until(lambda: "MB of memory" in words(at), at.run)
    assert "2 points: about" in words(at)


def test_the_points_on_screen_are_those_of_the_engine():
    at = visit("sweeps", SMALL)
    job = after_run(at)
    chosen = at.session_state.sweep_ran.chosen
    here = gather(
        chosen.cells(), list(sweeps.run_scenario(from_plain(chosen.plain), sweep_cards.LIMITS))
    )
    table = at.dataframe[0].value
    expected = [float(f"{point.mean:.4g}") for point in sweep_view(here).lines[0].points]
    assert list(table["Mean squared error"]) == expected and job.state == "done"
    wording.found("fresh data sets", words(at), 5)
    wording.found("python engine run", at.code[0].value)


def test_where_nothing_is_published_there_is_no_standard_error_of_rounding():
    token = SMALL.replace("m-noisy_gradient_mean~", "").replace("values-0.5_2", "values-0.05_4")
    at = visit("sweeps", token)
    after_run(at)
    table = at.dataframe[0].value
    assert table["Note"].tolist() == ["not published", ""]
    assert table["Standard error"].iloc[0] == 0 < table["Standard error"].iloc[1]


def test_a_second_axis_gives_a_line_for_each_of_its_values():
    at = visit("sweeps", f"{SMALL}~sweep.across-source.n_curves~sweep.levels-40_80")
    after_run(at)
    assert len(at.dataframe[0].value) == 4
    assert list(at.dataframe[0].value["People (n)"]) == [40, 40, 80, 80]


def test_a_sweep_survives_other_settings_and_says_that_it_is_of_earlier_ones():
    at = visit("sweeps", SMALL)
    after_run(at)
    at.text_input(key="w_sweep_values").set_value("1, 4, 2").run()
    assert at.session_state.settings.sweep.values == (1.0, 2.0, 4.0)
    assert any("earlier settings" in w.value for w in at.warning) and len(at.dataframe) == 1


def test_cells_that_cannot_run_are_shown_with_their_message_and_the_rest_goes_on():
    at = visit(
        "sweeps",
        f"{SMALL}~m.scheme-split~sweep.along-mechanism.n_iterations".replace(
            "sweep.values-0.5_2", "sweep.values-5_500"
        ),
    )
    after_run(at)
    assert any(
        "1 of 2 points could not be run" in w.value and "need at least 500 curves" in w.value
        for w in at.warning
    )
    assert at.dataframe[0].value["Mean squared error"].notna().tolist() == [True, False]


@pytest.mark.parametrize(
    "token, said",
    [
        (
            "sweep.task-wavelet_regression~w-regression_points~w.n_curves-1000000",
            "GB of memory; the limit",
        ),
        (
            "sweep.repeats-1000~sweep.across-source.n_curves~sweep.levels-50_100_200_400",
            "28,000 runs; a sweep here has at most 20,000",
        ),
    ],
)
def test_too_large_a_sweep_is_refused_beforehand_with_the_figure(token, said):
    at = visit("sweeps", token)
    assert any(said in error.value for error in at.error)
    assert not at.button or not [b for b in at.button if b.key == "sweep_run" and not b.disabled]


def test_too_long_a_sweep_is_refused_with_the_minutes_once_a_part_is_timed(monkeypatch):
    monkeypatch.setattr(sweep_cards, "LIMITS", sweep_cards.EffortLimits(minutes=1e-6, gigabytes=1))
    at = visit("sweeps", SMALL)
    assert at.session_state.sweep_foreseen.wait(PATIENCE)
    at.run()
    wording.found("minutes limit", [error.value for error in at.error])
    assert at.button(key="sweep_run").disabled


def test_a_value_that_cannot_be_is_refused_beside_its_field_and_the_values_stay():
    at = visit("sweeps", SMALL)
    at.text_input(key="w_sweep_values").set_value("1, two").run()
    wording.found("two number", [error.value for error in at.error])
    assert at.session_state.settings.sweep.values == (0.5, 2.0)


def test_results_of_ones_own_curves_stay_in_the_session_and_make_no_files():
    at = visit("sweeps", "sweep.values-1_8~sweep.repeats-5", upload=own_curves(), show_upload=True)
    job = after_run(at)
    assert not job.is_kept and at.session_state.visitor in job.key
    until(lambda: job.key not in sweep_panel_jobs())
    assert not at.get("download_button") and not at.code and at.table
    assert "s" not in at.query_params


def sweep_panel_jobs():
    from pages.shared.server.jobs import jobs

    return jobs()._jobs


def test_a_link_brings_back_the_sweep_and_damaged_words_are_named():
    chosen = SweepChoice("density", "source.n_curves", (100.0, 200.5), EPSILON, (1e-3, 0.5), 7)
    token = links.encode(settings.Settings(sweep=chosen))
    found, problems = links.decode(token)
    assert (found.sweep, problems) == (chosen, [])
    for word in (
        "sweep.values-a_b",
        "sweep.values-nan",
        "sweep.repeats-0",
        "sweep.task-tea",
        "sweep.colour-red",
        "sweep.repeats-5000",
    ):
        found, problems = links.decode(word)
        assert problems and found == settings.Settings(), word
