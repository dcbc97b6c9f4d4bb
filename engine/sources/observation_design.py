"""How many observations simulated people have and at which times, as parameters of a source."""

from __future__ import annotations

from typing import Any

from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.types import Design, TimeLaw
from engine.numerics.observation_times import stated_density, visits_span
from engine.numerics.public_curves import PublicCurve

LAWS = ("even", "density", "common", "visits", "windows")
LAW_HELP = ("Even: every observation at a random time. Density: more often at some times. Common: "
            "everybody at the same equally spaced times. Visits: equally far apart from a random "
            "start. Windows: each person is observed in a short stretch only.")
DENSITY_HELP = "Relative heights at equally spaced times, such as 1, 2, 1. For “density” only."
MORE_HELP = ("Some people have up to this many observations more than others, every number up to "
             "it equally often. 0: all have as many. Not for “visits”.")
SPAN_HELP = ("Share of the time range: distance between visits, or length of a window. For "
             "“visits” and “windows” only.")


def people(default: int, label: str = "People") -> Any:
    """The parameter n of simulated curves: how many people there are.

    Parameters
    ----------
    default : int
        The usual value.
    label : str
        What they are called.
    """
    return param(default, label, "How many take part, over all sites.", low=2, high=100_000,
                 symbol="n")


def observations(default: int) -> Any:
    """The parameter m of simulated curves: how many points are known on each.

    Parameters
    ----------
    default : int
        The usual value.
    """
    return param(default, "Observations each", "How many points are known on each curve.", low=1,
                 high=1000, symbol="m")


def simulated_design(law: str, density: str | None, span: float, observations: int) -> Design:
    """The design that the parameters of a simulated source state.

    Parameters
    ----------
    law : str
        One of `LAWS`.
    density : str or None
        Heights with commas between them, for "density".
    span : float
        Share of the time range, for "visits" and "windows".
    observations : int
        Of each curve: common times are the middles of so many equal parts of the range.

    Raises
    ------
    InputError
        If the heights are no density, or so many visits do not fit.
    """
    if law == "common":
        return Design.common([(k + 0.5) / observations for k in range(observations)])
    if law == "windows":
        return Design(law=TimeLaw.WINDOWS, window=span)
    if law == "visits":
        if visits_span(observations, span) > 1:
            raise InputError(f"{observations} visits so far apart do not fit into the time range.",
                             field="time_span", hint="Take fewer observations or a shorter span.")
        return Design.visits(span)
    if law == "even":
        return Design()
    heights = PublicCurve.stated(density or "", "time_density").heights if density else ()
    if not heights:
        raise InputError("State how observation times are spread first.", field="time_density",
                         hint="Relative heights such as 1, 2, 1.")
    design = Design(density=heights)
    stated_density(design)  # refuses what is no density
    return design
