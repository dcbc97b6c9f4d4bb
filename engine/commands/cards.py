"""Commands about what is published: guarantee cards and the files beside them.

Asking, comparing and drawing synthetic people need no data, no ledger and no charge: all is
computed from the cards alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from engine.answers import curve_questions
from engine.answers.card import comparison, is_doubtful, read
from engine.answers.groups import GroupComparison
from engine.answers.reply import DRAWN_OTHERWISE
from engine.answers.survival import card as counts_card
from engine.answers.survival import survival_questions
from engine.answers.synthetic import as_csv, synthetic_people, what_they_keep
from engine.commands.exit_codes import Exit
from engine.core.entrance import bytes_of, json_of, text_of
from engine.core.errors import InputError, brief
from engine.core.registry import Parameter, Registry
from engine.core.types import Budget
from engine.language import quality
from engine.release import deployment_record
from engine.release.checked_files import MAX_BYTES, check, unpacked
from engine.release.ledger import Ledger
from engine.topics.mean.words import watermark


def add(commands: Any) -> None:
    """The five commands with their options."""
    for add_command in (_add_ask, _add_check, _add_compare, _add_record, _add_synthetic):
        add_command(commands)


# -- `ask-card CARD`: what a released curve answers ------------------------------------------------


def _add_ask(commands: Any) -> None:
    parser = commands.add_parser(
        "ask-card",
        help="ask a released curve, from its guarantee card alone",
        description="Answers of a released curve, from its guarantee card alone. Asking costs no "
        "privacy: nothing is charged.",
        epilog=f"Questions and their options: {_usage(curve_questions)}; about survival: "
        f"{_usage(survival_questions)}.",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--together",
        action="store_true",
        help="answers that all hold at once with 95 %%, off the simultaneous band",
    )
    parser.add_argument(
        "card", help="the file guarantee.json of a release, or - for standard input"
    )
    parser.add_argument(
        "question",
        nargs="?",
        help="what is asked; without it, every question with its default times and level",
    )
    parser.add_argument(
        "words",
        nargs=argparse.REMAINDER,
        metavar="--OPTION VALUE",
        help="of the question, such as --time 13",
    )
    parser.set_defaults(command=ask)


def _usage(registry: Registry) -> str:
    """List the questions of a registry with their options."""
    return "; ".join(
        " ".join([cls.key, *(f"--{p.name} {'|'.join(p.choices) or 'X'}" for p in cls.parameters())])
        for cls in registry.all()
    ).replace("%", "%%")


def ask(options: argparse.Namespace) -> None:
    """Print the answer, or those of all questions."""
    card = json_of(text_of(options.card), "card")
    is_of_counts = counts_card.is_of_counts(card)
    registry = survival_questions if is_of_counts else curve_questions
    released: Any = counts_card.read(card) if is_of_counts else read(card)
    if options.together and is_of_counts:
        raise InputError(
            "Answers about survival hold one by one.",
            field="together",
            hint="The band of the release holds at all times at once.",
        )
    released = released.together() if options.together else released
    if options.question is None:
        questions = [cls() for cls in registry.all()]
    else:
        questions = [
            registry.build(
                options.question,
                _options_of(options.words, registry.get(options.question).parameters()),
            )
        ]
    answers = {question.key: question.answer(released) for question in questions}
    if options.json:
        print(
            json.dumps(
                {key: answer.plain() for key, answer in answers.items()},
                ensure_ascii=False,
                allow_nan=False,
            )
        )
        return
    if is_doubtful(card):
        print(quality.DOUBTFUL)
    for question, answer in zip(questions, answers.values(), strict=True):
        print(f"{question.label}: {answer.text}")
    for note in dict.fromkeys(note for answer in answers.values() for note in answer.notes):
        print(note)
    if not is_of_counts:
        print(DRAWN_OTHERWISE)


def _options_of(words: list[str], known: tuple[Parameter, ...]) -> dict[str, Any]:
    """Options as parameters: pairs of `--name value`."""
    kinds, values = {p.name: p.kind for p in known}, dict[str, Any]()
    if len(words) % 2:
        raise InputError(
            "Each option needs a value.", field="question", hint="For example --time 13."
        )
    for name, text in zip(words[::2], words[1::2], strict=True):
        if not name.startswith("--"):
            raise InputError(
                f"Options begin with two dashes; got {brief(name)}.",
                field="question",
                hint=f"It has {', '.join(kinds)}.",
            )
        key = name[2:]
        values[key] = _number(text, key) if kinds.get(key) is float else text
    return values


def _number(text: str, field: str) -> float:
    try:
        return float(text[:100])
    except ValueError:
        raise InputError(f"“{field}” must be a number; got {brief(text)}.", field=field) from None


# -- `check-files FILE …`: whether published files are what was released ---------------------------


_HOLDS = {True: "right", False: "WRONG", None: "not known"}


def _add_check(commands: Any) -> None:
    parser = commands.add_parser(
        "check-files",
        help="check published files against each other and the ledger",
        description="Compares the files of a release with what the ledger makes again, byte for "
        "byte, and with each other. Ends with 1 if something is wrong, and with 3 if something is "
        "not known, as without the ledger.",
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="the .zip of a release, or its files with guarantee.json among them",
    )
    parser.add_argument("--ledger", metavar="PATH", help="the ledger (default: that of releases)")
    parser.set_defaults(command=check_files)


def check_files(options: argparse.Namespace) -> Exit:
    """Print what can be told."""
    folders = unpacked({PurePath(path).name: bytes_of(path, MAX_BYTES) for path in options.files})
    found: list[bool | None] = []
    for folder, files in folders.items():
        for finding in check(files, Ledger(options.ledger)):
            found.append(finding.holds)
            print(": ".join(filter(None, (folder, _HOLDS[finding.holds], finding.text))))
    return Exit.of(found)


# -- `compare-cards CARD CARD …`: do released groups differ ----------------------------------------


def _add_compare(commands: Any) -> None:
    parser = commands.add_parser(
        "compare-cards",
        help="compare released groups of people, from their guarantee cards alone",
        description="Compares the released mean curves of groups of which nobody is in two: where "
        "they differ, by how much, and one test. Comparing costs no privacy: nothing is charged.",
    )
    parser.add_argument(
        "cards", nargs="+", metavar="CARD", help="the files guarantee.json of two or more releases"
    )
    parser.add_argument(
        "--disjoint",
        action="store_true",
        help="states that nobody is in two of the groups; cards of groups that "
        "were published together state it themselves",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=compare)


def compare(options: argparse.Namespace) -> None:
    """Print the comparison."""
    compared = comparison(
        [json_of(text_of(path), "card") for path in options.cards], options.disjoint
    )
    if not options.json:
        print("\n".join(compared.sentences()))
        return
    print(
        json.dumps(
            {
                "doubtful": compared.doubtful,
                "untested": compared.untested,
                **(
                    {}
                    if compared.doubtful
                    else {
                        "p": compared.p,
                        "p_anywhere": compared.p_anywhere,
                        "p_broad": compared.p_broad,
                    }
                ),
                "pairs": [
                    {
                        "groups": [compared.names[first], compared.names[second]],
                        **_differences(compared, first, second),
                    }
                    for first, second in compared.pairs
                ],
            },
            ensure_ascii=False,
            allow_nan=False,
        )
    )


def _differences(compared: GroupComparison, first: int, second: int) -> dict[str, Any]:
    """The differences of two groups; the average alone if no level holds for them."""
    found = compared.differences(first, second)
    return {"average": found.average} if compared.is_doubted(first, second) else asdict(found)


# -- `record CARD`: for the registry of deployments ------------------------------------------------


def _add_record(commands: Any) -> None:
    parser = commands.add_parser(
        "record",
        help="a record for the registry of deployments, from a guarantee card",
        description="Writes the YAML of one release for the registry of deployments of "
        "differential privacy, as a draft. What no card knows is asked.",
    )
    parser.add_argument(
        "card", help="the file guarantee.json of a release, or - for standard input"
    )
    parser.add_argument("--curator", required=True, help="who holds the data")
    parser.add_argument("--use", required=True, help="what the release is meant for")
    parser.add_argument("--region", required=True, help="where its people are")
    parser.add_argument("--why", default="", help="why this ε was chosen")
    parser.add_argument("--address", default="", help="where the guarantee card is published")
    parser.add_argument("--author", default="", help="who writes the record")
    parser.add_argument("--output", type=Path, help="file to write; without it, standard output")
    parser.set_defaults(command=record)


def record(options: argparse.Namespace) -> None:
    """Write the record, and say which keys of the registry it leaves empty."""
    answers = deployment_record.Answers(
        options.curator, options.use, options.region, options.why, options.address, options.author
    )
    made = deployment_record.record(json_of(text_of(options.card), "card"), answers)
    text = deployment_record.as_yaml(made)
    if options.output is None:
        print(text, end="")
    else:
        options.output.write_text(text, encoding="utf-8")
    print(f"Left empty: {', '.join(deployment_record.left_empty(made))}.", file=sys.stderr)


# -- `synthetic CARD`: synthetic people ------------------------------------------------------------


_LONGEST_NAME = 80


def _add_synthetic(commands: Any) -> None:
    parser = commands.add_parser(
        "synthetic",
        help="synthetic people, drawn from a guarantee card alone",
        description="Draws people who do not exist from a released mean curve and from how people "
        "vary around it. Drawing costs no privacy: nothing is charged.",
        epilog=what_they_keep(),
    )
    parser.add_argument(
        "card", help="the file guarantee.json of a release, or - for standard input"
    )
    parser.add_argument("--people", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument(
        "--observations", type=int, help="of each (default: as most people of the data have)"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="of chance; nothing of the data is in it (default: 1)"
    )
    parser.add_argument("--output", type=Path, help="file to write; without it, standard output")
    parser.set_defaults(command=synthetic)


def synthetic(options: argparse.Namespace) -> None:
    """Write the synthetic people."""
    card = json_of(text_of(options.card), "card")
    curve = read(card)
    if options.seed < 0:
        raise InputError("The seed must be 0 or more.", field="seed")
    people = synthetic_people(
        curve, options.people, np.random.default_rng(options.seed), options.observations
    )
    text = as_csv(people, curve, f"{_card_watermark(card)} Seed {options.seed}.")
    if options.output is None:
        print(text, end="")
    else:
        options.output.write_text(text, encoding="utf-8")
        print(f"{options.people:,} synthetic people: {options.output}")


def _card_watermark(card: Mapping[str, Any]) -> str:
    """The watermark of people drawn from a card, whose guarantee it must have, with its name."""
    try:
        budget = Budget(float(card["guarantee"]["epsilon"]), float(card["guarantee"]["delta"]))
        name = str(card["release"]["name"])[:_LONGEST_NAME]
    except (KeyError, TypeError, ValueError):
        raise InputError("This card has no name or no guarantee.", field="card") from None
    return watermark(name, budget)
