"""The picture, the strip and the chart in a real browser, on a page with made-up curves."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.heavy import few
from tests.server import running
from tests.waiting import says, settle

PHONE = {"width": 390, "height": 844}
# What is drawn in the frame after each step of the slider: its curve and its words.
FRAMES = """async slider => { const root = slider.getRootNode(), seen = [];
  for (let k = 0; k < 8; k++) {
    slider.stepDown();
    slider.dispatchEvent(new Event('input'));
    await new Promise(done => requestAnimationFrame(done));
    const drawn = new MessageChannel(), frame = new Promise(done => { drawn.port1.onmessage = done });
    drawn.port2.postMessage(0);
    await frame;
    seen.push([root.querySelector('#main .release').getAttribute('d'), root.querySelector('#value').textContent]);
  }
  return seen }"""
# From now on it is counted how often something is to go on by itself.
PLAYERS = """() => { window.__players = 0; const plain = window.setInterval;
  window.setInterval = (run, ...rest) => { window.__players += /turn/.test(run); return plain(run, ...rest) } }"""


@pytest.fixture(scope="module")
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


@pytest.fixture(scope="module")
def opened(lasting_page: Page, harness: str) -> Page:
    """The usual case, for all tests that need it no newer than it is.

    `received` are the lengths of what the server has sent, `whole` is their sum for the page.
    """
    lasting_page.received = []
    lasting_page.on("websocket", lambda socket: socket.on(
        "framereceived", lambda frame: lasting_page.received.append(len(frame))))
    lasting_page.goto(harness)
    settle(lasting_page)
    lasting_page.whole = sum(lasting_page.received)
    return lasting_page


@pytest.fixture
def stage(opened: Page) -> Page:
    """The usual case at ε = 1 with all its releases, as it is when it is opened."""
    opened.emulate_media(color_scheme="light")
    opened.locator("#views").get_by_text("Possible releases").click()
    slider(opened).fill("13")
    expect(server_says(opened)).to_contain_text("server budget 13, view releases")
    settle(opened)
    opened.problems.clear()
    return opened


def slider(page: Page) -> Locator:
    return page.locator("#e")


def drawn_budget(page: Page) -> int:
    return int(slider(page).evaluate("e => e.getRootNode().host.dataset.budget"))


def server_says(page: Page) -> Locator:
    return page.get_by_text("server budget")


def drag(page: Page, share: float, steps: int = 5) -> None:
    """Press the handle and move it, without letting go."""
    box = slider(page).bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 13 / 23, y)
    page.mouse.down()
    page.mouse.move(box["x"] + 10 + share * (box["width"] - 20), y, steps=steps)


def test_while_the_slider_moves_picture_and_strip_follow_without_the_server(show):
    page = show()
    before = page.locator("#main .release").first.get_attribute("d")
    drag(page, 0.0)
    expect(page.locator("#value")).to_have_text("ε = 0.05")
    expect(page.locator("#strip")).to_contain_text("Error: 53.4 cm")
    assert page.locator("#main .release").first.get_attribute("d") != before
    assert page.evaluate("window.__budget") == 0
    expect(server_says(page)).to_contain_text("server budget 13")
    expect(server_says(page)).to_contain_text("runs 1")
    page.mouse.up()
    expect(server_says(page)).to_contain_text("server budget 0")
    assert page.outside == [] and page.problems == []


def test_a_movement_is_on_screen_with_the_next_frame(stage):
    seen = slider(stage).evaluate(FRAMES)
    assert len({curve for curve, _ in seen}) == 8
    assert [words for _, words in seen] == [f"ε = {e:g}" for e in (
        0.8, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15)]


@pytest.mark.slow
def test_twelve_quick_movements_are_reported_once_or_twice(show):
    page = show()
    slider(page).evaluate(  # in the page, where timers ring in order however slow the computer is
        "async slider => { for (let k = 0; k < 12; k++) { slider.stepDown();"
        "for (const kind of ['input', 'change']) slider.dispatchEvent(new Event(kind));"
        "await new Promise(go => setTimeout(go, 5)); } }")
    expect(server_says(page)).to_contain_text("server budget 1,")
    runs = int(server_says(page).inner_text().rsplit(" ", 1)[1])
    assert runs <= 3
    assert slider(page).get_attribute("aria-valuetext") == "epsilon 0.06, error 45.3 cm"


def test_a_report_does_not_send_the_curves_again(stage):
    before = sum(stage.received)
    slider(stage).focus()
    stage.keyboard.press("ArrowRight")
    expect(server_says(stage)).to_contain_text("server budget 14")
    assert stage.whole > 130_000
    assert 0 < sum(stage.received) - before < 60_000


def test_the_server_can_move_the_slider_and_old_reports_do_not_move_it_back(stage):
    slider(stage).focus()
    stage.keyboard.press("ArrowRight")
    expect(server_says(stage)).to_contain_text("server budget 14")
    stage.get_by_role("button", name="Move to the first budget").click()
    expect(stage.locator("#value")).to_have_text("ε = 0.05")
    expect(server_says(stage)).to_contain_text("server budget 0,")
    expect(stage.locator("#strip")).to_contain_text("53.4 cm")
    stage.locator("#views").get_by_text("Ranges").click()
    expect(server_says(stage)).to_contain_text("server budget 0, view ranges")


@pytest.mark.slow
def test_a_picture_that_comes_back_stands_where_it_was(show):
    page = show()
    slider(page).focus()
    page.keyboard.press("End")
    expect(server_says(page)).to_contain_text("server budget 23")
    page.get_by_text("Hide the picture").click()
    expect(slider(page)).to_have_count(0)
    page.get_by_text("Hide the picture").click()
    expect(page.locator("#value")).to_have_text("ε = 10")
    expect(server_says(page)).to_contain_text("server budget 23")
    assert page.problems == []


def test_each_view_draws_what_it_says(stage):
    clipped = "#main g[clip-path]"
    expect(stage.locator("#seed")).to_have_text("Seed 1")
    expect(stage.locator(f"{clipped} .release")).to_have_count(20)
    expect(stage.locator(f"{clipped} .raw")).to_have_count(70)
    stage.locator("#views").get_by_text("Ranges").click()
    expect(stage.locator(f"{clipped} .release")).to_have_count(0)
    expect(stage.locator(f"{clipped} .noise")).to_have_count(1)
    expect(stage.locator(f"{clipped} .sampling")).to_have_count(1)
    expect(stage.locator("#sentence")).to_contain_text("where another release might fall")
    stage.locator("#views").get_by_text("One release").click()
    expect(stage.locator(f"{clipped} .single")).to_have_count(1)
    before = stage.locator(f"{clipped} .single").get_attribute("d")
    stage.get_by_role("button", name="Draw again").click()
    assert stage.locator(f"{clipped} .single").get_attribute("d") != before
    expect(stage.locator("#status")).to_have_text(re.compile(r"Release ([2-9]|1\d|20) of 20"))
    expect(server_says(stage)).to_contain_text("view one")


@pytest.mark.slow
def test_releases_play_one_after_another_until_something_is_touched(show):
    page = show(reduced_motion="no-preference")
    current, title = page.locator("#main .release.current"), page.locator("#main title")
    expect(page.get_by_role("button", name="Play one by one")).to_be_visible()
    expect(current).to_have_count(0)
    page.evaluate(PLAYERS)
    page.locator("#play").focus()
    page.keyboard.press("Enter")
    expect(title).to_contain_text(re.compile(r"Release \d+ of 20 stands out\."))
    expect(current).to_have_count(1)
    expect(title).to_contain_text(re.compile(r"Release ([3-9]|1\d|20) of 20 stands out\."))
    assert page.locator("#difference .release.current").count() == 1
    assert page.evaluate("window.__players") == 1
    page.keyboard.press("Space")
    expect(page.locator("#play")).to_have_text("Play one by one")
    expect(page.locator("#main .playing")).to_have_count(0)
    page.locator("#play").click()
    expect(page.locator("#play")).to_have_text("Stop")
    slider(page).focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#play")).to_have_text("Play one by one")
    expect(title).not_to_contain_text("stands out")
    page.locator("#views").get_by_text("Ranges").click()
    expect(page.locator("#play")).to_be_hidden()
    page.locator("#views").get_by_text("One release").click()
    before = page.locator("#main g[clip-path] .single").get_attribute("d")
    page.locator("#play").click()
    expect(page.locator("#main g[clip-path] .single")).not_to_have_attribute("d", before)
    page.mouse.click(300, 30)
    expect(page.locator("#play")).to_have_text("Play one by one")
    assert page.problems == []


@pytest.mark.slow
def test_where_motion_is_unwanted_every_press_shows_the_next_release(show):
    page = show()
    page.evaluate(PLAYERS)
    button = page.get_by_role("button", name="Show one by one")
    for k in (1, 2):
        button.press("Enter")
        expect(page.locator("#status")).to_have_text(f"Release {k} of 20")
    expect(page.locator("#main title")).to_contain_text("Release 2 of 20 stands out.")
    for _ in range(19):
        button.press("Space")
    expect(page.locator("#status")).to_have_text("All releases")
    expect(page.locator("#main .playing")).to_have_count(0)
    assert page.evaluate("window.__players") == 0


@pytest.mark.slow
def test_sentences_and_small_charts_follow_the_slider_without_the_server(show):
    page = show()
    said = page.locator("#said")
    expect(said).to_have_text("Right 63 times in 100<b>")
    expect(said.locator("strong")).to_have_text("63 times")
    dots = page.locator("[data-chart]").first
    expect(dots).to_have_attribute("aria-label", "A dot at 13")
    drag(page, 1.0)
    expect(said).to_contain_text("Right 73 times")
    expect(said.locator(".warning")).to_have_text("Weak")
    expect(dots).to_have_attribute("aria-label", "A dot at 23")
    drag(page, 0.0)
    expect(said).to_have_text("Right 50 times in 100<b>")
    expect(dots).to_be_hidden()
    expect(server_says(page)).to_contain_text("runs 1")
    page.mouse.up()
    expect(server_says(page)).to_contain_text("server budget 0")
    page.get_by_role("button", name="Move to the first budget").click()
    assert page.problems == []


def test_one_release_comes_with_its_band_and_what_the_band_does_not_count(stage):
    stage.locator("#views").get_by_text("One release").click()
    for panel in ("#main", "#difference"):
        drawn = stage.locator(f"{panel} g[clip-path]")
        expect(drawn.locator(".band")).to_have_count(1)
        expect(drawn.locator(".limit-end")).to_have_count(4)
    expect(stage.locator("#main .legend")).to_contain_text("Where the true average plausibly lies")
    expect(stage.locator("#sentence")).to_contain_text("not counted are details finer than 12 waves")
    before = stage.locator("#main g[clip-path] .band").get_attribute("d")
    stage.get_by_role("button", name="Draw again").click()
    assert stage.locator("#main g[clip-path] .band").get_attribute("d") != before


def test_where_nothing_would_be_published_words_stand_in_place_of_the_picture(show):
    page = show("refused")
    slider = page.locator("input[type=range]").first
    slider.fill("1")
    expect(page.locator("#refused")).to_contain_text("Too few <b>children</b>. Ask more.")
    expect(page.locator("#main")).not_to_be_visible()
    expect(page.get_by_role("button", name="Save as PNG")).not_to_be_visible()
    slider.fill("4")
    expect(page.locator("#refused")).not_to_be_visible()
    expect(page.locator("#note")).to_have_text("Coarse.")
    expect(page.locator("#difference g[clip-path] .release")).to_have_count(20)
    assert float(page.locator("#difference .axis").first.get_attribute("y2")) > 100
    slider.fill("8")
    expect(page.locator("#note")).to_be_empty()
    assert page.problems == []


@pytest.mark.slow
def test_lines_can_be_switched_on_and_off(show):
    page = show()
    page.get_by_role("switch", name="Children’s curves").uncheck(force=True)
    page.get_by_role("switch", name="True average").check(force=True)
    expect(page.locator("#main .raw")).to_have_count(0)
    expect(page.locator("#main g[clip-path] .truth")).to_have_count(1)
    expect(server_says(page)).to_contain_text("shown without+truth")


@pytest.mark.slow
def test_without_a_known_truth_there_is_no_switch_for_it(show):
    page = show("plain")
    expect(page.get_by_role("switch", name="Without protection")).to_have_count(1)
    expect(page.get_by_role("switch", name="True average")).to_have_count(0)
    page.locator("#views").get_by_text("Ranges").click()
    expect(page.locator(".sampling")).to_have_count(0)


def test_new_noise_asks_the_server_once(stage):
    stage.get_by_role("button", name="New noise").click()
    expect(server_says(stage)).to_contain_text("noise True")
    slider(stage).focus()
    stage.keyboard.press("ArrowRight")
    expect(server_says(stage)).to_contain_text("noise False")


@pytest.mark.slow
def test_the_title_of_the_picture_tells_the_chosen_budget(show):
    page = show()
    picture = page.locator("#main")
    assert picture.get_attribute("role") == "img"
    slider(page).focus()
    page.keyboard.press("ArrowLeft")
    expect(picture.locator("title")).to_contain_text("at ε = 0.8: error 4.4 cm")


@pytest.mark.slow
def test_the_chip_turns_amber_with_words_from_epsilon_4(show):
    page = show()
    slider(page).focus()
    page.keyboard.press("End")
    chip = page.locator("#strip .chip").nth(2)
    expect(chip).to_have_text("ε = 10 · δ = 2.5×10⁻⁵ · weak protection")
    assert "orange" in chip.get_attribute("class")
    page.keyboard.press("Home")
    expect(chip).to_have_text("ε = 0.05 · δ = 2.5×10⁻⁵")


@pytest.mark.slow
def test_a_tooltip_opens_for_the_keyboard_and_closes_with_escape(show):
    page = show()
    page.locator("#strip .chip").first.focus()
    expect(page.locator("#tip")).to_contain_text("Curves made by the computer")
    page.keyboard.press("Escape")
    expect(page.locator("#tip")).to_be_hidden()


def test_markup_in_a_name_is_shown_as_text(show):
    page = show("evil")
    for view in ("Ranges", "One release", "Possible releases"):
        page.locator("#views").get_by_text(view, exact=True).click()
    page.locator("#strip .chip").nth(1).hover()
    page.locator("#help").click()
    expect(page.locator("#lines")).to_contain_text("<script>window.__harm=1</script>")
    expect(page.locator("#strip .chip").nth(1)).to_contain_text("<b>unit</b><img")
    expect(page.locator("#main")).to_contain_text("onerror='window.__harm=1'")
    for host in ("#picture", "#strip"):
        assert page.locator(f"{host} img, {host} script, {host} .chip b").count() == 0
    assert page.evaluate("window.__harm") is None
    assert page.problems == []


def test_uploaded_curves_offer_neither_download_nor_link(show):
    page = show("upload")
    save, copy = page.locator("#svg"), page.get_by_role("button", name="Copy link")
    assert save.get_attribute("aria-disabled") == "true"
    assert "not private" in save.get_attribute("title")
    assert copy.get_attribute("aria-disabled") == "true"
    downloads = []
    page.on("download", lambda download: downloads.append(download))
    save.click(force=True)
    page.locator("#png").click(force=True)
    copy.click(force=True)
    expect(page.locator("#strip [role=status]")).to_have_text("")
    assert downloads == []


@pytest.mark.parametrize("view", few(["Possible releases", "Ranges"]))
def test_a_saved_picture_stands_alone(stage, tmp_path, view):
    stage.locator("#views").get_by_text(view).click()
    stage.emulate_media(color_scheme="dark")
    expect(stage.locator("#main g[clip-path] .without")).to_have_css("stroke", "rgb(217, 223, 234)")
    with stage.expect_download() as got:
        stage.get_by_role("button", name="Save as SVG").click()
    assert got.value.suggested_filename == "privacy-curves-epsilon-1.svg"
    got.value.save_as(tmp_path / "picture.svg")
    text = (tmp_path / "picture.svg").read_text("utf-8")
    ElementTree.fromstring(text)
    assert "var(" not in text and "class=" not in text
    assert "The average curve, published with protection for every child. ε = 1." in text
    assert "Simulated curves" in text
    assert "rgb(16, 20, 30)" in text  # the page behind it
    assert "rgb(122, 146, 255)" in text  # its releases


@pytest.mark.slow
def test_a_picture_can_be_saved_as_png(show, tmp_path):
    page = show()
    with page.expect_download() as got:
        page.get_by_role("button", name="Save as PNG").click()
    got.value.save_as(tmp_path / "picture.png")
    data = (tmp_path / "picture.png").read_bytes()
    assert data.startswith(b"\x89PNG") and len(data) > 20_000


@pytest.mark.slow
def test_copy_link_waits_for_the_budget_on_screen(show):
    page = show(permissions=["clipboard-read", "clipboard-write"])
    slider(page).focus()
    page.keyboard.press("ArrowRight")
    says(page.locator("#strip [role=status]"), "Link copied",
         page.get_by_role("button", name="Copy link").click,
         again="Still working: press again in a moment")
    assert page.evaluate("navigator.clipboard.readText()").endswith("b=14")


def test_nothing_scrolls_sideways_on_a_phone_and_the_plots_are_lower(show):
    page = show(viewport=PHONE)
    wide = page.locator("[data-testid=stMain]").evaluate("e => [e.scrollWidth, e.clientWidth]")
    assert wide[0] <= wide[1] <= 390
    assert page.locator("#main").bounding_box()["height"] == 320
    assert page.locator("#difference").bounding_box()["height"] == 180
    sides = page.locator("#main text").evaluate_all(  # at one moment: fonts may redraw them
        "all => all.map(text => text.getBoundingClientRect()).map(box => [box.left, box.right])")
    assert len(sides) > 10
    for left, right in sides:
        assert 0 <= left <= right <= 390


@pytest.mark.slow
def test_turning_the_phone_draws_the_picture_anew(show):
    page = show(viewport=PHONE)
    page.set_viewport_size({"width": 844, "height": 390})
    expect(page.locator("#main")).to_have_attribute("viewBox", "0 0 560 430")
    assert page.locator("#main").bounding_box()["width"] == pytest.approx(560, abs=0.5)


@pytest.mark.slow
def test_the_picture_follows_a_change_of_theme(show):
    page = show(color_scheme="light")
    release = page.locator("#main g[clip-path] .release").first
    expect(release).to_have_css("stroke", "rgb(61, 87, 214)")
    page.emulate_media(color_scheme="dark")
    expect(release).to_have_css("stroke", "rgb(122, 146, 255)")
    expect(page.locator("#main g[clip-path] .without")).to_have_css("stroke", "rgb(217, 223, 234)")


@pytest.mark.slow
def test_the_chart_has_a_name_keeps_its_zoom_and_its_space(show):
    page = show()
    chart = page.get_by_role("figure", name="The error falls with ε.")
    assert chart.bounding_box()["height"] == 320
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    chart.evaluate("g => window.Plotly.relayout(g, {'xaxis.range': [-1, 0]})")
    slider(page).focus()
    page.keyboard.press("ArrowRight")
    expect(server_says(page)).to_contain_text("server budget 14")
    assert chart.evaluate("g => [...g._fullLayout.xaxis.range]") == [-1, 0]
    assert chart.evaluate("g => g._fullData.map(t => [t.name, t.y.length])") == [
        ["Adaptive mean", 24]]
    assert page.outside == [] and page.problems == []
