"""Explore: what would I see if I spent this budget?"""

from functools import partial

import streamlit as st

from engine.core.identity import digest
from engine.language import tags
from engine.language.grammar import escape
from pages.parts.explore import cards, details, line
from pages.parts.explore.views import Views
from pages.shared.frame import drawer, layout, page, parameters, strips
from pages.shared.state import run, session
from pages.shared.uploads import panel

session.open_of_link(details.OF_SETTINGS)
cards.follow_figure()
current, source = session.current(), session.source()
heading = st.container()
page.begin("")
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
scene, finding = None, ""
if preview is not None:
    scene = cards.Explored(preview, source)
    with messages:
        line.eyes_only(scene)
        scene.promise()
    views = Views(scene)
    finding = views.heading
    with picture():
        cards.figure(scene, views)
heading.title(
    finding or escape(tags.study_title(source.facts, source.sizes.n_curves)), anchor=False
)
contents = details.of(scene, source)
with foot:
    line.below(contents)
panel.draw()
strips.ledger_lines(source)
if scene is not None:
    views.compute_next()
layout.chips(parameters.all_changed())
drawer.show(contents)
