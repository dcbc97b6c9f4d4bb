"""Publish: from a file to one release with differential privacy, in three steps."""

from engine.release import sentences
from pages.parts.release import cards, details, wizard
from pages.parts.release.choice import Choice
from pages.shared.frame import drawer, layout, page

page.begin(sentences.TITLE)
choice = Choice()
cost = cards.release_cost(choice) if wizard.is_past_data(choice) else None
contents = details.of(choice, cost)
with layout.user_errors():
    wizard.show(choice, cost, contents)
drawer.show(contents)
