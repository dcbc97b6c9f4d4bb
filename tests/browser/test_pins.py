"""Pin scenario in a real browser: the budget on screen is what is kept, and it opens again."""

import re

import pytest
from playwright.sync_api import expect


@pytest.mark.slow
def test_the_budget_on_screen_is_pinned_compared_and_opened_again(server, open_app):
    page = open_app(server.url + "/?s=open-numbers")
    pin = page.locator("#strip .ways button").nth(1)
    expect(pin).to_have_text("Pin scenario")
    pin.click()
    expect(pin).to_have_text("Pinned as A")
    page.locator("input[type=range]").first.press("ArrowRight")
    expect(pin).to_have_text("Pin scenario")  # before the server knows of the new budget
    expect(page).to_have_url(re.compile(r"epsilon-1\.2"))
    pin.click()
    expect(pin).to_have_text("Pinned as B")
    page.get_by_test_id("stTopNav").get_by_role("link", name="Lab").click()
    page.get_by_role("tab", name="Compare").click()
    expect(page.get_by_test_id("stTable").first).to_contain_text("1.2 (+20 %)")
    expect(page).to_have_url(re.compile(r"lab\?s=.*A-explore.*B-explore"))
    page.get_by_text("Open", exact=True).first.click()
    page.get_by_role("button", name="Share").click()
    expect(pin).to_have_text("Pinned as A")
    expect(page.locator("#strip")).to_contain_text("ε = 1 ·")
    assert page.problems == [] and page.outside == []
