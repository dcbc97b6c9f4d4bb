"""Explore in a real browser: the whole instrument on one screen, three views of one figure."""

import re

import pytest
from playwright.sync_api import expect

from scripts.count_screens import HEIGHT, WIDTH, measure
from tests.browser.conftest import PHONE
from tests.waiting import settle

DESKTOP = {"width": WIDTH, "height": HEIGHT}
MARK = "e => { e.getRootNode().host.dataset.mark = 'kept' }"
KEPT = "e => e.getRootNode().host.dataset.mark"


@pytest.mark.slow
def test_all_of_the_instrument_is_on_one_screen(server, open_app):
    page = open_app(server.url, viewport=DESKTOP)
    assert measure(page, "explore").excess() == []
    for part in (
        "h1",
        ".st-key-instrument_line",
        "#e",
        "#numbers",
        "#views",
        "#main",
        "#difference",
        "#sentence",
        "#attack",
        ".st-key-instrument_foot",
    ):
        expect(page.locator(part).first).to_be_in_viewport(ratio=1)
    assert page.locator("#difference").bounding_box()["height"] >= 380


@pytest.mark.slow
def test_a_phone_shows_both_panels_and_every_choice_without_scrolling(server, open_app):
    page = open_app(server.url, viewport=PHONE)
    for part in (
        "h1",
        ".st-key-instrument_line",
        "#e",
        "#numbers",
        "#views",
        "#main",
        "#difference",
    ):
        expect(page.locator(part).first).to_be_in_viewport(ratio=1)
    wide = page.locator("[data-testid=stMain]").evaluate("e => [e.scrollWidth, e.clientWidth]")
    assert wide[0] <= wide[1]


@pytest.mark.slow
def test_views_change_in_the_browser_and_the_figure_stays_mounted(server, open_app):
    page = open_app(server.url, viewport=DESKTOP)
    page.locator("#figure").evaluate(MARK)
    page.get_by_role("tab", name="Theory").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("one trusted centre")
    for name, gloss in (("CDP", "central"), ("FDP", "federated"), ("LDP", "local")):
        expect(page.locator("#notes table")).to_contain_text(f"{name} {gloss}")
    assert page.locator("#rates .dot").count() > 30
    assert page.locator("#rates .dashes").count() == 3
    settle(page)
    assert "view-theory" in page.url
    page.get_by_role("tab", name="Theory").press("ArrowLeft")
    expect(page.locator(".tile")).to_have_count(8)
    errors = [
        float(text.split()[0]) for text in page.locator(".tile .small strong").all_inner_texts()
    ]
    assert errors == sorted(errors)
    expect(page.get_by_role("heading", level=1)).to_contain_text("8 methods")
    page.locator("#equal").click()
    expect(page.locator(".tile").first).to_contain_text("ε = ")
    page.get_by_role("tab", name="Curves").click()
    expect(page.locator("#main .release")).to_have_count(1)
    assert page.locator("#figure").evaluate(KEPT) == "kept" and page.problems == []


@pytest.mark.slow
def test_a_tile_takes_its_method_back_to_the_curves(server, open_app):
    page = open_app(f"{server.url}/?s=view-methods", viewport=DESKTOP)
    tile = page.locator(".tile", has_text="A few coefficients (FRL)")
    tile.click()
    expect(page.locator("#main")).to_be_visible()
    settle(page)
    assert "m-frl" in page.url and "view-" not in page.url
    expect(page.get_by_role("combobox", name="Method")).to_have_value(
        re.compile("few coefficients")
    )


@pytest.mark.slow
def test_a_full_pull_is_seen_at_the_usual_budget_and_is_no_longer_hidden_at_a_large_one(
    server, open_app
):
    page = open_app(server.url, viewport=DESKTOP)
    for _ in range(40):
        page.locator("#stage").press("ArrowUp")
    assert page.locator("#difference .sliver").bounding_box()["height"] >= 12
    expect(page.locator("#sentence")).to_contain_text("stays inside the noise")
    page.locator("#e").fill("23")
    expect(page.locator("#sentence")).to_contain_text("no longer hides it")


@pytest.mark.slow
def test_a_dropped_file_is_a_picture_after_two_actions(server, open_app):
    from tests import files

    page = open_app(server.url, viewport=DESKTOP)
    page.locator(".st-key-data button").first.click()
    page.locator("input[type=file]").set_input_files(
        files=[
            {
                "name": "growth.csv",
                "mimeType": "text/csv",
                "buffer": files.csv(files.growth_frame(60, 8)),
            }
        ]
    )
    expect(page.get_by_text("Not private: for your eyes")).to_be_visible()
    expect(page.locator("#main .raw").first).to_be_attached()
    assert "s=" not in page.url
    page.get_by_role("tab", name="Methods").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("distance from your own mean")
    expect(page.get_by_role("button", name="Your file, 60 children")).to_be_visible()
