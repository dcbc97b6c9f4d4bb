"""Wavelet regression in a real browser: an ε is typed, a point is picked, the sentences answer."""

import re

import pytest
from playwright.sync_api import expect

from tests.waiting import choose, overhang

OFF = "The published curve has an error of"
AT = "the released value is"
NOT_SIDEWAYS = """() => { const e = document.querySelector("[data-testid=stMain]");
                        return e.scrollWidth <= e.clientWidth }"""


@pytest.fixture
def regression(server, open_app):
    def visit(path="/regression", **context):
        page = open_app(server.url + path, **context)
        expect(page.get_by_text(OFF)).to_be_visible()
        return page

    return visit


def plot_of_a_point(page):
    plot = page.get_by_role("figure", name=re.compile("^At .* the released value"))
    plot.locator(".main-svg").first.wait_for()
    plot.scroll_into_view_if_needed()
    return plot


def place(plot, share):
    """Where the plot has a share of its x axis, which runs from 0 to 1."""
    return {
        "y": 150,
        "x": plot.evaluate(
            "(g, share) => g._fullLayout._size.l + g._fullLayout.xaxis.d2p(share)", share
        ),
    }


@pytest.mark.slow
def test_an_epsilon_changes_the_sentences_and_a_click_moves_the_point(regression):
    page = regression()
    before = page.get_by_text(OFF).inner_text()
    page.get_by_role("button", name="Sizes and ε").click()
    epsilon = page.get_by_label("Privacy budget ε of each")
    epsilon.fill("0.3")
    epsilon.press("Enter")
    expect(page.get_by_text(before)).to_have_count(0)
    expect(page).to_have_url(re.compile("16x4000x0.3"))
    plot = plot_of_a_point(page)
    plot.click(position=place(plot, 0.62))
    expect(page.get_by_text(f"At 0.62 {AT}")).to_be_visible()
    expect(page).to_have_url(re.compile("point-0.62"))
    expect(page.get_by_role("slider", name="Where")).to_have_attribute("aria-valuetext", "0.62")
    assert page.problems == [] and page.outside == []


@pytest.mark.slow
def test_a_linked_point_moves_by_a_tap_and_nothing_scrolls_sideways_on_a_phone(regression):
    page = regression(
        "/regression?s=point-0.2~network-4x5000x2",
        has_touch=True,
        viewport={"width": 390, "height": 844},
    )
    expect(page.get_by_text(f"At 0.2 {AT}")).to_be_visible()
    plot = plot_of_a_point(page)
    plot.tap(position=place(plot, 0.75))
    expect(page.get_by_text(f"At 0.75 {AT}")).to_be_visible()
    main = page.locator("[data-testid=stMain]")
    assert overhang(main) <= 0
    assert page.problems == []


@pytest.mark.slow
def test_whole_functions_and_sparse_coefficients_answer_in_place(open_app, server):
    """Two pages in one window, because a fresh window costs more than a page."""
    page = open_app(server.url + "/summaries?s=summary-density")
    expect(page.get_by_text("comes closest")).to_be_visible()
    choose(page, "w_summary", "Covariance")
    expect(page.get_by_role("heading", name="Principal components")).to_be_visible()
    expect(page).to_have_url(re.compile("summary-covariance"))
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(NOT_SIDEWAYS)  # once the picture has followed
    page.goto(server.url + "/sparse?s=x-sparse_rows~x.n_curves-8000~x.n_features-20")
    expect(page.get_by_text("features that matter are in every release")).to_be_visible()
    expect(page.get_by_text("No confidence intervals")).to_be_visible()  # with so few rows
    page.wait_for_function(NOT_SIDEWAYS)
    assert page.problems == [] and page.outside == []
