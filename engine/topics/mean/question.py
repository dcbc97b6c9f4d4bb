"""Explore: one budget of the slider."""

from __future__ import annotations

import math

from engine.asking import Asked, Kind, Numbers, as_floats, errors, protection
from engine.figures import traces
from engine.language import error_parts
from engine.tasks import MEAN_FUNCTION
from engine.theme import Chart
from engine.topics.mean.answer import Preview, Study, at_budget


def numbers(view: Preview, asked: Asked) -> Numbers:
    """Errors, what they are made of, and the protection."""
    at = view.budgets.index(asked["budget"])
    study, unit = view.study, view.data.facts.value_unit
    error, within = ((math.nan, math.nan) if view.is_refused(at)
                     else (study.error[at], study.within[at]))
    return as_floats(errors(error, within, unit, study.baseline) | shares(view, study, at)
                     ) | protection(view.spends[at], asked.person)


def shares(view: Preview, study: Study, at: int) -> Numbers:
    """What the squared error at one budget is made of.

    Parameters
    ----------
    view : Preview
        What is drawn.
    study : Study
        Its errors.
    at : int
        Number of the budget.
    """
    parts = zip(error_parts.parts(view.data.facts), study.shares[at], strict=True)
    return {f"share of the squared error: {name}": math.nan if view.is_refused(at) else share
            for name, share in parts}


def releases(view: Preview, asked: Asked) -> Chart:
    """Possible releases of an average curve, and the average without protection."""
    facts = view.data.facts
    curves = [*view.releases[view.budgets.index(asked["budget"])], view.without]
    names = [*(f"release {k}" for k in range(1, len(curves))), "without protection"]
    columns = zip((facts.time_name, *names), (view.times, *curves), strict=True)
    return traces.table({name: traces.plain(values) for name, values in columns})


KIND = Kind("curves", "Explore", at_budget, numbers, releases, (MEAN_FUNCTION.key,))
