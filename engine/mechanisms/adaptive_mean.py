"""Private mean function in four small releases, with a confidence band: our own estimator."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from engine.core.bands import NORMAL, standard_errors
from engine.core.enumerations import Guarantee
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.registry import param
from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import (
    Budget,
    Caution,
    CurveData,
    CurveStore,
    DataKind,
    Design,
    Fit,
    Public,
    PublicFacts,
    SaidIn,
    Sizes,
    TimeLaw,
)
from engine.mechanisms import mechanisms
from engine.mechanisms.base import Trial, one_per_server
from engine.mechanisms.families.adaptive import constants
from engine.mechanisms.families.adaptive.check_words import TIMES_AND_LEVELS
from engine.mechanisms.families.adaptive.checked_facts import FAR, FirstMessage
from engine.mechanisms.families.adaptive.constants import FOR_SKEW, SEPARATELY, TOGETHER, Constants
from engine.mechanisms.families.adaptive.fits import Evidence
from engine.mechanisms.families.adaptive.location import (
    FINAL_CENTRE,
    FINAL_PAIR,
    JOINT,
    release_steps,
)
from engine.mechanisms.families.adaptive.mean_fit import TIMES, TIMES_SHARE, MeanFit, MeanPlan
from engine.mechanisms.families.adaptive.release import FEATURES, AdaptiveRelease
from engine.mechanisms.families.adaptive.rules import (
    basis_size,
    effective_size,
    ledger,
    public_scale,
)
from engine.mechanisms.families.adaptive.scales import ObservationScale
from engine.mechanisms.families.local_privacy import centre_budget
from engine.numerics.bases import Basis, with_whole_pairs
from engine.numerics.deviations import largest_norm
from engine.numerics.public_curves import PublicCurve, stated_numbers
from engine.privacy.feasibility import Feasibility

CENTRE_NOT_MEAN = (
    "This is a robust centre of the curves (a Huber location), and so is the target of the band. "
    "With skew, groups or outliers it differs from the mean."
)
RELIES_ON_SYMMETRY = (
    "The band assumes that people vary symmetrically, as you said. With outliers or groups it can "
    "miss."
)


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class AdaptiveMean(AdaptiveRelease[MeanPlan, Evidence]):
    """Find the neighbourhood, learn the size of the deviations there, tighten, and measure.

    Four small releases of clipped averages over all curves: a location, twice one with the sizes of
    the deviations, and one with their second moments, for the band. Sizes and moments cost nothing
    beside a location; see `engine.mechanisms.families.adaptive.location` for each and for its
    proof. Where δ = 0 they are five releases without second moments. Below N = 12
    (`effective_size`, the number of curves times μ) nothing useful can be released: nothing is, and
    the estimate is the public prior curve.

    Notes
    -----
    *Privacy.* Every release clips whole curves, h_i = T_i a − t_i with T_i and t_i functions of
    curve i alone, into an ellipsoid fixed by earlier releases;
    `engine.mechanisms.families.adaptive.location` proves each sensitivity, for any curve whatever.
    The k-th release has μ_k = √w_k μ with shares w that sum to one; all use the same curves, so
    squares add to μ². A curve with a reading or time that is no number has T_i = 0 and t_i = 0 and
    stays in the count. All that follows the releases, the band too, is computed from them.

    *Stated facts.* A first message tells whether observation times and bounds are as stated, a last
    one how many people are far from the others and, where they are stated to be spread evenly about
    their mean, how many more lie on one side, for 5 to 13 % of μ² together; the others share the
    rest. `engine.mechanisms.families.adaptive.checked_facts` proves their sensitivity, √2/n each.

    *Undeclared times.* They are taken for even. From N = 200 on a tenth of the rest buys a
    histogram of the times, for where the first message contradicts that: the mean over curves of
    the share of each curve's observations in every part of the range. Shares of a curve sum to 1 or
    are all 0, so replacing one moves the mean by at most √2/n (`engine.numerics.time_histograms`).
    It is always sent, so that messages and ledger do not depend on what was found.

    *Visits.* Curves that are each seen in a short window deviate in few directions, and farther
    than the reference law thinks; and tightly clipped averages of skewed readings are not their
    mean. There the last radius is wider, the more so the larger N is, and the centre of the
    early steps counts for less; both follow from public numbers.

    *δ = 0.* K-norm noise instead of Gaussian, ε adds, nothing joint, no second moments, and nothing
    about far people. The first message has Laplace noise and a twentieth of ε.

    Units: coefficients are found on the scale where the stated bounds are ±1, and mapped back.

    References
    ----------
    Derived in this project; filter and clipping after Huber (1964) and Kalman (1960), composition
    after Dong, Roth and Su (2022).

    Examples
    --------
    >>> from engine.core.random_streams import generator
    >>> from engine.sources.sparse_curves import SparseCurves
    >>> data = SparseCurves(n_curves=400).draw(1, generator(1, 0, 0))
    >>> estimate = AdaptiveMean().release(data, (Budget(2.0, 1e-3),), generator(1, 1, 0))
    >>> [line.step.label for line in estimate.spends[0]][:3]
    ['facts about observations', 'first centre', 'second centre and spread']
    """

    key = "adaptive_mean"
    reads_for_each_message = True
    label = "Adaptive mean"
    order = 10
    measured = "Adaptive mean"
    fit_class: ClassVar[type[MeanFit]] = MeanFit
    tasks = frozenset({MEAN_FUNCTION.key})
    sends_sums = True
    guarantee = Guarantee.EITHER
    reference = "derived in this project: four joint releases, adaptive clipping, exact composition"
    formula = (
        r"x_k = \tfrac1n\sum_i \psi\big(T_i a_k - t_i\big) + g_k Z_k,\qquad "
        r"\psi(h) = h\,\min\Big(1, \frac{c}{\lVert h/d\rVert}\Big),\qquad "
        r"g_{kl} = \frac{2\,c\,d_l}{n\,\mu_k},\qquad a_{k+1} = a_k - G_k x_k"
    )

    basis: str | None = param(
        None,
        "Basis functions",
        "Cosine: for curves of any kind. Fourier: only for curves that end where they began. "
        "Default: Fourier where that is stated of a file’s curves with stated observation times, "
        "cosine elsewhere.",
        choices=("cosine", "fourier"),
        earlier="cosine",
    )
    clipping: str | None = param(
        None,
        "Clipping of the last step",
        "Tight: least noise, for people stated to be symmetric about their mean. Moderate: about "
        "twice the squared error, and a band that holds with skew, groups or outliers. Wide: for "
        "skewed people who are each observed in a short window. Default: by the stated facts.",
        choices=("tight", "moderate", "wide"),
    )
    design: str = param(
        "checked",
        "Distribution of observation times",
        "Checked: stated facts are relied on, and a small share of the budget tells whether they "
        "are true; without stated times, whether they are even. Stated: relied on without a "
        "check. Unknown: a tenth of the budget is spent on estimating the distribution.",
        choices=("checked", "stated", "unknown"),
        earlier="stated",
    )
    last_step: str | None = param(
        None,
        "Last step",
        "Near: about the centre found so far, as in versions before 0.7. Default: about the middle "
        "of the bounds, where nobody is clipped and that has less noise; and from N = 500 on with "
        "more of the budget.",
        choices=("near",),
        earlier="near",
    )
    prior: str | None = param(
        None,
        "Prior curve",
        "A public curve to start from, as values at equally spaced times. Only the difference "
        "from it is estimated. Empty: the middle of the bounds.",
    )
    prior_room: float | None = param(
        None,
        "Largest distance from the prior",
        "How far an observation can lie from the prior curve, in response units. Empty: as far as "
        "the bounds allow.",
        low=1e-9,
        high=1e12,
    )
    split: str | None = param(
        None,
        "Split of the budget",
        "Shares of separate releases, in order, that sum to 1: six of μ² with a band, five without "
        "one or where δ = 0 (of ε there). Empty: the default.",
    )
    weights: str = param(
        "precision",
        "Weights of sites",
        "Precision: least noise, for sites whose people are alike. People: the average of all "
        "people, however sites differ; more noise where budgets or sizes do.",
        choices=("precision", "people"),
        earlier="precision",
    )
    guessed_spread: float | None = param(
        None,
        "Guessed standard deviation",
        "For the forecast error only: a guess, not from the data, of the standard deviation of "
        "observations about the mean curve. Default: as stated with the data.",
        low=1e-9,
        high=1e12,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prior is not None:
            PublicCurve.stated(self.prior, "prior")
        if self.split is not None:
            self._stated_shares(self.releases == "joint")

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return (
            *(
                Trial({"truncation": 3, "releases": releases}, Budget(40.0, 1e-3))
                for releases in ("joint", "separate")
            ),
            Trial(
                {"truncation": 3},
                Budget(40.0),
                0.9,
                "Each step has its own worst curve; a few random ones come near all of them.",
            ),
        )

    def why_not_published(self, budget: Budget) -> str:
        if not budget.is_pure:
            return ""
        return (
            "With δ = 0 this method’s noise falls with the norm of all coefficients together; "
            "there is no hardened sampler of that law."
        )

    # -- releases ---------------------------------------------------------------------------

    def model_fit(
        self,
        data: CurveData | CurveStore,
        basis: Basis,
        plans: Sequence[MeanPlan],
        draws: int,
        rng: np.random.Generator,
    ) -> MeanFit:
        return self.fit_class(
            data, basis, plans, draws, self.law_of_times(data.facts), self.scale(data.facts), rng
        )

    def cautions(
        self, facts: PublicFacts, plans: Sequence[MeanPlan], fit: Fit, evidence: Evidence
    ) -> Iterator[Caution]:
        released = evidence.released
        if self._is_tight(facts) and not facts.symmetric:
            yield Caution(CENTRE_NOT_MEAN, released, SaidIn.STATED)
        if fit.band is not None:
            errors = standard_errors(fit.band.covariance, fit.basis(drawing_grid()))
            finer, steep = self.narrow_features(
                facts, plans, fit.band, NORMAL * errors.mean(axis=-1)
            )
            yield Caution(FEATURES, released & (finer | steep), SaidIn.LINE)

    # -- fixed before any reading is looked at ---------------------------------------------

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> MeanPlan:
        """Basis size, shares and ledger; see `check_edition` and `shares` for refusals."""
        sizes, facts = public.sizes, public.facts
        verdict = self.feasibility(sizes, budgets)
        is_joint = self.is_joint(facts, budgets)
        effective, pure = verdict.effective_size, _any_pure(budgets)
        first_share, far_share = self.shares_of_checks(effective, pure)
        left = 1 - first_share - far_share
        times_share = TIMES_SHARE * left if self._may_learn_times(facts, effective) else 0.0
        shares = tuple(
            share * (left - times_share) for share in self.shares(pure, is_joint, effective)
        )
        first = (
            None
            if not first_share
            else FirstMessage.planned(self.law_of_times(facts), effective, first_share, pure)
        )
        # without a band, or where δ = 0, the last of six steps has no share and is not released
        releases = [*zip(release_steps(is_joint)[: len(shares)], shares, strict=True)]
        if times_share:
            releases.insert(0, (TIMES, times_share))
        if first is not None:
            releases.insert(0, (first.step, first_share))
        if far_share:
            releases.append((FAR, far_share))
        size = self.size(sizes, effective, facts, pure)
        self.check_edition(size, facts)
        is_large = effective >= constants.SHRINK_FROM or not verdict.is_feasible
        by_people = self.weights == "people"
        clips, learned = (
            each.clipping_constants(sizes, effective, facts, is_joint)
            for each in (self, replace(self, design="unknown"))
        )
        return MeanPlan(
            size=size,
            budgets=budgets,
            shares=shares,
            verdict=verdict,
            shrinks=self._shrinks(is_large, size, facts),
            is_joint=is_joint,
            times_share=times_share,
            constants=replace(clips, by_people=by_people, ball=self._ball(size, sizes, facts)),
            learned_constants=replace(learned, by_people=by_people),
            spends=ledger(sizes, budgets, verdict, releases),
            first=first,
            first_share=first_share,
            far_share=far_share,
            counts_sides=far_share > 0 and facts.symmetric and self._is_tight(facts),
        )

    def _may_learn_times(self, facts: PublicFacts, effective: float) -> bool:
        """True if the distribution of observation times would be released when it is needed.

        Not where it would be too noisy for a valid band anyway.
        """
        if not self.law_of_times(facts).is_known:
            return True
        return not facts.design.is_known and effective >= constants.LEARN_TIMES_FROM

    def feasibility(self, sizes: Sizes, budgets: tuple[Budget, ...]) -> Feasibility:
        return Feasibility(
            effective_size(
                sizes, one_per_server(budgets, sizes.n_servers), by_people=self.weights == "people"
            )
        )

    def is_joint(self, facts: PublicFacts, budgets: tuple[Budget, ...]) -> bool:
        """True if sizes and second moments are sent together with a location.

        Never where δ = 0 at any site: that noise grows with how many numbers a message has. By rule
        not where clipping is to be tight for people who are not stated to be symmetric: joint
        releases clip tighter, and lose there.
        """
        is_forced = self._is_tight(facts) and not facts.symmetric
        by_rule = self.split is None and not is_forced
        wished = by_rule if self.releases is None else self.releases == "joint"
        return wished and not _any_pure(budgets)

    def size(self, sizes: Sizes, effective: float, facts: PublicFacts, pure: bool = False) -> int:
        """r: as chosen, or by the rule of `families.adaptive.rules.basis_size`."""
        if self.truncation is not None:
            return self.truncation
        max_functions = constants.MAX_FUNCTIONS_PURE if pure else constants.MAX_FUNCTIONS
        factor = constants.DETAIL
        if not self.law_of_times(facts).is_known:
            factor = constants.DETAIL_UNKNOWN_TIMES
        size = basis_size(sizes, effective, max_functions, factor=factor)
        return with_whole_pairs(size) if self._basis_family(facts) == "fourier" else size

    def clipping_constants(
        self, sizes: Sizes, effective: float, facts: PublicFacts, is_joint: bool
    ) -> Constants:
        """Choose how tightly curves are clipped at effective size N: κ of the last step above all.

        Tight: 1.5, of joint releases (N/100)^.4 between 1 and 2. Moderate: 6, from N = 300 on like
        N, because people of finite variance lose at most a multiple of 1/√κ of their mean to
        clipping, and sampling variability falls like 1/√n. Wide: 12, from N = 200 on like N. Joint
        releases that clip tightly or moderately begin with a smaller radius where times are even
        or common and three or more for each curve: at common times up to 12 % less error.
        """
        is_common = facts.design.law is TimeLaw.COMMON and self._is_current
        is_close = facts.design == Design() or is_common
        has_enough = sizes.fewest_per_curve >= constants.FEWEST_TOGETHER
        start = TOGETHER if is_joint and is_close and has_enough else SEPARATELY
        width = self._width_of_clipping(sizes, facts)
        if width == "tight":
            return (
                SEPARATELY
                if not is_joint
                else replace(
                    TOGETHER,
                    first_radius=start.first_radius,
                    final_width=constants.TIGHT.at(effective),
                )
            )
        if width == "moderate":
            return replace(start, final_width=constants.MODERATE.at(effective), **FOR_SKEW)
        return replace(SEPARATELY, final_width=constants.WIDE.at(effective), **FOR_SKEW)

    def _ball(self, size: int, sizes: Sizes, facts: PublicFacts) -> float:
        """Radius of a last step about the middle of the bounds that clips nobody; else infinite."""
        if self.last_step is not None:
            return math.inf
        return largest_norm(
            self.functions(size, facts), self.law_of_times(facts), sizes.fewest_per_curve
        )

    def _width_of_clipping(self, sizes: Sizes, facts: PublicFacts) -> str:
        """Choose how far from the centre curves are clipped: "tight", "moderate" or "wide".

        By rule tight only where people are stated to be symmetric about their mean; else moderate
        where every curve tells of most of the time range, which takes two observations at least.
        Where separate releases are chosen the rule is that of the time before joint ones, without
        moderate clipping: what was released then can be made again.
        """
        if self.clipping is not None:
            return self.clipping
        if self._is_tight(facts):
            return "tight"
        tells = self._spans_the_range(facts) and sizes.fewest_per_curve > 1
        return "moderate" if tells and self.releases != "separate" else "wide"

    def _is_tight(self, facts: PublicFacts) -> bool:
        """True if curves are clipped inside their bulk, as suits people who are spread evenly.

        By rule only where that is stated, and where every curve tells of most of the time range.
        """
        by_rule = facts.symmetric and self._spans_the_range(facts)
        return by_rule if self.clipping is None else self.clipping == "tight"

    def _spans_the_range(self, facts: PublicFacts) -> bool:
        """True if the stated times of a curve lie all over the time range."""
        return self.law_of_times(facts).law in (TimeLaw.INDEPENDENT, TimeLaw.COMMON)

    def functions(self, size: int, facts: PublicFacts) -> Basis:
        return Basis(size, family=self._basis_family(facts))

    def _basis_family(self, facts: PublicFacts) -> str:
        """Cosine or Fourier: as chosen, or by what is stated of the curves.

        By rule Fourier for curves of a file that are stated to end where they began, and for their
        twins: errors are those of cosines or smaller, and bands half as wide at the ends, where
        each end tells of the other. Simulated curves and public ones keep cosines, with which all
        stored results were made, and so do curves of which it is unknown when they were observed.
        """
        if self.basis is not None:
            return self.basis
        uses_period = (
            facts.periodic
            and facts.kind in (DataKind.UPLOAD, DataKind.TWIN)
            and self.law_of_times(facts).is_known
        )
        return "fourier" if uses_period else "cosine"

    def shares(self, pure: bool, is_joint: bool, effective: float) -> tuple[float, ...]:
        """Shares of μ², or of ε if δ = 0, of the releases in order; N is `effective`.

        Four if joint; else six, or five without a band or if δ = 0. A stated split must fit them.
        """
        if self.split is not None:
            return self._stated_shares(is_joint, pure)
        if is_joint and self.last_step is None and effective >= constants.MANY:
            return constants.JOINT_SHARES_MANY
        if is_joint:
            return constants.joint_shares(effective)
        return constants.SHARES_PURE if pure else self._usual_shares

    def scale(self, facts: PublicFacts) -> ObservationScale:
        """Map [−1, 1] to response units: the bounds, or room around the known curve."""
        if self.prior is None:
            return super().scale(facts)
        curve = PublicCurve.stated(self.prior, "prior")
        margin = max(facts.value_high - min(curve.heights), max(curve.heights) - facts.value_low)
        return ObservationScale(curve, margin if self.prior_room is None else self.prior_room)

    def law_of_times(self, facts: PublicFacts) -> Design:
        """Return the stated law of times; if none is stated, even times, which are then checked.

        Not of people with one observation each, nor where nothing is to be relied on.
        """
        if self.design == "unknown":
            return Design(law=TimeLaw.UNKNOWN)
        is_checked = self.design == "checked" and not facts.design.is_known
        is_even = is_checked and facts.observations_per_curve != 1 and facts.reading_sd == 0
        return Design() if is_even else facts.design

    def expected_error(
        self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
    ) -> float:
        """Planned integrated squared error that privacy adds, in squared response units.

        half-range² · 4κb²(Σu_l)²/(w N²), w the last share, from public facts alone: the noise of
        the final release at the radius that typical deviations give it. NaN where nothing is
        released. Of a wider κ only the geometric mean with the tight one counts: the early steps
        take off the rest.
        """
        verdict = self.feasibility(sizes, budgets)
        if not verdict.is_feasible:
            return math.nan
        effective = verdict.effective_size
        pure = _any_pure(budgets)
        half, is_joint = self.scale(facts).half, self.is_joint(facts, budgets)
        final = release_steps(is_joint).index(FINAL_PAIR if is_joint else FINAL_CENTRE)
        left = 1 - sum(self.shares_of_checks(effective, pure))
        left *= 1 - TIMES_SHARE * self._may_learn_times(facts, effective)
        share = left * self.shares(pure, is_joint, effective)[final]
        guess = self.guessed_spread or facts.guessed_spread
        spread = guess / half if guess else constants.TYPICAL_SPREAD
        radius = (constants.JOINT_RADIUS if is_joint else constants.RADIUS_OF_SPREAD) * spread
        scales = public_scale(self.size(sizes, effective, facts, pure), sizes)
        widest = self.clipping_constants(sizes, effective, facts, is_joint).final_width
        width = widest if self._is_tight(facts) else math.sqrt(SEPARATELY.final_width * widest)
        return float(half**2 * 4 * width * (radius * scales.sum() / effective) ** 2 / share)

    def limit_of_band(self, facts: PublicFacts) -> str:
        relies_on = [TIMES_AND_LEVELS]
        if self._is_tight(facts) and facts.symmetric:  # if only tight, the release says so
            relies_on.append(RELIES_ON_SYMMETRY)
        return " ".join(filter(None, (*relies_on, self.limit_between_times(facts))))

    def as_one_centre(self, n_people: int, budget: Budget, facts: PublicFacts) -> Budget | None:
        if budget.is_pure or not self.law_of_times(facts).is_known:
            return None
        return centre_budget(n_people, budget)

    def used_facts(self, facts: PublicFacts) -> frozenset[str]:
        uses = {
            "symmetric": self._is_tight(facts),
            "periodic": self._basis_family(facts) == "fourier",
        }
        return frozenset(name for name, is_used in uses.items() if is_used)

    def unsuited_because(self, facts: PublicFacts) -> str:
        if self.basis != "fourier" or facts.periodic:
            return ""
        return (
            "**A Fourier basis is periodic, and you have not stated a curve that ends where it began.** "
            "Near both "
            "ends the published curve would be wrong, and its band would not cover the true "
            "curve there in about 80 % of releases. Choose cosine."
        )

    def _stated_shares(self, is_joint: bool, pure: bool = False) -> tuple[float, ...]:
        """The shares in `split`; they must be positive, sum to one, and be as many as needed."""
        shares = stated_numbers(self.split or "", "split")
        if min(shares) <= 0 or abs(sum(shares) - 1) > 1e-9:
            raise InputError(
                "“split” must be positive shares that sum to 1.",
                field="split",
                hint="For example " + ", ".join(f"{share:g}" for share in constants.SHARES) + ".",
            )
        expected = len(JOINT if is_joint else self._usual_shares)
        if len(shares) != expected:
            raise InputError(
                f"“split” must have {expected} shares here; got {len(shares)}.",
                field="split",
                hint="Four for joint releases; six for separate ones, "
                "which δ = 0 always has, and five of those without a band.",
            )
        if pure and expected == len(constants.SHARES):  # the share of the sixth goes to the others
            return tuple(share / sum(shares[:5]) for share in shares[:5])
        return shares


def _any_pure(budgets: tuple[Budget, ...]) -> bool:
    """True if δ = 0 at any site."""
    return any(budget.is_private and budget.is_pure for budget in budgets)
