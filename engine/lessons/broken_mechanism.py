"""Lesson 8: an audit catches a mechanism that breaks its promise."""

from __future__ import annotations

import numpy as np

from engine.audit import Report
from engine.core.types import Budget
from engine.figures.drawn import Axis, Mark, Picture, plain_ticks
from engine.language import tags
from engine.language.numbers import number
from engine.lessons import Guess, Lesson, Option, Question, See, Worked, lessons
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.topics.audit import answer as audit_topic
from engine.topics.audit.answer import Attack

BUDGET = Budget(1.0, 1e-3)
MECHANISM = NoisyGradientMean()
FAULT = "EachRoundSpendsEverything"
_TRIES, _RUNS, _SECONDS = 200, 20_000, 30.0
_HONEST, _PLANTED = 2.0, 1.0  # rows of the picture


def attack(variant: str, seed: int) -> Report:
    """A short audit of the method, or of the variant with the fault.

    Parameters
    ----------
    variant : str
        The name of the fault; empty for the method itself.
    seed : int
        Of data and noise.
    """
    asked = Attack(MECHANISM, BUDGET, variant=variant, seed=seed)
    return audit_topic.finished(asked, seed, tries=_TRIES, runs=_RUNS, seconds=_SECONDS)


@lessons.register
class BrokenMechanism(Lesson):
    """Releases of two neighbouring data sets show an ε that cannot be true."""

    key = "8"
    order = 8
    label = "catch a promise that is not kept"
    unit = ("One person’s whole curve", "What is protected: exchanging every reading of any one "
            "person changes what is published only a little.")
    story = (
        "Somebody writes a program that promises ε = {claim}. It works in several rounds. By "
        "mistake **every round spends the whole ε**.",
        "Nobody notices: the curves even look better. So an attacker takes two data sets that "
        "differ in one person.",
        "From {runs} releases of each the attacker learns to tell them apart. How well that goes "
        "shows an ε. In the picture is the honest program.")
    ask = "Which ε do the releases of the faulty program show? Drag the square along the axis."
    shows = ("The releases show at least **ε = {shown}**, above the promised {claim}. The promise "
             "is false, with {confidence} confidence.")
    explains = (
        "The honest program shows at least ε = {honest}, below its promise. That does not prove "
        "the promise: the attack failed to break it.",
        "Worked out from its noise, the faulty one gives ε = {worst}. What releases show is "
        "smaller, because chance must be allowed for.",
        "An audit can show that a promise is broken. Only a proof shows that it is kept.")
    question = Question("An audit finds nothing. What follows?", (
        Option("The program keeps its promise.", "Perhaps the attack was too weak. Of the faulty "
               "program it showed {shown}, though {worst} is true."),
        Option("This attack could not break it.", "More is not said. A proof says more, and a "
               "better attack may find something.", True),
        Option("The audit was useless.", "Many faults are found within seconds, as you saw.")))
    terms = ("Neighbours", "Sensitivity", "Audit")
    see = (See("audit.py", "Plant other faults on Audit",
               f"audited-{MECHANISM.key}.mean_function~variant-{FAULT}"),)

    @classmethod
    def work(cls, seed: int) -> Worked:
        honest, planted = attack("", seed), attack(FAULT, seed)
        bound, least, worst = (f"{np.floor(100 * v) / 100:.2f}" for v in (
            planted.bound, honest.bound, planted.worst_epsilon))
        words = {"claim": f"{BUDGET.epsilon:g}", "runs": number(planted.runs),
                 "shown": bound, "honest": least, "worst": worst,
                 "confidence": f"{100 * planted.confidence:.2f} %"}
        guess = Guess((float(planted.bound),), (0.5,), ("ε of the faulty program",), close=0.25,
                      step=0.05, decimals=2)
        return Worked(words, _picture(honest, planted), guess, tags.budget_chip(BUDGET), BUDGET)


def _picture(honest: Report, planted: Report) -> Picture:
    claim, end = honest.claimed_epsilon, max(2.5, np.ceil(1.2 * planted.bound))

    def row(height: float, to: float, role: str, label: str, shape: str, after: bool = False
            ) -> tuple[Mark, Mark]:
        return (Mark(np.array([0, to]), np.full(2, height), role, width=3, after=after),
                Mark(np.array([to]), np.array([height]), role, label, shape, after=after))

    marks = (
        Mark(np.full(2, claim), np.array([0.4, 2.6]), "text", f"Promised: ε = {claim:g}",
             dash="6,4"),
        *row(_HONEST, honest.bound, "gradient", "Shown of the honest program", "dot"),
        *row(_PLANTED, planted.bound, "bias", "Shown of the faulty program", "cross", True))
    alt = f"Promised is ε = {claim:g}; the honest program shows {honest.bound:.2f}."
    return Picture(
        Axis("ε that releases show", 0, float(end), plain_ticks(*np.arange(0, end + 0.1, 0.5))),
        Axis("", 0.4, 2.6, ((_HONEST, "Honest"), (_PLANTED, "Faulty"))), marks, alt,
        f"{alt} The faulty program shows {planted.bound:.2f}, beyond the promise.",
        {"program": ["honest", "faulty"], "promised ε": [claim, claim],
         "shown from releases, at least": [round(v, 2) for v in (honest.bound, planted.bound)],
         "worked out from the noise": [round(v, 2) for v in (honest.worst_epsilon,
                                                             planted.worst_epsilon)]})
