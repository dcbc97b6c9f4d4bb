"""The commands `list` and `schema`: what there is, for people and for programs."""

from __future__ import annotations

import argparse
import json
from typing import Any

from engine.core.registry import parameters
from engine.exports import schemas
from engine.mechanisms import mechanisms
from engine.rates import rates
from engine.sources import sources

_SHELVES = {"sources": sources, "mechanisms": mechanisms, "rates": rates}


def add(commands: Any) -> None:
    """The commands with their options."""
    parser = commands.add_parser("list", help="sources, mechanisms and rates with parameters")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=command)
    parser = commands.add_parser(
        "schema", help="JSON Schema of a scenario, a plan or a guarantee card"
    )
    parser.add_argument("name", choices=schemas.SCHEMAS)
    parser.set_defaults(command=schema)


def schema(options: argparse.Namespace) -> None:
    """Print the JSON Schema of a document, for programs that read or write it."""
    print(json.dumps(schemas.schema(options.name), ensure_ascii=False, indent=1))


def command(options: argparse.Namespace) -> None:
    """Print every shelf with its members and their parameters."""
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
    described = {
        "key": cls.key,
        "label": cls.label,
        "tasks": sorted(cls.tasks),
        "parameters": [p.as_dict() for p in parameters(cls)],
    }
    for fact in ("guarantee", "reference"):
        if hasattr(cls, fact):
            described[fact] = getattr(cls, fact)
    return described
