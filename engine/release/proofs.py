"""The proofs of a release: a hash of the docstrings that contain them."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import ModuleType
from typing import Any

from engine.mechanisms import Mechanism

_PROVED_IN = ("engine.mechanisms.", "engine.numerics.", "engine.noise.")


def proofs_of(mechanism: Mechanism) -> str:
    """Hash the docstrings of a method and of all that its module is built on (SHA-256, hex).

    Sensitivities are proved there, so whoever has the same hash reads the same proofs.
    """
    return _hash_of(type(mechanism).__module__)


@lru_cache(maxsize=64)
def _hash_of(module: str) -> str:
    texts = dict(text for each in _built_on(module) for text in _docstrings(sys.modules[each]))
    whole = "\0".join(f"{name}\0{texts[name]}" for name in sorted(texts))
    return hashlib.sha256(whole.encode()).hexdigest()


def _built_on(first: str) -> set[str]:
    """Collect the modules with proofs whose names a module uses, and theirs."""
    found, waiting = set[str](), [first]
    while waiting:
        name = waiting.pop()
        if name in found or not name.startswith(_PROVED_IN):
            continue
        found.add(name)
        used = vars(sys.modules[name]).values()
        waiting += {
            value.__name__
            if isinstance(value, ModuleType)
            else str(getattr(value, "__module__", ""))
            for value in used
        }
    return found


def _docstrings(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield each docstring of a module by its name, indented alike in every Python."""
    yield module.__name__, inspect.cleandoc(module.__doc__ or "")
    for name, owner in vars(module).items():
        if getattr(owner, "__module__", None) != module.__name__:
            continue
        yield from _docstring(f"{module.__name__}.{name}", owner)
        for part, member in vars(owner).items() if inspect.isclass(owner) else ():
            yield from _docstring(f"{module.__name__}.{name}.{part}", member)


def _docstring(name: str, owner: Any) -> Iterator[tuple[str, str]]:
    """Yield what somebody wrote: dataclasses without a docstring get their signature as one."""
    is_documented = callable(owner) or isinstance(owner, property)
    text = getattr(owner, "__doc__", None) if is_documented else None
    if isinstance(text, str) and not text.startswith(f"{getattr(owner, '__name__', '')}("):
        yield name, inspect.cleandoc(text)
