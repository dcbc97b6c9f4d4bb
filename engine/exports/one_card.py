"""Published curves as one HTML file, made of their guarantee cards and tables alone.

The file is a function of published files: no data, ledger, setting or clock is read, so that
writing it is post-processing and costs no privacy. A card may come from a stranger: its words are
text everywhere, and its numbers are read as such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.core.errors import InputError
from engine.exports.one_file import SharedPage, message, page
from engine.figures.live import figure_script
from engine.release.checked_files import CARD, TABLE
from engine.topics.mean.live import Picked
from engine.topics.release.live import NO_CURVE, ReleasedCurvePage, ReleasedPage, read

_LEAD = (
    "Random noise was added to this curve before it was published, to hide each person. The "
    "attacker’s accuracy is how often, at best, somebody who knows all other people could tell "
    "which of two people is in the data."
)


def of_folders(folders: Mapping[str, Mapping[str, bytes]], home: str = "") -> SharedPage:
    """Write the page of published files, a folder for each public group or one for all."""
    if any(CARD not in files for files in folders.values()):
        raise InputError(
            f"There is no {CARD} among these files.",
            field="files",
            hint="It is the guarantee card of a release; the .zip holds it.",
        )
    if any(TABLE not in files for files in folders.values()):
        raise InputError(NO_CURVE, field="files")
    return _page([read(files[CARD], files[TABLE]) for files in folders.values()], folders, home)


def of_files(files: Mapping[str, bytes], home: str = "") -> SharedPage:
    """Write the page of the published files of one release, named as *Publish* does."""
    return of_folders({"": files}, home)


def _page(
    releases: Sequence[ReleasedPage], folders: Mapping[str, Mapping[str, bytes]], home: str
) -> SharedPage:
    named = [(_name(each, curve, releases), curve) for each in releases for curve in each.curves]
    curves = [curve for _, curve in named]
    columns, is_one = max((curve.columns for curve in curves), key=len), len(curves) == 1
    sent = message(curves[0].payload, Picked(0))
    return page(
        "one_figure",
        _title(releases),
        ("figure.html", "figure.css"),
        figure_script(),
        sent | ({} if is_one else {"more": [curve.payload for curve in curves[1:]]}),
        table={
            "caption": "The published curve" if is_one else "The published curves",
            "columns": columns if is_one else ("Curve", *columns),
            "rows": [
                row if is_one else (name, *row) for name, curve in named for row in curve.rows
            ],
        },
        lead=_LEAD,
        origin="Everything in this file was published",
        credit="",
        method=releases[0].method,
        again=f"privacy-curves share {f'{CARD} {TABLE}' if len(releases) == 1 else 'release.zip'}",
        home=home,
        choices=[] if is_one else [name for name, _ in named],
        sections=[
            {
                "heading": each.group if len(releases) > 1 else "",
                "statements": each.statements,
                "summary": "How to read it",
                "limits": each.limits,
            }
            for each in releases
        ],
        carried={
            "-".join(filter(None, (*folder.split("/"), name))): files[name].decode()
            for folder, files in folders.items()
            for name in (CARD, TABLE)
        },
    )


def _title(releases: Sequence[ReleasedPage]) -> str:
    first, *others = releases
    if not others:
        return first.title
    what = f"{first.what} of" if all(each.what == first.what for each in others) else "Releases of"
    return f"{what} {len(releases)} groups, published with differential privacy"


def _name(release: ReleasedPage, curve: ReleasedCurvePage, releases: Sequence[ReleasedPage]) -> str:
    return ", ".join(filter(None, (release.group if len(releases) > 1 else "", curve.name)))
