"""Publish, in a real browser: from a file of one's own to a release, with every press counted."""

import re

import pytest
from playwright.sync_api import expect

from tests import files
from tests.browser.conftest import PHONE
from tests.waiting import choose, download, settle


class Counted:
    """What somebody does on a page; every file, press, choice and number is one interaction."""

    def __init__(self, page):
        self.page, self.interactions = page, 0

    def file(self, content):
        self.interactions += 1
        self.page.locator("input[type=file]").set_input_files(
            files=[{"name": "growth.csv", "mimeType": "text/csv", "buffer": content}])

    def press(self, name):
        self.interactions += 1
        self.page.get_by_role("button", name=name).click()

    def choose(self, key, label):
        self.interactions += 1
        choose(self.page, key, label)

    def fill(self, key, text):
        self.interactions += 1
        self.page.locator(f"[class*=st-key-{key}] input").fill(text)
        self.page.keyboard.press("Tab")

    def tick(self, words):
        self.interactions += 1
        self.page.get_by_text(words).click()


def to_preview(somebody, content):
    """File, public bounds, trust: then the preview."""
    page = somebody.page
    somebody.file(content)
    expect(page.get_by_text("60 curves").first).to_be_visible()
    somebody.press("Next: public bounds")
    somebody.choose("upload_library", "Height by age, 2 to 19 years")
    expect(page.get_by_text("Range of height: from")).to_be_visible()
    settle(page)
    somebody.fill("upload_observations", "8")
    somebody.press("Next: who is trusted")
    somebody.press("Next: preview")
    expect(page.get_by_role("heading", name="4 Preview on the twin")).to_be_visible()


def test_a_statistician_gets_from_a_file_to_attacker_error_and_band_and_to_a_release(
        server, open_app):
    page = open_app(server.url + "/publish")
    somebody = Counted(page)
    to_preview(somebody, files.csv(files.growth_frame(60, 8)))
    expect(page.get_by_text(re.compile("95 % confidence band")).first).to_be_visible()
    expect(page.get_by_text(re.compile("from the truth")).first).to_be_visible()
    expect(page.get_by_text("an attacker knows").first).to_be_visible()
    assert somebody.interactions <= 6
    assert "s=" not in page.url
    somebody.press("Next: release")
    for words in ("The bounds come from", "Each child is in the file", "I understand that"):
        somebody.tick(words)
        settle(page)
    somebody.fill("release_name", "growth")
    settle(page)
    somebody.press("Publish and write to the ledger")
    expect(page.get_by_role("heading", name="Released: growth")).to_be_visible()
    assert somebody.interactions <= 12
    picture = download(page, page.get_by_role("button", name="Figure (SVG)")).path().read_text()
    assert "of 60 children" in picture and "ε = 1" in picture and "band" in picture
    assert page.outside == [] and page.problems == []


@pytest.mark.slow  # tests of pages go the same way without a browser
def test_nothing_is_lost_on_the_way_back_on_a_phone(server, open_app):
    page = open_app(server.url + "/publish", viewport=PHONE)
    to_preview(Counted(page), files.csv(files.growth_frame(60, 8)))
    page.get_by_role("button", name="Change").first.click()
    expect(page.get_by_role("heading", name="1 File")).to_be_visible()
    expect(page.get_by_text("60 curves").first).to_be_visible()
    page.get_by_role("button", name="Next: public bounds").click()
    expect(page.locator(".st-key-upload_value_high input")).to_have_value("205")
    expect(page.locator(".st-key-upload_observations input")).to_have_value("8")


@pytest.mark.slow
def test_the_address_of_a_step_opens_it_and_an_earlier_one_leads_there(server, open_app):
    for path in ("/publish?s=step-preview~c-sea_temperature", "/release?s=c-sea_temperature"):
        page = open_app(server.url + path)
        step = "4 Preview on the twin" if "preview" in path else "5 Release"
        expect(page.get_by_role("heading", name=step)).to_be_visible()
