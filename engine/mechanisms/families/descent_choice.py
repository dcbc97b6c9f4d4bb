"""Choosing the number of functions of noisy gradient descent on the curves, for a part of μ².

After Chaudhuri and Vinterbo: half of the people train, and the other half score what was trained.
People of even places make one noisy descent with the most functions; its first g coefficients are
candidate g. Every other person compares the candidates with a reference candidate on their own
observations, and the noisy average of these comparisons decides, less the noise known to be in what
was trained, and with the noise that the release would have.

Privacy
-------
μ² is split: μ_c² for the choice and the rest for the release. Places are no data
(`engine.release.random_order` sees to that in a release), so a curve that is replaced trains or
scores, and keeps doing so.

*Training.* The descent of the training half is μ_c-Gaussian-DP as a whole
(`engine.mechanisms.families.descent`). Scores depend on a training curve through it alone.

*Scoring.* With the candidates fixed, a person's comparisons are a vector: the mean squared distance
of their observations to each candidate, less that to the reference, scaled to norm c at most. Their
average over h people moves by at most 2c/h if one is replaced, whatever was trained. With noise
N(0, (2c/(h μ_c))² I) on all entries it is μ_c-Gaussian-DP.

*Both.* Halves are disjoint: the choice is μ_c-Gaussian-DP. The release has √(μ² − μ_c²) whichever
number was chosen, so that both together have μ.

Only the difference to a reference is bounded, so c may be far below the largest squared distance;
people whose comparisons are longer count less. Nothing but the release leaves the site: training
and scores decide within it.

References
----------
Chaudhuri and Vinterbo (2013), "A stability-based validation procedure for differentially private
machine learning"; that training is noisy, and comparisons are clipped, is our own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.enumerations import NoiseLaw
from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.types import (
    Array,
    Budget,
    Caution,
    Composition,
    CurveData,
    Fit,
    LateCautions,
    Public,
    PublicFacts,
    Sizes,
    Spend,
    Unit,
)
from engine.mechanisms.families.descent import DescentPlan, NoisyGradient, Participation
from engine.mechanisms.summaries.selection import SELECTION
from engine.numerics.bases import Basis
from engine.privacy import transcript

COUNTS = (3, 5, 7, 9, 11, 13, 15)  # to choose from
_TRAINING, _SCORING = slice(0, None, 2), slice(1, None, 2)
_FEWER = "The noise is that of the largest number of functions; of fewer it is less."
CLIP = 0.1  # c, of squared distances where observations lie in [−1, 1]
FEWEST = 20  # people


@dataclass(frozen=True)
class ChoicePlan(DescentPlan):
    """The plan of a release whose number of functions is chosen: that of the largest, and all."""

    candidates: tuple[DescentPlan, ...] = field(kw_only=True)
    training: DescentPlan = field(kw_only=True)  # of half of the people, with the largest number
    reference: int = field(kw_only=True)  # index of the candidate that others are compared with
    noise_scale: float = field(kw_only=True)  # of every average comparison

    @property
    def tuning(self) -> dict[str, Any]:
        known = super().tuning
        del known["truncation"]  # it is chosen anew in each release
        return known


@dataclass(frozen=True, kw_only=True)
class ChosenCount(NoisyGradient):
    """Noisy gradient descent on one function whose number of basis functions may be chosen."""

    selection_rule: str = param(
        "formula",
        "Choice of the number of functions",
        "Formula: from public sizes alone. Paid: the best for held-out people, for a part of the "
        "budget: for five thousand people or more whose curves bend more than stated.",
        choices=("formula", "paid"),
        earlier="formula",
    )
    selection_share: float = param(
        0.2,
        "Share of the budget for the choice",
        "A share of μ², where the choice is paid.",
        low=0.01,
        high=0.9,
        earlier=0.2,
    )

    @property
    def is_chosen(self) -> bool:
        """True if the curves decide on the number of functions."""
        return self.selection_rule == "paid"

    def why_not_published(self, budget: Budget) -> str:
        """A choice made on the curves is not hardened."""
        if not self.is_chosen:
            return super().why_not_published(budget)
        return (
            "The number of functions is chosen on the curves, and that choice has no hardened "
            "sampler. Choose it by formula, or by a public sample."
        )

    def expected_error(
        self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
    ) -> float | None:
        """Planned error of privacy noise; None where the curves decide how much it is."""
        return None if self.is_chosen else super().expected_error(sizes, budgets, facts)

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> DescentPlan:
        """Plans of the training, and of a release with each number of functions."""
        if not self.is_chosen:
            return super().planned(public, budgets)
        self._check_choice(public.sizes)
        ruled = replace(self, selection_rule="formula")
        rest, n = 1 - self.selection_share, public.sizes.n_curves
        candidates = tuple(
            _with_share(replace(ruled, truncation=count).planned(public, budgets), rest)
            for count in COUNTS
        )
        largest = candidates[-1]
        # Radii are those of all people; half of them move an average twice as far, or a bit less.
        whole = replace(ruled, truncation=COUNTS[-1]).planned(public, budgets)
        trained = (n + 1) // 2
        training = _with_share(
            replace(whole, scales=whole.scales * n / trained, batch_sizes=(trained,)),
            self.selection_share,
        )
        mu = self._round_mu(budgets[0], 1) * math.sqrt(self.selection_share)
        by_rule = ruled._size(public.sizes, budgets, public.facts)
        line = Spend(
            step=SELECTION,
            server=0,
            mu=mu,
            sensitivity=(1.0,),
            noise_scale=(1 / mu,),
            count=1,
            budget=budgets[0],
            why="Half of the people train the candidates, with noise, and the other half compare "
            "them, with noise: everybody takes part in one of both.",
            composition=Composition.SEQUENTIAL,
            unit=Unit.CURVE,
            norm="ℓ2",
            noise=NoiseLaw.GAUSSIAN,
        )
        return ChoicePlan(
            **{name: getattr(largest, name) for name in _FIELDS},
            spends=(line, *(replace(each, why=f"{each.why} {_FEWER}") for each in largest.spends)),
            candidates=candidates,
            training=training,
            reference=int(np.abs(np.array(COUNTS) - by_rule).argmin()),
            noise_scale=2 * CLIP / ((n - trained) * mu),
        )

    def fitted(
        self, data: CurveData, plans: Sequence[DescentPlan], draws: int, rng: np.random.Generator
    ) -> Fit:
        """The release with the number of functions that the choice gave it."""
        if not self.is_chosen:
            return super().fitted(data, plans, draws, rng)
        chosen_plans = [plan for plan in plans if isinstance(plan, ChoicePlan)]
        (chance,) = rng.spawn(1)
        choice = np.stack([self._choose(data, plan, draws, chance) for plan in chosen_plans])
        basis = self.basis(COUNTS[-1], data.facts)
        servers = self._servers(data, basis, plans[0].rounds, draws, rng)
        released = np.zeros((*choice.shape, 1, basis.size))
        unprotected = np.zeros((*choice.shape[:2], 1, basis.size))
        for k in np.unique(choice).tolist():
            of_candidate = [plan.candidates[k] for plan in chosen_plans]
            with nullcontext() if k == choice[0, 0, 0] else transcript.unheard():
                each, quiet, _ = self._descended(servers, of_candidate, basis.size, draws)
            is_ours = choice == k
            released[is_ours] = each[is_ours]
            unprotected[is_ours[..., 0]] = quiet[is_ours[..., 0]]  # as in the first draw
        judge = partial(self._doubts_of_choice, data.public, released, chosen_plans, basis, choice)
        return Fit(
            basis=basis,
            cautions=LateCautions(judge),
            coefficients=self._in_response_units(released, data.facts),
            unprotected=self._in_response_units(unprotected, data.facts),
            basis_sizes=(basis.size,) * len(plans),
        )

    # -- the choice -------------------------------------------------------------------------

    def _check_choice(self, sizes: Sizes) -> None:
        """Refuse what no choice is proved for."""
        hint = "Choose the formula."
        if sizes.n_servers > 1:
            raise InputError(
                "The number of functions can be chosen on the data of one site only.",
                field="selection_rule",
                hint=hint,
            )
        if sizes.n_curves < FEWEST:
            raise InputError(
                f"Choosing the number of functions needs at least {FEWEST} people; "
                f"got {sizes.n_curves}.",
                field="selection_rule",
                hint=hint,
            )
        if self.truncation is not None:
            raise InputError(
                "The number of functions is stated, so there is nothing to choose.",
                field="selection_rule",
                hint=f"Leave the number empty. {hint}",
            )
        if self.scheme is not Participation.FULL_BATCH or self.constants != "tight":
            raise InputError(
                "A choice is proved for all curves in each round and tight constants.",
                field="selection_rule",
                hint=hint,
            )

    def _choose(
        self, data: CurveData, plan: ChoicePlan, draws: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Choose a candidate for every repeat and draw: (repeats, draws)."""
        trained = self._trained(data, plan, draws, rng)
        scores = self.comparisons(data, trained, plan.reference)  # (repeats, draws, candidates)
        noise = np.array([self._noise_left(each).sum() for each in plan.candidates])
        in_training = (self._noise_share(plan.training)[:, None] * plan.training.scales**2).sum(0)
        noise -= np.cumsum(in_training)[np.array(COUNTS) - 1]
        noise *= (self._unit(data.facts) / data.facts.value_half_width) ** 2
        scores = scores + plan.noise_scale * rng.standard_normal(scores.shape)
        return np.asarray((scores + noise).argmin(axis=-1))

    def _trained(
        self, data: CurveData, plan: ChoicePlan, draws: int, rng: np.random.Generator
    ) -> Array:
        """Noisy coefficients of the training half in unit scale: (repeats, draws, r)."""
        basis = self.basis(COUNTS[-1], data.facts)
        (server,) = self._servers(data, basis, plan.rounds, draws, rng)
        radii = server.radii if len(server.radii) == 1 else server.radii[_TRAINING]
        server = replace(server, moments=server.moments.curves(_TRAINING), radii=radii)
        with transcript.unheard():
            released, _, _ = self._descended([server], [plan.training], basis.size, draws)
        return np.asarray(released[0, ..., 0, :])

    def comparisons(self, data: CurveData, trained: Array, reference: int) -> Array:
        """Average comparisons of the scoring half, without noise: (repeats, draws, candidates).

        `trained` (repeats, draws, r) are coefficients in unit scale.
        """
        basis, facts = self.basis(COUNTS[-1], data.facts), data.facts
        is_scoring = np.repeat(np.arange(data.n_curves) % 2 == 1, data.counts)
        counts = data.counts[_SCORING]
        seen = counts > 0
        starts = (np.cumsum(counts) - counts)[seen]
        half = facts.value_half_width
        raw_middle = 0.0 if self._value_scale(facts) == "bounds" else facts.value_middle / half
        values = np.clip(np.nan_to_num((data.values - facts.value_middle) / half), -1, 1)
        # a candidate a row: its first coefficients, and zeros
        is_kept = np.arange(basis.size) < np.array(COUNTS)[:, None]
        nested = is_kept * (trained * (self._unit(facts) / half))[:, :, None]
        distances = np.zeros((len(COUNTS), len(counts)))
        means = np.empty(nested.shape[:-1])
        for k, d in np.ndindex(means.shape[:2]):
            if not d:
                rows = basis(data.times[k, is_scoring]).T
            away = nested[k, d] @ rows - raw_middle
            np.clip(away, -1, 1, out=away)
            away -= values[k, is_scoring]
            away *= away
            distances[:, seen] = np.add.reduceat(away, starts, axis=1) / counts[seen]
            means[k, d] = clipped((distances - distances[reference]).T).mean(axis=0)
        return means

    def _doubts_of_choice(
        self,
        public: Public,
        released: Array,
        plans: Sequence[ChoicePlan],
        basis: Basis,
        choice: NDArray[np.int64],
    ) -> tuple[Caution, ...]:
        """Judge each release by the plan of the candidate that it is of."""
        found: dict[str, Caution] = {}
        for k in np.unique(choice).tolist():
            of_candidate = [plan.candidates[k] for plan in plans]
            for caution in self._doubts(public, released, of_candidate, basis):
                applies = caution.applies & (choice == k)
                earlier = found.get(caution.text)
                if earlier is not None:
                    applies = applies | earlier.applies
                found[caution.text] = replace(caution, applies=applies)
        return tuple(caution for caution in found.values() if caution.applies.any())


_FIELDS = ("size", "n_functions", "rounds", "batch_sizes", "scales", "weights", "schedule")


def clipped(vectors: Array) -> Array:
    """Scale every row (people, k) to norm `CLIP` at most; one that is not finite becomes zero."""
    is_finite = np.isfinite(vectors).all(axis=1, keepdims=True)
    vectors = np.where(is_finite, vectors, 0.0)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors * np.minimum(1.0, CLIP / np.maximum(norms, CLIP)))


def _with_share(plan: DescentPlan, share: float) -> DescentPlan:
    """The same plan for this share of μ²: with so much more noise."""
    root = math.sqrt(share)
    return replace(
        plan,
        scales=plan.scales / root,
        spends=tuple(
            replace(
                spend,
                mu=None if spend.mu is None else spend.mu * root,
                noise_scale=tuple(scale / root for scale in spend.noise_scale),
            )
            for spend in plan.spends
        ),
    )
