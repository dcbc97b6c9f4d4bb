"""Twins of people with several readings: their known percentile curves are those of what is drawn."""

import numpy as np
import pytest

from engine.core.types import PublicFacts, Sizes
from engine.mechanisms.percentile_curves import PercentileCurves
from engine.sources.twins import ReadingTwin

SIZES, LEVELS = Sizes((4000,), 40_000, 10), np.array([0.05, 0.25, 0.5, 0.75, 0.95])


@pytest.mark.parametrize(
    ("facts", "method"),
    [
        (PublicFacts(value_low=40, value_high=400), PercentileCurves()),
        (PublicFacts(value_low=50, value_high=220), PercentileCurves()),
        (
            PublicFacts(value_low=0, value_high=10_000),
            PercentileCurves(value_scale="log1p", log_offset=20.0, point_mass=0.0),
        ),
        (PublicFacts(value_low=-50, value_high=50), PercentileCurves(point_mass=10.0)),
    ],
)
def test_shares_below_the_known_curves_are_those_of_their_names(facts, method):
    twin = ReadingTwin.of(facts, SIZES, method.scale(facts).back, LEVELS, method.piled_up(facts))
    data = twin.draw(1, np.random.default_rng(1))
    grid = np.linspace(0, 1, 501)
    curves = twin.truth(grid)
    for level, curve in zip(LEVELS, curves, strict=True):
        at = np.interp(data.times[0], grid, curve)
        below, up_to = (data.values[0] < at - 1e-9).mean(), (data.values[0] <= at + 1e-9).mean()
        assert below - 0.02 <= level <= up_to + 0.02
    assert data.facts.value_low == facts.value_low and data.sizes == SIZES
