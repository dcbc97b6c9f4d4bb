"""Workbooks that ask for more than a reader should give: each is a few megabytes or less."""

import io
import zipfile

import numpy as np

from tests import files

SHEET = "xl/worksheets/sheet1.xml"
STRINGS = "xl/sharedStrings.xml"
_SPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_RELATED = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"


def workbook(parts, noise=1_000_000):
    """A valid workbook with some parts replaced; noise that does not shrink hides its ratio."""
    base = files.sheet(["id", "time", "value"], ["a", 1, 2.5], ["b", 2, 3])
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(base)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
    ):
        for name in old.namelist():
            if name not in parts:
                new.writestr(name, old.read(name))
        for name, content in parts.items():
            new.writestr(name, content)
        if noise:
            new.writestr("noise", np.random.default_rng(0).bytes(noise))
    return out.getvalue()


def sheet(rows, after=b""):
    """A workbook whose sheet has these rows, as XML."""
    return workbook({SHEET: _rows(rows, after)})


def _rows(rows, after=b""):
    return (
        f"<worksheet {_SPACE}><sheetData>".encode()
        + rows
        + b"</sheetData>"
        + after
        + b"</worksheet>"
    )


def strings(items):
    """A workbook with these shared strings, as XML."""
    return workbook({STRINGS: f"<sst {_SPACE}>".encode() + items + b"</sst>"})


def many(pattern, n):
    return b"".join(pattern.replace(b"#", b"%d" % k) for k in range(1, n + 1))


def listed_sheets(n):
    """A workbook that lists its one sheet n times."""
    relation = f'<Relationship Id="r#" Type="{_KIND}" Target="/{SHEET}"/>'.encode()
    return workbook(
        {
            "xl/_rels/workbook.xml.rels": b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
            b'relationships">' + many(relation, n) + b"</Relationships>",
            "xl/workbook.xml": f"<workbook {_SPACE} {_RELATED}><sheets>".encode()
            + many(b'<sheet name="s#" sheetId="#" r:id="r#"/>', n)
            + b"</sheets></workbook>",
        }
    )


def named(name, content):
    """A workbook with one more part, or another in place of one."""
    return workbook({name: content}, noise=0)


# What each asks for: how it is made, and whether it takes a second or more to make or to read.
WORKBOOKS = {
    "nested elements": (lambda: sheet(b"<c>" * 10**7 + b"</c>" * 10**7), True),
    "nested unknown elements": (lambda: sheet(b"<x>" * 10**7 + b"</x>" * 10**7), True),
    "empty rows": (lambda: sheet(b'<row r="1"></row>' * 4_000_000), True),
    "empty rows in short": (lambda: sheet(b"<row/>" * 12_000_000), True),
    "a million shared strings": (lambda: strings(many(b"<si><t>s#</t></si>", 10**6)), True),
    "four million shared strings": (lambda: strings(b"<si><t>ab</t></si>" * 4_000_000), True),
    "nested shared strings": (lambda: strings(b"<si>" * 5_000_000 + b"</si>" * 5_000_000), True),
    "runs of rich text": (
        lambda: strings(b"<si>" + b"<r><t>a</t></r>" * 5_000_000 + b"</si>"),
        True,
    ),
    "a cell far off": (
        lambda: sheet(
            b'<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
        ),
        False,
    ),
    "a cell that is nowhere": (
        lambda: sheet(b'<row r="1"><c r="A99999999999"><v>1</v></c></row>'),
        False,
    ),
    "a column that is nowhere": (
        lambda: sheet(b'<row r="1"><c r="ZZZZZZZZZZZZZ1"><v>1</v></c></row>'),
        False,
    ),
    "a row that is negative": (lambda: sheet(b'<row r="-1"><c r="A-1"><v>1</v></c></row>'), False),
    "a row that is zero": (lambda: sheet(b'<row r="0"><c r="A0"><v>1</v></c></row>'), False),
    "two columns far apart": (
        lambda: sheet(
            many(b'<row r="#"><c r="A#"><v>1</v></c><c r="GR#"><v>1</v></c></row>', 10**6)
        ),
        True,
    ),
    "cells without places": (
        lambda: sheet(
            b"<row>"
            + b"<c><v>1</v></c>" * 3_000_000
            + b"</row>"
            + b"<row><c><v>1</v></c></row>" * 500_000
        ),
        True,
    ),
    "one cell again and again": (
        lambda: sheet(b'<row r="1">' + b'<c r="A1"><v>1</v></c>' * 4_000_000 + b"</row>"),
        True,
    ),
    "a million attributes": (
        lambda: sheet(b'<row r="1"><c ' + many(b'a#="1" ', 10**6) + b'r="A1"><v>1</v></c></row>'),
        True,
    ),
    "the same attribute often": (lambda: sheet(b"<row " + b'r="1" ' * 10**6 + b"></row>"), True),
    "a million formulas": (lambda: sheet(many(b'<row><c r="A#"><f>1</f></c></row>', 10**6)), True),
    "formulas without ends": (lambda: sheet(b'<row><c r="A1"><f>' * 4_000_000), True),
    "a cell of 90 MB": (
        lambda: sheet(
            b'<row><c t="inlineStr"><is><t>' + b"abcde" * 18_000_000 + b"</t></is></c></row>"
        ),
        True,
    ),
    "a cell of 90 MB in pieces": (
        lambda: sheet(
            b'<row><c t="inlineStr"><is>'
            + b"".join([b"<r><t>" + b"abcde" * 5000 + b"</t></r>"] * 3600)
            + b"</is></c></row>"
        ),
        True,
    ),
    "a cell of 90 MB between comments": (
        lambda: sheet(
            b'<row><c t="inlineStr"><is><t>'
            + b"<!-- -->".join([b"abcde" * 5000] * 3600)
            + b"</t></is></c></row>"
        ),
        True,
    ),
    "an attribute of 90 MB": (
        lambda: sheet(b'<row><c x="' + b"abcde" * 18_000_000 + b'"><v>1</v></c></row>'),
        True,
    ),
    "cells of 90 MB": (
        lambda: sheet(
            many(
                b'<row r="#"><c r="A#" t="inlineStr"><is><t>'
                + b"abcde" * 5000
                + b"</t></is></c></row>",
                3600,
            )
        ),
        True,
    ),
    "shared strings of 90 MB": (
        lambda: workbook(
            {
                SHEET: _rows(many(b'<row><c r="A#" t="s"><v>#</v></c></row>', 3599)),
                STRINGS: f"<sst {_SPACE}>".encode()
                + (b"<si><t>" + b"abcde" * 5000 + b"</t></si>") * 3600
                + b"</sst>",
            }
        ),
        True,
    ),
    "one long string in every cell": (
        lambda: workbook(
            {
                SHEET: _rows(b'<row><c t="s"><v>0</v></c></row>' * 2_000_000),
                STRINGS: f"<sst {_SPACE}><si><t>".encode() + b"abcde" * 6000 + b"</t></si></sst>",
            }
        ),
        True,
    ),
    "two million cells": (
        lambda: sheet(b"<row><c><v>1</v></c><c><v>1.25</v></c><c><v>2.5</v></c></row>" * 666_666),
        True,
    ),
    "more than two million cells": (
        lambda: sheet(
            b"<row>"
            + b"<c><v>1</v></c>" * 3
            + b"</row>"
            + b"<row><c><v>1</v></c></row>" * 2_100_000
        ),
        True,
    ),
    "comments": (
        lambda: sheet(b'<row r="1"><c r="A1">' + b"<!-- -->" * 10**7 + b"</c></row>"),
        True,
    ),
    "a comment without end": (lambda: sheet(b"<!-- " + b"-" * 50_000_000), True),
    "instructions": (lambda: sheet(b"<?a b?>" * 10**7), True),
    "character data": (
        lambda: sheet(b"<row><c><v><![CDATA[" + b"1" * 50_000_000 + b"]]></v></c></row>"),
        True,
    ),
    "merged cells": (
        lambda: sheet(
            b'<row r="1"><c r="A1"><v>1</v></c></row>',
            b"<mergeCells>" + b'<mergeCell ref="A1:XFD1048576"/>' * 10**6 + b"</mergeCells>",
        ),
        True,
    ),
    "styles": (
        lambda: workbook(
            {
                "xl/styles.xml": f"<styleSheet {_SPACE}><numFmts>".encode()
                + many(b'<numFmt numFmtId="#" formatCode="0.0"/>', 500_000)
                + b"</numFmts><cellXfs>"
                + many(b'<xf numFmtId="#"/>', 500_000)
                + b"</cellXfs></styleSheet>"
            }
        ),
        True,
    ),
    "sheets without number": (lambda: listed_sheets(5000), False),
    "sheets beyond the limit": (lambda: listed_sheets(100_000), True),
    "no sheets": (lambda: listed_sheets(0), False),
    "a number of a million digits": (
        lambda: sheet(b'<row r="1"><c r="A1"><v>' + b"9" * 10**6 + b"</v></c></row>"),
        False,
    ),
    "a number beyond floating point": (
        lambda: sheet(b'<row r="1"><c r="A1"><v>1e400</v></c></row>'),
        False,
    ),
    "a shared string that is not there": (
        lambda: sheet(b'<row r="1"><c r="A1" t="s"><v>99999999</v></c></row>'),
        False,
    ),
    "a negative shared string": (
        lambda: sheet(b'<row r="1"><c r="A1" t="s"><v>-1</v></c></row>'),
        False,
    ),
    "a date beyond time": (
        lambda: sheet(b'<row r="1"><c r="A1" t="d"><v>999999-99-99</v></c></row>'),
        False,
    ),
    "a kind that is none": (
        lambda: sheet(b'<row r="1"><c r="A1" t="\x01"><v>1</v></c></row>'),
        False,
    ),
    "no XML at all": (lambda: named(SHEET, b"\x00" * 1000), False),
    "entities": (
        lambda: named(
            SHEET,
            b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
            + b"".join(
                b'<!ENTITY a%d "%s">' % (k, (b"&a%d;" % (k - 1) if k else b"&a;") * 10)
                for k in range(10)
            )
            + b"]><worksheet><sheetData><row><c><v>&a9;</v></c></row></sheetData></worksheet>",
        ),
        False,
    ),
    "an outer entity": (
        lambda: named(
            "xl/workbook.xml",
            b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
            b"<workbook><sheets><sheet name='&a;'/></sheets></workbook>",
        ),
        False,
    ),
    "sheets in UTF-16": (
        lambda: named(SHEET, "<worksheet><sheetData/></worksheet>".encode("utf-16")),
        False,
    ),
    "a part outside": (lambda: named("../../../evil", b"x"), False),
    "a part twice": (lambda: _twice(), False),
    "a lie about its size": (files.lying_bomb, True),
    "a bomb": (lambda: named("bomb", b"0" * 150_000_000), True),
    "no relations": (lambda: named("xl/_rels/workbook.xml.rels", b"<Relationships/>"), False),
    "relations to nowhere": (
        lambda: named(
            "xl/_rels/workbook.xml.rels",
            (
                '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
                f'Id="rId1" Type="{_KIND}" Target="../../etc/passwd"/></Relationships>'
            ).encode(),
        ),
        False,
    ),
    "a locked part": (lambda: _locked(), False),
    "half of one": (lambda: workbook({}, noise=0)[:2500], False),
}


def _twice():
    out = io.BytesIO(workbook({}, noise=0))
    with zipfile.ZipFile(out, "a") as archive:
        archive.fp.seek(archive.start_dir)
        archive.NameToInfo.pop(SHEET)
        archive.writestr(SHEET, "<worksheet/>")
    return out.getvalue()


def _locked():
    content = bytearray(workbook({}, noise=0))
    place = content.find(b"PK\x01\x02")
    while place >= 0:
        content[place + 8] |= 1
        place = content.find(b"PK\x01\x02", place + 1)
    return bytes(content)
