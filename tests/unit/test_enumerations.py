"""Kinds, laws, units and settings are enumerations; links, files and digests hold their text."""

import json
from dataclasses import asdict

import pytest

from engine.core.enumerations import Enumeration, NoiseLaw, NoisePlace
from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.types import (
    Budget,
    Composition,
    DataKind,
    Design,
    PublicFacts,
    Spend,
    Step,
    TimeLaw,
    Unit,
)
from engine.mechanisms import mechanisms
from engine.mechanisms.families.descent import Participation
from engine.mechanisms.univariate_mean import Setting, UnivariateMean
from engine.rates import rates
from engine.rates.trusted import Trust
from engine.rates.univariate_mean import RateSetting
from engine.uploads.design import StatedLaw

EVERY = [
    Participation,
    Setting,
    Trust,
    RateSetting,
    StatedLaw,
    NoiseLaw,
    Composition,
    DataKind,
    TimeLaw,
    Unit,
]


@pytest.mark.parametrize("names", EVERY, ids=lambda names: names.__name__)
def test_a_member_is_its_text_in_digests_in_json_and_in_code(names):
    for member in names:
        text = str(member.value)
        assert digest(member) == digest(text) and digest({"a": [member]}) == digest({"a": [text]})
        assert json.dumps(member) == json.dumps(text)
        assert repr(member) == repr(text) and f"{member}" == text


def test_records_take_text_for_a_member_and_are_equal_with_either():
    assert PublicFacts(kind="upload") == PublicFacts(kind=DataKind.UPLOAD)
    assert PublicFacts(kind="upload").is_upload and not PublicFacts().is_upload
    assert Design(law="visits", gap=0.1) == Design.visits(0.1)
    plain = json.loads(json.dumps(asdict(PublicFacts(kind="public"))))
    assert (plain["kind"], plain["design"]["law"]) == ("public", "independent")
    assert PublicFacts(kind=plain["kind"]).kind is DataKind.PUBLIC
    spend = Spend(
        Step("a"),
        0,
        1.0,
        (1.0,),
        (1.0,),
        1,
        "parallel",
        Budget(1.0),
        "why",
        unit="row",
        noise="gaussian",
    )
    assert (spend.composition, spend.unit, spend.noise) == (
        Composition.PARALLEL,
        Unit.ROW,
        NoiseLaw.GAUSSIAN,
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: PublicFacts(kind="stolen"),
        lambda: Design(law="sometimes"),
        lambda: Spend(Step("a"), 0, 1.0, (), (), 1, "never", Budget(1.0), ""),
        lambda: mechanisms.build("noisy_gradient_mean", {"scheme": "splitt"}),
        lambda: mechanisms.build("univariate_mean", {"setting": "central"}),
        lambda: rates.build("functional_mean", {"privacy": 3}),
    ],
)
def test_another_name_is_refused_kindly(make):
    with pytest.raises(InputError, match="must be"):
        make()


def test_a_parameter_of_an_enumeration_offers_its_text_and_holds_a_member():
    scheme = next(
        p for p in mechanisms.get("noisy_gradient_mean").parameters() if p.name == "scheme"
    )
    assert (scheme.kind, scheme.choices) == (str, ("full_batch", "split"))
    assert json.loads(json.dumps(scheme.as_dict()))["default"] == "full_batch"
    for p in (p for cls in mechanisms.all() for p in cls.parameters()):
        assert all(type(choice) is str for choice in p.choices)
    split = mechanisms.build("noisy_gradient_mean", {"scheme": "split"})
    assert (
        split.scheme is Participation.SPLIT and split.n_iterations is None
    )  # usual values follow it
    assert split == mechanisms.build("noisy_gradient_mean", {"scheme": Participation.SPLIT})
    assert repr(UnivariateMean(setting="site")) == repr(UnivariateMean(setting=Setting.SITE))


def test_a_list_of_names_has_no_name_that_is_empty():
    with pytest.raises(
        InputError, match=r"one of curve, reading, row, record, number, machine, person;"
    ):
        Unit.named("household", "unit")
    assert issubclass(Unit, Enumeration) and Unit.named("", "unit") is Unit.UNSTATED


def test_whoever_is_trusted_by_a_rate_adds_the_noise_of_the_mechanism_it_is_attained_by():
    by_sites = [
        rate
        for rate in (rates.build("functional_mean", {"privacy": notion}) for notion in Trust)
        if rate.attained_by()
    ]
    assert [rate.privacy.place for rate in by_sites] == [NoisePlace.SITES]
    for setting in RateSetting:
        _, mechanism = rates.build("univariate_mean", {"setting": setting}).in_practice()
        assert mechanism.setting is setting.mechanism
        assert (mechanism.setting.place is NoisePlace.PERSON) == setting.startswith("local")


@pytest.mark.parametrize("place", [NoisePlace.CENTRE, NoisePlace.SITES, NoisePlace.PERSON])
def test_an_average_noised_by_anyone_protects_people(place):
    setting = UnivariateMean().noised_by(place).setting
    assert setting.place is place and setting.is_by_person
