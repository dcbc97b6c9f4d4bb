"""Varying coefficients: all functions together, and each."""

from __future__ import annotations

import math

from engine.asking import WITHIN, Asked, Kind, Numbers, as_floats, in_unit, protection
from engine.tasks import VARYING_COEFFICIENTS
from engine.theme import Chart
from engine.topics.coefficients import charts
from engine.topics.coefficients.answer import CoefficientView, coefficient_view, total


def numbers(view: CoefficientView, asked: Asked) -> Numbers:
    """Errors of all functions together and of each, and the protection."""
    unit = in_unit(view.data.facts.value_unit)
    errors = [math.nan if view.is_refused else error for error in view.error]
    together = {f"error, all functions{unit}": math.nan if view.is_refused else total(view.error),
                f"{WITHIN}, all functions{unit}": math.nan if view.is_refused else view.within}
    each = {f"error, {name}{unit}": error for name, error in zip(view.names, errors, strict=True)}
    return as_floats(together | each) | protection(view.spends, asked.person)


def chart(view: CoefficientView, _: Asked) -> Chart:
    """Errors of the functions."""
    return charts.errors(view, view.data.facts, "light")


KIND = Kind("coefficients", "Varying coefficients", coefficient_view, numbers, chart,
            (VARYING_COEFFICIENTS.key,))
