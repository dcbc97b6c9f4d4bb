"""Publish: from a file to one release with differential privacy, in three steps."""

from engine.release import sentences
from pages.parts.release import cards, details, wizard
from pages.shared.frame import drawer, layout, page

page.begin(sentences.TITLE)
choice = cards.Choice()
quoted = cards.quote(choice) if wizard.is_past_data(choice) else None
contents = details.of(choice, quoted)
with layout.user_errors():
    wizard.show(choice, quoted, contents)
drawer.show(contents)
