"""Numbers as people type them are read as they were meant, or refused."""

from pathlib import Path

import pytest

from engine.core.errors import InputError
from engine.language import typed


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0,6", 0.6),
        ("0.6", 0.6),
        (" 0.60 ", 0.6),
        ("0,600", 0.6),
        ("1 200,5", 1200.5),
        ("1e-9", 1e-9),
        ("−3", -3.0),
        ("1200", 1200.0),
    ],
)
def test_a_comma_and_a_point_are_decimal_marks(text, value):
    assert typed.number(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1200", 1200),
        ("1 200", 1200),
        ("1,200", 1200),
        ("1.200", 1200),
        ("1\u202f200\u202f300", 1_200_300),
        ("-5", -5),
    ],
)
def test_a_count_may_have_marks_between_thousands(text, value):
    assert typed.count(text) == value


@pytest.mark.parametrize("read", [typed.number, typed.count])
@pytest.mark.parametrize("text", ["", " ", "abc", "1 2", "nan", "inf", "1,2,3", "0x10", "x" * 200])
def test_what_is_no_number_is_refused_and_quoted_at_most_in_part(read, text):
    with pytest.raises(InputError) as refused:
        read(text)
    assert len(str(refused.value)) < 100


def test_what_can_be_read_in_two_ways_is_refused():
    with pytest.raises(InputError, match="two ways"):
        typed.number("1,200")
    with pytest.raises(InputError, match="whole number"):
        typed.count("2.5")


def test_no_page_asks_for_numbers_in_a_field_that_drops_commas():
    """The browser's own field for numbers makes 5 of 0,5, without a word, in most languages."""
    pages = Path(__file__).resolve().parents[2] / "pages"
    assert not [
        path.name for path in pages.rglob("*.py") if "number_input" in path.read_text("utf-8")
    ]
