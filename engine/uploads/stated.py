"""Sentences on what the holder of data stated: design, sizes, spread, and who is trusted."""

from __future__ import annotations

from engine.core.lists import counted
from engine.core.types import PublicFacts, PublicGroup, Sizes
from engine.uploads.design import StatedDesign, StatedLaw


def design(facts: PublicFacts) -> str:
    """How observation times come about: "everybody at 8 common times".

    Parameters
    ----------
    facts : PublicFacts
        With the stated design, and the unit of time that its gaps and windows are in.
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
    """How many observations of a curve were stated; empty where sizes are public.

    Parameters
    ----------
    facts : PublicFacts
        With the number of observations that each person was planned to have.
    """
    stated = facts.observations_per_curve
    return f"{counted(stated, 'observation')} planned for each curve" if stated else ""


def spread(facts: PublicFacts) -> str:
    """How people lie about their mean.

    Parameters
    ----------
    facts : PublicFacts
        `symmetric` is what the holder stated.
    """
    return ("symmetric about their mean" if facts.symmetric else
            "not known, so possibly with skew, groups or outliers")


def group(group: PublicGroup) -> str:
    """Which group of people these are: "girls of heights (others: boys); membership is public"."""
    return (f"{group.name} of {group.set} (others: {', '.join(group.others)}); who belongs to a "
            "group is public, and nobody is in two")


def trust(sizes: Sizes, unit: str = "curve") -> str:
    """Who sees the data: one centre, or nobody but each site.

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
    """The chip that says who is trusted, and its tooltip.

    Parameters
    ----------
    sizes, unit
        As for `trust`.

    Returns
    -------
    tuple of str
        The chip and its tooltip.
    """
    if sizes.n_servers == 1:
        return "One trusted centre", (f"One centre holds all {unit}s and adds noise once. The "
                                      "guarantee is against everybody else.")
    return f"{sizes.n_servers} sites, own noise", (
        f"Each site adds noise to what it sends, so that no centre has to be trusted with its "
        f"{unit}s.")
