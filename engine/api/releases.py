"""Releases: simulated for looking, and real ones with their ledger and card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from engine.answers import CurveQuestion, card, curve_questions
from engine.answers.released_curve import ReleasedCurve
from engine.answers.reply import Answer
from engine.answers.survival import ReleasedSurvival, SurvivalQuestion, survival_questions
from engine.answers.survival import card as counts_card
from engine.core.entrance import json_of, text_of
from engine.core.errors import InputError
from engine.core.random_streams import NOISE_STREAM, generator
from engine.core.typed import Repeats, Within, checked
from engine.core.types import Budget, Data, Estimate, PublicFacts, Spend
from engine.mechanisms import Mechanism
from engine.privacy import accounting, risk
from engine.privacy.risk import Odds
from engine.release import files, folder, published
from engine.release.certified import ReleaseCost
from engine.release.ledger import Ledger
from engine.release.plan import UNDECLARED, Declaration
from engine.release.public_tuning import PublicTuning, tuned_on
from engine.release.published import Published
from engine.sources import Source
from engine.topics.release.preview import ReleasePreview, preview_before, release_preview

_MAX_BUDGETS, _MAX_RELEASES = 1000, 1_000_000


@dataclass(frozen=True, eq=False)
class SimulatedReleases:
    """Releases for looking: the estimate with what is stated of its data."""

    # coefficients (budgets, repeats, draws, basis functions), bands and a ledger for each budget
    estimate: Estimate
    facts: PublicFacts


@checked
def simulate_release(
    data: Data,
    mechanism: Mechanism,
    budgets: Annotated[Budget | Sequence[Budget | tuple[Budget, ...]], Within(1, _MAX_BUDGETS)],
    draws: Repeats = 1,
    seed: int = 1,
) -> SimulatedReleases:
    """Simulated releases of data at several budgets: for looking, never for publishing.

    Draws share their noise across budgets, so that two of them together would give the data away.

    Parameters
    ----------
    data : CurveData
        From `simulate`, or made of arrays.
    mechanism : Mechanism
        From `mechanism`.
    budgets : Budget, or sequence of Budget or of tuples
        One for each release: of every site, or a tuple with one for each site.
    draws : int
        How often noise is drawn, from 1 to 100,000.
    seed : int
        Of the noise; at least 0.

    Returns
    -------
    SimulatedReleases
        See `frame` and `figure`.

    Raises
    ------
    InputError
        If the mechanism does not take the data, cannot keep a budget, there is neither one nor one
        for each site, a site has nobody, or these are too many releases.
    """
    every = [budgets] if isinstance(budgets, Budget) else budgets
    if not (data.n_repeats and data.n_curves and all(data.sizes.n_curves_per_server)):
        raise InputError(
            "Every site needs a person, and there must be a data set.",
            field="data",
            hint="Number sites from 0 without gaps.",
        )
    if len(every) * data.n_repeats * draws > _MAX_RELEASES:
        raise InputError(
            f"At most {_MAX_RELEASES:,} releases are simulated at once.",
            field="draws",
            hint="Take fewer draws, data sets or budgets.",
        )
    of_sites = [(each,) if isinstance(each, Budget) else each for each in every]
    estimate = mechanism.release_many(data, of_sites, draws, generator(seed, NOISE_STREAM, 0))
    return SimulatedReleases(estimate, data.facts)


@checked
def guarantee(releases: SimulatedReleases, budget: int = 0) -> tuple[Budget, ...]:
    """Compute what the ledger of a release proves, for each site.

    Parameters
    ----------
    releases : SimulatedReleases
    budget : int
        Which of its budgets.

    Returns
    -------
    tuple of Budget
    """
    return accounting.guarantees(_spends(releases, budget))


def _spends(releases: SimulatedReleases, budget: int) -> Sequence[Spend]:
    """The ledger of one of the budgets."""
    every = releases.estimate.spends
    if not 0 <= budget < len(every):
        raise InputError(
            f"“budget” counts from 0 to {len(every) - 1}; got {budget}.",
            field="budget",
            hint="It is the place of one in “budgets”.",
        )
    return every[budget]


@checked
def odds(releases: SimulatedReleases | ReleaseCost | Published | Budget, budget: int = 0) -> Odds:
    """Compute how often an attacker tells one person's curve from another.

    Of a release the noise is known, and the chance is that of this noise: what its guarantee card
    and the command line say. Of a budget alone it is the chance at the worst method that keeps
    (ε, δ), which is larger. The two are not to be compared as if they were of one thing.

    Parameters
    ----------
    releases : SimulatedReleases, ReleaseCost, Published or Budget
        Releases for looking, what `quote` or `release` returned, or a budget alone.
    budget : int
        Which of the budgets of the releases.

    Returns
    -------
    Odds
        `right` is the chance of a right guess between two equally likely curves; `from_noise` says
        whether it is that of the noise, and `right_cap` is what the budget alone allows.

    Examples
    --------
    Of any method with ε = 1, and of the noise of one such method:

    >>> from engine import api as pc
    >>> round(pc.odds(pc.Budget(1.0, 1e-6)).right, 3)
    0.731
    >>> curves = pc.simulate(pc.source("sparse_curves", n_curves=500))
    >>> releases = pc.simulate_release(curves, pc.mechanism("adaptive_mean"), pc.Budget(1.0, 1e-6))
    >>> round(pc.odds(releases).right, 3)
    0.547
    """
    if isinstance(releases, Budget):
        return risk.odds(None, releases)
    if isinstance(releases, Published):
        releases = releases.cost
    if isinstance(releases, ReleaseCost):
        return risk.of_ledger(releases.certified_spends)
    return risk.of_ledger(_spends(releases, budget))


@checked
def tune(
    mechanism: Mechanism,
    public: Source[Data],
    source: Source[Data],
    budget: Budget,
    seed: int = 1,
    name: str = "",
) -> PublicTuning:
    """Set a method by a public sample of other people; costs no budget.

    A public sample may set a prior curve, a spread, a number of functions, a bandwidth or the
    weight of a penalty: whatever of these the method has and leaves open. Of the protected data
    only stated facts and sizes are used. Their records are compared with the sample, and a shared
    one is refused; that refusal is for their holder alone, and must not be published.

    Parameters
    ----------
    mechanism : Mechanism
        Settings that were chosen already stay as they are.
    public : Source
        Other people, at least 20, in the units of the protected data.
    source : Source
        What would be published, as for `quote`.
    budget : Budget
        That of the release, which decides how much noise a setting must bear.
    seed : int
        Fixes the data sets that are drawn from the sample.
    name : str
        What the card calls the sample; by default the title of its data.

    Returns
    -------
    PublicTuning
        `mechanism` is the method with its settings, for `preview` and `quote`; `release` takes all
        of it, and the card names the sample.

    Raises
    ------
    InputError
        If the sample is in other units, too small or shares records with the protected data, or if
        the method leaves nothing open that it could set.

    Examples
    --------
    >>> from engine import api as pc
    >>> sample, people = (pc.source("sparse_curves", n_curves=count) for count in (60, 500))
    >>> pc.tune(pc.mechanism("adaptive_mean"), sample, people, pc.Budget(1, 1e-5)).chosen
    ('prior', 'guessed_spread')
    """
    return tuned_on(mechanism, public, source, budget, seed, name)


@checked
def preview(
    source: Source[Data], mechanism: Mechanism, budget: Budget, seed: int = 1
) -> ReleasePreview:
    """A release of simulated data with the same sizes and stated facts: costs nothing.

    Parameters
    ----------
    source : Source
        What would be published; only its facts and sizes are looked at.
    mechanism : Mechanism
    budget : Budget
        The most that would be spent.
    seed : int
        Seed of data and noise.

    Returns
    -------
    ReleasePreview
        `error` and `within` say how far off such releases are; see `frame` and `figure`.

    Raises
    ------
    InputError
        If the mechanism refuses it, or it would be too large to simulate.
    """
    return release_preview(source.facts, source.sizes, mechanism, budget, seed)


@checked
def quote(source: Source[Data], mechanism: Mechanism, budget: Budget) -> ReleaseCost:
    """Quote what publishing would cost, from public facts alone; nothing is charged.

    Parameters
    ----------
    source : Source
        From `read_curves`, or real data of `source`.
    mechanism : Mechanism
    budget : Budget
        The most that may be spent.

    Returns
    -------
    ReleaseCost
        `certified` is what is proved of the noise that will be drawn.

    Raises
    ------
    InputError
        If it may not be published.
    """
    return published.release_cost(source, mechanism, budget)


@checked
def release(
    source: Source[Data],
    mechanism: Mechanism | PublicTuning,
    budget: Budget,
    name: str,
    ledger: Ledger,
    total: Budget | None = None,
    same_people: bool | None = None,
    leave_out: bool = False,
) -> Published:
    """Publish once: the ledger is charged, noise is drawn, and nothing takes it back.

    The same data, method, budget and name once more give the same release, at no charge. What
    `preview` forecasts of the error stands beside it.

    Parameters
    ----------
    source : Source
        From `read_curves`, or real data of `source`.
    mechanism : Mechanism or PublicTuning
        From `mechanism`, or from `tune`: the card then names the public sample.
    budget : Budget
        The most that may be spent.
    name : str
        Of the release.
    ledger : Ledger
        The one that holds all releases of these people.
    total : Budget, optional
        The most that one of these people may lose by all releases; the ε of the first release of a
        ledger is the total of that ledger.
    same_people : bool, optional
        False states that people who are known by their curve alone are others.
    leave_out : bool
        True publishes about the others where people have less left than this costs; the card says
        so. Otherwise the release is refused.

    Returns
    -------
    Published
        `columns` over `x`, `ranges` with the ends of bands, and the guarantee as `card`.

    Raises
    ------
    InputError
        If it may not be published, or would overrun the total: nothing is charged then.
    """
    declaration = UNDECLARED
    if isinstance(mechanism, PublicTuning):
        declaration = Declaration(tuned_on=mechanism.in_words)
        mechanism = mechanism.mechanism
    expected = preview_before(
        source, mechanism, budget, published.release_cost(source, mechanism, budget)
    )
    return published.publish(
        source,
        mechanism,
        budget,
        ledger,
        name,
        total,
        same_people,
        None if expected is None else expected.forecast(mechanism.main_task.key),
        leave_out,
        declaration,
    )


@checked
def release_again(ledger: Ledger, release_id: str) -> Published:
    """An earlier release once more, from the ledger: no data and no charge.

    Parameters
    ----------
    ledger : Ledger
    release_id : str
        Of the earlier release.

    Returns
    -------
    Published

    Raises
    ------
    InputError
        If the ledger has none of that id.
    """
    return published.again(ledger, release_id)


@checked
def save(release: Published, path: str | Path) -> list[Path]:
    """Write all files of a release: numbers, picture, report, card and request.

    Parameters
    ----------
    release : Published
    path : str or Path
        A folder that is new or empty.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    InputError
        If the folder cannot be written, or has files already.
    """
    return [Path(each) for each in folder.write(str(path), files.all_files(release))]


@checked
def read_card(card_file: str | Path | Mapping[str, Any]) -> ReleasedCurve | ReleasedSurvival:
    """The released curve, or released survival, of a guarantee card: all that is needed to ask it.

    Parameters
    ----------
    card_file : path or mapping
        The file `guarantee.json` of a release, or what it holds.

    Returns
    -------
    ReleasedCurve or ReleasedSurvival

    Raises
    ------
    InputError
        If it is no card, or holds neither coefficients nor counts of survival.
    """
    known = (
        card_file if isinstance(card_file, Mapping) else json_of(text_of(str(card_file)), "card")
    )
    return counts_card.read(known) if counts_card.is_of_counts(known) else card.read(known)


@checked
def ask(curve: ReleasedCurve | ReleasedSurvival, question: str, **parameters: Any) -> Answer:
    """Ask a released curve, with a 95 % interval; costs no privacy.

    Parameters
    ----------
    curve : ReleasedCurve or ReleasedSurvival
        From `read_card`.
    question : str
        Such as "value", "peak_time", "crossing" or "average", or of survival "milestone" or
        "restricted_mean"; see `privacy-curves ask-card --help`.
    parameters
        Of the question: times and levels in the units of the data.

    Returns
    -------
    Answer

    Raises
    ------
    InputError
        If there is no such question, or a time lies outside the range of the release.
    """
    if isinstance(curve, ReleasedSurvival):
        about: SurvivalQuestion = survival_questions.build(question, parameters)
        return about.answer(curve)
    asked: CurveQuestion = curve_questions.build(question, parameters)
    return asked.answer(curve)
