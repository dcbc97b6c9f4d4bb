"""Behind `deploy/nginx.conf`: headers, limits, the websocket, and a page that still works."""

from __future__ import annotations

import ssl

import pytest

from tests.hostile.uploads import brings
from tests.load.visitor import Visitor, request
from tests.waiting import finished

pytestmark = pytest.mark.slow
POLICY = {"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"}


def get(url, path="/", method="GET", body=None, headers=None):
    return request(url, method, path, body, headers)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/plan",
        "/_stcore/health",
        "/vendor/plotly.min.js",
        "/vendor/strip.js",
        "/no/such/page.js",
        "/_stcore/metrics",
    ],
)
def test_every_answer_carries_the_headers_even_a_refusal(proxied, path):
    _, headers, _ = get(proxied[0], path)
    for name in (
        "Content-Security-Policy",
        "X-Frame-Options",
        "X-Content-Type-Options",
        "Referrer-Policy",
        "Strict-Transport-Security",
    ):
        assert len(headers.get_all(name)) == 1
    policy = {part.strip() for part in headers["Content-Security-Policy"].split(";")}
    assert policy >= POLICY and not any("http" in part or "*" in part for part in policy)
    assert "unsafe-eval" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "max-age=31536000" in headers["Strict-Transport-Security"]
    assert headers["Server"] == "nginx"  # without a version, and no word of what is behind


def test_plain_requests_are_sent_to_the_encrypted_address(proxied):
    status, headers, _ = get(proxied[1], "/plan?s=epsilon-2")
    assert status == 301
    assert headers["Location"].startswith("https://127.0.0.1")
    assert headers["Location"].endswith("/plan?s=epsilon-2")


def test_what_the_server_says_of_itself_is_not_for_visitors(proxied):
    assert get(proxied[0], "/_stcore/metrics")[0] == 404
    assert get(proxied[0], "/_stcore/health")[::2] == (200, b"ok")


def test_a_file_over_the_limit_is_refused_by_the_proxy_before_it_reaches_the_dashboard(proxied):
    body = b"x" * 21_500_000
    try:
        status, headers, _ = get(proxied[0], "/_stcore/upload_file/a/b", "PUT", body)
    except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
        return  # refused so early that not all of it was taken
    assert status == 413 and headers["Server"] == "nginx"


def test_other_bodies_are_held_small(proxied):
    assert get(proxied[0], "/", "POST", b"x" * 100_000)[0] == 413


def test_a_visitor_reaches_the_page_and_uploads_through_the_websocket(proxied):
    from tests import files

    async def visit():
        async with Visitor(proxied[0]) as visitor:
            await brings(visitor, "heights.csv", files.csv())
            assert "12 children" in visitor.words and not visitor.faults

    finished(visit())


@pytest.mark.browser
@pytest.mark.parametrize("path", ["/?s=open-accuracy", "/rates", "/sites"])
def test_pages_work_under_the_policy_without_a_complaint_of_the_browser(proxied, open_app, path):
    page = open_app(proxied[0] + path, ignore_https_errors=True)
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    if path.startswith("/?"):
        slider = page.locator("input[type=range]").first
        slider.focus()
        slider.press("ArrowLeft")
        page.wait_for_url("**epsilon-**")
    blocked = [problem for problem in page.problems if "Content Security Policy" in problem]
    assert not blocked and not page.problems
