"""Questions that released counts of survival answer, from the guarantee card alone."""

import json

import numpy as np
import pytest

from engine.answers.reply import Verdict
from engine.answers.survival import ReleasedSurvival, card, survival_questions
from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.numerics.counts.contrasts import Contrasts
from engine.privacy import transcript
from engine.sources.event_times import EventTimes

SOURCES = {
    "one": EventTimes(n_curves=1000),
    "two": EventTimes(n_curves=1000, comparison="hazard ratio"),
    "strata": EventTimes(n_curves=2000, comparison="strata"),
    "late": EventTimes(n_curves=2000, late_share=0.6),
    "visits": EventTimes(n_curves=2000, visits=6),
    "two at visits": EventTimes(n_curves=2000, visits=4, comparison="hazard ratio"),
}


def released(name, seed=5):
    data = SOURCES[name].draw(1, generator(seed, 0, 0))
    estimate = NoisyCounts().release(data, (Budget(2.0),), generator(seed, 1, 0))
    return ReleasedSurvival(estimate.released[0].picked(0, 0), data.facts, 10)


def asked(known, question, **options):
    return survival_questions.build(question, options).answer(known)


def on_card(known):
    text = json.dumps({card.KEY: card.written(known)}, allow_nan=False)
    return json.loads(text)


@pytest.mark.parametrize("name", SOURCES)
def test_a_card_answers_as_the_release_does_and_sends_no_message(name):
    known = released(name)
    with transcript.recorded() as messages:
        again = card.read(on_card(known))
        for question in survival_questions.all():
            assert question().answer(again) == question().answer(known)
            assert json.dumps(question().answer(known).plain(), allow_nan=False)
    assert not messages


def test_survival_at_a_time_is_that_of_the_curve_at_the_nearest_edge():
    known = released("one")
    (curve,) = known.curves
    edges = np.asarray(known.table.cells.edges[1:])
    answer = asked(known, "milestone", time=2.3)
    edge = np.abs(edges - 2.3).argmin()
    assert answer.value == pytest.approx(100 * curve.values[edge])
    assert answer.interval == pytest.approx(
        (100 * curve.pointwise_low[edge], 100 * curve.pointwise_high[edge])
    )
    assert answer.notes and f"{edges[edge]:.4g}" in answer.text
    assert asked(known, "milestone", time=float(edges[edge])).notes == ()


def test_a_mean_until_a_stated_time_grows_with_it_and_holds_the_truth():
    """In 40 data sets, five standard errors below 95 %."""
    source, held = SOURCES["one"], 0
    for seed in range(40):
        known = released("one", seed)
        answers = [asked(known, "restricted_mean", until=until) for until in (1.0, 2.0, 3.0)]
        assert [each.value for each in answers] == sorted(each.value for each in answers)
        edges = np.asarray(known.table.cells.edges[1:])
        until = edges[np.abs(edges - 2.0).argmin()]
        times = np.linspace(0, until, 4001)
        true = np.trapezoid(source.truth.at(times / source.follow_up), times)
        held += answers[1].holds(float(true))
    assert held >= 40 * (0.95 - 5 * np.sqrt(0.95 * 0.05 / 40))


def test_two_groups_are_compared_as_in_the_report():
    known = released("two")
    contrasts = Contrasts.of(known.curves, 2.0)
    for question, contrast, times in (
        ("milestone", contrasts.milestone, 100),
        ("restricted_mean", contrasts.mean, 1),
    ):
        name = "time" if question == "milestone" else "until"
        answer = asked(known, question, **{name: 2.0})
        assert len(answer.values) == 2 and "Control minus Treatment" in answer.text
        difference = answer.values[0] - answer.values[1]
        assert difference == pytest.approx(times * float(contrast.difference))


def test_an_adjusted_curve_takes_other_weights_afterwards_at_no_cost():
    known = released("strata")
    alone = [
        asked(known, "adjusted", weights=",".join("1" if k == g else "0" for k in range(4)), time=1)
        for g in range(4)
    ]
    even = asked(known, "adjusted", time=1)
    assert even.value == pytest.approx(np.mean([each.value for each in alone]))
    assert even.value == pytest.approx(asked(known, "milestone", time=1).value)
    with pytest.raises(InputError, match="sum to 1"):
        asked(known, "adjusted", weights="0.5,0.4,0.05,0.04")
    with pytest.raises(InputError, match="numbers with commas"):
        asked(known, "adjusted", weights="a half")
    assert asked(released("one"), "adjusted").verdict is Verdict.REFUSED


def test_what_is_not_shown_has_no_answer_and_what_lies_outside_is_refused():
    known = released("one")
    hidden = ReleasedSurvival(known.table, known.facts, 900)
    assert asked(hidden, "milestone", time=4.5).verdict is Verdict.REFUSED
    assert asked(hidden, "restricted_mean", until=4.5).verdict is Verdict.REFUSED
    for time in (0.0, -1.0, 5.1):
        with pytest.raises(InputError, match="within the follow-up"):
            asked(known, "milestone", time=time)


WRONG = [
    ("edges", [0.0, 2.0, 1.0]),
    ("edges", "0, 1"),
    ("exits", [1.0, 2.0]),
    ("exits", [True] * 31),
    ("entries", [1.0]),
    ("exit_scales", [-1.0]),
    ("exit_scales", []),
    ("totals", [0.0]),
    ("site_weights", []),
    ("spread", -1),
    ("least_at_risk", None),
    ("groups", [3]),
    ("group_weights", [0.5, 0.5]),
    ("words", {"person": 3}),
    ("version", 2),
]


@pytest.mark.parametrize(("name", "value"), WRONG, ids=str)
def test_counts_of_a_card_that_cannot_be_are_refused(name, value):
    known = on_card(released("one"))
    known[card.KEY][name] = value
    with pytest.raises(InputError):
        card.read(known)
