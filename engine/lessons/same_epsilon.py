"""Lesson 6: pure against approximate differential privacy at the same ε."""

from __future__ import annotations

import numpy as np

from engine.core.types import Budget
from engine.figures.drawn import Axis, Mark, Picture, plain_ticks
from engine.language import tags
from engine.language.numbers import one_in, percent_up, together
from engine.lessons import Guess, Lesson, Option, Quiz, See, Worked, lessons
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.privacy import accounting
from engine.privacy.tradeoff import Approximate, Gaussian
from engine.sources.sparse_curves import SparseCurves
from engine.topics.mean.answer import simulated_study

SOURCE = SparseCurves(mean="growth", n_curves=200, n_observations_per_curve=30)
DELTA = 1 / SOURCE.n_curves**2
EPSILON = 1.0
_PLACES = (0.1, 0.3, 1.0, 3.0, 10.0)
_STEPS = np.geomspace(0.1, 10, 41)


def accuracy(epsilon: float) -> float:
    """The largest accuracy of an attacker that Gaussian noise of (ε, DELTA) allows; %."""
    return 100 * float(Gaussian(accounting.exact_mu(float(epsilon), DELTA)).right())


def _allowed(epsilon: float) -> float:
    """The same of pure privacy, whatever the noise."""
    return 100 * float(Approximate(Budget(float(epsilon))).right())


def error_of(budget: Budget, seed: int) -> float:
    """The error in cm of the same method with δ = 0 or above."""
    return float(simulated_study(SOURCE, AdaptiveMean(), [budget], seed).error[0])


@lessons.register
class SameEpsilon(Lesson):
    """Equal ε does not tell how well an attacker does: the noise does, where it is known."""

    key = "6"
    order = 6
    label = "equal ε, unequal protection"
    unit = tags.unit_tag(SOURCE.facts)
    story = (
        "An attacker has narrowed one child’s curve down to two. Guessing is right in {coin} % of "
        "cases.",
        "**Pure** differential privacy has a bound that always holds. The dashed line shows the "
        "accuracy that it allows the attacker.",
        "With **approximate** differential privacy probabilities may exceed the bound, by at most "
        "δ, here {one_in}. Its noise is Gaussian.",
    )
    ask = "How accurate is the attacker with Gaussian noise of the same ε?"
    shows = (
        "At ε = {epsilon} the attacker’s accuracy is at most **{gauss}** with Gaussian noise. "
        "Pure privacy of the same ε allows **{pure}**."
    )
    explains = (
        "ε is one number about the worst case. Gaussian noise must keep it nearly always, so "
        "most of the time it does better.",
        "That comes from knowing the noise, not from δ. As a guarantee δ = zero is the stronger: "
        "with δ above zero, probabilities may exceed the bound, by at most {one_in}.",
        "The error differs, too. The default method of Explore has {error_gauss} cm with Gaussian "
        "noise and {error_pure} cm with δ = zero.",
        "So compare methods by what is known of their noise, by the attacker’s accuracy, and by "
        "error. ε alone compares methods of one kind.",
    )
    question = Quiz(
        "Method P is known to have ε = {epsilon} and δ = zero. Method G adds Gaussian noise "
        "with ε = {epsilon} and δ = {one_in}. Does ε alone tell against which of them an attacker "
        "does better?",
        (
            Option(
                "Yes: better against G, because the bound of P always holds.",
                "It does always hold. But it allows {pure}, and the noise of G allows {gauss}.",
            ),
            Option(
                "Yes: equally well against both, as ε is equal.",
                "At the same ε the bounds on the "
                "attacker’s accuracy differ: {pure} for P, {gauss} for G.",
            ),
            Option(
                "No.",
                "Only ε is known of P, and its bound is {pure}. The noise of G is known, and "
                "its bound is {gauss}.",
                True,
            ),
        ),
    )
    terms = ("Pure", "Approximate", "Odds")
    see = (
        See("explore.py", "Attacker and error at every ε"),
        See("lab.py", "The same mean with δ = 0 in the Lab", "delta-0"),
    )

    @classmethod
    def work(cls, seed: int) -> Worked:
        gauss, pure = (error_of(Budget(EPSILON, delta), seed) for delta in (DELTA, 0.0))
        errors = together([gauss, pure])
        words = {
            "coin": "50",
            "epsilon": f"{EPSILON:g}",
            "one_in": one_in(DELTA),
            "gauss": percent_up(accuracy(EPSILON) / 100),
            "pure": f"{_allowed(EPSILON):.1f} %",
            "error_gauss": errors[0],
            "error_pure": errors[1],
        }
        guess = Guess(
            tuple(map(accuracy, _PLACES)),
            (75.0,) * len(_PLACES),
            tuple(f"Accuracy at ε = {e:g}" for e in _PLACES),
            close=5.0,
            step=1.0,
            places=_PLACES,
            unit="%",
            off_unit="percentage points",
        )
        return Worked(words, _picture(), guess, tags.budget_chip(Budget(EPSILON, DELTA)))


def _picture() -> Picture:
    cap, gauss = (np.array([*map(accuracy_of, _STEPS)]) for accuracy_of in (_allowed, accuracy))
    marks = (
        Mark(_STEPS, cap, "without", "Pure privacy allows", dash="6,4"),
        Mark(_STEPS[[0, -1]], np.full(2, 50.0), "raw", "Guessing", dash="2,3", width=1.6),
        Mark(_STEPS, gauss, "gradient", "Gaussian noise allows", width=2.6, after=True),
    )
    alt = "The attacker’s accuracy against ε; pure privacy allows more and more."
    few = slice(None, None, 5)
    return Picture(
        Axis(
            "Privacy budget ε (log scale)",
            0.1,
            10,
            plain_ticks(0.1, 0.2, 0.5, 1, 2, 5, 10),
            is_log=True,
        ),
        Axis("Attacker’s accuracy (%)", 45, 100, plain_ticks(50, 60, 70, 80, 90, 100)),
        marks,
        alt,
        f"{alt} Gaussian noise stays far below, until both are near 100 %.",
        {
            "ε": [float(f"{e:.3g}") for e in _STEPS[few]],
            "pure, at most (%)": [round(float(v), 1) for v in cap[few]],
            "Gaussian, at most (%)": [round(float(v), 1) for v in gauss[few]],
        },
    )
