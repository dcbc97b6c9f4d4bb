"""A part of a page that runs again by itself, where the rest of the page is late."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.server import running


@pytest.mark.slow
def test_a_part_that_runs_again_before_the_rest_has_come_leaves_the_page_whole(
    tmp_path: Path, open_app: Callable[..., Page]
) -> None:
    with running(tmp_path / "log", script="tests/browser/harness/slow_app.py") as server:
        page = open_app(server.url)
        expect(page.get_by_text("Below")).to_be_visible()
        expect(page.get_by_text("Looks again")).to_be_visible()
        expect(page.get_by_role("heading", name="Above")).to_be_visible()
        assert page.problems == []
