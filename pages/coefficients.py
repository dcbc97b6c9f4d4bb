"""Varying coefficients: the effect of every covariate as a function, with protection."""

from engine.topics.coefficients import words
from pages.parts import coefficients as cards
from pages.shared.frame import controls, page

page.begin(words.TITLE)
view = page.look(cards.Effects, words.LEAD)
cards.budget()
page.cards(view, cards.functions)
cards.choices()
page.cards(view, (cards.errors, cards.odds), cards.over_budgets, cards.cost)
page.options(controls.all_changed(cards.TASK), "More options: curves, method, δ, seed",
             "coefficients_more", cards.options)
page.end(view)
