"""The table of sites: who takes part, with how many curves and which budget."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.core.errors import InputError
from engine.core.random_streams import DATA_STREAM, generator
from engine.core.types import Budget, CurveData
from engine.language import typed
from engine.privacy.failure import Delta, delta_rule
from engine.sources import Source
from engine.topics.mean.answer import EPSILON_STEPS, MAX_READINGS

MAX_SITES, MAX_CURVES, MAX_OBSERVATIONS, LONGEST_NAME = 50, 20_000, 1000, 20


@dataclass(frozen=True)
class SiteRow:
    """One site of the table; `delta` None means the usual one for all people who take part."""

    name: str
    n_curves: int
    n_observations_per_curve: int
    epsilon: float = 1.0
    delta: float | None = None
    included: bool = True


def people(rows: Sequence[SiteRow]) -> int:
    """Count the people at all sites."""
    return sum(row.n_curves for row in rows if row.included)


def _stated_deltas(rows: Sequence[SiteRow], is_pure: bool = False) -> tuple[Delta, ...]:
    """Choose every site's δ by the rule of all pages: 1/n² for all who take part, unless stated."""
    n = people(rows)
    return tuple(delta_rule(n, row.delta, is_pure) for row in rows)


def budgets(rows: Sequence[SiteRow], is_pure: bool = False) -> tuple[Budget, ...]:
    """List the budget of every site; `is_pure` says that the method never needs a δ."""
    return tuple(
        Budget(row.epsilon, delta.value)
        for row, delta in zip(rows, _stated_deltas(rows, is_pure), strict=True)
    )


def with_delta(rows: Sequence[SiteRow], chosen: float | None) -> tuple[SiteRow, ...]:
    """Fill in a chosen δ for sites without one of their own."""
    return tuple(replace(row, delta=chosen) if row.delta is None else row for row in rows)


@dataclass(frozen=True)
class SitePreset:
    """A named table; `source` is the key of the curves it is made for, where it is for some."""

    label: str
    rows: tuple[SiteRow, ...]
    source: str = ""


def _alike(names: Sequence[str], people: int) -> tuple[SiteRow, ...]:
    return tuple(SiteRow(name, people, 10) for name in names)


_FOUR = ("North", "East", "South", "West")
PRESETS = {
    "equal": SitePreset("Four equal sites", _alike(_FOUR, 250)),
    "large": SitePreset(
        "One large hospital",
        (SiteRow("University", 1200, 10), *_alike(("North", "East", "South", "West"), 100)),
    ),
    "small": SitePreset("Many small sites", _alike([f"Practice {k}" for k in range(1, 21)], 50)),
    "mixed": SitePreset(
        "Mixed budgets",
        (SiteRow("North", 400, 10, 4.0), SiteRow("East", 250, 10), SiteRow("South", 100, 10, 0.5)),
    ),
    "leaves": SitePreset(
        "One site leaves", (*_alike(_FOUR[:3], 250), SiteRow("West", 250, 10, included=False))
    ),
    "study": SitePreset(
        "Hormone study at seven sites",
        tuple(SiteRow(f"Centre {k}", 97 if k < 7 else 96, 6) for k in range(1, 8)),
        "hormone_study",
    ),
}


def preset_of(rows: Sequence[SiteRow]) -> str:
    """Find the key of the preset with these rows; empty for an own table."""
    return next((key for key, preset in PRESETS.items() if preset.rows == tuple(rows)), "")


def rows_of(source: Source[CurveData], names: Sequence[str] = ()) -> tuple[SiteRow, ...]:
    """List the sites of curves in their order, at ε = 1.

    `names` are made fit for a table; sites without one are numbered.
    """
    data = source.draw(1, generator(0, DATA_STREAM, 0))
    sizes = data.sizes.n_curves_per_server
    readings = np.bincount(data.server, weights=data.counts) / np.maximum(sizes, 1)
    return tuple(
        SiteRow(name, n, max(round(m), 1))
        for name, n, m in zip(fit_names(names, len(sizes)), sizes, readings.tolist(), strict=True)
    )


def rows_with(
    source: Source[CurveData], chosen: Sequence[tuple[float, float | None, bool]]
) -> tuple[SiteRow, ...]:
    """List the sites of curves with ε, δ and whether each takes part."""
    return tuple(
        replace(row, epsilon=epsilon, delta=delta, included=included)
        for row, (epsilon, delta, included) in zip(
            rows_of(source, source.site_names), chosen, strict=True
        )
    )


# What a name of a site is made of. A point is never within a word: no name is an address.
_LETTER, _MARK, _MARKS = r"[^\W_]", r"[ ,'’()-]|\.(?!\w)", " -,.'’()"


def fit_names(names: Sequence[str], count: int) -> list[str]:
    """Make names fit for a table: repeated names get a number, missing ones are numbered.

    Marks of a name that no table has, such as the underscore of addresses, become spaces.
    """
    short = [re.sub(rf"(?!{_LETTER})(?!{_MARK}).", " ", name, flags=re.DOTALL) for name in names]
    short = [re.sub(" +", " ", name).lstrip(_MARKS)[:LONGEST_NAME].strip(" -,") for name in short]
    if len(short) != count or not all(short):
        return [f"Site {k + 1}" for k in range(count)]
    taken: list[str] = []
    for name in short:
        other, k = name, 1
        while other.casefold() in taken:
            k += 1
            other = f"{name[: LONGEST_NAME - 3].strip()} {k}"
        taken.append(other.casefold())
        short[len(taken) - 1] = other
    return short


def checked(rows: Sequence[SiteRow], fixed: bool = False) -> tuple[SiteRow, ...]:
    """Refuse rows that cannot be simulated; if `fixed`, names and sizes are not checked."""
    if not 1 <= len(rows) <= MAX_SITES:
        raise InputError(f"The table takes 1 to {MAX_SITES} sites; got {len(rows)}.", field="sites")
    for row in rows:
        _check_budget(row)
        if not fixed:
            _check_site(row)
    if not any(row.included for row in rows):
        raise InputError("No site takes part.", field="included", hint="Include at least one.")
    if not fixed:
        _check_together(rows)
    return tuple(rows)


def _check_together(rows: Sequence[SiteRow]) -> None:
    names = [row.name.casefold() for row in rows]
    if len(set(names)) < len(names):
        raise InputError(
            "Two sites have the same name.", field="name", hint="Give each site a name of its own."
        )
    readings = sum(row.n_curves * row.n_observations_per_curve for row in rows)
    if readings > MAX_READINGS:
        raise InputError(
            f"These sites have {readings:,} observations together; at most "
            f"{MAX_READINGS:,} are simulated here.",
            field="n_curves",
            hint="Take fewer people or observations.",
        )


def _check_site(row: SiteRow) -> None:
    if not re.fullmatch(rf"{_LETTER}(?:{_LETTER}|{_MARK}){{0,{LONGEST_NAME - 1}}}", row.name):
        raise InputError(
            "A site’s name starts with a letter or digit and holds letters, digits, "
            "spaces, hyphens, commas, points, apostrophes and brackets, at most "
            f"{LONGEST_NAME}.",
            field="name",
        )
    _check_range(row, "the number of people", row.n_curves, 1, MAX_CURVES, "n_curves")
    _check_range(
        row,
        "the number of observations each",
        row.n_observations_per_curve,
        1,
        MAX_OBSERVATIONS,
        "n_observations_per_curve",
    )


def _check_budget(row: SiteRow) -> None:
    _check_range(row, "ε", row.epsilon, EPSILON_STEPS[0], EPSILON_STEPS[-1], "epsilon")
    if row.delta is not None and not 0 <= row.delta < 1 / row.n_curves:
        raise InputError(
            f"{row.name}: δ must be 0, or lie below 1/n = {1 / row.n_curves:.2g}; "
            f"got {row.delta:g}.",
            field="delta",
            hint="Leave it empty for the default 1/n².",
        )


def _check_range(
    row: SiteRow, what: str, value: float, low: float, high: float, field: str
) -> None:
    if not low <= value <= high:  # also refuses NaN
        raise InputError(
            f"{row.name}: {what} must lie between {low:g} and {high:g}; got {value:g}.", field=field
        )


# -- from a spreadsheet ---------------------------------------------------------------------------

_SEPARATORS = ("\t", ";", ",")
_LONGEST_PASTE = 20_000  # characters


def pasted(text: str, observations: int = 10) -> tuple[SiteRow, ...]:
    r"""Read a table copied from a spreadsheet: name, people, and if given observations each.

    Cells are separated by tabs, semicolons or commas; a first row without a number is a heading.
    Names may be left out altogether; missing, repeated or long ones are numbered. Without a third
    column everybody has `observations`. Nothing is skipped: a cell that does not fit is refused.

    Examples
    --------
    >>> [row.n_curves for row in pasted("Hospital;Patients\nNorth;150\nSouth;90")]
    [150, 90]
    """
    if len(text) > _LONGEST_PASTE:
        raise InputError(
            f"The table has more than {_LONGEST_PASTE:,} characters.",
            field="sites",
            hint="Paste names, people and observations alone.",
        )
    lines = [line for line in text.splitlines() if line.strip()]
    separator = next((mark for mark in _SEPARATORS if any(mark in line for line in lines)), "\t")
    cells = [[cell.strip().strip('"') for cell in line.split(separator)] for line in lines]
    first = 1 if cells and not any(map(_is_count, cells[0])) and len(cells) > 1 else 0
    if separator == ",":
        _refuse_split_thousands(lines[first:], first + 1)
    has_names = any(not _is_count(row[0]) for row in cells[first:])
    rows = [
        _pasted_row(k, row if has_names else ["", *row], observations)
        for k, row in enumerate(cells[first:], first + 1)
    ]
    names = fit_names([name for name, *_ in rows if name], len(rows))
    return checked([SiteRow(name, n, each) for name, (_, n, each) in zip(names, rows, strict=True)])


def _refuse_split_thousands(lines: Sequence[str], first: int) -> None:
    """Refuse 1,200 where commas with a space behind them separate cells."""
    for k, line in enumerate(lines, first):
        if re.search(r",\s", line) and re.search(r"\d,\d", line):
            raise InputError(
                f"Line {k} has commas between cells and within a number.",
                field="sites",
                hint="Write 1200, or separate cells by semicolons.",
            )


def _is_count(cell: str) -> bool:
    return _count(cell) is not None


def _count(cell: str) -> int | None:
    """Read a whole number, with or without marks between thousands."""
    try:
        return typed.count(cell)
    except InputError:
        return None


def _pasted_row(line: int, cells: Sequence[str], observations: int) -> tuple[str, int, int]:
    """Name, people and observations of one line."""
    name, *numbers = cells
    while numbers and not numbers[-1]:
        numbers.pop()
    if not 1 <= len(numbers) <= 2:
        wrong = "no number of people" if not numbers else "more than two numbers"
        raise InputError(
            f"Line {line} has {wrong}.",
            field="sites",
            hint="Each line needs a name, a number of people and, if they differ, "
            "observations of each, such as: North, 150, 30.",
        )
    counts = [_count(cell) for cell in numbers]
    for what, count in zip(("number of people", "number of observations"), counts, strict=False):
        if count is None or count < 1:
            wrong = "a whole number" if count is None else f"at least 1; got {count}"
            raise InputError(
                f"Line {line}: the {what} must be {wrong}.",
                field="sites",
                hint="Such as: North, 150, 30.",
            )
    each = counts[1] if len(counts) > 1 else observations
    assert counts[0] is not None and each is not None
    return name, counts[0], each
