"""A real browser and a real server for the tests of this folder.

The browser never leaves the loopback address, and every server is ended by its own id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from scripts import find_browser
from tests.server import Server, running

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage"]
_OWN = (*(f"{scheme}://127.0.0.1:" for scheme in ("http", "https", "ws", "wss")), "data:", "blob:")
expect.set_options(timeout=20_000)  # a loaded machine is slow, not wrong


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of the browser."""
    path = find_browser.installed()
    if not path:
        pytest.fail(find_browser.NEEDED, pytrace=False)
    return path


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that do not mind what was asked of it before."""
    with running(tmp_path_factory.mktemp("server") / "log") as server:
        yield server


@pytest.fixture
def fresh_server(tmp_path: Path) -> Iterator[Server]:
    """A server that nobody has visited."""
    with running(tmp_path / "log") as server:
        yield server


@pytest.fixture
def open_app(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open `url` in a context of its own: ``open_app(url, color_scheme="dark", viewport=...)``.

    The page has `outside`, addresses asked for that are not on this machine, and `problems`,
    errors of the console and of scripts. It is returned when its script has run to the end.
    """
    contexts = []

    def open_app(url: str, **context: object) -> Page:
        contexts.append(browser.new_context(**{"reduced_motion": "reduce", **context}))
        page = contexts[-1].new_page()
        _record(page)
        page.goto(url)
        page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
        page.locator("[data-testid=stMain] h1").first.wait_for()
        return page

    yield open_app
    for context in contexts:
        context.close()


def _record(page: Page) -> None:
    page.outside, page.problems = [], []

    def request(request: Request) -> None:
        if not request.url.startswith(_OWN):
            page.outside.append(request.url)

    def console(message: ConsoleMessage) -> None:
        # Below a page's own path the front end first looks for the server there: two 404s.
        if message.type == "error" and "404" not in message.text:
            page.problems.append(message.text)

    page.on("request", request)
    page.on("websocket", request)
    page.on("console", console)
    page.on("pageerror", lambda error: page.problems.append(str(error)))
