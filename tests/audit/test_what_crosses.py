"""What is released depends on the curves only through what the sites sent, noise included.

Every message of a run is recorded. Then the run is repeated with the messages replayed and other
curves of the same public sizes: the release must be the same to the last bit. A mechanism in which
anything else of the data reached the centre would give something else.
"""

from dataclasses import replace

import numpy as np
import pytest

from engine.experiments import generator
from engine.location import Site
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.sources.sparse_curves import SparseCurves
from engine.types import Budget

BUDGETS = (Budget(2.0, 1e-3), Budget(1.0, 1e-4), Budget(4.0, 1e-3))
SOURCE = SparseCurves(n_curves=600, n_servers=3)


def curves(seed):
    return SOURCE.draw(1, generator(seed, 0, 0))


def other_curves():
    """The same public sizes and times elsewhere, and readings of another world."""
    data = curves(2)
    return replace(data, values=3 - 5 * data.values, times=1 - data.times**2)


def run_twice(mechanism, owner, name, messages):
    """The release on some curves, and the replay of its messages on others."""
    first, again = [], None
    honest = getattr(owner, name)

    def record(*arguments):
        first.append(honest(*arguments))
        return first[-1]

    def replay(*arguments):
        return next(again)

    results = []
    for data, method in ((curves(1), record), (other_curves(), replay)):
        again = iter([message.copy() for message in first])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(owner, name, method)
            results.append(mechanism.release(data, BUDGETS, generator(5, 1, 0)))
    assert len(first) == messages
    return results


@pytest.mark.parametrize("scheme", ["split", "full_batch"])
def test_a_noisy_gradient_release_is_a_function_of_its_transcript(scheme):
    mechanism = NoisyGradientMean(scheme=scheme, n_iterations=8, truncation=5)
    one, other = run_twice(mechanism, NoisyGradientMean, "server_update", messages=8 * 3)
    assert (one.coefficients == other.coefficients).all()
    assert one.spends == other.spends


@pytest.mark.parametrize("chosen", [{}, {"band": "none"}, {"shrink": "always"}])
def test_an_adaptive_release_and_its_band_are_functions_of_six_messages_of_each_site(chosen):
    mechanism = AdaptiveMean(**chosen)
    messages = 3 * (5 if chosen.get("band") == "none" else 6)
    one, other = run_twice(mechanism, Site, "send", messages)
    assert (one.coefficients == other.coefficients).all()
    assert one.spends == other.spends and one.tuning == other.tuning
    if one.band is not None:
        assert (one.lower == other.lower).all() and (one.upper == other.upper).all()


def test_a_mechanism_that_looks_past_its_messages_is_caught():
    class Peeks(AdaptiveMean):
        """Centres its estimate with the raw average of the readings."""

        def release_many(self, data, budgets, draws, rng):
            honest = super().release_many(data, budgets, draws, rng)
            return replace(honest, coefficients=honest.coefficients + data.values.mean())

    one, other = run_twice(Peeks(), Site, "send", messages=18)
    assert not np.allclose(one.coefficients, other.coefficients)
