"""The public interface: arrays and tables in, tables and figures out, errors as everywhere."""

import ast
import inspect
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from plotly.graph_objects import Figure

from engine import api as pc
from engine.core.errors import InputError

METHOD = pc.mechanism("adaptive_mean")
BUDGET = pc.Budget(1.0, 1e-4)
FACTS = {
    "values": (60, 210),
    "times": (2, 18),
    "origin": "national growth chart",
    "design": {"law": "common", "times": [2, 6, 10, 14]},
    "value_name": "Height",
    "value_unit": "cm",
    "time_name": "Age",
    "time_unit": "years",
    "person": "child",
    "people": "children",
}

READING = {
    "frame": {"header": ["child", "age", "height"]},
    "person": {"column": "child"},
    "columns": {"time": {"name": "age"}, "value": {"name": "height"}},
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    age = np.tile([2.0, 6.0, 10.0, 14.0], 80)
    return pd.DataFrame(
        {
            "child": np.repeat(np.arange(80), 4),
            "age": age,
            "height": (75 + 6 * age + rng.normal(0, 4, 320)).round(1),
        }
    )


@pytest.fixture(scope="module")
def curves(table):
    return pc.read_curves(table, reading=pc.propose(table).reading, **FACTS)


def test_a_table_and_the_file_of_it_are_the_same_data(table, curves, tmp_path):
    table.to_csv(tmp_path / "heights.csv", index=False)
    for how in (
        {},
        {
            "reading": READING
            | {"frame": {"encoding": "utf-8", "separator": ",", **READING["frame"]}}
        },
    ):
        read = pc.simulate(pc.read_curves(tmp_path / "heights.csv", **how, **FACTS))
        assert np.array_equal(read.values, pc.simulate(curves).values)


def test_curves_that_were_read_for_looking_are_refused_by_a_release(table, tmp_path):
    looked_at = pc.read_curves(table, {"id": "child"}, **FACTS)
    with pytest.raises(InputError, match="Nobody has stated how this file is read"):
        pc.release(
            looked_at,
            METHOD,
            pc.Budget(2.0, 1e-4),
            "heights",
            pc.Ledger(tmp_path / "ledger.sqlite3"),
        )


def test_numbers_and_moments_of_a_table_are_read_by_their_type(table, curves):
    days = pd.Timestamp("2024-01-01", tz="Europe/Paris") + pd.to_timedelta(table.age, unit="D")
    stamped = table.assign(age=days, height=table.height.astype("Float64"))
    reading = READING | {
        "columns": {
            "value": {"name": "height"},
            "time": {
                "name": "age",
                "kind": "date",
                "order": "ymd",
                "offset": "kept",
                "from": "days since 2024-01-01",
            },
        }
    }
    in_days = FACTS | {"time_unit": "days"}
    read = pc.simulate(pc.read_curves(stamped, reading=reading, **in_days))
    assert np.allclose(read.times, pc.simulate(curves).times)
    with pytest.raises(InputError, match="time zone"):
        pc.read_curves(
            stamped,
            reading=READING
            | {
                "columns": reading["columns"]
                | {"time": {**reading["columns"]["time"], "offset": "none"}}
            },
            **in_days,
        )
    with pytest.raises(InputError, match="320 with an unreadable cell in “height”"):
        pc.read_curves(
            table.assign(height=table.height.map("{} cm".format)), reading=READING, **FACTS
        )


def test_data_come_out_as_they_went_in_but_for_the_order_of_people(table, curves):
    out = pc.frame(pc.simulate(curves))
    assert list(out.columns) == ["repeat", "child", "site", "Age (years)", "Height (cm)"]
    for theirs, ours in (("Height (cm)", "height"), ("Age (years)", "age")):
        rows = [
            set(map(tuple, part.to_numpy().reshape(-1, 4).round(6)))
            for part in (out[theirs], table[ours])
        ]
        assert rows[0] == rows[1]


def test_facts_that_are_missing_or_unknown_are_refused_by_name(table):
    for change, field in (
        ({"values": (210, 60)}, "value"),
        ({"origin": ""}, "origin"),
        ({"design": {"law": "often"}, "observations": 4}, "One of common"),
        ({"design": {"time": 1}}, "time"),
    ):
        with pytest.raises(InputError) as problem:
            pc.read_curves(table, **FACTS | change)
        assert field in f"{problem.value.field} {problem.value}"


def test_simulated_releases_have_a_row_for_each_budget_draw_and_time(curves):
    releases = pc.simulate_release(
        pc.simulate(curves), METHOD, [BUDGET, pc.Budget(4, 1e-4)], draws=3
    )
    out = pc.frame(releases)
    assert out.groupby(["budget", "draw"]).size().nunique() == 1
    assert len(out.groupby(["budget", "repeat", "draw"])) == 6
    assert out["Height (cm)"].between(-200, 500).all()
    assert pc.guarantee(releases) == (BUDGET,)
    assert pc.odds(releases).right < pc.odds(BUDGET).right
    assert isinstance(pc.figure(releases), Figure)


@pytest.mark.slow
def test_a_preview_costs_nothing_and_a_quote_is_never_more_than_was_asked(curves):
    shown = pc.preview(curves, METHOD, pc.Budget(4.0, 1e-4))
    assert shown.error > 0
    assert {"Age (years)"} < set(pc.frame(shown).columns)
    assert isinstance(pc.figure(shown, "dark"), Figure)
    assert pc.quote(curves, METHOD, BUDGET).certified.epsilon <= 1


def test_odds_of_a_quote_and_of_its_release_are_those_on_the_card_and_less_than_of_any_method(
    curves, tmp_path
):
    quoted = pc.quote(curves, METHOD, pc.Budget(2.0, 1e-4))
    release = pc.release(
        curves, METHOD, pc.Budget(2.0, 1e-4), "heights", pc.Ledger(tmp_path / "ledger.sqlite3")
    )
    on_card = release.card["odds"]["right_guess_at_most"]
    assert pc.odds(release).right == pc.odds(quoted).right == pytest.approx(on_card, abs=1e-6)
    assert pc.odds(release).from_noise and not pc.odds(pc.Budget(2.0, 1e-4)).from_noise
    assert pc.odds(release).right < pc.odds(pc.Budget(2.0, 1e-4)).right


def test_a_release_can_be_saved_asked_and_made_again(curves, tmp_path):
    ledger = pc.Ledger(tmp_path / "ledger.sqlite3")
    release = pc.release(curves, METHOD, pc.Budget(2.0, 1e-4), "heights", ledger)
    again = pc.release_again(ledger, release.release_id)
    pd.testing.assert_frame_equal(pc.frame(again), pc.frame(release))
    written = pc.save(release, tmp_path / "files")
    card = next(path for path in written if path.name == "guarantee.json")
    released = pc.read_card(card)
    answer = pc.ask(released, "value", time=10.0)
    assert answer.text
    band = pc.frame(released)
    assert (band["lower end"] <= band["Height (cm)"]).all()
    for result in (release, released):
        assert isinstance(pc.figure(result), Figure)


def test_a_scenario_gives_a_row_for_each_cell():
    stated = pc.read_scenario(
        {
            "version": 1,
            "source": {"key": "sparse_curves", "parameters": {"n_curves": 100}},
            "mechanism": {"key": "adaptive_mean"},
            "budgets": [{"epsilon": 1, "delta": 1e-4}],
            "axes": {"budgets.epsilon": [0.5, 4]},
            "repeats": 3,
        }
    )
    out = pc.frame(pc.run_scenario(stated))
    assert list(out["budgets.epsilon"]) == [0.5, 4]
    assert out["squared_total_error_mean"].is_monotonic_decreasing


SOURCE = pc.source("sparse_curves", n_curves=np.int64(20))
REFUSED = {
    "repeats": [
        lambda data, curves: pc.simulate(SOURCE, repeats=0),
        lambda data, curves: pc.simulate(SOURCE, 10**8),
    ],
    "seed": [
        lambda data, curves: pc.simulate(SOURCE, seed=-1),
        lambda data, curves: pc.simulate(SOURCE, seed=None),
        lambda data, curves: pc.preview(curves, METHOD, BUDGET, seed=1.5),
    ],
    "values": [
        lambda data, curves: own(values=("60", "210")),
        lambda data, curves: own(values=(60, 210, 2)),
        lambda data, curves: own(values=60),
    ],
    "times": [lambda data, curves: own(times=(18,))],
    "server": [lambda data, curves: pc.CurveData([[0.2, 0.4]], [[1.0, 2.0]], [1, 1], [1, 0])],
    "data": [
        lambda data, curves: pc.simulate_release(
            pc.CurveData([[0.2]], [[1.0]], [1], [1]), METHOD, BUDGET
        )
    ],
    "origin": [lambda data, curves: own(origin=3)],
    "symmetric": [lambda data, curves: own(symmetric="no")],
    "observations": [lambda data, curves: own(observations=2.5)],
    "colour": [lambda data, curves: own(colour="red")],
    "reading": [lambda data, curves: own(reading=3)],
    "several": [lambda data, curves: own(several="some")],
    "design": [lambda data, curves: own(design="common")],
    "budgets": [
        lambda data, curves: pc.simulate_release(data, METHOD, []),
        lambda data, curves: pc.simulate_release(data, METHOD, 1.0),
        lambda data, curves: pc.simulate_release(data, METHOD, (1.0, 1e-4)),
    ],
    "budget": [
        lambda data, curves: pc.quote(curves, METHOD, 1.0),
        lambda data, curves: pc.quote(curves, METHOD, ()),
        lambda data, curves: pc.guarantee(pc.simulate_release(data, METHOD, BUDGET), 1),
    ],
    "draws": [lambda data, curves: pc.simulate_release(data, METHOD, BUDGET, draws=10**8)],
    "mechanism": [lambda data, curves: pc.simulate_release(data, "adaptive_mean", BUDGET)],
    "source": [lambda data, curves: pc.simulate("sparse_curves")],
    "name": [
        lambda data, curves: pc.release(curves, METHOD, BUDGET, 3, pc.Ledger("none")),
        lambda data, curves: pc.schema(3),
    ],
    "ledger": [lambda data, curves: pc.release(curves, METHOD, BUDGET, "name", "ledger.sqlite3")],
    "unknown": [lambda data, curves: pc.plan(SOURCE, METHOD, 1.0, unknown="dose")],
    "tries": [lambda data, curves: pc.audit(METHOD, tries=0)],
    "theme": [lambda data, curves: pc.figure(data, "blue")],
    "form": [lambda data, curves: pc.exhibit("any", "large")],
    "key": [lambda data, curves: pc.source(3)],
    "curve": [lambda data, curves: pc.ask({"value": 1}, "value")],
    "epsilon": [lambda data, curves: pc.Budget("1")],
    "Budget": [lambda data, curves: pc.Budget()],
}


def own(**changed):
    return pc.read_curves(
        pd.DataFrame({"child": ["a"] * 2, "age": [2, 6], "height": [90, 115]}), **FACTS | changed
    )


@pytest.mark.parametrize(
    ("field", "call"), [(field, call) for field, every in REFUSED.items() for call in every]
)
def test_a_wrong_argument_is_refused_by_its_name(field, call, curves):
    with pytest.raises(InputError) as refused:
        call(pc.simulate(SOURCE), curves)
    assert refused.value.field == field


def test_numbers_and_arrays_of_numpy_are_numbers_and_lists(curves, tmp_path):
    read = own(
        values=np.array([60, 210]),
        times=np.array([2, 18]),
        design={"law": "common", "times": np.array([2, 6])},
        observations=np.int64(2),
        symmetric=np.bool_(True),
    )
    assert (
        read.facts.symmetric
        and read.facts.value_high == 210
        and read.facts.observations_per_curve == 2
    )
    budget = pc.Budget(np.float32(1), np.float64(1e-4))
    assert budget == BUDGET and type(budget.epsilon) is type(budget.delta) is float
    data = pc.CurveData(times=[[0.0, 0.5]], values=[[1, 2]], counts=[2], server=[0])
    assert data.values.dtype == float and data.sizes.n_curves == 1
    assert pc.simulate(SOURCE, np.int64(2), seed=np.uint8(7)).n_repeats == 2
    json.dumps(pc.quote(curves, METHOD, budget).certified.epsilon)


def test_members_and_budgets_may_be_given_as_json():
    sea, method = (
        {"key": "sea_temperature"},
        {"key": "adaptive_mean", "parameters": {"truncation": np.int64(4)}},
    )
    assert (
        pc.quote(sea, method, {"epsilon": 1, "delta": 1e-4}).certified
        == pc.quote(
            pc.source("sea_temperature"), pc.mechanism("adaptive_mean", truncation=4), BUDGET
        ).certified
    )


def test_every_argument_of_the_interface_has_a_type_and_is_read_by_it():
    for name in pc.__all__:
        thing = getattr(pc, name)
        if inspect.isfunction(thing):
            hints = inspect.get_annotations(thing)
            assert set(inspect.signature(thing).parameters) <= set(hints), name
            with pytest.raises(InputError):
                thing(
                    **{"no such argument": 1, **dict.fromkeys(inspect.signature(thing).parameters)}
                )


def test_a_plan_is_a_table_with_its_answer():
    answer = pc.plan(pc.source("sparse_curves", n_curves=200), METHOD, target=1.0, unknown="error")
    assert {"epsilon", "people", "observations", "error"} <= set(pc.frame(answer).columns)


def test_shelves_name_what_can_be_made():
    for shelf, make in ((pc.sources(), pc.source), (pc.mechanisms(), pc.mechanism)):
        for key in shelf.index[:3]:
            assert make(key).key == key
    with pytest.raises(InputError, match="no_such"):
        pc.mechanism("no_such")
    assert pc.exhibits().index.is_unique


def test_what_has_no_table_or_picture_is_refused():
    for function in (pc.frame, pc.figure):
        with pytest.raises(InputError):
            function("text")
    with pytest.raises(InputError):
        pc.frame([1, 2])


def test_every_public_function_says_what_it_takes_returns_and_refuses():
    for name in pc.__all__:
        thing = getattr(pc, name)
        if inspect.isfunction(thing):
            text = inspect.getdoc(thing)
            assert "Returns" in text, name
            if inspect.signature(thing).parameters:
                assert "Parameters" in text, name


def test_names_of_the_interface_are_all_there_is_to_it():
    tree = ast.parse(inspect.getsource(pc))
    (typed,) = (node for node in tree.body if isinstance(node, ast.If))
    imported = {
        alias.asname or alias.name
        for node in typed.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imported | {"__version__"} == set(pc.__all__) == set(dir(pc))


def test_a_name_of_the_interface_loads_only_what_it_needs():
    code = "import sys; from engine import api; api.Budget; sys.exit(len(HEAVY & {*sys.modules}))"
    heavy = 'HEAVY = {"pandas", "plotly", "opendp", "pyarrow", "scipy.stats"}; '
    subprocess.run([sys.executable, "-c", heavy + code], check=True)
    with pytest.raises(AttributeError, match="nothing"):
        pc.nothing  # noqa: B018
