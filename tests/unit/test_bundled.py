"""The bundled real data sets: what a draw holds, and that the files are what they claim to be."""

from __future__ import annotations

import hashlib
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.types import CurveData
from engine.language import tags
from engine.sources import sources
from engine.sources.bundled import AirportTemperature, BundledCurves, CarbonDioxide, SeaTemperature

ROOT = Path(__file__).resolve().parents[2]
BUNDLED = (AirportTemperature, SeaTemperature, CarbonDioxide)
SIZES = {
    AirportTemperature: (1092, 26_111, 19),
    SeaTemperature: (61, 732, 12),
    CarbonDioxide: (42, 2169, 48),
}

every_set = pytest.mark.parametrize("source", BUNDLED, ids=lambda source: source.key)


def drawn(source: BundledCurves, seed: int = 1) -> CurveData:
    return source.draw(1, np.random.default_rng(seed))


@every_set
def test_a_set_is_registered_for_mean_functions_and_is_not_random(source):
    assert sources.get(source.key) is source
    assert source in sources.for_task("mean_function")
    assert not source.is_random
    assert source().facts.kind == "public"


@every_set
def test_the_sizes_are_the_documented_ones(source):
    sizes = drawn(source()).sizes
    assert (sizes.n_curves, sizes.n_observations, sizes.fewest_per_curve) == SIZES[source]
    assert source().sizes.n_observations == sizes.n_observations


@every_set
def test_the_data_chip_says_who_measured_public_data(source):
    facts = source().facts
    assert facts.credit == source.credit and facts.credit in tags.source_tag(facts)[1]


@every_set
def test_times_and_values_are_finite_and_within_the_public_bounds(source):
    data = drawn(source())
    assert np.isfinite(data.times).all() and np.isfinite(data.values).all()
    assert data.times.min() >= 0 and data.times.max() <= 1
    assert data.values.min() >= data.facts.value_low
    assert data.values.max() <= data.facts.value_high


@every_set
def test_the_bounds_are_not_the_smallest_and_largest_reading(source):
    data = drawn(source())
    assert data.facts.origin
    assert data.facts.value_low < data.values.min()
    assert data.values.max() < data.facts.value_high


@every_set
def test_the_noun_of_a_set_is_never_person(source):
    assert source().facts.person in ("day", "year")
    assert source().facts.people in ("days", "years")


@every_set
def test_every_draw_is_the_same(source):
    one, two = drawn(source(), seed=1), drawn(source(), seed=2)
    assert (one.times == two.times).all() and (one.values == two.values).all()
    assert (one.counts == two.counts).all() and (one.server == two.server).all()


@every_set
@pytest.mark.parametrize("n_servers", [1, 4, 7])
def test_curves_are_split_evenly_and_none_is_lost(source, n_servers):
    data = drawn(source(n_servers=n_servers))
    per_server = data.sizes.n_curves_per_server
    assert len(per_server) == n_servers and max(per_server) - min(per_server) <= 1
    assert data.n_curves == SIZES[source][0]
    assert np.sort(data.values[0]) == pytest.approx(np.sort(drawn(source()).values[0]))


@every_set
def test_fewer_curves_are_the_first_ones(source):
    first, everything = drawn(source(n_curves=5)), drawn(source())
    assert first.n_curves == 5
    assert source(n_curves=5).sizes.n_observations == first.values.size
    assert (first.values[0] == everything.values[0, : first.values.size]).all()


@every_set
def test_the_most_curves_a_form_offers_is_all_of_them(source):
    n_curves = SIZES[source][0]
    assert drawn(source(n_curves=n_curves, n_servers=n_curves)).n_curves == n_curves
    with pytest.raises(InputError, match="n_curves"):
        source(n_curves=n_curves + 1)


@every_set
def test_more_sites_than_curves_are_refused(source):
    with pytest.raises(InputError, match="Take fewer sites") as refused:
        source(n_curves=3, n_servers=4)
    assert refused.value.field == "n_servers"


@every_set
@pytest.mark.parametrize("n_repeats", [0, 2])
def test_real_curves_cannot_be_repeated(source, n_repeats):
    with pytest.raises(InputError, match="same in every repeat"):
        source().draw(n_repeats, np.random.default_rng(1))


def test_a_month_is_placed_in_its_middle():
    times = drawn(SeaTemperature(n_curves=2)).times[0]
    assert times[:12] == pytest.approx((np.arange(1, 13) - 0.5) / 12)
    assert times[12:] == pytest.approx(times[:12])


def test_a_reading_keeps_its_own_time_beside_a_missing_one():
    """On 10 March 2013 the clocks skip two o'clock."""
    rows = (ROOT / "data" / "airport_temperature.csv").read_text().splitlines()[1:]
    day = next(k for k, row in enumerate(rows) if row.startswith("2013-03-10 JFK"))
    times, values = drawn(AirportTemperature()).curves(day + 1)[day]
    assert times * 24 == pytest.approx([0, 1, *range(3, 24)])
    assert list(values[:3]) == [1.7, 1.7, -0.6]


def test_three_sites_are_the_three_airports_for_any_number_of_days():
    rows = (ROOT / "data" / "airport_temperature.csv").read_text().splitlines()[1:]
    assert [row[11:14] for row in rows] == ["EWR", "JFK", "LGA"] * 364
    data = drawn(AirportTemperature(n_curves=31, n_servers=3))
    second_site = data.curves(31)[11:21]
    for row, (_, values) in zip(rows[1:31:3], second_site, strict=True):
        assert [float(cell) for cell in row.split(",")[1:] if cell] == list(values)


def test_the_first_days_are_spread_over_the_year():
    rows = (ROOT / "data" / "airport_temperature.csv").read_text().splitlines()[1:301]
    assert {row[5:7] for row in rows} == {f"{month:02}" for month in range(1, 13)}


def test_a_year_of_carbon_dioxide_averages_to_nothing():
    for _, values in drawn(CarbonDioxide()).curves(42):
        assert abs(values.mean()) < 0.01


def test_the_data_are_found_from_any_working_directory(tmp_path):
    code = (
        "from engine.sources.bundled import SeaTemperature\n"
        "print(SeaTemperature().draw(1, None).n_curves)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        text=True,
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert ran.stdout.strip() == "61"


def test_the_files_have_the_checksums_that_the_build_script_records():
    recorded = runpy.run_path(str(ROOT / "scripts" / "build_data.py"))["SHA256"]
    matches = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (ROOT / "data").glob("*.csv")
    }
    assert {source.file for source in BUNDLED} <= set(recorded)
    assert matches == recorded


def test_every_file_is_small_and_described_in_the_readme():
    readme = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    for path in (ROOT / "data").glob("*.csv"):
        assert path.name in readme
        assert path.stat().st_size < 300_000
