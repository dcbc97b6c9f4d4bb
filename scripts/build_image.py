"""Build the image of the Dockerfile as root, with buildah and without a container engine.

    python3 scripts/build_image.py                          # base from a registry
    python3 scripts/build_image.py --base python@sha256:…   # base by its digest
    python3 scripts/build_image.py --stand-in               # base from Debian's packages
    python3 scripts/build_image.py --push NAME --sign KEY   # send to a registry, sign by digest

The packages of requirements.txt are fetched here, as pip on this machine is told to, and handed to
the build, which needs no network of its own and checks their digests. The files are those of the
working tree; the revision is marked where they differ from the last commit.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STAND_IN = "localhost/privacy-curves-base:3.11"
SUITE = "bookworm"  # Debian 12, whose python3 is 3.11
PIP = "/tmp/.config/pip"  # where pip of the image finds its settings while it is built
NEEDED = {"buildah": "buildah", "debootstrap": "debootstrap", "cosign": "cosign, of sigstore"}


def main() -> int:
    wishes = _wishes()
    try:
        _require("buildah", *["debootstrap"] * wishes.stand_in, *["cosign"] * bool(wishes.sign))
        if wishes.stand_in:
            make_stand_in(wishes.mirror or nearest_mirror())
        with tempfile.TemporaryDirectory() as folder:
            packages = Path(folder)
            fetch_packages(packages)
            build(wishes, packages)
        if wishes.push:
            send(wishes.tag, wishes.push, wishes.sign)
    except subprocess.CalledProcessError as error:
        print(f"{error.cmd[0]} failed; its message is above.", file=sys.stderr)
        return 1
    return 0


def _wishes() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Build the image without a container engine.")
    parser.add_argument("--tag", default="localhost/privacy-curves", help="name of the image")
    parser.add_argument("--base", help="another base, best with its digest: python@sha256:…")
    parser.add_argument(
        "--stand-in",
        action="store_true",
        help="make the base from Debian's packages, where no registry is reached",
    )
    parser.add_argument("--mirror", help="where these come from; usually as on this machine")
    parser.add_argument("--source", default="unknown", help="address of the sources, for the label")
    parser.add_argument("--push", metavar="NAME", help="send the image to a registry")
    parser.add_argument("--sign", metavar="KEY", help="sign what was sent, with a key of cosign")
    wishes = parser.parse_args()
    if wishes.sign and not wishes.push:
        parser.error("--sign needs --push: a signature stands beside the image in its registry")
    if wishes.base and wishes.stand_in:
        parser.error("--base and --stand-in are two bases: choose one")
    if wishes.stand_in:
        wishes.base = STAND_IN
    return wishes


def _require(*tools: str) -> None:
    missing = [NEEDED[tool] for tool in tools if not shutil.which(tool)]
    if missing:
        sys.exit(f"Not installed: {', '.join(missing)}.")


# -- the base --------------------------------------------------------------------------------


def nearest_mirror() -> str:
    """Mirror from which apt on this machine takes Debian's packages."""
    if shutil.which("apt-get"):
        sites = _output(
            "apt-get",
            "indextargets",
            "--format",
            "$(SITE)",
            "Created-By: Packages",
            f"Codename: {SUITE}",
        ).split()
        if sites:
            return sites[0]
    sys.exit(f"No mirror of Debian {SUITE} is known here: name one with --mirror.")


def make_stand_in(mirror: str) -> None:
    """A base like the usual one: Debian with `python` and `pip`, and no package but those."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        root.mkdir()
        _run(
            "debootstrap",
            "--variant=minbase",
            "--include=python3,python3-pip,ca-certificates",
            SUITE,
            str(root),
            mirror,
            stdout=subprocess.DEVNULL,
        )
        for mark in root.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
            mark.unlink()  # nobody but pip adds packages to this Python
        (root / "usr/local/bin/python").symlink_to("/usr/bin/python3")
        shutil.rmtree(root / "var/cache/apt/archives")
        container = _output("buildah", "from", "scratch").strip()
        try:
            _run("buildah", "add", "--quiet", container, str(root), "/", stdout=subprocess.DEVNULL)
            _run("buildah", "commit", "--quiet", container, STAND_IN, stdout=subprocess.DEVNULL)
        finally:
            _run("buildah", "rm", container, stdout=subprocess.DEVNULL)


# -- the image -------------------------------------------------------------------------------


def fetch_packages(folder: Path) -> None:
    """The packages for the Python of the image, with the settings of pip in there."""
    _run(
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--require-hashes",
        "--only-binary",
        ":all:",
        "--python-version",
        "3.11",
        "--dest",
        str(folder / "packages"),
        "-r",
        str(ROOT / "requirements.txt"),
    )
    (folder / "pip.conf").write_text(
        f"[global]\nno-index = true\nfind-links = {PIP}/packages\n", "utf-8"
    )


def build(wishes: argparse.Namespace, packages: Path) -> None:
    """Each step in a changed root, which needs neither an engine nor a kernel's name spaces."""
    said = {"VERSION": version(), "REVISION": revision(), "SOURCE": wishes.source}
    if wishes.base:
        said["BASE"] = wishes.base
    _run(
        "buildah",
        "build",
        "--isolation",
        "chroot",
        "--layers=false",
        "--pull=missing",
        "--format",
        "docker",  # the other format has no health check
        "--volume",
        f"{packages}:{PIP}:ro",
        "--tag",
        wishes.tag,
        *[f"--build-arg={name}={value}" for name, value in said.items()],
        str(ROOT),
    )


def version() -> str:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]


def revision() -> str:
    """The commit, marked if the tree differs from it."""
    try:
        commit = _output("git", "-C", str(ROOT), "rev-parse", "HEAD").strip()
        return commit + "-changed" * bool(_output("git", "-C", str(ROOT), "status", "--porcelain"))
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


# -- sending and signing ---------------------------------------------------------------------


def send(tag: str, name: str, key: str | None) -> None:
    """Push the image; sign the digest that was sent, since a name can be given to others."""
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as digest:
        _run("buildah", "push", "--digestfile", digest.name, tag, f"docker://{name}")
        sent = f"{_without_tag(name)}@{digest.read().strip()}"
    print(f"Sent: {sent}")
    if key:
        _run("cosign", "sign", "--yes", "--key", key, sent)


def _without_tag(name: str) -> str:
    folder, slash, last = name.rpartition("/")  # a host before it may have a port
    return folder + slash + last.partition(":")[0]


def _run(*command: str, stdout: int | None = None) -> None:
    subprocess.run(command, check=True, stdout=stdout)


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


if __name__ == "__main__":
    sys.exit(main())
