"""Noise of a release: on a lattice, of the right law, charged by its own map, with no low bits."""

import math

import numpy as np
import pytest
from scipy.stats import kstest, laplace, norm

from engine.core.errors import InputError
from engine.noise.hardened import ROOM, LatticeNoise, ZeroGenerator, discrete_gaussian, opendp
from engine.privacy import accounting
from tests.heavy import few

LAWS = ("gaussian", "laplace")


def on_fine_lattice(draws, bits=53):
    """Of the outputs near zero, the share that are multiples of 2^-bits."""
    near = draws[np.abs(draws) < 0.25]
    return float((near * 2.0**bits == np.rint(near * 2.0**bits)).mean())


def advantage(of_zero, of_one, coarsest=20):
    """How much better than chance the low bits tell which query was asked; over all lattices."""
    return max(
        abs(on_fine_lattice(of_zero, bits) - on_fine_lattice(of_one, bits))
        for bits in range(coarsest, 54)
    )


def plain(law, query, size, rng):
    """A broken variant: the query plus floating-point noise."""
    return query + (rng.standard_normal(size) if law == "gaussian" else rng.laplace(size=size))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("query", few([1 / 3, 1.0]))
@pytest.mark.parametrize("size", [10_000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_low_bits_do_not_tell_one_query_from_another(law, size, query):
    """From the public lattice on nothing differs; on the next coarser one only by chance."""
    measured = LatticeNoise(law, 1.0, size)
    zero, one = measured(np.zeros(size)), measured(np.full(size, query))
    assert advantage(zero, one, measured.bits) <= 0.01
    near = min((np.abs(draws) < 0.25).sum() for draws in (zero, one))
    assert advantage(zero, one, measured.bits - 1) < 5 * math.sqrt(0.5 / near)


@pytest.mark.parametrize("law", LAWS)
def test_the_same_attack_catches_floating_point_noise(law):
    rng = np.random.default_rng(1)
    assert advantage(plain(law, 0.0, 20_000, rng), plain(law, 1.0, 20_000, rng)) > 0.5


@pytest.mark.parametrize("law", LAWS)
def test_outputs_are_whole_multiples_of_the_lattice(law):
    measured = LatticeNoise(law, 0.3, 50)
    scaled = measured(np.linspace(-3, 3, 50)) * 2.0**measured.bits
    assert (scaled == np.rint(scaled)).all()
    assert measured.bits >= 20


@pytest.mark.parametrize(("law", "exact"), [("gaussian", norm), ("laplace", laplace)])
def test_the_law_is_that_of_continuous_noise_of_scale_one(law, exact):
    """20 000 draws; scale at five standard errors."""
    draws = LatticeNoise(law, 1.0, 20_000)(np.zeros(20_000))
    assert kstest(draws, exact.cdf).pvalue > 1e-6
    kurtosis = 3.0 if law == "gaussian" else 6.0
    error = exact.var() * math.sqrt((kurtosis - 1) / len(draws))
    assert abs(draws.var() - exact.var()) < 5 * error


@pytest.mark.parametrize("most", [1e-3, 0.05, 0.7, 1.0, 3.0, 40.0])
@pytest.mark.parametrize("size", [1, 21, 5000])
@pytest.mark.parametrize("law", LAWS)
def test_the_charge_is_that_of_the_sensitivity_with_rounding_and_never_below(law, size, most):
    measured, moved = LatticeNoise(law, most, size), most * (1 + ROOM)
    exact = moved**2 / 2 if law == "gaussian" else moved
    assert exact <= measured.cost <= exact * (1 + 1e-9) + 2.0**-measured.bits
    rounding = 2 * (math.sqrt(size) if law == "gaussian" else size) * 2.0**-measured.bits
    assert rounding <= most * ROOM  # what rounding can add is paid for


@pytest.mark.parametrize("delta", [1e-2, 1e-3, 1e-6, 1e-10, 1e-12])
def test_epsilon_of_rho_is_that_of_the_library_to_nine_digits_and_never_below_it(delta):
    library = opendp().c.make_zCDP_to_approxDP(discrete_gaussian(1.0))
    for rho in np.geomspace(1e-6, 20, 25):
        theirs = library.map(math.sqrt(2 * rho)).epsilon(delta=delta)
        assert theirs <= accounting.epsilon_of_rho(rho, delta) <= theirs * (1 + 1e-9) + 1e-12


def test_a_generator_of_zeros_refuses_every_law_without_a_hardened_sampler():
    generator = ZeroGenerator().spawn(2)[1]
    assert not generator.standard_normal((2, 3)).any()
    assert not generator.laplace(size=4).any()
    for law in ("gumbel", "standard_exponential", "standard_gamma", "random", "choice", "integers"):
        with pytest.raises(InputError, match="no hardened sampler"):
            getattr(generator, law)


def test_what_is_no_number_is_never_released():
    with pytest.raises(ArithmeticError):
        LatticeNoise("gaussian", 1.0, 1)(np.array([np.nan]))
    with pytest.raises(ArithmeticError):
        LatticeNoise("laplace", 1.0, 1)(np.array([1e300]))


@pytest.mark.parametrize("most", [0.0, math.inf, math.nan, 1e-14])
def test_noise_that_is_none_or_too_large_is_refused(most):
    with pytest.raises(InputError, match="lattice"):
        LatticeNoise("gaussian", most, 10)
