"""Where is the mean relative to the current centre? A private answer in a few small releases.

A private location pays for the radius its clipping needs, not for the spread of the data. So:
find the neighbourhood with a wide radius and little budget; learn, privately, how large the
deviations are there; tighten; repeat once; spend most of the budget on the last, tightest step.
Each step is a measurement with known noise, and a Kalman filter puts them together, so that
nothing already bought is thrown away. Deviations are clipped on purpose well inside their bulk;
how much clipping shrinks them is computed from the released sizes and divided out, as in Huber's
one-step estimator.

The engine sees deviations h_i(a) = T_i a − t_i of whole curves and nothing else of the data, so
means, several sites and varying coefficients share it. Arrays are (repeats, columns, p): one
column for each budget and draw.

Privacy
-------
Replace one curve. The shape d, the radius c, the centre a and every weight are functions of
earlier releases and public numbers, so they are fixed when a release is made. Each site adds to
the average over its n curves

* of ψ (a *location*): by `clipping.average` the shift δ has ‖δ/d‖₂ ≤ 2c/n. Gaussian noise of
  standard deviation g_l = 2 c d_l/(n μ_k) makes Σ δ_l²/g_l² ≤ μ_k²: the release is μ_k-GDP;
* of |ψ| (a *scale*): by `clipping.average_size` ‖δ/d‖₂ ≤ √2 c/n, hence g_l = √2 c d_l/(n μ_k);
* of (ψ/d)(ψ/d)' (*second moments*): by `clipping.average_products` the shift is at most √2 c²/n in
  Frobenius norm. Symmetric noise of standard deviation √2 c²/(n μ_k) on the diagonal and that over
  √2 beside it is isotropic for this norm: μ_k-GDP.

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

from engine.core.types import Array, Step
from engine.mechanisms.families.filters import Combined, Filter, Independent, Joint
from engine.numerics import clipping
from engine.numerics.deviations import Deviations
from engine.numerics.monotone import non_increasing_fit
from engine.numerics.reference_law import DeviationLaw, is_mixed
from engine.numerics.time_histograms import Mixing
from engine.privacy import transcript

LOCATION, SCALE = 2.0, math.sqrt(2)  # the largest ‖δ/d‖ in units of c/n
FIRST_CENTRE = Step("first centre", sensitivity=LOCATION)
FIRST_SPREAD = Step("first spread", sensitivity=SCALE)
SECOND_CENTRE = Step("second centre", sensitivity=LOCATION)
SECOND_SPREAD = Step("second spread", sensitivity=SCALE)
FINAL_CENTRE = Step("final centre", sensitivity=LOCATION)
SECOND_MOMENTS = Step("second moments", sensitivity=SCALE)
STEPS = (FIRST_CENTRE, FIRST_SPREAD, SECOND_CENTRE, SECOND_SPREAD, FINAL_CENTRE, SECOND_MOMENTS)
_NO_ZERO = 1e-300
_MOST_LARGER = 10.0  # how far the sum of second moments that are clipped tightly is made up


@dataclass(frozen=True)
class Constants:
    """Public constants of the engine, one setting of each model for all sizes and budgets.

    Parameters
    ----------
    first_radius : float
        c of the first location, in units of ‖√u‖.
    first_scale : float
        c of the first scale, over that.
    middle_width, scale_width, final_width : float
        κ of the second location, the second scale and the final location: c² is κ Σ d².
    prior : float
        Size of coefficients before anything is measured, in units of u.
    prior_in_band : float
        Times the prior, where the design leaves coefficients to it.
    least_kept, least_slope : float
        Shares that clipping is never taken to leave less of.
    moments_width : float
        κ of the second moments, where they have one of their own.
    tail_allowance : float
        Of the variance that sizes alone stand for.
    bias_allowance : float
        Of an early centre, in units of the spread that was released there.
    """

    first_radius: float = 0.5
    first_scale: float = 0.4
    scale_width: float = 1.5  # κ of the second scale
    final_width: float = 1.5  # κ of the final location
    middle_width: float = 1.0  # κ of the second location
    prior: float = 0.4
    prior_in_band: float = 1.0  # times the prior, where the design leaves coefficients to it
    least_kept: float = 0.5
    least_slope: float = 0.3
    moments_width: float = np.inf  # κ of the second moments, where they have one of their own
    tail_allowance: float = 1.0  # of the variance that sizes alone stand for
    bias_allowance: float = 0.0  # of an early centre, in units of the spread that was found there


USUAL = Constants()
WITH_COVARIATES = Constants(middle_width=2.0, scale_width=2.0, final_width=2.0)


@dataclass(frozen=True)
class Site:
    """One site's curves and its noise.

    Parameters
    ----------
    deviations : Deviations
        Of its curves.
    unit : (5 or 6, columns)
        1/(n μ_k): the standard deviation of a release's noise for a sensitivity and a radius of 1,
        and a shape of ones.
    noise : (5, repeats, columns, p)
        Of unit variance.
    symmetric : (repeats, columns, p, p)
        Noise of the sixth release; None without a band.
    index : int
        Number of the site.
    mixing : Mixing or None
        E T_i where it was released; None where it is public.
    """

    deviations: Deviations
    unit: Array
    noise: Array
    symmetric: Array | None = None
    index: int = 0
    mixing: Mixing | None = None

    @property
    def n_curves(self) -> int:
        return self.deviations.n_curves

    def noise_of(self, step: Step) -> Array:
        """Standard noise of a release: symmetric matrices for second moments.

        Parameters
        ----------
        step : Step
            One of `STEPS`.

        Returns
        -------
        (repeats, columns, p) or (repeats, columns, p, p)
        """
        if step == SECOND_MOMENTS and self.symmetric is not None:
            return self.symmetric
        return np.asarray(self.noise[STEPS.index(step)])

    def unit_of(self, step: Step) -> Array:
        """1/(n μ_k) of a release.

        Parameters
        ----------
        step : Step
            One of `STEPS`.

        Returns
        -------
        (columns,)
        """
        return np.asarray(self.unit[STEPS.index(step)])

    def send(self, step: Step, statistic: Array, scale: Array) -> Array:
        """All that ever leaves a site: a statistic of its curves with noise of this scale.

        Parameters
        ----------
        step : Step
            One of `STEPS`.
        statistic : (repeats, columns, …)
        scale : (repeats, columns, …)
            Standard deviation of the noise.

        Returns
        -------
        (repeats, columns, …)
        """
        return transcript.sent(self.index, step, statistic + scale * self.noise_of(step), scale)


@dataclass(frozen=True)
class State:
    """What has been learned: all of it released or public.

    Parameters
    ----------
    centre, shape, spread : (repeats, columns, p)
        a, the shape d of the ellipsoid, and the size of deviations.
    filter : Filter
        The covariance of the centre's privacy noise.
    radius : (repeats, columns)
        c, in units of the shape.
    """

    centre: Array
    filter: Filter
    shape: Array
    radius: Array
    spread: Array


@dataclass(frozen=True)
class Located:
    """The final centre and its released covariance.

    The covariance covers privacy noise and chance in who took part.

    Parameters
    ----------
    centre : (repeats, columns, p)
    covariance : (repeats, columns, p, p)
    weight : (sites, repeats, columns)
        Of each site in the final release, averaged over coefficients.
    noise, sampling : (sites, repeats, columns)
        The parts that its noise, and chance in who took part there, have in the variance, summed
        over coefficients.
    """

    centre: Array
    covariance: Array
    weight: Array
    noise: Array
    sampling: Array


def locate(sites: Sequence[Site], public_scale: Array, law: DeviationLaw,
           constants: Constants = USUAL,
           n_functions: int = 1, prior: Array | None = None) -> Located:
    """Locate the mean by five releases, and its covariance by a sixth where sites have one.

    Parameters
    ----------
    sites : sequence of Site
        The curves of every site with its noise.
    public_scale : (…, p)
        u, the size of deviations expected from what is public or released.
    law : DeviationLaw
        Of the deviations.
    constants : Constants
        Widths of the clips, as the model has them.
    n_functions : int
        K; coefficients run function after function, p/K of each.
    prior : (p,), optional
        The size of coefficients before anything is measured. None: in units of u.

    Returns
    -------
    Located
    """
    state = _start(sites[0], public_scale, constants, law, prior)
    slope = np.ones_like(state.centre)
    for centre, spread, phase in ((FIRST_CENTRE, FIRST_SPREAD, 1),
                                  (SECOND_CENTRE, SECOND_SPREAD, 2)):
        if phase == 2:
            slope = _slope(state, law, constants)
        state, _ = _move(sites, state, centre, slope, _response(sites, state, law, phase))
        state = _tighten(sites, state, spread, phase, law, constants, n_functions)
        state = _doubted(state, constants)
    slope = _slope(state, law, constants)
    before = state
    state, weights = _move(sites, state, FINAL_CENTRE, slope, _response(sites, state, law, 3))
    return Located(state.centre, _covariance(sites, state, slope, weights, constants),
                   weights.mean(axis=-1),
                   *_parts(sites, before, state, weights))


def _parts(sites: Sequence[Site], before: State, after: State, weights: Array
           ) -> tuple[Array, Array]:
    """What noise and sampling at each site add to the variance: (sites, repeats, columns) each.

    The variance of the noise is split as that of the final release, which has most of the budget.
    """
    variance = np.stack([weight * _noise_scale(site, FINAL_CENTRE, before)
                         for weight, site in zip(weights, sites, strict=True)]) ** 2
    share = variance / np.maximum(variance.sum(axis=0), _NO_ZERO)
    noise = (share * after.filter.variance).sum(axis=-1)
    sampling = [((weight * after.spread) ** 2).sum(axis=-1) / site.n_curves
                for weight, site in zip(weights, sites, strict=True)]
    return np.asarray(noise), np.stack(sampling)


def _start(site: Site, public_scale: Array, constants: Constants, law: DeviationLaw,
           prior: Array | None) -> State:
    """The prior: centre 0, with spread and radius from public facts."""
    shape = site.noise.shape[1:]
    scale = np.broadcast_to(public_scale, shape)
    size = constants.prior * scale if prior is None else np.broadcast_to(prior, shape)
    prior_filter: Filter = Independent(size**2) if not is_mixed(law) else Joint.start(
        size**2, (constants.prior_in_band * size) ** 2)
    return State(np.zeros(shape), prior_filter, np.sqrt(scale),
                 constants.first_radius * np.sqrt(scale.sum(axis=-1)), constants.prior * scale)


def _slope(state: State, law: DeviationLaw, constants: Constants) -> Array:
    """J: how much a clipped average moves when the centre does."""
    return np.maximum(law.slope(state.spread, state.shape, state.radius), constants.least_slope)


def _response(sites: Sequence[Site], state: State, law: DeviationLaw, phase: int) -> Array | None:
    """J M where the design is stated and M is not the identity; E T in the first phase."""
    if not is_mixed(law) or sites[0].mixing is not None:
        return None
    if phase == 1:  # the first radius is wide
        return np.broadcast_to(law.mean_slopes, (*state.centre.shape, state.centre.shape[-1]))
    return law.response(state.spread, state.shape, state.radius)


def _move(sites: Sequence[Site], state: State, step: Step, slope: Array, response: Array | None
          ) -> tuple[State, Array]:
    """A location release and the Kalman update of the centre; also the weights of the sites."""
    scales = [_noise_scale(site, step, state) for site in sites]
    sent = [site.send(step, clipping.average(site.deviations, state.centre, state.shape,
                                             state.radius), scale)
            for site, scale in zip(sites, scales, strict=True)]
    weights = _weights([scale**2 + state.spread**2 / site.n_curves
                        for site, scale in zip(sites, scales, strict=True)])
    measured, noise = _combined(sent, scales, weights)
    step_of_centre, updated = state.filter.update(measured, noise, slope, _sampling(
        sites, state, weights), response, _design(sites, weights))
    return replace(state, centre=state.centre + step_of_centre, filter=updated), weights


def _sampling(sites: Sequence[Site], state: State, weights: Array) -> Array:
    """Variance of the combined average over who takes part: (repeats, columns, p)."""
    return np.asarray(sum((weight * state.spread) ** 2 / site.n_curves
                          for site, weight in zip(sites, weights, strict=True)))


def _design(sites: Sequence[Site], weights: Array) -> Combined | None:
    mixings = [site.mixing for site in sites if site.mixing is not None]
    return Combined(mixings, weights) if mixings else None


def _tighten(sites: Sequence[Site], state: State, step: Step, phase: int, law: DeviationLaw,
             constants: Constants, n_functions: int) -> State:
    """A scale release; the spread, shape and radius that follow from it.

    Deviations of smooth curves shrink with frequency, so the sizes are made non-increasing. The
    spread is the size before clipping: what the reference law loses there is put back.
    """
    factor = constants.first_scale if phase == 1 else np.sqrt(
        constants.scale_width / constants.middle_width)
    resized = replace(state, radius=factor * state.radius)
    scales = [_noise_scale(site, step, resized) for site in sites]
    sent = [site.send(step, clipping.average_size(site.deviations, resized.centre, resized.shape,
                                                  resized.radius), scale)
            for site, scale in zip(sites, scales, strict=True)]
    size, noise = _combined(sent, scales, _weights([scale**2 for scale in scales]))
    size, noise = size / law.mean_absolute, np.sqrt(noise) / law.mean_absolute
    by_function = size.reshape(*size.shape[:-1], n_functions, -1)
    smooth = non_increasing_fit(by_function).reshape(size.shape)
    clipped_size = np.maximum(smooth, noise)  # no smaller than noise could have hidden
    retained = np.maximum(law.retained_share(clipped_size, resized.shape, resized.radius),
                      constants.least_kept)
    width = constants.middle_width if phase == 1 else constants.final_width
    return replace(state, spread=clipped_size / retained, shape=np.sqrt(clipped_size),
                   radius=np.sqrt(width * clipped_size.sum(axis=-1)))


def _doubted(state: State, constants: Constants) -> State:
    """An early centre is of tightly clipped curves: where that may bias it, it counts for less."""
    allowance = constants.bias_allowance * state.spread
    return replace(state, filter=state.filter.widened(allowance**2))


def _noise_scale(site: Site, step: Step, state: State) -> Array:
    """g_l = Δ_k c d_l/(n μ_k), Δ_k the sensitivity of the step: (repeats, columns, p)."""
    assert step.sensitivity is not None
    radius = site.unit_of(step) * state.radius
    return np.asarray(step.sensitivity * radius[..., None] * state.shape)


def _weights(variances: Sequence[Array]) -> Array:
    """Shares of the sites, coordinate by coordinate, by inverse variance: (sites, …)."""
    inverse = 1 / np.maximum(np.stack(variances), _NO_ZERO)
    return np.asarray(inverse / inverse.sum(axis=0))


def _combined(sent: Sequence[Array], scales: Sequence[Array], weights: Array
              ) -> tuple[Array, Array]:
    """The centre's weighted average of what sites sent, and the variance of its noise."""
    return (np.asarray((weights * np.stack(sent)).sum(axis=0)),
            np.asarray(((weights * np.stack(scales)) ** 2).sum(axis=0)))


def _covariance(sites: Sequence[Site], state: State, slope: Array, weights: Array,
                constants: Constants) -> Array:
    """That of the centre: of its noise, and D (Σ_s ω_s ω_s' ∘ M_s/n_s) D with D = diag(d/J).

    Where M is mostly noise it is drawn towards what the released sizes alone say, spread²/n.
    """
    by_size = constants.tail_allowance * _sampling(sites, state, weights)
    if any(site.symmetric is None for site in sites):
        return state.filter.covariance(by_size[..., None] * np.eye(slope.shape[-1]))
    stretch = state.shape / slope
    moments, variance = np.zeros(()), np.zeros(())
    for site, weight in zip(sites, weights, strict=True):
        share = weight[..., :, None] * weight[..., None, :] / site.n_curves
        sent, scale = _second_moments(site, state, constants)
        moments = moments + share * sent
        variance = variance + (share * scale[..., None, None]) ** 2
    expected = (by_size / stretch**2)[..., None] * np.eye(slope.shape[-1])
    if np.isfinite(constants.moments_width):  # they say what goes together, sizes how far
        total = np.trace(np.asarray(moments), axis1=-2, axis2=-1)
        larger = np.trace(expected, axis1=-2, axis2=-1) / np.maximum(total, _NO_ZERO)
        larger = np.clip(larger, 1.0, _MOST_LARGER)[..., None, None]
        moments, variance = larger * moments, larger**2 * variance
    sampling = _nearest_semidefinite(_drawn_towards(expected, np.asarray(moments),
                                                    np.asarray(variance)))
    sampling *= stretch[..., :, None] * stretch[..., None, :]
    return state.filter.covariance(sampling)


def _second_moments(site: Site, state: State, constants: Constants) -> tuple[Array, Array]:
    """The sixth release and its noise on the diagonal: second moments in units of the shape.

    Their noise grows with the squared radius, which may be held to a width of its own.
    """
    most = np.sqrt(constants.moments_width * (state.shape**2).sum(axis=-1))
    radius = np.minimum(state.radius, most)
    moments = clipping.average_products(site.deviations, state.centre, state.shape, radius)
    assert SECOND_MOMENTS.sensitivity is not None
    scale = SECOND_MOMENTS.sensitivity * site.unit_of(SECOND_MOMENTS) * radius**2
    return site.send(SECOND_MOMENTS, moments, scale[..., None, None]), scale


def _drawn_towards(expected: Array, measured: Array, variance: Array) -> Array:
    """Matrices (…, p, p) moved to what is expected of them as far as noise may have moved them.

    `variance` (…, p, p) is that of noise on the diagonal, twice that beside it (James and Stein).
    """
    apart = measured - expected
    energy = (variance.sum(axis=(-1, -2)) + np.trace(variance, axis1=-2, axis2=-1)) / 2
    left = 1 - energy / np.maximum((apart**2).sum(axis=(-1, -2)), _NO_ZERO)
    return np.asarray(expected + np.maximum(left, 0.0)[..., None, None] * apart)


def _nearest_semidefinite(matrices: Array) -> Array:
    """Negative eigenvalues become zero."""
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray((vectors * np.maximum(values, 0.0)[..., None, :]) @ vectors.swapaxes(-1, -2))
