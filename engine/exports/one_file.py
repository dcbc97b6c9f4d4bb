"""One HTML file that draws a figure, a lesson or a released curve anywhere, without a server.

The file holds the same scripts and the same message as a page. It makes no request: its policy
forbids any, and lets only the two digests of its own script and style through. Equal answers give
equal bytes: there is no date, path or user in it.

Grey curves and the non-private mean are the data, so that `of_mean` and `of_counting` refuse an own
file. A published curve has a module of its own, which sees published files alone.
"""

from __future__ import annotations

import base64
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.core.entrance import called, file_to_keep, write_whole
from engine.core.errors import InputError
from engine.core.packed import pack
from engine.core.palette import THEMES, page_variables
from engine.core.plain import is_registered
from engine.core.registry import Parameterised
from engine.core.types import Budget, CurveData, DataKind, EventData, PublicFacts
from engine.figures.live import figure_script, part
from engine.language import tags
from engine.language.grammar import capital
from engine.lessons import Lesson, Worked, heading
from engine.lessons.live import guess_payload
from engine.mechanisms import Mechanism
from engine.privacy import risk
from engine.privacy.amplification import ONE, Person
from engine.privacy.failure import usual_delta
from engine.sources import Source
from engine.templates import digest, render
from engine.topics.counting import live as counting_live
from engine.topics.counting.answer import CountingAnswer
from engine.topics.mean import live
from engine.topics.mean.answer import MeanAnswer

_FONT = '"Source Sans 3", system-ui, sans-serif'
HEIGHT = 720  # pixels of a frame in which a figure does not scroll
NOT_SHARED = (
    "This figure shows the curves of real people, so it cannot be sent. Publish a release and "
    "send its card instead."
)
_LEAD = (
    "Random noise is added to a curve before it is published, to hide each {person}. A smaller ε "
    "means more noise: more private, and less exact. The attacker’s accuracy is how often, at best, "
    "somebody who knows all other {people} could tell which of two {people} is in the data."
)


@dataclass(frozen=True)
class SharedPage:
    """One HTML file that needs no server; notebooks show it in a frame."""

    title: str
    html: bytes

    def save(self, path: str | Path, force: bool = False) -> Path:
        """Write the file; one of this name is replaced with `force` alone."""
        file = file_to_keep(path, "out")
        if file.exists() and not force:
            raise InputError(
                f"{called(path)} exists already.",
                field="out",
                hint="Choose another name, or replace it with --force.",
            )
        write_whole(file, self.html)
        return file

    def frame(self, source: str) -> str:
        """Write the frame by which another page shows the file at an address."""
        return _frame("src", source, self.title)

    def _repr_html_(self) -> str:
        return _frame("srcdoc", self.html.decode(), self.title)


def _frame(kind: str, content: str, title: str) -> str:
    """Write a frame in ASCII: a host of another encoding would change a script, and its digest."""
    frame = render("frame", kind=kind, content=content, height=HEIGHT, title=title)
    return frame.encode("ascii", "xmlcharrefreplace").decode()


def check_shareable(facts: PublicFacts) -> None:
    """Refuse data of an own file, whose figure shows people."""
    if facts.is_upload or facts.is_proposed:
        raise InputError(NOT_SHARED, field="source", hint="privacy-curves share release.zip")


# -- simulated and bundled data --------------------------------------------------------------------


def of_mean(
    source: Source[CurveData],
    mechanism: Mechanism,
    budget: Budget,
    seed: int,
    answer: MeanAnswer,
    person: Person = ONE,
    view: str = "look",
    home: str = "",
) -> SharedPage:
    """Write the live figure of a mean curve, at all budgets of its answer.

    The slider begins at `budget`, the picture with `view`. `home` is the address at which the file
    will be found, if that is known.
    """
    check_shareable(source.facts)
    check_shareable(answer.facts)
    odds = [risk.of_ledger(spends, person.units) for spends in answer.spends]
    payload = live.figure_payload(answer.facts, answer, live.at_budgets(answer.facts, answer, odds))
    start = live.Picked(answer.budgets.index(budget), view)
    return _figure(
        message(payload, start),
        answer.facts,
        mechanism.label,
        command(source, mechanism, budget, seed),
        home,
    )


def of_counting(
    source: Source[EventData],
    mechanism: Mechanism,
    epsilon: float,
    seed: int,
    answers: Sequence[CountingAnswer],
    home: str = "",
) -> SharedPage:
    """Write the live figure of a counted curve, such as survival; no people are in it."""
    check_shareable(source.facts)
    payload = counting_live.figure_payload(answers)
    budgets = [answer.budget for answer in answers]
    (start,) = (k for k, budget in enumerate(budgets) if budget.epsilon == epsilon)
    return _figure(
        message(payload, live.Picked(start)),
        answers[0].facts,
        mechanism.label,
        command(source, mechanism, budgets[start], seed),
        home,
    )


def message(payload: Mapping[str, Any], start: live.Picked) -> dict[str, Any]:
    """Make the message of a figure whose address keeps its state and the number of a game."""
    sent = live.figure_message(payload, start, rev=1)
    return sent | {"now": sent["now"] | {"replays": True}}


def _figure(
    sent: Mapping[str, Any], facts: PublicFacts, method: str, again: str, home: str
) -> SharedPage:
    curves = sent["curves"]
    origin = (
        "Simulated from the facts that were stated"
        if facts.kind is DataKind.TWIN
        else curves["source"]
    )
    return page(
        "one_figure",
        curves["title"],
        ("figure.html", "figure.css"),
        figure_script(),
        sent,
        table={
            "caption": "What each privacy budget ε gives",
            "columns": ("ε", curves["words"]["attacker"], curves["words"]["error"]),
            "rows": [
                (epsilon, attacker, error[0])
                for epsilon, attacker, error in zip(
                    curves["epsilons"], curves["attacker"], curves["errors"], strict=True
                )
            ],
        },
        origin=origin,
        credit=" ".join(tags.credited(facts)),
        method=method,
        again=again,
        home=home,
        lead=_LEAD.format(person=facts.person, people=facts.people),
        choices=(),
        sections=(),
    )


def command(source: Source[Any], mechanism: Mechanism, budget: Budget, seed: int) -> str:
    """Write the command that makes a file again; empty for data that no command names."""
    if not (is_registered(source) and is_registered(mechanism)):
        return ""
    words = ["privacy-curves", "share", source.key, *_options("source", source)]
    words += ["--method", mechanism.key, *_options("method", mechanism)]
    words += ["--epsilon", f"{budget.epsilon!r}".removesuffix(".0")]
    if budget.delta != mechanism.suited(Budget(1.0, usual_delta(source.sizes.n_curves))).delta:
        words += ["--delta", repr(budget.delta)]
    return shlex.join([*words, "--seed", str(seed)])


def _options(name: str, member: Parameterised) -> list[str]:
    """Write the parameters of a member that are not the usual ones."""
    usual = type(member)().values()
    return [
        word
        for key, value in member.values().items()
        if usual.get(key) != value
        for word in (f"--{name}.{key}", _word(value))
    ]


def _word(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_word, value))
    return json.dumps(value) if isinstance(value, bool) else str(value).replace("None", "none")


# -- lessons ---------------------------------------------------------------------------------------


def of_lesson(lesson: type[Lesson], worked: Worked, seed: int, home: str = "") -> SharedPage:
    """Write a lesson: story, guess, what happens, and the question with its reasons."""
    filled, picture = worked.filled, worked.picture
    sent = guess_payload(lesson.key, picture, worked.guess, filled(lesson.ask))
    across, *columns = picture.table
    return page(
        "one_lesson",
        capital(heading(lesson)),
        ("guess.html", "guess.css"),
        part("guess.js"),
        sent | {"is_revealed": False, "is_sent": False, "guesses": [], "slide": None, "room": None},
        table={
            "caption": "The numbers behind the picture",
            "columns": (across, *columns),
            "rows": list(zip(*picture.table.values(), strict=True)),
        },
        origin="Simulated: no person is behind it",
        credit="",
        method="",
        again=f"privacy-curves share lesson {lesson.key}"
        + (f" --seed {seed}" if seed != 1 else ""),
        home=home,
        story=list(map(filled, lesson.story)),
        ask=filled(lesson.ask),
        shows=filled(lesson.shows),
        explains=list(map(filled, lesson.explains)),
        question=filled(lesson.question.ask),
        options=[
            asdict(option) | {"text": filled(option.text), "why": filled(option.why)}
            for option in lesson.question.options
        ],
    )


# -- the document ----------------------------------------------------------------------------------


def page(
    template: str,
    title: str,
    drawing: tuple[str, str],
    script: str,
    sent: Mapping[str, Any],
    carried: Mapping[str, str] | None = None,
    **values: Any,
) -> SharedPage:
    """Render the document around a drawing: its markup and style, script and message.

    `carried` are texts by the names of the files that they can be saved as.
    """
    markup, style = map(part, drawing)
    files = dict(carried or {})
    parts = {"sent": dict(sent), "html": markup, "css": style, "files": files}
    page_style = themes() + part("page.css")
    program = _program(script)
    document = render(
        template,
        title=title,
        style=page_style,
        script=program,
        digests={"style": digest(page_style), "script": digest(program)},
        sent=base64.b64encode(pack(parts)).decode(),
        carried=list(files),
        **values,
    )
    return SharedPage(title, document.encode())


def _program(script: str) -> str:
    """Join a drawing's script and the start-up, each in a function of its own."""
    before, _, after = script.partition("export default function")
    mounting = f"{before}mount = function{after}"
    starting = part("unpack.js") + part("start.js")
    return "\n".join(
        ("let mount;", f"(() => {{\n{mounting}\n}})();", f"(() => {{\n{starting}\n}})();")
    )


def themes() -> str:
    """Write the colours of both themes: the reader's, unless the page states one."""
    light, dark = (
        "{ " + "; ".join(f"--st-{k}: {v}" for k, v in page_variables(theme, _FONT).items()) + " }\n"
        for theme in THEMES
    )
    return (
        f":root {light}@media (prefers-color-scheme: dark) {{ :root {dark}}}\n"
        f":root[data-theme=light] {light}:root[data-theme=dark] {dark}"
    )
