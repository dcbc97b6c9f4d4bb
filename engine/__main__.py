"""The command line: what there is, scenarios, plans, audits, exhibits and real releases."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from engine import audit, broken, experiments, scenario
from engine.commands import exhibit as exhibit_command
from engine.commands import show as show_command
from engine.errors import InputError
from engine.experiments import Part
from engine.exports import outcome_rows
from engine.mechanisms import mechanisms
from engine.rates import rates
from engine.registry import parameters
from engine.release import files as release_files
from engine.release import ledger, published
from engine.release import request as release_request
from engine.release.data_content import content_of
from engine.release.ledger import Ledger, Odometer
from engine.running import executors
from engine.running.effort import Limits
from engine.running.part_files import PartFiles
from engine.running.steps import result_of
from engine.running.sweeps import run_sweep
from engine.sources import sources
from engine.types import Budget
from engine.views import audit as audit_view
from engine.views import planner
from engine.words import plan as plan_words
from engine.words import release as release_words

_SHELVES = {"sources": sources, "mechanisms": mechanisms, "rates": rates}

_MINUTES, _GIGABYTES = 60, 8  # of a run, unless it is told otherwise


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code.

    0 if all is well, 1 if an audit does not end as it should, 2 for what the person can put right.
    """
    options = _parser().parse_args(arguments)
    try:
        code: int | None = options.command(options)
    except InputError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        sys.stderr.close()
        return 0
    return code or 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m engine", description="Privacy Curves on the command line.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="sources, mechanisms and rates with parameters")
    listing.add_argument("--json", action="store_true", help="print one JSON object")
    listing.set_defaults(command=_list)
    run = commands.add_parser("run", help="run a scenario and print its errors")
    run.add_argument("file", help="scenario file, or - for standard input")
    run.add_argument("--repeats", type=int, help="instead of the scenario's own")
    run.add_argument("--seed", type=int, help="instead of the scenario's own")
    run.add_argument("--executor", default="serial",
                     help="serial (default), processes:N or dask://HOST:PORT")
    run.add_argument("--resume", metavar="DIR",
                     help="keep finished parts in this folder, and take up those that are there")
    run.add_argument("--limit-minutes", type=float, default=_MINUTES, metavar="M",
                     help=f"refuse what would take longer (default: {_MINUTES})")
    run.add_argument("--limit-gigabytes", type=float, default=_GIGABYTES, metavar="G",
                     help=f"refuse what needs more memory (default: {_GIGABYTES})")
    shape = run.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print one JSON object")
    shape.add_argument("--csv", action="store_true", help="print a CSV file")
    run.set_defaults(command=_run)
    asking = commands.add_parser(
        "plan", help="solve a scenario for one size or the budget that reaches an error")
    asking.add_argument("file", help="scenario file, or - for standard input")
    asking.add_argument("--unknown", choices=planner.DIALS, default="epsilon",
                        help="what to solve for (default: epsilon)")
    asking.add_argument("--target", type=float, default=1.0,
                        help="typical error to reach, in the unit of the values")
    asking.add_argument("--json", action="store_true", help="print one JSON object")
    asking.set_defaults(command=_plan)
    auditing = commands.add_parser("audit", help="try to break what mechanisms claim")
    auditing.add_argument("mechanism", nargs="?", help="key of one mechanism (default: all)")
    auditing.add_argument("--broken", metavar="NAME", help="audit a broken variant instead, which "
                          "must be caught; “all” takes every one, of the mechanism if one is given")
    auditing.add_argument("--epsilon", type=float, action="append", metavar="E", help="claim to "
                          "audit at, instead of the usual one; may be given several times")
    auditing.add_argument("--scenario", metavar="FILE", help="audit the mechanism of a scenario at "
                          "its budget, around its simulated data (- for standard input)")
    auditing.add_argument("--small", action="store_true", help="with --scenario: around small data "
                          "that are made for the attack")
    auditing.add_argument("--executor", default="serial", help="serial (default) or processes:N")
    auditing.add_argument("--seconds", type=float, default=20.0,
                          help="at most so long for each (default: 20)")
    auditing.add_argument("--tries", type=int, default=4000,
                          help="pairs of neighbours for each (default: 4000)")
    auditing.add_argument("--runs", type=int, default=200_000, help="releases of each data set of "
                          "the worst pair, for the lower bound (default: 200000)")
    auditing.add_argument("--seed", type=int, default=1)
    auditing.add_argument("--json", action="store_true", help="print one JSON object")
    auditing.set_defaults(command=_audit)
    exhibit_command.add(commands, _MINUTES, _GIGABYTES)
    show_command.add(commands)
    releasing = commands.add_parser(
        "release", help="publish real data once, and write it to the ledger")
    releasing.add_argument("file", help="what to publish (see docs), or - for standard input")
    releasing.add_argument("--name", help="what the release is called, instead of the file's own")
    releasing.add_argument("--ledger", metavar="PATH", help="the ledger (default: what the "
                           f"variable {ledger.VARIABLE} names, else one in your data folder)")
    releasing.add_argument("--total-epsilon", type=float, metavar="E", help="most that all "
                           "releases of these data may cost; fixed by the first (default: "
                           f"{ledger.USUAL_TOTAL:g})")
    releasing.add_argument("--total-delta", type=float, metavar="D",
                           help="the same for δ (default: 1/n)")
    releasing.add_argument("--yes", action="store_true",
                           help="really publish; without it only the cost is shown")
    releasing.add_argument("--out", metavar="DIR", default="release",
                           help="folder for the files (default: release)")
    releasing.set_defaults(command=_release)
    return parser


def _release(options: argparse.Namespace) -> int:
    """2 without --yes: the cost is shown and nothing is charged."""
    folder = Path.cwd() if options.file == "-" else Path(options.file).parent
    asked = release_request.from_json(scenario.text_of(options.file), folder)
    book = Ledger(options.ledger)
    quoted = published.quote(asked.source, asked.mechanism, asked.budget)
    before = book.odometer(content_of(asked.source))
    for line in release_words.before(asked.source, asked.mechanism, quoted, before):
        print(line.replace("**", ""))
    if not options.yes:
        print("Nothing was published. Add --yes to publish and write to the ledger: it cannot be "
              "taken back.", file=sys.stderr)
        return 2
    out = _new_folder(options.out)
    total = _total(options, asked.source.sizes.n_curves, before)
    one = published.publish(asked.source, asked.mechanism, asked.budget, book,
                            options.name or asked.name, total)
    for name, content in release_files.all_files(one).items():
        (out / name).write_bytes(content)
        print(f"wrote {out / name}")
    print(release_words.after(asked.source.facts, one.odometer).replace("**", ""))
    return 0


def _new_folder(name: str) -> Path:
    """A folder for the files, tried before anything is charged; nothing in it is overwritten."""
    out = Path(name)
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise InputError(f"The folder {name!r} is not empty.", field="out",
                             hint="Name another with --out.")
        (out / "release.csv").write_bytes(b"")
        (out / "release.csv").unlink()
    except OSError as problem:
        raise InputError(f"Cannot write to {name!r}: {problem.strerror}.", field="out") from None
    return out


def _total(options: argparse.Namespace, n: int, before: Odometer | None) -> Budget | None:
    """The total as chosen; what was not chosen stays as it is, or takes its usual value."""
    if options.total_epsilon is None and options.total_delta is None:
        return None
    usual = published.usual_total(n) if before is None else before.total
    chosen = (options.total_epsilon, options.total_delta)
    epsilon, delta = (one if own is None else own for one, own in
                      zip((usual.epsilon, usual.delta), chosen, strict=True))
    return Budget(epsilon, delta)


def _audit(options: argparse.Namespace) -> int:
    """0 only if every claim holds, or every broken variant is caught."""
    reports = []
    for (name, what, _), report in _audits(_audited(options), options):
        reports.append({"name": name, **({"what": what} if what else {}), **report.plain()})
        if not options.json:
            print(_verdict(name, what, report), flush=True)
    wanted = ("broken", "loose") if options.broken else ("holds", "loose")
    as_it_should = all(one["verdict"] in wanted for one in reports)
    if options.json:
        print(json.dumps({"audits": reports, "ok": as_it_should}, ensure_ascii=False))
    return 0 if as_it_should else 1


Audited = tuple[str, str, Callable[..., audit.Report]]  # name, what is wrong with it, its audit


def _audits(chosen: list[Audited], options: argparse.Namespace
            ) -> Iterator[tuple[Audited, audit.Report]]:
    """Every audit with its report, in order."""
    with executors.make(options.executor) as executor:
        limits = {"tries": options.tries, "runs": options.runs, "seconds": options.seconds}
        futures = [executor.submit(one[2], seed=options.seed, **limits) for one in chosen] if (
            executors.n_workers(executor) > 1) else None
        for k, one in enumerate(chosen):
            report = futures[k].result() if futures else one[2](seed=options.seed, **limits)
            yield one, report


def _audited(options: argparse.Namespace) -> list[Audited]:
    """What is audited: a scenario, all cases, or broken variants, at every ε that was given."""
    if options.scenario:
        return [_of_scenario(options)]
    found = [(name, what, at) for name, what, case in _cases(options)
             for at in ([case.at(Budget(epsilon, case.budget.delta)) for epsilon in options.epsilon]
                        if options.epsilon else [case])]
    return [(name, what, partial(audit.audit_case, case)) for name, what, case in found]


def _of_scenario(options: argparse.Namespace) -> Audited:
    chosen = scenario.from_json(scenario.text_of(options.scenario))
    asked = audit_view.Attack(
        chosen.mechanism, min(chosen.budgets, key=lambda one: one.epsilon),
        None if options.small else chosen.source, options.broken or "")
    what = broken.get(asked.variant).what if asked.variant else ""
    return asked.variant or asked.mechanism.key, what, partial(audit_view.finished, asked)


def _cases(options: argparse.Namespace) -> list[tuple[str, str, audit.Case]]:
    """Names, what is wrong with each where something is, and cases."""
    cls = mechanisms.get(options.mechanism) if options.mechanism else None
    if options.broken is None:
        return [(own.key, "", case) for own in (mechanisms.all() if cls is None else [cls])
                for case in audit.cases_of(own)]
    found = broken.bugs() if options.broken == "all" else (broken.get(options.broken),)
    chosen = [(one.name, one.what, one.case) for one in found
              if cls is None or isinstance(one.case.mechanism, cls)]
    if not chosen:
        raise InputError(f"This is no broken variant of {options.mechanism!r}.", field="broken")
    return chosen


_UNITS = {"mu": "μ", "epsilon": "ε", "rho": "√(2ρ)"}


def _verdict(name: str, what: str, report: audit.Report) -> str:
    """A few lines about one audit."""
    unit = _UNITS[report.unit]
    settings = f" ({report.settings})" if report.settings else ""
    lines = [f"{name}{settings}: {report.verdict}", *([f"  bug: {what}"] if what else []),
             f"  claim {unit} = {report.claim:.5g}, worst found {report.worst:.5g}, ratio "
             f"{report.ratio:.4f}, after {report.tried} pairs of {report.neighbours}"]
    if report.runs:
        lines.append(f"  from outputs alone: ε ≥ {report.bound:.3g} of {report.claimed_epsilon:.3g}"
                     f" claimed at δ = {report.delta:g}, with confidence {report.confidence:.2%} "
                     f"({report.runs} releases of each)")
    lines += [f"  {text}" for text in (report.reason, report.why) if text]
    return "\n".join(lines)


def _plan(options: argparse.Namespace) -> None:
    chosen = scenario.from_json(scenario.text_of(options.file))
    cell = chosen.cells()[0]
    if len(set(cell.budgets)) != 1:
        raise InputError("A plan has one budget for all sites; got several.", field="budgets",
                         hint="Give the same ε and δ to all of them.")
    budget = cell.budgets[0]
    setting = planner.Setting.of(cell.source, cell.mechanism, budget.epsilon, budget.delta)
    answer = result_of(planner.plan(setting, options.unknown, options.target, chosen.run.seed))
    if options.json:
        print(json.dumps(planner.plain(answer), ensure_ascii=False))
        return
    facts = cell.source.facts
    for line in (plan_words.question(setting, options.unknown, options.target, facts),
                 plan_words.verdict(answer, facts), *plan_words.fixes(answer, facts),
                 *filter(None, [plan_words.broken_promise(answer)])):
        print(line.replace("**", ""))
    for one in answer.steps:
        print("  " + ": ".join(plan_words.step(one, options.unknown, facts)))


def _list(options: argparse.Namespace) -> None:
    shelves = {name: [_described(cls) for cls in shelf.all()] for name, shelf in _SHELVES.items()}
    if options.json:
        print(json.dumps(shelves, ensure_ascii=False, indent=1))
        return
    for name, members in shelves.items():
        print(name)
        for member in members:
            print(f"  {member['key']}  {member['label']}")
            for p in member["parameters"]:
                allowed = p.get("choices") or p.get("range") or ""
                print(f"    {p['name']} = {p['default']}  {allowed}  {p['help']}")


def _described(cls: Any) -> dict[str, Any]:
    described = {"key": cls.key, "label": cls.label, "tasks": sorted(cls.tasks),
                 "parameters": [p.as_dict() for p in parameters(cls)]}
    for fact in ("guarantee", "reference"):
        if hasattr(cls, fact):
            described[fact] = getattr(cls, fact)
    return described


def _run(options: argparse.Namespace) -> None:
    start = time.perf_counter()
    instead = {name: getattr(options, name) for name in ("repeats", "seed")
               if getattr(options, name) is not None}
    chosen = scenario.from_json(scenario.text_of(options.file), instead)
    limits = Limits(options.limit_minutes, options.limit_gigabytes)
    finished = PartFiles(options.resume) if options.resume else None
    cells = chosen.cells()
    work = experiments.blocks(cells, chosen.run)
    with executors.make(options.executor) as executor:
        parts = _with_progress(run_sweep(work, executor, finished, limits), len(work))
    outcomes = experiments.gather(cells, parts)
    if all(outcome.failure for outcome in outcomes):
        raise InputError(outcomes[0].failure)
    seconds = round(time.perf_counter() - start, 3)
    origin = outcome_rows.provenance(chosen, options.executor)
    if options.json:
        print(outcome_rows.as_json(outcomes, origin, seconds))
    elif options.csv:
        print(outcome_rows.as_csv(outcomes, origin), end="")
    else:
        print(outcome_rows.as_table(outcomes, seconds))


def _with_progress(parts: Iterator[Part], total: int) -> list[Part]:
    """Collect the parts, counting them on a terminal when the run takes over a second."""
    start, done = time.perf_counter(), []
    early = 0  # done within the first second, as those that were kept are: they tell no pace
    for part in parts:
        done.append(part)
        spent = time.perf_counter() - start - 1
        if spent <= 0:
            early = len(done)
        elif sys.stderr.isatty():
            left = spent / max(1, len(done) - early) * (total - len(done))
            print(f"\r{len(done)} of {total} blocks, about {_duration(left)} left   ", end="",
                  file=sys.stderr, flush=True)
    if len(done) > early and sys.stderr.isatty():
        print(file=sys.stderr)
    return done


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


if __name__ == "__main__":
    sys.exit(main())
