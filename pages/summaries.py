"""Summaries: whole functions published in several ways, side by side."""

from engine.topics.summaries import words
from pages.parts import summaries as cards
from pages.shared.frame import controls, page

page.begin(words.TITLE)
view = page.look(cards.Summary, words.LEAD)
cards.choices()
cards.own_data()
cards.budget()
cards.split()
page.cards(view, cards.ways, (cards.accuracy, cards.odds), cards.components, cards.noise)
page.options(controls.all_changed(cards.task()), "More options: records, method, δ, seed",
             "summaries_more", cards.options)
page.end(view)
