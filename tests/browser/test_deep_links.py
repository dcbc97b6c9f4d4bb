"""A link to any page works as the very first request a server gets.

Each test has a fresh server, because one visit to the home page would hide the fault.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from pages.shared.shell import PAGES
from tests.heavy import few

HOME_TITLE = PAGES[0][2]
# The menu as it reads from left to right; it is not drawn for a single page.
MENU = list(dict.fromkeys(section or title for section, _, title in PAGES))
LINKS = [("/", HOME_TITLE)]
LINKS += [(f"/{Path(script).stem}?s=e-0.5", title) for _, script, title in PAGES]


@pytest.mark.parametrize(("link", "title"), few(LINKS[::-1]))  # a fresh server costs seconds
def test_the_first_request_of_a_fresh_server_may_be_any_page(
    fresh_server, open_app: Callable[..., Page], link: str, title: str
) -> None:
    page = open_app(fresh_server.url + link)

    expect(page).to_have_title(f"{title} · Privacy Curves")
    expect(page.get_by_test_id("stHeaderLogo")).to_be_visible()
    expect(page.locator("[data-testid=stMain] h1")).to_have_count(1)
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_test_id("stSidebarNav")).to_have_count(0)
    if len(PAGES) > 1:
        assert page.get_by_test_id("stTopNav").inner_text().split() == " ".join(MENU).split()
    expect(page.get_by_test_id("stException")).to_have_count(0)
    assert page.outside == []
    assert page.problems == []
