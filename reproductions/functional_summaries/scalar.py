"""The scalar example: a slope from a noisy covariance and a noisy variance that share a budget."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd

from engine.core.types import Array
from engine.noise.laplace import laplace
from reproductions.drawing import curve, level, log, look, panel
from reproductions.drawing import ends as drawn_ends
from reproductions.evidence import digits, number, where
from reproductions.exhibits import Call, Claim, Exhibit, Finding, Panel, Row, Work

_SLOPE, _SPREAD, _PEOPLE, _EPSILON = 0.5, 0.1, (500, 2000), 1.0
_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_SEARCHED = (2, 3, 5)
_RANGES = {"0 to 1": (0.0, 1.0), "−1 to 1": (-1.0, 1.0)}
_ROUNDING = 1e-9
_FLOOR = 0.01  # public: a noisy variance below it is moved to it; that of even numbers is 1/12


def sums_about_means(x: Array, y: Array) -> tuple[Array, Array]:
    """Compute covariance and variance about sample means: n cov and n var, over the last axis.

    Of pairs in [0, 1]² both move by at most 1 − 1/n if one pair is replaced: with a and b the means
    of the others, n cov = (1 − 1/n)(x − a)(y − b) + what is left, and (x − a)(y − b) is between
    −max{a(1 − b), b(1 − a)} and max{ab, (1 − a)(1 − b)}, which are never more than one apart. On an
    interval of length R they move by at most R² (1 − 1/n).
    """
    about_x, about_y = (v - v.mean(axis=-1, keepdims=True) for v in (x, y))
    return (about_x * about_y).sum(axis=-1), (about_x**2).sum(axis=-1)


def sensitivity_rows() -> list[Row]:
    """Find the largest change of n cov and n var when one pair is replaced, over all corners."""
    rows: list[Row] = []
    for name, (low, high) in _RANGES.items():
        for n in _SEARCHED:
            values = np.array(list(itertools.product((low, high), repeat=n)))
            x, y = np.repeat(values, len(values), axis=0), np.tile(values, (len(values), 1))
            largest = np.zeros(2)
            here = np.stack(sums_about_means(x, y))
            for new_x, new_y in itertools.product((low, high), repeat=2):
                other_x, other_y = x.copy(), y.copy()
                other_x[:, 0], other_y[:, 0] = new_x, new_y
                moved = np.abs(np.stack(sums_about_means(other_x, other_y)) - here)
                largest = np.maximum(largest, moved.max(axis=1))
            rows.append(
                {
                    "part": "sensitivity",
                    "range": name,
                    "n": n,
                    "covariance": digits(largest[0]),
                    "variance": digits(largest[1]),
                    "proved": digits((high - low) ** 2 * (1 - 1 / n)),
                }
            )
    return rows


def slope_rows(repeats: int) -> list[Row]:
    """Measure the slope by the share of ε that the covariance gets, with all else the same.

    `repeats` data sets are drawn at each size, each with noise of its own.
    """
    rows: list[Row] = []
    for n in _PEOPLE:
        rng = np.random.default_rng(n)
        x = rng.uniform(size=(repeats, n))
        noise = _SPREAD * rng.uniform(-1, 1, size=(repeats, n))
        covariance, variance = sums_about_means(x, np.clip(0.25 + _SLOPE * x + noise, 0.0, 1.0))
        exact = np.abs(covariance / variance - _SLOPE)
        covariance_noise, variance_noise = laplace((2, repeats), rng) * (1 - 1 / n)
        for share in _SHARES:
            noisy_variance = np.maximum(
                variance + variance_noise / ((1 - share) * _EPSILON), _FLOOR * n
            )
            slopes = (covariance + covariance_noise / (share * _EPSILON)) / noisy_variance
            off = np.abs(slopes - _SLOPE)
            # noise of both, to first order: x has a variance of 1/12
            planned = (
                math.sqrt(2 * (1 / share**2 + (_SLOPE / (1 - share)) ** 2)) * 12 / (n * _EPSILON)
            )
            rows.append(
                {
                    "part": "slope",
                    "n": n,
                    "share": share,
                    "error": digits(math.sqrt(float((off**2).mean()))),
                    "se": digits(_se(off)),
                    "planned": digits(math.hypot(planned, math.sqrt(float((exact**2).mean())))),
                    "without": digits(math.sqrt(float((exact**2).mean()))),
                }
            )
    return rows


def best_share(slope: float) -> float:
    """Compute the share of ε for the covariance that makes the slope's noise smallest.

    It is 1/(1 + |β|^{2/3}): to first order the noise has the variance 1/γ² + β²/(1 − γ)², times
    what γ does not change.
    """
    return float(1 / (1 + abs(slope) ** (2 / 3)))


def _se(off: Array) -> float:
    """Compute the standard error of a root mean square."""
    squares = off**2
    spread, mean = float(squares.std(ddof=1)), float(squares.mean())
    return spread / math.sqrt(4 * len(off) * mean)


def _draw(table: pd.DataFrame) -> tuple[Panel, ...]:
    panels = []
    for n in _PEOPLE:
        rows = where(table, part="slope", n=n)
        ends = [_SHARES[0], _SHARES[-1]]
        series = [
            curve("Measured", rows["share"], rows["error"], look("gradient"), rows["se"]),
            curve(
                "Planned, to first order",
                rows["share"],
                rows["planned"],
                look("functional", "8px,3px", "square"),
            ),
            level("Without privacy", ends, rows["without"].iloc[:2]),
        ]
        panels.append(
            panel(
                f"{n} people, ε = {_EPSILON:g}",
                series,
                "Share of ε for the covariance",
                log("Error of the slope"),
                f"Error of the slope over the share, {n} people. " + drawn_ends(series),
            )
        )
    return tuple(panels)


def _bound_is_one(table: pd.DataFrame) -> Finding:
    rows = where(table, part="sensitivity", range="0 to 1")
    largest = float(max(rows["covariance"].max(), rows["variance"].max()))
    return Finding(
        largest <= 1, f"For numbers from 0 to 1: at most {largest:.3g} over all corners."
    )


def _bound_is_attained(table: pd.DataFrame) -> Finding:
    rows = where(table, part="sensitivity")
    over = [float((rows[name] / rows["proved"]).max()) for name in ("covariance", "variance")]
    return Finding(
        max(abs(ratio - 1) for ratio in over) < _ROUNDING,
        f"Largest over R² (1 − 1/n): {over[0]:.3f} and {over[1]:.3f}.",
    )


def _bound_needs_the_range(table: pd.DataFrame) -> Finding:
    rows = where(table, part="sensitivity", range="−1 to 1")
    largest = float(rows["covariance"].max())
    return Finding(largest > 3, f"For numbers from −1 to 1: up to {largest:.3g}.")


def _has_best_share(table: pd.DataFrame) -> Finding:
    best, differences = best_share(_SLOPE), []
    for n in _PEOPLE:
        rows = where(table, part="slope", n=n)
        best_row = int(rows["error"].to_numpy().argmin())
        differences.append(abs(float(rows["share"].to_numpy()[best_row]) - best))
    return Finding(
        max(differences) <= 0.1 + _ROUNDING,
        f"1/(1 + β^(2/3)) = {best:.2f}; the smallest errors are at most "
        f"{max(differences):.2f} from it.",
    )


def _half_is_near(table: pd.DataFrame) -> Finding:
    over = [
        number(table, "error", part="slope", n=n, share=0.5)
        / float(where(table, part="slope", n=n)["error"].min())
        for n in _PEOPLE
    ]
    return Finding(max(over) < 1.15, f"Its error is {max(over):.2f} times the smallest.")


EXHIBITS = (
    Exhibit(
        "scalar-example",
        "Scalar example: a slope from noisy sums_about_means",
        "A slope as noisy covariance over noisy variance, with the share γ of ε for the covariance; "
        "pairs of numbers from 0 to 1, true slope ½. Noisy variances are held above .01.",
        lambda form: Work(
            calls=(Call(sensitivity_rows), Call(slope_rows, (1000 if form == "quick" else 10_000,)))
        ),
        _draw,
        (
            Claim(
                "The sensitivity of n cov and n var may be taken as 1.",
                _bound_is_one,
                place="Appendix C.2, scalar example",
                extent="numbers scaled to an interval of length 1",
            ),
            Claim(
                "For numbers from −1 to 1 it is above 3: noise must be scaled by the stated range.",
                _bound_needs_the_range,
                is_ours=True,
            ),
            Claim("The bound R² (1 − 1/n) is reached by both.", _bound_is_attained, is_ours=True),
            Claim(
                "The best share of the covariance is 1/(1 + β^(2/3)).",
                _has_best_share,
                is_ours=True,
            ),
            Claim("Half for each is nearly as good.", _half_is_near, is_ours=True),
        ),
    ),
)
