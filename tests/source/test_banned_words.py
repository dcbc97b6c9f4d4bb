"""What a person reads is in the field's terms: some words of our own are not used any more."""

from pathlib import Path

import pytest

from scripts import wording
from scripts.wording import Phrase


@pytest.fixture(scope="module")
def spoken():
    """Everything in the project that a person may read."""
    return list(wording.phrases())


def test_no_folder_has_a_banned_word(spoken):
    counts = wording.by_folder(wording.left(spoken))
    assert not counts, "python scripts/wording.py " + " ".join(sorted(counts))


@pytest.mark.parametrize(
    "text, name",
    [
        ("Readings each", "reading"),
        ("Shrink small waves", "wave"),
        ("95 % limits", "limits"),
        ("Do the limits hold the truth?", "hold the truth"),
        ("It errs least", "errs"),
        ("Two kinds of promise", "promise"),
        ("the usual settings", "usual"),
        ("its places in the list", "places"),
        ("Right guess: at most 56 in 100", "right guess"),
        ("chance in who took part", "chance in who took part"),
        ("What is taken for granted", "taken for granted"),
        ("at most 56 times in 100", "in 100"),
    ],
)
def test_a_banned_word_is_noticed(text, name):
    assert name in {ban.name for ban, _ in wording.uses(text)}


@pytest.mark.parametrize(
    "text",
    [
        "Usually 1/n²",
        "What limits accuracy",
        "ε limits how much one person can change",
        "1 in 100\u202f000",
        "the central limit theorem",
        "at most 50 MB, the limit of this server",
        "before reading the file",
        "wavelets",
        "replaces one curve",
        "an error",
    ],
)
def test_words_in_their_right_sense_are_no_banned_words(text):
    assert wording.uses(text) == []


@pytest.mark.parametrize(
    "text, name",
    [
        ("Of your data this is a forecast.", "fronted of"),
        ("It stops. Of these, two stay.", "fronted of"),
        ("Whether it holds.", "half a sentence"),
        ("That a person took part is public.", "half a sentence"),
        ("The band counts privacy noise.", "counts noise"),
        ("No change can be told.", "can be told"),
        ("An error is told to its holder.", "is told"),
        ("How times arise is not stated.", "is not stated"),
        ("Whoever knows it wins.", "whoever"),
        ("It is a yardstick.", "yardstick"),
        ("The number stands beside it.", "what stands"),
        ("A release may warn, as 90 % of them do.", "as n % do"),
        ("Next to no times lie there.", "next to none"),
    ],
)
def test_a_phrase_that_sentences_do_without_is_noticed(text, name):
    assert name in {ban.name for ban, _ in wording.uses(text, wording.IN_DOCUMENTS)}


@pytest.mark.parametrize(
    "text",
    [
        "The mean of your data",
        "It depends on whether it holds.",
        "The band includes noise.",
        "Of course it does.",
        "People who know it",
        "He told us.",
    ],
)
def test_plain_sentences_are_no_such_phrases(text):
    assert wording.uses(text, wording.IN_DOCUMENTS) == []


def test_what_is_collected_is_what_a_person_reads():
    words = "wave date day time stamp class label group arm visit readings scan series"
    module = (
        f'"""Readings, of a module."""\nKEY = "readings"\nWORDS = "{words}"\n\ndef f(n):\n    """Usual."""\n'
        '    return f"{n} readings" " of waves"\n'
    )
    assert list(wording.of_python(module)) == [(7, "… readings of waves")]
    assert list(wording.of_markdown("Waves.\n\n```\nusual\n```\n\n`limits` and errs"))[-1] == (
        7,
        "… and errs",
    )
    assert list(wording.of_script("// usual\nconst key = 'usual', label = 'Usual value';")) == [
        (2, "Usual value")
    ]
    assert list(wording.of_template("<style>\nusual {}</style>\n<p>Waves {{ usual }}</p>")) == [
        (3, "…Waves ……")
    ]
    assert list(
        wording.of_json('{"title": "Figure 1", "rows": [["a usual run", 3, "usual"]]}')
    ) == [(0, "Figure 1"), (0, "a usual run")]


def test_every_kind_of_file_is_read(spoken):
    folders = {phrase.file.parts[0] for phrase in spoken}
    assert {"engine", "reproductions", "pages", "docs", "data", "README.md"} <= folders
    files = {phrase.file for phrase in spoken}
    assert {
        Path("engine/language/glossary.py"),
        Path("engine/templates/memo.html.jinja"),
        Path("pages/shared/components/strip.js"),
    } <= files


def test_lines_are_those_of_the_file(spoken):
    phrase = next(phrase for phrase in spoken if "Smaller means more private." in phrase.text)
    assert isinstance(phrase, Phrase)
    lines = (wording.ROOT / phrase.file).read_text("utf-8").splitlines()
    assert phrase.text[:30] in lines[phrase.line - 1]
