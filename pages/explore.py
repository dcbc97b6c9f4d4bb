"""Explore: what would I see if I spent this budget?"""

from functools import partial

import streamlit as st

from engine.core.identity import digest
from engine.language import tags
from engine.language.grammar import escape
from pages.parts.explore import cards, details, line
from pages.parts.explore.views import Views
from pages.shared.frame import controls, drawer, layout, page, strips
from pages.shared.state import run, session
from pages.shared.uploads import panel

session.open_of_link(details.OF_SETTINGS)
current, source = session.current(), session.source()
title = st.empty()
page.begin(escape(tags.study_title(source.facts, source.sizes.n_curves)), title)
data = digest(source.facts)
computed, messages = st.container(), page.messages()
with st.container(key="instrument", gap=None):
    line.data_and_method(source)
    picture, foot = layout.pending(data), st.container()
with computed:
    preview = page.compute(
        partial(
            run.mean_at_every_step,
            source,
            current.mechanism,
            session.delta(source).value,
            current.seed,
            session.steps(current.epsilon),
        ),
        height=640,
        data=data,
    )
scene = None
if preview is not None:
    cards.follow_figure(preview)
    scene = cards.Explored(preview, source)
    with messages:
        line.eyes_only(scene)
        scene.promise()
    views = Views(scene)
    if views.heading:
        title.title(views.heading, anchor=False)
    with picture():
        cards.figure(scene, views)
contents = details.of(scene, source)
with foot:
    line.below(contents)
panel.draw()
strips.ledger_lines(source)
if scene is not None:
    views.compute_next()
layout.chips(controls.all_changed())
drawer.show(contents)
