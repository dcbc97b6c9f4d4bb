"""The public constants of the adaptive methods, each with where it comes from.

One setting of each model serves all sizes and budgets; nothing here depends on data. *Tuned* means
chosen on simulated curves of 3, 10 and 30 observations for the least mean squared error: those of
separate releases on four mean curves, those of joint ones on two of these, with the others held
out. The optimum is flat: from ε = 1 on, a factor of 1.5 in one radius, width or share moves the
error by less than a tenth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtri

# -- shares of the budget ---------------------------------------------------------------------
# Tuned. The last step gets most; those before it only find where it clips, and how tightly.

SHARES = (0.15, 0.05, 0.10, 0.05, 0.60, 0.05)  # of μ², one by one, with a band
SHARES_NO_BAND = (0.15, 0.05, 0.10, 0.05, 0.65)
SHARES_PURE = (0.20, 0.08, 0.14, 0.08, 0.50)  # of ε, where δ = 0
_JOINT_SHARES_FEW, _JOINT_SHARES = (0.15, 0.10, 0.12, 0.63), (0.12, 0.07, 0.11, 0.70)
JOINT_SHARES_MANY, MANY = (0.05, 0.04, 0.06, 0.85), 500.0  # of a mean, from this N on
_FEW = 100.0  # N below which more is spent on looking; its split everywhere costs 3 % at most


def joint_shares(effective: float) -> tuple[float, ...]:
    """Shares of μ² of the four joint releases, with or without a band; they sum to 1."""
    return _JOINT_SHARES_FEW if effective < _FEW else _JOINT_SHARES


# -- how tightly curves are clipped -------------------------------------------------------------


@dataclass(frozen=True)
class Constants:
    """Radii and widths of one run of `adaptive.location`, and what it allows for.

    A radius c is that of an ellipsoid with half-axes d; a width is κ in c² = κ Σ d².
    """

    # c of the first location, in units of ‖√u‖. Tuned; smaller is better where the mean is small
    # against its bounds and worse elsewhere, so this is the compromise.
    first_radius: float = 0.5
    first_scale: float = 0.4  # c of the first scale, over that. Tuned with it.
    # middle_width, scale_width, final_width: κ of the second location, the second scale (of
    # separate releases) and the final location. Tuned: narrower bands cover less often, wider ones
    # have more noise.
    scale_width: float = 1.5
    final_width: float = 1.5
    middle_width: float = 1.0
    prior: float = 0.4  # size of coefficients before anything is measured, in units of u. Tuned.
    prior_in_band: float = 1.0  # times the prior, where the design leaves coefficients to it
    # least_kept, least_slope: shares that clipping is never taken to leave less of, so that
    # dividing by them cannot blow up noise
    least_kept: float = 0.5
    least_slope: float = 0.3
    # of the radius, that released sizes have where nearly all people were clipped: people as in the
    # reference law have 1.03 at most
    full: float = 1.05
    # noise in these sizes, of the radius, from which this cannot be told
    most_noise_full: float = 0.25
    least_kept_full: float = 1 / 3
    moments_width: float = np.inf  # κ of the second moments, where they have one of their own
    tail_allowance: float = 1.0  # of the variance that sizes alone stand for
    # of an early centre, in units of the spread that was released there
    bias_allowance: float = 0.0
    # whether sites count by their people, and not by the precision of what they send
    by_people: bool = False
    # radius of a ball about the middle of the bounds that no curve lies outside of; infinite where
    # none is known
    ball: float = math.inf


SEPARATELY = Constants()
TOGETHER = Constants(first_radius=0.4, first_scale=0.45)  # tuned again for joint releases
WITH_COVARIATES = Constants(middle_width=2.0, scale_width=2.0, final_width=2.0)  # tuned for bands
COVARIATES_TOGETHER = replace(WITH_COVARIATES, first_radius=0.4, first_scale=0.45)
FEWEST_TOGETHER = 3  # observations of each curve, from which `TOGETHER` was tuned

# Of moderate and wide clipping, for people who may be skewed. Early centres are of tightly clipped
# curves, which skew may move by a fifth of the spread. Mean absolute deviations say too little of
# long tails, so variances get half as much again: with that bands hold for exponential levels.
# Second moments clipped much wider would be mostly noise, which grows with κ.
FOR_SKEW: dict[str, Any] = {"bias_allowance": 0.2, "tail_allowance": 1.5, "moments_width": 3.0}


class StepWidth(NamedTuple):
    """κ of the last step: the least up to a size N, from there on growing like a power of N.

    It moves in parts of a doubling, so that budgets near each other run together.
    """

    smallest: float  # κ of small studies
    grows_from: float  # N up to which it stays so
    power: float = 1.0  # of N
    largest_growth: float = 64.0  # times the least that it grows to
    parts: int = 2

    def at(self, effective: float) -> float:
        """κ at an effective size."""
        growth = min(max((effective / self.grows_from) ** self.power, 1.0), self.largest_growth)
        return self.smallest * 2 ** (round(self.parts * math.log2(growth)) / self.parts)


# Tight, of joint releases: tuned. Wider than 2 costs noise, and with outliers half as much error
# again; below 1 people who are skewed or in groups lose far more than others gain.
TIGHT = StepWidth(1.0, 100.0, power=0.4, largest_growth=2.0, parts=4)
# Moderate: chosen so that bands hold for groups, outliers, exponential and lognormal levels, at
# 0.26 to 0.8 of the squared error of wide clipping. It grows like N because people of finite
# variance lose at most a multiple of 1/√κ of their mean to clipping, and sampling variability
# falls like 1/√n.
MODERATE = StepWidth(6.0, 300.0)
# Wide: chosen so that bands hold for skewed people who are each seen in a short window.
WIDE = StepWidth(12.0, 200.0)

# -- basis functions ----------------------------------------------------------------------------

# In r = factor √(N √m): where the noise of coefficients that fall like k⁻² equals what is left out.
# Where times are unknown fewer are kept: learning the times adds noise to each.
DETAIL, DETAIL_UNKNOWN_TIMES = 0.55, 0.3
MAX_FUNCTIONS = 21  # the largest r that was tuned for
MAX_FUNCTIONS_PURE = 15  # where δ = 0 noise grows with how many numbers a message has
LEARN_TIMES_FROM = 200.0  # N below which released times leave nearly every band invalid
SHRINK_FROM = 100.0  # N from which shrinking helps: below, the filter has done so

# -- the planned error ----------------------------------------------------------------------------

TYPICAL_SPREAD = 0.24  # of people about the mean in the simulated curves, in half-ranges
RADIUS_OF_SPREAD = 0.7  # final radius over that: fitted to the measured errors, 0.6 to 0.9 in most
JOINT_RADIUS = 0.64  # the same for joint releases

# -- warnings ------------------------------------------------------------------------------------

# A release is asked whether its functions are enough, and warns where its last coefficients have a
# misfit of which the root mean square is above so much of half the band's width, or where an end
# moves on by so many half widths. Chosen on ordinary settings (growth, glucose, blood pressure,
# power, steps, waves and lines, 250 to 3000 people, ε = 1 to 4), of which a fiftieth of the
# releases are told, and on peaks, seven turns and steps, of which bands miss all: peaks and turns
# are told in .87 to 1, steps of 5 in .95 to 1 of 600 people at ε = 2 and of 1000 at ε = 1, and in
# .5 to .8 of 600 at ε = 1, where 11 functions are kept. There a smaller misfit would tell them
# more often, .9 at .22, and a fifth of days of glucose of 300 people as well.
MISFIT, MATERIAL = 1e-3, 0.27
STILL_MOVING = 8.0

DISAGREEING = 0.01  # of releases whose last step moves so far by chance, if all is as assumed


def most_innovation(size: int) -> float:
    """Bound the mean square of a final location of p coefficients, but for chance.

    Its terms are about χ² with one degree of freedom, or less, as earlier centres are given some
    extra variance. Found on simulated curves: with times stated as even that are clustered, or
    common visits from which most drop out, it is 2 to 400 where bands miss; else below 1.5.
    """
    return float(chdtri(size, DISAGREEING) / size)


# Sites are told to differ where chance alone would say so in one release of a hundred, and where
# that moves the centre by half of its standard error or more. Chosen, not derived.
SITES_DIFFER, OFF = 0.01, 0.5
