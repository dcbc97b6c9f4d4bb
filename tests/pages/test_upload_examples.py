"""An example in place of a file: what is publicly known of its invented people is stated already."""

import pytest

from engine.core.tasks import PERCENTILE_CURVES, PUBLISHED, SPARSE_REGRESSION
from engine.release import ledger
from tests.heavy import few
from tests.pages.opening import visit
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


@pytest.mark.parametrize("what", few(["survival", *PUBLISHED]))
def test_whoever_uses_an_example_has_nothing_left_to_invent(what):
    at = with_example(what)
    assert not at.error and not at.warning and not at.button(key="wizard_next").disabled
    at.button(key="wizard_next").click().run()
    assert not at.exception and not at.error


def test_other_answers_are_priced_beside_the_facts_and_a_guess_changes_the_forecast():
    at = with_example("mean")
    at.toggle(key="price_of_facts").set_value(True).run()
    priced = [text.value for text in at.markdown if "in place of ±" in text.value]
    assert len(priced) == 1 and "symmetric" in priced[0] and "cm" in priced[0]
    at.text_input(key="upload_guessed_spread").set_value("5").run()
    at.button(key="wizard_next").click().run()
    assert not at.exception and not at.error
    wording.found(
        "within cm average", [text.value.replace("\xa0", " ") for text in at.markdown], 5.0
    )


@pytest.mark.slow
def test_an_example_for_sparse_regression_is_whole_in_the_dialog_of_lab():
    at = visit("lab", "estimand-sparse", upload_open=True)
    at.button(key="use_example").click().run()
    assert not at.button(key="upload_show").disabled, SPARSE_REGRESSION.key


def test_facts_of_an_example_go_with_it_and_those_that_were_changed_stay():
    at = with_example(PERCENTILE_CURVES.key)
    at.text_input(key="upload_value_high").set_value("210").run()
    at.button(key="remove_file").click().run()
    at.button(key="use_example").click().run()
    assert at.text_input(key="upload_value_high").value == "205"
    facts = at.session_state["upload_example"]
    at.button(key="remove_file").click().run()
    answers = at.session_state["answers_of_form"]
    assert facts and not any(answers[key] == fact for key, fact in facts.items())
