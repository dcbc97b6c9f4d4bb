"""No call of the public interface ends in anything but a value or an `InputError`, or shows a datum."""

import datetime
import inspect
import random
from pathlib import Path

import numpy as np
import opendp.prelude as dp
import pandas as pd
import pytest

from engine import api as pc
from engine.core import typed
from engine.core.errors import InputError
from tests.hostile.values import HOSTILE

DATUM, PERSON = 86.41421356, "zq-datum-zq"  # in all data, and in no message
SEED = 20261130
NAMES = [name for name in pc.__all__ if callable(getattr(pc, name)) and name != "InputError"]
DEAR = (
    "audit",
    "preview",
    "plan",
    "exhibit",
    "run_scenario",
    "release",
    "opendp_measurement",
    "look",
)  # a call that succeeds takes a second
CHEAP = (
    "tries",
    "runs",
    "seconds",
    "unknown",
)  # always given, so that a call that succeeds is short


def table():
    return pd.DataFrame(
        {
            "child": [f"{PERSON}{k // 2}" for k in range(40)],
            "age": [2.0, 6.0] * 20,
            "height": [DATUM + k for k in range(40)],
        }
    )


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """By the name of an argument, what it takes."""
    dp.enable_features("contrib", "honest-but-curious")
    folder = tmp_path_factory.mktemp("interface")
    table().to_csv(folder / "heights.csv", index=False)
    frame, source, mechanism = (
        table(),
        pc.source("sparse_curves", n_curves=20),
        pc.mechanism("adaptive_mean"),
    )
    data = pc.CurveData(
        times=np.array([[0.1, 0.9] * 20]),
        values=np.array([[DATUM + k for k in range(40)]]),
        counts=np.full(20, 2),
        server=np.zeros(20, int),
        facts=pc.PublicFacts(value_low=60, value_high=210, observations_per_curve=2),
    )
    ledger, sea = pc.Ledger(folder / "ledger.sqlite3"), pc.source("sea_temperature")
    published = pc.release(sea, mechanism, pc.Budget(2.0, 1e-4), "first", ledger)
    releases = pc.simulate_release(data, mechanism, pc.Budget(1.0, 1e-3))
    pc.save(published, folder / "files")
    card = folder / "files" / "guarantee.json"
    scenario = {
        "version": 1,
        "source": {"key": "sparse_curves", "parameters": {"n_curves": 20}},
        "mechanism": {"key": "adaptive_mean"},
        "budgets": [{"epsilon": 1, "delta": 1e-3}],
        "repeats": 1,
    }
    reading = pc.propose(frame).reading
    return {
        "data": [frame, str(folder / "heights.csv"), data],
        "columns": [None, {"id": "child", "time": "age"}],
        "reading": [reading, reading.to_plain(), None],
        "values": [(60, 210), np.array([60, 210])],
        "times": [(2, 18), np.array([[0.1, 0.9] * 20])],
        "origin": ["growth chart"],
        "observations": [None, np.int64(2)],
        "design": [{"law": "common", "times": np.array([2, 6])}, {"law": "even"}],
        "symmetric": [True, np.bool_(False)],
        "covariates": [(), [pc.Covariate("age", 0, 9)]],
        "follow_up": [365, np.float32(20)],
        "events": [(), ["x"]],
        "groups": [(), ["a", "b"]],
        "edges": [(), np.array([0.0, 100.0, 365.0])],
        "group_sizes": [(), np.array([20, 20])],
        "source": [source, sea],
        "mechanism": [mechanism, pc.mechanism("noisy_counts")],
        "key": ["sparse_curves", "adaptive_mean"],
        "repeats": [1, np.int64(2)],
        "seed": [1, np.uint8(3)],
        "draws": [1, 2],
        "budgets": [pc.Budget(1.0, 1e-3), [pc.Budget(1.0, 1e-3), pc.Budget(2.0, 1e-3)]],
        "budget": [pc.Budget(1.0, 1e-3), {"epsilon": np.float64(0.5), "delta": 1e-6}, 0],
        "releases": [releases, published, pc.Budget(1.0)],
        "name": ["name", "scenario", "no/such"],
        "ledger": [ledger],
        "total": [None, pc.Budget(3.0, 1e-4)],
        "release_id": [published.release_id],
        "release": [published],
        "path": [str(folder / "new"), folder / "ledger.sqlite3"],
        "witness": [None],
        "card_file": [card, str(card)],
        "curve": [pc.read_card(card), "curve"],
        "question": ["value", "crossing"],
        "target": [1.0, np.float32(0.3)],
        "unknown": ["error"],
        "epsilon": [1.0, np.float64(2)],
        "delta": [1e-3, 0.0],
        "stated": [scenario, pc.read_scenario(scenario)],
        "executor": ["serial"],
        "form": ["quick"],
        "theme": ["dark"],
        "result": [data, releases, published],
        "tries": [2],
        "runs": [0, 100],
        "seconds": [0.1],
        "neighbour": [[1.0]],
        "at_once": [False, True],
        "counts": [np.full(20, 2)],
        "server": [np.zeros(20, int)],
        "facts": [data.facts],
        "low": [0],
        "high": [np.int64(5)],
        "kind": ["curves", None],
    }


def hostile(folder):
    """What a program may pass by mistake, much of it with data in it."""
    frame, loop = table(), {}
    loop["self"] = loop
    broken = pd.concat([frame, frame], axis=1)
    frames = [
        frame,
        frame.iloc[:0],
        broken,
        frame.rename(columns={"age": 3}),
        frame.set_index(["child", "age"]),
        frame.T,
        pd.DataFrame(),
        frame.assign(height=[{}] * 40),
        frame.assign(age=np.nan),
        frame.astype(object),
        pd.DataFrame({"child": [PERSON] * 3, "age": [np.inf, 1, 2], "height": [1 + 2j] * 3}),
        frame["height"],
        frame.assign(child=frame["child"].astype("category")),
        frame["child"],
    ]
    arrays = [
        np.array([DATUM, DATUM]),
        np.array([PERSON, PERSON]),
        np.array([[DATUM, 1.0], [2.0, np.nan]]),
        np.array(5),
        np.array([None, DATUM]),
        np.array([1, 2]),
        np.array(["2020-01-01"], "datetime64[ns]"),
        np.empty((0, 2)),
        np.arange(3),
        np.array([True, False]),
        np.zeros((2, 2, 2)),
    ]
    (folder / "bytes").write_bytes(f"{PERSON};{DATUM}\n\0\xff".encode("latin1"))
    others = [
        [DATUM, PERSON],
        (DATUM, DATUM),
        {"value": DATUM},
        {"id": [PERSON]},
        {"epsilon": 1},
        {"epsilon": "x"},
        loop,
        {"key": "sparse_curves"},
        {"key": "adaptive_mean", "parameters": {"truncation": [PERSON]}},
        {3: 4},
        range(10**12),
        range(3),
        lambda *_: DATUM,
        lambda *_: PERSON,
        lambda *_: [DATUM],
        Path("nowhere"),
        folder,
        folder / "bytes",
        datetime.date(2020, 1, 1),
        (x for x in "ab"),
        np.datetime64("2020-01-01"),
        10**8,
        "sparse_curves",
        "median",
        "value",
        "a/b",
        pc.Budget(1.0),
        pc.Covariate("x"),
        pc.PublicFacts(),
        pc.source("grouped_curves"),
        pc.source("event_times", n_curves=30),
        pc.mechanism("sparse_mean_laplace"),
    ]
    return [*HOSTILE, *frames, *arrays, *others]


def fits(function, name, value):
    try:
        typed.read(typed.hints_of(function)[name], value, name)
    except InputError:
        return False
    return True


def calls(function, good, bad, rng, many):
    """Arguments of many calls: what fits by its name, and anything else."""
    parameters = [*inspect.signature(function).parameters.values()]
    good = {
        each.name: fitting
        for each in parameters
        if (
            fitting := [
                value for value in good.get(each.name, ()) if fits(function, each.name, value)
            ]
        )
    }
    for _ in range(many):
        share, given = rng.choice((0.0, 0.0, 0.3, 1.0)), {}
        wrong = rng.choice([None, *(each.name for each in parameters)]) if not share else None
        for each in parameters:
            if each.kind is each.VAR_KEYWORD:
                if rng.random() < 0.4:
                    given[
                        rng.choice(("time", "level", "n_curves", "x", "truncation", "key", "task"))
                    ] = rng.choice(bad)
            elif each.name == wrong or rng.random() < share:
                given[each.name] = rng.choice(bad)
            elif each.name in good and (
                each.default is each.empty or each.name in CHEAP or rng.random() < 0.5
            ):
                given[each.name] = rng.choice(good[each.name])
        if rng.random() < 0.05:
            given[rng.choice(("colour", "self", "data"))] = rng.choice(bad)
        if rng.random() < 0.05 and given:
            del given[rng.choice([*given])]
        yield given


def ended(function, given):
    """Make a call, and return its refusal if there is one."""
    if any(
        given.get("mechanism") is each for each in (int, len)
    ):  # called, they raise errors of their own
        given = given | {"mechanism": None}
    try:
        function(**given)
    except InputError as refused:
        return refused
    return None


@pytest.mark.parametrize(
    ("seed", "many"), [(SEED, 200), pytest.param(SEED + 1, 2000, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", NAMES)
def test_a_call_ends_in_a_value_or_a_refusal_that_shows_no_datum(
    name, seed, many, good, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    rng, function = random.Random(f"{seed}{name}"), getattr(pc, name)
    bad = hostile(tmp_path)
    for given in calls(function, good, bad, rng, many // 4 if name in DEAR else many):
        refused = ended(function, given)
        shown = "" if refused is None else f"{refused} {refused.field}"
        if isinstance(given.get("data"), str):  # the name of a file, which a refusal repeats
            shown = shown.replace(given["data"], "")
        assert PERSON not in shown and str(DATUM)[:6] not in shown, (name, [*given])
