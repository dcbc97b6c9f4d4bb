"""The job for NVFlare in its simulator, where NVFlare is installed: the same release as through a folder."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.release.ledger import Ledger
from engine.sites import centre, messages
from tests.site_runs import KEY, files_of, planned

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


@pytest.fixture
def network(tmp_path):
    """A folder for each client with its file, key and settings; the plan; and the environment."""
    pytest.importorskip("nvflare")
    plan = planned(key="noisy_gradient_mean", parameters={"n_iterations": 2}, people=(40, 30))
    shared = {"plan": "../plan.json", "key": "../all.key"}
    (tmp_path / "plan.json").write_bytes(plan.to_bytes())
    (tmp_path / "all.key").write_text(KEY.to_text())
    for text, member in zip(files_of(plan), plan.members, strict=True):
        place = tmp_path / member.name
        place.mkdir()
        (place / "heights.csv").write_text(text)
        (place / "site.json").write_text(json.dumps({
            **shared, "name": member.name, "file": "heights.csv", "ledger": "ledger.sqlite3",
            "sign_off": plan.fingerprint}))
    (tmp_path / "centre").mkdir()
    (tmp_path / "centre" / "centre.json").write_text(json.dumps({**shared, "out": "release"}))
    local = tmp_path / "workspace" / "local"  # what each hospital lets a job without code run
    local.mkdir(parents=True)
    (local / "resources.json").write_text(json.dumps({
        "format_version": 2, "class_allow_list": ["engine.sites.network"]}))
    environment = {**os.environ, "PYTHONPATH": str(ROOT),
                   "PRIVACY_CURVES_SITE": str(tmp_path / "{client}" / "site.json"),
                   "PRIVACY_CURVES_CENTRE": str(tmp_path / "centre" / "centre.json")}
    return plan, tmp_path, environment


def simulated(folder, environment):
    return subprocess.run(
        [sys.executable, "-m", "nvflare.cli", "simulator", str(ROOT / "deploy" / "nvflare"), "-w",
         str(folder / "workspace"), "-c", "north,south", "-n", "2", "-t", "2"],
        env=environment, capture_output=True, text=True, check=False, cwd=folder)


def test_the_job_makes_the_release_and_charges_every_ledger_once(network):
    plan, folder, environment = network
    done = simulated(folder, environment)
    release = folder / "centre" / "release"
    assert release.is_dir(), done.stdout[-3000:] + done.stderr[-3000:]
    protocol, received = centre.from_transcript((release / "transcript.json").read_text())
    heard = messages.checked(protocol, received, KEY)
    assert protocol.plan.digest == plan.digest and len(heard) == 4
    again = centre.all_files(protocol, centre.released(protocol, heard), received)
    assert {path.name: path.read_bytes() for path in release.iterdir()} == again
    for member in plan.members:
        book = Ledger(folder / member.name / "ledger.sqlite3")
        with book.log.reading() as log:
            kinds = [sealed.entry["kind"] for sealed in log.entries]
        assert kinds.count("release") == 1 and kinds.count("drawn") == 1
        assert kinds.count("part") == 3  # the order of the records, and two messages


def test_a_site_that_did_not_sign_off_this_plan_answers_nothing(network):
    plan, folder, environment = network
    path = folder / "south" / "site.json"
    path.write_text(path.read_text().replace(plan.fingerprint, "0" * 12))
    simulated(folder, environment)
    assert not (folder / "centre" / "release").exists()
    assert not (folder / "south" / "ledger.sqlite3").exists()
