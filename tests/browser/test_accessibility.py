"""What an automatic checker finds on every page, what a keyboard reaches, what fits a window."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from pages.shared.places import PAGES
from tests import files
from tests.heavy import all_but, few
from tests.waiting import settle

PATHS = ["/" + script.removesuffix(".py") for _, script, _ in PAGES]
DETAILS = [
    f"open-{key}"
    for key in ("attacker", "more", "shape", "steps", "ledger", "formula", "numbers", "code")
]
ALIKE = [path for path in PATHS if path not in ("/explore", "/release")]
DESKTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
ZOOMED = {"width": 640, "height": 360}  # 1280 × 720 at 200 %

# The framework fades what it draws anew, after half a second of drawing: that is, on a slow machine.
STILL = "() => document.getAnimations().every(one => one.playState !== 'running')"
UNFADED = "* { transition: none !important } [data-stale=true] { opacity: 1 !important }"

# Findings that are not ours to mend, each at its own level only.
KNOWN = {
    (
        "presentation-role-conflict",
        "minor",
    ): "the framework’s uploader hides a field that has focus",
    ("region", "moderate"): "what the framework and the chart library hang beside the page: tips, "
    "menus and notices",
}

FOCUS = """() => {
  let e = document.activeElement;
  while (e.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
  const ringed = n => { const c = n && getComputedStyle(n);
    return !!c && ((c.outlineStyle !== 'none' && parseFloat(c.outlineWidth) > 1) || c.boxShadow !== 'none') };
  const box = e.getBoundingClientRect(), field = e.closest('[data-testid=stNumberInputContainer], [data-baseweb]');
  return {id: e.id, tag: e.tagName, name: (e.getAttribute('aria-label') || e.innerText || '').trim(),
          test: e.dataset.testid || '', onScreen: box.right > 0 && box.left < innerWidth,
          strip: !!e.closest('#strip'), isField: ['INPUT', 'TEXTAREA'].includes(e.tagName) && !e.getRootNode().host,
          ring: ringed(e) || ringed(e.nextElementSibling) || ringed(field)} }"""

# Words that end outside the window or are cut off, in the page and inside its components.
LOST = """() => {
  const main = document.querySelector('[data-testid=stMain]'), found = [];
  const above = e => e.parentElement || e.getRootNode().host;
  const framed = e => { for (; e && e !== main; e = above(e)) {
    if (/auto|scroll/.test(getComputedStyle(e).overflowX)) return true } return false };
  const look = root => { for (const e of root.querySelectorAll('*')) {
    if (e.shadowRoot) look(e.shadowRoot);
    const box = e.getBoundingClientRect(), style = getComputedStyle(e), words = e.textContent.trim();
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
    if (box.width < 2 || style.visibility === 'hidden' || framed(e)) continue;
    const svg = e.closest('svg')?.getBoundingClientRect();
    const isCut = svg ? box.left < svg.left - 2 || box.right > svg.right + 2
      : /hidden|clip/.test(style.overflowX) && e.scrollWidth > e.clientWidth + 1;
    if (isCut || box.right > main.clientWidth + 1 || box.left < -1) found.push(words.slice(0, 60));
  } };
  look(main);
  return found }"""
# Frames that scroll are stops of the Tab key.
STOPS = """() => [...document.querySelectorAll('main pre, main .katex-display')].every(
  e => e.tabIndex === 0 || e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight)"""
# Something wide comes; one frame later it is on screen, and goes again.
COMES = """() => new Promise(done => {
  const wide = document.createElement('pre');
  Object.assign(wide, {style: 'width: 9rem; overflow: auto', textContent: 'wide'.repeat(1000)});
  document.querySelector('main').append(wide);
  requestAnimationFrame(() => requestAnimationFrame(() => { done(wide.tabIndex); wide.remove(); })) })"""
SIDEWAYS = """() => { const main = document.querySelector('[data-testid=stMain]');
  return Math.max(main.scrollWidth - main.clientWidth, document.documentElement.scrollWidth - innerWidth) }"""


@pytest.fixture(scope="module")
def window(lasting_page, server):
    """One window for all pages: a fresh one costs more than a page."""

    def visit(path, scheme="light", size=DESKTOP):
        lasting_page.set_viewport_size(size)
        lasting_page.emulate_media(color_scheme=scheme)
        lasting_page.goto(server.url + path)
        lasting_page.add_style_tag(content=UNFADED)
        settle(lasting_page)
        lasting_page.wait_for_function(STILL)  # colours of links fade in
        return lasting_page

    return visit


def findings(page):
    """What the checker holds against the page, less what is known of the framework."""
    found = Axe().run(page).response["violations"]
    return [
        f"{one['impact']} {one['id']}: {[node['target'] for node in one['nodes']][:5]}"
        for one in found
        if (one["id"], one["impact"]) not in KNOWN
    ]


# Pieces of their own get the colours of a theme after the page: whether all of them have.
DRESSED = """() => { const colour = node => getComputedStyle(node).color, app = colour(document.querySelector('[data-testid=stApp]'));
  const inside = root => [...root.querySelectorAll('*')].flatMap(node => node.shadowRoot ? [node.shadowRoot, ...inside(node.shadowRoot)] : []);
  const ground = node => getComputedStyle(node).backgroundColor, drawer = document.querySelector('.st-key-drawer');
  if (drawer && ground(drawer) !== ground(document.querySelector('[data-testid=stApp]'))) return false;
  return inside(document).every(root => { const box = root.querySelector('#said, #figure, #strip');
    return !box || colour(box) === app }) }"""


def dress(page, scheme="dark"):
    """Change to the other theme, and wait until everything has its colours."""
    ground = "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
    before = page.evaluate(ground)
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function(f"before => {ground} !== before", arg=before)
    page.wait_for_function(DRESSED)
    settle(page)
    page.wait_for_function(STILL)


def fits(page, size):
    """Whether nothing scrolls sideways and no words are lost, once the charts have followed."""
    page.set_viewport_size(size)
    settle(page)
    page.wait_for_function(f"() => ({SIDEWAYS})() <= 0 && ({LOST})().length === 0")


def stops(page, until, most=60):
    """What the Tab key stops at, up to the first stop for which `until` holds."""
    collected = []
    while len(collected) < most:
        page.keyboard.press("Tab")
        collected.append(page.evaluate(FOCUS))
        if until(collected[-1]):
            return collected
    pytest.fail(f"not reached in {most} stops: {[stop['name'][:20] for stop in collected]}")


def open_folds(page):
    closed = page.locator("[data-testid=stExpander] details:not([open]) > summary")
    for _ in range(40):
        if not closed.count():
            page.wait_for_function(STOPS)
            return
        closed.first.click()
        settle(page)
    pytest.fail("more than forty folds")


# -- every page -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", all_but(ALIKE, PATHS))  # the others are made of the same parts
def test_a_page_has_no_finding_in_either_theme_and_loses_nothing_when_zoomed(window, path):
    page = window(path)
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.locator("h1").count() == page.locator("main").count() == 1
    assert findings(page) == []
    dress(page)
    assert findings(page) == []
    fits(page, ZOOMED)
    fits(page, PHONE)


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_a_phone_shows_every_page_with_all_folds_open_without_a_finding(window, path):
    page = window(path, "dark", PHONE)
    assert findings(page) == []
    open_folds(page)
    assert findings(page) == []
    page.wait_for_function(f"() => ({SIDEWAYS})() <= 0")
    dress(page, "light")
    assert findings(page) == []


@pytest.mark.slow
@pytest.mark.parametrize("token", few(["view-attack~open-accuracy", *DETAILS]))
def test_a_detail_and_the_game_have_no_finding_and_lose_nothing_either(window, token):
    page = window(f"/?s={token}")
    expect(page.get_by_role("combobox", name="Details")).to_be_visible()
    if "attack~" in token:
        expect(page.locator("#question")).to_contain_text("Round 1 of 20")
    assert findings(page) == []
    dress(page)
    assert findings(page) == []
    fits(page, ZOOMED)
    fits(page, PHONE)


# -- the keyboard ---------------------------------------------------------------------------------


def test_the_first_picture_of_a_frame_that_scrolls_has_it_as_a_stop_of_the_tab_key(window):
    assert window("/learn").evaluate(COMES) == 0


@pytest.mark.slow
def test_a_keyboard_reads_slides_opens_a_detail_and_goes_round_the_page(window):
    page = window("/")
    way = stops(page, lambda stop: stop["id"] == "e")
    assert way[0]["name"] == "Skip to main content"
    page.keyboard.press("ArrowRight")
    expect(page.locator("#value")).to_have_text("ε = 1.2")
    expect(page.locator("#e")).to_have_attribute(
        "aria-valuetext", re.compile("^ε 1.2, attacker’s accuracy ≤")
    )
    way += stops(page, lambda stop: stop["id"] == "stage", 2)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#main .plate")).to_have_count(1)
    way += stops(page, lambda stop: stop["id"] == "attack", 3)
    settle(
        page
    )  # the change of the slider has come back: a button pressed before might be replaced
    way += stops(page, lambda stop: stop["name"].endswith("Details"), 5)
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Details")).to_be_visible()
    settle(page)
    way += stops(page, lambda stop: stop["name"].endswith("Close"))
    way += stops(page, lambda stop: stop["name"] == "Skip to main content", 10)  # no trap
    unseen = [
        stop
        for stop in way
        if stop["tag"] != "BODY" and not (stop["onScreen"] and (stop["ring"] or stop["isField"]))
    ]
    assert unseen == []


@pytest.mark.slow
def test_a_keyboard_follows_the_menu_and_the_arrows_move_along_the_strip(window):
    page = window("/decide")
    stops(page, lambda stop: stop["name"] == "Lab")
    page.keyboard.press("Enter")
    expect(page).to_have_title("Lab · Privacy Curves")
    settle(page)
    page.locator("#strip button").first.focus()
    page.keyboard.press("End")
    assert page.evaluate(FOCUS)["strip"]
    expect(page.locator("#strip button").first).to_have_attribute("tabindex", "-1")
    page.keyboard.press("Home")
    expect(page.locator("#tip")).to_be_visible()
    assert findings(page) == []  # with a tooltip open


@pytest.mark.slow
def test_escape_closes_the_drawer(server, open_app):
    page = open_app(server.url)
    page.get_by_role("button", name="Details").click()
    close = page.get_by_role("button", name="Close")
    expect(close).to_be_visible()
    close.focus()
    page.keyboard.press("Escape")
    expect(close).to_have_count(0)


@pytest.mark.slow
def test_the_guide_begins_at_its_top_wherever_the_path_was_scrolled_to(server, open_app):
    page = open_app(f"{server.url}/learn", viewport=PHONE)
    page.get_by_role("button", name="Guide and glossary").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Guide and glossary")
    expect(page.get_by_role("heading", level=1)).to_be_in_viewport(ratio=1)


@pytest.mark.slow
def test_a_fold_opens_to_all_of_its_content_where_less_motion_is_asked_for(window):
    page = window("/?s=open-attacker")
    fold = page.locator(
        "[data-testid=stExpander]", has_text="Power at low false-positive rates"
    ).locator("details")
    fold.locator("summary").click()
    settle(page)
    expect(fold.get_by_test_id("stExpanderDetails").locator("p").first).to_be_visible()
    page.wait_for_function("""() => [...document.querySelectorAll('details[open]')].every(
        fold => fold.offsetHeight >= fold.scrollHeight)""")


@pytest.mark.slow
def test_on_a_phone_the_places_are_five_words_that_a_finger_reaches(server, open_app):
    page = open_app(f"{server.url}/learn", viewport=PHONE, has_touch=True, is_mobile=True)
    bar = page.locator(".st-key-places")
    boxes = [link.bounding_box() for link in bar.get_by_role("link").all()]
    assert len(boxes) == 5 and all(box["height"] >= 44 and box["width"] >= 44 for box in boxes)
    assert max(box["x"] + box["width"] for box in boxes) <= PHONE["width"]
    way = stops(page, lambda stop: stop["test"] == "stMain")
    assert all(stop["onScreen"] for stop in way)
    assert findings(page) == []
    bar.get_by_role("link", name="Publish").tap()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Publish")
    expect(page.get_by_test_id("stSidebar")).not_to_be_visible()


@pytest.mark.slow
def test_nothing_moves_for_who_asked_for_less_motion(window):
    page = window("/?s=open-attacker")
    page.get_by_text("Power at low false-positive rates").click()
    moving = page.evaluate("""document.getAnimations().map(a => [a.effect.target.outerHTML.slice(0, 80),
        a.effect.getComputedTiming().duration]).filter(([, duration]) => duration > 1)""")
    assert moving == []


# -- states ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "size"), [("light", DESKTOP), ("dark", PHONE)], ids=["light-desktop", "dark-phone"]
)
def test_uploads_mistakes_refusals_and_work_have_no_finding_either(window, scheme, size):
    page = window("/?s=epsilon-0.05~nonsense-1", scheme, size)
    expect(page.get_by_text("This link asks for an unknown setting")).to_be_visible()
    expect(page.locator(".shout").first).to_be_visible()
    assert findings(page) == []
    page.locator("[class*=st-key-data] button").first.click()
    settle(page)
    upload = page.locator("input[type=file]")
    upload.set_input_files(
        files=[{"name": "bad.csv", "mimeType": "text/csv", "buffer": b"\x89PNG\r\n\x00\x00\x00"}]
    )
    expect(page.get_by_text("not a text table").first).to_be_visible()
    assert findings(page) == []
    upload.set_input_files(
        files=[
            {
                "name": "growth.csv",
                "mimeType": "text/csv",
                "buffer": files.csv(files.growth_frame(60, 8)),
            }
        ]
    )
    expect(page.get_by_text("Not private: for your eyes").first).to_be_visible()
    settle(page)
    assert findings(page) == []
    seed = 10 + (size == PHONE)  # a sweep that nobody has run yet
    page = window(f"/sweeps?s=seed-{seed}", scheme, size)
    page.get_by_role("button", name="Run", exact=False).first.click()
    stop = page.get_by_role("button", name="Stop")
    expect(stop).to_be_visible()
    page.wait_for_function(STOPS)
    assert findings(page) == []
    expect(stop).to_have_count(0)  # the work is done, its numbers are there
    settle(page)
    assert findings(page) == []
    page.wait_for_function(f"() => ({SIDEWAYS})() <= 0")


# Of the words of a button to its ground, as the guidelines for accessibility count it.
CONTRAST = """button => { const parts = colour => colour.match(/[0-9.]+/g).slice(0, 3).map(part => part / 255);
  const light = colour => parts(colour).map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
    .reduce((sum, c, k) => sum + c * [.2126, .7152, .0722][k], .05);
  const style = getComputedStyle(button), ends = [light(style.color), light(style.backgroundColor)];
  return Math.max(...ends) / Math.min(...ends) }"""


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_of_the_button_that_leads_on_can_be_read(window, scheme):
    page = window("/publish?s=step-preview~c-sea_temperature", scheme, DESKTOP)
    button = page.get_by_role("button", name="Next: release")
    expect(button).to_be_enabled()
    settle(page)
    assert button.evaluate(CONTRAST) >= 4.5
