"""Sentences on what the error is made of, and what would make it smaller."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.core.types import Array, DataKind, PublicFacts
from engine.language.grammar import escape
from engine.language.numbers import in_unit, number, percent, together, with_unit

NEARLY_FREE = 0.1  # share of the squared error up to which privacy costs almost nothing
_AS_MEASURED = "measured, that is where its noise is at most 10 % of the squared error"

# Of an error, in the order of `MeanStudy.shares`.
PARTS = ("privacy noise", "sampling variability", "smoothing and clipping")


def error_name(facts: PublicFacts) -> str:
    """Name the error of a mean curve: a forecast by the twin, if the curves are real."""
    return "error" if is_simulated(facts) else "forecast error"


def is_simulated(facts: PublicFacts) -> bool:
    return facts.kind in (DataKind.SIMULATED, DataKind.TWIN)


def distance(facts: PublicFacts, of: str = "estimate") -> str:
    """Name an error: for real data, without a known truth, by its reference.

    `of` is the content of a release: what would be published without protection is the non-private
    one. The result is "error" on simulated data: the distance from the truth.
    """
    return "error" if is_simulated(facts) else f"distance from the non-private {of}"


def shares_key(shares: Sequence[float], parts: Sequence[str] = PARTS) -> str:
    """Write the key to a bar of at most four shares; parts below half a percent are left out."""
    marks = ("■", "▨", "▩", "▒")
    return " · ".join(
        f"{mark}\u00a0{name} {percent(share)}"
        for mark, name, share in zip(marks, parts, shares, strict=False)
        if share >= 0.005
    )


def steps_done(facts: PublicFacts, n_coefficients: int, moves: Sequence[float]) -> str:
    """Say how far each step moves the curve.

    `moves` are root mean squared distances between the averages before and after cutting off all
    but `n_coefficients`, after clipping and smoothing, and after noise.
    """
    fewer, clipped, noise = (with_unit(text, escape(facts.value_unit)) for text in together(moves))
    first = (
        f"Truncating to {n_coefficients} coefficients moves the mean by **{fewer}**"
        if moves[0] > 1e-6 * max(moves)
        else f"All {n_coefficients} coefficients are kept"
    )
    return f"{first}; clipping and smoothing move it by **{clipped}**; noise by **{noise}**."


def parts_left(facts: PublicFacts, error: float, whole: float) -> str:
    """Say how much of the error is left with some of its parts alone."""
    here, of = (in_unit(value, escape(facts.value_unit)) for value in (error, whole))
    if error == whole:
        return f"With all sources the error is **{of}**."
    return f"With the selected sources the error is **{here}** of {of}."


def when_free(epsilons: Sequence[float], private: Array) -> str:
    """Say from which ε on privacy noise is at most a tenth of the squared error, as measured.

    A rate cannot say it: its constants are dropped, and with them by how much ε is off. Without
    measurements the text is empty. `private` (budgets,) is the measured or planned share of privacy
    noise in the squared error at each ε, from 0 to 1; NaN where nothing is published. It is empty
    if the truth is not known.
    """
    if not len(private):
        return ""
    above = ~(private <= NEARLY_FREE)  # NaN is above
    first = int(np.flatnonzero(above).max(initial=-1)) + 1
    if first == len(epsilons):
        return f"At no ε up to {epsilons[-1]:g} is privacy nearly free here: {_AS_MEASURED}."
    return (
        f"From about **ε = {number(float(epsilons[first]), 2)}** on privacy is nearly free: "
        f"{_AS_MEASURED}."
    )
