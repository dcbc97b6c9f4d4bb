"""Experiment 9: printed constants of the sensitivity beside exact ones."""

from __future__ import annotations

import math

import numpy as np

from engine.exhibits import Call, Claim, Exhibit, Finding, Form, Panel, Row, Table, Work
from engine.figures.exhibits import Scale, Series, lines
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.numerics.wavelet_bases import WaveletBasis
from engine.numerics.wavelets import printed_point_constant, printed_sensitivity_constant
from engine.papers.comparing import agreement, known, numbers, rows_with
from engine.privacy import accounting
from engine.theme import Theme, colour

_LEVEL, _MOMENTS = 6, (1, 2, 3, 4, 5, 6, 8)
_DELTA, _EPSILONS = 1e-5, (0.1, 0.5, 1.0, 2.0, 5.0, 8.0, 12.0, 20.0)
_KAPPA = (1.0, 2.0, 1.81262, 1.36253, 1.26129, 1.25172, 1.25093)
_CURVE, _POINT = "Whole curve, Lemma 3.1", "One point, Lemma 3.3"


def constant_rows() -> list[Row]:
    """Printed over exact sensitivity of either message, for periodic wavelets of each kind."""
    rows: list[Row] = []
    for moments in _MOMENTS:
        basis = WaveletBasis(2**_LEVEL, moments, "periodic")
        largest = basis.sup_norm**2  # of K(x, x), and of |K(x, x')|
        printed = printed_sensitivity_constant(moments) * 2 ** ((_LEVEL - 1) / 2)
        at_point = printed_point_constant(moments) * 2.0 ** (_LEVEL - 1)
        rows.append({"moments": moments, "kappa": largest / 2**_LEVEL,
                     _CURVE: printed / (2 * basis.sup_norm), _POINT: at_point / (2 * largest)})
    return rows


def noise_rows() -> list[Row]:
    """Standard deviation of Gaussian noise over its sensitivity, in three ways."""
    return [{"epsilon": epsilon, "exact": 1 / accounting.exact_mu(epsilon, _DELTA),
             "classical": math.sqrt(2 * math.log(1.25 / _DELTA)) / epsilon,
             "printed": 2 * math.sqrt(math.log(2 / _DELTA)) / epsilon} for epsilon in _EPSILONS]


def haar_pairs() -> list[Row]:
    """How far two readings move a Haar message at most, tried out: τ = n = 1, time 0.37."""
    basis, times = WaveletBasis(2**_LEVEL, 1, "periodic"), np.linspace(0.001, 0.999, 401)
    functions, kernel = basis.scaling(times), basis.scaling(times) @ basis.scaling(
        np.array([0.37]))[0]
    products = functions @ functions.T
    squares = np.diagonal(products)
    moved = squares[:, None] + squares + 2 * products  # labels of opposite signs
    point = WaveletPointwise(points="0.37", moments=1).sensitivity_constants(_LEVEL)
    return [{"tried": "curve", "moved": float(np.sqrt(moved.max())), "exact": 2 * basis.sup_norm},
            {"tried": "point", "exact": point[1], "printed": point[0],
             "moved": float(kernel.max() - min(-kernel.max(), kernel.min()))}]


def _work(form: Form) -> Work:
    return Work(calls=tuple(Call(f"{__name__}:{name}") for name in
                            ("constant_rows", "noise_rows", "haar_pairs")))


def _bases(table: Table) -> list[Row]:
    return [row for row in table if "kappa" in row]


def _draw(table: Table, theme: Theme) -> tuple[Panel, ...]:
    rows = _bases(table)
    x = numbers(rows, "moments")
    first = [Series(_CURVE, x, known(rows, _CURVE), colour("wavelet", theme)),
             Series(_POINT, x, known(rows, _POINT), colour("functional", theme), "8px,3px",
                    "diamond"),
             Series("Barely enough", [x[0], x[-1]], [1.0, 1.0], colour("without", theme), "2px,3px",
                    mode="lines")]
    noise = [row for row in table if "classical" in row]
    epsilons = numbers(noise, "epsilon")
    second = [Series(name, epsilons, known(noise, column), colour(role, theme), dash, marker)
              for name, column, role, dash, marker in (
                  ("As printed", "printed", "bias", "8px,3px", "triangle-up"),
                  ("Classical formula", "classical", "functional", "2px,3px", "diamond"),
                  ("Least that is enough", "exact", "wavelet", "solid", "circle"))]
    return (Panel("Printed over exact sensitivity", lines(
                first, Scale("Vanishing moments A of the wavelet"), Scale("Ratio", log=True), theme,
                "Ratio of printed and exact sensitivities, by wavelet.")),
            Panel("Gaussian noise over its sensitivity, δ = 10⁻⁵", lines(
                second, Scale("Protection ε", log=True), Scale("Ratio", log=True), theme,
                "Noise over sensitivity against ε, in three ways.")))


def _enough(column: str) -> Claim:
    def check(table: Table) -> Finding:
        rows = _bases(table)
        least = min(rows, key=lambda row: float(row[column] or 0))
        return Finding(float(least[column] or 0) > 1 - 1e-6,
                       f"least ratio {least[column]:.2f}, with A = {least['moments']}")
    if column == _CURVE:
        return Claim("The constant of Lemma 3.1 is never below the exact sensitivity", check)
    return Claim("The constant of Lemma 3.3 is never below the exact sensitivity", check,
                 "Summing 2^l over levels up to L gives 2^(L+1), not 2^L. With the Haar wavelet, "
                 "A = 1, nothing else in the constant makes up for it: noise as printed gives 2ε.")


def _kappas(table: Table) -> Finding:
    return agreement(numbers(_bases(table), "kappa"), _KAPPA, 1e-5)


def _tried(table: Table) -> Finding:
    curve, point = (rows_with(table, tried=what)[0] for what in ("curve", "point"))
    shares = [float(row["moved"] or 0) / float(row["exact"] or 1) for row in (curve, point)]
    return Finding(all(abs(share - 1) < 1e-9 for share in shares),
                   f"moves by {curve['moved']:.4g} and {point['moved']:.4g}; exact sensitivities "
                   f"{curve['exact']:.4g} and {point['exact']:.4g}")


def _classical(table: Table) -> Finding:
    rows = [row for row in table if "classical" in row]
    short = [row for row in rows if float(row["classical"] or 0) < float(row["exact"] or 0)]
    named = ", ".join(f"{row['epsilon']:g}" for row in short)
    return Finding(not short, f"too small at ε = {named}" if short else "never too small")


def _printed(table: Table) -> Finding:
    rows = [row for row in table if "classical" in row]
    ratio = [float(row["printed"] or 0) / float(row["exact"] or 1) for row in rows]
    return Finding(min(ratio) >= 1, f"{min(ratio):.2f} to {max(ratio):.2f} times the least noise; "
                   f"{ratio[_EPSILONS.index(1.0)] ** 2:.1f} times its variance at ε = 1")


CONSTANTS = Exhibit(
    "experiment-9", "Experiment 9: printed constants beside exact ones",
    f"By how much the printed sensitivities exceed the exact ones, for periodic wavelets and "
    f"{2**_LEVEL} functions, and the noise that three calibrations add for a given sensitivity.",
    _work, _draw, (
        _enough(_CURVE), _enough(_POINT),
        Claim("Pairs of readings tried one by one reach the exact sensitivity with the Haar "
              "wavelet", _tried),
        Claim("Largest values of the kernel agree with worked-out ones to five digits", _kappas),
        Claim("The printed noise is enough at every ε up to 20", _printed),
        Claim("The classical noise is enough at every ε up to 20", _classical,
              "It is proved for ε below one; beyond about 8 it is too small.")))
