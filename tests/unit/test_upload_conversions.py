"""Dates, clock times, percentages and tables with people in columns: read, and said, or asked."""

import json

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.types import Budget
from engine.mechanisms import mechanisms
from engine.release import request
from engine.uploads.bounds_library import public_bounds
from engine.uploads.conversions import Dates
from engine.uploads.curves import read_curves
from engine.uploads.design import StatedDesign
from engine.uploads.facts import declare
from engine.uploads.layout import Layout, has_people_in_columns, suggest_layout
from engine.uploads.own_file import OwnFile
from engine.uploads.tables import read_table
from tests.readings import upload_of

# Of 2024, a leap year: its first day, noon of it, the 60th day, the last.
DAYS = {"2024-01-01": 0, "2024-01-01T12:00": 0.5, "2024-02-29": 59, "2024-12-31 18:00:00": 365.75}


def numbers(cells, name="value", separator=",", **options):
    content = "\n".join([f"id{separator}{name}", *(f"a{separator}{cell}" for cell in cells)])
    return read_table(content.encode(), **options).numbers(name)


def curves_of(content, dates=None, **options):
    table = read_table(content)
    layout = suggest_layout(table, **options)
    if dates is not None:
        layout = Layout(layout.id, layout.time, layout.value, dates=dates)
    return read_curves(table, layout)


def test_a_date_is_a_calendar_year_whatever_the_other_rows_are():
    column = numbers(DAYS)
    assert column.values == pytest.approx([2024 + day / 366 for day in DAYS.values()], abs=1e-12)
    assert "calendar years" in column.conversion and column.unreadable == 0
    for cell, value in zip(DAYS, column.values, strict=True):
        assert numbers([cell]).values[0] == value


@pytest.mark.parametrize(("cell", "same"), [
    ("31.1.2024", "2024-01-31"), ("31/1/2024", "2024-01-31"), ("1/31/2024", "2024-01-31"),
    ("31-01-2024", "2024-01-31"), ("1.2.2024 08:30", "2024-02-01T08:30")])
def test_orders_that_can_be_told_are_read(cell, same):
    assert numbers([cell]).values[0] == numbers([same]).values[0]


@pytest.mark.parametrize(("day_first", "day"), [(True, 31 + 29 + 31 + 2), (False, 31 + 29 + 3)])
def test_dates_that_can_be_read_in_two_ways_are_asked_for_and_then_read(day_first, day):
    content = b"id,time,value\na,3/4/2024,1\nb,3/4/2024,2\n"
    with pytest.raises(InputError, match="two ways") as asked:
        curves_of(content)
    assert asked.value.field == "dates"
    curves = curves_of(content, Dates(day_first=day_first, since="2024-01-01"))
    assert curves.times.tolist() == [day, day]
    assert any("days since 2024-01-01" in note for note in curves.notes)


VISITS = (b"id,date,value\na,2023-01-02,1\na,2023-01-16,2\nb,2024-03-01,3\nb,2024-02-23,4\n"
          b"b,2020-01-01,\nc,2024-12-31,5\n")


@pytest.mark.parametrize(("unit", "days"), [("days", 1), ("weeks", 7), ("years", 365.25)])
def test_time_is_counted_from_the_first_observation_of_each_person(unit, days):
    curves = curves_of(VISITS, Dates(from_first=unit))
    of_people = dict(zip(curves.ids, np.split(curves.times, np.cumsum(curves.counts)[:-1]),
                         strict=True))
    assert of_people["a"] * days == pytest.approx([0, 14], abs=1e-8)
    assert of_people["b"] * days == pytest.approx([0, 7], abs=1e-8)  # a date without a value is none
    assert of_people["c"].tolist() == [0]
    assert any(f"{unit} since each person’s first" in note for note in curves.notes)
    assert not curves.header_times


def test_the_first_observation_of_a_person_moves_nobody_else():
    other = VISITS.replace(b"a,2023-01-02,1", b"a,1999-12-31,1")
    before, after = (curves_of(content, Dates(from_first="days")) for content in (VISITS, other))
    kept = {who: times.tolist() for who, times in zip(
        after.ids, np.split(after.times, np.cumsum(after.counts)[:-1]), strict=True)}
    for who, times in zip(before.ids, np.split(before.times, np.cumsum(before.counts)[:-1]),
                          strict=True):
        assert (kept[who] == times.tolist()) is (who != "a")


@pytest.mark.parametrize("stated", [
    {"from_first": "weeks"}, {"since": "2023-01-01"}, {"day_first": True}, {}])
def test_a_request_reads_dates_as_the_page_did(stated, tmp_path):
    (tmp_path / "visits.csv").write_bytes(VISITS)
    source = upload_of(VISITS, declare(
        0, 10, 0, 3000, "a plan", observations=2, design=StatedDesign(law="unknown")),
        {"id": "id", "time": "date", "value": "value"}, **stated)
    plain = request.to_plain(source, mechanisms.build("adaptive_mean", {}), Budget(1.0, 1e-4),
                             OwnFile("visits.csv", source.reading))
    (again,) = request.from_json(json.dumps(plain | {"name": "visits"}), tmp_path)
    assert again.source.curves.times.tolist() == source.curves.times.tolist()


def test_time_from_the_first_observation_has_a_unit_and_no_other_beginning():
    for wrong in ({"from_first": "fortnights"}, {"from_first": "days", "since": "2024-01-01"}):
        with pytest.raises(InputError, match="first observation"):
            Dates(**wrong)
    with pytest.raises(InputError, match="Only dates"):
        curves_of(b"id,time,value\na,1,2\na,3,4\n", Dates(from_first="days"))


@pytest.mark.parametrize("content", [b"id,date,value\na,20240131,5\na,20240201,6\nb,20231224,7\n",
                                     b"id,20231224,20240131,20240201\na,5,6,7\nb,5,6,8\n"])
def test_dates_without_dashes_are_refused_and_no_numbers(content):
    with pytest.raises(InputError, match="dates without dashes") as refused:
        read_curves(table := read_table(content), suggest_layout(table))
    assert refused.value.field == "dates"
    plain = read_table(content.replace(b"20231224", b"20231324"))  # no date, so that these are numbers
    assert read_curves(plain, suggest_layout(plain)).n_curves == 2


def test_days_are_counted_from_a_stated_day():
    with pytest.raises(InputError, match="counted from a date"):
        Dates(since="2024-02-30")
    curves = curves_of(b"id,time,value\na,2024-03-02,1\na,2024-02-28 12:00,2\n",
                       Dates(since="2024-02-28"))
    assert curves.times.tolist() == [0.5, 3.0]


@pytest.mark.parametrize(("cell", "hours"), [
    ("00:00", 0), ("8:15", 8.25), ("23:59:30", 24 - 1 / 120), ("12:00 am", 0), ("1:30 PM", 13.5)])
def test_clock_times_are_hours(cell, hours):
    assert numbers([cell]).values[0] == pytest.approx(hours)


def test_percent_signs_go_and_the_line_says_so():
    curves = curves_of(b"id,time,value\na,1,12 %\na,2,\nb,1,3.5%\n")
    assert sorted(curves.values) == [3.5, 12]
    assert any(note.startswith("“value”: percent signs left out") for note in curves.notes)
    assert any("1 reading left out" in note or "1 observation left out" in note
               for note in curves.notes)


@pytest.mark.parametrize("cells", [
    ["12 %", "0.3", "4 %"], ["2024-01-01", "2024-01-02", "soon"], ["08:00", "09:00", "25:00"],
    ["2024-02-30", "2024-02-01", "2024-02-02"], ["1/13/2024", "13/1/2024", "2/13/2024"]])
def test_a_column_written_in_two_ways_is_refused_and_never_guessed(cells):
    column = numbers(cells)
    assert column.unreadable == 1 and column.advice


@pytest.mark.parametrize(("cell", "iso"), [
    ("01JAN2020", "2020-01-01"), ("29-Feb-2024", "2024-02-29"), ("3 march 2024", "2024-03-03"),
    ("01JAN2020:08:30:00", "2020-01-01 08:30"), ("2024/12/31", "2024-12-31"), ("7 Sept 2021", "2021-09-07")])
def test_dates_with_the_name_of_a_month_are_read(cell, iso):
    column, same = numbers([cell] * 3), numbers([iso] * 3)
    assert column.values == pytest.approx(same.values) and column.kind == same.kind == "dates"


@pytest.mark.parametrize("cell", ["01MAI2020", "30FEB2021", "01JAN20", "January 2020", "JAN012020"])
def test_dates_in_another_language_or_without_a_day_or_century_are_not_read(cell):
    assert numbers([cell] * 3).unreadable == 3


def test_people_in_columns_are_the_same_curves_as_people_in_rows():
    turned = curves_of(b"age,ann,bob,cid\n2,86,84,\n6,115,112,118\n10,138,135,142\n")
    rows = curves_of(b"id,2,6,10\nann,86,115,138\nbob,84,112,135\ncid,,118,142\n")
    for name in ("times", "values", "counts"):
        assert np.array_equal(getattr(turned, name), getattr(rows, name))
    assert turned.ids == rows.ids
    assert any("one column per curve" in note for note in turned.notes)


@pytest.mark.parametrize("header", ["age,height,site", "age,x_1,id", "age,2,6,10"])
def test_a_first_column_of_times_is_not_turned_where_names_say_otherwise(header):
    row = ",".join("1" * len(header.split(",")))
    table = read_table(f"{header}\n{row}\n{row.replace('1', '2', 1)}\n".encode())
    assert not has_people_in_columns(table)


def test_times_in_names_of_columns_may_be_dates_and_clock_times():
    curves = curves_of(b"id,2024-01-31,2024-02-01,2024-03-01\na,1,2,3\nb,2,3,4\n")
    assert curves.header_times == pytest.approx([2024 + d / 366 for d in (30, 31, 60)])
    curves = curves_of(b"id,08:00,12:30,20:00\na,1,2,3\n")
    assert curves.header_times == (8, 12.5, 20)


@pytest.mark.slow
def test_two_thousand_columns_are_read():
    times = range(1999)
    header, row = ",".join(map(str, times)), ",".join("7" for _ in times)
    curves = curves_of(f"id,{header}\nann,{row}\nbob,{row}\n".encode())
    assert curves.counts.tolist() == [1999, 1999]


def test_what_was_not_used_is_named():
    curves = curves_of(b"id,time,value,comment\na,1,2,well\nb,1,3,\n")
    assert any("not used" in note and "comment" in note for note in curves.notes)


def test_every_public_bound_can_be_declared_and_names_its_source():
    for key, bounds in public_bounds().items():
        facts = declare(bounds.value_low, bounds.value_high, bounds.time_low, bounds.time_high,
                        bounds.source, design=StatedDesign(law="unknown"), observations=8,
                        periodic=bounds.periodic, value_name=bounds.value_name,
                        value_unit=bounds.value_unit, person=bounds.person, people=bounds.people)
        assert facts.origin == bounds.source and bounds.key == key and len(bounds.source) <= 200
