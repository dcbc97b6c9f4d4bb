"""What is installed: exact files, known licences, and a bill that lists them all."""

import json
import os
import re
import subprocess
import sys

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts import bill_of_materials as supply
from tests.server import ROOT

LISTS = ("requirements.txt", "tests/requirements.txt", "scripts/requirements.txt")


def pins(name):
    """Each package of a list with its pin and its digests."""
    text = (ROOT / name).read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    return {
        line.split("==")[0]: (
            line.partition(" --hash")[0].strip(),
            re.findall(r"--hash=sha256:([0-9a-f]{64})", line),
        )
        for line in lines
    }


@pytest.mark.parametrize("name", LISTS)
def test_every_package_is_pinned_with_digests_and_no_place_to_get_it_from(name):
    for pin, digests in pins(name).values():
        assert re.match(r"[a-z0-9-]+==[^ ;=]+( ; .+)?$", pin) and digests
    assert not re.search(
        r"https?:|--(extra-)?index-url|--find-links|file:", (ROOT / name).read_text("utf-8")
    )


def test_compiled_packages_have_digests_for_several_systems_and_versions():
    assert all(
        len(pins("requirements.txt")[name][1]) > 15 for name in ("numpy", "pandas", "pyarrow")
    )


def test_pins_hold_what_pyproject_asks_for_and_the_lists_agree():
    pinned = {
        name: pin.split("==")[1].split()[0] for name, (pin, _) in pins("requirements.txt").items()
    }
    project = supply.tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for wanted in map(Requirement, project["dependencies"]):
        assert wanted.specifier.contains(pinned[canonicalize_name(wanted.name)])
    for name, (pin, _) in pins("tests/requirements.txt").items():
        assert pin.split("==")[1].split()[0] == pinned.get(name, pin.split("==")[1].split()[0])


def test_every_package_of_the_list_stands_with_its_licence_in_list_and_bill():
    packages = supply.packages()
    assert packages.keys() == pins("requirements.txt").keys()
    rows = dict(
        re.findall(
            r"^\| ([a-z0-9-]+ \| \S+) \| (\S.*) \|$", supply.LICENCES.read_text("utf-8"), re.M
        )
    )
    assert set(rows) == {f"{name} | {version}" for name, version in packages.items()}
    bill = json.loads(supply.BILL.read_text("utf-8"))
    assert {each["name"]: each["version"] for each in bill["components"]} == packages
    assert all(each["licenses"] for each in bill["components"])


@pytest.mark.skipif(sys.platform == "darwin", reason="not every package is installed there")
def test_list_and_bill_are_what_the_command_writes():
    assert supply.licences() == supply.LICENCES.read_text("utf-8")
    assert supply.bill() == supply.BILL.read_text("utf-8")


def test_a_bill_names_only_what_is_in_it():
    bill = json.loads(supply.bill())
    known = {each["bom-ref"] for each in bill["components"]}
    assert len(known) == len(bill["components"])
    for each in bill["dependencies"]:
        assert set(each["dependsOn"]) <= known
    named = {ref for each in bill["dependencies"] for ref in each["dependsOn"]}
    assert named == known  # nothing is installed that nothing needs


def test_a_package_without_a_known_licence_stops_the_list(monkeypatch):
    monkeypatch.delitem(supply.READ, "scipy")
    with pytest.raises(LookupError, match="scipy states no licence"):
        supply.licence("scipy")


@pytest.fixture
def tools(tmp_path):
    """Stand-ins that write down how they were called; `buildah` also says what digest it sent."""
    log = tmp_path / "log"
    for name in ("buildah", "cosign", "debootstrap"):
        tool = tmp_path / "bin" / name
        tool.parent.mkdir(exist_ok=True)
        tool.write_text(
            f'#!/bin/sh\necho {name} "$@" >> {log}\n'
            '[ "$1" = push ] && printf sha256:12ab > "$3" || true\n'
        )
        tool.chmod(0o755)

    def calls(*words):
        code = (
            "import sys; sys.path.insert(0, sys.argv.pop(1)); from scripts import build_image as b;"
            "b.fetch_packages = lambda folder: None; sys.exit(b.main())"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(ROOT), *words],
            cwd=ROOT,
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}"},
        )
        return done, log.read_text() if log.exists() else ""

    return calls


def test_an_image_is_signed_by_the_digest_that_was_sent(tools):
    done, log = tools(
        "--base", "python@sha256:cd", "--push", "example/curves:1", "--sign", "my.key"
    )
    assert done.returncode == 0, done.stderr
    built, sent, signed = log.splitlines()
    assert "--isolation chroot" in built and "--build-arg=BASE=python@sha256:cd" in built
    assert sent.endswith("docker://example/curves:1")
    assert signed == "cosign sign --yes --key my.key example/curves@sha256:12ab"


def test_a_signature_needs_a_place_and_two_bases_are_refused(tools):
    for words in (["--sign", "my.key"], ["--stand-in", "--base", "python"]):
        done, log = tools(*words)
        assert done.returncode == 2 and "Traceback" not in done.stderr and not log
