"""Sentences of the page on wavelet regression."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from engine.core.types import Array, PublicFacts
from engine.language.grammar import escape
from engine.language.numbers import number, small, together, with_unit
from engine.mechanisms.families.wavelets.risk import RiskParts
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.topics.regression.answer import (
    ByLevel,
    CostOfPrivacy,
    DesignDemo,
    Network,
    PointAnswer,
    RegressionAnswer,
    WorstPair,
)

REFUSED = (
    "**These budgets allow no estimate.** The best bound on the error is no better than "
    "for a flat line, so nothing is released and no budget is spent. More observations, "
    "larger ε or fewer sites with more observations each would help."
)
PARTS = ("privacy noise", "sampling variability", "truncation bias", "clipping")


def shares(parts: RiskParts) -> tuple[float, float, float, float]:
    """Return the four parts in the order of `PARTS`, as shares of the squared error.

    A part that is estimated as negative counts as 0.
    """
    privacy, data, projection, clip = (
        max(part, 0.0) / parts.total
        for part in (parts.privacy, parts.data, parts.projection, parts.clip)
    )
    return privacy, data, projection, clip


def budgets(network: Network) -> str:
    """List all budgets of a network, for the strip."""
    epsilons = sorted({group.epsilon for group in network.groups})
    span = f"{epsilons[0]:g}" if len(epsilons) == 1 else f"{epsilons[0]:g} to {epsilons[-1]:g}"
    return f"ε = {span} · δ = {small(network.delta)}"


def accuracy(answer: RegressionAnswer) -> str:
    """State the exact error beside that of publishing nothing, or what is known without a truth."""
    if answer.squared_error is None or answer.zero_risk is None:
        return _known(answer)
    typical, zero = number(answer.error), number(math.sqrt(answer.zero_risk))
    how = "simulated" if answer.risk is None else "exact"
    text = f"The published curve has an error of **{typical}** (root mean squared distance, {how})."
    if answer.squared_error > answer.zero_risk:
        return f"{text} A flat line at zero would have a smaller one: {zero}."
    return f"{text} A flat line at zero would have one of {zero}."


def _known(answer: RegressionAnswer) -> str:
    """Explain formulas and distances for observations without a known truth."""
    noise, chance, apart = (
        _valued(text, answer.facts)
        for text in together([answer.known.noise, answer.known.chance, answer.known.apart])
    )
    subject = (
        "Privacy noise is typically"
        if answer.noise_sd is not None
        else "Before the centre reshapes the curve, privacy noise is typically"
    )
    return (
        f"{subject} **{noise}** (root of its mean square over the range, by a public formula). "
        f"Sampling variability adds at most {chance}.\n\nThe releases are typically "
        f"**{apart}** from the curve without privacy.\n\n**How far the curve is off cannot "
        "be known.** What so few basis functions leave out and what clipping shifts is a bias "
        "that only the true curve would show, and nobody has it."
    )


def _valued(text: str, facts: PublicFacts) -> str:
    """Write a number with the unit of the observations, without markup."""
    return with_unit(text, escape(facts.value_unit))


def at_scale(values: Sequence[float], span: float, facts: PublicFacts) -> list[str]:
    """Write values with the decimals of a span: a pressure of 1013.2 between 1012.9 and 1013.5."""
    decimals = min(max(0, 1 - math.floor(math.log10(span))), 6)
    return [
        _valued(f"{v:,.{decimals}f}".replace("-", "−").replace(",", "\u202f"), facts)
        for v in values
    ]


def place(facts: PublicFacts, point: float) -> str:
    """Write a position on [0, 1] in its own unit."""
    digits = 3 - math.floor(math.log10(facts.time_high - facts.time_low))
    position = round(float(facts.time_low + point * (facts.time_high - facts.time_low)), digits)
    return with_unit(f"{position:.12g}", escape(facts.time_unit))


def levels(by_level: ByLevel) -> str:
    """Say what a higher or lower number of basis functions would do."""
    totals = {
        level: parts.total for level, parts in zip(by_level.levels, by_level.parts, strict=True)
    }
    best = min(totals, key=totals.__getitem__)
    lead = f"The rule takes **{2**by_level.chosen} basis functions**"
    if best == by_level.chosen:
        return (
            f"{lead}, which is best for this curve. More basis functions add noise, fewer add "
            "truncation bias."
        )
    ratio = math.sqrt(totals[by_level.chosen] / totals[best])
    return (
        f"{lead} from public numbers alone. For this very curve the error with {2**best} would "
        f"be {ratio:.1f} times smaller, which nobody can know without looking at it."
    )


_REGIMES = {
    "regime 8": "No single site dominates: regime 8 of the theorem.",
    "regime 9": "One site alone would do about as well: regime 9 of the theorem.",
    "neither": "The theorem’s regimes 8 (privacy is the bottleneck at every site) and 9 (one site "
    "alone would do about as well) do not apply.",
}


def limited(network: Network, gamma: float, risk: RiskParts | None = None) -> str:
    """Say which sites privacy holds back, with D and the regime of the theorem.

    Rates leave out constants: where the exact error says otherwise, so is said. The smoothness γ is
    α for the whole curve and α − 1/p at one point.
    """
    theory = network.theory()
    count, d = int(theory.privacy_limited(gamma).sum()), theory.resolution(gamma)
    sites = network.n_sites
    who = (
        "observations, not privacy, are the bottleneck at every site"
        if count == 0
        else "privacy is the bottleneck at "
        f"{'every site' if count == sites else f'{count} of {sites} sites'}"
    )
    measured = _against(count, sites, risk)
    theory_says = (
        f"{measured} Rates, which leave out constants, would say that {who}."
        if measured
        else f"By the rates, which leave out constants, **{who}**."
    )
    return (
        f"{theory_says} :small[Privacy is the bottleneck at a site where n ε² ≤ D = "
        f"{number(d, 2)}. {_REGIMES[theory.regime(gamma)]}]"
    )


def _against(count: int, sites: int, risk: RiskParts | None) -> str:
    """State the exact errors if they disagree with the rates; else empty."""
    if risk is None:
        return ""
    private = shares(risk)[0]
    if (count == 0 and private > 0.5) or (count == sites and private < 0.5):
        return f"**Privacy noise makes up {100 * private:.0f} % of the squared error here.**"
    return ""


def point(answer: PointAnswer) -> str:
    """State the value at one point with its interval."""
    if answer.is_refused:
        return "**These budgets allow no estimate at this point**, so nothing is released."
    if answer.truth is None:
        return _point_of_own(answer)
    if answer.low is None or answer.high is None:
        value, true = together([answer.released, answer.truth])
        return (
            f"At {answer.point:g} the released value is **{value}**, and the true value "
            f"{true}. **No confidence interval is given:** {answer.no_interval}."
        )
    value, low, high, true = together([answer.released, answer.low, answer.high, answer.truth])
    covers = "covers" if answer.low <= answer.truth <= answer.high else "does not cover"
    return (
        f"At {answer.point:g} the released value is **{value}**, with the 95 % confidence "
        f"interval {low} to {high}. It {covers} the true value {true}. {_bias(answer)}"
    )


def _bias(answer: PointAnswer) -> str:
    """State the bias bound within the interval, and what it rests on."""
    bias, left_out = (
        _valued(text, answer.facts) for text in together([answer.bias, answer.left_out])
    )
    return (
        f"The interval includes privacy noise, sampling variability and a bias of at most {bias}"
        f", which is right if details finer than the chosen level add at most {left_out} here."
    )


def _point_of_own(answer: PointAnswer) -> str:
    where = place(answer.facts, answer.point)
    if answer.low is None or answer.high is None:
        (value,) = at_scale([answer.released], answer.noise_sd, answer.facts)
        return (
            f"At {where} the released value is **{value}**. **No confidence interval is "
            f"given:** {answer.no_interval}."
        )
    value, low, high = at_scale(
        [answer.released, answer.low, answer.high], answer.high - answer.low, answer.facts
    )
    return (
        f"At {where} the released value is **{value}**, with the 95 % confidence interval "
        f"{low} to {high}. {_bias(answer)} You state that it is so."
    )


def class_statement(answer: PointAnswer) -> str:
    """Say what the visitor must know from outside the data before an interval can be given."""
    bound = _valued(number(answer.left_out, 2), answer.facts)
    return (
        f"I know from outside the data that details finer than {2**answer.level} basis "
        f"functions add at most {bound} here"
    )


CLASS_HELP = (
    "The plan takes the curve to be this smooth, and no data can confirm it. Where it is "
    "rougher the interval covers less often than 95 %. Smoothness and radius, under "
    "*All settings*, change the bound."
)


def band(answer: RegressionAnswer) -> str:
    """Say what the band around one release covers, or why there is none."""
    if answer.band is not None:
        return (
            "Band: pointwise 95 % confidence band, with privacy noise, sampling variability "
            "and the largest bias that the stated smoothness allows."
        )
    noise = (
        "Shaded: ± 2 standard deviations of the privacy noise alone. "
        if answer.noise_sd is not None
        else "The centre reshapes what was sent, so its noise has no formula. "
    )
    return f"{noise}No confidence band is given: {answer.no_band}."


ONLY_EVEN = (
    "The method for one point takes times to be spread evenly. With times stated "
    "otherwise, read the point off the whole curve."
)

WORST_ONLY_EVEN = (
    "The worst pair is worked out for times that are spread evenly. What one "
    "observation can move a message by with times stated otherwise stands in the "
    "ledger below, under *moved at most by*."
)


def point_against_whole(answer: PointAnswer) -> str:
    """Compare the noise with that of the whole curve at the same point, and name its kind."""
    at_point, whole = (
        _valued(text, answer.facts) for text in together([answer.noise_sd, answer.whole_sd])
    )
    kind = {
        "laplace": "Laplace noise, with δ = 0",
        "gaussian": "Gaussian noise",
        "curve": "noise on a whole curve",
    }[answer.kind]
    return (
        f"It is released on its own, with {kind} of standard deviation **{at_point}**; read "
        f"off the whole curve it would have {whole}. Points asked for one after another cost "
        f"a budget each; asked for together they share one message. {answer.why}"
    )


def printed_constant(answer: PointAnswer) -> str:
    """Compare the sensitivity at one point with the one that the paper prints, in units of τ/n."""
    ratio = answer.printed / answer.exact
    text = (
        f"One observation moves the value by at most **{number(answer.exact)} τ/n** "
        "(τ: where observations are clipped; n: observations of the site); the paper prints "
        f"{number(answer.printed)} τ/n"
    )
    if ratio < 1:
        return f"{text}, which is too little: noise of that size does not protect by ε."
    return f"{text}, {ratio:.1f} times as much as is needed."


def elbows(costs: CostOfPrivacy) -> str:
    """State the ε below which privacy costs something by the rates, for a curve and a point."""
    whole, at_point = (number(value, 2) for value in costs.elbows)
    return (
        f"By the rates, privacy costs the whole curve something below **ε = {whole}**, a "
        f"single point below **ε = {at_point}**. Smoother targets lose more to privacy. Below "
        f"**ε ≈ {number(costs.smallest_epsilon, 2)}**, which is 1/(n√m) for m sites with n "
        "observations "
        "each, no method gives an estimate that is better than none; constants raise that ε."
    )


def planned_cost(planned: tuple[Array, Array]) -> str:
    """State what the constants add to the rates: increasing ε, and factors of the plan's bound."""
    epsilons, times = planned
    at_one = float(np.exp(np.interp(0.0, np.log(epsilons), np.log(times))))
    return (
        f"Rates leave out constants. With them the bound that the plan keeps is **"
        f"{number(at_one, 2)} times** as large at ε = 1 as without privacy. The solid "
        "line is flat on the left where nothing would be released."
    )


def worst(pair: WorstPair, clip: float, facts: PublicFacts) -> str:
    """Describe the pair of observations that changes a message most; values are clipped at ± τ."""
    ratio = pair.printed / pair.exact
    high, low = at_scale([facts.value_middle + clip, facts.value_middle - clip], clip, facts)
    text = (
        f"The worst pair: both at {place(facts, pair.time)}, one at {high}, one at {low}. "
        f"It moves a site’s message by **{number(pair.exact)}"
        f" τ/n**."
    )
    return (
        f"{text} The paper’s bound is {number(pair.printed)} τ/n, "
        f"{ratio:.1f} times as much: {ratio**2:.0f} times the noise variance."
    )


def design(demo: DesignDemo) -> str:
    """State the effect of wrongly stated times on the error."""
    even, rising, known = together([demo.even, demo.rising, demo.weighted])
    return (
        f"**Times are taken to be spread evenly.** If they rise with density ½ + x instead, "
        f"the error goes from {even} to **{rising}**, and more observations do not help: the "
        f"estimate converges to another curve. Stating that density (*Times of observations*, "
        f"under *All settings*) makes it {known}; an unknown one can be released with the "
        "same message."
    )


SLOPES = (
    "How fast errors fall, on log scales, along nine paths. The theory leaves out logarithms, so "
    "exact errors of the tuned plans fall a little slower: the clip grows with the number of "
    "observations, and at both ends of a path more than one part of the error counts. All sites "
    "are alike, δ = 10⁻⁸; the whole curve is exactly as rough as smoothness 1 allows, the point is "
    "a kink of smoothness ¾."
)


def design_of_own(mechanism: WaveletGlobal, facts: PublicFacts) -> str:
    """State the assumption about the times of one's own observations, and its alternatives.

    `mechanism` holds the design that it relies on.
    """
    span = f"{place(facts, 0.0)} to {place(facts, 1.0)}"
    if mechanism.design == "even":
        return (
            f"**Times are taken to be spread evenly over {span}.** Where they are not, the "
            "estimate converges to another curve, the true one times the density of the times, "
            "and more observations do not help. The file is not searched for this, because a "
            "choice that follows the data would leak. What do you know of how the times came "
            "about?"
        )
    if mechanism.design == "released":
        return (
            "**Nothing is assumed of the times**: every site sends its noisy density "
            "with the same message, and the centre divides by it. This costs more noise."
        )
    return (
        f"**Times are taken to follow the density you state over {span}**, from outside the "
        "file. Where it is wrong the estimate converges to another curve."
    )


DESIGNS = {
    "even": "Spread evenly",
    "weighted": "Known density, by weights",
    "ranked": "Known density, by ranks",
    "released": "Not known: release it, too",
}

ASSUMPTIONS = (
    "**One observation, one person.** A person with several observations has a weaker protection: "
    "state how many beside the odds, and they are about all of them.",
    "**Bounds and spread are public.** The bound of the curve, the spread of observations and the "
    "smoothness are stated, never read off the data.",
    "**How many observations each site has is public**, and stays what it is.",
    "**Observations are exchangeable between sites:** all follow one curve.",
)
