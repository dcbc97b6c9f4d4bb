"""Audit: does the noise do what it claims?"""

from engine.topics.audit import words
from pages.parts import audit as cards
from pages.shared.frame import layout, page

page.begin(words.TITLE)
view = page.look(cards.Audited)
if view is not None:
    cards.parts(view)
    page.cards(view, cards.SECTIONS[view.now.part])
    layout.chips(view.changed, layout.reset)
    page.end(view)
