"""Numbers and sentences: the same number reads the same everywhere, and stays true.

Sentences come back as Markdown with **bold** numbers. Words that come from a data source are
escaped, so that a unit such as “$” cannot turn into markup. A number and its unit are joined by a
no-break space. *At most* rounds up, so that the bound still holds as it is printed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.risk import Odds
from engine.types import Budget, PublicFacts

NO_BREAK = "\u00a0"  # keeps “ε = 1” and “79 %” on one line
THIN = "\u202f"  # between thousands; does not break either
WEAK_FROM = 4.0  # the ε from which protection is called weak
ALMOST_FREE = 1.1  # an error within 10 % of the one without protection
_MORE_THAN_99 = 100  # an at-most number that may be printed neither as 100 nor as 99
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_MARKUP = re.compile(r"([\\`*_\[\]<>$~#|:])")


# ------------------------------------------------------------------------------------- numbers

def number(value: float, decimals: int | None = None) -> str:
    """A measured number with at most three significant digits: 3.85, 12 300, 2.5×10⁻⁵."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "–"
    if value != 0 and abs(value) < 1e-3 and decimals is None:
        return plain(value)
    rounded = float(f"{value:.3g}")
    places = decimals_of(rounded) if decimals is None else decimals
    if rounded != 0 and round(rounded, places) == 0:  # never print a real error as nothing
        return plain(float(f"{rounded:.1g}"))
    return _typeset(f"{rounded:,.{places}f}")


def numbers(values: Sequence[float]) -> list[str]:
    """Numbers of one unit in one sentence: all with the decimals of the largest."""
    largest = max(abs(value) for value in values)
    places = decimals_of(largest) if largest >= 1e-3 else None
    return [number(value, places) for value in values]


def decimals_of(value: float) -> int:
    """How many decimals three significant digits leave after the point."""
    rounded = abs(float(f"{value:.3g}"))
    if rounded == 0 or not math.isfinite(rounded):
        return 0
    return max(0, 2 - math.floor(math.log10(rounded)))


def plain(value: float) -> str:
    """A setting, without trailing zeros: 1, 0.05, 2.5×10⁻⁵."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "–"
    if value != 0 and abs(value) < 1e-3:
        return _scientific(value)
    rounded = float(f"{value:.3g}")
    places = next(k for k in range(7) if round(rounded, k) == rounded)
    return _typeset(f"{rounded:,.{places}f}")


def _scientific(value: float) -> str:
    mantissa, exponent = f"{value:.2e}".split("e")
    factor = mantissa.rstrip("0").rstrip(".").replace("-", "−")
    power = "10" + str(int(exponent)).translate(_SUPERSCRIPT)
    return {"1": power, "−1": f"−{power}"}.get(factor, f"{factor}×{power}")


def _typeset(text: str) -> str:
    return text.replace(",", THIN).replace("-", "−")


def count(value: int) -> str:
    """A whole number in full: 12 345."""
    return _typeset(f"{value:,d}")


def stated(value: float) -> str:
    """A bound as it was stated; four digits stay together because they may be a year."""
    return _typeset(f"{value:.10g}" if abs(value) < 10_000 else f"{value:,.10g}")


def with_unit(text: str, unit: str) -> str:
    return f"{text}{NO_BREAK}{unit}" if unit else text


def percent(share: float) -> str:
    """A share as a whole percentage; the ends say which side they are on."""
    if 0 < share < 0.01:
        return f"under 1{NO_BREAK}%"
    return f"over 99{NO_BREAK}%" if share > 0.99 else f"{100 * share:.0f}{NO_BREAK}%"


def change(share: float) -> str:
    """A relative change: −47 %, +12 %, or “no change” below one per cent."""
    if abs(share) < 0.01:
        return "no change"
    return _typeset(f"{100 * share:+.0f}{NO_BREAK}%")


def ratio(value: float) -> str:
    """How many times: two digits, and “more than 100 times” from 100 on."""
    if value >= 100:
        return "more than 100 times"
    places = max(0, 1 - math.floor(math.log10(float(f"{value:.2g}"))))
    return f"{float(f'{value:.2g}'):.{places}f} times"


def at_most(chance: float) -> int:
    """A bound on a chance in hundredths, rounded up; 100 stands for “more than 99”."""
    return min(_MORE_THAN_99, math.ceil(100 * chance - 1e-9))


def in_100(chance: float, times: str = "") -> str:
    """“at most 56 in 100”, or “more than 99 in 100”; `times` goes before “in”."""
    most = at_most(chance)
    words = "more than 99" if most == _MORE_THAN_99 else f"at most {most}"
    return f"{words} {times + ' ' if times else ''}in 100"


# --------------------------------------------------------------------------------------- nouns

def escape(text: str) -> str:
    """Words of a data source, with everything that Markdown would read as markup disarmed."""
    return _MARKUP.sub(r"\\\1", text)


def possessive(noun: str) -> str:
    """child’s, children’s, households’."""
    return f"{noun}’" if noun.endswith("s") else f"{noun}’s"


def plural(noun: str) -> str:
    """The regular plural; “of” phrases take it on the first noun (hours of day)."""
    head, of, rest = noun.partition(" of ")
    if re.search(r"[^aeiou]y$", head):
        head = head[:-1] + "ies"
    elif re.search(r"(s|x|z|ch|sh)$", head):
        head += "es"
    else:
        head += "s"
    return head + of + rest


def counted(n: int, facts: PublicFacts) -> str:
    """1 child, 200 children."""
    return f"{count(n)} {escape(facts.person if n == 1 else facts.people)}"


def with_article(noun: str) -> str:
    """a child, an athlete, a user, an MRI scan."""
    if re.match(r"[A-Z]{2}", noun):  # read letter by letter
        vowel = noun[0] in "AEFHILMNORSX"
    else:
        vowel = bool(re.match(r"(?!uni|use|eu|one)[aeiou]|hour", noun, re.I))
    return f"{'an' if vowel else 'a'} {noun}"


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def setting(symbol: str, value: float) -> str:
    """ε = 1 on one line."""
    return f"{symbol}{NO_BREAK}={NO_BREAK}{plain(value)}"


def time_range(facts: PublicFacts) -> str:
    """ages 2 to 18; the unit is left out where the noun already says it."""
    name = plural(_lower_first(facts.time_name))
    unit = "" if facts.time_unit in ("years", name) else facts.time_unit
    ends = f"{stated(facts.time_low)} to {stated(facts.time_high)}"
    return escape(f"{name} {with_unit(ends, unit)}")


# ------------------------------------------------------------------------- titles and the strip

@dataclass(frozen=True)
class Tag:
    """One short label of the strip with its tooltip; `colour` is a badge colour."""

    text: str
    help: str
    colour: str = "gray"


COPY_LINK = Tag("Copy link", "Opens the same view with the same seed. The link holds settings, "
                "never data.")
PIN = Tag("Pin", "Keep this scenario to compare it with others.")


def title(facts: PublicFacts) -> str:
    curve = f"{escape(facts.curve)} curve" if facts.curve else "curve"
    return f"The average {curve}, published with protection for every {escape(facts.person)}"


def source_tag(facts: PublicFacts) -> Tag:
    """Where the curves come from and who may look."""
    if facts.kind == "simulated":
        return Tag("Simulated", "Curves made by the computer from a known average. No person is "
                   "behind them. Noise here is for looking, not for publishing.")
    if facts.kind == "public":
        origin = f" {escape(facts.origin.rstrip('.'))}." if facts.origin else ""
        return Tag(f"Public data: {escape(facts.name)}",
                   f"Real curves that are already public.{origin}")
    return Tag("Your curves · not private", "Only you, the holder of these curves, may look at "
               "this picture. It cannot be linked, pinned or downloaded.", "orange")


def released_tag(date: str) -> Tag:
    return Tag(f"Released {date}", "Published with this much protection and written in the "
               "ledger. It may be shared.")


def unit_tag(facts: PublicFacts, readings: int | None = None) -> Tag:
    """What is protected: a whole curve, or one of its `readings` where that is weaker."""
    person = escape(facts.person)
    if readings is None:
        return Tag(f"One {possessive(person)} whole curve", "What is protected: exchanging every "
                   f"reading of any one {person} changes what is published only a little.", "blue")
    return Tag("One reading (weaker)", "Protects a single reading only. "
               f"The whole curve of {with_article(person)} has {count(readings)} "
               f"readings and may be up to {count(readings)} times less protected.", "orange")


def budget_tag(budget: Budget, facts: PublicFacts) -> Tag:
    """ε and δ; amber, with words, from ε = 4."""
    person, epsilon = escape(facts.person), setting("ε", budget.epsilon)
    if budget.is_pure:
        text, meaning = epsilon, "This method’s limit always holds (δ = 0)."
    else:
        text = f"{epsilon} · {setting('δ', budget.delta)}"
        meaning = (f"ε limits how much one {person} can shift what is published. δ is the small "
                   "chance that this limit does not hold.")
    if budget.epsilon < WEAK_FROM:
        return Tag(text, meaning)
    return Tag(text, f"Weak protection for one {person}. See the odds. {meaning}", "orange")


def odds_tag(odds: Odds, facts: PublicFacts) -> Tag:
    return Tag(f"Right guess: **{in_100(_right(odds))}**", "For an attacker who knows all other "
               f"curves and chooses between two for this {escape(facts.person)}. "
               "A coin toss gets 50.")


def error_tag(accuracy: Accuracy, facts: PublicFacts) -> Tag:
    return Tag(f"Typical error: **{accuracy.texts(facts)[0]}**", "Half of the releases are closer "
               "than this, averaged over the whole curve.")


# ----------------------------------------------------------------------------------- odds card

def odds_title(facts: PublicFacts) -> str:
    return f"Odds for one {escape(facts.person)}"


def odds_main(odds: Odds, facts: PublicFacts, trust: str = "") -> str:
    """What an attacker gains; `trust` is "", "sites" (no one is trusted) or "centre"."""
    person = possessive(escape(facts.person))
    place = " **and sits at another site or at the centre**" if trust == "sites" else ""
    who = f"An attacker who knows every other {person} curve{place}"
    return (f"{who}, and has narrowed this {person} down to two, {_right_guess(odds)}"
            + (" The centre sees the curves; it is trusted." if trust == "centre" else ""))


def _right_guess(odds: Odds) -> str:
    right = _right(odds)
    chance = f"**{in_100(right, 'times')}**"
    if at_most(right) == _MORE_THAN_99:
        return f"may pick the right one {chance}. A coin toss gets 50."
    if at_most(right) == 51:
        return f"picks the right one {chance}, almost a coin toss."
    return f"picks the right one {chance}. A coin toss gets 50."


def _right(odds: Odds) -> float:
    return max(odds.right, 0.51)  # still at most; “50” would claim that nothing leaks


def right_in_100(odds: Odds) -> int:
    """The number of right dots, 51 … 100, where 100 stands for “more than 99”."""
    return at_most(_right(odds))


def odds_key(odds: Odds) -> str:
    """What the hundred dots mean."""
    right = right_in_100(odds)
    if right == _MORE_THAN_99:
        return "● right by chance  ■ up to 50 more"
    return f"● right by chance  ■ at most {right - 50} more  ○ wrong"


def odds_careful(odds: Odds) -> str:
    """The attacker who accepts few false alarms."""
    alarms = f"{100 * odds.false_alarms:.0f}"
    verb = "may catch" if at_most(odds.detected) == _MORE_THAN_99 else "catch"
    return (f"If they accept {alarms} false alarms in 100, they {verb} the right curve "
            f"**{in_100(odds.detected, 'times')}** ({alarms} = no information).")


def odds_reason(odds: Odds) -> str:
    """Where the odds come from, and what the budget alone would allow."""
    right, caught = (in_100(cap).removeprefix("at most ")
                     for cap in (odds.right_cap, odds.detected_cap))
    epsilon = setting("ε", odds.budget.epsilon)
    allowed = f"allow {right} and, for the careful attacker, {caught.removesuffix(' in 100')}"
    if odds.from_noise:
        return ("This is worked out from the noise this method really adds. "
                f"{epsilon} by itself would {allowed}: use those to compare different methods.")
    return (f"{epsilon} by itself would {allowed}. This holds for any noise; the noise of this "
            "method may give an attacker less.")


def odds_flagged(odds: Odds, facts: PublicFacts) -> str:
    """How many of the flagged people are rightly flagged, for another first guess."""
    verb = "may be" if at_most(odds.flagged_right) == _MORE_THAN_99 else "are"
    return (f"Of the {escape(facts.people)} such an attacker flags, "
            f"**{in_100(odds.flagged_right)}** {verb} right; without the release, "
            f"{100 * odds.first_guess:.0f} in 100.")


def not_covered(facts: PublicFacts, trust: str = "") -> str:
    person, people = escape(facts.person), escape(facts.people)
    if trust == "sites":
        return (f"**Not covered:** that {with_article(person)} belongs to a site, and how many "
                f"{people} it has.")
    return (f"**Not covered:** that {with_article(person)} is in the data, how many there are, "
            f"and anything that is true of {people} in general.")


def weak(odds: Odds, facts: PublicFacts) -> str:
    """The words that go with an amber budget; empty below ε = 4."""
    if odds.budget.epsilon < WEAK_FROM:
        return ""
    verb = "may be" if right_in_100(odds) == _MORE_THAN_99 else "is"
    start = (f"**{setting('ε', odds.budget.epsilon)} is weak protection for one "
             f"{escape(facts.person)}.** An attacker {verb} right {in_100(_right(odds), 'times')}")
    if not odds.from_noise:
        return f"{start}."
    worst = in_100(odds.right_cap, "times")
    return f"{start} with this method, and {worst} with the worst method of the same ε."


# ------------------------------------------------------------------------- accuracy and budget

@dataclass(frozen=True)
class Accuracy:
    """Errors of a release in the unit of the readings.

    Half of the releases are closer than `typical`, 19 in 20 closer than `within`. `without` is
    the error with no protection; None where the truth is not known, because distances are then
    measured from the unprotected average itself. `uncertainty` is the simulation error of
    `typical`; it is shown when it exceeds 5 %.
    """

    typical: float
    within: float
    without: float | None = None
    uncertainty: float = 0.0

    def texts(self, facts: PublicFacts) -> tuple[str, str, str]:
        """The three numbers as printed everywhere, with one number of decimals."""
        unit, places = escape(facts.value_unit), self._decimals()
        typical, within, without = (
            number(value, places) for value in (self.typical, self.within, self.without or 0.0))
        if self._is_rough():
            typical = f"{typical} ± {number(self.uncertainty, places)}"
        return with_unit(typical, unit), with_unit(within, unit), with_unit(without, unit)

    def _is_rough(self) -> bool:
        return self.uncertainty > 0.05 * self.typical

    def _decimals(self) -> int | None:
        largest = max(self.typical, self.within, self.without or 0.0)
        if largest < 1e-3:
            return None
        if not self._is_rough():
            return decimals_of(largest)
        return max(0, min(decimals_of(largest), -math.floor(math.log10(self.uncertainty))))


DOTS_CAPTION = "Each dot: 1 of 20 equally likely releases."
TYPICAL_HELP = ("Half of the releases are closer than this, half further away. Distance is "
                "averaged over the whole curve.")


def accuracy(errors: Accuracy, facts: PublicFacts) -> str:
    """The sentence of the accuracy card."""
    typical, within, without = errors.texts(facts)
    known = errors.without is not None
    reference = "the true one" if known else "the average without protection"
    return (f"The published average is typically **{typical}** from {reference}, over "
            f"{time_range(facts)}. In 19 of 20 releases it is within {within}."
            + (f" Without protection: {without}." if known else ""))


def dots_caption(errors: Accuracy) -> str:
    return DOTS_CAPTION + (" Dashed: without protection." if errors.without is not None else "")


def budget_sentences(
    here: float,
    epsilons: Sequence[float],
    errors: Sequence[float],
    facts: PublicFacts,
    without: float | None = None,
    remainder: str = "",
) -> str:
    """What the current ε costs and what half or twice of it would buy.

    Parameters
    ----------
    here : the current ε.
    epsilons, errors : the budget steps, increasing, and the typical error at each.
    without : error without protection, or None where it is not known.
    remainder : the part of the error that stays ("sampling", "readings" or "bias").
    """
    steps = dict(zip(epsilons, errors, strict=True))
    current = steps[_nearest(here, steps)]
    cost = f"{_cost(here, current, facts, without)} {_elsewhere(here, steps, facts)}".strip()
    return f"{cost}\n\n{_enough(here, steps, without, remainder, facts)}".strip()


def _nearest(epsilon: float, steps: Iterable[float]) -> float:
    return min(steps, key=lambda step: abs(math.log(step / epsilon)))


def _cost(here: float, error: float, facts: PublicFacts, without: float | None) -> str:
    start = f"At {setting('ε', here)} the error is"
    if not without:
        return f"{start} **{with_unit(number(error), escape(facts.value_unit))}**."
    if abs(error / without - 1) < 0.05:  # would read “1.0 times”
        return f"{start} **about the same** as without protection."
    return f"{start} **{ratio(error / without)}** what it would be without protection."


def _elsewhere(here: float, steps: Mapping[float, float], facts: PublicFacts) -> str:
    lowest, highest = min(steps) * 0.99, max(steps) * 1.01
    chosen = [_nearest(e, steps) for e in (here / 2, 2 * here) if lowest <= e <= highest]
    if not chosen:
        return ""
    texts = numbers([steps[e] for e in chosen])
    unit = escape(facts.value_unit)
    places = [f"{with_unit(text, unit)} at {setting('ε', e)}"
              for text, e in zip(texts, chosen, strict=True)]
    return f"It would be {' and '.join(places)}."


def enough_from(steps: Mapping[float, float], without: float | None) -> float | None:
    """The first ε from which on every error is within 10 % of the one without protection."""
    first = None
    for epsilon in sorted(steps, reverse=True):
        if not without or steps[epsilon] > ALMOST_FREE * without:
            break
        first = epsilon
    return first


def _enough(here: float, steps: Mapping[float, float], without: float | None,
            remainder: str, facts: PublicFacts) -> str:
    first = enough_from(steps, without)
    if first is None:
        return ""
    if here >= first:
        return "Protection costs almost no accuracy here."
    left = f": what is left is {_lower_first(_part(remainder, facts)[0])}" if remainder else ""
    return f"From about **{setting('ε', first)}** on, more budget buys almost nothing{left}."


# ------------------------------------------------------------------------ what limits accuracy

def _part(key: str, facts: PublicFacts) -> tuple[str, str]:
    """Name of a part of the error in a sentence, and its verb."""
    return {
        "privacy": ("Privacy noise", "makes up"),
        "sampling": ("Chance in who took part", "makes up"),
        "readings": (f"Too few readings per {escape(facts.person)}", "make up"),
        "bias": ("Smoothing and clipping", "make up"),
    }[key]


SPLIT_NAMES = {"privacy": "privacy noise", "sampling": "sampling",
               "readings": "too few readings", "bias": "smoothing and clipping"}
_SPLIT_SIGNS = {"privacy": "■", "sampling": "▨", "readings": "▤", "bias": "▩"}


def limits(shares: Mapping[str, float], facts: PublicFacts) -> str:
    """What makes up the squared error; `shares` has keys of SPLIT_NAMES and sums to one."""
    order = sorted(shares, key=lambda key: -shares[key])
    close = [key for key in order if shares[order[0]] - shares[key] <= 0.1]
    if len(close) == 1:
        name, verb = _part(order[0], facts)
        text = f"**{name}** {verb} {percent(shares[order[0]])} of the squared error."
    else:
        whole = "the" if sum(shares[key] for key in close) > 0.9 else "most of the"
        text = f"**{_joined_names(close, facts)}** share {whole} squared error about equally."
    return f"{text} {_free(shares)}".strip()


def _joined_names(keys: Sequence[str], facts: PublicFacts) -> str:
    names = [_part(key, facts)[0].removesuffix(" and clipping") for key in keys]
    names = names[:1] + [_lower_first(name) for name in names[1:]]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _free(shares: Mapping[str, float]) -> str:
    """Said when taking the noise away would bring the error down by less than a tenth."""
    fall = 1 - math.sqrt(max(0.0, 1 - shares.get("privacy", 0.0)))
    if fall > 1 - 1 / ALMOST_FREE:
        return ""
    much = f"by only {percent(fall)}" if fall >= 0.01 else f"by less than 1{NO_BREAK}%"
    return f"Privacy is free here: with no noise at all the error would fall {much}."


def split_key(shares: Mapping[str, float]) -> str:
    """The key under the error bar, with each share and its pattern."""
    return "  ".join(f"{_SPLIT_SIGNS[key]} {name} {percent(shares[key])}"
                     for key, name in SPLIT_NAMES.items() if shares.get(key, 0) > 0)


def doubled(changes: Mapping[str, float], facts: PublicFacts) -> str:
    """The change of the error if one size were doubled, one line each.

    `changes` maps "n_curves", "n_observations_per_curve", "n_servers" or "epsilon" to a relative
    change, −0.47 for 47 % less.
    """
    names = {"n_curves": escape(facts.people), "epsilon": "ε", "n_servers": "sites",
             "n_observations_per_curve": f"readings per {escape(facts.person)}"}
    lines = [f"{names[key]}: error **{change(value)}**" for key, value in changes.items()]
    return "  \n".join(["If you doubled…", *lines])


# -------------------------------------------------------------------- sentences under the plots

def view(name: str, facts: PublicFacts, colour: str = "blue") -> str:
    """What a line or range of the main picture is; `name` is "releases", "ranges" or "one"."""
    return {
        "releases": f"Each {colour} line is one of 20 equally likely releases. You would publish "
                    f"only one of them, and it is not {with_article(escape(facts.person))}.",
        "ranges": f"{colour.capitalize()}: where 95 of 100 releases fall. Hatched: how far chance "
                  "in who took part moves the average.",
        "one": "One release: this is what the public would see.",
    }[name]


def delta_help(delta: float) -> str:
    return ("With a chance of at most δ the limit set by ε may fail. "
            f"{setting('δ', delta)} is 1 in {number(1 / delta)}.")


def not_comparable(approximate: str, delta: float, pure: str) -> str:
    """The notice needed when methods with and without δ stand side by side."""
    return (f"{approximate} has {setting('δ', delta)}, {pure} has {setting('δ', 0)}. Equal ε is "
            "**not** equal protection: compare *Right guess*.")
