"""What takes a release apart: what each step did, and its error without some parts."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from engine.language import error_words
from engine.language.grammar import capital
from engine.topics.mean import charts
from engine.topics.mean.charts import Method
from engine.topics.mean.error_parts import PARTS, Chosen, ErrorParts, error_parts
from pages.parts.explore.scene import Scene
from pages.shared.frame import controls
from pages.shared.state import run, session

_ALL = 2 ** len(PARTS) - 1


def section(scene: Scene) -> None:
    """Two charts: the steps of a release, and its error without some of its parts."""
    if scene.is_refused:
        st.markdown("Nothing would be published at this ε.")
        return
    current = session.current()
    parts = run.answer(error_parts, scene.source, current.mechanism, scene.budget,
                       current.seed)
    method = _method()
    _steps(scene, parts, method)
    _parts(scene, parts, method)


def _steps(scene: Scene, parts: ErrorParts, method: Method) -> None:
    facts, done = scene.facts, parts.steps
    st.subheader("Effect of each step", anchor=False)
    scene.draw("Step by step", charts.steps(done, parts.times, method, facts), "steps", 300)
    st.markdown(error_words.steps_done(facts, done.n_coefficients, done.moves))
    st.markdown(":small[Difference from the non-private mean (dashed).]")


def _parts(scene: Scene, parts: ErrorParts, method: Method) -> None:
    """Every part of the error can be taken away, to see what the others leave."""
    facts = scene.facts
    st.subheader("The error without some of its parts", anchor=False)
    with st.container(horizontal=True):
        parts_left = _switches(parts.has_sampling, error_words.parts(facts))
    scene.draw("The error without some of its parts",
               charts.left(parts, parts_left, method, facts), "parts", 300)
    st.markdown(error_words.parts_left(facts, parts.error[parts_left],
                                       parts.error[True, True, True]))
    st.markdown(f":small[{error_words.parts_key(parts.has_sampling)}]")


def _switches(has_sampling: bool, names: tuple[str, ...]) -> Chosen:
    """A switch for each part; a link keeps them as one number."""
    mask = session.looked_at("parts", range(2**len(PARTS)), _ALL)
    for k, name in enumerate(names):
        if k != PARTS.index("sampling") or has_sampling:
            controls.bound(st.toggle, capital(name), bool(mask >> k & 1),
                           partial(_look_at_parts, mask ^ 1 << k),
                           f"part_{PARTS[k]}")
    first, second, third = (bool(mask >> k & 1) for k in range(len(PARTS)))
    return first, second, third


def _look_at_parts(mask: int, _: bool) -> None:
    session.look_at("parts", mask)


def _method() -> Method:
    """Name and look of the chosen method; its errors are not needed here."""
    mechanism = session.current().mechanism
    label, variant = controls.named(mechanism)
    return Method(label, mechanism.key, mechanism.family, np.empty(0), variant)
