"""Every parameter of every registered member is fed the same hostile values.

It answers with an `InputError` that fits on a screen, or with an object that is what it says.
"""

import json
import math

import pytest

from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.registry import parameters
from engine.core.tasks import TASKS
from engine.core.types import Budget
from engine.mechanisms import mechanisms
from engine.rates import rates
from engine.sources import sources
from tests.hostile.values import HOSTILE

SHELVES = {"source": sources, "mechanism": mechanisms, "rate": rates}
MEMBERS = [(shelf, cls) for shelf in SHELVES.values() for cls in shelf.all()]


def assert_is_a_sentence(problem):
    """What is said fits a message, can be printed, and shows nothing of the machine."""
    text = str(problem)
    assert 10 < len(text) < 600 and text.encode()
    assert text.isprintable() and "0x" not in text and "Traceback" not in text


def answers(make):
    """The object, or None if it is refused in a sentence."""
    try:
        return make()
    except InputError as problem:
        assert_is_a_sentence(problem)
        return None


@pytest.mark.parametrize(
    ("shelf", "cls"), MEMBERS, ids=lambda value: getattr(value, "key", value.__class__.__name__)
)
def test_each_parameter_takes_a_value_as_it_says_or_refuses_it_in_a_sentence(shelf, cls):
    for parameter in parameters(cls):
        for value in HOSTILE:
            made = answers(lambda p=parameter, v=value: shelf.build(cls.key, {p.name: v}))
            if made is not None:
                assert_is_valid(shelf, made)


def assert_is_valid(shelf, made):
    """Every parameter is of its kind and finite, and its plain values make the same object again."""
    values = made.values()
    for parameter in made.parameters():
        value = values[parameter.name]
        assert (value is None and parameter.optional) or type(value) is (
            parameter.names or parameter.kind
        )
        assert not isinstance(value, float) or math.isfinite(value)
    again = shelf.build(made.key, json.loads(json.dumps(values, allow_nan=False)))
    assert again.values() == values and digest(again) == digest(made)


@pytest.mark.parametrize("shelf", SHELVES.values(), ids=SHELVES)
def test_what_names_no_member_or_parameter_is_refused(shelf):
    for value in HOSTILE:
        assert answers(lambda v=value: shelf.build(v, {})) is None
        if isinstance(value, str):
            assert answers(lambda v=value: shelf.build(shelf.all()[0].key, {v: 1})) is None


def test_what_names_no_task_is_served_by_nobody():
    for value in HOSTILE:
        if isinstance(value, str):
            assert value not in TASKS and not mechanisms.for_task(value)


def test_a_budget_is_one_that_can_be_computed_with_or_is_refused():
    for value in HOSTILE:
        for made in (answers(lambda v=value: Budget(v)), answers(lambda v=value: Budget(1.0, v))):
            if made is not None:
                assert made.epsilon > 0 and 0 <= made.delta < 1
                assert made.epsilon == math.inf or math.isfinite(
                    math.exp(-made.epsilon) + made.epsilon**2
                )
