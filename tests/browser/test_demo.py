"""The demo site from a plain file server: one request a page, and no link that leads nowhere."""

import functools
import http.server
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from PIL import Image
from playwright.sync_api import expect

from scripts import check_demo, write_demo
from tests.conftest import fewer_data_sets
from tests.few import FEW_DATA_SETS


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site with its smallest figures."""
    folder = tmp_path_factory.mktemp("demo")
    with_few = fewer_data_sets(FEW_DATA_SETS)
    next(with_few)
    with pytest.MonkeyPatch.context() as patch:
        growth, survival = write_demo.TILES[0], write_demo.TILES[3]
        patch.setattr(write_demo, "TILES", (growth._replace(chosen={"n_curves": 60}), survival))
        with ThreadPoolExecutor(1) as thread:  # the browser's driver keeps a loop in the main one
            thread.submit(write_demo.write, folder, home="https://example.org/demo/").result()
    for _ in with_few:
        pass
    return folder


def test_every_link_resolves_and_nothing_is_loaded(site):
    assert list(check_demo.problems(site)) == []
    assert (
        b'name="home" content="https://example.org/demo/growth.html"'
        in (site / "growth.html").read_bytes()
    )


def test_a_hosted_page_names_what_others_show_of_its_address(site):
    for name in ("growth", "survival", "lesson-3"):
        page = (site / f"{name}.html").read_text("utf-8")
        stated = dict(re.findall(r'<meta property="og:(\w+)" content="([^"]+)">', page))
        assert stated["url"] == f"https://example.org/demo/{name}.html"
        assert stated["image"] == f"https://example.org/demo/{name}.png"
        assert stated["title"] in page.partition("<title>")[2] and len(stated["description"]) > 40
        with Image.open(site / f"{name}.png") as picture:
            assert picture.size == (1200, 630)


def test_a_link_that_leads_nowhere_and_a_picture_from_outside_are_found(site, tmp_path):
    (tmp_path / "page.html").write_text(
        '<a href="none.html">x</a><img src="https://example.org/x">'
    )
    assert len(list(check_demo.problems(tmp_path))) == 2


def test_documentation_loads_files_of_its_own_and_nothing_from_outside(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/own.css").write_text("")
    page = tmp_path / "docs/page.html"
    page.write_text('<link rel="stylesheet" href="own.css">')
    assert list(check_demo.problems(tmp_path)) == []
    page.write_text('<script src="https://example.org/x.js"></script>')
    assert len(list(check_demo.problems(tmp_path))) == 1


def test_the_index_leads_to_pages_that_ask_for_nothing_more(site, browser):
    handler = functools.partial(Quiet, directory=site)
    context = browser.new_context(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page, asked, said = context.new_page(), [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.goto(f"http://127.0.0.1:{server.server_port}/index.html")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390 and len(asked) == 1
        for name in ("How children grow", "Lesson 3"):
            page.get_by_role("link", name=name).click()
            page.locator("html[data-drawn]").wait_for(state="attached")
            expect(page.locator("#host svg").first).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            page.go_back()
        assert len(asked) == len(set(asked)) + 2 and len(set(asked)) == 3  # the index thrice
        assert said == []
        server.shutdown()
    context.close()
