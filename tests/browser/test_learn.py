"""Learn in a real browser: a lesson by keyboard, slides, and a class with two pupils."""

import re
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from engine.lessons import many_sites
from tests.browser.conftest import PHONE
from tests.heavy import few
from tests.waiting import overhang, settle, until

STORE = "localStorage.getItem('privacy-curves-guesses')"
FOCUSED = """() => { let e = document.activeElement;
    while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
    return [e?.id || '', e?.getAttribute('role') || e?.type || '', e?.textContent || ''].join('|'); }"""
FINGER = 44  # pixels
COPIED, DISTANCE = "Pupils who have copied", "Distance at age 10"


def tab_to(page, wanted):
    """Press Tab until what has the focus is described by `wanted`."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if re.search(wanted, page.evaluate(FOCUSED)):
            return
    raise AssertionError(f"Tab never reaches {wanted}")


def tile(page, lesson):
    """What opens a lesson, on the path."""
    return page.locator("#tiles button").nth(lesson - 1)


def press_in_sight(control):
    """Press what can be pressed without scrolling."""
    expect(control).to_be_in_viewport(ratio=1)
    control.click()


def within_reach(control):
    """A control that stands on the first screen of a phone, and is large enough for a finger."""
    expect(control).to_be_in_viewport(ratio=1)
    box = control.bounding_box()
    assert box["width"] >= FINGER and box["height"] >= FINGER
    return control


def question(page):
    """The headline of a slide."""
    return page.get_by_role("dialog").get_by_role("heading", level=1)


@pytest.mark.slow
def test_a_teacher_projects_a_lesson_in_three_interactions_and_steps_by_keyboard(server, open_app):
    page = open_app(server.url)
    press_in_sight(page.get_by_role("link", name="Learn", exact=True))  # 1
    expect(tile(page, 8)).to_be_in_viewport(ratio=1)  # so is each of the eight
    press_in_sight(tile(page, 1))  # 2
    page.get_by_role("button", name="Show as slides").click()  # 3
    expect(question(page)).to_have_text("What share of the pupils has really copied?")
    expect(page).to_have_url(re.compile("presenter-on"))
    menu = page.get_by_role("link", name="Explore", exact=True).bounding_box()
    assert (
        page.evaluate(
            "([x, y]) => document.elementFromPoint(x, y).closest('header')",
            [menu["x"] + menu["width"] / 2, menu["y"] + menu["height"] / 2],
        )
        is None
    )  # no menu in reach
    answer = page.get_by_text("have really copied. From the answers")
    expect(page.locator("dialog .after").first).to_be_hidden()
    figure, window = page.locator("dialog #plot svg").bounding_box(), page.viewport_size
    assert figure["height"] > 0.6 * window["height"]
    page.keyboard.press("Space")
    expect(answer).to_be_visible()
    expect(page.locator("dialog .after").first).to_be_visible()
    expect(page.get_by_text("Your guess was off")).to_have_count(0)  # nobody has moved the square
    page.keyboard.press("ArrowLeft")
    expect(answer).to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect(answer).to_be_visible()
    page.keyboard.press("Space")
    expect(question(page)).to_contain_text("What does the teacher know about Mia?")
    right = page.locator("dialog li.right")
    expect(page.locator("dialog li")).to_have_count(3)
    expect(right).to_have_count(0)
    page.keyboard.press("Space")
    expect(right).to_contain_text("more likely, but not certain")
    page.keyboard.press("ArrowRight")
    expect(question(page)).to_contain_text("How far off is the released mean")
    page.keyboard.press("ArrowLeft")
    expect(question(page)).to_contain_text("What share")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Lesson 1 of 8")
    assert page.evaluate(STORE) is None and page.problems == [] and page.outside == []


@pytest.mark.slow
def test_a_class_of_two_guesses_and_sees_what_the_teacher_reveals(server, browser, open_app):
    teacher = open_app(f"{server.url}/learn?s=lesson-1")
    teacher.get_by_role("button", name="Open a class").click()
    expect(teacher.get_by_text("Phones reach this computer at")).to_be_visible()
    teacher.get_by_role("button", name="Open the class").click()
    expect(question(teacher)).to_be_visible()
    words = teacher.locator("#class")
    expect(words).to_contain_text("Scan the code or type the address")
    assert server.url not in words.inner_text()  # not the dashboard
    expect(
        teacher.locator("dialog .handle")
    ).to_be_hidden()  # the pupils guess, and no number leads them
    code = teacher.locator("#join strong").inner_text()
    pupils = [
        open_app(f"{server.url}/learn{place}", viewport=PHONE, **touch)
        for place, touch in ((f"?s=class-{code}", {}), ("", {"has_touch": True}))
    ]
    pupils[1].get_by_role("button", name="Join a class").click()
    field = pupils[1].get_by_label("Class code")
    field.fill(code.lower())
    field.press("Enter")
    assert len({page.context for page in (teacher, *pupils)}) == 3
    for pupil, moves in zip(pupils, (1, 4), strict=True):
        send = within_reach(pupil.get_by_role("button", name="Send my guess"))
        expect(send).to_be_disabled()  # an untouched square is no guess
        within_reach(pupil.get_by_role("slider", name=COPIED)).focus()
        for _ in range(moves):
            pupil.keyboard.press("PageDown")
        send.click()
        expect(pupil.get_by_text("Your guess has arrived")).to_be_visible()
        expect(pupil.get_by_role("button", name="Change my guess")).to_be_visible()
        expect(pupil.locator(".room circle")).to_have_count(0)
    expect(teacher.get_by_text("2 guesses")).to_be_visible()
    expect(teacher.locator(".room circle")).to_have_count(0)
    teacher.keyboard.press("Space")
    expect(teacher.locator(".room circle")).to_have_count(2)
    expect(teacher.get_by_text("2 guesses from the class, median")).to_be_visible()
    for pupil in pupils:
        expect(pupil.get_by_text("Your guess was off by")).to_be_visible()
        expect(pupil.locator(".room circle")).to_have_count(2)
        expect(pupil.get_by_text("● The class, median")).to_be_visible()
    twice = pupils[0].context.new_page()  # the same phone, in another tab
    twice.goto(pupils[0].url)
    expect(twice.get_by_text("● The class, median")).to_be_visible()
    assert twice.locator(".room circle").count() == 2
    teacher.reload()
    expect(
        teacher.get_by_text("2 guesses from the class, median")
    ).to_be_visible()  # and nothing is hidden again
    expect(teacher.locator("dialog .after").first).to_be_visible()
    settle(teacher)
    teacher.keyboard.press(
        "Escape"
    )  # a class goes on outside its slides, and they go on where it is
    expect(teacher.get_by_text(f"Class {code} is open: 2 guesses.")).to_be_visible()
    teacher.get_by_role("button", name="Show as slides").click()
    expect(teacher.get_by_text("2 guesses from the class, median")).to_be_visible()
    expect(twice.get_by_text("● The class, median")).to_be_visible()
    settle(teacher)
    teacher.keyboard.press("ArrowRight")
    expect(twice.get_by_role("button", name="Nothing at all")).to_be_visible()
    twice.get_by_role("button", name="Nothing at all").click()
    expect(twice.get_by_text("Your answer has arrived")).to_be_visible()
    twice.close()
    for pupil, option in zip(
        pupils, ("more likely, but not certain", "Nothing at all"), strict=True
    ):
        choice = within_reach(pupil.get_by_role("button", name=option))
        choice.focus()
        pupil.keyboard.press("Enter")
        expect(pupil.get_by_text("Your answer has arrived")).to_be_visible()
    expect(teacher.get_by_text("2 answers from the class")).to_be_visible()
    teacher.keyboard.press("ArrowRight")
    expect(teacher.locator("dialog li.right")).to_contain_text("1 of 2")
    for pupil in pupils:
        expect(pupil.get_by_text("Right: It is more likely")).to_be_visible()
    expect(pupils[1].get_by_text("Your answer: Nothing at all.")).to_be_visible()
    teacher.keyboard.press("ArrowRight")
    expect(pupils[0].get_by_role("slider", name=DISTANCE)).to_be_visible()
    expect(teacher.get_by_text("0 guesses")).to_be_visible()
    teacher.reload()
    expect(teacher.locator("#join")).to_contain_text(code)  # the teacher comes back to the class
    teacher.get_by_role("button", name="End the class").click()
    expect(pupils[1].get_by_role("heading", level=1)).to_have_text("This class has ended")
    for page in (teacher, *pupils):
        assert page.problems == [] and page.outside == []


@pytest.mark.slow
def test_a_pupil_who_guesses_alone_is_shown_no_guesses_of_a_class(server, open_app):
    teacher = open_app(f"{server.url}/learn?s=lesson-1~presenter-on")
    teacher.get_by_role("button", name="Open a class").click()
    code = teacher.locator("#join strong").inner_text()
    pupil = open_app(f"{server.url}/learn?s=class-{code}", viewport=PHONE)
    pupil.get_by_role("slider", name=COPIED).focus()
    pupil.keyboard.press("PageDown")
    pupil.get_by_role("button", name="Send my guess").click()
    expect(teacher.get_by_text("1 guess from the class")).to_be_visible()
    question(teacher).focus()
    teacher.keyboard.press("Space")
    expect(teacher.locator(".room circle")).to_have_count(1)
    expect(pupil.get_by_text("Your guess was off by")).to_be_visible()
    expect(pupil.get_by_text("● The class")).to_have_count(0)
    expect(pupil.locator(".room circle")).to_have_count(0)


@pytest.mark.slow
def test_a_class_is_open_in_three_actions_and_a_phone_guesses_and_answers_at_its_own_address(
    server, open_app
):
    teacher = open_app(server.url)
    press_in_sight(teacher.get_by_role("link", name="Learn", exact=True))  # 1
    press_in_sight(teacher.get_by_role("button", name="Open a class"))  # 2
    teacher.get_by_role("button", name="Open the class").click()  # 3
    link = teacher.locator("#address")
    expect(link).to_contain_text("http://127.0.0.1:")
    phone = open_app(link.inner_text(), stands=False, viewport=PHONE, has_touch=True)
    handle = phone.get_by_role("slider", name=COPIED)
    send = phone.get_by_role("button", name="Send my guess")
    expect(send).to_be_disabled()
    within_reach(handle).focus()
    phone.keyboard.press("PageDown")
    within_reach(send).click()
    expect(phone.get_by_text("Your guess has arrived")).to_be_visible()
    expect(teacher.get_by_text("1 guess from the class")).to_be_visible()
    teacher.keyboard.press("Space")
    expect(phone.get_by_text("Your guess was off by")).to_be_visible()
    expect(phone.get_by_text("have really copied").first).to_be_visible()
    settle(teacher)
    teacher.keyboard.press("Space")
    within_reach(phone.get_by_role("button", name="more likely, but not certain")).click()
    expect(phone.get_by_text("Your answer has arrived")).to_be_visible()
    expect(teacher.get_by_text("1 answer from the class")).to_be_visible()
    teacher.keyboard.press("Space")
    expect(phone.get_by_text("Right: It is more likely")).to_be_visible()
    assert overhang(phone.locator("html")) == 0
    assert phone.problems == [] and phone.outside == [] and teacher.problems == []
    teacher.get_by_role("button", name="End the class").click()
    expect(phone.get_by_role("heading", level=1)).to_contain_text("This class has ended")


def test_tiles_have_pictures_and_tick_a_lesson_once_a_guess_is_revealed(server, open_app):
    page = open_app(f"{server.url}/learn")
    expect(page.locator("#tiles svg")).to_have_count(8)
    expect(page.locator("#tiles")).not_to_contain_text("done")
    press_in_sight(tile(page, 1))
    handle = page.get_by_role("slider", name=COPIED)
    handle.focus()
    page.keyboard.press("PageDown")
    page.get_by_role("button", name="Reveal").click()
    page.get_by_role("button", name="All lessons").click()
    expect(tile(page, 1)).to_contain_text("done")
    expect(page.locator("#tiles button", has_text="done")).to_have_count(1)
    assert page.problems == []


@pytest.mark.slow
def test_the_second_lesson_asks_one_number_and_draws_without_a_guess(server, open_app):
    page = open_app(f"{server.url}/learn?s=lesson-2")
    expect(page.get_by_role("slider", name=DISTANCE)).to_be_visible()
    assert page.locator(".handle").count() == 1
    page.get_by_role("button", name="Reveal").click()  # nothing was moved: no line is drawn
    expect(page.get_by_text("No guess was made")).to_be_visible()
    page.get_by_role("button", name="Guess again").click()
    page.get_by_role("slider", name=DISTANCE).focus()
    page.keyboard.press("PageDown")
    page.get_by_role("button", name="Reveal").click()
    expect(page.get_by_text("Your guess was off by")).to_be_visible()
    assert page.problems == []


@pytest.mark.slow
def test_the_game_of_the_last_lesson_is_a_slide_that_keys_reach_play_and_leave(server, open_app):
    page = open_app(f"{server.url}/learn?s=presenter-on~lesson-8")
    first = page.locator("#game #a")
    expect(question(page)).to_contain_text("can an attacker win")
    page.keyboard.press("Space")
    expect(page.get_by_text("From the release no attacker wins more than")).to_be_visible()
    page.keyboard.press("Space")
    expect(first).to_be_in_viewport()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("From the release no attacker wins more than")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(first).to_be_in_viewport()
    page.keyboard.press("Space")
    expect(question(page)).to_contain_text("What follows?")
    page.keyboard.press("ArrowLeft")
    expect(first).to_be_in_viewport()
    expect(page.get_by_role("link", name="Explore", exact=True)).to_be_hidden()
    settle(page)
    first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#game #next")).to_be_focused()  # the result is on screen
    page.keyboard.press("Enter")
    expect(page.locator("#game #question")).to_contain_text("Round 2 of 20")
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Explore", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Show as slides")).to_be_visible()
    assert page.problems == [] and page.outside == []


@pytest.mark.slow
def test_a_lesson_is_done_by_keyboard_and_the_score_stays_in_the_browser(server, open_app):
    page = open_app(f"{server.url}/teach")
    handle = page.get_by_role("slider", name="Pupils who have copied")
    expect(handle).to_have_attribute("aria-valuetext", "50 %")
    expect(page.get_by_text("Estimate from the answers")).to_be_hidden()
    tab_to(page, r"\|slider\|")
    page.keyboard.press("PageDown")
    page.keyboard.press("ArrowLeft")
    expect(handle).to_have_attribute("aria-valuetext", "44 %")
    tab_to(page, "^reveal")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="percentage points")).to_be_visible()
    expect(page.get_by_text("Estimate from the answers")).to_be_visible()
    expect(page.get_by_text("What happened")).to_be_visible()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowLeft")  # once revealed, a guess stays as it is
    expect(handle).to_have_attribute("aria-valuetext", "44 %")
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
def test_squares_that_nobody_moved_are_no_guess_and_count_in_no_score(server, open_app):
    page = open_app(f"{server.url}/learn?s=lesson-5")
    handles, truth = page.get_by_role("slider"), many_sites.measure(1).together[1:]
    handles.nth(1).focus()
    page.keyboard.press("Home")
    expect(page.get_by_text("1 of 4 squares moved")).to_be_visible()
    page.get_by_role("button", name="Reveal").click()
    expect(page.get_by_text(f"off by {truth[1]:.2f} cm (1 of 4 squares moved)")).to_be_visible()
    expect(handles).to_have_count(1)
    page.get_by_role("button", name="Guess again").click()
    for k in (0, 2, 3):
        handles.nth(k).focus()
        page.keyboard.press("ArrowUp")
    page.get_by_role("button", name="Reveal").click()
    expect(page.get_by_text("squares moved)")).to_have_count(0)


@pytest.mark.slow
def test_a_guess_outlives_a_change_of_the_view_and_of_the_page(server, open_app):
    page = open_app(f"{server.url}/learn?s=lesson-1")
    handle = page.get_by_role("slider", name=COPIED)
    handle.focus()
    page.keyboard.press("PageDown")
    expect(handle).to_have_attribute("aria-valuetext", "45 %")
    page.get_by_role("button", name="Show as slides").click()
    expect(question(page)).to_be_visible()
    expect(handle).to_have_attribute("aria-valuetext", "50 %")  # a class sees nobody's guess
    page.keyboard.press("Space")
    expect(page.get_by_text("Your guess was off by")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(handle).to_have_attribute("aria-valuetext", "45 %")
    page.get_by_role("button", name="Reveal").click()
    expect(page.get_by_text("What happened")).to_be_visible()
    result = page.get_by_role("status").filter(has_text="Your guess was off by")
    said = result.inner_text()
    page.get_by_role("link", name="Explore", exact=True).click()
    expect(page.locator("#attacker")).to_be_visible()
    settle(page)
    page.get_by_role("link", name="Learn", exact=True).click()
    expect(handle).to_have_attribute("aria-valuetext", "45 %")
    expect(result).to_have_text(said)
    expect(page.get_by_text("What happened")).to_be_visible()  # the server hears of it again
    off = said.split(" by ")[1].split(":")[0]
    expect(page.get_by_text("Your guesses so far")).to_contain_text(f"({off} off)")
    page.get_by_role("button", name="Guess again").click()
    expect(page.get_by_text("What happened")).to_be_hidden()
    assert page.problems == []


LEGEND = """() => [...document.querySelector('[data-testid=stMain]').querySelectorAll('*')]
    .map(e => e.shadowRoot?.querySelector('#plot')).find(Boolean).querySelectorAll('.entry')"""
ENTRIES = f"""() => [...({LEGEND})()].filter(e => getComputedStyle(e).display !== 'none').map(e => {{
    const [x, y] = e.getAttribute('transform').match(/[\\d.]+/g).map(Number);
    return [x, y, +e.dataset.width] }})"""


@pytest.mark.parametrize("width", few([1280, 390]))
def test_the_legend_has_no_gap_where_nobody_has_guessed(server, open_app, width):
    page = open_app(f"{server.url}/learn?s=lesson-4", viewport={"width": width, "height": 844})

    def gaps():
        return [
            x - (before + wide)
            for (before, row, wide), (x, y, _) in pairwise(page.evaluate(ENTRIES))
            if row == y
        ]

    assert all(gap == pytest.approx(14, abs=0.2) for gap in gaps())
    page.get_by_role("button", name="Reveal").click()
    expect(page.get_by_text("What happened")).to_be_visible()
    assert len(page.evaluate(ENTRIES)) == 4
    assert all(gap == pytest.approx(14, abs=0.2) for gap in gaps())


def heights(handles):
    return [float(handles.nth(k).get_attribute("aria-valuenow")) for k in range(handles.count())]


@pytest.mark.slow
def test_a_mouse_draws_a_whole_curve_and_a_finger_moves_one_square(server, open_app):
    page = open_app(
        f"{server.url}/teach?s=lesson-7", viewport={"width": 390, "height": 844}, has_touch=True
    )
    handles = page.get_by_role("slider")
    expect(handles).to_have_count(8)
    page.locator("#reveal").scroll_into_view_if_needed()
    first, last = (handles.nth(k).locator("rect").bounding_box() for k in (0, 7))
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
    for kind, at in (
        ("touchStart", [(left, middle - 40)]),
        ("touchMove", [(right, middle)]),
        ("touchEnd", []),
    ):
        touch.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in at]},
        )
    moved = heights(handles)
    assert moved[0] < drawn[0] and moved[1:] == drawn[1:]
    main = page.locator("[data-testid=stMain]")
    assert overhang(main) <= 0
    assert page.problems == []


def swipe(page, start, end, steps=12):
    """A finger from one point to another."""
    touch = page.context.new_cdp_session(page)
    points = [
        tuple(a + (b - a) * k / steps for a, b in zip(start, end, strict=True))
        for k in range(steps + 1)
    ]
    for kind, at in [
        ("touchStart", points[:1]),
        *(("touchMove", [point]) for point in points[1:]),
        ("touchEnd", []),
    ]:
        touch.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in at]},
        )


@pytest.mark.parametrize(("lesson", "by"), few([("2", (0, 80)), ("1", (110, 0)), ("4", (0, 90))]))
def test_a_finger_takes_a_square_as_far_as_it_goes_and_the_page_stays(server, open_app, lesson, by):
    page = open_app(
        f"{server.url}/learn?s=lesson-{lesson}", viewport=PHONE, has_touch=True, is_mobile=True
    )
    handles, main = page.get_by_role("slider"), page.locator("[data-testid=stMain]")
    page.locator("#reveal").scroll_into_view_if_needed()
    box, scrolled = handles.first.locator("rect").bounding_box(), main.evaluate("e => e.scrollTop")
    start, before = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2), heights(handles)
    swipe(page, start, (start[0] + by[0], start[1] + by[1]))
    after, moved = heights(handles), handles.first.locator("rect").bounding_box()
    assert after[0] != before[0] and after[1:] == before[1:]
    assert abs(moved["x"] - box["x"] - by[0]) + abs(moved["y"] - box["y"] - by[1]) < 5
    assert main.evaluate("e => e.scrollTop") == scrolled and page.problems == []


@pytest.mark.slow
def test_a_finger_beside_the_squares_scrolls_and_where_it_taps_the_nearest_square_goes(
    server, open_app
):
    page = open_app(
        f"{server.url}/learn?s=lesson-5", viewport=PHONE, has_touch=True, is_mobile=True
    )
    handles, main = page.get_by_role("slider"), page.locator("[data-testid=stMain]")
    page.locator("#plot").scroll_into_view_if_needed()
    plot, before, scrolled = (
        page.locator("#plot svg").bounding_box(),
        heights(handles),
        main.evaluate("e => e.scrollTop"),
    )
    x, y = handles.nth(3).locator("rect").bounding_box()["x"] + 4, plot["y"] + plot["height"] * 0.7
    swipe(page, (x, y), (x, y - 150))
    until(lambda: main.evaluate("e => e.scrollTop") > scrolled)
    assert heights(handles) == before
    main.evaluate("(e, to) => e.scrollTo(0, to)", scrolled)
    page.touchscreen.tap(x, y)
    after = heights(handles)
    assert after[3] < before[3] and after[:3] + after[4:] == before[:3] + before[4:]


@pytest.mark.slow
def test_a_distance_to_both_sides_is_drawn_on_both_and_is_never_below_nothing(server, open_app):
    page = open_app(f"{server.url}/learn?s=lesson-2")
    handle, line = page.locator(".handle").first, page.locator("#plot .line")

    def ends():
        return sorted(float(y) for y in re.findall(r" ([\d.]+)", line.get_attribute("d")))

    handle.press("End")
    assert float(handle.get_attribute("aria-valuenow")) > 0
    above, below = ends()
    handle.press("ArrowDown")
    lower, higher = ends()
    assert above + below == pytest.approx(lower + higher)  # as far above the mean as below
    assert higher - lower < below - above
    handle.press("Home")
    assert float(handle.get_attribute("aria-valuenow")) == 0


@pytest.mark.slow
@pytest.mark.parametrize("size", [PHONE, {"width": 720, "height": 450}], ids=["phone", "enlarged"])
def test_words_of_a_slide_that_are_below_its_buttons_are_announced_and_scrolled_to(
    server, open_app, size
):
    page = open_app(f"{server.url}/learn?s=presenter-on~lesson-2", viewport=size)
    last, more = page.locator("dialog #text p").last, page.get_by_text("More below")
    expect(more).to_be_visible()
    last.scroll_into_view_if_needed()
    page.locator("dialog").evaluate("slide => slide.scrollTo(0, slide.scrollHeight)")
    expect(more).to_be_hidden()
    words, bar = last.bounding_box(), page.locator("#bar").bounding_box()
    assert words["y"] + words["height"] <= bar["y"]


@pytest.mark.slow
def test_the_type_of_the_game_is_as_large_on_a_projector_as_that_of_other_slides(server, open_app):
    page = open_app(
        f"{server.url}/learn?s=presenter-on~lesson-8", viewport={"width": 1920, "height": 1080}
    )
    size = "e => (e.currentCSSZoom || 1) * parseFloat(getComputedStyle(e).fontSize)"
    shown = page.locator("dialog #text p").first.evaluate(size)
    page.keyboard.press("Space")
    page.keyboard.press("Space")
    for part in ("#game #question", "#game #answer", "#main text >> nth=0"):
        assert page.locator(part).evaluate(size) >= shown
    expect(page.locator("#game #a")).to_be_in_viewport(ratio=1)
    for width, height in ((1920, 1080), (1440, 900), (1280, 720), (1024, 768)):
        page.set_viewport_size({"width": width, "height": height})
        for part in ("#e", "#caption"):
            expect(page.locator(part)).to_be_in_viewport(ratio=1)
