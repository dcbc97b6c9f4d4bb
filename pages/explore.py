"""Explore: what would I see if I spent this budget?"""

from functools import partial

import streamlit as st

from engine.language import tags
from engine.language.grammar import escape
from pages.parts.explore import budgets as budget_cards
from pages.parts.explore import cards as explore_cards
from pages.parts.explore import steps as step_cards
from pages.parts.explore import tour
from pages.shared import roles
from pages.shared.cards import holdout as holdout_cards
from pages.shared.cards import odds as odds_card
from pages.shared.cards import rules as rule_cards
from pages.shared.cards import shape as shape_cards
from pages.shared.frame import controls, layout, page
from pages.shared.state import run, session
from pages.shared.uploads import panel

current, source = session.current(), session.source()
page.begin(escape(tags.title(source.facts)))
preview = page.compute(partial(
    run.picture, source, current.mechanism, session.delta(source), current.seed,
    session.steps(current.epsilon)), height=600)
scene = page.above(None if preview is None else
                   explore_cards.Explored(preview, source, current))
left, right = st.columns([7, 3], gap="medium")
with left:
    if scene is not None:
        explore_cards.picture(scene)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.source_choice()
        controls.mechanism_choice()
        panel.button()
    why = st.empty()
panel.draw()

if scene is not None:
    with right, layout.user_errors():
        roles.chips()
        tour.button()
        scene.charts |= odds_card.card(scene.facts, scene.spends, scene.sizes, scene)
        explore_cards.accuracy(scene)
    page.cards(scene, explore_cards.limits, budget_cards.budgets)
    with why, layout.user_errors():
        budget_cards.why_this_method(scene)
    page.cards(scene, shape_cards.section, explore_cards.take_away)

page.options(controls.all_changed(), "More options: curves, method, δ, seed", "more",
             controls.more_options)
rule_cards.rule_and_precedents()
if scene is not None:
    step_cards.fold(scene)
    holdout_cards.fold(source, scene.budget, scene.is_refused)
page.end(scene)
