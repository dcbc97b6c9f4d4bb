"""Files with lines outside their reading are refused as a whole, with counts and no cell of them."""

import pytest

from engine.core.errors import InputError
from engine.uploads.people import read
from engine.uploads.reading_of_files import MAX_BYTES, Reading
from tests.sentences import of_topic

wording = of_topic("upload")

LONG = {
    "frame": {"encoding": "utf-8", "separator": ",", "header": ["id", "time", "value"]},
    "person": {"column": "id"},
    "columns": {"time": {"name": "time"}, "value": {"name": "value"}},
    "missing": ["", "NA"],
}
DATES = LONG | {
    "columns": {
        "time": {"name": "time", "kind": "date", "order": "dmy", "from": "calendar years"},
        "value": {"name": "value"},
    }
}
GOOD = ["a,1,50", "b,2,51", "c,3,52"]


def refusal(lines, reading=LONG, header="id,time,value"):
    """What is said of a file with these lines beside good ones."""
    content = "\n".join([header, *lines]).encode()
    with pytest.raises(InputError) as refused:
        read(content, Reading.of(reading))
    return str(refused.value)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ('d,4,"53', "1 with a quotation mark that is not closed"),
        ('d,4,"5"3', "1 with a quotation mark that is not closed"),
        ('d,4,5"3', "1 with a quotation mark that is not closed"),
        ('"d\ne",4,53', "2 with a quotation mark that is not closed"),
        ('"d\re",4,53', "2 with a quotation mark that is not closed"),
        (",4,53", "1 without an id"),
        (" ,4,53", "1 without an id"),
        ("NA,4,53", "1 without an id"),
        ("\u200b\u2060,4,53", "1 without an id"),
        ("d,4", "1 with another number of cells"),
        ("d,4,53,1", "1 with another number of cells"),
        ("d;4;53", "1 with another number of cells"),
        ("id,time,value", "1 with an unreadable cell in “time”"),
        ("d\ufeff,4,53", "1 with a character without meaning"),
        ("d,4,5\x003", "1 with a character without meaning"),
        ('d,4,"5,3"', "1 with an unreadable cell in “value”"),
        ("d,4,1 050", "1 with an unreadable cell in “value”"),
        ("d,4,12 %", "1 with an unreadable cell in “value”"),
        ("d,4,<5", "1 with an unreadable cell in “value”"),
        ("d,4,\u200b53", "1 with an unreadable cell in “value”"),
        ("d,x,y", "1 with an unreadable cell in “time”"),
    ],
)
def test_a_line_outside_the_reading_is_counted_by_its_fault_and_nothing_is_read(line, kind):
    told = refusal([*GOOD, line])
    assert kind in told and "Nothing was read" in told
    assert not {"53", "“d”"} & {*told.split()}
    assert refusal([line, *GOOD]) == told  # wherever the line stands


@pytest.mark.parametrize(
    "line",
    [
        "d,01/31/2024,5",
        "d,31.02.2024,5",
        "d,3/4/24,5",
        "d,13:30,5",
        "d,2024-01-31T10:00:00+01:00,5",
        "d,45000,5",
        "d,20240131,5",
    ],
)
def test_a_date_in_another_form_is_no_date(line):
    told = refusal(["a,31/01/2024,50", line], DATES)
    wording.found("unreadable cell time", told, 1)
    assert "order" in told


def test_faults_of_all_kinds_are_counted_together():
    told = refusal([*GOOD, "d,4", "e,5", ",6,1", 'f,7,"', "g,x,1", "h,8,y", "i,9,y"])
    wording.found("lines outside reading", told, 7)
    for part in (
        "1 with a quotation mark",
        "2 with another number of cells",
        "1 without an id",
        "1 with an unreadable cell in “time”",
        "2 with an unreadable cell in “value”",
    ):
        assert part in told


@pytest.mark.parametrize("name", ["1E5", "1.23E+11", "1e05", "12e-3"])
def test_ids_that_a_spreadsheet_has_rounded_are_refused_unless_every_spelling_is_an_id(name):
    told = refusal([*GOOD, f"{name},4,53", f"{name},5,54"])
    wording.found("id such lost", told, 2, 1, 11)
    assert name not in told
    exact = Reading.of(LONG | {"person": {"column": "id", "form": "exact"}})
    assert read(f"id,time,value\n{name},1,2\nb,1,2\n".encode(), exact).ids == (name, "b")


@pytest.mark.parametrize(
    "header",
    [
        "id,time",
        "id,value,time",
        "time,value,id",
        "Id,time,value",
        'id,time,"value',
        "id,time,value,",
    ],
)
def test_another_header_is_refused_before_a_line_is_looked_at(header):
    assert "header" in refusal(GOOD, header=header)


def test_an_encoding_that_cannot_be_stated_is_not_asked_for():
    content = "\n".join(["id,time,value", *GOOD])
    for encoding, asks in (("utf-16", True), ("utf-32", False)):
        with pytest.raises(InputError) as refused:
            read(content.encode(encoding), Reading.of(LONG))
        assert refused.value.field == "encoding"
        assert ("State it" in refused.value.hint) == asks


def test_an_empty_file_and_one_without_lines_are_refused():
    assert "no lines below" in refusal([])
    assert "no lines below" in refusal(["", " ", ",,"])
    with pytest.raises(InputError, match="empty"):
        read(b"", Reading.of(LONG))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"columns": {"time": {"name": "age"}, "value": {"name": "value"}}}, "no column “age”"),
        ({"columns": {"time": {"name": "time"}, "value": {"name": "time"}}}, "two roles"),
        (
            {"columns": {"time": {"name": "time", "order": "dmy"}, "value": {"name": "value"}}},
            "order",
        ),
        ({"columns": {"time": {"name": "time", "from": "hours of day"}}}, "counted from"),
        ({"columns": {"time": {"name": "time", "offset": "kept"}}}, "offset"),
        ({"columns": {"when": {"name": "time"}}}, "when"),
        ({"columns": {"time": {"name": "time", "format": "x"}}}, "format"),
        ({"several": "all"}, "several"),
        ({"decimal": "'"}, "decimal"),
        ({"persons": {}}, "persons"),
        ({"person": {"column": "id", "rows": True}}, "one of these"),
        ({"person": {"header": True}}, "People stand in the header"),
        ({"columns": {"status": {"name": "value"}}}, "kind word"),
        (
            {
                "columns": {
                    "status": {
                        "name": "value",
                        "kind": "word",
                        "words": {"1": 1},
                        "other": "left out",
                    }
                }
            },
            "Nobody is left out",
        ),
        (
            {
                "columns": {
                    "group": {"name": "value", "kind": "word", "words": {"A": "A", "a ": "B"}}
                }
            },
            "two meanings",
        ),
        ({"missing": ["x" * MAX_BYTES]}, "256 kB"),
        (
            {
                "frame": LONG["frame"] | {"header": [f"c{k}" for k in range(201)]},
                "person": {"rows": True},
                "columns": {"features": [{"name": f"c{k}"} for k in range(201)]},
            },
            "200 columns",
        ),
    ],
)
def test_a_reading_that_cannot_be_is_refused_by_name(change, told):
    with pytest.raises(InputError, match=told):
        Reading.of(LONG | change)


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"person": None}, "person", '"rows": true'),
        ({"columns": {"time": {"name": "time", "kind": "date"}}}, "columns.time.order", '"order"'),
        (
            {"columns": {"status": {"name": "value", "kind": "word"}}},
            "columns.status.words",
            '"words"',
        ),
        (
            {"columns": {"status": {"name": "value", "kind": "word", "words": {"1": "1"}}}},
            "columns.status.other",
            '"other"',
        ),
    ],
)
def test_a_reading_with_a_gap_reads_nothing_and_names_the_words_that_fill_it(change, field, words):
    with pytest.raises(InputError) as refused:
        read(b"id,time,value\na,1,2\n", Reading.of(LONG | change))
    assert refused.value.field == field and words in refused.value.hint
