"""The public facts a person states about their own curves or records.

What bounds one person's effect is stated here, from outside the file, and checked to be a range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.core.errors import InputError
from engine.core.lists import listed, repeated, shortened
from engine.core.names import uncapital
from engine.core.tasks import TASKS
from engine.core.types import Covariate, DataKind, PublicFacts
from engine.uploads.design import StatedDesign, StatedLaw
from engine.uploads.regressors import MAX_COVARIATES

MAX_OBSERVATIONS = 10_000
REACHES = {
    "around the middle, hardly ever near the ends": 4.0,
    "evenly over the range": 1.7,
    "at both ends, as 0 and 1 do": 1.0,
}
"""How features may lie in their ranges: standard deviations from the middle to each end."""

_LARGEST = 1e100  # so that a range, its square and sums of squares stay finite
_MARKS_OF_MARKUP = "[]<>*_`$~:|#\\{}"


@dataclass(frozen=True)
class StatedCovariate:
    """A column of numbers, and its range as far as a person has stated it."""

    name: str = ""
    low: float | None = None
    high: float | None = None
    unit: str = ""


def declare(
    value_low: float | None,
    value_high: float | None,
    time_low: float | None,
    time_high: float | None,
    origin: str,
    covariates: Sequence[StatedCovariate | Covariate] = (),
    single: bool = False,
    reading_sd: float | None = None,
    design: StatedDesign | None = None,
    observations: float | None = None,
    symmetric: bool = False,
    guessed_spread: float | None = None,
    **words: Any,
) -> PublicFacts:
    """Return the facts a person states about their curves, from outside the data.

    Bounds are in the units of the file; those of `single` observations are the bounds of the curve,
    from which they have the standard deviation `reading_sd`. Coefficients come in the order of the
    covariates. `readings` is how many each curve was planned to have: by default the number of
    common times. Empty words, fields of `PublicFacts`, are left as usual.

    Examples
    --------
    >>> facts = declare(60, 210, 2, 18, "growth chart", design=StatedDesign(law="even"),
    ...                 observations=4, value_unit="cm", time_unit="years")
    >>> facts.value_half_width, facts.observations_per_curve
    (75.0, 4)
    """
    words = _stated_words(words)
    value, time = (
        uncapital(words.get(name, default))
        for name, default in (("value_name", "value"), ("time_name", "time"))
    )
    person = words.get("person", "person")
    lowest, highest = stated_bounds(
        "value",
        (value_low, value_high),
        f"the lowest and highest possible {value}",
        f"Without them there is no limit on what one {person} can change. Any public source will "
        "do.",
    )
    first, last = stated_bounds(
        "time",
        (time_low, time_high),
        f"the first and last possible {time}",
        "They come from how the study was planned, not from the file.",
    )
    spread = _spread(reading_sd, "an observation", "the curve") if single else 0.0
    names = [covariate.name for covariate in covariates]
    if len(names) > MAX_COVARIATES:
        raise InputError(
            f"At most {MAX_COVARIATES} covariates can be used; got {len(names)}.",
            field="covariates",
            hint="Each adds a whole curve, and its noise: keep those that matter most.",
        )
    if repeated(names):
        raise InputError(
            f"Stated more than once: {listed(repeated(names))}.",
            field="covariates",
            hint="State each covariate once.",
        )
    facts = PublicFacts(
        kind=DataKind.UPLOAD,
        name="Your observations" if single else "Your curves",
        covariates=tuple(_range(covariate, person) for covariate in covariates),
        origin=_origin(origin),
        value_low=lowest,
        value_high=highest,
        time_low=first,
        time_high=last,
        reading_sd=spread,
        symmetric=symmetric and not single,
        guessed_spread=0.0 if single else guessed_spread or 0.0,
        **words,
    )
    return _with_design(facts, design or StatedDesign(), 1 if single else observations, single)


def _with_design(
    facts: PublicFacts, design: StatedDesign, observations: float | None, single: bool
) -> PublicFacts:
    """The same with the stated number of observations and the design, which must fit it."""
    if observations is None and design.law == StatedLaw.COMMON:
        observations = len(set(design.times)) or 1  # without times the design is refused below
    if observations is None:
        raise InputError(
            "State how many observations each curve was planned to have.",
            field="observations_per_curve",
            hint="From the plan of the study, not from the file: what single curves "
            "have is private. Curves with more or fewer are used as they are.",
        )
    is_whole = not isinstance(observations, bool) and float(observations).is_integer()
    if not is_whole or not 1 <= observations <= MAX_OBSERVATIONS:
        raise InputError(
            "The number of observations of each curve must be a whole number from 1 "
            f"to {MAX_OBSERVATIONS:,}; got {observations:g}.",
            field="observations_per_curve",
        )
    facts = replace(facts, observations_per_curve=int(observations))
    return replace(facts, design=design.on_unit_time(facts, single))


def declare_rows(
    task: str,
    covariates: Sequence[StatedCovariate],
    origin: str,
    value: StatedCovariate | None = None,
    spread: float | None = None,
    reach: float | None = None,
    two_classes: bool = False,
    **words: Any,
) -> PublicFacts:
    """Return the facts a person states about their records, from outside the data.

    Features have ranges in the units of the file. For sparse regression alone, `spread` is σ, how
    far a response lies from what its features say, and `reach` the standard deviations from the
    middle of a feature's range to its ends (`REACHES`). Empty words are left as usual.
    """
    check_columns(task, [covariate.name for covariate in covariates])
    words = _stated_words(words)
    person, states = words.get("person", "person"), TASKS[task].states
    ranges = tuple(_range(covariate, person) for covariate in covariates)
    if "value" in TASKS[task].roles:
        if value is None:
            raise InputError(
                "Say which column is predicted.",
                field="response",
                hint="It needs a stated range, too.",
            )
        response = _range(value, person)
        words |= {
            "value_name": response.name,
            "value_low": response.low,
            "value_high": response.high,
            "value_unit": response.unit,
            "two_classes": two_classes and "two_classes" in states,
        }
    if "spread" in states:
        words["reading_sd"] = _spread(spread, "a response", "what its features say")
    if "reach" in states:
        words["reach"] = _reach(reach)
    return PublicFacts(
        kind=DataKind.UPLOAD,
        name="Your records",
        covariates=ranges,
        origin=_origin(origin),
        **words,
    )


def check_columns(task: str, names: Sequence[str]) -> None:
    """Refuse a number of columns of features that the task does not take, and one named twice."""
    columns = TASKS[task].features
    if columns is None or not columns.allows(len(names)):
        needed = "no columns of features" if columns is None else columns.words
        raise InputError(
            f"This needs {needed}; got {len(names):,}.",
            field="covariates",
            hint="Choose which columns are used.",
        )
    if repeated(names):
        raise InputError(
            f"Chosen more than once: {listed(repeated(names))}.",
            field="covariates",
            hint="Choose each column once.",
        )


def _stated_words(words: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stated nouns, without empty ones.

    These words stand in sentences on every page, where some signs would act as markup.
    """
    for name, word in words.items():
        if isinstance(word, str) and set(word) & set(_MARKS_OF_MARKUP):
            raise InputError(
                f"“{shortened(word)}” cannot be a name or a unit here.",
                field=name,
                hint=f"Leave out the signs {' '.join(_MARKS_OF_MARKUP)}.",
            )
    return {name: word for name, word in words.items() if word}


def _origin(origin: str) -> str:
    """Check the stated origin of bounds, at most 200 characters."""
    if not origin.strip():
        raise InputError(
            "Say where these bounds come from.",
            field="origin",
            hint="For example a growth chart, a manual or a law.",
        )
    return origin.strip()[:200]


def _spread(spread: float | None, observation: str, centre: str) -> float:
    """σ as stated: how far an observation lies from what is estimated."""
    if spread is None:
        raise InputError(
            f"State how far {observation} typically lies from {centre} (σ).",
            field="reading_sd",
            hint="From a manual or an earlier study, never from this file.",
        )
    if not 0 < spread <= _LARGEST:
        raise InputError(
            f"σ must be above 0 and at most {_LARGEST:g}; got {spread:g}.",
            field="reading_sd",
            hint=f"It is the standard deviation of {observation} "
            f"around {centre}, in the unit of the file.",
        )
    return spread


def _reach(reach: float | None) -> float:
    if reach is None:
        raise InputError(
            "Say how features lie in their ranges.",
            field="reach",
            hint="A public guess: a wrong one costs accuracy, never protection.",
        )
    if not 1 <= reach <= 100:
        raise InputError(
            "A range must reach between 1 and 100 standard deviations to each side; "
            f"got {reach:g}.",
            field="reach",
            hint="Typical: 4; 1.7 for even spread.",
        )
    return float(reach)


def _range(stated: StatedCovariate | Covariate, person: str) -> Covariate:
    """Make a column with its range; `Covariate` refuses one that is not in order."""
    _stated_words({"unit": stated.unit})
    low, high = stated_bounds(
        "covariate",
        (stated.low, stated.high),
        f"the lowest and highest possible “{shortened(stated.name)}”",
        f"They limit what one {person} can change. Any public source will do.",
    )
    return Covariate(stated.name, low, high, stated.unit)


def stated_bounds(
    field: str, ends: tuple[float | None, float | None], bounds: str, why: str
) -> list[float]:
    """Return both ends of a stated range; `bounds` and `why` name it and its purpose in errors."""
    numbers = []
    for end, bound in zip(("low", "high"), ends, strict=True):
        if bound is None:
            raise InputError(f"State {bounds}.", field=f"{field}_{end}", hint=why)
        if not abs(bound) <= _LARGEST:
            raise InputError(
                f"A bound must be a finite number between −{_LARGEST:g} and {_LARGEST:g}.",
                field=f"{field}_{end}",
                hint="Choose a larger unit of measurement.",
            )
        numbers.append(float(bound))
    return numbers
