"""The code of docs/other_tools.md and docs/guide/from_r_and_julia.md runs as it stands there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from distribution.names import lay_out
from engine.core.types import Budget
from engine.mechanisms import mechanisms
from engine.release import files as release_files
from engine.release import published
from engine.release.ledger import Ledger
from engine.sources import sources
from tests.server import ROOT

pytestmark = pytest.mark.slow
BLOCKS = re.findall(
    r"```(python|r)\n(.*?)```",
    (ROOT / "docs" / "other_tools.md").read_text("utf-8"),
    flags=re.DOTALL,
)
FROM_R = re.findall(
    r"```r\n(.*?)```",
    (ROOT / "docs" / "guide" / "from_r_and_julia.md").read_text("utf-8"),
    flags=re.DOTALL,
)
SCENARIO = {
    "version": 1,
    "source": {"key": "sparse_curves", "parameters": {"n_curves": 60}},
    "mechanism": {"key": "adaptive_mean"},
    "budgets": [{"epsilon": 1.0, "delta": 0.001}],
    "repeats": 2,
}
PACKAGES = "quit(status = !all(c('reticulate', 'jsonlite') %in% rownames(installed.packages())))"


def code(language: str) -> list[str]:
    return [block for name, block in BLOCKS if name == language]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Where the package and its command are found, as if they were installed."""
    folder = tmp_path_factory.mktemp("installed")
    lay_out(ROOT, folder)
    command = folder / "privacy-curves"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m privacy_curves "$@"\n', "utf-8")
    command.chmod(0o755)
    return {
        **os.environ,
        "PYTHONPATH": str(folder),
        "RETICULATE_PYTHON": sys.executable,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
    }


def run(command: list[str], environment: dict[str, str], folder: Path) -> str:
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_measurement_of_opendp_runs(environment, tmp_path):
    (tmp_path / "opendp_example.py").write_text(code("python")[0], "utf-8")
    run([sys.executable, "opendp_example.py"], environment, tmp_path)


def test_the_test_with_the_attack_passes_and_with_half_the_noise_fails_as_told(
    environment, tmp_path
):
    theirs = code("python")[1]
    words = [sys.executable, "-m", "pytest", "-p", "privacy_curves.pytest_plugin", "test_theirs.py"]
    (tmp_path / "test_theirs.py").write_text(theirs, "utf-8")
    assert "1 passed" in run(words, environment, tmp_path)
    (tmp_path / "test_theirs.py").write_text(theirs.replace("scale=100", "scale=50"), "utf-8")
    failed = subprocess.run(
        [*words, "-rf"], env=environment, cwd=tmp_path, capture_output=True, encoding="utf-8"
    )
    stated = re.search(r"“(broken: [^”]*)”", (ROOT / "docs" / "other_tools.md").read_text("utf-8"))
    assert stated and stated[1] in failed.stdout, failed.stdout


@pytest.fixture(scope="module")
def _r() -> None:
    if shutil.which("Rscript") is None or subprocess.run(["Rscript", "-e", PACKAGES]).returncode:
        pytest.skip("needs R with reticulate and jsonlite")


def test_a_release_is_read_a_scenario_run_and_a_figure_sent_from_r(_r, environment, tmp_path):
    release = published.publish(
        sources.build("airport_temperature", {}),
        mechanisms.build("adaptive_mean", {}),
        Budget(1.0, 1e-6),
        Ledger(tmp_path / "ledger.sqlite3"),
        "days",
    )
    for name, content in release_files.all_files(release).items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "scenario.json").write_text(json.dumps(SCENARIO))
    blocks = [block for block in FROM_R if "htmltools" not in block]
    (tmp_path / "page.R").write_text("\n".join([*blocks, "stopifnot(nrow(errors) > 0)"]), "utf-8")
    assert "1" in run(["Rscript", "page.R"], environment, tmp_path)
    assert (tmp_path / "growth.html").stat().st_size > 100_000


@pytest.mark.parametrize("number", range(len(code("r"))))
def test_r_runs(number, _r, environment, tmp_path):
    (tmp_path / "vignette.R").write_text(code("r")[number], "utf-8")
    assert run(["Rscript", "vignette.R"], environment, tmp_path).strip()
