"""How many people two groups need to show a difference at one time: a plan by simulation."""

from __future__ import annotations

import math
from functools import partial

import streamlit as st

from engine.core.errors import InputError
from engine.core.types import PublicFacts
from engine.language.grammar import escape
from engine.topics.mean.shape_words import times_asked
from engine.topics.planning.power import DEFAULT_POWER, PowerPlan, people_for_difference, verdict
from pages.parts.explore.scene import Scene
from pages.shared.frame import controls, layout
from pages.shared.state import run, session, settings

_DEFAULT_SHARE = 1 / 50  # of the range of values: the first difference that is looked for


def section(scene: Scene) -> None:
    """The difference that would matter, when, and how many people show it.

    Parameters
    ----------
    scene : Scene
        Whose data, method and budget are planned with; in place of data of one's own their twin.
    """
    source = scene.source if scene.source.is_random else session.twin_of(scene.source)
    difference, time = _numbers(scene.facts)
    with layout.user_errors():
        plan = run.answer(people_for_difference, source, scene.mechanism, scene.budget, difference,
                          time, DEFAULT_POWER, session.current().seed)
        st.markdown(escape(verdict(plan, scene.facts, scene.budget)))
        layout.table(_sizes(plan, scene.facts), scene.is_own, "content")


def _numbers(facts: PublicFacts) -> tuple[float, float]:
    current, unit = session.current(), f" ({facts.value_unit})" if facts.value_unit else ""
    width = facts.value_high - facts.value_low
    default = {"power_difference": float(f"{_DEFAULT_SHARE * width:.1g}"),
               "power_at": float(f"{(facts.time_low + facts.time_high) / 2:.3g}")}
    labels = {"power_difference": (f"Difference{unit}", "The smallest that would matter."),
              "power_at": (f"At{times_asked(facts)}", "The time of that difference.")}
    stated = {name: default[name] if getattr(current, name) is None else getattr(current, name)
              for name in settings.POWER_NUMBERS}
    with st.container(horizontal=True):
        for name, (label, help) in labels.items():
            controls.number(label, stated[name], partial(_state, name), name, is_optional=True,
                            help=help, width=180)
    return stated["power_difference"], stated["power_at"]


def _state(field: str, value: float | None) -> None:
    """A number of the plan; an emptied box goes back to the usual one."""
    if field == "power_difference" and value == 0:
        raise InputError("The difference must be a number other than 0.", field=field,
                         hint="State the smallest difference that would matter.")
    session.change(**{field: None if value is None else settings.checked_number(value, field)})


def _sizes(plan: PowerPlan, facts: PublicFacts) -> list[dict[str, float | int | None]]:
    unit = f" ({facts.value_unit})" if facts.value_unit else ""
    return [{f"{facts.people} in each group": size.people,
             f"standard error{unit}": round(size.error, 4) if math.isfinite(size.error) else None,
             "power (%)": round(100 * size.power)} for size in plan.sizes]
