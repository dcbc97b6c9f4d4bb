"""Good and bad files for the tests of reading and for the browser journeys."""

import io
import zipfile

import numpy as np
import pandas as pd

from engine.release import request
from engine.uploads.design import StatedDesign

EVEN = {"design": StatedDesign(law="even"), "observations": 5}
"""What `declare` is told of times on their own and a planned number of observations."""


def growth_frame(n=12, m=5, seed=0):
    """Long table of made-up heights with unsorted, unequal curves."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"c{i:03d}", round(float(age), 2), round(float(85 + 5 * age + rng.normal()), 1))
        for i in range(n)
        for age in rng.uniform(2, 18, m + i % 3)
    ]
    rng.shuffle(rows)
    return pd.DataFrame(rows, columns=["child", "age", "height"])


def csv(frame=None, **options):
    return (growth_frame() if frame is None else frame).to_csv(index=False, **options).encode()


def rows(text):
    """A long table with the usual header."""
    return f"id,time,value\n{text}\n".encode()


def wide_frame(n=6):
    rng = np.random.default_rng(1)
    return pd.DataFrame(rng.normal(size=(n, 4)).round(2), columns=["0", "0.25", "0.5", "1"]).assign(
        id=[f"p{i}" for i in range(n)]
    )


def days_frame(n=120):
    """Wide table of made-up glucose days, an hour apart."""
    rng = np.random.default_rng(2)
    hours = np.arange(24)
    days = 6 + np.sin(hours / 4) + rng.normal(size=(n, 24))
    return pd.DataFrame(days.round(2), columns=[str(hour) for hour in hours]).assign(
        id=[f"p{i}" for i in range(n)]
    )


def melted(wide):
    """The long form of a wide table."""
    return wide.melt("id", var_name="time", value_name="value")


def xlsx(frame=None, **extra_sheets):
    out = io.BytesIO()
    with pd.ExcelWriter(out) as writer:
        (growth_frame() if frame is None else frame).to_excel(
            writer, sheet_name="data", index=False
        )
        for name, other in extra_sheets.items():
            other.to_excel(writer, sheet_name=name, index=False)
    return out.getvalue()


def sheet(*cells):
    """A workbook of one sheet from rows of cells, written by a program that does no sums."""
    import openpyxl

    book, out = openpyxl.Workbook(), io.BytesIO()
    for row in cells:
        book.active.append(row)
    book.save(out)
    return out.getvalue()


def repacked(workbook, edit=lambda name, content: content, **more):
    """A workbook with its parts edited and more of them."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, edit(name, old.read(name)))
        for name, content in more.items():
            new.writestr(_path(name), content)
    return out.getvalue()


def zip_of(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(_path(name), content)
    return out.getvalue()


def _path(name):
    return name.replace("__", "/").replace("_dot_", ".")


def lying_bomb():
    """A workbook whose largest part says it is small: the directory is edited, not the content."""
    bomb = bytearray(
        repacked(
            sheet(["id", "time", "value"], ["a", 1, 2]),
            lambda name, old: b"0" * 150_000_000 if "sheet1" in name else old,
        )
    )
    declared = (150_000_000).to_bytes(4, "little")
    place = bomb.find(declared)
    while place >= 0:
        bomb[place : place + 4] = (1000).to_bytes(4, "little")
        place = bomb.find(declared)
    return bytes(bomb)


NASTY = [
    "",
    "NaN",
    "inf",
    "-inf",
    "1e400",
    "=1+1",
    "@SUM(A1)",
    "<script>alert(1)</script>",
    "3,14",
    "1,234.5",
    "\x00",
    "é",
    "“",
    "[x](javascript:0)",
    "$\\href{x}{y}$",
    "-",
    "0x10",
    "1_000",
    "\t",
    ";",
    ",",
    '"',
    "’",
    "٣",
    "01.02.2024",
    "True",
    "None",
    "1e-400",
    "9" * 400,
    "\r",
    "\n\n",
    "'",
    "NA",
    ".",
    "1.7976931348623157e308",
    "-0",
    "\ufeff",
    "\u202e",
    "e\u0301",
    "x" * 10_000,
    "+1+1",
    "-2+3",
    "\t=1",
    "\r=1",
    '=HYPERLINK("http://x","y")',
    "=cmd|' /C x'!A0",
    "@import",
    "%00",
    "%s%s%n",
    "{{7*7}}",
    "${7*7}",
    "../../etc/passwd",
    "C:\\x",
    "file:///x",
    "<img src=x onerror=alert(1)>",
    "</style>",
    "&amp;",
    "&#x41;",
    "<!--",
    "]]>",
    "<![CDATA[",
    "&a0;",
    "`x`",
    "**x**",
    ":red[x]",
    ":material/home:",
    "$$x$$",
    "![x](y)",
    "#",
    "# x",
    "--",
    ";--",
    "' or 1=1",
    "\u200b",
    "\u2028",
    "\ufffd",
    "\U0001f600",
    "\u0130",
    "ſ",
    "１２",
    "½",
    "−5",
    "1 000",
    "1\u00a0000",
    "1'000",
    "1.2.3",
    "1e",
    "e5",
    "0b1",
    "1j",
    "1_0",
    "+",
    "+-1",
    "1e+",
    "NaN()",
    "-NaN",
    "INF",
    "∞",
    "null",
    "undefined",
    "true",
    "12:30",
    "2024-01-31T00:00:00Z",
    "1/2/03",
    "#REF!",
    "#DIV/0!",
    "\x1a",
    "\x7f",
]


def requested(text, folder):
    """The one release that a request asks for."""
    (one,) = request.from_json(text, folder)
    return one
