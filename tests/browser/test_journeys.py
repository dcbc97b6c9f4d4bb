"""What people do on Explore, in a real browser: arrive, drag, upload, take away, share."""

import json
import re

import pytest
from playwright.sync_api import expect

from engine.simulation import scenario
from tests import files
from tests.browser.conftest import PHONE
from tests.sentences import of_topic
from tests.waiting import choose, download, settle

wording = of_topic("pages")

SLIDER = "input[type=range]"
CARD = "root mean squared distance from"
OPEN = "/?s=open-accuracy"
NEXT = ".st-key-question_next button"


@pytest.fixture
def explore(server, open_app):
    def visit(path=OPEN, **context):
        page = open_app(server.url + path, **context)
        page.locator(SLIDER).first.wait_for()
        if "open-accuracy" in path:
            expect(page.get_by_text(CARD).first).to_be_visible()
        return page

    return visit


@pytest.fixture(scope="module")
def arrived(server, lasting_page):
    """The home page as a newcomer finds it, for tests that change nothing but its drawer."""
    lasting_page.goto(server.url)
    settle(lasting_page)
    return lasting_page


def upload(page, content, name="growth.csv"):
    page.locator("input[type=file]").set_input_files(
        files=[{"name": name, "mimeType": "text/csv", "buffer": content}]
    )


def open_data(page):
    """Open the data of the instrument line, where a file can be dropped."""
    page.locator("[class*=st-key-data] button").first.click()


def confirmed(page):
    """From the first look to the question of ranges, with times as they are proposed."""
    page.get_by_role("button", name="State public bounds").click()
    for heading in ("Who is one person?", "When were they measured?"):
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
        settle(page)
        page.locator(NEXT).click()
    expect(page.get_by_role("heading", name="Between which values can they lie?")).to_be_visible()
    settle(page)


def state(page):
    """Public bounds as they are proposed, and one trusted centre."""
    page.locator(NEXT).click()
    expect(page.get_by_role("heading", name="Who is trusted with the data?")).to_be_visible()
    settle(page)


def test_a_newcomer_sees_the_figure_without_a_click_and_nothing_leaves_the_machine(arrived):
    expect(arrived.locator(SLIDER).first).to_be_visible()
    expect(arrived.locator("#attacker")).to_have_text("≤ 56 %")
    expect(arrived.locator("#error")).to_contain_text("cm")
    expect(arrived.locator("#main .release")).to_be_visible()
    assert arrived.outside == []
    assert arrived.problems == []


# Whether each name of a deployment has a tick of the slider above it.
NAMED = """() => { const row = document.querySelector('[data-testid=stMain]').querySelectorAll('*');
  const root = [...row].find(node => node.shadowRoot?.querySelector('#anchors'))?.shadowRoot;
  const ticks = [...root.querySelectorAll('#anchors i')].map(tick => tick.getBoundingClientRect().x);
  const names = [...root.querySelectorAll('#anchors span')].filter(name => !name.textContent.endsWith(':'));
  return names.length > 1 && names.every(name => { const box = name.getBoundingClientRect();
    return ticks.some(x => box.left - 1 <= x && x <= box.right + 1) }) }"""


def test_names_of_deployments_stand_below_their_ticks_and_on_a_phone_a_tap_says_them(arrived):
    usual = arrived.viewport_size
    arrived.wait_for_function(NAMED)
    names = arrived.locator("#anchors span")
    name = names.first.text_content()
    arrived.set_viewport_size(PHONE)
    expect(names.first).to_be_hidden()
    arrived.locator("#anchors i").first.click()
    expect(arrived.locator("#sentence")).to_contain_text(name)
    arrived.set_viewport_size(usual)


@pytest.mark.slow
def test_moving_the_slider_changes_the_sentences_and_the_address(explore):
    page = explore()
    settle(page)
    before = page.get_by_text(CARD).first.inner_text()
    for _ in range(3):
        page.locator(SLIDER).first.press("ArrowRight")  # focuses it, whatever happened since
    expect(page.locator("#attacker")).to_have_text("≤ 61 %")
    settle(page)
    assert page.get_by_text(CARD).first.inner_text() != before
    expect(page).to_have_url(re.compile("s=epsilon-2"))


@pytest.mark.slow
def test_the_slider_keeps_the_keyboard_from_its_first_movement_on(explore):
    page = explore()
    settle(page)
    page.locator("#e").focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("s=epsilon-1.2"))
    settle(page)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#value")).to_have_text("ε = 1.5")


@pytest.mark.slow
def test_odds_and_accuracy_follow_while_the_slider_is_held(explore):
    page = explore()
    settle(page)
    page.locator("#e").scroll_into_view_if_needed()
    box = page.locator("#e").bounding_box()
    middle, before = box["y"] + box["height"] / 2, page.get_by_text(CARD).first.inner_text()
    page.mouse.move(box["x"] + box["width"] * 13 / 23, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, middle, steps=4)
    expect(page.locator("#attacker")).to_have_class("weak")
    assert page.get_by_text(CARD).first.inner_text() != before
    assert "epsilon" not in page.url
    page.mouse.up()
    expect(page).to_have_url(re.compile("s=epsilon-10"))


@pytest.mark.slow
def test_a_link_opens_the_same_view_and_the_same_numbers(explore):
    first = explore("/?s=epsilon-0.5~seed-5~view-attack~open-accuracy")
    again = explore("/" + first.url.split("/")[-1])
    for page in (first, again):
        expect(page.locator("#attacker")).to_have_text("≤ 54 %")
    assert first.get_by_text(CARD).first.inner_text() == again.get_by_text(CARD).first.inner_text()
    expect(again.locator("#question")).to_contain_text("Round 1 of 20")


@pytest.mark.slow
def test_the_numbers_and_the_scenario_can_be_taken_away(arrived):
    arrived.get_by_role("button", name="Details").click()
    choose(arrived, "drawer_choice", "Share")
    figure, numbers, plan = (
        download(arrived, arrived.get_by_role("button", name=name, exact=True)).path()
        for name in ("Figure as SVG", "Get the numbers", "Get the scenario")
    )
    assert "<svg" in figure.read_text()
    text = numbers.read_text()
    assert "Age (years)" in text
    assert text.count("\n") == 101 + 4
    read = scenario.from_plain(json.loads(plan.read_text()))
    assert read.source.mean == "growth"


@pytest.mark.slow
def test_escape_in_a_field_of_the_dialog_leaves_the_field_and_keeps_what_was_typed(explore):
    page = explore("/")
    open_data(page)
    upload(page, files.csv(files.growth_frame(30, 5)))
    confirmed(page)
    low, dialog = page.locator(".st-key-upload_value_low input"), page.get_by_role("dialog")
    page.get_by_text("Other bounds, with their source").click()
    expect(low).to_be_visible()
    settle(page)
    low.fill("60,5")
    page.keyboard.press("Escape")
    settle(page)
    expect(dialog).to_be_visible()
    expect(low).to_have_value("60,5")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="State public bounds").click()
    expect(dialog.get_by_text("growth.csv")).to_be_visible()
    expect(low).to_have_value("60,5")


@pytest.mark.slow
def test_limits_that_were_typed_before_the_reading_is_changed_stay(explore):
    page = explore("/")
    frame = files.growth_frame(30, 5).assign(
        sex=lambda rows: ["fm"[sum(map(ord, str(person))) % 2] for person in rows.iloc[:, 0]]
    )
    open_data(page)
    upload(page, files.csv(frame))
    confirmed(page)
    low = page.locator(".st-key-upload_value_low input")
    page.get_by_text("Other bounds, with their source").click()
    expect(low).to_be_visible()
    settle(page)
    low.fill("60,5")
    page.keyboard.press("Tab")
    settle(page)
    for heading in ("When were they measured?", "Who is one person?"):
        page.get_by_role("button", name="Back").click()
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
        settle(page)
    expect(low).to_have_count(0)
    page.get_by_text("How this file is read").click()
    choose(page, "upload_role_group", "sex")
    for name in ("f", "m"):
        choose(page, "upload_ask_columns-group-words", name)
        page.keyboard.press("Escape")
        settle(page)
    for _ in range(2):
        page.locator(NEXT).click()
        settle(page)
    expect(low).to_have_value("60,5")


@pytest.mark.slow
def test_own_curves_are_shown_after_a_bad_file_is_explained_and_their_bounds_are_stated(explore):
    page = explore("/")
    before = page.locator("#error").inner_text()
    open_data(page)
    upload(page, b"child,age,height\na,1,<script>alert(1)</script>\n")
    expect(page.get_by_text("no number").first).to_be_visible()
    assert page.locator("#error").inner_text() == before
    assert page.problems == []
    settle(page)
    upload(page, files.csv(files.growth_frame(60, 8)))
    confirmed(page)
    show = page.get_by_role("button", name="Show the released mean")
    state(page)
    expect(show).to_be_enabled()
    show.click()
    expect(page.get_by_role("button", name="Your file, 60 children")).to_be_visible()
    assert "s=" not in page.url
    assert page.outside == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "The file is empty"),
        (b"child,age,height\na,1,tall\n", "no number"),
        (b"\x89PNG\r\n\x00\x00\x00", "not a text table"),
    ],
)
def test_a_bad_file_is_explained_and_the_figure_stays(explore, content, words):
    page = explore("/")
    before = page.locator("#error").inner_text()
    open_data(page)
    upload(page, content)
    expect(page.get_by_text(words).first).to_be_visible()
    assert page.locator("#error").inner_text() == before
    assert page.problems == []


@pytest.mark.slow
def test_a_reader_asks_the_curve_and_the_answer_follows_the_slider(explore):
    page = explore("/")
    page.get_by_role("button", name="Details").click()
    choose(page, "drawer_choice", "Ask the curve")
    page.get_by_role("radio", name="How long is it above a level?").click()
    answer = page.locator("#sentence")
    expect(answer).to_have_text(re.compile(r"^Above\s130\scm for 9\.\d\syears \(95\s%: .+\)\.$"))
    expect(page.locator("#main .above")).to_have_count(1)
    before = answer.inner_text()
    page.locator(SLIDER).first.fill("20")
    expect(answer).not_to_have_text(before)
    expect(answer).to_contain_text("Above 130 cm")
    page.get_by_role("radio", name="When does it rise fastest?").click()
    expect(page.locator("#difference")).to_contain_text("Velocity (cm per year)")
    first = answer.inner_text()
    page.locator("#play").click()
    expect(answer).not_to_have_text(first)


@pytest.mark.slow
def test_a_policymaker_plans_how_many_people_show_a_difference_of_two_groups(explore):
    page = explore("/?s=open-shape~epsilon-3")
    page.get_by_text("People needed to see a difference between two groups").click()
    people = page.get_by_text("children in each of two groups")
    expect(people).to_contain_text("difference of 3 cm")
    before = people.inner_text()
    page.locator(".st-key-w_power_difference input").fill("6")
    page.keyboard.press("Enter")
    expect(people).to_contain_text("difference of 6 cm")
    count = [int(text.split()[0].replace(",", "")) for text in (before, people.inner_text())]
    assert count[1] < count[0]
    assert page.problems == [] and page.outside == []


@pytest.mark.slow
def test_a_teacher_shows_where_the_next_person_would_lie_at_several_budgets(explore):
    page = explore("/?s=shape-next~open-shape~epsilon-3")
    answer = page.locator("#sentence")
    expect(answer).to_contain_text("about 95 of 100 new children would lie between")
    before, wide = answer.inner_text(), page.locator("#main path.band").nth(1).get_attribute("d")
    assert wide
    page.locator(SLIDER).first.fill("12")
    expect(answer).not_to_have_text(before)
    assert page.locator("#main path.band").nth(1).get_attribute("d") != wide
    assert page.problems == []


@pytest.mark.slow
def test_a_statistician_compares_groups_and_takes_synthetic_people_away(explore):
    page = explore(
        "/?s=shape-groups~c-grouped_curves~c.mean-growth~c.n_curves-1000"
        "~epsilon-3~seed-2~open-shape"
    )
    expect(page.locator("#sentence")).to_contain_text("Controls and treated")
    expect(page.locator("#difference")).to_contain_text("controls − treated (cm)")
    page.get_by_text("Synthetic people drawn from one release").click()
    file = download(page, page.get_by_role("button", name="Get 1,000 synthetic people"))
    first, heading, row = file.path().read_text().splitlines()[:3]
    wording.found("row person", first)
    assert heading.endswith(",synthetic")
    assert row.endswith(",yes")
    assert page.problems == []
