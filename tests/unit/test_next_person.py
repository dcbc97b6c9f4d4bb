"""How people differ by a release, and where the next person would lie."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from engine.answers import ReleasedCurve, card, curve_questions
from engine.answers.reply import Verdict
from engine.answers.spread import PERSON_FROM, next_person, refusal_of_spread, standard_deviation
from engine.core.errors import InputError
from engine.core.grids import quadrature
from engine.core.random_streams import generator
from engine.core.types import Budget, Design
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.numerics.bases import Basis
from engine.numerics.curve_covariances import PeopleSpread, people_spread, spread_maps
from engine.numerics.deviations import weighted_within_curves
from engine.numerics.kernels import matern
from engine.numerics.legendre import polynomial_rows
from engine.numerics.moments import curve_moments
from engine.numerics.observation_times import draw_times
from engine.sources.sparse_curves import SparseCurves
from tests.heavy import few
from tests.sentences import of_topic

wording = of_topic("audit")

TIMES = np.linspace(0, 1, 51)
SPREAD = {"growth": 6.0, "mu1": 0.5}


def releases(mean, people, epsilon, repeats, **settings):
    source = SparseCurves(mean=mean, n_curves=people)
    estimate = AdaptiveMean(**settings).release_many(
        source.draw(repeats, generator(1, 0, 0)),
        [(Budget(epsilon, people**-2.0),)],
        1,
        generator(1, 1, 0),
    )
    return source, estimate


@pytest.fixture(scope="module")
def released():
    source, estimate = releases("growth", 500, 3.0, 1)
    return ReleasedCurve.of(estimate, source.facts)


@pytest.mark.parametrize(
    "design", [Design(), Design.common(np.linspace(0.05, 0.95, 12))], ids=["even", "common"]
)
def test_the_covariance_of_deviations_is_what_the_maps_say(design):
    """8000 simulated people of known Σ and σ: entries within 6 % of the largest."""
    people, length, error, rng = 8000, 8, 0.5, generator(3, 0, 0)
    basis = Basis(6, family="cosine")
    covariance = np.array([[1.0, 0.3, 0.0], [0.3, 0.6, 0.1], [0.0, 0.1, 0.4]])
    times = draw_times(design, people, length, rng)
    theta = rng.multivariate_normal(np.zeros(3), covariance, people)
    values = np.einsum("irl,il->ir", polynomial_rows(3, times), theta)
    values += error * rng.standard_normal(values.shape)
    counts = np.full(people, length)
    moments = curve_moments(times.reshape(1, -1), values.reshape(1, -1), counts, basis)
    _, deviations = next(weighted_within_curves(moments, counts, [basis.size], design))
    maps = spread_maps(basis, ((length, people),), design, 3)
    expected = maps.moments_of(PeopleSpread(covariance, np.array(error**2)), np.ones(6))
    assert np.cov(deviations.targets[0]) == pytest.approx(expected, abs=0.06 * expected.max())


@pytest.mark.parametrize("n_functions", [3, 4, 5, 6])
@pytest.mark.parametrize("size", [7, 15, 21])
@pytest.mark.parametrize(
    ("design", "readings"),
    [
        (Design(), ((30, 300), (24, 200))),
        (Design.common(np.linspace(0.02, 0.98, 24)), ((24, 1),)),
        (Design(window=0.5), ((30, 1),)),
    ],
    ids=["even", "common", "windows"],
)
def test_exact_second_moments_give_back_how_people_differ(n_functions, size, design, readings):
    """Σ is not diagonal, so that directions are found as well."""
    root = np.tril(np.arange(1.0, n_functions**2 + 1).reshape(n_functions, -1)) / n_functions
    covariance, stretch = root @ root.T, np.linspace(1, 3, size)
    maps = spread_maps(Basis(size, family="cosine"), readings, design, n_functions)
    exact = maps.moments_of(PeopleSpread(covariance, np.array(0.7)), stretch)
    spread = people_spread(exact, stretch, maps)
    assert spread.covariance == pytest.approx(covariance, abs=1e-6)
    assert spread.error == pytest.approx(0.7, abs=1e-6)
    assert people_spread(exact, stretch, maps, error=0.7).covariance == pytest.approx(
        covariance, abs=1e-6
    )


def test_polynomials_of_people_are_orthonormal():
    nodes, weights = quadrature()
    rows = polynomial_rows(6, nodes)
    assert rows.T @ (weights[:, None] * rows) == pytest.approx(np.eye(6), abs=1e-12)


@pytest.mark.parametrize(
    ("mean", "people", "epsilon", "repeats"),
    few(
        [
            ("growth", 500, 1.0, 12),
            *(
                (mean, people, epsilon, 80)
                for mean in SPREAD
                for people in (200, 500, 2000)
                for epsilon in (1.0, 3.0)
            ),
        ],
        1,
    ),
)
def test_the_next_person_lies_in_the_range_in_95_of_100_cases(mean, people, epsilon, repeats):
    source, estimate = releases(mean, people, epsilon, repeats)
    truth, sd = source.truth.at(TIMES), SPREAD[mean]
    normal = source.normal_people
    root = np.linalg.cholesky(
        1e-9 * np.eye(len(TIMES))
        + matern(np.abs(TIMES[:, None] - TIMES), normal.smoothness, normal.length, normal.sd)
    )
    curves = truth + (root @ generator(5, 0, 0).standard_normal((51, 200))).T
    covered, whole = [], []
    for repeat in range(repeats):
        curve = ReleasedCurve.of(estimate, source.facts, 0, repeat)
        if refusal_of_spread(curve, PERSON_FROM):
            continue
        band = next_person(curve, TIMES)
        covered.append(ndtr((band.high - truth) / sd) - ndtr((band.low - truth) / sd))
        low, high = band.whole
        whole.append(((curves > low) & (curves < high)).all(axis=1).mean())
    assert 0.92 <= np.mean(covered) <= 0.98 and np.mean(covered, axis=0).min() > 0.9
    assert 0.91 <= np.mean(whole) <= 0.995


def test_an_observation_of_the_next_person_is_less_certain_than_their_curve(released):
    curve, observed = (next_person(released, TIMES, about) for about in (False, True))
    assert (observed.high - observed.low >= curve.high - curve.low).all()
    assert curve.widening > 1


def test_people_of_growth_differ_as_much_as_the_release_says(released):
    assert standard_deviation(released.spread.estimate, TIMES) == pytest.approx(6.0, rel=0.3)


def test_few_people_other_methods_and_unknown_times_do_not_tell_how_people_differ(released):
    question = curve_questions.build("next_person", {})
    source, estimate = releases("growth", 500, 3.0, 1, design="unknown")
    for curve in (
        replace(released, effective_size=30.0),
        replace(released, is_pure=True),
        replace(released, spread=None),
        ReleasedCurve.of(estimate, source.facts),
    ):
        assert question.answer(curve).verdict is Verdict.REFUSED
    answer = question.answer(released)
    wording.found("about new children", answer.text, 95, 100)
    assert answer.notes


def test_second_moments_go_through_the_card_and_damaged_ones_are_refused(released):
    good = {"kind": "differential privacy guarantee", "answers": card.written(released)}
    again = card.read(json.loads(json.dumps(good)))
    for about in ("curve", "observation"):
        question = curve_questions.build("next_person", {"about": about})
        assert question.answer(again).plain() == question.answer(released).plain()
    spread = good["answers"]["spread"]
    for changes in (
        {"stretch": spread["stretch"][:-1]},
        {"second_moments": [1.0]},
        {"second_moments_noise": -1.0},
        {"readings_each": {}},
        {"readings_each": {"x": 3}},
        {"readings_each": {"10": 0}},
        {"design": None},
        {"design": {**spread["design"], "law": "never"}},
        {"reading_sd": "1"},
        {"privacy_variance": [-1.0] * released.size},
    ):
        with pytest.raises(InputError):
            card.read({**good, "answers": {**good["answers"], "spread": {**spread, **changes}}})


def test_answers_do_not_touch_the_data():
    """All data are overwritten after the release: answers stay."""
    source = SparseCurves(mean="growth", n_curves=300)
    data = source.draw(1, generator(1, 0, 0))
    curve = ReleasedCurve.of(
        AdaptiveMean().release(data, (Budget(2.0, 1e-5),), generator(1, 1, 0)), data.facts
    )
    before = [cls().answer(curve).plain() for cls in curve_questions.all()]
    for array in (data.times, data.values):
        array.flags.writeable = True
        array[...] = np.nan
    fresh = replace(curve)  # nothing that was computed before
    assert [cls().answer(fresh).plain() for cls in curve_questions.all()] == before
