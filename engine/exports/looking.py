"""A look at a file for its holder alone: a picture of what stands in it, and how it was read.

Nothing of it is private, protected or meant to be passed on: it is computed from the file as it is,
by the likeliest reading. Only that reading, with its gaps, leads on to a release.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.core.lists import counted, shortened
from engine.core.names import uncapital
from engine.core.types import Array
from engine.figures import drawn
from engine.figures.drawn import Axis, Mark, Picture, plain_ticks
from engine.language.tags import FOR_YOUR_EYES
from engine.numerics.counts.cells import Counted
from engine.numerics.product_limit import kaplan_meier
from engine.release.picture import ticks
from engine.templates import render
from engine.uploads.columns import Integers
from engine.uploads.curves import CurveTable
from engine.uploads.events import EventTable
from engine.uploads.people import People
from engine.uploads.proposal import Proposal
from engine.uploads.proposing.examples import examples_of
from engine.uploads.proposing.questions import Question
from engine.uploads.proposing.roles import FileKind
from engine.uploads.reading_of_files import Reading
from engine.uploads.records import curves_of, events_of, rows_of
from engine.uploads.rows import RowTable

MARK = FOR_YOUR_EYES
_DRAWN = 100  # people, or dots of a thousand
_DOTS = 1000
_PARTS = 40  # of the range of times, in which observations are averaged
_COUNTED = {
    FileKind.OUTCOMES: Counted.OUTCOMES,
    FileKind.VALUES: Counted.VALUES,
    FileKind.SCORES: Counted.LABELS,
}
_LOOK = drawn.DrawingSize(720, 430)


@dataclass(frozen=True, eq=False)
class Look:
    """Contents of a file, read in the likeliest way: for its holder alone."""

    proposal: Proposal
    table: CurveTable | EventTable | RowTable
    picture: Picture

    @property
    def lines(self) -> tuple[str, ...]:
        """Lines for the holder: people, time, value and observations in the first."""
        proposal = self.proposal
        lines = (
            proposal.summary,
            proposal.people,
            *map(_asked, proposal.ask),
            *proposal.notes,
            *self.table.notes,
        )
        return tuple(dict.fromkeys(map(_sentence, lines)))

    def svg(self) -> str:
        """Return the picture as a drawing that stands alone, with its mark."""
        roles = "; ".join(
            f"--pc-{role}: {colour}" for role, colour in drawn.palette("light").items()
        )
        drawing = drawn.svg(self.picture, _LOOK, "look")
        return drawing.replace("<svg ", f'<svg style="{roles}; background: #fff" ', 1).replace(
            "</svg>",
            f'<text x="{_LOOK.width - 10}" y="16" text-anchor="end" font-family='
            f'"sans-serif" font-size="12" fill="var(--pc-bias)">{MARK}</text></svg>',
        )

    def _repr_html_(self) -> str:
        return render("look_in_notebook", drawing=self.svg(), lines=self.lines)

    def html(self) -> str:
        """Return the picture and what is to be known of it, as a document that stands alone."""
        return render(
            "look",
            title=MARK,
            picture=self.picture,
            drawing=self.svg(),
            lines=self.lines,
            examples=[
                (name, ", ".join(cells))
                for name, cells in examples_of(self.proposal.likely).items()
            ],
        )


def looked_at(people: People, proposal: Proposal) -> Look:
    """Draw people who were read by the likeliest reading of a proposal."""
    kind = proposal.kind
    if kind in _COUNTED:
        events = events_of(people, _COUNTED[kind])
        return Look(proposal, events, _of_events(events, kind, proposal.likely))
    if kind is FileKind.RECORDS:
        rows = rows_of(people)
        return Look(proposal, rows, _of_rows(rows))
    curves = curves_of(people, single=kind is FileKind.SINGLE)
    return Look(proposal, curves, _of_curves(curves, proposal.likely))


def _asked(question: Question) -> str:
    """Return a question with the answer that the picture takes."""
    taken = f"Here: {uncapital(question.options[0].label)}" if question.options else ""
    evidence = "" if question.field == "person" else question.evidence  # is the line on people
    return " ".join(filter(None, (question.question, evidence, taken)))


def _sentence(line: str) -> str:
    line = line.strip()
    return f"{line[:1].upper()}{line[1:]}" + ("" if line.endswith((".", "?", "!")) else ".")


# -- pictures --------------------------------------------------------------------------------------


def _axis(title: str, *numbers: Array, low: float | None = None) -> Axis:
    """Return an axis around all finite numbers."""
    known = np.concatenate([each[np.isfinite(each)] for each in numbers])
    first = float(known.min()) if low is None else low
    last = float(known.max())
    if last <= first:
        first, last = first - 0.5, last + 0.5
    return Axis(title, first, last, plain_ticks(*ticks(first, last)))


def _called(reading: Reading, role: str, usual: str, unit: str = "") -> str:
    """Return the name of a column with its unit."""
    column = reading.columns.get(role) or (reading.values if role == "value" else None)
    if column is None or not column.names:
        return usual
    known = unit or column.unit
    return shortened(column.name) + f" ({known})" * bool(known)


def _of_curves(curves: CurveTable, reading: Reading) -> Picture:
    """Return the observations of up to a hundred people, and the average of all."""
    ends = np.cumsum(curves.counts)
    some = [slice(end - n, end) for end, n in zip(ends, curves.counts, strict=True) if n][:_DRAWN]
    gap = np.array([np.nan])
    times, values = (
        np.concatenate([each for part in some for each in (numbers[part], gap)])
        for numbers in (curves.times, curves.values)
    )
    is_dots = bool((curves.counts <= 1).all())
    first = Mark(
        times,
        values,
        "raw",
        f"{counted(len(some), 'person')} of {curves.n_curves:,}".replace("persons", "people"),
        "dot" if is_dots else "line",
        width=1,
        opacity=0.5,
    )
    at, mean = _averages(curves.times, curves.values)
    title = (_called(reading, "time", "Time", curves.time_unit), _called(reading, "value", "Value"))
    alt = f"{MARK}: {title[1]} against {title[0]}, and its average."
    return Picture(
        _axis(title[0], curves.times),
        _axis(title[1], curves.values),
        (first, Mark(at, mean, "without", "average of all, not private")),
        alt,
        alt,
        asks=False,
    )


def _averages(times: Array, values: Array) -> tuple[Array, Array]:
    """Return the average observation at each time, or in each of many parts of the range."""
    at = np.unique(times)
    if len(at) > _PARTS:
        edges = np.linspace(at[0], at[-1], _PARTS + 1)
        place = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, _PARTS - 1)
        at = (edges[1:] + edges[:-1]) / 2
    else:
        place = np.searchsorted(at, times)
    number = np.bincount(place, minlength=len(at))
    total = np.bincount(place, values, len(at))
    return at[number > 0], (total / np.maximum(number, 1))[number > 0]


def _of_rows(rows: RowTable) -> Picture:
    """Return the first feature against the response, the second feature, or as shares."""
    first = rows.covariates[:, 0]
    names = (*rows.covariate_names[:2], rows.value_name)
    other = (
        rows.values
        if rows.values is not None
        else (rows.covariates[:, 1] if rows.covariates.shape[1] > 1 else None)
    )
    across = shortened(names[0] or "")
    if other is None:
        return _shares(first, across)
    up = shortened(rows.value_name or names[1] or "")
    x, y = first[:_DOTS], other[:_DOTS]
    alt = f"{MARK}: {up} against {across}."
    return Picture(
        _axis(across, first),
        _axis(up, other),
        (Mark(x, y, "raw", f"{len(x):,} of {len(first):,} records", "dot", opacity=0.6),),
        alt,
        alt,
        asks=False,
    )


def _of_events(events: EventTable, kind: FileKind, reading: Reading) -> Picture:
    """Return the share without an event, or the share of values up to each."""
    across = _called(reading, "time", "Time", events.time_unit)
    if kind is not FileKind.OUTCOMES:
        return _shares(events.time, across, events.status if kind is FileKind.SCORES else None)
    known = np.isfinite(events.time)
    time, status = events.time[known], events.status[known].clip(min=0)
    order = np.argsort(time, kind="stable")
    points = np.linspace(0, float(time.max(initial=1.0)), 401)
    survival, _ = kaplan_meier(time[order], status[order], points, max(int(status.max()), 1))
    alt = f"{MARK}: the share of people without an event, against {across}."
    return Picture(
        _axis(across, points),
        Axis("share without an event", 0, 1, plain_ticks(0, 0.5, 1)),
        (Mark(points, survival, "without", "all people, not private"),),
        alt,
        alt,
        asks=False,
    )


def _shares(numbers: Array, across: str, label: Integers | None = None) -> Picture:
    """Return the share of numbers up to each, of both labels where there are."""
    alt = f"{MARK}: the share of people up to each {across}."
    return Picture(
        _axis(across, numbers),
        Axis("share of people", 0, 1, plain_ticks(0, 0.5, 1)),
        tuple(_steps(numbers, label)),
        alt,
        alt,
        asks=False,
    )


def _steps(numbers: Array, label: Integers | None) -> Iterator[Mark]:
    parts = [(np.ones(len(numbers), dtype=bool), "without", "all people, not private")]
    if label is not None:
        parts = [(label > 0, "bias", "with the label"), (label <= 0, "without", "without it")]
    for which, role, name in parts:
        ordered = np.sort(numbers[which & np.isfinite(numbers)])
        if len(ordered):
            shares = np.arange(1, len(ordered) + 1) / len(ordered)
            yield Mark(np.repeat(ordered, 2), np.repeat(np.append(0, shares), 2)[1:-1], role, name)
