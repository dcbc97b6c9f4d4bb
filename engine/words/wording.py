"""Numbers and sentences as they are read on screen: plain words, true at every budget.

"At most" numbers are rounded up and "at least" down, so that rounding never makes a sentence
false. Sentences are Markdown with their numbers in bold.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from engine.feasibility import Feasibility
from engine.privacy.risk import Odds
from engine.types import Budget, PublicFacts, Spend

_THIN = "\u2009"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


# -- numbers --------------------------------------------------------------------------------


def number(value: float, digits: int = 3) -> str:
    """At most three significant digits, a real minus, thin spaces from a thousand on."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "unlimited"
    value = float(f"{value:.{digits}g}")  # 9.996 is 10.0 and 12 345 is 12 300
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{min(decimals, 6)}f}"
    return _signs(text.rstrip("0").rstrip(".") if decimals > 2 else text)


def together(values: Sequence[float]) -> list[str]:
    """Numbers of one unit in one sentence: all with the decimals of the largest."""
    largest = max((abs(v) for v in values), default=0.0)
    decimals = 0 if largest <= 0 else min(max(0, 2 - math.floor(math.log10(largest))), 4)
    return [_signs(f"{v:,.{decimals}f}") for v in values]


def small(value: float) -> str:
    """δ and its like: 2.5×10⁻⁵ instead of 2.5e-05."""
    if value >= 0.001 or value == 0:
        return f"{value:.3g}"
    digits, exponent = f"{value:.1e}".split("e")
    return f"{digits.removesuffix('.0')}×10{str(int(exponent)).translate(_SUPERSCRIPTS)}"


def power_of_two(exponent: int) -> str:
    """2⁻²⁰."""
    return f"2{str(exponent).translate(_SUPERSCRIPTS)}"


def times(ratio: float) -> str:
    """How many times: two digits, or "more than 100"."""
    if ratio >= 100:
        return "more than 100 times"
    return f"{ratio:.1f} times" if ratio < 9.95 else f"{ratio:.0f} times"


def change(relative: float) -> str:
    """A relative change in whole percent; "no change" under one percent."""
    percent = round(100 * relative)
    return "no change" if abs(relative) < 0.01 else f"{'+' if percent > 0 else '−'}{abs(percent)} %"


def in_hundred(chance: float) -> str:
    """An upper bound on a chance, rounded up: "at most 56 times in 100"."""
    if chance > 0.99:
        return "more than 99 times in 100"
    return f"at most {math.ceil(round(100 * chance, 6))} times in 100"


def one_in(value: float) -> str:
    """A small chance as "1 in 40 000"."""
    return f"1 in {_signs(f'{1 / value:,.0f}')}"


def _signs(text: str) -> str:
    return text.replace(",", _THIN).replace("-", "−")


def with_unit(text: str, unit: str) -> str:
    return f"{text} {unit}" if unit else text


def escape(words: str) -> str:
    """Words of a data source without markup: two “$” would become a formula."""
    return re.sub(r"([\\`*_\[\]<>$~:])", r"\\\1", words)


def a(noun: str) -> str:
    """A child, an athlete, a user."""
    vowel = re.match(r"(?!uni|use|eu|one)[aeiou]", noun, re.IGNORECASE)
    return f"{'an' if vowel else 'a'} {noun}"


def of(noun: str) -> str:
    """The possessive: child’s, children’s, persons’."""
    return f"{noun}’" if noun.endswith("s") else f"{noun}’s"


def span(facts: PublicFacts) -> str:
    """Where the curve was watched: "ages 2 to 18"."""
    name = facts.time_name.lower()
    plural = name if name.endswith("s") or " " in name else f"{name}s"
    return f"{plural} {facts.time_low:g} to {facts.time_high:g}"


# -- titles and tags ------------------------------------------------------------------------


def title(facts: PublicFacts) -> str:
    curve = f"{facts.curve} curve" if facts.curve else "curve"
    return f"The average {curve}, published with protection for every {facts.person}"


def source_tag(facts: PublicFacts) -> tuple[str, str]:
    """The chip that says what kind of data is on screen, and its tooltip."""
    if facts.kind == "upload":
        held = facts.name.removeprefix("Your ").lower()
        return (f"Your {held} · not private",
                f"Only you, the holder of these {held}, may look at this picture. It cannot be "
                f"linked or shared: it shows the {of(facts.people)} own {held}.")
    if facts.kind == "public":
        return (f"Public data: {facts.name}",
                f"Real curves that are already public. {facts.origin}".strip())
    return ("Simulated", "Curves made by the computer from a known average. No person is behind "
            "them. Noise here is for looking, not for publishing.")


def unit_tag(facts: PublicFacts) -> tuple[str, str]:
    return (f"One {of(facts.person)} whole curve",
            f"What is protected: exchanging every reading of any one {facts.person} changes what "
            "is published only a little.")


def record_tag(facts: PublicFacts) -> tuple[str, str]:
    """The same for records, which are no curves."""
    return (f"One {of(facts.person)} record",
            "Exchanging one record, all of its numbers together, changes what is published "
            "only a little. Somebody with several records is protected less.")


def budget_chip(budget: Budget) -> str:
    delta = "" if budget.is_pure else f" · δ = {small(budget.delta)}"
    return f"ε = {budget.epsilon:g}{delta}"


def proved_chip(budget: Budget) -> str:
    """A guarantee that is worked out: ε rounded up to three digits."""
    return budget_chip(Budget(digits_up(budget.epsilon, 3), budget.delta))


# -- odds -----------------------------------------------------------------------------------


def odds_short(odds: Odds) -> str:
    """For the strip: "at most 56 in 100", and for how many records if for several."""
    return _bare(odds.right) + (f" ({odds.group} together)" if odds.group > 1 else "")


def odds_main(odds: Odds, person: str, held: str = "curve") -> str:
    if odds.right <= 0.5:
        return ("Nothing would be published, so an attacker learns nothing: **50 right guesses in "
                "100**, as with a coin toss.")
    almost = ", almost a coin toss." if odds.right <= 0.51 else ". A coin toss gets 50."
    if odds.group > 1:
        return (f"An attacker who knows every other {of(person)} {held}s, and has narrowed all "
                f"{odds.group} of this {person} down to two possibilities, picks the right one "
                f"**{in_hundred(odds.right)}**{almost}")
    return (f"An attacker who knows every other {of(person)} {held}, and has narrowed this "
            f"{of(person)} down to two, picks the right one **{in_hundred(odds.right)}**{almost}")


def group(one: Odds, several: Odds, person: str, held: str = "curve") -> str:
    """What several protected units of one person cost together, beside one of them."""
    return (f"Protected is **one {held}**, with {proved_chip(one.budget)}. {capital(a(person))} "
            f"with **{several.group} {held}s** has **{proved_chip(several.budget)}**: where a "
            f"guess about one {held} is right {_bare(one.right)}, one about all of them together "
            f"is right {_bare(several.right)}.")


def sampled(full: Odds, drawn: Odds, share: float, person: str) -> str:
    """What a secret sample is worth, and against whom."""
    return (f"Drawn were {percent_of(share)} of the larger group. About {a(person)} of that group, "
            "an attacker who does not know who was drawn guesses right "
            f"**{in_hundred(drawn.right)}** instead of {_bare(full.right)}: against them "
            f"{proved_chip(full.budget)} counts as **{proved_chip(drawn.budget)}**. "
            f"**Not covered:** an attacker who knows that this {person} takes part, who drew the "
            "sample, or who holds the data: for them nothing changes. The ledger stays as it is.")


def percent_of(share: float) -> str:
    """A share, rounded up."""
    if share < 0.001:
        return one_in(share)
    return f"{math.ceil(share * 1000 - 1e-9) / 10:g} %"


DECLARATION = ("I declare: they were drawn at random without replacement, nobody but me knows who, "
               "and all who were drawn take part")


def group_tag(facts: PublicFacts, count: int, unit: str) -> tuple[str, str]:
    """The chip that says that odds are about several protected units of one person."""
    return (f"Odds for {count} {unit}s of one {facts.person}",
            f"One {unit} is protected. {capital(a(facts.person))} who has {count} of them in the "
            "data is protected less: the odds here are about all of them together.")


def with_and_without(odds: Odds, person: str, held: str = "curve") -> str:
    """A guess with this person's record in the data and with another in its place."""
    best = max(odds.first_guess, 1 - odds.first_guess)
    what = held if odds.group == 1 else f"{odds.group} {held}s"
    return (f"**With** this {of(person)} {what} in the data, an attacker’s best guess which of the "
            f"two it is, starting from {100 * odds.first_guess:.0f} in 100, is right "
            f"**{_bare(odds.guessed)}**. **With another {of(person)} in its place** it is right "
            f"{100 * best:.0f} in 100.")


def odds_key(odds: Odds) -> str:
    more = math.ceil(round(100 * odds.right, 6)) - 50
    gained = [f"■ at most {more} more"] if more > 0 else []
    return " · ".join(["● right by chance", *gained, "○ wrong"])


def odds_careful(odds: Odds) -> str:
    return (f"If they accept 5 false alarms in 100, they catch the right curve "
            f"**{in_hundred(odds.detected)}** (5 = no information).")


def odds_rare(odds: Odds) -> str:
    return (f"With 1 false alarm in 100 they catch it {in_hundred(odds.rarely)} (1 = no "
            "information).")


# What the chances are worked out from, by the kind of trade-off curve.
_FOUND = {"gaussian": "This is worked out from the noise this method really adds",
          "laplace": "This is worked out from the noise this method really adds, for the worst way "
                     "of sharing ε out among its numbers",
          "losses": "This is worked out from the noise of all releases together, each at its worst",
          "zcdp": "This is what the ρ of all releases together allows, whatever their noise",
          "subsampled": "This is worked out from the noise this method really adds, and the draw"}


def odds_why(odds: Odds) -> str:
    if not odds.from_noise or odds.curve is None:
        return ("This is what ε alone allows, whatever the noise: the worst method of this ε. No "
                "more is known of this noise.")
    return (f"{_FOUND[odds.curve.name]}. ε = "
            f"{digits_up(odds.budget.epsilon, 3):g} by itself would allow "
            f"{_bare(odds.right_cap)} and, for the careful attacker, {_bare(odds.detected_cap)}: "
            "use those to compare different methods.")


TRADE_OFF_KEY = ("Line: at most what this noise allows. Dotted: what (ε, δ) alone would allow. "
                 "Dashed: no information. ◆ 1 and 5 false alarms in 100.")


def odds_flagged(odds: Odds, people: str) -> str:
    return (f"Of the {people} such an attacker flags, **{_bare(odds.flagged_right)}** are right; "
            f"without the release, {100 * odds.first_guess:.0f} in 100.")


def not_covered(facts: PublicFacts) -> str:
    return (f"**Not covered:** that {a(facts.person)} is in the data, how many there are, and "
            f"anything that is true of {facts.people} in general.")


def weak(odds: Odds, person: str) -> str:
    epsilon = f"{digits_up(odds.budget.epsilon, 3):g}"
    return (f"**ε = {epsilon} is weak protection for one {person}.** An attacker is "
            f"right {in_hundred(odds.right)} with this method, and {in_hundred(odds.right_cap)} "
            "with the worst method of the same ε.")


def two_kinds(deltas: Mapping[str, float]) -> str:
    """Where promises with δ = 0 and with a δ stand side by side under the same ε; else empty."""
    never = [name for name, delta in deltas.items() if delta == 0]
    may = {name: delta for name, delta in deltas.items() if delta > 0}
    if not never or not may:
        return ""
    first, delta = next(iter(may.items()))
    return (f"**Two kinds of promise.** {escape(first)} has δ = {small(delta)}, {escape(never[0])} "
            "has δ = 0. Equal ε is **not** equal protection: compare *Right guess*.")


def _bare(chance: float) -> str:
    return in_hundred(chance).replace(" times in", " in")


def delta_explained(delta: float) -> str:
    if delta == 0:
        return "With δ = 0 the limit set by ε never fails."
    return (f"With a chance of at most δ the limit set by ε may fail. δ = {small(delta)} is "
            f"{one_in(delta)}.")


# -- accuracy -------------------------------------------------------------------------------


def typical_error(typical: float, within: float, floor: float | None, unit: str) -> str:
    """A typical error with the decimals it has in `accuracy`; empty where there is none."""
    if not math.isfinite(typical):
        return ""
    return with_unit(together([typical, within, floor or 0.0])[0], unit)


def accuracy(facts: PublicFacts, typical: float, within: float, floor: float | None) -> str:
    """How close the published average is: median, 19 in 20, and without protection."""
    numbers = together([typical, within, *([] if floor is None else [floor])])
    x, y, *rest = (with_unit(n, escape(facts.value_unit)) for n in numbers)
    target = "the true one" if floor is not None else "the average without protection"
    text = (f"The published average is typically **{x}** from {target}, over {span(facts)}. In 19 "
            f"of 20 releases it is within {y}.")
    return f"{text} Without protection: {rest[0]}." if rest else text


def refused(facts: PublicFacts, verdict: Feasibility, budget: Budget, n_curves: int
            ) -> tuple[str, str]:
    """Instead of a picture: that nothing useful can be published, and what would change it."""
    return (f"Too few {facts.people} for ε = {budget.epsilon:g}: nothing would be published.",
            f"The noise would be larger than the curve, so no budget is spent. "
            f"{capital(_what_helps(facts, verdict, budget, n_curves))} a coarse curve is "
            "possible.")


def coarse(facts: PublicFacts, verdict: Feasibility, budget: Budget, n_curves: int) -> str:
    """Beside a picture that shows little more than a level and a trend."""
    return ("Coarse: at this ε only the level and the trend can be trusted. "
            f"{capital(_what_helps(facts, verdict, budget, n_curves))} the shape is usable.")


def _what_helps(facts: PublicFacts, verdict: Feasibility, budget: Budget, n_curves: int) -> str:
    """With so many people, or from so large an ε on."""
    needed = two_digits_up(verdict.curves_needed(n_curves))
    epsilon = two_digits_up(verdict.epsilon_needed(budget))
    return f"with {_signs(f'{needed:,.0f}')} {facts.people}, or from ε = {epsilon:g} on,"


def two_digits_up(value: float) -> float:
    """Rounded up to two digits: what is said to be enough is enough."""
    return digits_up(value, 2)


def digits_up(value: float, digits: int) -> float:
    """Rounded up to so many digits."""
    if not math.isfinite(value):
        return value
    step = 10.0 ** (math.floor(math.log10(value)) + 1 - digits)
    return float(f"{math.ceil(value / step - 1e-9) * step:.10g}")


def digits_down(value: float, digits: int) -> float:
    """Rounded down to so many digits."""
    step = 10.0 ** (math.floor(math.log10(value)) + 1 - digits)
    return float(f"{math.floor(value / step + 1e-9) * step:.10g}")


def planned(facts: PublicFacts, verdict: Feasibility | None, distance: float) -> str:
    """What sizes and bounds alone said about this budget; empty where there is no such rule."""
    if verdict is None or not math.isfinite(distance):
        return ""
    words = {"coarse": "coarse, level and trend only", "usable": "usable", "good": "good",
             "nearly free": "good, privacy is nearly free"}[verdict.verdict]
    return (f"Forecast: **{words}**. From sizes and bounds alone, privacy adds about "
            f"{with_unit(number(distance, 2), escape(facts.value_unit))}. No reading was looked "
            "at, so the error above may differ.")


def plausible(facts: PublicFacts, kind: str, waves: int) -> str:
    """What the band of one release says, and what it does not."""
    holds = {"simultaneous": "95 in 100 such bands hold all of it but the dashed ends",
             "pointwise": f"at any one {_point(facts)} but the dashed ends, 95 in 100 such bands "
                          "hold it"}[kind]
    return (f"Band: where the true average plausibly lies; {holds}. Counted are privacy noise and "
            f"chance in who took part; not counted are details finer than {waves} waves, such as a "
            "steep start or end (dashed: the last 3 in 100 on each side).")


def _point(facts: PublicFacts) -> str:
    name = facts.time_name.lower()
    return name if " " not in name else "time"


def compared(here: float, others: Mapping[str, float]) -> str:
    """How far other methods err at the same budget."""
    known = [f"{uncapital(label)}{',' * (',' in label)} errs **{_ratio(error / here)}**"
             for label, error in others.items() if math.isfinite(error / here)]
    return f"Beside this method, at the same ε: {'; '.join(known)}." if known else ""


def why_method(own: str, errors: Mapping[str, float], facts: PublicFacts) -> str:
    """Why this method, or which one errs less: simulated typical errors at the same ε, by name."""
    known = {name: error for name, error in errors.items() if math.isfinite(error)}
    best = min(known, key=lambda name: known[name], default=own)
    others = [name for name in known if name != own]
    if not others or own not in known:
        return ""
    if best == own:
        best = min(others, key=lambda name: known[name])
        lead = f"**{own}** errs least of {len(known)} methods here"
    else:
        lead = f"**{best}** errs less here than {own}"
    here, least = (with_unit(text, escape(facts.value_unit))
                   for text in together([known[own], known[best]]))
    return f"{lead}: {here} against {least}, simulated at the same ε."


CHOOSE_BY_SIZES = ("Choose a method by sizes and public facts, or by simulated curves like these: "
                   "a choice by what your own curves show is not covered by ε.")


def _ratio(ratio: float) -> str:
    if 1 / 1.1 < ratio < 1.1:
        return "about as far"
    return f"{times(ratio)} as far" if ratio > 1 else f"only {_percent(ratio)} as far"


def useless(facts: PublicFacts, typical: float, budget: Budget, n_curves: int) -> str:
    """For budgets where the noise drowns the curve; empty elsewhere."""
    if typical < facts.value_half_width:
        return ""
    n = _signs(f"{n_curves:,}")
    return (f"**The noise is as large as the curve.** With {n} {facts.people} at ε = "
            f"{budget.epsilon:g} the typical error is as large as half the range of "
            f"{facts.value_name.lower()}. Ask more {facts.people}, raise ε, or fit a simpler "
            "curve.")


def budget_ratio(facts: PublicFacts, epsilon: float, typical: float, floor: float | None,
                 half: float | None, double: float | None) -> str:
    """Beside the error chart: this budget against none, half and double."""
    unit = escape(facts.value_unit)
    known = [v for v in (half, double) if v is not None]
    numbers = [with_unit(n, unit) for n in together([typical, *known])]
    if floor is None:
        text = f"At ε = {epsilon:g} the typical error is **{numbers[0]}**."
    elif typical <= 1.1 * floor:
        text = "Protection costs almost no accuracy here."
    else:
        text = (f"At ε = {epsilon:g} the error is **{times(typical / floor)}** what it would be "
                "without protection.")
    parts = [f"{n} at ε = {e:g}" for n, e in zip(
        numbers[1:], [e for e, v in ((epsilon / 2, half), (2 * epsilon, double)) if v is not None],
        strict=True)]
    return f"{text} It would be {' and '.join(parts)}." if parts else text


def enough(epsilon: float | None, largest_part: str) -> str:
    """From which budget on more buys almost nothing, if that is on the slider."""
    if epsilon is None:
        return ""
    return (f"From about **ε = {epsilon:g}** on, more budget buys almost nothing: what is left is "
            f"{largest_part}.")


# -- a published protocol ---------------------------------------------------------------------

LICENSED = ("**Synthetic:** no reading of the real study is in these curves. The real file is "
            "licensed: upload it under *Use my curves*.")


def holdout(facts: PublicFacts, n_training: int, n_protected: int, iterations: int) -> str:
    """Under the chart of held-out curves."""
    return (f"Synthetic. In each of {iterations} iterations a random third, {n_training} "
            f"{facts.people}, gives the average without protection; the other {n_protected} are "
            "published once. Points: mean squared distance of the two, ± its standard error.")


def runs(facts: PublicFacts, budget: Budget, n_runs: int, n_curves: int) -> str:
    """Under the chart of many runs, which nobody could publish."""
    return (f"Synthetic. {n_runs} runs on all {n_curves} {facts.people} at ε = "
            f"{budget.epsilon:g}. To look at only: published together they would cost "
            f"{math.sqrt(n_runs):.3g} times the μ of one.")


# -- what was spent -------------------------------------------------------------------------

_TUNED = {"truncation": "basis functions kept", "n_iterations": "rounds",
          "batch_size": "curves in a round", "effective_size": "curves times μ (N)",
          "shrunk": "small waves shrunk"}


def total(proved: Budget, mu: float) -> str:
    """What all lines of one site's ledger give together."""
    if proved.epsilon <= 1e-9:
        return "Nothing is released, so nothing is spent."
    delta = f" at δ = {small(proved.delta)}" if proved.delta else " with δ = 0"
    by = f"μ = {number(mu)}, which is " if math.isfinite(mu) else ""
    return f"Together: {by}**ε = {number(proved.epsilon)}**{delta}."


LAWS = {"gaussian": "Gaussian", "laplace": "Laplace", "norm": "by length", "bits": "bits turned",
        "choice": "noisy choice", "none": "none"}


def how_added(sites: Iterable[Sequence[Spend]]) -> str:
    """How the lines of a site are summed up, and whether promises of two kinds are among them."""
    own = next(iter(sites))
    pure = [spend.what for spend in own if spend.epsilon is not None]
    if len(pure) == len(own):
        return "No line can fail (δ = 0): their ε add up." if len(own) > 1 else ""
    if all(spend.mu is not None for spend in own):
        return "All noise is Gaussian: squares of μ add up, and ε is exact." if len(own) > 1 else ""
    text = ("What attackers can gain from all lines together is bounded by their ρ, which add up, "
            "and turned into ε once.")
    if all(spend.rho is None for spend in own):
        text = "The laws of what attackers can gain from each line are added, not their ε."
    if pure:
        text += (f" **Two kinds of promise:** {' and '.join(dict.fromkeys(pure))} cannot fail "
                 "(δ = 0), the other lines can, so all together can fail with chance δ.")
    return text


def ledger_of_several(count: int, unit: str, several: Sequence[Budget]) -> str:
    """The total for a person with several protected units, at the site where it is largest."""
    most = max(several, key=lambda budget: budget.epsilon)
    return f"For a person with {count} {unit}s all of it gives **{proved_chip(most)}**."


def broken_promise(asked: Budget, given: float) -> str:
    """For constants that do not give the budget they are printed for."""
    what = f"ε = {given:.3g}" if math.isfinite(given) else "no protection at all"
    return (f"**This method, as it is set, gives {what}, not ε = {asked.epsilon:g}.** It can be "
            "looked at, not released. Where there are published and tight constants, take tight.")


def more_noise_than_needed(asked: Budget, given: float) -> str:
    return (f"This adds more noise than ε = {asked.epsilon:g} needs: what it really gives is "
            f"**ε = {number(given)}**.")


def tuning(chosen: Mapping[str, object]) -> str:
    """The values that rules gave from public facts."""
    def shown(value: object) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        return number(value) if isinstance(value, float) else str(value)

    named = (f"{_TUNED.get(name, name.replace('_', ' '))}: {shown(value)}"
             for name, value in chosen.items())
    return capital(" · ".join(named))


# -- what limits accuracy -------------------------------------------------------------------


def parts(facts: PublicFacts) -> tuple[str, str, str]:
    """Names of the three parts of an error, in the order of `Study.shares`."""
    return ("privacy noise", "chance in who took part", "smoothing and clipping")


def what_limits(facts: PublicFacts, shares: Sequence[float]) -> str:
    """The largest part of the squared error, or the two that share it."""
    named = sorted(zip(shares, parts(facts), strict=True), reverse=True)
    (first, name), (second, other) = named[0], named[1]
    if first - second <= 0.1:
        name, other = (part.removesuffix(" and clipping") for part in (name, other))
        return f"**{capital(name)} and {other}** share the squared error about equally."
    verb = "make" if " and " in name else "makes"
    return f"**{capital(name)}** {verb} up {_percent(first)} of the squared error."


def shares_key(facts: PublicFacts, shares: Sequence[float]) -> str:
    marks = ("■", "▨", "▩")
    return " · ".join(f"{mark} {name} {_percent(share)}" for mark, name, share in
                      zip(marks, parts(facts), shares, strict=True) if share >= 0.005)


def steps_done(facts: PublicFacts, kept: int, moves: Sequence[float]) -> str:
    """How far each step moves the curve."""
    fewer, clipped, noise = (with_unit(text, escape(facts.value_unit)) for text in together(moves))
    first = (f"Keeping {kept} coefficients moves the average by **{fewer}**"
             if moves[0] > 1e-6 * max(moves) else f"All {kept} coefficients are kept")
    return f"{first}; clipping and smoothing move it by **{clipped}**; noise by **{noise}**."


def parts_left(facts: PublicFacts, typical: float, whole: float) -> str:
    """What is left of the typical error with some parts of it alone."""
    here, of = (with_unit(text, escape(facts.value_unit)) for text in together([typical, whole]))
    if typical == whole:
        return f"With all parts the typical error is **{of}**."
    return f"With what is switched on, the typical error is **{here}** of {of}."


def parts_key(has_sampling: bool) -> str:
    if has_sampling:
        return "Each line: the error of one release of fresh curves, from the true average."
    return ("Each line: one release less the average without protection. Chance in who took part "
            "cannot be seen in real curves.")


def if_doubled(facts: PublicFacts, changes: dict[str, float]) -> list[str]:
    """One line for each size that could be doubled."""
    names = {"people": facts.people, "readings": f"readings per {facts.person}", "epsilon": "ε"}
    return [f"{names[what]}: error **{change(relative)}**" for what, relative in changes.items()]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def capital(text: str) -> str:
    """The first letter large, the rest as it is."""
    return text[:1].upper() + text[1:]


_NAMES_OF_PEOPLE = ("Bernstein", "Gauss", "Laplace")


def uncapital(text: str) -> str:
    """The first letter small, as inside a sentence; abbreviations and people keep theirs."""
    keeps = text[1:2].isupper() or text.startswith(_NAMES_OF_PEOPLE)
    return text if keeps else text[:1].lower() + text[1:]
