"""Use my people: times, values or scores from the file to a protected curve."""

import pytest

from tests.pages.opening import visit
from tests.pages.own_file import (
    answer,
    back,
    choose,
    confirm,
    dropped,
    is_open,
    key_of,
    opened,
    question,
    ran,
    said,
    show,
)
from tests.sentences import of_topic

wording = of_topic("counting")

TRIAL = "patient,days,end,arm,site\n" + "".join(
    f"p{k},{1 + 37 * k % 900},{('alive', 'death', 'relapse')[k % 3]},{'AB'[k % 5 % 2]},{'NS'[k % 2]}\n"
    for k in range(300)
)
DATED = "patient,start,end,status\n" + "".join(
    f"p{k},3/4/2020,{1 + k % 12}/{1 + k % 12}/2021,{('alive', 'death')[k % 2]}\n"
    for k in range(300)
)
VALUES = "patient,value\n" + "".join(f"p{k},{k * 7 % 100}\n" for k in range(300))
SCORES = "patient,score,label\n" + "".join(
    f"p{k},{k * 7 % 100 / 100},{('no', 'yes')[k % 3 > 1]}\n" for k in range(300)
)
LATE = "patient,entry,days,status\n" + "".join(
    f"p{k},{k % 9},{20 + k % 50},{('alive', 'death')[k % 2]}\n" for k in range(300)
)
WORDS, GROUP = "columns.status.words", "columns.group.words"


@pytest.fixture
def dialog(monkeypatch):
    """Open the dialog with a file in it: ``dialog(text, task)``."""
    return lambda text, task="survival": dropped(
        monkeypatch, text, "lab", f"estimand-survival~counted-{task}"
    )


def events(at, *texts):
    """State which texts are events, or the label."""
    asked = opened(at).multiselect(key=key_of(at, f"upload_ask_{WORDS}"))
    asked.set_value(
        [option for option in asked.options if any(f"“{text}”" in option for text in texts)]
    )
    return ran(at)


def state(at, **numbers):
    for name, value in {**numbers, "origin": "a protocol"}.items():
        at.text_input(key=f"upload_{name}").set_value(str(value))
    return ran(at)


def test_a_survival_file_is_looked_at_without_a_question(dialog):
    at = dialog(TRIAL)
    assert at.session_state["upload_events"].facts.is_proposed
    wording.found("range days comes", said(at), 0, 900)


def test_events_and_groups_are_asked_for_and_never_guessed(dialog):
    at = dialog(TRIAL)
    asked = opened(at).multiselect(key=f"upload_ask_{WORDS}")
    assert asked.value == [] and len(asked.options) == 3
    assert is_open(at)
    choose(events(at, "death", "relapse"), group="arm")
    assert is_open(at)
    opened(at).multiselect(key=f"upload_ask_{GROUP}").set_value(["A", "B"])
    confirm(ran(at))
    assert at.text_input(key="upload_time_high").value == ""
    show(state(at, time_high=900))
    assert not at.error and "Private log-rank test" in said(at)
    source = at.session_state["upload_events"]
    assert source.facts.time_high == 900 and source.facts.causes == ("death", "relapse")
    assert source.facts.groups == ("A", "B") and not source.facts.group_sizes
    assert source.reading.columns["status"].other == "censored"


@pytest.mark.slow
def test_public_sizes_of_groups_must_be_true_and_intervals_may_be_stated(dialog):
    at = choose(events(dialog(TRIAL), "death"), group="arm")
    opened(at).multiselect(key=f"upload_ask_{GROUP}").set_value(["A", "B"])
    confirm(ran(at))
    at.toggle(key="upload_event_sizes_public").set_value(True)
    at.text_input(key="upload_event_edges").set_value("0, 100, 300, 600, 900")
    show(state(ran(at), time_high=900, time_step=1, event_size_0=100, event_size_1=200))
    assert at.session_state["upload_open"] and "stated as public" in said(at)
    b = sum(line.split(",")[3] == "B" for line in TRIAL.splitlines())
    show(state(back(at), event_size_0=300 - b, event_size_1=b))
    facts = at.session_state["upload_events"].facts
    assert not at.error and facts.group_sizes == (300 - b, b) and facts.time_step == 1


def test_dates_of_start_and_end_become_days_once_their_order_is_said(dialog):
    at = events(dialog(DATED), "death")
    for role in ("start", "time"):
        answer(at, f"columns.{role}.order", "Day first")
    show(state(confirm(at), time_high=900))
    source = at.session_state["upload_events"]
    assert source.facts.time_unit == "days" and source.events.time.min() > 200


@pytest.mark.parametrize(
    ("task", "text", "label", "high"),
    [("distribution", VALUES, "", 100), ("roc", SCORES, "yes", 1)],
)
def test_values_and_scores_have_a_range_that_is_stated(dialog, task, text, label, high):
    at = dialog(text, task)
    if label:
        events(at, label)
    show(state(confirm(at), time_low=0, time_high=high))
    assert not at.error
    wording.found("root mean", said(at))
    source = at.session_state["upload_events"]
    assert source.serves(task) and not source.serves("survival")
    assert "Your people" not in said(visit("lab", "estimand-survival", upload_events=source))


STARTS = "columns.start.from"


def test_starts_are_late_entries_only_where_the_holder_says_so(dialog):
    at = events(dialog(LATE), "death")
    assert question(at, STARTS).value is None and is_open(at)
    show(state(confirm(answer(at, STARTS, "Late entry")), time_high=100))
    source = at.session_state["upload_events"]
    assert not at.error and source.facts.late_entry
    assert source.events.entry.max() == 8 and source.events.time.max() == 69
    wording.found("late entry independent", said(at))


@pytest.mark.slow
def test_starts_are_taken_off_times_only_where_the_holder_says_so(dialog):
    at = events(dialog(LATE), "death")
    show(state(confirm(answer(at, STARTS, "Time since start")), time_high=100))
    source = at.session_state["upload_events"]
    assert not source.facts.late_entry and source.events.entry is None
    assert source.events.time.sum() < sum(20 + k % 50 for k in range(300))


@pytest.mark.slow
def test_an_adjusted_curve_is_asked_for_with_sizes_and_weights(dialog):
    at = choose(events(dialog(TRIAL), "death"), group="arm")
    at.multiselect(key=f"upload_ask_{GROUP}").set_value(["A", "B"])
    confirm(ran(at))
    at.toggle(key="upload_event_sizes_public").set_value(True)
    ran(at).toggle(key="upload_event_adjusted").set_value(True)
    b = sum(line.split(",")[3] == "B" for line in TRIAL.splitlines())
    sizes = {"event_size_0": 300 - b, "event_size_1": b}
    state(ran(at), time_high=900, **sizes, event_weight_0=0.5, event_weight_1=0.4)
    assert "sum to 1" in said(at) and is_open(at)
    show(state(at, event_weight_1=0.5))
    assert at.session_state["upload_events"].facts.group_weights == (0.5, 0.5)


def test_incidences_need_several_causes(dialog):
    at = show(state(confirm(events(dialog(TRIAL, "cumulative_incidence"), "death")), time_high=900))
    assert "several causes" in said(at) and at.session_state["upload_open"]


def test_how_many_lie_outside_what_was_stated_stands_beside_ones_own_data_alone(dialog):
    at = show(state(confirm(events(dialog(TRIAL), "death")), time_high=500))
    wording.found("beyond stated end", said(at))
    assert "only to you" in said(at)


@pytest.mark.slow
def test_a_column_that_is_chosen_as_the_entry_is_not_asked_about(dialog):
    at = choose(events(dialog(LATE), "death"), entry="entry")
    assert not [radio for radio in at.radio if radio.key == key_of(at, f"upload_ask_{STARTS}")]
    show(state(confirm(at), time_high=100))
    assert at.session_state["upload_events"].facts.late_entry


SEEN = "patient,free,found\n" + "".join(
    f"p{k},{6 * (k % 4)},{6 * (k % 4) + 6 if k % 3 else ''}\n" for k in range(300)
)


def test_two_visits_take_the_place_of_a_time_and_its_status(dialog):
    at = answer(dialog(SEEN), "columns.status", "“free” is the last visit without")
    answer(at, "columns.time", "found")
    confirm(ran(at))
    at = state(at, time_high=24)
    wording.found("public times visits", said(at))
    show(state(at, event_edges="0, 6, 12, 18, 24"))
    source = at.session_state["upload_events"]
    assert not at.error and source.facts.at_visits and len(source.facts.edges) == 5
    wording.found("missed visits", said(at))
