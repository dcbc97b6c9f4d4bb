"""Questions to a person before a file is published, with answers, and evidence in counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from engine.core.errors import InputError
from engine.uploads.reading_of_files import Reading


class ReadingOption(NamedTuple):
    """An answer: what it says, and what it adds to the reading, as JSON."""

    label: str
    adds: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Question:
    """A gap of a reading, or a doubt about it."""

    field: str  # such as "person" or "columns.time.order"
    question: str
    options: tuple[ReadingOption, ...]  # the likeliest first
    evidence: str = ""  # counts of the file: for its holder alone
    words: str = ""  # what to add to the reading, as JSON
    is_gap: bool = True  # else the reading is complete without an answer
    takes_several: bool = False  # options

    def to_plain(self) -> dict[str, Any]:
        """Return the question as JSON holds it."""
        return {
            "field": self.field,
            "question": self.question,
            "words": self.words,
            "evidence": self.evidence,
            "is_gap": self.is_gap,
            "options": [{"label": option.label, "adds": option.adds} for option in self.options],
        }


def answered(reading: Reading, *answers: ReadingOption) -> Reading:
    """Return the reading with what the answers add to it."""
    plain = reading.to_plain()
    for answer in answers:
        plain = _with(plain, answer.adds)
    return Reading.of({key: value for key, value in plain.items() if key != "ask"})


def likely(reading: Reading, questions: Iterable[Question]) -> Reading:
    """Return the reading with the likeliest answer to every gap that it can take: for looking."""
    for question in questions:
        if question.is_gap and not (
            reading.is_wide and question.field in ("columns.time", "columns.value")
        ):
            reading = next(
                filter(None, (_tried(reading, option) for option in question.options)), reading
            )
    return reading


def _tried(reading: Reading, option: ReadingOption) -> Reading | None:
    """Return the reading with an answer; None if it contradicts an earlier one."""
    try:
        return answered(reading, option)
    except InputError:
        return None


def _with(plain: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return JSON with more in it: objects and missing texts are joined, null takes out.

    All else is replaced.
    """
    joined = {
        key: _with(plain[key], value)
        if isinstance(value, Mapping) and isinstance(plain.get(key), Mapping)
        else [*dict.fromkeys([*plain.get(key, ()), *value])]
        if key == "missing"
        else value
        for key, value in more.items()
    }
    kept = {key: value for key, value in plain.items() if key not in joined}
    return kept | {key: _without_null(value) for key, value in joined.items() if value is not None}


def _without_null(value: Any) -> Any:
    return _with({}, value) if isinstance(value, Mapping) else value
