"""What the schemas allow is what the engine reads and writes."""

import json
from dataclasses import replace

import jsonschema
import pytest

from engine.__main__ import main
from engine.answers import card as answers_card
from engine.core.errors import InputError
from engine.core.types import Budget, PublicGroup
from engine.exports.schemas import SCHEMAS, schema
from engine.mechanisms import mechanisms
from engine.release import published
from engine.release.ledger import Ledger
from engine.running.steps import result_of
from engine.simulation import scenario
from engine.sources import sources
from engine.topics.planning.answer import plain, plan_of

GOOD = {
    "version": 1,
    "source": {"key": "sparse_curves", "parameters": {"n_curves": 100}},
    "mechanism": {"key": "adaptive_mean"},
    "budgets": [{"epsilon": 1, "delta": 1e-4}],
    "axes": {"budgets.epsilon": [0.5, 1]},
    "repeats": 2,
    "seed": 1,
}


def validator(name):
    return jsonschema.Draft202012Validator(schema(name))


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_one_and_the_command_prints_it(name, capsys):
    jsonschema.Draft202012Validator.check_schema(schema(name))
    assert main(["schema", name]) == 0
    assert json.loads(capsys.readouterr().out) == schema(name)


def test_a_scenario_as_the_pages_save_it_is_valid():
    plain_scenario = scenario.from_plain(GOOD).plain
    validator("scenario").validate(json.loads(json.dumps(plain_scenario)))


@pytest.mark.parametrize(
    "change",
    [
        {"source": {"key": "no such source"}},
        {"source": {"key": "sparse_curves", "parameters": {"n_curves": -1}}},
        {"source": {"key": "sparse_curves", "parameters": {"n_people": 10}}},
        {"budgets": [{"epsilon": 0}]},
        {"budgets": []},
        {"repeats": 0},
        {"axes": {"seed": [1, 2]}},
        {"note": "of mine"},
    ],
)
def test_what_the_schema_of_a_scenario_refuses_the_engine_refuses(change):
    assert not validator("scenario").is_valid(GOOD | change)
    with pytest.raises(InputError):
        scenario.from_plain(GOOD | change)


@pytest.mark.parametrize("shelf", [sources, mechanisms])
def test_usual_parameters_of_every_member_are_allowed(shelf):
    name = shelf.noun
    for cls in shelf.all():
        one = json.loads(json.dumps({"key": cls.key, "parameters": cls().values()}))
        part = schema("scenario")["properties"][name]["oneOf"]
        allowed = next(each for each in part if each["properties"]["key"]["const"] == cls.key)
        jsonschema.validate(one, allowed)


@pytest.mark.slow
def test_a_plan_is_as_its_schema_says():
    made = result_of(
        plan_of(
            sources.build("sparse_curves", {"n_curves": 300}),
            mechanisms.build("adaptive_mean", {}),
            1.0,
            None,
            "error",
            2.0,
        )
    )
    validator("plan").validate(json.loads(json.dumps(plain(made))))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "mechanism", "parameters"),
    [("airport_temperature", "adaptive_mean", {}), ("ages_at_death", "iclp", {"task": "density"})],
)
def test_the_card_of_a_release_is_as_its_schema_says(source, mechanism, parameters, tmp_path):
    release = published.publish(
        sources.build(source, {}),
        mechanisms.build(mechanism, parameters),
        Budget(1.0, 1e-6),
        Ledger(tmp_path / "ledger.sqlite3"),
        "test",
    )
    card = json.loads(json.dumps(release.card))
    validator("guarantee").validate(card)
    if mechanism == "adaptive_mean":
        curve = answers_card.read(card)
        girls = replace(curve.facts, group=PublicGroup("children", "girls", ("boys",)))
        of_group = json.loads(json.dumps(answers_card.written(replace(curve, facts=girls))))
        assert of_group["groups"] and of_group["spread"]
        earlier = {
            name: part for name, part in of_group.items() if name not in ("spread", "groups")
        }
        for answers in (of_group, earlier):
            validator("guarantee").validate(card | {"answers": answers})
    assert not validator("guarantee").is_valid(card | {"guarantee": {"epsilon": -1, "delta": 0}})
