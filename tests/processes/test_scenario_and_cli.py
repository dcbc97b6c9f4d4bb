"""Scenarios are checked by name, and the command line says what a scenario gives."""

import copy
import io
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from engine import __version__
from engine.__main__ import main
from engine.core.errors import InputError
from engine.privacy.failure import usual_delta
from engine.running import executors
from engine.simulation import scenario
from engine.simulation.experiments import run_cells
from tests.sentences import of_topic

wording = of_topic("code")

ROOT = Path(__file__).parents[2]
SCENARIO = {
    "version": 1,
    "source": {
        "key": "sparse_curves",
        "parameters": {"mean": "mu1", "n_curves": 60, "n_observations_per_curve": 5},
    },
    "mechanism": {
        "key": "noisy_gradient_mean",
        "parameters": {"constants": "published", "scheme": "split", "truncation": 3},
    },
    "budgets": [{"epsilon": 1.0, "delta": 0.001}],
    "repeats": 4,
    "draws": 1,
    "seed": 1,
    "axes": {"budgets.epsilon": [0.5, 4], "source.n_curves": [60, 80]},
}


def changed(path, value):
    plain = copy.deepcopy(SCENARIO)
    *parents, last = path.split("/")
    inner = plain
    for key in parents:
        inner = inner[int(key)] if isinstance(inner, list) else inner[key]
    inner[last] = value
    return plain


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("colour", "red", "no key 'colour'"),
        ("version", 2, "version 2"),
        ("source/key", "sparse", "no source 'sparse'"),
        ("source/parameters/n_curve", 5, "no parameter 'n_curve'"),
        ("source/parameters/n_curves", 1, "n_curves.*between 2 and"),
        ("source/parameters/n_curves", "many", "n_curves.*whole number"),
        ("mechanism/parameters/scheme", "both", "scheme.*full_batch"),
        ("mechanism/extra", 1, "mechanism.*no key 'extra'"),
        ("budgets", [], "at least one budget"),
        ("budgets", [{"epsilon": 1}, {"epsilon": 2}], "2 budgets for 1 servers"),
        ("budgets/0/epsilon", 0, "ε must be positive"),
        ("budgets/0/epsilon", "1", "must be a number"),
        ("budgets/0/delta", 1, "δ must lie between 0 and 1"),
        ("budgets/0/rho", 1, "no key 'rho'"),
        ("repeats", 0, "repeats.*between 1 and"),
        ("repeats", True, "repeats.*whole number"),
        ("seed", -1, "seed"),
        ("axes/noise", [1], "no axis 'noise'"),
        ("axes/source.n_curves", 5, "must be a list"),
        ("axes/source.n_curves", [60, 1], "n_curves.*between 2 and"),
        ("axes/source.n_cats", [1], "no parameter 'n_cats'"),
        ("axes/budgets.epsilon", list(range(1, 10_002)), "more than 10000 cells"),
    ],
)
def test_a_bad_scenario_is_refused_with_the_name_of_what_is_wrong(path, value, words):
    with pytest.raises(InputError, match=words):
        scenario.from_plain(changed(path, value))


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", '{"version": 1}', "NaN"])
def test_text_that_is_no_scenario_is_refused(text):
    with pytest.raises(InputError):
        scenario.from_json(text)


def test_a_scenario_written_out_in_full_reads_back_the_same():
    first = scenario.from_plain(SCENARIO)
    again = scenario.from_plain(
        scenario.to_plain(first.source, first.mechanism, first.budgets, first.run)
    )
    assert (again.source, again.mechanism, again.budgets, again.run) == (
        first.source,
        first.mechanism,
        first.budgets,
        first.run,
    )


@pytest.mark.slow
def test_a_plan_says_which_value_of_an_axis_it_takes(tmp_path, capsys):
    scenario_file = tmp_path / "scenario.json"
    scenario_file.write_text(
        json.dumps(
            {
                "version": 1,
                "source": {"key": "sparse_curves", "parameters": {"mean": "growth"}},
                "mechanism": {"key": "adaptive_mean"},
                "budgets": [{"epsilon": 1, "delta": 1e-6}],
                "axes": {"source.n_curves": [200, 2000]},
            }
        ),
        "utf-8",
    )
    assert not main(["plan", str(scenario_file), "--target", "5"])
    printed = capsys.readouterr().out
    wording.found("plan takes first", printed, 200, 2)
    assert "with 200 children" in printed


def test_axes_make_the_full_grid_in_order():
    cells = scenario.from_plain(SCENARIO).cells()
    assert [(c.budgets[0].epsilon, c.source.n_curves) for c in cells] == [
        (0.5, 60),
        (0.5, 80),
        (4.0, 60),
        (4.0, 80),
    ]


@pytest.mark.parametrize(
    ("method", "budget", "expected"),
    [
        ("adaptive_mean", {}, [usual_delta(60), usual_delta(80)]),
        ("adaptive_mean", {"delta": 1e-7}, [1e-7] * 2),
        ("adaptive_mean", {"delta": 0}, [0, 0]),
        ("iclp", {}, [0, 0]),
    ],
)
def test_a_budget_without_delta_has_that_of_the_pages(method, budget, expected):
    """1/n² for the people of its own cell, and 0 where the method needs none."""
    plain = {
        **SCENARIO,
        "mechanism": {"key": method},
        "budgets": [{"epsilon": 1.0, **budget}],
        "axes": {"source.n_curves": [60, 80]},
    }
    cells = scenario.from_plain(plain).cells()
    assert [cell.budgets[0].delta for cell in cells] == pytest.approx(expected, abs=0, rel=1e-12)


def run(plain, executor="serial"):
    chosen = scenario.from_plain(plain)
    with executors.make(executor) as pool:
        return run_cells(chosen.cells(), chosen.run, pool)


def test_serial_and_parallel_runs_are_equal_to_the_last_bit():
    serial, parallel = run(SCENARIO), run(SCENARIO, "processes:2")
    for one, other in zip(serial, parallel, strict=True):
        assert (one.errors["total_error"] == other.errors["total_error"]).all()


def test_a_cell_of_a_sweep_equals_the_same_cell_alone():
    alone = changed("source/parameters/n_curves", 80)
    alone["budgets"][0]["epsilon"], alone["axes"] = 4.0, {}
    assert (run(SCENARIO)[3].errors["total_error"] == run(alone)[0].errors["total_error"]).all()


def test_a_cell_that_cannot_run_says_so_and_the_others_go_on():
    plain = changed("axes/source.n_curves", [40, 60])
    plain["mechanism"]["parameters"]["n_iterations"] = 50
    few, enough = run(plain)[:2]
    assert "need at least" in few.failure
    assert enough.summary("total_error")["mean"] > 0


def command(capsys, typed, arguments, text=""):
    typed(text.encode())
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_run_prints_one_json_object_with_every_promised_key(capsys, typed):
    code, out, _ = command(capsys, typed, ["run", "-", "--json"], json.dumps(SCENARIO))
    result = json.loads(out)
    assert code == 0
    assert len(result["cells"]) == 4
    assert result["seconds"] > 0
    cell = result["cells"][0]
    assert cell["at"] == {"budgets.epsilon": 0.5, "source.n_curves": 60}
    assert cell["repeats"] == 4
    assert set(cell["guarantee"][0]) == {"server", "epsilon", "delta"}
    for kind in ("total_error", "privacy_error", "estimation_error"):
        assert cell[f"squared_{kind}"]["mean"] > 0
        assert cell[f"squared_{kind}"]["se"] > 0
    assert cell["rms_error"] ** 2 == pytest.approx(cell["squared_total_error"]["mean"])
    assert cell["within_95"] > cell["rms_error"] > cell["rms_error_se"] > 0


def test_repeats_and_seed_on_the_command_line_replace_those_of_the_file(capsys, typed):
    arguments = ["run", "-", "--json", "--repeats", "2", "--seed", "9"]
    _, out, _ = command(capsys, typed, arguments, json.dumps(SCENARIO))
    assert json.loads(out)["cells"][0]["repeats"] == 2


def test_the_table_shows_axes_errors_and_the_guarantee(capsys, typed):
    _, out, _ = command(capsys, typed, ["run", "-"], json.dumps(SCENARIO))
    assert "budgets.epsilon" in out
    assert "±" in out
    assert "δ = 0.001" in out


def test_below_the_table_stands_that_delta_is_large_and_for_how_many_cells(capsys, typed):
    small = {
        **changed("axes", {"source.n_curves": [60, 80]}),
        "budgets": [{"epsilon": 1, "delta": 1e-6}],
    }
    _, out, _ = command(capsys, typed, ["run", "-"], json.dumps(small))
    assert "δ is" not in out
    mixed = {**small, "axes": {"budgets.delta": [1e-6, 1e-4, 0.01]}}
    _, out, _ = command(capsys, typed, ["run", "-"], json.dumps(mixed))
    wording.found("cells of all", out, 2, 3)
    wording.found("large above tenth", out, 1, 0.0167)


def test_where_nothing_is_published_no_number_of_a_release_is_printed(capsys, typed):
    few = {
        **SCENARIO,
        "mechanism": {"key": "adaptive_mean"},
        "axes": {},
        "budgets": [{"epsilon": 0.1}],
    }
    text, csv, as_json = (
        command(capsys, typed, ["run", "-", *more], json.dumps(few))[1]
        for more in ([], ["--csv"], ["--json"])
    )
    wording.found("none nothing published", text)
    assert "coverage" not in text
    assert "δ is" not in text
    table = pd.read_csv(io.StringIO(csv), comment="#")
    assert table["error"][0] == "nothing is published" and table["repeats"][0] == 4
    assert table.drop(columns=["error", "repeats"]).isna().all(axis=None)
    cell = json.loads(as_json)["cells"][0]
    assert cell.pop("published") is False
    assert {name for name, value in cell.items() if value is not None} == {"at", "repeats"}


def test_a_scenario_of_the_guide_is_run_as_the_pages_run_it():
    """Their data sets, releases and seed, so that page and command line have one number."""
    (text,) = re.findall(
        r'^\{"version": 1,\n[ ]"source".*?^[ ].*?\}$',
        (ROOT / "docs/guide/command_line.md").read_text("utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )[:1]
    assert scenario.from_json(text).run.is_study


def test_numbers_of_other_data_sets_than_those_of_the_pages_are_told_as_such(capsys, typed):
    study = {
        **changed("axes", {}),
        "source": {
            "key": "sparse_curves",
            "parameters": {"n_curves": 200, "n_observations_per_curve": 200},
        },
    }
    del study["repeats"], study["draws"]
    as_pages, of_its_own = (
        command(capsys, typed, ["run", "-", *more], json.dumps(study))[1]
        for more in ([], ["--repeats", "2"])
    )
    assert len(of_its_own.splitlines()) == len(as_pages.splitlines()) + 1


@pytest.mark.parametrize(
    ("arguments", "text", "words"),
    [
        (["run", "-"], "{", "not valid JSON"),
        (["run", "no-such-file.json"], "", "Cannot read"),
        (["run", "-", "--executor", "threads"], json.dumps(SCENARIO), "no executor 'threads'"),
        (["run", "-"], json.dumps(changed("budgets/0/delta", 0.0)), "δ must be above 0"),
        (["run", "-", "--repeats", "0"], json.dumps(SCENARIO), "repeats"),
    ],
)
def test_errors_go_to_stderr_in_one_line_with_exit_code_two(capsys, typed, arguments, text, words):
    code, out, err = command(capsys, typed, arguments, text)
    assert code == 2
    assert out == ""
    assert words in err
    assert len(err.strip().splitlines()) == 1


def test_list_describes_every_parameter(capsys, typed):
    _, out, _ = command(capsys, typed, ["list", "--json"])
    shelves = json.loads(out)
    assert {"sources", "mechanisms", "rates"} <= set(shelves)
    mean = next(m for m in shelves["mechanisms"] if m["key"] == "noisy_gradient_mean")
    step = next(p for p in mean["parameters"] if p["name"] == "step_size")
    assert (step["default"], step["range"], step["symbol"]) == (0.3, [0.01, 2.0], "ρ")
    assert step["default_when"] == {"scheme=split": 0.1}
    assert all(p["help"] for shelf in shelves.values() for m in shelf for p in m["parameters"])


def test_the_command_line_does_not_need_the_web_framework():
    code = (
        "import sys; from engine import __main__ as m; m.main(['list', '--json']); "
        "sys.exit('streamlit' in sys.modules or 'plotly' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


@pytest.mark.parametrize(
    "description",
    ["", "processes", "processes:0", "processes:x", "processes:513", "serial:2", "dask", "dask:9"],
)
def test_anything_but_serial_processes_and_a_cluster_is_refused(description):
    with pytest.raises(InputError, match=r"no executor.*serial, processes:N .*dask://HOST:PORT"):
        executors.make(description)


# -- provenance, resuming and limits -----------------------------------------------------------


def test_json_says_where_the_numbers_are_from_and_runs_again_to_the_same_digest(capsys, typed):
    _, out, _ = command(capsys, typed, ["run", "-", "--json"], json.dumps(SCENARIO))
    first = json.loads(out)
    origin = first["provenance"]
    assert (origin["engine"], origin["seed"], origin["executor"]) == (__version__, 1, "serial")
    _, out, _ = command(capsys, typed, ["run", "-", "--json"], json.dumps(origin["scenario"]))
    again = json.loads(out)
    assert again["provenance"] == origin
    assert again["cells"] == first["cells"]


def test_the_digest_names_the_question(capsys, typed):
    digests = set()
    for plain in (SCENARIO, changed("seed", 2), changed("axes/source.n_curves", [60])):
        _, out, _ = command(capsys, typed, ["run", "-", "--json"], json.dumps(plain))
        digests.add(json.loads(out)["provenance"]["digest"])
    assert len(digests) == 3


def test_csv_has_the_numbers_of_json_and_says_where_they_are_from(capsys, typed):
    _, out, _ = command(capsys, typed, ["run", "-", "--json"], json.dumps(SCENARIO))
    cells = json.loads(out)["cells"]
    _, out, _ = command(capsys, typed, ["run", "-", "--csv"], json.dumps(SCENARIO))
    comments = [line for line in out.splitlines() if line.startswith("# ")]
    assert [line.split()[1] for line in comments] == [
        "engine",
        "digest",
        "seed",
        "executor",
        "scenario",
    ]
    table = pd.read_csv(io.StringIO(out), comment="#")
    assert list(table["source.n_curves"]) == [60, 80, 60, 80]
    for kind in ("squared_total_error", "squared_privacy_error"):
        assert list(table[f"{kind}_mean"]) == [cell[kind]["mean"] for cell in cells]
        assert list(table[f"{kind}_se"]) == [cell[kind]["se"] for cell in cells]
    assert list(table["epsilon"]) == [cell["guarantee"][0]["epsilon"] for cell in cells]


def test_a_failed_cell_has_its_line_in_the_csv_file(capsys, typed):
    plain = changed("axes/source.n_curves", [40, 60])
    plain["mechanism"]["parameters"]["n_iterations"] = 50
    _, out, _ = command(capsys, typed, ["run", "-", "--csv"], json.dumps(plain))
    table = pd.read_csv(io.StringIO(out), comment="#")
    assert "need at least" in table["error"][0] and table["squared_total_error_mean"].isna()[0]
    assert table["error"].isna()[1] and table["squared_total_error_mean"][1] > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--limit-gigabytes", "0.0000001"], "GB of memory; the limit is 1e-07 GB"),
        (["--limit-minutes", "0.00000001"], "minutes more; the limit is 1e-08"),
        (["--limit-minutes", "0"], "must be above 0"),
        (["--executor", "dask://127.0.0.1:9"], "dask worker HOST:PORT"),
    ],
)
def test_a_limit_or_a_cluster_that_is_not_there_is_refused_in_one_line(
    capsys, monkeypatch, typed, arguments, words
):
    monkeypatch.setattr("engine.running.cluster._PATIENCE", 0.5)
    code, out, err = command(capsys, typed, ["run", "-", *arguments], json.dumps(SCENARIO))
    assert (code, out) == (2, "")
    assert words in err and len(err.strip().splitlines()) == 1


DIES = """
import os, signal, sys
from engine.__main__ import main
from engine.simulation.part_files import PartFiles
keep = PartFiles.__setitem__
def keep_five(files, key, part):
    keep(files, key, part)
    if len(list(files.folder.glob("*.part"))) == 5:
        os.kill(os.getpid(), signal.SIGKILL)
PartFiles.__setitem__ = keep_five
main(sys.argv[1:])
"""


@pytest.mark.slow
def test_a_run_that_was_killed_is_taken_up_with_the_same_numbers(capsys, typed, tmp_path):
    plain = {**changed("axes/source.n_curves", list(range(100, 500, 10))), "repeats": 4}
    file, kept = tmp_path / "scenario.json", tmp_path / "kept"
    file.write_text(json.dumps(plain))
    arguments = ["run", str(file), "--json", "--resume", str(kept)]
    killed = subprocess.run(
        [sys.executable, "-c", DIES, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL
    )
    assert killed.returncode == -signal.SIGKILL
    assert len(list(kept.glob("*.part"))) == 5
    _, out, _ = command(capsys, typed, arguments)
    assert json.loads(out)["cells"] == json.loads(command(capsys, typed, arguments[:3])[1])["cells"]
    assert len(list(kept.glob("*.part"))) == 40


def test_ctrl_c_stops_with_one_word(capsys, monkeypatch, typed):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("engine.commands.run.run_sweep", interrupted)
    assert command(capsys, typed, ["run", "-"], json.dumps(SCENARIO)) == (130, "", "stopped\n")
