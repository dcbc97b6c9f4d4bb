"""Spellings of ids: what cannot be told apart by eye is one id."""

import sys
import unicodedata
from itertools import product

import pyarrow as pa
import pytest

from engine.uploads.ids import IdForm, canonical, canonical_texts, lost_digits
from engine.uploads.proposal import propose

INVISIBLE = (
    "\u200b",
    "\ufeff",
    "\u00ad",
    "\u034f",
    "\ufe0f",
    "\u180b",
    "\u3164",
    "\u2800",
    "\U000e0100",
    "\u2003",
    "\x1f",
)


@pytest.mark.parametrize("form", [IdForm.TEXT, IdForm.NUMBER])
@pytest.mark.parametrize(
    "one,other",
    [
        *((f"ward 7{letter}-é", "WARD7-e\u0301") for letter in INVISIBLE),
        ("é", "e\u200d\u0301"),
        ("A-1", "A\N{MINUS SIGN}1"),
        ("A-1", "a\u20111"),
        ("Straße", "STRASSE"),
        ("'P000", "p000"),
    ],
)
def test_ids_that_look_alike_are_one_id(form, one, other):
    assert canonical(one, form) == canonical(other, form)


def test_the_normal_form_of_every_letter_is_its_own_normal_form():
    letters = [
        chr(code)
        for code in range(sys.maxunicode)
        if unicodedata.category(chr(code)) not in ("Cs", "Cn", "Co", "Lo")
    ]
    once = canonical_texts(pa.array([f"e{letter}\u0301" for letter in letters]))
    assert canonical_texts(once) == once
    assert len(once) > 15_000 and canonical("e\u0301") == "é"


@pytest.mark.parametrize("form", list(IdForm))
def test_plain_ids_in_an_array_are_those_one_by_one(form):
    """Arrays in which no letter changes are recognised as a whole, so each text is one as well."""
    texts = [
        f"{before}{chr(code)}{behind}"
        for code in range(128)
        for before, behind in (("", ""), ("a", ""), ("", "1"), ("0", "0"), ("1", "e5"), ("7", "0"))
    ]
    texts += ["", "0", "00", "7.0", "70.00", "\u00e9", "1.5e+3"]
    expected = [canonical(text, form) for text in texts]
    assert canonical_texts(pa.array(texts), form).to_pylist() == expected
    assert [canonical_texts(pa.array([text]), form)[0].as_py() for text in texts] == expected
    plain = [text for text in texts if canonical(text, form) == text]
    for some in (pa.array(plain), pa.array(["X", *plain, "Y"])[1:-1]):
        assert canonical_texts(some, form).to_pylist() == plain
    looks = pa.array(["1e5", "", "1.2e+11", "12", "e5"])
    assert lost_digits(looks).tolist() == [True, False, True, False, False]
    assert lost_digits(looks[3:]).tolist() == [False, False]


def test_every_spelling_is_another_id_where_that_is_stated():
    assert len({canonical(text, IdForm.EXACT) for text in ("7", "007", "7\u200b")}) == 3


@pytest.mark.parametrize(
    ("ids", "number"),
    [
        (("anna", "\u0430nna", "bob"), 2),  # a Cyrillic a
        (("pax", "\u0440\u0430\u0445", "PAX"), 2),  # all Cyrillic; capitals are one id
        (("\u03bf1", "o1", "\u043e1"), 3),  # Greek, Latin, Cyrillic
        (("\u0430\u043d\u043d\u0430", "\u0431\u043e\u0431"), 0),  # one alphabet
        (("anna", "ana"), 0),
        (("anna", "ánna"), 0),
    ],
)
def test_ids_that_differ_by_alphabet_alone_are_counted_and_stay_apart(ids, number):
    rows = "".join(f"{each},{time},5\n" for each in ids for time in (1, 2))
    proposal = propose(f"child_id,age,height\n{rows}".encode())
    assert proposal.n_people == len({canonical(each) for each in ids})
    doubts = [note for note in proposal.notes if "alphabet" in note]
    assert len(doubts) == bool(number)
    for doubt in doubts:
        assert doubt.startswith(f"{number} ") and not any(each in doubt for each in ids)


@pytest.mark.parametrize("form", IdForm)
def test_ids_of_any_two_letters_are_the_same_person_in_either_way(form):
    """Each is an array of its own, so that the way of plain arrays is taken for it alone."""
    letters = map(chr, range(128))
    for text in map("".join, product(letters, repeat=2)):
        assert canonical_texts(pa.array([text]), form)[0].as_py() == canonical(text, form)
