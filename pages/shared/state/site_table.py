"""The table of sites between its three forms: rows, a frame to edit, a word of the address.

In the address rows are joined by `__` and their fields by `_`: `North_400_10_4`, followed by δ
where it is stated (`usual` if not) and by `out` where the site does not take part. A table that is
a preset is its name alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from engine.core.errors import InputError
from engine.core.types import PublicFacts
from engine.language import glossary
from engine.language.grammar import capital
from engine.language.numbers import exactly
from engine.topics.decision.words import site_noun
from engine.topics.sites import words as site_words
from engine.topics.sites.answer import SitesAnswer
from engine.topics.sites.site_table import PRESETS, SiteRow, checked, preset_of

_FIELDS = {
    "name": "name",
    "people": "n_curves",
    "readings": "n_observations_per_curve",
    "epsilon": "epsilon",
    "delta": "delta",
    "included": "included",
}
FIXED = ("weight", "share", "guarantee")  # columns that are worked out
SIZES = ("name", "people", "readings")  # columns that a file fixes
_WHOLE = ("people", "readings")


# -- the address --------------------------------------------------------------------------------


def word(rows: Sequence[SiteRow]) -> str:
    return preset_of(rows) or "__".join(_row_word(row) for row in rows)


def _row_word(row: SiteRow) -> str:
    fields = [row.name, str(row.n_curves), str(row.n_observations_per_curve), exactly(row.epsilon)]
    if row.delta is not None or not row.included:
        fields.append("usual" if row.delta is None else exactly(row.delta))
    return "_".join([*fields, *([] if row.included else ["out"])])


def rows_of_word(text: str) -> tuple[SiteRow, ...]:
    """Read the rows of a word; a ValueError or an InputError if it does not stand for a table."""
    if text in PRESETS:
        return PRESETS[text].rows
    return checked([_row_of_word(part) for part in text.split("__")])


def _row_of_word(text: str) -> SiteRow:
    name, people, readings, epsilon, *rest = text.split("_")
    delta = rest[0] if rest else "usual"
    if len(rest) > 2 or rest[1:] not in ([], ["out"]):
        raise ValueError("not a row")
    return SiteRow(
        name,
        int(people),
        int(readings),
        float(epsilon),
        None if delta == "usual" else float(delta),
        not rest[1:],
    )


# -- the frame ----------------------------------------------------------------------------------


def frame(rows: Sequence[SiteRow], federation: SitesAnswer | None) -> pd.DataFrame:
    """Return a row for each site; computed cells are empty if a site does not take part."""
    columns: dict[str, list[Any]] = {
        column: [getattr(row, field) for row in rows] for column, field in _FIELDS.items()
    }
    columns["epsilon"] = [float(row.epsilon) for row in rows]
    data = pd.DataFrame(columns)
    data["delta"] = data["delta"].astype(float)
    worked_out = {
        member.row.name: (
            site_words.percent(member.weight),
            site_words.percent(member.share),
            site_words.guarantee(member),
        )
        for member in (() if federation is None else federation.members)
    }
    for k, column in enumerate(FIXED):
        data[column] = [worked_out.get(row.name, ("",) * 3)[k] for row in rows]
    return data


def edited(rows: Sequence[SiteRow], edits: Mapping[int, Mapping[str, Any]]) -> list[SiteRow]:
    """Return the rows after the edits of the table: row number to column to value."""
    out = list(rows)
    for k, changes in edits.items():
        row = out[int(k)]
        out[int(k)] = replace(
            row,
            **{
                _FIELDS[column]: _cell(row, column, value)
                for column, value in changes.items()
                if column in _FIELDS
            },
        )
    return out


def _cell(row: SiteRow, column: str, value: Any) -> Any:
    if column == "name":
        return str(value or "").strip()
    if column == "included":
        return bool(value)
    if value is None or value == "":
        if column == "delta":
            return None
        raise InputError(f"{row.name}: this cell needs a number.", field=column)
    number = float(value)
    if column in _WHOLE and not number.is_integer():
        raise InputError(f"{row.name}: this must be a whole number.", field=column)
    return int(number) if column in _WHOLE else number


def labels(facts: PublicFacts) -> dict[str, tuple[str, str]]:
    """Return the heading and help of every column."""
    return {
        "name": (capital(site_noun(facts)[0]), "Letters, digits, spaces, hyphens and commas."),
        "people": (f"{facts.people.capitalize()} (n)", "Whose curves are at this site."),
        "readings": ("Observations (m)", "Observations on each curve."),
        "epsilon": (
            "ε",
            glossary.explain("privacy budget", f"For each {facts.person} at this site."),
        ),
        "delta": ("δ", glossary.explain("δ", "Empty: the default, with n of this site.")),
        "included": ("Takes part", "A site that is left out keeps its row and its curves."),
        "weight": ("Weight", "Its weight in the common mean, from noise and sizes."),
        "share": (
            "Share of error",
            "Its part of the privacy noise and sampling variability of all sites.",
        ),
        "guarantee": ("Guarantee", "Proved from the noise of its messages."),
    }


def one_more(rows: Sequence[SiteRow]) -> list[SiteRow]:
    """Return a further site like the last one, with a free name."""
    names = {row.name for row in rows}
    name = next(f"Site {k}" for k in range(len(rows) + 1, 10_000) if f"Site {k}" not in names)
    return [*rows, replace(rows[-1], name=name, included=True)]
