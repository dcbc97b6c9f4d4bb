"""The instrument line: data and method beside the slider, and what opens below the figure."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine.language import tags
from engine.language.numbers import whole
from engine.sources import Source
from engine.uploads import stated
from pages.parts.explore.scene import Scene
from pages.shared.frame import controls, drawer, parameters
from pages.shared.frame.drawer import Detail
from pages.shared.state import session, settings
from pages.shared.uploads import panel

COMPARE = "compare methods"
_SIZES = ("n", "m", "S")  # symbols of sizes


def data_and_method(source: Source) -> None:
    """Draw the popover of the data, with its file drop and sizes, and the choice of a method."""
    with st.container(horizontal=True, vertical_alignment="center", key="instrument_line"):
        # with a file on screen a new popover, which is closed, and a new choice in it
        own = "_own" if session.uploaded() else ""
        with st.popover(f":small[Data] **{_name(source)}**", key=f"data{own}"):
            controls.source_choice(key=f"source{own}")
            if not session.uploaded():
                _sizes()
            panel.drop(settings.TASK)
        controls.mechanism_choice(
            beyond=(COMPARE, lambda: _see("methods")),
            is_beyond=session.current().explore_view == "methods",
            chosen=lambda: _see("look"),
            label_visibility="collapsed",
        )


def _name(source: Source) -> str:
    people = f"{whole(source.sizes.n_curves)} {source.facts.people}"
    if session.uploaded():
        return f"Your file, {controls.plain(people)}"
    name = session.current().source_of(settings.TASK).nearest_preset()[0]
    return f"{name.removesuffix(', simulated')}, {people}"


def _sizes() -> None:
    """Draw a field for each size of the recipe on screen."""
    recipe = session.current().source_of(settings.TASK)
    if session.current().has_table(settings.TASK):
        st.markdown(":small[Sizes are those of the table of sites on *Decide*.]")
        return
    parameters.parameter_form(
        recipe,
        f"s_{recipe.key}",
        lambda member: session.change_source(settings.TASK, member),
        leave_out=tuple(p.name for p in recipe.parameters() if p.symbol not in _SIZES),
        n_columns=2,
    )


def _see(view: str) -> None:
    """Show another view of the figure."""
    if session.current().explore_view != view:
        session.change(explore_view=view)
        st.session_state.rev += 1


def below(details: Sequence[Detail]) -> None:
    """Draw the buttons below the figure that open the drawer."""
    with st.container(horizontal=True, horizontal_alignment="right", key="instrument_foot"):
        if any(detail.key == "numbers" for detail in details):
            drawer.button(details, "Share", "share", first="numbers")
        drawer.button(details, "Details", "details")


def eyes_only(scene: Scene) -> None:
    """Mark one's own curves, which are not private, and say who is trusted with them."""
    upload = session.own_with(scene.facts)
    if upload is not None and not scene.facts.is_proposed:  # a first look says it in its own line
        trusted, why = stated.trust_tag(upload.sizes)
        st.markdown(
            f":orange-badge[:material/visibility_lock: {tags.FOR_YOUR_EYES}] :small[{trusted}]",
            help=why,
        )
