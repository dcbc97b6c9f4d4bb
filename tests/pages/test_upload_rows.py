"""Use my records: a row each, from the file to coefficients, predictions and densities."""

import re

import pytest

from engine.core.types import Budget
from engine.topics.sparse import answer as sparse_topic
from engine.topics.sparse import words as sparse_words
from engine.topics.summaries import answer as summaries_topic
from engine.topics.summaries import words as summary_words
from pages.shared.state import links, run, settings
from tests.heavy import few
from tests.pages.opening import visit
from tests.pages.own_file import answer, confirm, dropped, is_open, key_of, question, ran, show
from tests.pages.reading import words
from tests.sentences import of_topic
from tests.unit.test_upload_rows import NAMES, RISK, SPARSE, frame, own

wording = of_topic("upload")

DENSITY = "density"


@pytest.fixture
def panel(monkeypatch):
    """Open the panel with a file in it: ``panel(frame, page, token)``."""
    return lambda rows, page="sparse", token="": dropped(monkeypatch, rows, page, token)


def read(at, features=(), task=SPARSE):
    """Answer what is asked of the reading, and confirm it."""
    if features:
        at.multiselect(key=key_of(at, f"rows_features_{task}")).set_value(list(features))
        ran(at)
    if [radio for radio in at.radio if "ask_person" in radio.key]:
        answer(at, "person", "Every line")
    return confirm(at)


def errors(at):
    return " ".join(error.value for error in at.error)


def faults(at):
    """Errors other than the red light, which is a verdict on the sizes."""
    return [error.value for error in at.error if not error.value.startswith("Noise is")]


def state(at, **numbers):
    for name, value in numbers.items():
        at.text_input(key=f"upload_{name}").set_value(str(value))
    at.text_input(key="upload_origin").set_value("a manual")
    return ran(at)


def shown(task, upload, **more):
    page = "sparse" if task == SPARSE else "summaries"
    token = "" if task == SPARSE else f"summary-{task}"
    return visit(page, token, upload_rows=upload, show_upload_rows=True, **more)


ALL = {
    "rows_all_low": 0,
    "rows_all_high": 10,
    "covariate_y_low": 0,
    "covariate_y_high": 100,
    "reading_sd": 2,
}


# -- the panel --------------------------------------------------------------------------------


@pytest.mark.slow
def test_one_pair_of_bounds_serves_all_features_and_nothing_is_filled_from_the_file(panel):
    at = panel(frame())
    assert at.selectbox(key="rows_response").value == "y"
    read(at)
    for key in ("rows_all_low", "rows_all_high", "covariate_y_low", "reading_sd"):
        assert at.text_input(key=f"upload_{key}").value == ""
    assert at.selectbox(key="rows_reach").value is None
    state(at, **ALL)
    wording.found("say features lie", errors(at))
    at.selectbox(key="rows_reach").set_value(at.selectbox(key="rows_reach").options[0])
    ran(at)
    assert not faults(at)
    show(at, "sites")
    kept = at.session_state["upload_rows"]
    assert [c.name for c in kept.facts.covariates] == NAMES
    assert {(c.low, c.high) for c in kept.facts.covariates} == {(0, 10)}
    assert (kept.facts.reading_sd, kept.facts.reach) == (2, 4)
    assert at.selectbox(key="w_source_sparse_regression").value == "Your records"
    budget = Budget(1.0, 1 / 400**2)
    same = sparse_topic.sparse_answer(
        kept, settings.Settings().mechanism_of("sparse_regression"), budget, 1
    )
    assert sparse_words.accuracy(same) in words(at)


@pytest.mark.slow
def test_what_comes_first_is_said_before_anything_is_wrong(panel):
    at, first = read(panel(frame())), "State the lowest and highest possible “f0”"
    assert not faults(at) and any(first in box.value for box in at.info)
    at.text_input(key="upload_rows_all_high").set_value("10")
    assert first in errors(ran(at))


@pytest.mark.slow
def test_features_can_have_bounds_of_their_own(panel):
    at = read(panel(frame()))
    at.multiselect(key="rows_others").set_value(["f3"])
    ran(at)
    state(at, **ALL)
    wording.found("lowest highest possible", errors(at))
    at.selectbox(key="rows_reach").set_value(at.selectbox(key="rows_reach").options[0])
    state(at, covariate_f3_low=-5, covariate_f3_high=25)
    show(at)
    by_name = {c.name: (c.low, c.high) for c in at.session_state["upload_rows"].facts.covariates}
    assert by_name == {**dict.fromkeys(NAMES, (0, 10)), "f3": (-5, 25)}


def test_who_a_line_belongs_to_is_asked_and_several_lines_are_refused(panel):
    at = panel(frame())
    assert question(at, "person").value is None and is_open(at)
    twice = frame().drop(columns="site").assign(person_id=[f"p{k % 390}" for k in range(400)])
    wording.found("people several lines", errors(read(panel(twice))), 10, 390)


@pytest.mark.slow
def test_a_density_takes_one_column_or_two_and_no_response(panel):
    at = panel(frame(), "summaries", "summary-density")
    assert "rows_response" not in {box.key for box in at.selectbox}
    assert not at.error
    wording.found("one two columns", [info.value for info in at.info])
    state(read(at, ["f0"], DENSITY), covariate_f0_low=0, covariate_f0_high=10)
    show(at)
    kept = at.session_state["upload_rows"]
    assert at.selectbox(key="w_source_density").value == "Your records" and not at.error
    found = summaries_topic.summaries_answer(
        kept, settings.Settings().mechanism_of("density"), DENSITY, Budget(1.0, 1 / 400**2), 1
    )
    assert summary_words.compared(found) in words(at)


def test_a_prediction_asks_for_a_predictor_a_response_and_whether_it_is_a_class(panel):
    table = frame().assign(
        y=lambda t: (t["y"] > 50).map({True: "yes", False: "no"}),
        person_id=[f"p{k}" for k in range(400)],
    )
    at = panel(table, "summaries", f"summary-{RISK}")
    assert not at.error
    wording.found("one column predict", [info.value for info in at.info])
    read(at, ["f0"], RISK).toggle(key="rows_two_classes").set_value(True)
    assert len(at.session_state["upload_draft"].observations.server) == 400 and not errors(at)
    state(at, covariate_f0_low=0, covariate_f0_high=10, covariate_y_low=0, covariate_y_high=1)
    show(at)
    facts = at.session_state["upload_rows"].facts
    assert facts.two_classes and (facts.value_low, facts.value_high) == (0, 1)
    assert not at.error and not any("two classes" in info.value for info in at.info)


# -- on screen ----------------------------------------------------------------------------------


OWN = [
    (SPARSE, NAMES),
    (RISK, ["f0"]),
    (DENSITY, ["f0"]),
    pytest.param(DENSITY, ["f0", "f1"], marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("task", "names"), few(OWN))
def test_own_records_are_never_linked_or_shared_and_no_table_of_theirs_can_be_downloaded(
    task, names
):
    run._SHARED._results.clear()
    at = shown(task, own(task, names), fold_numbers=True)
    assert not faults(at) and not at.query_params.get("s") and not at.code
    token = links.encode(at.session_state.settings)
    assert "f0" not in token and "400" not in token and "upload" not in token
    assert not any(
        getattr(result, "facts", None) and result.facts.kind == "upload"
        for result in run._SHARED._results.values()
    )
    assert at.session_state["own_results"]._results and at.table
    ledger = {"What leaves it", "All of it gives ε"}  # sizes and budgets alone
    assert all(ledger & {*frame.value.columns} for frame in at.dataframe)


@pytest.mark.parametrize(("task", "names"), few(OWN))
def test_nothing_is_said_of_a_truth_that_nobody_knows(task, names):
    at = shown(task, own(task, names))
    text = words(at)
    assert "true coefficients" not in text and "the truth" not in text and "nan" not in text
    assert "without privacy" in text or "non-private" in text


def test_sparse_features_are_called_by_their_names_and_the_unit_is_explained():
    at = shown(SPARSE, own(SPARSE, NAMES), fold_numbers=True)
    assert any({"f0", "f1"} <= {*table.value.index} for table in at.table)
    wording.found("measured their means", words(at))
    assert re.search(r"Caution\].*4 standard", words(at))


def test_the_light_for_own_rows_follows_what_is_stated_and_never_the_rows():
    lights = set()
    for seed in (0, 1):
        at = shown(SPARSE, own(SPARSE, NAMES, frame(seed=seed)))
        lights.add(
            next(
                text.value
                for text in (*at.success, *at.warning, *at.error)
                if "times" in text.value
            )
        )
    assert len(lights) == 1
    at.text_input(key="sparse_smallest").set_value("1e6")
    ran(at)
    assert any("far below" in text.value for text in at.success)


def test_numbers_beyond_their_ranges_are_counted_for_the_holder():
    table = frame()
    table.loc[0, ["f0", "y"]] = [99.0, 700.0]
    at = shown(SPARSE, own(SPARSE, NAMES, table))
    wording.found("number response lay", [w.value for w in at.warning], 1, 1)


@pytest.mark.slow
def test_one_goes_back_and_forth_and_records_serve_only_what_was_declared_of_them():
    at = shown(SPARSE, own(SPARSE, NAMES))
    at.selectbox(key="w_source_sparse_regression").set_value("Ten machines, 50 features")
    ran(at)
    assert "the true ones" in words(at)
    at.selectbox(key="w_source_sparse_regression").set_value("Your records")
    ran(at)
    assert "the true ones" not in words(at)
    at = shown(DENSITY, own(SPARSE, NAMES))
    assert "Your records" not in at.selectbox(key="w_source_density").options
    at = shown(DENSITY, own(RISK, ["f0"]))
    assert at.selectbox(key="w_source_density").value == "Your records"


def test_rows_that_are_the_same_or_follow_from_each_other_are_no_fault_of_ours():
    table = frame().assign(f2=lambda t: t["f0"], f3=5.0, y=50.0)
    assert not faults(shown(SPARSE, own(SPARSE, NAMES, table)))
    for task in (RISK, DENSITY):
        assert not faults(shown(task, own(task, ["f3"], table)))


def test_the_chip_says_records_and_that_only_their_holder_may_look():
    from engine.language import tags

    tag, why = tags.source_tag(own(RISK, ["f0"]).facts)
    wording.found("records private", tag, alone=True)
    wording.found("holder these records", why)
