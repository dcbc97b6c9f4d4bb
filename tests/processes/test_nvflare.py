"""The job for NVFlare, where it is installed: in its simulator, and between a server and three clients.

They are all on this machine, and listen on its loopback interface alone.
"""

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from engine.release.ledger import Ledger
from engine.sites import centre
from tests.site_runs import KEY, RING, agreed, files_of, study
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


@pytest.fixture
def network(tmp_path):
    return parties(tmp_path, (40, 30))


def parties(folder, people):
    """A folder for each client with its file, key and settings; the plan; and the environment."""
    pytest.importorskip("nvflare")
    parties, _ = agreed(
        study(key="noisy_gradient_mean", parameters={"n_iterations": 2}, people=people), folder
    )
    plan = parties[0].plan
    shared = {"plan": "../plan.json", "key": "../all.key"}
    (folder / "plan.json").write_bytes(plan.to_bytes())
    (folder / "all.key").write_text(KEY.to_text())
    for text, party in zip(files_of(plan.study), parties, strict=True):
        place = folder / party.name
        place.mkdir()
        party.store.path.rename(place / "ledger.sqlite3.offers")
        (place / "heights.csv").write_text(text)
        (place / "site.json").write_text(
            json.dumps(
                {**shared, "name": party.name, "file": "heights.csv", "ledger": "ledger.sqlite3"}
            )
        )
    (folder / "centre").mkdir()
    (folder / "centre" / "centre.json").write_text(json.dumps({**shared, "out": "release"}))
    (folder / "workspace" / "local").mkdir(parents=True)
    allow(folder / "workspace" / "local")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder),
        "NVFLARE_POC_WORKSPACE": str(folder / "poc"),
        "PRIVACY_CURVES_SITE": str(folder / "{client}" / "site.json"),
        "PRIVACY_CURVES_CENTRE": str(folder / "centre" / "centre.json"),
    }
    return plan, folder, environment


def allow(local):
    """What a hospital lets a job without code run: the two classes of the installed program."""
    path = local / "resources.json"
    default = local / "resources.json.default"
    stated = next(
        (json.loads(file.read_text()) for file in (path, default) if file.exists()),
        {"format_version": 2},
    )
    path.write_text(
        json.dumps(
            {
                **stated,
                "class_allow_list": [*stated.get("class_allow_list", []), "engine.sites.network"],
            }
        )
    )


def simulated(folder, environment):
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "nvflare.cli",
            "simulator",
            str(ROOT / "deploy" / "nvflare"),
            "-w",
            str(folder / "workspace"),
            "-c",
            "north,south",
            "-n",
            "2",
            "-t",
            "2",
        ],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )


def check(plan, folder, n_messages):
    """The release follows from the transcript to the last bit, and every ledger was charged once."""
    release = folder / "centre" / "release"
    run = centre.from_transcript((release / "transcript.json").read_text())
    heard = run.checked(RING)
    assert run.plan.digest == plan.digest and len(heard) == n_messages
    again = centre.all_files(run, centre.released(run, heard))
    assert {path.name: path.read_bytes() for path in release.iterdir()} == again
    for member in plan.study.members:
        book = Ledger(folder / member.name / "ledger.sqlite3")
        with book.log.reading() as log:
            kinds = [sealed.entry["kind"] for sealed in log.entries]
        assert kinds.count("release") == 1 and kinds.count("drawn") == 1
        assert kinds.count("part") == 3  # the order of the records, and two messages


def test_the_job_makes_the_release_and_charges_every_ledger_once(network):
    plan, folder, environment = network
    done = simulated(folder, environment)
    assert (folder / "centre" / "release").is_dir(), done.stdout[-3000:] + done.stderr[-3000:]
    check(plan, folder, 4)


def test_a_site_that_did_not_sign_off_this_plan_answers_nothing(network):
    _, folder, environment = network
    with sqlite3.connect(folder / "south" / "ledger.sqlite3.offers") as kept:
        kept.execute("UPDATE offers SET sign_off = X''")
    simulated(folder, environment)
    assert not (folder / "centre" / "release").exists()
    assert not any((folder / name / "ledger.sqlite3").exists() for name in ("north", "south"))


def test_a_hospital_that_did_not_allow_the_program_runs_nothing(network):
    _, folder, environment = network
    (folder / "workspace" / "local" / "resources.json").unlink()
    done = simulated(folder, environment)
    assert "not in allow_list" in done.stdout + done.stderr
    assert not (folder / "centre" / "release").exists()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def started(place, role, name, environment):
    """A server or a client of NVFlare, as its own start script runs it."""
    module, told = {
        "server": ("server.server_train", "fed_server.json"),
        "client": ("client.client_train", "fed_client.json"),
    }[role]
    told = [
        sys.executable,
        "-u",
        "-m",
        f"nvflare.private.fed.app.{module}",
        "-m",
        str(place),
        "-s",
        told,
        "--set",
        "secure_train=true",
        "org=nvidia",
        "config_folder=config",
    ]
    return subprocess.Popen(
        [*told, *([f"uid={name}"] if role == "client" else [])],
        env=environment,
        stdout=(place / "said").open("w"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


@pytest.mark.network
@pytest.mark.filterwarnings("ignore")
def test_a_server_and_three_clients_with_mutual_tls_make_the_release(tmp_path, monkeypatch):
    """Each is a process; they know each other by certificates, and meet on the loopback interface."""
    plan, folder, environment = parties(tmp_path, (40, 30, 50))
    names = [member.name for member in plan.study.members]
    subprocess.run(
        [sys.executable, "-m", "nvflare.cli", "poc", "prepare", "-c", *names],
        env=environment,
        check=True,
        capture_output=True,
    )
    kits, port = folder / "poc" / "example_project" / "prod_00", free_port()
    for path in kits.glob("*/startup/fed_*.json"):
        path.write_text(
            path.read_text()
            .replace("server:8002", f"localhost:{port}")
            .replace("localhost:8002", f"localhost:{port}")
            .replace('"admin_port": 8002', f'"admin_port": {port}')
            .replace('"port": 8002', f'"port": {port}')
        )
    for name in ("server", *names):
        allow(kits / name / "local")
        (kits / name / "transfer").mkdir(exist_ok=True)
    running = [
        started(kits / name, "server" if name == "server" else "client", name, environment)
        for name in ("server", *names)
    ]
    try:
        from nvflare.fuel.flare_api.flare_api import new_secure_session

        # What is submitted is signed where it lies, so a copy is.
        signed = shutil.copytree(ROOT / "deploy" / "nvflare", tmp_path / "job")
        session = new_secure_session(
            "admin@nvidia.com", str(kits / "admin@nvidia.com"), timeout=PATIENCE
        )
        try:
            wait_for_clients(session, len(names))
            listening = subprocess.run(["ss", "-ltnH"], capture_output=True, text=True, check=False)
            assert f"0.0.0.0:{port}" not in listening.stdout
            job = session.submit_job(str(signed))
            session.monitor_job(job, timeout=PATIENCE)
        finally:
            session.close()
        log = "".join((kits / name / "said").read_text()[-2000:] for name in ("server", *names))
        assert (folder / "centre" / "release").is_dir(), log
        check(plan, folder, 6)
    finally:
        for process in running:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_for_clients(session, number):
    """All clients are registered with the server."""
    until(lambda: len(session.get_system_info().client_info) == number)
