"""Measure the words in the code: docstrings beside code, and faults of docstrings and tests.

    python scripts/measure_words.py [--list FAULT] [FOLDER …]
    python scripts/measure_words.py --record

Faults:

* RESTATED: an entry under *Parameters* that adds nothing to its name and type. It has no shape,
  and either at most six words without a fact (a number, unit, default, range, order or condition),
  or no word beyond name and type, or a text that stands in the tree more than twice.
* OPENINGS: a docstring that opens with half a sentence.
* TWICE: a field of a class with both an entry under *Parameters* and a comment.
* CLASSES: a class name that several classes have.
* LITERALS: a string of four words or more in an `assert` of a test.

`tests/source/words.json` holds the last figures, and `tests/source/test_words.py` fails if one of
them rises. `--record` stores those that fell.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "tests" / "source" / "words.json"
FOLDERS = ("engine", "pages", "reproductions", "benchmarks")
Owner = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

HALF = re.compile(r"(Whether|That|Where|What|How|Which|Who|Of|With|By|For|From|As|At|In|To)\b")
SHAPE = re.compile(r"\([^()]*,[^()]*\)|\barray\b")
FACT = re.compile(
    r"\d|default|else|empty|None|NaN|if |unless|where |from |at (?:most|least)|unit|only|must|per "
    r"|share|ratio|in the order|sorted|increasing",
    re.IGNORECASE,
)
# Of a formula, such as λ, N or b_i.
SYMBOL = re.compile(r"[α-ωΑ-Ωℓ]|\b[A-Z]\b|\b\w_\w\b|^\w(?=[.,;])")
LETTERS = dict(
    alpha="α", beta="β", gamma="γ", delta="δ", epsilon="ε", eta="η", mu="μ", rho="ρ", sigma="σ"
)
PARAMETERS = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
# Files whose business is words.
OF_WORDS = ("test_wording.py", "test_banned_words.py", "test_words.py", "test_find_words.py")


class Entry(NamedTuple):
    """An entry under *Parameters*."""

    name: str
    kind: str
    text: str


class Docstring(NamedTuple):
    """A docstring with its owner, and the lines of its file."""

    where: str
    owner: Owner
    text: str
    lines: list[str]


class Measured(NamedTuple):
    """Figures of a few folders, and the places of each fault."""

    code: int  # lines with code: no blank, comment or docstring
    docstrings: int  # lines
    entries: int
    faults: dict[str, list[str]]

    def figures(self) -> dict[str, float]:
        """The ratio of docstrings to code, in hundredths, and the number of each fault."""
        counts = {name: len(places) for name, places in self.faults.items()}
        return {"RATIO": round(self.docstrings / max(self.code, 1), 2), **counts}


def words(text: str) -> set[str]:
    """Lower-case words, those of `CamelCase` and `snake_case` apart."""
    apart = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower().replace("_", " ")
    return set(re.findall(r"[a-z]+", apart))


FILLER = words(
    "a an the of to in on at is are be it its this that which for with or and as by all any each "
    "every how many what number"
)


def entries(doc: str) -> Iterator[Entry]:
    """Yield the entries under *Parameters*."""
    section = PARAMETERS.search(doc)
    for part in re.split(r"^(?=\S)", section[1], flags=re.MULTILINE) if section else []:
        if part.strip():
            head, *rest = part.rstrip().splitlines()
            name, _, kind = head.partition(":")
            text = " ".join(line.strip() for line in rest)
            yield Entry(name.strip(), kind.strip(), text)


def restates(entry: Entry, often: Counter[str]) -> bool:
    """True if an entry adds nothing to the name and type in the signature."""
    if SHAPE.search(entry.kind):
        return False
    symbols = set(SYMBOL.findall(re.sub(r"^A ", "", entry.text))) - _spelled(entry.name)
    is_short = len(entry.text.split()) <= 6 and not FACT.search(entry.text) and not symbols
    is_repeated = bool(entry.text) and often[entry.text] > 2
    adds = words(entry.text) - FILLER - words(f"{entry.name} {entry.kind}")
    return is_short or is_repeated or not (adds or symbols)


def _spelled(name: str) -> set[str]:
    """Greek letters that a name spells out."""
    return {letter for spelled, letter in LETTERS.items() if spelled in name}


def measure(*folders: Path) -> Measured:
    """Measure the Python files of folders and, in the first one's parent, the tests."""
    found: list[Docstring] = []
    classes: dict[str, list[str]] = {}
    code = doc_lines = 0
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        lines = path.read_text("utf-8").splitlines()
        tree = ast.parse("\n".join(lines))
        inside: set[int] = set()
        for node in ast.walk(tree):
            if not isinstance(node, Owner):
                continue
            where = f"{_short(path)}:{getattr(node, 'lineno', 1)} {getattr(node, 'name', '')}"
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append(where)
            if doc := ast.get_docstring(node):
                found.append(Docstring(where, node, doc, lines))
                inside |= {*range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)}
        doc_lines += len(inside)
        code += sum(
            bool(line.strip()) and not line.lstrip().startswith("#") and number not in inside
            for number, line in enumerate(lines, 1)
        )
    documented = [(doc.where, entry) for doc in found for entry in entries(doc.text)]
    often = Counter(entry.text for _, entry in documented)
    faults = {
        "RESTATED": [
            f"{where}: {entry.name}: {entry.text}"
            for where, entry in documented
            if restates(entry, often)
        ],
        "OPENINGS": [
            f"{doc.where}: {doc.text.splitlines()[0]}" for doc in found if HALF.match(doc.text)
        ],
        "TWICE": [place for doc in found for place in twice(doc)],
        "CLASSES": [
            f"{name}: {'; '.join(owners)}" for name, owners in classes.items() if len(owners) > 1
        ],
        "LITERALS": list(literals(folders[0].parent / "tests")),
    }
    return Measured(code, doc_lines, len(documented), faults)


def twice(doc: Docstring) -> Iterator[str]:
    """Yield the fields of a class with both an entry and a comment."""
    if isinstance(doc.owner, ast.ClassDef):
        named = {name for entry in entries(doc.text) for name in entry.name.split(", ")}
        for field in doc.owner.body:
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and field.target.id in named
                and "  #" in doc.lines[field.lineno - 1]
            ):
                yield f"{doc.where}.{field.target.id}"


def literals(folder: Path) -> Iterator[str]:
    """Yield the strings of four words or more in asserts below a folder of tests."""
    for path in sorted(folder.rglob("*.py")):
        if path.name in OF_WORDS:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Assert):
                for part in ast.walk(node.test):
                    text = part.value if isinstance(part, ast.Constant) else None
                    if isinstance(text, str) and len(text.split()) >= 4:
                        yield f"{_short(path)}:{part.lineno}: {text[:60]!r}"


def _short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()


def risen(figures: dict[str, float], record: dict[str, float]) -> list[str]:
    """Sentences about the figures that are above their record."""
    return [
        f"{name} rose from {record[name]:g} to {figure:g}; "
        f"`python scripts/measure_words.py --list {name}` names the places"
        for name, figure in figures.items()
        if figure > record[name]
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--list", metavar="FAULT", help="print the places of one fault")
    parser.add_argument("--record", action="store_true", help="store the figures that fell")
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    asked = parser.parse_args()
    measured = measure(
        *(Path(name).resolve() for name in asked.folders or map(ROOT.joinpath, FOLDERS))
    )
    figures = measured.figures()
    if asked.record:
        record = json.loads(RECORD.read_text("utf-8"))
        lower = {name: min(figure, record[name]) for name, figure in figures.items()}
        RECORD.write_text(json.dumps(lower, indent=2) + "\n", "utf-8")
        print(*risen(figures, record), sep="\n")
        return int(bool(risen(figures, record)))
    print(f"code {measured.code}, docstrings {measured.docstrings}; entries {measured.entries}")
    print(", ".join(f"{name} {figure:g}" for name, figure in figures.items()))
    for place in measured.faults.get(asked.list or "", ()):
        print(place)
    return 0


if __name__ == "__main__":
    sys.exit(main())
