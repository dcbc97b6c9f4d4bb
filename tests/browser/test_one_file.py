"""One file in a real browser: from disk, from a plain file server, in frames, and without scripts."""

import functools
import http.server
import json
import re
import threading
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import expect

from engine.core.types import Budget
from engine.exports import one_card, one_file, sharing
from engine.mechanisms import mechanisms
from engine.sources import sources
from engine.topics.counting.answer import counting_answer
from engine.topics.mean.answer import mean_over_budgets
from tests.conftest import fewer_data_sets
from tests.few import FEW_DATA_SETS
from tests.sentences import of_topic

GOLDEN = Path(__file__).parents[1] / "golden"
CARD = (GOLDEN / "guarantee_2.json").read_bytes()
TABLE = (GOLDEN / "release_of_guarantee_2.csv").read_bytes()
wording = of_topic("mean")
PHONE = {"width": 390, "height": 844}
HOSTILE = "</script><img src=x onerror=document.title=1><script>document.title=1</script>"


def card_page(card, table):
    return one_card.of_files({"guarantee.json": card, "release.csv": table})


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files, as they would be put on any server."""
    folder = tmp_path_factory.mktemp("files")
    source, method = (
        sources.build("growth_curves", {"n_curves": 80}),
        mechanisms.build("adaptive_mean", {}),
    )
    events, counts = sources.build("event_times", {}), mechanisms.build("noisy_counts", {})
    with_few = fewer_data_sets(FEW_DATA_SETS)
    next(with_few)
    answer = mean_over_budgets(source, method, 1e-4, 1)
    survival = [counting_answer(events, counts, Budget(epsilon), 1) for epsilon in (0.5, 1.0)]
    for _ in with_few:
        pass
    hostile = json.loads(CARD)
    hostile["release"] |= {"what": HOSTILE, "of": HOSTILE, "credit": HOSTILE}
    hostile["accuracy"]["headline"] = HOSTILE
    for name in ("explained", "warnings"):
        hostile["accuracy"][name] = [HOSTILE]
    hostile["not_covered"] = [HOSTILE]
    hostile["unit_of_protection"] = HOSTILE
    hostile["mechanism"]["label"] = HOSTILE
    for name in ("value", "time"):
        hostile["bounds"][name] |= {"name": HOSTILE, "unit": HOSTILE}
    for name in ("person", "people", "value_name", "value_unit", "time_name", "time_unit"):
        hostile["answers"]["units"][name] = HOSTILE[:60]
    bare = json.loads(CARD)
    del bare["answers"]
    frame = pd.read_csv(GOLDEN / "release_of_guarantee_2.csv", comment="#")
    frame.columns = ["time", "value", "low", "high"]
    several = pd.concat([frame.assign(function=name) for name in ("one", "two")])
    alone = frame[["time", "value"]].to_csv(index=False).encode()
    bare_card = json.dumps(bare).encode()
    pages = {
        "several": card_page(bare_card, several.to_csv(index=False).encode()),
        "alone": card_page(bare_card, alone),
        "growth": one_file.of_mean(source, method, Budget(1.0, 1e-4), 1, answer),
        "survival": one_file.of_counting(events, counts, 1.0, 1, survival),
        "card": card_page(CARD, TABLE),
        "hostile": card_page(json.dumps(hostile).encode(), TABLE),
        "hosted": one_file.of_mean(
            source, method, Budget(1.0, 1e-4), 1, answer, home="https://example.org/growth.html"
        ),
        "lesson": sharing.of_lesson("2", 1),
    }
    for name, page in pages.items():
        (folder / f"{name}.html").write_bytes(page.html)
    (folder / "frame.html").write_text(
        f"<!doctype html><title>host</title>{pages['growth'].frame('growth.html#epsilon=1')}"
    )
    (folder / "notebook.html").write_text(
        f"<!doctype html><title>notebook</title>{pages['growth']._repr_html_()}"
    )
    return folder


@pytest.fixture(scope="module")
def address(folder):
    """A plain file server on this machine."""
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def opened(browser, folder, address):
    """Open a file from disk or over http; `page.asked` are its requests, `page.said` what it says."""
    contexts = []

    def opened(name, hash="", over="file", drawn=True, **context):
        chosen = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"} | context
        contexts.append(browser.new_context(**chosen))
        page = contexts[-1].new_page()
        page.asked, page.said = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        start = address if over == "http" else f"file://{folder}"
        page.goto(f"{start}/{name}.html{hash}")
        if drawn:
            page.locator("html[data-drawn]").wait_for(state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.mark.parametrize("over", ["file", "http"])
@pytest.mark.parametrize(
    "name", ["growth", "survival", "card", "several", "alone", "hostile", "lesson"]
)
def test_a_file_draws_itself_and_asks_for_nothing(opened, name, over):
    page = opened(name, over=over)
    expect(page.locator("#host svg").first).to_be_visible()
    page.wait_for_load_state("networkidle")  # what asks late, asks by then
    assert len(page.asked) == 1 and page.said == []


def test_a_hostile_card_is_text_and_runs_nothing(opened):
    page = opened("hostile")
    assert "onerror" in page.title() and page.title() != "1"
    assert page.locator("img").count() == 0 and page.locator("script").count() == 2


@pytest.mark.parametrize("name", ["growth", "card", "lesson"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_scrolls_down_alone_in_both_themes(opened, name, scheme):
    page = opened(name, viewport=PHONE, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert shade == {"light": "rgb(255, 255, 255)", "dark": "rgb(16, 20, 30)"}[scheme]
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != shade


@pytest.mark.parametrize("name", ["growth", "several", "alone", "lesson"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_automatic_checker_of_accessibility_finds_nothing(opened, name, scheme):
    found = Axe().run(opened(name, viewport=PHONE, color_scheme=scheme)).response["violations"]
    assert [(each["id"], each["nodes"][0]["target"]) for each in found] == []


def test_the_slider_moves_the_numbers_and_the_address_which_brings_them_back(opened):
    page = opened("growth")
    before = page.locator("#error").inner_text()
    page.locator("#e").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#error")).not_to_have_text(before)
    expect(page).to_have_url(re.compile("#epsilon="))
    epsilon = page.locator("#value").inner_text().removeprefix("ε = ")
    assert page.url.endswith(f"#epsilon={epsilon}")
    again = opened("growth", hash=f"#epsilon={epsilon}&view=nonsense&x=<b>")
    expect(again.locator("#value")).to_have_text(f"ε = {epsilon}")
    assert again.said == []


def test_a_curve_is_pulled_by_the_keyboard(opened):
    page = opened("growth")
    page.locator("#stage").focus()
    for _ in range(5):
        page.keyboard.press("ArrowUp")
    expect(page.locator("#sentence")).to_contain_text("moves the mean by")


def rounds(page):
    """Twenty rounds, always A: what was right, and what was said."""
    told = []
    for k in range(20):
        page.locator("#a").click()
        told.append(page.locator("#question").inner_text() + page.locator("#answer").inner_text())
        if k < 19:
            page.locator("#next").click()
    return told


def test_a_game_is_the_same_for_whoever_has_its_number(opened):
    one, two, other = (
        rounds(opened("growth", hash=f"#epsilon=1&view=attack&game={game}"))
        for game in (12345, 12345, 54321)
    )
    assert one == two != other


def test_the_number_of_a_game_stands_in_the_address(opened):
    page = opened("growth")
    page.locator("#attack").click()
    expect(page).to_have_url(re.compile(r"view=attack&game=\d+$"))
    page.locator("#leave").click()
    expect(page).not_to_have_url(re.compile("game"))


# The best attacker compares a release with the two means; over all games it wins as the bound allows.
ATTACK = """(games) => {
  const root = document.getElementById('host').shadowRoot, S = root.__figure;
  const address = window.location, wins = [];
  for (const game of games) {
    history.replaceState(null, '', `#epsilon=1&view=attack&game=${game}`);
    dispatchEvent(new Event('hashchange'));
    for (let k = 0; k < 20; k++) {
      const {release, half, secret} = S.game;
      const side = release.reduce((sum, y, i) => sum + y * half[i], 0) > 0 ? 0 : 1;
      wins.push(Number(side === secret));
      root.getElementById(side ? 'b' : 'a').click();
      if (k < 19) root.getElementById('next').click();
    }
  }
  return {share: wins.reduce((a, b) => a + b, 0) / wins.length, count: wins.length, bound: S.data.bound[S.picked.budget]};
}"""


def test_the_best_attacker_wins_no_more_games_than_the_bound_allows(opened):
    result = opened("growth").evaluate(ATTACK, list(range(200)))
    error = (0.25 / result["count"]) ** 0.5
    assert result["count"] == 4000
    assert result["share"] <= result["bound"] + 5 * error


def saved_card(page, kind, path):
    """Save the end card; return its sentences and its size in pixels."""
    with page.expect_download() as saved:
        page.locator(f"#card_{kind}").click()
    saved.value.save_as(path)
    if kind == "png":
        with Image.open(path) as image:
            return "", image.size
    root = ElementTree.parse(path).getroot()
    said = " ".join(text.text for text in root.findall("{http://www.w3.org/2000/svg}text"))
    return said, tuple(int(root.get(side)) for side in ("width", "height"))


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_finished_game_has_an_end_card_with_its_score_and_number(opened, kind, tmp_path):
    page = opened("growth", hash="#epsilon=1&view=attack&game=12345")
    expect(page.locator("#ending")).to_be_hidden()
    right = sum("right, it was" in told for told in rounds(page))
    said, size = saved_card(page, kind, tmp_path / "card")
    assert size == (1200, 630)
    if kind == "svg":
        bound = page.locator("#attacker").inner_text().removeprefix("≤ ")
        wording.found("end of game", said, right, 20, bound)
        assert "ε = 1 " in said and said.endswith("game 12345") and page.said == []


def test_a_pull_has_an_end_card_that_says_by_how_much_the_mean_moved(opened, tmp_path):
    page = opened("growth")
    page.locator("#stage").focus()
    expect(page.locator("#ending")).to_be_hidden()
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    shift, noise = re.findall(r"[\d.]+ cm", page.locator("#sentence").inner_text())
    said, _ = saved_card(page, "svg", tmp_path / "card")
    wording.found("end of pull", said, shift, noise)
    page.locator("#e").focus()
    page.keyboard.press("End")
    page.locator("#stage").focus()
    for _ in range(30):
        page.keyboard.press("ArrowUp")
    said, _ = saved_card(page, "svg", tmp_path / "card")
    wording.found("pull not hidden", said)
    page.locator("#stage").focus()
    page.keyboard.press("Escape")
    expect(page.locator("#ending")).to_be_hidden()


def test_an_end_card_names_the_address_of_a_file_that_has_one(opened, tmp_path):
    page = opened("hosted", hash="#epsilon=1&view=attack&game=7")
    rounds(page)
    said, _ = saved_card(page, "svg", tmp_path / "card")
    assert "https://example.org/growth.html#epsilon=1&view=attack&game=7" in said


def test_a_phone_shares_its_end_card_as_a_picture(opened):
    page = opened("growth", viewport=PHONE)
    page.evaluate(
        "window.shared = new Promise(done => Object.assign(navigator, {canShare: () => true,"
        " share: async ({files, text}) => done([files[0].type, text])})), 0"
    )
    page.locator("#stage").focus()
    page.keyboard.press("ArrowUp")
    page.locator("#card_share").click()
    kind, text = page.evaluate("window.shared")
    assert kind == "image/png" and "cm" in text


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_figure_is_saved(opened, kind, tmp_path):
    page = opened("growth")
    with page.expect_download() as saved:
        page.locator(f"#{kind}").click()
    saved.value.save_as(tmp_path / "figure")
    start = (tmp_path / "figure").read_bytes()[:4]
    assert start == {"svg": b"<svg", "png": b"\x89PNG"}[kind]


@pytest.mark.parametrize(("name", "content"), [("guarantee.json", CARD), ("release.csv", TABLE)])
def test_a_card_gives_both_of_its_files_back(opened, name, content, tmp_path):
    page = opened("card")
    expect(page.locator("#attack")).to_be_hidden()
    expect(page.locator("#e")).to_be_hidden()
    with page.expect_download() as saved:
        page.get_by_role("button", name=f"Save {name}").click()
    assert saved.value.suggested_filename == name
    saved.value.save_as(tmp_path / name)
    assert (tmp_path / name).read_bytes() == content


def test_one_of_several_curves_is_chosen_and_the_address_brings_it_back(opened):
    page = opened("several")
    title = page.locator("#main title")
    expect(title).to_contain_text(", one,")
    page.get_by_label("Curve", exact=True).select_option("two")
    expect(title).to_contain_text(", two,")
    again = opened("several", hash="#" + page.url.partition("#")[2])
    expect(again.locator("#main title")).to_contain_text(", two,")
    assert (
        again.get_by_label("Curve", exact=True).evaluate("box => box.selectedOptions[0].text")
        == "two"
    )
    again.locator("#theme").click()
    expect(again.locator("#main title")).to_contain_text(", two,")
    assert page.said == again.said == []


@pytest.mark.parametrize("name", ["growth", "card", "several", "alone"])
def test_every_button_in_sight_has_words_and_does_something(opened, name):
    page = opened(name, viewport=PHONE)
    expect(page.locator("#noise")).to_be_hidden()  # there is no server to draw it
    page.evaluate("document.getElementById('host').style.display = 'none'")
    page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
    page.evaluate("document.getElementById('host').style.display = ''")
    expect(page.locator("#main")).to_be_visible()
    for button in page.locator("button:visible").all():
        assert button.inner_text().strip()
    expect(page.locator("#noise")).to_be_hidden()


@pytest.mark.parametrize("name", ["survival", "several"])
def test_titles_of_axes_are_not_cut_off(opened, name):
    page = opened(name, viewport=PHONE)
    cut = page.evaluate("""() => [...document.getElementById('host').shadowRoot.querySelectorAll('#stage svg')].flatMap(svg => {
      const {top, bottom} = svg.getBoundingClientRect();
      return [...svg.querySelectorAll('text[transform]')].filter(text => {
        const box = text.getBoundingClientRect();
        return box.height && (box.top < top - 1 || box.bottom > bottom + 1);
      }).map(text => text.textContent);
    })""")
    assert cut == []


def test_nothing_is_pulled_where_nobody_is_drawn(opened):
    page = opened("survival")
    page.locator("#stage").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#main .plate")).to_be_visible()
    assert page.said == []


def test_without_scripts_the_numbers_stand_in_a_table(opened):
    page = opened("growth", drawn=False, java_script_enabled=False)
    expect(page.locator("#plain tbody tr")).to_have_count(24)
    expect(page.locator("#plain table")).to_be_visible()


def test_a_browser_that_cannot_unpack_shows_the_table(opened, browser, folder):
    context = browser.new_context()
    context.add_init_script("delete window.DecompressionStream")
    page = context.new_page()
    page.goto(f"file://{folder}/growth.html")
    expect(page.locator("#plain table")).to_be_visible()
    context.close()


@pytest.mark.parametrize("name", ["frame", "notebook"])
def test_a_frame_without_rights_draws_and_plays(opened, name):
    page = opened(name, over="http", drawn=False)
    inside = page.frame_locator("iframe")
    inside.locator("html.embedded[data-drawn]").wait_for(state="attached")
    inside.locator("#attack").click()
    expect(inside.locator("#question")).to_contain_text("Round 1 of 20")
    assert [text for text in page.said if "Refused" in text] == []


def test_a_lesson_reveals_and_reasons(opened):
    page = opened("lesson")
    expect(page.locator("#shown")).to_be_hidden()
    page.locator(".handle").first.focus()
    page.keyboard.press("ArrowUp")
    page.locator("#reveal").click()
    expect(page.locator("#shown")).to_be_visible()
    option = page.locator(".options button").first
    option.click()
    expect(page.locator("#why-1")).to_be_visible()
    assert option.get_attribute("aria-expanded") == "true" and page.said == []
