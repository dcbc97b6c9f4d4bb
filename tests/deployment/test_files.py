"""What the container files promise, read from them: no engine runs where these tests do."""

import re

import pytest
import yaml

from tests.server import ROOT

COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))
PROXY = (ROOT / "deploy" / "nginx.conf").read_text("utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")


@pytest.mark.parametrize("name", ["dashboard", "proxy"])
def test_every_service_is_closed_in(name):
    service = COMPOSE["services"][name]
    assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["mem_limit"] == service["memswap_limit"] and service["pids_limit"] <= 256
    assert int(service["user"].split(":")[0]) >= 10_000
    assert all("noexec" in mount for mount in service["tmpfs"])
    assert "privileged" not in service and "cap_add" not in service


def test_only_the_proxy_can_be_reached_and_the_dashboard_reaches_nothing_outside():
    services = COMPOSE["services"]
    assert "ports" not in services["dashboard"]
    assert services["dashboard"]["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"]["internal"] is True
    mounts = services["proxy"]["volumes"]
    assert all(mount.endswith(":ro") for mount in mounts)


def test_the_image_runs_as_nobody_in_particular_and_copies_no_secrets():
    assert re.search(r"^USER 10001:10001$", DOCKERFILE, re.M)
    assert "secrets.toml" in (ROOT / ".dockerignore").read_text("utf-8")
    assert COMPOSE["services"]["dashboard"]["user"] == "10001:10001"


def test_the_files_of_the_image_are_all_there_is_to_run():
    copied = [
        name for names in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.M) for name in names.split()
    ]
    assert all((ROOT / name).exists() for name in copied)
    for name in ("app.py", "engine", "reproductions", "pages", "data", ".streamlit"):
        assert name in copied


def test_the_image_says_what_it_is_and_takes_only_packages_with_the_stated_digests():
    labels = dict(re.findall(r'org\.opencontainers\.image\.(\w+)="([^"]*)"', DOCKERFILE))
    assert labels["licenses"] == "MIT" and labels["version"] == "${VERSION}"
    assert {"title", "description", "revision", "source"} <= labels.keys()
    assert "--require-hashes" in DOCKERFILE and "http" not in DOCKERFILE.split("HEALTHCHECK")[0]


def test_the_documents_and_dockerfile_take_the_same_rights_away():
    for text in ((ROOT / "docs" / "security.md").read_text("utf-8"), DOCKERFILE):
        command = text.partition("docker run ")[2].partition(" -v ")[0]
        for option in (
            "--read-only",
            "--tmpfs /tmp",
            "--cap-drop ALL",
            "--security-opt no-new-privileges",
        ):
            assert option in command


def test_the_proxy_leaves_the_policy_to_the_dashboard():
    assert "script-src" not in PROXY and "sha256-" not in PROXY
    for name in (
        "Content-Security-Policy",
        "X-Frame-Options",
        "X-Content-Type-Options",
        "Referrer-Policy",
    ):
        assert f"add_header {name} $" in PROXY
