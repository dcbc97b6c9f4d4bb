"""An example in place of a file: what is publicly known of its invented people is stated already."""

import pytest

from engine.core.tasks import PERCENTILE_CURVES, PUBLISHED, SPARSE_REGRESSION
from engine.release import ledger
from tests.heavy import few
from tests.pages.opening import visit
from tests.pages.own_file import confirm, fill, is_open, onward, typed_limits, when
from tests.sentences import of_topic

wording = of_topic("upload")


@pytest.fixture(autouse=True)
def _own_ledger(tmp_path, monkeypatch):
    monkeypatch.setenv(ledger.VARIABLE, str(tmp_path / "ledger.sqlite3"))


def with_example(what):
    at = visit("publish", f"publish-{what}")
    at.button(key="use_example").click().run()
    assert not at.exception
    return at


def accepted(at):
    """Every question answered as it is proposed; the way ends at what follows them."""
    n_questions = 0
    while [button for button in at.button if button.key == "question_next"]:
        assert not at.error and not at.warning and not is_open(at)
        onward(at)
        n_questions += 1
    return at, n_questions


@pytest.mark.parametrize("what", few(["survival", *PUBLISHED]))
def test_whoever_uses_an_example_has_nothing_left_to_invent(what):
    at, n_questions = accepted(with_example(what))
    assert not at.error and n_questions in (4, 5)
    wording.found("preview simulated data", [header.value for header in at.header], 2)


@pytest.mark.slow
def test_an_example_for_sparse_regression_is_whole_in_the_dialog_of_lab():
    at = visit("lab", "estimand-sparse", upload_open=True)
    at.button(key="use_example").click().run()
    at, n_questions = accepted(at)
    assert n_questions == 3 and not at.session_state["upload_open"], SPARSE_REGRESSION.key


def test_facts_of_an_example_go_with_it_and_those_that_were_changed_stay():
    at = typed_limits(when(confirm(with_example(PERCENTILE_CURVES.key))))
    fill(at, value_high="210")
    at.button(key="other_data").click().run()
    at.button(key="remove_file").click().run()
    at.button(key="use_example").click().run()
    assert when(confirm(at)).session_state["upload_draft"].declared.value_high == 205
    facts = at.session_state["upload_example"]
    at.button(key="other_data").click().run()
    at.button(key="remove_file").click().run()
    answers = at.session_state["answers_of_form"]
    assert facts and not any(answers[key] == fact for key, fact in facts.items())
