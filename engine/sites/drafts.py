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
from engine.uploads.reading_of_files import Column, Frame, LineOwner, Reading


class SiteEntry(NamedTuple):
    """One row of a table of sites."""

    name: str
    people: int
    budget: Budget


def study(
    source: Source[Any],
    mechanism: Mechanism,
    entries: Sequence[SiteEntry],
    name: str,
    scheme: Scheme = Scheme.ED25519,
    reading: Mapping[str, Any] | None = None,
    honest: int = 0,
) -> dict[str, Any]:
    """Write the study of sites whose files state what these data state.

    `reading` says how a file is read and what is stated of it, in place of usual names of columns
    and of the facts of the source. With `honest` sites relied on only sums of messages are read.
    """
    if reading is None and mechanism.main_task.data is not DataType.CURVES:
        raise InputError(
            "Only a file of your own says how such data are read.",
            field="data",
            hint="Bring one, as every site would have it; it stays here.",
        )
    plain = reading or usual_reading(
        source.facts, source.facts.origin, source.facts.observations_per_curve
    )
    listed = [
        {
            "name": site_name(entry.name),
            "people": entry.people,
            "epsilon": entry.budget.epsilon,
            "delta": entry.budget.delta,
        }
        for entry in entries
    ]
    return {
        "version": 1,
        "name": name,
        "data": dict(plain),
        "mechanism": {"key": mechanism.key, "parameters": mechanism.changed()},
        "authentication": scheme.value,
        "sites": listed,
        **({"sums": {"honest": honest}} if honest else {}),
    }


def site_name(name: str) -> str:
    """Turn a name as a person gave it into one that studies have.

    Examples
    --------
    >>> site_name("St. Mary’s, West")
    'st-mary-s-west'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:30]


def usual_reading(facts: PublicFacts, origin: str, observations: int) -> dict[str, Any]:
    """Say how a file of curves with usual names of columns is read, and what is stated of it."""
    covariates = tuple(covariate.name for covariate in facts.covariates)
    reading = Reading(
        frame=Frame(header=("id", "time", "value", *covariates)),
        person=LineOwner(column="id"),
        columns={role: Column(names=(role,)) for role in ("time", "value")},
        covariates=tuple(Column(names=(name,)) for name in covariates),
    )
    return {
        "reading": reading.to_plain(),
        "facts": {
            **facts_to_plain(facts),
            "origin": origin,
            "observations_per_curve": observations,
        },
    }
