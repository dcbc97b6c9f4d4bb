"""Release: publish real data once, with hardened noise, and write it to the ledger."""

from functools import partial

import streamlit as st

from engine.release import sentences as release_words
from pages.parts.release import cards
from pages.parts.release import preview as preview_card
from pages.shared.frame import layout, page

page.begin(release_words.TITLE)
choice = cards.Choice()
above = st.container()
cards.choices(choice)
cards.own_data(choice)
quoted = cards.quote(choice)
with above:
    cards.strip(choice, quoted)
left, right = st.columns([5, 7], gap="medium")
with left, layout.user_errors():
    cards.odds(choice, quoted)
    cards.book(choice, quoted)
with right, layout.user_errors():
    preview_card.preview(choice, quoted)
    cards.before(choice, quoted)
with layout.user_errors():
    cards.result()
if quoted is not None:
    layout.folded("How this cost is worked out", "release_cost", partial(cards.accounting, quoted))
layout.folded("What a release is, and what it does not cover", "release_limits",
              partial(st.markdown, release_words.LIMITS))
if quoted is not None:
    page.end(choice)
