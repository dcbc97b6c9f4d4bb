"""Clipping: what bounds how far one person can move a released number.

Data are clipped to the stated bounds when they become observations (`CurveData.on_grid` in
`engine.core.types.data`). What a method clips further is clipped where its sensitivity is proved:

* a curve's deviation from a centre, into an ellipsoid, by `clipped_averages` here;
* a whole curve, in the norm of a space of functions, by `Space.clip_factors` in
  `engine.mechanisms.summaries.parts`;
* a gradient, by `engine.numerics.gradients`;
* observations about a site's centre, by `engine.mechanisms.families.wavelet_regression`;
* features, responses and residuals of a row, by `engine.mechanisms.families.sparse` and
  `sparse_averages` beside it;
* a machine's mean, by `engine.mechanisms.families.untrusted_means`;
* losses and single numbers, by `engine.mechanisms.summaries.risk` and
  `engine.mechanisms.univariate_mean`.

What clipping does to normal observations is known in closed form: `normal_means` has the bias,
`normal_readings` the moments.
"""
