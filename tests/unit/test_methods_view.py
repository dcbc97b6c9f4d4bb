"""The view *Methods*: every method on the same curves, with its error and what it protects."""

import base64

import numpy as np
import pytest

from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.iclp import Iclp
from engine.privacy import risk
from engine.sources.sparse_curves import SparseCurves
from engine.topics.mean import methods as topic
from engine.topics.mean.answer import MeanAnswer

SOURCE = SparseCurves(n_curves=60, n_observations_per_curve=8)
DELTA = 1 / 60**2
EPSILONS = (0.5, 1.0, 4.0)


@pytest.fixture(scope="module")
def found():
    answers = {
        tile: topic.released(SOURCE, tile.mechanism, tile.delta, 1, EPSILONS)
        for tile in topic.tiles(SOURCE, AdaptiveMean(), DELTA)
    }
    return {tile: one for tile, one in answers.items() if isinstance(one, MeanAnswer)}


def test_every_method_of_the_task_has_a_tile_and_the_chosen_one_keeps_its_settings():
    chosen = Iclp()
    tiles = topic.tiles(SOURCE, chosen, DELTA)
    assert len(tiles) == len({tile.label for tile in tiles}) >= 8
    assert next(t.mechanism for t in tiles if type(t.mechanism) is Iclp) == chosen
    assert {tile.delta for tile in tiles} == {0.0, DELTA}


def test_a_tile_has_the_errors_of_the_engine_and_the_bound_of_its_own_ledger(found):
    shown = next(iter(found.values()))
    sent = topic.payload(shown, found, "Adaptive mean")
    for (tile, answer), method in zip(found.items(), sent["all"], strict=True):
        for step in range(len(EPSILONS)):
            if answer.published[step]:
                assert method["errors"][step] == pytest.approx(answer.study.error[step])
            else:
                assert method["errors"][step] is None and method["texts"][step] == ""
        assert method["bound"] == [risk.of_ledger(spends).right for spends in answer.spends]
        assert method["is_pure"] == (tile.delta == 0)
    pure = max(method["bound"][1] for method in sent["all"] if method["is_pure"])
    assert pure > max(method["bound"][1] for method in sent["all"] if not method["is_pure"])


def test_curves_are_sent_as_differences_from_the_mean_on_screen(found):
    shown = next(iter(found.values()))
    sent = topic.payload(shown, found, "Adaptive mean")
    answer, method = list(found.values())[3], sent["all"][3]
    low, high = method["scales"][2]
    whole = np.frombuffer(base64.b64decode(method["curves"][2]), "<i2").astype(float)
    back = (low + (whole + 32768) / 65535 * (high - low)).reshape(6, sent["points"])
    exact = (answer.releases[2, :6] - shown.ordinary)[:, ::2]
    assert np.abs(back - np.clip(exact, low, high)).max() <= (high - low) / 65535


def test_the_heading_names_the_method_with_the_smallest_error(found):
    errors = {
        tile.label: answer.study.error[2] for tile, answer in found.items() if answer.published[2]
    }
    best = min(errors, key=errors.get)
    said = topic.heading(found, 4.0)
    assert best.lower() in said.lower() and f"{len(found)} methods" in said
