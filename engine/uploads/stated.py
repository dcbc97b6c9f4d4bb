"""Sentences on what the holder stated: reading, design, sizes, spread, and who is trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.core.lists import counted
from engine.core.types import PublicFacts, PublicGroup, Sizes
from engine.uploads.design import StatedDesign, StatedLaw

AFTER_LOOKING = (
    "**Choices after looking:** what you state or change because of these lines can say something "
    "about the file, and no noise covers that. The guarantee card says that you may have looked."
)


_FACTS = {
    "value_low": "lower bound of values",
    "value_high": "upper bound of values",
    "time_low": "beginning of the time range",
    "time_high": "end of the time range",
    "covariates": "covariates and their ranges",
    "features": "features and their ranges",
    "periodic": "periodic curves",
    "design": "observation times",
    "observations_per_curve": "planned observations of each curve",
    "symmetric": "symmetry of people about their mean",
    "guessed_spread": "guessed spread of people",
    "reading_sd": "measurement error",
    "two_classes": "two classes",
    "time_step": "step of recorded times",
    "group_sizes": "sizes of groups",
    "group_weights": "weights of groups",
    "late_entry": "late entry",
    "at_visits": "visits",
    "edges": "edges of intervals",
}
_READING = {
    "frame": "form of the table",
    "person": "identification of people",
    "covariates": "columns of covariates",
    "features": "columns of features",
    "values": "columns of values",
    "decimal": "decimal mark",
    "missing": "texts of missing values",
    "several": "handling of several rows of a person",
}
_CELLS = {
    "kind": "kind of cells",
    "unit": "unit",
    "order": "order of day and month",
    "from": "beginning of counting",
    "offset": "time zone",
    "words": "meanings of texts",
    "other": "meaning of other texts",
}


def facts_in_words(keys: Sequence[str]) -> list[str]:
    """Name each stated fact by its noun, from keys such as "reading.columns.time.order"."""
    return list(dict.fromkeys(map(_fact_in_words, keys)))


def _fact_in_words(key: str) -> str:
    start, *parts = key.split(".")
    if start != "reading" or not parts:
        return _FACTS.get(start, start.replace("_", " "))
    if parts[0] != "columns" or len(parts) < 2:
        return _READING.get(parts[0], f"reading of {parts[0].replace('_', ' ')}")
    role = parts[1]
    if role in _READING:
        return _READING[role]
    cells = parts[2] if len(parts) > 2 else "name"
    column = f"{role.replace('_', ' ')} column"
    return column if cells == "name" else f"{_CELLS.get(cells, 'reading')} of the {column}"


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
    """Describe the observation times: "everybody at 8 common times from 2 to 18 years".

    Gaps and windows are in the unit of time of `facts`.
    """
    stated, unit = StatedDesign.of(facts), f" {facts.time_unit}".rstrip()
    if stated.times:
        return f"everybody at {_times_in_words(stated.times, unit)}"
    return {
        StatedLaw.COMMON: "everybody at the same times",
        StatedLaw.VISITS: f"every {stated.gap or 0:g}{unit}, from a start that differs",
        StatedLaw.WINDOWS: f"each {facts.person} in a stretch of {stated.window or 0:g}{unit}",
        StatedLaw.DENSITY: "each on its own, more often at some times as stated",
        StatedLaw.EVEN: "each on its own, spread evenly over the range",
        StatedLaw.UNKNOWN: "not known: methods rely on released quantities alone",
    }[StatedLaw(stated.law or StatedLaw.UNKNOWN)]


def _times_in_words(times: Sequence[float], unit: str) -> str:
    """Count the times, and say between which they lie."""
    ends = " to ".join(f"{time:g}" for time in dict.fromkeys((times[0], times[-1])))
    word = "at" if len(times) == 1 else "from"
    return f"{counted(len(times), 'common time')} {word} {ends.replace('-', '−')}{unit}"


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
    """Say who sees the data: one centre, or with several servers nobody but each site."""
    if sizes.n_servers == 1:
        return f"one trusted centre holds all {unit}s"
    return f"each of {sizes.n_servers} sites adds its own noise; nobody else sees its {unit}s"


def trust_tag(sizes: Sizes, unit: str = "curve") -> tuple[str, str]:
    """Write the chip that says who is trusted, and its tooltip."""
    if sizes.n_servers == 1:
        return "One trusted centre", (
            f"One centre holds all {unit}s and adds noise once. The "
            "guarantee is against everybody else."
        )
    return f"{sizes.n_servers} sites, own noise", (
        f"Each site adds noise to what it sends, so that no centre has to be trusted with its "
        f"{unit}s."
    )
