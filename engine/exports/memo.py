"""A decision or a comparison on one page, to print or to pass on: HTML that stands alone."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from engine import __version__
from engine.types import PublicFacts
from engine.views import pinned, precedents
from engine.views.pinned import Pinned
from engine.views.planner import Answer, Setting
from engine.words import chances, tags
from engine.words import plan as plan_words
from engine.words.grammar import uncapital

_STYLE = """
body { font: 11pt/1.5 "Source Sans 3", "Segoe UI", sans-serif; color: #182033; max-width: 42rem;
  margin: 2rem auto; padding: 0 1rem }
h1 { font: 600 18pt/1.3 Georgia, serif; margin: 0 0 .3rem }
h2 { font: 600 12pt/1.3 Georgia, serif; margin: 1.2rem 0 .2rem }
p, ul { margin: .3rem 0 }
.verdict { font-size: 13pt; padding: .6rem .9rem; border-left: 4px solid #3D57D6;
  background: #F3F5F9 }
.no { border-color: #C0392B }
table { border-collapse: collapse; margin: .3rem 0 }
td, th { text-align: left; padding: .2rem 1.2rem .2rem 0; border-bottom: 1px solid #D3D9E4 }
footer { margin-top: 1.5rem; font-size: 9pt; color: #4A5468 }
@page { margin: 16mm }
@media print { body { margin: 0; max-width: none; font-size: 10pt; line-height: 1.4 }
  h2 { margin-top: .8rem } }
"""


def decision_memo(setting: Setting, answer: Answer, facts: PublicFacts, rule: float | None = None
                  ) -> bytes:
    """The answer, what it rests on, what is not covered, and one step either way.

    `rule` is the most ε by a rule of one's own, None where there is none.
    """
    parts = [_head(tags.title(facts)), *_answered(setting, answer, facts)]
    if answer.is_possible and answer.protection is not None:
        parts += _at_what_cost(answer, facts, rule)
    parts += [*_protected(answer, facts), *_how(setting, facts), _foot("A plan")]
    return "\n".join(parts).encode()


def _answered(setting: Setting, answer: Answer, facts: PublicFacts) -> list[str]:
    """The question, the verdict, and what to do where it is no."""
    broken = plan_words.broken_promise(answer)
    return [f"<p>{_marked(plan_words.question(setting, answer.unknown, answer.target, facts))}</p>",
            f"<p class='verdict{'' if answer.is_possible else ' no'}'>"
            f"{_marked(plan_words.verdict(answer, facts))}</p>",
            _list(plan_words.fixes(answer, facts)),
            *[f"<p class='verdict no'>{_marked(broken)}</p>"] * bool(broken)]


def _at_what_cost(answer: Answer, facts: PublicFacts, rule: float | None) -> list[str]:
    """What an attacker could learn, how accurate it would be, and other choices."""
    assert answer.protection is not None
    odds = answer.protection.odds
    return ["<h2>What an attacker could learn</h2>",
            f"<p>{_marked(chances.odds_main(odds, facts.person))}</p>",
            f"<p>{_marked(chances.odds_careful(odds))}</p>",
            "<h2>How accurate it would be</h2>",
            f"<p>{_marked(plan_words.accuracy(answer, facts))}</p>",
            "<h2>One step either way</h2>", _table(answer, facts),
            "<h2>Beside other budgets</h2>",
            *_precedents(answer.reached.setting.epsilon, rule)]


def _protected(answer: Answer, facts: PublicFacts) -> list[str]:
    unit, explained = tags.unit_tag(facts)
    return ["<h2>What is protected, and what is not</h2>",
            f"<p><b>{_text(unit)}.</b> {_text(explained)}</p>",
            f"<p>{_marked(chances.not_covered(facts))}</p>",
            f"<p>{_marked(chances.delta_stated(answer.reached.setting.stated_delta))}</p>"]


def _how(setting: Setting, facts: PublicFacts) -> list[str]:
    method = uncapital(setting.mechanism.label)
    return ["<h2>How this was found</h2>",
            f"<p>By simulation: {_text(method)} on made-up curves of the kind "
            f"“{_text(facts.name)}”, values from {facts.value_low:g} to {facts.value_high:g} "
            f"{_text(facts.value_unit)}. Your curves may differ; leave room. Nobody’s data were "
            "used.</p>"]


def comparison_memo(pins: Sequence[Pinned]) -> bytes:
    """Scenarios side by side on one page: the table, what cannot be compared, and each in words."""
    columns = pinned.table(pins)
    parts = [_head(f"Scenarios {', '.join(pin.name for pin in pins)} side by side"),
             _rows([list(columns), *(list(row) for row in zip(*columns.values(), strict=True))]),
             *(f"<p class='verdict no'>{_marked(text)}</p>" for text in pinned.warnings(pins))]
    for pin in pins:
        parts += [f"<h2>{_text(pin.name)}: {_text(pin.method)}, {_text(pin.budgets)}</h2>",
                  f"<p>{_marked(chances.odds_main(pin.odds, pin.facts.person, pin.unit))}</p>",
                  f"<p>{_marked(chances.odds_careful(pin.odds))}</p>",
                  f"<p>{_marked(chances.delta_explained(pin.budget.delta))}</p>",
                  f"<p>{_marked(chances.not_covered(pin.facts))}</p>"]
    parts += ["<h2>How this was found</h2>",
              "<p>By simulation with a known seed, on made-up or public curves. In brackets: the "
              f"difference from {_text(pins[0].name)}. Your curves may differ; leave room.</p>",
              _foot("A comparison")]
    return "\n".join(parts).encode()


def _head(title: str) -> str:
    return ("<!doctype html><html lang='en'><head><meta charset='utf-8'>"
            f"<title>{_text(title)}</title><style>{_STYLE}</style></head><body>\n"
            f"<h1>{_text(title)}</h1>")


def _foot(what: str) -> str:
    return (f"<footer>Privacy Curves {__version__}. {what}, not a guarantee.</footer></body>"
            "</html>")


def _rows(rows: Sequence[Sequence[str]]) -> str:
    """A table whose first row is its head."""
    head, *body = ("".join(f"<t{'d' if k else 'h'}>{_text(cell)}</t{'d' if k else 'h'}>"
                           for cell in row) for k, row in enumerate(rows))
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in body)}</table>"


def _table(answer: Answer, facts: PublicFacts) -> str:
    if answer.unknown == "error":
        return "<p>Ask for ε or for a size to see the alternatives.</p>"
    head = ["With", "Error", *["Right guess"] * bool(answer.beside), ""]
    return _rows([head, *(
        [*plan_words.step(row, answer.unknown, facts),
         *([] if given is None else [chances.odds_short(given.odds)]),
         "the answer" if row is answer.reached else ""] for row, given in answer.rows())])


def _precedents(epsilon: float, rule: float | None) -> list[str]:
    """A rule of one's own, the nearest budgets of others, and why they are no advice."""
    own = "No rule of our own was stated." if rule is None else (
        precedents.beyond_rule(epsilon, rule) or f"Within our own rule, ε at most {rule:g}.")
    others = [f"{one.name}: {tags.budget_chip(one.budget)}, protects {one.unit} ({one.source})."
              for one in precedents.nearest(epsilon)]
    return [f"<p>{_marked(own)}</p>", _list(others), f"<p>{_text(precedents.CAUTION)}</p>"]


def _list(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{_marked(line)}</li>" for line in lines) + "</ul>" if lines \
        else ""


def _text(words: str) -> str:
    """Words of a person can never become markup; what was escaped for Markdown is plain again."""
    return html.escape(re.sub(r"\\([\\`*_\[\]<>$~:])", r"\1", words))


def _marked(words: str) -> str:
    """The same, with **bold** parts."""
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", _text(words))
