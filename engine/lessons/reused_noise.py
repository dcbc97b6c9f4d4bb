"""Lesson 7: one draw of noise used twice gives everything away."""

from __future__ import annotations

import math

import numpy as np

from engine.core.types import Array
from engine.figures.drawn import Axis, Mark, Picture, plain_ticks
from engine.language import tags
from engine.language.numbers import together
from engine.lessons import Guess, Lesson, Option, Quiz, See, Worked, lessons
from engine.topics.reuse.answer import FORMULA, SOURCE, ReuseAnswer, reuse_answer

FIRST, SECOND = 0.3, 1.0
DELTA = 1 / SOURCE.n_curves**2
_PLACES = (3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0, 17.0)  # years
# `FORMULA` solved for the mean, on one line.
_SOLUTION = "**mean = (s₂ r₁ − s₁ r₂) / (s₂ − s₁)**".replace(" ", "\N{NO-BREAK SPACE}")


def _exact_digits(releases: ReuseAnswer) -> int:
    """Count the decimal digits to which the mean was worked out."""
    return math.floor(-math.log10(max(releases.largest_error, 1e-16)))


@lessons.register
class ReusedNoise(Lesson):
    """Two equations with two unknowns: the draw and the mean."""

    key = "7"
    order = 7
    minutes = 4
    label = "reused noise hides nothing"
    unit = tags.unit_tag(SOURCE.facts)
    story = (
        "The mean height of {n} children at each age is published with ε = {first}. Later it is "
        "published again, with ε = {second}.",
        "To save work, the programmer uses the same random draw both times. It is only "
        "rescaled, and the scales are public.",
        "Both releases are in the figure. The mean without noise is not.",
    )
    ask = "What was the mean before noise was added?"
    shows = (
        "From the two releases the mean comes back exactly: in cm to **{digits} decimal "
        "digits**. The noise in them was typically {noise_first} cm and {noise_second} cm."
    )
    explains = (
        "The two releases, r₁ and r₂, are two equations. Unknown are the draw and the mean. The "
        "scales of the noise, s₁ and s₂, are public. So there is one solution:",
        _SOLUTION,
        "With fresh noise for the second release this formula is off by up to {fresh} cm.",
        "Explore uses one draw at all ε, so that the figure moves smoothly. That is fine for "
        "simulated curves, and never done for a release.",
    )
    question = Quiz(
        "Both releases kept their ε. What went wrong?",
        (
            Option(
                "Both used the same random draw, so together they cancel it.",
                "Budgets add up only if every release has noise of its own.",
                True,
            ),
            Option("ε was too large.", "The same happens at any two ε that differ, however small."),
            Option(
                "Nothing: each release was noisy.",
                "Each alone was. Together they give the exact mean, and one person shows in it.",
            ),
        ),
    )
    formula = FORMULA
    terms = ("Privacy noise", "Composition")
    see = (
        See(
            "lab.py",
            "Reused noise in the Lab, at any two ε",
            f"tab-verify~part-reuse~epsilon-{FIRST:g}~again-{SECOND:g}",
        ),
    )

    @classmethod
    def work(cls, seed: int) -> Worked:
        same, fresh = (
            reuse_answer(FIRST, SECOND, DELTA, seed, is_fresh) for is_fresh in (False, True)
        )
        noise = together([*same.noise, fresh.largest_error])
        words = {
            "n": str(SOURCE.n_curves),
            "first": f"{FIRST:g}",
            "second": f"{SECOND:g}",
            "digits": str(_exact_digits(same)),
            "noise_first": noise[0],
            "noise_second": noise[1],
            "fresh": noise[2],
        }
        truth = np.interp(_PLACES, same.times, same.exact)
        middle = float(np.round(same.exact.mean()))
        guess = Guess(
            tuple(truth.tolist()),
            (middle,) * len(_PLACES),
            tuple(f"Mean at age {t:g}" for t in _PLACES),
            close=3.0,
            step=1.0,
            places=_PLACES,
        )
        return Worked(words, _picture(same), guess, f"ε = {FIRST:g}, then ε = {SECOND:g}")


def _picture(releases: ReuseAnswer) -> Picture:
    low, high = (
        10 * math.floor(float(releases.first.min()) / 10),
        10 * math.ceil(float(releases.first.max()) / 10),
    )
    marks = (
        Mark(
            releases.times,
            releases.first,
            "functional",
            f"First release, ε = {FIRST:g}",
            dash="2,2",
            width=1.8,
        ),
        Mark(
            releases.times,
            releases.second,
            "functional",
            f"Second release, ε = {SECOND:g}",
            width=1.8,
        ),
        Mark(
            releases.times,
            releases.exact,
            "raw",
            "Non-private mean",
            width=5,
            opacity=0.55,
            after=True,
        ),
        Mark(
            releases.times,
            releases.recovered,
            "bias",
            "Recovered by the formula",
            dash="6,4",
            after=True,
        ),
    )
    alt = "Two noisy releases of one mean growth curve; the second is nearer to it."

    def column(values: Array) -> list[float]:
        return [round(float(value), 2) for value in values[::5]]

    return Picture(
        Axis("Age (years)", 2, 18, plain_ticks(*range(2, 19, 2))),
        Axis("Mean height (cm)", low, high, plain_ticks(*range(20 * -(-low // 20), high + 1, 20))),
        marks,
        alt,
        f"{alt} What the formula gives lies exactly on the non-private mean.",
        {
            "age": column(releases.times),
            "first release": column(releases.first),
            "second release": column(releases.second),
            "non-private mean": column(releases.exact),
            "what the formula gives": column(releases.recovered),
        },
    )
