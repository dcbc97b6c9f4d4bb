"""Publish for several sites: the plan from the table, the folder as messages come, a finished run."""

import json

import pytest

from engine.core.types import Budget
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.noise.shares import Shares
from engine.release import ledger
from engine.sites import centre, partners
from engine.sites.drafts import SiteEntry, study, usual_reading
from engine.sites.folder import Folder
from engine.sites.study import SiteStudy
from engine.sources.sparse_curves import SparseCurves
from pages.shared.server import visitors
from tests import site_runs
from tests.pages.opening import visit
from tests.pages.reading import words
from tests.sentences import of_topic
from tests.site_runs import KEY, RING, opened, run, run_of

wording = of_topic("sites")

CHEAP = dict(key="noisy_gradient_mean", parameters={"n_iterations": 2}, people=(40, 30))


@pytest.fixture(autouse=True)
def _own_machine(tmp_path, monkeypatch):
    monkeypatch.setenv(visitors.UPLOADS_NAME, "on")
    monkeypatch.setenv(ledger.VARIABLE, str(tmp_path / "ledger.sqlite3"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The sites of a finished run, and their messages."""
    sites = opened(site_runs.study(**CHEAP), tmp_path_factory.mktemp("run"))
    return sites, run(sites)


@pytest.fixture
def through(finished, tmp_path):
    """A folder with all offers and sign-offs, beside the study."""
    sites, _ = finished
    (tmp_path / "study.json").write_text(json.dumps(site_runs.study(**CHEAP)))
    (tmp_path / "through").mkdir()
    there = Folder(tmp_path / "through")
    for statement in (*sites[0].agreement.plan.offers, *sites[0].agreement.sign_offs):
        there.say(statement)
    return there


def followed(folder, study_file):
    at = part(several_sites(), "follow")
    at.text_input(key="follow_study").set_value(str(study_file))
    return at.text_input(key="follow_folder").set_value(str(folder)).run()


def part(at, which):
    at.segmented_control(key="sites_part").set_value(which).run()
    assert not at.exception
    return at


def spoken(at):
    """All words of the page, whatever they stand in."""
    return " ".join(
        [words(at), *(part.value for kind in (at.warning, at.info, at.subheader) for part in kind)]
    )


def several_sites():
    at = visit("release", "open-real_sites~m-noisy_gradient_mean")
    assert not at.exception
    return at


def test_the_study_of_the_table_is_one_that_sites_can_make_offers_for():
    at = several_sites()
    assert not at.exception, at.exception
    code = at.code[-1].value
    for command in (
        "partners add",
        "offer study.json",
        "plan-sites",
        "sign-off plan.json",
        "engine centre",
        "site-key",
    ):
        assert command in code
    at.toggle(key="plan_shared").set_value(True).run()
    assert not at.exception and "partners add" not in at.code[-1].value


def test_the_study_of_masked_sums_relies_on_all_sites_but_one():
    at = visit("release", "open-real_sites")
    at.toggle(key="plan_sums").set_value(True).run()
    assert not at.exception and not [t for t in at.toggle if t.key == "plan_shared"]
    n = len(at.session_state.settings.sites) or 3
    source = SparseCurves()
    entries = [SiteEntry(f"s{k}", 40, Budget(1.0, 1e-6)) for k in range(n)]
    stated = study(
        source,
        AdaptiveMean(),
        entries,
        "summed",
        reading=usual_reading(source.facts, "a chart", 5),
        honest=n - 1,
    )
    assert SiteStudy.of(stated).shares == Shares(n, n - 1)


def test_masked_sums_are_refused_where_messages_are_no_sums():
    at = several_sites()
    at.toggle(key="plan_sums").set_value(True).run()
    assert not at.exception
    wording.found("known sum", at.error[0].value)


def test_offers_and_sign_offs_are_a_checklist(finished, through, tmp_path):
    (through.path / "sign-off-south.json").rename(tmp_path / "later.json")
    at = followed(through.path, tmp_path / "study.json")
    assert not at.exception
    listed = at.dataframe[0].value
    assert list(listed.iloc[:, 0]) == ["north", "south"]
    assert list(listed.iloc[:, 1]) == ["✓", "✓"]
    assert list(listed.iloc[:, 2]) == ["✓", "waited for"]
    wording.found("words plan", words(at))
    (through.path / "offer-south.json").rename(tmp_path / "offer.json")
    at.run()
    assert list(at.dataframe[0].value.iloc[:, 1]) == ["✓", "waited for"]
    wording.found("when offers", words(at))


def test_a_folder_is_followed_as_messages_come(finished, through, tmp_path):
    sites, wire = finished
    at = followed(through.path, tmp_path / "study.json")
    turns = sites[0].protocol.turns
    for n in (0, 1):
        through.send(turns[n], wire[n])
    at.run()
    assert not at.exception
    wording.found("signatures checked", spoken(at))
    assert len(at.dataframe[-1].value) == 2
    at.text_input(key="follow_secret").set_value(KEY.to_text()).run()
    wording.missing("signatures checked", spoken(at))
    for n in (2, 3):
        through.send(turns[n], wire[n])
    at.run()
    assert "Released: growth" in spoken(at)


def test_what_is_in_the_folder_is_refused_in_words_where_it_is_wrong(finished, through, tmp_path):
    sites, wire = finished
    through.send(sites[0].protocol.turns[0], wire[0])
    (path,) = through.path.glob("0*.json")
    path.rename(path.with_name(path.name.replace("0001-north", "0002-south")))
    at = followed(through.path, tmp_path / "study.json")
    assert any("was renamed" in error.value for error in at.error)


def test_an_address_book_checks_what_keys_of_one_s_own_have_signed(tmp_path, monkeypatch):
    site_runs.with_library(monkeypatch)
    stated = site_runs.summed(reading=site_runs.EVENTS, key="noisy_counts", epsilon=2.0)
    sites = opened(stated, tmp_path)
    (tmp_path / "study.json").write_text(json.dumps(stated))
    (tmp_path / "through").mkdir()
    there = Folder(tmp_path / "through")
    for statement in (*sites[0].agreement.plan.offers, *sites[0].agreement.sign_offs):
        there.say(statement)
    at = followed(there.path, tmp_path / "study.json")
    wording.found("needs address book", spoken(at))
    keys = dict(site_runs.book().keys)
    (tmp_path / "partners.json").write_text(partners.to_text(keys))
    at.text_input(key="follow_partners").set_value(str(tmp_path / "partners.json")).run()
    assert not at.exception
    assert not at.error
    wording.missing("needs address", spoken(at))
    (tmp_path / "partners.json").write_text(partners.to_text({**keys, "east": "0" * 64}))
    at.run()
    wording.found("offer not signed", [error.value for error in at.error])


def test_a_finished_run_is_opened_from_its_transcript(finished):
    sites, wire = finished
    heard = run_of(sites, wire)
    files = centre.all_files(heard, centre.released(heard, heard.checked(RING)))
    at = part(several_sites(), "open")
    at.file_uploader(key="open_run").upload(
        "transcript.json", files["transcript.json"], "application/json"
    ).run()
    assert not at.exception
    assert "Released: growth" in [h.value for h in at.subheader]
    charged, seen = (table.value for table in at.dataframe[-2:])
    assert list(charged["Site"]) == ["north", "south"] and len(seen) == 4


def test_where_others_can_reach_the_dashboard_no_folder_and_no_file_is_read(monkeypatch):
    monkeypatch.setenv(visitors.UPLOADS_NAME, "off")
    for which in ("follow", "open"):
        at = part(several_sites(), which)
        wording.found("machine own", spoken(at))
        assert not [w for w in at.text_input if w.key == "follow_folder"]
