"""A study from what is on screen: stated facts, a method, and a table of sites."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from engine.core.errors import InputError
from engine.core.tasks import DataType
from engine.core.types import Budget, PublicFacts
from engine.mechanisms import Mechanism
from engine.release.data_sections import facts_to_plain
from engine.sites.signing import Scheme
from engine.sources import Source
from engine.uploads.reading_of_files import Column, Frame, Person, Reading


class SiteEntry(NamedTuple):
    """One row of a table of sites."""

    name: str
    people: int
    budget: Budget
    key: str = ""
    pads: str = ""


def study(source: Source[Any], mechanism: Mechanism, entries: Sequence[SiteEntry], name: str,
          scheme: Scheme, reading: Mapping[str, Any] | None = None, honest: int = 0
          ) -> dict[str, Any]:
    """The study of sites whose files state what these data state.

    Parameters
    ----------
    source : Source
        Of which stated facts alone are used: simulated, public, or one's own.
    mechanism : Mechanism
        With its settings.
    entries : sequence of SiteEntry
        The sites.
    name : str
        Of the release.
    scheme : Scheme
        How messages are to be authenticated.
    reading : mapping, optional
        How a file is read and what is stated of it, in place of usual names of columns and of the
        facts of the source.
    honest : int
        Where only sums of messages can be read, how many sites are relied on; 0 where each site
        adds all of its own noise.

    Returns
    -------
    dict
        As `engine.sites.plan` describes it.

    Raises
    ------
    InputError
        If the sites have other data than curves, and nothing says how a file of them is read.
    """
    if reading is None and mechanism.main_task.data is not DataType.CURVES:
        raise InputError("Only a file of your own says how such data are read.", field="data",
                         hint="Bring one, as every site would have it; it stays here.")
    plain = reading or usual_reading(source.facts, source.facts.origin,
                                     source.facts.observations_per_curve)
    listed = [{"name": site_name(entry.name), "people": entry.people,
               "epsilon": entry.budget.epsilon, "delta": entry.budget.delta,
               **({"key": entry.key} if entry.key else {}),
               **({"pads": entry.pads} if honest and entry.pads else {})} for entry in entries]
    return {"version": 1, "name": name, "data": dict(plain),
            "mechanism": {"key": mechanism.key, "parameters": mechanism.changed()},
            "authentication": scheme.value, "sites": listed,
            **({"sums": {"honest": honest}} if honest else {})}


def site_name(name: str) -> str:
    """A name as plans have it.

    Parameters
    ----------
    name : str
        As a person gave it.

    Examples
    --------
    >>> site_name("St. Mary’s, West")
    'st-mary-s-west'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:30]


def usual_reading(facts: PublicFacts, origin: str, observations: int) -> dict[str, Any]:
    """How a file with usual names of columns is read, and what is stated of it.

    Parameters
    ----------
    facts : PublicFacts
        Of curves that are like those of the sites.
    origin : str
        Where the bounds come from.
    observations : int
        Planned for each curve.
    """
    covariates = tuple(covariate.name for covariate in facts.covariates)
    reading = Reading(
        frame=Frame(header=("id", "time", "value", *covariates)), person=Person(column="id"),
        columns={role: Column(names=(role,)) for role in ("time", "value")},
        covariates=tuple(Column(names=(name,)) for name in covariates))
    return {"reading": reading.to_plain(), "facts": {
        **facts_to_plain(facts), "origin": origin, "observations_per_curve": observations}}
