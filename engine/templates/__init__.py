"""Every HTML document is a template of this folder, and whatever is filled in is escaped.

A template asks for all of its values by name; one that is missing is a fault, not an empty place.
Markup gets into a document by `|safe` alone: only for drawings that escape their own words.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from engine import __version__

_MARKED = re.compile(r"(?<![\\\w*])(\*\*?)(?=[^\s*])(.+?)(?<=[^\s*\\])\1()(?![\w*])")
_ESCAPED = re.compile(r"\\([\\`*_\[\]<>$~:])")


def render(template: str, **values: object) -> str:
    """A whole document from a template of this folder, such as "report"; values are escaped."""
    return environment.get_template(f"{template}.html.jinja").render(values)


def script(name: str) -> str:
    """Return a script of this folder, such as "check"."""
    return (Path(__file__).parent / f"{name}.js").read_text("utf-8")


def digest(text: str) -> str:
    """Compute the digest by which a policy of content knows a script or style."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _plain(words: str) -> str:
    r"""Words as they were before they were escaped for Markdown.

    >>> _plain(r"a\_b")
    'a_b'
    """
    return _ESCAPED.sub(r"\1", words)


def split_marked(words: str) -> list[tuple[str, str]]:
    """Plain words in turn, each with its mark in Markdown: "**" for bold, "*" for italic, or none.

    Examples
    --------
    >>> split_marked("**Not** covered")
    [('', ''), ('Not', '**'), (' covered', '')]
    """
    pieces = ["", *_MARKED.split(words)]  # mark and words in turn: the last group is no mark
    return [(_plain(text), mark) for mark, text in zip(pieces[::2], pieces[1::2], strict=True)]


environment = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    auto_reload=False,
    trim_blocks=True,
    lstrip_blocks=True,
)
environment.filters |= {"plain": _plain, "split_marked": split_marked}
environment.globals["version"] = __version__
