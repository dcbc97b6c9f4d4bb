"""A lesson on one sheet of paper: HTML that needs nothing else, with the answer upside down."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from engine import __version__
from engine.figures import drawn
from engine.lessons import Lesson, Worked, heading

_ANSWERED = drawn.Look(430, 250, 11, dot=1.8)
_COLOURS = ";".join(f"--pc-{role}:{colour}" for role, colour in drawn.palette("light").items())
_STYLE = f"""
:root {{ {_COLOURS} }}
body {{ font: 10.5pt/1.4 "Source Sans 3", "Segoe UI", sans-serif; color: #182033;
  max-width: 44rem; margin: 1rem auto; padding: 0 1rem }}
h1 {{ font: 600 17pt/1.25 Georgia, serif; margin: 0 0 .3rem }}
p, ol {{ margin: .3rem 0 }}
.guess .after {{ display: none }}
.answer {{ transform: rotate(180deg); border-bottom: 1px dashed #8790A3; margin-top: .8rem;
  padding-bottom: .4rem; font-size: 9pt; display: flex; gap: 1rem; align-items: center }}
.answer > * {{ flex: 1 1 0 }}
svg {{ display: block; width: 100%; height: auto; font-family: inherit }}
footer {{ margin-top: .5rem; font-size: 8pt; color: #4A5468 }}
@page {{ size: A4; margin: 13mm }}
@media print {{ body {{ margin: 0; max-width: none; padding: 0 }} }}
"""


def handout(lesson: type[Lesson], worked: Worked, seed: int, address: str = "") -> bytes:
    """Story, picture to draw the guess into, and question; at the bottom, upside down, the answer.

    `address` is the link to the same lesson with the same noise, left out where it is not known.
    """
    words, title = worked.words, escape(heading(lesson))
    options = "".join(f"<li>{_said(option.text, words)}</li>" for option in lesson.question.options)
    link = f'<p>On screen: <a href="{escape(address)}">{escape(address)}</a></p>' if address else ""
    return "".join([
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{title}</title>"
        f"<style>{_STYLE}</style></head><body><h1>{title}</h1>",
        *(f"<p>{_said(paragraph, words)}</p>" for paragraph in lesson.story),
        f"<p><b>{_said(lesson.ask, words)}</b> On paper: draw it.</p>",
        f"<div class='guess' role='img' aria-label='{escape(worked.picture.alt, quote=True)}'>"
        f"{drawn.svg(worked.picture, drawn.PRINTED, 'guess')}</div>",
        f"<p><b>Question.</b> {_said(lesson.question.ask, words)}</p>"
        f"<ol>{options}</ol>{link}",
        _answer(lesson, worked),
        f"<footer>Privacy Curves {__version__} · {escape(lesson.unit[0])} · "
        f"{escape(worked.budget)} · seed {seed} · simulated, no person is behind it</footer>"
        "</body></html>"]).encode()


def _answer(lesson: type[Lesson], worked: Worked) -> str:
    """What happened, with the whole picture, and the right option with its reason."""
    options = lesson.question.options
    number = 1 + options.index(lesson.question.right)
    right = _said(lesson.question.right.why, worked.words)
    explains = " ".join(_said(paragraph, worked.words) for paragraph in lesson.explains)
    return (f"<div class='answer'><div><p>{_said(lesson.shows, worked.words)}</p>"
            f"<p>{explains}</p><p><b>Answer: {number}.</b> {right}</p></div>"
            f"<div role='img' aria-label='{escape(worked.picture.alt_after, quote=True)}'>"
            f"{drawn.svg(worked.picture, _ANSWERED, 'answer')}</div></div>")


def _said(template: str, words: Mapping[str, str]) -> str:
    """A template with its numbers; bold stays bold, and nothing else becomes markup."""
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(template.format_map(words)))
