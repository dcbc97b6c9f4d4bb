"""The interface of mechanisms: data and budgets in, a protected estimate and its ledger out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic

import numpy as np

from engine.core.enumerations import Guarantee, NoisePlace
from engine.core.errors import InputError
from engine.core.registry import Parameterised, Registry
from engine.core.tasks import PUBLISHED, TASKS, Task
from engine.core.types import (
    Array,
    Budget,
    Data,
    Estimate,
    Fit,
    Plan,
    Public,
    PublicFacts,
    Sizes,
    Spend,
    Truth,
)
from engine.privacy.failure import Delta, delta_rule
from engine.privacy.feasibility import Feasibility
from engine.sources import Source

ATTAINED = 0.95  # of a claim, by the strongest attack that is known
_USUAL = Budget(1.0, 1e-3)

# The data that a mechanism takes and the plans that it makes. Where neither is named, as in all
# that works with whatever mechanism it is given, they are any; Python says so from 3.13 on.
if TYPE_CHECKING:
    from typing_extensions import TypeVar

    D = TypeVar("D", bound=Data, default=Any)
    P = TypeVar("P", bound=Plan, default=Any)
else:
    from typing import TypeVar

    D, P = TypeVar("D"), TypeVar("P")

mechanisms = Registry("engine.mechanisms", "mechanism")


@dataclass(frozen=True)
class Trial:
    """A setting on small data in which an audit tries to break what a mechanism claims."""

    # tuning parameters that differ from the usual ones
    settings: Mapping[str, Any] = field(default_factory=dict)
    # that of the release. It does not matter for ratios; where only a large one lets a few records
    # be released at all, a large one is taken.
    budget: Budget = _USUAL
    attains: float = ATTAINED  # the least share of the claim that must be found
    why: str = ""
    chunk: int = 400  # pairs that are tried at a time


@dataclass(frozen=True, kw_only=True)
class Mechanism(Parameterised, Generic[D, P]):
    """A randomised algorithm; its fields are its tuning parameters.

    A mechanism says what data it takes (`validated`), what it fixes from public facts (`planned`),
    what it releases by such plans (`fitted`), and what it would publish without protection
    (`exact_fit`). It is `Mechanism[D, P]` of its data and of its plans, so that the type checker
    proves that it fits by what it has planned. Budgets, the order of these steps and the `Estimate`
    are the same for all.

    Class facts: `tasks` it serves, `guarantee` (which δ it takes), `family` (decides its colour),
    `reference`, and `formula` (what it computes, as LaTeX). `dash` and `marker` draw it beside
    others of its family, `measured` is the section of docs/methods.md with what was measured of it
    and its like, and `stands_beside` says that it is released beside the method of a page, never in
    its place. `sends_sums` says that all it sends are sums over people, so that sites can add them
    up unread; `averages_all` that each message is an average or a count of all people of a site,
    with noise that follows from `Public` alone; `reads_blocks` that it takes a `CurveStore` and
    sends numbers that do not depend on the order of people, to the last bit; `reads_any_size` that
    files of any size are read for it; `reads_for_each_message` that it reads the store anew for
    each message, right before it is sent, so that nobody need be read for messages that are known.
    `read_since` is the version since which noised messages are read as they are now: releases of
    earlier ones cannot be made again.

    Throughout, `data` are what the mechanism takes, `public`, `sizes` and `facts` hold no
    observation, `budgets` are one for all servers or one for each (`planned` gets as many as there
    are servers), plans are one for each budget, and `rng` is where all noise comes from.

    Tuning sees public facts only: a field that is None means "as the paper prescribes", a function
    of the sizes, the budgets and declared smoothness, never of the readings.
    """

    registry = mechanisms
    tasks: ClassVar[frozenset[str]]
    guarantee: ClassVar[Guarantee]
    family: ClassVar[str]
    reference: ClassVar[str]
    formula: ClassVar[str] = ""
    dash: ClassVar[str] = "solid"
    marker: ClassVar[str] = "circle"
    measured: ClassVar[str] = ""
    stands_beside: ClassVar[bool] = False
    sends_sums: ClassVar[bool] = False
    averages_all: ClassVar[bool] = False
    reads_blocks: ClassVar[bool] = False
    reads_any_size: ClassVar[bool] = False
    reads_for_each_message: ClassVar[bool] = False
    read_since: ClassVar[str] = "0"

    @classmethod
    def by_person(cls) -> Mechanism:
        """The method at its usual settings, protecting all that one person has."""
        return cls()

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        """Cases that an audit tries: one for each kind of release."""
        return (Trial(),)

    def in_units_of_noise(self, shift: Array, noise: Array) -> Array:
        """A change of what is sent, in standard deviations of its noise.

        In coordinates in which the noise is independent; infinite where a change gets none.

        Parameters
        ----------
        shift, noise : (…, numbers)
            The change, and the deviations of the noise.

        Returns
        -------
        (…, numbers)
        """
        with np.errstate(all="ignore"):
            return np.where(shift == 0, 0.0, shift / noise)

    # -- the frame: validate, plan, fit, Estimate --------------------------------------------

    def release_many(
        self, data: D, budgets: Sequence[tuple[Budget, ...]], draws: int, rng: np.random.Generator
    ) -> Estimate:
        """Release `draws` times at each of several budgets, for every repeat of the data.

        Draws share their standard noise across budgets, which makes curves over ε smooth. That is
        right for looking and forbidden for publishing: two releases with one draw reveal the exact
        answer.

        Parameters
        ----------
        budgets : sequence of tuple of Budget
            For each release one budget for all servers, or one for each server.
        draws : int
            How often noise is drawn at each budget.

        Returns
        -------
        Estimate
            Coefficients (budgets, repeats, draws, …) and a ledger for each budget.

        Raises
        ------
        InputError
            If the data are none that the mechanism takes, if a budget is none that it can keep
            (δ = 0 where δ must be above 0), or if there are neither one budget nor as many as
            servers.

        Examples
        --------
        >>> from engine.core.random_streams import generator
        >>> from engine.mechanisms.adaptive_mean import AdaptiveMean
        >>> from engine.sources.sparse_curves import SparseCurves
        >>> data = SparseCurves(n_curves=200).draw(2, generator(1, 0, 0))
        >>> estimate = AdaptiveMean(truncation=5).release_many(
        ...     data, [(Budget(0.5, 1e-3),), (Budget(2.0, 1e-3),)], 3, generator(1, 1, 0))
        >>> estimate.coefficients.shape  # budgets, repeats, draws, waves
        (2, 2, 3, 5)
        """
        data = self.validated(data)
        plans = [self.plan(data.public, site_budgets) for site_budgets in budgets]
        return self.estimate_of(plans, self.fitted(data, plans, draws, rng))

    def release(self, data: D, budgets: tuple[Budget, ...], rng: np.random.Generator) -> Estimate:
        """Release once, at one budget: a batch of one.

        Returns
        -------
        Estimate
            Coefficients (1, repeats, 1, …) and its ledger.

        Raises
        ------
        InputError
            As `release_many`.
        """
        return self.release_many(data, [budgets], 1, rng)

    def without_protection(self, data: D) -> Estimate:
        """Compute what would be published without privacy: it never leaves the curator's screen.

        Returns
        -------
        Estimate
            Coefficients (1, repeats, 1, …) and an empty ledger.

        Raises
        ------
        InputError
            If the data are none that the mechanism takes.
        """
        return Estimate.of(self.main_task.key, self.exact_fit(self.validated(data)), ((),))

    def plan(self, public: Public, budgets: tuple[Budget, ...]) -> P:
        """Everything that is fixed before any observation is looked at.

        Returns
        -------
        Plan
            Of the mechanism's own kind.

        Raises
        ------
        InputError
            If there are neither one budget nor as many as servers, or if no plan keeps them.
        """
        return self.planned(public, one_per_server(budgets, public.sizes.n_servers))

    def estimate_of(self, plans: Sequence[P], fit: Fit) -> Estimate:
        """The estimate that a fit by these plans and their ledgers make."""
        return Estimate.of(
            self.main_task.key,
            fit,
            tuple(self.ledger(plan) for plan in plans),
            tuple(plan.tuning for plan in plans),
        )

    # -- what a mechanism says -------------------------------------------------------------

    def validated(self, data: D) -> D:
        """Return the data as `planned` and `fitted` take them: as they are, unless a mechanism
        differs.

        Raises
        ------
        InputError
            If it does not take them.
        """
        return data

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> P:
        """Fix tuning, noise and the ledger; see `plan`.

        Returns
        -------
        Plan

        Raises
        ------
        InputError
            If no plan keeps the budgets.
        """
        raise NotImplementedError

    def ledger(self, plan: P) -> tuple[Spend, ...]:
        """The lines of one plan; a mechanism with a line for each of thousands makes them here."""
        return plan.spends

    def fitted(self, data: D, plans: Sequence[P], draws: int, rng: np.random.Generator) -> Fit:
        """Compute what each of the plans releases.

        All that says anything of single records passes through `engine.privacy.transcript`.

        Parameters
        ----------
        draws : int
            How often noise is drawn, shared by all plans.

        Returns
        -------
        Fit
            Coefficients (plans, repeats, draws, …).
        """
        raise NotImplementedError

    def exact_fit(self, data: D) -> Fit:
        """The same estimate from all data as they are, neither clipped nor noised.

        Returns
        -------
        Fit
            Coefficients (1, repeats, 1, …).
        """
        raise NotImplementedError

    @property
    def served(self) -> frozenset[str]:
        """The tasks that it serves as it is set."""
        return self.tasks

    @property
    def first_step(self) -> str:
        """The step that `share` of ε pays before the rest; empty if it is no choice on a page."""
        return ""

    @property
    def main_task(self) -> Task:
        """The task that a release of it, as it is set, is for."""
        return TASKS[next((key for key in PUBLISHED if key in self.served), min(self.served))]

    def suited(self, budget: Budget) -> Budget:
        """The same budget with the δ that its noise needs: 0 where it needs none."""
        return replace(budget, delta=0.0) if self.guarantee.is_pure else budget

    def delta(self, n_people: int, stated: float | None = None) -> Delta:
        """δ of a scenario with so many people by `delta_rule`, as its noise needs it."""
        return delta_rule(n_people, stated, self.guarantee.is_pure)

    def noised_by(self, place: NoisePlace) -> Mechanism:
        """The same method where sites, a centre or everybody's own device add the noise.

        Returns
        -------
        Mechanism
            Itself, where who adds the noise follows from where the data are.

        Raises
        ------
        InputError
            If sites are to add it in shares, and not all that is sent is a sum over people.
        """
        if place is NoisePlace.SUMS and not self.sends_sums:
            raise InputError(
                f"What {self.label} sends is not known to be a sum over people, so "
                "sites cannot add it up without reading it.",
                field="noise",
                hint="Choose the adaptive mean, its coefficients or counts, or let "
                "each site add its noise.",
            )
        return self

    def truth_of(self, data: D) -> Truth | None:
        """Return what the method estimates of simulated data: errors are distances from it.

        Returns
        -------
        Truth or None
            The truth of the data, unless the method estimates something else of it; None where it
            is not known.
        """
        return data.truth

    # -- from public facts alone, before any reading is looked at ---------------------------

    def feasibility(self, sizes: Sizes, budgets: tuple[Budget, ...]) -> Feasibility | None:
        """Judge whether these sizes and budgets can give anything useful.

        Returns
        -------
        Feasibility or None
            None if there is no rule.
        """
        return None

    def as_one_centre(self, n_people: int, budget: Budget, facts: PublicFacts) -> Budget | None:
        """The budget at which one centre's release has the law of n devices', each with one curve.

        Returns
        -------
        Budget or None
            None where no such law is proved.
        """
        return None

    def expected_error(
        self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
    ) -> float | None:
        """Planned squared error that privacy adds, integrated where the result is a function.

        Returns
        -------
        float or None
            In squared response units; None if there is no rule, NaN if nothing would be released.
        """
        return None

    def exact_risk(self, source: Source[Data], budgets: tuple[Budget, ...]) -> float | None:
        """Mean squared error on this kind of simulated data, where a formula gives it exactly.

        Returns
        -------
        float or None
            In squared response units.
        """
        return None

    def used_facts(self, facts: PublicFacts) -> frozenset[str]:
        """Those of "symmetric" and "periodic" that change what this method releases."""
        return frozenset()

    def unused_facts(self, facts: PublicFacts) -> tuple[str, ...]:
        """Statements about curves that a release by this method ignores."""
        used = self.used_facts(facts)
        return tuple(
            name for name in ("symmetric", "periodic") if getattr(facts, name) and name not in used
        )

    def ignores_order(self, facts: PublicFacts) -> bool:
        """True if all that a release sends has the same bits in any order of the records."""
        return False

    def unsuited_because(self, facts: PublicFacts) -> str:
        """Say what does not suit these curves; empty if nothing is known against it."""
        return ""

    def fewest_in_a_round(self, sizes: Sizes) -> int | None:
        """Count the curves of the smallest round.

        Returns
        -------
        int or None
            None if all take part in every round.
        """
        return None

    def limit_of_band(self, facts: PublicFacts) -> str:
        """Say what a band relies on that no release can show; empty if nothing."""
        return ""

    def why_not_published(self, budget: Budget) -> str:
        """Why its noise cannot be hardened for a real release; empty if it can.

        A mechanism that can sends all it says of the data through `transcript.sent`, or `summed`,
        with independent Gaussian or Laplace noise whose size and cost its ledger states, and draws
        nothing else: see `engine.release.certified`.
        """
        return (
            "There is no hardened sampler for the way this method draws its noise, so it can "
            "be looked at, not published."
        )

    def comparable(self, facts: PublicFacts) -> Mechanism:
        """The same method as it should meet others on these curves: with a basis that suits."""
        return self


def one_per_server(budgets: tuple[Budget, ...], n_servers: int) -> tuple[Budget, ...]:
    """The budgets of all servers; a single one is used for every server."""
    if len(budgets) == 1:
        return budgets * n_servers
    if len(budgets) != n_servers:
        raise InputError(
            f"There are {len(budgets)} budgets for {n_servers} servers.",
            field="budgets",
            hint="Give one for all, or one for each server.",
        )
    return budgets
