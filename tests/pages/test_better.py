"""The list on pages: a button keeps what it promises, and no screen has more than one caution."""

import re

import pytest

from engine.release import ledger
from engine.uploads.facts import declare
from pages.shared.frame import timed
from pages.shared.server import computing
from tests import files
from tests.pages.opening import open_page, upload_of
from tests.pages.reading import components, typed, words

pytestmark = pytest.mark.usefixtures("few_data_sets")


@pytest.fixture(autouse=True)
def _own_ledger(tmp_path, monkeypatch):
    monkeypatch.setenv(ledger.VARIABLE, str(tmp_path / "ledger.sqlite3"))


def entries(at):
    """What each button of the list promises, as a number."""
    gains = re.findall(
        r"(?:error|band) (?:± )?([\d.]+)[^.]*? instead of", typed(" ".join(rows_of(at)))
    )
    buttons = [button for button in at.button if (button.key or "").startswith("better_")]
    assert len(buttons) == len(gains) <= 3
    return list(zip(buttons, map(float, gains), strict=True))


def rows_of(at):
    return [text.value for text in at.markdown if " instead of " in text.value]


def error_of(at, key):
    (sent,) = [one for one in components(at, key) if "chips" in one]
    return float(re.search(r"[\d.]+", sent["budgets"][sent["budget"]]["error"]).group())


def file_of_days(**stated):
    """A file with bounds far from its values, about which little is stated."""
    facts = declare(
        60, 210, 2, 18, "growth chart", value_unit="cm", person="child", people="children", **stated
    )
    return upload_of(files.growth_frame(150, 8), facts)


@pytest.mark.parametrize("token", ["c.n_curves-150~c.n_observations_per_curve-6", "m-frl"])
def test_buttons_of_lab_keep_their_promise(token):
    at = open_page(token, "lab")
    labels = [button.label for button, _ in entries(at)]
    assert labels
    for label in labels:
        at = open_page(token, "lab")
        button, promised = next(each for each in entries(at) if each[0].label == label)
        button.click().run()
        assert not at.exception and not at.error
        assert error_of(at, "lab_strip") == pytest.approx(promised, rel=0.05)


def test_buttons_of_the_preview_keep_their_promise_and_state_what_they_say():
    upload = file_of_days(**files.EVEN)
    shown = {"upload": upload, "show_upload": True}
    at = open_page("step-preview", "publish", **shown)
    labels = [button.label for button, _ in entries(at)]
    assert any("symmetric" in label for label in labels)
    for label in labels:
        at = open_page("step-preview", "publish", **shown)
        button, promised = next(each for each in entries(at) if each[0].label == label)
        button.click().run()
        assert not at.exception and not at.error
        width = float(re.search(r"reach \*\*([\d.]+)", words(at)).group(1))
        assert width == pytest.approx(promised, rel=0.05)
        if "symmetric" in label:
            assert at.session_state["upload"].facts.symmetric


def test_a_page_that_waits_for_workers_stands_before_gains_are_computed(monkeypatch):
    for module in (timed, computing):
        monkeypatch.setattr(module, "uses_workers", lambda: True)
    at = open_page("seed-7207", "lab")
    assert "root mean squared" in words(at)
    assert not entries(at)
