"""Private location of the mean relative to the current centre, in a few small releases.

A private location pays for the radius its clipping needs, not for the spread of the data. So:
find the neighbourhood with a wide radius and little budget; learn, privately, how large the
deviations are there; tighten; repeat once; spend most of the budget on the last, tightest step.
Each step is a measurement with known noise, and a Kalman filter puts them together, so that
nothing already bought is thrown away. Deviations are clipped on purpose well inside their bulk;
how much clipping shrinks them is computed from the released sizes and divided out, as in Huber's
one-step estimator.

This module sees deviations h_i(a) = T_i a − t_i of whole curves and nothing else of the data, so
means, several sites and varying coefficients share it. Arrays are (repeats, columns, p): one
column for each budget and draw.

Privacy
-------
Replace one curve. The shape d, the radius c, the centre a and every weight are functions of
earlier releases and public numbers, so they are fixed when a release is made. Each site adds to
the average over its n curves

* of ψ (a *location*): the shift δ has ‖δ/d‖₂ ≤ 2c/n. Gaussian noise of standard deviation
  g_l = 2 c d_l/(n μ_k) makes Σ δ_l²/g_l² ≤ μ_k²: the release is μ_k-GDP;
* of |ψ| (a *scale*): ‖δ/d‖₂ ≤ √2 c/n, hence g_l = √2 c d_l/(n μ_k);
* of (ψ/d)(ψ/d)' (*second moments*): the shift is at most √2 c²/n in Frobenius norm. Symmetric noise
  of standard deviation √2 c²/(n μ_k) on the diagonal and that over √2 beside it is isotropic for
  this norm: μ_k-GDP.

Averages are made of whole numbers, for which `engine.numerics.exact_sums` proves these bounds anew.

*Joint releases.* Sizes and second moments do not change when a deviation is mirrored, and a
location shifts most between mirrored deviations. So both can be sent together at the sensitivity of
the location alone. Let x, y be two clipped deviations over d, ‖x‖, ‖y‖ ≤ c:

* location and scale: |x|'|y| ≥ |x'y|, hence ‖x − y‖² + ‖|x| − |y|‖² = 2‖x‖² + 2‖y‖² − 2x'y
  − 2|x|'|y| ≤ 2‖x‖² + 2‖y‖² − 2x'y − 2|x'y| ≤ 4c². The pair moves by at most 2c/n, and Gaussian
  noise of standard deviation 2 c d_l/(n μ_k) on both is μ_k-GDP;
* location and second moments, which may be clipped at a smaller radius m ≤ c of their own: let t be
  the cosine between the two deviations, a, b ≤ 1 their clipped lengths over c and A, B ≤ 1 those
  over m, so that a ≤ A and b ≤ B. In units of c/n and of √2 m²/n the squared shift is
  F(t) = a² + b² − 2abt + ½(A⁴ + B⁴) − A²B²t². Where ab ≤ A²B² it is largest at t = −ab/(A²B²):
  F ≤ a² + b² + ½(A⁴ + B⁴) + (ab/AB)² ≤ 4. Elsewhere it is largest at t = −1: F ≤ (a + b)² +
  ½(A² − B²)² ≤ (A + B)²(1 + ½(A − B)²) ≤ 4, because |A − B| ≤ 2 − (A + B). So noise of standard
  deviation 2 c d_l/(n μ_k) on the location and isotropic symmetric noise of 2√2 m²/(n μ_k) on the
  moments are μ_k-GDP together.

*A ball about the middle of the bounds.* The last pair may be about another centre than the current
one, 0 in place of a, and in another shape and radius: 1, and `Constants.ball`, which are public.
Whether it is follows from c and d of earlier releases (`_recentred`), so all three are as fixed as
ever, location and moments are of the same deviations h_i(0) = −t_i, and the pair has the
sensitivity proved above. Moments about a beside a location about 0 would not be free: two curves
that are mirrored at 0 are not mirrored at a, and for p = 1, c = 1, a = ½, t = ±1 the squared shift
is 4 + ½(1 − ¼)². What follows costs nothing: with T that of everybody who is observed at all common
times, which is public, x + T a measures what a location about a does, and moments about a are
M₀ + x s' + s x' + s s' with s = T a.

The weights, 1 for sizes and ½ for second moments, are the largest for which this holds. Both parts
are one message about the same centre and shape. Where δ = 0 this does not help: that noise
grows with how many numbers a message has.

All releases use the same curves, so their squares add: Σ μ_k² = μ² (adaptive composition of
Gaussian DP; Dong, Roth and Su, 2022). Sites hold different curves, so they do not compose. For
δ = 0 the noise of a location or scale has density ∝ exp(−ε_k n‖x/d‖/(2c or √2c)) (the K-norm
mechanism; Hardt and Talwar, 2010), which is ε_k-DP by the same bounds, and the ε_k add.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from engine.core.arrays import Indices
from engine.core.bands import SecondMoments, SiteLocations
from engine.core.types import Array, Step
from engine.mechanisms.families.adaptive import checked_facts
from engine.mechanisms.families.adaptive.constants import OFF, SEPARATELY, SITES_DIFFER, Constants
from engine.mechanisms.families.adaptive.filters import Combined, Independent, Joint, NoiseFilter
from engine.numerics.clipping.clipped_averages import averages
from engine.numerics.deviations import Deviations
from engine.numerics.exact_sums import Statistic
from engine.numerics.monotone import non_increasing_fit
from engine.numerics.reference_law import DeviationLaw, is_mixed
from engine.numerics.symmetric_matrices import as_matrix, as_vector, nearest_semidefinite
from engine.numerics.time_histograms import Mixing
from engine.privacy import transcript

# What one curve moves a release by at most, as proved above. Of locations and sizes it is ‖δ/d‖₂ in
# units of c/n, of second moments ‖δ‖_F in units of m²/n, m being the radius they are clipped at.
LOCATION = 2.0
SIZE = math.sqrt(2)
MOMENTS = math.sqrt(2)
JOINT_MOMENTS = 2 * math.sqrt(2)  # with a location, where they have weight ½: see *Joint releases*

FIRST_CENTRE = Step("first centre", sensitivity=LOCATION)
FIRST_SPREAD = Step("first spread", sensitivity=SIZE)
SECOND_CENTRE = Step("second centre", sensitivity=LOCATION)
SECOND_SPREAD = Step("second spread", sensitivity=SIZE)
FINAL_CENTRE = Step("final centre", sensitivity=LOCATION)
SECOND_MOMENTS = Step("second moments", sensitivity=MOMENTS)
SECOND_PAIR = Step("second centre and spread", sensitivity=LOCATION)
THIRD_PAIR = Step("third centre and spread", sensitivity=LOCATION)
FINAL_PAIR = Step("final centre and second moments", sensitivity=LOCATION)
SEPARATE = (FIRST_CENTRE, FIRST_SPREAD, SECOND_CENTRE, SECOND_SPREAD, FINAL_CENTRE, SECOND_MOMENTS)
JOINT = (FIRST_CENTRE, SECOND_PAIR, THIRD_PAIR, FINAL_PAIR)


def release_steps(is_joint: bool) -> tuple[Step, ...]:
    """All releases in order; those without a share of the budget are the last."""
    return JOINT if is_joint else SEPARATE


def of_stage(step: Step, stage: str) -> Step:
    """Name a release by its run in transcript and ledger; `stage` is empty for a single run."""
    if not stage:
        return step
    return Step(f"{stage}: {step.key}", sensitivity=step.sensitivity)


# The rows of `SiteDeviations.noise` that a release takes, for its location before its sizes. No
# release takes a row that another one of the same run takes; stored results were drawn like this.
NOISE_ROWS = {
    FIRST_CENTRE.key: (0,),
    FIRST_SPREAD.key: (1,),
    SECOND_CENTRE.key: (2,),
    SECOND_SPREAD.key: (3,),
    FINAL_CENTRE.key: (4,),
    SECOND_PAIR.key: (2, 1),
    THIRD_PAIR.key: (5, 3),
    FINAL_PAIR.key: (4,),
}
_NO_ZERO = 1e-300
_TOLD = 1e-6  # of the largest singular value of E T: directions that the times tell
LEAST_TOLD = 0.5  # least singular value of E T for which the mean of a site is read
_FIXED_POINT_STEPS = 12
_LEAST_LEVEL = 0.1  # of the level's second moment, that clipping and noise are taken to leave
_MAX_LARGER = 10.0  # how far the sum of second moments that are clipped tightly is made up


@dataclass(frozen=True)
class SiteDeviations:
    """The deviations of one site's curves, and its noise."""

    deviations: Deviations
    n_curves: int  # n, public
    # (releases, columns): 1/(n μ_k): the standard deviation of a release's noise for a sensitivity
    # and a radius of 1, and a shape of ones
    unit: Array
    # (6, repeats, columns, p): of unit variance; `NOISE_ROWS` tells which row is for what
    noise: Array
    # (repeats, columns, p, p): noise of second moments; None where they are not released
    symmetric: Array | None = None
    index: int = 0
    mixing: Mixing | None = None  # E T_i where it was released; None where it is public
    steps: tuple[Step, ...] = SEPARATE  # what is released, in order: `SEPARATE` or `JOINT`
    stage: str = ""  # what is located, where it is one of several runs
    far_unit: Array | None = None  # (columns,), 1/(n μ √s₂); None where far people are not counted
    # (repeats, columns, 2), of unit variance; a third number where sides are counted
    far_noise: Array | None = None

    def among_columns(self, columns: Indices) -> SiteDeviations:
        """The same curves for some of the columns."""
        return replace(
            self,
            unit=self.unit[:, columns],
            noise=self.noise[:, :, columns],
            symmetric=None if self.symmetric is None else self.symmetric[:, columns],
            mixing=None if self.mixing is None else self.mixing.of(slice(None), columns),
            far_unit=None if self.far_unit is None else self.far_unit[columns],
            far_noise=None if self.far_noise is None else self.far_noise[:, columns],
        )

    def noise_of(self, step: Step) -> Array:
        """Standard noise of a release: (repeats, columns, numbers).

        A pair has the location first and second moments as a vector; second moments alone are
        symmetric matrices.
        """
        if step.key == SECOND_MOMENTS.key:
            assert self.symmetric is not None
            return self.symmetric
        parts = [self.noise[row] for row in NOISE_ROWS[step.key]]
        if step.key == FINAL_PAIR.key:
            assert self.symmetric is not None
            parts.append(as_vector(self.symmetric))
        return np.concatenate(parts, axis=-1)

    def unit_of(self, step: Step) -> Array:
        """1/(n μ_k) of a release: (columns,)."""
        return np.asarray(self.unit[self.steps.index(step)])

    def send(self, step: Step, statistic: Array, scale: Array) -> Array:
        """All that ever leaves a site: a statistic of its curves with noise of this scale."""
        return transcript.sent(
            self.index, of_stage(step, self.stage), statistic + scale * self.noise_of(step), scale
        )


@dataclass(frozen=True)
class State:
    """Estimates so far, all released or public."""

    # centre, shape, spread, clipped_spread, each (repeats, columns, p): a, the shape d of the
    # ellipsoid, and the size of deviations before and after clipping
    centre: Array
    filter: NoiseFilter  # the covariance of the centre's privacy noise
    shape: Array
    # radius, innovation, each (repeats, columns): c, in units of the shape; and of the last
    # location, as in `NoiseFilter.update`
    radius: Array
    spread: Array
    clipped_spread: Array
    innovation: Array
    # (repeats, columns) array of bool: whether no curve lies outside of the ellipsoid
    holds_all: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Far:
    """Number of people far from the others, by the last message of all sites."""

    shares: Array  # (repeats, columns, 2), beyond one and beyond two radii
    side: Array  # (repeats, columns), people above less people below; NaN where not counted
    side_error: Array  # (repeats, columns), of people who are spread evenly
    usual: Array  # (repeats, columns, 2), shares of the reference law
    noise: Array  # (columns,), its standard deviation in each
    reach: Array  # (repeats, columns), how far a person at one radius is held back in the level
    lean: Array  # (repeats, columns), how far skew may have moved the level; NaN like `side`


@dataclass(frozen=True)
class Located:
    """The final centre and its released covariance.

    The covariance covers privacy noise and sampling variability.
    """

    centre: Array  # (repeats, columns, p)
    covariance: Array  # (repeats, columns, p, p)
    # (sites, repeats, columns): of each site in the final release, averaged over coefficients
    weight: Array
    # noise, sampling, each (sites, repeats, columns): the parts that its noise, and sampling
    # variability there, have in the variance, summed over coefficients
    noise: Array
    sampling: Array
    # (repeats, columns): of the final location: the mean square of what it measured, over the
    # variance that what was known before and its noise give it. Large where the steps do not agree
    # with each other.
    innovation: Array
    # M, averaged over sites by their numbers of people, (repeats, columns, …); in unit scale
    people: SecondMoments | None = None
    # sites_differ, hides_sites, each (repeats, columns) array of bool: whether what sites sent
    # shows that the weights move the centre away from the mean of all people, and whether their
    # noise would hide that it does):
    sites_differ: NDArray[np.bool_] | None = None
    hides_sites: NDArray[np.bool_] | None = None
    far: Far | None = None
    sites: SiteLocations | None = None  # (repeats, columns, sites, p); None if there is one


def locate(
    sites: Sequence[SiteDeviations],
    public_scale: Array,
    law: DeviationLaw,
    constants: Constants = SEPARATELY,
    n_functions: int = 1,
    prior: Array | None = None,
) -> Located:
    """The mean by a few releases, and its covariance if second moments are among them.

    `public_scale` is u (…, p), the size of deviations expected from what is public or released.
    Coefficients run function after function, p/K of each. `prior` (p,) is their size before
    anything is measured, in units of u if left out.
    """
    state = _start(sites[0], public_scale, constants, law, prior)
    release = _jointly if sites[0].steps == JOINT else _one_by_one
    return release(sites, state, law, constants, n_functions)


def _one_by_one(
    sites: Sequence[SiteDeviations],
    state: State,
    law: DeviationLaw,
    constants: Constants,
    n_functions: int,
) -> Located:
    """Locations, sizes and second moments in releases of their own, each about a newer centre."""
    locations = _sent(sites, state, FIRST_CENTRE, Statistic.LOCATION)
    state, _ = _move(
        sites,
        state,
        locations,
        np.ones_like(state.centre),
        _response(sites, state, law, 1),
        constants,
    )
    state = replace(state, radius=constants.first_scale * state.radius)
    sizes = _sent(sites, state, FIRST_SPREAD, Statistic.SIZE)
    state = _with_spread(state, sizes, law, constants, n_functions)
    state = _tightened(_doubted(state, constants), constants.middle_width)

    slope = _slope(state, law, constants)
    locations = _sent(sites, state, SECOND_CENTRE, Statistic.LOCATION)
    state, _ = _move(sites, state, locations, slope, _response(sites, state, law, 2), constants)
    wider = np.sqrt(constants.scale_width / constants.middle_width)
    state = replace(state, radius=wider * state.radius)
    sizes = _sent(sites, state, SECOND_SPREAD, Statistic.SIZE)
    state = _with_spread(state, sizes, law, constants, n_functions)
    state = _tightened(_doubted(state, constants), constants.final_width)

    last, slope = state, _slope(state, law, constants)
    locations = _sent(sites, state, FINAL_CENTRE, Statistic.LOCATION)
    state, weights = _move(
        sites, state, locations, slope, _response(sites, state, law, 3), constants
    )
    moments = None
    if all(site.symmetric is not None for site in sites):
        moments = _moments(sites, state, constants)
    return replace(
        _located(sites, state, slope, locations, weights, moments, constants, law),
        far=_far(sites, last, state, slope, moments, law),
        sites=_each_site(sites, last, slope, locations, law),
    )


def _jointly(
    sites: Sequence[SiteDeviations],
    state: State,
    law: DeviationLaw,
    constants: Constants,
    n_functions: int,
) -> Located:
    """Sizes and second moments together with the location, about the same centre."""
    locations = _sent(sites, state, FIRST_CENTRE, Statistic.LOCATION)
    state, _ = _move(
        sites,
        state,
        locations,
        np.ones_like(state.centre),
        _response(sites, state, law, 1),
        constants,
    )
    state = replace(state, radius=constants.first_scale * state.radius)
    for step, width in ((SECOND_PAIR, constants.middle_width), (THIRD_PAIR, constants.final_width)):
        locations, sizes = _centres_and_sizes(sites, state, step)
        state = _with_spread(state, sizes, law, constants, n_functions)
        state, _ = _move(
            sites,
            state,
            locations,
            _slope(state, law, constants),
            _response(sites, state, law, 2),
            constants,
        )
        state = _tightened(_doubted(state, constants), width)
    last = _recentred(state, constants, law)
    slope = _slope(last, law, constants)
    locations, moments = _centres_and_moments(sites, last, constants)
    if last.holds_all.any():
        locations, moments = _about(
            (state.centre - last.centre) @ law.mean_slopes.T, locations, moments
        )
    before = replace(last, centre=state.centre)
    state, weights = _move(
        sites, before, locations, slope, _response(sites, last, law, 3), constants
    )
    return replace(
        _located(sites, state, slope, locations, weights, moments, constants, law),
        far=_far(sites, last, state, slope, moments, law),
        sites=_each_site(sites, before, slope, locations, law),
    )


def _recentred(state: State, constants: Constants, law: DeviationLaw) -> State:
    """Take the ball about the middle of the bounds where a location has less noise in it.

    Only noise in the directions U that the times tell counts. In units of 2/(n μ) its covariance
    is ball² I there, and (U' diag(c d)⁻² U)⁻¹ for the ellipsoid: traces are compared.
    """
    if np.isinf(constants.ball):
        return state
    turns, told, _ = np.linalg.svd(law.mean_slopes)
    turns = turns[:, told > _TOLD * told[0]]
    axes = (state.radius[..., None] * state.shape) ** 2
    largest = np.maximum(axes.max(axis=-1, keepdims=True), _NO_ZERO)
    axes = np.maximum(axes / largest, _TOLD)
    inverse = (turns.T / axes[..., None, :]) @ turns
    of_ellipsoid = largest[..., 0] * np.trace(np.linalg.inv(inverse), axis1=-2, axis2=-1)
    in_ball = constants.ball**2 * turns.shape[1] <= of_ellipsoid
    each = in_ball[..., None]
    return replace(
        state,
        centre=np.where(each, 0.0, state.centre),
        shape=np.where(each, 1.0, state.shape),
        radius=np.where(in_ball, constants.ball, state.radius),
        holds_all=in_ball,
    )


def _about(shift: Array, locations: Sent, moments: Sent) -> tuple[Sent, Sent]:
    """Say what was sent about another centre, as T a is added to each h_i(0); the shift is T a.

    Noise of the locations then adds 4 g²‖a‖²‖φ‖⁴ at most to the variance of φ'Mφ for any φ.
    """
    matrices, scales = [], []
    for location, g, matrix, scale in zip(
        locations.values, locations.scales, moments.values, moments.scales, strict=True
    ):
        cross = (location + shift / 2)[..., :, None] * shift[..., None, :]
        matrices.append(matrix + cross + cross.swapaxes(-1, -2))
        scales.append(np.sqrt(scale**2 + 4 * (g**2).max(axis=-1) * (shift**2).sum(axis=-1)))
    return Sent([each + shift for each in locations.values], locations.scales), Sent(
        matrices, scales
    )


# -- what sites send --------------------------------------------------------------------------


@dataclass(frozen=True)
class Sent:
    """One statistic of every site, with the scale of the noise in it: (repeats, columns, …)."""

    values: Sequence[Array]
    scales: Sequence[Array]

    def combined(self, weights: Array) -> tuple[Array, Array]:
        """The centre's average by weights (sites, repeats, columns, …), and its noise variance."""
        return (
            np.asarray((weights * np.stack(self.values)).sum(axis=0)),
            np.asarray(((weights * np.stack(self.scales)) ** 2).sum(axis=0)),
        )


def _sent(sites: Sequence[SiteDeviations], state: State, step: Step, kind: Statistic) -> Sent:
    """One clipped average of every site, with noise in the shape of the deviations."""
    scales = [_noise_scale(site, step, state) for site in sites]
    return Sent(
        [
            site.send(step, _averages(site, state, kind)[0], scale)
            for site, scale in zip(sites, scales, strict=True)
        ],
        scales,
    )


def _averages(
    site: SiteDeviations, state: State, *kinds: Statistic, moments_radius: Array | None = None
) -> list[Array]:
    return averages(
        site.deviations,
        state.centre,
        state.shape,
        state.radius,
        *kinds,
        moments_radius=moments_radius,
    )


def _moments(sites: Sequence[SiteDeviations], state: State, constants: Constants) -> Sent:
    """Second moments alone, in units of the shape; the noise is that on the diagonal."""
    step, radius = SECOND_MOMENTS, _moments_radius(state, constants)
    scales = [MOMENTS * site.unit_of(step) * radius**2 for site in sites]
    return Sent(
        [
            site.send(
                step,
                _averages(site, state, Statistic.MOMENTS, moments_radius=radius)[0],
                scale[..., None, None],
            )
            for site, scale in zip(sites, scales, strict=True)
        ],
        scales,
    )


def _centres_and_sizes(
    sites: Sequence[SiteDeviations], state: State, step: Step
) -> tuple[Sent, Sent]:
    """Locations and sizes in one message, about one centre, shape and radius."""
    p, scales = state.centre.shape[-1], [_noise_scale(site, step, state) for site in sites]
    sent = [
        site.send(
            step,
            np.concatenate(_averages(site, state, Statistic.LOCATION, Statistic.SIZE), axis=-1),
            np.concatenate([scale, scale], axis=-1),
        )
        for site, scale in zip(sites, scales, strict=True)
    ]
    return (
        Sent([each[..., :p] for each in sent], scales),
        Sent([each[..., p:] for each in sent], scales),
    )


def _centres_and_moments(
    sites: Sequence[SiteDeviations], state: State, constants: Constants
) -> tuple[Sent, Sent]:
    """Locations and second moments in one message, about one centre and shape."""
    step, p = FINAL_PAIR, state.centre.shape[-1]
    radius = _moments_radius(state, constants)
    location_scales = [_noise_scale(site, step, state) for site in sites]
    moment_scales = [JOINT_MOMENTS * site.unit_of(step) * radius**2 for site in sites]
    sent = []
    for site, of_location, of_moments in zip(sites, location_scales, moment_scales, strict=True):
        location, moments = _averages(
            site, state, Statistic.LOCATION, Statistic.MOMENTS, moments_radius=radius
        )
        products = as_vector(moments)
        of_products = np.broadcast_to(of_moments[..., None], products.shape)
        sent.append(
            site.send(
                step,
                np.concatenate([location, products], axis=-1),
                np.concatenate([of_location, of_products], axis=-1),
            )
        )
    return (
        Sent([each[..., :p] for each in sent], location_scales),
        Sent([as_matrix(each[..., p:]) for each in sent], moment_scales),
    )


def _moments_radius(state: State, constants: Constants) -> Array:
    """Noise of second moments grows with the squared radius, which may have a width of its own."""
    largest_radius = np.sqrt(constants.moments_width * (state.shape**2).sum(axis=-1))
    return np.asarray(np.minimum(state.radius, largest_radius))


def _far(
    sites: Sequence[SiteDeviations],
    last: State,
    after: State,
    slope: Array,
    moments: Sent | None,
    law: DeviationLaw,
) -> Far | None:
    """The shares of people beyond one and two radii of the last location, about its centre.

    Where sides are counted, about the centre after it. A ball that holds everybody moves nobody,
    however far: there the shares are none.
    """
    sent, scales = [], []
    for site in sites:
        if site.far_unit is None or site.far_noise is None:
            return None
        scales.append(checked_facts.SENSITIVITY * site.far_unit)
        scale = scales[-1][:, None]
        sent.append(
            transcript.sent(
                site.index,
                of_stage(checked_facts.FAR, site.stage),
                _who_is_far(site, last, after) + scale * site.far_noise,
                scale,
            )
        )
    pooled, noise = checked_facts.pooled(sent, scales, [site.n_curves for site in sites])
    reach = last.radius * last.shape[..., 0] / slope[..., 0]
    side = error = lean = np.full(last.radius.shape, np.nan)
    if pooled.shape[-1] > 2:
        side, error = _side(sites, pooled[..., 2], noise, after, law)
        side = np.where(last.holds_all, 0.0, side)
        radius = _radius_of_level(sites, last, moments)
        lean = last.spread[..., 0] * checked_facts.bias_of_side(side, error, radius)
    return Far(
        np.where(last.holds_all[..., None], 0.0, pooled[..., :2]),
        side,
        error,
        law.share_beyond(last.spread, last.shape, last.radius),
        noise,
        np.where(last.holds_all, 0.0, reach),
        lean,
    )


def _radius_of_level(sites: Sequence[SiteDeviations], last: State, moments: Sent | None) -> Array:
    """Find at how many standard deviations of their level people are clipped: (repeats, columns).

    Second moments M say what goes with the level: with b_l = M_l0/M_00, and with the rest of the
    deviations at its mean, ‖h/d‖² = Σ_l (s_l²/d_l² − b_l² v) + z² v Σ_l b_l² for a level of z
    standard deviations and v = s_0²/d_0². Without moments all goes with it.
    """
    squares = (last.spread / last.shape) ** 2
    if moments is None:
        return np.asarray(last.radius / np.sqrt(squares.sum(axis=-1)))
    people = sum(site.n_curves for site in sites)
    row = np.asarray(
        sum(
            site.n_curves / people * each[..., 0]
            for site, each in zip(sites, moments.values, strict=True)
        )
    )
    level = np.maximum(row[..., :1], _LEAST_LEVEL * squares[..., :1])
    along = np.minimum((row / level) ** 2 * squares[..., :1], squares)
    along[..., 0] = squares[..., 0]
    rest = (squares - along).sum(axis=-1)
    return np.asarray(np.sqrt(np.maximum(last.radius**2 - rest, 0.0) / along.sum(axis=-1)))


def _who_is_far(site: SiteDeviations, last: State, after: State) -> Array:
    """Average the last message over the people of a site: (repeats, columns, 2 or 3)."""
    assert site.far_noise is not None
    if site.far_noise.shape[-1] == 2:
        return _averages(site, last, Statistic.BEYOND)[0]
    beyond, side = _averages(
        site, replace(last, centre=after.centre), Statistic.BEYOND, Statistic.SIDES
    )
    return np.concatenate([beyond, checked_facts.SIDE * side], axis=-1)


def _side(
    sites: Sequence[SiteDeviations], sent: Array, noise: Array, after: State, law: DeviationLaw
) -> tuple[Array, Array]:
    """The excess of people on one side and its standard error, (repeats, columns) each."""
    row = law.mean_slopes[0]  # an error of the centre moves deviations by so much of it
    zero = np.zeros((*after.centre.shape, after.centre.shape[-1]))
    variance = np.maximum(after.filter.covariance(zero) @ row @ row, 0.0)
    people = sum(site.n_curves for site in sites)
    centre = np.sqrt(variance) / after.spread[..., 0]
    return sent / checked_facts.SIDE, checked_facts.error_of_side(noise, people, centre)


# -- what follows from it ----------------------------------------------------------------------


def _located(
    sites: Sequence[SiteDeviations],
    after: State,
    slope: Array,
    locations: Sent,
    weights: Array,
    moments: Sent | None,
    constants: Constants,
    law: DeviationLaw,
) -> Located:
    covariance = _covariance(sites, after, slope, weights, moments, constants)
    people = None if moments is None else _people(sites, after, slope, moments, constants, law)
    return Located(
        after.centre,
        covariance,
        weights.mean(axis=-1),
        *_parts(sites, after, locations, weights),
        after.innovation,
        people,
        *_away_from_all(sites, after, slope, locations, weights, covariance),
    )


def _each_site(
    sites: Sequence[SiteDeviations], before: State, slope: Array, locations: Sent, law: DeviationLaw
) -> SiteLocations | None:
    """Read the mean of each site's people off its last location y_s: a − (E T)⁻¹ y_s/J.

    a is the centre before the step. y_s/J has the variance g_s²/J² + spread²/n_s, of which
    (E T)⁻¹ keeps the diagonal.
    """
    if len(sites) < 2:
        return None
    turns, told, directions = np.linalg.svd(law.mean_slopes)
    is_told = told[-1] > LEAST_TOLD and all(site.mixing is None for site in sites)
    inverse = (directions.T / told) @ turns.T if is_told else np.full_like(turns, np.nan)
    found = [
        (
            before.centre - (y / slope) @ inverse.T,
            ((g / slope) ** 2 + before.spread**2 / site.n_curves) @ (inverse**2).T,
        )
        for site, y, g in zip(sites, locations.values, locations.scales, strict=True)
    ]
    centres, variances = (np.stack(each, axis=-2) for each in zip(*found, strict=True))
    return SiteLocations(centres, variances)


def _away_from_all(
    sites: Sequence[SiteDeviations],
    after: State,
    slope: Array,
    locations: Sent,
    weights: Array,
    covariance: Array,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """True where weights move the centre off the mean of all: (repeats, columns) twice.

    With shares π_s of people a centre of weights ω_s is off by Σ (ω_s − π_s) β_s/J, which is 0
    where sites are alike. What they sent tells it with variance Σ (ω_s − π_s)² (g_s² + d²/n_s).
    First whether it is told beyond doubt, and half of the standard error of the centre or more;
    then whether noise in what is told of the level is as large, and so would hide it.
    """
    people = np.array([site.n_curves for site in sites])
    apart = weights - (people / people.sum())[:, None, None, None]
    away = (apart * np.stack(locations.values)).sum(axis=0)
    variance = sum(
        part**2 * (scale**2 + after.spread**2 / site.n_curves)
        for part, scale, site in zip(apart, locations.scales, sites, strict=True)
    )
    hidden = np.sqrt(np.maximum(np.asarray(variance), _NO_ZERO))
    variance_of_centre = np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 0.0)
    error = slope * np.sqrt(variance_of_centre)
    beyond = -ndtri(SITES_DIFFER / 2 / away.shape[-1])
    is_told = (np.abs(away) > beyond * hidden) & (np.abs(away) > OFF * error)
    return is_told.any(axis=-1), (hidden > OFF * error)[..., 0]


def _people(
    sites: Sequence[SiteDeviations],
    after: State,
    slope: Array,
    moments: Sent,
    constants: Constants,
    law: DeviationLaw,
) -> SecondMoments:
    """Estimate second moments of deviations; clipping is undone at the radius of their release."""
    if np.isfinite(constants.moments_width):
        radius = _moments_radius(after, constants)
        slope = _slope(replace(after, radius=radius), law, constants)
    share = np.array([site.n_curves for site in sites]) / sum(site.n_curves for site in sites)
    pooled = sum(part * values for part, values in zip(share, moments.values, strict=True))
    noise = sum((part * scale) ** 2 for part, scale in zip(share, moments.scales, strict=True))
    return SecondMoments(
        np.asarray(pooled), np.sqrt(np.asarray(noise)), after.shape / slope, after.filter.variance
    )


def _parts(
    sites: Sequence[SiteDeviations], after: State, locations: Sent, weights: Array
) -> tuple[Array, Array]:
    """Split the variance into noise and sampling at each site: (sites, repeats, columns) each.

    The variance of the noise is split as that of the final release, which has most of the budget.
    """
    variance = (weights * np.stack(locations.scales)) ** 2
    share = variance / np.maximum(variance.sum(axis=0), _NO_ZERO)
    noise = (share * after.filter.variance).sum(axis=-1)
    sampling = [
        ((weight * after.spread) ** 2).sum(axis=-1) / site.n_curves
        for weight, site in zip(weights, sites, strict=True)
    ]
    return np.asarray(noise), np.stack(sampling)


def _start(
    site: SiteDeviations,
    public_scale: Array,
    constants: Constants,
    law: DeviationLaw,
    prior: Array | None,
) -> State:
    """The prior: centre 0, with spread and radius from public facts."""
    shape = site.noise.shape[1:]
    scale = np.broadcast_to(public_scale, shape)
    size = constants.prior * scale if prior is None else np.broadcast_to(prior, shape)
    prior_filter: NoiseFilter = (
        Independent(size**2)
        if not is_mixed(law)
        else Joint.start(size**2, (constants.prior_in_band * size) ** 2, law.doubt)
    )
    return State(
        np.zeros(shape),
        prior_filter,
        np.sqrt(scale),
        constants.first_radius * np.sqrt(scale.sum(axis=-1)),
        constants.prior * scale,
        constants.prior * scale,
        np.zeros(shape[:-1]),
        np.zeros(shape[:-1], dtype=bool),
    )


def _slope(state: State, law: DeviationLaw, constants: Constants) -> Array:
    """J: how much a clipped average moves when the centre does; 1 where nobody is clipped."""
    slope = np.maximum(law.slope(state.spread, state.shape, state.radius), constants.least_slope)
    return np.where(state.holds_all[..., None], 1.0, slope)


def _response(
    sites: Sequence[SiteDeviations], state: State, law: DeviationLaw, phase: int
) -> Array | None:
    """J M where the design is stated and M is not the identity; E T in the first phase."""
    if not is_mixed(law) or sites[0].mixing is not None:
        return None
    mean = np.broadcast_to(law.mean_slopes, (*state.centre.shape, state.centre.shape[-1]))
    if phase == 1 or state.holds_all.all():  # the first radius is wide, and a ball clips nobody
        return mean
    return np.where(
        state.holds_all[..., None, None],
        mean,
        law.response(state.spread, state.shape, state.radius),
    )


def _move(
    sites: Sequence[SiteDeviations],
    state: State,
    locations: Sent,
    slope: Array,
    response: Array | None,
    constants: Constants,
) -> tuple[State, Array]:
    """The Kalman update of the centre by what sites sent; also the weights of the sites."""
    weights = _weights(
        [
            scale**2 + state.spread**2 / site.n_curves
            for site, scale in zip(sites, locations.scales, strict=True)
        ]
    )
    if constants.by_people:
        people = np.array([site.n_curves for site in sites])
        weights = np.broadcast_to((people / people.sum())[:, None, None, None], weights.shape)
    measured, noise = locations.combined(weights)
    mixings = [site.mixing for site in sites if site.mixing is not None]
    step_of_centre, innovation, updated = state.filter.update(
        measured,
        noise,
        slope,
        _sampling(sites, state, weights),
        response,
        Combined(mixings, weights) if mixings else None,
    )
    return replace(
        state, centre=state.centre + step_of_centre, filter=updated, innovation=innovation
    ), weights


def _sampling(sites: Sequence[SiteDeviations], state: State, weights: Array) -> Array:
    """Variance of the combined average over who takes part: (repeats, columns, p)."""
    return np.asarray(
        sum(
            (weight * state.spread) ** 2 / site.n_curves
            for site, weight in zip(sites, weights, strict=True)
        )
    )


def _with_spread(
    state: State, sent: Sent, law: DeviationLaw, constants: Constants, n_functions: int
) -> State:
    """The spread that follows from released sizes, before and after clipping.

    Deviations of smooth curves shrink with frequency, so the sizes are made non-increasing. The
    spread is the size before clipping: what the reference law loses there is put back.
    """
    size, noise = sent.combined(_weights([scale**2 for scale in sent.scales]))
    size, noise = size / law.mean_absolute, np.sqrt(noise) / law.mean_absolute
    by_function = size.reshape(*size.shape[:-1], n_functions, -1)
    smooth = non_increasing_fit(by_function).reshape(size.shape)
    clipped_size = np.maximum(smooth, noise)  # no smaller than noise could have hidden
    retained = np.maximum(
        law.retained_share(clipped_size, state.shape, state.radius), constants.least_kept
    )
    spread = clipped_size / retained
    is_full = _are_full(size, noise, state, constants)[..., None]
    if is_mixed(law) or not is_full.any():
        return replace(state, spread=spread, clipped_spread=clipped_size)
    unclipped = _unclipped(clipped_size, state, law, constants)
    return replace(
        state,
        spread=np.where(is_full, unclipped, spread),
        clipped_spread=np.where(is_full, unclipped, clipped_size),
    )


def _are_full(size: Array, noise: Array, state: State, constants: Constants) -> NDArray[np.bool_]:
    """True if released sizes fill the radius, beyond what noise may make of them.

    And do so evenly, at least by half of the coefficients, (Σ q²)²/Σ q⁴: one large size alone may
    be that of two groups, which one step serves well.
    """
    count = size.shape[-1]
    filled, by_noise = (
        np.linalg.norm(each / state.shape, axis=-1) / state.radius for each in (size, noise)
    )
    squares = (size / state.shape) ** 2
    at_work = squares.sum(axis=-1) ** 2 / np.maximum((squares**2).sum(axis=-1), _NO_ZERO)
    return np.asarray(
        (filled - 3 * by_noise / math.sqrt(count) > constants.full)
        & (by_noise < constants.most_noise_full)
        & (at_work > count / 2)
    )


def _unclipped(clipped_size: Array, state: State, law: DeviationLaw, constants: Constants) -> Array:
    """The spread s of which clipping leaves this size: s · retained(s) = size, by fixed point.

    Where nearly all people are clipped, as with values at both ends of their bounds, one step from
    the clipped size would say that clipping took next to nothing.
    """
    spread = clipped_size
    for _ in range(_FIXED_POINT_STEPS):
        spread = clipped_size / np.maximum(
            law.retained_share(spread, state.shape, state.radius), constants.least_kept_full
        )
    return np.asarray(spread)


def _tightened(state: State, width: Array | float) -> State:
    """Clip in the shape of the released sizes from now on."""
    return replace(
        state,
        shape=np.sqrt(state.clipped_spread),
        radius=np.sqrt(width * state.clipped_spread.sum(axis=-1)),
    )


def _doubted(state: State, constants: Constants) -> State:
    """An early centre is of tightly clipped curves: where that may bias it, it counts for less."""
    allowance = constants.bias_allowance * state.spread
    return replace(state, filter=state.filter.widened(allowance**2))


def _noise_scale(site: SiteDeviations, step: Step, state: State) -> Array:
    """g_l = Δ_k c d_l/(n μ_k), Δ_k the sensitivity of the step: (repeats, columns, p)."""
    assert step.sensitivity is not None
    radius = site.unit_of(step) * state.radius
    return np.asarray(step.sensitivity * radius[..., None] * state.shape)


def _weights(variances: Sequence[Array]) -> Array:
    """Shares of the sites, coordinate by coordinate, by inverse variance: (sites, …)."""
    inverse = 1 / np.maximum(np.stack(variances), _NO_ZERO)
    return np.asarray(inverse / inverse.sum(axis=0))


def _covariance(
    sites: Sequence[SiteDeviations],
    state: State,
    slope: Array,
    weights: Array,
    sent: Sent | None,
    constants: Constants,
) -> Array:
    """Covariance of the centre: noise, and D (Σ_s ω_s ω_s' ∘ M_s/n_s) D, D = diag(d/J).

    Where M is mostly noise it is shrunk towards what the released sizes alone say, spread²/n.
    """
    by_size = constants.tail_allowance * _sampling(sites, state, weights)
    if sent is None:
        return state.filter.covariance(by_size[..., None] * np.eye(slope.shape[-1]))
    stretch = state.shape / slope
    moments, variance = _moments_of_average(sites, weights, sent)
    expected = (by_size / stretch**2)[..., None] * np.eye(slope.shape[-1])
    if np.isfinite(constants.moments_width):  # they say what goes together, sizes how far
        total = np.trace(moments, axis1=-2, axis2=-1)
        larger = np.trace(expected, axis1=-2, axis2=-1) / np.maximum(total, _NO_ZERO)
        larger = np.clip(larger, 1.0, _MAX_LARGER)[..., None, None]
        moments, variance = larger * moments, larger**2 * variance
    sampling = nearest_semidefinite(_shrink_towards(expected, moments, variance))
    sampling *= stretch[..., :, None] * stretch[..., None, :]
    return state.filter.covariance(sampling)


def _moments_of_average(
    sites: Sequence[SiteDeviations], weights: Array, sent: Sent
) -> tuple[Array, Array]:
    """Σ_s ω_s ω_s' ∘ M_s/n_s and the variance of its noise: (repeats, columns, p, p) each."""
    moments, variance = np.zeros(()), np.zeros(())
    for site, weight, values, scale in zip(sites, weights, sent.values, sent.scales, strict=True):
        share = weight[..., :, None] * weight[..., None, :] / site.n_curves
        moments = moments + share * values
        variance = variance + (share * scale[..., None, None]) ** 2
    return np.asarray(moments), np.asarray(variance)


def _shrink_towards(expected: Array, measured: Array, variance: Array) -> Array:
    """Matrices (…, p, p) moved to what is expected of them as far as noise may have moved them.

    `variance` (…, p, p) is that of noise on the diagonal, twice that beside it (James and Stein).
    """
    apart = measured - expected
    energy = (variance.sum(axis=(-1, -2)) + np.trace(variance, axis1=-2, axis2=-1)) / 2
    left = 1 - energy / np.maximum((apart**2).sum(axis=(-1, -2)), _NO_ZERO)
    return np.asarray(expected + np.maximum(left, 0.0)[..., None, None] * apart)
