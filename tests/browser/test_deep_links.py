"""A link to any page works as the very first request a server gets.

Each needs a server that nobody has visited, because one visit to the home page would hide the fault.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from pages.shared.places import PAGES
from tests.browser.conftest import FIRST_LINK
from tests.server import Server

HOME_TITLE = PAGES[0][2]
# The menu as it reads from left to right; it is not drawn for a single page.
MENU = list(dict.fromkeys(section or title for section, _, title in PAGES))
LINKS = [("/", HOME_TITLE)]
LINKS += [(f"/{Path(script).stem}?s=e-0.5", title) for _, script, title in PAGES]


def test_the_first_request_of_a_server_may_be_for_any_page(
    first_visit: tuple[Server, Page],
) -> None:
    _is_whole(first_visit[1], dict(LINKS)[FIRST_LINK])


@pytest.mark.slow  # a fresh server costs seconds
@pytest.mark.parametrize(("link", "title"), [each for each in LINKS if each[0] != FIRST_LINK])
def test_so_it_is_with_every_other_page(
    fresh_server: Server, open_app: Callable[..., Page], link: str, title: str
) -> None:
    _is_whole(open_app(fresh_server.url + link), title)


def _is_whole(page: Page, title: str) -> None:
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
