"""Results as bytes a person can take away, with what is needed to make them again."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from engine import __version__
from engine.figures import drawn
from engine.language.grammar import safe_cell
from engine.language.numbers import named
from engine.lessons import Lesson, Worked, heading, plan
from engine.templates import render
from engine.topics.mean.answer import MeanAnswer


def scenario_json(plain: dict[str, Any]) -> bytes:
    """A scenario file that `python -m engine run` accepts."""
    return json.dumps(plain, ensure_ascii=False, indent=2).encode()


def numbers_csv(answer: MeanAnswer, budget: int, plain: dict[str, Any] | None) -> bytes:
    """The numbers of the picture at one budget: a row for each time, a column for each curve.

    Lines that begin with # say what the file is and how to make it again. There is no scenario of
    data of one's own.
    """
    facts, at = answer.data.facts, answer.budgets[budget]
    out = io.StringIO()
    out.write(
        f"# Privacy Curves {__version__}: simulated releases, for exploring, not publishing\n"
    )
    out.write(f"# epsilon {at.epsilon:g}, delta {at.delta:g}, protects one whole curve\n")
    if plain is not None:
        out.write(f"# scenario {json.dumps(plain, ensure_ascii=False)}\n")
    columns = _columns(answer, budget, safe_cell(named(facts.time_name, facts.time_unit)))
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    rows = zip(*columns.values(), strict=True)
    writer.writerows([f"{value:.6g}" for value in row] for row in rows)
    return out.getvalue().encode()


def _columns(answer: MeanAnswer, budget: int, time: str) -> dict[str, Any]:
    columns = {
        time: answer.times,
        "non-private mean": answer.ordinary,
        "privacy noise range low": answer.noise_low[budget],
        "privacy noise range high": answer.noise_high[budget],
        "sampling variability ±": answer.sampling,
    }
    if answer.truth is not None:
        columns["true mean"] = answer.truth
    for k, release in enumerate(answer.releases[budget]):
        columns[f"release {k + 1}"] = release
        if answer.band is not None:
            columns[f"95 % band of {k + 1}, low"] = answer.band.low[budget, k]
            columns[f"95 % band of {k + 1}, high"] = answer.band.high[budget, k]
    return columns


# -- a lesson on paper -----------------------------------------------------------------------------


_ANSWERED = drawn.DrawingSize(430, 250, 11, dot=1.8)


def handout(lesson: type[Lesson], worked: Worked, seed: int, address: str = "") -> bytes:
    """Story, picture to draw the guess into, and question; at the bottom, upside down, the answer.

    `address` is the link to the same lesson with the same noise, left out where it is not known.
    """
    options, picture, filled = lesson.question.options, worked.picture, worked.filled
    return render(
        "handout",
        title=heading(lesson),
        colours=drawn.palette("light"),
        picture=picture,
        story=map(filled, lesson.story),
        ask=filled(lesson.ask),
        guess=drawn.svg(picture, drawn.PRINTED, "guess"),
        question=filled(lesson.question.ask),
        options=[filled(option.text) for option in options],
        address=address,
        shows=filled(lesson.shows),
        explains=map(filled, lesson.explains),
        number=1 + options.index(lesson.question.right),
        why=filled(lesson.question.right.why),
        answer=drawn.svg(picture, _ANSWERED, "answer"),
        unit=lesson.unit[0],
        budget=worked.budget,
        seed=seed,
    ).encode()


def lesson_plan() -> bytes:
    """An hour of lessons for the teacher to print: when each begins, and what to talk about."""
    return render(
        "plan", title=f"Plan for {plan.MINUTES} minutes", said=plan.in_words(), rows=plan.rows()
    ).encode()
