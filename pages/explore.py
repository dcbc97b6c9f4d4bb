"""Explore: what would I see if I spent this budget?"""

import streamlit as st

from engine.errors import InputError
from engine.language import tags
from engine.language.grammar import escape
from engine.topics.mean.answer import MeanAnswer
from pages.parts.explore import budgets as budget_cards
from pages.parts.explore import cards as explore_cards
from pages.parts.explore import steps as step_cards
from pages.parts.explore import tour
from pages.parts.explore.scene import Scene
from pages.shared import roles
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.cards import holdout as holdout_cards
from pages.shared.cards import odds as odds_card
from pages.shared.cards import rules as rule_cards
from pages.shared.cards import shape as shape_cards
from pages.shared.frame import controls, layout
from pages.shared.state import run, session
from pages.shared.uploads import panel

now, source = session.current(), session.source()
facts = source.facts

st.title(escape(tags.title(facts)), anchor=False)
layout.link_problems()

shown: MeanAnswer | None = None
try:
    with layout.loading(600):
        shown = run.picture(source, now.mechanism, session.delta(source), now.seed,
                            session.steps(now.epsilon))
except InputError as problem:  # the controls below stay usable
    st.error(controls.message(problem), icon=":material/block:")

if shown is not None:
    scene = Scene(shown, source, now)
    scene.follow_picture()
    explore_cards.strip(scene)
    with st.container():  # messages come and go in one place: the picture below keeps its own
        guarantee_cards.promise(shown.spends[scene.at], scene.budget)
        explore_cards.caution(scene)
        rule_cards.beyond_rule(scene.budget.epsilon)
        tour.card(scene.facts)
    left, right = st.columns([7, 3], gap="medium")
    with left:
        explore_cards.picture(scene)
else:
    left, right = st.columns([7, 3], gap="medium")

with left, st.container(horizontal=True, vertical_alignment="bottom"):
    controls.source_choice()
    controls.mechanism_choice()
    panel.button()
with left:
    why = st.empty()
panel.draw()

if shown is not None:
    with right, layout.user_errors():
        roles.chips()
        tour.button()
        scene.charts |= odds_card.card(scene.facts, shown.spends[scene.at], shown.data.sizes, scene)
        explore_cards.accuracy(scene)
    with layout.user_errors():
        explore_cards.limits(scene)
    with layout.user_errors():
        budget_cards.budgets(scene)
        with why:
            budget_cards.why_this_method(scene)
    with layout.user_errors():
        shape_cards.section(scene)
    explore_cards.take_away(scene)

layout.chips(controls.all_changed(), layout.reset)
with layout.fold("More options: curves, method, δ, seed", "more") as is_open:
    if is_open:
        controls.more_options()
rule_cards.rule_and_precedents()
if shown is not None:
    step_cards.fold(scene)
    holdout_cards.fold(source, scene.budget, scene.is_refused)
    with layout.fold("Numbers behind this picture", "numbers") as is_open:
        if is_open:
            explore_cards.numbers(scene)
    guarantee_cards.consequences(shown.spends[scene.at], scene.facts, "explore")
    with layout.fold("What was spent: the ledger", "ledger") as is_open:
        if is_open:
            guarantee_cards.ledger(shown.spends[scene.at], scene.budget)
    with layout.fold("Formula and source", "formula") as is_open:
        if is_open:
            guarantee_cards.formula(now.mechanism, shown.tuning[scene.at])
    explore_cards.code(scene)
