"""Curves, rows and events are taken from their data sets by the same rules."""

import numpy as np
import pytest

from engine.core.types import (
    Covariate,
    CurveData,
    EventData,
    EventFacts,
    PublicFacts,
    SampleData,
)

FACTS = PublicFacts(covariates=(Covariate("x", 0.0, 100.0),), value_low=0.0, value_high=100.0)
SERVER = np.array([0, 0, 2, 2, 2])  # nobody is on server 1
WHO = np.arange(5.0) + np.array([[0.0], [10.0]])  # of two data sets
COUNTS = np.array([1, 2, 3, 2, 1])
READINGS = WHO.repeat(COUNTS, axis=1)
KINDS = {
    "curves": CurveData(READINGS / 20, READINGS, COUNTS, SERVER, FACTS, covariates=WHO[..., None]),
    "rows": SampleData(WHO[..., None], WHO, SERVER, FACTS),
    "events": EventData(WHO, WHO.astype(np.int64), SERVER, EventFacts(), (WHO > 2).astype(np.int64))}
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
