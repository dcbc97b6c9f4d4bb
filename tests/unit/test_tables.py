"""From bytes to columns of text: good forms agree, other kinds of file are refused by name."""

import datetime
import io
import tracemalloc

import pytest

from engine.core.errors import InputError
from engine.uploads.limits import LIMITS, FileLimits
from engine.uploads.looking import sheets_of
from engine.uploads.proposal import propose
from engine.uploads.proposing.framing import framed
from tests import files
from tests.sentences import of_topic

wording = of_topic("upload")

WORKBOOK = files.sheet(["id", "time", "value"], ["a", 1, 2.5], ["b", 2, 3])
MACROS = b"application/vnd.ms-excel.sheet.macroEnabled.main+xml"


def cells(content, **options):
    table = framed(content, **options)
    return {
        name: column.to_pylist() for name, column in zip(table.names, table.columns, strict=True)
    }


def assert_refused(content, words, **options):
    """It is refused in these words, and told where the fault is and what to do."""
    with pytest.raises(InputError, match=words) as caught:
        framed(content, **options)
    assert caught.value.hint and caught.value.field
    return caught.value


def edited(old, new):
    return files.repacked(WORKBOOK, lambda name, content: content.replace(old, new))


def test_cells_stay_text_so_that_identifiers_survive():
    content = files.rows("007,1,2\n7,1,2\n12345678901234567890,1,2\nNA,1,2")
    assert cells(content)["id"] == ["007", "7", "12345678901234567890", "NA"]


def test_a_workbook_gives_the_same_text_as_a_csv_file():
    assert cells(WORKBOOK) == cells(files.rows("a,1,2.5\nb,2,3"))


def test_a_table_may_begin_anywhere_on_its_sheet():
    header, *rows = ["id", "time", "value"], ["a", 1, 2.5], ["b", 2, 3]
    moved = files.sheet([], [None, None, *header], [], *([None, None, *row] for row in rows))
    assert cells(moved).items() >= cells(files.rows("a,1,2.5\nb,2,3")).items()


def test_cells_of_a_sheet_are_the_text_of_a_csv_file():
    day = datetime.datetime(2024, 1, 31, 5)
    table = cells(
        files.sheet(
            ["a", "b", "c", "d"],
            [1, 0.1, True, day],
            [123456789012, 1e-7, "x", None],
            [None, 1e22, 2.5, day.date()],
            [-3, 1 / 3, 4, "é"],
        )
    )
    assert table == {
        "a": ["1", "123456789012", "", "-3"],
        "c": ["True", "x", "2.5", "4"],
        "b": ["0.1", "1e-7", "1e+22", "0.3333333333333333"],
        "d": ["2024-01-31T05:00:00", "", "2024-01-31", "é"],
    }


def test_durations_in_a_sheet_are_elapsed_times_whatever_their_days():
    hours = [datetime.timedelta(hours=1, minutes=40), datetime.timedelta(hours=30, seconds=5)]
    assert cells(files.sheet(["id", "elapsed"], *(["a", each] for each in hours)))["elapsed"] == [
        "1:40:00",
        "30:00:05",
    ]


@pytest.mark.parametrize(
    ("shown", "is_told"), [("0%", True), ("0.0%", True), ('0.0" %"', False), ("0.00", False)]
)
def test_shares_that_a_sheet_shows_as_percent_are_shares_and_that_is_told(shown, is_told):
    import openpyxl

    book, out = openpyxl.Workbook(), io.BytesIO()
    for row in (["id", "share"], ["a", 0.12], ["b", 0.5]):
        book.active.append(row)
        book.active.cell(book.active.max_row, 2).number_format = shown
    book.save(out)
    table = framed(out.getvalue())
    assert table.columns[1].to_pylist() == ["0.12", "0.5"]
    assert any("12 % is 0.12" in note for note in table.notes) == is_told


def test_names_are_trimmed_and_compared_without_case():
    content = b" Child ID ,AGE,y\na,1,2\na,2,3\n"
    assert framed(content).names == ("Child ID", "AGE", "y")
    reading = propose(content, stated={"columns": {"id": "child id", "time": " age "}}).reading
    assert (reading.person.column, reading.columns["time"].name) == ("Child ID", "AGE")


def test_a_column_that_does_not_exist_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match=r"no column “hight”.*nearest name is “height”"):
        propose(files.csv(), stated={"columns": {"value": "hight"}})


def test_quoted_separators_belong_to_the_cell_and_line_ends_are_refused():
    assert cells(b'id,time,"note, or so"\na,1,"x, ""y"" z"\n') == {
        "id": ["a"],
        "time": ["1"],
        "note, or so": ['x, "y" z'],
    }
    assert_refused(b'id,time,note\na,1,"x\ny"\n', "cells than the header|not closed")


def test_blank_lines_are_none():
    assert cells(b"id,time,value\na,1,2\n\n,,\nb,2,3\n")["id"] == ["a", "b"]


def test_a_named_column_without_content_is_kept_and_an_unnamed_one_with_content_gets_a_name():
    assert framed(b",time,value\na,1,\n").names == ("column 1", "time", "value")


@pytest.mark.parametrize("separator", ["\t", ";", "|", ","])
def test_the_separator_is_recognised_among_others_in_cells(separator):
    content = separator.join(["id", '"a;b|c"', "d"]) + "\n" + separator.join(["x", '"1,2"', "3"])
    assert framed(content.encode()).names == ("id", "a;b|c", "d")


@pytest.mark.parametrize(
    ("mark", "codec"),
    [(b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")],
)
def test_a_byte_order_mark_tells_the_encoding(mark, codec):
    text = files.csv().decode().replace("c001", "Zoë")
    assert "Zoë" in cells(mark + text.encode(codec))["child"]


def test_text_that_is_not_utf_8_is_read_in_the_usual_encoding_and_that_is_told():
    content = files.rows("Zoë,1,2\nJosé,1,2").decode().encode("latin-1")
    assert cells(content)["id"] == cells(content, encoding="latin-1")["id"] == ["Zoë", "José"]
    assert "read as WINDOWS-1252" in framed(content).notes
    assert (
        assert_refused(content, "not UTF-8 text: 2 places cannot be read", encoding="utf-8").field
        == "encoding"
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "file is empty"),
        (b"\n \n\n", "blank lines"),
        (b"\xef\xbb\xbf", "blank lines"),
        (b"child,age,height\n", "no lines of data"),
        (b"child,age,height", "no lines of data"),
        (b"a,b\n,\n,\n", "no lines of data"),
        (b"a\n1\n2\n", "only one column"),
        (
            b"id,time,value\n1,2,3,4,5\n1,2\n1,2,3\n",
            "2 lines have more or fewer cells than the header",
        ),
        (b'id,time,value\na,"1,2\nb,1,2\n', "1 line has a quotation mark that is not closed"),
        (b'id,time,value\na,1,"2\nb,1,2\n', "not closed in its own line"),
        (b'id,time,"value\na,1,2\nb,1,2\n', "line of the header cannot be read"),
        (b"id,time,Value,value\n1,2,3,4\n", "Two columns are called “value”"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "a picture .PNG."),
        (b"MZ\x90\x00\x03", "a program"),
        (b"\x1f\x8b\x08\x00\x00", "ends too early"),
        (b"\x1f\x8b\x00\x00\x00", "gzip"),
        (b"PAR1\x00\x01", "ends too early"),
        (b"PARE\x00\x01", "Parquet file is encrypted"),
        (b"\xfd7zXZ\x00\x00", "a compressed file .xz."),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"<HTML><table>", "a web page"),
        (b"id,time\n1,\x00\n", "not a text table"),
        (bytes(range(1, 32)) * 40, "not a text table"),
        ("id,time\n1,2\n".encode("utf-16-le"), "not a text table"),
        (b"\xff\xfei", "not UTF-16 text"),
        (b"\xd0\xcf\x11\xe0" + b"x" * 600, "old workbook .\\.xls."),
        (b"\xd0\xcf\x11\xe0" + "EncryptedPackage".encode("utf-16-le"), "protected by a password"),
        (files.zip_of(a_dot_csv=files.csv()), "no export of a device that is read"),
        (files.zip_of(content_dot_xml="<x/>"), "OpenDocument"),
        (files.zip_of(xl__workbook_dot_bin="x"), "binary workbook"),
        (files.repacked(WORKBOOK, xl__vbaProject_dot_bin="x"), "macros .\\.xlsm."),
        (
            edited(
                b"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
                MACROS,
            ),
            "macros",
        ),
        (b"PK\x03\x04broken", "damaged"),
        (WORKBOOK[: len(WORKBOOK) // 2], "damaged"),
        (edited(b"</c>", b""), "damaged"),
        (edited(b"<v>2.5</v>", b"<v>two</v>"), "damaged"),
        (files.repacked(WORKBOOK, **{f"m{k}": str(k) for k in range(250)}), "parts; at most 200"),
        (files.sheet(), "sheet is empty"),
        (files.sheet(["id", "time", "value"]), "no lines of data"),
        (files.sheet(["id", "time"], ["a", 1, "note"]), "1 line has more or fewer cells"),
        (
            files.sheet(["id", "time", "value"], ["a", 1, "=1+1"], ["b", 1, "=2+2"]),
            "2 cells have a formula without a saved result, the first in column “value”",
        ),
    ],
)
def test_a_bad_file_is_refused_in_one_clear_sentence(content, words):
    assert_refused(content, words)


def test_a_column_may_be_called_like_another_kind_of_file():
    assert framed(b"PAR1,BZh,PK\na,1,2\n").names == ("PAR1", "BZh", "PK")


@pytest.mark.parametrize(
    ("limits", "content", "words"),
    [
        (FileLimits(bytes=20), b"id,time,value\na,1,2\n" + b"\n", "larger than 2e-05 MB"),
        (
            FileLimits(cells=6),
            files.rows("a,1,2\nb,1,2\nc,1,2"),
            "9 cells .3 rows of 3.; at most 6",
        ),
        (
            FileLimits(sheet_cells=6),
            files.sheet(["id", "t", "y"], *[["a", 1, 2]] * 3),
            "more than 6 cells",
        ),
        (FileLimits(columns=3), b"a,b,c,d\n1,2,3,4\n", "4 columns; at most 3"),
        (FileLimits(columns=2), WORKBOOK, "3 columns; at most 2"),
        (FileLimits(sheet_text_bytes=10), WORKBOOK, "more than 1e-05 MB of text"),
        (FileLimits(unpacked_bytes=1000), WORKBOOK, "expands to 0 MB .limit 0.001 MB"),
        (FileLimits(unpacked_ratio=1), WORKBOOK, "times its own size .limit 1."),
        (FileLimits(members=3), WORKBOOK, "parts; at most 3"),
    ],
)
def test_each_limit_is_named_with_what_the_file_has(limits, content, words):
    assert_refused(content, words, limits=limits)


def test_a_table_at_its_limits_is_read():
    content = files.rows("a,1,2\nb,1,2")
    assert framed(content, limits=FileLimits(bytes=len(content), cells=6, columns=3)).n_lines == 2
    assert framed(WORKBOOK, limits=FileLimits(sheet_cells=6, columns=3)).n_lines == 2


def test_the_usual_limits_are_the_documented_ones():
    assert (LIMITS.bytes, LIMITS.columns, LIMITS.unpacked_bytes) == (20_000_000, 2000, 100_000_000)
    assert_refused(b"x" * (LIMITS.bytes + 1), "larger than 20 MB .20.0 MB.")
    assert_refused(b"a,b,c\n" + b"1,2,3\n" * 1_400_000, "4,200,000 cells .1,400,000 rows of 3.")


def test_a_million_columns_on_one_line_are_refused_before_they_are_parsed(monkeypatch):
    monkeypatch.setattr("pyarrow.csv.read_csv", None)  # calling it would be a TypeError
    assert_refused(b",".join([b"a"] * 10**6), "1,000,000 columns; at most 2,000")


@pytest.mark.slow
def test_a_small_archive_that_would_unpack_to_much_is_refused_unread():
    bomb = files.repacked(WORKBOOK, bomb=b"0" * 200_000_000)
    tracemalloc.start()
    assert_refused(bomb, "expands to 200 MB .limit 100 MB.")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000


@pytest.mark.slow
def test_an_archive_that_lies_about_its_size_is_never_unpacked_beyond_it():
    bomb = files.lying_bomb()
    tracemalloc.start()
    assert_refused(bomb, "damaged")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000


def test_entities_that_multiply_are_refused():
    lol = (
        b'<!DOCTYPE x [<!ENTITY a0 "aaaaaaaaaa">'
        + b"".join(b'<!ENTITY a%d "%s">' % (k, b"&a%d;" % (k - 1) * 10) for k in range(1, 10))
        + b"]>"
    )
    bomb = files.repacked(
        WORKBOOK,
        lambda name, old: (
            old
            if "sheet1" not in name
            else (
                lol
                + old.replace(b"<sheetData>", b"<sheetData><row><c t='str'><v>&a9;</v></c></row>")
            )
        ),
    )
    assert_refused(bomb, "damaged|one column|no lines of data")


def test_the_stated_size_of_a_sheet_is_not_believed():
    assert cells(edited(b'ref="A1:C3"', b'ref="A1:XFD1048576"')) == cells(WORKBOOK)


def test_saved_results_of_formulas_are_read_with_a_note():
    table = framed(edited(b"<v>2.5</v>", b"<f>1+1.5</f><v>2.5</v>"))
    assert table.columns[2].to_pylist() == ["2.5", "3"]
    wording.found("formulas run", table.notes)


def test_an_empty_text_is_a_result_of_a_formula_and_no_value_is_none():
    empty = edited(b'<c r="C2" t="n"><v>2.5</v></c>', b'<c r="C2" t="str"><f>""</f><v></v></c>')
    assert cells(empty)["value"] == ["", "3"]
    for lost in (b"<v></v>", b"<v/>", b"", b" "):
        none = edited(b'<c r="C2" t="n"><v>2.5</v></c>', b'<c r="C2"><f>1+1</f>' + lost + b"</c>")
        assert_refused(
            none, "1 cell has a formula without a saved result, the first in column “value”"
        )


def test_an_error_in_place_of_a_result_is_an_empty_cell_with_a_note():
    table = framed(edited(b't="n"><v>2.5</v>', b't="e"><f>1/0</f><v>#DIV/0!</v>'))
    assert table.columns[2].to_pylist() == ["", "3"]
    wording.found("cell error place", table.notes, 1)


def test_links_to_other_files_are_noted():
    table = framed(files.repacked(WORKBOOK, xl__externalLinks__externalLink1_dot_xml="<x/>"))
    wording.found("links other files", table.notes)


def test_other_sheets_are_named_and_can_be_chosen():
    content = files.xlsx(other=files.growth_frame(3))
    assert sheets_of(content) == ("data", "other") and "not read: “other”" in framed(content).notes
    assert framed(content, sheet="other").n_lines == len(files.growth_frame(3))
    assert assert_refused(content, "no sheet “third”", sheet="third").field == "sheet"


def test_what_workbook_libraries_warn_about_never_reaches_a_log(recwarn):
    content = edited(b"<v>2.5</v>", b"<v>777777777777</v>").replace(b"", b"")
    framed(content)
    assert not recwarn.list


@pytest.mark.parametrize(
    "text",
    [
        '=HYPERLINK("x")',
        "@SUM(A1)",
        "-2+3",
        "<script>alert(1)</script>",
        "[x](javascript:0)",
        "$\\href{x}{y}$",
        "é" * 10_000,
    ],
)
def test_strange_ids_and_headers_are_kept_as_plain_text(text):
    quoted = text.replace('"', '""')
    content = f'"{quoted}",time,value\n"{quoted}",1,2\n'.encode()
    assert cells(content)[text] == [text]


def test_names_are_short_and_on_one_line_in_messages():
    with pytest.raises(InputError) as caught:
        propose(files.csv(), stated={"columns": {"value": "x\n" * 5000}})
    assert len(caught.value.message) < 80 and "\n" not in caught.value.message
