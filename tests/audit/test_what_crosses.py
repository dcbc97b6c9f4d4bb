"""What is released depends on the curves only through what the sites sent, noise included.

Every message of a run is recorded where it leaves its site. Then the run is repeated with the
messages replayed and other curves of the same public sizes: the release must be the same to the
last bit. A mechanism in which anything else of the data reached the centre would give something
else.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.adaptive_coefficients import AdaptiveCoefficients
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.bernstein import Bernstein
from engine.mechanisms.frl import Frl
from engine.mechanisms.gaussian_process import GaussianProcess
from engine.mechanisms.iclp import Iclp
from engine.mechanisms.noisy_gradient_coefficients import NoisyGradientCoefficients
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.privacy import transcript
from engine.sources.coefficient_curves import CoefficientCurves
from engine.sources.regression_points import RegressionPoints
from engine.sources.sparse_curves import SparseCurves
from tests.heavy import few

BUDGETS = (Budget(2.0, 1e-3), Budget(1.0, 1e-4), Budget(4.0, 1e-3))
CURVES = SparseCurves(n_curves=600, n_servers=3)
WITH_COVARIATES = CoefficientCurves(n_curves=900, n_servers=3)
READINGS = RegressionPoints(n_curves=12_000, n_servers=3)


def curves(source):
    return source.draw(1, generator(1, 0, 0))


def other_curves(source):
    """The same public sizes and times elsewhere, and readings and covariates of another world."""
    data = source.draw(1, generator(2, 0, 0))
    covariates = None if data.covariates is None else -0.5 * data.covariates
    return replace(data, values=3 - 5 * data.values, times=1 - data.times**2, covariates=covariates)


def run_twice(mechanism, source, messages, budgets=BUDGETS):
    """The release on some curves, and the replay of its messages on others."""
    first, again = [], None

    def record(server, step, values, noise):
        first.append(values.copy())
        return values

    def replay(server, step, values, noise):
        return next(again).copy()

    results = []
    for data, method in ((curves(source), record), (other_curves(source), replay)):
        again = iter(first)
        with transcript.overheard(
            SimpleNamespace(sent=method, summed=lambda *_: None, weighed=lambda *_: None)
        ):
            results.append(mechanism.release(data, budgets, generator(5, 1, 0)))
    assert len(first) == messages
    return results


def assert_same(one, other):
    assert (one.coefficients == other.coefficients).all()
    assert one.spends == other.spends and one.tuning == other.tuning
    if one.band is not None:
        assert (one.lower == other.lower).all() and (one.upper == other.upper).all()


@pytest.mark.parametrize("scheme", ["split", "full_batch"])
@pytest.mark.parametrize(
    ("cls", "source"), [(NoisyGradientMean, CURVES), (NoisyGradientCoefficients, WITH_COVARIATES)]
)
def test_a_noisy_gradient_release_is_a_function_of_its_transcript(cls, source, scheme):
    mechanism = cls(scheme=scheme, n_iterations=8, truncation=5)
    assert_same(*run_twice(mechanism, source, messages=8 * 3))


@pytest.mark.parametrize(
    ("chosen", "messages"),
    [
        ({}, 6),
        ({"band": "none"}, 6),
        ({"shrink": "always"}, 6),
        ({"releases": "separate"}, 8),
        ({"releases": "separate", "band": "none"}, 7),
        ({"design": "unknown"}, 7),
        ({"design": "unknown", "releases": "separate"}, 9),
        ({"design": "stated"}, 4),
    ],
)
def test_an_adaptive_release_and_its_band_are_functions_of_few_messages_of_each_site(
    chosen, messages
):
    assert_same(*run_twice(AdaptiveMean(**chosen), CURVES, 3 * messages))


@pytest.mark.parametrize(
    ("chosen", "messages"),
    [
        ({}, 8),
        ({"band": "none"}, 8),
        ({"gram": "declared"}, 7),
        ({"releases": "separate"}, 10),
        ({"design": "stated"}, 6),
    ],
)
def test_adaptive_coefficients_and_their_bands_are_functions_of_few_messages_of_each_site(
    chosen, messages
):
    assert_same(*run_twice(AdaptiveCoefficients(**chosen), WITH_COVARIATES, 3 * messages))


@pytest.mark.parametrize(
    "mechanism",
    few(
        [
            WaveletGlobal(),
            WaveletGlobal(edges="corrected"),
            WaveletGlobal(plan_rule="literal"),
            WaveletGlobal(invert_clip=True),
            WaveletGlobal(design="released"),
            WaveletGlobal(design="ranked", density="1, 2"),
            WaveletPointwise(points="0.2, 0.7"),
            WaveletPointwise(points="0.2, 0.7", density="1, 2"),
            WaveletPointwise(points="0.2, 0.7", noise="curve"),
            WaveletPointwise(noise="gaussian"),
        ],
        4,
    ),
    ids=str,
)
def test_a_wavelet_release_and_its_band_are_functions_of_one_message_of_each_site(mechanism):
    assert_same(*run_twice(mechanism, READINGS, messages=3))


FUNCTIONS = [
    Iclp(),
    Iclp(constants="optimal"),
    Iclp(penalty="absolute"),
    Frl(),
    Frl(noise="norm"),
    Bernstein(degree=8, iterations=2),
    GaussianProcess(),
]
IN_TWO_STEPS = [
    cls(task=task)
    for task in ("covariance", "varying_coefficients")
    for cls in (Iclp, Frl, Bernstein, GaussianProcess)
]


@pytest.mark.parametrize("mechanism", [*FUNCTIONS, *IN_TWO_STEPS], ids=str)
def test_a_release_of_a_function_is_a_function_of_one_message_of_each_site_or_two(mechanism):
    source = WITH_COVARIATES if mechanism.task == "varying_coefficients" else CURVES
    assert_same(*run_twice(mechanism, source, messages=6 if mechanism in IN_TWO_STEPS else 3))


@pytest.mark.parametrize("centre", ["nothing", "sample_mean"])
def test_a_covariance_about_no_released_mean_is_a_function_of_one_message_of_each_site(centre):
    assert_same(*run_twice(Iclp(task="covariance", centre=centre), CURVES, messages=3))


@pytest.mark.parametrize("rule", ["paid", "cross_validated"])
@pytest.mark.parametrize("cls", [Iclp, Frl])
def test_a_site_that_chooses_its_smoothing_sends_its_choice_and_no_other(cls, rule):
    """All candidates carry the same noise, so that two of them would give the curves away."""
    mechanism, source = cls(selection_rule=rule), SparseCurves(n_curves=60)
    assert_same(*run_twice(mechanism, source, messages=1, budgets=BUDGETS[:1]))


def test_a_site_that_chooses_its_number_of_functions_sends_the_rounds_of_one_release():
    """Training and the rounds of other numbers stay at the site."""
    mechanism = NoisyGradientMean(selection_rule="paid", n_iterations=3)
    source = SparseCurves(n_curves=60)
    assert_same(*run_twice(mechanism, source, messages=3, budgets=BUDGETS[:1]))


def test_a_mechanism_that_looks_past_its_messages_is_caught():
    class Peeks(AdaptiveMean):
        """Centres its estimate with the raw average of the readings."""

        def release_many(self, data, budgets, draws, rng):
            honest = super().release_many(data, budgets, draws, rng)
            return replace(honest, coefficients=honest.coefficients + data.values.mean())

    one, other = run_twice(Peeks(), CURVES, messages=18)
    assert not np.allclose(one.coefficients, other.coefficients)


def test_a_recorded_run_is_the_run_and_holds_only_its_first_release():
    data = curves(CURVES)
    with transcript.recorded() as messages:
        recorded = AdaptiveMean().release_many(data, [BUDGETS], 4, generator(5, 1, 0))
    unrecorded = AdaptiveMean().release_many(data, [BUDGETS], 4, generator(5, 1, 0))
    assert (recorded.coefficients == unrecorded.coefficients).all()
    assert [message.values.ndim for message in messages[:3]] == [1, 1, 1]
    assert all((message.noise > 0).all() for message in messages)
