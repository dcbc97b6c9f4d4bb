"""Sentences on what the holder stated: reading, design, sizes, spread, and who is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.core.lists import counted
from engine.core.types import PublicFacts, PublicGroup, Sizes
from engine.uploads.design import StatedDesign, StatedLaw

AFTER_LOOKING = (
    "**Choices after looking:** what you state or change because of these lines can say something "
    "about the file, and no noise covers that. The guarantee card says that you may have looked."
)


def reading(plain: Mapping[str, Any]) -> str:
    """Say how a file was read, from the reading on a guarantee card."""
    columns = plain["columns"]
    several = [
        f"{role.removesuffix('s')} {_column(each)}"
        for role in ("covariates", "features")
        for each in columns.get(role, ())
    ]
    single = [
        f"{role} {_column(each)}"
        for role, each in columns.items()
        if isinstance(each, Mapping) and role != "values"
    ]
    wide = columns.get("values")
    numbers = (
        []
        if wide is None
        else [
            f"{len(wide['at'])} columns of values at stated times"
            if "at" in wide
            else "a column of values for each person"
        ]
    )
    missing = ", ".join(f"“{text}”" for text in plain["missing"] if text)
    return "; ".join(
        (
            _person(plain["person"]),
            *single,
            *several,
            *numbers,
            f"decimal {'comma' if plain['decimal'] == ',' else 'point'}",
            f"missing: {f'empty cells, {missing}' if missing else 'empty cells'}",
            f"several rows of a person: {plain['several']}",
        )
    )


def _person(stated: Mapping[str, Any]) -> str:
    """Say whose a line is."""
    if "column" in stated:
        of = f" of {stated['list']}" if stated.get("list") else ""
        return f"people by “{stated['column']}”{of}, compared as {stated.get('form', 'text')}"
    return (
        "every line is another person"
        if stated.get("rows")
        else "every file is another person"
        if stated.get("file")
        else "every column is another person"
    )


def _column(stated: Mapping[str, Any]) -> str:
    """Say which column it is and how its cells are read."""
    name = stated["name"]
    names = " and ".join(f"“{each}”" for each in ([name] if isinstance(name, str) else name))
    rest = [stated["kind"], *(stated[part] for part in ("unit", "order", "from") if part in stated)]
    words = [f"“{text}” is {meaning}" for text, meaning in stated.get("words", {}).items()]
    other = [f"other texts are {stated['other']}"] if "other" in stated else []
    return f"{names} ({', '.join([*rest, *words, *other])})"


def design(facts: PublicFacts) -> str:
    """Describe the observation times: "everybody at 8 common times".

    Gaps and windows are in the unit of time of `facts`.
    """
    stated, unit = StatedDesign.of(facts), f" {facts.time_unit}".rstrip()
    return {
        StatedLaw.COMMON: f"everybody at {counted(len(stated.times), 'common time')}",
        StatedLaw.VISITS: f"every {stated.gap or 0:g}{unit}, from a start that differs",
        StatedLaw.WINDOWS: f"each {facts.person} in a stretch of {stated.window or 0:g}{unit}",
        StatedLaw.DENSITY: "each on its own, more often at some times as stated",
        StatedLaw.EVEN: "each on its own, spread evenly over the range",
        StatedLaw.UNKNOWN: "not known: methods rely on released quantities alone",
    }[StatedLaw(stated.law or StatedLaw.UNKNOWN)]


def observations(facts: PublicFacts) -> str:
    """Write the stated number of observations of a curve; empty if sizes are public."""
    stated = facts.observations_per_curve
    return f"{counted(stated, 'observation')} planned for each curve" if stated else ""


def spread(facts: PublicFacts) -> str:
    """Describe the spread of people around their mean."""
    return (
        "symmetric about their mean"
        if facts.symmetric
        else "not known, so possibly with skew, groups or outliers"
    )


def group(group: PublicGroup) -> str:
    """Describe the group of people: "girls of heights (others: boys); membership is public"."""
    return (
        f"{group.name} of {group.set} (others: {', '.join(group.others)}); who belongs to a "
        "group is public, and nobody is in two"
    )


def trust(sizes: Sizes, unit: str = "curve") -> str:
    """Say who sees the data: one centre, or nobody but each site.

    Parameters
    ----------
    sizes : Sizes
        One server is one trusted centre; with more, each adds its own noise.
    unit : str
        The noun for one protected unit.
    """
    if sizes.n_servers == 1:
        return f"one trusted centre holds all {unit}s"
    return f"each of {sizes.n_servers} sites adds its own noise; nobody else sees its {unit}s"


def trust_tag(sizes: Sizes, unit: str = "curve") -> tuple[str, str]:
    """Write the chip that says who is trusted, and its tooltip.

    Returns
    -------
    tuple of str
        The chip and its tooltip.
    """
    if sizes.n_servers == 1:
        return "One trusted centre", (
            f"One centre holds all {unit}s and adds noise once. The "
            "guarantee is against everybody else."
        )
    return f"{sizes.n_servers} sites, own noise", (
        f"Each site adds noise to what it sends, so that no centre has to be trusted with its "
        f"{unit}s."
    )
