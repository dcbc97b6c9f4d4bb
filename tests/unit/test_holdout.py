"""The published protocol: what is split, what is compared, and that the numbers are the engine's."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import plotly.graph_objects as go
import pytest

from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.types import Budget
from engine.figures.theme import in_theme
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.sources.bundled import CarbonDioxide
from engine.sources.hormone_study import HormoneStudy
from engine.topics.holdout import answer as protocol
from engine.topics.holdout import charts as holdout_charts
from engine.topics.holdout import words
from engine.topics.holdout.answer import holdout_study, release_range
from engine.topics.mean.charts import Method
from tests.heavy import few
from tests.sentences import of_topic

wording = of_topic("sparse")

STUDY = HormoneStudy()
BUDGETS = tuple(Budget(epsilon, 1 / 678**2) for epsilon in (0.5, 1.0, 3.0, 8.0))
METHOD = Method("Adaptive mean", "adaptive_mean", "gradient", np.empty(0))


def splits_of(source, iterations=30):
    data = source.draw(1, np.random.default_rng(1))
    return data, *protocol._splits(data, iterations, np.random.default_rng(2))


def test_a_random_third_trains_and_every_woman_is_on_one_side():
    data, training, protected = splits_of(STUDY, 200)
    assert training.shape == (200, 226) and protected.shape == (200, 452)
    both = np.sort(np.concatenate([training, protected], axis=1), axis=1)
    assert (both == np.arange(678)).all()
    how_often = np.bincount(training.ravel(), minlength=678)
    spread = np.sqrt(200 * (1 / 3) * (2 / 3))
    assert (np.abs(how_often - 200 / 3) < 5 * spread).all()
    assert len({tuple(np.sort(row)) for row in training}) == 200


def test_a_third_of_every_site_trains():
    data, training, _ = splits_of(HormoneStudy(n_servers=4))
    for row in training:
        assert (np.bincount(data.server[row]) == np.round(np.bincount(data.server) / 3)).all()


@pytest.mark.parametrize(
    "source",
    [STUDY, HormoneStudy(n_servers=3), CarbonDioxide()],
    ids=["one site", "three sites", "unequal lengths"],
)
def test_the_chosen_curves_keep_their_readings_and_their_site(source):
    data, training, protected = splits_of(source, 5)
    whole, seen = data.curves(data.n_curves), 0
    for members, *sides in protocol._alike(data, training, protected):
        seen += len(members)
        for side in sides:
            part = protocol._taken(data, side)
            assert part.n_repeats == len(members)
            for repeat in range(part.n_repeats):
                result = part.repeat(repeat).curves(part.n_curves)
                for curve, (times, values) in zip(side[repeat], result, strict=True):
                    assert (times == whole[curve][0]).all()
                    assert (values == whole[curve][1]).all()
            assert (part.server == data.server[side]).all()
    assert seen == 5


def test_all_iterations_split_the_same_women_and_the_seed_brings_them_back():
    study, again = (holdout_study(STUDY, AdaptiveMean(), BUDGETS, 3, 10) for _ in range(2))
    other = holdout_study(STUDY, AdaptiveMean(), BUDGETS, 4, 10)
    assert (study.squared_distances == again.squared_distances).all()
    assert (study.squared_distances != other.squared_distances).all()
    assert (study.n_training, study.n_protected, study.n_iterations) == (226, 452, 10)


class Noiseless(NoisyGradientMean):
    """Publishes the average without protection."""

    def release_many(self, data, budgets, draws, rng):
        non_private = self.without_protection(data)
        return replace(
            non_private, coefficients=np.repeat(non_private.coefficients, len(budgets), axis=0)
        )


def test_without_noise_the_distance_is_that_of_the_two_parts_coefficients():
    """Cosines are orthonormal: the integral is the sum of squared differences."""
    method = Noiseless(functions="cosine", truncation=3)
    found = holdout_study(STUDY, method, BUDGETS, 1, 20).squared_distances
    data = STUDY.draw(1, protocol.generator(1, protocol.DATA_STREAM, 0))
    splits = protocol._splits(data, 20, protocol.generator(1, protocol._SPLIT_STREAM, 0))
    one, two = (
        method.without_protection(protocol._taken(data, side)).coefficients[0, :, 0]
        for side in splits
    )
    assert found == pytest.approx(np.tile(((one - two) ** 2).sum(axis=-1), (4, 1)))


@pytest.mark.parametrize("method", few([NoisyGradientMean(), AdaptiveMean()]), ids=lambda m: m.key)
def test_a_larger_budget_comes_nearer_by_more_than_five_standard_errors(method):
    study = holdout_study(STUDY, method, BUDGETS, 1)
    gain = study.squared_distances[0] - study.squared_distances[-1]
    assert gain.mean() > 5 * gain.std(ddof=1) / np.sqrt(len(gain))
    assert study.mean == pytest.approx(study.squared_distances.mean(axis=1))
    assert study.standard_error == pytest.approx(study.squared_distances.std(axis=1, ddof=1) / 10)


@pytest.mark.slow
def test_real_curves_are_split_too_and_where_nothing_is_published_there_is_no_number():
    study = holdout_study(
        CarbonDioxide(), AdaptiveMean(), [Budget(0.1, 1e-4), Budget(8.0, 1e-4)], 1, 5
    )
    assert np.isnan(study.mean[0]) and np.isnan(study.standard_error[0])
    assert np.isfinite(study.squared_distances[1]).all()


def test_too_little_to_split_or_to_average_is_refused():
    with pytest.raises(InputError, match="at least 2 iterations"):
        holdout_study(STUDY, AdaptiveMean(), BUDGETS, 1, 1)
    lonely = HormoneStudy(n_curves=2, n_servers=2)
    with pytest.raises(InputError, match="needs more curves"):
        holdout_study(lonely, AdaptiveMean(), BUDGETS, 1)


def test_ninety_of_a_hundred_runs_lie_in_the_range_at_each_age():
    result = release_range(STUDY, AdaptiveMean(), BUDGETS, 1)
    data = STUDY.draw(1, protocol.generator(1, protocol.DATA_STREAM, 0))
    runs = (
        AdaptiveMean()
        .release_many(
            data,
            [(b,) for b in BUDGETS],
            100,
            protocol.generator(1, protocol.NOISE_STREAM, protocol._ALL),
        )
        .values(drawing_grid())[:, 0]
    )
    inside = ((result.low[:, None] <= runs) & (runs <= result.high[:, None])).sum(axis=1)
    assert (inside == 90).all()
    assert result.mean == pytest.approx(runs.mean(axis=1))
    assert (result.times[0], result.times[-1], result.n_runs) == (46.0, 63.0, 100)


# -- the pictures ---------------------------------------------------------------------------


@cache
def charts():
    study = holdout_study(STUDY, AdaptiveMean(), BUDGETS, 1, 10)
    result = release_range(STUDY, AdaptiveMean(), BUDGETS[1:2], 1, 20)
    return (
        holdout_charts.distances(study, METHOD, "pg/mL"),
        holdout_charts.runs(result, 0, 20, METHOD, STUDY.facts),
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_figures_are_valid_and_have_a_sentence_and_a_table(theme):
    for chart in charts():
        go.Figure(in_theme(chart.spec, theme))  # refuses unknown properties and values
        json.dumps(chart.spec["data"], allow_nan=False)
        assert chart.alt.endswith(".") and any(c.isdigit() for c in chart.alt)
        assert len({len(column) for column in chart.table.values()}) == 1


def test_the_bars_are_95_percent_intervals_and_both_axes_logarithms():
    chart = charts()[0]
    trace, layout = chart.spec["data"][0], chart.spec["layout"]
    half = [1.96 * error for error in chart.table["standard error"]]
    assert trace["error_y"]["array"] == pytest.approx(half, rel=1e-3)
    assert trace["y"] == pytest.approx(chart.table["mean squared distance"], abs=1e-3)
    assert layout["xaxis"]["type"] == layout["yaxis"]["type"] == "log"


def test_the_non_private_curve_is_dashed():
    dashes = {t["name"]: t["line"].get("dash") for t in charts()[1].spec["data"]}
    assert dashes["Non-private"] == "6px,4px"


@pytest.mark.slow
def test_budgets_at_which_nothing_is_published_have_no_point():
    study = holdout_study(CarbonDioxide(), AdaptiveMean(), [Budget(0.1, 1e-4)], 1, 5)
    chart = holdout_charts.distances(study, METHOD, "ppm")
    assert chart.spec["data"][0]["x"] == []
    assert chart.table["mean squared distance"] == [None]
    json.dumps(chart.spec["data"], allow_nan=False)


def test_the_sentences_say_synthetic_and_what_a_hundred_runs_cost():
    assert words.holdout(STUDY.facts, 226, 452, 100).startswith("Synthetic.")
    runs = words.runs(STUDY.facts, BUDGETS[1], 100, 678)
    assert runs.startswith("Synthetic.")
    wording.found("times one release", runs, 10)
    wording.found("upload under use", words.LICENSED)
