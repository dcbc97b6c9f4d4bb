"""Plans are made from public sizes and stated facts, and from nothing that could hold a reading."""

import dataclasses
import inspect
import typing

import numpy as np
import pytest

from engine.audit import broken
from engine.core.random_streams import generator
from engine.core.types import Budget, CurveData, Public, PublicFacts, Sizes
from engine.mechanisms import Mechanism, mechanisms
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.sources.sparse_curves import SparseCurves
from engine.sources.sparse_rows import SparseRows

BROKEN = sorted({type(bug.case.mechanism) for bug in broken.bugs()}, key=lambda cls: cls.__name__)
BUDGET = (Budget(1.0, 1e-3),)


def curves(counts, facts=None):
    counts = np.array(counts)
    times = np.linspace(0, 1, counts.sum())[None]
    return CurveData(
        times,
        np.sin(9 * times),
        counts,
        np.arange(len(counts)) * 2 // len(counts),
        facts or PublicFacts(),
    )


@pytest.mark.parametrize("cls", [*mechanisms.all(), *BROKEN], ids=lambda cls: cls.__name__)
def test_every_plan_is_made_from_public_facts_and_budgets_alone(cls):
    assert cls.plan is Mechanism.plan and cls.planned is not Mechanism.planned
    for plan in (cls.plan, cls.planned):
        assert list(inspect.signature(plan).parameters) == ["self", "public", "budgets"]
        hints = typing.get_type_hints(plan)
        assert hints["public"] is Public and hints["budgets"] == tuple[Budget, ...]


@pytest.mark.parametrize("cls", mechanisms.all(), ids=lambda cls: cls.__name__)
def test_no_mechanism_has_a_frame_of_its_own(cls):
    for name in ("release_many", "release", "estimate_of", "without_protection"):
        assert getattr(cls, name) is getattr(Mechanism, name)


def leaves(part):
    if dataclasses.is_dataclass(part):
        for field in dataclasses.fields(part):
            yield from leaves(getattr(part, field.name))
    elif isinstance(part, tuple):
        for one in part:
            yield from leaves(one)
    else:
        yield part


@pytest.mark.parametrize(
    "source",
    [SparseCurves(n_curves=30, n_servers=2), SparseRows(n_curves=60)],
    ids=["curves", "rows"],
)
def test_what_tuning_may_see_holds_no_array(source):
    public = source.draw(1, generator(1, 0, 0)).public
    assert all(leaf is None or isinstance(leaf, str | int | float) for leaf in leaves(public))
    assert hash(public) is not None and public.sizes == source.public.sizes


def test_lengths_of_curves_are_public_only_where_no_number_per_curve_is_stated():
    assert curves([3, 5, 3, 9]).public.lengths == ((3, 5), (3, 9))
    planned = curves([3, 5, 3, 9], PublicFacts(observations_per_curve=4)).public
    assert planned.lengths == () and planned.lengths_per_server == ((4,), (4,))
    assert planned == curves([7, 1, 1, 2], PublicFacts(observations_per_curve=4)).public


def test_without_lengths_every_curve_counts_as_the_shortest():
    public = Public(Sizes((40, 40), 800, 5), PublicFacts())
    assert public.lengths_per_server == ((5,), (5,))
    shortest = dataclasses.replace(public, lengths=((5,), (5,)))
    longer = dataclasses.replace(public, lengths=((5, 20), (20,)))
    mechanism = NoisyGradientMean(truncation=3)
    plans = [mechanism.plan(own, BUDGET) for own in (public, shortest, longer)]
    assert plans[0].spends == plans[1].spends
    noise = [[line.noise_scale for line in plan.spends] for plan in plans]
    assert noise[2][0] == noise[0][0] and noise[2][1] < noise[0][1]  # the shortest of each counts
