"""The Data form with stamps, units and numbers as people type them: asked, suggested, or stopped."""

import pandas as pd
import pytest

from engine.release import ledger
from tests import files
from tests.pages.own_file import (
    answer,
    back,
    choose,
    confirm,
    dropped,
    fill,
    holds,
    is_open,
    onward,
    opened,
    question,
    ran,
    show,
    typed_limits,
    when,
)
from tests.pages.reading import words
from tests.sentences import of_topic

wording = of_topic("upload")

FROM = "columns.time.from"


def days(people=12, value="glucose_mg_dl"):
    """A stamp every hour of one day for each person."""
    rows = [
        (f"P{k}", f"2024-03-11 {hour:02d}:{4 * k:02d}", 100.0 + 3 * ((k + hour) % 12))
        for k in range(people)
        for hour in range(24)
    ]
    return pd.DataFrame(rows, columns=["patient_id", "timestamp", value])


def of_day(at):
    """Confirm that stamps count the time of day."""
    return confirm(answer(at, FROM, "time of day"))


def errors(at):
    return " ".join(box.value for box in at.error).replace("\\", "")


def starts_from(at, bounds):
    """The times that are proposed, and limits of the library."""
    typed_limits(when(at))
    at.selectbox(key="upload_library").set_value(bounds).run()
    return at


def test_stamps_of_one_day_go_with_the_bounds_of_a_day_at_once(monkeypatch):
    at = dropped(monkeypatch, days())
    assert question(at, FROM).value is None
    wording.found("time day hours", question(at, FROM).options[0], alone=True)
    show(starts_from(of_day(at), "glucose_mg"))
    assert not at.error and not at.session_state["upload"].facts.is_proposed


def test_times_in_years_stop_at_a_range_in_hours_and_reading_them_again_mends_it(
    monkeypatch, tmp_path
):
    monkeypatch.setenv(ledger.VARIABLE, str(tmp_path / "ledger.sqlite3"))
    at = confirm(answer(dropped(monkeypatch, days()), FROM, "calendar"))
    typed_limits(when(at, "even", time_low=0, time_high=24, observations=24))
    at.selectbox(key="upload_library").set_value("glucose_mg").run()
    show(fill(at, time_unit="hours"))
    wording.found("times read years", errors(at))
    wording.found("say time counted", errors(at))
    at = back(back(back(at)))
    confirm(answer(at, FROM, "time of day"))
    show(when(at, "even", time_low=0, time_high=24, observations=24))
    assert not at.error and not at.session_state["upload"].facts.is_proposed
    assert at.session_state["upload_frozen"].changed == ("reading.columns.time.from",)


def test_days_may_be_counted_from_a_public_day(monkeypatch):
    at = dropped(monkeypatch, days())
    at.text_input(key="upload_since").set_value("2024-03-01")
    confirm(ran(at))
    assert at.session_state["upload_draft"].observations.times.min() == pytest.approx(10)


def test_values_that_mostly_lie_outside_their_bounds_stop_the_form(monkeypatch):
    at = show(
        starts_from(of_day(dropped(monkeypatch, days(value="level"))), "glucose")
    )  # in mmol/L
    wording.found("most observations lie", errors(at))
    assert at.session_state["upload_open"]


@pytest.mark.parametrize(
    ("name", "bounds", "unit"),
    [
        ("KWH/hh (per half hour)", "power", "kWh per half hour"),
        ("glucose_mg_dl", "glucose", "mg/dL"),
    ],
)
def test_a_unit_in_the_header_that_differs_is_said_and_has_to_be_answered(
    monkeypatch, name, bounds, unit
):
    frame = days(value=name)
    frame[name] = frame[name] % 12 + 3
    at = starts_from(of_day(dropped(monkeypatch, frame)), bounds)
    assert f"is in {unit} by its name" in errors(at) and is_open(at)
    (tick,) = [box for box in at.checkbox if "as stated" in box.label]
    tick.check().run()
    assert not is_open(at)


def test_the_unit_of_the_header_is_not_spoken_of_where_it_is_stated(monkeypatch):
    at = when(of_day(dropped(monkeypatch, days())), time_low=0, time_high=24, observations=24)
    fill(typed_limits(at), value_unit="MG/DL", value_low=40, value_high=400, origin="a manual")
    assert not at.error and not [box for box in at.checkbox if "as stated" in box.label]


def test_bounds_may_be_typed_with_a_decimal_comma_and_words_are_refused_in_their_place(monkeypatch):
    at = when(confirm(dropped(monkeypatch, files.growth_frame(30, 5))))
    fill(typed_limits(at), value_low="60,5", value_high="210", origin="a chart")
    assert not at.error and at.session_state["upload_draft"].declared.value_low == 60.5
    fill(at, value_low="abc")
    wording.found("not a number", errors(at))
    assert len(at.error) == 1 and is_open(at)
    fill(back(fill(at, value_low="60")), observations="4,5")
    wording.found("whole number", errors(at), "4,5")
    assert is_open(at)


def test_what_is_stated_stays_while_the_reading_is_changed(monkeypatch):
    frame = files.growth_frame(30, 5).assign(
        sex=lambda rows: ["fm"[sum(map(ord, str(person))) % 2] for person in rows.iloc[:, 0]]
    )
    at = typed_limits(when(confirm(dropped(monkeypatch, frame)), observations=4))
    fill(at, value_name="Weight", value_low=40, value_high=220, origin="a chart")
    choose(back(back(at)), group="sex")
    assert is_open(at)
    opened(at).multiselect(key="upload_ask_columns.group.words").set_value(["f"]).run()
    opened(at).multiselect(key="upload_ask_columns.group.words").set_value(["f", "m"]).run()
    onward(confirm(at))
    fields = {field.key: field for field in at.text_input}
    for name, text in (("value_name", "Weight"), ("value_low", "40"), ("origin", "a chart")):
        field = fields[f"upload_{name}"]
        assert field.value == text and field.proto.value == text
        assert field.proto.set_value  # the browser, which begins with an empty field, is told
    assert not is_open(at)


def test_a_detail_that_comes_back_with_its_answer_is_told_to_the_browser(monkeypatch):
    at = confirm(dropped(monkeypatch, files.growth_frame(30, 5)))
    at.radio(key="upload_law").set_value("visits").run()
    fill(at, gap="0,5")
    for law in ("even", "unknown", "visits"):
        at.radio(key="upload_law").set_value(law).run()
    field = at.text_input(key="upload_gap")
    assert field.value == "0,5" and field.proto.set_value
    assert not at.run().text_input(key="upload_gap").proto.set_value  # what is typed stays


def test_a_file_that_the_uploader_forgot_is_named_and_can_be_removed(monkeypatch):
    at = confirm(dropped(monkeypatch, files.growth_frame(30, 5)))
    assert ": own.csv" not in words(at)
    holds(monkeypatch, None)
    ran(at)
    assert ": own.csv" in words(at)
    at.button(key="remove_file").click()
    ran(at)
    assert "own.csv" not in words(at) and not at.text_input and not at.error
    kept = at.session_state["answers_of_form"]  # words and numbers that were typed, and no table
    of_file = ("upload_read", "upload_draft", "upload_held", "upload_proposed")
    assert not any(name in at.session_state or name in kept for name in of_file)
