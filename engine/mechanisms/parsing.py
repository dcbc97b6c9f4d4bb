"""Source, mechanism and budgets, read and checked from what scenarios and requests write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.core.errors import InputError, brief
from engine.core.plain import checked_object
from engine.core.typed import member, record
from engine.core.types import Budget, Data
from engine.mechanisms import Mechanism, mechanisms
from engine.sources import Source, sources

VERSION = 1


def parsed(
    plain: Mapping[str, Any], source: Source[Data] | None = None
) -> tuple[Source[Data], Mechanism, tuple[Budget, ...]]:
    """Source, mechanism and budgets of a scenario; a `source` that is read replaces its own."""
    source = source or _member(plain, "source", sources)
    mechanism = mechanism_of(plain)
    if not mechanism.served & source.served:
        raise InputError(
            f"The mechanism {mechanism.key!r} cannot use the source {source.key!r}.",
            field="mechanism",
        )
    n_servers = getattr(source, "n_servers", 0) or source.sizes.n_servers  # a file has its own
    usual = mechanism.delta(source.sizes.n_curves).value
    return source, mechanism, budgets_of(plain, n_servers, usual)


def check_version(plain: Mapping[str, Any]) -> None:
    """Refuse a scenario or request of a later edition; without "version" it is of this one."""
    version = plain.get("version", VERSION)
    if version != VERSION:
        raise InputError(
            f"This scenario has version {brief(version)}; only {VERSION} is known.",
            field="version",
            hint="Export it again.",
        )


def mechanism_of(plain: Mapping[str, Any]) -> Mechanism:
    """The mechanism of a scenario or a request."""
    mechanism: Mechanism = _member(plain, "mechanism", mechanisms)
    return mechanism


def budgets_of(plain: Mapping[str, Any], n_servers: int, usual: float) -> tuple[Budget, ...]:
    """The budgets of a scenario or a request; `usual` is δ of those that state none."""
    entries = plain.get("budgets")
    if not isinstance(entries, list) or not entries:
        raise InputError(
            "“budgets” must be a list with at least one budget.",
            field="budgets",
            hint='For example [{"epsilon": 1.0, "delta": 1e-6}].',
        )
    budgets = tuple(
        record(Budget, {"delta": usual, **checked_object(entry, "budgets")}, "budgets")
        for entry in entries
    )
    if len(budgets) not in (1, n_servers):
        raise InputError(
            f"There are {len(budgets)} budgets for {n_servers} servers.",
            field="budgets",
            hint="Give one for all, or one for each server.",
        )
    return budgets


def _member(plain: Mapping[str, Any], name: str, registry: Any) -> Any:
    if name not in plain:
        raise InputError(
            f"The scenario has no “{name}”.",
            field=name,
            hint=f'Add "{name}": {{"key": …, "parameters": {{…}}}}.',
        )
    return member(plain[name], name, registry)
