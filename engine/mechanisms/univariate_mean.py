"""The mean of numbers under seven kinds of trust, with Laplace noise and δ = 0.

The slides have seven rates: where nobody is trusted and people are protected there are two, for few
and for many numbers each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from engine.core.enumerations import Enumeration, Guarantee, NoiseLaw, NoisePlace
from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.tasks import UNIVARIATE_MEAN
from engine.core.types import (
    Array,
    Budget,
    Caution,
    Composition,
    CurveData,
    Data,
    Design,
    Fit,
    Plan,
    Public,
    PublicFacts,
    SaidIn,
    Sizes,
    Spend,
    Step,
    Truth,
    Unit,
)
from engine.mechanisms import Mechanism, mechanisms
from engine.mechanisms.base import Trial
from engine.numerics.bases import Basis
from engine.numerics.observation_times import Stratified, draw_times
from engine.privacy import transcript
from engine.sources import Source
from engine.sources.numbers import Numbers
from engine.sources.twin import DEFAULT_SPREAD

PLACE, AVERAGE = Step("place"), Step("average")
CONSTANT = Basis(1, family="cosine")
_REACH = 3  # places that numbers are held to: the one with most votes and its neighbours
_DESIGNS, _DESIGN_SEED = 4000, 20_241_123  # of people whose times are simulated
_FEWEST_PLACES = 7  # half the budget pays once three places are less than half of the range
_EXPECTED_OUTSIDE = 2  # people whose means are further out than places are wide
_DOUBT = 3  # standard deviations of the noise in votes that are put down to chance
OUTSIDE = (
    "By the released votes, more people’s means lie outside the part of the range that was elected "
    "than the stated spread of people explains. They are moved to its edge, so that the average "
    "can be far off: state a larger spread, or none."
)
UNDECIDED = (
    "The noise in the released votes is too large to tell where in the range people are. The "
    "released average can be off by as much as the range."
)
BEYOND = (
    "Numbers beyond the stated bounds count as the bound, which this release does not show. If "
    "more than {:g} % of them lie beyond one bound, by half of the range on average, that alone "
    "moves the average by more than the error that is forecast."
)
_SHARES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)  # percent of the numbers, as they are told
_BY = 0.5  # of the range


class Setting(Enumeration):
    """Parties trusted with numbers; either single numbers or all of a person are protected.

    Two choices in one word, as in the slides, in links and in files: who adds the noise, None
    without privacy, and whether people are protected.
    """

    place: NoisePlace | None
    is_by_person: bool
    label: str

    CENTRAL_ITEM = "central_item", NoisePlace.CENTRE, False, "Centre, single numbers protected"
    CENTRAL_USER = "central_user", NoisePlace.CENTRE, True, "Centre, people protected"
    SITE = "site", NoisePlace.SITES, False, "Each site its own, single numbers protected"
    SITE_USER = "site_user", NoisePlace.SITES, True, "Each site its own, people protected"
    LOCAL_ITEM = "local_item", NoisePlace.PERSON, False, "Nobody trusted, single numbers protected"
    LOCAL_USER = "local_user", NoisePlace.PERSON, True, "Nobody trusted, people protected"
    NONE = "none", None, False, "No privacy"

    @property
    def is_central(self) -> bool:
        return self.place is NoisePlace.CENTRE

    @property
    def is_by_site(self) -> bool:
        return self.place is NoisePlace.SITES

    @property
    def is_local(self) -> bool:
        return self.place is NoisePlace.PERSON


@dataclass(frozen=True)
class AveragePlan(Plan):
    """Division of one budget, fixed before any number is read."""

    places: int  # how many equal places the range is cut into, 1 without a vote
    # vote, measure, each (servers,): the ε of the vote and of the average
    vote: Array
    measure: Array
    budgets: tuple[Budget, ...]  # the budget that each server asked for
    public: Public

    @property
    def tuning(self) -> dict[str, Any]:
        return {"places": self.places}


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class UnivariateMean(Mechanism[CurveData, AveragePlan]):
    """Average numbers and add Laplace noise: by each item, each person, each site, or one centre.

    Every number is clipped to the public range [a, b] of width w; one that is not finite counts
    as its middle. What is averaged is an *item* (a single number) or the mean of a *person*; each
    curve of the data is a person, and each server a site. With `setting`

    - "local_item": every item x is sent as x + Lap(w/ε), and all are averaged;
    - "site": site s, with n_s items, sends its mean + Lap(w/(n_s ε)); means are averaged with
      weights n_s/N;
    - "central_item": the mean of all N items + Lap(w/(Nε));
    - "local_user": every person sends their mean, clipped to an interval of width v, + Lap(v/ε);
    - "central_user": the average of U people's means, clipped to it, + Lap(v/(Uε));
    - "site_user": site s, with U_s people, sends the average of their means + Lap(w/(U_s ε)), with
      no vote; averages are averaged with weights U_s/U;
    - "none": the mean of all items, as it is.

    *Where people are.* With few items for each person, or where nobody has stated how far people
    differ, the interval is the range: the average is that of the people, however they differ. With
    many items and a stated spread s of people it is found by a vote at half of the budget; the
    other half is left for the average. The range is cut into k equal places and each person votes
    for the place of their mean. Places are as wide as the means of U people spread: 2t with
    t = w √(log(2U)/2n) + s √(2 log 2U), n being the fewest items of a person. Of U means at most
    one is expected further out by chance in the items (Hoeffding's inequality), and one because
    normal people differ. Most votes then fall on one place or on two neighbours, and the winner
    with both of its neighbours holds the means. There is a vote from k = 7 on, where three places
    are less than half of the range. s = 0 is the case of the slides (`independent`): all numbers
    are independent, with one mean.

    *People who are not normal.* The interval reaches t to both sides of the mean, whatever the law
    of people, as long as s is at least their standard deviation. What it cuts off moves the average
    by at most (√(t² + s²) − t)/2 on a side, which is below s/(4 √(2 log 2U)) (Scarf's inequality).

    *Votes that contradict.* A caution is given where the noisy votes show more people outside the
    elected interval than noise explains, and where they do not tell the winner from places that
    are no neighbours of it. Both are computed from what is released.

    Notes
    -----
    *Unit of protection.* Neighbouring data replace one item where the setting ends in "item" or is
    "site", and all items of one person where it ends in "user". A person with n items who is
    protected item by item has nε as a whole. Sizes are public.

    *Averages.* An item lies in [a, b], so replacing it moves it by at most w, a mean of n_s items
    by w/n_s, and nothing else. A person's mean, clipped to an interval of width v, moves by at most
    v, whatever the items, and an average over U people by v/U; the interval comes from the
    vote and is the same for both neighbours. Noise Lap(Δ/ε) makes a number of sensitivity Δ ε-DP.

    *Votes.* A person's ballot has a one at one place and zeros elsewhere; replacing the person
    changes two entries by one each. With ε' the vote's budget, locally each of the k entries is
    sent flipped with chance 1/(1 + e^{ε'/2}): between neighbours the odds of one entry differ by
    e^{ε'/2} and those of two by e^{ε'}. At a centre the sums of all ballots move by 2 in total, and
    Lap(2/ε') is added to each. Ties and the choice of the winner follow what was sent.

    *Together.* Vote and average use the same person: ε' + ε'' = ε/2 + ε/2. Parts of different
    people or sites run in parallel, and with one centre the smallest ε holds for everybody. All
    is pure: δ = 0, whatever δ is asked.

    *Wrong places.* If votes miss, the result may be off by the range; the chance falls like
    e^{−cSε²} and does not fall with more items.

    Means weigh items equally in item settings and people equally in user settings.

    References
    ----------
    Settings and averages: Yi Yu, lecture slides on rates of univariate means under privacy.
    Flipped bits: Warner (1965). Widths and the rule when to vote: derived in this project.

    Examples
    --------
    >>> from engine.core.random_streams import generator
    >>> data = Numbers().draw(1, generator(1, 0, 0))
    >>> estimate = UnivariateMean().release(data, (Budget(1.0),), generator(1, 1, 0))
    >>> estimate.coefficients.shape  # budgets, repeats, draws, the mean
    (1, 1, 1, 1)
    """

    key = "univariate_mean"
    label = "Average number"
    order = 10
    dash, marker = "12px,3px,2px,3px", "circle-open"
    measured = "Average number"
    tasks = frozenset({UNIVARIATE_MEAN.key})
    guarantee = Guarantee.PURE
    family = "gradient"
    reference = (
        "Yi Yu, lecture slides on rates of univariate means under privacy; locations derived here"
    )
    formula = (
        r"\hat\mu = \sum_p w_p\big(x_p + \tfrac{\Delta_p}{\varepsilon} L_p\big),\qquad "
        r"L_p \sim \mathrm{Lap}(1)"
    )

    setting: Setting = param(
        Setting.CENTRAL_ITEM,
        "Who is trusted with what",
        "Central: one centre. Site: each site. Local: nobody. Item: a single number is protected. "
        "User: all numbers of a person are. None: no privacy.",
    )
    person_spread: float | None = param(
        None,
        "Spread of people",
        "The largest standard deviation that people's own means can have, in response units: a "
        "public bound, not from the data. With many numbers each it lets people vote where their "
        "means are, for less noise. Zero: all numbers are independent. Empty: not known, no vote.",
        low=0.0,
        high=1e6,
    )

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return (
            *(
                Trial({"setting": setting}, Budget(0.8))
                for setting in (
                    Setting.CENTRAL_ITEM,
                    Setting.LOCAL_ITEM,
                    Setting.SITE,
                    Setting.SITE_USER,
                )
            ),
            # in the second no vote is held
            *(
                Trial({"setting": setting, "person_spread": spread}, Budget(0.8), chunk=40)
                for spread in (0.0, None)
                for setting in (Setting.CENTRAL_USER, Setting.LOCAL_USER)
            ),
        )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return tuple((setting.label, {"setting": setting}) for setting in Setting)

    @classmethod
    def independent(cls, setting: Setting) -> UnivariateMean:
        """Build the slides' setting: all numbers independent, people differing by chance only."""
        return cls(setting=setting, person_spread=0.0)

    @classmethod
    def by_person(cls) -> UnivariateMean:
        return cls(setting=Setting.CENTRAL_USER)

    def noised_by(self, place: NoisePlace) -> UnivariateMean:
        """Protect people, as everything does that a study of people decides on."""
        super().noised_by(place)  # refuses shares of noise
        return replace(
            self,
            setting=next(
                setting for setting in Setting if setting.place is place and setting.is_by_person
            ),
        )

    def as_one_centre(self, n_people: int, budget: Budget, facts: PublicFacts) -> Budget | None:
        """Pool the budget as one centre if nobody is trusted: people add noise themselves."""
        return budget if self.setting is Setting.LOCAL_USER else None

    def truth_of(self, data: CurveData) -> Truth | None:
        """The expected mean of what a person has, of curves: over the law of their times.

        By simulated times of 4,000 people with a fixed seed, evenly spread; single observations
        count alike where they are what is averaged, and else people do.
        """
        if data.truth is None or np.ptp(data.truth.node_values) == 0:
            return data.truth
        counts, people = np.unique(data.counts, return_counts=True)
        weights = people * (1 if self.setting.is_by_person else counts)
        means = [_expected(data.truth, data.facts.design, count) for count in counts.tolist()]
        mean = float(np.average(means, weights=weights))
        return Truth.of(lambda t: np.full_like(t, mean))

    def why_not_published(self, budget: Budget) -> str:
        if self.setting.is_local:
            return (
                "Nobody is trusted here, so noise is added by each person before anything is "
                "handed over. Whoever holds the file is a centre already."
            )
        return "" if self.setting is not Setting.NONE else "Nothing would be protected."

    # -- releases ---------------------------------------------------------------------------

    def validated(self, data: CurveData) -> CurveData:
        """The same with counts that are public, where those of single people are private.

        Then every person counts with one number, the mean of what they have, or the middle of the
        range: a function of that person alone. Where single numbers are protected, how many there
        are must be as stated.
        """
        data = self._with_public_counts(data)
        if not len(data.counts) or (data.counts == 0).any():
            raise InputError(
                "Every person needs at least one number.",
                field="counts",
                hint="Leave out people without any.",
            )
        if not all(data.sizes.n_curves_per_server):
            raise InputError(
                "Every site needs at least one person.",
                field="server",
                hint="Number sites without gaps.",
            )
        return data

    def _with_public_counts(self, data: CurveData) -> CurveData:
        if not data.facts.observations_per_curve:
            return data
        if not self.setting.is_by_person:
            if data.values.shape[1] != data.sizes.n_observations:
                raise InputError(
                    "Single numbers are protected here, so how many there are is "
                    "public, and these are not as many as stated.",
                    field="setting",
                    hint="Protect whole people, or state how many there are.",
                )
            return replace(data, facts=replace(data.facts, observations_per_curve=0))
        counts, clipped = data.counts, self.clipped(data)
        sums = np.zeros((data.n_repeats, data.n_curves))
        used = counts > 0
        sums[:, used] = np.add.reduceat(clipped, (np.cumsum(counts) - counts)[used], axis=1)
        means = np.where(used, sums / np.maximum(counts, 1), data.facts.value_middle)
        return replace(data, times=np.zeros_like(means), values=means, counts=np.ones_like(counts))

    def fitted(
        self, data: CurveData, plans: Sequence[AveragePlan], draws: int, rng: np.random.Generator
    ) -> Fit:
        """Votes, then averages; see `Mechanism.fitted`.

        Only sums of noise leave the computation, so they are drawn as such: see `_laplace_sums`.
        """
        noise = _StandardNoise(self, data, plans, draws, rng)
        released, doubts = zip(
            *(self._released(data, plan, k, noise) for k, plan in enumerate(plans)), strict=True
        )
        unprotected = np.broadcast_to(self._noise_free(data), (len(plans), data.n_repeats, 1))
        return Fit(
            basis=CONSTANT,
            coefficients=np.stack(released)[..., None],
            unprotected=unprotected,
            cautions=(
                *_cautions(np.stack(doubts)),
                *self._of_bounds(plans, (data.n_repeats, draws)),
            ),
        )

    def _of_bounds(self, plans: Sequence[AveragePlan], shape: tuple[int, int]) -> Iterator[Caution]:
        """Yield how many numbers beyond a bound would move an average by the forecast.

        Public arithmetic: of the noise, and of people who differ as those behind the forecast.
        Simulated numbers are known to lie within their bounds.
        """
        if plans[0].public.facts.is_simulated:
            return
        texts = []
        for plan in plans:
            facts, people = plan.public.facts, plan.public.sizes.n_curves
            forecast = math.hypot(
                math.sqrt(self.expected_error(plan.public.sizes, plan.budgets, facts)),
                DEFAULT_SPREAD * facts.value_half_width / math.sqrt(people),
            )
            percent = 100 * forecast / (_BY * 2 * facts.value_half_width)
            texts.append(next((BEYOND.format(share) for share in _SHARES if share >= percent), ""))
        for text in dict.fromkeys(filter(None, texts)):
            applies = np.array([text == each for each in texts])
            yield Caution(
                text,
                np.broadcast_to(applies[:, None, None], (len(plans), *shape)),
                SaidIn.STATED,
                low_power_for=("numbers beyond the bounds",),
            )

    def _released(
        self, data: CurveData, plan: AveragePlan, k: int, noise: _StandardNoise
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Release of plan k (repeats, draws), and what its votes say against it (2, …)."""
        elected = np.zeros((data.n_repeats, noise.draws), int)
        doubts = np.zeros((2, *elected.shape), dtype=bool)
        if plan.places > 1:
            votes = transcript.summed(
                PLACE, partial(self._ballot_parts, data, plan), lambda: noise.votes[k]
            )
            elected = self.elected(votes, plan)
            doubts = self.doubts(votes, elected, plan)
        return self._average(data, plan, elected, noise), doubts

    def _average(
        self, data: CurveData, plan: AveragePlan, elected: NDArray[np.int64], noise: _StandardNoise
    ) -> Array:
        """The released average within the elected intervals: (repeats, draws)."""
        if self.setting is Setting.NONE:
            return self._averages(data, plan.places, elected)
        return transcript.summed(
            AVERAGE,
            partial(self._average_parts, data, plan, elected),
            lambda: (
                self._averages(data, plan.places, elected)
                + noise.sums @ self._scales_in_average(plan)
            ),
        )

    def elected(self, votes: Array, plan: AveragePlan) -> NDArray[np.int64]:
        """Find the interval, (repeats, draws), that noisy votes (repeats, draws, places) elect."""
        return np.asarray(np.clip(votes.argmax(axis=-1) - 1, 0, plan.places - _REACH))

    def doubts(
        self, votes: Array, elected: NDArray[np.int64], plan: AveragePlan
    ) -> NDArray[np.bool_]:
        """Flag releases with people outside the elected interval, and undecided votes: (2, …).

        If all votes are for the interval, the noisy sum of its places is known but for noise, and
        for the two people expected outside. A winner that leads all places outside the interval by
        less than the noise in such a difference is none.
        """
        people = np.array(plan.public.sizes.n_curves_per_server, dtype=float)
        chance = np.zeros_like(people) if self.setting.is_central else self.flip_chance(plan.vote)
        idle, informative = float(people @ chance), float(people @ (1 - 2 * chance))
        variance = (
            2 * self.vote_scale(plan.vote) ** 2
            if self.setting.is_central
            else float(people @ (chance * (1 - chance)))
        )
        place = np.arange(plan.places)
        is_inside = (elected[..., None] <= place) & (place < elected[..., None] + _REACH)
        inside = np.where(is_inside, votes, 0.0).sum(axis=-1)
        best_outside = np.where(is_inside, -np.inf, votes).max(axis=-1)
        allowed = _EXPECTED_OUTSIDE + _DOUBT * math.sqrt(_EXPECTED_OUTSIDE + _REACH * variance)
        return np.stack(
            [
                _REACH * idle + informative - inside > allowed,
                votes.max(axis=-1) - best_outside < _DOUBT * math.sqrt(2 * variance),
            ]
        )

    def exact_fit(self, data: CurveData) -> Fit:
        """The mean itself."""
        return Fit.exact(CONSTANT, self._noise_free(data))

    def _noise_free(self, data: CurveData) -> Array:
        """The mean without noise, vote or interval: (repeats, 1)."""
        return self._averages(data, 1, np.zeros((data.n_repeats, 1), int))

    # -- fixed before any number is looked at -------------------------------------------------

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> AveragePlan:
        epsilon = np.array([budget.epsilon for budget in budgets])
        if self.setting.is_central:
            epsilon = np.full_like(epsilon, epsilon.min())
        places = self.places(public.sizes, public.facts) if np.isfinite(epsilon).any() else 1
        if places == 1:
            return AveragePlan(1, np.zeros_like(epsilon), epsilon, budgets, public)
        return AveragePlan(places, epsilon / 2, epsilon / 2, budgets, public)

    def places(self, sizes: Sizes, facts: PublicFacts) -> int:
        """Choose how many places cut the range, each at least 2t wide; 1 if a vote is vain."""
        if self.person_spread is None or not self.setting.is_by_person or self.setting.is_by_site:
            return 1
        people, width = math.log(2 * sizes.n_curves), 2 * facts.value_half_width
        spread = width * math.sqrt(people / (2 * max(sizes.fewest_per_curve, 1)))
        spread += self.person_spread * math.sqrt(2 * people)
        places = int(width / (2 * spread))
        return places if places >= _FEWEST_PLACES else 1

    def clip_width(self, places: int, facts: PublicFacts) -> float:
        """The most by which an item, or a person's held mean, can move, in response units."""
        return 2 * facts.value_half_width * min(1.0, _REACH / places)

    def expected_error(
        self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
    ) -> float:
        """Variance of the noise, in squared response units, as if votes never missed.

        A Laplace variable of scale b has variance 2b², so it is 2 Σ_s parts_s b_s², b_s being what
        the noise of one part of server s adds to the average. Where sites differ both in ε and in
        the items of a person, people count as holding equally many.
        """
        plan: AveragePlan = self.plan(Public(sizes, facts), budgets)
        return float(2 * self.n_parts(plan.public) @ self._scales_in_average(plan) ** 2)

    def exact_error(
        self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
    ) -> float | None:
        """The squared error that privacy adds, exactly; None with a vote.

        0 for "none"; with w the width of the range and N items, 2w²/(Nε²) for "local_item",
        2w²/(N²ε²) for "central_item" and 2w²S/(N²ε²) for S sites. See `expected_error` for sites
        that differ.
        """
        plan: AveragePlan = self.plan(Public(sizes, facts), budgets)
        return self.expected_error(sizes, budgets, facts) if plan.places == 1 else None

    def exact_risk(self, source: Source[Data], budgets: tuple[Budget, ...]) -> float | None:
        """Noise and chance of independent numbers add up; None with a vote or for people that vary.

        The released mean is linear in the numbers and the noise is independent of them.
        """
        added = self.exact_error(source.sizes, budgets, source.facts)
        chance = source.variance_of_mean if isinstance(source, Numbers) else None
        return None if added is None or chance is None else added + chance

    def _total(self, sizes: Sizes) -> int:
        """Count the people, or items, that are averaged."""
        return sizes.n_curves if self.setting.is_by_person else sizes.n_observations

    # -- parts: each is an average by itself that is sent with noise of its own -------------------

    def n_parts(self, public: Public) -> NDArray[np.int64]:
        """Count every server's parts; those of one centre count at the first: (servers,)."""
        if self.setting.is_local:
            return self._per_server(public).astype(np.int64)
        n_parts = np.ones(public.sizes.n_servers, dtype=np.int64)
        if not self.setting.is_by_site:
            n_parts[1:] = 0
        return n_parts

    def _part_sizes(self, public: Public) -> Array:
        """Count the people, or items, that a part averages: (servers,)."""
        if self.setting.is_by_site:
            return self._per_server(public)
        size = 1 if self.setting.is_local else self._total(public.sizes)
        return np.full(public.sizes.n_servers, float(size))

    def _per_server(self, public: Public) -> Array:
        """Count the people, or items, of every server."""
        if self.setting.is_by_person:
            return np.array(public.sizes.n_curves_per_server, dtype=float)
        return public.observations_per_server

    def sensitivity(self, plan: AveragePlan) -> Array:
        """The most by which one item, or person, moves a part of each server: (servers,)."""
        return self.clip_width(plan.places, plan.public.facts) / self._part_sizes(plan.public)

    def noise_scale(self, plan: AveragePlan) -> Array:
        """Scale of the Laplace noise on a part of each server, sensitivity/ε: (servers,)."""
        if self.setting is Setting.NONE:
            return np.zeros(len(plan.budgets))
        return self.sensitivity(plan) / plan.measure

    def _scales_in_average(self, plan: AveragePlan) -> Array:
        """`noise_scale` times the weight of a part in the average: (servers,)."""
        weights = self._part_sizes(plan.public) / self._total(plan.public.sizes)
        return weights * self.noise_scale(plan)

    def _average_parts(
        self, data: CurveData, plan: AveragePlan, elected: NDArray[np.int64]
    ) -> transcript.Parts:
        """List the average's parts in every interval that may be elected, and their noise."""
        groups = self.groups(data)
        scales = np.repeat(self.noise_scale(plan), self.n_parts(plan.public))
        return transcript.Parts(
            self.exact_parts(data, plan.places).swapaxes(1, 2),
            NoiseLaw.LAPLACE,
            math.sqrt(2) * scales,
            elected,
            lambda noisy: np.einsum("p,rip->ri", groups / groups.sum(), noisy),
            servers=tuple(range(len(groups))) if self.setting.is_by_site else (),
        )

    def _ballot_parts(self, data: CurveData, plan: AveragePlan) -> transcript.Parts:
        """Ballots, or their sums at one centre, with the law of their noise and its deviation."""
        ballots = self.ballots(data, plan.places).astype(float)
        first = np.zeros((len(ballots), 1), int)
        if self.setting.is_central:
            deviation = np.array(math.sqrt(2) * self.vote_scale(plan.vote))
            return transcript.Parts(
                ballots.sum(axis=1)[:, None], NoiseLaw.LAPLACE, deviation, first, np.asarray
            )
        chance = np.repeat(self.flip_chance(plan.vote)[data.server], plan.places)
        signs = 2 * ballots.reshape(len(ballots), 1, -1) - 1

        def counted(noisy: Array) -> Array:
            """Votes for each place from bits that were turned round by chance."""
            return np.asarray(
                ((noisy + 1) / 2).reshape(len(ballots), -1, plan.places).sum(axis=1)[:, None]
            )

        return transcript.Parts(
            signs, NoiseLaw.BITS, 2 * np.sqrt(chance * (1 - chance)), first, counted
        )

    # -- averages -----------------------------------------------------------------------------

    def groups(self, data: CurveData) -> NDArray[np.int64]:
        """Count the neighbouring people, or items, averaged in each part: (parts,)."""
        sizes = self._part_sizes(data.public).astype(np.int64)
        return np.repeat(sizes, self.n_parts(data.public))

    def exact_parts(self, data: CurveData, places: int) -> Array:
        """The mean of every part before noise, for every interval: (repeats, parts, intervals)."""
        units = self.clipped(data)
        if self.setting.is_by_person:
            low = self._lowest(places, data.facts)
            units = _averages(units, data.counts)[..., None]
            units = np.clip(units, low, low + self.clip_width(places, data.facts))
        else:
            units = units[..., None]
        return _averages(units, self.groups(data))

    def clipped(self, data: CurveData) -> Array:
        """Every number within the public range, its middle if not finite: (repeats, items)."""
        facts = data.facts
        known = np.where(np.isfinite(data.values), data.values, facts.value_middle)
        return np.asarray(np.clip(known, facts.value_low, facts.value_high))

    def _averages(self, data: CurveData, places: int, elected: NDArray[np.int64]) -> Array:
        """The mean of all parts without noise, in the chosen intervals (repeats, draws)."""
        groups = self.groups(data)
        means: Array = np.einsum("p,rpi->ri", groups / groups.sum(), self.exact_parts(data, places))
        return np.asarray(np.take_along_axis(means, elected, axis=1))

    def _lowest(self, places: int, facts: PublicFacts) -> Array:
        """Lower ends of the intervals of three neighbouring places: (intervals,)."""
        step = 2 * facts.value_half_width / places
        return np.asarray(facts.value_low + step * np.arange(max(places - _REACH + 1, 1)))

    # -- votes --------------------------------------------------------------------------------

    def ballots(self, data: CurveData, places: int) -> NDArray[np.bool_]:
        """The place that each person's mean is in: (repeats, people, places), one True each."""
        means, facts = _averages(self.clipped(data), data.counts), data.facts
        place = (means - facts.value_low) / (2 * facts.value_half_width) * places
        place = np.clip(place.astype(int), 0, places - 1)
        return np.asarray(place[..., None] == np.arange(places))

    def flip_chance(self, epsilon: Array) -> Array:
        """Compute the chance of sending an entry flipped if two entries may cost the vote's ε."""
        return np.asarray(expit(-epsilon / 2))

    def vote_scale(self, epsilon: Array) -> float:
        """Scale 2/ε of the noise on each sum of ballots at one centre, at all servers."""
        return float(2 / epsilon[0])

    def noisy_votes(
        self,
        ballots: NDArray[np.bool_],
        data: CurveData,
        plans: Sequence[AveragePlan],
        draws: int,
        rng: np.random.Generator,
    ) -> list[Array]:
        """Add up ballots with noise (repeats, draws, places) for each plan, on shared draws.

        Ballots are (repeats, people, places).
        """
        shape = (len(ballots), draws, ballots.shape[2])
        if self.setting.is_central:
            sums, noise = ballots.sum(axis=1)[:, None], rng.laplace(size=shape)
            return [
                sums + self.vote_scale(plan.vote) * noise if plan.places > 1 else sums
                for plan in plans
            ]
        chances = [np.unique(self.flip_chance(plan.vote), return_inverse=True) for plan in plans]
        uniform = rng.random((max(len(values) for values, _ in chances), 2, *shape))
        return [
            self._flipped(ballots, values, alike[data.server], uniform) for values, alike in chances
        ]

    @staticmethod
    def _flipped(
        ballots: NDArray[np.bool_], chances: Array, alike: NDArray[np.int64], uniform: Array
    ) -> Array:
        """Sums of entries that were each flipped with the chance of their person.

        Of c ones among people with the same chance, a binomial number stays, and of the zeros one
        becomes ones; entries are flipped independently, so only the two numbers are drawn.
        """
        from scipy.stats import binom  # on first use: it takes a moment

        total = np.zeros(uniform.shape[2:])
        for group, chance in enumerate(chances):
            alike_ballots = ballots[:, alike == group]
            ones = alike_ballots.sum(axis=1)[:, None]
            stay, flipped = uniform[group]
            total += binom.ppf(stay, ones, 1 - chance)
            total += binom.ppf(flipped, alike_ballots.shape[1] - ones, chance)
        return total

    # -- ledger -------------------------------------------------------------------------------

    def ledger(self, plan: AveragePlan) -> tuple[Spend, ...]:
        """One line for each server and step; lines of one centre repeat at every server."""
        is_private = self.setting is not Setting.NONE
        epsilon = plan.measure if is_private else np.full(len(plan.budgets), math.inf)
        steps = [
            self._lines(AVERAGE, plan, self.sensitivity(plan), self.noise_scale(plan), epsilon)
        ]
        if plan.places > 1:
            steps.insert(0, self._vote_lines(plan))
        return tuple(line for of_server in zip(*steps, strict=True) for line in of_server)

    def _vote_lines(self, plan: AveragePlan) -> list[Spend]:
        """Laplace scale of a sum at one centre; standard deviation of a flipped entry locally."""
        if self.setting.is_central:
            noise = np.full(len(plan.budgets), self.vote_scale(plan.vote))
        else:
            chance = self.flip_chance(plan.vote)
            noise = np.sqrt(chance * (1 - chance))
        return self._lines(PLACE, plan, np.full(len(noise), 2.0), noise, plan.vote)

    def _lines(
        self, step: Step, plan: AveragePlan, sensitivity: Array, noise: Array, epsilon: Array
    ) -> list[Spend]:
        """Those of a step with its sensitivity, scale of noise and ε at every server."""
        counts = (
            self.n_parts(plan.public).tolist()
            if self.setting.is_local  # one from everybody
            else [1] * plan.public.sizes.n_servers
        )
        composition = Composition.PARALLEL if self.setting.is_local else Composition.SEQUENTIAL
        first = Spend(
            step=step,
            server=0,
            mu=None,
            sensitivity=(0.0,),
            noise_scale=(0.0,),
            count=1,
            composition=composition,
            budget=plan.budgets[0],
            why=self._why(step),
            unit=Unit.RECORD if self.setting.is_by_person else Unit.NUMBER,
            norm="ℓ1" if step is PLACE else "|·|",
            noise=self._law(step),
        )
        return [
            first.at(
                server,
                sensitivity=(sensitivity,),
                noise_scale=(noise,),
                epsilon=epsilon,
                count=count,
                budget=budget,
            )
            for server, (sensitivity, noise, epsilon, count, budget) in enumerate(
                zip(
                    sensitivity.tolist(),
                    noise.tolist(),
                    epsilon.tolist(),
                    counts,
                    plan.budgets,
                    strict=True,
                )
            )
        ]

    def _law(self, step: Step) -> NoiseLaw:
        if self.setting is Setting.NONE:
            return NoiseLaw.NONE
        is_bits = step is PLACE and not self.setting.is_central
        return NoiseLaw.BITS if is_bits else NoiseLaw.LAPLACE

    def _why(self, step: Step) -> str:
        if self.setting is Setting.NONE:
            return "The mean is published as it is: nothing is protected."
        unit = "all numbers of one person" if self.setting.is_by_person else "one number"
        protected = f"Protected is {unit}: exchanging it changes what is sent only a little."
        if step is PLACE:
            return (
                f"{protected} People vote for where their own mean is, with half of ε: "
                "exchanging one person changes two entries of the ballots."
            )
        if self.setting.is_central:
            return f"{protected} One noise for all; the smallest ε of all servers is used."
        if self.setting.is_local:
            return f"{protected} Each is noised before it is sent; each takes part once."
        return f"{protected} Each site adds noise to its own mean; sites share nobody."


class _StandardNoise:
    """The standard noise that releases at all budgets share, drawn where it is first needed."""

    def __init__(
        self,
        mechanism: UnivariateMean,
        data: CurveData,
        plans: Sequence[AveragePlan],
        draws: int,
        rng: np.random.Generator,
    ) -> None:
        self._mechanism, self._data, self._plans, self.draws = mechanism, data, plans, draws
        self._of_votes, self._of_sums = rng.spawn(2)

    @cached_property
    def votes(self) -> list[Array]:
        """Noisy sums of ballots for each plan: (repeats, draws, places) each."""
        ballots = self._mechanism.ballots(self._data, max(plan.places for plan in self._plans))
        return self._mechanism.noisy_votes(
            ballots, self._data, self._plans, self.draws, self._of_votes
        )

    @cached_property
    def sums(self) -> Array:
        """Sums of standard Laplace numbers, one for each part of a server: see `_laplace_sums`."""
        counts = self._mechanism.n_parts(self._data.public)
        return _laplace_sums(counts, self._data.n_repeats, self.draws, self._of_sums)


def _cautions(doubts: NDArray[np.bool_]) -> tuple[Caution, ...]:
    """Collect cautions from votes against releases, (plans, 2, repeats, draws), if any."""
    return tuple(
        Caution(text, applies, SaidIn.LINE)
        for text, applies in zip((OUTSIDE, UNDECIDED), doubts.swapaxes(0, 1), strict=True)
        if applies.any()
    )


def _expected(truth: Truth, design: Design, observations: int) -> float:
    """The expected mean of so many values of a curve at times of a stated design."""
    rng = Stratified(np.random.default_rng(_DESIGN_SEED))
    return float(truth.at(draw_times(design, _DESIGNS, observations, rng)).mean())


def _averages(values: Array, groups: NDArray[np.int64]) -> Array:
    """Means of neighbouring values along the second axis, `groups` of them at a time."""
    if (groups == 1).all():
        return values
    sums = np.add.reduceat(values, np.cumsum(groups) - groups, axis=1)
    return sums / groups.reshape(-1, *(1,) * (values.ndim - 2))


def _laplace_sums(
    counts: NDArray[np.int64], repeats: int, draws: int, rng: np.random.Generator
) -> Array:
    """Sums of `counts` (servers,) independent Lap(1): (repeats, draws, servers).

    Lap(1) is the difference of two standard exponentials, so k of them sum to the difference of
    two gamma variables of shape k: the same law without k draws. Zero where the count is.
    """
    shape = (repeats, draws, len(counts))
    return rng.standard_gamma(counts, shape) - rng.standard_gamma(counts, shape)
