"""What a file is good for is proposed once it is there: a survival curve, an average, an ROC curve."""

import pytest

from engine.uploads.looking import likely_task
from tests import files
from tests.pages.opening import visit
from tests.pages.own_file import FIRST, bring, onward, ran
from tests.pages.test_upload_events import SCORES, TRIAL, VALUES

GROWTH = files.csv(files.growth_frame(40, 5))
READINGS = "id,time,status\n" + "".join(f"{k},{k % 50},{k % 2}\n" for k in range(120))


@pytest.mark.parametrize(
    ("content", "task"),
    [
        (GROWTH, "mean_function"),
        (TRIAL.encode(), "survival"),
        (READINGS.encode(), "survival"),
        (SCORES.encode(), "roc"),
        (VALUES.encode(), "distribution"),
        (files.csv(files.days_frame(20)), "mean_function"),
    ],
    ids=["visits", "trial", "time and status", "scores", "one number", "wide"],
)
def test_a_file_proposes_the_estimand_that_its_columns_suit(content, task):
    assert likely_task(content) == task


def test_publish_asks_what_a_survival_file_is_for_before_its_first_question(monkeypatch):
    bring(monkeypatch, TRIAL)
    at = visit("publish")
    kinds = at.radio(key="question_of_kind")
    assert kinds.value == "survival" and len(kinds.options) == 4
    assert onward(at).session_state["settings"].published_task == "survival"
    assert FIRST in [header.value for header in at.header] and not at.error


def test_a_file_of_curves_is_asked_nothing_about_its_kind(monkeypatch):
    bring(monkeypatch, GROWTH)
    assert "question_of_kind" not in {radio.key for radio in visit("publish").radio}


def test_explore_shows_a_survival_file_as_a_survival_curve_and_never_as_curves_unasked(monkeypatch):
    bring(monkeypatch, TRIAL)
    at = visit("explore")
    assert "upload" not in at.session_state and not at.error
    at.button(key="other_kind").click()
    ran(at)
    assert at.session_state["upload_events"].facts.is_proposed
    assert at.session_state["settings"].counted_task == "survival"
