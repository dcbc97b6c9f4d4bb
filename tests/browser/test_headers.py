"""What every answer tells a browser, and that the pages work under it."""

import functools
import http.server
import threading
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from pages.shared.places import PAGES
from pages.shared.server import headers
from tests.heavy import all_but
from tests.waiting import settle

PATHS = ["/", *("/" + script.removesuffix(".py") for _, script, _ in PAGES[1:])]
QUICK = ("/learn",)
# A library tries once whether numbers of 64 bits may be computed by machine code, and goes without.
WITHOUT = ("script-src", "wasm-eval")
RECORD = """window.refused = []; document.addEventListener('securitypolicyviolation',
  e => window.refused.push([e.effectiveDirective, e.blockedURI]))"""


def answer(server, path, method="GET"):
    connection = HTTPConnection(urlsplit(server.url).netloc)
    connection.request(method, path)
    got = connection.getresponse()
    got.read()
    connection.close()
    return got


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/plan",
        "/_stcore/health",
        "/_stcore/host-config",
        "/vendor/plotly.min.js",
        "/vendor/strip.js",
        "/favicon.png",
        "/no/such/page.js",
        "/component/none/index.html",
        "/_stcore/bidi-components/none/index.js",
        "/media/none.csv",
        "/..%2f..%2fetc/passwd",
    ],
)
def test_every_answer_carries_the_headers_once(server, path):
    got = answer(server, path)
    for name, value in headers.security().items():
        assert got.headers.get_all(name) == [value]


def test_a_refused_upload_carries_them_too(server):
    got = answer(server, "/_stcore/upload_file/nobody/file", "PUT")
    assert got.status == 403 and got.headers["X-Frame-Options"] == "DENY"


def test_nothing_comes_from_elsewhere_and_no_text_becomes_a_script():
    policy = headers.security()["Content-Security-Policy"]
    directives = dict(part.split(" ", 1) for part in policy.split("; "))
    assert directives["default-src"] == directives["frame-ancestors"] == "'none'"
    assert not {"*", "http:", "https:", "'unsafe-eval'"} & set(policy.replace(";", "").split())
    assert "unsafe" not in directives["script-src"]
    assert directives["script-src"].count("'sha256-") == 1  # the one script inside the page


@pytest.mark.slow
@pytest.mark.parametrize("path", all_but([path for path in PATHS if path not in QUICK], PATHS))
def test_a_page_with_all_its_folds_open_is_refused_nothing(open_app, server, path):
    page = open_app(server.url + (path if path != "/" else "/?s=open-attacker"), script=RECORD)
    folds = page.locator("[data-testid=stExpander] details:not([open]) > summary")
    for _ in range(folds.count()):
        folds.first.click()
        settle(page)
    refused = [what for what in page.evaluate("window.refused") if tuple(what) != WITHOUT]
    assert not refused and not page.problems


@pytest.mark.slow
def test_letters_formulas_and_charts_are_drawn(open_app, server):
    page = open_app(server.url + "/rates?s=open-rate_formula")
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    page.locator(".katex").first.wait_for(state="attached")
    assert page.evaluate("[...document.fonts].some(font => font.status === 'loaded')")
    assert page.evaluate("document.querySelector('[data-testid=stHeaderLogo]').naturalWidth") > 0


def test_a_script_that_got_into_the_page_does_not_run(open_app, server):
    page = open_app(server.url + "/learn")
    page.evaluate("""() => { const script = document.createElement('script');
      script.textContent = 'window.ran = 1'; document.body.append(script);
      document.body.insertAdjacentHTML('beforeend', '<img src=none onerror="window.ran = 2">') }""")
    settle(page)
    assert page.evaluate("window.ran") is None
    assert any("Content Security Policy" in problem for problem in page.problems)


def test_another_site_cannot_show_the_dashboard_in_a_frame(open_app, server, tmp_path):
    (tmp_path / "index.html").write_text(f"<iframe src='{server.url}/learn'></iframe>")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        page = open_app(f"http://127.0.0.1:{other.server_port}/", stands=False)
        page.wait_for_function("() => document.readyState === 'complete'")
        assert any("frame" in problem for problem in page.problems)
        other.shutdown()
