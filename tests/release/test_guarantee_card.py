"""Version 3 of the guarantee card: codes of the unit, of attacks, and of what its holder chose."""

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.types import Budget, Composition, Spend, Step
from engine.exports.schemas import schema
from engine.mechanisms import mechanisms
from engine.privacy import accounting, risk
from engine.privacy.tradeoff import Gaussian
from engine.release import files as release_files
from engine.release import published
from engine.release.data_sections import EVERY_FACT, WORDS
from engine.release.freezing import flat
from engine.release.guarantee_card import told_apart, unit_code, unit_of
from engine.release.ledger import Ledger
from engine.release.plan import Declaration, ReleasePlan, public_reading
from engine.release.proofs import proofs_of
from engine.sources import sources
from engine.uploads.curves import Upload
from engine.uploads.design import StatedDesign
from engine.uploads.facts import declare
from engine.uploads.people import read
from engine.uploads.reading_of_files import Reading
from engine.uploads.records import curves_of
from engine.uploads.stated import facts_in_words
from tests.sentences import of_topic

wording = of_topic("release")

ADAPTIVE = mechanisms.build("adaptive_mean", {})
FACTS = {"value_low": 60, "value_high": 210, "time_low": 2, "time_high": 18, "origin": "a chart"}
READING = {
    "frame": {"encoding": "utf-8", "separator": ",", "header": ["id", "age", "height"]},
    "person": {"column": "id", "list": "school register"},
    "columns": {"time": {"name": "age"}, "value": {"name": "height", "unit": "cm"}},
}
CSV = "id,age,height\n" + "".join(
    f"c{k},{2 + 4 * j + k % 3},{80 + 20 * j + k % 7}\n" for k in range(60) for j in range(4)
)


def upload(text=CSV, reading=READING):
    checked = Reading.of(reading)
    return Upload(
        curves=curves_of(read(text.encode(), checked)),
        declared=declare(
            *(FACTS[name] for name in ("value_low", "value_high", "time_low", "time_high")),
            FACTS["origin"],
            observations=4,
            design=StatedDesign(law="even"),
        ),
        reading=checked,
    )


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    """A release of published data at ε = 1, δ = 1e-6."""
    return published.publish(
        sources.build("airport_temperature", {}),
        ADAPTIVE,
        Budget(1.0, 1e-6),
        Ledger(tmp_path_factory.mktemp("card") / "ledger"),
        "reference",
    )


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A release of a file, with a stated reading and a fact that was changed after looking."""
    return published.publish(
        upload(),
        ADAPTIVE,
        Budget(2.0, 1e-5),
        Ledger(tmp_path_factory.mktemp("own") / "ledger"),
        "heights",
        declaration=Declaration(("observations_per_curve",), contact="dpo@example.org"),
    )


@pytest.mark.parametrize(
    ("epsilon", "mu", "power", "right"),
    [(1.0, 0.2367, (0.148, 0.0795, 0.0183), 0.547), (3.0, 0.6477, (0.263, 0.159, 0.047), 0.627)],
)
def test_gaussian_noise_has_the_reference_values(epsilon, mu, power, right):
    exact = accounting.exact_mu(epsilon, 1e-6)
    entries = told_apart(
        [
            Spend(
                Step("mean"),
                0,
                exact,
                (0.02,),
                (0.05,),
                1,
                Composition.SEQUENTIAL,
                Budget(epsilon, 1e-6),
                "of a test",
            )
        ]
    )
    assert entries["mu"] == pytest.approx(mu, abs=6e-5)
    assert [*entries["power"].values()] == pytest.approx(power, abs=6e-4)
    assert entries["odds"]["right_guess_at_most"] == pytest.approx(right, abs=6e-4)


def test_a_release_with_gaussian_noise_says_them_on_its_card(one):
    assert one.card["mu"] == pytest.approx(0.2367, abs=6e-5)
    assert one.card["power"] == pytest.approx(
        {"0.1": 0.148, "0.05": 0.0795, "0.01": 0.0183}, abs=6e-5
    )
    assert one.card["power"] == {
        "0.1": pytest.approx(Gaussian(one.card["mu"]).detection(0.1)),
        "0.05": risk.of_ledger(one.cost.certified_spends).power,
        "0.01": risk.of_ledger(one.cost.certified_spends).power_at_1_percent,
    }


@pytest.mark.parametrize(
    ("source", "mechanism", "parameters"),
    [("ages_at_death", "iclp", {"task": "density"}), ("heart_failure", "noisy_counts", {})],
)
def test_with_delta_0_no_attack_is_stronger_than_the_mu_of_the_card_allows(
    source, mechanism, parameters, tmp_path
):
    made = published.publish(
        sources.build(source, {}),
        mechanisms.build(mechanism, parameters),
        Budget(1.0),
        Ledger(tmp_path / "ledger"),
        "pure",
    )
    card, rates = made.card, np.linspace(0.001, 0.999, 999)
    certified = card["guarantee"]["epsilon"]
    assert card["mu"] == pytest.approx(2 * 0.6160, rel=2e-3) and card["guarantee"]["delta"] == 0
    found = risk.of_ledger(made.cost.certified_spends).curve.detection(rates)
    assert (found <= Gaussian(card["mu"]).detection(rates) + 1e-9).all()
    for rate, power in card["power"].items():
        assert float(rate) < power <= min(math.exp(certified) * float(rate), 1) + 1e-12


def test_no_mu_is_claimed_where_none_is_proved():
    line = Spend(
        Step("mean"),
        0,
        0.3,
        (0.02,),
        (0.05,),
        1,
        Composition.SEQUENTIAL,
        Budget(2.0, 1e-5),
        "of a test",
    )
    other = replace(line, step=Step("count"), mu=None, epsilon=0.5)
    entries = told_apart([line, other])
    assert entries["mu"] is None and 0.05 < entries["power"]["0.05"] < 1


@pytest.mark.parametrize("release", ["one", "own"])
def test_a_card_is_as_the_schema_of_version_3_says(release, request):
    card = json.loads(release_files.card(request.getfixturevalue(release)))
    check = jsonschema.Draft202012Validator(schema("guarantee"))
    check.validate(card)
    for name in schema("guarantee")["required"]:
        assert not check.is_valid({key: part for key, part in card.items() if key != name}), name


# -- the unit --------------------------------------------------------------------------------------


WIDE = "id,2,6,10,14\n" + "".join(
    f"c{k % 30},{80 + k % 7},100,120,{140 + k % 5}\n" for k in range(60)
)
EACH_ROW = {
    "frame": {"encoding": "utf-8", "separator": ",", "header": ["id", "2", "6", "10", "14"]},
    "person": {"rows": True},
    "columns": {"values": {"at": [["2", 2], ["6", 6], ["10", 10], ["14", 14]]}},
}
EACH_CELL = {**READING, "person": {"rows": True}}


@pytest.mark.parametrize(
    ("source", "mechanism", "code", "words"),
    [
        (upload(), ADAPTIVE, "person", "one person’s whole curve"),
        (upload(WIDE, EACH_ROW), ADAPTIVE, "row", "states to be one person"),
        (upload(reading=EACH_CELL), ADAPTIVE, "observation", "several rows are protected less"),
        (
            sources.build("airport_temperature", {}),
            mechanisms.build("univariate_mean", {"setting": "central_item"}),
            "observation",
            "one observation",
        ),
    ],
    ids=["person", "row", "observation of a file", "observation"],
)
def test_the_unit_has_a_code_and_words(source, mechanism, code, words):
    assert unit_code(source, mechanism) == code and words in unit_of(source, mechanism)


def test_a_plan_of_an_earlier_version_has_a_unit_too(one):
    plan = published.planned(upload(WIDE, EACH_ROW), ADAPTIVE, Budget(2.0, 1e-5), "rows")
    earlier = ReleasePlan(
        {
            key: part
            for key, part in plan.plain.items()
            if key not in ("protected", "proofs", "declaration", "reading")
        }
        | {"unit": "one row of the file; people with several rows are protected less"}
    )
    receipt = SimpleNamespace(at=one.at, release_id=one.release_id, odometer=None, standing=None)
    for made in (plan, earlier):
        card = published.assemble(made, silent(made), receipt).card
        assert (card["unit"], card["neighbours"]) == ("row", "replace-one-row/fixed-membership")
    assert card["proofs"] is None and card["changed_after_looking"] is None


def silent(plan):
    """Messages of zeros, as many as the plan has numbers."""
    return {key: np.zeros(message.size) for key, message in plan.cost.messages.items()}


# -- what the holder stated, and when --------------------------------------------------------------


def test_stated_facts_stand_on_the_card_with_who_stated_them_and_from_where(own):
    stated = {each["fact"]: each for each in own.card["statements"]}
    assert stated["value_low"] == {
        "fact": "value_low",
        "value": 60,
        "by": "holder",
        "source": "a chart",
    }
    assert stated["observations_per_curve"]["value"] == 4
    assert stated["observations_per_curve"]["source"] is None  # the source is that of the bounds
    assert own.card["changed_after_looking"] == ["observations_per_curve"]
    assert own.card["looked_before_stating"] is True and own.card["contact"] == "dpo@example.org"


def test_published_data_have_no_holder_who_stated_anything(one):
    assert one.card["statements"] == [] and one.card["reading"] is None
    assert "Choices after looking" not in release_files.guarantee_rows(one)


def test_the_report_says_the_reading_the_choices_and_the_contact(own):
    rows = release_files.guarantee_rows(own)
    wording.found("id school register", rows["Reading"])
    assert "“height”" in rows["Reading"]
    (changed,) = facts_in_words(own.card["changed_after_looking"])
    assert changed in rows["Choices after looking"] and "_" not in changed
    assert rows["Contact"] == "dpo@example.org"
    report = release_files.report(own).decode()
    assert changed in report and "school register" in report


def test_every_fact_that_can_be_changed_after_looking_is_named_by_its_noun(own):
    dated = {"name": "day", "kind": "date", "order": "dmy", "from": "calendar years"}
    coded = {"name": "sex", "kind": "word", "words": {"f.1": "girls"}, "other": "missing"}
    reading = own.card["reading"]
    columns = {**reading["columns"], "time": dated, "group": coded, "covariates": [dated]}
    keys = [
        *(fact for fact in EVERY_FACT if fact not in (*WORDS, "origin")),
        *flat({"features": [{}], "edges": [0, 1], "reading": {**reading, "columns": columns}}),
    ]
    assert "reading.columns.time.order" in keys and "reading.columns.group.words.f.1" in keys
    named = facts_in_words(keys)
    assert not [noun for noun in named if "_" in noun or "." in noun or "girls" in noun]
    assert len(named) == len({*named}) > 20


def test_without_a_frozen_statement_no_card_says_that_nothing_was_changed():
    plan = published.planned(upload(), ADAPTIVE, Budget(2.0, 1e-5), "x")
    assert plan.declaration == Declaration() and plan.declaration.changed is None
    assert plan.declaration.looked


def test_the_reading_of_people_in_columns_is_published_without_their_ids():
    reading = Reading.of(
        {
            "frame": {"header": ["age", "Anna", "Berta"], "people": "columns"},
            "person": {"header": True},
            "columns": {"time": {"name": "age"}, "values": {}},
        }
    )
    plain = public_reading(reading.to_plain())
    assert "Anna" not in json.dumps(plain) and plain["frame"]["header"] == ["age"]
    assert "Anna" not in json.dumps(flat({"reading": reading.to_plain()}))  # what a ledger keeps


def test_what_is_declared_is_not_part_of_the_request():
    """The same release asked for again after looking is not charged again."""
    data = published.certified.publishable_data(upload())
    plans = [
        published.planned(upload(), ADAPTIVE, Budget(2.0, 1e-5), "x", declaration=declaration)
        for declaration in (Declaration(), Declaration(("symmetric",), False, contact="x"))
    ]
    assert len({plan.requests_of(data) for plan in plans}) == 1
    assert len({plan.to_bytes() for plan in plans}) == 2


def test_a_contact_that_is_no_line_of_text_is_refused():
    for contact in ("a\nb", "x" * 201):
        with pytest.raises(InputError) as problem:
            Declaration(contact=contact)
        assert problem.value.field == "contact"


def test_the_proofs_of_a_release_are_those_of_its_method_and_are_kept_with_it(one):
    assert one.card["proofs"] == proofs_of(ADAPTIVE) != proofs_of(mechanisms.build("bernstein", {}))
    assert len({proofs_of(mechanisms.build(cls.key, {})) for cls in mechanisms.all()}) > 8
