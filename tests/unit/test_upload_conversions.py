"""Dates, clock times, percentages and tables with people in columns: read, and said, or asked."""

import json

import numpy as np
import pyarrow as pa
import pytest

from engine.core.types import Budget
from engine.mechanisms import mechanisms
from engine.release import request
from engine.uploads import people, records
from engine.uploads.bounds_library import public_bounds
from engine.uploads.cells import read_cells
from engine.uploads.design import StatedDesign
from engine.uploads.facts import declare
from engine.uploads.own_file import OwnFile
from engine.uploads.proposal import propose
from engine.uploads.proposing.questions import answered
from engine.uploads.reading_of_files import Column, Frame, Kind, Order, Reading
from tests.readings import curves_in, upload_of
from tests.sentences import of_topic

wording = of_topic("upload")

# Of 2024, a leap year: its first day, noon of it, the 60th day, the last.
DAYS = {"2024-01-01": 0, "2024-01-01T12:00": 0.5, "2024-02-29": 59, "2024-12-31 18:00:00": 365.75}


def numbers(cells, order=Order.YMD, kind=Kind.DATE):
    """What the strict reader makes of cells of dates."""
    return read_cells(
        [pa.array(cells)],
        Column(names=("value",), kind=kind, order=order),
        Reading(frame=Frame(header=("value",))),
    )


def test_a_date_is_a_calendar_year_whatever_the_other_cells_are():
    values = numbers(list(DAYS)).values
    assert values == pytest.approx([2024 + day / 366 for day in DAYS.values()], abs=1e-12)
    for cell, value in zip(DAYS, values, strict=True):
        assert numbers([cell]).values[0] == value


@pytest.mark.parametrize(("day_first", "day"), [(True, 31 + 29 + 31 + 2), (False, 31 + 29 + 3)])
def test_dates_that_can_be_read_in_two_ways_are_asked_for_and_then_read(day_first, day):
    content = b"id,time,value\na,3/4/2024,1\nb,3/4/2024,2\n"
    assert "columns.time.order" in [gap.field for gap in propose(content).gaps]
    curves = curves_in(content, day_first=day_first, since="2024-01-01")
    assert curves.times.tolist() == [day, day] and curves.time_unit == "days"


VISITS = (
    b"id,date,value\na,2023-01-02,1\na,2023-01-16,2\nb,2024-03-01,3\nb,2024-02-23,4\n"
    b"b,2020-01-01,\nc,2024-12-31,5\n"
)


@pytest.mark.parametrize(("unit", "days"), [("days", 1), ("weeks", 7), ("years", 365.25)])
def test_time_is_counted_from_the_first_observation_of_each_person(unit, days):
    curves = curves_in(VISITS, from_first=unit)
    of_people = dict(
        zip(curves.ids, np.split(curves.times, np.cumsum(curves.counts)[:-1]), strict=True)
    )
    assert of_people["a"] * days == pytest.approx([0, 14], abs=1e-8)
    assert of_people["b"] * days == pytest.approx(
        [0, 7], abs=1e-8
    )  # a date without a value is none
    assert of_people["c"].tolist() == [0]
    assert curves.time_unit == unit and not curves.header_times


def test_the_first_observation_of_a_person_moves_nobody_else():
    other = VISITS.replace(b"a,2023-01-02,1", b"a,1999-12-31,1")
    before, after = (curves_in(content, from_first="days") for content in (VISITS, other))
    kept = {
        who: times.tolist()
        for who, times in zip(
            after.ids, np.split(after.times, np.cumsum(after.counts)[:-1]), strict=True
        )
    }
    for who, times in zip(
        before.ids, np.split(before.times, np.cumsum(before.counts)[:-1]), strict=True
    ):
        assert (kept[who] == times.tolist()) is (who != "a")


@pytest.mark.parametrize(
    "stated", [{"from_first": "weeks"}, {"since": "2023-01-01"}, {"day_first": True}, {}]
)
def test_a_request_reads_dates_as_the_page_did(stated, tmp_path):
    (tmp_path / "visits.csv").write_bytes(VISITS)
    source = upload_of(
        VISITS,
        declare(0, 10, 0, 3000, "a plan", observations=2, design=StatedDesign(law="unknown")),
        {"id": "id", "time": "date", "value": "value"},
        **stated,
    )
    plain = request.to_plain(
        source,
        mechanisms.build("adaptive_mean", {}),
        Budget(1.0, 1e-4),
        OwnFile("visits.csv", source.reading),
    )
    (again,) = request.from_json(json.dumps(plain | {"name": "visits"}), tmp_path)
    assert again.source.curves.times.tolist() == source.curves.times.tolist()


def test_days_are_counted_from_a_stated_day():
    curves = curves_in(b"id,time,value\na,2024-03-02,1\na,2024-02-28 12:00,2\n", since="2024-02-28")
    assert curves.times.tolist() == [0.5, 3.0]


def test_percent_signs_go():
    curves = curves_in(b"id,time,value\na,1,12 %\na,2,\nb,1,3.5%\n")
    assert sorted(curves.values) == [3.5, 12]
    wording.found("observation left out", curves.notes, 1)


@pytest.mark.parametrize(
    ("cell", "iso"),
    [
        ("01JAN2020", "2020-01-01"),
        ("29-Feb-2024", "2024-02-29"),
        ("3 march 2024", "2024-03-03"),
        ("01JAN2020:08:30:00", "2020-01-01 08:30"),
        ("2024/12/31", "2024-12-31"),
        ("7 Sept 2021", "2021-09-07"),
    ],
)
def test_dates_with_the_name_of_a_month_are_read(cell, iso):
    assert numbers([cell], Order.DMY).values == pytest.approx(numbers([iso]).values)


@pytest.mark.parametrize("cell", ["01MAI2020", "30FEB2021", "01JAN20", "January 2020", "JAN012020"])
def test_dates_in_another_language_or_without_a_day_or_century_are_not_read(cell):
    assert numbers([cell] * 3, Order.DMY).unreadable.all()


def test_people_in_columns_are_the_same_curves_as_people_in_rows():
    content = b"age,ann,bob,cid\n2,86,84,\n6,115,112,118\n10,138,135,142\n"
    proposal = propose(content)
    columns = next(
        option
        for gap in proposal.gaps
        for option in gap.options
        if option.adds.get("person") == {"header": True}
    )
    turned = records.curves_of(people.read(content, answered(proposal.reading, columns)))
    rows = curves_in(b"id,2,6,10\nann,86,115,138\nbob,84,112,135\ncid,,118,142\n")
    for name in ("times", "values", "counts"):
        assert np.array_equal(getattr(turned, name), getattr(rows, name))
    assert turned.ids == rows.ids


@pytest.mark.parametrize("header", ["age,height,site", "age,x_1,id", "age,2,6,10"])
def test_a_first_column_of_times_is_not_turned_where_names_say_otherwise(header):
    row = ",".join("1" * len(header.split(",")))
    content = f"{header}\n{row}\n{row.replace('1', '2', 1)}\n".encode()
    assert propose(content).likely.frame.people == "rows"


def test_times_in_names_of_columns_may_be_dates_and_clock_times():
    curves = curves_in(b"id,2024-01-31,2024-02-01,2024-03-01\na,1,2,3\nb,2,3,4\n")
    assert curves.header_times == pytest.approx([2024 + d / 366 for d in (30, 31, 60)])
    curves = curves_in(b"id,08:00,12:30,20:00\na,1,2,3\n")
    assert curves.header_times == (8, 12.5, 20)


@pytest.mark.slow
def test_two_thousand_columns_are_read():
    times = range(1999)
    header, row = ",".join(map(str, times)), ",".join("7" for _ in times)
    curves = curves_in(f"id,{header}\nann,{row}\nbob,{row}\n".encode())
    assert curves.counts.tolist() == [1999, 1999]


def test_every_public_bound_can_be_declared_and_names_its_source():
    for key, bounds in public_bounds().items():
        facts = declare(
            bounds.value_low,
            bounds.value_high,
            bounds.time_low,
            bounds.time_high,
            bounds.source,
            design=StatedDesign(law="unknown"),
            observations=8,
            periodic=bounds.periodic,
            value_name=bounds.value_name,
            value_unit=bounds.value_unit,
            person=bounds.person,
            people=bounds.people,
        )
        assert facts.origin == bounds.source and bounds.key == key and len(bounds.source) <= 200
