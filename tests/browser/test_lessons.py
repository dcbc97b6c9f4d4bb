"""A whole lesson in a real browser, by keyboard alone: predict, reveal, answer, go on."""

import re

import pytest
from playwright.sync_api import expect

STORE = "localStorage.getItem('privacy-curves-guesses')"
FOCUSED = """() => { let e = document.activeElement;
    while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
    return [e?.id || '', e?.getAttribute('role') || e?.type || '', e?.textContent || ''].join('|'); }"""


def tab_to(page, wanted):
    """Press Tab until what has the focus is described by `wanted`."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if re.search(wanted, page.evaluate(FOCUSED)):
            return
    raise AssertionError(f"Tab never reaches {wanted}")


@pytest.mark.slow
def test_a_lesson_is_done_by_keyboard_and_the_score_stays_in_the_browser(server, open_app):
    page = open_app(f"{server.url}/teach")
    handle = page.get_by_role("slider", name="Pupils who have copied")
    expect(handle).to_have_attribute("aria-valuetext", "50 in 100")
    expect(page.get_by_text("Worked out from the answers")).to_be_hidden()
    tab_to(page, r"\|slider\|")
    page.keyboard.press("PageDown")
    page.keyboard.press("ArrowLeft")
    expect(handle).to_have_attribute("aria-valuetext", "44 in 100")
    tab_to(page, "^reveal")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Your guess was off by")).to_be_visible()
    expect(page.get_by_text("Worked out from the answers")).to_be_visible()
    expect(page.get_by_text("What happened")).to_be_visible()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowLeft")  # once revealed, a guess stays as it is
    expect(handle).to_have_attribute("aria-valuetext", "44 in 100")
    tab_to(page, r"\|radio\|")
    page.keyboard.press("Space")
    expect(page.get_by_text("Not quite.")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_text("Right.", exact=True)).to_be_visible()
    tab_to(page, "Next: ")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Lesson 2 of 8")
    expect(page.get_by_text("Your guesses so far")).to_contain_text("lesson 1")
    assert '"1"' in page.evaluate(STORE)
    assert page.problems == [] and page.outside == []


@pytest.mark.slow
def test_a_guess_outlives_a_change_of_the_view_and_of_the_page(server, open_app):
    page = open_app(f"{server.url}/teach")
    handle = page.get_by_role("slider", name="Pupils who have copied")
    handle.focus()
    page.keyboard.press("PageDown")
    expect(handle).to_have_attribute("aria-valuetext", "45 in 100")
    page.get_by_text("Presenter view").click()  # moves it before it is revealed
    expect(handle).to_have_attribute("aria-valuetext", "45 in 100")
    page.locator("#reveal").click()
    result = page.get_by_role("status").filter(has_text="Your guess was off by")
    said = result.inner_text()
    page.get_by_text("Presenter view").click()
    expect(handle).to_have_attribute("aria-valuetext", "45 in 100")
    expect(result).to_have_text(said)
    page.get_by_role("link", name="Plan", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("accuracy we want")
    page.get_by_role("link", name="Teach", exact=True).click()
    expect(handle).to_have_attribute("aria-valuetext", "45 in 100")
    expect(result).to_have_text(said)
    expect(page.get_by_text("What happened")).to_be_visible()  # the server hears of it again
    off = said.split(" by ")[1].split(":")[0]
    expect(page.get_by_text("Your guesses so far")).to_contain_text(f"({off} off)")
    page.get_by_role("button", name="Guess again").click()
    expect(page.get_by_text("What happened")).to_be_hidden()
    assert page.problems == []


def heights(handles):
    return [float(handles.nth(k).get_attribute("aria-valuenow")) for k in range(handles.count())]


@pytest.mark.slow
def test_a_mouse_draws_a_whole_curve_and_a_finger_moves_one_square(server, open_app):
    page = open_app(f"{server.url}/teach?s=lesson-7", viewport={"width": 390, "height": 844},
                    has_touch=True)
    handles = page.get_by_role("slider")
    expect(handles).to_have_count(10)
    page.locator("#reveal").scroll_into_view_if_needed()
    first, last = (handles.nth(k).locator("rect").bounding_box() for k in (0, 9))
    middle = first["y"] + first["height"] / 2
    left, right = (box["x"] + box["width"] / 2 for box in (first, last))
    start = heights(handles)
    page.mouse.move(left, middle - 40)
    page.mouse.down()
    page.mouse.move(right, middle - 40, steps=30)
    page.mouse.up()
    drawn = heights(handles)
    assert all(after > before for before, after in zip(start, drawn, strict=True))
    touch = page.context.new_cdp_session(page)
    for kind, at in (("touchStart", [(left, middle - 40)]), ("touchMove", [(right, middle)]),
                     ("touchEnd", [])):
        touch.send("Input.dispatchTouchEvent",
                   {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in at]})
    moved = heights(handles)
    assert moved[0] < drawn[0] and moved[1:] == drawn[1:]
    main = page.locator("[data-testid=stMain]")
    assert main.evaluate("e => e.scrollWidth - e.clientWidth") <= 0
    assert page.problems == []
