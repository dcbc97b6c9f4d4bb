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
from engine.uploads.curves import Upload

KEYS = ("groups", "group")  # of a request, about its data


@dataclass(frozen=True)
class StatedGroups:
    """Which groups of a file are published.

    Parameters
    ----------
    set : str
        What they are together: guarantee cards tell by it that they belong together.
    names : tuple of str
        The texts of their column. Who has another text is in none and is left out.

    Raises
    ------
    InputError
        If there are too few or too many, one stands twice, or the set has no name.
    """

    set: str
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not 2 <= len(self.names) <= MAX_GROUPS or len({*self.names}) < len(self.names):
            raise InputError(f"“groups” must list 2 to {MAX_GROUPS} different texts of the column "
                             "of groups.", field="groups", hint='For example ["girls", "boys"].')
        if not self.set.strip():
            raise InputError("Groups need the “name” of what they are groups of.", field="name",
                             hint="Their guarantee cards tell by it that they belong together.")

    def check(self, name: Any) -> str:
        """One of the groups.

        Parameters
        ----------
        name : object
            What a request says.

        Raises
        ------
        InputError
            If it is none.
        """
        if not isinstance(name, str) or name not in self.names:
            raise InputError(f"“group” must be one of “groups”; got {brief(name)}.", field="group")
        return name

    def release_name(self, name: str) -> str:
        """What the release of one group is called."""
        return f"{self.set}, {name}"

    def people(self, source: Upload, name: str) -> Upload:
        """The people of one group, as a data set of their own.

        Parameters
        ----------
        source : Upload
            Read with a column of groups.
        name : str
            Of the group.

        Raises
        ------
        InputError
            If nobody is in it.
        """
        return replace(source, groups=self.names).people_of(name, self.set)


def in_request(data: Mapping[str, Any], name: str) -> tuple[StatedGroups | None, tuple[str, ...]]:
    """The groups that a request states about curves, and those of them that it asks for.

    Parameters
    ----------
    data : mapping
        Its entry "data".
    name : str
        Of the request.

    Returns
    -------
    stated : StatedGroups or None
        None where there is no column of groups.
    names : tuple of str
        All of them, or the one that is named.

    Raises
    ------
    InputError
        If groups are missing, unknown or no list.
    """
    if not data.get("columns", {}).get("group"):
        unused = [key for key in KEYS if key in data]
        if unused:
            raise InputError(f"“{unused[0]}” needs a column of groups.", field=unused[0],
                             hint='Name it in "columns", as "group".')
        return None, ()
    names = data.get("groups", [])
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise InputError("“groups” must be a list of texts.", field="groups",
                         hint='For example ["girls", "boys"].')
    stated = StatedGroups(name, tuple(names))
    return stated, stated.names if "group" not in data else (stated.check(data["group"]),)
