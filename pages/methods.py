"""Method notes: what each promises, why its noise is enough, and what papers misprint."""

from pages.parts import guide as cards
from pages.shared.frame import layout, page

page.begin("How does each method protect?")
page.cards(cards.method_choice(), cards.method)
layout.folded("All methods", "all_methods", cards.all_methods)
