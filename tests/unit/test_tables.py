"""From bytes to a table of text: good forms agree, other kinds of file are refused by name."""

import datetime
import io
import tracemalloc

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.uploads.curves import read_curves
from engine.uploads.layout import suggest_layout
from engine.uploads.limits import LIMITS, Limits
from engine.uploads.tables import read_table
from engine.uploads.text import ENCODINGS
from tests import files

WORKBOOK = files.sheet(["id", "time", "value"], ["a", 1, 2.5], ["b", 2, 3])
MACROS = b"application/vnd.ms-excel.sheet.macroEnabled.main+xml"


def cells(content, **options):
    return read_table(content, **options).frame.to_dict("list")


def assert_refused(content, words, **options):
    """It is refused in these words, and told where the fault is and what to do."""
    with pytest.raises(InputError, match=words) as caught:
        read_table(content, **options)
    assert caught.value.hint and caught.value.field
    return caught.value


def edited(old, new):
    return files.repacked(WORKBOOK, lambda name, content: content.replace(old, new))


def test_cells_stay_text_so_that_identifiers_survive():
    table = read_table(files.rows("007,1,2\n7,1,2\n12345678901234567890,1,2\nNA,1,2"))
    assert table.codes("id")[1] == ("007", "7", "12345678901234567890", "NA")


def test_a_workbook_gives_the_same_text_as_a_csv_file():
    assert cells(WORKBOOK) == cells(files.rows("a,1,2.5\nb,2,3"))


def test_a_table_may_begin_anywhere_on_its_sheet():
    header, *rows = ["id", "time", "value"], ["a", 1, 2.5], ["b", 2, 3]
    moved = files.sheet([], [None, None, *header], [], *([None, None, *row] for row in rows))
    assert cells(moved) == cells(files.rows("a,1,2.5\nb,2,3"))


def test_cells_of_a_sheet_are_the_text_of_a_csv_file():
    day = datetime.datetime(2024, 1, 31, 5)
    table = cells(files.sheet(["a", "b", "c", "d"], [1, 0.1, True, day], [123456789012, 1e-7, "x", None],
                              [None, 1e22, 2.5, day.date()], [-3, 1 / 3, 4, "é"]))
    assert table == {"a": ["1", "123456789012", "", "-3"], "c": ["True", "x", "2.5", "4"],
                     "b": ["0.1", "1e-7", "1e+22", "0.3333333333333333"],
                     "d": ["2024-01-31T05:00:00", "", "2024-01-31", "é"]}


def test_durations_in_a_sheet_are_elapsed_times_whatever_their_days():
    hours = [datetime.timedelta(hours=1, minutes=40), datetime.timedelta(hours=30, seconds=5)]
    assert cells(files.sheet(["id", "elapsed"], *(["a", each] for each in hours)))["elapsed"] == ["1:40:00", "30:00:05"]


@pytest.mark.parametrize(("shown", "is_told"), [("0%", True), ("0.0%", True), ('0.0" %"', False), ("0.00", False)])
def test_shares_that_a_sheet_shows_as_percent_are_shares_and_that_is_told(shown, is_told):
    import openpyxl

    book, out = openpyxl.Workbook(), io.BytesIO()
    for row in (["id", "share"], ["a", 0.12], ["b", 0.5]):
        book.active.append(row)
        book.active.cell(book.active.max_row, 2).number_format = shown
    book.save(out)
    table = read_table(out.getvalue())
    assert table.numbers("share").values.tolist() == [0.12, 0.5]
    assert any("12 % is 0.12" in note for note in table.notes) == is_told


def test_names_are_trimmed_and_compared_without_case():
    table = read_table(b" Child ID ,AGE,y\na,1,2\n")
    assert table.columns == ("Child ID", "AGE", "y")
    assert (table.find("child id"), table.find(" age ")) == ("Child ID", "AGE")


def test_a_column_that_does_not_exist_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match=r"no column “hight”.*nearest name is “height”"):
        read_table(files.csv()).find("hight")


def test_quoted_separators_and_line_ends_belong_to_the_cell():
    assert cells(b'id,time,"note, or\nso"\na,1,"x, ""y""\nz"\n') == {
        "id": ["a"], "time": ["1"], "note, or\nso": ['x, "y"\nz']}


def test_a_line_that_names_the_separator_for_a_spreadsheet_program_is_no_header():
    assert read_table(b"sep=;\r\nid;age\r\na;2,5\r\nb;3\r\n").columns == ("id", "age")


def test_separators_at_line_ends_and_blank_lines_are_dropped():
    table = read_table(b"id,time,value,,\na,1,2,,\n\n,,,,\nb,2,3,,\n")
    assert table.columns == ("id", "time", "value") and table.n_rows == 2
    assert "1 blank row left out" in table.notes


def test_a_named_column_without_content_is_kept_and_an_unnamed_one_with_content_gets_a_name():
    assert read_table(b",time,value\na,1,\n").columns == ("column 1", "time", "value")


@pytest.mark.parametrize("separator", ["\t", ";", "|", ","])
def test_the_separator_is_recognised_among_others_in_cells(separator):
    content = separator.join(["id", '"a;b|c"', "d"]) + "\n" + separator.join(["x", '"1,2"', "3"])
    assert read_table(content.encode()).columns == ("id", "a;b|c", "d")


def test_decimal_commas_are_read_where_commas_do_not_separate():
    table = read_table(b"id;time;value\na;1;3,14\nb;0,5;-2,5e1\n")
    assert (table.numbers("value").values == [3.14, -25]).all()
    assert "decimal commas read as points" in table.notes
    assert read_table(b"id;0,5;1,5\na;1;2\n").decimal == ","


@pytest.mark.parametrize(("content", "advice"), [
    (files.rows('a,1,"3,14"'), "hold a comma"),
    (files.rows('a,1,"1,234.5"'), "hold a comma"),
    (b"id;time;value\na;1;1.234,5\n", "hold a comma"),
    (b"id;time;value\na;1;3,5\na;1;1.5\n", "hold a point"),
    (files.rows("a,1,24-1-31"), "dates or clock times"),
    (files.rows("a,1,31.01.24"), "dates or clock times"),
    (files.rows("a,1,3/4/2024"), "month/day/year"),
    (files.rows("a,1,5-Jan-24"), "dates or clock times"),
    (files.rows("a,1,0.5\na,1,0.6\na,1,70%"), "percent sign"),
    (files.rows("a,1,tall"), "leave the line out"),
    (files.rows("a,1,0x10"), "write one number alone"),
    (files.rows("a,1,1_000"), "leave the line out"),
    (files.rows("a,1,٣"), "leave the line out"),
    (files.rows("a,1,True"), "leave the line out")])
def test_what_holds_no_number_is_counted_with_advice_and_never_guessed(content, advice):
    table = read_table(content).numbers("value")
    assert table.unreadable == 1 and advice in table.advice
    assert np.isnan(table.values[-1])


@pytest.mark.parametrize(("mark", "others"), [(",", "980"), (",", "7"), (".", "980")])
def test_a_mark_between_thousands_is_never_read_as_a_decimal_one(mark, others):
    """Beside numbers without a mark, 1,050 is one thousand and fifty."""
    rows = f"a;1;{others}\na;2;1{mark}050\na;3;1{mark}123\n"
    numbers = read_table(f"id;time;value\n{rows}".encode()).numbers("value")
    assert numbers.unreadable == 2 and "thousands" in numbers.advice and not np.isfinite(numbers.values[1:]).any()


@pytest.mark.parametrize("cells", [("1.050", "2.125"), ("1.05", "980"), ("0.125", "980", "1.050"), ("1.125", "980")])
def test_decimals_that_are_no_thousands_are_read(cells):
    for mark in ".,":
        rows = "".join(f"a;0.5;{cell}\n" for cell in cells).replace(".", mark)
        values = read_table(f"id;time;value\n{rows}".encode()).numbers("value").values
        assert values.tolist() == [float(cell) for cell in cells]


def test_a_true_minus_sign_is_one():
    assert read_table(files.rows("a,1,−2.5\na,2,3")).numbers("value").values.tolist() == [-2.5, 3]


def test_marks_of_missing_and_infinite_cells_are_counted_apart():
    cells = ["", "NA", "nan", "NULL", "n/a", ".", "inf", "-Infinity", "1e400", "9" * 400, " 5 ", "+6"]
    table = read_table(files.rows("\n".join(f"a,1,{cell}" for cell in cells))).numbers("value")
    assert (table.missing, table.infinite, table.unreadable) == (6, 4, 0)
    assert table.values[-2:].tolist() == [5, 6]


def test_numbers_are_read_to_the_last_bit_on_both_ways():
    """The fast way and the one for columns with trouble agree with Python."""
    numbers = np.random.default_rng(1).normal(size=500) * 10.0 ** np.arange(-250, 250)
    plain = read_table(files.rows("\n".join(f"a,1,{x!r}" for x in numbers.tolist())))
    spaced = read_table(files.rows("\n".join(f"a,1, {x!r}" for x in numbers.tolist())))
    assert (plain.numbers("value").values == numbers).all()
    assert (spaced.numbers("value").values == numbers).all()


@pytest.mark.parametrize(("mark", "codec"), [
    (b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"),
    (b"\xff\xfe\x00\x00", "utf-32-le")])
def test_a_byte_order_mark_tells_the_encoding(mark, codec):
    text = files.csv().decode().replace("c001", "Zoë")
    table = read_table(mark + text.encode(codec))
    assert table.columns == ("child", "age", "height")
    assert "Zoë" in table.codes("child")[1]


def test_text_that_is_not_utf_8_is_refused_until_its_encoding_is_chosen():
    content = files.rows("Zoë,1,2\nJosé,1,2").decode().encode("latin-1")
    error = assert_refused(content, "not UTF-8 text: 2 places cannot be read")
    assert error.field == "encoding"
    for encoding in ("latin-1", "windows-1252"):
        assert read_table(content, encoding).codes("id")[1] == ("Zoë", "José")


def test_an_unknown_encoding_is_refused():
    assert "utf-8" in assert_refused(b"a,b\n1,2\n", "no encoding “rot13”", encoding="rot13").hint
    assert ENCODINGS[0] == "utf-8"


@pytest.mark.parametrize(("content", "words"), [
    (b"", "file is empty"),
    (b"\n \n\n", "blank lines"),
    (b"\xef\xbb\xbf", "blank lines"),
    (b"child,age,height\n", "no data rows"),
    (b"child,age,height", "no data rows"),
    (b"a,b\n,\n,\n", "no data rows"),
    (b"a\n1\n2\n", "only one column"),
    (b"Heights of 2024\n\nid,age,height\na,2,86\n", "first line has a single cell"),
    (b"id time value\na 1 2\n", "only one column"),
    (b"id,time,value\n1,2,3,4,5\n1,2\n1,2,3\n", "2 rows have more or fewer cells than the header"),
    (b'id,time,value\na,"1,2\nb,1,2\n', "1 row has more or fewer cells"),
    (b'id,time,value\na,1,"2\nb,1,2\n', "rows of this file cannot be told apart"),
    (b'id,time,"value\na,1,2\nb,1,2\n', "rows of this file cannot be told apart"),
    (b"id,time,Value,value\n1,2,3,4\n", "Two columns are called “value”"),
    (b"\x89PNG\r\n\x1a\n\x00\x00", "a picture .PNG."),
    (b"MZ\x90\x00\x03", "a program"),
    (b"\x1f\x8b\x08\x00\x00", "gzip"),
    (b"PAR1\x00\x01", "a Parquet file"),
    (b"%PDF-1.7\n", "a PDF document"),
    (b"<HTML><table>", "a web page"),
    (b"id,time\n1,\x00\n", "not a text table"),
    (bytes(range(1, 32)) * 40, "not a text table"),
    ("id,time\n1,2\n".encode("utf-16-le"), "not a text table"),
    (b"\xff\xfei", "not UTF-16 text"),
    (b"\xd0\xcf\x11\xe0" + b"x" * 600, "old workbook .\\.xls."),
    (b"\xd0\xcf\x11\xe0" + "EncryptedPackage".encode("utf-16-le"), "protected by a password"),
    (files.zip_of(a_dot_csv=files.csv()), "no export that is read"),
    (files.zip_of(content_dot_xml="<x/>"), "OpenDocument"),
    (files.zip_of(xl__workbook_dot_bin="x"), "binary workbook"),
    (files.repacked(WORKBOOK, xl__vbaProject_dot_bin="x"), "macros .\\.xlsm."),
    (edited(b"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml", MACROS),
     "macros"),
    (b"PK\x03\x04broken", "damaged"),
    (WORKBOOK[:len(WORKBOOK) // 2], "damaged"),
    (edited(b"</c>", b""), "damaged"),
    (edited(b"<v>2.5</v>", b"<v>two</v>"), "damaged"),
    (files.repacked(WORKBOOK, **{f"m{k}": str(k) for k in range(250)}), "parts; at most 200"),
    (files.sheet(), "sheet is empty"),
    (files.sheet(["id", "time", "value"]), "no data rows"),
    (files.sheet(["id", "time"], ["a", 1, "note"]), "1 row of the sheet has more cells"),
    (files.sheet(["id", "time", "value"], ["a", 1, "=1+1"], ["b", 1, "=2+2"]),
     "2 cells have a formula without a saved result, the first in column “value”"),
])
def test_a_bad_file_is_refused_in_one_clear_sentence(content, words):
    assert_refused(content, words)


def test_a_column_may_be_called_like_another_kind_of_file():
    assert read_table(b"PAR1,BZh,PK\na,1,2\n").columns == ("PAR1", "BZh", "PK")


@pytest.mark.parametrize(("limits", "content", "words"), [
    (Limits(bytes=20), b"id,time,value\na,1,2\n" + b"\n", "larger than 2e-05 MB"),
    (Limits(cells=6), files.rows("a,1,2\nb,1,2\nc,1,2"), "9 cells .3 rows of 3.; at most 6"),
    (Limits(sheet_cells=6), files.sheet(["id", "t", "y"], *[["a", 1, 2]] * 3), "more than 6 cells"),
    (Limits(columns=3), b"a,b,c,d\n1,2,3,4\n", "4 columns; at most 3"),
    (Limits(columns=2), WORKBOOK, "3 columns; at most 2"),
    (Limits(sheet_text_bytes=10), WORKBOOK, "more than 1e-05 MB of text"),
    (Limits(unpacked_bytes=1000), WORKBOOK, "expands to 0 MB .limit 0.001 MB"),
    (Limits(unpacked_ratio=1), WORKBOOK, "times its own size .limit 1."),
    (Limits(members=3), WORKBOOK, "parts; at most 3"),
])
def test_each_limit_is_named_with_what_the_file_has(limits, content, words):
    assert_refused(content, words, limits=limits)


def test_a_table_at_its_limits_is_read():
    content = files.rows("a,1,2\nb,1,2")
    assert read_table(content, limits=Limits(bytes=len(content), cells=6, columns=3)).n_rows == 2
    assert read_table(WORKBOOK, limits=Limits(sheet_cells=6, columns=3)).n_rows == 2


def test_the_usual_limits_are_the_documented_ones():
    assert (LIMITS.bytes, LIMITS.columns, LIMITS.unpacked_bytes) == (20_000_000, 2000, 100_000_000)
    assert_refused(b"x" * (LIMITS.bytes + 1), "larger than 20 MB .20.0 MB.")
    assert_refused(b"a,b,c\n" + b"1,2,3\n" * 1_400_000, "4,200,000 cells .1,400,000 rows of 3.")


def test_a_million_columns_on_one_line_are_refused_before_they_are_parsed(monkeypatch):
    monkeypatch.setattr("pyarrow.csv.read_csv", None)  # calling it would be a TypeError
    assert_refused(b",".join([b"a"] * 10**6), "1,000,000 columns; at most 2,000")


def test_a_giant_first_line_without_separators_is_refused():
    assert_refused(b"x" * 200_000, "first line is longer than 100,000 characters")


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
    lol = b'<!DOCTYPE x [<!ENTITY a0 "aaaaaaaaaa">' + b"".join(
        b'<!ENTITY a%d "%s">' % (k, b"&a%d;" % (k - 1) * 10) for k in range(1, 10)) + b"]>"
    bomb = files.repacked(WORKBOOK, lambda name, old: old if "sheet1" not in name else (
        lol + old.replace(b"<sheetData>", b"<sheetData><row><c t='str'><v>&a9;</v></c></row>")))
    assert_refused(bomb, "damaged|one column|no data rows")


def test_the_stated_size_of_a_sheet_is_not_believed():
    assert cells(edited(b'ref="A1:C3"', b'ref="A1:XFD1048576"')) == cells(WORKBOOK)


def test_saved_results_of_formulas_are_read_with_a_note():
    table = read_table(edited(b"<v>2.5</v>", b"<f>1+1.5</f><v>2.5</v>"))
    assert table.frame["value"].tolist() == ["2.5", "3"]
    assert any("formulas were not run" in note for note in table.notes)


def test_an_empty_text_is_a_result_of_a_formula_and_no_value_is_none():
    empty = edited(b'<c r="C2" t="n"><v>2.5</v></c>', b'<c r="C2" t="str"><f>""</f><v></v></c>')
    assert cells(empty)["value"] == ["", "3"]
    for lost in (b"<v></v>", b"<v/>", b"", b" "):
        none = edited(b'<c r="C2" t="n"><v>2.5</v></c>', b'<c r="C2"><f>1+1</f>' + lost + b"</c>")
        assert_refused(none, "1 cell has a formula without a saved result, the first in column “value”")


def test_an_error_in_place_of_a_result_is_an_empty_cell_with_a_note():
    table = read_table(edited(b't="n"><v>2.5</v>', b't="e"><f>1/0</f><v>#DIV/0!</v>'))
    assert table.frame["value"].tolist() == ["", "3"]
    assert "1 cell with an error in place of a result read as empty" in table.notes


def test_links_to_other_files_are_noted():
    table = read_table(files.repacked(WORKBOOK, xl__externalLinks__externalLink1_dot_xml="<x/>"))
    assert "links to other files were not followed" in table.notes


def test_other_sheets_are_named_and_can_be_chosen():
    content = files.xlsx(other=files.growth_frame(3))
    table = read_table(content)
    assert table.sheets == ("data", "other") and "not read: “other”" in table.notes
    assert read_table(content, sheet="other").n_rows == len(files.growth_frame(3))
    assert assert_refused(content, "no sheet “third”", sheet="third").field == "sheet"


def test_what_workbook_libraries_warn_about_never_reaches_a_log(recwarn):
    content = edited(b"<v>2.5</v>", b"<v>777777777777</v>").replace(b"", b"")
    read_table(content)
    assert not recwarn.list


@pytest.mark.parametrize("text", [
    "=HYPERLINK(\"x\")", "@SUM(A1)", "-2+3", "<script>alert(1)</script>", "[x](javascript:0)",
    "$\\href{x}{y}$", "é" * 10_000])
def test_strange_ids_and_headers_are_kept_as_plain_text(text):
    quoted = text.replace('"', '""')
    table = read_table(f'"{quoted}",time,value\n"{quoted}",1,2\n'.encode())
    assert table.columns[0] == text
    assert table.codes(text)[1] == (text,)


def test_names_are_short_and_on_one_line_in_messages():
    with pytest.raises(InputError) as caught:
        read_table(b"id,time\na,1\n").find("x\n" * 5000)
    assert len(caught.value.message) < 80 and "\n" not in caught.value.message


@pytest.mark.slow
def test_a_million_rows_are_read():
    rng = np.random.default_rng(0)
    lines = [f"c{k // 100:05d},{t:.4f},{y:.4f}" for k, (t, y) in enumerate(rng.random((10**6, 2)))]
    content = files.rows("\n".join(lines))
    table = read_table(content, limits=Limits(bytes=10**8))
    assert read_curves(table, suggest_layout(table)).n_curves == 10_000
