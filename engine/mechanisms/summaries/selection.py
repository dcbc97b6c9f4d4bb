"""Choosing how much to smooth: by formula, for a part of the budget, or without protection.

Selection works at one site. With c_i what is averaged of each record and f_g the smoothed average
of a training part, candidate g has the score ‖f_g‖² − 2⟨f_g, mean of the c_i held out⟩, the mean
squared distance of what is held out up to a constant, plus the noise that would be added. Noise is
known in closed form, so none is drawn for scores. c_i are the coefficients of held curves (mean),
second moments of their deviations from what was released before (covariance), or point masses, of
which f_g is the density with atoms of width g: then the score is that of least squares, ∫ f_g² −
2 mean f_g(x_i) (bandwidth).

"paid" is report-noisy-min on one split into halves. Adding Lap(2u/ε_s) to every score, u the most
that replacing one record moves any of them, and taking the smallest spends ε_s.

* *Means.* Norms are at most one and smoothing never enlarges distances, so a curve that is held out
  moves every score by at most 4/n_out, and one of the training part by
  |⟨f − f', f + f' − 2m⟩| ≤ 8/n_in.
* *Covariances.* The centre is fixed by then, vv' of a deviation v has norm at most one, and two of
  them are at most √2 apart (`covariance`): 2√2/n_out and 4√2/n_in. The sample mean is no centre
  here, because all deviations share it.
* *Densities.* From the public table of atoms (`density.Width.most_move`); narrow ones are high, so
  that their scores need more noise.

Predictions have no paid choice. A record of the training part moves the loss of all that is held
out by up to M²κ²/(ψ n_in), with ψ = 1/√n a constant over √n: at n = 1000 and a fifth of ε = 1 the
noise on a score would be ten times the whole range of losses, so that it would choose by chance.

"cross_validated" takes the smallest score of ten folds as it is. The choice depends on the curves
without protection, so the release has no guarantee at all, and its ledger says so.

References
----------
Lin and Reimherr (2023), arXiv 2309.00125, section 6 ("PSS" and "PCV"); the paid choice is our own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.core.enumerations import NoiseLaw
from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.tasks import COVARIANCE, DENSITY, MEAN_FUNCTION, TASKS
from engine.core.types import Array, Budget, Composition, Spend, Step
from engine.mechanisms.base import Mechanism
from engine.mechanisms.summaries.density import WIDTHS
from engine.mechanisms.summaries.parts import FunctionPlan, Summary

RULES = ("formula", "paid", "cross_validated")
SELECTION = Step("the choice of the smoothing")  # nothing is sent: it decides what is
# Tasks whose smoothing can be chosen on the records.
CHOSEN = (MEAN_FUNCTION.key, DENSITY.key, COVARIANCE.key)
_FOLDS, _CANDIDATES, _WIDEST = 10, 21, 10.0


@dataclass(frozen=True, kw_only=True)
class Selection(Mechanism):
    """Choice of the smoothing, for mechanisms that have something to choose."""

    selection_rule: str = param(
        "formula",
        "Choice of the smoothing",
        "Formula: from n, ε and the kernel alone. Paid: the best on a held-out half, for a part of "
        "ε. Cross-validated: as in the paper’s comparison; the release is then not private.",
        choices=RULES,
        only_for=CHOSEN,
    )
    selection_share: float = param(
        0.2,
        "Share of ε for the choice",
        "Only where the choice is paid.",
        low=0.01,
        high=0.9,
        only_for=CHOSEN,
    )

    if TYPE_CHECKING:
        task: str = MEAN_FUNCTION.key
        centre: str = "private_mean"

        def width(self, n: float, dimension: int) -> float: ...

    def check_task(self) -> None:
        """Means, densities and covariances about a fixed centre can have their smoothing chosen."""
        if self.selection_rule == "formula":
            return
        if self.task not in CHOSEN:
            raise InputError(
                "The smoothing can be chosen on the data for means, densities and "
                "covariances only.",
                field="selection_rule",
                hint="Choose the formula.",
            )
        if self.task == COVARIANCE.key and self.centre == "sample_mean":
            raise InputError(
                "About the sample mean no choice of the smoothing is proved.",
                field="centre",
                hint="Choose a private mean, or nothing.",
            )

    def why_not_published(self, budget: Budget) -> str:
        """A choice made on the records is not hardened."""
        if self.selection_rule == "formula":
            return super().why_not_published(budget)
        return (
            "The smoothing is chosen on the records, and that choice has no hardened sampler. "
            "Choose it by formula."
        )

    def candidates(self, default: float) -> tuple[float, ...]:
        """Weights of the penalty to choose from: a tenth to ten times the usual one."""
        if self.selection_rule == "formula":
            return (default,)
        return tuple((default * np.geomspace(1 / _WIDEST, _WIDEST, _CANDIDATES)).tolist())

    def of_widths(self, dimension: int) -> tuple[Any, ...]:
        """Vary the method over each candidate width for records in 1 or 2 dimensions.

        It is itself alone if a formula decides.
        """
        if self.selection_rule == "formula":
            return (self,)
        limits = next(parameter for parameter in self.parameters() if parameter.name == "bandwidth")
        assert limits.low is not None and limits.high is not None
        default = self.width(1.0, dimension)  # of a single record: c
        widths = np.clip(default * np.array(WIDTHS), limits.low, limits.high).tolist()
        release: Any = self
        return tuple(replace(release, selection_rule="formula", bandwidth=c) for c in widths)

    def left(self, budget: Budget) -> Budget:
        """Return the budget left for the release when the choice has been paid for."""
        if self.selection_rule != "paid":
            return budget
        return replace(budget, epsilon=(1 - self.selection_share) * budget.epsilon)

    def selection(self, server: int, budget: Budget) -> tuple[Spend, ...]:
        """The ledger line of the choice."""
        if self.selection_rule == "formula":
            return ()
        paid = self.selection_rule == "paid"
        epsilon = self.selection_share * budget.epsilon if paid else math.inf
        return (
            Spend(
                step=SELECTION,
                server=server,
                mu=None,
                sensitivity=(1.0,),
                noise_scale=(2 / epsilon,),
                count=1,
                composition=Composition.SEQUENTIAL,
                budget=budget,
                unit=TASKS[self.task].unit,
                norm="ℓ∞",
                noise=NoiseLaw.CHOICE if paid else NoiseLaw.NONE,
                why="The best of noisy scores on records that were held out."
                if paid
                else "Chosen on the records without protection: the release is not private.",
                epsilon=epsilon,
            ),
        )


def choose(
    release: Any,
    summary: Summary[Any, Any, Any],
    plan: FunctionPlan,
    records: list[Any],
    draws: int,
    rng: np.random.Generator,
    earlier: Sequence[Array] = (),
) -> NDArray[np.int64] | None:
    """Choose the candidate of every repeat and draw: (repeats, draws); None if there is one."""
    if len(plan.smoothings) == 1:
        return None
    n = records[0].n
    if len(records) > 1:
        raise InputError(
            "The smoothing can be chosen on the data of one site only.",
            field="selection_rule",
            hint="Choose the formula.",
        )
    if n < 2 * _FOLDS:
        raise InputError(
            f"Choosing the smoothing needs at least {2 * _FOLDS} records; got {n}.",
            field="selection_rule",
            hint="Choose the formula.",
        )
    if release.selection_rule == "cross_validated":
        scores = scores_of(summary, plan, records[0], _FOLDS, 1 - 1 / _FOLDS, earlier)
        best = scores.mean(axis=2).argmin(axis=-1)
        return np.broadcast_to(best, (len(best), draws)).copy()
    # (repeats, 1 or draws, candidates); the even half is held out
    halves = scores_of(summary, plan, records[0], 2, 1.0, earlier)[:, :, 0]
    out = (n + 1) // 2
    sensitivity = summary.most_move(plan.smoothings, n - out, out)
    spent = release.selection_share * plan.budgets[0].epsilon
    noise = rng.laplace(size=(len(halves), draws, halves.shape[-1])) * (2 * sensitivity / spent)
    return np.asarray((halves + noise).argmin(axis=-1))


def scores_of(
    summary: Summary[Any, Any, Any],
    plan: FunctionPlan,
    records: Any,
    folds: int,
    part: float,
    earlier: Sequence[Array] = (),
) -> Array:
    """Scores of all candidates: (repeats, 1 or draws, folds, candidates).

    Record i is held out in fold i mod `folds`: places say nothing of the records, as a file is read
    in an order that its ids decide (`engine.uploads.columns.order_by_person`), and what is
    published is shuffled. Noise is that of a release of the stated `part` of the records.
    """
    fold = np.arange(records.n) % folds
    sizes = np.bincount(fold).astype(float)
    held_out = summary.fold_means(records, fold, earlier)
    # shares of the other parts in what each fit is made of: (folds, folds)
    others = sizes * (1 - np.eye(folds)) / (records.n - sizes)[:, None]
    training = np.einsum("fg,rdgk->rdfk", others, held_out)
    return np.stack(
        [
            summary.score(training, held_out, smoothing) + plan.energy(g) / part**2
            for g, smoothing in enumerate(plan.smoothings)
        ],
        axis=-1,
    )
