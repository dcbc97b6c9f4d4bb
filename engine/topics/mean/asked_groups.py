"""Two groups on screen: a release of each, their difference, and whether it tells them apart.

The groups are the people of the picture, divided by what everybody may know of them. Each is
released on its own at the budget of the picture, which holds for everybody: budgets of disjoint
groups do not add. The difference is computed from the two releases alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.answers import ReleasedCurve, can_be_asked
from engine.answers.groups import GroupComparison
from engine.core.errors import InputError
from engine.core.grids import GRID_SIZE
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget, CurveData, Estimate
from engine.mechanisms import Mechanism
from engine.simulation.studies import SHOWN
from engine.sources import Source
from engine.topics.mean.asked import ASKED_DRAWS, drawn

_FIRST_STREAM = 1_000  # blocks of the noise of groups, apart from those of the picture
_FEWEST = 2  # people of a group
SIGNIFICANT = 0.05


@dataclass(frozen=True, eq=False)
class GroupedReleases:
    """Releases of two groups at several budgets, compared.

    Parameters
    ----------
    names : pair of str
        Of the groups.
    sizes : pair of int
        How many people are in each: public.
    first, second, difference : lines, as in `AskedReleases`
        In response units; NaN where they cannot be compared.
    p : (budgets, ASKED_DRAWS)
        Of the test of no difference; NaN where there is none.
    texts : (budgets, ASKED_DRAWS) nested tuples of str
        What is told, or why nothing is.
    """

    names: tuple[str, str]
    sizes: tuple[int, int]
    first: Array
    second: Array
    difference: Array
    p: Array
    texts: tuple[tuple[str, ...], ...]

    def detected(self, budget: int) -> int:
        """How many of the releases tell the groups apart at 5 %.

        Parameters
        ----------
        budget : int
            Number of the budget.

        Returns
        -------
        int
            Of `ASKED_DRAWS`.
        """
        return int((self.p[budget] < SIGNIFICANT).sum())


def asked_groups(source: Source[CurveData], mechanism: Mechanism, budgets: Sequence[Budget],
                 seed: int) -> GroupedReleases:
    """The first two groups of the people on screen, released apart and compared.

    Parameters
    ----------
    source : Source
        With groups.
    mechanism : Mechanism
        With its settings.
    budgets : sequence of Budget
        All with one δ.
    seed : int
        Of data and noise.

    Raises
    ------
    InputError
        If these data have no two groups, or one of them nearly nobody.
    """
    if len(source.group_names) < 2:
        raise InputError("These data have no groups.", field="source",
                         hint="Choose data whose people are in groups.")
    everybody = source.draw(1, generator(seed, DATA_STREAM, SHOWN))
    group = source.groups_drawn(generator(seed, DATA_STREAM, SHOWN))
    names = (source.group_names[0], source.group_names[1])
    people = [everybody.of_people(group == index) for index in range(2)]
    if min(data.n_curves for data in people) < _FEWEST:
        raise InputError("A group has nearly nobody.", field="source",
                         hint="Choose larger groups.")
    estimates = [mechanism.release_many(
        data, [(budget,) * data.sizes.n_servers for budget in budgets], ASKED_DRAWS,
        generator(seed, NOISE_STREAM, _FIRST_STREAM + index)) for index, data in enumerate(people)]
    shape = (3, len(budgets), ASKED_DRAWS, GRID_SIZE)
    first, second, difference = (np.full(shape, np.nan) for _ in range(3))
    p, texts = np.full(shape[1:3], np.nan), [[""] * ASKED_DRAWS for _ in budgets]
    for k in range(len(budgets)):
        for draw in range(ASKED_DRAWS):
            try:
                compared = _compared(names, people, estimates, k, draw)
            except InputError as problem:
                texts[k][draw] = problem.message
                continue
            bands = (*(curve.band for curve in compared.curves), compared.band())
            for lines, band in zip((first, second, difference), bands, strict=True):
                lines[:, k, draw] = drawn(band)
            p[k, draw] = compared.p
            texts[k][draw] = f"{compared.sentences()[1]} {compared.p_written}."
    return GroupedReleases(names, (people[0].n_curves, people[1].n_curves), first, second,
                           difference, p, tuple(map(tuple, texts)))


def _compared(names: tuple[str, str], people: Sequence[CurveData], estimates: Sequence[Estimate],
              budget: int, draw: int) -> GroupComparison:
    if not all(can_be_asked(estimate, budget, 0, draw) for estimate in estimates):
        raise InputError("Groups are compared by releases with a covariance only.",
                         field="mechanism", hint="Choose the adaptive mean.")
    curves = [ReleasedCurve.of(estimate, data.facts, budget, draw=draw, n_people=data.n_curves)
              for data, estimate in zip(people, estimates, strict=True)]
    return GroupComparison(names, curves, are_disjoint=True)
