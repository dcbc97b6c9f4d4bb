"""Products of powers: value, formula, exponents and borders follow from how they are written."""

import math

import numpy as np
import pytest

from engine.rates import Term, border, rates
from engine.rates.powers import Exponent, Powers, constant, log, symbols
from tests.heavy import few

n, m, epsilon, s0 = symbols("n", "m", "epsilon", "s0")
POINT = {"n": np.array([10.0, 40.0]), "m": np.array(3.0), "epsilon": np.array(0.5)}


def test_values_are_those_of_the_written_arithmetic():
    product = constant(2.0) * (n * m) ** -0.5 * epsilon**2 / m
    assert product.at(POINT) == pytest.approx(2 * (POINT["n"] * 3) ** -0.5 * 0.25 / 3)


def test_a_symbol_that_a_point_does_not_have_counts_as_one():
    assert (s0**3 * n).at(POINT).tolist() == [10, 40]


@pytest.mark.parametrize(
    ("product", "formula"),
    [
        (n**-1, "n^{-1}"),
        (n**2 * epsilon**2, r"n^2\varepsilon^2"),
        ((n * m) ** -1, "(nm)^{-1}"),
        (epsilon * n, r"\varepsilon n"),
        (s0**2, "s_0^2"),
        (n / (m * epsilon), r"n(m\varepsilon)^{-1}"),
        (constant(8.0) * n, "n"),
        (constant(8.0) ** 2 * n, "n"),
        (log(n * m) ** 3, r"(\log(nm))^3"),
        ((n * m).called("K") ** 2, "K^2"),
    ],
)
def test_formulas_are_written_as_the_product_is(product, formula):
    assert product.formula == formula


def test_exponents_keep_the_sign_of_their_parameter():
    alpha = Exponent(2.0, r"\alpha")
    power = -(2 * alpha) / (2 * alpha + 1)
    assert power.value == pytest.approx(-0.8) and power.formula == r"-2\alpha/(2\alpha+1)"
    assert (n**power).exponent("n") == pytest.approx(-0.8)


def test_exponents_add_in_products_and_multiply_in_powers():
    product = (n**2 * epsilon) ** -3 * n / epsilon
    assert [product.exponent(symbol) for symbol in ("n", "epsilon", "m")] == [-5, -4, 0]


def test_two_terms_are_equal_on_their_border():
    below, above = n**-2 * epsilon**-2 * m, n**-1 * m**3
    line = below.equals(above, "epsilon")
    here = {**POINT, "epsilon": line.at(POINT)}
    assert below.at(here) == pytest.approx(above.at(here))
    assert line.exponent("n") == -0.5 and line.exponent("m") == -1


def test_where_no_power_tells_terms_apart_there_is_no_border():
    with pytest.raises(ValueError, match="No power of m"):
        (n * m).equals(n**2 * m, "m")
    with pytest.raises(ValueError, match="No power of n"):
        (n * m).equals(log(n), "n")


def test_a_border_names_the_term_below_it_first():
    line = border("D", "epsilon", Term("privacy", (n * epsilon) ** -2), Term("people", n**-1), "")
    assert line.between == ("privacy", "people")
    assert line.value({"n": np.array(16.0)}) == pytest.approx(0.25)


@pytest.mark.parametrize("key", few([rate.key for rate in rates.all()], 4))
def test_exact_slopes_are_those_of_a_small_step(key):
    """Of every term that is a product of powers, in every symbol that is in no logarithm."""
    rate = rates.get(key)()
    point, step = rate.at(), 1e-5
    for symbol in point:
        slopes = rate.slopes(symbol)
        for term, slope in zip(rate.terms, slopes, strict=True):
            if isinstance(term.size, Powers):
                up, down = (
                    float(term.value({**point, symbol: point[symbol] * math.exp(sign * step)}))
                    for sign in (1, -1)
                )
                assert slope == pytest.approx(math.log(up / down) / (2 * step), abs=1e-4)
