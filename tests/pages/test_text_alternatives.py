"""Every chart of every page is a sentence with a number as well, and a table among the numbers."""

import json
import re

import pytest

from engine.language.grammar import escape
from engine.topics.mean.answer import EPSILON_STEPS
from pages.shared.places import PAGES
from tests.heavy import all_but, slow
from tests.pages.opening import open_page

# Pages without a chart when they are opened: two draw what a visitor asked for, others only tell.
BARE = ("publish", "learn")
LAB = (
    "estimand-mean",
    "estimand-coefficients",
    "estimand-regression",
    "estimand-summaries~summary-density",
    "estimand-sparse",
    "estimand-survival",
    "tab-compare",
    "tab-theory",
    "tab-papers",
)


def sentences(at):
    """What stands in place of each chart on screen for those who do not see it."""
    messages = [
        json.loads(element.proto.mixed.json or element.proto.json)
        for element in at.get("bidi_component")
    ]
    step = EPSILON_STEPS.index(at.session_state.settings.epsilon)
    return [
        alts[step] if len(alts) > 1 else alts[0]
        for alts in (message.get("alts") or [message.get("alt")] for message in messages)
        if alts[0] is not None
    ]


@pytest.mark.parametrize("page", BARE)
def test_a_page_that_only_tells_has_no_chart_when_it_is_opened(page):
    assert not sentences(open_page(page=page))


@pytest.mark.parametrize(
    "detail", all_but(("attacker", "steps"), ("accuracy", "attacker", "steps"))
)
def test_so_does_every_chart_of_a_detail_of_explore(detail):
    fold = detail
    at = open_page(f"open-{detail}", **{f"fold_{fold}_numbers": True})
    text = sentences(at)
    assert text
    in_fold(at, text)


@pytest.mark.parametrize(
    ("page", "token"),
    [
        *(
            (page, "")
            for page in (script.removesuffix(".py") for _, script, _ in PAGES)
            if page not in ("explore", "lab", *BARE)
        ),
        *(
            slow(("lab", token))
            if token in ("estimand-coefficients", "estimand-sparse", "tab-theory", "tab-papers")
            else ("lab", token)
            for token in LAB
        ),
    ],
)
def test_every_chart_says_a_number_and_its_sentence_and_table_are_among_the_numbers(page, token):
    at = open_page(f"{token}~open-numbers".strip("~"), page)
    said, told = sentences(at), " ".join(element.value for element in at.markdown).lower()
    assert said and len(at.dataframe) >= len(said)
    for alt in said:
        assert re.search(r"\d.*\.$", alt), alt
        assert escape(alt).split(": ")[-1].lower() in told, alt


def in_fold(at, said):
    """Whether the sentences stand in the fold of numbers, each with a table."""
    fold = next(fold for fold in at.expander if fold.label.startswith("Numbers behind"))
    text = " ".join(element.value for element in fold.markdown).lower()
    assert len(fold.dataframe) >= len(said)
    assert all(len(frame.value) for frame in fold.dataframe)
    for alt in said:
        assert re.search(r"\d.*\.$", alt), alt
        assert escape(alt).split(": ")[-1].lower() in text, alt  # its title stands apart
