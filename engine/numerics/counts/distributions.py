"""Distribution functions, ROC curves and calibration from counts in bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.core.arrays import Array, Flags
from engine.core.bands import ROUNDED_NORMAL
from engine.numerics.counts.bands import allowance
from engine.numerics.counts.tables import CountTable

_FEWEST = 10.0  # people in a bin whose rate is drawn
_CERTAIN = 4 * np.sqrt(2)  # standard deviations of the noise in a bin’s two counts
_SURE = 3.0  # standard deviations of noise that people with and without the label must exceed


def distribution(table: CountTable) -> tuple[Array, Array]:
    """The distribution function (…, K) at the edges, and its gradient (K, groups, K)."""
    total = sum(table.totals)
    size = table.cells.size
    return (
        np.cumsum(table.estimated[..., 0, :], axis=-1) / total,
        np.tri(size)[:, None, :] / total,
    )


@dataclass(frozen=True, eq=False)
class Roc:
    """An ROC curve at the edges of score bins, from the highest threshold to the lowest."""

    # true_positive, false_positive, each (…, B + 1): shares of people with and without the label
    # whose score is above e_B, …, e_0
    true_positive: Array
    false_positive: Array
    area: Array  # (…): under the curve, which is straight between thresholds
    error: Array
    # (…): by how much the order of scores within bins, which the counts do not tell, can move it
    shift: Array
    noise_share: Array  # (…): the part of its variance that is noise
    # (…) of bool: whether people with or without the label are hardly more than the noise in their
    # number
    is_weak: Flags

    @property
    def half_width(self) -> Array:
        """Half-width of a 95 % confidence interval of the area: (…)."""
        return ROUNDED_NORMAL * self.error + self.allowance

    @property
    def allowance(self) -> Array:
        """Addition to the interval for the order of scores within bins: (…)."""
        return allowance(self.shift, self.error)


def roc(table: CountTable) -> Roc:
    """The ROC curve of a released table of scores and labels.

    Of two people in one bin the counts do not tell who has the higher score. The area counts half
    of such pairs of a person with the label and one without; it is higher or lower by half of
    their share of all pairs, if all people with the label have the higher score or the lower one.
    """
    with_label, without = _labelled(table)
    n_with, n_without = (
        np.maximum(count.sum(axis=-1, keepdims=True), 1e-9) for count in (with_label, without)
    )
    below = np.cumsum(without, axis=-1) - without / 2  # those without the label below, ties half
    above = np.cumsum(with_label[..., ::-1], axis=-1)[..., ::-1] - with_label / 2
    area = (with_label * below).sum(axis=-1, keepdims=True) / (n_with * n_without)
    gradient = np.concatenate(
        [
            below / (n_with * n_without) - area / n_with,
            above / (n_with * n_without) - area / n_without,
        ],
        axis=-1,
    )
    sampling, noise = table.variances(gradient[..., None, None, :])
    total = (sampling + noise)[..., 0]
    limit = _SURE * np.sqrt(table.noise_variance * table.cells.n_intervals)
    shares = [
        np.cumsum(
            np.concatenate([np.zeros_like(total)[..., None], count[..., ::-1]], axis=-1), axis=-1
        )
        / number
        for count, number in ((with_label, n_with), (without, n_without))
    ]
    shift = (with_label * without).sum(axis=-1) / (2 * n_with * n_without)[..., 0]
    return Roc(
        shares[0],
        shares[1],
        area[..., 0],
        np.sqrt(total),
        shift,
        noise[..., 0] / np.maximum(total, 1e-300),
        np.minimum(n_with, n_without)[..., 0] < limit,
    )


@dataclass(frozen=True, eq=False)
class Calibration:
    """The share of people with the label in each bin of the score."""

    # rate, error, each (…, B): with its standard error
    rate: Array
    error: Array
    drawn: Flags  # (…, B) of bool: where the bin holds enough people, by the noisy counts


def calibration(table: CountTable) -> Calibration:
    """Estimate the share of people in each bin who have the label."""
    with_label, without = _labelled(table)
    people = with_label + without
    number = np.maximum(people, 1.0)
    diagonal = np.eye(table.cells.n_intervals)
    gradient = np.concatenate(
        [
            (without / number**2)[..., None] * diagonal,
            -(with_label / number**2)[..., None] * diagonal,
        ],
        axis=-1,
    )
    sampling, noise = table.variances(gradient[..., None, :])
    limit = max(_FEWEST, _CERTAIN * np.sqrt(table.noise_variance))
    return Calibration(with_label / number, np.sqrt(sampling + noise), people >= limit)


def _labelled(table: CountTable) -> tuple[Array, Array]:
    """Estimated people with and without the label, by bin: (…, B) each."""
    both = table.estimated[..., 0, :]
    return both[..., : table.cells.n_intervals], both[..., table.cells.n_intervals :]
