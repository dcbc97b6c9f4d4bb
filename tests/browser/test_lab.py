"""Lab in a real browser: every tab by the keyboard, and earlier addresses in their place."""

import json
import re

import pytest
from playwright.sync_api import expect

from engine import __version__
from engine.core.palette import colour
from tests.browser.conftest import PHONE
from tests.heavy import few
from tests.waiting import settle, until

WIDE = {"width": 1440, "height": 900}
# The names at the ends of the lines of a chart, and what they must not lie on: each other, titles,
# and the text of the axes.
BOXES = """chart => { const box = node => { const {left, right, top, bottom} = node.getBoundingClientRect();
    return [left, right, top, bottom]; };
  return {names: [...chart.querySelectorAll('.annotation-text')].map(node => [node.textContent, ...box(node)]),
    others: [...chart.querySelectorAll('.gtitle, .xtick text, .ytick text, .xtitle, .ytitle')].map(box),
    legend: chart.querySelectorAll('.legendtext').length, whole: box(chart)}; }"""


@pytest.mark.slow
def test_each_tab_opens_by_keyboard_and_an_earlier_address_opens_its_own(server, open_app):
    page = open_app(server.url + "/audit?s=part-reuse")
    expect(page.get_by_role("tab", name="Verify")).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile(r"lab\?s=tab-verify~part-reuse"))
    tab = page.get_by_role("tab", name="Verify")
    for key, name in (("ArrowRight", "papers"), ("ArrowRight", "estimate")):
        expect(page.get_by_test_id("stApp")).to_have_attribute(
            "data-test-script-state", "notRunning"
        )
        tab.press(key)
        page.keyboard.press("Enter")
        tab = page.get_by_role("tab", name=name.capitalize())
        expect(tab).to_have_attribute("aria-selected", "true")
        expect(page).to_have_url(
            re.compile(f"tab-{name}" if name != "estimate" else r"lab\?s=part")
        )
    expect(page.get_by_role("heading", name="Attacker")).to_be_visible()
    assert page.problems == [] and page.outside == []


@pytest.fixture(scope="module")
def lab(server, lasting_page):
    """Lab in a window, opened anew only where the one before was another."""
    opened = []

    def visit(viewport):
        if opened != [viewport]:
            opened[:] = [viewport]
            lasting_page.set_viewport_size(viewport)
            lasting_page.goto(server.url + "/lab")
            settle(lasting_page)
        lasting_page.problems.clear()
        return lasting_page

    return visit


@pytest.mark.slow
def test_a_step_of_the_slider_styles_what_changes_and_not_the_page_anew(lab, browser):
    page = lab(WIDE)
    slider = page.get_by_test_id("stSlider").get_by_role("slider").first
    for direction in ("ArrowRight", "ArrowLeft"):  # both budgets are known from here on
        slider.press(direction)
        settle(page)
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    slider.press("ArrowRight")
    settle(page)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    styled = [
        event["args"]["elementCount"]
        for event in events
        if event["name"] == "UpdateLayoutTree" and "elementCount" in event.get("args", {})
    ]
    assert styled and max(styled) < page.evaluate("document.querySelectorAll('*').length") / 2


@pytest.mark.slow
def test_a_chart_follows_the_theme_of_the_window_without_the_server(lab):
    page = lab(WIDE)
    chart = page.locator(".js-plotly-plot").first
    drawn = """chart => [chart._fullLayout.font.color, chart._fullLayout.xaxis.tickcolor,
                         ...chart.data.map(line => line.line?.color ?? line.fillcolor).filter(Boolean)]"""
    light = chart.evaluate(drawn)
    assert light[:2] == [colour("text", "light"), colour("raw", "light")]
    page.emulate_media(color_scheme="dark")
    until(lambda: chart.evaluate(drawn)[:2] == [colour("text", "dark"), colour("raw", "dark")])
    assert len(light) > 4 and not set(chart.evaluate(drawn)) & set(light)
    page.emulate_media(color_scheme="light")
    until(lambda: chart.evaluate(drawn) == light)
    assert not page.problems


def meets(one, other):
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


@pytest.mark.slow
def test_few_lines_are_named_where_they_end_and_no_name_lies_on_another(lab):
    drawn = lab(WIDE).locator("[data-chart]").first.evaluate(BOXES)
    names = {name: box for name, *box in drawn["names"]}
    assert {"Private mean", "Non-private mean", "95 % confidence band"} <= names.keys()
    assert drawn["legend"] == 0
    left, right, top, bottom = drawn["whole"]
    for name, box in names.items():
        assert left <= box[0] and box[1] <= right and top <= box[2] and box[3] <= bottom, name
        others = [other for other in names if other != name]
        assert not any(meets(box, names[other]) for other in others), name
        assert not any(meets(box, other) for other in drawn["others"]), name


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "begins"), [("SVG", b"<svg"), ("PNG", b"\x89PNG")])
def test_a_chart_is_saved_with_its_title_source_and_budget(lab, tmp_path, kind, begins):
    page = lab(WIDE)
    button = page.get_by_role("button", name=f"Save this picture as {kind}").first
    button.focus()
    expect(button).to_be_visible()
    with page.expect_download() as saved:
        page.keyboard.press("Enter")
    assert saved.value.suggested_filename.endswith(f".{kind.lower()}")
    saved.value.save_as(tmp_path / "picture")
    content = (tmp_path / "picture").read_bytes()
    assert content.startswith(begins)
    if kind == "SVG":
        text = content.decode()
        for part in (
            "of the non-private mean",
            "Growth, simulated",
            "n = 200",
            "ε = 1",
            f"Privacy Curves {__version__}",
        ):
            assert part in text
    assert page.problems == []


@pytest.mark.slow
def test_a_narrow_chart_keeps_its_legend(lab):
    drawn = lab(PHONE).locator("[data-chart]").first.evaluate(BOXES)
    assert drawn["legend"] >= 3 and not drawn["names"]


@pytest.mark.slow
def test_on_a_phone_a_tall_legend_leaves_room_for_the_plot(lab):
    chart = lab(PHONE).locator("[data-chart]").first
    until(lambda: chart.evaluate(BOXES)["legend"] >= 4)  # drawn anew for the narrower window
    until(lambda: chart.evaluate("chart => chart._fullLayout._size.h") >= 160)
    until(lambda: chart.evaluate("chart => chart.scrollHeight <= chart.clientHeight + 1"))


@pytest.mark.parametrize("estimand", few(["survival", "percentiles"]))
def test_the_picture_follows_the_slider_before_the_server_hears_of_it(server, open_app, estimand):
    page = open_app(server.url + f"/lab?s=estimand-{estimand}")
    chart, slider = page.locator(".js-plotly-plot").first, page.get_by_role("slider").first
    expect(chart).to_be_visible()
    expect(page.get_by_text("Other budgets are being computed")).to_have_count(0)
    page.wait_for_function(
        "() => window.__budget !== undefined && "
        "document.querySelector('.js-plotly-plot').data !== undefined"
    )
    drawn = "chart => JSON.stringify(chart.data.map(line => line.y))"
    before, address = chart.evaluate(drawn), page.url
    slider.evaluate(
        "e => { e.value = e.max; e.dispatchEvent(new Event('input', {bubbles: true})); }"
    )
    page.wait_for_function(
        f"before => ({drawn})(document.querySelector('.js-plotly-plot')) !== before", arg=before
    )
    assert page.url == address
    expect(slider).to_have_attribute("aria-valuetext", "ε = 10")
    expect(page.locator("#strip")).to_contain_text(
        re.compile(r" at ε = 1(?!\d)")
    )  # the error stays
    slider.dispatch_event("change")
    expect(page).to_have_url(re.compile("epsilon-10"))
    assert page.problems == []


@pytest.mark.slow
def test_a_budget_chosen_in_lab_is_that_of_explore(server, open_app):
    page = open_app(server.url)
    expect(page.locator("#value")).to_have_text("ε = 1")
    page.get_by_role("link", name="Lab").first.click()
    slider = page.get_by_role("slider").first
    expect(slider).to_have_attribute("aria-valuetext", "ε = 1")
    slider.press("ArrowRight")
    expect(page).to_have_url(re.compile("epsilon-1.2"))
    page.get_by_role("link", name="Explore").first.click()
    expect(page.locator("#value")).to_have_text("ε = 1.2")
    assert page.problems == []
