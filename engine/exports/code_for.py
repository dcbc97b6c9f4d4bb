"""Code for what is on screen: Python, a command line and a notebook that give the same numbers.

The Python builds source, mechanism and budget by their parameters, runs the function that the page
runs and prints its numbers. Curves or records of one's own are read from one's own file, by its
name and with the stated facts; none of their values is ever in the code.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine import __version__, scenario
from engine.experiments import Run
from engine.exports.files import scenario_json
from engine.privacy.amplification import ONE, Person
from engine.rates import Rate
from engine.registry import Parameterised
from engine.scenario import Scenario
from engine.sources.twin import Twin
from engine.sources.upload import Upload
from engine.sources.upload_curves import read_curves
from engine.sources.upload_layout import Layout
from engine.sources.upload_rows import RowLayout, UploadRows, read_rows
from engine.types import Budget
from engine.views.planner import Setting
from engine.views.regression import Network
from engine.views.site_table import SiteRow, budgets

if TYPE_CHECKING:
    from engine.views.audit import Attack
    from engine.views.coverage_lab import Experiment
    from engine.views.rate_check import Check

_WIDTH = 92
_FOLDER = "Run it in the folder of Privacy Curves."


@dataclass(frozen=True)
class OwnFile:
    """How a file of one's own was read: its name and what was chosen, none of its values."""

    name: str
    encoding: str
    sheet: str | None
    layout: Layout | RowLayout
    several: str = "keep"


@dataclass(frozen=True)
class Code:
    """What gives the numbers of a page again.

    `run` imports, builds and runs; `say` prints; `plot` ends in a figure. `command` is empty where
    the command line cannot do it: it knows no file of one's own. `about` says what the numbers are,
    `prints` what stands above them in a notebook, and `spends` whether it can publish.
    """

    page: str
    run: str
    say: str
    plot: str
    command: str
    about: str = "The numbers of this view, simulated for looking and not for publishing."
    prints: str = "These stand on the page, with its seed:"
    spends: bool = False

    @property
    def python(self) -> str:
        return f"{self.run}\n\n{self.say}\n"


# -- one for each page ----------------------------------------------------------------------


def curves(source: Any, mechanism: Any, budget: Budget, seed: int, own: OwnFile | None = None,
           who: Person = ONE) -> Code:
    """Explore at one budget."""
    script = _Script(own, who)
    script.uses("engine.views.preview", "at_budget")
    script.given(source=source, mechanism=mechanism, budget=budget)
    script.line(f"view = at_budget(source, mechanism, budget, seed={seed})")
    script.line("at = view.budgets.index(budget)")
    plot = _lines(
        "import plotly.graph_objects as go", "",
        "figure = go.Figure()",
        "for release in view.releases[at]:",
        '    figure.add_scatter(x=view.times, y=release, line_color="rgba(61,87,214,0.4)",',
        "                       showlegend=False)",
        'figure.add_scatter(x=view.times, y=view.without, name="without protection",',
        '                   line={"color": "#3F4654", "dash": "6px,4px"})',
        "figure")
    return script.code("Explore", "shown.curves(view, budget)", plot, own, _view(
        "curves", source, mechanism, (budget,), seed))


def coefficients(source: Any, mechanism: Any, budget: Budget, seed: int,
                 own: OwnFile | None = None, who: Person = ONE) -> Code:
    """Varying coefficients."""
    script = _Script(own, who)
    script.uses("engine.views.coefficients", "coefficient_view")
    script.given(source=source, mechanism=mechanism, budget=budget)
    script.line(f"view = coefficient_view(source, mechanism, budget, seed={seed})")
    plot = _chart("coefficients", "figures.errors(view, view.data.facts, \"light\")")
    return script.code("Varying coefficients", "shown.coefficients(view)", plot, own, _view(
        "coefficients", source, mechanism, (budget,), seed))


def summary(source: Any, mechanism: Any, task: str, budget: Budget, seed: int,
            own: OwnFile | None = None, who: Person = ONE) -> Code:
    """Summaries, in every way that serves the task."""
    script = _Script(own, who)
    script.uses("engine.views.summaries", "summary_view")
    script.given(source=source, mechanism=mechanism, budget=budget)
    script.line(f"view = summary_view(source, mechanism, {_text(task)}, budget, seed={seed})")
    return script.code("Summaries", "shown.summary(view)",
                       _chart("summaries", 'figures.errors(view, "light")'), own, _view(
                           "summary", source, mechanism, (budget,), seed, task=task))


def sparse(source: Any, mechanism: Any, budget: Budget, seed: int, own: OwnFile | None = None,
           who: Person = ONE) -> Code:
    """Sparse regression."""
    script = _Script(own, who)
    script.uses("engine.views.sparse", "sparse_view")
    script.given(source=source, mechanism=mechanism, budget=budget)
    script.line(f"view = sparse_view(source, mechanism, budget, seed={seed})")
    return script.code("Sparse regression", "shown.sparse(view)",
                       _chart("sparse", 'figures.coefficients(view, "light")'), own, _view(
                           "sparse", source, mechanism, (budget,), seed))


def regression(source: Any, mechanism: Any, network: Network, seed: int,
               own: OwnFile | None = None, who: Person = ONE) -> Code:
    """Regression over sites of several kinds; sites of one's own are those of the file."""
    script = _Script(own, who)
    script.uses("engine.views.regression", "regression_view")
    script.given(source=source, mechanism=mechanism)
    if own is None:
        script.given(network=network)
    else:  # names of sites stand in the file alone
        script.uses("engine.views.regression", "Network")
        epsilons = ", ".join(f"{group.epsilon!r}" for group in network.groups)
        script.line(f"network = Network.of_upload(source, [{epsilons}], delta={network.delta!r})")
    script.line(f"view = regression_view(source, mechanism, network, seed={seed})")
    return script.code("Regression", "shown.regression(view)",
                       _chart("regression", 'figures.curve(view, "light")'), own, _view(
                           "regression", source, mechanism,
                           (Budget(network.groups[0].epsilon, network.delta),), seed,
                           sites=[dataclasses.asdict(group) for group in network.groups]))


def sites(source: Any, mechanism: Any, rows: Sequence[SiteRow], seed: int,
          own: OwnFile | None = None, who: Person = ONE) -> Code:
    """Sites of a table; those of one's own file are named and sized by the file."""
    script = _Script(own, who)
    script.uses("engine.views.sites", "federation")
    script.given(source=source, mechanism=mechanism)
    if own is None:
        script.given(rows=list(rows))
    else:
        script.uses("engine.views.site_table", "rows_of")
        script.uses("dataclasses", "replace")
        chosen = [(row.epsilon, row.delta, row.included) for row in rows]
        script.line(f"chosen = {script.written(chosen)}  # ε, δ and whether it takes part")
        script.line("rows = [replace(row, epsilon=epsilon, delta=delta, included=included)")
        script.line("        for row, (epsilon, delta, included) in")
        script.line("        zip(rows_of(source, curves.server_names), chosen, strict=True)]")
    script.line(f"view = federation(source, mechanism, rows, seed={seed})")
    plot = _chart("sites", "figures.shares(view, mechanism.key, mechanism.family, \"light\")")
    return script.code("Sites", "shown.sites(view)", plot, own, _view(
        "sites", source, mechanism, budgets(rows, mechanism.guarantee == "pure")[:1], seed,
        sites=[dataclasses.asdict(row) for row in rows]))


def plan(setting: Setting, unknown: str, target: float, seed: int, who: Person = ONE) -> Code:
    """Plan: a question with one dial left open."""
    script = _Script(who=who)
    script.uses("engine.views.planner", "Setting", "plan")
    script.uses("engine.running.steps", "result_of")
    script.given(source=setting.source, mechanism=setting.mechanism)
    script.line(f"setting = Setting.of(source, mechanism, epsilon={setting.epsilon!r}, "
                f"delta={setting.delta!r})  # None: the usual one")
    script.line(f"answer = result_of(plan(setting, {_text(unknown)}, {target!r}, seed={seed}))")
    plot = _lines(
        "import plotly.graph_objects as go", "",
        "tried = [*answer.steps, answer.reached]",
        f"tried.sort(key=lambda one: one.setting.{'epsilon' if unknown == 'error' else unknown})",
        "figure = go.Figure()",
        f"figure.add_scatter(x=[one.setting.{'epsilon' if unknown == 'error' else unknown} "
        "for one in tried],",
        '                   y=[one.error for one in tried], mode="markers+lines")',
        "figure")
    budget = Budget(setting.epsilon, setting.budget.delta)
    return script.code("Plan", "shown.plan(answer, source.facts.value_unit)", plot, None, _view(
        "plan", setting.source, setting.mechanism, (budget,), seed, unknown=unknown,
        target=target, delta=setting.delta))


def rate(of: Rate, point: Mapping[str, float], privacy_share: float | None, along: str,
         across: str, asked: Check | None = None) -> Code:
    """Rates: the terms at a point, weighted by the measured share of privacy where there is one.

    `asked` adds measured slopes and the count of limits that miss.
    """
    script = _Script()
    script.uses("engine.views.regimes", "Weighted")
    script.given(rate=of)
    script.line(f"point = {script.written(dict(point))}")
    if privacy_share is None:
        script.line("weighted = Weighted.plain(rate)  # all constants one")
    else:
        script.line("# so that privacy has its measured share of the squared error")
        script.line(f"weighted = Weighted.with_privacy_share(rate, {privacy_share!r}, **point)")
    plot = _chart("rates", f"figures.regimes(weighted, {_text(along)}, {_text(across)}, point, "
                           '"light")')
    view = {"view": "rate", "rate": {"key": of.key, "parameters": of.values()},
            "point": dict(point), "privacy_share": privacy_share}
    if asked is None:
        return script.code("Rates", "shown.rate(weighted, point)", plot, None, view)
    _with_check(script, asked)
    return script.code("Rates", "shown.rate(weighted, point) | shown.rate_check(asked, measured)",
                       plot, None, {**view, "check": _check_view(asked)})


def _with_check(script: _Script, asked: Check) -> None:
    """Lines that measure slopes and count limits; rate and point stand above them."""
    script.uses("engine.views.rate_check", "Check", "check", "found")
    script.line(f"settings = {script.written(asked.settings)}")
    script.line(f"limits = {script.written(asked.limits)}")
    script.line(_wrapped("asked = Check(", [
        "rate", "point", _text(asked.symbol), "settings", script.written(asked.values), "limits",
        f"seed={asked.seed}"], ")"))
    script.line("measured = found(asked, list(check(asked)))  # some seconds")


def _check_view(asked: Check) -> dict[str, Any]:
    limits = asked.limits
    return {"symbol": asked.symbol, "values": list(asked.values), "settings": [
        {**_view("setting", one.source, one.mechanism, (one.budget,), asked.seed),
         "people": one.people, "readings": one.readings, "sites": one.sites, "delta": one.delta}
        for one in asked.settings], "limits": None if limits is None else _limits_view(limits)}


def methods(source: Any, chosen: Sequence[Any], epsilons: Sequence[float], delta: float, seed: int,
            own: OwnFile | None = None, units: int = 1) -> Code:
    """Methods beside budgets, with the odds of a person who has so many protected units."""
    script = _Script(own)
    script.uses("engine.views.side_by_side", "published", "side_by_side")
    script.given(source=source, methods=list(chosen))
    script.line(f"ways = side_by_side(source, methods, delta={delta!r}, seed={seed}, "
                f"units={units})")
    plot = _lines("import plotly.graph_objects as go", "",
                  "figure = go.Figure()",
                  "for way in published(ways):",
                  "    figure.add_scatter(x=way.right, y=way.error, name=way.label)",
                  'figure.update_xaxes(title="chance of a right guess, at most")',
                  'figure.update_yaxes(title="error", type="log")',
                  "figure")
    first, *others = chosen
    return script.code("Methods", f"shown.methods(ways, {list(epsilons)})", plot, own, _view(
        "methods", source, first, (Budget(epsilons[0], delta),), seed, units=units,
        epsilons=list(epsilons),
        others=[{"key": other.key, "parameters": other.values()} for other in others]))


def sweep(chosen: Scenario, own: OwnFile | None = None) -> Code:
    """Sweeps: a scenario with axes, to the last bit."""
    script = _Script(own)
    script.uses("engine.experiments", "Run", "blocks", "gather", "run_block")
    script.uses("engine.exports.outcome_rows", "as_csv", "provenance")
    script.uses("engine.scenario", "Scenario", "to_plain")
    script.given(source=chosen.source, mechanism=chosen.mechanism, budget=chosen.budgets[0],
                 run=chosen.run)
    axes = {path: tuple(values) for path, values in chosen.axes.items()}
    script.line(f"axes = {script.written(axes)}")
    script.line("plain = to_plain(source, mechanism, (budget,), run)")
    script.line('plain["axes"] = {path: list(values) for path, values in axes.items()}')
    script.line("chosen = Scenario(source, mechanism, (budget,), run, axes, plain)")
    script.line("parts = [run_block(block) for block in blocks(chosen.cells(), run)]")
    script.line("outcomes = gather(chosen.cells(), parts)")
    plot = _lines("from engine.figures import sweeps as figures",
                  "from engine.views.sweeps import sweep_view",
                  "import plotly.graph_objects as go", "",
                  "chart = figures.along_axis(sweep_view(outcomes), {path: path for path in axes},",
                  '                           source.facts.value_unit, "light")',
                  "go.Figure(chart.spec, skip_invalid=True)")
    command = "" if own else _heredoc("run - --csv", scenario_json(dict(chosen.plain)).decode())
    return Code("Sweeps", script.text, 'print(as_csv(outcomes, provenance(chosen, "serial")), '
                                       'end="")', plot, command)


def exhibit(key: str, title: str, commands: str) -> Code:
    """Reproduce: the quick form of a figure or table, and what becomes of its claims."""
    script = _Script()
    script.uses("engine", "papers")
    script.uses("engine.running.steps", "result_of")
    script.uses("engine.words.exhibits", "claim")
    script.line(f"paper, exhibit = papers.find({_text(key)})  # {title}")
    script.line(f"result = result_of(papers.quick({_text(key)}))")
    say = _lines("for one, found in zip(exhibit.claims, exhibit.findings(result.table)):",
                 "    print(claim(one, found))")
    plot = _lines("import plotly.graph_objects as go", "",
                  'panels = exhibit.draw(result.table, "light")',
                  "go.Figure(panels[0].chart.spec, skip_invalid=True)")
    return Code("Reproduce", script.text, say, plot, commands)


def attacks(asked: Sequence[Attack], source: Any) -> Code:
    """Audit: attacks on a mechanism, on variants of it with a planted fault, or on both.

    `source` is what the scenario of the command line holds where small data are attacked.
    """
    from engine.views import audit as audit_view  # on first use: it takes a moment

    script = _Script()
    script.uses("engine.words.audit", "in_lines")
    script.uses("engine.views.audit", "attack")
    script.uses("engine.running.steps", "all_of")
    script.given(asked=list(asked))
    script.line("found = [all_of(attack(one)) for one in asked]  # up to 20 seconds each")
    say = _lines("for one, steps in zip(asked, found):",
                 "    print(in_lines(one.name, one.fault, steps[-1]))")
    plot = _lines("from engine.figures import audit as figures",
                  "import plotly.graph_objects as go", "",
                  "lines = [figures.Line(one.name, steps, bool(one.variant))",
                  "         for one, steps in zip(asked, found)]",
                  'chart = figures.climbing(lines, found[0][-1].claimed_epsilon, "light")',
                  "go.Figure(chart.spec, skip_invalid=True)")
    commands = "\n\n".join(audit_view.command(one, source) for one in asked)
    return Code("Audit", script.text, say, plot, commands)


def coverage(asked: Experiment) -> Code:
    """Audit: how often limits miss the truth."""
    script = _Script()
    script.uses("engine.views.coverage_lab", "Batch", "repetitions")
    script.given(question=asked)
    script.line("found = Batch.joined(list(repetitions(question)))")
    plot = _lines("from engine.figures import audit as figures",
                  "import plotly.graph_objects as go", "",
                  "half = figures.common_half([found.given, found.naive])",
                  'chart = figures.repetitions(found.given, half, "Off the truth by", "light")',
                  "go.Figure(chart.spec, skip_invalid=True)")
    return script.code("Audit: coverage", "shown.coverage(found)", plot, None,
                       _limits_view(asked))


def _limits_view(asked: Experiment) -> dict[str, Any]:
    return _view("coverage", asked.source, asked.mechanism, (asked.budget,), asked.seed,
                 limits=asked.kind, where=asked.where)


def reused(first: float, second: float, delta: float, seed: int, is_fresh: bool) -> Code:
    """Audit: one draw of noise at two budgets."""
    script = _Script()
    script.uses("engine.views.reuse", "reuse")
    script.line(f"found = reuse({first!r}, {second!r}, delta={delta!r}, seed={seed}, "
                f"is_fresh={is_fresh})")
    return script.code("Audit: reused noise", "shown.reused(found)",
                       _chart("audit", 'figures.reused(found, "light")'), None, {
                           "view": "reuse", "first": first, "second": second, "delta": delta,
                           "seed": seed, "fresh": is_fresh})


def release(source: Any, mechanism: Any, budget: Budget, own: OwnFile | None = None,
            who: Person = ONE) -> Code:
    """Release: what it would cost, and with a name the release itself."""
    from engine.release import request as release_request  # on first use: it takes a moment

    script = _Script(own, who)
    script.uses("engine.release.ledger", "Ledger")
    script.uses("engine.release.published", "publish", "quote")
    script.given(source=source, mechanism=mechanism, budget=budget)
    script.line("quoted = quote(source, mechanism, budget)  # from public facts; nothing is spent")
    plain = release_request.to_plain(source, mechanism, budget, own)
    made = script.code("Release", "shown.release(quoted)", _lines(
        "from engine.figures import released as figures", "import plotly.graph_objects as go", "",
        "released and go.Figure(figures.chart(released, \"light\").spec, skip_invalid=True)"),
        own, {})
    say = _lines(
        made.say, "",
        "# A new name publishes: new noise, the ledger is charged, nothing takes it back.",
        'NAME = ""',
        "released = publish(source, mechanism, budget, Ledger(), NAME) if NAME else None")
    command = "" if plain is None else _heredoc(
        "release -", json.dumps(plain, ensure_ascii=False, indent=1))
    return Code("Release", made.run, say, made.plot, command, about=(
        "What a release would cost and, once you give it a name, the release itself: each "
        "new name has noise of its own and is charged; the same name gives the same release."),
        prints="What it would cost, as on the page, and then the release itself:", spends=True)


def lesson(key: str, seed: int) -> Code:
    """Teach: what one lesson is about, in numbers."""
    script = _Script()
    script.uses("engine.lessons", "work")
    script.line(f"worked = work({_text(key)}, seed={seed})")
    plot = _lines("import plotly.graph_objects as go", "",
                  "(name, across), *lines = worked.picture.table.items()",
                  "figure = go.Figure()",
                  "for line, values in lines:",
                  "    figure.add_scatter(x=across, y=values, name=line)",
                  "figure.update_xaxes(title=name)",
                  "figure")
    return script.code("Teach", "shown.lesson(worked)", plot, None, {
        "view": "lesson", "lesson": key, "seed": seed})


# -- a notebook -----------------------------------------------------------------------------


def notebook(code: Code) -> bytes:
    """The code as a notebook (nbformat 4.5): words, run, numbers, plot, where it is from."""
    cells = [_words("about", f"# Privacy Curves: {code.page}\n\n{code.about} {_FOLDER}"),
             _cell("run", code.run),
             _words("numbers-about", code.prints),
             _cell("numbers", code.say), _words("plot-about", "And a picture of them:"),
             _cell("plot", code.plot)]
    if code.command:
        cells.append(_words("command", "The same on the command line:\n\n"
                                       f"```\n{code.command}\n```"))
    cells.append(_words("origin", f"Written by Privacy Curves {__version__}."))
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "cells": cells, "metadata": {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"}}}, ensure_ascii=False, indent=1).encode()


def _words(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": _split(text)}


def _cell(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "code", "id": name, "metadata": {}, "execution_count": None,
            "outputs": [], "source": _split(text)}


def _split(text: str) -> list[str]:
    return text.splitlines(keepends=True)


# -- writing Python -------------------------------------------------------------------------


class _Script:
    """Imports and lines; values write themselves and bring their imports."""

    def __init__(self, own: OwnFile | None = None, who: Person = ONE) -> None:
        self._own, self._who = own, who
        self._imports: dict[str, set[str]] = {}
        self._lines: list[str] = []

    def uses(self, module: str, *names: str) -> None:
        self._imports.setdefault(module, set()).update(names)

    def line(self, text: str) -> None:
        self._lines.append(text)

    def given(self, **values: Any) -> None:
        """A line `name = value` for each; one's own source is read from its file."""
        for name, value in values.items():
            if isinstance(value, Upload | UploadRows):
                self._from_file(value)
            elif isinstance(value, Twin):
                self._twin(value)
            else:
                self.line(f"{name} = {self.written(value)}")

    def _from_file(self, source: Upload | UploadRows) -> None:
        if self._own is None:
            raise ValueError("how the file was read is not known")
        own, rows = self._own, isinstance(source, UploadRows)
        reader, kind = (read_rows, UploadRows) if rows else (read_curves, Upload)
        self.uses("pathlib", "Path")
        self.uses("engine.sources.tables", "read_table")
        for used in (reader, kind):
            self.uses(used.__module__, used.__name__)
        several = "" if rows else f", {_text(own.several)}"
        self.line(f"FILE = {_text(own.name)}  # your own file, in this folder")
        self.line(f"table = read_table(Path(FILE).read_bytes(), {_text(own.encoding)}, "
                  f"{self.written(own.sheet)})")
        self.line(f"layout = {self.written(own.layout)}")
        name = "rows" if rows else "curves"
        self.line(f"{name} = {reader.__name__}(table, layout{several})")
        self.line(f"facts = {self.written(source.declared)}  # as you stated them")
        self.line(f"source = {kind.__name__}({name}={name}, declared=facts)")

    def _twin(self, twin: Twin) -> None:
        """Facts and sizes of real curves, as stated; none of their values."""
        self.uses(Twin.__module__, "Twin")
        self.line(f"facts = {self.written(twin.stated)}  # as they are stated")
        self.line(f"source = Twin.of(facts, {self.written(twin.sizes)}, spread={twin.spread!r})")

    def written(self, value: Any) -> str:
        """Python that makes a value again."""
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            cls = type(value)
            self.uses(cls.__module__, cls.__name__)
            named = [f"{name}={self.written(one)}" for name, one in _arguments(value).items()]
            return _wrapped(f"{cls.__name__}(", named, ")")
        if isinstance(value, tuple):
            return _wrapped("(", [self.written(one) for one in value], ",)" * (len(value) == 1)
                            or ")")
        if isinstance(value, list):
            return _wrapped("[", [self.written(one) for one in value], "]")
        if isinstance(value, Mapping):
            return _wrapped("{", [f"{_text(name)}: {self.written(one)}"
                                  for name, one in value.items()], "}")
        return _text(value) if isinstance(value, str) else repr(value)

    @property
    def text(self) -> str:
        ways = [f"from {module} import {', '.join(sorted(names))}"
                for module, names in sorted(self._imports.items(), key=_standard_first)]
        return "\n".join([*ways, "", *self._lines])

    def code(self, page: str, numbers: str, plot: str, own: OwnFile | None,
             view: Mapping[str, Any]) -> Code:
        """The finished code; without a `view` to name, the command line cannot do it.

        `numbers` calls `shown`, which is told whose odds are wanted unless it is as usual.
        """
        self.uses("engine.views", "shown")
        if self._who != ONE:
            self.given(who=self._who)
            numbers = f"{numbers.removesuffix(')')}, who=who)"
            view = {**view, "person": dataclasses.asdict(self._who)} if view else {}
        text = json.dumps(view, ensure_ascii=False, indent=1)
        return Code(page, self.text, f"print(shown.lines({numbers}))", plot,
                    _heredoc("show -", text) if view else "")


def _standard_first(entry: tuple[str, set[str]]) -> tuple[bool, str]:
    return entry[0].startswith("engine"), entry[0]


def _arguments(value: Any) -> dict[str, Any]:
    """What makes the value again: of what is plugged in all that matters, else what differs."""
    if isinstance(value, Parameterised):
        changed, matter = value.changed(), {p.name for p in value.shown()}
        return {name: one for name, one in value.values().items()
                if name in changed or (name in matter and one is not None)}
    return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)
            if f.init and not _is_usual(f, getattr(value, f.name))}


def _is_usual(of: dataclasses.Field[Any], value: Any) -> bool:
    return of.default is not dataclasses.MISSING and bool(of.default == value)


def _wrapped(start: str, parts: Sequence[str], end: str) -> str:
    """In one line if it fits, else in indented lines that are filled."""
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


def _lines(*lines: str) -> str:
    return "\n".join(lines)


def _chart(module: str, call: str) -> str:
    return _lines(f"from engine.figures import {module} as figures",
                  "import plotly.graph_objects as go", "",
                  f"go.Figure({call}.spec, skip_invalid=True)")


def _view(name: str, source: Any, mechanism: Any, budgets: tuple[Budget, ...], seed: int,
          **more: Any) -> dict[str, Any]:
    """A view file for `python -m engine show`; empty for a file of one's own and for a twin."""
    if isinstance(source, Upload | UploadRows | Twin):
        return {}
    plain = scenario.to_plain(source, mechanism, budgets, Run(1, 1, seed))
    return {"view": name, "scenario": plain, **more}


def _heredoc(arguments: str, text: str) -> str:
    return f"python -m engine {arguments} <<'END'\n{text}\nEND"

