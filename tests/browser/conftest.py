"""A real browser and a real server for the tests of this folder.

The browser never leaves the loopback address, and every server is ended by its own id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    ViewportSize,
    expect,
    sync_playwright,
)

from scripts import find_browser
from tests import quick_streamlit
from tests.server import Server, running
from tests.waiting import PATIENCE, settle

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
SHORT = "--js-flags=--no-opt"  # for a page that lives for seconds, optimising scripts costs more
FIRST_LINK = "/lab?s=e-0.5"
WINDOW: ViewportSize = {"width": 1280, "height": 720}
PHONE: ViewportSize = {"width": 390, "height": 844}
_OWN = (*(f"{scheme}://127.0.0.1:" for scheme in ("http", "https", "ws", "wss")), "data:", "blob:")
expect.set_options(timeout=1000 * PATIENCE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = str(Path(__file__).parent)  # parents of each item's path would take half a second
    for item in items:
        if str(item.path).startswith(folder):
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
        browser = playwright.chromium.launch(executable_path=chromium, args=[*FLAGS, SHORT])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def free_pages() -> dict[str, list[Page]]:
    """Blank pages that other tests have done with, by the context they are in."""
    return defaultdict(list)


@pytest.fixture(scope="session")
def first_visit(
    browser: Browser, free_pages: dict[str, list[Page]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, Page]]:
    """A server, and the page that its very first request was for: a link to one far from home.

    There are few data sets behind the errors that it says: else it would simulate longer than the
    browser works.
    """
    with running(
        tmp_path_factory.mktemp("server") / "log", module=quick_streamlit.__name__
    ) as server:
        page = _new_page(browser, "", {})
        page.set_viewport_size(WINDOW)
        page.emulate_media(reduced_motion="reduce")
        page.goto(server.url + FIRST_LINK)
        settle(page)
        free_pages[_kind("", {})].append(
            _watched(page.context.new_page(), "")
        )  # scripts are read already
        yield server, page


@pytest.fixture(scope="session")
def server(first_visit: tuple[Server, Page]) -> Server:
    """One server for all tests that do not mind what was asked of it before."""
    return first_visit[0]


@pytest.fixture
def fresh_server(tmp_path: Path) -> Iterator[Server]:
    """A server that nobody has visited."""
    with running(tmp_path / "log") as server:
        yield server


@pytest.fixture
def open_app(browser: Browser, free_pages: dict[str, list[Page]]) -> Iterator[Callable[..., Page]]:
    """Open `url` in a context of its own: ``open_app(url, color_scheme="dark", viewport=...)``.

    The page has `outside`, addresses asked for that are not on this machine, and `problems`,
    errors of the console and of scripts. It is returned when it stands and rests; one that is not
    the dashboard's, ``stands=False``, when it is loaded. A `script` runs first in each of its pages.
    """
    with ExitStack() as taken:

        def open_app(
            url: str,
            viewport: ViewportSize = WINDOW,
            color_scheme: str = "light",
            reduced_motion: str = "reduce",
            stands: bool = True,
            script: str = "",
            **context: object,
        ) -> Page:
            page = taken.enter_context(_page(browser, free_pages, script, **context))
            page.set_viewport_size(viewport)
            page.emulate_media(color_scheme=color_scheme, reduced_motion=reduced_motion)
            page.goto(url)
            if stands:
                settle(page)
            return page

        yield open_app


@contextmanager
def _page(
    browser: Browser, free_pages: dict[str, list[Page]], script: str = "", **context: object
) -> Iterator[Page]:
    """A page as if nobody had used it; it is free again afterwards."""
    kind = _kind(script, context)
    page = free_pages[kind].pop() if free_pages[kind] else _new_page(browser, script, context)
    page.outside, page.problems = [], []
    page.bring_to_front()  # one that is behind another draws once a second
    yield page
    _forget(page)
    free_pages[kind].append(page)


def _kind(script: str, context: dict[str, object]) -> str:
    """What a page was made with, and cannot be changed later."""
    return repr((script, sorted(context.items())))


def _forget(page: Page) -> None:
    """Leave the page as if nobody had used it, but for the scripts of the front end.

    A fresh context reads and compiles those anew, which is most of the work of opening a page.
    """
    if page.url.startswith("http"):
        page.evaluate("sessionStorage.clear(), localStorage.clear()")
    page.goto("about:blank")
    page.mouse.move(0, 0)
    page.context.clear_cookies()  # emptying the context whole would drop the scripts as well


def patient(context: BrowserContext) -> BrowserContext:
    """The same, with pages that are waited for as long as a busy machine may take."""
    context.set_default_timeout(1000 * PATIENCE)
    return context


@pytest.fixture(scope="module")
def lasting_page(browser: Browser, free_pages: dict[str, list[Page]]) -> Iterator[Page]:
    """One page for all tests of a file that leave it as it was, or say what they begin with."""
    with _page(browser, free_pages) as page:
        page.set_viewport_size(WINDOW)
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        yield page


@pytest.fixture(scope="session")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the page of `tests/browser/harness`, with the theme of the dashboard."""
    log = tmp_path_factory.mktemp("harness") / "log"
    with running(log, script="tests/browser/harness/app.py") as server:
        yield f"{server.url}/"


@pytest.fixture
def show(open_app: Callable[..., Page], harness: str) -> Callable[..., Page]:
    """Open one case of the page: ``show("upload", viewport=PHONE)``."""

    def show(case: str = "", **context: object) -> Page:
        page = open_app(f"{harness}?case={case}", **context)
        page.locator("#main .without").first.wait_for(state="attached")
        return page

    return show


def _new_page(browser: Browser, script: str, context: dict[str, object]) -> Page:
    return _watched(patient(browser.new_context(**context)).new_page(), script)


def _watched(page: Page, script: str) -> Page:
    """The same, with a `script` in each of its documents, and a record of what goes wrong."""
    page.add_init_script(script)
    page.outside, page.problems = [], []
    _record(page)
    return page


def _record(page: Page) -> None:
    def request(request: Request) -> None:
        if not request.url.startswith(_OWN):
            page.outside.append(request.url)

    def console(message: ConsoleMessage) -> None:
        if message.type == "error":
            page.problems.append(message.text)

    page.on("request", request)
    page.on("websocket", request)
    page.on("console", console)
    page.on("pageerror", lambda error: page.problems.append(str(error)))
