"""Use my people: times, values or scores from the file to a protected curve."""

from types import SimpleNamespace

import pytest
import streamlit as st

from tests.pages.opening import trust, visit

EVERY = "every row is another person"
TRIAL = "patient,days,end,arm,site\n" + "".join(
    f"p{k},{1 + 37 * k % 900},{('alive', 'death', 'relapse')[k % 3]},{'AB'[k % 5 % 2]},{'NS'[k % 2]}\n" for k in range(300))
DATED = "patient,start,end,status\n" + "".join(
    f"p{k},3/4/2020,{1 + k % 12}/{1 + k % 12}/2021,{('alive', 'death')[k % 2]}\n" for k in range(300))
VALUES = "patient,value\n" + "".join(f"p{k},{k * 7 % 100}\n" for k in range(300))
SCORES = "patient,score,label\n" + "".join(f"p{k},{k * 7 % 100 / 100},{('no', 'yes')[k % 3 > 1]}\n" for k in range(300))


@pytest.fixture
def dialog(monkeypatch):
    """Open the dialog with a file in it: ``dialog(text, task, page)``."""
    def dialog(text, task="survival", token=""):
        result = SimpleNamespace(file_id=str(hash(text)), name="a.csv", getvalue=text.encode)
        monkeypatch.setattr(st, "file_uploader", lambda *_, **__: result)
        return visit("lab", f"estimand-survival~counted-{task}{token}", upload_open=True)
    return dialog


def ran(at):
    at.run()
    assert not at.exception
    return at


def said(at):
    return " ".join(element.value for kind in (at.error, at.info, at.warning, at.markdown) for element in kind)


def choose(at, **columns):
    for name, value in columns.items():
        at.selectbox(key=f"upload_{name}").set_value(value)
    return ran(at)


def state(at, **numbers):
    trust(at)
    for name, value in numbers.items():
        at.text_input(key=f"upload_{name}").set_value(str(value))
    at.text_input(key="upload_origin").set_value("a protocol")
    return ran(at)


def show(at):
    at.button(key="upload_show").click()
    return ran(at)


def test_status_codes_groups_and_people_are_asked_for_and_never_guessed(dialog):
    at = choose(dialog(TRIAL), event_time="days", event_status="end")
    assert at.multiselect(key="upload_event_codes_end").value == [] and "which status values" in said(at)
    assert at.multiselect(key="upload_event_codes_end").options == ["alive", "death", "relapse"]
    at.multiselect(key="upload_event_codes_end").set_value(["death", "relapse"])
    choose(at, who="patient", event_group="arm")
    assert "two groups that are compared" in said(at) and at.button(key="upload_show").disabled
    at.multiselect(key="upload_event_groups_arm").set_value(["A", "B"])
    assert "**300 people**" in said(trust(ran(at)))
    assert at.text_input(key="upload_time_high").value == "" and "planned follow-up" in said(at)
    show(state(at, time_high=900))
    assert not at.error and "300 people" in said(at) and "Private log-rank test" in said(at)
    source = at.session_state.upload_events
    assert source.facts.time_high == 900 and source.facts.causes == ("death", "relapse")
    assert source.facts.groups == ("A", "B") and not source.facts.group_sizes


@pytest.mark.slow
def test_public_sizes_of_groups_must_be_true_and_intervals_may_be_stated(dialog):
    at = choose(dialog(TRIAL), event_time="days", event_status="end", who="patient", event_group="arm")
    at.multiselect(key="upload_event_codes_end").set_value(["death"])
    at.multiselect(key="upload_event_groups_arm").set_value(["A", "B"])
    ran(at)
    trust(at).toggle(key="upload_event_sizes_public").set_value(True)
    at.text_input(key="upload_event_edges").set_value("0, 100, 300, 600, 900")
    ran(state(ran(at), time_high=900, event_size_0=100, event_size_1=200))
    assert at.button(key="upload_show").disabled and "stated as public" in said(at)
    b = sum(line.split(",")[3] == "B" for line in TRIAL.splitlines())
    ran(state(at, event_size_0=300 - b, event_size_1=b))
    assert not at.button(key="upload_show").disabled and not at.error


@pytest.mark.slow
def test_dates_of_start_and_end_become_days_once_their_order_is_said(dialog):
    at = choose(dialog(DATED), who="patient")
    at.multiselect(key="upload_event_codes_status").set_value(["death"])
    ran(at)
    assert "two ways" in said(at) or "day/month/year" in said(at)
    choose(at, dates=True)
    assert "days from “start” to “end”" in said(at)
    show(state(at, time_high=900))
    assert at.session_state.upload_events.facts.time_unit == "days"
    assert at.session_state.upload_events.events.time.min() > 200


@pytest.mark.slow
@pytest.mark.parametrize(("task", "text", "columns", "label"), [
    ("distribution", VALUES, {"event_time": "value"}, None),
    ("roc", SCORES, {"event_time": "score", "event_status": "label"}, "event_codes_label")])
def test_values_and_scores_have_a_range_that_is_stated(dialog, task, text, columns, label):
    at = choose(dialog(text, task), **columns, who=EVERY)
    if label:
        at.multiselect(key=f"upload_{label}").set_value(["yes"])
        ran(at)
    show(state(at, time_low=0, time_high=100 if task == "distribution" else 1))
    assert not at.error and "root mean squared distance from the" in said(at)
    assert at.session_state.upload_events.serves(task) and not at.session_state.upload_events.serves("survival")
    assert "Your people" not in said(visit("lab", "estimand-survival", upload_events=at.session_state.upload_events))


def test_incidences_need_several_causes(dialog):
    at = choose(dialog(TRIAL, "cumulative_incidence"), event_time="days", event_status="end", who="patient")
    at.multiselect(key="upload_event_codes_end").set_value(["death"])
    ran(at)
    state(at, time_high=900)
    assert at.button(key="upload_show").disabled and "several causes" in said(at)


def test_how_many_lie_outside_what_was_stated_stands_beside_ones_own_data_alone(dialog):
    at = choose(dialog(TRIAL), event_time="days", event_status="end", who="patient")
    at.multiselect(key="upload_event_codes_end").set_value(["death"])
    ran(at)
    show(state(at, time_high=500))
    assert "beyond the stated end" in said(at) and "only to you" in said(at)
