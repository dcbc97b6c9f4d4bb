"""Examples of files lead to a release that shows something, with nothing to mend before."""

import numpy as np

from engine.core.bands import limits
from engine.core.types import Budget
from engine.mechanisms import mechanisms
from engine.uploads import examples
from engine.uploads.bounds_library import public_bounds
from engine.uploads.curves import Upload
from engine.uploads.design import StatedDesign
from engine.uploads.facts import declare
from tests.readings import curves_in, rows_in


def growth():
    """The growth curves of the example, with the bounds that the library offers for height."""
    bounds = next(each for each in public_bounds().values() if each.value_name == "Height")
    return Upload(
        curves=curves_in(examples.growth_curves().encode()),
        declared=declare(
            bounds.value_low,
            bounds.value_high,
            bounds.time_low,
            bounds.time_high,
            bounds.source,
            observations=8,
            design=StatedDesign(law="unknown"),
        ),
    )


def test_growth_curves_lie_within_the_public_bounds_and_raise_no_doubt():
    upload = growth()
    assert upload.doubts == () and sum(upload.n_clipped) == 0


def test_growth_curves_are_released_at_epsilon_one_with_a_rise_that_can_be_told():
    upload, mechanism = growth(), mechanisms.build("adaptive_mean", {})
    rng = np.random.default_rng(1)
    estimate = mechanism.release(upload.draw(1, rng), (Budget(1.0, 1e-6),), rng)
    low, high = limits(estimate, estimate.band)
    assert low[..., -1].item() > high[..., 0].item() + 40  # cm, from age 2 to 19


def test_records_have_no_two_alike():
    rows = rows_in(examples.records().encode())
    assert len(np.unique(rows.covariates, axis=0)) == len(rows.covariates)
