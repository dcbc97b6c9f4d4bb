"""The public facts a person states about their own curves or records.

What bounds one person's effect is stated here, from outside the file, and checked to be a range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from engine.errors import InputError
from engine.sources.regressors import MOST_COVARIATES
from engine.sources.table_words import listed, shortened
from engine.sources.upload_design import StatedDesign, StatedLaw
from engine.types import Covariate, DataKind, PublicFacts

MOST_OBSERVATIONS = 10_000
_LARGEST = 1e100  # so that a range, its square and sums of squares stay finite
_MARKS_OF_MARKUP = "[]<>*_`$~:|#\\{}"


class StatedCovariate(NamedTuple):
    """A column that may explain the curves, and its range as far as a person has stated it."""

    name: str
    low: float | None
    high: float | None
    unit: str = ""


def declare(value_low: float | None, value_high: float | None, time_low: float | None,
            time_high: float | None, origin: str,
            covariates: Sequence[StatedCovariate | Covariate] = (),
            single: bool = False, reading_sd: float | None = None,
            design: StatedDesign | None = None, observations: float | None = None,
            symmetric: bool = False, **words: Any) -> PublicFacts:
    """Return the facts a person states about their curves, from outside the data.

    Parameters
    ----------
    value_low, value_high, time_low, time_high : float
        Bounds in the units of the file. Of `single` observations those of values are the bounds of
        the curve.
    origin : str
        Which public source the bounds come from.
    covariates : sequence
        The columns that may explain the curves, with their ranges, in the order in which
        coefficients are wanted.
    single : bool
        Whether every person has one observation around one common curve.
    reading_sd : float
        Its standard deviation around the curve, in the same unit; of `single` observations only.
    design : StatedDesign
        How observation times come about, in the unit of the file.
    observations : int
        How many observations each curve was planned to have; curves may have more or fewer. Where
        times are common and nothing is stated, as many as there are common times. Not looked at
        for `single` observations.
    symmetric : bool
        Whether people are spread about their mean without skew, groups or outliers.
    words
        Other fields of `PublicFacts`, of which empty ones are left as usual.

    Raises
    ------
    InputError
        If a bound, the spread, the origin, the design or the number of observations is not stated,
        the spread is no finite number above 0, a lowest bound is not below its highest, the design
        does not fit into the range, or there are more than `MOST_COVARIATES` covariates or one of
        them twice.
    """
    chosen = stated_words(words)
    value = chosen.get("value_name", "value").lower()
    time, person = chosen.get("time_name", "time").lower(), chosen.get("person", "person")
    lowest, highest = _stated(
        "value", (value_low, value_high), f"the lowest and highest possible {value}",
        f"Without them there is no limit on what one {person} can change. Any public source will "
        "do.")
    first, last = _stated("time", (time_low, time_high), f"the first and last possible {time}",
                          "They come from how the study was planned, not from the file.")
    spread = stated_spread(reading_sd) if single else 0.0
    ranges = _covariate_ranges(covariates, person)
    name = "Your readings" if single else "Your curves"
    facts = PublicFacts(kind=DataKind.UPLOAD, name=name, origin=stated_origin(origin),
                        value_low=lowest, value_high=highest, time_low=first, time_high=last,
                        covariates=ranges, reading_sd=spread, symmetric=symmetric and not single,
                        **chosen)
    return _with_design(facts, design or StatedDesign(), 1 if single else observations, single)


def _with_design(facts: PublicFacts, design: StatedDesign, observations: float | None,
                 single: bool) -> PublicFacts:
    """The same with the stated number of observations and the design, which must fit it."""
    if observations is None and design.law == StatedLaw.COMMON:
        observations = len(set(design.times)) or 1  # without times the design is refused below
    if observations is None:
        raise InputError("State how many observations each curve was planned to have first.",
                         field="observations_per_curve",
                         hint="From the plan of the study, not from the file: what single curves "
                         "have is private. Curves with more or fewer are used as they are.")
    is_whole = not isinstance(observations, bool) and float(observations).is_integer()
    if not is_whole or not 1 <= observations <= MOST_OBSERVATIONS:
        raise InputError("The number of observations of each curve must be a whole number from 1 "
                         f"to {MOST_OBSERVATIONS:,}; got {observations:g}.",
                         field="observations_per_curve")
    facts = replace(facts, observations_per_curve=int(observations))
    return replace(facts, design=design.on_unit_time(facts, single))


def stated_words(words: Mapping[str, Any]) -> dict[str, Any]:
    """What things are called, without those that were left empty.

    These words stand in sentences on every page, where some signs would act as markup.

    Raises
    ------
    InputError
        If a word holds one of them.
    """
    for name, word in words.items():
        if isinstance(word, str) and set(word) & set(_MARKS_OF_MARKUP):
            raise InputError(f"“{shortened(word)}” cannot be a name or a unit here.", field=name,
                             hint=f"Leave out the signs {' '.join(_MARKS_OF_MARKUP)}.")
    return {name: word for name, word in words.items() if word}


def stated_origin(origin: str) -> str:
    """Where bounds come from, in at most 200 characters.

    Raises
    ------
    InputError
        If nothing is said.
    """
    if not origin.strip():
        raise InputError("Say where these bounds come from.", field="origin",
                         hint="For example a growth chart, a manual or a law.")
    return origin.strip()[:200]


def stated_spread(reading_sd: float | None, one: str = "a reading", centre: str = "the curve"
                  ) -> float:
    """σ as stated: how far `one` lies from what is estimated.

    Raises
    ------
    InputError
        If it is missing, or no finite number above 0.
    """
    if reading_sd is None:
        raise InputError(f"State how far {one} typically lies from {centre} (σ) first.",
                         field="reading_sd", hint="From a manual or an earlier study, never from "
                         "this file.")
    if not 0 < reading_sd <= _LARGEST:
        raise InputError(f"σ must be above 0 and at most {_LARGEST:g}; got {reading_sd:g}.",
                         field="reading_sd", hint=f"It is the standard deviation of {one} around "
                         f"{centre}, in the unit of the file.")
    return reading_sd


def _covariate_ranges(covariates: Sequence[StatedCovariate | Covariate], person: str
                      ) -> tuple[Covariate, ...]:
    names = [covariate.name for covariate in covariates]
    if len(names) > MOST_COVARIATES:
        raise InputError(f"At most {MOST_COVARIATES} covariates can be used; got {len(names)}.",
                         field="covariates", hint="Each adds a whole curve, and its noise: keep "
                         "those that matter most.")
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(f"Stated more than once: {listed(twice)}.", field="covariates",
                         hint="State each covariate once.")
    return tuple(stated_range(covariate, person) for covariate in covariates)


def stated_range(stated: StatedCovariate | Covariate, person: str) -> Covariate:
    """A column with its range.

    Raises
    ------
    InputError
        If an end is missing or not finite, or the lowest is not below the highest.
    """
    stated_words({"unit": stated.unit})
    low, high = _stated(
        "covariate", (stated.low, stated.high),
        f"the lowest and highest possible “{shortened(stated.name)}”",
        f"They limit what one {person} can change. Any public source will do.")
    return Covariate(stated.name, low, high, stated.unit)


def _stated(what: str, ends: tuple[float | None, float | None], bounds: str, why: str
            ) -> list[float]:
    stated = []
    for end, bound in zip(("low", "high"), ends, strict=True):
        if bound is None:
            raise InputError(f"State {bounds} first.", field=f"{what}_{end}", hint=why)
        if not abs(bound) <= _LARGEST:
            raise InputError(f"A bound must be a finite number between −{_LARGEST:g} and "
                             f"{_LARGEST:g}.", field=f"{what}_{end}",
                             hint="Choose a larger unit of measurement.")
        stated.append(float(bound))
    return stated
