"""Lesson 5: many sites, each of which adds its own noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from engine.core.types import Array, Budget
from engine.figures.drawn import Axis, Mark, Picture, plain_ticks
from engine.language import numbers, tags
from engine.lessons import Guess, Lesson, Option, Quiz, See, Worked, lessons
from engine.lessons.stored_errors import Make, numbers_of
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.sources.sparse_curves import SparseCurves
from engine.topics.mean.answer import simulated_study

CHILDREN, READINGS = 1000, 10
SITES = (1, 2, 5, 10, 20)
BUDGET = Budget(1.0, 1 / CHILDREN**2)
_METHOD = AdaptiveMean()
_ROOM = 1.5  # times the largest error together is shown


@dataclass(frozen=True)
class SiteErrors:
    """Errors in cm, by the number of sites."""

    # together, alone, each (sites,): of all sites together, and of one of them alone; NaN where
    # nothing would be published
    together: Array
    alone: Array
    floor: float


def measure(seed: int) -> SiteErrors:
    """The same number of children, spread over more and more sites."""
    together, alone, floor = numbers_of(_NAME, seed, _simulated)
    return SiteErrors(together, alone, float(floor))


def _simulated(seed: int) -> tuple[Array, Array, float]:
    """Errors together and alone, and that without privacy."""
    together = [_errors(CHILDREN, sites, seed) for sites in SITES]
    alone = [_errors(CHILDREN // sites, 1, seed)[0] for sites in SITES]
    return np.array([error for error, _ in together]), np.array(alone), together[0][1]


_NAME = f"errors of {CHILDREN} children by sites"
MAKERS: dict[str, Make] = {_NAME: _simulated}


def _errors(children: int, sites: int, seed: int) -> tuple[float, float]:
    """Error with privacy, NaN where nothing would be published, and without."""
    source = SparseCurves(
        mean="growth", n_curves=children, n_observations_per_curve=READINGS, n_servers=sites
    )
    verdict = _METHOD.feasibility(source.sizes, (BUDGET,) * sites)
    study = simulated_study(source, _METHOD, [BUDGET], seed)
    assert study.baseline is not None
    is_refused = verdict is not None and not verdict.is_feasible
    return math.nan if is_refused else float(study.error[0]), study.baseline


@lessons.register
class ManySites(Lesson):
    """Without a trusted centre there is more noise; leaving the others out costs more."""

    key = "5"
    order = 5
    label = "many hospitals, no trusted centre"
    unit = (
        "One child’s whole curve, at its own site",
        "What is protected: exchanging all observations of any one child changes what leaves "
        "the site only a little, whoever sees it.",
    )
    story = (
        "Each of {n} children is measured {m} times. If one centre holds all curves, it adds noise "
        "once. The error is then {centre} cm, the dot at the left.",
        "Often no centre is trusted. Then each curve stays at one of several hospitals. Each "
        "hospital adds its own noise, ε = {epsilon}, before anything leaves.",
        "A centre averages what the hospitals send.",
    )
    ask = "How does the error grow when the {n} children are spread over more hospitals?"
    shows = (
        "With {most} hospitals the error is **{together} cm**, at one trusted centre it is "
        "**{centre} cm**. Without privacy: {floor} cm."
    )
    explains = (
        "Each hospital must hide one child among its own, who are few. So each adds a lot of "
        "noise, and only part of it averages out.",
        "That is the price of having no trusted centre: here the error is about {price} times as "
        "large.",
        "Still it pays to work together. The error of {some} hospitals is {together_some} cm. One "
        "of them alone, with {some_each} children: {alone}.",
        "One of {most} alone has {most_each} children. So few cannot publish anything useful at "
        "this ε. Together the {most} can.",
    )
    question = Quiz(
        "What does the centre learn about one child?",
        (
            Option(
                "The child’s curve.",
                "No curve leaves a hospital, only averages with noise in them.",
            ),
            Option(
                "Nothing, for it sees no child’s name.",
                "Names are not what protects. A curve "
                "without a name can still be recognised; noise is what hides it.",
            ),
            Option(
                "No more than the noise of one hospital lets through.",
                "Noise was added before "
                "anything left. So the same bound holds for the centre as for all others.",
                True,
            ),
        ),
    )
    terms = ("Federated", "Central", "Parallel composition")
    see = (See("decide.py", "Set up your own hospitals on Decide"),)

    @classmethod
    def work(cls, seed: int) -> Worked:
        return cls.of_errors(measure(seed))

    @classmethod
    def of_errors(cls, errors: SiteErrors) -> Worked:
        """Work the lesson out from its errors."""
        some = SITES.index(5)
        centre, together, floor, together_some = numbers.together(
            [errors.together[0], errors.together[-1], errors.floor, errors.together[some]]
        )
        words = {
            "n": numbers.number(CHILDREN),
            "m": str(READINGS),
            "most": str(SITES[-1]),
            "some": str(SITES[some]),
            "epsilon": f"{BUDGET.epsilon:g}",
            "centre": centre,
            "together": together,
            "floor": floor,
            "together_some": together_some,
            "price": f"{errors.together[-1] / errors.together[0]:.0f}",
            "some_each": str(CHILDREN // SITES[some]),
            "most_each": str(CHILDREN // SITES[-1]),
            "alone": _in_cm(errors.alone[some]),
        }
        guess = Guess(
            tuple(errors.together[1:].tolist()),
            (round(float(errors.together[0]) + 1, 1),) * (len(SITES) - 1),
            tuple(f"Error with {sites} hospitals" for sites in SITES[1:]),
            close=0.2,
            step=0.05,
            places=tuple(map(float, SITES[1:])),
            unit="cm",
            decimals=2,
        )
        return Worked(words, _picture(errors), guess, tags.budget_chip(BUDGET))


def _in_cm(error: float) -> str:
    """An error in cm, or why there is none."""
    if math.isnan(error):
        return "too few children"
    return f"{numbers.together([error])[0]} cm"


def _up_to(top: float, sites: Array, alone: Array) -> tuple[Array, Array]:
    """The line of one hospital alone to where it ends, or leaves the figure at its top.

    The axis of `sites` is logarithmic.
    """
    inside = int(np.sum(alone <= top))  # alone grows with the sites, as fewer children are at each
    if inside < len(alone) and math.isfinite(alone[inside]):
        around = slice(inside - 1, inside + 1)
        leaves = math.exp(np.interp(top, alone[around], np.log(sites[around])))
        return np.append(sites[:inside], leaves), np.append(alone[:inside], top)
    return sites[:inside], alone[:inside]


def _beyond(top: float, alone: Array) -> str:
    """Why the line of one hospital alone ends where it does: what comes after it, line by line."""
    return "\n".join(
        f"One of {sites}: {_in_cm(error)}"
        for sites, error in zip(SITES, alone.tolist(), strict=True)
        if not error <= top
    )


def _picture(errors: SiteErrors) -> Picture:
    sites = np.array(SITES, dtype=float)
    top = math.ceil(2 * _ROOM * float(errors.together.max())) / 2
    marks = (
        Mark(sites, np.full(len(sites), errors.floor), "without", "Non-private", dash="6,4"),
        Mark(sites[:1], errors.together[:1], "gradient", "One trusted centre", "dot"),
        Mark(sites, errors.together, "gradient", "Hospitals together", width=2.6, after=True),
        Mark(
            *_up_to(top, sites, errors.alone),
            "functional",
            "One hospital alone",
            dash="10,2",
            after=True,
        ),
        Mark(sites[2:3], np.array([top]), "text", _beyond(top, errors.alone), "note", after=True),
    )
    alt = f"Error against hospitals; one trusted centre has {errors.together[0]:.2f} cm."
    return Picture(
        Axis("Hospitals (log scale)", 1, 20, plain_ticks(*SITES), is_log=True),
        Axis("Error (cm)", 0, top, plain_ticks(*np.arange(0, top + 0.01, 0.5))),
        marks,
        alt,
        f"{alt} It grows to {errors.together[-1]:.2f} cm with {SITES[-1]} hospitals; one "
        "alone has more, soon beyond the figure.",
        {
            "hospitals": list(SITES),
            "together (cm)": [round(float(v), 2) for v in errors.together],
            "one alone (cm)": [_in_cm(v).removesuffix(" cm") for v in errors.alone],
        },
    )
