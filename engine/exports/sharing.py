"""All that can be sent as one file: data with a method, a question, a lesson, a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from engine.core.entrance import bytes_of, json_of, text_of
from engine.core.errors import InputError
from engine.core.tasks import COUNTED, MEAN_FUNCTION, TASKS
from engine.core.types import Budget
from engine.exports import one_card, one_decision, one_file
from engine.exports.one_file import NOT_SHARED, SharedPage
from engine.lessons import lessons, work
from engine.mechanisms import Mechanism, mechanisms
from engine.questions import Question, kinds
from engine.release import files as release_files
from engine.release.checked_files import CARD, MAX_BYTES, TABLE, unpacked
from engine.release.published import Published
from engine.sources import Source
from engine.topics.counting import live as counting_live
from engine.topics.counting.answer import counting_answer
from engine.topics.decision.answer import Decision, decision

_TASKS = (MEAN_FUNCTION.key, *COUNTED)


def usual_method(source: Source[Any]) -> Mechanism:
    """Return the usual method of the first task that a figure can show of these data."""
    for key in _TASKS:
        if key in source.served:
            usual: Mechanism = mechanisms.default(TASKS[key].mechanism, key)
            return usual
    raise InputError(
        f"“{source.key}” has no figure that can be sent.",
        field="source",
        hint="Choose data of curves, or of times to an event.",
    )


def kind_of(source: Source[Any], method: Mechanism) -> str:
    """Return the kind of question whose figure shows these data by this method."""
    return "curves" if MEAN_FUNCTION.key in source.served & method.tasks else "counting"


def of_data(
    source: Source[Any],
    method: Mechanism,
    epsilon: float,
    seed: int,
    delta: float | None = None,
    home: str = "",
) -> SharedPage:
    """Simulate all steps of the slider, and write their figure; it begins at `epsilon`."""
    one_file.check_shareable(source.facts)
    budget = Budget(epsilon, method.delta(source.sizes.n_curves, delta).value)
    question = kinds.from_plain(
        {
            "question": kind_of(source, method),
            "source": {"key": source.key, "parameters": source.values()},
            "mechanism": {"key": method.key, "parameters": method.values()},
            "budget": {"epsilon": budget.epsilon, "delta": budget.delta},
            "seed": seed,
        }
    )
    return of_question(question, home)


def of_question(question: Question, home: str = "") -> SharedPage:
    """Answer a question of *Explore*, *Survival*, *Decide* or *Learn*, and write its page."""
    name = question.kind.name
    if name == "lesson":
        return of_lesson(question["key"], question["seed"], home)
    if name == "decision":
        one_file.check_shareable(question["source"].facts)
        return one_decision.of_decision(question, _decided(question), home)
    if name not in ("curves", "counting"):
        raise InputError(
            f"A question of the kind “{name}” has no figure that can be sent.",
            field="question",
            hint="Send one of the kinds curves, counting, decision and lesson.",
        )
    source, method, budget, seed = (
        question[part] for part in ("source", "mechanism", "budget", "seed")
    )
    one_file.check_shareable(source.facts)
    if name == "curves":
        answer = question.answer()
        return one_file.of_mean(source, method, budget, seed, answer, question.person, home=home)
    answers = [
        counting_answer(source, method, Budget(epsilon), seed)
        for epsilon in counting_live.steps_with(budget.epsilon)
    ]
    return one_file.of_counting(source, method, budget.epsilon, seed, answers, home)


def _decided(question: Question) -> Decision:
    """Answer a question of *Decide*, with the odds of whom it is about."""
    answer: Decision = question.answer()
    units = question.person.units
    return decision(answer.profile, answer.target, answer.confidence, units)


def of_lesson(key: str, seed: int, home: str = "") -> SharedPage:
    """Work a lesson out, and write it."""
    lesson = lessons.get(key)
    return one_file.of_lesson(lesson, work(key, seed), seed, home)


def of_release(release: Published, home: str = "") -> SharedPage:
    """Write the page of a release, from its published files alone."""
    return one_card.of_files(release_files.all_files(release), home)


def of_paths(paths: Sequence[str | Path], home: str = "") -> SharedPage:
    """Write the page of published files, or of a question that a file holds; data are not sent."""
    first = PurePath(paths[0])
    if len(paths) == 1 and first.suffix == ".json":
        stated = json_of(text_of(str(paths[0])), "file")
        if isinstance(stated, Mapping) and "question" in stated:
            return of_question(kinds.from_plain(stated), home)
    endings = {PurePath(path).suffix for path in paths}
    if not endings <= {".zip", ".json", ".csv"} or endings == {".csv"}:
        raise InputError(NOT_SHARED, field="what", hint="privacy-curves share release.zip")
    names = {".json": CARD, ".csv": TABLE}
    folders = unpacked(
        {names.get(PurePath(path).suffix, str(path)): bytes_of(path, MAX_BYTES) for path in paths}
    )
    return one_card.of_folders(folders, home)
