"""What a request said of a file before readings were written: for looking, and to translate it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.core.errors import InputError
from engine.core.plain import checked_object
from engine.uploads.conversions import Dates
from engine.uploads.reading_of_files import Order

_ROLES = ("id", "time", "value", "server", "covariates", "group", "start", "status", "entry")
_DATES = ("since", "from_first", "of_day", "elapsed")
KEYS = ("columns", "day_first", *_DATES, "events", "groups", "several", "features")


@dataclass(frozen=True)
class Stated:
    """The keys `columns`, `day_first`, `since`, `events` … of a request."""

    columns: Mapping[str, Any] = field(default_factory=dict)  # role → name, names, or None for none
    dates: Dates = field(default_factory=Dates)
    events: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    several: str = ""
    features: tuple[str, ...] = ()
    value_unit: str = ""

    @classmethod
    def of(cls, plain: Mapping[str, Any] | None) -> Stated:
        """Return what a request states; other keys of its "data" are left to others.

        Raises
        ------
        InputError
            Naming the key that holds something else.
        """
        data = {key: value for key, value in (plain or {}).items() if key in KEYS}
        columns = checked_object(data.get("columns", {}), "columns", _ROLES)
        for role, name in columns.items():
            names = name if role == "covariates" and isinstance(name, list | tuple) else [name]
            if name is not None and not all(isinstance(each, str) for each in names):
                raise InputError(f"“columns” must give {role} as the name of a column.",
                                 field="columns", hint="Columns are called by their names in the "
                                 "header.")
        day_first = data.get("day_first")
        if day_first is not None and not isinstance(day_first, bool):
            raise InputError("“day_first” must be true or false.", field="day_first")
        beginnings = {name: _text(data, name) for name in _DATES if name in data}
        features, facts = data.get("features", ()), (plain or {}).get("facts", {})
        return cls(columns, Dates(day_first, **beginnings), _texts(data, "events"),
                   _texts(data, "groups"), _text(data, "several") if "several" in data else "",
                   tuple(str(each["name"]) if isinstance(each, Mapping) and "name" in each
                         else str(each) for each in features),
                   str(facts.get("value_unit", "")) if isinstance(facts, Mapping) else "")

    @property
    def order(self) -> Order:
        """Which of day and month comes first, if that is stated."""
        if self.dates.day_first is None:
            return Order.UNSTATED
        return Order.DMY if self.dates.day_first else Order.MDY

    @property
    def counted(self) -> str:
        """What dates and clock times count, as a reading says it; "" if nothing is stated."""
        dates = self.dates
        return (f"days since {dates.since}" if dates.since else
                f"{dates.from_first} since first observation" if dates.from_first else
                f"{dates.of_day} of day" if dates.of_day else dates.elapsed)


def _text(data: Mapping[str, Any], name: str) -> str:
    if not isinstance(data[name], str):
        raise InputError(f"“{name}” must be text.", field=name)
    return str(data[name])


def _texts(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    texts = data.get(name, ())
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"“{name}” must be a list of texts.", field=name,
                         hint='For example ["girls", "boys"].')
    return tuple(texts)
