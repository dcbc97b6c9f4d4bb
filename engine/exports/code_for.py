"""Code for what is on screen: Python, a command line and a notebook that give the same numbers.

The Python makes the question of a page, answers it and prints its numbers. Curves or records of
one's own are read from one's own file, by its name and with the stated facts; none of their values
is ever in the code.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine import __version__
from engine.core import plain
from engine.core.identity import INSTALLED_IN
from engine.core.registry import Parameterised
from engine.core.types import Data
from engine.exports.outcome_rows import as_csv, provenance
from engine.numerics.counts.cells import Counted
from engine.privacy.amplification import ONE
from engine.questions import Question, ask, here_document
from engine.simulation.experiments import blocks, gather, run_block
from engine.simulation.scenario import Scenario, to_plain
from engine.topics.regression.answer import Network
from engine.topics.sites.site_table import SiteRow, rows_with
from engine.uploads.curves import Upload
from engine.uploads.events import UploadEvents
from engine.uploads.own_file import OwnFile
from engine.uploads.people import read
from engine.uploads.reading_of_files import Reading
from engine.uploads.records import curves_of, events_of, rows_of
from engine.uploads.rows import UploadRows
from engine.uploads.source import UploadedData

_WIDTH = 92
_FOLDER = (
    f"It needs the package privacy-curves {__version__}."
    if INSTALLED_IN
    else "Run it in the folder of Privacy Curves."
)
_PUBLISH = """\
from engine.release.ledger import Ledger
from engine.release.published import publish

# A new name publishes: new noise, the ledger is charged, nothing takes it back.
NAME = ""
released = publish(source, mechanism, question["budget"], Ledger(), NAME) if NAME else None"""
_SWEEP = """\
plain = to_plain(source, mechanism, (budget,), run)
plain["axes"] = {path: list(values) for path, values in axes.items()}
chosen = Scenario(source, mechanism, (budget,), run, axes, plain)
parts = [run_block(block) for block in blocks(chosen.cells(), run)]
outcomes = gather(chosen.cells(), parts)"""
_CHART = """from engine.figures.rendered import figure_of

figure_of({})"""


@dataclass(frozen=True)
class Code:
    """Code that gives the numbers of a page again.

    `run` imports, builds and runs; `say` prints; `plot` ends in a figure. `command` is empty where
    the command line cannot do it: it knows no file of one's own. `about` says what the numbers are,
    `prints` what stands above them in a notebook, and `spends` whether it can publish.
    """

    page: str
    run: str
    say: str
    plot: str
    command: str
    about: str = "The numbers of this view, simulated for exploring and not for publishing."
    prints: str = "These stand on the page, with its seed:"
    spends: bool = False

    @property
    def python(self) -> str:
        return f"{self.run}\n\n{self.say}\n"


# -- a question, a release, a sweep -------------------------------------------------------------


def code_for(question: Question, file: OwnFile | None = None) -> Code:
    """The question of a page, its answer, the numbers that stand there and a picture of them."""
    script = _Script(file)
    script.line(f"question = {script.call_of(question)}")
    script.line("answer = question.answer()")
    return Code(
        question.kind.page,
        script.text,
        "print(question.text(answer))",
        _CHART.format("question.chart(answer)"),
        question.command(),
    )


def release(question: Question, file: OwnFile | None = None) -> Code:
    """Release: what it would cost, and with a name the release itself."""
    from engine.release import request as release_request  # on first use: it takes a moment

    cost = code_for(question, file)
    plain = release_request.to_plain(
        question["source"], question["mechanism"], question["budget"], file
    )
    return dataclasses.replace(
        cost,
        say=f"{cost.say}\n\n{_PUBLISH}",
        command="" if plain is None else here_document("release -", plain),
        plot="from engine.topics.release import charts\n"
        + _CHART.replace("figure_of(", "released and figure_of(").format("charts.chart(released)"),
        about="What a release would cost and, once you give it a name, the release itself: each "
        "new name has noise of its own and is charged; the same name gives the same release.",
        prints="What it would cost, as on the page, and then the release itself:",
        spends=True,
    )


def sweep(chosen: Scenario, file: OwnFile | None = None) -> Code:
    """Sweeps: a scenario with axes, which is a record of its own, to the last bit."""
    script = _Script(file)
    for of in (blocks, gather, run_block, as_csv, provenance, Scenario, to_plain):
        script.name(of)
    for name, value in (
        ("source", chosen.source),
        ("mechanism", chosen.mechanism),
        ("budget", chosen.budgets[0]),
        ("run", chosen.run),
        ("axes", {path: tuple(each) for path, each in chosen.axes.items()}),
    ):
        script.assign(name, value)
    script.line(_SWEEP)
    return Code(
        "Sweeps",
        script.text,
        'print(as_csv(outcomes, provenance(chosen, "serial")), end="")',
        "from engine.topics.sweeps import charts\n"
        "from engine.topics.sweeps.answer import sweep_view\n"
        + _CHART.format(
            "charts.along_axis(\n    sweep_view(outcomes), {path: path for path in axes}, "
            "source.facts.value_unit)"
        ),
        "" if file else here_document("run - --csv", dict(chosen.plain)),
    )


# -- a notebook -----------------------------------------------------------------------------


def notebook(code: Code) -> bytes:
    """The code as a notebook (nbformat 4.5): words, run, numbers, plot, where it is from."""
    cells = [
        _words("about", f"# Privacy Curves: {code.page}\n\n{code.about} {_FOLDER}"),
        _cell("run", code.run),
        _words("numbers-about", code.prints),
        _cell("numbers", code.say),
        _words("plot-about", "And a picture of them:"),
        _cell("plot", code.plot),
    ]
    if code.command:
        cells.append(
            _words("command", f"The same on the command line:\n\n```\n{code.command}\n```")
        )
    cells.append(_words("origin", f"Written by Privacy Curves {__version__}."))
    return json.dumps(
        {
            "nbformat": 4,
            "nbformat_minor": 5,
            "cells": cells,
            "metadata": {
                "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                "language_info": {"name": "python"},
            },
        },
        ensure_ascii=False,
        indent=1,
    ).encode()


def _words(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": _split(text)}


def _cell(name: str, text: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": name,
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": _split(text),
    }


def _split(text: str) -> list[str]:
    return text.splitlines(keepends=True)


# -- writing Python -------------------------------------------------------------------------


class _Script:
    """Imports and lines; values write themselves and bring their imports."""

    def __init__(self, file: OwnFile | None = None) -> None:
        self._file = file
        self._imports: dict[str, set[str]] = {}
        self._lines: list[str] = []

    def line(self, text: str) -> None:
        self._lines.append(text)

    def call_of(self, question: Question) -> str:
        """Python that makes a question; sources, mechanisms and rates get lines above it."""
        named = []
        for name, value in question.arguments.items():
            is_member = isinstance(value, Parameterised)
            if is_member:
                self.assign(name, value)
            written = name if is_member else self._of_file(value) or self.written(value)
            named.append(f"{name}={written}")
        made = _wrapped(f"{self.name(ask)}(", [self.name(question.function), *named], ")")
        if question.person == ONE:
            return made
        return f"{made}.about({self.written(question.person)})"

    def _of_file(self, value: Any) -> str:
        """Sites of one's own, which are named and sized by the file alone; empty for others."""
        if self._file is not None and isinstance(value, Network):
            epsilons = self.written(tuple(group.epsilon for group in value.groups))
            return f"{self.name(Network)}.of_upload(source, {epsilons}, delta={value.delta!r})"
        if self._file is not None and isinstance(value, tuple) and isinstance(value[0], SiteRow):
            chosen = tuple((row.epsilon, row.delta, row.included) for row in value)
            return f"{self.name(rows_with)}(source, {self.written(chosen)})"
        return ""

    def assign(self, name: str, value: Any) -> None:
        """A line `name = value`; a source of one's own is read from its file."""
        if isinstance(value, UploadedData):
            self._from_file(value)
        else:
            self.line(f"{name} = {self.written(value)}")

    def _from_file(self, source: UploadedData[Data]) -> None:
        source.facts.check_stated()
        if self._file is None:
            raise ValueError("how the file was read is not known")
        file, kind = self._file, type(source)
        name = kind.read_as
        self._imports["pathlib"] = {"Path"}
        self.line(f"FILE = {_text(file.name)}  # your own file, in this folder")
        self.line(f"reading = {self.name(Reading)}.of({self.written(file.reading.to_plain())})")
        self.line(f"people = {self.name(read)}(Path(FILE).read_bytes(), reading)")
        self.line(f"{name} = {self._records(source)}")
        if source.declared.group is not None:
            self.line(f"{name} = {name}.of_group({_text(source.declared.group.name)})")
        self.line(f"facts = {self.written(source.declared)}  # as you stated them")
        groups = f", groups={self.written(source.group_names)}" if source.group_names else ""
        confirmed = ", reading=reading" if source.reading is not None else ""
        self.line(f"source = {self.name(kind)}({name}={name}, declared=facts{groups}{confirmed})")

    def _records(self, source: UploadedData[Data]) -> str:
        """The call that makes records of people."""
        if isinstance(source, UploadEvents):
            counted = source.events.counted
            return f"{self.name(events_of)}(people, {self.name(Counted)}.{counted.name})"
        if isinstance(source, UploadRows):
            return f"{self.name(rows_of)}(people)"
        is_single = isinstance(source, Upload) and source.is_single
        return f"{self.name(curves_of)}(people{', single=True' * is_single})"

    def name(self, of: Any) -> str:
        """The name of a class or function, which is imported."""
        self._imports.setdefault(_offering(of), set()).add(of.__name__)
        return str(of.__name__)

    def written(self, value: Any) -> str:
        """Python that makes a value again."""
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            named = [f"{name}={self.written(part)}" for name, part in _arguments(value).items()]
            return _wrapped(f"{self.name(type(value))}(", named, ")")
        if isinstance(value, tuple):
            return _wrapped(
                "(", [self.written(part) for part in value], ",)" * (len(value) == 1) or ")"
            )
        if isinstance(value, list):
            return _wrapped("[", [self.written(part) for part in value], "]")
        if isinstance(value, Mapping):
            return _wrapped(
                "{", [f"{_text(name)}: {self.written(part)}" for name, part in value.items()], "}"
            )
        return _text(value) if isinstance(value, str) else repr(value)

    @property
    def text(self) -> str:
        imports = [
            f"from {module} import {', '.join(sorted(names))}"
            for module, names in sorted(self._imports.items(), key=_standard_first)
        ]
        return "\n".join([*imports, "", *self._lines])


def _offering(of: Any) -> str:
    """The package that offers a class or function, or the module that defines it."""
    package = of.__module__.rpartition(".")[0]
    offered = getattr(sys.modules.get(package), "__all__", ())
    return package if of.__name__ in offered else str(of.__module__)


def _standard_first(entry: tuple[str, set[str]]) -> tuple[bool, str]:
    return entry[0].partition(".")[0] not in sys.stdlib_module_names, entry[0]


def _arguments(value: Any) -> dict[str, Any]:
    """List arguments that make the value again: all that matters if plugged in, else changes."""
    if not plain.is_registered(value):
        return {f.name: getattr(value, f.name) for f in plain.stated(value)}
    changed, matter = value.changed(), {p.name for p in value.relevant_parameters()}
    return {
        name: part
        for name, part in value.values().items()
        if name in changed or (name in matter and part is not None)
    }


def _wrapped(start: str, parts: Sequence[str], end: str) -> str:
    """Join in one line if it fits, else in indented lines that are filled."""
    whole = f"{start}{', '.join(parts)}{end}"
    if len(whole) <= _WIDTH - 12 and "\n" not in whole:
        return whole
    lines = [""]
    for part in parts:
        part = part.replace("\n", "\n    ")
        if lines[-1] and ("\n" in part or len(lines[-1]) + len(part) > _WIDTH - 8):
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{part},"
    inner = "".join(f"\n    {line}" for line in lines)
    return f"{start}{inner}\n{end.removeprefix(',')}"


def _text(value: str) -> str:
    """A Python string in double quotes; JSON's escapes are Python's."""
    return json.dumps(value, ensure_ascii=False)
