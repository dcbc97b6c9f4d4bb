"""Central, federated, local and no privacy: one example of each problem, measured beside rates."""

import math
from itertools import pairwise

import numpy as np
import pytest

from engine.core.types import Budget
from engine.mechanisms.wavelet_adaptive import WaveletAdaptive
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.rates import rates
from engine.rates.sparse_regression import TrustedServerRate
from engine.rates.trusted import Custody, Trust
from engine.rates.univariate_mean import UnivariateMeanRate
from engine.sources.besov_points import BesovPoints
from engine.topics.rates import charts, words
from engine.topics.rates.answer import MeasuredError
from engine.topics.rates.by_trust import TrustCheck, check_by_trust, lines, symbol_of

MEASURED = [rate() for rate in rates.all() if rate().by_trust() is not None]


def test_mean_coefficients_wavelets_sparse_and_univariate_rates_have_every_kind_of_trust():
    keys = {rate.key for rate in MEASURED}
    assert keys >= {
        "functional_mean",
        "varying_coefficients",
        "wavelet_regression",
        "sparse_regression",
        "sparse_mean_trusted",
        "univariate_mean",
    }
    for rate in MEASURED:
        assert {kind.trust for kind in rate.by_trust().kinds} == {*Trust}


@pytest.mark.parametrize(
    "rate",
    [rate for rate in MEASURED if not rate.key.startswith("sparse_mean")],  # constants of their own
    ids=lambda rate: rate.key,
)
def test_the_rate_falls_with_trust_and_is_least_without_privacy(rate):
    check = TrustCheck(rate, "n")
    by_trust = {
        kind.trust: float(kind.rate.total(**_known(kind, check.at(check.sizes["n"]))))
        for kind in rate.by_trust().kinds
        if kind.mechanism is not None
    }
    ordered = [
        by_trust[t]
        for t in (Trust.NONE, Trust.CENTRAL, Trust.FEDERATED, Trust.LOCAL)
        if t in by_trust
    ]
    assert all(less <= more * (1 + 1e-9) for less, more in pairwise(ordered))


def _known(kind, point):
    names = {symbol.name for symbol in kind.rate.symbols}
    return {name: value for name, value in kind.point(point).items() if name in names}


def test_custody_keeps_the_number_of_people():
    point = {"n": 30.0, "S": 4.0, "epsilon": 1.0}
    for custody in Custody:
        arranged = custody.point(point)
        assert arranged["n"] * arranged["S"] == 120


def test_measured_slopes_of_a_mean_of_numbers_are_those_of_the_rates():
    request = TrustCheck(UnivariateMeanRate(), "n")
    parts = list(check_by_trust(request))
    assert len(parts) == request.steps
    for line in lines(request, parts):
        slope, half_width = line.slope
        assert abs(slope - line.theory) < half_width + 0.15
        assert len(line.known) == len(request.values)
        assert all(p.se > 0 for p in line.known)


def test_where_a_rate_bends_its_local_slopes_are_those_of_its_terms():
    request = TrustCheck(UnivariateMeanRate(), "epsilon")
    bent, straight = (
        [MeasuredError(e, error(e), 0.01 * error(e), math.nan) for e in request.values]
        for error in (lambda e: 4e-4 + 1.6e-7 / e**2, lambda e: 4e-4 / e**2)
    )
    central, _, local, _ = lines(request, [(0, tuple(bent)), (2, tuple(straight))])
    assert central.is_bent and central.local == pytest.approx((-1.6, 0.0), abs=0.01)
    assert central.ends == pytest.approx((-math.log2(2.5), 0.0), abs=0.01)
    ((elbow, _),) = central.elbows
    assert elbow == pytest.approx(0.02, rel=0.05)
    assert not local.is_bent and local.slope[0] == pytest.approx(-2)


def test_where_no_method_is_known_nothing_is_measured_and_the_reason_is_given():
    request = TrustCheck(TrustedServerRate(), "epsilon")
    assert request.steps == 2
    found = lines(request, [])
    missing = [line.kind.trust for line in found if line.kind.missing]
    assert missing == [Trust.FEDERATED, Trust.LOCAL]
    assert "Theorem 1" in words.trust_reading(found)


def test_the_picture_has_a_row_for_each_measured_error():
    request = TrustCheck(UnivariateMeanRate(), "epsilon")
    errors = tuple(MeasuredError(e, 1 / e, 0.1 / e) for e in request.values)
    found = lines(request, [(k, errors) for k in range(4)])
    chart = charts.by_trust(found, symbol_of(request), "kg")
    assert len(chart.table["± (95 %)"]) == 4 * len(errors)
    assert {len(column) for column in words.trust_slopes(found, "ε").values()} == {4}


# -- nobody trusted, by the law of one centre ----------------------------------------------------


@pytest.mark.parametrize(
    "method",
    [
        WaveletGlobal(),
        WaveletGlobal(edges="corrected"),
        WaveletPointwise(points="0.2, 0.7", noise="gaussian"),
        WaveletPointwise(points="0.2, 0.7", noise="curve"),
    ],
    ids=repr,
)
def test_devices_have_plan_and_error_of_one_centre_with_more_noise(method):
    people, budget = 900, Budget(200.0, 1e-5)
    pooled = BesovPoints(n_curves=people, n_servers=1)
    devices = BesovPoints(n_curves=people, n_servers=people)
    centre = method.as_one_centre(people, budget, pooled.facts)
    one, each = method.plan(pooled.public, (centre,)), method.plan(devices.public, (budget,))
    assert one.released and each.released
    assert (one.basis.size, one.clip) == (each.basis.size, each.clip)
    errors = method.exact_risk(pooled, (centre,)), method.exact_risk(devices, (budget,) * people)
    assert errors[0] == pytest.approx(errors[1], rel=1e-6)
    assert np.allclose(each.weights, 1 / people)


def test_no_such_law_holds_for_laplace_noise_pure_budgets_printed_constants_and_stages():
    facts, budget = BesovPoints().facts, Budget(1.0, 1e-5)
    assert WaveletPointwise(noise="laplace").as_one_centre(100, budget, facts) is None
    assert WaveletGlobal().as_one_centre(100, Budget(1.0), facts) is None
    assert WaveletGlobal(constants="published").as_one_centre(100, budget, facts) is None
    assert WaveletGlobal(design="released").as_one_centre(100, budget, facts) is None
    assert WaveletAdaptive().as_one_centre(100, budget, facts) is None
