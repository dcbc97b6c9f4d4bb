"""Members of a package that are found by being there: adding one is adding its file.

This is the one place where modules are imported by a name that is made up as the program runs,
where no tool can follow. So no list of members has to be kept, and none is imported before it is
asked for: the hundred modules of methods, sources and papers would hold up the start of every
page, command and worker.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from types import ModuleType
from typing import Any


def modules_in(package: str, named: str = "") -> list[ModuleType]:
    """Import the modules of a package by name, and packages within, but not what is in those.

    Examples
    --------
    >>> [module.__name__ for module in modules_in("engine.core", named="palette")]
    ['engine.core.palette']
    """
    folder = getattr(sys.modules[package], "__path__", ())
    return [
        importlib.import_module(f"{package}.{module.name}")
        for module in pkgutil.iter_modules(folder)
        if named in ("", module.name)
    ]


def member(module: str, name: str) -> Any:
    """Return a member of a module, which is imported for it."""
    return getattr(importlib.import_module(module), name)
