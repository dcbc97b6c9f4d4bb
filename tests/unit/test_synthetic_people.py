"""Synthetic people: what they keep, their watermark, and when none are drawn."""

import csv
import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from engine import __main__
from engine.answers import ReleasedCurve, card
from engine.answers.synthetic import as_csv, refusal_of_synthetic, synthetic_people
from engine.core.bands import standard_errors
from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.numerics.legendre import polynomial_rows
from engine.sources.sparse_curves import SparseCurves
from engine.topics.mean.words import watermark
from tests.heavy import few
from tests.sentences import of_topic

wording = of_topic("summaries")

BUDGET = Budget(3.0, 4e-6)


SOURCE = SparseCurves(mean="growth", n_curves=500)


@cache
def estimates(repeats):
    return AdaptiveMean().release_many(
        SOURCE.draw(repeats, generator(1, 0, 0)), [(BUDGET,)], 1, generator(1, 1, 0)
    )


def released(repeat=0, repeats=1):
    return ReleasedCurve.of(estimates(repeats), SOURCE.facts, 0, repeat)


@pytest.fixture(scope="module")
def curve():
    return released()


def test_they_keep_the_released_mean_and_how_people_vary(curve):
    people = synthetic_people(curve, 20_000, generator(2, 0, 0), 4)
    unit = np.asarray(curve.facts.to_unit_time(people.at))
    mean = curve.row_maps[0](unit, 0) @ curve.centre
    spread = people.curves.std(axis=0)
    assert (np.abs(people.curves.mean(axis=0) - mean) < 4 * spread / np.sqrt(20_000)).all()
    rows = polynomial_rows(len(curve.spread.estimate.covariance), unit)
    covariance = rows @ curve.spread.estimate.covariance @ rows.T
    assert np.cov(people.curves.T) == pytest.approx(covariance, abs=0.05 * covariance.max())


def test_observations_lie_in_the_stated_bounds_and_times_in_their_range(curve):
    narrow = replace(curve, facts=replace(curve.facts, value_low=100.0, value_high=150.0))
    people = synthetic_people(narrow, 300, generator(2, 0, 0))
    assert people.values.min() == 100 and people.values.max() == 150
    assert people.times.min() >= 2 and people.times.max() <= 18
    assert people.values.shape == (300, 10)


def test_equal_seeds_give_equal_people_and_others_other_people(curve):
    files = [
        as_csv(synthetic_people(curve, 5, np.random.default_rng(seed)), curve, "mark")
        for seed in (1, 1, 2)
    ]
    assert files[0] == files[1] != files[2]


def test_every_file_has_the_watermark_first_and_says_of_every_row_that_it_is_synthetic(
    curve, tmp_path, capsys
):
    path, output = tmp_path / "guarantee.json", tmp_path / "people.csv"
    path.write_text(
        json.dumps(
            {
                "kind": "differential privacy guarantee",
                "release": {"name": "growth"},
                "guarantee": {"epsilon": 3.0, "delta": 4e-6},
                "answers": card.written(curve),
            }
        )
    )
    words = ["synthetic", str(path), "--people", "7", "--observations", "3", "--seed", "5"]
    assert __main__.main([*words, "--output", str(output)]) == 0
    capsys.readouterr()
    assert __main__.main(words) == 0
    assert capsys.readouterr().out == output.read_text()
    first, *rows = output.read_text().splitlines()
    assert first == f"# {watermark('growth', BUDGET)} Seed 5."
    wording.found("row person", first)
    table = list(csv.DictReader(rows))
    assert len(table) == 21 and {row["synthetic"] for row in table} == {"yes"}
    for bad in (
        ["--people", "0"],
        ["--people", "1000001"],
        ["--seed", "-1"],
        ["--observations", "0"],
    ):
        assert __main__.main([*words, *bad]) == 2


def test_none_are_drawn_where_the_release_does_not_tell_how_people_differ(curve):
    for other in (
        replace(curve, effective_size=149.0),
        replace(curve, passed=False),
        replace(curve, is_pure=True),
        replace(curve, spread=None),
    ):
        assert refusal_of_synthetic(other)
        with pytest.raises(InputError):
            synthetic_people(other, 3, generator(1, 0, 0))


@pytest.mark.slow
@pytest.mark.parametrize("repeats", few([30, 200], 1))
def test_intervals_from_synthetic_people_hold_the_truth_only_with_that_of_the_release(repeats):
    """The average value over time, by a mean of the curves of 5000 synthetic people."""
    truth = SOURCE.truth.at(np.linspace(0, 1, 101)).mean()
    naive, honest = [], []
    for repeat in range(repeats):
        curve = released(repeat, repeats)
        if refusal_of_synthetic(curve):
            continue
        averages = synthetic_people(curve, 5000, generator(9, 0, repeat)).curves.mean(axis=1)
        refit = averages.std() ** 2 / len(averages)
        rows = curve.row_maps[0](np.linspace(0, 1, 101), 0).mean(axis=0)
        own = standard_errors(curve.covariance, rows[None])[0] ** 2
        far = abs(averages.mean() - truth)
        naive.append(far < 1.96 * np.sqrt(refit))
        honest.append(far < 1.96 * np.sqrt(refit + own))
    assert np.mean(naive) < 0.7
    assert np.mean(honest) > 0.95 - 4 * np.sqrt(0.95 * 0.05 / len(honest))
