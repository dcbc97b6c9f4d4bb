"""Sparse regression: which few of many features matter, from rows on several machines."""

from engine.topics.sparse import words
from pages.parts import sparse as cards
from pages.shared.frame import controls, layout, page

page.begin(words.TITLE)
view = page.look(cards.look, words.LEAD)
cards.choices()
cards.budget()
cards.own_rows()
page.cards(view, (cards.coefficients, cards.odds), cards.calculator, cards.over_budgets,
           cards.intervals)
with layout.user_errors():
    cards.machines(view)
page.cards(view, cards.trust)
page.options(controls.all_changed(cards.TASK), "More options: rows, method, δ, seed",
             "sparse_more", cards.options)
page.cards(view, page.in_fold("What the paper reports beside its noise", "sparse_paper",
                              cards.paper))
page.end(view)
