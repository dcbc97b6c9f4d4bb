"""A guarantee card as a record for the registry of deployments: keys, words and YAML."""

import json

import jsonschema
import pytest
import yaml

from engine import __main__
from engine.core.errors import InputError
from engine.core.types import Budget
from engine.exports.schemas import schema
from engine.mechanisms import mechanisms
from engine.release import files as release_files
from engine.release import published
from engine.release.deployment_record import KEYS, Answers, as_yaml, left_empty, record
from engine.release.ledger import Ledger
from engine.release.plan import Declaration
from engine.sources import sources
from engine.uploads.stated import facts_in_words
from tests.release.test_guarantee_card import upload

ASKED = Answers("Weather agency", "Planning of airports", "USA")
NASTY = (
    'say "no": # {x}',
    "back\\slash",
    "tab\tand\nline",
    "Ω – 95 %",
    "yes",
    "1e-6",
    "\x85\u2028\x00",
    "\ud83d half a pair",
    "😀",
    "- item",
    "null",
    "2026-01-01",
    " padded ",
)


@pytest.fixture(scope="module")
def cards(tmp_path_factory):
    """Cards of approximate and pure releases of published data, and of a file."""
    ledger = Ledger(tmp_path_factory.mktemp("record") / "ledger")
    airports, adaptive = (
        sources.build("airport_temperature", {}),
        mechanisms.build("adaptive_mean", {}),
    )
    made = {
        "approximate": published.publish(airports, adaptive, Budget(1.0, 1e-6), ledger, "airports"),
        "pure": published.publish(
            sources.build("ages_at_death", {}),
            mechanisms.build("iclp", {"task": "density"}),
            Budget(1.0),
            ledger,
            "ages",
        ),
        "own": published.publish(
            upload(),
            adaptive,
            Budget(2.0, 1e-5),
            ledger,
            "Größe & Alter",
            declaration=Declaration(("value_high",)),
        ),
    }
    return {name: json.loads(release_files.card(release)) for name, release in made.items()}


def leaves(properties, before=""):
    for name, part in properties.items():
        if "properties" in part:
            yield from leaves(part["properties"], f"{before}{name}.")
        else:
            yield f"{before}{name}"


def test_the_schema_has_the_keys_of_the_registry_and_no_other():
    assert [*leaves(schema("record")["properties"])] == [*KEYS] and len({*KEYS}) == len(KEYS)


@pytest.mark.parametrize("kind", ["approximate", "pure", "own"])
@pytest.mark.parametrize(
    "answers", [ASKED, Answers("A", "B", "C", "policy", "https://x.org", "D")], ids=["least", "all"]
)
def test_a_record_is_as_its_schema_says_and_yaml_reads_it_back(cards, kind, answers):
    made = record(cards[kind], answers)
    jsonschema.Draft202012Validator(schema("record")).validate(made)
    assert yaml.safe_load(as_yaml(made)) == made


def test_these_keys_of_the_registry_stay_empty(cards):
    never = [
        "deployment.basic.data_product_sector",
        "deployment.deployment_model.data_source_type_details",
        "deployment.deployment_model.access_type_details",
    ]
    unless_asked = [
        "deployment.implementation.justification",
        "deployment.administrative.sources",
        "deployment.administrative.registry_authors",
    ]
    pure_alone = [
        "deployment.privacy_loss.privacy_parameters.delta",
        "deployment.privacy_loss.privacy_parameters.rho",
    ]
    assert left_empty(record(cards["own"], ASKED)) == [*never, *unless_asked]
    told = Answers("A", "B", "C", "policy", "https://x.org", "D")
    assert left_empty(record(cards["own"], told)) == never
    assert sorted(left_empty(record(cards["pure"], told))) == sorted(never + pure_alone)


def test_numbers_are_those_of_the_card(cards):
    card, made = cards["approximate"], record(cards["approximate"], ASKED)["deployment"]
    parameters = made["privacy_loss"]["privacy_parameters"]
    assert parameters == {**card["guarantee"], "rho": pytest.approx(card["mu"] ** 2 / 2)}
    assert made["dp_variant"]["variant_name"] == "Approximate DP"
    assert made["basic"]["publication_date"] == card["release"]["at"][:10]
    pure = record(cards["pure"], ASKED)["deployment"]
    assert pure["dp_variant"]["variant_name"] == "Pure DP"
    assert pure["privacy_loss"]["privacy_parameters"] == {
        "epsilon": cards["pure"]["guarantee"]["epsilon"]
    }


def test_what_was_chosen_after_looking_and_who_was_left_out_stand_in_the_record(cards):
    made = record({**cards["own"], "exhausted": "left out"}, ASKED)["deployment"]
    for text in (
        made["dp_variant"]["unprotected_quantities"],
        made["implementation"]["preprocessing_and_hyperparameter_tuning"],
    ):
        assert facts_in_words(["value_high"])[0] in text
    assert "left out" in made["dp_variant"]["unprotected_quantities"]
    assert "school register" in made["dp_variant"]["data_domain"]
    assert (
        "look"
        not in record(cards["approximate"], ASKED)["deployment"]["implementation"][
            "preprocessing_and_hyperparameter_tuning"
        ]
    )


def test_several_sites_are_a_federation(cards):
    card = {**cards["own"], "public": {"people_per_site": [20, 40]}}
    model = record(card, ASKED)["deployment"]["deployment_model"]
    assert model["model_name"] == "Federated" and "2 sites" in model["actors"]


@pytest.mark.parametrize("text", NASTY)
def test_no_text_is_anything_but_text_in_yaml(cards, text):
    written = as_yaml(record(cards["own"], Answers(text, text, text, text, text, text)))
    written.encode()
    basic = yaml.safe_load(written)["deployment"]["basic"]
    expected = text.replace("\ud83d", "\ufffd")
    assert basic["intended_use"] == expected and basic["data_curators"] == [expected]


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"kind": "else"},
        {"unit": "household"},
        {"public": {}},
        {"power": None},
        {"accuracy": []},
        {"release": "x"},
    ],
)
def test_what_is_no_whole_card_of_this_version_is_refused(cards, change):
    with pytest.raises(InputError) as problem:
        record({**cards["own"], **change}, ASKED)
    assert problem.value.field == "card" and problem.value.hint


@pytest.mark.parametrize("name", ["curator", "use", "region"])
def test_what_no_card_knows_must_be_answered(name):
    with pytest.raises(InputError) as problem:
        Answers(**{"curator": "A", "use": "B", "region": "C", name: " "})
    assert problem.value.field == name


def test_the_command_writes_the_file_and_lists_what_it_left_empty(cards, tmp_path, capsys):
    (tmp_path / "guarantee.json").write_text(json.dumps(cards["own"]))
    command = [
        "record",
        str(tmp_path / "guarantee.json"),
        "--curator",
        "A",
        "--use",
        "B",
        "--region",
        "C",
    ]
    assert __main__.main(command) == 0
    out, said = capsys.readouterr()
    assert yaml.safe_load(out)["deployment"]["basic"]["data_curators"] == ["A"]
    assert "justification" in said
    assert __main__.main([*command, "--output", str(tmp_path / "record.yaml")]) == 0
    assert (tmp_path / "record.yaml").read_text(encoding="utf-8") == out
