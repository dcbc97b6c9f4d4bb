"""Files of invented people, to try what is done with a file of one's own.

Each is large enough, and as people differ, that what is released at ε = 1 shows something. The
numbers are the same always. How the people were invented is known without a look at the file, so
that it is public, as bounds of one's own file have to be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.uploads.facts import REACHES

SITES = ("North", "South")
_AGES = (2, 4, 6, 8, 10, 12, 14, 16, 19)
_HEIGHTS = (87, 103, 116, 128, 138, 149, 160, 168, 171)  # cm, typical at those ages
_MONTHS = 60  # of follow-up


@dataclass(frozen=True)
class Example:
    """A file of invented people, with what is publicly known of them."""

    make: Callable[[], str]
    stated: Mapping[str, str | bool]  # public facts as they are typed into a form, by their names
    # answers to questions about the columns of this very file, by the names of the questions
    choices: Mapping[str, Any] = field(default_factory=dict)


@cache
def growth_curves(people: int = 1000, observations: int = 8) -> str:
    """Heights of children, ages from 2 to 19: child_id, age, height and mother_height in cm.

    Examples
    --------
    >>> growth_curves(2, 2).splitlines()[0]
    'child_id,age,height,mother_height'
    """
    rng = np.random.default_rng(1)
    ages = np.sort(rng.uniform(2, 19, (people, observations)))
    mother = rng.normal(166, 6, (people, 1)).round()
    child_effect = rng.normal(0, 0.025, (people, 1)) + 0.002 * (mother - 166)  # share of the height
    heights = np.interp(ages, _AGES, _HEIGHTS) * (1 + child_effect) + rng.normal(0, 0.7, ages.shape)
    return _csv(
        child_id=_ids(people, observations),
        age=ages.ravel().round(2),
        height=heights.ravel().round(1),
        mother_height=np.repeat(mother, observations),
    )


@cache
def temperatures(people: int = 2000) -> str:
    """One observation per person at two sites: person_id, hour, temperature in °C, site."""
    rng = np.random.default_rng(2)
    hours = rng.uniform(0, 24, people)
    values = 36.7 - 0.4 * np.cos(2 * np.pi * (hours - 4) / 24) + rng.normal(0, 0.25, people)
    return _csv(
        person_id=_ids(people),
        hour=hours.round(2),
        temperature=values.round(1),
        site=_sites(people),
    )


@cache
def outcomes(people: int = 400) -> str:
    """Dates and status of patients: patient_id, site, arm, start, end, status.

    A fifth are still without an event when the study closes, and some before.
    """
    rng = np.random.default_rng(3)
    arm = np.arange(people) % 2
    death, relapse = rng.exponential(np.where(arm, 48, 30)), rng.exponential(40, people)
    closed = rng.uniform(18, _MONTHS, people)
    months = np.minimum(np.minimum(death, relapse), closed)
    status = np.where(months == closed, "alive", np.where(months == death, "death", "relapse"))
    start = pd.Timestamp("2018-01-01") + pd.to_timedelta(rng.integers(0, 365, people), unit="D")
    end = start + pd.to_timedelta(np.ceil(30.4 * months).astype(int), unit="D")
    return _csv(
        patient_id=_ids(people),
        site=_sites(people),
        arm=np.where(arm, "B", "A"),
        start=start.strftime("%Y-%m-%d"),
        end=end.strftime("%Y-%m-%d"),
        status=status,
    )


@cache
def concentrations(people: int = 400) -> str:
    """A value of each patient: patient_id, site, concentration."""
    values = np.random.default_rng(4).lognormal(0.3, 0.5, people)
    return _csv(patient_id=_ids(people), site=_sites(people), concentration=values.round(2))


@cache
def scores(people: int = 400) -> str:
    """A score and a disease, of three in ten patients: patient_id, site, score, label."""
    rng = np.random.default_rng(5)
    ill = rng.random(people) < 0.3
    values = rng.beta(np.where(ill, 4.0, 2.0), np.where(ill, 2.5, 4.0)).clip(0.01, 0.99)
    return _csv(
        patient_id=_ids(people),
        site=_sites(people),
        score=values.round(2),
        label=np.where(ill, "yes", "no"),
    )


@cache
def records(people: int = 4000) -> str:
    """Numbers of each person: person_id, site, age, weight in kg, steps a day, pressure in mmHg."""
    rng = np.random.default_rng(6)
    age, weight = rng.uniform(30, 75, people), rng.normal(76, 12, people)
    steps = rng.gamma(6, 1100, people)
    pressure = 122 + 0.5 * (age - 52) + 0.3 * (weight - 76) + rng.normal(0, 8, people)
    return _csv(
        person_id=_ids(people),
        site=_sites(people),
        age=age.round(),
        weight=weight.round(),
        steps=steps.round(),
        pressure=pressure.round(),
    )


def _ids(people: int, each: int = 1) -> list[str]:
    return [f"P{k:04d}" for k in range(1, people + 1) for _ in range(each)]


def _sites(people: int) -> NDArray[np.str_]:
    return np.repeat(SITES, (people + 1) // 2)[:people]


def _csv(**columns: Any) -> str:
    table = pd.DataFrame({name: np.ravel(values) for name, values in columns.items()})
    return table.convert_dtypes().to_csv(index=False, lineterminator="\n")


# -- how the people were invented ------------------------------------------------------------------


_PATIENTS = {"person": "patient", "people": "patients"}

GROWTH_CURVES = Example(
    growth_curves,
    {
        "value_name": "Height",
        "value_unit": "cm",
        "value_low": "70",
        "value_high": "205",
        "time_name": "Age",
        "time_unit": "years",
        "time_low": "2",
        "time_high": "19",
        "person": "child",
        "people": "children",
        "law": "even",
        "observations": "8",
        "covariate_mother_height_low": "140",
        "covariate_mother_height_high": "195",
        "covariate_mother_height_unit": "cm",
        "origin": "Simulated example",
    },
)

GROWTH_BY_MOTHER = replace(GROWTH_CURVES, choices={"upload_role_covariates": ["mother_height"]})

TEMPERATURES = Example(
    temperatures,
    {
        "value_name": "Temperature",
        "value_unit": "°C",
        "value_low": "35",
        "value_high": "39",
        "time_name": "Time of day",
        "time_unit": "hours",
        "time_low": "0",
        "time_high": "24",
        "person": "person",
        "people": "people",
        "law": "even",
        "reading_sd": "0.25",
        "periodic": True,
        "origin": "Simulated example",
    },
)

OUTCOMES = Example(
    outcomes,
    {
        "time_name": "Time since start",
        "time_unit": "days",
        "time_high": "1825",
        **_PATIENTS,
        "origin": "Simulated example",
    },
    {"upload_ask_columns.status.words": ["“death” is an event", "“relapse” is an event"]},
)

CONCENTRATIONS = Example(
    concentrations,
    {
        "time_name": "Concentration",
        "time_unit": "mg/L",
        "time_low": "0",
        "time_high": "8",
        **_PATIENTS,
        "origin": "Simulated example",
    },
)

SCORES = Example(
    scores,
    {
        "time_name": "Score",
        "time_low": "0",
        "time_high": "1",
        **_PATIENTS,
        "origin": "Simulated example",
    },
    {"upload_ask_columns.status.words": ["“yes” is the label"]},
)

_RANGES = {
    "age": ("30", "75", "years"),
    "weight": ("20", "140", "kg"),
    "steps": ("0", "30000", ""),
    "pressure": ("70", "180", "mmHg"),
}

RECORDS = Example(
    records,
    {
        "person": "person",
        "people": "people",
        "reading_sd": "8",
        "rows_reach": next(iter(REACHES)),
        **{
            f"covariate_{name}_{end}": number
            for name, ends in _RANGES.items()
            for end, number in zip(("low", "high", "unit"), ends, strict=True)
        },
        "origin": "Simulated example",
    },
    {
        "rows_response": "pressure",
        "rows_others": [*_RANGES],
        "rows_features_density": ["age"],
        "rows_features_risk_minimisation": ["age"],
    },
)
