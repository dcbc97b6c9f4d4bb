"""Clipping: what bounds how far one person can move a released number.

Every number is clipped to its stated bounds where a method first takes it up, and what is made of
numbers is clipped again where its sensitivity is proved. To the stated bounds are clipped

* observations, by `CurveData.on_grid` (`engine.core.types.data`), by `draw` of
  `engine.uploads.rows` where a file becomes rows, and, where a method takes them as they are, by
  `ObservationScale` of `engine.mechanisms.families.adaptive.scales`, `ValueScale` of
  `engine.mechanisms.percentile_curves`, `_moments` of `engine.mechanisms.families.descent`,
  `clipped` of `engine.mechanisms.univariate_mean`, and the numbers behind a density or a risk by
  `engine.mechanisms.summaries.risk` and `engine.numerics.risk_minimisation`;
* the few observations beyond them in the non-private mean, by `engine.simulation.non_private`;
* times and covariates, by `to_unit_time` and `to_regressors` of `engine.core.types.facts`.

Further are clipped

* a curve's deviation from a centre, into an ellipsoid: `clipped_averages` here, by
  `engine.numerics.exact_sums`;
* a whole curve, in the norm of a space of functions: `Space.clip_factors` of
  `engine.mechanisms.summaries.parts`; its deviation from a mean, for covariances:
  `second_moments` of `engine.mechanisms.summaries.covariance`;
* a gradient: `engine.numerics.gradients`; the slope of a loss: `engine.numerics.risk_minimisation`;
* observations about a site's centre: `engine.mechanisms.families.wavelets.regression`; residuals
  about a first estimate: `engine.mechanisms.wavelet_adaptive`;
* features, responses and residuals of a row: `engine.mechanisms.families.sparse.thresholding` and
  `averages` beside it;
* a machine's mean: `engine.mechanisms.families.untrusted_means`; a person's mean, into the elected
  interval: `exact_parts` of `engine.mechanisms.univariate_mean`;
* the distance of a curve from a coarse mean, and its deviation: `values` of
  `engine.mechanisms.summaries.mean`.

Counts need none: one person is in one cell (`engine.numerics.counts.cells`).

Vectors are clipped in norm by the factors min(1, c/‖x‖) of `norms`. What clipping does to normal
observations is known in closed form: `normal_readings`.
"""
