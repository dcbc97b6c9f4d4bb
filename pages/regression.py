"""Regression: one curve from single readings that are spread over sites."""

from engine.topics.regression import words
from pages.parts.regression import cards
from pages.parts.regression import network as network_cards
from pages.shared.frame import controls, layout, page

page.begin(words.TITLE)
view = page.look(cards.Regression, words.LEAD)
network_cards.choices()
network_cards.rows()
network_cards.own_readings()
page.cards(view, (cards.curve, cards.accuracy), cards.levels, cards.point, cards.cost,
           cards.assumptions)
page.options(controls.all_changed(cards.TASK), "More options: readings, method, seed",
             "regression_more", cards.options)
page.cards(view, page.in_fold("What each site sent", "regression_messages", cards.messages),
           page.in_fold("What one reading can change", "regression_worst", cards.worst))
layout.folded("Slopes: theory and exact", "regression_slopes", cards.slopes)
page.end(view)
