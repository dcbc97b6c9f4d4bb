"""A decision as one HTML file: its figure with the slider, its memo, and the study to ask again."""

from __future__ import annotations

import json
from typing import Any

from engine.core.types import DataKind
from engine.exports.memo import study_memo
from engine.exports.one_file import SharedPage, check_shareable, message, page
from engine.figures.live import figure_script
from engine.language.grammar import plain_text
from engine.language.numbers import unbroken
from engine.questions import Question
from engine.questions.kinds import to_plain
from engine.topics.decision import live, words
from engine.topics.decision.answer import Bands, Decision
from engine.topics.decision.charts import step_of
from engine.topics.mean.live import Picked

MEMO, STUDY = "memo.html", "study.json"
_LEAD = (
    "How much noise hides every {person}, and how exact is the result then? Move the slider: a "
    "smaller ε means more noise. The attacker’s accuracy is how often, at best, somebody who knows "
    "all other {people} could tell which of two {people} is in the data."
)


def of_decision(question: Question, answer: Decision, home: str = "") -> SharedPage:
    """Write the page of a decision; without a curve to draw it is the memo alone."""
    profile = answer.profile
    check_shareable(question["source"].facts)
    check_shareable(profile.facts)
    memo = study_memo(answer)
    if profile.bands is None:
        return SharedPage(plain_text(words.memo_title(profile)), memo.encode())
    return _page(question, answer, profile.bands, memo, home)


def _page(question: Question, answer: Decision, bands: Bands, memo: str, home: str) -> SharedPage:
    profile, facts = answer.profile, answer.profile.facts
    payload = live.figure_payload(answer, bands)
    start = answer.chosen or answer.more_private
    is_twin = facts.kind is DataKind.TWIN
    return page(
        "one_figure",
        payload["title"],
        ("figure.html", "figure.css"),
        figure_script(),
        message(payload, Picked(step_of(start) if start else 0)),
        table={
            "caption": "What each privacy budget ε gives",
            "columns": ("ε", payload["words"]["attacker"], payload["words"]["error"]),
            "rows": [
                (epsilon, attacker, error[0])
                for epsilon, attacker, error in zip(
                    payload["epsilons"], payload["attacker"], payload["errors"], strict=True
                )
            ],
        },
        lead=_LEAD.format(person=facts.person, people=facts.people),
        origin="Simulated from the facts that were stated"
        if is_twin
        else "Simulated: a plan, not a guarantee",
        credit="",
        method=profile.study.mechanism.label,
        again=f"privacy-curves share {STUDY}",
        home=home,
        choices=(),
        sections=[
            {
                "heading": "",
                "statements": [unbroken(plain_text(said)) for said in _statements(answer)],
                "summary": "What this rests on",
                "limits": list(map(plain_text, words.assumptions(answer))),
            }
        ],
        carried={MEMO: memo, STUDY: _study(question)},
    )


def _statements(answer: Decision) -> list[str]:
    """List what is recommended and why; the first is the headline."""
    first, _, rest = words.verdict(answer).replace("**", "").partition(". ")
    more = (words.question(answer), words.at_one_point(answer), words.no_margin(answer))
    return [f"{first.removesuffix('.')}.", *filter(None, (rest, *more))]


def _study(question: Question) -> str:
    plain: dict[str, Any] = to_plain(question)
    return json.dumps(plain, indent=2, ensure_ascii=False) + "\n"
