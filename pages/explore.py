"""Explore: what would I see if I spent this budget?"""

import streamlit as st

from engine.errors import InputError
from engine.words import wording
from pages.shared import (
    cards,
    controls,
    holdout_cards,
    layout,
    odds_card,
    roles,
    run,
    settings,
    shape_cards,
    upload_panel,
)

now, source = settings.current(), settings.source()
facts = source.facts

st.title(wording.escape(wording.title(facts)), anchor=False)
layout.link_problems()

try:
    with layout.loading(600):
        shown = run.picture(source, now.mechanism, settings.delta(source), now.seed,
                            settings.steps(now.epsilon))
except InputError as problem:  # the controls below stay usable
    shown = None
    st.error(controls.message(problem), icon=":material/block:")

if shown is not None:
    scene = cards.Scene(shown, source, now)
    scene.follow_picture()
    cards.strip(scene)
    cards.promise(shown.spends[scene.at], scene.budget)
    cards.caution(scene)
    left, right = st.columns([7, 3], gap="medium")
    with left:
        cards.picture(scene)
else:
    left, right = st.columns([7, 3], gap="medium")

with left, st.container(horizontal=True, vertical_alignment="bottom"):
    controls.source_choice()
    controls.mechanism_choice()
    upload_panel.button()
upload_panel.panel()
upload_panel.clamped()

if shown is not None:
    with right, layout.user_errors():
        roles.chips()
        scene.charts |= odds_card.card(scene.facts, shown.spends[scene.at], shown.data.sizes, scene)
        cards.accuracy(scene)
        cards.limits(scene)
    with layout.user_errors():
        cards.budgets(scene)
    with layout.user_errors():
        shape_cards.section(scene)
    cards.take_away(scene)

layout.chips(controls.all_changed(), layout.reset)
with layout.fold("More options: curves, method, δ, seed", "more") as is_open:
    if is_open:
        controls.more_options()
if shown is not None:
    holdout_cards.fold(source, scene.budget, scene.is_refused)
    with layout.fold("Numbers behind this picture", "numbers") as is_open:
        if is_open:
            cards.numbers(scene)
    with layout.fold("What was spent: the ledger", "ledger") as is_open:
        if is_open:
            cards.ledger(shown.spends[scene.at], scene.budget)
    with layout.fold("Formula and source", "formula") as is_open:
        if is_open:
            cards.formula(now.mechanism, shown.tuning[scene.at])
    cards.code(scene)
