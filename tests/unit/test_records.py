"""Curves, rows and events are taken from their data sets by the same rules."""

import json
from dataclasses import replace

import numpy as np
import pytest

from engine.core.types import (
    Covariate,
    CurveData,
    EventData,
    EventFacts,
    PublicFacts,
    SampleData,
    from_public_facts,
)

FACTS = PublicFacts(covariates=(Covariate("x", 0.0, 100.0),), value_low=0.0, value_high=100.0)
SERVER = np.array([0, 0, 2, 2, 2])  # nobody is on server 1
WHO = np.arange(5.0) + np.array([[0.0], [10.0]])  # of two data sets
COUNTS = np.array([1, 2, 3, 2, 1])
READINGS = WHO.repeat(COUNTS, axis=1)
KINDS = {
    "curves": CurveData(READINGS / 20, READINGS, COUNTS, SERVER, FACTS, covariates=WHO[..., None]),
    "rows": SampleData(WHO[..., None], WHO, SERVER, FACTS),
    "events": EventData(
        WHO,
        WHO.astype(np.int64),
        SERVER,
        EventFacts(groups=("a", "b"), late_entry=True),
        (WHO > 2).astype(np.int64),
        entry=WHO / 2,
    ),
}
every_kind = pytest.mark.parametrize("data", KINDS.values(), ids=KINDS)


def who(data):
    """Whose records stand where in the first data set; all that is known of them says the same."""
    if isinstance(data, CurveData):
        people = data.covariates[0, :, 0]
        assert (data.values[0] == people.repeat(data.counts)).all()
        assert (data.times[0] == people.repeat(data.counts) / 20).all()
        assert (data.counts == COUNTS[people.astype(int)]).all()
    elif isinstance(data, SampleData):
        people = data.x[0, :, 0]
        assert (data.y[0] == people).all()
    else:
        people = data.time[0]
        assert (data.status[0] == people).all() and (data.group[0] == (people > 2)).all()
    return people.tolist()


@every_kind
def test_a_server_that_is_asked_for_keeps_its_place_though_nobody_is_on_it(data):
    some = data.of_servers([2, 1])
    assert who(some) == [2, 3, 4] and some.server.tolist() == [1, 1, 1]
    assert who(data.of_servers([0])) == [0, 1]


@every_kind
def test_servers_of_some_people_are_numbered_by_those_that_have_any(data):
    for people in (np.array([False, True, True, False, True]), np.array([1, 2, 4])):
        some = data.of_people(people)
        assert who(some) == [1, 2, 4] and some.server.tolist() == [0, 1, 1]
    assert who(data.of_people(np.array([3, 3]))) == [3, 3]


@every_kind
def test_in_another_order_places_keep_their_servers(data):
    turned = data.in_order(np.array([4, 1, 0, 2, 3]))
    assert who(turned) == [4, 1, 0, 2, 3] and (turned.server == SERVER).all()


@every_kind
def test_one_of_several_data_sets_is_a_batch_of_one(data):
    assert who(data.repeat(0)) == [0, 1, 2, 3, 4] and data.repeat(0).n_repeats == 1
    assert data.n_repeats == 2 and data.repeat(1).n_curves == 5


@every_kind
def test_pooled_records_are_all_on_one_server(data):
    assert who(data.pooled()) == [0, 1, 2, 3, 4] and data.pooled().sizes.n_servers == 1


@every_kind
def test_a_stand_in_has_the_same_sizes_and_facts_and_nobodys_numbers(data):
    one = data.repeat(0)
    others = replace(
        one,
        **{
            name: getattr(one, name)[:, ::-1].copy()
            for name in one._arrays
            if getattr(one, name) is not None
        },
    )
    assert one.stand_in().public == one.public
    assert one.stand_in().record_bytes() == others.stand_in().record_bytes() != one.record_bytes()


@every_kind
def test_public_facts_that_were_stored_give_data_of_the_same_kind_and_facts(data):
    plain = data.public_facts()
    again = from_public_facts(json.loads(json.dumps(plain)))
    assert type(again) is type(data) and again.facts == data.facts
    assert again.public_facts() == plain


@every_kind
def test_the_content_of_data_is_that_of_their_records_in_any_order(data):
    one = data.of_servers([2])
    assert one.content() == one.in_order(np.array([2, 0, 1])).content()
    assert one.content() != data.of_servers([0]).content()


@every_kind
def test_records_of_one_server_take_the_places_of_its_own(data):
    one = data.repeat(0)
    mixed = one.stand_in().with_site(2, one.of_servers([2]))
    assert mixed.of_servers([2]).record_bytes() == one.of_servers([2]).record_bytes()
    assert mixed.of_servers([0]).record_bytes() == one.stand_in().of_servers([0]).record_bytes()
