"""Continuous integration runs pinned actions with few rights, and the same commands as people."""

import re
import shutil
import subprocess
import sys

import pytest
import yaml

from distribution import check_version
from tests.server import ROOT

FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}")


def workflow(file):
    return yaml.safe_load(file.read_text("utf-8"))


def jobs():
    return [(file.name, key, job) for file in FILES for key, job in workflow(file)["jobs"].items()]


def steps():
    return [(name, step) for name, _, job in jobs() for step in job["steps"]]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_workflow_has_no_rights_of_its_own_and_cancels_or_waits_for_older_runs(file):
    read = workflow(file)
    assert read["permissions"] == {}
    assert isinstance(read["concurrency"]["cancel-in-progress"], bool)


@pytest.mark.parametrize(("name", "key", "job"), jobs(), ids=lambda part: str(part)[:20])
def test_a_job_ends_in_time_reads_only_and_needs_jobs_that_exist(name, key, job):
    assert job["timeout-minutes"] <= 360
    rights = {right for right, how in job["permissions"].items() if how == "write"}
    allowed = {"release.yml": {"id-token", "attestations"}, "pages.yml": {"id-token", "pages"}}
    assert rights <= allowed.get(name, set())
    needed = job.get("needs", [])
    known = {other for file, other, _ in jobs() if file == name}
    assert ({needed} if isinstance(needed, str) else set(needed)) <= known


def test_every_action_is_pinned_by_its_commit_with_the_version_beside_it():
    for file in FILES:
        for line in re.findall(r"uses: (.+)", file.read_text("utf-8")):
            action, _, version = line.partition(" # ")
            assert PINNED.fullmatch(action) and re.fullmatch(r"v\d+\.\d+\.\d+", version), line


def test_one_action_has_one_version():
    used = {
        line.partition("@")
        for file in FILES
        for line in re.findall(r"uses: (\S+)", file.read_text("utf-8"))
    }
    assert len({action for action, _, _ in used}) == len(used)


def test_no_checkout_leaves_its_credentials_behind():
    checkouts = [step for _, step in steps() if "actions/checkout" in step.get("uses", "")]
    assert checkouts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_nothing_that_a_stranger_writes_is_put_into_a_command():
    for name, step in steps():
        assert "${{" not in step.get("run", ""), name


def test_commands_are_targets_and_files_of_the_project():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), flags=re.M))
    called = {
        target
        for _, step in steps()
        for target in re.findall(r"make ([a-z-]+)", step.get("run", ""))
    }
    assert (
        {"lint", "test", "site", "dist", "test-all", "audit", "links", "bench"} <= called <= targets
    )
    for _, step in steps():
        for path in re.findall(r"\b(?:tests|distribution)/\S+", step.get("run", "")):
            assert (ROOT / path).exists(), path


def test_hooks_before_a_commit_call_what_is_installed_here():
    read = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    hooks = [hook for repo in read["repos"] if repo["repo"] == "local" for hook in repo["hooks"]]
    for hook in hooks:
        command, *words = hook["entry"].split()
        assert command.startswith(".venv/bin/")
        assert all((ROOT / word).exists() for word in words if word.endswith(".py"))
    assert all("rev" in repo for repo in read["repos"] if repo["repo"] != "local")


# -- a version ------------------------------------------------------------------------------------


def test_the_tag_of_a_version_is_what_every_file_states():
    assert len(set(check_version.versions().values())) == 1
    version = check_version.versions()["pyproject.toml"]
    assert check_version.main(f"v{version}") == 0
    assert check_version.main(version) == 1


def test_a_file_of_another_version_stops_a_release(tmp_path):
    for name in check_version.versions():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    citation = tmp_path / "CITATION.cff"
    citation.write_text(re.sub(r"(?m)^version: .*", "version: 9.9.9", citation.read_text("utf-8")))
    assert check_version.versions(tmp_path)["CITATION.cff"] == "9.9.9"
    assert len(set(check_version.versions(tmp_path).values())) == 2


def test_what_another_project_writes_runs(tmp_path):
    """Its types are checked against the installed wheel, by the workflow."""
    (tmp_path / "privacy_curves.py").write_text("from engine.api import *\n")
    done = subprocess.run(
        [sys.executable, ROOT / "distribution" / "typed_example.py"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": ""},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()
