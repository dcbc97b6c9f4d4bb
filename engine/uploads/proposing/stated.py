"""Statements of requests from before written readings: for looking, and to translate them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.core.errors import InputError
from engine.core.plain import checked_object
from engine.uploads.reading_of_files import DAY, FIRST, UNITS, Order, is_counted

_ROLES = (
    "id",
    "time",
    "value",
    "server",
    "covariates",
    "group",
    "start",
    "status",
    "entry",
    "without",
)
_BEGINNINGS = {
    "since": "days since {}",
    "from_first": f"{{}} since {FIRST}",
    "of_day": f"{{}} {DAY}",
    "elapsed": "{}",
}
KEYS = ("columns", "day_first", *_BEGINNINGS, "events", "groups", "several", "features")


@dataclass(frozen=True)
class Stated:
    """The keys `columns`, `day_first`, `since`, `events` … of a request."""

    columns: Mapping[str, Any] = field(default_factory=dict)  # role → name, names, or None for none
    day_first: bool | None = None
    counted: str = ""  # what dates and clock times count, as a reading says it
    events: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    several: str = ""
    features: tuple[str, ...] = ()
    value_unit: str = ""

    @classmethod
    def of(cls, plain: Mapping[str, Any] | None) -> Stated:
        """Return what a request states; other keys of its "data" are left to others."""
        data = {key: value for key, value in (plain or {}).items() if key in KEYS}
        columns = checked_object(data.get("columns", {}), "columns", _ROLES)
        for role, name in columns.items():
            names = name if role == "covariates" and isinstance(name, list | tuple) else [name]
            if name is not None and not all(isinstance(each, str) for each in names):
                raise InputError(
                    f"“columns” must give {role} as the name of a column.",
                    field="columns",
                    hint="Columns are called by their names in the header.",
                )
        day_first = data.get("day_first")
        if day_first is not None and not isinstance(day_first, bool):
            raise InputError("“day_first” must be true or false.", field="day_first")
        features, facts = data.get("features", ()), (plain or {}).get("facts", {})
        return cls(
            columns,
            day_first,
            _counted(data),
            _texts(data, "events"),
            _texts(data, "groups"),
            _text(data, "several"),
            tuple(
                str(each["name"]) if isinstance(each, Mapping) and "name" in each else str(each)
                for each in features
            ),
            str(facts.get("value_unit", "")) if isinstance(facts, Mapping) else "",
        )

    @property
    def order(self) -> Order:
        """The stated order of day and month, if any."""
        if self.day_first is None:
            return Order.UNSTATED
        return Order.DMY if self.day_first else Order.MDY

    @property
    def elapsed(self) -> str:
        """The unit of elapsed times, if these are stated."""
        return self.counted if self.counted in UNITS else ""


def _counted(data: Mapping[str, Any]) -> str:
    """Return what the one stated beginning is in a reading; "" if none is stated."""
    beginnings = {name: text for name in _BEGINNINGS if (text := _text(data, name))}
    if len(beginnings) > 1:
        raise InputError(
            "Time is counted from one beginning: a day, each person’s first "
            "observation, midnight, or the start of elapsed times.",
            field=[*beginnings][-1],
        )
    for name, text in beginnings.items():
        counted = _BEGINNINGS[name].format(text)
        if not is_counted(counted):
            raise InputError(
                f"“{name}” must be a day such as 2024-01-31."
                if name == "since"
                else f"“{name}” must be a unit of time, such as hours.",
                field=name,
            )
        return counted
    return ""


def _text(data: Mapping[str, Any], name: str) -> str:
    if not isinstance(data.get(name, ""), str):
        raise InputError(f"“{name}” must be text.", field=name)
    return str(data.get(name, ""))


def _texts(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    texts = data.get(name, ())
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise InputError(
            f"“{name}” must be a list of texts.", field=name, hint='For example ["girls", "boys"].'
        )
    return tuple(texts)
