"""Proposals: what of a file is found by looking at it, and what only a person can say."""

import csv
import io
import json
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.core.errors import InputError
from engine.uploads import examples
from engine.uploads.people import read
from engine.uploads.proposal import propose
from engine.uploads.proposing.questions import answered
from engine.uploads.proposing.roles import FileKind
from engine.uploads.reading_of_files import Reading
from engine.uploads.records import curves_of
from tests import files
from tests.sentences import of_topic
from tests.syntax import syntax
from tests.unit import test_device_exports as devices

wording = of_topic("upload")

SEPARATORS = (",", ";", "\t", "|")
NAMES_OF_PEOPLE = (
    "id",
    "patient",
    "patient_id",
    "Patient ID",
    "person",
    "person_id",
    "subject",
    "Subject ID",
    "subject_no",
    "participant",
    "participant_number",
    "child_id",
    "usubjid",
    "SUBJID",
    "record_id",
    "household",
    "user_id",
    "individual",
    "athlete",
    "LCLid",
)


def table(header, rows, separator=","):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    writer.writerows([header, *rows])
    return out.getvalue().encode()


def heights(n=40, m=4, ids="c{}".format, seed=1):
    r = random.Random(seed)
    return [
        (ids(k), f"{r.uniform(2, 18):.2f}", f"{r.uniform(80, 180):.1f}")
        for k in range(n)
        for _ in range(m)
    ]


def question(proposal, field):
    return next(each for each in proposal.ask if each.field == field)


def gaps(proposal):
    return [each.field for each in proposal.gaps]


# -- who is a person -------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("name", ["sex", "colour", "arm", "Klasse", "height_group"])
def test_a_column_that_is_left_over_is_no_person(name, separator):
    r = random.Random(1)
    rows = [
        ("MF"[k % 2], f"{r.uniform(2, 18):.2f}", f"{r.uniform(80, 180):.1f}") for k in range(400)
    ]
    proposal = propose(table([name, "age", "height"], rows, separator))
    assert proposal.reading.person is None and proposal.n_people is None
    assert gaps(proposal) == ["person"]
    assert {"person": {"rows": True}} in [
        dict(each.adds) for each in question(proposal, "person").options
    ]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "index",
        "row",
        "Visit",
        "visit_id",
        "device",
        "Device ID",
        "no",
        "sensor",
        "wave",
        "id",
        "unit",
        "record_id",
    ],
)
def test_row_numbers_visits_and_devices_and_ids_of_lines_are_asked_about(name):
    rows = [(k, *row[1:]) for k, row in enumerate(heights(100, 4))]
    assert gaps(propose(table([name, "age", "height"], rows))) == ["person"]
    if name not in (
        "id",
        "unit",
        "record_id",
    ):  # whose ids may be those of people where they repeat
        several = [(k % 4, *row[1:]) for k, row in enumerate(heights(100, 4))]
        assert gaps(propose(table([name, "age", "height"], several))) == ["person"]


@pytest.mark.parametrize("name", NAMES_OF_PEOPLE)
@pytest.mark.parametrize("kind", ["curves", "events", "records"])
def test_one_list_of_usual_names_serves_all_kinds_of_files(name, kind):
    r = random.Random(2)
    people = [k // 2 for k in range(80)]
    content = {
        "curves": table([name, "age", "height"], [(k, r.random(), r.random()) for k in people]),
        "events": table([name, "time", "status"], [(k, r.random(), k % 2) for k in people]),
        "records": table([name, "bmi", "pulse"], [(k, r.random(), r.random()) for k in people]),
    }[kind]
    proposal = propose(content)
    assert proposal.reading.person.column == name
    assert proposal.n_people == 40
    wording.found("lines different", proposal.people, 80, 40)
    assert len(read(content, proposal.likely).ids) == 40


def test_a_class_label_beside_numbered_columns_is_no_person():
    r = random.Random(3)
    rows = [
        [*(f"{r.uniform(5, 18):.3f}" for _ in range(20)), r.choice(["aa", "ao", "sh"])]
        for _ in range(60)
    ]
    proposal = propose(table([*(f"x.{k}" for k in range(1, 21)), "g"], rows))
    assert gaps(proposal) == ["person"] and len(proposal.reading.at) == 20


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        (
            ["Date", "Time", "Value"],
            [(f"2024-05-{d:02d}", f"{h:02d}:00", h) for d in range(1, 15) for h in range(24)],
        ),
        (["day", "hour", "kwh"], [(d, h, h / 10) for d in range(1, 60) for h in range(24)]),
        (
            ["timestamp", "value"],
            [(f"2024-05-01T{h:02d}:{m:02d}", h) for h in range(24) for m in range(60)],
        ),
        (
            ["date", "temperature", "humidity"],
            [(f"2024-05-{d:02d}", d, 2 * d) for d in range(1, 30)],
        ),
    ],
)
def test_one_persons_series_is_told_so_in_words(header, rows):
    proposal = propose(table(header, rows))
    wording.found("people named file", proposal.people)
    assert "person" in gaps(proposal)
    assert dict(question(proposal, "person").options[0].adds) == {"person": {"file": True}}
    content = table(header, rows)
    assert len(read(content, proposal.likely).ids) == 1


@pytest.mark.parametrize("first", ["", "time", "timestamp", "Zeitstempel"])
@pytest.mark.parametrize(
    "people", [[f"M_{k:03d}" for k in range(1, 41)], [f"P{k}" for k in range(100, 140)]]
)
def test_meters_as_columns_are_people_in_columns(first, people):
    stamps = [
        f"2024-01-{1 + k // 96:02d} {k % 96 // 4:02d}:{k % 4 * 15:02d}:00" for k in range(192)
    ]
    content = table(
        [first, *people], [[stamp, *(f"{k},5" for k in range(40))] for stamp in stamps], ";"
    )
    proposal = propose(content)
    assert proposal.reading.frame.people == "columns" and proposal.n_people == 40
    assert gaps(proposal) == ["columns.time.from"]
    assert len(read(content, proposal.likely).ids) == 40
    assert people[0] not in json.dumps(
        proposal.to_plain()
    )  # names of people are no part of a reading


def test_days_with_a_column_for_each_hour_are_not_taken_for_hours_of_people():
    content = table(
        ["date", *(f"h_{k:02d}" for k in range(24))],
        [[f"2024-01-{d:02d}", *range(24)] for d in range(1, 31)],
    )
    proposal = propose(content)
    assert gaps(proposal) == ["person"]
    turned = next(each for each in question(proposal, "person").options if "frame" in each.adds)
    assert len(read(content, answered(proposal.reading, turned)).ids) == 24


@pytest.mark.parametrize("spelled", ["{}\u200b", "\u2060{}", " {}", "{}\u00a0", "C{}", "c\u2010{}"])
def test_spellings_that_look_alike_are_one_person(spelled):
    other = {"C{}": "c{}", "c\u2010{}": "c-{}"}.get(spelled, "{}")
    rows = heights(30, 4, ids=lambda k: k)
    rows = [
        (spelled.format(k) if j % 2 else other.format(k), *more)
        for j, (k, *more) in enumerate(rows)
    ]
    proposal = propose(table(["id", "time", "value"], rows))
    assert proposal.n_people == 30
    assert ("30 other spellings" in proposal.people) == (
        spelled not in (" {}", "{}\u00a0")
    )  # blanks


def test_ids_that_are_whole_numbers_are_compared_as_numbers():
    rows = heights(30, 2, ids=lambda k: k) + heights(30, 2, ids="{:03d}".format)
    proposal = propose(table(["id", "time", "value"], rows))
    assert proposal.reading.person.form == "number" and proposal.n_people == 30


@pytest.mark.parametrize("blank", ["", " ", "NA", "\u200b"])
def test_lines_without_an_id_are_refused_with_their_number(blank):
    rows = [*heights(20, 2), (blank, 3, "NA"), (blank, 4, 5)]
    with pytest.raises(InputError, match="2 lines") as refused:
        propose(table(["id", "time", "value"], rows))
    assert refused.value.field == "id"


# -- how a cell is read ----------------------------------------------------------------------------


@pytest.mark.parametrize("decider", ["13/04/2024", "04/13/2024"])
@pytest.mark.parametrize("mark", "/-.")
def test_one_persons_date_never_settles_the_order_of_everybody(decider, mark):
    r = random.Random(4)
    rows = [
        (f"p{k}", f"{r.randint(1, 12):02d}/{r.randint(1, 12):02d}/2024", 50)
        for k in range(200)
        for _ in range(4)
    ]
    for last in ([("z", decider, 60)], []):
        content = table(
            ["id", "date", "value"], [(k, date.replace("/", mark), v) for k, date, v in rows + last]
        )
        proposal = propose(content)
        assert gaps(proposal) == ["columns.time.order", "columns.time.from"]
        asked = question(proposal, "columns.time.order")
        assert f"{len(rows) + len(last):,}" in asked.evidence
        assert {each.adds["columns"]["time"]["order"] for each in asked.options} == {"dmy", "mdy"}
        read(content, proposal.likely)


@pytest.mark.parametrize(
    ("written", "order"),
    [
        ("%d/%m/%Y", "dmy"),
        ("%m/%d/%Y", "mdy"),
        ("%Y-%m-%d", "ymd"),
        ("%d.%m.%Y", "dmy"),
        ("%d%b%Y", "dmy"),
    ],
)
def test_dates_of_which_many_allow_one_order_are_proposed_in_it(written, order):
    days = pd.date_range("2024-01-01", periods=120)
    content = table(
        ["patient", "date", "value"],
        [(k % 30, day.strftime(written), k) for k, day in enumerate(days)],
    )
    proposal = propose(content)
    assert (
        gaps(proposal) == ["columns.time.from"] and proposal.reading.columns["time"].order == order
    )
    assert len(read(content, proposal.likely).ids) == 30


def test_dates_in_two_orders_are_asked_about_and_cannot_be_read():
    content = table(
        ["patient", "date", "value"],
        [(1, "31/01/2024", 1), (1, "01/31/2024", 2), (2, "02/03/2024", 3)],
    )
    proposal = propose(content)
    assert gaps(proposal) == ["columns.time.order", "columns.time.from"]
    wording.found("cells day month", question(proposal, "columns.time.order").evidence, 2, 3)


@pytest.mark.parametrize(
    "written", ["{}T{:02d}:04:05+01:00", "{}T{:02d}:04:05Z", "{} {:02d}:04 -0500"]
)
def test_time_zones_behind_stamps_are_dropped_unless_somebody_says_else(written):
    rows = [
        (f"c{k}", written.format("2024-01-02", hour), 100) for k in range(20) for hour in range(24)
    ]
    content = table(["id", "time", "value"], rows)
    proposal = propose(content)
    time = proposal.likely.columns["time"]
    assert (time.offset, time.counted, gaps(proposal)) == (
        "kept",
        "hours of day",
        ["columns.time.from"],
    )
    assert np.isclose(read(content, proposal.likely).columns["time"].max(), 23.07, atol=0.01)


def test_time_zones_that_differ_are_asked_about():
    rows = [
        (f"c{k}", f"2024-01-02T{hour:02d}:00:00+0{1 + k % 2}:00", 1)
        for k in range(9)
        for hour in range(9)
    ]
    asked = question(propose(table(["id", "time", "value"], rows)), "columns.time.offset")
    assert not asked.is_gap and len(asked.options) == 2 and "2 differ" in asked.evidence


@pytest.mark.parametrize(("unit", "order"), [(1, "unix"), (1000, "unix milliseconds")])
def test_seconds_since_1970_are_stamps(unit, order):
    rows = [(f"u{k}", unit * (1712102400 + 300 * j), 60) for k in range(9) for j in range(20)]
    content = table(["user", "timestamp", "bpm"], rows)
    time = propose(content).likely.columns["time"]
    assert (time.kind, time.order, time.counted) == ("date", order, "hours of day")
    assert read(content, propose(content).likely).columns["time"].max() < 2


def test_a_date_and_its_clock_time_in_two_columns_are_one_time():
    rows = [
        (f"u{k}", f"2024-05-0{1 + k % 3}", f"{h:02d}:30", h) for k in range(9) for h in range(24)
    ]
    content = table(["user", "date", "time", "glucose"], rows)
    proposal = propose(content)
    assert proposal.reading.columns["time"].names == ("date", "time")
    assert sorted(set(read(content, proposal.likely).columns["time"])) == [
        h + 0.5 for h in range(24)
    ]


@pytest.mark.parametrize("above", [0, 1, 3])
@pytest.mark.parametrize("separator", SEPARATORS)
def test_lines_of_titles_stand_above_the_header(above, separator):
    titles = "".join(("Growth study\n", "\n", f"made{separator}in 2024\n")[:above]).encode()
    content = titles + table(["child", "age", "height"], heights(), separator)
    proposal = propose(content)
    assert proposal.reading.frame.above == above and not proposal.gaps
    assert len(read(content, proposal.reading).ids) == 40


def test_blanks_separate_where_nothing_else_does():
    content = b"id   age  height\n" + b"".join(
        f"{i}  {a} \t{h}\n".encode() for i, a, h in heights()
    )
    proposal = propose(content)
    assert proposal.reading.frame.separator == " " and proposal.n_people == 40
    read(content, proposal.reading)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "windows-1252"])
def test_the_encoding_is_found(encoding):
    content = (
        table(["Kind", "age", "größe"], heights())
        .decode()
        .replace("Kind", "child")
        .encode(encoding)
    )
    proposal = propose(content)
    assert proposal.reading.frame.header[2] == "größe"
    read(content, proposal.reading)


def test_decimal_commas_are_found_and_thousands_are_refused():
    rows = [(i, a.replace(".", ","), h) for i, a, h in heights()]
    content = table(
        ["child", "age", "height"], [(i, a, h.replace(".", ",")) for i, a, h in rows], ";"
    )
    assert propose(content).reading.decimal == ","
    read(content, propose(content).reading)
    rows = [(f"c{k % 9}", k % 7, f"1.{k % 10}50" if k % 2 else "980") for k in range(80)]
    with pytest.raises(InputError, match="thousands"):
        propose(table(["child", "age", "steps"], rows))


@pytest.mark.parametrize(
    ("cells", "advice"),
    [
        (["x", "5 cm"], "unit"),
        (["<3"] * 9, "sign such as <"),
        (["12 000"] * 9, "thousands"),
        (["value"], "below"),
    ],
)
def test_cells_that_can_be_read_in_no_way_are_refused_with_their_number(cells, advice):
    rows = [*heights(9), *((f"c{k}", 3, cell) for k, cell in enumerate(cells))]
    with pytest.raises(InputError, match=f"{len(cells)} line") as refused:
        propose(table(["id", "time", "value"], rows))
    assert refused.value.field == "value" and (advice in refused.value.hint or len(cells) == 2)


def test_texts_of_missing_cells_that_occur_are_listed_and_no_others():
    rows = [*heights(9), ("c1", 3, "NA"), ("c2", "n/a", 100), ("c3", 4, "")]
    assert propose(table(["id", "time", "value"], rows)).reading.missing == ("", "n/a", "na")
    rows = [(k, k, "none" if k % 2 else "death") for k in range(9)]
    assert propose(table(["patient", "days", "status"], rows)).reading.missing == ("",)


@pytest.mark.parametrize(
    ("times", "codes"),
    [
        ([1, 2, 4, 7, 7, 7, 8, 8, 8, 11, 12, 30, 99, 99, 111, 467], ()),
        ([1, 2, 3, 77, 78, 80, 88, 88, 99], ()),
        ([1, 2, 4, 7, 9, -999, -999], ("-999",)),
        ([10, 22, 40, 31, 9999, 9999], ("9999",)),
        ([10, 22, 40, 31, 99, 99], ("99",)),
        ([10, 22, 40, 31, 41, 9], ()),
    ],
)
def test_a_number_with_neighbours_is_no_code_for_a_missing_one(times, codes):
    rows = [(k, time, k % 2) for k, time in enumerate(times * 3 if not codes else times)]
    asked = [
        each
        for each in propose(table(["patient", "time", "status"], rows)).ask
        if each.field == "missing"
    ]
    assert [tuple(each.options[1].adds["missing"][1:]) for each in asked] == [codes] * bool(codes)
    if codes:
        assert dict(asked[0].options[0].adds) == {}  # nothing is left out unless somebody says so


@pytest.mark.parametrize("name", ["start", "entry", "age_at_entry"])
@pytest.mark.parametrize(
    "rows",
    [
        [(1, 0, 3, 1), (2, 2, 5, 0), (3, 4, 6, 1), (4, 1, 8, 1)],
        [(1, 0, 3, 0), (1, 3, 5, 1), (2, 0, 6, 1)],
    ],
)
def test_numbers_of_a_start_are_asked_about_whatever_they_are_called(name, rows):
    proposal = propose(table(["id", name, "stop", "status"], rows))
    asked = question(proposal, "columns.start.from")
    assert asked.is_gap and proposal.reading.gaps
    made = [answered(proposal.reading, option) for option in asked.options]
    roles = [{"start", "entry"} & reading.columns.keys() for reading in made]
    assert sorted(map(sorted, roles)) == [["entry"], ["start"]]
    assert all(gap.field != "columns.start.from" for reading in made for gap in reading.gaps)


def test_a_column_that_is_stated_as_the_entry_is_not_asked_about():
    text = table(["id", "start", "stop", "status"], [(1, 0, 3, 1), (2, 2, 5, 0), (3, 4, 6, 1)])
    stated = propose(text, stated={"columns": {"entry": "start"}})
    assert stated.reading.columns["entry"].name == "start"
    assert "columns.start.from" not in {each.field for each in stated.ask}


def test_dates_of_a_start_and_of_an_entry_are_told_apart_by_their_names():
    dates = propose(
        table(
            ["patient", "diagnosis_date", "entry_date", "end_date", "status"],
            [(k, "2020-01-01", f"2020-02-{k:02d}", "2021-01-15", k % 2) for k in range(1, 20)],
        )
    )
    names = {role: column.name for role, column in dates.reading.columns.items()}
    assert names == {
        "start": "diagnosis_date",
        "entry": "entry_date",
        "time": "end_date",
        "status": "status",
    }


def test_the_meaning_of_a_status_is_asked_with_its_texts():
    rows = [(k, k + 1, ("alive", "dead", "lost")[k % 3]) for k in range(30)]
    proposal = propose(table(["patient", "days", "status"], rows))
    asked = question(proposal, "columns.status.words")
    assert asked.takes_several and len(asked.options) == 3
    assert dict(proposal.likely.columns["status"].words) == {"dead": "dead"}
    assert proposal.likely.columns["status"].other == "censored"


def test_of_several_columns_that_may_hold_the_values_nobody_takes_one():
    rows = [(i, a, h, h) for i, a, h in heights()]
    proposal = propose(table(["id", "time", "left_arm", "right_arm"], rows))
    assert gaps(proposal) == ["columns.value"] and "value" not in proposal.reading.columns
    assert [
        each.adds["columns"]["value"]["name"]
        for each in question(proposal, "columns.value").options
    ] == ["left_arm", "right_arm"]


def test_a_column_of_sites_is_offered_and_never_taken():
    rows = [(i, a, h, "AB"[k % 2]) for k, (i, a, h) in enumerate(heights())]
    proposal = propose(table(["id", "time", "value", "hospital"], rows))
    assert not proposal.gaps and "site" not in proposal.reading.columns
    with_sites = answered(proposal.reading, question(proposal, "columns.site").options[1])
    assert set(with_sites.columns["site"].words) == {"A", "B"}


# -- what was stated -------------------------------------------------------------------------------


def test_what_a_request_states_is_not_guessed():
    rows = [
        (i, "f" if k % 2 else "m", f"{1 + k % 12:02d}/{1 + k % 9:02d}/2024", h)
        for k, (i, _, h) in enumerate(heights())
    ]
    content = table(["kid", "sex", "when", "cm"], rows)
    proposal = propose(
        content,
        stated={
            "columns": {"id": "kid", "time": "When", "value": "cm", "group": "sex"},
            "day_first": True,
            "since": "2024-01-01",
            "groups": ["f", "m"],
            "several": "average",
            "facts": {"origin": "a chart"},
        },
    )
    reading = proposal.reading
    assert not proposal.gaps and proposal.n_people == 40
    assert (
        reading.person.column,
        reading.columns["time"].order,
        reading.columns["time"].counted,
    ) == ("kid", "dmy", "days since 2024-01-01")
    assert (
        dict(reading.columns["group"].words) == {"f": "f", "m": "m"}
        and reading.several == "average"
    )
    read(content, reading)


def test_old_requests_for_counts_and_records_are_translated():
    content = table(["pat", "d", "end"], [(k, k + 1, ("alive", "death")[k % 2]) for k in range(30)])
    proposal = propose(
        content,
        data="outcomes",
        stated={
            "columns": {"id": "pat", "time": "d", "status": "end", "server": None},
            "events": ["death"],
        },
    )
    assert not proposal.gaps and dict(proposal.reading.columns["status"].words) == {
        "death": "death"
    }
    content = table(
        ["who", "age", "sex", "note"], [(k, 30 + k, "fm"[k % 2], "x") for k in range(30)]
    )
    proposal = propose(
        content,
        data="records",
        stated={
            "columns": {"id": None},
            "features": [{"name": "age", "low": 0, "high": 105}, {"name": "sex"}],
        },
    )
    assert not proposal.gaps and proposal.reading.person.rows
    assert read(content, proposal.reading).covariates.shape == (30, 2)


@pytest.mark.parametrize(
    "stated",
    [
        {"columns": {"id": 3}},
        {"columns": {"who": "x"}},
        {"day_first": "yes"},
        {"columns": {"id": "nobody"}},
        {"events": "death"},
    ],
)
def test_a_key_that_cannot_be_is_refused(stated):
    with pytest.raises(InputError):
        propose(table(["id", "time", "value"], heights()), stated=stated)


# -- a proposal without gaps can be read -----------------------------------------------------------


def invented():
    yield from (
        (name, getattr(examples, name)().encode())
        for name in (
            "growth_curves",
            "temperatures",
            "outcomes",
            "concentrations",
            "scores",
            "records",
        )
    )
    yield "long", files.csv()
    yield "wide", files.csv(files.wide_frame())
    yield "workbook", files.xlsx()
    yield "workbook of days", files.xlsx(files.days_frame())
    frame = files.growth_frame().assign(
        age=pd.date_range("2020-01-01", periods=len(files.growth_frame()))
    )
    yield "workbook of dates", files.xlsx(frame)
    yield (
        "sheet with a title",
        files.sheet(("Study",), (), ("child", "age", "cm"), ("a", 1, 2), ("a", 2, 3), ("b", 1, 4)),
    )


@pytest.mark.parametrize(
    ("name", "content"), [pytest.param(*each, id=each[0]) for each in invented()]
)
def test_a_file_is_read_by_its_proposal_wherever_it_has_no_gap(name, content):
    proposal = propose(content)
    if not proposal.gaps:
        assert len(read(content, proposal.reading).ids) == proposal.n_people
    assert read(content, proposal.likely).n_lines
    assert Reading.of(json.loads(json.dumps(proposal.to_plain()))) == proposal.reading


def test_the_examples_are_of_the_kind_that_they_show():
    kinds = {
        name: propose(getattr(examples, name)().encode()).kind
        for name in (
            "growth_curves",
            "temperatures",
            "outcomes",
            "concentrations",
            "scores",
            "records",
        )
    }
    assert kinds == {
        "growth_curves": FileKind.CURVES,
        "temperatures": FileKind.SINGLE,
        "outcomes": FileKind.OUTCOMES,
        "concentrations": FileKind.VALUES,
        "scores": FileKind.SCORES,
        "records": FileKind.RECORDS,
    }


@pytest.mark.parametrize("seed", range(40))
def test_random_files_are_read_by_their_proposal_or_refused_in_words(seed):
    r = random.Random(seed)
    separator = r.choice([*SEPARATORS, " "])
    stamp = r.choice(
        [
            "{h}",
            "{h}.5",
            "2024-01-{d:02d}",
            "2024-01-{d:02d}T{h:02d}:30:00+01:00",
            "{d:02d}/{h:02d}/2023",
            "{h:02d}:15",
            "{d}:{h:02d}:30",
            "{d:02d}.0{m}.2024",
        ]
    )
    mark = r.choice(".,") if separator not in (",", " ") else "."
    header = [
        r.choice(["id", "patient", "who", "index"]),
        r.choice(["time", "date", "when", "age"]),
        r.choice(["value", "cm", "result", "y"]),
        r.choice(["sex", "site", "note"]),
    ]
    rows = [
        [
            f"p{r.randint(1, 30)}",
            stamp.format(d=r.randint(1, 28), h=r.randint(1, 12), m=r.randint(1, 9)),
            r.choice(
                [f"{r.randint(1, 99)}{mark}{r.randint(0, 9)}", "NA"] + [str(r.randint(1, 99))] * 3
            ),
            "fm"[r.randint(0, 1)],
        ]
        for _ in range(120)
    ]
    content = table(header, rows, separator)
    try:
        proposal = propose(content)
    except InputError as problem:
        assert problem.hint and not any(row[0] in str(problem).split() for row in rows)
        return
    if not proposal.gaps:
        assert len(read(content, proposal.reading).ids) == proposal.n_people
    assert all(len(each.options) for each in proposal.gaps if each.field == "person")
    for each in proposal.ask:
        for option in each.options:
            answered(proposal.reading, option)  # no answer contradicts the reading


def test_nothing_of_the_file_stands_in_examples_of_cells():
    content = table(
        ["id", "time", "value"],
        [(f"somebody{k}", f"{10 + k}.123", f"{700 + k}.456") for k in range(9)] * 2,
    )
    shown = json.dumps(propose(content).examples)
    assert "somebody" not in shown and ".123" not in shown and ".456" not in shown


# -- exports of devices ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "export", "value"),
    [
        (devices.CLARITY, "Dexcom Clarity", "glucose (mg/dL)"),
        (devices.LIBREVIEW, "LibreView", "glucose (mmol/L)"),
        (devices.LIBREVIEW_US, "LibreView", "glucose (mg/dL)"),
        (devices.NIGHTSCOUT, "Nightscout", "glucose (mg/dL)"),
        (devices.GREEN_BUTTON, "Green Button", "power (kW)"),
    ],
)
def test_an_export_of_a_device_is_one_persons_in_its_own_unit(text, export, value):
    proposal = propose(text.encode())
    assert (proposal.reading.frame.export, proposal.n_people, proposal.gaps) == (export, 1, ())
    assert proposal.reading.columns["value"].name == value and proposal.reading.person.file
    assert len(read(text.encode(), proposal.reading).ids) == 1


def test_an_export_with_ids_has_their_people_and_an_archive_one_in_each_file():
    assert propose(devices.GGIR_2.encode()).n_people == 2
    packed = devices.archive(**{"ada.csv": devices.LIBREVIEW, "bob.csv": devices.LIBREVIEW})
    assert propose(packed).n_people == 2 and len(read(packed, propose(packed).reading).ids) == 2
    stated = {"facts": {"value_unit": "mg/dL"}}
    assert propose(packed, stated=stated).reading.columns["value"].name == "glucose (mg/dL)"


@pytest.mark.parametrize("second", [devices.CLARITY, devices.CLARITY.replace("mg/dL", "mmol/L")])
def test_exports_below_one_another_are_refused_with_what_to_do(second):
    with pytest.raises(InputError, match="several people into one"):
        propose((devices.CLARITY + second).encode())


def test_monitors_of_several_makers_in_one_archive_are_read_in_one_unit():
    packed = devices.archive(**{"ada.csv": devices.CLARITY, "bob.csv": devices.LIBREVIEW})
    reading = propose(packed, stated={"facts": {"value_unit": "mg/dL"}}).reading
    curves = curves_of(read(packed, Reading.of(reading.to_plain())))
    assert dict(zip(curves.ids, curves.counts, strict=True)) == {"ada": 2, "bob": 2}
    assert curves.values.min() == 40 and curves.values.max() == 220


@pytest.mark.parametrize("name", ["export", "table"])
def test_one_plain_table_in_an_archive_is_to_be_unpacked(name):
    with pytest.raises(InputError) as refused:
        propose(devices.archive(**{f"{name}.csv": files.csv().decode()}))
    assert "Unpack" in refused.value.hint


# -- what is certified -----------------------------------------------------------------------------


def test_nothing_that_is_certified_can_propose():
    engine = Path(propose.__code__.co_filename).parents[1]
    strict = [
        engine / "uploads" / f"{name}.py"
        for name in ("lines", "cells", "ids", "people", "records", "reading_of_files", "source")
    ]
    certified = [*strict, *(engine / "release").rglob("*.py"), *(engine / "sites").rglob("*.py")]
    assert len(certified) > 40
    for file in certified:
        assert not {
            name for name in syntax(file).imported if name.startswith("engine.uploads.propos")
        }, file


def test_groups_that_are_stated_as_a_column_alone_are_asked_about():
    rows = [(i, a, h, "fm"[k % 2]) for k, (i, a, h) in enumerate(heights())]
    for data, other in (("curves", "left out"), ("times with events", "missing")):
        names = (
            ["id", "time", "value", "sex"] if data == "curves" else ["id", "time", "status", "sex"]
        )
        content = table(
            names,
            rows if data == "curves" else [(i, a, k % 2, s) for k, (i, a, _, s) in enumerate(rows)],
        )
        proposal = propose(content, data=data, stated={"columns": {"group": "sex"}})
        asked = question(proposal, "columns.group.words")
        group = answered(proposal.reading, asked.options[0]).columns["group"]
        assert dict(group.words) == {"f": "f", "m": "m"} and group.other == other


@pytest.mark.parametrize(
    "content",
    [
        b"p1,2.5,86.1\np1,3.5,91.2\np2,2,80\n",
        b"1,7,2.5\n1,3.5,4\n2,2,80\n",
        b"p1;2024-01-31;86\np1;2024-02-01;91\np2;2024-02-03;80\n",
    ],
)
def test_a_first_line_of_data_is_refused_without_a_cell_of_it(content):
    with pytest.raises(InputError, match="names of columns") as refused:
        propose(content)
    assert not any(cell in str(refused.value) for cell in ("p1", "86", "2.5", "2024", "7"))


def test_a_workbook_is_read_by_the_name_of_its_sheet_and_the_others_are_told():
    content = files.xlsx(other=files.wide_frame())
    first, other = propose(content), propose(content, sheet="other")
    assert first.reading.frame.sheet == "data" and any("“other”" in note for note in first.notes)
    assert other.reading.frame.sheet == "other" and len(other.reading.at) == 4
    assert len(read(content, other.likely).ids) == 6
    with pytest.raises(InputError):
        propose(content, sheet="none")


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("unit", ["mg/dL", "mmol/L"]),
        ("value_unit", ["cm", "in"]),
        ("test_name", ["ALT", "AST"]),
        ("LBTESTCD", ["GLUC", "HBA1C"]),
    ],
)
def test_values_of_several_units_or_kinds_in_one_column_are_refused(name, texts):
    rows = [(i, a, h, texts[k % 2]) for k, (i, a, h) in enumerate(heights())]
    with pytest.raises(InputError, match="names 2") as refused:
        propose(table(["patient", "time", "value", name], rows))
    assert refused.value.field == name
    assert not propose(
        table(["patient", "time", "value", name], [(*row[:3], texts[0]) for row in rows])
    ).gaps


# -- what a guess must not become -------------------------------------------------------------------


def test_an_id_that_differs_in_every_line_is_no_feature():
    rows = "".join(f"{k},{60 + k % 7},{170 + k % 9}\n" for k in range(40))
    proposal = propose(f"id,weight,height\n{rows}".encode())
    assert [column.name for column in proposal.reading.features] == ["weight", "height"]
    assert "different “id”" in proposal.people and proposal.gaps[0].field == "person"


@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_a_first_line_that_says_the_separator_is_above_the_header(separator):
    rows = "".join(
        f"c{k}{separator}{t}{',5' if separator == ';' else '.5'}{separator}{50 + k}\n"
        for k in range(20)
        for t in range(3)
    )
    content = f"sep={separator}\n{separator.join(('id', 'time', 'value'))}\n{rows}".encode()
    reading = propose(content).reading
    assert (reading.frame.separator, reading.frame.above) == (separator, 1)
    assert read(content, reading.complete()).columns["time"][:3].tolist() == [0.5, 1.5, 2.5]


def test_times_of_people_in_order_are_no_series_of_one_person():
    rows = "".join(f"{k % 5},{100 + k},{1 + k % 2}\n" for k in range(60))
    proposal = propose(f"inst,time,status\n{rows}".encode())
    assert proposal.likely.person.rows and "series" not in proposal.people


def test_dates_without_dashes_are_no_numbers():
    rows = "".join(f"c{k},202403{10 + t},{50 + k}\n" for k in range(20) for t in range(3))
    with pytest.raises(InputError, match="dates without dashes"):
        propose(f"id,time,value\n{rows}".encode())


def test_times_between_dates_are_said_in_the_unit_in_which_they_are_counted():
    rows = "".join(f"c{k},2020-01-01,2021-0{1 + k % 9}-11,{k % 2}\n" for k in range(40))
    assert "(date, days)" in propose(f"id,start,stop,status\n{rows}".encode()).summary
