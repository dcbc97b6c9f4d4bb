"""Stamps, clock times and elapsed times: what they are counted from, and ranges that do not fit."""

import json
from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.types import Budget
from engine.exports.code_for import OwnFile
from engine.mechanisms import mechanisms
from engine.release import request
from engine.uploads import people
from engine.uploads.bounds_library import public_bounds
from engine.uploads.curves import Upload
from engine.uploads.design import StatedDesign
from engine.uploads.facts import declare
from engine.uploads.proposal import propose
from engine.uploads.reading_of_files import Reading
from engine.uploads.records import curves_of
from engine.uploads.units import same_unit, unit_in_name
from tests.readings import curves_in, upload_of
from tests.sentences import of_topic

wording = of_topic("upload")

UNKNOWN = StatedDesign(law="unknown")


def file(stamps, name="timestamp", values="glucose_mg_dl"):
    """A row for each stamp of each person, with values around 120."""
    rows = [
        f"{person},{stamp},{100 + 7 * k % 40}"
        for person, own in stamps.items()
        for k, stamp in enumerate(own)
    ]
    return "\n".join([f"person_id,{name},{values}", *rows]).encode()


def read(content, **stated):
    return curves_in(content, **stated)


def suggested(content):
    """What the times of a file count by the proposal; in the header, the times themselves."""
    reading = propose(content).likely
    return (
        reading.columns["time"].counted
        if "time" in reading.columns
        else tuple(time for _, time in reading.at)
    )


def curves_as(content, counted):
    """Curves whose times count what a reading says."""
    plain = propose(content).reading.to_plain()
    plain["columns"]["time"]["from"] = counted
    return curves_of(people.read(content, Reading.of(plain)))


def sites_in(content):
    """True if a column is offered as one of sites."""
    return "columns.site" in [question.field for question in propose(content).ask]


def day(of, date="2024-03-11", first=0):
    return [f"{date} {hour:02d}:{5 * of % 60:02d}:37" for hour in range(first, 24)]


MONITORS = file({f"P{k}": day(k, f"2024-03-{11 + k}") for k in range(12)})


def test_stamps_of_one_day_are_suggested_as_hours_of_the_day_and_read_so():
    assert suggested(MONITORS) == "hours of day"
    curves = read(MONITORS, of_day="hours")
    assert curves.time_unit == "hours" and 0 <= curves.times.min() <= curves.times.max() < 24
    inside = declare(40, 400, 0, 24, "manual", design=UNKNOWN, observations=24, time_unit="hours")
    assert Upload(curves=curves, declared=inside).n_clipped.times == 0


def test_a_night_across_midnight_is_suggested_from_the_first_observation_of_each_person():
    night = ["2024-03-11 22:30", "2024-03-12 01:00", "2024-03-12 06:15"]
    content = file({f"P{k}": night for k in range(5)})
    wording.found("hours since first", suggested(content), alone=True)
    assert read(content, from_first="hours").times[:3] == pytest.approx([0, 2.5, 7.75])


def test_visits_on_different_days_keep_the_calendar_and_nobody_alone_changes_a_suggestion():
    visits = file({f"P{k}": ["2023-01-02", "2023-06-02", "2024-01-02"] for k in range(5)})
    assert suggested(visits) == "calendar years"
    late = file(
        {**{f"P{k}": day(k) for k in range(12)}, "Q": ["2024-03-11 08:00", "2024-05-11 08:00"]}
    )
    assert suggested(late) == "hours of day"


def test_stamps_in_the_header_of_a_wide_file_are_suggested_and_read_as_times_of_day():
    content = b"id,2024-03-11 00:30,2024-03-11 12:00,2024-03-11 23:30\na,1,2,3\nb,2,3,4\n"
    assert suggested(content) == (0.5, 12, 23.5)
    assert read(content, of_day="hours").header_times == (0.5, 12, 23.5)


@pytest.mark.parametrize(
    ("unit", "half_past_one"), [("hours", 13.5), ("minutes", 810), ("seconds", 48600)]
)
def test_the_time_of_day_has_the_unit_that_is_asked_for(unit, half_past_one):
    for stamp in ("2024-03-11 13:30", "13:30", "1:30 pm"):
        curves = read(file({"a": [stamp, stamp]}), of_day=unit)
        assert curves.times == pytest.approx([half_past_one] * 2) and curves.time_unit == unit


@pytest.mark.parametrize(("unit", "minutes"), [("seconds", 1 / 60), ("minutes", 1), ("hours", 60)])
def test_time_from_the_first_observation_may_be_short(unit, minutes):
    content = file({"a": ["2024-03-11 13:30", "2024-03-11 14:45"], "b": ["9:00", "9:00"]})
    content = content.replace(b"b,9:00", b"b,2024-03-12 09:00")
    curves = read(content, from_first=unit)
    assert max(curves.times) * minutes == pytest.approx(75)


RUNS = file({f"r{k}": ["0:00:00", "1:40:00", "26:10:30"] for k in range(4)}, "elapsed", "bpm")


def test_elapsed_times_are_recognised_by_their_name_or_by_passing_a_day():
    assert suggested(RUNS) == "hours"
    assert suggested(RUNS.replace(b"elapsed", b"time")) == "hours"
    clock = RUNS.replace(b"26:10:30", b"16:10:30")
    assert suggested(clock) == "hours"
    assert suggested(clock.replace(b"elapsed", b"time")) == "hours of day"


@pytest.mark.parametrize(
    ("unit", "times"),
    [("hours", [0, 5 / 3, 26.175]), ("minutes", [0, 100, 1570.5]), ("seconds", [0, 6000, 94230])],
)
def test_elapsed_times_are_read_in_the_unit_that_is_asked_for(unit, times):
    curves = read(RUNS, elapsed=unit)
    assert curves.times[:3] == pytest.approx(times) and curves.time_unit == unit


def test_only_what_can_be_counted_so_is_counted_so():
    for stated in ({"of_day": "hours"}, {"elapsed": "hours"}, {"from_first": "hours"}):
        with pytest.raises(InputError, match="counted from a beginning"):
            read(b"id,time,value\na,1,2\na,3,4\n", **stated)
    for wrong in (
        {"of_day": "days"},
        {"elapsed": "fortnights"},
        {"of_day": "hours", "elapsed": "hours"},
        {"since": "2024-02-30"},
        {"from_first": "days", "since": "2024-01-01"},
    ):
        with pytest.raises(InputError) as refused:
            read(MONITORS, **wrong)
        assert refused.value.field in wrong


@pytest.mark.parametrize("stated", [{"of_day": "minutes"}, {"from_first": "hours"}])
def test_a_request_reads_stamps_as_the_page_did(stated, tmp_path):
    (tmp_path / "days.csv").write_bytes(MONITORS)
    source = upload_of(
        MONITORS, declare(40, 400, 0, 1440, "a plan", observations=24, design=UNKNOWN), **stated
    )
    plain = request.to_plain(
        source,
        mechanisms.build("adaptive_mean", {}),
        Budget(1.0, 1e-4),
        OwnFile("days.csv", source.reading),
    )
    (again,) = request.from_json(json.dumps(plain | {"name": "days"}), tmp_path)
    assert again.source.curves.times.tolist() == source.curves.times.tolist()


# -- ranges that cannot be those of the file


def test_a_range_in_hours_stops_times_that_are_read_in_years():
    curves, glucose = curves_as(MONITORS, "calendar years"), public_bounds()["glucose_mg"]
    facts = declare(
        glucose.value_low,
        glucose.value_high,
        glucose.time_low,
        glucose.time_high,
        glucose.source,
        design=UNKNOWN,
        observations=24,
        time_unit=glucose.time_unit,
    )
    with pytest.raises(InputError, match="are in years, and your range is in hours") as no:
        Upload(curves=curves, declared=facts)
    wording.found("time counted", no.value.hint)
    with pytest.raises(
        InputError, match="Of nearly all people most observations lie outside the stated range of"
    ):
        Upload(curves=curves, declared=replace(facts, time_unit=""))
    hours = read(MONITORS, of_day="hours")
    assert Upload(curves=hours, declared=facts).n_clipped.times == 0
    assert Upload(curves=hours, declared=replace(facts, time_unit="h"))  # the same unit


def test_one_person_with_many_observations_outside_does_not_decide_whether_a_file_is_refused():
    """People are counted: 401 of one person beside 50 others, then all of 49, and of 51 people."""

    def upload(outside):
        content = "\n".join(
            ["id,time,value", *outside, *(f"p{k},{t},100" for k in range(50) for t in range(8))]
        )
        return Upload(
            curves=read(content.encode()),
            declared=declare(50, 150, 0, 10, "manual", design=UNKNOWN, observations=8),
        )

    assert upload([f"q,{t / 50},1e9" for t in range(401)]).n_clipped.values == 401
    assert upload([f"q{k},{t},1e9" for k in range(49) for t in range(8)])
    with pytest.raises(InputError, match="more than half of the people"):
        upload([f"q{k},{t},1e9" for k in range(51) for t in range(8)])


@pytest.mark.parametrize(
    ("low", "high", "is_refused"),
    [(130, 400, True), (2.2, 22.2, True), (112, 400, False), (40, 400, False)],
)
def test_values_that_mostly_lie_outside_their_bounds_stop_and_few_do_not(low, high, is_refused):
    curves = read(MONITORS, of_day="hours")
    facts = declare(low, high, 0, 24, "manual", design=UNKNOWN, observations=24)
    assert (((curves.values < low) | (curves.values > high)).mean() > 0.5) == is_refused
    if is_refused:
        with pytest.raises(InputError, match="outside the stated range of value"):
            Upload(curves=curves, declared=facts)
    else:
        Upload(curves=curves, declared=facts)


def test_a_refusal_says_neither_a_value_nor_how_many_lie_outside():
    curves = read(MONITORS, of_day="hours")
    texts = set()
    for high in (np.quantile(curves.values, q) for q in (0.05, 0.1)):
        with pytest.raises(InputError) as no:
            Upload(
                curves=replace(curves, values=curves.values + high),
                declared=declare(0, 130, 0, 24, "manual", design=UNKNOWN, observations=24),
            )
        texts.add(str(no.value))
    assert len(texts) == 1


def test_single_observations_may_lie_beyond_the_bounds_of_their_curve():
    facts = declare(100, 101, 0, 24, "manual", design=UNKNOWN, single=True, reading_sd=9.0)
    curves = read(file({f"P{k}": day(k)[k : k + 1] for k in range(20)}), of_day="hours")
    assert Upload(curves=curves, declared=facts).is_single


# -- names of columns


@pytest.mark.parametrize(
    "name",
    ["site", "Clinic", "hospital_id", "school", "ward", "study_site", "region_name", "centre code"],
)
def test_sites_are_recognised_by_words_for_them(name):
    assert sites_in(f"id,{name},time,value\na,N,1,2\na,N,2,3\n".encode())


def test_the_best_known_file_of_smart_meters_needs_no_columns_chosen():
    reading = propose(
        b"LCLid,tstp,KWH/hh (per half hour) \nM1,16/01/2024 00:00,2.1\nM1,16/01/2024 00:30,Null\n"
    ).reading
    assert (
        reading.person.column,
        reading.columns["time"].name,
        reading.columns["value"].name,
    ) == reading.frame.header


@pytest.mark.parametrize(
    "name", ["school_year", "site_visit_date", "clinic_day", "hospital_stay", "region_months"]
)
def test_what_only_begins_like_a_site_is_none(name):
    assert not sites_in(f"id,{name},time,value\na,N,1,2\na,N,2,3\n".encode())


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("KWH/hh (per half hour) ", "kWh per half hour"),
        ("glucose_mg_dl", "mg/dL"),
        ("Glucose (mmol/L)", "mmol/l"),
        ("bpm", "per minute"),
        ("Height [cm]", "cm"),
        ("Temperature °C", "°C"),
    ],
)
def test_units_in_names_are_recognised_however_they_are_written(name, unit):
    assert same_unit(unit_in_name(name), unit) and not same_unit(unit_in_name(name), "kW")


def test_a_name_without_a_unit_says_none():
    assert not any(map(unit_in_name, ("value", "height", "x", "m", "score (standing)", "")))
