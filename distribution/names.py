"""Names of the project's folder as names of its distribution: `engine.core` becomes
`privacy_curves.engine.core`.

The folder keeps `engine`, `pages` and `data` at its top, where `streamlit run app.py` and
`python -m engine` find them. An installation may not: such names belong to nobody, and two
distributions that both brought an `engine` would write into one folder. So the wheel has everything
below `privacy_curves`, and this module writes the sources for it. What is looked at:

* import statements, in the syntax tree;
* strings that are the dotted name of one of our modules, such as `Registry("engine.rates")` and
  the `module:function` of a job;
* lines of strings and documents that begin as an import of ours: code that is shown to people;
* the command `python -m engine`, which is called `privacy-curves` there.

Lines keep their numbers. What no rule covers shows in the tests, which import every module of the
wheel where no `engine` can be found.
"""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "privacy_curves"
FOLDERS = ("engine", "pages", "reproductions")  # of code
# All that runs, as in the image, but `reproductions`: docs/decisions/018-reproductions.md.
TAKEN = ("app.py", ".streamlit", "data", "docs", "engine", "pages")
# "exhibits": the stored results of reproductions.
LEFT = ("__pycache__", "*.pyc", "secrets.toml", "history.md", "decisions", "pictures", "exhibits")
_TEXTS = {".md", ".jinja", ".html"}
# With the line break that it may have in a paragraph, which then stands before its new name.
_COMMAND = re.compile(r"(?:\.venv/bin/)?python(\s+)-m engine\b")
_DOTTED = re.compile(rf"(?:{'|'.join(FOLDERS)})(?:\.\w+)+")
_OF_STRING = re.compile(rf"({_DOTTED.pattern})(?::\w+)?")
# At the start of a line, of a string or of a line within a string, and after a doctest's prompt.
_LINE_BEGINS = r"(^|[\"'\n]|\\n)([ \t]*(?:(?:>>>|\.\.\.) )?)"
_SHOWN_IMPORT = re.compile(rf"{_LINE_BEGINS}from ({_DOTTED.pattern}|engine|pages)(?= import\b)")
_SHOWN_INTERFACE = re.compile(rf"{_LINE_BEGINS}from engine import api as (?=\w)")


@dataclass(frozen=True)
class _Edit:
    """Bytes of a source, from `start` to `end`, and what stands there in the distribution."""

    start: int
    end: int
    text: bytes


class Names:
    """Writes sources and documents for the distribution.

    Parameters
    ----------
    root : Path
        The project's folder, in which modules are looked for.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def python(self, source: str) -> str:
        r"""A module as it stands in the distribution.

        Parameters
        ----------
        source : str
            As it stands in the folder.

        Raises
        ------
        ValueError
            If it has `import engine` without `as`: what that binds has no counterpart.

        Examples
        --------
        >>> Names(Path(".")).python("from engine.core import errors\n")
        'from privacy_curves.engine.core import errors\n'
        """
        encoded = source.encode()
        starts = [0]
        for line in encoded.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        edits = self._edits(ast.parse(source), encoded, starts)
        for edit in sorted(edits, key=lambda edit: -edit.start):
            encoded = encoded[: edit.start] + edit.text + encoded[edit.end :]
        return encoded.decode()

    def text(self, document: str) -> str:
        """A document or a template: commands, and imports in the code that it shows."""
        document = _COMMAND.sub(_as_installed, document)
        document = _SHOWN_INTERFACE.sub(rf"\1\2import {PACKAGE} as ", document)
        return _SHOWN_IMPORT.sub(rf"\1\2from {PACKAGE}.\3", document)

    def _edits(self, tree: ast.AST, source: bytes, starts: list[int]) -> Iterator[_Edit]:
        for node in _outside_of_strings(tree):
            if isinstance(node, ast.ImportFrom) and not node.level:
                name = (node.module or "").encode()
                at = source.index(name, starts[node.lineno - 1] + node.col_offset + len("from"))
                yield from _below_package(name.decode(), at)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.asname is None and alias.name.partition(".")[0] in FOLDERS:
                        raise ValueError(f"line {node.lineno}: write “from {alias.name} import …”")
                    yield from _below_package(
                        alias.name, starts[alias.lineno - 1] + alias.col_offset
                    )
            elif isinstance(node, ast.JoinedStr) or (
                isinstance(node, ast.Constant) and isinstance(node.value, str)
            ):
                start = starts[node.lineno - 1] + node.col_offset
                end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
                written = source[start:end].decode()
                changed = self._string(node, self.text(written))
                if changed != written:
                    yield _Edit(start, end, changed.encode())

    def _string(self, node: ast.JoinedStr | ast.Constant, written: str) -> str:
        """A string as it is written; that of a module begins with the package."""
        first = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else node
        value = first.value if isinstance(first, ast.Constant) else None
        if not isinstance(value, str):
            return written
        whole = _OF_STRING.fullmatch(value)
        begins = _DOTTED.match(value) if isinstance(node, ast.JoinedStr) else None
        if (whole and self._is_module(whole[1])) or (begins and self._is_module(begins[0])):
            return re.sub(r"[\"']+", lambda quote: f"{quote[0]}{PACKAGE}.", written, count=1)
        return written

    def _is_module(self, name: str) -> bool:
        path = self._root.joinpath(*name.split("."))
        return path.is_dir() or path.with_suffix(".py").is_file()


def _outside_of_strings(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but those within formatted strings, which are looked at as a whole."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        if not isinstance(node, ast.JoinedStr):
            left.extend(ast.iter_child_nodes(node))


def _below_package(name: str, at: int) -> Iterator[_Edit]:
    if name.partition(".")[0] in FOLDERS:
        yield _Edit(at, at, f"{PACKAGE}.".encode())


def _as_installed(command: re.Match[str]) -> str:
    """The command as it is installed, on a new line where ours goes over the end of one."""
    return ("\n" if "\n" in command[1] else "") + "privacy-curves"


def lay_out(root: Path, target: Path) -> Path:
    """Write the package that the wheel holds.

    Parameters
    ----------
    root : Path
        The project's folder, or that of a source distribution.
    target : Path
        An existing folder, in which the package is made.

    Returns
    -------
    Path
        The package.
    """
    names, package = Names(root), target / PACKAGE
    ignore = shutil.ignore_patterns(*LEFT)
    shutil.copytree(root / "distribution" / "package", package, ignore=ignore)
    for part in TAKEN:
        if (root / part).is_dir():
            shutil.copytree(root / part, package / part, ignore=ignore)
        else:
            shutil.copy(root / part, package / part)
    for path in sorted(package.rglob("*")):
        if path.is_relative_to(package / "data"):  # results and readings, as they were stored
            continue
        if path.suffix == ".py" or path.suffix in _TEXTS:
            text = path.read_text("utf-8")
            written = names.python(text) if path.suffix == ".py" else names.text(text)
            if written != text:
                path.write_text(written, "utf-8", newline="\n")
    return package
