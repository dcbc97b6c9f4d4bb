"""The list on pages: a button keeps what it promises, and no screen has more than one caution."""

import re
from dataclasses import replace

import numpy as np
import pytest

from engine.core.random_streams import generator
from engine.core.types import Budget, Caution, SaidIn
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.release import ledger
from engine.sources.sparse_curves import SparseCurves
from engine.uploads.facts import declare
from pages.shared.frame import timed
from pages.shared.server import computing
from tests import files
from tests.pages.opening import open_page, upload_of
from tests.pages.reading import components, error_in_lab, typed, warnings, words

pytestmark = pytest.mark.usefixtures("few_data_sets", "every_gain")


@pytest.fixture(autouse=True)
def _own_ledger(tmp_path, monkeypatch):
    monkeypatch.setenv(ledger.VARIABLE, str(tmp_path / "ledger.sqlite3"))


def estimate_with(cautions):
    """One release with these cautions."""
    data = SparseCurves(n_curves=60, n_observations_per_curve=4).draw(1, generator(1, 0, 0))
    estimate = AdaptiveMean().release(data, (Budget(2.0, 1e-3),), generator(1, 1, 0))
    return replace(estimate, cautions=tuple(cautions))


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


def file_of_days(**stated):
    """A file with bounds far from its values, about which little is stated."""
    facts = declare(
        60, 210, 2, 18, "growth chart", value_unit="cm", person="child", people="children", **stated
    )
    return upload_of(files.growth_frame(150, 8), facts)


BUNDLED = ("c-growth_curves", "c-glucose_days", "c-activity_days", "c-electricity_days")
REAL = "c-sea_temperature"
SCREENS = [
    *(("", place) for place in ("explore", "decide", "lab", "learn", "publish")),
    *(pytest.param(t, p, marks=pytest.mark.slow) for t in BUNDLED for p in ("explore", "lab")),
    *((REAL, place) for place in ("explore", "lab")),
    (f"{REAL}~step-preview", "publish"),
]


def amber(at):
    """Everything on a page that is drawn in amber."""
    badges = [text.value for text in at.markdown if ":orange-badge" in text.value]
    strips = [sent for sent in components(at, "") if "chips" in sent]
    chips = [chip["text"] for sent in strips for chip in sent["chips"] if chip["kind"] == "orange"]
    weak = [sent for sent in strips if sent["budgets"][sent["budget"]].get("weak")]
    return [*warnings(at), *badges, *chips, *weak]


@pytest.mark.parametrize(("token", "place"), SCREENS)
def test_a_first_screen_has_at_most_one_amber_element_and_a_default_none(token, place):
    found = amber(open_page(token, place))
    assert len(found) <= (1 if token else 0), found


def test_standing_assumptions_are_no_caution_of_a_page_and_voided_bands_come_first():
    ones = np.ones((1, 1, 1), dtype=bool)
    cautions = [
        Caution("Line.", ones, SaidIn.LINE),
        Caution("Assumed.", ones, SaidIn.STATED),
        Caution("Void.", ones, SaidIn.HEADING),
    ]
    estimate = estimate_with(cautions)
    assert estimate.usual_warnings(0) == estimate.first_on_page == ("Void.", "Line.")
    assert set(estimate.warnings) == {"Line.", "Assumed.", "Void."}


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
        assert float(re.search(r"[\d.]+", error_in_lab(at)).group()) == pytest.approx(
            promised, rel=0.05
        )


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
