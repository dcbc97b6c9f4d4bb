"""Measure how the code reads: its size, floors, circles, names and lengths.

    python scripts/measure_structure.py [--calls]

Tests are left out. Beside every figure stands what we aim at. `--calls` also opens the first page
and counts the calls between it and the first message that gets noise.
"""

from __future__ import annotations

import ast
import re
import statistics
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
Function = ast.FunctionDef | ast.AsyncFunctionDef

# Words that say how a value came about instead of what it is.
PLACEHOLDERS = frozenset(
    {
        "alike",
        "asked",
        "at",
        "chosen",
        "found",
        "given",
        "heard",
        "kept",
        "least",
        "made",
        "most",
        "now",
        "one",
        "own",
        "place",
        "places",
        "put",
        "quiet",
        "reach",
        "room",
        "said",
        "shown",
        "seen",
        "taken",
        "told",
        "turned",
        "usual",
        "wanted",
        "way",
        "what",
        "which",
        "without",
    }
)
_FUNCTION_NAME = re.compile(r"(?:engine|pages|reproductions)(?:\.\w+)*:\w+")
FIRST, SENDS = "pages/shared/shell.py", "sent"  # the first page; what sends a message


class Figure(NamedTuple):
    """One measured number, or several by package, with what is aimed at."""

    name: str
    value: object
    aim: str = ""


class Module(NamedTuple):
    """A parsed file of the project."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def name(self) -> str:
        dotted = self.path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        return dotted.removesuffix(".__init__")

    @property
    def package(self) -> str:
        """`engine.privacy` for everything in that folder, `pages` for all pages."""
        parts = self.name.split(".")
        return ".".join(parts[:2]) if parts[0] == "engine" else parts[0]


def modules() -> list[Module]:
    """All files of the engine, the reproductions and the pages."""
    files = [
        ROOT / "app.py",
        *sorted((ROOT / "engine").rglob("*.py")),
        *sorted((ROOT / "reproductions").rglob("*.py")),
        *sorted((ROOT / "pages").rglob("*.py")),
    ]
    texts = [(file, file.read_text("utf-8")) for file in files]
    return [Module(file, text, ast.parse(text)) for file, text in texts]


def functions(module: Module) -> Iterator[Function]:
    return (node for node in ast.walk(module.tree) if isinstance(node, Function))


# -- packages ---------------------------------------------------------------------------------


def imports(module: Module) -> set[str]:
    """Modules that are imported when this one runs; what only types need is left out."""
    for_types = {
        id(inner)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    names: set[str] = set()
    for node in ast.walk(module.tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def dependencies(code: list[Module]) -> dict[str, set[str]]:
    """List the packages of the engine that each of them imports."""
    packages = {
        module.package
        for module in code
        if module.package.startswith("engine.") and module.package != "engine.__main__"
    }  # it is a command, not a package
    needs: dict[str, set[str]] = {package: set() for package in sorted(packages)}
    for module in code:
        if module.package in needs:
            targets = {".".join(name.split(".")[:2]) for name in imports(module)}
            needs[module.package] |= (targets & packages) - {module.package}
    return needs


def floors_and_circles(needs: dict[str, set[str]]) -> tuple[int, list[set[str]]]:
    """The number of packages on the longest way down, and packages that import each other."""
    below = {package: _reached(package, needs) for package in needs}
    circles = []
    for package in needs:
        circle = {other for other in below[package] if package in below[other]}
        if len(circle) > 1 and circle not in circles:
            circles.append(circle)

    def height(package: str, path: frozenset[str]) -> int:
        down = needs[package] - path
        return 1 + max(
            (height(other, path | {other}) for other in down if package not in below[other]),
            default=0,
        )

    return max(height(package, frozenset({package})) for package in needs), circles


def _reached(package: str, needs: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = [package]
    while waiting:
        for other in needs[waiting.pop()] - reached:
            reached.add(other)
            waiting.append(other)
    return reached


# -- names, lengths ---------------------------------------------------------------------------


def names(function: Function) -> set[str]:
    """Its own name, its parameters and what it assigns to."""
    arguments = function.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    assigned = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return {function.name.strip("_"), *(parameter.arg for parameter in parameters), *assigned}


def placeholders_per_hundred(code: list[Module]) -> float:
    counts = [
        len(names(function) & PLACEHOLDERS) for module in code for function in functions(module)
    ]
    return 100 * statistics.mean(counts)


def code_lines(function: Function) -> int:
    """Lines of a function without its docstring and blank lines."""
    has_docstring = ast.get_docstring(function) is not None
    body = function.body[1:] if has_docstring else function.body
    if not body:
        return 0
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def import_share(code: list[Module]) -> float:
    """Percent of lines that belong to imports."""
    lines = sum(
        (node.end_lineno or 0) - node.lineno + 1
        for module in code
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )
    return 100 * lines / sum(len(module.text.splitlines()) for module in code)


def statements(code: list[Module]) -> int:
    """Statements without docstrings: a size that no formatter changes."""
    return sum(
        isinstance(node, ast.stmt) and not _is_text(node)
        for module in code
        for node in ast.walk(module.tree)
    )


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def imported_by_string(code: list[Module]) -> int:
    """Calls that import a module by its name, and names of functions: no tool can follow these."""
    nodes = [node for module in code for node in ast.walk(module.tree)]
    calls = sum(
        isinstance(node, ast.Call)
        and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__")
        for node in nodes
    )
    named = sum(
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and bool(_FUNCTION_NAME.fullmatch(node.value))
        for node in nodes
    )
    return calls + named


# -- from a page to a message ---------------------------------------------------------------------


def calls_to_a_message() -> list[str]:
    """Files of the project on the way from a page to the first message that gets noise.

    The first page is opened as in tests, where everything is computed in one process.
    """
    from streamlit.testing.v1 import AppTest

    calls: list[str] = []

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and not calls and frame.f_code.co_name == SENDS:
            while (caller := frame.f_back) is not None:
                file = Path(frame.f_code.co_filename)
                if file.is_relative_to(ROOT / "engine") or file.is_relative_to(ROOT / "pages"):
                    calls.append(file.relative_to(ROOT).as_posix())
                frame = caller

    sys.path.insert(0, str(ROOT))
    threading.setprofile(watch)
    AppTest.from_file(str(ROOT / FIRST), default_timeout=600).run()
    threading.setprofile(None)
    return calls[::-1]


def figures(code: list[Module]) -> list[Figure]:
    """Everything but the calls, which need the dashboard's packages."""
    engine = [module for module in code if module.package.partition(".")[0] == "engine"]
    pages = [module for module in code if module.package in ("pages", "app")]
    lengths = sorted(code_lines(function) for module in engine for function in functions(module))
    floors, circles = floors_and_circles(dependencies(code))
    by_package: Counter[str] = Counter()
    for module in code:
        by_package[module.package] += len(module.text.splitlines())
    return [
        Figure("lines of engine, reproductions and pages", sum(by_package.values())),
        Figure("statements of engine, reproductions and pages", statements(code)),
        Figure("lines by package", dict(by_package.most_common())),
        Figure("floors of the engine", floors, "at most 10"),
        Figure("circles of packages", [sorted(circle) for circle in circles], "none"),
        Figure(
            "placeholder names per 100 functions of the engine",
            round(placeholders_per_hundred(engine), 1),
            "below 8",
        ),
        Figure(
            "placeholder names per 100 functions of the pages",
            round(placeholders_per_hundred(pages), 1),
            "below 8",
        ),
        Figure(
            "lines of a function of the engine: median and 90th percentile",
            (statistics.median(lengths), lengths[int(0.9 * len(lengths))]),
        ),
        Figure("imports, percent of lines", round(import_share(code), 2), "below 4.5"),
        Figure("modules imported by a string", imported_by_string(code), "1, core/discovery.py"),
    ]


def main() -> None:
    measured = figures(modules())
    if "--calls" in sys.argv[1:]:
        calls = calls_to_a_message()
        plumbing = sum(call.startswith("pages/") for call in calls)
        measured += [
            Figure("calls from a page to a message", len(calls), "at most 18"),
            Figure("of these in pages", plumbing, "at most 6"),
        ]
    for figure in measured:
        print(f"{figure.name}: {figure.value}" + (f" (aim: {figure.aim})" if figure.aim else ""))


if __name__ == "__main__":
    main()
