"""Decide in a real browser: from a worked example, or from numbers of one's own, to a printed memo."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PHONE
from tests.waiting import settle

# The frame of the memo, whose printing is counted and not done: it would open a window.
COUNTED = """() => { const frame = [...document.querySelectorAll('*')].map(e => e.shadowRoot?.querySelector('#sheet'))
  .find(Boolean); window.__printed = 0; frame.contentWindow.print = () => { window.__printed += 1; };
  return frame.srcdoc; }"""


class Hand:
    """Does what a person does, and counts it."""

    def __init__(self, page):
        self.page, self.interactions = page, 0

    def press(self, name, role="button"):
        """Presses, and looks at what comes of it before going on."""
        self.page.get_by_role(role, name=name).click()
        settle(self.page)
        self.interactions += 1

    def type(self, label, value):
        """Types a number whether or not the page is still being drawn after the one before."""
        field = self.page.locator(f"input[aria-label='{label}']")
        field.fill(str(value))
        field.press("Enter")
        self.interactions += 1

    def paste(self, text):
        """Into the box for a table."""
        self.page.get_by_role("textbox", name="Or paste a table").fill(text)
        self.interactions += 1


SITES = re.compile(r"^\d+ sites?$")  # where their number stands in the sentence
STUDY = "/decide?s=c-sparse_curves~c.n_observations_per_curve-6~target-1"


@pytest.fixture(scope="module")
def study(server, lasting_page):
    """The study of a link, as it is opened."""
    lasting_page.goto(server.url + STUDY)
    settle(lasting_page)
    expect(lasting_page.get_by_role("button", name="Print the memo")).to_be_visible()
    return lasting_page


def printed(hand, *words):
    """The memo with these words, once it was printed."""
    sheet = hand.page.frame_locator("iframe#sheet")
    for text in words:
        expect(sheet.get_by_text(text).first).to_be_attached()
    html = hand.page.evaluate(COUNTED)
    hand.press("Print the memo")
    assert hand.page.evaluate("window.__printed") == 1
    return html


def pages_of(hand, html):
    """How many sheets of paper the browser prints a memo on."""
    sheet = hand.page.context.new_page()
    sheet.set_content(html)
    return len(re.findall(rb"/Type\s*/Page\b", sheet.pdf(prefer_css_page_size=True)))


@pytest.mark.slow
def test_nothing_scrolls_sideways_on_a_phone(study):
    usual = study.viewport_size
    study.set_viewport_size(PHONE)
    settle(study)
    main = study.locator("[data-testid=stMain]")
    study.wait_for_function(
        "main => main.scrollWidth <= main.clientWidth", arg=main.element_handle()
    )
    study.set_viewport_size(usual)


def test_the_page_printed_from_the_menu_of_the_browser_is_the_memo_alone_and_comes_back(study):
    settle(study)
    study.emulate_media(media="print")
    study.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(study.locator(".pc-paper").get_by_text("Recommendation")).to_be_visible()
    expect(study.locator("[data-testid=stApp]")).to_be_hidden()
    study.evaluate("dispatchEvent(new Event('afterprint'))")
    study.emulate_media(media="screen")
    expect(study.locator(".pc-paper")).to_have_count(0)
    expect(study.locator("[data-testid=stApp]")).to_be_visible()


def test_the_table_of_sites_has_a_name_and_no_line_ends_inside_a_quantity(study):
    settle(study)
    hand = Hand(study)
    hand.press(SITES)
    hand.type("Sites", 2)
    settle(study)
    study.keyboard.press("Escape")
    study.get_by_text("Table of sites").click()
    expect(study.get_by_role("group", name="Table of sites")).to_be_visible()
    study.wait_for_function("""() => [...document.querySelectorAll('[data-testid=stMarkdownContainer]')]
        .every(box => !/\\d %|[≤=±] \\d/.test(box.textContent))""")


def test_a_ministry_prints_a_memo_with_its_own_numbers_in_eight_interactions_on_one_page(study):
    settle(study)
    hand = Hand(study)
    hand.type("People at each site", 40)
    hand.press(SITES)
    hand.type("Sites", 12)
    hand.type("Observations of each person", 5)
    hand.type("Target", 1.5)
    html = printed(
        hand,
        "40 people at each of 12 sites",
        "with 5 observations per person",
        "within 1.5 in 19 of 20 releases",
    )
    assert hand.interactions <= 8 and pages_of(hand, html) == 1
    card = hand.page.get_by_text(re.compile("19.of.20.within")).first.inner_text()
    error = re.search(r"Error\s(\S+)\s+19.of.20.within\s(\S+)", card)
    assert error and all(f">{number}<" in html for number in error.groups())
    assert hand.page.problems == [] and hand.page.outside == []


@pytest.mark.slow
def test_twelve_hospitals_of_a_spreadsheet_are_in_a_printed_memo_within_eight_interactions(
    server, open_app
):
    """From the page as it is opened first: the quantity, the table, the target, and the print."""
    hand = Hand(open_app(f"{server.url}/decide"))
    hand.press(re.compile("in twelve hospitals"), "radio")
    expect(hand.page.locator("input[aria-label='Target']")).to_have_value(
        "0.5"
    )  # the whole sentence
    hand.press("12 hospitals")
    hand.paste(
        "".join(
            f"Hospital {letter}\t{people}\n"
            for letter, people in zip("ABCDEFGHIJKL", range(100, 220, 10), strict=True)
        )
    )
    hand.press("Use this table")
    hand.type("Target", 0.8)
    html = printed(
        hand, "1\u202f860 patients at 12 hospitals (100 to 210 at each)", "within 0.8 mmol/L"
    )
    assert hand.interactions <= 8 and pages_of(hand, html) == 1 and hand.page.problems == []


@pytest.mark.slow  # the ministry prints as well
def test_a_worked_example_of_twelve_hospitals_is_printed_in_two_interactions(server, open_app):
    """After schools: what hospitals add is the same choice under another label."""
    hand = Hand(open_app(f"{server.url}/decide"))
    who = hand.page.get_by_role("radio", name=re.compile("^FDP"))
    expect(who).to_have_text(re.compile("Each school adds noise"))
    hand.page.get_by_role("radio", name=re.compile("in twelve hospitals")).click()
    hand.interactions += 1
    html = printed(
        hand, "12 hospitals", "CDP: one centre", "SUMS: hospitals", "FDP: each", "LDP: each"
    )
    assert hand.interactions <= 2 and pages_of(hand, html) == 1
    hand.page.get_by_role("button", name="Details").click()
    expect(hand.page.get_by_text("Choose what to find")).to_be_visible()
    expect(who).to_have_text(re.compile("Each hospital adds noise"))
    expect(who).to_be_checked()
    expect(hand.page.get_by_text(re.compile("must be one of"))).to_have_count(0)
    assert hand.page.problems == []


@pytest.mark.slow
def test_sizes_of_sites_are_reached_by_keyboard_as_soon_as_they_open(server, open_app):
    page = open_app(server.url + "/decide")
    settle(page)
    button = page.get_by_role("button", name=re.compile("1.school"))
    button.focus()
    page.keyboard.press("Tab")  # the browser knows then that keys are in use
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Schools", exact=True)).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("textbox", name="Schools", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    assert page.problems == []
