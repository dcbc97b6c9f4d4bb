"""Explore: what would I see if I spent this budget?"""

import streamlit as st

from engine.errors import InputError
from engine.language import tags
from engine.language.grammar import escape
from engine.topics.mean.answer import Preview
from pages.parts.explore import cards, details, doors
from pages.parts.explore.scene import Scene
from pages.shared.cards import guarantees, rules
from pages.shared.frame import controls, drawer, layout
from pages.shared.state import run, session
from pages.shared.uploads import panel

now, source = session.current(), session.source()

st.title(escape(tags.study_title(source.facts, source.sizes.n_curves)), anchor=False)
layout.link_problems()

shown: Preview | None = None
try:
    with layout.loading(640):
        shown = run.picture(source, now.mechanism, session.delta(source), now.seed,
                            session.steps(now.epsilon))
except InputError as problem:  # what would put it right stays within reach
    st.error(controls.message(problem), icon=":material/block:")

scene = None if shown is None else Scene(shown, source, now)
if scene is not None:
    scene.follow_figure()
    with st.container():  # messages come and go in one place: the figure below keeps its own
        guarantees.promise(scene.shown.spends[scene.at], scene.budget)
        cards.caution(scene)
        rules.beyond_rule(scene.budget.epsilon)
    cards.figure(scene)

contents = details.of(scene, source)
doors.show(contents)
panel.draw()
if scene is not None:
    cards.strip(scene)
drawer.show(contents)
