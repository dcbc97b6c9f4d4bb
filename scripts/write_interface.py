"""Write tests/source/api.txt: every signature and field of the public interface.

    python scripts/write_interface.py

`tests/source/test_stability.py` compares the file with the code. A difference also needs a fragment
in `changes/`, and a name that goes first warns for one minor version (CONTRIBUTING.md).
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "tests" / "source" / "api.txt"


def interface(module: Any) -> Iterator[str]:
    """Yield a line for each public name, and for each field and method of public classes."""
    for name in sorted(module.__all__):
        thing = getattr(module, name)
        if inspect.isclass(thing):
            bases = ", ".join(base.__name__ for base in thing.__bases__ if base is not object)
            yield f"class {name}({bases})"
            yield from (f"    {line}" for line in sorted(members(thing)))
        elif callable(thing):
            yield f"{name}{inspect.signature(thing)}"
        else:
            yield f"{name}: {type(thing).__name__}"


def members(owner: type) -> Iterator[str]:
    """Yield fields, methods and properties of a class that are public and the project's own."""
    stated = {field.name: field for field in fields(owner)} if is_dataclass(owner) else {}
    for name, field in stated.items():
        is_optional = field.default is not MISSING or field.default_factory is not MISSING
        yield f"{name}: {field.type}{' = …' if is_optional else ''}"
    ours = [base for base in owner.__mro__ if base.__module__.startswith("engine")]
    for name in {name for base in ours for name in vars(base)} - stated.keys():
        if not name.startswith("_") or (name == "__init__" and not stated):
            member = inspect.getattr_static(owner, name)
            if isinstance(member, property | cached_property):
                yield f"{name}: property"
            elif callable(getattr(owner, name)):
                yield f"{name}{inspect.signature(getattr(owner, name))}"
            else:
                yield f"{name}: of the class"


def text() -> str:
    """The whole file, from the code as it is."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    from engine import api

    return "\n".join(dict.fromkeys(interface(api))) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
