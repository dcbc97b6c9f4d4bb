"""Reproduce: do the figures and tables of the papers come out as they say?"""

from engine.papers import words
from pages.parts import reproduce as cards
from pages.shared.frame import page

page.begin(words.TITLE)
cards.strip()
cards.overview()
view = cards.choices()
page.cards(view, cards.heading, cards.again, cards.drawings, cards.claims, cards.published,
           cards.take_away)
page.end(view)
