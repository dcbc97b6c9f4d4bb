"""Reproduce: which claims of an exhibit hold."""

from __future__ import annotations

from engine.figures.theme import Chart
from engine.topics.asking import Numbers, QuestionKind, QuestionLike
from reproductions import words
from reproductions.exhibits import Claim, Finding, Result
from reproductions.shelf import find, quick


def _numbers(result: Result, question: QuestionLike) -> Numbers:
    """Return 1 for each claim that holds, else 0."""
    return {claim.says: float(finding.holds) for claim, finding in _findings(result, question)}


def _text(result: Result, question: QuestionLike, _: Numbers) -> str:
    """Write in words which claims hold."""
    return "\n".join(words.claim(*pair) for pair in _findings(result, question))


def _findings(result: Result, question: QuestionLike) -> list[tuple[Claim, Finding]]:
    exhibit = find(question["key"])[1]
    return list(zip(exhibit.claims, exhibit.findings(result.table), strict=True))


def _chart(result: Result, question: QuestionLike) -> Chart:
    """Draw the first figure of the exhibit."""
    chart: Chart = find(question["key"])[1].draw(result.table)[0].chart
    return chart


def _command(question: QuestionLike) -> str:
    """Name the command of an exhibit, which is one of its own."""
    return words.commands(question["key"])


KIND = QuestionKind(
    "exhibit",
    "Reproduce",
    quick,
    _numbers,
    _chart,
    text=_text,
    command=_command,
    origin="Replication",
)
