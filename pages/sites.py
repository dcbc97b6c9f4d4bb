"""Sites: what does each site cost and add?"""

from functools import partial

from engine.topics.sites import words
from pages.parts.sites import cards
from pages.shared.frame import controls, page

page.begin(words.title())
view = page.look(cards.solved, words.LEAD, height=220)
if view is not None:
    cards.choices(view)
    cards.table(view)
    solved = view if view.found is not None else None
    page.cards(solved, cards.answer, cards.warnings, cards.pictures,
               (cards.shares, cards.trust), cards.guarantees)
    page.options(controls.all_changed(), "More options: curves, method, seed", "sites_more",
                 partial(cards.options, view))
    page.cards(solved, cards.published_study,
               page.in_fold("If a site leaves, or tightens", "what_if", cards.what_if),
               page.in_fold("What the centre saw", "transcript", cards.transcript))
    page.end(solved)
