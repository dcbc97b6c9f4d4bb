"""Words of the field, explained on the page on which they stand."""

import json
import re

import pytest

from engine.language import glossary
from pages.shared.frame import glossary_fold
from pages.shared.places import PAGES
from tests.pages.opening import visit
from tests.pages.reading import words
from tests.pages.test_everywhere import seen, texts

# Release needs real data.
TOKENS = {
    "publish": (
        "c-sea_temperature~step-release",
        "c-sea_temperature~step-release~open-release_attacker",
        "c-sea_temperature~step-release~open-release_formula",
    ),
    "decide": ("", "open-more", "open-code"),
    "lab": ("", "open-attacker"),
}
UNIT = {"Unit of protection": "is protected"}  # a concept that has many names on pages
SCRIPTS = {script.removesuffix(".py") for _, script, _ in PAGES}


def all_of(page):
    """Every word of a page, with the names of its folds and what stands in the strip."""
    return "\n".join(part for token in TOKENS.get(page, ("",)) for part in parts(seen(page, token)))


def parts(found):
    """The words of a page as one link opens it."""
    folds = [fold.label for fold in found.at.expander if fold.label != "Glossary"]
    labels = [
        label
        for _, budget, _ in found.strips
        for label, value in (("Right guess", budget.odds), ("Error", budget.error))
        if value
    ]
    options = [
        option.content for group in found.at.get("button_group") for option in group.proto.options
    ]
    pieces = [
        piece.proto.mixed.json or piece.proto.json for piece in found.at.get("bidi_component")
    ]
    columns = [
        column.get("label")
        for table in found.at.dataframe
        for column in json.loads(table.proto.columns or "{}").values()
    ]
    return filter(
        None, [*texts(found), words(found.at), *folds, *labels, *options, *pieces, *columns]
    )


@pytest.mark.slow
@pytest.mark.parametrize("page", glossary_fold.TERMS)
def test_every_word_that_is_explained_stands_on_the_page(page):
    text = all_of(page)
    missing = []
    for term in map(glossary.find, glossary_fold.TERMS[page]):
        names = (term.name, *term.other_names, UNIT.get(term.name, term.name))
        if not any(re.search(rf"(?<!\w){re.escape(name)}", text, re.I) for name in names):
            missing.append(term.name)
    assert not missing, missing


def test_every_page_explains_its_words_but_the_first_and_the_one_that_holds_them_all():
    assert set(glossary_fold.TERMS) == SCRIPTS - {"explore", "learn"}
    assert all(len(set(names)) == len(names) for names in glossary_fold.TERMS.values())


def test_words_have_their_meaning_and_on_demand_their_formula():
    at = visit("audit", "open-words")
    assert glossary.explain("neighbours") in words(at) and "\\sim" not in words(at)
    assert glossary.explain("wavelets") not in words(at)  # none of this page
    at.toggle(key="words_formulas").set_value(True).run()
    assert "D \\sim D'" in words(at) and not at.exception


def test_the_odds_and_the_accuracy_of_a_card_are_explained_at_their_headings():
    help_of = {
        one.value: one.proto.help
        for detail in ("accuracy", "attacker")
        for one in seen("explore", f"open-{detail}").at.subheader
    }
    assert help_of["Attacker’s accuracy for one child"] == glossary.explain("odds")
    assert help_of["Accuracy"] == glossary.explain("error")
