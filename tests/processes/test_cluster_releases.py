"""Releases over a real scheduler with two workers: the bits of one process, and TLS beyond it."""

import os
import shutil
import signal
import subprocess

import pytest

from engine.core.errors import InputError
from engine.running import cluster, partitions
from tests import large
from tests.processes.test_cluster import patient, scheduler_and_workers, worker_ids
from tests.release.test_partitions import asked, by_person

__all__ = ["patient"]  # a fixture


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with scheduler_and_workers(tmp_path_factory.mktemp("cluster"), 2) as (address, _):
        yield address


def test_a_release_by_dask_workers_has_the_bits_of_one_process(address, tmp_path, monkeypatch):
    by_person(large.frame(), tmp_path)
    want, passes = large.messages(asked(tmp_path, None)), []
    victim = worker_ids(address)[0]
    usual = partitions.mapped

    def mapped(work, parts, executor, advance):
        passes.append(1)
        if len(passes) == 3:  # in the first rounds; the nanny starts another worker
            os.kill(victim, signal.SIGKILL)
        return usual(work, parts, executor, advance)

    monkeypatch.setattr("engine.uploads.partitioned_table.mapped", mapped)
    with partitions.make(f"dask://{address}") as workers:
        large.assert_same(large.messages(asked(tmp_path, workers)), want)
    assert len(passes) > 3


def test_real_data_leave_this_machine_by_tls_alone():
    for address in ("192.0.2.1:8786", "scheduler.example:8786", "[2001:db8::1]:8786"):
        with pytest.raises(InputError, match="TLS"):
            partitions.make(f"dask://{address}")
    for address in ("127.0.0.1:9", "localhost:9", "[::1]:9"):
        with pytest.raises(InputError, match="No Dask scheduler answers"):
            cluster.connect(address, is_private=True, patience=0.5)


def test_workers_on_other_machines_need_tls_behind_a_scheduler_on_this_one(address, monkeypatch):
    from distributed import Client

    monkeypatch.setattr(Client, "nthreads", lambda _: {"tcp://192.0.2.1:40000": 1})
    with pytest.raises(InputError, match="TLS"):
        partitions.make(f"dask://{address}")
    cluster.connect(address).shutdown()  # of simulated data anyone's worker will do


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made by openssl")
def test_a_release_by_tls_has_the_bits_of_one_process(tmp_path):
    import dask

    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(["openssl", "req", *options, *names, *files], check=True, capture_output=True)
    of = {"ca-file": str(certificate)} | {
        f"{role}.{kind}": str(path)
        for role in ("client", "scheduler", "worker")
        for kind, path in (("key", key), ("cert", certificate))
    }
    settings = {
        **{f"distributed.comm.tls.{name}": path for name, path in of.items()},
        "distributed.comm.require-encryption": True,
        "distributed.comm.default-scheme": "tls",
    }
    outside = {
        f"DASK_{name.replace('.', '__').replace('-', '_').upper()}": str(value)
        for name, value in settings.items()
    }
    by_person(large.frame(n=120), tmp_path)
    with (
        dask.config.set(settings),
        scheduler_and_workers(tmp_path, 2, **outside) as (address, _),
        partitions.make(f"dask://{address}") as workers,
    ):
        found = large.messages(asked(tmp_path, workers, epsilon=20.0))
    large.assert_same(found, large.messages(asked(tmp_path, None, epsilon=20.0)))
