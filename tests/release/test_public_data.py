"""From public data to a figure: the files of the guide's chapter are read as it says."""

import json
import re

import numpy as np
import pytest

from engine import handbook
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.types import Budget, TimeLaw
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.sources.hormone_study import HormoneStudy
from tests.files import requested
from tests.golden.test_functional_summaries import PUBLIC_DATA
from tests.readings import request_with_reading

MECHANISM = {"key": "adaptive_mean", "parameters": {}}
HORMONES = {
    "value_low": 0,
    "value_high": 500,
    "time_low": 46,
    "time_high": 63,
    "origin": "assays",
    "design": {"law": "visits", "gap": 1.0},
    "observations_per_curve": 6,
    "symmetric": False,
}


def asked(folder, file, columns, facts):
    """The request to publish a file of the folder."""
    data = {"file": file, "columns": columns, "several": "average", "facts": facts}
    plain = {
        "version": 1,
        "data": data,
        "mechanism": MECHANISM,
        "budgets": [{"epsilon": 4.0, "delta": 1e-6}],
    }
    content = (folder / file).read_bytes()
    return requested(json.dumps(request_with_reading(plain, content)), folder)


def test_the_hormone_twin_as_a_file_with_stated_visits_is_released_near_its_truth(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    code = re.search(r"```\n(import csv.*?)```", handbook.chapter("public_data").text, re.DOTALL)
    exec(code[1], {})
    source = asked(
        tmp_path, "hormones.csv", {"id": "woman", "time": "age", "value": "estradiol"}, HORMONES
    ).source
    assert source.facts.design.law is TimeLaw.VISITS
    assert source.sizes.n_curves == 678
    data = source.draw(1, np.random.default_rng(3))
    estimate = AdaptiveMean().release_many(
        data, [(Budget(4.0, 1e-6),)], 20, np.random.default_rng(4)
    )
    released = np.asarray(estimate.values(drawing_grid()))[0, 0]
    truth = HormoneStudy().truth.grid_values
    off = np.sqrt(((released.mean(axis=0) - truth) ** 2).mean())
    assert off < 0.15 * np.ptp(truth)
    assert abs(released[:, -1].mean() - truth[-1]) < 0.25 * np.ptp(truth)


def wide(folder, name, first, headings):
    """A file with a row for each curve, whose headings are times, from a public table."""
    table = PUBLIC_DATA / name
    if not table.exists():
        pytest.skip("The public tables are not on this machine.")
    _, *rows = table.read_text("utf-8").splitlines()
    lines = [",".join([row.split(",")[0], *row.split(",")[-len(headings) :]]) for row in rows]
    (folder / "wide.csv").write_text("\n".join([f"{first},{','.join(headings)}", *lines]), "utf-8")


def test_mondays_of_electricity_are_read_with_hours_as_headings(tmp_path):
    wide(tmp_path, "adelaide_monday_demand.csv", "monday", [f"{k / 2:g}" for k in range(1, 49)])
    source = asked(
        tmp_path,
        "wide.csv",
        {"id": "monday"},
        {
            "value_low": 500,
            "value_high": 3000,
            "time_low": 0,
            "time_high": 24,
            "origin": "capacity",
            "design": {"law": "common", "times": "header"},
            "observations_per_curve": 48,
            "symmetric": False,
        },
    ).source
    assert source.sizes.n_curves == 508
    assert source.facts.design.law is TimeLaw.COMMON and len(source.facts.design.times) == 48


def test_scans_of_one_person_are_averaged_so_that_the_person_is_protected(tmp_path):
    wide(tmp_path, "dti_cca.csv", "person", [str(k) for k in range(1, 94)])
    source = asked(
        tmp_path,
        "wide.csv",
        {"id": "person"},
        {
            "value_low": 0,
            "value_high": 1,
            "time_low": 1,
            "time_high": 93,
            "origin": "definition",
            "design": {"law": "common", "times": "header"},
            "observations_per_curve": 93,
            "symmetric": False,
        },
    ).source
    assert source.sizes.n_curves == 142


def test_a_scenario_with_axes_may_be_published_and_one_release_of_a_file_has_none(tmp_path):
    plain = {
        "version": 1,
        "mechanism": MECHANISM,
        "budgets": [{"epsilon": 1.0, "delta": 1e-6}],
        "axes": {"budgets.epsilon": [0.5, 4.0]},
    }
    of_public = {**plain, "source": {"key": "airport_temperature"}}
    assert requested(json.dumps(of_public), tmp_path).budget == Budget(1.0, 1e-6)
    with pytest.raises(InputError) as refused:
        requested(json.dumps({**plain, "data": {"file": "heights.csv"}}), tmp_path)
    assert refused.value.field == "axes"
