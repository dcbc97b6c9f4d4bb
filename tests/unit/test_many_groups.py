"""Curves of many groups from one release: read, refused, kept in cards, and asked for."""

import json

import numpy as np
import pytest

from engine import __main__
from engine.answers import ReleasedCurve, card
from engine.answers.group_curves import group_curves
from engine.answers.many_groups import SENT, ManyGroups
from engine.answers.reply import Verdict
from engine.answers.shrinkage import shrunk
from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.privacy import transcript
from engine.sources.sparse_curves import SparseCurves


def released(n_servers=20, delta=1e-5, method=None, **source):
    people = SparseCurves(
        **{
            "n_curves": 60 * n_servers,
            "n_servers": n_servers,
            "times": "common",
            "n_observations_per_curve": 24,
            **source,
        }
    )
    method = AdaptiveMean() if method is None else method
    budgets = (Budget(3.0, delta),)
    estimate = method.release(people.draw(1, generator(1, 0, 0)), budgets, generator(1, 1, 0))
    return ReleasedCurve.of(estimate, people.facts, n_people=people.n_curves)


@pytest.fixture(scope="module")
def curve():
    return released()


# -- shrinkage ---------------------------------------------------------------------------------------


def test_groups_measured_without_error_stay_and_hopeless_ones_become_their_mean():
    rng = np.random.default_rng(1)
    groups = rng.normal(2.0, 1.0, (30, 5))
    exact = shrunk(groups, np.full(groups.shape, 1e-4))
    assert exact.centres == pytest.approx(groups, abs=1e-3)
    alike = np.full((30, 5), 2.0) + 1e-6 * rng.normal(size=(30, 5))
    assert shrunk(alike, np.full((30, 5), 1.0)).centres.std(axis=0).max() < 1e-6


def test_shrunk_groups_are_nearer_to_the_truth_and_covered():
    rng = np.random.default_rng(2)
    errors, covered = [], []
    for _ in range(60):
        truth = rng.normal(0, 0.5, (40, 1))
        measured = truth + rng.normal(size=(40, 1))
        found = shrunk(measured, np.ones((40, 1)))
        errors.append([((each - truth) ** 2).mean() for each in (measured, found.centres)])
        half = 1.96 * np.sqrt(found.variances)
        covered.append((np.abs(found.centres - truth) <= half).mean())
    as_measured, drawn = np.mean(errors, axis=0)
    assert drawn < 0.35 * as_measured  # 0.2 for known variances
    assert 0.93 <= np.mean(covered) <= 0.98


def test_the_order_of_groups_changes_nothing():
    rng = np.random.default_rng(3)
    groups, variances = rng.normal(size=(12, 11)), rng.uniform(0.5, 2.0, (12, 11))
    order = rng.permutation(12)
    there = shrunk(groups, variances)
    again = shrunk(groups[order], variances[order])
    assert again.centres == pytest.approx(there.centres[order])
    assert again.between == pytest.approx(there.between)


# -- from a release ------------------------------------------------------------------------------


def test_each_site_has_a_curve_and_their_mean_is_near_that_of_all(curve):
    times = np.linspace(0, 1, 21)
    groups = curve.groups()
    assert groups.names[:2] == ("site 1", "site 2") and len(groups.names) == 20
    together = curve.row_maps[0](times, 0) @ curve.centre
    assert np.abs(groups.curves(times).mean(axis=0) - together).max() < 0.25
    low, high = groups.limits(times)
    sent_low, sent_high = curve.groups(shrink=False).limits(times)
    assert (high - low).mean() < 0.7 * (sent_high - sent_low).mean()


def test_asking_for_groups_and_components_sends_nothing():
    people = SparseCurves(n_curves=600, n_servers=6, times="common", n_observations_per_curve=24)
    data, budgets = people.draw(1, generator(1, 0, 0)), (Budget(3.0, 1e-5),)
    with transcript.recorded() as alone:
        AdaptiveMean().release(data, budgets, generator(1, 1, 0))
    with transcript.recorded() as asked:
        estimate = AdaptiveMean().release(data, budgets, generator(1, 1, 0))
        curve = ReleasedCurve.of(estimate, people.facts)
        curve.groups()
        curve.components()
        ManyGroups().answer(curve)
    assert len(asked) == len(alone) > 0
    for before, after in zip(alone, asked, strict=True):
        assert np.array_equal(before.values, after.values)


@pytest.mark.parametrize(
    "refusing",
    [
        lambda: released(n_servers=1, n_curves=1200),
        lambda: released(n_observations_per_curve=6),
        lambda: released(delta=0.0),
    ],
    ids=["one site, or masked sums", "too few observations", "no normal noise"],
)
def test_what_cannot_tell_groups_is_refused_with_the_reason(refusing):
    curve = refusing()
    answer = ManyGroups().answer(curve)
    assert answer.verdict is Verdict.REFUSED and answer.text
    with pytest.raises(InputError) as refused:
        group_curves(curve, is_shrunk=True)
    assert refused.value.field == "groups"


def test_three_groups_are_told_as_sent_and_not_drawn_towards_each_other():
    curve = released(n_servers=3, n_curves=1200)
    assert ManyGroups().answer(curve).verdict is Verdict.REFUSED
    answer = ManyGroups(drawn=SENT).answer(curve)
    assert answer.verdict is Verdict.TOLD and len(answer.values) == len(answer.pieces) == 3


def test_a_card_keeps_what_sites_sent_and_answers_alike(curve, tmp_path, capsys):
    plain = {"kind": "differential privacy guarantee", "answers": card.written(curve)}
    again = card.read(json.loads(json.dumps(plain)))
    assert plain["answers"]["version"] == 2 and len(plain["answers"]["sites"]["names"]) == 20
    asked = ManyGroups(time=0.25)
    assert asked.answer(again).plain() == asked.answer(curve).plain()
    path = tmp_path / "guarantee.json"
    path.write_text(json.dumps(plain))
    assert __main__.main(["ask-card", "--json", str(path), "groups", "--time", "0.25"]) == 0
    told = json.loads(capsys.readouterr().out)["groups"]
    assert told["values"] == pytest.approx(list(asked.answer(curve).values))


def test_cards_of_one_site_stay_of_the_first_version():
    alone = card.written(released(n_servers=1, n_curves=1200))
    assert alone["version"] == 1 and "sites" not in alone


@pytest.mark.parametrize(
    "change", [{"names": ["a"]}, {"centres": [[0.0]]}, {"variances": "x"}, {"names": ["a"] * 600}]
)
def test_a_card_whose_sites_cannot_be_is_refused(curve, change):
    answers = card.written(curve)
    broken = {**answers, "sites": {**answers["sites"], **change}}
    with pytest.raises(InputError):
        card.read({"kind": "differential privacy guarantee", "answers": broken})
