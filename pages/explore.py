"""Explore: what would I see if I spent this budget?"""

from functools import partial

import streamlit as st

from engine.core.identity import digest
from engine.language import tags
from engine.language.grammar import escape
from pages.parts.explore import cards, details
from pages.shared.frame import controls, drawer, layout, page
from pages.shared.state import run, session
from pages.shared.uploads import panel

session.open_of_link(details.OF_SETTINGS)
current, source = session.current(), session.source()
page.begin(escape(tags.study_title(source.facts, source.sizes.n_curves)))
data = digest(source.facts)
computed, messages, picture = st.container(), page.messages(), layout.picture_of(data)
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
        scene.promise()
    with picture():
        cards.figure(scene)
contents = details.of(scene, source)
details.doors(contents)
panel.draw()
if scene is not None:
    scene.strip()
layout.chips(controls.all_changed())
drawer.show(contents)
