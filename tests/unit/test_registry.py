"""Parameterised classes describe, fill in and check themselves."""

import pickle

import pytest

from engine.core.errors import InputError
from engine.core.registry import Parameter, Registry, parameters
from engine.core.tasks import TASKS
from engine.mechanisms import mechanisms
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.rates import rates
from engine.sources import sources


def test_members_are_found_without_importing_their_modules():
    assert mechanisms.get("noisy_gradient_mean") is NoisyGradientMean
    assert "sparse_curves" in [cls.key for cls in sources.all()]


def test_two_members_with_one_key_are_refused():
    shelf = Registry("engine.sources", "source")
    shelf.register(NoisyGradientMean)
    with pytest.raises(ValueError, match="noisy_gradient_mean"):
        shelf.register(NoisyGradientMean)


@pytest.mark.parametrize(
    "bounds, words",
    [
        ({"low": 1}, "at least 1; got 0"),
        ({"high": -1}, "at most -1; got 0"),
        ({"low": 1, "high": 9}, "between 1 and 9; got 0"),
    ],
)
def test_a_range_may_be_open_on_either_side(bounds, words):
    size = Parameter("size", int, False, 3, "Size", "How many.", **bounds)
    with pytest.raises(InputError, match=words):
        size.check(0)
    assert size.as_dict()["range"] == [size.low, size.high]


def test_usual_values_follow_the_chosen_variant():
    assert (NoisyGradientMean().n_iterations, NoisyGradientMean().step_size) == (10, 0.3)
    published = NoisyGradientMean(scheme="split", constants="published")
    assert (published.n_iterations, published.step_size) == (None, 0.1)
    assert published.failure_probability == 0.05
    assert published.radius_constant == 0.75


def test_an_explicit_none_means_the_papers_rule_and_not_the_usual_value():
    assert NoisyGradientMean(n_iterations=None).n_iterations is None


def test_only_values_that_differ_from_the_variants_usual_ones_count_as_changed():
    assert NoisyGradientMean(scheme="split").changed() == {"scheme": "split"}
    assert NoisyGradientMean(step_size=0.3).changed() == {}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"truncation": 0}, "between 1 and 33"),
        ({"truncation": 2.5}, "whole number"),
        ({"truncation": True}, "whole number"),
        ({"step_size": "big"}, "must be a number"),
        ({"step_size": float("nan")}, "finite"),
        ({"scheme": "both"}, "full_batch, split"),
        ({"scheme": None}, "is needed"),
    ],
)
def test_a_bad_value_is_refused_with_its_name_and_its_limit(given, words):
    with pytest.raises(InputError, match=words) as caught:
        NoisyGradientMean(**given)
    assert caught.value.field == next(iter(given))


@pytest.mark.parametrize("shelf", [sources, mechanisms])
def test_every_declared_limit_is_enforced(shelf):
    """Invalid values are made from the same declaration that the form shows."""
    for cls in shelf.all():
        for parameter in parameters(cls):
            if parameter.low is None:
                continue
            for outside in (parameter.low - 1, parameter.high + 1):
                with pytest.raises(InputError, match=parameter.name):
                    cls(**{parameter.name: parameter.kind(outside)})


def test_an_unknown_parameter_is_named_beside_the_known_ones():
    with pytest.raises(InputError, match=r"no parameter 'epsilonn'.*truncation"):
        mechanisms.build("noisy_gradient_mean", {"epsilonn": 1})


def test_an_unknown_key_lists_the_known_ones():
    with pytest.raises(InputError, match="sparse_curves"):
        sources.get("sparse_curve")


def test_an_input_error_survives_the_trip_back_from_a_worker():
    error = pickle.loads(pickle.dumps(InputError("Wrong.", field="n", hint="Fix it.")))
    assert (str(error), error.field) == ("Wrong. Fix it.", "n")


WITHOUT_THEORY = {"covariance", "percentile_curves"}  # nobody has published a rate for them


def test_every_member_serves_a_known_task_and_every_task_with_a_theory_has_a_rate():
    for shelf in (sources, mechanisms, rates):
        for cls in shelf.all():
            assert cls.tasks <= set(TASKS)
    for task in TASKS:
        assert bool(rates.for_task(task)) == (task not in WITHOUT_THEORY)
        assert bool(sources.for_task(task)) == bool(mechanisms.for_task(task))
