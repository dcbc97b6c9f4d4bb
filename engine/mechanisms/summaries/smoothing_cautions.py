"""Signs that a linear smoothing moved a curve by more than was forecast, or may have.

One judgement for all methods that release a smoothed curve with noise and no band: whole
functions, and noisy gradient descent, which keeps a few functions and ends after so many rounds.
What is told follows from `engine.numerics.smoothing_errors`. It is measured by the error that was
forecast, which is for a smooth curve about the middle of the bounds, that of `engine.sources.twin`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine.core.types import Array, PublicFacts, Sizes
from engine.numerics.smoothing_errors import COSINES, POINTS, SmoothingErrors
from engine.sources.twin import DEFAULT_SPREAD, bends

NOT_FOLLOWED = (
    "Smoothing moves this curve by more than the forecast error: the curve lies far from the "
    "middle of the stated bounds, or changes faster than the method follows. Narrower bounds or "
    "more functions help; *Adaptive mean* needs neither."
)
SHORT_FEATURES = (
    "The curve has details finer than this method keeps. They are smoothed away, and the error can "
    "be several times the forecast, which is for a smooth curve."
)
BEND_OR_STEP = (
    "The released curve bends, and the few basis functions that are kept cannot tell a smooth bend "
    "from a step or a narrow peak. If the true curve has one, it is smoothed away, and the error "
    "can be several times the forecast, which is for a smooth curve. *Adaptive mean* keeps more "
    "basis functions."
)
STEP_NOT_SEEN = (
    "This release could not reliably show a step by a sixth of the stated bounds, or a narrow "
    "peak: privacy noise is too large, or too few basis functions are kept. If the true curve has "
    "one, the error is more than 1.5 times the forecast, which is for a smooth curve."
)
TOLD_APART = 20  # common times, from which a release is asked for what smoothing took away
# In forecast errors. Where fewer than `_FEW` cosines are followed, or bends are asked for, they are
# compared with those of the curve of the forecast as well.
_MOVED, _SHORT, _SHORT_OF_FEW, _BENDS = 1.25, 0.5, 1.25, 2.0
_FEW = 10
# How probable by chance: a misfit, a jump, and what the jump leaves, if there is one. Chosen on
# sixteen curves of 500 to 10000 people: of 2000 and more a step by a sixth of the range is told in
# nine releases of ten or more, and smooth curves are warned of in two of 100 or fewer.
_MISFIT, _JUMP, _FITS = 1e-3, 3e-4, 0.02
# A step, as a share of the range, and where; in how many of so many releases it is to be told,
# where it makes the error so many times the forecast.
_STEP, _PLACES, _TOLD, _RELEASES, _BEYOND = 1 / 6, (0.3, 0.5, 0.7), 0.9, 100, 1.5


@dataclass(frozen=True, eq=False)
class Judgement:
    """Comparison of released curves with their smoothing, beside the forecast."""

    errors: SmoothingErrors  # of the smoothing, in response units
    facts: PublicFacts
    sizes: Sizes

    @cached_property
    def forecast(self) -> float:
        """The error of a smooth curve: by smoothing, noise, and sampling variability."""
        return math.hypot(self.errors.of_known(self._smooth), self.errors.noise, self._sampling)

    @cached_property
    def _smooth(self) -> Array:
        """The curve that the forecast is for, from the middle of the bounds: (G,)."""
        return self.facts.value_half_width * bends(self.facts, POINTS)

    @property
    def _sampling(self) -> float:
        return DEFAULT_SPREAD * self.facts.value_half_width / math.sqrt(self.sizes.n_curves)

    def is_moved(self, curves: Array) -> NDArray[np.bool_]:
        """True if the smoothing moved a curve by more than was forecast."""
        moved = self.errors.moved(self.errors.followed(curves))
        return np.asarray(moved > _MOVED * self.forecast)

    def has_short_features(self, curves: Array) -> NDArray[np.bool_]:
        """True if the last cosines of a curve have not become small, or a step explains all."""
        cosines = self.errors.followed(curves)
        if self.is_of_few:  # the curve of the forecast, rising or falling, is smooth as well
            smooth = self.errors.followed(self.errors.smoothed(self._smooth))
            return np.asarray(
                np.all(
                    [
                        self._has_misfit(cosines - share * smooth, _SHORT_OF_FEW)
                        for share in (-1.0, 0.0, 1.0)
                    ],
                    axis=0,
                )
            )
        of_jump, fits, beyond = self.errors.jumps(cosines, self._sampling)
        is_jump = (of_jump < _JUMP) & (fits > _FITS) & (beyond > _SHORT * self.forecast)
        return self._has_misfit(cosines, _SHORT) | is_jump

    def _has_misfit(self, cosines: Array, min_forecasts: float) -> NDArray[np.bool_]:
        p_values, left = self.errors.short_features(cosines, self._sampling)
        return np.asarray((p_values < _MISFIT) & (left > min_forecasts * self.forecast))

    @property
    def is_of_few(self) -> bool:
        """True if so few cosines are followed that smooth bends look like short features."""
        return self.errors.order < _FEW

    def hides_steps(self, tells: Callable[[Array], NDArray[np.bool_]]) -> bool:
        """True if a step by a sixth of the range would err beyond the forecast without showing it.

        Follows from public facts: what the smoothing leaves of such a step, with noise like that
        of the release and with sampling variability, is put to the same question.
        """
        size = 2 * self.facts.value_half_width * _STEP
        steps = size * (POINTS[None, :] > np.array(_PLACES)[:, None]) - size / 2  # (places, G)
        errors = np.hypot(
            [self.errors.of_known(step) for step in steps],
            math.hypot(self.errors.noise, self._sampling),
        )
        beyond = steps[errors > _BEYOND * self.forecast]
        return any(
            tells(self.errors.smoothed(step) + self._noise).mean() < _TOLD for step in beyond
        )

    @cached_property
    def _noise(self) -> Array:
        """Noise and sampling variability of some releases, always the same: (releases, G)."""
        rng = np.random.default_rng(1)
        variances, directions = np.linalg.eigh(self.errors.covariance)
        of_noise = self.errors.rows @ (directions * np.sqrt(np.maximum(variances, 0.0)))
        of_people = self._sampling / (1.0 + np.arange(COSINES))[:, None] * self.errors.images
        return np.asarray(
            rng.standard_normal((_RELEASES, len(variances))) @ of_noise.T
            + rng.standard_normal((_RELEASES, COSINES)) @ of_people
        )

    def has_bends(self, curves: Array, simple: Array) -> NDArray[np.bool_]:
        """True if a curve bends so much that a step in it would be an error beyond the forecast.

        About as much as a few functions show of a step they leave out. Bends count where they are
        larger than those of the curve that the forecast is for.
        """
        p_values, left = self.errors.bends(curves, simple, self._sampling)
        _, expected = self.errors.bends(self.errors.smoothed(self._smooth), simple, self._sampling)
        threshold = _BENDS * np.maximum(self.forecast, expected)
        return np.asarray((p_values < _MISFIT) & (left > threshold))
