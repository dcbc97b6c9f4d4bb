"""How simulated people differ, as releases tell it, beside the truth and a covariance alone."""

import numpy as np
import pytest

from benchmarks.coverage.components import KnownPeople
from engine.core.errors import InputError
from engine.core.types import Budget
from engine.mechanisms import mechanisms
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.questions import ask
from engine.questions.kinds import from_plain, to_plain
from engine.sources.dense_curves import DenseCurves
from engine.sources.grouped_curves import GroupedCurves
from engine.sources.heart_failure import HeartFailure
from engine.sources.sparse_curves import SparseCurves
from engine.topics.components import charts, words
from engine.topics.components.answer import components_answer, known_directions
from tests.conftest import fewer_data_sets
from tests.few import VERY_FEW_DATA_SETS


@pytest.fixture(scope="module", autouse=True)
def _quick():
    yield from fewer_data_sets(VERY_FEW_DATA_SETS)


def answered(source, epsilon=1.0, method=None):
    budget = Budget(epsilon, float(source.n_curves) ** -2)
    return components_answer(source, AdaptiveMean() if method is None else method, budget, 1)


@pytest.fixture(scope="module")
def people():
    return answered(
        KnownPeople(
            mean="flat",
            shape="polynomials",
            n_curves=2000,
            n_observations_per_curve=24,
            times="common",
        )
    )


@pytest.mark.parametrize(
    "source",
    [
        SparseCurves(n_curves=20_000, noise_variance=0.0),
        SparseCurves(n_curves=20_000, deviation_tails="skewed", noise_variance=0.0),
        SparseCurves(n_curves=20_000, deviation_tails="outliers", noise_variance=0.0),
        SparseCurves(n_curves=20_000, deviation_tails="groups", noise_variance=0.0),
        GroupedCurves(n_curves=20_000, difference=2.0, noise_variance=0.0),
        DenseCurves(n_curves=5000),
    ],
    ids=lambda source: f"{source.key} {source.values().get('deviation_tails', '')}",
)
def test_a_stated_covariance_of_people_is_that_of_drawn_people(source):
    """The mean square of differences of pairs of people at two times, by the known function."""
    data = source.draw(1, np.random.default_rng(3))
    times, values = (
        each[0].reshape(source.n_curves, -1)[:, :2] for each in (data.times, data.values)
    )
    truth = source.truth
    deviations = values - truth.at(times.ravel()).reshape(times.shape)
    products = deviations[:, 0] * deviations[:, 1]
    expected = source.covariance_of_people.at(times)
    error = np.std(products - expected) / np.sqrt(len(products))
    assert abs((products - expected).mean()) < 4 * error


def test_shares_of_known_people_are_those_they_were_drawn_with():
    known = known_directions(KnownPeople(mean="flat", shape="polynomials").covariance_of_people)
    assert known.shares[0] == pytest.approx([0.6, 0.3, 0.1], abs=1e-3)
    points = known.functions.shape[-1]
    assert (known.functions**2).sum(axis=-1)[0] / points == pytest.approx(1.0)
    assert known.angles_to(known).max() < 1e-3


def test_the_release_of_the_mean_is_several_times_closer_than_a_covariance_alone(people):
    ours, theirs = (
        words.medians(people.angles(people.found)),
        words.medians(people.angles(people.covariance)),
    )
    assert ours[0] <= 5 and ours[1] <= 8 and ours[2] <= 12
    assert all(other >= 2.5 * own for own, other in zip(ours, theirs, strict=True))
    assert [people.share_told(k) for k in range(3)] == [1.0, 1.0, 1.0]
    assert words.finding(people).endswith("60 %") or "level" in words.finding(people)


def test_numbers_table_and_picture_say_the_same(people):
    question = ask(
        components_answer,
        KnownPeople(mean="flat", shape="polynomials"),
        AdaptiveMean(),
        people.budget,
        1,
    )
    numbers = question.numbers(people)
    medians = words.medians(people.angles(people.found))
    assert [numbers[f"degrees off, direction {k}"] for k in (1, 2, 3)] == medians
    share, true = (numbers[f"{name} of direction 1"] for name in ("share", "true share"))
    assert share == people.components.shares[0] and true == pytest.approx(0.6, abs=1e-3)
    assert len(words.table(people)) == 3
    chart = charts.angles(people)
    assert len(chart.spec["data"]) == 2
    assert len(charts.directions(people.curve).table) > 2


def test_a_question_is_kept_as_data_and_read_again():
    question = ask(components_answer, SparseCurves(), AdaptiveMean(), Budget(1.0, 1e-5), 1)
    assert from_plain(to_plain(question)) == question


def test_too_few_people_tell_nothing_and_numbers_are_missing():
    small = answered(SparseCurves(n_curves=60), 0.5)
    assert small.found is None and small.components is None and set(small.told) == {0}
    assert not words.finding(small)
    assert "nan" not in words.beside(small).lower()


def test_a_method_without_second_moments_is_refused():
    with pytest.raises(InputError):
        answered(SparseCurves(n_curves=300), 1.0, mechanisms.default("iclp", "mean_function"))


def test_data_whose_people_are_not_known_have_no_truth():
    assert DenseCurves(errors="t").covariance_of_people is None
    assert HeartFailure().covariance_of_people is None
