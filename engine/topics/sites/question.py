"""Sites: the ways to use the curves, and the odds where protection is weakest."""

from __future__ import annotations

from engine.core.tasks import MEAN_FUNCTION
from engine.figures.theme import Chart
from engine.language import error_words
from engine.language.numbers import named
from engine.privacy import accounting
from engine.topics.asking import Numbers, QuestionKind, QuestionLike, as_floats, errors
from engine.topics.sites import charts
from engine.topics.sites.answer import SitesAnswer, federation


def _numbers(study: SitesAnswer, question: QuestionLike) -> Numbers:
    """Collect errors together, summed, pooled and alone, and the odds of the weakest protection."""
    unit, weakest = study.facts.value_unit, study.for_group(question.person.units).weakest
    proved = accounting.least_guarantee(study.together.spends)
    together = study.together.accuracy
    sums = (
        {} if study.summed is None else {named("error with masked sums", unit): study.summed.error}
    )
    return as_floats(
        errors(
            together.error,
            together.within,
            unit,
            study.baseline,
            error_words.distance(study.facts, "mean"),
        )
        | sums
        | {
            named("error at one trusted centre", unit): study.pooled.error,
            named("error of the best site alone", unit): study.alone.error,
            "attacker’s accuracy, at most": weakest.odds.right,
            "proved ε": proved.epsilon,
            "proved δ": proved.delta,
        }
    )


def _chart(study: SitesAnswer, question: QuestionLike) -> Chart:
    """Draw the contribution of each site."""
    return charts.shares(study, question["mechanism"].family)


KIND = QuestionKind("sites", "Sites", federation, _numbers, _chart, (MEAN_FUNCTION.key,))
