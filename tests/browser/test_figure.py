"""The live figure in a real browser, on a page with made-up curves whose numbers are known."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect
from scipy.stats import binom

from tests.browser.conftest import PHONE
from tests.browser.harness.curves import EPSILONS, made_up
from tests.heavy import few
from tests.sentences import of_topic
from tests.waiting import settle

wording = of_topic("mean")

N = 200
TIMES, WITHOUT, RELEASES, CURVES, SCALES = made_up()
NUMBER = r"([+−\d.]+)"
# Whether another curve is drawn in one of the next frames, however long each of them takes.
MOVES = """async (svg, frames) => { const drawn = () => svg.querySelector('.release').getAttribute('d');
  for (let k = 0, before = drawn(); k < frames; k++) {
    await new Promise(done => requestAnimationFrame(done));
    if (drawn() !== before) return true;
  }
  return false }"""
LONG = 600  # frames: a release stands for a while before the next one comes
# Where a finger or a mouse can take hold of a curve: the person, x and y in the window.
HOLD = """svg => { const root = svg.getRootNode(), frame = svg.getScreenCTM();
  for (const grip of svg.querySelectorAll('.grip')) {
    const all = grip.getAttribute('d').slice(1).split('L').map(point => point.split(' ').map(Number));
    const [x, y] = all[Math.floor(all.length / 2)], at = new DOMPoint(x, y).matrixTransform(frame);
    if (root.elementFromPoint(at.x, at.y) === grip) return [+grip.dataset.person, at.x, at.y];
  } }"""


@pytest.fixture(scope="module")
def opened(lasting_page: Page, harness: str) -> Page:
    """The usual case where motion is unwanted, for all tests that leave it as they found it."""
    lasting_page.goto(harness)
    settle(lasting_page)
    return lasting_page


@pytest.fixture
def stage(opened: Page) -> Iterator[Page]:
    """The usual case at ε = 1, with nothing read, pulled or played."""
    opened.problems.clear()
    opened.mouse.move(0, 0)
    opened.locator("#e").fill("13")
    if opened.locator("#leave").is_visible():
        opened.locator("#leave").click()
    opened.locator("#stage").press("Escape")
    expect(opened.locator("#main .pulled")).to_have_count(0)
    yield opened
    assert opened.problems == []


def release(page: Page) -> Locator:
    return page.locator("#main .release")


def which(page: Page) -> int:
    """Which of the twenty releases is on screen."""
    return int(page.locator("#main").evaluate("svg => svg.getRootNode().__figure.from"))


def moves(page: Page, frames: int = 8) -> bool:
    return page.locator("#main").evaluate(MOVES, frames)


def readout(page: Page) -> tuple[float, ...]:
    """Age, mean, release, difference and the ends of the fog, as they stand beside the pointer."""
    text = page.locator("#main title").text_content() or ""
    values = re.search(
        rf"Age {NUMBER} years, non-private mean: {NUMBER} cm, one release: {NUMBER} cm, "
        rf"difference: {NUMBER} \(95 % of releases: {NUMBER} … {NUMBER}\)",
        text,
    )
    assert values, text
    return tuple(float(value.replace("−", "-")) for value in values.groups())


def pulled(page: Page) -> tuple[float, float]:
    """By how much the mean moved, and the noise beside it, as the sentence says."""
    sentence = page.locator("#sentence")
    expect(sentence).to_contain_text("This child moves the mean by")
    values = re.findall(r"([\d.]+) cm", sentence.inner_text())
    return tuple(float(value) for value in values)


def agrees(values: tuple[float, ...], drawn: int, budget: int = 13) -> None:
    """What was read is what the engine's arrays hold at that time."""
    age, mean, value, difference, low, high = values
    there = TIMES * 16 + 2
    exact = [np.interp(age, there, row) for row in (WITHOUT, RELEASES[budget, drawn])]
    slope = 0.05 * np.max(np.abs(np.diff(WITHOUT) / np.diff(there)))  # the age is rounded to 0.1
    assert mean == pytest.approx(exact[0], abs=slope + 0.06)
    assert value == pytest.approx(exact[1], abs=slope + 0.06)
    assert difference == pytest.approx(value - mean, abs=0.11)
    ends = [np.interp(age, there, row) for row in fog(budget)[[0, -1]]]
    assert (low, high) == pytest.approx(ends, abs=slope + 0.06)


def fog(budget: int) -> np.ndarray:
    """The ends of the middle 95 % and 50 % of releases, as differences from the mean."""
    return np.quantile(RELEASES[budget], (0.025, 0.25, 0.75, 0.975), axis=0) - WITHOUT


def shift_of(person: int, by: float, at: float = 0.5) -> float:
    """How far the mean moves most if a curve is pulled at a time on [0, 1], as releases can move."""
    times, values = CURVES[person]
    bump = by * np.exp(-0.5 * ((times - at) / 0.12) ** 2)
    change = np.interp(TIMES, times, np.clip(values + bump, 60, 200) - values) / N
    basis, _ = np.linalg.qr((RELEASES[13] - WITHOUT)[:8].T)
    return float(np.abs(basis @ (basis.T @ change)).max())


# -- the slider -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_budget_has_its_numbers_and_a_release_of_its_own(stage):
    page, paths = stage, []
    for k in (0, 7, 23):
        page.locator("#e").fill(str(k))
        expect(page.locator("#value")).to_have_text(f"ε = {EPSILONS[k]:g}")
        expect(page.locator("#error")).to_have_text(f"{SCALES[k]:.1f} cm")
        expect(page.locator("#within")).to_contain_text(f"{2 * SCALES[k]:.1f} cm")
        accuracy = np.ceil(100 / (1 + np.exp(-0.25 * EPSILONS[k])))
        expect(page.locator("#attacker")).to_have_text(f"≤ {accuracy:.0f} %")
        expect(page.locator("#main title")).to_contain_text(
            f"ε = {EPSILONS[k]:g}: error {SCALES[k]:.1f} cm"
        )
        paths.append(release(page).get_attribute("d"))
    assert len(set(paths)) == 3
    assert page.locator("#main .raw").count() == 70


# -- motion ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_releases_follow_one_another_until_somebody_reads_pulls_pauses_or_plays(show):
    page = show(reduced_motion="no-preference")
    main, play = page.locator("#main"), page.locator("#play")
    assert moves(page, LONG)
    turn = which(page)
    page.wait_for_function(
        """turn => [...document.querySelectorAll('*')].some(
        e => ![turn, undefined].includes(e.shadowRoot?.__figure?.from))""",
        arg=turn,
    )
    box = main.bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(middle[0], box["y"] + 20)
    assert not moves(page)  # while it is read
    page.locator("#e").focus()
    page.mouse.move(0, 0)
    assert moves(page, LONG)  # and on, wherever the keyboard is
    page.mouse.click(box["x"] + 100, box["y"] + 20)
    page.mouse.move(0, 0)
    expect(play).to_have_text("Play")
    assert not moves(page)
    play.click()
    expect(play).to_have_text("Pause")
    assert moves(page, LONG)
    page.locator("#stage").press("Space")
    assert not moves(page)
    page.locator("#stage").press("Space")
    page.locator("#stage").press("ArrowUp")
    assert not moves(page)  # while a curve is pulled
    page.locator("#stage").press("Escape")
    assert moves(page, LONG)
    page.locator("#attack").click()
    expect(page.locator("#leave")).to_be_visible()
    page.locator("#main").evaluate(
        MOVES, 30
    )  # the game takes room: the figure is laid out once more
    assert not moves(page)
    page.locator("#leave").click()
    assert moves(page, LONG)
    page.emulate_media(reduced_motion="reduce")
    expect(play).to_have_text("Next release")
    assert not moves(page) and page.problems == []


@pytest.mark.slow
def test_where_motion_is_unwanted_it_stands_still_and_each_press_shows_the_next(stage):
    assert not moves(stage)
    button, first, paths = stage.get_by_role("button", name="Next release"), which(stage), set()
    for _ in range(20):
        paths.add(release(stage).get_attribute("d"))
        button.press("Enter")
    assert len(paths) == 20 and which(stage) == first


# -- values ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_mouse_and_the_arrow_keys_read_the_values_of_the_engine(stage):
    box = stage.locator("#main").bounding_box()
    for share in (0.2, 0.6):
        stage.mouse.move(box["x"] + share * box["width"], box["y"] + 30)
        agrees(readout(stage), which(stage))
        expect(stage.locator("#main .plate")).to_have_count(1)
    stage.locator("#e").focus()
    stage.mouse.move(0, 0)
    expect(stage.locator("#main .plate")).to_have_count(0)
    expect(stage.locator("#spoken")).to_be_empty()
    ages = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        stage.locator("#stage").press(key)
        agrees(readout(stage), which(stage))
        ages.append(readout(stage)[0])
    assert ages[0] == ages[2] < ages[1]
    expect(stage.locator("#spoken")).to_contain_text(f"Age {ages[2]:g} years, non-private mean")
    stage.locator("#stage").press("Escape")
    expect(stage.locator("#main .plate")).to_have_count(0)


# -- pulling --------------------------------------------------------------------------------------


def test_keys_pull_the_highest_curve_and_the_mean_moves_by_its_share(stage):
    for _ in range(4):
        stage.locator("#stage").press("ArrowUp")
    shift, noise = pulled(stage)
    top = int(np.argmax([np.interp(0.5, *curve) for curve in CURVES[:70]]))
    # four times a fortieth of the axis
    assert shift == pytest.approx(shift_of(top, 14), rel=0.03)
    low, *_, high = fog(13)
    assert noise == pytest.approx(np.median(high - low) / 2, rel=0.03)
    expect(stage.locator("#difference")).to_contain_text(
        f"this child moves the mean by {shift:g} cm"
    )
    stage.locator("#stage").press("ArrowDown")
    assert pulled(stage)[0] < shift
    for _ in range(45):
        stage.locator("#stage").press("ArrowUp")
    assert highest(stage) >= 10 - 0.06  # the upper bound, where the plot begins
    assert pulled(stage)[0] < (200 - CURVES[top][1].min()) / N
    stage.locator("#stage").press("Escape")
    expect(stage.locator("#sentence")).to_contain_text("Drag any grey curve")
    expect(stage.locator("#main .pulled")).to_have_count(0)


def highest(page: Page) -> float:
    """The highest point of the pulled curve, in pixels from above."""
    path = page.locator("#main .pulled").get_attribute("d")
    return min(float(point.split(" ")[1]) for point in path[1:].split("L"))


def ends(page: Page) -> list[str]:
    """What stands at the ends of lines."""
    return page.locator("#main > .label").all_text_contents()


def test_a_mouse_pulls_the_curve_it_holds_and_a_click_puts_it_back(stage):
    person, x, y = stage.locator("#main").evaluate(HOLD)
    plot = stage.locator("#main").bounding_box()
    stage.mouse.move(x, y)
    stage.mouse.down()
    stage.mouse.move(x, y - 20)
    stage.mouse.move(x, y - 40, steps=3)
    shift, _ = pulled(stage)
    times, values = CURVES[person]
    at = times[len(times) // 2]
    wanted = 40 * 140 / (plot["height"] - 18)  # pixels, in the units of an axis from 60 to 200
    assert shift == pytest.approx(shift_of(person, wanted, at), rel=0.05)
    stage.mouse.move(x, plot["y"] - 60, steps=3)
    assert highest(stage) >= 10 - 0.06
    stage.mouse.up()
    drawn = which(stage)
    expect(stage.locator("#main .pulled")).to_have_count(1)  # until it is put back
    stage.mouse.click(x, plot["y"] + plot["height"] - 10)
    expect(stage.locator("#main .pulled")).to_have_count(0)
    assert which(stage) == drawn  # and nothing else was pressed by it


def test_what_is_said_of_a_pulled_child_follows_from_its_shift_beside_the_median_noise(show):
    page, seen = show("few"), set()
    for _ in range(20):
        page.locator("#stage").press("ArrowUp")
    for budget in range(9, 24):
        page.locator("#e").fill(str(budget))
        shift, noise = pulled(page)
        words = ("stays inside", "begins to show", "no longer hides")
        expected = words[(shift / noise >= 0.5) + (shift / noise > 1)]
        said = page.locator("#sentence").inner_text()
        assert expected in said
        is_weak = "weak" in (page.locator("#sentence").get_attribute("class") or "")
        assert is_weak == (shift > noise)
        seen.add(expected)
    assert len(seen) == 3


def test_the_axis_fits_the_fog_and_the_sliver_is_filled_from_zero(stage):
    limits = {}
    for budget in (7, 13, 23):
        stage.locator("#e").fill(str(budget))
        limits[budget] = stage.locator("#difference").evaluate(
            "e => e.getRootNode().__figure.limit"
        )
        low, *_, high = fog(budget)[:, 5:-5]
        half = np.max(high - low) / 2
        assert 1.2 * half <= limits[budget] <= 2.6 * half
    assert limits[7] > limits[13] > limits[23]
    stage.locator("#stage").press("ArrowUp")
    box = stage.locator("#difference .sliver").bounding_box()
    zero = stage.locator("#difference .without").bounding_box()
    assert box["y"] + box["height"] == pytest.approx(zero["y"], abs=5)


# -- the game -------------------------------------------------------------------------------------


SECRET = """() => 'ab'[[...document.querySelectorAll('*')].map(e => e.shadowRoot?.__figure?.game)
  .find(Boolean).secret]"""


def play(page: Page, answer: str | bool, press) -> int:
    """Answer twenty rounds by one letter, or all right or wrong; returns how many were said right."""
    hits, onward = 0, page.locator("#next")
    for turn in range(1, 21):
        secret = page.evaluate(SECRET)
        letter = (
            answer if isinstance(answer, str) else "ab"[("ab".index(secret) + (not answer)) % 2]
        )
        choose = page.locator(f"#{letter}")
        expect(page.locator("#question")).to_contain_text(f"Round {turn} of 20")
        expect(onward).to_be_hidden()
        press(choose)
        result = page.locator("#question" if turn < 20 else "#answer")
        expect(result).to_have_text(re.compile(rf"^Round {turn}: (right|wrong), it was [AB]\."))
        expect(choose).to_be_hidden()  # the next round is not on screen beside this result
        hits += "right, it was" in result.inner_text()
        if turn < 20:
            expect(page.locator("#answer")).to_have_text(f"{hits} of {turn} right.")
            press(onward)
    return hits


def test_a_round_keeps_its_curves_until_the_next_is_asked_for(stage):
    stage.locator("#attack").press("Enter")
    curves = stage.locator("#main :is(.curve-a, .curve-b)")

    def drawn():
        return [curves.nth(k).get_attribute("d") for k in (0, 1)]

    before = drawn()
    stage.keyboard.press("Enter")
    expect(stage.locator("#next")).to_be_focused()
    letter = re.search("it was ([AB])", stage.locator("#question").inner_text())[1]
    other = {"A": "b", "B": "a"}[letter]
    expect(stage.locator(f"#main .curve-{other}")).to_have_class(re.compile("absent"))
    expect(stage.locator("#main .absent")).to_have_count(1)
    assert drawn() == before
    stage.keyboard.press("Enter")
    expect(stage.locator("#a")).to_be_focused()
    assert drawn() != before
    expect(stage.locator("#main .absent")).to_have_count(0)


# How far the middle of each letter is from its own curve, and from the nearest of all others, in pixels.
LETTERS = """svg => { const lines = Object.fromEntries(['curve-a', 'curve-b', 'without', 'release'].map(name => [name,
    svg.querySelector(`.${name}`)]));
  const away = (disc, line) => Math.min(...Array.from({length: 2001}, (_, k) => {
    const at = line.getPointAtLength(k / 2000 * line.getTotalLength());
    return Math.hypot(at.x - disc.cx.baseVal.value, at.y - disc.cy.baseVal.value); }));
  return ['a', 'b'].map(letter => { const disc = svg.querySelector(`.badge-${letter}`);
    const all = Object.entries(lines).map(([name, line]) => [name === `curve-${letter}`, away(disc, line)]);
    return [disc.r.baseVal.value, all.find(([isOwn]) => isOwn)[1], Math.min(...all.filter(([isOwn]) => !isOwn).map(one => one[1]))]; }) }"""


def test_a_letter_of_the_game_touches_its_own_curve_and_lies_on_no_other_line(stage):
    stage.locator("#attack").click()
    for _ in range(8):
        for radius, own, other in stage.locator("#main").evaluate(LETTERS):
            assert own < radius + 3
            assert other > own  # whoever reads letters alone answers for the right child
            assert other > radius - 1
        stage.locator("#a").click()
        stage.locator("#next").click()


def test_where_the_mean_lies_with_each_of_the_two_can_be_told_apart_and_is_said_to_be_enlarged(
    stage,
):
    stage.locator("#attack").click()
    means = [
        heights(stage.locator(f"#difference .curve-{name}").get_attribute("d")) for name in "ab"
    ]
    apart = max(abs(one - other) for one, other in zip(*means, strict=True))
    plot = float(stage.locator("#difference clipPath rect").get_attribute("height"))
    assert plot / 10 < apart < plot
    label = stage.locator("#difference .label", has_text="times as far apart")
    times = re.search(r"(\d+) times", label.text_content())[1]
    expect(stage.locator("#answer")).to_contain_text(f"{times} times wider")
    shift = (
        apart
        / plot
        * 2
        * float(stage.locator("#difference").evaluate("svg => svg.getRootNode().__figure.limit"))
        / int(times)
    )
    assert shift < 140 / N  # in truth no farther than one of so many can move a mean


def test_the_score_says_which_round_it_is_and_names_the_bound(stage):
    stage.locator("#attack").click()
    marks = stage.locator("#score .tick").all_text_contents()
    assert marks[-6:] == ["1", "5", "10", "15", "20", "Rounds"]
    expect(stage.locator("#score .of-bound")).to_have_text("≤ 57 %")


def test_the_game_is_played_to_the_end_by_keyboard(stage):
    stage.locator("#attack").press("Enter")
    expect(stage.locator("#a")).to_be_focused()
    hits = play(stage, "a", lambda _: stage.keyboard.press("Enter"))
    question = stage.locator("#question")
    expect(question).to_have_text(f"{hits} of 20 right")
    low, high = (int(end) for end in binom.ppf((0.025, 0.975), 20, 0.5))
    verdict = (
        "within that range"
        if low <= hits <= high
        else "you had more"
        if hits > high
        else "you had fewer"
    )
    expect(stage.locator("#answer")).to_contain_text(f"Pure guessing gives {low} to {high} right")
    expect(stage.locator("#answer")).to_contain_text(verdict)
    expect(stage.locator("#answer")).to_contain_text("does better than 57 % from the releases.")
    scored = stage.locator("#score .scored").get_attribute("d")
    assert scored.count("L") == 19
    expect(stage.locator("#score title")).to_have_text(f"Share of right answers: {hits} of 20.")
    expect(stage.locator("#restart")).to_be_focused()
    stage.keyboard.press("Enter")
    expect(question).to_contain_text("Round 1 of 20")
    expect(stage.locator("#a")).to_be_focused()
    for _ in range(2):
        stage.keyboard.press("Tab")
    stage.keyboard.press("Enter")
    expect(stage.locator("#game")).to_be_hidden()
    expect(stage.locator("#attack")).to_be_focused()
    expect(server_says(stage)).to_contain_text("view look")


def test_a_game_keeps_its_score_when_epsilon_moves_and_its_bound_is_the_mean_of_what_rounds_allow(
    stage,
):
    stage.locator("#attack").click()
    expect(server_says(stage)).to_contain_text("view attack")
    for turn in (2, 3):
        stage.locator("#b").click()
        stage.locator("#next").click()
        expect(stage.locator("#question")).to_contain_text(f"Round {turn} of 20")
    said, slider = stage.locator("#answer").inner_text(), stage.locator("#e")
    bound = stage.locator("#score .bound").get_attribute("d")
    assert re.fullmatch(r"[012] of 2 right\.", said) and len(set(heights(bound))) == 1
    slider.press("ArrowLeft")
    expect(stage.locator("#question")).to_contain_text("Round 3 of 20")
    expect(stage.locator("#answer")).to_have_text(said)
    before, after = heights(bound), heights(stage.locator("#score .bound").get_attribute("d"))
    assert after[:3] == before[:3] and after[-1] > before[-1]  # down, as pixels are counted
    assert all(one <= other for one, other in pairwise(after))


def heights(path: str) -> list[float]:
    """Of the points of a line."""
    return [float(y) for y in re.findall(r" ([\d.]+)", path)]


def server_says(page: Page) -> Locator:
    return page.get_by_text("server budget")


# -- a phone --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_finger_pulls_plays_and_scrolls_and_nothing_is_wider_than_a_phone(show):
    page = show(viewport=PHONE, has_touch=True)
    fits(page)
    finger = Finger(page)
    _, x, y = page.locator("#main").evaluate(HOLD)
    before = page.locator("#main").bounding_box()
    finger.draws((x, y), (x, y + 15), (x, y + 30), (x, y + 45))
    assert page.locator("#main").bounding_box() == before  # it pulls the curve, not the page
    height = float(page.locator("#main clipPath rect").get_attribute("height"))
    assert pulled(page)[0] < 45 * 140 / height / N * 1.05
    fits(page)
    page.touchscreen.tap(x, y + 90)
    expect(page.locator("#main .pulled")).to_have_count(0)
    page.locator("#attack").tap()
    assert play(page, False, Locator.tap) == 0
    expect(page.locator("#question")).to_have_text("0 of 20 right")
    expect(page.locator("#answer")).to_contain_text("you had fewer")
    fits(page)
    page.locator("#restart").tap()
    assert play(page, True, Locator.tap) == 20
    expect(page.locator("#question")).to_have_text("20 of 20 right")
    expect(page.locator("#answer")).to_contain_text("you had more")
    page.locator("#leave").tap()
    expect(page.locator("#game")).to_be_hidden()
    assert page.problems == []


class Finger:
    """One finger, as the browser hears of it: it decides by itself whether that scrolls."""

    def __init__(self, page: Page) -> None:
        self.send = page.context.new_cdp_session(page).send

    def draws(self, *points: tuple[float, float]) -> None:
        for k, (x, y) in enumerate(points):
            self.send(
                "Input.dispatchTouchEvent",
                {"type": "touchMove" if k else "touchStart", "touchPoints": [{"x": x, "y": y}]},
            )
        self.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def fits(page: Page) -> None:
    """Nothing scrolls sideways, and no words of the figure end outside the window."""
    settle(page)
    wide = page.locator("[data-testid=stMain]").evaluate("e => [e.scrollWidth, e.clientWidth]")
    assert wide[0] <= wide[1] <= PHONE["width"]
    sides = page.locator(
        "#stage text, #score text"
    ).evaluate_all(  # at one moment: fonts may redraw them
        "all => all.map(text => text.getBoundingClientRect()).map(box => [box.left, box.right])"
    )
    assert len(sides) > 15
    assert all(0 <= left <= right <= PHONE["width"] for left, right in sides)


@pytest.mark.slow
def test_on_a_phone_the_two_curves_and_the_buttons_about_them_are_on_screen_together(show):
    page = show(viewport=PHONE, has_touch=True)
    page.locator("#attack").tap()
    for part in ("#question", "#a", "#b", "#main", "#difference"):
        expect(page.locator(part)).to_be_in_viewport(ratio=1)
    page.locator("#a").tap()
    for part in ("#next", "#main", "#difference"):
        expect(page.locator(part)).to_be_in_viewport(ratio=1)


@pytest.mark.slow
def test_what_is_pressed_on_a_phone_is_as_high_as_a_finger_is_wide(show):
    page = show(viewport=PHONE, has_touch=True)
    controls = page.locator("#figure :is(button, input):visible")
    sizes = controls.evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    assert len(sizes) >= 3 and min(sizes) >= 44


@pytest.mark.slow
def test_turning_the_phone_draws_the_figure_anew(show):
    page = show(viewport=PHONE)
    page.set_viewport_size({"width": 844, "height": 390})
    expect(page.locator("#main")).to_have_attribute("viewBox", re.compile("^0 0 [5-8].. 1[23]0$"))


# -- what would not be published, and whose curves they are -------------------------------------------


@pytest.mark.slow
def test_where_nothing_would_be_published_curves_are_there_but_faded_with_the_words(show):
    page = show("refused")
    page.locator("#e").fill("1")
    expect(page.locator(".shout")).to_have_text(
        "Too few children for this ε: would not be released"
    )
    expect(page.locator("#sentence")).to_have_text("Too few <b>children</b>. Ask more.")
    expect(page.locator("#error")).to_be_hidden()
    expect(page.get_by_text("Nothing published", exact=True)).to_be_visible()
    expect(page.locator("#difference")).not_to_contain_text("95 % of releases")
    assert ends(page)[0] == "would-be release"
    expect(release(page)).to_have_css("opacity", "0.4")
    for curve in ("#main .release", "#main .without", "#difference .release"):
        assert page.locator(curve).get_attribute("d").count("L") == 100
    page.locator("#attack").press("Enter")
    expect(page.locator("#question")).to_have_text(
        "Nothing would be published at ε = 0.06: there is nothing to attack."
    )
    expect(page.locator("#a")).to_be_hidden()
    expect(page.locator("#leave")).to_be_focused()
    page.locator("#e").fill("8")
    expect(page.locator("#question")).to_contain_text("Round 1 of 20")
    expect(page.locator("#a")).to_be_visible()
    page.locator("#leave").click()
    page.locator("#e").fill("1")
    page.set_viewport_size(PHONE)
    expect(page.locator(".shout")).not_to_have_count(1)  # in lines that fit
    fits(page)
    page.locator("#e").fill("4")
    expect(page.locator(".shout")).to_have_count(0)
    expect(page.locator("#sentence")).to_have_text("Coarse.")
    expect(release(page)).to_have_css("opacity", "1")
    page.locator("#e").fill("8")
    expect(page.locator("#sentence")).to_contain_text("Drag any grey curve")
    assert page.problems == []


@pytest.mark.slow
def test_markup_in_a_name_is_shown_as_text(show):
    page = show("evil")
    page.locator("#strip .chip").nth(1).hover()
    expect(page.locator("#strip .chip").nth(1)).to_contain_text("<b>unit</b><img")
    expect(page.locator("#main")).to_contain_text("onerror='window.__harm=1'")
    page.locator("#stage").press("ArrowUp")
    expect(page.locator("#sentence")).to_contain_text("<script>window.__harm=1</script>")
    page.locator("#attack").click()
    expect(page.locator("#answer")).to_contain_text("<script>window.__harm=1</script>")
    for host in ("#figure", "#strip"):
        assert page.locator(f"{host} img, {host} script, {host} .chip b").count() == 0
    assert page.evaluate("window.__harm") is None
    assert page.problems == []


def test_uploaded_curves_are_neither_saved_nor_linked(show):
    page = show("upload")
    copy, downloads = page.get_by_role("button", name="Copy link"), []
    assert copy.get_attribute("aria-disabled") == "true"
    page.on("download", lambda download: downloads.append(download))
    for kind in ("SVG", "PNG"):
        page.get_by_role("button", name=f"Save as {kind}").click()
        settle(page)
    copy.click(force=True)
    expect(page.locator("#strip [role=status]")).to_have_text("")
    expect(page.locator("#noise")).to_be_hidden()
    assert downloads == [] and page.problems == []


@pytest.mark.slow
def test_without_truth_and_band_the_figure_does_without_them(show):
    page = show("plain")
    expect(page.locator("#difference .band[d]:not([d=''])")).to_have_count(0)
    page.locator("#stage").press("ArrowRight")
    expect(page.locator("#main title")).to_contain_text("one release:")


def value_ticks(page: Page) -> list[float]:
    """What is written at the value axis, from below."""
    texts = page.locator("#main .tick").all_text_contents()
    return sorted(float(text.replace("−", "-")) for text in texts if re.fullmatch(r"−?\d+", text))


def test_the_value_axis_shows_the_curves_and_marks_public_bounds_that_are_in_view(stage):
    assert value_ticks(stage)[-1] == 200
    marks = stage.locator("#main .public-bound").count()
    assert marks == stage.locator("#main").get_by_text("public bound").count() > 0


@pytest.mark.slow
def test_public_bounds_far_from_the_curves_do_not_flatten_them(show):
    page = show("far")
    low, high = value_ticks(page)[0], value_ticks(page)[-1]
    curves = np.concatenate([values for _, values in CURVES[:70]])
    assert high - low <= 1.4 * np.ptp(curves) and curves.min() - low < 30
    expect(page.locator("#main .public-bound")).to_have_count(0)


# -- saving, and the server ---------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", few(["dark", "light"]))
def test_a_saved_figure_stands_alone(stage, tmp_path, scheme):
    stage.emulate_media(color_scheme=scheme)
    stroke, paper = {
        "dark": ("rgb(122, 146, 255)", "rgb(16, 20, 30)"),
        "light": ("rgb(61, 87, 214)", "rgb(255, 255, 255)"),
    }[scheme]
    expect(release(stage)).to_have_css("stroke", stroke)
    with stage.expect_download() as saved:
        stage.get_by_role("button", name="Save as SVG").click()
    stage.emulate_media(color_scheme="light")
    assert saved.value.suggested_filename == "privacy-curves-epsilon-1.svg"
    saved.value.save_as(tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text("utf-8")
    words = " ".join(node.text or "" for node in ElementTree.fromstring(text).iter())
    assert "var(" not in text and "class=" not in text and "transparent" not in text
    wording.found("released differential privacy", words, 1, 3.6)
    wording.found("simulated curves looking", words)
    assert "one release" in words and "Difference (cm)" in words
    assert stroke in text and paper in text


@pytest.mark.slow
def test_a_figure_can_be_saved_as_png(show, tmp_path):
    page = show()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as PNG").click()
    saved.value.save_as(tmp_path / "figure.png")
    data = (tmp_path / "figure.png").read_bytes()
    assert data.startswith(b"\x89PNG") and len(data) > 20_000


def test_new_noise_is_offered_while_releases_rest(show):
    page = show(reduced_motion="no-preference")
    expect(page.locator("#noise")).to_be_hidden()
    page.locator("#play").click()
    expect(page.locator("#noise")).to_be_visible()


WATCH_HAND = """setInterval(() => { for (const e of document.querySelectorAll('*'))
  if (e.shadowRoot?.querySelector('.hand')) window.seenHand = true; }, 50);"""


def test_a_hand_pulls_a_curve_once_unless_somebody_was_quicker(show):
    page = show(reduced_motion="no-preference", script=WATCH_HAND)
    page.wait_for_function("() => window.seenHand")
    expect(page.locator("#main .pulled")).to_have_count(0)
    expect(page.locator("#sentence")).to_contain_text("Drag any grey curve")


def test_new_noise_asks_the_server_once(stage):
    stage.get_by_role("button", name="New noise").click()
    expect(server_says(stage)).to_contain_text("noise True")
    stage.locator("#e").press("ArrowRight")
    expect(server_says(stage)).to_contain_text("noise False")
