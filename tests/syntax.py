"""What the files of a program import, call and say: each is read once, for all tests that ask."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Syntax:
    """What tests ask about a file. The tree itself is not kept: it has a thousand objects for each."""

    imported: frozenset[str]  # modules and names by their dotted paths, within functions too
    imported_for_types: frozenset[str]  # of these, what is imported for types alone
    called: frozenset[
        str
    ]  # names of functions, but for those of regular expressions, and of keywords
    strings: frozenset[str]


@cache
def syntax(file: Path) -> Syntax:
    nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    for_types = {
        id(part)
        for node in nodes
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for part in ast.walk(node)
    }
    to_run = {name for node in imports if id(node) not in for_types for name in _imported(node)}
    imported = {name for node in imports for name in _imported(node)}
    return Syntax(
        frozenset(imported),
        frozenset(imported - to_run),
        frozenset(name for node in nodes if isinstance(node, ast.Call) for name in _called(node)),
        frozenset(
            node.value
            for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ),
    )


def _imported(node):
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif node.module:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _called(node):
    function = node.func
    if not (isinstance(function, ast.Attribute) and getattr(function.value, "id", "") == "re"):
        yield getattr(function, "attr", getattr(function, "id", ""))
    yield from (str(keyword.arg) for keyword in node.keywords)
