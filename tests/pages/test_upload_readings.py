"""Use my readings: one of each person, from the file to the protected curve beside its limits."""

import pytest

from engine.core.tasks import DataType
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.privacy.failure import usual_delta
from engine.topics.regression import answer as regression_topic
from engine.topics.regression import words as regression_words
from engine.topics.regression.answer import Network
from engine.uploads.facts import declare
from pages.shared.server import visitors
from pages.shared.state import links, run
from tests.heavy import few
from tests.pages.opening import own_curves, upload_of, visit
from tests.pages.own_file import (
    answer,
    choose,
    confirm,
    dropped,
    fill,
    is_open,
    question,
    ran,
    said,
    show,
    when,
)
from tests.pages.reading import words
from tests.sentences import of_topic
from tests.unit.test_upload_readings import STATED, frame

wording = of_topic("upload")


def own(n=3000, rows=None, **stated):
    return upload_of(
        frame(n) if rows is None else rows,
        declare(**{**STATED, "periodic": True, **stated}),
        DataType.READINGS,
        id=None,
        server="site",
    )


def shown(upload=None, token="", **state):
    return visit(
        "regression", token, upload_readings=upload or own(), show_upload_readings=True, **state
    )


@pytest.fixture
def panel(monkeypatch):
    """Open the panel with a file in it: ``panel(frame)``."""
    return lambda rows: dropped(monkeypatch, rows, "regression")


def every_line_is_another_person(at):
    return confirm(answer(at, "person", "Every line"))


def state(at, **facts):
    when(at, "even", time_low=0, time_high=24)
    return fill(at, value_low=35, value_high=39, origin="manual", **facts)


def errors(at):
    return " ".join(error.value for error in at.error)


def the_same(upload, epsilons=(1.0, 1.0), method=None):
    """What the engine gives for these readings."""
    network = Network.of_upload(upload, epsilons, usual_delta(upload.sizes.n_curves))
    return regression_topic.regression_answer(upload, method or WaveletGlobal(), network, 1)


# -- the panel --------------------------------------------------------------------------------


def test_who_a_line_belongs_to_is_asked_and_nothing_is_chosen_for_the_visitor(panel):
    at = panel(frame())
    assert question(at, "person").value is None and is_open(at)
    state(every_line_is_another_person(at), reading_sd=0.5)
    assert not at.error and not is_open(at)


def test_columns_whose_names_say_nothing_are_chosen_by_hand(panel):
    at = panel(frame().drop(columns="site").rename(columns={"hour": "aa", "value": "bb"}))
    choose(at, time="aa", value="bb")
    confirm(answer(at, "person", "Every line"))
    assert not at.error
    assert len(at.session_state["upload_draft"].observations.counts) == 600


def test_a_column_of_ids_is_proposed_and_several_observations_are_refused(panel):
    at = panel(frame().drop(columns="site").assign(person_id=[f"p{k % 590}" for k in range(600)]))
    wording.found("different person id", said(at), 590)
    show(state(confirm(at), reading_sd=0.5))
    wording.found("people several observations", errors(at), 10, 590)


def test_the_spread_is_asked_for_here_and_never_filled_from_the_file(panel):
    at = state(every_line_is_another_person(panel(frame())))
    assert at.text_input(key="upload_reading_sd").value == ""
    wording.found("state far observation", errors(at))
    assert is_open(at)
    fill(at, reading_sd=0)
    wording.found("above", errors(at), 0)


def test_explore_asks_for_no_spread():
    at = visit("explore", upload_open=True)
    assert "upload_reading_sd" not in {field.key for field in at.text_input}
    assert "State how far" not in errors(at)


def test_readings_are_shown_with_the_ends_that_were_stated(panel):
    at = state(every_line_is_another_person(panel(frame(3000))), reading_sd=0.5)
    show(at, "sites")
    kept = at.session_state["upload_readings"]
    assert kept.facts.reading_sd == 0.5 and "upload" not in at.session_state
    assert at.selectbox(key="w_readings").value == "Your observations"
    wording.found(
        "wavelets corrected edges", at.selectbox(key="w_wavelet_method").value, alone=True
    )
    assert not at.warning
    same = the_same(kept, method=WaveletGlobal(edges="corrected"))
    assert regression_words.accuracy(same) in words(at)


# -- on screen ----------------------------------------------------------------------------------


def test_the_numbers_on_screen_are_the_engines_and_no_error_is_claimed():
    upload = own(value_unit="°C")
    at = shown(upload)
    same = the_same(upload)
    assert not at.error and regression_words.accuracy(same) in words(at)
    assert regression_words.limited(Network.of_upload(upload, (1.0, 1.0), 1e-6), 1.0) in words(at)
    text = words(at) + " ".join(header.value for header in at.header)
    assert "cannot be known" in text and "°C" in text
    for hidden in ("has an error of", "How many waves to keep", "true value", "If they rise with"):
        assert hidden not in text


def test_everything_in_the_folds_is_there_too_and_no_table_can_be_downloaded():
    at = shown(fold_regression_messages=True)
    assert not at.error and "noisy numbers, once" in words(at)
    assert any("Bottleneck" in table.value.columns for table in at.table) and not at.dataframe
    assert not at.code  # a command line would need the file
    at = shown(fold_numbers=True)
    assert not at.error and at.table and not at.dataframe
    public = {"What leaves it", "All of it gives ε"}  # the ledger holds sizes and budgets alone
    ledger = shown(fold_regression_ledger=True).dataframe
    assert ledger and all(public & {*frame.value.columns} for frame in ledger)


def test_one_site_can_protect_more_than_another():
    upload = own()
    at = shown(upload)
    labels = [at.text_input(key=f"w_own_epsilon_{k}").label for k in (0, 1)]
    assert "North (1,000)" in labels[0] and "South (2,000)" in labels[1]
    at.text_input(key="w_own_epsilon_1").set_value("0.5")
    ran(at)
    assert regression_words.accuracy(the_same(upload, (1.0, 0.5))) in words(at)
    at.text_input(key="w_own_epsilon_1").set_value("50")
    ran(at)
    assert "must lie between" in errors(at)
    assert regression_words.accuracy(the_same(upload, (1.0, 0.5))) in words(at)


def test_many_sites_share_one_budget():
    upload = own(rows=frame(3000, sites=[f"s{k:02d}" for k in range(20)]))
    at = shown(upload)
    assert "w_own_epsilon_0" not in {field.key for field in at.text_input}
    at.text_input(key="w_own_epsilon_all").set_value("3")
    ran(at)
    assert not at.error and regression_words.accuracy(the_same(upload, (3.0,) * 20)) in words(at)


def test_sites_of_a_file_never_enter_the_address_or_the_shared_results():
    run._SHARED._results.clear()
    at = shown()
    at.text_input(key="w_own_epsilon_0").set_value("0.7")
    ran(at)
    assert not at.query_params.get("s")
    token = links.encode(at.session_state.settings)
    assert "North" not in token and "1000" not in token and "network" not in token
    assert not any(
        getattr(result, "facts", None) and result.facts.kind == "upload"
        for result in run._SHARED._results.values()
    )
    assert at.session_state["own_results"]._results


@pytest.mark.slow
def test_evenly_spread_times_are_said_and_what_is_known_of_them_can_be_stated():
    at = shown(fold_regression_worst=True)
    wording.found("times taken spread", words(at), 0, 24)
    at.selectbox(key="w_design").set_value("weighted")
    ran(at)
    assert at.text_input(key="w_density").value == "1, 1"
    at.text_input(key="w_density").set_value("0.5, 1.5")
    ran(at)
    mechanism = at.session_state.settings.mechanism_of("wavelet_regression")
    assert (mechanism.design, mechanism.density) == ("weighted", "0.5, 1.5")
    wording.found("follow density state", words(at))
    assert regression_words.ONLY_EVEN in words(at)
    assert "The worst pair: " not in words(at) and regression_words.WORST_ONLY_EVEN in words(at)
    at.selectbox(key="w_design").set_value("released")
    ran(at)
    assert not at.error and "noisy density" in words(at)
    at.selectbox(key="w_design").set_value("even")
    ran(at)
    assert at.session_state.settings.mechanism_of("wavelet_regression") == WaveletGlobal()


def test_what_cannot_go_with_corrected_ends_is_refused_beside_the_choice():
    at = shown(own(periodic=False), "v-wavelet_global~v.edges-corrected")
    at.selectbox(key="w_design").set_value("released")
    ran(at)
    wording.found("periodic wavelets release", errors(at))
    assert at.session_state.settings.mechanism_of("wavelet_regression").design == "even"


def test_times_outside_the_stated_range_are_counted_for_the_holder_alone():
    at = shown(own(time_low=6))
    wording.found("observations outside time", [warning.value for warning in at.warning], 6, 24)


def test_one_goes_back_and_forth_between_simulated_and_own_readings():
    at = shown()
    at.selectbox(key="w_readings").set_value("Simulated")
    ran(at)
    wording.found("error", words(at))
    assert at.selectbox(key="w_network")
    at.selectbox(key="w_readings").set_value("Your observations")
    ran(at)
    wording.missing("error", words(at))
    assert "cannot be known" in words(at)


@pytest.mark.slow
def test_own_curves_and_own_readings_stay_apart():
    at = shown(upload=None)
    at.switch_page("../explore.py").run()
    wording.found("mean growth curve", at.title[0].value)
    at.query_params["s"] = "open-data"
    at.run()
    assert "Your curves" not in at.selectbox(key="w_source").options
    at = visit("regression", upload=own_curves(), show_upload=True)
    wording.found("error", words(at))
    assert "w_readings" not in {box.key for box in at.selectbox}


def test_budgets_that_allow_no_estimate_are_said():
    at = shown(own(40))
    assert "allow no estimate" in errors(at) and at.text_input(key="w_own_epsilon_0")


@pytest.mark.parametrize("page", few(["regression", "sparse"]))
def test_a_demonstration_that_others_may_reach_takes_no_files_and_says_why(monkeypatch, page):
    monkeypatch.setenv(visitors.UPLOADS_NAME, "off")
    at = visit(page, "open-options", upload_open=True)
    button = at.button(key="use_my_curves")
    assert button.disabled
    wording.found("machine own", button.help)
    assert not at.get("file_uploader")


def test_an_interval_for_own_readings_waits_for_the_statement_that_bounds_its_bias():
    at = shown()
    assert not at.error
    wording.found("confidence interval given", words(at))
    box = at.checkbox(key="w_class_stated")
    assert not box.value
    wording.found("know outside data", box.label)
    box.set_value(True)
    ran(at)
    assert "No confidence interval" not in words(at)
    wording.found("confidence interval", words(at))
    wording.found("you state", words(at))
