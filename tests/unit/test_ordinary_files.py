"""Ordinary files of hospitals, meters, wearables and laboratories: read right, asked about, or refused."""

import datetime
import io
import random

import numpy as np
import openpyxl
import pandas as pd
import pytest

from engine import api
from engine.core.errors import InputError
from engine.uploads.people import read
from engine.uploads.proposal import propose
from engine.uploads.proposing.questions import answered
from engine.uploads.reading_of_files import Reading
from tests import files
from tests.unit.test_proposal import gaps, question

R = random.Random(11)
PEOPLE, TIMES = range(12), range(4)


def lines(header, line, separator=",", above=(), below=()):
    """A table with lines of each person, as a function of the person and the number of the line."""
    rows = [separator.join(map(str, line(i, j))) for i in PEOPLE for j in TIMES]
    return "\n".join([*above, header, *rows, *below, ""]).encode()


def number(low=50, high=99, mark="."):
    return f"{R.uniform(low, high):.1f}".replace(".", mark)


def of_each(i, j):
    return i + 1, j, number()


def called(proposal):
    """The columns of people, time and value."""
    reading = proposal.reading
    return (
        reading.person.column if reading.person else None,
        *(
            reading.columns[role].name if role in reading.columns else None
            for role in ("time", "value")
        ),
    )


# -- read right ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "separator"),
    [
        ("SUBJID,VISITNUM,AVAL", ","),
        ("usubjid,ady,aval", ","),
        ("Patient Nr.;Besuch;Messwert", ";"),
        ("Patienten-Nr.;Alter (Jahre);Größe (cm)", ";"),
        ("N° patient;Âge (ans);Taille (cm)", ";"),
        ("Nº paciente;Edad;Talla", ";"),
        ("Paziente;Età;Altezza", ";"),
        ("PatientID,VisitNum,Result", ","),
        ("Kundennummer;Tag;Verbrauch (kWh)", ";"),
        ("user_id,night,hr", ","),
        ("Subject,Time,conc", ","),
    ],
)
def test_usual_names_of_several_languages_and_standards_are_known(header, separator):
    content = lines(header, of_each, separator)
    proposal = propose(content)
    assert called(proposal) == tuple(header.split(separator)) and not proposal.gaps
    assert read(content, proposal.reading).n_lines == 48 and proposal.kind == "curves"


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("Patient Nr.;Beginn;Ende;verstorben", ("ja", "nein")),
        ("patient;date_debut;date_fin;décès", ("oui", "non")),
        ("MRN;ADMIT_DT;DISCH_DT;DIED", ("1", "0")),
        ("Paciente;fecha_inicio;fecha_fin;fallecido", ("si", "no")),
    ],
)
def test_times_to_events_are_known_by_their_names_and_the_event_is_offered_first(header, values):
    rows = [f"p{i};2023-01-{1 + i};2024-02-{1 + i};{values[i % 3 > 0]}" for i in range(20)]
    proposal = propose("\n".join([header, *rows]).encode())
    roles = {role: column.name for role, column in proposal.reading.columns.items()}
    assert [roles[role] for role in ("start", "time", "status")] == header.split(";")[1:]
    first = question(proposal, "columns.status.words").options[0]
    assert [*first.adds["columns"]["status"]["words"]] == [values[0]]


@pytest.mark.parametrize(
    "above",
    [
        ["Bericht;;"],
        ["Report;;page 1"],
        ["Bericht;;", "Stand 31.12.2024;;", ";;"],
        ["Energy report;;", "Generated;2024-02-01;", ";;"],
        ["Bericht"],
    ],
)
def test_titles_with_the_marks_of_the_table_stand_above_the_header(above):
    content = lines("patient;day;weight", of_each, ";", above=above)
    proposal = propose(content)
    assert proposal.reading.frame.above == len(above) and called(proposal) == (
        "patient",
        "day",
        "weight",
    )
    assert read(content, proposal.reading).n_lines == 48
    sheet = files.sheet(
        *([*row.split(";")] for row in above),
        ("patient", "day", "weight"),
        *(of_each(i, j) for i in PEOPLE for j in TIMES),
    )
    assert called(propose(sheet)) == ("patient", "day", "weight")


def test_a_header_whose_first_name_is_empty_is_no_title():
    content = lines(",sex,age,height", lambda i, j: (4 * i + j, "f", j, number()))
    assert propose(content).reading.frame.above == 0


def test_a_date_with_its_clock_time_keeps_its_own_order():
    content = lines(
        "Patient;Datum;Uhrzeit;Wert",
        lambda i, j: (f"p{i}", f"{1 + i:02d}.03.2024", f"{8 + j}:30", 5),
        ";",
    )
    proposal = propose(content)
    assert "columns.time.order" in gaps(proposal)
    first = [each.options[0] for each in proposal.gaps]
    assert read(content, answered(proposal.reading, *first)).n_lines == 48


@pytest.mark.parametrize(
    "names",
    [
        [f"{k}:30" for k in range(9)],
        ["Jan", "Feb", "Mar", "Apr"],
        ["Monday", "Tuesday", "Wednesday"],
        [f"slot_{k:04d}_x"[:9] for k in range(1900)],
    ],
)
def test_wide_files_are_curves_and_their_reading_is_written_and_read_back(names):
    rows = [",".join([f"h{i}", *("5" for _ in names)]) for i in range(12)]
    content = "\n".join([",".join(["household_id", *names]), *rows]).encode()
    reading = propose(content).reading
    assert len(reading.at) == len(names)
    assert read(content, Reading.of(reading.to_plain())).n_lines == 12


def test_axes_beside_a_date_and_a_clock_time_are_no_times():
    content = lines(
        "Subject,Date,Time,Axis1,Axis2,Axis3",
        lambda i, j: (f"s{i}", "2024-01-02", f"{j}:00", *(R.randint(0, 9) for _ in range(3))),
    )
    proposal = propose(content)
    assert not proposal.reading.at and proposal.reading.columns["time"].names == ("Date", "Time")
    assert "columns.value" in gaps(proposal)


# -- asked about -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["meter_id", "stay_id", "Fallnummer", "MPAN", "DeviceId", "sample_id"]
)
def test_ids_of_meters_stays_and_samples_are_asked_about_and_offered(name):
    content = lines(f"{name},day,value", lambda i, j: (10_000 + i, j, number()))
    proposal = propose(content)
    assert gaps(proposal)[0] == "person"
    assert any(
        each.adds["person"].get("column") == name for each in question(proposal, "person").options
    )


@pytest.mark.parametrize("word", ["-", "?", "not done", "k.A.", "ERROR"])
def test_a_word_among_numbers_is_asked_about_and_left_out_once_it_is_said_to_be_missing(word):
    content = lines(
        "patient;day;weight", lambda i, j: (f"p{i}", j, word if i == j else number()), ";"
    )
    proposal = propose(content)
    assert gaps(proposal) == ["missing"]
    with pytest.raises(InputError):
        read(content, proposal.reading)
    values = read(content, answered(proposal.reading, proposal.gaps[0].options[0])).columns["value"]
    assert np.isnan(values).sum() == 4


def test_several_values_at_one_day_are_asked_about_with_the_column_that_may_say_when():
    content = lines("household_id,day,interval,kwh", lambda i, j: (f"h{i}", 1, j, number()))
    asked = question(propose(content), "several")
    assert not asked.is_gap and "“interval”" in asked.question and "48 of 48" in asked.evidence
    assert not [
        each
        for each in propose(lines("id,day,kwh", lambda i, j: (f"h{i}", j, 1))).ask
        if each.field == "several"
    ]


@pytest.mark.parametrize("stamp", ["2024-03-0{} 10:00", "2024-03-0{}"])
def test_what_dates_count_is_said_by_a_person(stamp):
    content = lines("patient,date,value", lambda i, j: (f"p{i}", stamp.format(j + 1), number()))
    proposal = propose(content)
    assert gaps(proposal) == ["columns.time.from"]
    with pytest.raises(InputError) as refused:
        read(content, proposal.reading)
    assert refused.value.field == "columns.time.from"
    assert read(content, proposal.likely).n_lines == 48
    assert not propose(content, stated={"from_first": "days"}).gaps


# -- refused, with what to do ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last", "field"),
    [
        ("Total,,8000", "patient"),
        ("Summe:,,8000", "patient"),
        ("Mean (n = 48),,70", "patient"),
        (",,8000", "patient"),
        ("Source: registry 2024,,", "patient"),
        ("Weights in kg,,", "patient"),
    ],
)
def test_totals_and_notes_below_a_table_are_no_people(last, field):
    with pytest.raises(InputError) as refused:
        propose(lines("patient,day,cost", of_each, below=[last]))
    assert refused.value.field == field and refused.value.hint


def test_a_total_beside_meters_or_among_their_times_is_no_person():
    stamps = [f"2024-01-01 {k:02d}:00" for k in range(12)]
    for names, more in (("M1,M2,M3,Total", []), ("M1,M2,M3,M4", ["Total,1,2,3,4"])):
        content = "\n".join(
            [f"timestamp,{names}", *(f"{stamp},1,2,3,4" for stamp in stamps), *more]
        )
        with pytest.raises(InputError, match="total"):
            propose(content.encode())


@pytest.mark.parametrize(
    ("cell", "advice"),
    [
        ("1.234,5", "thousands"),
        ("1,234.5", "thousands"),
        ("1'234", "thousands"),
        ("1 234", "thousands"),
        ("5 ± 1", "second number"),
        ("120/80", "second number"),
        ("\u20135.0", "minus"),
        ("€ 5", "currency"),
        ("(5)", "brackets"),
        ("<0.5", "limit"),
        ("BLQ", "limit"),
        ("5 kg", "unit"),
    ],
)
@pytest.mark.parametrize("share", [1, 4])
def test_cells_that_are_nearly_numbers_are_refused_with_advice_for_them(cell, advice, share):
    if cell == "BLQ" and share == 1:
        return  # a column of words alone
    content = lines(
        "patient;day;level", lambda i, j: (f"p{i}", j, cell if j % share == 0 else "7.5"), ";"
    )
    with pytest.raises(InputError) as refused:
        propose(content)
    assert refused.value.field == "level" and advice in refused.value.hint
    assert "semicolons" not in refused.value.hint


@pytest.mark.parametrize("name", ["1E5", "1.2E+11", "12e03"])
def test_ids_that_have_lost_digits_are_refused_by_proposal_and_reading_alike(name):
    content = lines("patient,day,value", lambda i, j: (name if i == 0 else f"p{i}", j, number()))
    reading = {
        "frame": {"encoding": "utf-8", "separator": ",", "header": ["patient", "day", "value"]},
        "person": {"column": "patient"},
        "columns": {"time": {"name": "day"}, "value": {"name": "value"}},
    }
    hints = set()
    for reader in (propose, lambda bytes_: read(bytes_, Reading.of(reading))):
        with pytest.raises(InputError) as refused:
            reader(content)
        hints.add(refused.value.hint)
    assert len(hints) == 1


@pytest.mark.parametrize("second", ["(id),(days),(kg)", "Patient ID,Study day,Weight"])
def test_a_second_line_of_names_or_units_is_told_so(second):
    with pytest.raises(InputError) as refused:
        propose(lines(f"patient,day,weight\n{second}", of_each))
    assert "first line" in refused.value.hint


def test_a_workbook_whose_first_sheet_is_a_note_says_which_others_there_are():
    book, out = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["Read me"])
    for row in (("patient", "day", "weight"), *(of_each(i, j) for i in PEOPLE for j in TIMES)):
        (book["Data"] if "Data" in book.sheetnames else book.create_sheet("Data")).append(row)
    book.save(out)
    with pytest.raises(InputError) as refused:
        propose(out.getvalue())
    assert refused.value.field == "sheet" and "Data" in refused.value.hint
    assert called(propose(out.getvalue(), sheet="Data")) == ("patient", "day", "weight")


@pytest.mark.parametrize(
    "content", [b'{"id": 1, "t": 2}\n{"id": 2, "t": 3}\n', b'[{"id": 1}, {"id": 2}]']
)
def test_other_kinds_of_text_are_called_by_their_name(content):
    with pytest.raises(InputError, match="JSON"):
        propose(content)


# -- data frames -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "column", [np.ones(4) * 1j, [b"a", b"a", b"b", b"b"], [[1], [2], [3], [4]], [{}, {}, {}, {}]]
)
@pytest.mark.parametrize("name", ["child", "height"])
def test_columns_of_a_data_frame_without_numbers_dates_or_texts_are_refused_by_name(column, name):
    frame = pd.DataFrame({"child": [1, 1, 2, 2], "age": [2, 6, 2, 6], "height": [86, 115, 84, 112]})
    frame[name] = column if isinstance(column, np.ndarray) else pd.Series(column, dtype=object)
    reading = {
        "frame": {"header": ["child", "age", "height"]},
        "person": {"column": "child"},
        "columns": {"time": {"name": "age"}, "value": {"name": "height"}},
    }
    facts = {
        "values": (60, 210),
        "times": (2, 18),
        "origin": "chart",
        "design": {"law": "even"},
        "observations": 2,
    }
    for ask in (
        lambda: api.propose(frame),
        lambda: api.look(frame),
        lambda: api.read_curves(frame, **facts),
        lambda: api.read_curves(frame, reading=reading, **facts),
    ):
        with pytest.raises(InputError, match=f"“{name}”"):
            ask()


def test_dates_and_durations_of_a_data_frame_are_read_or_refused_in_words():
    frame = pd.DataFrame(
        {
            "child": ["a", "a", "b", "b"],
            "age": [datetime.date(2024, 1, k) for k in (1, 2, 1, 2)],
            "height": [86.0, 115, 84, 112],
        }
    )
    assert api.propose(frame).reading.columns["time"].kind == "date"
    frame["age"] = pd.to_timedelta([1, 2, 1, 2], unit="h")
    with pytest.raises(InputError) as refused:
        api.look(frame)
    assert refused.value.hint
