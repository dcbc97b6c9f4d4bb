"""Lab in a real browser: every tab by the keyboard, and earlier addresses in their place."""

import re

from playwright.sync_api import expect


def test_each_tab_opens_by_keyboard_and_an_earlier_address_opens_its_own(server, open_app):
    page = open_app(server.url + "/audit?s=part-reuse")
    expect(page.get_by_role("tab", name="Verify")).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile(r"lab\?s=tab-verify~part-reuse"))
    tab = page.get_by_role("tab", name="Verify")
    for key, name in (("ArrowRight", "papers"), ("ArrowRight", "estimate")):
        expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
        tab.press(key)
        page.keyboard.press("Enter")
        tab = page.get_by_role("tab", name=name.capitalize())
        expect(tab).to_have_attribute("aria-selected", "true")
        expect(page).to_have_url(re.compile(f"tab-{name}" if name != "estimate" else r"lab\?s=part"))
    expect(page.get_by_role("heading", name="Attacker")).to_be_visible()
    assert page.problems == [] and page.outside == []
