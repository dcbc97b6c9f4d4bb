"""Lesson 6: pure against approximate protection at the same ε."""

from __future__ import annotations

import numpy as np

from engine.core.types import Budget
from engine.figures.drawn import Axis, Mark, Picture, plain_ticks
from engine.language import tags
from engine.language.numbers import in_hundred, one_in, together
from engine.lessons import Guess, Lesson, Option, Question, See, Worked, lessons
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.privacy import accounting, risk
from engine.sources.sparse_curves import SparseCurves
from engine.topics.mean.answer import simulated_study

SOURCE = SparseCurves(mean="growth", n_curves=200, n_observations_per_curve=30)
DELTA = 1 / SOURCE.n_curves**2
EPSILON = 1.0
_PLACES = (0.1, 0.3, 1.0, 3.0, 10.0)
_STEPS = np.geomspace(0.1, 10, 41)


def right_guess(epsilon: float) -> float:
    """The most right guesses in 100 that Gaussian noise of (ε, DELTA) allows.

    Parameters
    ----------
    epsilon : float
        Positive.
    """
    return 100 * float(risk.right_guess(accounting.exact_mu(float(epsilon), DELTA)))


def error_of(budget: Budget, seed: int) -> float:
    """The error in cm of the same method with δ = 0 or above.

    Parameters
    ----------
    budget : Budget
        Of the release.
    seed : int
        Of data and noise.
    """
    return float(simulated_study(SOURCE, AdaptiveMean(), [budget], seed).error[0])


@lessons.register
class SameEpsilon(Lesson):
    """Equal ε allows different things with δ = 0 and with a small δ."""

    key = "6"
    order = 6
    label = "the same ε is not the same protection"
    unit = tags.unit_tag(SOURCE.facts)
    story = (
        "An attacker has narrowed one child’s curve down to two. A coin toss picks the right one "
        "{coin} times in a hundred.",
        "**Pure** protection has a limit that never fails. The line shows how often the attacker "
        "may then be right.",
        "**Approximate** protection may fail with a tiny chance δ, here {one_in}. Its noise has "
        "the shape of a bell.")
    ask = "How often is the attacker right with bell-shaped noise of the same ε? Drag the squares."
    shows = ("At ε = {epsilon} the attacker is right **{gauss}** with bell-shaped noise. Pure "
             "protection of the same ε allows **{pure}**.")
    explains = (
        "ε is one number about the worst case. Bell-shaped noise must keep it nearly always, so "
        "most of the time it does better.",
        "In exchange the limit may fail: with a chance of at most {one_in}.",
        "The error differs, too. At ε = {epsilon} the same method errs by {error_gauss} cm with "
        "bell-shaped noise. With pure protection it errs by {error_pure} cm.",
        "So compare methods by right guesses and error. ε alone is for methods of one kind.")
    question = Question("Method A has ε = {epsilon} and δ above zero. Method B has ε = {epsilon} "
                        "and δ = zero. Which protects better?", (
        Option("B, because its limit never fails.", "Its limit never fails. But it allows right "
               "guesses {pure}, A {gauss}."),
        Option("They protect equally, as ε is equal.", "At the same ε, right guesses differ: "
               "{gauss} for A, {pure} for B."),
        Option("ε alone does not tell.", "Right guesses compare them: {gauss} for A, {pure} for B. "
               "And somebody must say whether a chance of {one_in} matters.", True)))
    terms = ("Pure", "Approximate", "Odds")
    see = (See("explore.py", "Odds and error at every ε"),)

    @classmethod
    def work(cls, seed: int) -> Worked:
        gauss, pure = (error_of(Budget(EPSILON, delta), seed) for delta in (DELTA, 0.0))
        errors = together([gauss, pure])
        words = {"coin": "50", "epsilon": f"{EPSILON:g}", "one_in": one_in(DELTA),
                 "gauss": in_hundred(right_guess(EPSILON) / 100),
                 "pure": in_hundred(float(risk.right_guess_cap(EPSILON))),
                 "error_gauss": errors[0], "error_pure": errors[1]}
        guess = Guess(tuple(map(right_guess, _PLACES)), (75.0,) * len(_PLACES),
                      tuple(f"Right guesses at ε = {e:g}" for e in _PLACES), close=5.0, step=1.0,
                      places=_PLACES, unit="in 100")
        budget = Budget(EPSILON, DELTA)
        return Worked(words, _picture(), guess, tags.budget_chip(budget), budget)


def _picture() -> Picture:
    cap = 100 * risk.right_guess_cap(_STEPS)
    gauss = np.array([right_guess(epsilon) for epsilon in _STEPS])
    marks = (
        Mark(_STEPS, cap, "without", "Pure protection allows", dash="6,4"),
        Mark(_STEPS[[0, -1]], np.full(2, 50.0), "raw", "Coin toss", dash="2,3", width=1.6),
        Mark(_STEPS, gauss, "gradient", "Bell-shaped noise allows", width=2.6, after=True))
    alt = "Right guesses in 100 against ε; pure protection allows more and more."
    few = slice(None, None, 5)
    return Picture(
        Axis("Protection ε (log scale)", 0.1, 10, plain_ticks(0.1, 0.2, 0.5, 1, 2, 5, 10),
             is_log=True),
        Axis("Right guesses (in 100)", 45, 100, plain_ticks(50, 60, 70, 80, 90, 100)), marks, alt,
        f"{alt} Bell-shaped noise stays far below, until both are near 100.",
        {"ε": [float(f"{e:.3g}") for e in _STEPS[few]],
         "pure, at most (in 100)": [round(float(v), 1) for v in cap[few]],
         "bell-shaped, at most (in 100)": [round(float(v), 1) for v in gauss[few]]})
