"""plotly.js with the kinds of traces that our charts have, out of the installed package.

The script registers 46 kinds on loading, with maps and three dimensions, which takes a browser
twice as long as all its other work. Each kind is a module that runs when first called, so this
module removes unused kinds from the list of calls. Nothing else changes; a script without such a
list stays as it is.
"""

from __future__ import annotations

import re
from importlib.resources import files

KINDS = frozenset({"bar", "heatmap", "contour"})  # besides scatter, which is always included
_LIST = re.compile(r"(?<=\.register\(\[)[\w$]+\(\)(?:,[\w$]+\(\))+(?=\]\))")
_KIND = re.compile(r'moduleType:"trace",name:"(\w+)"')
_FAR = 4_000  # characters of a module before its name


def installed() -> str:
    """Return the script as it is in the package."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_text("utf-8")


def served() -> bytes:
    """Return the script that pages load."""
    return light(installed()).encode()


def light(script: str, kinds: frozenset[str] = KINDS) -> str:
    """Return a script that registers only these trace types; unchanged if it names no such list."""
    called = [*_LIST.finditer(script)]
    if len(called) != 1:
        return script
    modules = called[0].group().split(",")
    by_kind = {_kind(script, module.removesuffix("()")): module for module in modules}
    if not kinds <= by_kind.keys():
        return script
    start, end = called[0].span()
    return script[:start] + ",".join(by_kind[kind] for kind in sorted(kinds)) + script[end:]


def _kind(script: str, module: str) -> str:
    """Return the kind of traces that a module registers, found in the module it re-exports."""
    handed_on = re.compile(r'=[\w$]+\(\([\w$,]*\)=>\{"use strict";[\w$]+\.exports=([\w$]+)\(\)\}\)')
    handed = handed_on.match(script, _end_of(script, f"var {module}"))
    if handed is None:
        return ""
    start = _end_of(script, f"var {handed.group(1)}")
    named = _KIND.search(script, start, start + _FAR)
    return named.group(1) if named else ""


def _end_of(script: str, text: str) -> int:
    offset = script.find(f"{text}=")
    return len(script) if offset < 0 else offset + len(text)
