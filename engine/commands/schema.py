"""The command `schema`: the JSON Schema of a document, for programs that read or write it."""

from __future__ import annotations

import argparse
import json
from typing import Any

from engine.exports import schemas


def add(commands: Any) -> None:
    """The command with its options."""
    parser = commands.add_parser("schema", help="JSON Schema of a scenario, a plan or a guarantee "
                                 "card")
    parser.add_argument("name", choices=schemas.SCHEMAS)
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> None:
    """Print the schema."""
    print(json.dumps(schemas.schema(options.name), ensure_ascii=False, indent=1))
