"""`python -m engine compare-cards CARD CARD …`: do released groups differ, from their cards alone.

No data, no ledger and no charge: all is computed from what is published.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from engine.answers.card import comparison
from engine.core.entrance import json_of, text_of


def add(commands: Any) -> None:
    """The command with its options."""
    parser = commands.add_parser(
        "compare-cards", help="compare released groups of people, from their guarantee cards alone",
        description="Compares the released mean curves of groups of which nobody is in two: where "
        "they differ, by how much, and one test. Comparing costs no privacy: nothing is charged.")
    parser.add_argument("cards", nargs="+", metavar="CARD",
                        help="the files guarantee.json of two or more releases")
    parser.add_argument("--disjoint", action="store_true",
                        help="states that nobody is in two of the groups; cards of groups that "
                        "were published together state it themselves")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> None:
    """Print the comparison.

    Raises
    ------
    InputError
        If a card cannot be read, or the groups cannot be compared.
    """
    compared = comparison([json_of(text_of(path), "card") for path in options.cards],
                          options.disjoint)
    if not options.json:
        print("\n".join(compared.sentences()))
        return
    print(json.dumps({
        "p": compared.p, "p_anywhere": compared.p_anywhere, "p_broad": compared.p_broad,
        "pairs": [{"groups": [compared.names[first], compared.names[second]],
                   **asdict(compared.differences(first, second))}
                  for first, second in compared.pairs]}, ensure_ascii=False, allow_nan=False))
