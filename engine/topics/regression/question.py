"""Regression: one curve from values at times."""

from __future__ import annotations

import math

from engine.asking import WITHIN, Asked, Kind, Numbers, as_floats, in_unit, protection
from engine.tasks import WAVELET_REGRESSION
from engine.theme import Chart
from engine.topics.regression import charts
from engine.topics.regression.answer import RegressionView, regression_view


def numbers(view: RegressionView, asked: Asked) -> Numbers:
    """The exact error where there is a truth, the privacy noise alone, and the band.

    The half-width of the confidence band is NaN where none is given.
    """
    unit = in_unit(view.facts.value_unit)
    half = math.nan if view.band is None else float((view.band[1] - view.band[0]).mean() / 2)
    errors = {f"error{unit}": math.nan if view.is_refused else view.error,
              f"{WITHIN}{unit}": math.nan if view.is_refused else view.within,
              f"privacy noise{unit}": view.known.noise,
              f"half-width of the 95 % confidence band, on average{unit}": half}
    return as_floats(errors) | protection(view.spends, asked.person)


def chart(view: RegressionView, _: Asked) -> Chart:
    """The curve with its band."""
    return charts.curve(view, "light")


KIND = Kind("regression", "Regression", regression_view, numbers, chart,
            (WAVELET_REGRESSION.key,))
