"""The command `plan`: a scenario solved for one size, or for the budget, that reaches an error."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.commands import arguments
from engine.core.entrance import json_of, text_of
from engine.core.errors import InputError
from engine.language.grammar import plain_text
from engine.language.odds_words import delta_concern
from engine.privacy.failure import Delta
from engine.release import request as release_request
from engine.running.steps import result_of
from engine.simulation import scenario
from engine.simulation.experiments import Cell, Run
from engine.topics.planning import answer as planning_topic
from engine.topics.planning import periods, power
from engine.topics.planning import words as planning_words


def add(commands: Any) -> None:
    """The command with its options."""
    parser = commands.add_parser(
        "plan", help="solve a scenario for the budget, or a size, that reaches a target error"
    )
    parser.add_argument(
        "file",
        help="scenario file, or a request to publish a file of your own, of which the stated facts "
        "and the number of people are used; or - for standard input",
    )
    parser.add_argument(
        "--unknown",
        choices=planning_topic.DIALS,
        default="epsilon",
        help="what to solve for (default: epsilon)",
    )
    parser.add_argument(
        "--target",
        type=arguments.number(1e-12, 1e12),
        default=1.0,
        help="error to reach, in the unit of the values",
    )
    parser.add_argument(
        "--difference",
        type=float,
        metavar="D",
        help="instead: how many people "
        "each of two groups needs to show this difference, in the unit of the "
        "values; needs --at",
    )
    parser.add_argument(
        "--at", type=float, metavar="T", help="the time of that difference, in the unit of times"
    )
    parser.add_argument(
        "--power",
        type=float,
        default=power.DEFAULT_POWER,
        metavar="P",
        help="probability of showing it (default: 0.8)",
    )
    parser.add_argument(
        "--periods",
        type=int,
        metavar="T",
        help="instead: what each of T releases of the same people may spend of the scenario's "
        "budget, its error, and that of fewer releases",
    )
    parser.add_argument(
        "--stays",
        type=int,
        metavar="S",
        help="in how many of the periods a person is at most (default: all)",
    )
    parser.add_argument(
        "--curve",
        default="",
        metavar="NAME",
        help='the one of several curves whose error counts, such as "95 %%" of '
        "percentile curves (default: all together)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=command)


def _first_of_axes(stated: scenario.Scenario) -> list[str]:
    """Name the value of each axis of a scenario that is planned for."""
    return [
        f"The plan takes {values[0]}, the first of {len(values)} values of the axis {path}."
        for path, values in stated.axes.items()
        if len(values) > 1
    ]


def _is_of_own_file(text: str) -> bool:
    plain = json_of(text, "scenario")
    return isinstance(plain, dict) and "data" in plain


def _of_own_file(text: str, folder: Path) -> Cell:
    """The people and the facts of a request; refuse one for several groups."""
    first, *others = release_request.from_json(text, folder)
    if others:
        raise InputError(
            "A plan is about one release.",
            field="group",
            hint='Name one group with "group" in “data”.',
        )
    return Cell({}, first.source, first.mechanism, (first.budget,))


def _difference(options: argparse.Namespace, cell: Cell, seed: int) -> None:
    """Print how many people two groups need; refuse if the time is not stated."""
    if options.at is None:
        raise InputError(
            "State when the difference is looked for.",
            field="at",
            hint="For example --difference 2 --at 12.",
        )
    plan = power.people_for_difference(
        cell.source,
        cell.mechanism,
        cell.budgets[0],
        options.difference,
        options.at,
        options.power,
        seed,
    )
    if options.json:
        sizes = [
            {
                "people": size.people,
                "power": size.power,
                "error": size.error if math.isfinite(size.error) else None,
            }
            for size in plan.sizes
        ]
        print(json.dumps({**asdict(plan), "sizes": sizes}, ensure_ascii=False, allow_nan=False))
        return
    delta = Delta.of(cell.budgets[0].delta, plan.people or cell.source.sizes.n_curves)
    print(
        *power.sentences(plan, cell.source.facts, cell.budgets[0]),
        *filter(None, [plain_text(delta_concern(delta))]),
        sep="\n",
    )


def _over_time(
    options: argparse.Namespace, setting: planning_topic.PlannedStudy, seed: int
) -> None:
    """Print what releases over time may spend, and their errors."""
    plan = result_of(periods.planned(setting, options.periods, options.stays, seed))
    if options.json:
        print(json.dumps(periods.plain(plan), ensure_ascii=False, allow_nan=False))
        return
    print(*periods.sentences(plan, setting.source.facts), sep="\n")


def command(options: argparse.Namespace) -> None:
    """Print the answer, as sentences or as JSON."""
    text = text_of(options.file)
    if _is_of_own_file(text):
        folder = Path.cwd() if options.file == "-" else Path(options.file).parent
        cell, seed, states_delta = _of_own_file(text, folder), Run().seed, True
    else:
        stated = scenario.from_json(text)
        cell, seed, states_delta = stated.cells()[0], stated.run.seed, stated.states_delta
        if not options.json:
            print(*_first_of_axes(stated), sep="\n", end="\n" * bool(stated.axes))
    if len(set(cell.budgets)) != 1:
        raise InputError(
            "A plan has one budget for all sites; got several.",
            field="budgets",
            hint="Give the same ε and δ to all of them.",
        )
    budget = cell.budgets[0]
    if options.difference is not None:
        _difference(options, cell, seed)
        return
    delta = budget.delta if states_delta else None  # else it follows the people
    setting = planning_topic.PlannedStudy.of(
        cell.source, cell.mechanism, budget.epsilon, delta, options.curve
    )
    if options.periods is not None:
        _over_time(options, setting, seed)
        return
    answer = result_of(planning_topic.plan(setting, options.unknown, options.target, seed))
    if options.json:
        print(json.dumps(planning_topic.plain(answer), ensure_ascii=False))
        return
    facts = cell.source.facts
    if facts.is_upload and not options.json:
        print(
            "Planned with simulated people who have the stated facts; no value of the file is used."
        )
    for line in (
        planning_words.question(setting, options.unknown, options.target, facts),
        planning_words.verdict(answer, facts),
        *planning_words.fixes(answer, facts),
        *filter(
            None,
            [
                planning_words.broken_promise(answer),
                delta_concern(answer.reached.setting.stated_delta),
            ],
        ),
    ):
        print(plain_text(line))
    for step in answer.steps:
        print(plain_text("  " + ": ".join(planning_words.step(step, options.unknown, facts))))
