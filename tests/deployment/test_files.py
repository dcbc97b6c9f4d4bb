"""What the container files promise, read from them: no engine runs where these tests do."""

import base64
import hashlib
import re
from pathlib import Path

import pytest
import streamlit
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
    copied = re.findall(r"^COPY (\S+) ", DOCKERFILE, re.M)
    assert all((ROOT / name).exists() for name in copied)
    for name in ("app.py", "engine", "pages", "data", ".streamlit"):
        assert name in copied


def test_the_proxy_allows_the_scripts_inside_the_page_of_the_front_end_and_no_others():
    """By their digests, which change with the front end's version."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text("utf-8")
    inside = re.findall(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", page, re.S)
    digests = {base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in inside}
    policy = re.search(r'Security-Policy ".*?script-src ([^;]+);', PROXY).group(1)
    assert set(re.findall(r"'sha256-([^']+)'", policy)) == digests and "unsafe" not in policy
