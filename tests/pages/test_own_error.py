"""One upload, one error: every place forecasts it by the same twin, and none measures it."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

from engine.core.types import Budget
from engine.language import numbers
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.privacy.failure import usual_delta
from engine.release import ledger
from engine.sources.twin import Twin
from engine.topics.mean.answer import simulated_study
from tests.pages.opening import open_page, own_curves
from tests.pages.reading import components, error_in_lab, strip, words

ROOT = Path(__file__).parents[2]
SHOWN = {"upload": own_curves(), "show_upload": True}
pytestmark = pytest.mark.usefixtures("few_data_sets")


@pytest.fixture(autouse=True)
def _own_ledger(tmp_path, monkeypatch):
    monkeypatch.setenv(ledger.VARIABLE, str(tmp_path / "ledger.sqlite3"))


@pytest.fixture(scope="module")
def forecast():
    """Error of the twin, and what 95 % of its releases stay within, in words."""
    source = own_curves()
    budget = Budget(3.0, usual_delta(source.sizes.n_curves))
    study = simulated_study(Twin.of(source.facts, source.sizes), AdaptiveMean(), (budget,), 1)
    error, within = float(study.error[0]), float(study.within[0])
    return within, numbers.error(error, source.facts.value_unit, within)


def publish(at):
    """Go on to the release, name it and press the button."""
    at.session_state["settings"] = replace(at.session_state["settings"], publish_step="release")
    at.session_state["changed"] = True
    at.run()
    at.text_input(key="release_name_0").set_value("first").run()
    at.button(key="release_publish").click().run()
    return at.session_state["released"][0]


def test_one_upload_has_one_error_on_all_places_and_in_the_report(forecast, monkeypatch):
    within, written = forecast
    figure = components(open_page("epsilon-3", **SHOWN), "figure")[0]
    error, most, _ = figure["curves"]["errors"][figure["now"]["start"]]
    assert numbers.number(within, is_padded=True) in most
    assert error_in_lab(open_page("epsilon-3", "lab", **SHOWN)) == written
    target = f"epsilon-3~target-{within * 1.000001:.9g}"
    decided = open_page(target, "decide", **SHOWN)
    assert strip(decided, "decide_strip").error == written
    at = open_page("epsilon-3~step-preview", "publish", **SHOWN)
    assert strip(at, "release_strip").error == written
    released = publish(at)
    expected = released.forecast
    assert numbers.error(expected.error, expected.unit, expected.within) == written
    typical = numbers.with_unit(numbers.number(expected.error, is_padded=True), expected.unit)
    assert error == typical


def test_the_distance_from_the_own_mean_is_shown_once_and_is_no_error():
    for place, token in (("explore", "epsilon-3~open-accuracy"), ("lab", "epsilon-3")):
        said = words(open_page(token, place, **SHOWN))
        (sentence,) = re.findall(r"[^.]*from your own mean[^.]*\.", said)
        assert "error" not in sentence
    for place, token in (("decide", "epsilon-3"), ("publish", "epsilon-3~step-preview")):
        assert "your own mean" not in words(open_page(token, place, **SHOWN))


def test_no_page_calls_a_distance_of_real_curves_an_error():
    """Only the answer measures that distance, and only one sentence has a number of it."""
    users = {
        str(file.relative_to(ROOT))
        for folder in ("engine", "pages")
        for file in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "from_own_mean"
    }
    assert users == {
        "engine/topics/mean/answer.py",
        "pages/parts/explore/cards.py",
        "pages/parts/lab/mean.py",
    }
