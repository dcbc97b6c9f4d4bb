"""A published curve as one HTML file, made of its guarantee card and its table alone.

The file is a function of two published files: no data, ledger, setting or clock is read, so that
writing it is post-processing and costs no privacy. A card may come from a stranger: its words are
text everywhere, and its numbers are read as such.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.core.errors import InputError
from engine.exports.one_file import SharedPage, message, page
from engine.figures.live import figure_script
from engine.release.checked_files import CARD, TABLE
from engine.topics.mean.live import Picked
from engine.topics.release.live import NO_CURVE, read


def of_files(files: Mapping[str, bytes], home: str = "") -> SharedPage:
    """Write the page of the published files of one release, named as *Publish* does."""
    if CARD not in files:
        raise InputError(
            f"There is no {CARD} among these files.",
            field="files",
            hint="It is the guarantee card of a release; the .zip holds it.",
        )
    if TABLE not in files:
        raise InputError(NO_CURVE, field="files")
    return of_card(files[CARD], files[TABLE], home)


def of_card(card: bytes, table: bytes, home: str = "") -> SharedPage:
    """Write the page of a published curve; both files are inside it, to be saved again."""
    released = read(card, table)
    return page(
        "one_figure",
        released.title,
        ("figure.html", "figure.css"),
        figure_script(),
        message(released.payload, Picked(0)),
        table={
            "caption": "The published curve",
            "columns": released.columns,
            "rows": released.rows,
        },
        origin="Everything in this file was published",
        credit="",
        method=released.method,
        again=f"privacy-curves share {CARD} {TABLE}",
        home=home,
        statements=released.statements,
        carried={CARD: card.decode(), TABLE: table.decode()},
    )
