"""A public sample sets what it can of a method, costs no budget, and is named on the card."""

import json

import numpy as np
import pytest

from engine import api as pc
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.tasks import DENSITY
from engine.core.types import Budget
from engine.mechanisms import mechanisms
from engine.release import published
from engine.release.ledger import Ledger
from engine.release.plan import Declaration
from engine.release.public_tuning import tuned_on
from engine.release.request import stated_of
from engine.sources.dense_curves import DenseCurves
from engine.sources.density_points import DensityPoints
from engine.sources.sparse_curves import SparseCurves
from tests import files
from tests.files import requested
from tests.readings import upload_of
from tests.release.test_release_settings import STATED

BUDGET = Budget(1.0, 1e-5)
CURVES = SparseCurves(n_curves=800)
SAMPLE = SparseCurves(n_curves=100)
OURS, THEIRS = (
    files.csv(files.growth_frame(count, 8, seed)) for count, seed in ((120, 1), (60, 2))
)


@pytest.mark.parametrize(
    ("method", "sample", "source", "names"),
    [
        (mechanisms.build("adaptive_mean", {}), SAMPLE, CURVES, ("prior", "guessed_spread")),
        (mechanisms.build("noisy_gradient_mean", {}), SAMPLE, CURVES, ("truncation",)),
        (
            mechanisms.build("iclp", {}),
            DenseCurves(n_curves=60),
            DenseCurves(n_curves=400),
            ("penalty_weight",),
        ),
        (
            mechanisms.build("frl", {}),
            DenseCurves(n_curves=60),
            DenseCurves(n_curves=400),
            ("n_functions",),
        ),
        (
            mechanisms.build("iclp", {"task": DENSITY.key}),
            DensityPoints(n_curves=200),
            DensityPoints(n_curves=2000),
            ("bandwidth",),
        ),
    ],
    ids=lambda value: value.key if hasattr(value, "key") else "",
)
def test_what_a_method_leaves_open_is_set(method, sample, source, names):
    tuned = tuned_on(method, sample, source, BUDGET if method.guarantee != "pure" else Budget(1.0))
    assert tuned.chosen == names
    values = tuned.mechanism.values()
    assert all(values[name] is not None for name in names)
    kept = {name: value for name, value in method.values().items() if name not in names}
    assert kept.items() <= values.items()
    assert all(name in tuned.in_words for name in names) and sample.facts.name in tuned.in_words


def test_a_prior_from_other_people_is_close_to_the_mean_of_the_protected_curves():
    tuned = tuned_on(mechanisms.build("adaptive_mean", {}), SAMPLE, CURVES, BUDGET)
    prior = np.array([float(value) for value in tuned.mechanism.values()["prior"].split(",")])
    at_grid = np.interp(drawing_grid(), np.linspace(0, 1, len(prior)), prior)
    assert np.sqrt(((at_grid - CURVES.truth.grid_values) ** 2).mean()) < 0.2


def test_more_people_or_budget_let_more_functions_be_kept():
    method = mechanisms.build("noisy_gradient_mean", {})
    few, many = (
        tuned_on(method, SparseCurves(n_curves=400), SparseCurves(n_curves=count), budget)
        for count, budget in ((150, Budget(0.3, 1e-5)), (4000, Budget(5.0, 1e-5)))
    )
    assert few.mechanism.values()["truncation"] < many.mechanism.values()["truncation"]


def test_settings_depend_on_nothing_of_the_protected_people_but_public_facts_and_sizes():
    method = mechanisms.build("adaptive_mean", {})
    sample = upload_of(THEIRS, STATED)
    one, other = (
        tuned_on(
            method, sample, upload_of(files.csv(files.growth_frame(120, 8, seed)), STATED), BUDGET
        )
        for seed in (1, 3)
    )
    assert one.mechanism == other.mechanism


def test_settings_that_were_chosen_stay_and_a_method_without_open_ones_is_refused():
    chosen = mechanisms.build("noisy_gradient_mean", {"truncation": 3})
    with pytest.raises(InputError) as caught:
        tuned_on(chosen, SAMPLE, CURVES, BUDGET)
    assert caught.value.field == "public"


@pytest.mark.parametrize(
    "sample",
    [SparseCurves(n_curves=10), upload_of(OURS, STATED), upload_of(THEIRS, STATED)],
    ids=["too few", "other units", "of other units"],
)
def test_a_sample_that_is_too_small_or_in_other_units_is_refused(sample):
    with pytest.raises(InputError) as caught:
        tuned_on(mechanisms.build("adaptive_mean", {}), sample, CURVES, BUDGET)
    assert caught.value.field == "public"


def test_the_protected_file_is_no_public_sample_of_its_own():
    ours = upload_of(OURS, STATED)
    with pytest.raises(InputError) as caught:
        tuned_on(mechanisms.build("adaptive_mean", {}), ours, ours, BUDGET)
    assert caught.value.field == "public"


# -- by a request ----------------------------------------------------------------------------------


def request_with(public, tmp_path):
    ours, theirs = upload_of(OURS, STATED), upload_of(THEIRS, STATED)
    (tmp_path / "ours.csv").write_bytes(OURS)
    (tmp_path / "theirs.csv").write_bytes(THEIRS)
    method = mechanisms.build("adaptive_mean", {})
    facts = stated_of(ours.facts, method)
    plain = {
        "version": 1,
        "name": "heights",
        "data": {"file": "ours.csv", "reading": ours.reading.to_plain(), **facts},
        "mechanism": {"key": "adaptive_mean"},
        "budgets": [{"epsilon": 1.0, "delta": 1e-5}],
        "public": {"file": "theirs.csv", "reading": theirs.reading.to_plain(), **facts}
        if public is None
        else public,
    }
    return requested(json.dumps(plain), tmp_path)


def test_a_second_file_tunes_a_request_and_the_card_names_it(tmp_path):
    request = request_with(None, tmp_path)
    assert request.mechanism.values()["prior"] and "prior" in request.tuned_on
    one = published.publish(
        request.source,
        request.mechanism,
        request.budget,
        Ledger(tmp_path / "ledger"),
        "heights",
        Budget(10.0, 1e-2),
        declaration=Declaration(tuned_on=request.tuned_on),
    )
    assert one.card["tuned_on_public"] == request.tuned_on
    assert one.card["mechanism"]["parameters"]["prior"] == request.mechanism.values()["prior"]


def test_tuning_spends_nothing(tmp_path):
    request = request_with(None, tmp_path)
    plain = mechanisms.build("adaptive_mean", {})
    with_sample, without = (
        published.release_cost(request.source, method, request.budget)
        for method in (request.mechanism, plain)
    )
    assert with_sample.rho == pytest.approx(without.rho)


@pytest.mark.parametrize("public", [{}, {"source": {"key": "sparse_curves"}, "file": "a.csv"}])
def test_a_public_sample_is_a_source_or_a_file(public, tmp_path):
    with pytest.raises(InputError) as caught:
        request_with(public, tmp_path)
    assert caught.value.field == "public"


# -- by the interface ------------------------------------------------------------------------------


def test_a_tuning_of_the_interface_is_released_and_its_card_names_the_sample(tmp_path):
    ours, theirs = upload_of(OURS, STATED), upload_of(THEIRS, STATED)
    tuned = pc.tune(pc.mechanism("adaptive_mean"), theirs, ours, BUDGET, name="school heights")
    one = pc.release(ours, tuned, BUDGET, "heights", Ledger(tmp_path / "ledger"), Budget(10, 1e-2))
    assert one.card["tuned_on_public"] == tuned.in_words
    assert "school heights" in tuned.in_words
    assert one.card["mechanism"]["parameters"]["prior"] == tuned.mechanism.values()["prior"]


def test_a_sample_with_a_protected_record_is_refused_by_the_interface():
    ours = upload_of(OURS, STATED)
    with pytest.raises(InputError) as caught:
        pc.tune(pc.mechanism("adaptive_mean"), ours, ours, BUDGET)
    assert caught.value.field == "public"
