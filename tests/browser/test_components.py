"""The slider, the strip and the charts in a real browser, on a page with made-up curves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, WebSocket, expect

from tests.sentences import of_topic
from tests.waiting import says, settle

wording = of_topic("pages")

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


@pytest.fixture(scope="module")
def opened(lasting_page: Page, harness: str) -> Iterator[Page]:
    """The usual case, for all tests that need it no newer than it is.

    `received` are the lengths of what the server has sent, `whole` is their sum for the page.
    """

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: lasting_page.received.append(len(frame)))

    lasting_page.received = []
    lasting_page.on("websocket", listen)
    lasting_page.goto(harness)
    settle(lasting_page)
    lasting_page.whole = sum(lasting_page.received)
    yield lasting_page
    lasting_page.remove_listener("websocket", listen)


@pytest.fixture
def stage(opened: Page) -> Page:
    """The usual case at ε = 1, as it is when it is opened."""
    slider(opened).fill("13")
    expect(server_says(opened)).to_contain_text("server budget 13, view look")
    settle(opened)
    opened.problems.clear()
    return opened


def slider(page: Page) -> Locator:
    return page.locator("#e")


def server_says(page: Page) -> Locator:
    return page.get_by_text("server budget")


def drag(page: Page, share: float, steps: int = 5) -> None:
    """Press the handle and move it, without letting go."""
    slider(page).scroll_into_view_if_needed()
    box = slider(page).bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 13 / 23, y)
    page.mouse.down()
    page.mouse.move(box["x"] + 10 + share * (box["width"] - 20), y, steps=steps)


def test_while_the_slider_moves_figure_and_strip_follow_without_the_server(show):
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


@pytest.mark.slow
def test_a_movement_is_on_screen_with_the_next_frame(stage):
    seen = slider(stage).evaluate(FRAMES)
    assert len({curve for curve, _ in seen}) == 8
    assert [words for _, words in seen] == [
        f"ε = {e:g}" for e in (0.8, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15)
    ]


@pytest.mark.slow
def test_twelve_quick_movements_are_reported_once_or_twice(show):
    page = show()
    slider(page).evaluate(  # in the page, where timers ring in order however slow the computer is
        "async slider => { for (let k = 0; k < 12; k++) { slider.stepDown();"
        "for (const kind of ['input', 'change']) slider.dispatchEvent(new Event(kind));"
        "await new Promise(go => setTimeout(go, 5)); } }"
    )
    expect(server_says(page)).to_contain_text("server budget 1,")
    runs = int(server_says(page).inner_text().rsplit(" ", 1)[1])
    assert runs <= 3
    wording.found(
        "attacker’s accuracy error",
        slider(page).get_attribute("aria-valuetext"),
        0.06,
        51,
        45.3,
        alone=True,
    )


@pytest.mark.slow
def test_a_report_does_not_send_the_curves_again(stage):
    before = sum(stage.received)
    slider(stage).focus()
    stage.keyboard.press("ArrowRight")
    expect(server_says(stage)).to_contain_text("server budget 14")
    assert stage.whole > 130_000
    assert 0 < sum(stage.received) - before < 60_000


@pytest.mark.slow
def test_the_server_can_move_the_slider_and_old_reports_do_not_move_it_back(stage):
    slider(stage).focus()
    stage.keyboard.press("ArrowRight")
    expect(server_says(stage)).to_contain_text("server budget 14")
    stage.get_by_role("button", name="Move to the first budget").click()
    expect(stage.locator("#value")).to_have_text("ε = 0.05")
    expect(server_says(stage)).to_contain_text("server budget 0,")
    expect(stage.locator("#strip")).to_contain_text("53.4 cm")
    stage.locator("#attack").click()
    expect(server_says(stage)).to_contain_text("server budget 0, view attack")
    stage.locator("#leave").click()
    expect(server_says(stage)).to_contain_text("server budget 0, view look")


@pytest.mark.slow
def test_a_figure_that_comes_back_stands_where_it_was(show):
    page = show()
    slider(page).focus()
    page.keyboard.press("End")
    expect(server_says(page)).to_contain_text("server budget 23")
    page.get_by_text("Hide the figure").click()
    expect(slider(page)).to_have_count(0)
    page.get_by_text("Hide the figure").click()
    expect(page.locator("#value")).to_have_text("ε = 10")
    expect(server_says(page)).to_contain_text("server budget 23")
    assert page.problems == []


@pytest.mark.slow
def test_sentences_and_small_charts_follow_the_slider_without_the_server(show):
    page = show()
    result = page.locator("#said")
    expect(result).to_have_text("Right 63 times in 100<b>")
    expect(result.locator("strong")).to_have_text("63 times")
    dots = page.locator("[data-chart]").first
    expect(dots).to_have_attribute("aria-label", "A dot at 13")
    drag(page, 1.0)
    expect(result).to_contain_text("Right 73 times")
    expect(result.locator(".warning")).to_have_text("Weak")
    expect(dots).to_have_attribute("aria-label", "A dot at 23")
    drag(page, 0.0)
    expect(result).to_have_text("Right 50 times in 100<b>")
    expect(dots).to_be_hidden()
    expect(server_says(page)).to_contain_text("runs 1")
    page.mouse.up()
    expect(server_says(page)).to_contain_text("server budget 0")
    page.get_by_role("button", name="Move to the first budget").click()
    assert page.problems == []


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


@pytest.mark.slow
def test_copy_link_waits_for_the_budget_on_screen(show):
    page = show(permissions=["clipboard-read", "clipboard-write"])
    slider(page).focus()
    page.keyboard.press("ArrowRight")
    says(
        page.locator("#strip [role=status]"),
        "Link copied",
        page.get_by_role("button", name="Copy link").click,
        again="Still working: press again in a moment",
    )
    assert page.evaluate("navigator.clipboard.readText()").endswith("b=14")


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
        ["Adaptive mean", 24]
    ]
    assert page.outside == [] and page.problems == []
