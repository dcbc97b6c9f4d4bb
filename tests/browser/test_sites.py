"""A budget for each site, in a real browser: an ε is typed, and the sentences answer."""

import re

import pytest
from playwright.sync_api import expect

from tests.waiting import overhang, settle

TABLE = ".st-key-drawer [data-testid=stDataFrame] .dvn-scroller"  # the one with budgets
ERROR = "Error together:"


@pytest.fixture
def table(server, open_app):
    def visit(path="/sites", **context):
        page = open_app(server.url + path, **context)
        expect(page.get_by_text(ERROR)).to_be_visible()
        return page

    return visit


def type_epsilon(page, row, value):
    """Type into the second column of a row, counted from 0."""
    settle(page)
    page.locator(TABLE).first.click(position={"x": 60, "y": 38 + 35 * row + 17})
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")  # opens the cell
    page.locator("#portal input").fill(value)
    page.keyboard.press("Enter")


@pytest.mark.slow
def test_an_epsilon_typed_into_the_table_changes_the_sentence_the_strip_and_the_address(table):
    page = table()
    before = page.get_by_text(ERROR).inner_text()
    type_epsilon(page, 1, "4")
    expect(page.get_by_text("Since your change: error")).to_be_visible()
    expect(page).to_have_url(re.compile("East_250_10_4"))
    assert page.get_by_text(ERROR).inner_text() != before
    assert page.problems == [] and page.outside == []


@pytest.mark.slow
def test_a_second_edit_keeps_the_first_and_a_cell_that_cannot_be_is_explained(table):
    page = table()
    type_epsilon(page, 0, "2")
    expect(page).to_have_url(re.compile("North_250_10_2"))
    type_epsilon(page, 1, "3")
    expect(page).to_have_url(re.compile("East_250_10_3"))
    type_epsilon(page, 2, "99")
    expect(page.get_by_text("South: ε must lie between 0.05 and 10; got 99.").last).to_be_visible()
    expect(page).to_have_url(re.compile("North_250_10_2__East_250_10_3__South_250_10_1"))
    assert page.problems == []


@pytest.mark.slow
def test_a_linked_table_comes_back_and_nothing_scrolls_sideways_on_a_phone(table):
    page = table("/sites?s=sites-mixed", viewport={"width": 390, "height": 844})
    main = page.locator("[data-testid=stMain]")
    assert overhang(main) <= 0
