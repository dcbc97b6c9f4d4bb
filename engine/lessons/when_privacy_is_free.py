"""Lesson 4: more observations or more children, and when privacy is free."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from engine.core.types import Array, Budget
from engine.figures.drawn import Axis, Mark, Picture, plain_ticks
from engine.language import tags
from engine.language.numbers import number, together
from engine.lessons import Guess, Lesson, Option, Quiz, See, Worked, lessons
from engine.lessons.stored_errors import Make, numbers_of
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.sources.sparse_curves import SparseCurves
from engine.topics.mean.answer import simulated_study

READINGS = (2, 5, 10, 20, 50)
FEW, MANY = 200, 2000
EPSILON = 1.0
_METHOD = AdaptiveMean()


@dataclass(frozen=True)
class ErrorLines:
    """Errors in cm, by the number of observations of each child."""

    # private, ordinary, each (readings,): with and without privacy
    private: Array
    ordinary: Array


def lines(children: int, seed: int) -> ErrorLines:
    """So many children with 2 to 50 observations each; δ = 1/n²."""
    name = _name(children)
    return ErrorLines(*numbers_of(name, seed, MAKERS[name]))


def _name(children: int) -> str:
    return f"errors of {children} children by observations"


def _simulated(children: int, seed: int) -> tuple[Array, Array]:
    """Both lines."""
    budget = Budget(EPSILON, 1 / children**2)
    studies = [
        simulated_study(
            SparseCurves(mean="growth", n_curves=children, n_observations_per_curve=m),
            _METHOD,
            [budget],
            seed,
        )
        for m in READINGS
    ]
    return (
        np.array([study.error[0] for study in studies]),
        np.array([study.baseline for study in studies]),
    )


MAKERS: dict[str, Make] = {_name(n): partial(_simulated, n) for n in (FEW, MANY)}


@lessons.register
class WhenPrivacyIsFree(Lesson):
    """More observations help what is sparse, more children help privacy."""

    key = "4"
    order = 4
    label = "more observations or more children?"
    unit = tags.unit_tag(SparseCurves(mean="growth").facts)
    story = (
        "The mean growth curve of {few} children is published with ε = {epsilon}.",
        "With {least} observations each, curves are sparse: much lies between observations. With "
        "{most} each they are dense.",
        "The dashed line shows how the error falls with more observations, without privacy.",
    )
    ask = "How does the error fall with more observations, once noise is added?"
    shows = (
        "With privacy the error falls from **{private_sparse} cm** to **{private_dense} "
        "cm**, without it from {without_sparse} to {without_dense} cm."
    )
    explains = (
        "More observations help at first. With few, single curves are known so roughly that much "
        "noise must hide one.",
        "But from {some} to {most} the error only falls from {private_some} to {private_dense} cm: "
        "each child is one of {few}, so privacy noise is left.",
        "Among more children each counts less, so less noise hides them. With {many} the error is "
        "{many_private} cm with privacy and {many_without} cm without.",
        "Privacy is free where it adds nearly nothing to the error. With {few} children it is far "
        "from free: with {most} observations each the error is about {ratio} times as large.",
    )
    question = Quiz(
        "Privacy costs too much. What helps most?",
        (
            Option(
                "More observations of the same children.",
                "From {some} to {most} the error "
                "only falls to {private_dense} cm. Most of what is left is privacy noise.",
            ),
            Option(
                "More children.",
                "Privacy noise falls as fast as their number grows, faster "
                "than any other part of the error.",
                True,
            ),
            Option(
                "A smoother drawing of the same release.",
                "What was drowned by noise is gone. "
                "Whatever is computed from the release cannot bring it back.",
            ),
        ),
    )
    terms = ("Sparse observations", "Dense observations")
    see = (See("lab.py", "Where privacy is free: the map", "tab-theory"),)

    @classmethod
    def work(cls, seed: int) -> Worked:
        few, many = lines(FEW, seed), lines(MANY, seed)
        some = READINGS.index(10)
        errors = {
            "private_sparse": few.private[0],
            "private_some": few.private[some],
            "private_dense": few.private[-1],
            "without_sparse": few.ordinary[0],
            "without_dense": few.ordinary[-1],
            "many_private": many.private[-1],
            "many_without": many.ordinary[-1],
        }
        words = dict(zip(errors, together([*errors.values()]), strict=True)) | {
            "few": str(FEW),
            "many": number(MANY),
            "epsilon": f"{EPSILON:g}",
            "least": str(READINGS[0]),
            "some": str(READINGS[some]),
            "most": str(READINGS[-1]),
            "ratio": f"{few.private[-1] / few.ordinary[-1]:.0f}",
        }
        truth = tuple(few.private.tolist())
        start = (float(np.ceil(few.ordinary[0]) + 0.5),) * len(READINGS)
        guess = Guess(
            truth,
            start,
            tuple(f"Error with {m} observations" for m in READINGS),
            close=0.25,
            step=0.05,
            places=tuple(map(float, READINGS)),
            unit="cm",
            decimals=2,
        )
        return Worked(
            words, _picture(few, many), guess, tags.budget_chip(Budget(EPSILON, 1 / FEW**2))
        )


def _picture(few: ErrorLines, many: ErrorLines) -> Picture:
    readings = np.array(READINGS, dtype=float)
    top = float(np.ceil(max(3.0, few.private.max())))
    marks = (
        Mark(readings, few.ordinary, "without", f"{FEW} children, non-private", dash="6,4"),
        Mark(readings, few.private, "gradient", f"{FEW} children, private", width=2.6, after=True),
        Mark(
            readings,
            many.ordinary,
            "without",
            f"{number(MANY)} children, non-private",
            dash="2,3",
            width=1.6,
            after=True,
        ),
        Mark(
            readings,
            many.private,
            "functional",
            f"{number(MANY)} children, private",
            dash="10,2",
            after=True,
        ),
    )
    alt = f"Error against observations of each of {FEW} children, without privacy: it falls."
    columns = {
        f"{n} children, {kind} (cm)": [round(float(v), 2) for v in values]
        for n, errors in ((FEW, few), (MANY, many))
        for kind, values in (("private", errors.private), ("non-private", errors.ordinary))
    }
    return Picture(
        Axis("Observations of each child (log scale)", 2, 50, plain_ticks(*READINGS), is_log=True),
        Axis("Error (cm)", 0, top, plain_ticks(*np.arange(0, top + 0.5))),
        marks,
        alt,
        f"{alt} With privacy it levels off at {few.private[-1]:.1f} cm; with {number(MANY)} "
        "children both lines nearly meet.",
        {"observations": list(READINGS), **columns},
    )
