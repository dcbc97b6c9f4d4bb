"""Groups of people of one file, each of which is published as a data set of its own.

Who is in which group is public, nobody is in two, and neighbouring files replace one curve within
its group: they differ in the input of one release alone. The releases of all groups together are
therefore as private as the weakest of them; `engine.answers.groups` compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from engine.answers.groups import MAX_GROUPS
from engine.core.errors import InputError, brief
from engine.uploads.cells import meanings
from engine.uploads.curves import Upload
from engine.uploads.reading_of_files import Reading

KEY = "group"  # of a request, about its data


@dataclass(frozen=True)
class StatedGroups:
    """The groups of a file to publish."""

    set: str  # what they are together: guarantee cards tell by it that they belong together
    # what the texts of their column mean. Who has another text is in none and is left out.
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not 2 <= len(self.names) <= MAX_GROUPS or len({*self.names}) < len(self.names):
            raise InputError(
                f"There must be 2 to {MAX_GROUPS} different groups.",
                field="group",
                hint='State them as “words” of “group”: {"f": "girls", "m": "boys"}.',
            )
        if not self.set.strip():
            raise InputError(
                "Groups need the “name” of what they are groups of.",
                field="name",
                hint="Their guarantee cards tell by it that they belong together.",
            )

    def check(self, name: Any) -> str:
        """One of the groups."""
        if not isinstance(name, str) or name not in self.names:
            raise InputError(
                f"“group” must be one of the groups; got {brief(name)}.", field="group"
            )
        return name

    def release_name(self, name: str) -> str:
        """Name the release of one group."""
        return f"{self.set}, {name}"

    def people(self, source: Upload, name: str) -> Upload:
        """Return the people of one group, as a data set of their own."""
        return replace(source, groups=self.names).people_of(name, self.set)


def in_request(
    data: Mapping[str, Any], reading: Reading, name: str
) -> tuple[StatedGroups | None, tuple[str, ...]]:
    """Return the groups of a request, None without their column, and those that it asks for."""
    column = reading.columns.get("group")
    if column is None:
        if "group" in data:
            raise InputError(
                "“group” needs a column of groups.",
                field="group",
                hint="State it in “columns” of the reading, as “group”.",
            )
        return None, ()
    stated = StatedGroups(name, tuple(map(str, meanings(column))))
    return stated, stated.names if "group" not in data else (stated.check(data["group"]),)
