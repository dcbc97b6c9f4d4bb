"""The command `audit`: attacks on what mechanisms claim, and on variants that must be caught."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from engine import audit
from engine.audit import broken
from engine.commands import arguments
from engine.commands.exit_codes import Exit
from engine.core.entrance import text_of
from engine.core.errors import InputError, brief
from engine.core.types import MAX_EPSILON, MIN_EPSILON, Budget
from engine.mechanisms import mechanisms
from engine.running import executors
from engine.simulation import scenario
from engine.topics.audit import answer as audit_topic
from engine.topics.audit import words as audit_words


def add(commands: Any) -> None:
    """The command with its options."""
    parser = commands.add_parser("audit", help="attack mechanisms to test their privacy claims")
    _add_what(parser)
    _add_how(parser)
    parser.set_defaults(command=command)


def _add_what(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("mechanism", nargs="?", help="key of one mechanism (default: all)")
    parser.add_argument(
        "--broken",
        metavar="NAME",
        help="audit a broken variant instead, which "
        "must be caught; “all” takes every one, of the mechanism if one is given",
    )
    parser.add_argument(
        "--epsilon",
        action="append",
        metavar="E",
        type=arguments.number(MIN_EPSILON, MAX_EPSILON),
        help="claim to audit at, instead of the default; may be given several times",
    )
    parser.add_argument(
        "--scenario",
        metavar="FILE",
        help="audit the mechanism of a scenario at "
        "its budget, around its simulated data (- for standard input)",
    )
    parser.add_argument(
        "--small",
        action="store_true",
        help="with --scenario: around small data that are made for the attack",
    )


def _add_how(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--executor", default="serial", help="serial (default) or processes:N")
    parser.add_argument(
        "--seconds",
        type=arguments.number(0, 1e6),
        default=20.0,
        help="at most so long for each (default: 20)",
    )
    parser.add_argument(
        "--tries",
        type=arguments.whole(1, 10**7),
        default=4000,
        help="pairs of neighbours for each (default: 4000)",
    )
    parser.add_argument(
        "--runs",
        type=arguments.whole(0, 10**8),
        default=1_000_000,
        help="at most so many releases of each data set of the worst pair, for the "
        "lower bound (default: 1000000; fewer where they show enough)",
    )
    parser.add_argument("--seed", type=arguments.seed, default=1)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def command(options: argparse.Namespace) -> Exit:
    """Attack, and end with 1 if a claim does not hold, or a broken variant is not caught."""
    reports = []
    for (name, fault, _), report in _audits(_audited(options), options):
        reports.append({"name": name, **({"what": fault} if fault else {}), **report.plain()})
        if not options.json:
            print(audit_words.in_lines(name, fault, report), flush=True)
    expected = ("broken", "loose") if options.broken else ("holds", "loose")
    as_it_should = all(each["verdict"] in expected for each in reports)
    if options.json:
        print(json.dumps({"audits": reports, "ok": as_it_should}, ensure_ascii=False))
    return Exit.of([as_it_should])


Audited = tuple[str, str, Callable[..., audit.Report]]  # name, what is wrong with it, its audit


def _audits(
    cases: list[Audited], options: argparse.Namespace
) -> Iterator[tuple[Audited, audit.Report]]:
    """Every audit with its report, in order."""
    with executors.make(options.executor) as executor:
        limits = {"tries": options.tries, "runs": options.runs, "seconds": options.seconds}
        futures = (
            [executor.submit(audit_of, seed=options.seed, **limits) for _, _, audit_of in cases]
            if executors.n_workers(executor) > 1
            else None
        )
        for k, audited in enumerate(cases):
            report = futures[k].result() if futures else audited[2](seed=options.seed, **limits)
            yield audited, report


def _audited(options: argparse.Namespace) -> list[Audited]:
    """Collect what to audit: a scenario, all cases, or broken variants, at every given ε."""
    if options.scenario:
        return [_of_scenario(options)]
    cases = [
        (name, fault, variant)
        for name, fault, case in _cases(options)
        for variant in (
            [case.at(Budget(epsilon, case.budget.delta)) for epsilon in options.epsilon]
            if options.epsilon
            else [case]
        )
    ]
    return [(name, fault, partial(audit.audit_case, case)) for name, fault, case in cases]


def _of_scenario(options: argparse.Namespace) -> Audited:
    stated = scenario.from_json(text_of(options.scenario))
    attack = audit_topic.Attack(
        stated.mechanism,
        min(stated.budgets, key=lambda budget: budget.epsilon),
        None if options.small else stated.source,
        options.broken or "",
    )
    return attack.name, attack.fault, partial(audit_topic.finished, attack)


def _cases(options: argparse.Namespace) -> list[tuple[str, str, audit.Case]]:
    """Names, what is wrong with each where something is, and cases."""
    cls = mechanisms.get(options.mechanism) if options.mechanism else None
    if options.broken is None:
        return [
            (member.key, "", case)
            for member in (mechanisms.all() if cls is None else [cls])
            for case in audit.cases_of(member)
        ]
    bugs = broken.bugs() if options.broken == "all" else (broken.get(options.broken),)
    variants = [
        (bug.name, bug.what, bug.case)
        for bug in bugs
        if cls is None or isinstance(bug.case.mechanism, cls)
    ]
    if not variants:
        raise InputError(
            f"This is no broken variant of {brief(options.mechanism)}.", field="broken"
        )
    return variants
