"""Kalman's update: a centre after noisy measurements of where the mean is.

A release measures x = J M (a − β) + noise at the current centre a of the mean β, with J the share
that clipping leaves of a movement and M what the design of the observation times mixes. Where M is
the identity every coefficient is a filter of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from engine.core.types import Array
from engine.numerics.time_histograms import Mixing

_NO_ZERO = 1e-300
_MIN_NOISE = 1e-9  # of a measurement, in units of what it measures: for directions unseen


@dataclass(frozen=True)
class Combined:
    """M of an average over sites, Σ_s ω_s M_s; errors of the M_s are independent between sites."""

    mixings: Sequence[Mixing]  # M_s
    weights: Array  # (sites, …, p): ω_s, with which the average was formed

    @property
    def matrix(self) -> Array:
        return np.asarray(
            sum(
                weight[..., None] * mixing.matrix
                for weight, mixing in zip(self.weights, self.mixings, strict=True)
            )
        )

    def uncertainty(self, covariance: Array) -> Array:
        """Compute the variance (…, p) added by errors of the M_s, from the covariance of a − β."""
        return np.asarray(
            sum(
                weight**2 * mixing.uncertainty(covariance)
                for weight, mixing in zip(self.weights, self.mixings, strict=True)
            )
        )


class NoiseFilter(Protocol):
    """The covariance of a centre's privacy noise, and how it changes; arrays are (…, p)."""

    @property
    def variance(self) -> Array:
        """Variance of each coefficient: (…, p)."""

    def update(
        self,
        measured: Array,
        noise: Array,
        slope: Array,
        sampling: Array,
        response: Array | None,
        design: Combined | None,
    ) -> tuple[Array, Array, NoiseFilter]:
        """Take the step of the centre after a measurement x (…, p): step, innovation and filter.

        J is `slope`, and `sampling` the variance that sampling variability gives x/J. M is released
        as `design`, or J M stated as `response`. The innovation (…) is the mean square of x over
        the variance that the centre's error and noise give it, and chance in who takes part: at
        most about 1 if what is assumed holds. Chance moves centre and measurement alike; it is
        added so that steps that do not matter beside it stay small.
        """

    def widened(self, allowance: Array) -> NoiseFilter:
        """Add variance (…, p) to every coefficient."""

    def covariance(self, sampling: Array) -> Array:
        """Compute the centre's covariance from that of x/J over who takes part; both (…, p, p)."""


@dataclass(frozen=True)
class Independent:
    """Coefficients that are measured one by one."""

    variance: Array  # (…, p): of the centre's privacy noise

    def update(
        self,
        measured: Array,
        noise: Array,
        slope: Array,
        sampling: Array,
        response: Array | None,
        design: Combined | None,
    ) -> tuple[Array, Array, Independent]:
        total = np.maximum(slope**2 * self.variance + noise, _NO_ZERO)
        return (
            -slope * self.variance / total * measured,
            _innovation(measured, total + slope**2 * sampling),
            Independent(self.variance * noise / total),
        )

    def widened(self, allowance: Array) -> Independent:
        return Independent(self.variance + allowance)

    def covariance(self, sampling: Array) -> Array:
        return np.asarray(sampling + self.variance[..., None] * np.eye(self.variance.shape[-1]))


@dataclass(frozen=True)
class Joint:
    """Coefficients of which the design tells sums, or of which it is itself uncertain."""

    # (…, p, p): covariance of the centre's privacy noise, and of the prior as far as it still
    # counts
    noise: Array
    # (…, p, p): how the centre answers to sampling error of x/J, which all measurements share
    pull: Array
    left: Array  # (…, p, p): how the centre still answers to the prior's error
    # (…, p): variance of that error, for the bands: more than what the filter starts from
    prior: Array
    # (p, p), optional: by how much M may differ from what the design states, D
    doubt: Array | None = None
    # (…, p, p): what D leaves of the last step: of the centre's covariance C before it and its gain
    # G the covariance G J D C (G J D)'. Earlier steps count through C.
    unsure: Array | float = 0.0

    @classmethod
    def start(cls, variance: Array, prior: Array, doubt: Array | None = None) -> Joint:
        """A filter before anything is measured; `variance` is the prior's, and `prior` its error's.

        M may differ by `doubt` (p, p) from what the design states.
        """
        eye = np.broadcast_to(np.eye(variance.shape[-1]), (*variance.shape, variance.shape[-1]))
        return cls(variance[..., None] * eye, np.zeros(eye.shape), eye, prior, doubt)

    @property
    def variance(self) -> Array:
        return np.asarray(np.diagonal(self.noise, axis1=-2, axis2=-1))

    def update(
        self,
        measured: Array,
        noise: Array,
        slope: Array,
        sampling: Array,
        response: Array | None,
        design: Combined | None,
    ) -> tuple[Array, Array, Joint]:
        if design is None:
            assert response is not None
            response_matrix = response
        else:
            response_matrix = slope[..., None] * design.matrix
            doubt = self.noise + _weighed(self.pull, sampling)
            noise = noise + slope**2 * design.uncertainty(doubt)
        total = response_matrix @ self.noise @ _turned(response_matrix)
        min_noise = _MIN_NOISE * np.diagonal(total, axis1=-2, axis2=-1).max(axis=-1, keepdims=True)
        total = total + np.maximum(noise, min_noise)[..., None] * np.eye(noise.shape[-1])
        gain = _turned(np.asarray(np.linalg.solve(total, response_matrix @ self.noise)))
        rest = np.eye(noise.shape[-1]) - gain @ response_matrix
        left = rest @ self.noise @ _turned(rest) + _weighed(gain, noise)
        unsure: Array | float = 0.0
        if self.doubt is not None:
            missed = (gain * slope[..., None, :]) @ self.doubt
            before = self.noise + _weighed(self.pull, sampling) + _weighed(self.left, self.prior)
            unsure = missed @ before @ _turned(missed)
        return (
            -(gain @ measured[..., None])[..., 0],
            _innovation(measured, np.diagonal(total, axis1=-2, axis2=-1) + slope**2 * sampling),
            replace(
                self,
                noise=left,
                pull=rest @ self.pull - gain * slope[..., None, :],
                left=rest @ self.left,
                unsure=unsure,
            ),
        )

    def widened(self, allowance: Array) -> Joint:
        return replace(self, noise=self.noise + allowance[..., None] * np.eye(allowance.shape[-1]))

    def covariance(self, sampling: Array) -> Array:
        return np.asarray(
            self.noise
            + self.pull @ sampling @ _turned(self.pull)
            + _weighed(self.left, self.prior)
            + self.unsure
        )


def _innovation(measured: Array, variance: Array) -> Array:
    return np.asarray((measured**2 / variance).mean(axis=-1))


def _turned(matrices: Array) -> Array:
    return matrices.swapaxes(-1, -2)


def _weighed(matrices: Array, variance: Array) -> Array:
    """B diag(v) B'."""
    return np.asarray((matrices * variance[..., None, :]) @ _turned(matrices))
