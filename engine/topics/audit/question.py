"""Audit: what attacks found of each claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from engine.audit import Progress, Report
from engine.figures.theme import Chart
from engine.topics.asking import Numbers, QuestionKind, QuestionLike
from engine.topics.audit import answer, charts, words

AttackSteps = Sequence[Sequence[Progress]]  # of each attack, in the order in which they were made


def _numbers(steps: AttackSteps, question: QuestionLike) -> Numbers:
    """Collect the claim, the worst that was found, and the ε that is shown to be needed."""
    return {
        f"{name}, {attack.name}": value
        for attack, progress in zip(question["attacks"], steps, strict=True)
        for name, value in (
            ("claim", progress[-1].claim),
            ("worst found", progress[-1].worst),
            ("ε at least", progress[-1].bound),
        )
    }


def _text(steps: AttackSteps, question: QuestionLike, _: Numbers) -> str:
    return "\n".join(
        words.in_lines(attack.name, attack.fault, cast(Report, progress[-1]))
        for attack, progress in zip(question["attacks"], steps, strict=True)
    )


def _chart(steps: AttackSteps, question: QuestionLike) -> Chart:
    """Draw the progress of a run."""
    lines = [
        charts.AttackProgress(attack.name, progress, bool(attack.variant))
        for attack, progress in zip(question["attacks"], steps, strict=True)
    ]
    return charts.climbing(lines, steps[0][-1].claimed_epsilon)


def _command(question: QuestionLike) -> str:
    """Write the command: an attack is a command of its own."""
    return "\n\n".join(map(answer.command, question["attacks"]))


KIND = QuestionKind(
    "attacks",
    "Audit",
    answer.audit_answer,
    _numbers,
    _chart,
    text=_text,
    command=_command,
    renamed=(("asked", "attacks"),),
)
