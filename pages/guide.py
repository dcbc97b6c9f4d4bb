"""Guide: what the pages show and mean, and the words of the field."""

from pages.parts import guide as cards
from pages.shared.frame import page

page.begin("How does all this work?")
page.cards(cards.contents(), cards.chapter)
