"""What the live figure sends to the browser."""

from __future__ import annotations

import base64
import gzip
import json
from types import SimpleNamespace

import numpy as np
import pytest

from engine.core.types import Budget, PublicFacts
from engine.topics.mean.live import MAX_CURVES, MAX_OBSERVATIONS, AtBudget, Picked, figure_payload
from pages.shared.components.figure import read_report
from tests.sentences import of_topic

wording = of_topic("mean")

BUDGETS, DRAWS, POINTS = 24, 20, 101
FACTS = PublicFacts(
    name="Growth",
    person="child",
    people="children",
    value_name="Height",
    value_unit="cm",
    time_name="Age",
    time_unit="years",
    time_low=2.0,
    time_high=18.0,
    value_low=60.0,
    value_high=210.0,
)


def arrays(spread: float = 5.0) -> dict[str, np.ndarray]:
    """Releases around a rising line, ever closer to it."""
    rng = np.random.default_rng(3)
    ordinary = np.linspace(80, 175, POINTS)
    scale = np.linspace(spread, 0.5, BUDGETS)[:, None, None]
    releases = ordinary + scale * rng.normal(size=(BUDGETS, DRAWS, POINTS))
    return {
        "times": np.linspace(2, 18, POINTS),
        "releases": releases,
        "ordinary": ordinary,
        "noise_low": releases.min(axis=1),
        "noise_high": releases.max(axis=1),
        "half_low": np.quantile(releases, 0.25, axis=1),
        "half_high": np.quantile(releases, 0.75, axis=1),
    }


def payload(facts: PublicFacts = FACTS, steps=(), curves=(), **changes):
    """Of a preview with these arrays; the other parts of one are not looked at."""
    data = SimpleNamespace(n_curves=len(curves), curves=lambda limit: curves[:limit])
    budgets = [Budget(epsilon, 1e-5) for epsilon in np.geomspace(0.05, 10, BUDGETS)]
    result = SimpleNamespace(
        **{
            "data": data,
            "budgets": budgets,
            "sampling": np.zeros(POINTS),
            "truth": None,
            "band": None,
            **arrays(),
            **changes,
        }
    )
    return figure_payload(facts, result, steps or [AtBudget(0.56, "3.9 cm", "5 cm")] * BUDGETS)


def numbers(text: str, low: float, high: float) -> np.ndarray:
    whole = np.frombuffer(base64.b64decode(text), "<i2").astype(float)
    return low + (whole + 32768) / 65535 * (high - low)


def sent_releases(sent, k: int) -> np.ndarray:
    """As differences from the average without protection."""
    return numbers(sent["releases"][k], *sent["scales"][k]).reshape(DRAWS, POINTS)


@pytest.mark.parametrize("shrunk", [1, 1e-5])
def test_differences_of_releases_are_within_one_step_of_their_own_range_however_small(shrunk):
    result = arrays()
    differences = (result["releases"] - result["ordinary"]) * shrunk
    flat = {name: result["ordinary"] + 0 * result[name] for name in ("noise_low", "noise_high")}
    sent = payload(releases=result["ordinary"] + differences, **flat)
    for k in range(BUDGETS):
        step = max(np.ptp(differences[k]), np.abs(differences[k]).max()) / 65535
        assert np.abs(sent_releases(sent, k) - differences[k]).max() <= step


def test_releases_equal_to_the_average_without_protection_are_sent_as_such():
    same = {
        name: arrays()["ordinary"] + 0 * arrays()[name]
        for name in ("releases", "noise_low", "noise_high")
    }
    assert np.abs(sent_releases(payload(**same), 3)).max() < 1e-6


@pytest.mark.parametrize("shrunk", [1, 1e-5])
def test_the_truth_is_as_fine_as_it_is_near(shrunk):
    wave = shrunk * np.sin(np.arange(POINTS))
    sent = payload(truth=arrays()["ordinary"] + wave)
    assert np.abs(numbers(*sent["truth"]) - wave).max() <= 2 * shrunk / 65535


def test_a_full_figure_stays_below_600_kilobytes():
    rng = np.random.default_rng(1)
    curves = [(np.sort(rng.random(1000)), rng.uniform(60, 210, 1000)) for _ in range(200)]
    full = payload(curves=curves, truth=arrays()["ordinary"], sampling=np.ones(POINTS))
    text = json.dumps(full).encode()
    assert len(text) < 400_000
    assert len(gzip.compress(text)) < 300_000


def test_at_a_refused_budget_the_noise_is_there_to_be_seen_and_no_error_is_stated():
    steps = [AtBudget(0.51, "", refused=("Too few.", "Ask more."))] * 2 + [
        AtBudget(0.56, "3.9 cm", "5 cm")
    ] * (BUDGETS - 2)
    flat = arrays()["releases"]
    flat[:2] = 130  # what a method gives that publishes nothing
    sent = payload(steps=steps, releases=flat)
    epsilons, least = np.geomspace(0.05, 10, BUDGETS), sent_releases(sent, 2)
    for k in range(2):  # noise grows as 1/ε, and no two draws are alike
        assert np.allclose(sent_releases(sent, k), least * epsilons[2] / epsilons[k], atol=0.01)
    assert sent["refused"][:3] == [["Too few.", "Ask more."]] * 2 + [None]
    assert sent["errors"][0] == ["–", "", "nothing published"]
    assert sent["errors"][2][0] == "3.9 cm" and "5 cm" in sent["errors"][2][1]


def test_the_fog_is_the_middle_95_and_50_percent_of_releases():
    sent, given = payload(), arrays()
    for k in range(BUDGETS):
        rows = numbers(sent["fog"][k], *sent["fog_scales"][k]).reshape(4, POINTS)
        for name, row in zip(
            ("noise_low", "half_low", "half_high", "noise_high"), rows, strict=True
        ):
            assert np.abs(row - (given[name][k] - given["ordinary"])).max() <= 1e-3


@pytest.mark.parametrize(
    ("bound", "words"),
    [(0.5, "≤ 50 %"), (0.5501, "≤ 56 %"), (0.99, "≤ 99 %"), (0.9901, "> 99 %"), (1.0, "> 99 %")],
)
def test_an_attackers_accuracy_is_a_bound_and_rounded_up(bound, words):
    assert payload(steps=[AtBudget(bound, "1 cm")] * BUDGETS)["attacker"][0] == words


def test_only_seventy_curves_of_at_most_two_hundred_observations_are_sent():
    curves = [(np.linspace(0, 1, 1000), np.full(1000, 100.0))] * 90
    sent = payload(curves=curves)
    assert sent["counts"] == [MAX_OBSERVATIONS] * MAX_CURVES and sent["n"] == 90
    wording.found("children", sent["words"]["curves"], 70, 90, alone=True)


def test_the_tag_names_the_content():
    assert payload()["tag"] == payload()["tag"]
    assert payload()["tag"] != payload(truth=np.ones(POINTS))["tag"]


def test_the_axis_is_the_stated_bounds_whatever_is_released():
    wild = arrays()
    wild["releases"][0, 0] = 1e9
    assert payload(**wild)["value"]["low"] == 60.0
    assert payload(**wild)["value"]["high"] == 210.0


def test_a_wild_release_is_cut_off_far_outside_the_figure_and_costs_little_precision():
    wild = arrays()
    wild["releases"][0, 0] = np.inf
    sent = payload(**wild)
    assert sent["scales"][0][1] == 5 * 150
    differences = wild["releases"][0, 1:] - wild["ordinary"]
    assert np.abs(sent_releases(sent, 0)[1:] - differences).max() < 0.02


def test_the_figure_of_uploaded_curves_is_never_offered_for_download():
    upload = PublicFacts(kind="upload", value_low=60.0, value_high=210.0, time_high=18.0)
    assert payload(upload)["downloads"] is False
    assert payload()["downloads"] is True


@pytest.mark.parametrize(
    ("name", "problem"), [("ordinary", "shape"), ("noise_low", "shape"), ("times", "shape")]
)
def test_an_array_of_the_wrong_shape_is_named(name, problem):
    with pytest.raises(ValueError, match=f"{name} has the {problem}"):
        payload(**{name: arrays()[name][..., :-1]})


def test_an_array_with_a_gap_is_refused():
    broken = arrays()
    broken["releases"][2, 3, 4] = np.nan
    with pytest.raises(ValueError, match="releases holds NaN"):
        payload(**broken)


def test_words_follow_the_facts_of_the_source():
    patients = PublicFacts(
        person="patient",
        people="patients",
        value_name="Glucose",
        value_unit="mmol/L",
        value_low=0.0,
        value_high=300.0,
    )
    sent = payload(patients)
    assert sent["value"]["label"] == "Glucose (mmol/L)"
    assert sent["time"]["label"] == "Time"
    assert "patient" in sent["words"]["invitation"]["inside"]
    assert all("mmol/L" in said for said in sent["words"]["pulled"].values())


def report(said, rev=2):
    return read_report(said, Picked(13), rev, BUDGETS)


def test_a_report_of_the_browser_is_taken_as_it_is():
    assert report({"budget": 4, "view": "attack", "rev": 2}) == Picked(4, "attack")


def test_a_report_made_before_the_server_moved_the_figure_is_ignored():
    assert report({"budget": 4, "view": "attack", "rev": 1}) == Picked(13)


@pytest.mark.parametrize(
    "said",
    [
        None,
        "4",
        {"budget": 24},
        {"budget": -1},
        {"budget": True},
        {"budget": "4"},
        {"budget": 4.5},
        {"budget": [4]},
        {"budget": {}},
        {"view": "else"},
        {"view": []},
    ],
)
def test_an_impossible_report_changes_nothing(said):
    assert report(said) == Picked(13)
