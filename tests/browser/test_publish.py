"""Publish, in a real browser: from a file of one's own to a release, with every press counted."""

import re
import zipfile

import pytest
from playwright.sync_api import expect

from engine.uploads import examples
from tests import files
from tests.browser.conftest import PHONE
from tests.heavy import few
from tests.waiting import choose, download, settle


class Counted:
    """What somebody does on a page; every file, press, choice and number is one interaction."""

    def __init__(self, page):
        self.page, self.interactions = page, 0

    def file(self, content):
        self.interactions += 1
        self.page.locator("input[type=file]").set_input_files(
            files=[{"name": "growth.csv", "mimeType": "text/csv", "buffer": content}]
        )

    def open_data(self):
        self.interactions += 1
        self.page.locator("[class*=st-key-data] button").first.click()

    def press(self, name, role="button"):
        self.interactions += 1
        self.page.get_by_role(role, name=name).first.click()

    def choose(self, key, label):
        self.interactions += 1
        choose(self.page, key, label)

    def fill(self, key, text):
        self.interactions += 1
        self.page.locator(f"[class*=st-key-{key}] input").fill(text)
        self.page.keyboard.press("Tab")
        settle(self.page)

    def tick(self, words):
        self.interactions += 1
        self.page.get_by_text(words).click()
        settle(self.page)

    def save(self, name):
        self.interactions += 1
        return download(self.page, self.page.get_by_role("button", name=name))


CHILDREN = files.csv(files.growth_frame(300, 8).rename(columns={"child": "id"}))
DAYS = files.csv(files.days_frame(120))
_DATES = "\n".join(
    [
        "id,date,value",
        *(
            f"p{k},{1 + k % 12:02d}/{1 + visit:02d}/2024,{100 + k % 7 + visit}"
            for k in range(300)
            for visit in range(8)
        ),
    ]
).encode()


def asked(page, heading):
    """Wait for a question, and for all that follows it."""
    expect(page.get_by_role("heading", name=heading)).to_be_visible()
    settle(page)


def answer(somebody, content):
    """The five questions, as they are proposed wherever a file proposes anything."""
    page = somebody.page
    asked(page, "Who is one person?")
    if content is DAYS:  # an id that differs in every line may be a number of lines
        somebody.tick("Each “id” is one person")
    expect(page.get_by_role("button", name="Next")).to_be_enabled()
    page.keyboard.press("Enter")
    asked(page, "When were they measured?")
    somebody.press("Next")
    asked(page, "Between which values can they lie?")
    if content is DAYS:  # the header of a wide table names no measurement
        somebody.choose("upload_library", "Glucose in a day, mmol/L")
        settle(page)
    somebody.press("Next")
    asked(page, "Who is trusted with the data?")
    somebody.press("Next")
    asked(page, "Which budget?")
    somebody.press("Preview")
    somebody.interactions += 1  # the key of the first question


@pytest.mark.parametrize(
    ("content", "people"), few([(CHILDREN, 300), (DAYS, 120)]), ids=["long", "wide"]
)
def test_a_statistician_gets_from_a_file_to_a_picture_and_from_there_to_published_files(
    server, open_app, content, people
):
    page = open_app(server.url)
    settle(page)
    somebody = Counted(page)
    somebody.open_data()
    somebody.file(content)
    expect(page.get_by_text("Not private: for your eyes").first).to_be_in_viewport()
    expect(
        page.get_by_role("heading", name=re.compile(f"A first look at the mean curve of {people}"))
    ).to_be_visible()
    expect(page.locator("#main .release").first).to_be_visible()
    expect(page.locator("path.band").first).to_be_attached()
    expect(page.locator("#attacker")).to_have_text(re.compile("^≤ 5"))
    assert somebody.interactions <= 3
    somebody.press("Publish", "link")
    answer(somebody, content)
    expect(page.get_by_role("heading", name="2 Preview on simulated data")).to_be_visible()
    expect(page.get_by_text("growth.csv")).to_be_visible()
    assert saved(somebody, "from-a-file") and somebody.interactions <= 14
    assert "s=" not in page.url
    assert page.outside == [] and page.problems == []


@pytest.mark.slow  # tests of pages answer gaps without a browser
def test_a_gap_is_answered_then_the_reading_confirmed_and_the_curve_published(server, open_app):
    page = open_app(server.url + "/publish")
    settle(page)
    somebody = Counted(page)
    somebody.file(_DATES)
    asked(page, "Who is one person?")
    expect(page.get_by_text("Month first: 03/04/2024 is 4 March")).to_be_visible()
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    somebody.tick("Day first")
    settle(page)
    somebody.tick("Years of the calendar")
    somebody.press("Next")
    asked(page, "When were they measured?")
    somebody.tick("Each on its own")
    somebody.press("Next")
    asked(page, "Between which values can they lie?")
    for key, text in (("value_low", "80"), ("value_high", "130"), ("origin", "the protocol")):
        somebody.fill(f"upload_{key}", text)
    somebody.press("Next")
    asked(page, "Who is trusted with the data?")
    somebody.press("Next")
    asked(page, "Which budget?")
    somebody.press("Preview")
    expect(page.get_by_role("heading", name="2 Preview on simulated data")).to_be_visible()
    assert saved(somebody, "after-a-gap")
    assert page.problems == []


def saved(somebody, name=""):
    """From the preview to the published files, all in one; without a name by the proposed one."""
    page = somebody.page
    settle(page)
    somebody.press("Next: release")
    expect(page.get_by_role("heading", name="3 Release")).to_be_focused()
    if name:
        somebody.fill("release_name", name)
    somebody.press("Publish and write to the ledger")
    expect(page.get_by_role("heading", name=f"Released: {name or 'average-curve'}")).to_be_visible()
    with zipfile.ZipFile(somebody.save("All files (.zip)").path()) as packed:
        picture = packed.read("release.svg").decode()
        assert "ε = 1" in picture and "band" in picture
        return {"release.csv", "release.html", "guarantee.json"} < {*packed.namelist()}


@pytest.mark.slow
def test_from_the_page_that_publishes_the_way_is_shorter_still(server, open_app):
    somebody = Counted(open_app(server.url + "/publish"))
    somebody.file(CHILDREN)
    answer(somebody, CHILDREN)
    expect(somebody.page.get_by_text("an attacker knows").first).to_be_visible()
    assert somebody.interactions <= 6  # the file and five answers
    assert saved(somebody) and somebody.interactions <= 9  # and two presses, and one that saves


@pytest.mark.slow
def test_the_settings_of_a_release_state_its_bounds_again(server, open_app, tmp_path):
    somebody = Counted(open_app(server.url + "/publish"))
    somebody.file(CHILDREN)
    answer(somebody, CHILDREN)
    saved(somebody, "settings")
    settings = tmp_path / "again.json"
    download(somebody.page, somebody.page.get_by_role("button", name="Settings (JSON)")).save_as(
        settings
    )
    other = Counted(open_app(server.url + "/publish"))
    other.file(files.csv(files.growth_frame(300, 8).rename(columns={"child": "id", "height": "x"})))
    page = other.page
    asked(page, "Who is one person?")
    page.locator(".st-key-upload_ask_columns-value").get_by_text("“x”").click()
    expect(page.locator(".st-key-question_next button")).to_be_enabled()
    bring = page.get_by_role("button", name="As for an earlier file")
    if not bring.is_visible():
        page.get_by_text("How this file is read").click()
    bring.click()
    page.locator(".st-key-upload_settings input[type=file]").set_input_files(settings)
    settle(page)
    page.keyboard.press("Escape")
    other.press("Next")
    asked(page, "When were they measured?")
    other.press("Next")
    asked(page, "Between which values can they lie?")
    expect(page.locator(".st-key-upload_value_high input")).to_have_value("205")
    expect(page.locator(".st-key-upload_origin input")).to_have_value(re.compile("^WHO"))
    expect(page.get_by_role("button", name="Next")).to_be_enabled()


@pytest.mark.slow  # tests of pages go the same way without a browser
def test_nothing_is_lost_on_the_way_back_on_a_phone(server, open_app):
    page = open_app(server.url + "/publish", viewport=PHONE)
    somebody = Counted(page)
    somebody.file(CHILDREN)
    answer(somebody, CHILDREN)
    page.get_by_role("button", name="Change").first.click()
    asked(page, "Who is one person?")
    expect(page.get_by_text("growth.csv")).to_be_visible()
    somebody.press("Next")
    asked(page, "When were they measured?")
    expect(page.get_by_role("radio", checked=True)).to_have_count(1)
    page.get_by_role("button", name="Range, number and more").click()
    expect(page.locator(".st-key-upload_observations input")).to_have_value("9")


@pytest.mark.slow
def test_the_address_of_a_step_opens_it_and_an_earlier_one_leads_there(server, open_app):
    for path in ("/publish?s=step-preview~c-sea_temperature", "/release?s=c-sea_temperature"):
        page = open_app(server.url + path)
        step = "2 Preview on simulated data" if "preview" in path else "3 Release"
        expect(page.get_by_role("heading", name=step)).to_be_visible()


def test_an_example_opened_by_a_key_leaves_the_keyboard_at_its_step(server, open_app):
    page = open_app(server.url + "/publish")
    settle(page)
    page.get_by_role("button", name="Use an example").press("Enter")
    expect(page.get_by_role("heading", name="Who is one person?")).to_be_focused()


def test_what_was_stated_of_a_file_outlasts_a_reload_and_the_file_does_not(server, open_app):
    page = open_app(server.url + "/publish")
    settle(page)
    somebody = Counted(page)
    somebody.file(examples.growth_curves(60).encode())
    asked(page, "Who is one person?")
    page.get_by_text("How this file is read").click()
    choose(page, "upload_role_covariates", "mother_height")
    page.keyboard.press("Escape")
    settle(page)
    somebody.press("Next")
    asked(page, "When were they measured?")
    somebody.press("Next")
    asked(page, "Between which values can they lie?")
    page.get_by_text("Other bounds, with their source").click()
    settle(page)
    somebody.fill("upload_value_high", "210")
    kept = page.wait_for_function(
        "() => sessionStorage.getItem('privacy-curves-stated')"
    ).json_value()
    assert '"value_high"' in kept and "mother" not in kept and "child_id" not in kept
    page.reload()
    settle(page)
    somebody.file(examples.growth_curves(60).encode())
    asked(page, "Who is one person?")
    somebody.press("Next")
    asked(page, "When were they measured?")
    somebody.press("Next")
    asked(page, "Between which values can they lie?")
    page.get_by_text("Other bounds, with their source").click()
    expect(page.locator(".st-key-upload_value_high input")).to_have_value("210")
    assert page.problems == []
