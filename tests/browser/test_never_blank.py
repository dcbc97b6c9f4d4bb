"""While a page computes, the last answer stays in its place, and one bar says what comes."""

import pytest

from tests.waiting import settle

# Collect, every 50 ms: how many answers stand, the bar's words, and the height of the page.
COLLECT = """answer => { window.__seen = []; window.__clock = setInterval(() => window.__seen.push([
  document.querySelectorAll(answer).length,
  document.querySelector('.st-key-waiting [data-testid=stProgress]')?.textContent ?? '',
  document.querySelector('[data-testid=stMainBlockContainer]').scrollHeight]), 50) }"""
SEEN = "() => { clearInterval(window.__clock); return window.__seen }"
MOST_PIXELS = 60  # by which the page may grow or shrink meanwhile


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "answer", "field", "value", "is_named"),
    [
        (
            "/decide?s=c-sparse_curves~c.n_observations_per_curve-6~target-1",
            "[class*=st-key-option_]",
            "People at each site",
            "320",
            True,
        ),
        ("/lab?s=estimand-regression", ".js-plotly-plot", None, None, False),
        ("/lab?s=estimand-survival", ".js-plotly-plot", None, None, False),
        (
            "/lab?s=c-sparse_curves~c.n_observations_per_curve-6~open-options",
            ".st-key-chart_mean_curve .js-plotly-plot",
            "People (n)",
            "320",
            True,
        ),
        ("/learn?s=lesson-2~open-seed", ".st-key-lesson_picture", "Seed", "7", False),
    ],
    ids=["decide", "regression", "survival", "mean", "lesson"],
)
def test_no_answer_leaves_its_place_before_the_next_one_is_there(
    server, open_app, address, answer, field, value, is_named
):
    page = open_app(server.url + address)
    assert page.locator(answer).count() > 0
    height = page.evaluate(
        "document.querySelector('[data-testid=stMainBlockContainer]').scrollHeight"
    )
    page.evaluate(COLLECT, answer)
    if field:
        box = page.locator(f"input[aria-label='{field}']")
        box.fill(value)
        box.press("Enter")
    else:
        page.get_by_role("slider").first.press("ArrowRight")
    page.locator("[data-stale=true]").first.wait_for(state="attached")
    settle(page)
    seen = page.evaluate(SEEN)
    assert all(count for count, _, _ in seen)
    assert all(abs(tall - height) <= MOST_PIXELS for _, _, tall in seen)
    if is_named:
        assert any(value in words for _, words, _ in seen)
