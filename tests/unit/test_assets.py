"""Files of the front end out of memory, and plotly.js without what no chart has."""

from __future__ import annotations

import base64
import gzip
import json
import re
import tomllib
from pathlib import Path

import pytest
import streamlit

from engine.core import palette
from engine.core.packed import unpack
from pages.shared.places import EARLIER, PAGES
from pages.shared.server import first_picture, plotly_script
from pages.shared.server.assets import CHART, CONNECT, FIRST, PLOTLY, Assets, FromMemory
from tests.waiting import finished

ROOT = Path(__file__).parents[2]
FRONT_END = Path(streamlit.__file__).parent / "static"
SCRIPT = """var R1=W((a,b)=>{"use strict";b.exports=R2()});var R2=W((a,b)=>{b.exports={moduleType:"trace",name:"bar"}});
var S1=W((a,b)=>{"use strict";b.exports=S2()});var S2=W((a,b)=>{b.exports={moduleType:"trace",name:"globe"}});
var T1=W(()=>{core.register([R1(),S1()]);});"""


@pytest.fixture(scope="module")
def assets():
    return Assets()


def asked(path, method="GET", held=None, **headers):
    """Status, headers and body of the answer; the framework is an application that knows nothing."""
    sent = []

    async def framework(scope, receive, send):
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "headers": [
            (name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()
        ],
    }
    finished(FromMemory(framework, held)(scope, None, send))
    return (
        sent[0]["status"],
        {k.decode(): v.decode() for k, v in sent[0]["headers"]},
        sent[1]["body"],
    )


def a_script():
    return next((FRONT_END / "static" / "js").glob("BidiComponent.*.js"))


def test_a_file_is_the_one_on_the_disk_and_a_browser_keeps_it():
    path = a_script()
    status, headers, body = asked(f"/static/js/{path.name}")
    assert (status, body) == (200, path.read_bytes())
    assert "immutable" in headers["cache-control"] and "javascript" in headers["content-type"]
    assert asked(f"/static/js/{path.name}", "HEAD")[2] == b""
    assert asked(f"/static/js/{path.name}", if_none_match=headers["etag"])[::2] == (304, b"")


def test_a_compressed_file_is_sent_to_those_who_accept_it(assets):
    name = f"/static/js/{a_script().name}"
    assets.find(name).pack()
    _, headers, body = asked(name, held=assets, accept_encoding="gzip, br")
    assert headers["content-encoding"] == "gzip" and headers["content-length"] == str(len(body))
    assert gzip.decompress(body) == a_script().read_bytes() and headers["vary"] == "Accept-Encoding"
    assert asked(name, held=assets)[2] == a_script().read_bytes()


@pytest.mark.parametrize(
    "path",
    [
        "/_stcore/health",
        "/static/js/none.js",
        "/static/../index.html",
        "/static/js/../../index.html",
        "/vendor/../app.py",
        "/media/x",
    ],
)
def test_everything_else_is_left_to_the_framework(path):
    assert asked(path)[0] == 404


def test_files_and_pages_are_found_below_a_base_path_and_not_beside_it(options):
    options["server.baseUrlPath"] = "clinic/dash"
    for path in ("/", "/lab", PLOTLY, f"/static/js/{a_script().name}"):
        assert asked(f"/clinic/dash{path}")[0] == 200 and asked(path)[0] == 404


def test_what_is_sent_to_the_server_is_left_to_the_framework():
    assert asked("/", "POST")[0] == 404


@pytest.mark.parametrize(
    "place", ["", *(script.removesuffix(".py") for _, script, _ in PAGES), *EARLIER]
)
def test_every_address_has_a_page_that_names_files_which_are_there(assets, place):
    page = assets.find(f"/{place}").content.decode()
    named = re.findall(r'(?:href|src)="\.(/(?:static|vendor)/[^"]+)"', page)
    assert len(named) == len(set(named)) > 60
    assert all(assets.find(name) is not None for name in named)
    assert page.index(CONNECT) < page.index('type="module"')
    has_charts = (EARLIER[place].page if place in EARLIER else place) in ("lab", "decide")
    assert (PLOTLY in page) == (CHART in page) == has_charts
    assert "BidiComponent" in page


def test_the_front_page_names_the_script_of_its_picture_unless_an_address_chooses_something():
    assets = Assets()
    assert assets.find(FIRST) is None and FIRST not in assets.find("/").content.decode()
    assets.draw_first(b"draw()")
    assert assets.find(FIRST).content == b"draw()"
    for path in ("/", "/explore"):
        assert FIRST in assets.find(path).content.decode()
        assert FIRST not in assets.find(path, "s=e-2").content.decode()
    assert FIRST not in assets.find("/lab").content.decode()


def test_the_script_of_the_first_picture_has_every_variable_of_both_themes():
    sent = {"curves": {"title": "</script>", "tag": "1"}}
    script = first_picture.script(sent).decode()
    first = json.loads(re.search(r"^const FIRST = (.*);$", script, re.MULTILINE).group(1))
    needed = set(re.findall(r"var\(--st-([\w-]+)", first["css"] + script))
    assert needed <= first["light"].keys() == first["dark"].keys()
    assert first["light"]["text-color"] != first["dark"]["text-color"]
    assert (FRONT_END / first["font"]).is_file()
    assert unpack(base64.b64decode(first["packed"])) == sent


def test_the_page_around_a_drawing_has_the_colours_of_the_theme():
    theme = tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))["theme"]
    for name in palette.THEMES:
        variables = palette.page_variables(name, "serif")
        colours = {key: value for key, value in variables.items() if key.endswith("color")}
        assert len(colours) == 7
        for key, colour in colours.items():
            first, *rest = key.split("-")
            assert theme[name][first + "".join(map(str.capitalize, rest))] == colour
        assert variables["base-radius"] == theme["baseRadius"]
        assert variables["button-radius"] == theme["buttonRadius"]


def test_other_kinds_of_traces_are_not_called_and_the_rest_is_as_it_was():
    light = plotly_script.light(SCRIPT, frozenset({"bar"}))
    assert light == SCRIPT.replace("R1(),S1()", "R1()")


@pytest.mark.parametrize(
    "script", ["", SCRIPT.replace("register", "enter"), SCRIPT.replace('"bar"', '"rod"')]
)
def test_a_script_that_is_written_otherwise_stays_as_it_is(script):
    assert plotly_script.light(script, frozenset({"bar"})) == script


def test_the_installed_script_registers_the_kinds_of_our_charts_alone():
    light = plotly_script.light(plotly_script.installed())
    registered = re.findall(r"\.register\(\[([\w$(),]+)\]\)", light)
    assert [names.count("()") for names in registered] == [len(plotly_script.KINDS)]


def test_every_kind_of_trace_that_the_engine_draws_is_registered():
    types = set()
    for path in (Path(plotly_script.__file__).parents[3] / "engine").rglob("*.py"):
        types |= set(
            re.findall(
                r'"type": "(\w+)",\s+"(?:x|y|z|mode|orientation|name)"', path.read_text("utf-8")
            )
        )
    assert {"scatter", "bar"} <= types <= plotly_script.KINDS | {"scatter"}, json.dumps(
        sorted(types)
    )
