"""Estimates of a simulated mean of numbers, one dot each, under every kind of trust."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.core.errors import InputError
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget
from engine.mechanisms.univariate_mean import Setting, UnivariateMean
from engine.rates.univariate_mean import RateSetting
from engine.simulation.studies import FRESH
from engine.sources.numbers import Numbers

_MAX_DOTS = 40
_FEWEST_DOTS = 8
_MAX_NUMBERS = 4_000_000  # of all data sets


@dataclass(frozen=True)
class ByEye:
    """Estimates of a mean that is known, each from a data set of its own.

    Parameters
    ----------
    truth : float
        The mean, in a range of length one.
    estimates : mapping of Setting to (dots,)
        In the order of the slides.
    """

    truth: float
    estimates: Mapping[Setting, Array]


def by_eye(people: int, numbers: int, epsilon: float, seed: int) -> ByEye:
    """Draw numbers again and again, and estimate their mean under every kind of trust.

    Parameters
    ----------
    people : int
        S, people or sites.
    numbers : int
        n, numbers of each.
    epsilon : float
        Of every setting, with δ = 0.
    seed : int
        Of data and noise; all settings see the same data sets.

    Returns
    -------
    ByEye
        At most 40 dots for each setting, fewer of many numbers.

    Raises
    ------
    InputError
        If there are too many numbers to draw eight data sets of them.

    Examples
    --------
    >>> shown = by_eye(50, 20, 1.0, 1)
    >>> shown.estimates["none"].shape
    (40,)
    """
    dots = min(_MAX_DOTS, _MAX_NUMBERS // (people * numbers))
    if dots < _FEWEST_DOTS:
        raise InputError(f"Dots are drawn of at most {_MAX_NUMBERS // _FEWEST_DOTS:,} numbers; "
                         f"these sizes make {people * numbers:,}.", field="n",
                         hint="Take fewer people or fewer numbers each.")
    source = Numbers(n_servers=people, n_items=numbers)
    data = source.draw(dots, generator(seed, DATA_STREAM, FRESH))
    estimates = {}
    for setting in dict.fromkeys(setting.mechanism for setting in RateSetting):
        released = UnivariateMean.independent(setting).release_many(
            data, [(Budget(epsilon),)], 1, generator(seed, NOISE_STREAM, FRESH))
        estimates[setting] = np.asarray(released.values(np.zeros(1))[0]).reshape(dots)
    return ByEye(source.true_mean, estimates)
