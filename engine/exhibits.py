"""Figures and tables of papers, made again: the only way to the package `reproductions`.

The repository and the image have that package beside `engine`; the wheel leaves it out. It imports
all that its exhibits run, so it is loaded when one of its names is first used, as in
`exhibits.find(key)`.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from engine.core.errors import InputError

if TYPE_CHECKING:
    from reproductions import Claim as Claim
    from reproductions import Exhibit as Exhibit
    from reproductions import Finding as Finding
    from reproductions import Paper as Paper
    from reproductions import Result as Result
    from reproductions import RowFiles as RowFiles
    from reproductions import WorkProgress as WorkProgress
    from reproductions import claims as claims
    from reproductions import files as files
    from reproductions import find as find
    from reproductions import frame as frame
    from reproductions import n_pieces as n_pieces
    from reproductions import names as names
    from reproductions import papers as papers
    from reproductions import question as question
    from reproductions import quick as quick
    from reproductions import run as run
    from reproductions import versions as versions
    from reproductions import words as words

Form = Literal["quick", "full"]
FORMS: tuple[Form, ...] = ("quick", "full")
MISSING = "Figures and tables of papers are not part of this installation."
HINT = "Work in a copy of the repository to make them again."


def is_installed() -> bool:
    """True if `reproductions` can be imported."""
    return _package() is not None


def _package() -> ModuleType | None:
    try:
        import reproductions as package
    except ModuleNotFoundError as missing:
        if (missing.name or "").rpartition(".")[2] != "reproductions":
            raise  # a library that its exhibits need
        return None
    return package


if not TYPE_CHECKING:  # or every misspelt name would have a type

    def __getattr__(name: str) -> Any:
        """Look a name up in `reproductions`, and refuse if that is not installed."""
        if name.startswith("_"):
            raise AttributeError(name)
        package = _package()
        if package is None:
            raise InputError(MISSING, field="exhibit", hint=HINT)
        return getattr(package, name)
