"""The page that publishes: nothing without real data and a name; every release counts."""

import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from engine.core.types import Budget
from engine.language import odds_words
from engine.language.numbers import at_most_percent
from engine.privacy import risk
from engine.privacy.failure import usual_delta
from engine.release import ledger, published
from engine.release.files import archive, numbers_csv
from engine.sources import sources
from engine.uploads.facts import declare
from pages.shared.server import visitors
from pages.shared.state import settings
from tests import files
from tests.alarms import without_alarm
from tests.ledgers import charges, spent
from tests.pages import opening
from tests.pages.opening import open_page, upload_of, visit
from tests.pages.reading import components, strip, words
from tests.sentences import of_topic

wording = of_topic("release")

REAL = "c-sea_temperature"
SEA = sources.build("sea_temperature", {})


@pytest.fixture(autouse=True)
def _own_ledger(tmp_path, monkeypatch):
    monkeypatch.setenv(ledger.VARIABLE, str(tmp_path / "ledger.sqlite3"))


def release_page(token=REAL):
    return visit("release", token)


def open_release(source):
    """The page with one's own curves and a quick method."""
    at = open_page("m-bernstein", upload=source, show_upload=True)
    return release_step(at.switch_page("../publish.py").run())


def release_step(at, step="release"):
    """Go to a step, as a line of its predecessor or *Next* does."""
    at.session_state["settings"] = replace(at.session_state["settings"], publish_step=step)
    at.session_state["changed"] = True
    return at.run()


def ledger_of(at):
    """The page with the ledger in its drawer."""
    at.button(key="wizard_ledger").click().run()
    return at


def spend(at, epsilon):
    """Another ε, which is chosen in the preview."""
    release_step(at, "preview").text_input(key="w_release_epsilon").set_value(str(epsilon)).run()
    return release_step(at)


@pytest.mark.parametrize(("text", "epsilon"), [("0,5", 0.5), ("2.5", 2.5), ("1", 1.0)])
def test_a_budget_may_be_typed_with_a_comma_or_a_point(text, epsilon):
    at = release_step(release_page(), "preview")
    at.text_input(key="w_release_epsilon").set_value(text).run()
    assert at.session_state["settings"].epsilon == epsilon
    assert at.text_input(key="w_release_epsilon").value == f"{epsilon:g}"


def test_what_is_no_number_is_no_budget_and_the_last_one_counts():
    at = release_step(release_page(), "preview")
    before = at.session_state["settings"].epsilon
    at.text_input(key="w_release_epsilon").set_value("abc").run()
    assert at.session_state["settings"].epsilon == before
    assert f"Until then {before:g} counts" in at.error[0].value
    assert at.button(key="wizard_next").disabled


def test_a_budget_that_was_refused_stands_in_its_field_and_leads_nowhere_until_it_is_put_right():
    at = release_step(release_page(), "preview")
    budget, onward = at.text_input(key="w_release_epsilon"), at.button(key="wizard_next")
    before = budget.value
    budget.set_value("20")
    onward.click().run()  # at once, as who types and presses
    assert at.session_state["settings"].publish_step == "preview"
    assert at.text_input(key="w_release_epsilon").value == "20" and at.error
    assert at.button(key="wizard_next").disabled
    at.text_input(key="w_release_epsilon").set_value(str(before)).run()
    assert not at.error
    at.button(key="wizard_next").click().run()
    assert at.session_state["settings"].publish_step == "release"


def test_results_of_an_earlier_budget_are_hidden_while_another_one_is_refused():
    at = release_step(release_page(), "preview")
    wording.found("root mean squared", words(at))
    assert strip(at).error and strip(at).odds
    at.text_input(key="w_release_epsilon").set_value("0.01").run()
    wording.missing("root mean squared", words(at))
    assert not strip(at).error and not strip(at).odds
    assert not any("Beyond" in error.value for error in at.error)  # it is too small
    at.text_input(key="w_release_epsilon").set_value("1").run()
    wording.found("root mean squared", words(at))
    assert strip(at).error


def test_a_budget_beyond_what_is_left_is_refused_where_it_is_chosen():
    at = release_step(
        open_release(
            own_curves("".join(f"{k},{t},{20 + k % 9 + t}\n" for k in range(80) for t in (1, 3, 4)))
        ),
        "preview",
    )
    at.text_input(key="w_release_epsilon").set_value("2").run()
    publish(release_step(at), "first")
    del at.session_state["released"]  # as in another visit
    release_step(at, "preview")
    wording.found("children less left", [error.value for error in at.error], 80, 80)
    assert at.button(key="wizard_next").disabled
    at.text_input(key="w_release_epsilon").set_value("1").run()
    assert not [error.value for error in at.error] and not at.button(key="wizard_next").disabled


def test_a_budget_that_was_refused_is_forgotten_with_its_field():
    at = release_step(release_page(), "preview")
    before = at.text_input(key="w_release_epsilon").value
    at.text_input(key="w_release_epsilon").set_value("20").run()
    at = release_step(
        at.switch_page("../decide.py").run().switch_page("../publish.py").run(), "preview"
    )
    assert at.text_input(key="w_release_epsilon").value == before and not at.error


def publish_what(at, what):
    release_step(at, "data").selectbox(key="w_release_what").set_value(what).run()
    return release_step(at)


def fill(at, name):
    """What can be ticked, and a name."""
    for box in at.checkbox:
        box.check()
    at.text_input(
        key=next(w.key for w in at.text_input if w.key.startswith("release_name"))
    ).set_value(name)
    return at.run()


def publish(at, name):
    fill(at, name)
    at.button(key="release_publish").click().run()
    assert not at.exception
    return at


def test_the_way_on_is_in_sight_before_it_is_open_and_the_later_steps_are_named():
    at = visit("publish", "", show_upload=True)
    assert at.button(key="wizard_next").disabled
    wording.found("preview simulated data", words(at))
    assert not visit("publish", f"{REAL}~step-data").button(key="wizard_next").disabled


def test_the_first_release_has_a_proposed_name_and_the_next_one_waits_for_one():
    at = release_page()
    assert "To publish:" not in words(at)
    at.button(key="release_publish").click().run()
    assert f"Released: average-curve-{date.today()}" in [h.value for h in at.header]
    assert at.button(key="release_publish").disabled
    wording.found("publish name release", words(at))


def test_a_name_typed_just_before_the_press_is_the_one_that_is_published():
    at = release_page()
    at.text_input(key="release_name_0").set_value("hurried")
    at.button(key="release_publish").click().run()
    assert "Released: hurried" in [h.value for h in at.header]


def test_a_proposed_name_is_free():
    publish(release_page(), f"average-curve-{date.today()}")
    at = spend(release_page(), 2.0)
    at.button(key="release_publish").click().run()
    assert f"Released: average-curve-{date.today()}-2" in [h.value for h in at.header]


def test_after_a_release_its_result_is_what_the_page_is_about():
    at = publish(release_page(), "first of two")
    assert "3 Released" in [header.value for header in at.header]
    assert "Another release" in [box.label for box in at.expander]
    assert "Confirm and release" not in [header.value for header in at.subheader]


def test_simulated_curves_cannot_be_published():
    at = release_page("")
    assert "1 Data" in [header.value for header in at.header]  # where there is something to choose
    assert not [b for b in at.button if b.key == "release_publish"]


@pytest.mark.parametrize("earlier", ["file", "bounds", "trust"])
def test_addresses_of_steps_without_a_file_lead_to_the_data(earlier):
    at = visit("publish", f"{REAL}~step-{earlier}")
    assert "1 Data" in [header.value for header in at.header] and not at.error


def test_a_first_release_says_that_nobody_is_known():
    wording.found("nobody file known", words(release_page()))


def test_a_demonstration_that_others_may_reach_publishes_nothing(monkeypatch):
    at = release_page()
    for box in at.checkbox:
        box.check()
    at.text_input(
        key=next(w.key for w in at.text_input if w.key.startswith("release_name"))
    ).set_value("growth").run()
    monkeypatch.setenv(visitors.UPLOADS_NAME, "off")
    at.button(key="release_publish").click().run()
    wording.found("nothing published", words(at))
    assert not [b for b in at.button if b.key == "release_publish"]
    assert not ledger.Ledger().entries()


def left_in(text):
    """ε that is left for the person with least, of a total of 3."""
    return float(re.search(r"Left for the person with least: \*\*ε = ([\d.]+) of 3\*\*", text)[1])


def test_a_release_is_shown_charged_and_given_away():
    at = publish(release_page(), "sea 1")
    assert "Released: sea 1" in [h.value for h in at.header]
    assert 2 <= left_in(words(at)) < 3
    wording.found("spent one year", words(ledger_of(at)))
    assert at.button(key="release_publish").disabled


def test_the_odds_stand_before_the_confirmation_and_again_in_the_guarantee():
    at = release_page(f"{REAL}~step-preview")
    cost = published.release_cost(
        SEA, settings.Settings().mechanism, Budget(1.0, usual_delta(SEA.sizes.n_curves))
    )
    odds = risk.of_ledger(cost.certified_spends)
    sentence = odds_words.odds_main(odds, "year", "curve")
    assert words(at).count(sentence) == 1
    publish(release_step(at), "sea 2")
    at.session_state["fold_release_card"] = True
    at.run()
    assert words(at).count(sentence) == 1 and not at.error
    assert at_most_percent(odds.right) in words(at)
    (command,) = [code.value for code in at.code if "engine release" in code.value]
    assert "\n" not in command and "again.json" in command  # settings are in their file


def test_the_strip_of_a_release_has_odds_and_error_of_what_would_be_published():
    shown = strip(release_page())
    assert re.search(r"5\d", shown.odds)
    assert re.match(r"[\d.]+ °C", shown.error) and shown.chip.startswith("ε = 1")


@pytest.mark.parametrize("token", [REAL, f"{REAL}~d-ages_at_death~publish-density"])
def test_the_strip_and_the_preview_say_one_error(token):
    at = release_page(f"{token}~step-preview")
    error, within = re.match(r"([\d.]+(?: °C)?) \(95 %: ([\d.]+)\)", strip(at).error).groups()
    wording.found("error", words(at), error)
    assert f"below {within}" in words(at)


@pytest.mark.parametrize(
    "fold", ["release_formula", "release_cost", "release_code", "why", "several"]
)
def test_each_fold_of_a_release_opens(fold):
    at = release_page(f"{REAL}~open-{fold}")
    assert not at.error


def test_a_link_brings_back_what_is_to_be_published():
    at = release_page(f"{REAL}~d-ages_at_death")
    release_step(at, "data").selectbox(key="w_release_what").set_value("density").run()
    token = "".join(at.query_params["s"])
    assert "publish-density" in token
    again = visit("publish", token)
    assert (
        "Ages at death" in again.selectbox(key="w_release_source_density").value and not again.error
    )


def test_the_total_is_not_overrun_and_nothing_is_shown_then():
    at = spend(release_page(), 2.9)
    publish(at, "first")
    wording.found("less left release", words(at))
    assert not at.error
    assert not at.checkbox and "After one more" not in words(at)  # said before anything is ticked
    assert [entry.name for entry in ledger.Ledger().entries()] == ["first"]


def test_a_name_that_another_release_has_is_refused_as_soon_as_it_is_typed():
    at = publish(release_page(), "once")
    fill(at, "once")  # the same release: it is shown again and costs nothing
    assert not at.error and not at.button(key="release_publish").disabled
    at = fill(spend(at, 1.5), "once")
    wording.found("name already", " ".join(error.value for error in at.error))
    assert at.button(key="release_publish").disabled


def csv_of(at):
    return numbers_csv(at.session_state["released"][0])


def test_the_same_release_under_the_same_name_is_the_same_and_charged_once():
    at = publish(release_page(), "once")
    first = csv_of(at)
    assert csv_of(publish(at, "once")) == first
    assert csv_of(publish(release_page(), "once")) == first  # in another visit, too
    assert spent(ledger.Ledger(), SEA) == 1.0


def test_an_earlier_release_is_shown_again_from_the_ledger_at_no_charge():
    first = csv_of(publish(release_page(), "sea 1"))
    at = ledger_of(release_page())
    assert not [header for header in at.header if header.value.startswith("Released")]
    at.button(key="release_again").click().run()
    assert "Released: sea 1" in [header.value for header in at.header] and csv_of(at) == first
    assert spent(ledger.Ledger(), SEA) == 1.0


def test_after_a_reload_the_ledger_shows_releases_again_before_any_data_are_chosen():
    first = csv_of(publish(release_page(), "kept"))
    at = visit("publish", "")
    at.button(key="wizard_ledger").click().run()
    assert "Released: kept" not in [h.value for h in at.header]
    at.button(key="release_again_all").click().run()
    assert "Released: kept" in [h.value for h in at.header] and not at.exception
    assert csv_of(at) == first


def test_published_files_can_be_checked_before_any_data_are_chosen():
    release = publish(release_page(), "kept").session_state["released"][0]
    at = visit("publish", "open-release_check")
    at.file_uploader(key="check_files").upload(
        "release.zip", archive(release), "application/zip"
    ).run()
    wording.found("released", [box.value for box in at.success])
    assert not at.error


def test_a_charge_that_a_kill_left_is_shown_and_drawn_with_the_same_settings_alone(monkeypatch):
    class Killed(BaseException):
        pass

    def killed(*_):
        raise Killed

    mechanism, delta = settings.Settings().mechanism, usual_delta(SEA.sizes.n_curves)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(published.certified, "hardened", killed)
        published.publish(SEA, mechanism, Budget(1.0, delta), ledger.Ledger(), "cut off")
    at = release_page()
    wording.found("cut off charged", at.warning[0].value)
    button = next(b.key for b in at.button if b.key.startswith("release_draw_"))
    spend(at, 1.5)
    assert button not in [b.key for b in at.button]
    spend(at, 1.0)
    at.button(key=button).click().run()
    assert "Released: cut off" in [header.value for header in at.header] and not at.exception
    assert charges(ledger.Ledger(), SEA) == [("cut off", "drawn")]
    assert spent(ledger.Ledger(), SEA) == 1.0


@pytest.mark.slow
def test_what_is_left_is_shown_on_other_pages_with_the_same_data():
    publish(release_page(), "one")
    assert 2 <= left_in(words(open_page(REAL))) < 3
    assert "Left for" not in words(open_page())  # simulated


def test_a_method_without_hardened_noise_is_refused_with_the_reason():
    at = release_page(f"{REAL}~m-frl~m.noise-norm")
    wording.found("hardened sampler noise", at.error[0].value)
    assert "Adaptive mean" in words(at)  # what can be published instead


@pytest.mark.parametrize("what", ["density", "univariate_mean"])
def test_other_summaries_can_be_published(what):
    at = publish_what(release_page(f"{REAL}~d-ages_at_death"), what)
    assert not at.exception
    assert not at.error
    publish(at, "another one")
    assert "Released: another one" in [h.value for h in at.header]


def test_a_page_on_a_broken_ledger_says_so_and_publishes_nothing(tmp_path, monkeypatch):
    broken = tmp_path / "broken.sqlite3"
    broken.write_text("this is no database, and long enough to be read as one " * 40)
    monkeypatch.setenv(ledger.VARIABLE, str(broken))
    at = open_page(REAL)
    wording.found("ledger read", words(at))
    at = release_page()
    assert "ledger" in " ".join(error.value for error in at.error)


def test_a_copy_of_data_that_were_published_is_charged_to_the_same_total():
    """A child dropped: noticed before anything is spent, and charged to the same total."""
    rows = "".join(f"{k},{t},{20 + 3 * np.sin(k) + t:.2f}\n" for k in range(80) for t in (1, 3, 4))
    mine = own_curves(rows)
    copy = own_curves("".join(row for row in rows.splitlines(True) if not row.startswith("7,")))
    publish(open_release(mine), "growth")
    at = open_release(copy)
    wording.found("left person least", words(at))
    assert not at.radio
    fill(at, "again")
    at.button(key="release_publish").click().run()
    assert not at.exception
    wording.found("spent one child", words(ledger_of(at)))
    assert charges(ledger.Ledger(), copy) == [("growth", "drawn"), ("again", "drawn")]
    assert spent(ledger.Ledger(), copy) == spent(ledger.Ledger(), mine) == 2.0


def test_people_without_budget_can_be_left_out():
    """Nobody is left out unasked; the card says so, and asking again gives the same release."""

    def rows(first, last):
        return "".join(
            f"{k},{t},{20 + 3 * np.sin(k) + t:.2f}\n" for k in range(first, last) for t in (1, 3, 4)
        )

    publish(spend(open_release(own_curves(rows(0, 10))), 2.5), "ten of them")
    everybody = own_curves(rows(0, 80))
    at = release_step(open_release(everybody), "preview")
    wording.found("children less left", at.error[0].value, 10, 80)
    at.checkbox(key="w_release_without").check().run()
    assert not at.error and not at.button(key="wizard_next").disabled
    at = publish(release_step(at), "the others")
    (release,) = at.session_state["released"]
    assert release.card["exhausted"] == "left out" and release.sizes.n_curves == 70
    assert ledger.Ledger().standing(everybody) == {2.0: 70, 0.5: 10}
    at = fill(at, "the others")  # the same once more costs nothing
    assert not at.error and not at.button(key="release_publish").disabled
    at.checkbox(key="w_release_without").uncheck().run()
    wording.found("children less left", words(at), 10, 80)


def test_a_result_says_first_how_far_off_it_may_be():
    at = without_alarm(
        lambda k: publish(release_page(), f"sea {k}"),  # the total allows two or three
        lambda at: at.session_state["released"][0].uncertainty.verdict == "doubtful",
    )
    wording.found("level trend", words(at))
    wording.found("simultaneous confidence band", words(at))
    wording.found("steeply curve start", words(at))


def test_an_edited_ledger_publishes_nothing_and_says_what_to_do():
    publish(release_page(), "sea")
    with closing(sqlite3.connect(ledger.path_of())) as file:
        file.execute("UPDATE log SET entry = replace(entry, '1000000000', '1')")
        file.commit()
    at = release_page()
    errors = " ".join(error.value for error in at.error)
    wording.found("changed other means", errors)
    assert "newest copy" in errors
    assert not [b for b in at.button if b.key == "release_publish" and not b.disabled]


def own_curves(rows):
    return upload_of(
        f"id,time,value\n{rows}",
        declare(0.0, 100.0, 0.0, 5.0, "a manual", person="child", people="children", **files.EVEN),
    )


def test_ones_own_curves_are_published_and_counted_wherever_they_are_shown():
    mine = own_curves("".join(f"{k},{t},{20 + k % 9 + t}\n" for k in range(80) for t in (1, 3, 4)))
    state = {"upload": mine, "show_upload": True}
    at = open_page("m-bernstein", **state)
    wording.found("nobody file known", words(at))
    release_step(at.switch_page("../publish.py").run())
    assert "a manual" in words(at)
    publish(at, "growth")
    assert left_in(words(at)) == left_in(words(open_page(**state))) >= 2


def test_settings_for_a_larger_table_are_offered_of_ones_own_file_before_anything_is_charged():
    rows = "".join(f"{k},{t},{20 + k % 9 + t}\n" for k in range(80) for t in (1, 3, 4))
    mine, public = open_release(own_curves(rows)), release_step(release_page())
    offered = ["release_settings" in str(at.get("download_button")) for at in (mine, public)]
    assert offered == [True, False] and not mine.exception
    assert not ledger.Ledger().entries()


def test_nothing_on_the_page_of_a_release_calls_itself_not_private():
    at = open_release(
        own_curves("".join(f"{k},{t},{20 + k % 9 + t}\n" for k in range(80) for t in (1, 3, 4)))
    )
    before = strip(at).chips[0]
    publish(at, "growth")
    after = strip(at).chips[0]
    assert "not private" not in before + after and before != after and "80 children" in after


def grouped_curves():
    """400 girls, 570 boys and 30 children in neither group."""
    rows = "".join(
        f"{k},{t},{20 + k % 9 + t},{'girls' if k < 400 else 'boys' if k < 970 else ''}\n"
        for k in range(1000)
        for t in (1, 3, 4)
    )
    return upload_of(
        f"id,time,value,sex\n{rows}",
        declare(0.0, 100.0, 0.0, 5.0, "a manual", person="child", people="children", **files.EVEN),
        groups=("girls", "boys"),
        group="sex",
    )


def test_public_groups_of_a_file_are_published_each_on_its_own_and_compared():
    at = visit("publish", "step-release", upload=grouped_curves(), show_upload=True)
    wording.found("group own", words(at))
    wording.found("group left out", words(at))
    publish(at, "heights")
    girls, boys = at.session_state["released"]
    assert [one.sizes.n_curves for one in (girls, boys)] == [400, 570]
    assert girls.facts.group.is_apart_from(boys.facts.group)
    assert {"Released: heights, girls", "Released: heights, boys"} <= {h.value for h in at.header}
    wording.found("budgets add", words(at))
    assert not at.error
    for name in ("girls", "boys"):
        assert spent(ledger.Ledger(), grouped_curves().of_group(name)) == 1.0


def test_every_page_says_the_same_of_what_is_left_for_each_group():
    state = {"upload": grouped_curves(), "show_upload": True}
    at = visit("publish", "step-release", **state)
    publish(at, "heights")
    for page in (at, visit("explore", **state), visit("lab", **state)):
        left = [line.value for line in page.markdown if "Left for the person" in line.value]
        assert [line.split("**")[1] for line in left] == ["girls.", "boys."]
        assert all(2 <= left_in(line) < 3 for line in left)


def test_whoever_publishes_everybody_together_is_told_that_groups_are_not_used():
    at = release_step(open_release(grouped_curves()), "preview")
    who = at.selectbox(key="w_release_who")
    at = release_step(who.set_value("Everybody together").run())
    assert "groups not used" in words(at)
    publish(at, "heights")
    (everybody,) = at.session_state["released"]
    assert everybody.sizes.n_curves == 1000 and everybody.facts.group is None


def test_the_preview_is_about_the_smallest_group_until_another_one_is_chosen():
    at = release_step(open_release(grouped_curves()), "preview")
    group = at.segmented_control(key="w_release_group")
    assert group.value == "girls"
    before = words(at)
    group.set_value("boys").run()
    assert words(at) != before and not at.error and not at.exception


def test_what_is_confirmed_names_the_budget_on_screen():
    at = spend(release_page(), 2.0)
    wording.found("spends", words(at), 2)


def test_a_release_is_seen_on_a_twin_with_its_band_before_anything_is_spent():
    mine = own_curves("".join(f"{k},{t},{20 + k % 9 + t}\n" for k in range(80) for t in (1, 3, 4)))
    at = visit("publish", "step-preview", upload=mine, show_upload=True)
    wording.found("preview simulated", [header.value for header in at.header], 2)
    (sent,) = components(at, "chart_release_preview")
    spec = json.loads(sent["figures"][0])
    assert any(trace.get("fill") == "tonexty" for trace in spec["data"])
    assert "costs no budget" in words(at) and "Three peaks" in words(at)
    assert not ledger.Ledger().entries()


def test_the_preview_is_made_of_stated_facts_and_sizes_alone():
    files_of_others = [
        own_curves("".join(f"{k},{t},{high - k % 9}\n" for k in range(80) for t in times))
        for high, times in ((30, (1, 3, 4)), (90, (0.5, 2)))
    ]
    seen = []
    for mine in files_of_others:
        at = visit("publish", "step-preview", upload=mine, show_upload=True)
        seen.append(
            [
                text.value
                for text in at.markdown
                if "root mean squared" in text.value or "Three peaks" in text.value
            ]
        )
    assert seen[0] == seen[1] and len(seen[0]) == 2


@pytest.mark.parametrize("what", ["density", "univariate_mean"])
def test_other_summaries_are_previewed_as_well(what):
    at = publish_what(release_page(f"{REAL}~d-ages_at_death"), what)
    release_step(at, "preview")
    wording.found("root mean", words(at))
    assert not at.exception


def test_the_statement_about_persons_is_true_of_long_files():
    mine = own_curves("".join(f"{k},{t},{20 + t}\n" for k in range(80) for t in (1, 3, 4)))
    at = visit("release", upload=mine, show_upload=True)
    wording.found("child file once", words(at))


# -- a public sample -------------------------------------------------------------------------------


def with_public_sample(content):
    """The preview of one's own curves after a public sample was given to set the method."""
    at = open_page("", upload=opening.own_curves(), show_upload=True)
    release_step(at.switch_page("../publish.py").run(), "preview")
    at.session_state["fold_public_sample"] = True
    at.run()
    at.file_uploader(key="public_sample").upload("theirs.csv", content, "text/csv").run()
    at.button(key="public_sample_set").click().run()
    assert not at.exception
    return at


def method_of(at):
    return at.session_state["settings"].mechanism_of("mean_function")


def test_a_public_sample_sets_the_method_and_is_named_on_the_card_until_it_is_left_out():
    at = with_public_sample(files.csv(files.growth_frame(60, 8, 2)))
    assert method_of(at).prior and method_of(at).guessed_spread
    assert "theirs.csv" in words(at)
    publish(release_step(at), "children")
    (release,) = at.session_state["released"]
    assert "theirs.csv" in release.card["tuned_on_public"]
    assert "prior" in release.card["tuned_on_public"]
    release_step(at, "preview").button(key="public_sample_out").click().run()
    assert method_of(at).prior is None and "theirs.csv" not in words(at)


def test_a_public_sample_with_a_protected_record_sets_nothing():
    at = with_public_sample(files.csv(files.growth_frame(80, 8)))
    assert method_of(at).prior is None and at.error


def test_a_file_that_holds_the_sample_later_is_not_published_with_its_settings():
    theirs, ours = files.growth_frame(60, 8, 2), opening.own_curves()
    at = with_public_sample(files.csv(theirs))
    at.session_state["upload"] = replace(
        ours, curves=upload_of(theirs, ours.declared).curves, reading=ours.reading
    )
    publish(release_step(at), "children")
    assert "released" not in at.session_state and at.error
