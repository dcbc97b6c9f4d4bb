"""Reproduce through the framework's own tester: what is stored opens at once, and runs again."""

import csv
from collections import Counter

import pytest

import reproductions
from reproductions import claims
from reproductions import files as exhibit_files
from reproductions import words as exhibit_words
from reproductions.exhibits import Reason
from scripts import write_claims
from tests.pages.opening import visit
from tests.pages.reading import words
from tests.sentences import of_topic
from tests.waiting import until

wording = of_topic("learn")

FIRST = reproductions.names()[0]


def quickest():
    """The exhibit that takes the shortest time."""
    rows = [
        (exhibit_files.stored(*reproductions.find(key)).seconds, key)
        for key in reproductions.names()
    ]
    return min(rows)[1]


def test_the_first_exhibit_opens_with_its_stored_numbers_and_claims():
    at = visit("reproduce")
    assert at.session_state.settings.lab_tab == "papers"
    paper, exhibit = reproductions.find(FIRST)
    table = exhibit_files.stored(paper, exhibit).table
    for claim, found in zip(exhibit.claims, exhibit.findings(table), strict=True):
        told = exhibit_words.claim_markdown(exhibit, claim, found).splitlines()[0]
        assert told in words(at)
        assert found.measured in words(at)
    assert not at.error


def test_the_overview_counts_the_lines_of_the_table_of_claims_by_verdict_and_reason():
    with write_claims.FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    ours = [row for row in rows if row["place"] == "our own check"]
    of_documents = [row for row in rows if row not in ours]
    text = words(visit("reproduce"))
    count = Counter(row["verdict"] for row in of_documents)
    held = sum(row["verdict"] == "holds" for row in ours)
    assert f"**{count['holds']} of {len(of_documents)} claims" in text
    assert f"**{held} of our {len(ours)} " in text
    assert f"{count['fails']} fail, and {count['not comparable']} are not" in text
    for counted in (of_documents, ours):
        for reason, number in Counter(row["reason"] for row in counted if row["reason"]).items():
            assert f"{Reason(reason).words} ({number})" in text


def test_all_claims_stand_in_a_table_that_links_their_exhibits():
    at = visit("lab", "tab-papers~open-every_claim")
    table = at.dataframe[0].value
    assert list(table["Claim"]) == [each.claim.says for each in claims.settled()]
    assert set(table["Verdict"]) == {"holds", "fails", "not comparable"}
    assert all(table["Exhibit"].str.startswith("lab?s=tab-papers~exhibit-"))
    assert not at.error


def test_the_full_form_is_drawn_on_request_and_claims_have_the_numbers_of_both():
    key = next(
        key
        for key in reproductions.names()
        if exhibit_files.stored(*reproductions.find(key), "full")
    )
    paper, exhibit = reproductions.find(key)
    quick, full = (
        exhibit.findings(exhibit_files.stored(paper, exhibit, form).table)
        for form in ("quick", "full")
    )
    at = visit("reproduce", f"exhibit-{key}")
    for mine, other in zip(quick, full, strict=True):
        number = "the same" if mine.measured == other.measured else other.measured
        wording.found("full form", words(at), number)
    at.segmented_control(key="w_exhibit_form").set_value("full").run()
    wording.found("quick form", words(at))
    assert "Full form" in words(at) and not at.exception


def test_forms_with_equal_numbers_are_no_choice():
    by_form = {
        key: [exhibit_files.stored(*reproductions.find(key), form) for form in ("quick", "full")]
        for key in reproductions.names()
    }
    key = next(key for key, both in by_form.items() if all(both) and both[0].table == both[1].table)
    assert not visit("reproduce", f"exhibit-{key}").segmented_control


@pytest.mark.slow
def test_a_choice_is_in_the_address_and_the_address_brings_it_back():
    at = visit("reproduce")
    paper = reproductions.papers()[0]
    other = paper.exhibits[1]
    at.selectbox(key=f"w_exhibit_{paper.key}").set_value(other.key).run()
    assert at.header[0].value == other.title
    token = "".join(at.query_params["s"])
    assert token == f"tab-papers~exhibit-{paper.key}/{other.key}"
    assert visit("lab", token).header[0].value == other.title


def test_a_link_to_an_exhibit_that_does_not_exist_shows_the_first_one_and_says_so():
    at = visit("reproduce", "exhibit-nothing/figure-0")
    assert at.header[0].value == reproductions.find(FIRST)[1].title
    assert "exhibit" in at.warning[0].value


@pytest.mark.slow
def test_an_exhibit_runs_again_on_the_page_and_its_numbers_come_out_again():
    at = visit("reproduce", f"exhibit-{quickest()}")
    at.button(key="run_exhibit").click().run()
    until(lambda: "came out again" in words(at), at.run)
    wording.found("came out again", words(at))
    assert not at.exception and not at.error
