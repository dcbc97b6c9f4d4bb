"""What a release would look like, on a simulated twin, before anything is spent."""

from __future__ import annotations

import streamlit as st

from engine.core.errors import InputError
from engine.language.numbers import number
from engine.release.certified import Quote
from engine.release.functions import places
from engine.topics.release import preview_charts, words
from engine.topics.release.preview import release_preview
from pages.parts.release.cards import Choice
from pages.shared.frame import controls, layout
from pages.shared.state import run, session


def preview(choice: Choice, quoted: Quote | None) -> None:
    """A simulated release with its band, how far off it is, and what of a shape survives."""
    if choice.source is None or quoted is None:
        return
    with st.container(border=True):
        st.subheader(words.TITLE, anchor=False)
        facts = choice.source.facts
        st.markdown(words.about(facts))
        try:
            simulated = run.at_once(release_preview, facts, choice.source.sizes, choice.mechanism,
                                    quoted.inner, session.current().seed)
        except InputError as problem:
            st.info(controls.message(problem), icon=":material/info:")
            return
        _, across, up, _ = places(choice.mechanism, facts)
        if across:
            chart = preview_charts.chart(simulated, across, up, layout.theme())
            layout.draw(chart, "release_preview", 300, 260)
            st.markdown(f":small[{words.band(simulated)}]")
            if (ranges := preview_charts.ranges(simulated, layout.theme())) is not None:
                layout.draw(ranges, "preview_ranges", 170, 150)
        else:
            st.metric(f"{up}, simulated", number(float(simulated.curves[0].released[0]), 4))
        st.markdown(words.error(simulated, choice.what))
        if survives := words.survives(simulated, choice.what):
            st.markdown(survives)
        for warning in simulated.warnings:
            st.warning(warning, icon=":material/warning:")
