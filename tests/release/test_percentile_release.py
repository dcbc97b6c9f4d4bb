"""A release of percentile curves: certified, made again from the ledger, with its time in range everywhere."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.types import Budget
from engine.mechanisms.percentile_curves import PercentileCurves
from engine.release import captions, files, published
from engine.release.ledger import Ledger
from engine.sources.bundled import AirportTemperature
from engine.topics.release import charts
from tests.sentences import of_topic

wording = of_topic("percentiles")

BUDGET = Budget(2.0, 1e-6)
METHOD_ALONE = PercentileCurves(percentiles="10, 25, 50, 75, 90")
METHOD = PercentileCurves(percentiles="10, 25, 50, 75, 90", limits="0, 25")


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return Ledger(tmp_path_factory.mktemp("ledger") / "ledger.sqlite3")


@pytest.fixture(scope="module")
def one(book):
    return published.publish(AirportTemperature(), METHOD, BUDGET, book, "days-2013")


def test_the_cost_is_certified_and_every_message_is_in_the_quote(one):
    assert one.cost.certified == BUDGET and one.cost.ideal.epsilon <= BUDGET.epsilon
    assert len(one.cost.messages) == 17 == len(one.card["accounting"]["messages"])
    wording.found("one day’s whole", one.card["unit_of_protection"], alone=True)


@pytest.mark.slow
def test_curves_never_cross_and_lie_within_bounds_and_bands(one):
    curves = np.stack(list(one.columns.values()))
    assert (np.diff(curves, axis=0) >= 0).all()
    assert (curves >= one.facts.value_low).all() and (curves <= one.facts.value_high).all()
    for low, high in one.ranges.values():
        assert (low <= high).all()


def test_a_release_is_made_again_from_the_ledger_byte_for_byte(one, book):
    assert files.all_files(published.again(book, one.release_id)) == files.all_files(one)


def test_report_card_and_tables_say_the_same_time_in_range(one):
    written = files.all_files(one)
    shares = [row["share"] for row in json.loads(written["guarantee.json"])["time_in_range"]]
    assert sum(shares) == pytest.approx(1) and shares == one.functions.average.tolist()
    rows = written["time_in_range.csv"].decode().splitlines()[1:]
    assert [float(row.split(",")[1]) for row in rows] == pytest.approx(shares)
    report = written["release.html"].decode()
    for share in shares:
        assert f"{100 * share:.0f} %" in report
    by_time = np.stack(
        [
            values
            for name, values in captions.columns(one).items()
            if name.startswith("share ") and "confidence" not in name
        ]
    )
    np.testing.assert_allclose(by_time.sum(axis=0), 1)


def test_the_picture_is_one_drawing_with_shades_bands_and_the_target_range(one):
    drawn = ElementTree.fromstring(files.all_files(one)["release.svg"])
    tags = [element.tag.rpartition("}")[2] for element in drawn.iter()]
    assert tags.count("polygon") == 2  # two pairs of curves
    assert tags.count("polyline") == 5
    chart = charts.chart(one)
    assert len(chart.spec["layout"]["shapes"]) == 3  # two cut-offs, and the range between them


@pytest.mark.slow
def test_without_cut_offs_nothing_is_said_of_ranges(tmp_path):
    plain = published.publish(
        AirportTemperature(), METHOD_ALONE, BUDGET, Ledger(tmp_path / "ledger"), "plain"
    )
    assert "time_in_range.csv" not in files.all_files(plain) and "time_in_range" not in plain.card
    assert charts.ranges(plain) is None


@pytest.mark.parametrize(
    ("source", "budget", "told"),
    [
        (AirportTemperature(n_curves=60), Budget(1.0, 1e-6), "Nothing would be published"),
        (AirportTemperature(), Budget(1.0), "δ must be above 0"),
        (AirportTemperature(), Budget(1.0, 1e-2), "below 1/n"),
    ],
)
def test_what_cannot_be_published_is_refused_before_anything_is_charged(source, budget, told):
    with pytest.raises(InputError, match=told):
        published.release_cost(source, METHOD, budget)
