"""Facts and budgets that cannot be are refused where they are made, before anything uses them."""

import math
from dataclasses import fields

import pytest

from engine.core.errors import InputError
from engine.core.types import Budget, Covariate, Design, EventFacts, PublicFacts
from engine.release.data_sections import ENDS, EVERY_FACT, FLAGS, NUMBERS, WORDS

IMPOSSIBLE = [
    (Budget, {"epsilon": math.nan}),
    (Budget, {"epsilon": -1.0}),
    (Budget, {"epsilon": -math.inf}),
    (Budget, {"epsilon": 1.0, "delta": -1e-9}),
    (Budget, {"epsilon": 1.0, "delta": math.inf}),
    (PublicFacts, {"value_low": 2.0, "value_high": 1.0}),
    (PublicFacts, {"value_low": 1.0, "value_high": 1.0}),
    (PublicFacts, {"value_low": math.nan}),
    (PublicFacts, {"value_low": -1e308, "value_high": 1e308}),
    (PublicFacts, {"time_high": math.inf}),
    (PublicFacts, {"observations_per_curve": -1}),
    (PublicFacts, {"reading_sd": -0.1}),
    (PublicFacts, {"reading_sd": math.inf}),
    (PublicFacts, {"reach": -1.0}),
    (PublicFacts, {"reach": math.inf}),
    (PublicFacts, {"norm_bound": -1.0}),
    (EventFacts, {"groups": ("a", "a")}),
    (EventFacts, {"groups": ("a", "b"), "group_sizes": (0, 5)}),
    (Covariate, {"name": "age", "low": 1.0, "high": 0.0}),
    (Design, {"law": "visits", "gap": -0.1}),
    (Design, {"law": "windows", "window": math.inf}),
    (Design, {"law": "common", "times": (0.5, 0.5)}),
    (Design, {"law": "common", "times": (0.5, 3.0)}),
    (Design, {"density": (0.0, 0.0)}),
    (Design, {"density": (1.0, math.inf)}),
]


@pytest.mark.parametrize(("kind", "fields"), IMPOSSIBLE)
def test_what_cannot_be_is_refused_where_it_is_made(kind, fields):
    with pytest.raises(InputError) as refused:
        kind(**fields)
    assert refused.value.field


def test_every_fact_of_a_request_is_a_public_fact_and_of_one_kind():
    assert {*EVERY_FACT} <= {each.name for each in fields(EventFacts)}
    assert {*ENDS, "time_step"} < {*NUMBERS} and "symmetric" in FLAGS and "people" in WORDS
    kinds = [*NUMBERS, *FLAGS, *WORDS, "origin", "design", "covariates"]
    assert sorted(kinds) == sorted(EVERY_FACT)


def test_an_infinite_budget_is_made_and_says_that_it_protects_nobody():
    assert not Budget(math.inf).is_private
