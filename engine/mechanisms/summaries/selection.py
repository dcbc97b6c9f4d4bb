"""Choosing how much to smooth: by formula, for a part of the budget, or without protection.

Selection works on the mean of curves at one site. With c_i the coefficients of the held curves and
f_g the smoothed mean of a training part, candidate g has the score ‖f_g‖² − 2⟨f_g, mean of the
c_i held out⟩, the mean squared distance of the held-out curves up to a constant, plus the noise
that would be added. Noise is known in closed form, so none is drawn for scores.

"paid" is report-noisy-min on one split into halves. Norms are at most one and smoothing never
enlarges distances, so replacing a curve that is held out moves every score by at most 4/n_out, and
one of the training part by |⟨f − f', f + f' − 2m⟩| ≤ 8/n_in. Adding Lap(2u/ε_s) to every score, u
the larger of the two, and taking the smallest spends ε_s.

"cross_validated" takes the smallest score of ten folds as it is. The choice depends on the curves
without protection, so the release has no guarantee at all, and its ledger says so.

References
----------
Lin and Reimherr (2023), arXiv 2309.00125, section 6 ("PSS" and "PCV"); the paid choice is our own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.core.enumerations import NoiseLaw
from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Array, Budget, Composition, Spend, Step, Unit
from engine.mechanisms.base import Mechanism
from engine.mechanisms.summaries.parts import FunctionPlan

if TYPE_CHECKING:
    from engine.mechanisms.summaries.mean import ClippedCurves

RULES = ("formula", "paid", "cross_validated")
SELECTION = Step("the choice of the smoothing")  # nothing is sent: it decides what is
_FOLDS, _CANDIDATES, _WIDEST = 10, 21, 10.0


@dataclass(frozen=True, kw_only=True)
class Selection(Mechanism):
    """How the smoothing is chosen; for mechanisms that have something to choose."""

    selection_rule: str = param(
        "formula", "Choice of the smoothing",
        "Formula: from n, ε and the kernel alone. Paid: the best on a held-out half, for a part of "
        "ε. Cross-validated: as in the paper’s comparison; the release is then not private.",
        choices=RULES, only_for=(MEAN_FUNCTION.key,))
    selection_share: float = param(
        0.2, "Share of ε for the choice", "Only where the choice is paid.", low=0.01, high=0.9,
        only_for=(MEAN_FUNCTION.key,))

    if TYPE_CHECKING:
        task: str

    def check_task(self) -> None:
        """Only the mean of curves can have its smoothing chosen.

        Raises
        ------
        InputError
            If the smoothing of another summary is to be chosen.
        """
        if self.selection_rule != "formula" and self.task != MEAN_FUNCTION.key:
            raise InputError("Only for the mean of curves can the smoothing be chosen on the data.",
                             field="selection_rule", hint="Choose the formula.")

    def why_not_published(self, budget: Budget) -> str:
        """A choice made on the curves is not hardened."""
        if self.selection_rule == "formula":
            return super().why_not_published(budget)
        return ("The smoothing is chosen on the curves, and that choice has no hardened sampler. "
                "Choose it by formula.")

    def candidates(self, usual: float) -> tuple[float, ...]:
        """Weights of the penalty to choose from: a tenth to ten times the usual one.

        Parameters
        ----------
        usual : float
            By formula.

        Returns
        -------
        tuple of float
        """
        if self.selection_rule == "formula":
            return (usual,)
        return tuple((usual * np.geomspace(1 / _WIDEST, _WIDEST, _CANDIDATES)).tolist())

    def left(self, budget: Budget) -> Budget:
        """What the release may spend when the choice has been paid for.

        Parameters
        ----------
        budget : Budget
            Of the whole.

        Returns
        -------
        Budget
        """
        if self.selection_rule != "paid":
            return budget
        return replace(budget, epsilon=(1 - self.selection_share) * budget.epsilon)

    def selection(self, server: int, budget: Budget) -> tuple[Spend, ...]:
        """The ledger line of the choice.

        Parameters
        ----------
        server : int
            Number of the site.
        budget : Budget
            Of the whole.

        Returns
        -------
        tuple of Spend
        """
        if self.selection_rule == "formula":
            return ()
        paid = self.selection_rule == "paid"
        epsilon = self.selection_share * budget.epsilon if paid else math.inf
        return (Spend(
            step=SELECTION, server=server, mu=None, sensitivity=(1.0,),
            noise_scale=(2 / epsilon,), count=1, composition=Composition.SEQUENTIAL, budget=budget,
            unit=Unit.CURVE, norm="ℓ∞", noise=NoiseLaw.CHOICE if paid else NoiseLaw.NONE,
            why="The best of noisy scores on curves that were held out." if paid else
            "Chosen on the curves without protection: the release is not private.",
            epsilon=epsilon),)


def choose(release: Any, plan: FunctionPlan, records: list[Any], draws: int,
           rng: np.random.Generator) -> NDArray[np.int64] | None:
    """Choose the candidate of every repeat and draw.

    Parameters
    ----------
    release : Mechanism
        With its rule.
    plan : FunctionPlan
    records : list of ClippedCurves
        Of each site.
    draws : int
        How often noise is drawn at each budget.
    rng : numpy.random.Generator
        Where noise comes from.

    Returns
    -------
    (repeats, draws) array of int, or None
        None where there is one candidate only.

    Raises
    ------
    InputError
        If there are several sites, or too few curves to hold some out.
    """
    if len(plan.smoothings) == 1:
        return None
    if len(records) > 1:
        raise InputError("The smoothing can be chosen on the data of one site only.",
                         field="selection_rule", hint="Choose the formula.")
    if records[0].n < 2 * _FOLDS:
        raise InputError(f"Choosing the smoothing needs at least {2 * _FOLDS} curves; got "
                         f"{records[0].n}.", field="selection_rule", hint="Choose the formula.")
    if release.selection_rule == "cross_validated":
        scores = _scores(plan, records[0], _FOLDS, 1 - 1 / _FOLDS).mean(axis=1)
        return np.repeat(scores.argmin(axis=-1)[:, None], draws, axis=1)
    halves = _scores(plan, records[0], 2, 1.0)[:, 0]  # the even half is held out
    out = (records[0].n + 1) // 2
    most = max(4 / out, 8 / (records[0].n - out))
    spent = release.selection_share * plan.budgets[0].epsilon
    noise = rng.laplace(size=(len(halves), draws, halves.shape[-1])) * (2 * most / spent)
    return np.asarray((halves[:, None] + noise).argmin(axis=-1))


def _scores(plan: FunctionPlan, records: ClippedCurves, folds: int, part: float) -> Array:
    """Scores (repeats, folds, candidates); curve i is held out in fold i mod `folds`.

    Places say nothing of the curves: a file is read in an order that its ids decide
    (`engine.uploads.columns.order_by_person`), and what is published is shuffled. Noise
    is that of a release of the stated `part` of the curves.
    """
    curves, n = records.coefficients, records.n
    fold = np.arange(n) % folds
    held_out = np.stack([curves[:, fold == f].mean(axis=1) for f in range(folds)], axis=1)
    training = np.stack([curves[:, fold != f].mean(axis=1) for f in range(folds)], axis=1)
    scores = []
    for g, smoothing in enumerate(plan.smoothings):
        fit = smoothing(training)
        scores.append((fit**2).sum(axis=-1) - 2 * (fit * held_out).sum(axis=-1)
                      + plan.energy(g) / part**2)
    return np.stack(scores, axis=-1)
