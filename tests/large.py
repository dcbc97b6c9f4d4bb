"""Curves in several files of several kinds, for tests of releases of any size."""

import gzip
import json

import numpy as np
import pandas as pd
import pyarrow as pa

from engine.release import certified, request

HEADER = ["id", "time", "value"]
COVARIATE = {"name": "age", "low": 0, "high": 10, "unit": ""}
EVEN, UNKNOWN, COMMON = (
    {"law": "even"},
    {"law": "unknown"},
    {"law": "common", "times": [0, 0.25, 0.5, 0.75, 1]},
)


def frame(n=240, m=5, seed=0, common=False):
    """Observations in random order, some of which are missing or at one time."""
    rng = np.random.default_rng(seed)
    times = np.tile(np.linspace(0, 1, m), (n, 1)) if common else rng.integers(0, 101, (n, m)) / 100
    values = 0.5 * np.sin(6 * times) + 0.2 * rng.normal(size=(n, 1)) + 0.1 * rng.normal(size=(n, m))
    table = pd.DataFrame(
        {
            "id": np.repeat([f"P{k:04d}" for k in range(n)], m),
            "time": times.ravel(),
            "value": values.ravel().round(3),
        }
    )
    table.loc[rng.random(len(table)) < 0.02, "value"] = np.nan
    return table.sample(frac=1, random_state=seed)


def written(table, path, kind="csv"):
    """Write a table as a file of a kind, named by it."""
    if kind == "parquet":
        table.to_parquet(path, index=False)
    elif kind == "arrow":
        whole = pa.Table.from_pandas(table, preserve_index=False)
        with pa.ipc.new_file(str(path), whole.schema) as writer:
            writer.write_table(whole)
    elif kind == "csv":
        table.to_csv(path, index=False)
    else:
        content = table.to_csv(index=False).encode()
        if kind == "gz":
            path.write_bytes(gzip.compress(content))
        else:
            with pa.CompressedOutputStream(str(path), "zstd") as stream:
                stream.write(content)
    return path


KINDS = ("csv", "gz", "zst", "parquet", "arrow")


def plain(file, design=EVEN, header=HEADER, observations=5, **more):
    """A request to publish the average curve of a file, or of several."""
    columns = {"time": {"name": "time"}, "value": {"name": "value"}, **more.pop("columns", {})}
    reading = {
        "frame": {"encoding": "utf-8", "separator": ",", "header": header},
        "person": more.pop("person", {"column": "id"}),
        "columns": columns,
        "missing": ["", "NA"],
    }
    facts = {
        "value_low": -1,
        "value_high": 1,
        "time_low": 0,
        "time_high": 1,
        "origin": "the manual",
        "design": design,
        "observations_per_curve": observations,
        **more.pop("facts", {}),
    }
    return {
        "version": 1,
        "name": more.pop("name", "meters"),
        "data": {"file": file, "reading": reading, "facts": facts},
        "mechanism": {"key": more.pop("mechanism", "adaptive_mean"), "parameters": {}},
        "budgets": [{"epsilon": more.pop("epsilon", 2.9), "delta": 1e-6}],
    }


def asked(stated, folder, resources=None):
    """The one request of a file."""
    (one,) = request.from_json(json.dumps(stated), folder, resources)
    return one


def messages(one):
    """What a request would send, before noise: each message in units of its noise."""
    data = certified.publishable_data(one.source)
    cost, sent = certified.release_cost(data, one.mechanism, one.budget), {}

    def rounded(key, noise, values):
        sent[key] = values.copy()
        return np.rint(values)

    certified.answered(data, one.mechanism, cost, rounded)
    return sent


def assert_same(found, want):
    """Both are the same messages, to the last bit."""
    assert found.keys() == want.keys()
    for key, values in want.items():
        assert (found[key] == values).all(), key
