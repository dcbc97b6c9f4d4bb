"""First screens are short, and what counts them sees what a visitor sees."""

import pytest

from scripts import count_screens
from scripts.count_screens import HEIGHT, WIDTH, Screen, measure

PAGE = """<div data-testid=stApp data-test-script-state=notRunning data-test-connection-state=CONNECTED>
<nav>menu words</nav><main data-testid=stMain><h1>A title of five words</h1><p>12 % ε = 1</p>
<p hidden>never seen</p><p style="display: contents">as contents</p><button>Press me</button>
<div id=host></div><div role=tablist><a role=tab>A tab</a><a role=tab>Another</a></div>
<button data-explains>a fact</button><div data-testid=stTooltipIcon><button>?</button></div>
<div data-testid=stTooltipHoverTarget><button>With help</button></div><svg><text y=20>waves</text></svg><details><summary>More</summary><p>closed</p></details>
<p style="margin-top: 900px">below the edge <a href="#">link</a></p></main></div>
<script>document.querySelector('#host').attachShadow({mode: 'open'}).innerHTML =
  '<label>slider <input type=range></label>'</script>"""


def test_words_controls_and_folds_are_those_on_screen(open_app):
    page = open_app("about:blank", stands=False, viewport={"width": WIDTH, "height": HEIGHT})
    page.set_content(PAGE)
    screen = measure(page, "explore")
    # title 4, contents 2, button 2, slider, summary; tabs 2, fact 1, second button 2
    assert screen.words == (15, 4)
    # buttons 2, tabs, slider in the shadow, summary
    assert screen.controls == (5, 1)
    assert screen.folds == 1
    assert len(screen.banned) == 1 and "waves" in screen.banned[0]
    assert screen.excess() == [f"banned: {screen.banned[0]}"]


def test_a_screen_beyond_its_limits_is_told_by_how_much(capsys):
    long = Screen("explore", (71, 500), (11, 40), 3, (), ())
    assert long.excess() == [
        "71 words, at most 70",
        "11 controls, at most 10",
        "3 folds, at most 2",
    ]
    assert Screen("decide", (71, 500), (9, 40), 2, (), ()).excess() == []
    assert count_screens.report(iter([long])) == 1
    assert count_screens.report(iter([Screen("decide", (1, 0), (1, 0), 0, (), ())])) == 0
    assert "71 + 500" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("place", count_screens.places())
def test_the_first_screen_of_every_place_is_within_its_limits(server, open_app, place):
    page = open_app(f"{server.url}/{place}", viewport={"width": WIDTH, "height": HEIGHT})
    assert measure(page, place).excess() == []
