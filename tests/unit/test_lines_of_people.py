"""The strict reader: ids in normal form, cells one by one, and one record of each person."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some

from engine.core.errors import InputError
from engine.numerics.counts.cells import Counted
from engine.uploads.cells import read_cells
from engine.uploads.ids import IdForm, canonical, canonical_texts
from engine.uploads.people import read, read_frame
from engine.uploads.reading_of_files import Column, Kind, Offset, Order, Other, Reading
from engine.uploads.records import curves_of, events_of, rows_of
from tests import files
from tests.property.one_persons_lines import CELLS, KINDS

ANY = some.text(some.characters(exclude_categories=("Cs",)), max_size=12)


def long(**changes):
    """A reading of id, time and value."""
    return Reading.of(
        {
            "frame": {"encoding": "utf-8", "separator": ",", "header": ["id", "time", "value"]},
            "person": {"column": "id"},
            "columns": {"time": {"name": "time"}, "value": {"name": "value"}},
        }
        | changes
    )


def of_time(**entry):
    return long(columns={"time": {"name": "time", **entry}, "value": {"name": "value"}})


def times(cells, **entry):
    """What cells of times become."""
    lines = "".join(f"p{k},{cell},1\n" for k, cell in enumerate(cells))
    people = read(f"id,time,value\n{lines}".encode(), of_time(**entry))
    return people.columns["time"].tolist()


# -- ids -------------------------------------------------------------------------------------------


@given(some.lists(ANY, min_size=1, max_size=6), some.sampled_from(list(IdForm)))
def test_ids_are_brought_to_their_normal_form_all_at_once_as_one_by_one(texts, form):
    assert canonical_texts(pa.array(texts, pa.string()), form).to_pylist() == [
        canonical(text, form) for text in texts
    ]


@given(ANY, some.sampled_from(list(IdForm)))
def test_a_normal_form_is_its_own(text, form):
    assert canonical(canonical(text, form), form) == canonical(text, form)


@pytest.mark.parametrize(("form", "n"), [("text", 3), ("number", 1), ("exact", 6)])
def test_spellings_of_an_id_are_one_person_unless_every_spelling_is_stated_to_be_another(form, n):
    people = read(
        "id,time,value\n7,1,1\n 7,2,2\n７,3,3\n7\u200b,4,4\n007,5,5\n7.0,6,6\n".encode(),
        long(person={"column": "id", "form": form}),
    )
    assert len(people.ids) == n and people.n_lines == 6


def test_dashes_of_all_kinds_and_capitals_are_one_id_and_other_letters_are_not():
    people = read("id,time,value\nA-1,1,1\na\u20111,2,2\nA\u20131,3,3\nA_1,4,4\n".encode(), long())
    assert people.ids == ("a-1", "a_1") and people.person.tolist() == [0, 0, 0, 1]


# -- cells -----------------------------------------------------------------------------------------


COLUMNS = [
    Column(names=("c",)),
    Column(names=("c",), kind=Kind.PERCENTAGE),
    Column(names=("c",), kind=Kind.CLOCK),
    Column(names=("c",), kind=Kind.ELAPSED),
    Column(names=("c",), kind=Kind.WORD, words={"yes": 1, "no": 0}, other=Other.MISSING),
    Column(names=("c",), kind=Kind.DATE, order=Order.UNIX, counted="days since 2024-01-01"),
    *(
        Column(names=("c",), kind=Kind.DATE, order=order, offset=offset, counted=counted)
        for order in (Order.YMD, Order.DMY, Order.MDY)
        for offset in Offset
        for counted in ("", "hours of day", "days since 2024-01-01")
    ),
]


@given(
    some.lists(some.sampled_from(CELLS) | ANY, min_size=1, max_size=8),
    some.sampled_from(COLUMNS),
    some.sampled_from([".", ","]),
)
def test_each_cell_is_read_as_if_it_stood_alone(cells, column, decimal):
    reading = long(decimal=decimal, missing=["", "NA", "-999"])
    together = read_cells([pa.array(cells, pa.string())], column, reading)
    for k, cell in enumerate(cells):
        alone = read_cells([pa.array([cell], pa.string())], column, reading)
        assert np.array_equal(alone.values, together.values[k : k + 1], equal_nan=True)
        assert alone.unreadable[0] == together.unreadable[k]


@pytest.mark.parametrize(
    ("entry", "cells", "expected"),
    [
        (
            {"order": "dmy", "from": "days since 2024-01-01"},
            ["03/01/2024", "3.1.2024", "2024-01-03", "3 January 2024", "03JAN2024"],
            [2.0] * 5,
        ),
        (
            {"order": "mdy", "from": "days since 2024-01-01"},
            ["01/03/2024", "1-3-2024", "2024/01/03", '"January 3, 2024"'],
            [2.0] * 4,
        ),
        (
            {"order": "ymd", "from": "hours of day"},
            ["2024-01-03T13:30", "2024-01-03 1:30 pm", "2024-01-03 13:30:00.0"],
            [13.5] * 3,
        ),
        (
            {"order": "ymd", "offset": "kept", "from": "hours of day"},
            ["2024-01-03T13:30:00+01:00", "2024-01-03T13:30Z", "2024-01-03 13:30"],
            [13.5] * 3,
        ),
        (
            {"order": "ymd", "offset": "to UTC", "from": "hours since 2024-01-03"},
            ["2024-01-03T00:30:00+01:00", "2024-01-02T23:30Z", "2024-01-02T18:00-0530"],
            [-0.5] * 3,
        ),
        ({"order": "unix", "from": "days since 2024-01-01"}, ["1704067200", "1704153600"], [0, 1]),
        ({"order": "unix milliseconds", "from": "hours since 2024-01-01"}, ["1704070800000"], [1]),
        ({"order": "ymd", "from": "calendar years"}, ["2024-07-02"], [2024.5]),
    ],
)
def test_dates_are_read_by_their_stated_order_and_zone(entry, cells, expected):
    assert times(cells, kind="date", **entry) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("entry", "cells", "expected"),
    [
        ({"kind": "clock"}, ["13:30", "1:30 PM", "00:00", "24:00"], [13.5, 13.5, 0, 24]),
        ({"kind": "clock", "from": "minutes of day"}, ["13:30"], [810]),
        ({"kind": "elapsed", "from": "minutes"}, ["1:40:00", "1:40", "30:00"], [100, 100, 1800]),
        ({"kind": "percentage"}, ["12 %", "12%", "-1.5 %"], [12, 12, -1.5]),
        ({}, ["1.5", "+1.5", "1.5e0", "\N{MINUS SIGN}3", " 4 "], [1.5, 1.5, 1.5, -3, 4]),
    ],
)
def test_clock_times_elapsed_times_percentages_and_numbers_are_read_as_stated(
    entry, cells, expected
):
    assert times(cells, **entry) == pytest.approx(expected)


def test_a_missing_text_counts_without_blanks_and_capitals_and_a_stated_word_before_it():
    people = read(
        b"id,time,value\na,NA,1\nb, n/a ,2\nc,-999,3\nd,,4\n",
        long(missing=["", "na", "N/A", "-999"]),
    )
    assert np.isnan(people.columns["time"]).all()
    words = Reading.of(
        {
            "frame": {"encoding": "utf-8", "separator": ",", "header": ["id", "end"]},
            "person": {"column": "id"},
            "columns": {
                "status": {
                    "name": "end",
                    "kind": "word",
                    "words": {"": 0, "dead": "death"},
                    "other": "missing",
                }
            },
        }
    )
    assert read(b"id,end\na,\nb, Dead\nc,lost\n", words).codes["status"].tolist() == [0, 1, -1]


def test_a_sheet_is_read_as_the_text_of_its_cells():
    frame = pd.DataFrame(
        {
            "id": ["a", "b"],
            "time": pd.to_datetime(["2024-01-03", "2024-02-01"]),
            "value": [0.1, 1e-7],
        }
    )
    reading = {
        "person": {"column": "id"},
        "columns": {
            "time": {
                "name": "time",
                "kind": "date",
                "order": "dmy",
                "from": "days since 2024-01-01",
            },
            "value": {"name": "value"},
        },
    }
    sheet = read(
        files.xlsx(frame),
        Reading.of(reading | {"frame": {"sheet": "data", "header": ["id", "time", "value"]}}),
    )
    table = read_frame(frame, Reading.of(reading | {"frame": {"header": ["id", "time", "value"]}}))
    for name in ("time", "value"):
        assert np.array_equal(sheet.columns[name], table.columns[name])
    assert sheet.columns["time"].tolist() == [2, 31] and sheet.ids == table.ids


def test_a_reading_of_a_workbook_is_none_of_a_text_and_the_other_way_round():
    for content, frame in (
        (files.xlsx(), long().to_plain()["frame"]),
        (files.csv(), {"sheet": "data", "header": ["id", "time", "value"]}),
    ):
        with pytest.raises(InputError, match="workbook"):
            read(content, long(frame=frame))


def test_titles_above_a_header_and_blanks_between_cells_are_as_stated():
    content = b'My table\n\n"id"  time   value\n a   1\t 2\n "b c" 3  4  \n'
    people = read(
        content,
        long(
            frame={
                "encoding": "utf-8",
                "separator": " ",
                "above": 2,
                "header": ["id", "time", "value"],
            }
        ),
    )
    assert people.ids == ("a", "bc") and people.columns["value"].tolist() == [2, 4]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_reading_is_written_and_read_back_as_it_is(kind):
    reading = Reading.of(kind.reading)
    assert Reading.of(json.loads(json.dumps(reading.to_plain()))) == reading and not reading.gaps


# -- records ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("several", ["keep", "average"])
def test_records_do_not_depend_on_the_order_of_lines(several):
    rng = np.random.default_rng(0)
    lines = [f"p{rng.integers(5)},{rng.integers(3)},{rng.normal()}" for _ in range(60)]
    found = []
    for _ in range(4):
        rng.shuffle(lines)
        curves = curves_of(
            read("\n".join(["id,time,value", *lines]).encode(), long(several=several))
        )
        order = np.lexsort((curves.values, curves.times, np.repeat(range(5), curves.counts)))
        found.append((curves.ids, curves.times[order].tobytes(), curves.values[order].tobytes()))
    assert len({*found}) == 1


def test_times_count_from_the_first_observation_that_has_a_value_of_the_same_person():
    reading = of_time(kind="date", order="ymd", **{"from": "days since first observation"})
    curves = curves_of(
        read(
            b"id,time,value\na,2024-01-01,\na,2024-01-03,1\na,2024-01-05,2\nb,2020-01-01,3\n",
            reading,
        )
    )
    kept = dict(zip(curves.ids, np.split(curves.times, np.cumsum(curves.counts)[:-1]), strict=True))
    assert kept["a"].tolist() == [0, 2] and kept["b"].tolist() == [0]
    assert curves.time_unit == "days"


WIDE = {
    "frame": {"encoding": "utf-8", "separator": ",", "header": ["id", "a", "b"]},
    "person": {"column": "id"},
    "columns": {"values": {"at": [["a", 1], ["b", 2]]}},
}


def test_several_rows_of_a_person_are_averaged_if_stated_and_never_protected_one_by_one():
    content = b"id,a,b\nx,1,2\nX,3,\ny,5,6\n"
    with pytest.raises(InputError, match="1 of 2 people have several lines"):
        curves_of(read(content, Reading.of(WIDE)))
    curves = curves_of(read(content, Reading.of(WIDE | {"several": "average"})))
    assert sorted(curves.values.tolist()) == [2, 2, 5, 6] and curves.n_people == 2
    rows = Reading.of(WIDE | {"person": {"rows": True}})
    assert curves_of(read(content, rows)).n_curves == 3 and rows.unit == "row"


def test_people_in_columns_are_read_as_curves_and_their_names_are_ids():
    reading = Reading.of(
        {
            "frame": {
                "encoding": "utf-8",
                "separator": ";",
                "header": ["column 1"],
                "people": "columns",
            },
            "person": {"header": True},
            "decimal": ",",
            "columns": {
                "values": {"kind": "number"},
                "time": {
                    "name": "column 1",
                    "kind": "date",
                    "order": "ymd",
                    "from": "hours since 2024-01-01",
                },
            },
        }
    )
    curves = curves_of(
        read(b";M_1;M_2;m_3\n2024-01-01 00:00;1,5;2;3\n2024-01-01 00:30;4;;6\n", reading)
    )
    assert {*curves.ids} == {"m_1", "m_2", "m_3"} and curves.header_times == (0.0, 0.5)
    assert sorted(curves.values.tolist()) == [1.5, 2, 3, 4, 6]
    with pytest.raises(InputError, match="1 line is outside the reading"):
        read(b";M_1;M_2\n2024-01-01 00:00;1,5;x\n", reading)


def test_a_covariate_and_a_group_have_one_value_for_each_person():
    frame = {"encoding": "utf-8", "separator": ",", "header": ["id", "time", "value", "sex"]}
    columns = long().to_plain()["columns"]
    word = {"name": "sex", "kind": "word"}
    for entry, told in (
        ({"covariates": [{**word, "words": {"f": 0, "m": 1}}]}, "changes within"),
        (
            {"group": {**word, "words": {"f": "girls", "m": "boys"}, "other": "left out"}},
            "several groups",
        ),
    ):
        reading = long(frame=frame, columns=columns | entry)
        with pytest.raises(InputError, match=told):
            curves_of(read(b"id,time,value,sex\na,1,1,f\na,2,2,m\nb,1,1,m\n", reading))
        curves = curves_of(read(b"id,time,value,sex\na,1,1,F\na,2,2,f\nb,1,1,m\n", reading))
        assert curves.n_curves == 2


def test_sites_number_their_people_on_their_own_and_are_all_stated():
    frame = {"encoding": "utf-8", "separator": ",", "header": ["id", "time", "value", "site"]}
    site = {"name": "site", "kind": "word", "words": {"N": "North", "S": "South"}}
    reading = long(frame=frame, columns=long().to_plain()["columns"] | {"site": site})
    curves = curves_of(read(b"id,time,value,site\n1,1,1,N\n1,1,2,S\n2,1,3,s\n", reading))
    assert curves.server_names == ("North", "South") and curves.server.tolist() == [0, 1, 1]
    with pytest.raises(InputError, match="1 with an unreadable cell in “site”"):
        read(b"id,time,value,site\n1,1,1,N\n1,1,2,W\n", reading)
    with pytest.raises(InputError, match="1 stated site has nobody"):
        curves_of(read(b"id,time,value,site\n1,1,1,N\n2,1,2,N\n", reading))


def read_events(text, several="join", **columns):
    header = text.split("\n")[0].split(",")
    reading = Reading.of(
        {
            "frame": {"encoding": "utf-8", "separator": ",", "header": header},
            "person": {"column": "id"},
            "several": several,
            "columns": {
                "time": {"name": "stop"},
                "status": {
                    "name": "end",
                    "kind": "word",
                    "words": {"1": "death"},
                    "other": "censored",
                },
                **columns,
            },
        }
    )
    return events_of(read(text.encode(), reading.complete()), Counted.OUTCOMES)


def of_people(table, *columns):
    return dict(zip(table.ids, zip(*(each.tolist() for each in columns), strict=True), strict=True))


def events(text, several="join", **columns):
    table = read_events(text, several, **columns)
    return of_people(table, table.time, table.status)


def entries(text, several="join", **columns):
    table = read_events(text, several, **columns)
    return of_people(table, table.entry, table.time, table.status)


INTERVALS = "id,from,stop,end\na,0,2,0\na,2,5,1\nb,0,4,0\n"


def test_intervals_of_a_person_are_joined_if_they_follow_each_other():
    start = {"start": {"name": "from", "from": "each start"}}
    assert events(INTERVALS, **start) == {"a": (5, 1), "b": (4, 0)}
    for wrong in (
        INTERVALS.replace("a,2,5", "a,3,5"),
        INTERVALS.replace("a,0,2,0", "a,0,2,1"),
        INTERVALS.replace("a,2,5", "a,1,5"),
    ):
        with pytest.raises(InputError, match="1 of 2 people have lines that are not intervals"):
            events(wrong, **start)
    with pytest.raises(InputError, match="1 of 2 people have several lines"):
        events(INTERVALS, "keep", **start)
    with pytest.raises(InputError, match="1 of 2 people have several lines"):
        events(INTERVALS)


LATE = "id,from,stop,end\na,0,3,1\nb,2,5,0\nc,4,6,1\nd,1,8,1\n"


def test_a_start_is_a_late_entry_or_a_beginning_as_stated_and_neither_by_default():
    found = entries(LATE, entry={"name": "from"})
    assert found == {"a": (0, 3, 1), "b": (2, 5, 0), "c": (4, 6, 1), "d": (1, 8, 1)}
    durations = events(LATE, start={"name": "from", "from": "each start"})
    assert durations == {"a": (3, 1), "b": (3, 0), "c": (2, 1), "d": (7, 1)}
    with pytest.raises(InputError, match="late entry") as refused:
        events(LATE, start={"name": "from"})
    assert refused.value.field == "columns.start.from" and "each start" in refused.value.hint


def test_of_several_intervals_the_first_start_is_the_entry():
    text = "id,from,stop,end\na,1,2,0\na,2,5,1\nb,0,4,0\n"
    assert entries(text, entry={"name": "from"}) == {"a": (1, 5, 1), "b": (0, 4, 0)}
    with pytest.raises(InputError, match="1 of 2 people have lines that are not intervals"):
        events(text.replace("a,2,5", "a,3,5"), entry={"name": "from"})


def test_an_entry_of_dates_counts_from_the_start_of_each_persons_own_time():
    date = {"kind": "date", "order": "ymd"}
    text = (
        "id,begin,from,stop,end\na,2020-01-01,2020-01-11,2020-02-10,1\n"
        "b,2020-01-01,2020-01-01,2020-01-31,0\n"
    )
    found = entries(
        text,
        start={"name": "begin", **date},
        entry={"name": "from", **date},
        time={"name": "stop", **date},
    )
    assert found == {"a": (10, 40, 1), "b": (0, 30, 0)}


def test_an_entry_after_the_exit_is_told_to_the_holder_alone():
    table = read_events(LATE.replace("c,4,6", "c,9,6"), entry={"name": "from"})
    assert any("entry after exit" in note for note in table.notes)


def test_dates_of_start_and_end_are_durations_in_days_and_copies_of_a_line_count_once():
    date = {"kind": "date", "order": "dmy"}
    found = events(
        "id,from,stop,end\na,01/02/2020,01/03/2020,1\na,01/02/2020,01/03/2020,1\n"
        "b,01/02/2020,02/02/2020,0\n",
        "refuse",
        start={"name": "from", **date},
        time={"name": "stop", **date},
    )
    assert found == {"a": (29, 1), "b": (1, 0)}


def test_records_take_numbers_and_words_and_one_line_of_each_person():
    reading = Reading.of(
        {
            "frame": {"encoding": "utf-8", "separator": ",", "header": ["id", "age", "sex", "y"]},
            "person": {"column": "id"},
            "columns": {
                "value": {"name": "y"},
                "features": [
                    {"name": "age"},
                    {"name": "sex", "kind": "word", "words": {"f": 0, "m": 1}, "other": "missing"},
                ],
            },
        }
    )
    rows = rows_of(read(b"id,age,sex,y\na,30,F,1\nb,40,m,2\nc,50,x,\n", reading))
    assert rows.covariate_names == ("age", "sex") and rows.value_name == "y"
    kept = dict(zip(rows.ids, rows.covariates.tolist(), strict=True))
    assert kept["a"] == [30, 0] and kept["b"] == [40, 1] and np.isnan(kept["c"][1])
    with pytest.raises(InputError, match="1 of 2 people have several lines"):
        rows_of(read(b"id,age,sex,y\na,30,F,1\na,40,m,2\nc,50,f,\n", reading))


@pytest.mark.parametrize(
    "name",
    [
        "id",
        "child_id",
        "subject_id",
        "person_id",
        "patient_id",
        "participant_id",
        "subject",
        "person",
        "patient",
        "participant",
        "child",
        "household",
        "individual",
        "user",
        "curve",
        "scan",
        "unit",
        "name",
        "usubjid",
        "record_id",
    ],
)
def test_people_with_two_lines_are_half_as_many_and_none_before_somebody_says_who_they_are(name):
    content = f"{name},time,status\n" + "".join(
        f"q{k},{k + 1},1\nq{k},{k + 1},1\n" for k in range(20)
    )
    plain = {
        "frame": {"encoding": "utf-8", "separator": ",", "header": [name, "time", "status"]},
        "columns": {
            "time": {"name": "time"},
            "status": {"name": "status", "kind": "word", "words": {"1": "1"}, "other": "censored"},
        },
    }
    with pytest.raises(InputError, match="No column names people yet"):
        read(content.encode(), Reading.of(plain))
    stated = Reading.of(plain | {"person": {"column": name}})
    assert len(events_of(read(content.encode(), stated), Counted.OUTCOMES).time) == 20
