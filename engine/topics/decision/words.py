"""Sentences of a decision: the study, what is recommended, who is protected, what is assumed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.enumerations import NoiseLaw, NoisePlace
from engine.core.tasks import VARYING_COEFFICIENTS, Argument, DataType, Task, Unit
from engine.core.types import Budget, PublicFacts
from engine.language import quality, tags
from engine.language.grammar import a, escape, of, uncapital
from engine.language.numbers import (
    digits_up,
    in_unit,
    number,
    percent,
    percent_up,
    unbroken,
    whole,
    with_unit,
)
from engine.language.odds_words import odds_main, odds_short
from engine.language.tags import credited
from engine.privacy import accounting, risk
from engine.sources import Source
from engine.topics.decision import answer as decision_topic
from engine.topics.decision.answer import Decision, Option, Profile
from engine.topics.decision.effective_size import EffectiveSize, effective_size
from engine.topics.mean.answer import EPSILON_STEPS
from engine.topics.sites import site_table
from engine.topics.sites.site_table import SiteRow

CONFIDENCES = {key: f"{key} of 20" for key in decision_topic.SHARES}
WHO = {
    NoisePlace.SITES: "Each {site} adds noise (FDP)",
    NoisePlace.CENTRE: "A trusted centre adds noise (CDP)",
    NoisePlace.SUMS: "Each {site} adds a share (masked sums)",
    NoisePlace.PERSON: "Each person’s device adds noise (LDP)",
}
_SITES = {
    "patient": ("hospital", "hospitals"),
    "woman": ("hospital", "hospitals"),
    "child": ("school", "schools"),
    "pupil": ("school", "schools"),
    "household": ("district", "districts"),
}
GUESSING = "guessing: 50 %"
UNIT = "Unit of privacy"  # heading


def estimand(task: Task, facts: PublicFacts) -> str:
    """Name the published result: "mean glucose curve", "average glucose", "density"."""
    if task.data is DataType.CURVES and task.argument is Argument.NOTHING:
        return f"average {uncapital(facts.value_name)}"
    name = decision_topic.DECIDED[task.key]
    if not facts.curve:
        return name
    return name.replace("mean curve", f"mean {facts.curve} curve")


def heading(answer: Decision | None) -> str:
    """State the answer as the title of the page; without one name its question."""
    if answer is None:
        return "Decide on a privacy budget"
    subject = escape(estimand(answer.profile.task, answer.profile.facts))
    if answer.chosen is None:
        return f"No ε up to {EPSILON_STEPS[-1]:g} is enough for the {subject}"
    return f"ε = {answer.chosen.budget.epsilon:g} is enough for the {subject}"


def protected_unit(task: Task, facts: PublicFacts) -> str:
    """Name the protected unit and its person: "the whole curve of a child"."""
    return f"{_unit_noun(task)} of {a(escape(facts.person))}"


def unit_tag(task: Task, facts: PublicFacts) -> tuple[str, str]:
    """Name what is protected in a chip, with its tooltip."""
    if task.unit is Unit.RECORD and task.data is DataType.CURVES:
        return (
            f"All of {of(a(facts.person))} observations",
            f"Unit of protection: replacing all observations of any one {facts.person} hardly "
            "changes what is published.",
        )
    return tags.unit_tag(facts, task.unit)


def subject(task: Task) -> str:
    """Name the subject of the target, as a sentence begins with it: "Its error must …"."""
    if task.argument is Argument.NOTHING:
        return "It must be within"
    return f"{'Their errors' if _is_plural(task) else 'Its error'} must be within"


def distance(task: Task, facts: PublicFacts) -> str:
    """Define the target for its help."""
    true = escape(estimand(task, facts))
    if task.argument is Argument.NOTHING:
        return f"Distance from the true {true}."
    scale = "" if task.has_value_unit else " A uniform density is 1 everywhere."
    return f"Root mean squared distance from the true {true}.{scale}"


def given_sites(source: Source[Any]) -> str:
    """Explain why the sites of some data cannot be changed one by one."""
    if source.facts.is_upload:
        return "Sites and sizes are those of the file; a twin is simulated from its stated facts."
    if not source.is_random:
        return "A twin with these sizes is simulated from the public facts."
    return "Sites as chosen above; a size in the sentence makes all alike."


MEANS_ALONE = (
    "Solving for a size, starting from a risk, and a budget for each site are worked "
    "out for the mean curve. Here every site has the same ε."
)


def _unit_noun(task: Task) -> str:
    if task.unit is Unit.CURVE:
        return (
            "the whole curve and all covariates"
            if "covariates" in task.roles
            else "the whole curve"
        )
    if task.unit is Unit.RECORD and task.data is DataType.CURVES:
        return "all observations"
    return f"the {task.unit.noun}"


def site_noun(facts: PublicFacts) -> tuple[str, str]:
    """Return the nouns for one site and several, by the people whose curves they hold."""
    return _SITES.get(facts.person, ("site", "sites"))


def option_name(answer: Decision, name: str, option: Option) -> str:
    """Write an option's `name` from `Decision.options`, and whether it misses the target."""
    distance = _distance(answer, option)
    return name if distance <= answer.target else f"{name}, misses the target"


def typical_error(option: Option, profile: Profile) -> str:
    """Write the root mean squared error of an option, with its unit."""
    return in_unit(option.accuracy.error, escape(profile.unit))


def _sizes(rows: Sequence[SiteRow], facts: PublicFacts) -> str:
    """Say who takes part: "150 patients at each of 12 hospitals (1 800 in all)"."""
    here = [row for row in rows if row.included]
    n, people, (site, several) = site_table.people(rows), escape(facts.people), site_noun(facts)
    if len(here) == 1:
        return f"{whole(n)} {people} at one {site}"
    if len({row.n_curves for row in here}) == 1:
        return (
            f"{whole(here[0].n_curves)} {people} at each of {len(here)} {several} "
            f"({whole(n)} in all)"
        )
    return f"{whole(n)} {people} at {len(here)} {several} ({spread(rows)} at each)"


def table_of_sites(profile: Profile) -> str:
    """List every site with its people and, if they differ, observations; empty if all are alike."""
    rows = profile.rows
    if len({(row.n_curves, row.n_observations_per_curve) for row in rows}) == 1:
        return ""
    differ = len({row.n_observations_per_curve for row in rows}) > 1
    people = escape(profile.facts.people).capitalize()
    each = [f"{escape(row.name)}: {whole(row.n_curves)}" for row in rows]
    if differ:
        people += " × observations of each"
        each = [
            f"{size} × {whole(row.n_observations_per_curve)}"
            for size, row in zip(each, rows, strict=True)
        ]
    return f"{people}: {'; '.join(each)}."


def spread(rows: Sequence[SiteRow]) -> str:
    """Write the range of site sizes: "80 to 400", or one number if they are equal."""
    low, high = (f(row.n_curves for row in rows if row.included) for f in (min, max))
    return whole(low) if low == high else f"{whole(low)} to {whole(high)}"


def question(answer: Decision) -> str:
    """Word the study and its target as two sentences."""
    profile, facts = answer.profile, answer.profile.facts
    each = sorted({row.n_observations_per_curve for row in profile.rows})
    observations = whole(each[0]) if len(each) == 1 else f"{whole(each[0])} to {whole(each[-1])}"
    people = (
        f"{whole(profile.n_people)} {escape(facts.people)}"
        if profile.noise is NoisePlace.PERSON
        else _sizes(profile.rows, facts)
    )
    each_has = (
        ""
        if observations == "1"
        else f" with {observations} observations per {escape(facts.person)}"
    )
    subject = escape(estimand(profile.task, facts))
    return (
        f"Which privacy budget ε is needed to publish the {subject} of {people}{each_has}? "
        f"{_who(profile)}. {_error_of(profile)} must be within {_target(answer)} in "
        f"{CONFIDENCES[answer.confidence]} releases."
    )


def _error_of(profile: Profile) -> str:
    """Name the error of a release, as a sentence begins with it."""
    if profile.task.argument is Argument.NOTHING:
        return "The error, its distance from the truth,"
    return (
        "The error, the root mean squared distance from the truth over the whole "
        f"{'curves' if _is_plural(profile.task) else 'curve'},"
    )


def _is_plural(task: Task) -> bool:
    return task is VARYING_COEFFICIENTS


def _who(profile: Profile) -> str:
    site = site_noun(profile.facts)[0]
    if profile.noise is NoisePlace.PERSON:
        return "Everybody’s own device adds the noise"
    if len(profile.rows) == 1:
        return f"The {site} adds the noise"
    return {
        NoisePlace.SITES: f"Each {site} adds its own noise",
        NoisePlace.SUMS: f"Each {site} adds a share of the noise, and only sums can be read",
        NoisePlace.CENTRE: "A trusted centre adds the noise",
    }[profile.noise]


def _target(answer: Decision) -> str:
    return with_unit(f"{answer.target:g}", escape(answer.profile.unit))


def verdict(answer: Decision) -> str:
    """Say what is recommended and why, and what it means for one person."""
    profile, chosen, facts = answer.profile, answer.chosen, answer.profile.facts
    if chosen is None:
        return not_reached(answer)
    person = escape(facts.person)
    is_least = chosen.budget.epsilon == EPSILON_STEPS[0]
    why = (
        "the smallest budget that was tried, and it meets the target"
        if is_least
        else f"the smallest of the {len(EPSILON_STEPS)} budgets tried that meets the target"
    )
    return (
        f"**Release with differential privacy at ε = {chosen.budget.epsilon:g} for every "
        f"{person}:** {why}. ε limits how much any one {person} can change what is published: "
        f"the smaller, the more private. In simulations the error is "
        f"{typical_error(chosen, profile)}, and within {within(answer, chosen)} in "
        f"{CONFIDENCES[answer.confidence]} releases. "
        f"{odds_main(chosen.odds, person, _record(profile.task))}"
    )


_JUMP = 1.25  # times the next distance: more than a step of ε gives


def no_margin(answer: Decision) -> str:
    """Warn that simulation is hardly more exact than what separates the target; else empty."""
    chosen = answer.chosen
    if chosen is None or decision_topic.CLOSE * _distance(answer, chosen) <= answer.target:
        return ""
    return (
        f"**ε = {chosen.budget.epsilon:g} meets the target without a margin:** "
        f"{CONFIDENCES[answer.confidence]} simulated releases are within "
        f"{within(answer, chosen)} of the {_target(answer)} that are asked for, and simulation "
        "is hardly more exact than the difference."
    )


def jump(answer: Decision) -> str:
    """Explain a distance that falls more than ε between neighbouring budgets; else empty."""
    n_functions, options = answer.profile.n_functions, [option for _, option in answer.options]
    for low, high in itertools.pairwise(options):
        at = [EPSILON_STEPS.index(option.budget.epsilon) for option in (low, high)]
        if (
            len(n_functions) == len(EPSILON_STEPS)
            and n_functions[at[0]] != n_functions[at[1]]
            and _distance(answer, low) > _JUMP * _distance(answer, high)
        ):
            return (
                f"The error jumps between ε = {low.budget.epsilon:g} and "
                f"{high.budget.epsilon:g}: there the method begins to draw finer detail "
                f"({n_functions[at[1]]} basis functions, not {n_functions[at[0]]}). Sizes and "
                "ε alone decide "
                "where."
            )
    return ""


def contributions(answer: Decision) -> str:
    """Say which sites decide the result, at the recommended budget or else the largest one.

    Empty if sites are alike, or the result is not put together of what they release.
    """
    profile, option = answer.profile, answer.chosen or answer.more_private
    if profile.weights is None or option is None:
        return ""
    people, several = [row.n_curves for row in profile.rows], site_noun(profile.facts)[1]
    weights = profile.weights[EPSILON_STEPS.index(option.budget.epsilon)]
    unlike = quality.by_precision(weights, people, profile.facts, several)
    if len(set(people)) < 2:
        return unlike
    heaviest, lightest = int(weights.argmax()), int(weights.argmin())

    def named(k: int) -> str:
        row = profile.rows[k]
        return (
            f"{escape(row.name)} ({whole(row.n_curves)} of {whole(profile.n_people)} "
            f"{escape(profile.facts.people)})"
        )

    return (
        f"The result is a weighted average of what {several} send. At ε = "
        f"{option.budget.epsilon:g} {named(heaviest)} has a weight of "
        f"**{_share(weights[heaviest])}**, "
        f"{named(lightest)} of **{_share(weights[lightest])}**. {unlike}"
    ).rstrip()


def _share(weight: float) -> str:
    return "less than 1 %" if weight < 0.005 else percent(float(weight))


def of_the_solver(answer: Decision) -> list[str]:
    """Say how the solver's question relates to a decision, and for which sites it is asked."""
    profile, (_, several) = answer.profile, site_noun(answer.profile.facts)
    asked = f"{CONFIDENCES[answer.confidence]} releases within {_target(answer)}"
    notes = []
    if answer.chosen is not None:
        notes.append(
            f"This page asks for {asked}. At the recommended ε = "
            f"{answer.chosen.budget.epsilon:g} the error is "
            f"{typical_error(answer.chosen, profile)}: the solver begins with that."
        )
    if profile.noise is not NoisePlace.SITES:
        notes.append(f"The solver is about {several} that add all of their noise.")
    if len({(row.n_curves, row.n_observations_per_curve) for row in profile.rows}) > 1:
        people = round(profile.n_people / len(profile.rows))
        notes.append(
            f"It is about {len(profile.rows)} {several} that are alike, with "
            f"{whole(people)} {escape(profile.facts.people)} each; those of the table "
            f"have {spread(profile.rows)}, so its numbers differ a little."
        )
    return notes


def at_one_point(answer: Decision) -> str:
    """State the possible error at one time if errors are of a whole function; else empty."""
    chosen = answer.chosen
    furthest = None if chosen is None else _at_the_noisiest_point(answer, chosen)
    if furthest is None:
        return ""
    time, distance = furthest
    off = in_unit(distance, escape(answer.profile.unit))
    facts = answer.profile.facts
    there = with_unit(f"{time:.3g}", escape(facts.time_unit))
    return (
        "Single points can be farther off than the whole curve: where releases are least "
        f"certain ({uncapital(escape(facts.time_name))}: {there}), 19 of 20 are within {off} "
        "of the truth."
    )


def _at_the_noisiest_point(answer: Decision, option: Option) -> tuple[float, float] | None:
    """Return the noisiest point and the bound of 19 of 20 releases there; None without a band."""
    bands = answer.profile.bands
    if option.band is None or bands is None:
        return None
    off = np.abs(option.band - bands.truth).max(axis=0)
    return float(bands.times[off.argmax()]), float(off.max())


def on_card(answer: Decision, name: str, option: Option) -> tuple[str, list[str]]:
    """Describe the option with this name in `Decision.options`: its title and lines of Markdown."""
    lines = [
        f"Attacker **{odds_short(option.odds)}**",
        f"Error **{typical_error(option, answer.profile)}**",
        f"{CONFIDENCES[answer.confidence]} within **{within(answer, option)}**",
    ]
    title = "Enough" if option is answer.chosen else name.removeprefix("One step ").capitalize()
    return title, [unbroken(line) for line in lines]


def not_reached(answer: Decision) -> str:
    """Explain why no budget of the scale reaches the target."""
    profile, unit = answer.profile, escape(answer.profile.unit)
    nearest = answer.more_private
    if nearest is None:
        size = effective_size(profile, EPSILON_STEPS[-1])
        if size is not None:
            return f"**No budget reaches the target.** {_too_small(size, profile.facts)}"
        return (
            "**No budget reaches the target:** with so few people nothing useful could be "
            "published at any ε of the scale."
        )
    distance = digits_up(float(profile.distance(decision_topic.SHARES[answer.confidence])[-1]), 2)
    return (
        f"**No ε up to {nearest.budget.epsilon:g} reaches the target.** Even then "
        f"{CONFIDENCES[answer.confidence]} releases are only within "
        f"{in_unit(distance, unit)}{_beyond(distance, answer)}."
    )


_FAR = 100.0  # beyond so many times the target, how many says nothing


def _beyond(distance: float, answer: Decision) -> str:
    """Write a distance as a multiple of the target, after a comma."""
    factor = digits_up(distance / answer.target, 2)
    return f", {number(factor, 2)} times the target" if factor < _FAR else ", far beyond the target"


def floor(answer: Decision) -> str:
    """State the least error at the chosen budget, or else the largest one; empty without it."""
    profile, option = answer.profile, answer.chosen or answer.more_private
    if profile.floor is None or option is None:
        return ""
    smallest_error = float(profile.floor[EPSILON_STEPS.index(option.budget.epsilon)])
    if not math.isfinite(smallest_error):
        return ""
    unit = escape(profile.unit)
    return (
        f"Floor for unbiased methods with Gaussian noise at ε = {option.budget.epsilon:g}: "
        f"**{in_unit(smallest_error, unit)}**."
    )


def protection(profile: Profile, records: int = 1) -> dict[str, str]:
    """Say by headings who is protected from whom, who is trusted, and how often one is asked."""
    facts, (site, several) = profile.facts, site_noun(profile.facts)
    person = escape(facts.person)
    if profile.noise is NoisePlace.PERSON:
        hidden = (
            f"everybody who sees the release or a message: the other {escape(facts.people)}, "
            f"the {several} and the centre"
        )
        trusted = (
            f"nobody. Noise is added on the {of(person)} own device, before anything leaves it"
        )
    elif len(profile.rows) == 1:
        hidden, trusted = "everybody who sees the release", f"the {site}, which has the data"
    elif profile.noise is NoisePlace.SITES:
        hidden = f"everybody who sees the release, the other {several} and the centre"
        trusted = f"the {of(person)} own {site}, and nobody else"
    elif profile.noise is NoisePlace.SUMS:
        hidden = f"everybody who sees the release, the centre, and any one of the other {several}"
        trusted = (
            f"the {of(person)} own {site}; and all but one of the other {several} must add "
            "their share of the noise and tell nobody what it was"
        )
    else:
        hidden = f"everybody who sees the release, and the other {several}"
        trusted = (
            f"the centre, which sees every {_record(profile.task)}, and the {of(person)} own {site}"
        )
    return {
        "Protected": f"{protected_unit(profile.task, facts)}, from {hidden}.",
        "Must be trusted": f"{trusted}.",
        "Not hidden": f"how many {escape(facts.people)} take part, which file, site or public "
        f"group they are in, and what is true of {escape(facts.people)} in "
        "general.",
        UNIT: _unit(profile.task, person, records),
        **_interaction(profile),
        **_worth(profile),
    }


def _unit(task: Task, person: str, records: int) -> str:
    noun = _record(task)
    if records > 1:
        return (
            f"one of the {whole(records)} {noun}s of {a(person)}; the attacker’s accuracy is "
            "about all of them."
        )
    if task.data is not DataType.CURVES:
        return f"one {noun}. Who has several is protected less."
    return f"{_unit_noun(task)} of {a(person)}, not only one observation."


def rounds(profile: Profile) -> int:
    """Count the messages of each site, or each device; 0 if nothing would be released."""
    lines = next(iter(accounting.by_server(profile.spends[-1]).values()))
    return sum(spend.count for spend in lines if spend.noise is not NoiseLaw.NONE)


def _interaction(profile: Profile) -> dict[str, str]:
    """Say how often the centre asks, if it has to ask anybody."""
    count = rounds(profile)
    sender = {
        NoisePlace.SITES: site_noun(profile.facts)[0],
        NoisePlace.PERSON: "device",
        NoisePlace.SUMS: site_noun(profile.facts)[0],
    }.get(profile.noise, "")
    is_alone = len(profile.rows) == 1 and profile.noise is NoisePlace.SITES
    if not sender or is_alone or not count:
        return {}
    if count == 1:
        return {"Interaction": f"one message from each {sender}, with no question in between."}
    return {
        "Interaction": f"each {sender} is asked {whole(count)} times. What it is asked depends "
        "on earlier answers, so it must stay reachable to the end."
    }


def _worth(profile: Profile) -> dict[str, str]:
    """State N if nobody is trusted, at ε = 1 and at the largest ε of the scale."""
    low, high = (effective_size(profile, epsilon) for epsilon in (1.0, EPSILON_STEPS[-1]))
    if low is None or high is None:
        return {}
    needed = (
        ""
        if low.is_enough or low.people_needed is None
        else f" ({whole(round(digits_up(low.people_needed, 2)))} {escape(profile.facts.people)} "
        "would be enough)"
    )
    return {
        "Effective size": (
            f"how much so many {escape(profile.facts.people)} count for when every device adds noise, "
            f"N = √n μ. It is {number(low.value)} at ε = 1{needed} and {number(high.value)} at ε = "
            f"{high.epsilon:g}; below {low.needed:g} nothing is released. With one trusted centre it "
            f"would be {number(low.of_centre)} at ε = 1."
        )
    }


def _too_small(size: EffectiveSize, facts: PublicFacts) -> str:
    """Explain why nothing useful can be released if nobody is trusted, and what it would need."""
    people = escape(facts.people)
    more = (
        ""
        if size.people_needed is None
        else f"{whole(round(digits_up(size.people_needed, 2)))} {people} instead of "
        f"{whole(size.n_people)}, or "
    )
    return (
        f"With nobody trusted, {whole(size.n_people)} {people} have an effective size of N = "
        f"√n μ = {number(size.value)} at ε = {size.epsilon:g}, and nothing useful can be "
        f"released below {size.needed:g}. It would need {more}ε = "
        f"{digits_up(size.epsilon_needed, 2):g}. One trusted centre has N = "
        f"{number(size.of_centre)}."
    )


def assumptions(answer: Decision) -> list[str]:
    """List the assumptions of the numbers."""
    profile = answer.profile
    facts, releases = profile.facts, math.prod(profile.errors.shape[1:])
    bounds = (
        ""
        if not profile.task.has_value_unit
        else ", with values from "
        + with_unit(f"{facts.value_low:g} to {facts.value_high:g}", escape(facts.value_unit))
    )
    return [
        *_devices(profile),
        *_shares(profile),
        f"Simulated: {whole(releases)} releases at each ε, of “{escape(facts.name)}”"
        f"{bounds}. No real data were used. Real data may differ: plan with a margin.",
        *_rests_on(answer),
        *_of_the_noise(answer),
        *(escape(sentence) for sentence in credited(facts)),
        f"Method: {escape(profile.study.mechanism.label)}. Its bounds, times and settings come from "
        "public facts, never from the data.",
        f"Each {escape(facts.person)} has one {_record(profile.task)}. Any other release about the "
        f"same {escape(facts.people)} adds to the ε spent on them.",
    ]


def _rests_on(answer: Decision) -> list[str]:
    """Say on how many simulated releases the recommended distance rests."""
    option = answer.chosen or answer.more_private
    if option is None:
        return []
    simulated = answer.profile.simulated(option.budget.epsilon, _distance(answer, option))
    return [quality.rests_on(f"{CONFIDENCES[answer.confidence]} releases", simulated)]


def _of_the_noise(answer: Decision) -> list[str]:
    """Say what the attacker's accuracy rests on, and what ε and δ alone would allow."""
    option = answer.chosen or answer.more_private
    if option is None or option.odds.group > 1:
        return []
    alone, known = (
        percent_up(odds.right) for odds in (risk.odds(None, option.budget), option.odds)
    )
    if alone == known:
        return []
    return [
        f"At most {known} holds for the noise of this method. By themselves, ε = "
        f"{option.budget.epsilon:g} and δ guarantee at most {alone}, whatever the method: if "
        f"the method changes, {alone} counts."
    ]


def _record(task: Task) -> str:
    return "curve" if task.data is DataType.CURVES else task.unit.noun


def _devices(profile: Profile) -> list[str]:
    """Say how devices were simulated."""
    n = profile.n_people
    if profile.noise is not NoisePlace.PERSON:
        return []
    budget = Budget(EPSILON_STEPS[-1], profile.delta.value)
    is_alike = profile.study.mechanism.as_one_centre(n, budget, profile.facts) == budget
    if is_alike or profile.study.source.sizes.n_servers == n > 1:
        return [f"Each of the {whole(n)} devices was simulated."]
    return [
        f"The noise of the {whole(n)} devices was simulated as one sum, which has exactly the "
        "same distribution."
    ]


def _shares(profile: Profile) -> list[str]:
    """Say how shares of noise were simulated."""
    n = len(profile.rows)
    if profile.noise is not NoisePlace.SUMS:
        return []
    return [
        f"The {whole(n)} {site_noun(profile.facts)[1]} hide what they send behind masks that "
        "cancel in the sum. They were simulated as one trusted centre with "
        f"{n}/{n - 1} of its noise variance."
    ]


def memo_title(profile: Profile) -> str:
    facts = profile.facts
    subject = estimand(profile.task, facts)
    article = "" if _is_plural(profile.task) else f"{a(subject).split()[0]} "
    return f"Privacy budget for {article}{subject} of {whole(profile.n_people)} {facts.people}"


def chart_title(answer: Decision) -> str:
    """Write the title of the memo's chart."""
    if answer.chosen is None:
        return f"No ε up to {EPSILON_STEPS[-1]:g} reaches the target"
    return f"The target is met from ε = {answer.chosen.budget.epsilon:g} up"


def within(answer: Decision, option: Option) -> str:
    """State the distance that so many releases of an option stay within, with its unit."""
    return in_unit(_distance(answer, option), escape(answer.profile.unit))


def _distance(answer: Decision, option: Option) -> float:
    step = EPSILON_STEPS.index(option.budget.epsilon)
    return float(answer.profile.distance(decision_topic.SHARES[answer.confidence])[step])


def map_title(answer: Decision) -> str:
    """State the finding of the map: of the study, not of another row of it."""
    people = f"{whole(answer.profile.n_people)} {answer.profile.facts.people}"
    if answer.more_private is None and answer.chosen is None:
        return f"{people}: nothing to release"
    if answer.chosen is None:
        return f"{people}: target not met"
    if answer.chosen.budget.epsilon == EPSILON_STEPS[0]:
        return f"{people}: every ε meets the target"
    return f"{people}: target met at ε = {answer.chosen.budget.epsilon:g}"


def nothing_on_map(people: Sequence[int], facts: PublicFacts) -> str:
    """Write the text in place of an empty map; `people` are totals by row."""
    return (
        f"With {whole(min(people))} to {whole(max(people))} {escape(facts.people)} and ε up to "
        f"{decision_topic.MAP_EPSILONS[-1]:g} nothing would be released anywhere on this map."
    )
