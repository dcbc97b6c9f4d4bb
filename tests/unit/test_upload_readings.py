"""Single readings of one's own: one of each person, around one curve whose bounds are stated."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.families.wavelets.regression import clipped_observations
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.sources.regression_points import RegressionPoints
from engine.topics.regression import answer as regression_topic
from engine.topics.regression import charts
from engine.topics.regression import words as regression_words
from engine.topics.regression.answer import Network
from engine.uploads import examples
from engine.uploads.curves import Upload
from engine.uploads.facts import declare
from tests import files
from tests.readings import curves_in
from tests.sentences import of_topic

wording = of_topic("upload")

STATED = {
    "value_low": 35,
    "value_high": 39,
    "time_low": 0,
    "time_high": 24,
    "origin": "manual",
    "single": True,
    "reading_sd": 0.5,
    **files.EVEN,
}
BUDGET = Budget(1.0, 1e-6)


def read(frame, **roles):
    if "site" in frame:
        roles = {"server": "site", **roles}
    return curves_in(
        files.csv(frame), {"id": "id" if "id" in frame else None, **roles}, single=True
    )


def own(frame, **stated):
    return Upload(curves=read(frame), declared=declare(**{**STATED, **stated}))


def frame(n=600, seed=0, sites=("South", "North")):
    """Hours and temperatures around a daily curve; sites of different sizes."""
    rng = np.random.default_rng(seed)
    hour = rng.uniform(0, 24, n)
    value = 37 + np.sin(2 * np.pi * hour / 24) + 0.5 * rng.standard_normal(n)
    site = np.array(sites)[(np.arange(n) % (len(sites) + 1)) % len(sites)]
    return pd.DataFrame({"hour": hour.round(3), "value": value.round(3), "site": site})


def from_simulated(source, low, high, unit, zero):
    """The same readings as a file with other units: values unit·y + zero, hours low … high."""
    data = source.draw(1, generator(5, 0, 0))
    return data, pd.DataFrame(
        {
            "hour": low + (high - low) * data.times[0],
            "value": zero + unit * data.values[0],
            "site": [f"s{k}" for k in data.server],
        }
    )


# -- reading the file ---------------------------------------------------------------------------


def test_without_an_id_every_line_is_another_person_where_that_is_stated():
    curves = read(frame())
    assert curves.n_curves == 600 and set(curves.counts) == {1}
    assert curves.server_names == ("North", "South")


def test_people_with_several_readings_are_refused_with_a_count_and_what_to_do():
    twice = frame().assign(id=[f"p{k % 590}" for k in range(600)]).drop(columns="site")
    with pytest.raises(InputError, match="10 of 590 people have several observations") as caught:
        own(twice)
    assert caught.value.field == "id"
    assert "first visit" in caught.value.hint and "Explore" in caught.value.hint
    assert read(twice, id=None).n_curves == 600  # the holder says that rows are people


def test_a_second_row_without_a_reading_is_no_second_reading():
    rows = frame(20).drop(columns="site").assign(id=[f"p{k}" for k in range(20)])
    empty = rows.iloc[:1].assign(value=np.nan)
    assert read(pd.concat([rows, empty])).n_curves == 20


def test_the_example_file_is_read_with_its_sites():
    curves = curves_in(examples.temperatures().encode(), {"server": "site"}, single=True)
    assert curves.n_curves == 2000 and curves.server_names == ("North", "South")
    trusted = curves_in(examples.temperatures().encode(), single=True)
    assert trusted.n_curves == 2000 and trusted.server_names == ()


def test_notes_speak_of_readings_and_say_that_who_has_none_is_counted():
    holes = frame(50)
    holes.loc[:2, "value"] = np.nan
    notes = " ".join(read(holes).notes)
    assert "3 observations missing" in notes
    wording.found("count middle stated", notes)
    wording.missing("spread within curve", notes)
    assert "left out" not in notes


# -- what is stated -------------------------------------------------------------------------------


@pytest.mark.parametrize("sigma", [None, 0, -1, np.inf, np.nan])
def test_the_spread_must_be_stated_as_a_finite_number_above_zero(sigma):
    with pytest.raises(InputError) as caught:
        declare(**{**STATED, "reading_sd": sigma})
    assert caught.value.field == "reading_sd" and caught.value.hint


def test_whole_curves_have_no_spread_whatever_was_typed():
    assert declare(**{**STATED, "single": False}).reading_sd == 0


def test_curves_with_several_readings_cannot_be_declared_single():
    curves = curves_in(files.csv())
    with pytest.raises(InputError, match="several observations"):
        Upload(curves=curves, declared=declare(**STATED))


# -- as data ----------------------------------------------------------------------------------------


def test_readings_beyond_the_bounds_of_the_curve_stay_and_times_are_moved():
    rows = frame(30)
    rows.loc[0, ["hour", "value"]] = [30.0, 44.0]
    upload = own(rows)
    data = upload.draw(1, generator(0, 0, 0))
    assert upload.n_clipped == (1, 0, 0)
    assert data.values.max() == 44 and data.times.max() == 1


def test_a_missing_reading_stays_in_the_public_number_and_counts_as_the_middle():
    rows = frame(40)
    holes = rows.copy()
    holes.loc[:3, "value"] = np.nan
    with_holes, whole = own(holes), own(rows)
    assert with_holes.sizes == whole.sizes == with_holes.draw(1, generator(0, 0, 0)).sizes
    data = with_holes.draw(1, generator(0, 0, 0))
    assert np.isnan(data.values).sum() == 4
    assert (clipped_observations(data, 2.0)[np.isnan(data.values)] == 0).all()
    estimate = WaveletGlobal(level=4).release(data, (BUDGET,), generator(1, 1, 0))
    assert np.isfinite(estimate.coefficients).all()


@pytest.mark.parametrize(
    "method",
    [
        WaveletGlobal(checks="none"),
        WaveletGlobal(edges="corrected", checks="none"),
        WaveletPointwise(points="0.3, 0.8"),
    ],
)
def test_the_unit_of_the_readings_does_not_change_what_is_released(method):
    """B = 2 as simulated and B = 10 in another unit: same level, noise and curve, five times."""
    source = RegressionPoints(n_curves=3000, n_servers=3)
    data, rows = from_simulated(source, 6, 18, unit=5.0, zero=100.0)
    upload = own(rows, value_low=90, value_high=110, time_low=6, time_high=18, reading_sd=5)
    usual = method.release(data, (BUDGET,), generator(2, 1, 0))
    moved = method.release(upload.draw(1, generator(0, 0, 0)), (BUDGET,), generator(2, 1, 0))
    times = np.array([0.05, 0.3, 0.8])
    curves = [
        one.values(times) if isinstance(method, WaveletGlobal) else one.coefficients
        for one in (usual, moved)
    ]
    assert np.allclose(100 + 5 * curves[0], curves[1], atol=1e-7)
    assert [s.mu for s in usual.spends[0]] == pytest.approx([s.mu for s in moved.spends[0]])


# -- the view -----------------------------------------------------------------------------------------


def view(upload, method=None, epsilons=(1.0, 0.5)):
    network = Network.of_upload(upload, epsilons, 1e-6)
    return regression_topic.regression_answer(
        upload, method or WaveletGlobal(), network, 1
    ), network


def test_sites_of_a_file_keep_their_order_sizes_and_own_budgets():
    upload = own(frame())
    network = Network.of_upload(upload, (1.0, 0.5), 1e-6)
    assert [(g.name, g.sites, g.readings, g.epsilon) for g in network.groups] == [
        ("North", 1, 200, 1.0),
        ("South", 1, 400, 0.5),
    ]
    assert network.sizes == upload.sizes.n_curves_per_server
    assert network.source(upload) is upload


def test_a_file_with_more_sites_than_can_be_asked_for_one_by_one_is_a_network_too():
    upload = own(frame(900, sites=[f"s{k:02d}" for k in range(30)]))
    network = Network.of_upload(upload, (1.0,) * 30, 1e-6)
    assert network.n_sites == len(network.groups) == 30 > regression_topic.MAX_KINDS
    with pytest.raises(InputError, match="at most 400 sites"):
        Network.of_upload(own(frame(900, sites=[f"s{k}" for k in range(401)])), (1.0,) * 401, 1e-6)


def test_of_own_readings_no_error_is_stated_but_noise_and_distance_are():
    upload = own(frame(6000))
    shown, network = view(upload)
    assert shown.truth is shown.squared_error is shown.risk is shown.zero_risk is None
    assert np.isnan(shown.error)
    expected = WaveletGlobal().expected_error(upload.sizes, network.budgets, upload.facts)
    assert shown.known.noise**2 == pytest.approx(expected)
    assert shown.known.noise**2 == pytest.approx((shown.noise_sd**2).mean(), rel=0.01)
    assert shown.known.apart**2 == pytest.approx(((shown.releases - shown.ordinary) ** 2).mean())
    result = regression_words.accuracy(shown)
    assert "cannot be known" in result
    wording.missing("error", result)


def test_the_chance_that_is_stated_is_a_bound_on_what_other_people_would_change():
    """200 files of other people, no noise: their spread is below the bound, and not by nothing."""
    source = RegressionPoints(n_curves=2000, n_servers=2)
    data, rows = from_simulated(source, 0, 24, unit=1.0, zero=37.0)
    shown, network = view(own(rows, reading_sd=1.0), epsilons=(5.0, 5.0))
    many = source.draw(200, generator(9, 0, 0))
    noise_free = WaveletGlobal().release(many, network.budgets, generator(1, 1, 0)).unprotected[0]
    spread = noise_free.var(axis=0, ddof=1).sum()
    assert 0.2 * shown.known.chance**2 < spread < shown.known.chance**2


def test_messages_are_drawn_at_the_height_of_the_values_and_average_to_the_release():
    shown, _ = view(own(frame(6000)))
    assert np.allclose(shown.plan.weights @ shown.messages, shown.releases[0])


@pytest.mark.parametrize("design", ["even", "weighted", "ranked"])
def test_the_range_of_the_noise_is_what_releases_scatter_by_for_every_stated_density(design):
    """400 releases of the same readings: at each of 513 positions within five standard errors."""
    upload = own(frame(6000), periodic=True)
    method = WaveletGlobal(design=design, density=None if design == "even" else "0.5, 1.5")
    shown, network = view(upload, method)
    many = method.release_many(
        upload.draw(1, generator(0, 0, 0)), [network.budgets], 400, generator(2, 1, 0)
    )
    spread = (many.coefficients[0, 0] @ many.basis(shown.times).T).std(axis=0)
    assert np.abs(spread / shown.noise_sd - 1).max() < 5 / np.sqrt(2 * 400) + 0.02


def test_a_released_density_has_no_formula_for_the_noise_and_says_so():
    shown, _ = view(own(frame(6000), periodic=True), WaveletGlobal(design="released"))
    assert shown.noise_sd is None and shown.messages is None
    wording.found("before centre reshapes", regression_words.accuracy(shown))


def test_one_point_of_own_readings_has_an_interval_once_its_smoothness_is_stated():
    upload = own(frame(6000), periodic=True, value_unit="°C", time_unit="h")
    shown, network = view(upload)
    plain, stated = (
        regression_topic.point_answer(
            upload,
            regression_topic.at_a_point(WaveletGlobal(class_stated=ticked)),
            shown.plan,
            network,
            0.25,
            1,
        )
        for ticked in (False, True)
    )
    assert plain.truth is None and plain.risk is None and plain.low is None and plain.high is None
    said = regression_words.point(plain)
    assert "At 6 h" in said
    assert "°C" in said
    wording.found("confidence interval given", said)
    assert stated.low < stated.released == plain.released < stated.high
    assert stated.high - stated.low > 2 * stated.bias > 2 * stated.left_out > 0
    assert abs(stated.released - 38) < 1  # 37 + sin at its top
    wording.found("you state", regression_words.point(stated))


def test_a_band_around_own_readings_needs_the_stated_smoothness():
    upload = own(frame(6000), periodic=True)
    shown, _ = view(upload)
    assert shown.band is None and "not been stated" in regression_words.band(shown)
    wording.missing("confidence", charts.curve(shown).table)
    assert "No confidence band" in charts.curve(shown).alt
    stated, _ = view(upload, WaveletGlobal(class_stated=True))
    assert (stated.band[0] < stated.releases[0]).all()
    wording.found("confidence", charts.curve(stated).table)


def test_methods_get_the_ends_that_are_stated_where_they_can_have_them():
    ends, open_ended = declare(**STATED, periodic=True), declare(**STATED)
    assert regression_topic.suited(WaveletGlobal(), ends) == WaveletGlobal()
    assert regression_topic.suited(WaveletGlobal(), open_ended).edges == "corrected"
    literal = WaveletGlobal(plan_rule="literal")
    assert regression_topic.suited(literal, open_ended) == literal and literal.unsuited_because(
        open_ended
    )
    point = regression_topic.at_a_point(replace(WaveletGlobal(), edges="corrected"))
    assert point.edges == "corrected"


def test_limits_of_large_values_keep_the_decimals_of_their_interval():
    facts = declare(**{**STATED, "value_low": 980, "value_high": 1040, "reading_sd": 8})
    assert regression_words.at_scale([1013.25, 1012.93], 0.32, facts) == [
        "1\u202f013.25",
        "1\u202f012.93",
    ]
