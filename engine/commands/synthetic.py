"""`python -m engine synthetic CARD`: synthetic people, drawn from a guarantee card alone.

No data, no ledger and no charge: all is computed from what is published.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from engine.answers.card import read
from engine.answers.synthetic import as_csv, synthetic_people, what_they_keep
from engine.core.entrance import json_of, text_of
from engine.core.errors import InputError
from engine.core.types import Budget
from engine.topics.mean.words import watermark

_LONGEST_NAME = 80


def add(commands: Any) -> None:
    """The command with its options."""
    parser = commands.add_parser(
        "synthetic", help="synthetic people, drawn from a guarantee card alone",
        description="Draws people who do not exist from a released mean curve and from how people "
        "vary around it. Drawing costs no privacy: nothing is charged.",
        epilog=what_they_keep())
    parser.add_argument("card", help="the file guarantee.json of a release, or - for standard "
                        "input")
    parser.add_argument("--people", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument("--observations", type=int, help="of each (default: as most people of the "
                        "data have)")
    parser.add_argument("--seed", type=int, default=1, help="of chance; nothing of the data is in "
                        "it (default: 1)")
    parser.add_argument("--output", type=Path, help="file to write; without it, standard output")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> None:
    """Write the synthetic people.

    Raises
    ------
    InputError
        If the card cannot be read, or does not tell how people differ.
    """
    card = json_of(text_of(options.card), "card")
    curve = read(card)
    if options.seed < 0:
        raise InputError("The seed must be 0 or more.", field="seed")
    people = synthetic_people(curve, options.people, np.random.default_rng(options.seed),
                              options.observations)
    text = as_csv(people, curve, f"{card_watermark(card)} Seed {options.seed}.")
    if options.output is None:
        print(text, end="")
    else:
        options.output.write_text(text, encoding="utf-8")
        print(f"{options.people:,} synthetic people: {options.output}")


def card_watermark(card: Mapping[str, Any]) -> str:
    """The watermark of people drawn from a card, with its name and guarantee.

    Raises
    ------
    InputError
        If the card has no guarantee.
    """
    try:
        budget = Budget(float(card["guarantee"]["epsilon"]), float(card["guarantee"]["delta"]))
        name = str(card["release"]["name"])[:_LONGEST_NAME]
    except (KeyError, TypeError, ValueError):
        raise InputError("This card has no name or no guarantee.", field="card") from None
    return watermark(name, budget)
