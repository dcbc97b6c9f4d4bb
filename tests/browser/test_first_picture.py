"""The front page's figure stands before the framework does, and hands over what was done in it."""

import re
import urllib.request

import pytest
from playwright.sync_api import expect

from pages.shared.server import first_picture
from tests.waiting import until

# Remembers the closed element of the first picture, and what it first drew, as a visitor would see it.
WATCH = """(() => {
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (how) {
    const root = attach.call(this, how);
    if (how.mode === 'closed') window.seen = {root};
    return root;
  };
  window.whenDrawn = act => { const look = () => window.__first ? act(window.seen.root) : setTimeout(look, 1);
    look(); };
  whenDrawn(root => { window.seen.release = root.querySelector('.release').getAttribute('d');
    window.seen.title = root.querySelector('h1').textContent;
    window.seen.top = root.querySelector('#main').getBoundingClientRect().top; });
})();"""
MOVE = (
    WATCH
    + """whenDrawn(root => { const e = root.querySelector('#e'); e.value = 10;
  e.dispatchEvent(new Event('input')); root.querySelector('#attack').click(); });"""
)


@pytest.fixture
def ready(server):
    """The address of a server that has computed its first picture.

    It draws few data sets, so that its errors are not those of the stored one.
    """
    stored = first_picture.script(first_picture.stored())

    def is_computed():
        with urllib.request.urlopen(f"{server.url}/vendor/first.js") as script:
            return script.read() != stored

    until(is_computed)
    return server.url


def heights(path):
    return [point.split()[1] for point in path.removeprefix("M").split("L")]


def test_a_server_that_has_just_started_has_a_picture_at_once(server):
    with urllib.request.urlopen(server.url) as page:
        assert b"first.js" in page.read()


def test_it_is_the_picture_of_the_page_which_takes_its_place(ready, open_app):
    page = open_app(ready, script=WATCH)
    expect(page.locator("#main .release")).to_have_count(1)
    drawn = page.locator("#main .release").get_attribute("d")
    assert heights(page.evaluate("seen.release")) == heights(
        drawn
    )  # letters decide where it begins
    assert page.evaluate("seen.top") == pytest.approx(
        page.locator("#main").bounding_box()["y"], abs=2
    )
    assert page.evaluate("seen.title") == page.get_by_role("heading", level=1).inner_text()
    assert not page.evaluate("seen.root.host.isConnected") and page.problems == []


@pytest.mark.slow
def test_what_was_done_in_it_holds_on_the_page_and_in_its_address(ready, open_app):
    page = open_app(ready, script=MOVE)
    expect(page.locator("#e")).to_have_value("10")
    expect(page.locator("#question")).to_contain_text("Round 1 of 20")
    epsilon = page.locator("#value").inner_text().removeprefix("ε = ")
    page.wait_for_url(re.compile(f"epsilon-{re.escape(epsilon)}"), wait_until="commit")


@pytest.mark.slow
def test_a_page_opened_meanwhile_is_not_hidden_behind_it(ready, open_app):
    page = open_app(ready, script=WATCH + "whenDrawn(() => history.pushState({}, '', '/lab'));")
    until(lambda: not page.evaluate("seen.root.host.isConnected"))
