"""Records of one's own, a row each: densities, prediction and sparse regression from stated facts."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.random_streams import generator
from engine.core.tasks import DENSITY, RISK_MINIMISATION, SPARSE_REGRESSION, DataType
from engine.core.types import Budget
from engine.mechanisms.frl import Frl
from engine.mechanisms.sparse_regression import SparseRegression
from engine.sources.density_points import DensityPoints
from engine.sources.labelled_points import LabelledPoints
from engine.sources.sparse_rows import SparseRows
from engine.topics.sparse import answer as sparse_topic
from engine.topics.sparse import charts
from engine.topics.sparse import words as sparse_words
from engine.topics.summaries import answer as summaries_topic
from engine.topics.summaries import charts as summaries_charts
from engine.topics.summaries import words as summary_words
from engine.uploads import examples
from engine.uploads.facts import REACHES, StatedCovariate, declare_rows
from engine.uploads.rows import UploadRows
from tests import files
from tests.heavy import few
from tests.readings import reading_of, rows_in
from tests.sentences import of_topic

wording = of_topic("upload")

BUDGET = Budget(1.0, 1e-6)
RNG = generator(0, 0, 0)
SPARSE, RISK = SPARSE_REGRESSION.key, RISK_MINIMISATION.key


def frame(n=400, d=6, seed=0):
    """Features f0 … between 0 and 10, of which two matter, and a response around 50."""
    rng = np.random.default_rng(seed)
    x = np.clip(rng.normal(5, 1.25, (n, d)), 0, 10)
    y = 50 + 4 * (x[:, 0] - 5) - 3 * (x[:, 1] - 5) + rng.normal(0, 2, n)
    site = np.array(["South", "North"])[(np.arange(n) % 3 == 0).astype(int)]
    return pd.DataFrame(x.round(3), columns=[f"f{k}" for k in range(d)]).assign(
        y=y.round(3), site=site
    )


def read(table, features=None, **columns):
    sites = {"server": "site"} if "site" in table else {}
    if features is None:
        features = [name for name in table if name.startswith("f")]
    columns = {"id": None, "value": "y" if "y" in table else None, **sites, **columns}
    return rows_in(files.csv(table), columns, features=features)


def declared(task, names, **stated):
    features = [StatedCovariate(name, 0, 10) for name in names]
    usual = {} if task == DENSITY.key else {"value": StatedCovariate("y", 0, 100, "cm")}
    if task == SPARSE:
        usual |= {"spread": 2.0, "reach": 4.0}
    return declare_rows(task, features, "a manual", **{**usual, **stated})


def own(task, names, table=None, **stated):
    rows = read(frame() if table is None else table, features=names, value="y")
    return UploadRows(rows=rows, declared=declared(task, names, **stated))


NAMES = [f"f{k}" for k in range(6)]


# -- reading the file ---------------------------------------------------------------------------


def test_response_and_id_are_found_by_their_names_and_a_site_is_neither_taken_nor_a_feature():
    reading = reading_of(examples.records().encode(), DataType.RECORDS)
    assert reading.person.column == "person_id" and not reading.columns
    assert [column.name for column in reading.features] == ["age", "weight", "steps", "pressure"]
    assert reading_of(files.csv(frame()), DataType.RECORDS).columns["value"].name == "y"


def test_rows_are_ordered_by_site_and_by_a_public_seed_whatever_the_numbers_are():
    rows = read(frame())
    assert rows.server_names == ("North", "South") and (np.diff(rows.server) >= 0).all()
    assert np.bincount(rows.server).tolist() == [134, 266]
    other = frame().assign(f0=np.arange(400))
    place = read(other).covariates[:, 0].astype(int)
    np.testing.assert_allclose(rows.covariates[:, 0], frame()["f0"].to_numpy()[place])
    np.testing.assert_allclose(rows.values, frame()["y"].to_numpy()[place])
    assert not (np.diff(place[:134]) > 0).all()


def test_a_response_of_two_classes_holds_no_third_one():
    rows = rows_in(b"x,y\n1,0\n2,1\n3,0\n4,2\n", {"id": None, "value": "y"}, features=["x"])
    stated = {
        "task": RISK_MINIMISATION.key,
        "covariates": [StatedCovariate("x", 0, 5)],
        "origin": "a law",
        "value": StatedCovariate("y", 0, 1),
    }
    assert UploadRows(rows=rows, declared=declare_rows(**stated)).n_clipped.responses == 1
    with pytest.raises(InputError, match="1 of 4 responses are neither 0 nor 1"):
        UploadRows(rows=rows, declared=declare_rows(**stated, two_classes=True))


def test_people_with_several_rows_are_refused_with_counts_and_what_to_do():
    twice = frame().drop(columns="site").assign(person_id=[f"p{k % 390}" for k in range(400)])
    with pytest.raises(InputError, match="10 of 390 people have several lines") as caught:
        read(twice, id="person_id")
    assert caught.value.field == "several" and "first visit" in caught.value.hint
    assert read(twice).n_rows == 400  # the holder says that lines are people


def test_the_same_id_at_two_sites_is_two_people_and_is_said():
    table = frame(10).assign(site=["a"] * 5 + ["b"] * 5, id=[*range(5), *range(5)])
    wording.found("ids one site", read(table, id="id").notes, 5)


def test_missing_numbers_stay_in_the_public_number_and_words_for_no_and_yes_are_numbers():
    table = frame(20).assign(f1=["yes", "no"] * 10)
    table.loc[:2, "f0"] = np.nan
    table.loc[0, "y"] = np.nan
    rows = read(table)
    assert (
        rows.n_rows == 20
        and np.isnan(rows.covariates[:, 0]).sum() == 3
        and np.isnan(rows.values).sum() == 1
    )
    assert set(rows.covariates[:, 1]) == {0.0, 1.0}
    wording.found("numbers missing", rows.notes, 4)


def test_a_column_that_is_the_same_in_all_rows_is_noted():
    wording.found("same everywhere", read(frame().assign(f2=7)).notes)


@pytest.mark.parametrize(
    ("table", "roles", "said"),
    [
        (frame().assign(f1="secret"), {}, "400 lines of column “f1” hold no number"),
        (frame().assign(f1=np.nan), {}, "“f1” holds no number"),
        (frame().assign(site=""), {}, "texts of “site”"),
        (frame(1), {}, "only one person"),
        (frame(), {"features": ["f0", "y"]}, "role"),
        (frame(), {"features": ["f9"]}, "There is no column"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence_without_a_cell(table, roles, said):
    with pytest.raises(InputError, match=said) as caught:
        read(table, **roles)
    assert "secret" not in str(caught.value) and caught.value.hint


# -- what is stated -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "names", "said"),
    [
        (DENSITY.key, NAMES[:3], "one or two columns"),
        (DENSITY.key, [], "one or two columns"),
        (RISK, NAMES[:2], "one column to predict from"),
        (SPARSE, NAMES[:1], "at least two"),
    ],
)
def test_every_task_says_how_many_columns_it_takes(task, names, said):
    with pytest.raises(InputError, match=said):
        declared(task, names)


@pytest.mark.parametrize(
    ("stated", "field"),
    [
        ({"value": None}, "response"),
        ({"value": StatedCovariate("y", None, 1)}, "covariate_low"),
        ({"value": StatedCovariate("y", 5, 5)}, "covariate_low"),
        ({"spread": None}, "reading_sd"),
        ({"spread": 0}, "reading_sd"),
        ({"spread": np.nan}, "reading_sd"),
        ({"reach": None}, "reach"),
        ({"reach": 0.5}, "reach"),
        ({"reach": np.nan}, "reach"),
    ],
)
def test_nothing_that_is_needed_is_ever_taken_from_the_file(stated, field):
    with pytest.raises(InputError) as caught:
        declared(SPARSE, NAMES, **stated)
    assert caught.value.field == field and caught.value.hint


def test_ranges_and_their_source_must_be_stated_and_columns_only_once():
    for features, origin in (
        ([StatedCovariate("f0", 0, None)], "law"),
        ([StatedCovariate("f0", 0, np.inf)], "law"),
        ([StatedCovariate("f0", 0, 1)], " "),
        ([StatedCovariate("f0", 0, 1)] * 2, "law"),
    ):
        with pytest.raises(InputError):
            declare_rows(DENSITY.key, features, origin)


def test_what_records_can_be_used_for_follows_from_what_was_declared():
    serves = {
        task: {other for other in UploadRows.tasks if own(task, names).serves(other)}
        for task, names in (
            (DENSITY.key, ["f0"]),
            (RISK, ["f0"]),
            (SPARSE, NAMES),
            (DENSITY.key, ["f0"]),
        )
    }
    assert serves == {DENSITY.key: {DENSITY.key, RISK}, RISK: {RISK, DENSITY.key}, SPARSE: {SPARSE}}
    without = UploadRows(
        rows=read(frame(), features=["f0"], value=None), declared=declared(DENSITY.key, ["f0"])
    )
    assert without.serves(DENSITY.key) and not without.serves(RISK)
    assert not without.serves("mean_function")


def test_a_column_that_was_not_read_cannot_be_declared():
    with pytest.raises(InputError, match="“f9”"):
        own_rows = read(frame(), features=["f0"])
        UploadRows(rows=own_rows, declared=declared(DENSITY.key, ["f9"]))


# -- as data ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("column", "named"), [("f0", "f0"), ("y", "y")])
def test_records_of_which_a_column_mostly_lies_outside_its_stated_range_are_refused(column, named):
    table = frame()
    table[column] *= 1000
    with pytest.raises(
        InputError, match=f"Nearly all observations lie outside the stated range of {named}"
    ):
        own(RISK, ["f0"], table)


def test_numbers_beyond_what_was_stated_are_moved_and_counted_for_the_holder():
    table = frame(30)
    table.loc[0, ["f0", "y"]] = [99.0, -7.0]
    upload = own(SPARSE, NAMES, table)
    data = upload.draw(1, RNG)
    assert upload.n_clipped == (1, 1) and data.x.max() == 10 and data.y.min() == 0
    with pytest.raises(InputError, match="same in every repeat"):
        upload.draw(2, RNG)


def test_sizes_are_public_and_two_files_have_two_names():
    one, two = own(SPARSE, NAMES), own(SPARSE, NAMES, frame(seed=1))
    assert one.sizes == one.draw(1, RNG).sizes and one.sizes.n_curves_per_server == (134, 266)
    assert digest(one) != digest(two) and digest(one) == digest(own(SPARSE, NAMES))


def from_simulated(source, unit=1.0, zero=0.0):
    """The same records as a file, with numbers in other units."""
    data = source.draw(1, generator(5, 0, 0))
    table = pd.DataFrame(zero + unit * data.x[0], columns=[f"f{k}" for k in range(data.x.shape[2])])
    if data.y is not None:
        table["y"] = zero + unit * data.y[0]
    return table, {c.name: c for c in source.facts.covariates}


def test_the_unit_of_the_rows_does_not_change_which_coefficients_are_released():
    """Ten times the unit and another zero: noise and coefficients are ten times as large."""
    table, _ = from_simulated(SparseRows(n_curves=3000, n_features=10, n_servers=1))
    moved, _ = from_simulated(SparseRows(n_curves=3000, n_features=10, n_servers=1), 10.0, 300.0)
    names = list(table.columns[:-1])
    releases = []
    for rows, low, high, width in ((table, -4, 4, 8.0), (moved, 260, 340, 80.0)):
        stated = declare_rows(
            SPARSE,
            [StatedCovariate(name, low, high) for name in names],
            "law",
            StatedCovariate("y", (low + high) / 2 - width, (low + high) / 2 + width),
            spread=0.5 * width / 8,
            reach=4.0,
        )
        upload = UploadRows(rows=read(rows, features=names), declared=stated)
        releases.append(
            SparseRegression().release(upload.draw(1, RNG), (BUDGET,), generator(1, 1, 0))
        )
    one, ten = (found.coefficients[0, 0, 0] for found in releases)
    assert np.count_nonzero(one) == 5
    np.testing.assert_allclose(10 * one, ten, rtol=1e-6, atol=1e-9)
    assert releases[0].spends[0][0].rho == pytest.approx(releases[1].spends[0][0].rho)


@pytest.mark.parametrize("reach", few(list(REACHES.values())))
def test_features_that_lie_as_stated_get_steps_and_clips_that_suit_them(reach):
    """With every kind of spread the two features that matter are found, with their sizes."""
    rng, n = np.random.default_rng(3), 20_000
    x = {
        4.0: np.clip(rng.normal(5, 1.25, (n, 6)), 0, 10),
        1.7: rng.uniform(0, 10, (n, 6)),
        1.0: 10.0 * rng.integers(0, 2, (n, 6)),
    }[reach]
    y = 50 + 4 * (x[:, 0] - 5) / (5 / reach) - 3 * (x[:, 1] - 5) / (5 / reach)
    table = pd.DataFrame(x, columns=NAMES).assign(y=y + rng.normal(0, 2, n))
    upload = own(SPARSE, NAMES, table, reach=reach)
    method = SparseRegression(sparsity=2)
    plan = method.plan(upload.public, (Budget(5.0, 1e-9),))
    assert plan.feature_clip == min(4.0, reach)
    released = method.release(upload.draw(1, RNG), (Budget(5.0, 1e-9),), generator(1, 1, 0))
    np.testing.assert_allclose(released.coefficients[0, 0, 0, :2], [4, -3], atol=0.25)
    assert np.count_nonzero(released.coefficients) == 2


@pytest.mark.parametrize("reach", few(list(REACHES.values())))
def test_no_row_within_or_beyond_its_ranges_moves_a_step_further_than_the_noise_is_made_for(reach):
    """200 pairs of files that differ in one row, numbers far outside and missing ones included."""
    rng, method = np.random.default_rng(4), SparseRegression()
    table = frame(40)
    base = own(SPARSE, NAMES, table, reach=reach)
    plan = method.plan(base.public, (BUDGET,) * 2)
    vector, largest = np.zeros((1, 1, 6)), 0.0

    def step(rows):
        data = UploadRows(rows=rows, declared=base.declared).draw(1, RNG)
        result = method._rows(data, plan)
        return plan.descent.learning_rate * result.gradient(vector, plan.residual_clip)

    vector[0, 0, :2] = [8, -8]
    for k in range(200):
        other, where = np.array(base.rows.covariates), rng.integers(40)
        other[where] = rng.choice([-1e9, 0, 5, 10, 1e300, np.nan], 6)
        response = np.array(base.rows.values)
        response[where] = rng.choice([-1e300, 0, 100, 1e9, np.nan])
        moved = np.abs(
            step(replace(base.rows, covariates=other, values=response)) - step(base.rows)
        ).max()
        assert moved <= plan.step_sensitivity * (1 + 1e-9), k
        largest = max(largest, moved)
    assert largest > 0.4 * plan.step_sensitivity  # the bound is not idle


# -- the views ----------------------------------------------------------------------------------------


def test_of_own_rows_errors_are_from_what_is_chosen_without_protection():
    upload = own(SPARSE, NAMES, frame(20_000))
    view = sparse_topic.sparse_answer(upload, SparseRegression(sparsity=2), BUDGET, 1)
    assert view.truth is None and view.lasso is None and view.support.tolist() == [0, 1]
    assert view.target is view.ordinary
    result = sparse_words.accuracy(view)
    assert "those without privacy" in result and "true" not in result and "lasso" not in result
    assert "those without privacy" in sparse_words.distance(view)
    wording.found("features chosen without", sparse_words.support(view), 2, 2)
    assert "made up" not in sparse_words.support(replace(view, ordinary=np.eye(6)[0]))
    lines = sparse_topic.over_budgets(upload, SparseRegression(sparsity=2), 1e-6, 1)
    assert lines.ordinary == {}
    wording.missing("costs less half", sparse_words.over_budgets(lines))
    for chart in (charts.coefficients(view), charts.over_budgets(lines, 1.0)):
        assert chart.alt and chart.table and chart.spec["data"]


def test_features_keep_their_names_and_places_where_names_look_alike():
    table = frame(500).rename(columns={"f0": "a" * 30 + "1", "f1": "a" * 30 + "2"})
    names = [name for name in table.columns if name not in ("y", "site")]
    view = sparse_topic.sparse_answer(own(SPARSE, names, table), SparseRegression(), BUDGET, 1)
    shown = charts.coefficients(view).table["feature"]
    assert len(set(shown)) == len(shown) and {"1 " + "a" * 17 + "…", "f2"} <= {*shown}


def test_missing_numbers_never_reach_what_is_shown():
    table = frame(3000).mask(np.random.default_rng(0).random((3000, 8)) < 0.05)
    upload = own(SPARSE, NAMES, table.assign(site="a"))
    view = sparse_topic.sparse_answer(upload, SparseRegression(), BUDGET, 1)
    assert np.isfinite(view.releases).all() and np.isfinite(view.ordinary).all()


def test_a_density_of_own_points_is_that_of_the_same_simulated_points():
    """Points in [0, 1] written as 20 … 45: the same releases in every way, on the other axis."""
    source = DensityPoints(n_curves=500)
    table, _ = from_simulated(source, 25.0, 20.0)
    stated = declare_rows(DENSITY.key, [StatedCovariate("f0", 20, 45, "years")], "law")
    rows = read(table.assign(other=1), features=["f0"])
    upload = UploadRows(rows=rows, declared=stated)
    view = summaries_topic.summaries_answer(
        upload, Frl(task="density"), DENSITY.key, Budget(1.0), 1
    )
    same = Frl(task="density").release(
        source.draw(1, generator(5, 0, 0)), (Budget(1.0),), generator(7, 1, 0)
    )
    mine = Frl(task="density").release(upload.draw(1, RNG), (Budget(1.0),), generator(7, 1, 0))
    np.testing.assert_allclose(same.coefficients, mine.coefficients, atol=1e-9)
    assert view.axis[[0, -1]].tolist() == [20, 45] and view.truth is None and view.baseline is None
    wording.found("non private estimate", summary_words.compared(view))


@pytest.mark.slow
def test_a_density_of_two_columns_has_an_axis_for_each():
    table = frame(800).assign(f1=lambda t: 100 * t["f1"])
    stated = declare_rows(
        DENSITY.key,
        [StatedCovariate("f0", 0, 10, "cm"), StatedCovariate("f1", 0, 1000, "g")],
        "law",
    )
    upload = UploadRows(rows=read(table, features=["f0", "f1"]), declared=stated)
    view = summaries_topic.summaries_answer(
        upload, Frl(task="density"), DENSITY.key, Budget(1.0), 1
    )
    assert (view.axis.max(), view.across.max()) == (9.875, 987.5)
    chart = summaries_charts.surface(view, view.ordinary[0], "Without")
    assert chart.spec["data"][0]["y"][-1] == 987.5
    assert {"f0 (cm)", "f1 (g)"} <= {*chart.table}


@pytest.mark.parametrize("response", ["regression", "classes"])
def test_prediction_from_own_records_is_that_from_the_same_simulated_records(response):
    """x in [0, 1] and y in ±2 or ±1, as a file in other units: the same function, in those units."""
    source = LabelledPoints(n_curves=400, response=response)
    table, _ = from_simulated(source, 10.0, 50.0)
    half = 10 * source.facts.value_high
    stated = declare_rows(
        RISK,
        [StatedCovariate("f0", 50, 60)],
        "law",
        StatedCovariate("y", 50 - half, 50 + half),
        two_classes=response == "classes",
    )
    upload = UploadRows(rows=read(table, features=["f0"]), declared=stated)
    method = Frl(task=RISK)
    same = method.release(source.draw(1, generator(5, 0, 0)), (Budget(1.0),), generator(7, 1, 0))
    mine = method.release(upload.draw(1, RNG), (Budget(1.0),), generator(7, 1, 0))
    grid = np.linspace(0, 1, 11)
    unit, zero = (10.0, 50.0) if response == "regression" else (1.0, 0.0)
    np.testing.assert_allclose(zero + unit * same.values(grid), mine.values(grid), atol=1e-6)
    view = summaries_topic.summaries_answer(upload, method, RISK, Budget(1.0), 1)
    assert view.facts.two_classes == (response == "classes") and view.axis[-1] == 60
