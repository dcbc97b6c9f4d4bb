"""Rates: what limits the error, people, readings or privacy?"""

from functools import partial

from pages.parts.rates import cards
from pages.parts.rates import practice as practice_cards
from pages.shared.frame import page

page.begin("What limits us: people, readings or privacy?")
view = page.look(cards.RateAtPoint, "What theory says limits the error at your sizes, and whether "
                 "simulations agree.")
if view is not None:
    cards.choices(view)
    page.cards(view, (cards.regimes, cards.answer), practice_cards.practice, cards.notions)
    page.options(view.changed, "More options: problem, trust, smoothness", "rate_options",
                 partial(cards.options, view))
    page.end(view)
