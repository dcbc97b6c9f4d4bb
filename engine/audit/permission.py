"""Broken variants may run inside the audit and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_is_granted: ContextVar[bool] = ContextVar("audit", default=False)


@contextmanager
def granted() -> Iterator[None]:
    """Let broken variants release in this block."""
    token = _is_granted.set(True)
    try:
        yield
    finally:
        _is_granted.reset(token)


def is_granted() -> bool:
    return _is_granted.get()
