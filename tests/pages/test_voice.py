"""Sentences that places show: short, with the subject first, and no phrase of our own."""

import re
from statistics import median

import pytest

from engine.release import ledger
from scripts import wording
from tests.pages.opening import open_page
from tests.pages.reading import said, typed

pytestmark = pytest.mark.usefixtures("few_data_sets")
SHOWN = (
    ("explore", "open-accuracy"),
    ("explore", "c-sea_temperature~open-budget_curve"),
    ("decide", ""),
    ("lab", "m-frl"),
    ("lab", "estimand-survival"),
    ("lab", "estimand-percentiles"),
    ("learn", ""),
    ("publish", "c-sea_temperature~step-preview"),
    ("publish", "c-sea_temperature~step-release"),
)
_MEDIAN = 14  # words


@pytest.fixture(scope="module")
def sentences(tmp_path_factory):
    """Whole sentences of markdown, boxes and cards, by place and token."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ledger.VARIABLE, str(tmp_path_factory.mktemp("own") / "ledger.sqlite3"))
        return {
            (place, token): list(sentences_of(open_page(token, place))) for place, token in SHOWN
        }


def sentences_of(at):
    boxes = [*at.markdown, *at.warning, *at.info, *at.error, *at.success]
    for text in [*(box.value for box in boxes), *said(at)]:
        plain = re.sub(r":[a-z-]+\[|[*_`\]#]|:material/\w+:", "", typed(text))
        for sentence in re.split(r"(?<=[.!?])\s+(?=[^a-z])", plain):
            words = re.findall(r"[^\W\d_]{2,}", sentence)
            if sentence.rstrip().endswith((".", "!", "?")) and len(words) > 2:
                yield sentence.strip()


def test_no_sentence_on_screen_has_a_banned_phrase(sentences):
    found = [
        (place, words)
        for place, shown in sentences.items()
        for sentence in shown
        for _, words in wording.uses(sentence, (*wording.BANNED, *wording.IN_SENTENCES))
    ]
    assert not found


def test_half_of_the_sentences_on_screen_have_at_most_fourteen_words(sentences):
    lengths = [
        len(re.findall(r"[^\W_]+", sentence)) for shown in sentences.values() for sentence in shown
    ]
    assert len(lengths) > 60
    assert median(lengths) <= _MEDIAN
