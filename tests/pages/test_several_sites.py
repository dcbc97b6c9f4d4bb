"""Publish for several sites: the plan from the table, the folder as messages come, a finished run."""

import secrets

import pytest
from engine.sites.studies import SiteEntry, study, usual_reading

from engine.core.types import Budget
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.noise.shares import Shares
from engine.release import ledger
from engine.sites import centre, messages
from engine.sites.folder import Folder
from engine.sites.plan import SitePlan
from engine.sites.signing import Scheme
from engine.sources.sparse_curves import SparseCurves
from pages.shared.server import visitors
from tests.pages.opening import visit
from tests.pages.reading import words
from tests.site_runs import KEY, opened, planned, protocol, read, run


@pytest.fixture(autouse=True)
def _own_machine(tmp_path, monkeypatch):
    monkeypatch.setenv(visitors.UPLOADS_NAME, "on")
    monkeypatch.setenv(ledger.VARIABLE, str(tmp_path / "ledger.sqlite3"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A plan, its folder with all messages, and its transcript."""
    folder = tmp_path_factory.mktemp("run")
    plan = planned(key="noisy_gradient_mean", parameters={"n_iterations": 2}, people=(40, 30))
    (folder / "plan.json").write_bytes(plan.to_bytes())
    wire = run(opened(plan, folder))
    there = Folder(folder, plan)
    turns = protocol(plan).turns
    for turn in turns:
        there.send(turn, wire[turn.position])
    return plan, folder, wire


def part(at, which):
    at.segmented_control(key="sites_part").set_value(which).run()
    assert not at.exception
    return at


def spoken(at):
    """All words of the page, whatever they stand in."""
    return " ".join([words(at), *(part.value for kind in (at.warning, at.info, at.subheader)
                                  for part in kind)])


def several_sites():
    at = visit("release", "open-real_sites~m-noisy_gradient_mean")
    assert not at.exception
    return at


def test_the_plan_of_the_table_is_one_that_sites_can_sign_off():
    at = several_sites()
    assert "A plan needs a key" in words(at)
    at.text_input(key="plan_shared").set_value(KEY.public).run()
    assert not at.exception, at.exception
    assert "Fingerprint of the plan" in words(at)
    code = at.code[-1].value
    assert "python -m engine centre" in code and "--sign-off" in code


def test_the_plan_of_masked_sums_asks_for_keys_and_pads_and_relies_on_all_sites_but_one():
    at = visit("release", "open-real_sites")
    at.toggle(key="plan_sums").set_value(True).run()
    assert not at.exception and "its key and its pads" in words(at)
    assert "Shared secret" not in " ".join(part.label for part in at.text_input)
    n = len(at.session_state.settings.sites) or 3
    source = SparseCurves()
    entries = [SiteEntry(f"s{k}", 40, Budget(1.0, 1e-6), secrets.token_hex(32),
                         secrets.token_hex(32)) for k in range(n)]
    plan = SitePlan.planned(study(source, AdaptiveMean(), entries, "summed", Scheme.ED25519,
                                  usual_reading(source.facts, "a chart", 5), n - 1))
    assert plan.shares == Shares(n, n - 1)


def test_masked_sums_are_refused_where_messages_are_no_sums():
    at = several_sites()
    at.toggle(key="plan_sums").set_value(True).run()
    assert not at.exception and "not known to be a sum" in at.error[0].value


def test_a_folder_is_followed_as_messages_come(finished, tmp_path):
    plan, folder, wire = finished
    (tmp_path / "plan.json").write_bytes(plan.to_bytes())
    there = Folder(tmp_path, plan)
    at = part(several_sites(), "follow")
    at.text_input(key="follow_plan").set_value(str(tmp_path / "plan.json"))
    at.text_input(key="follow_folder").set_value(str(tmp_path)).run()
    turns = protocol(plan).turns
    for n in (0, 1):
        there.send(turns[n], wire[n])
    at.run()
    assert not at.exception
    assert "Signatures are not checked" in spoken(at)
    assert len(at.dataframe[-1].value) == 2
    at.text_input(key="follow_secret").set_value(KEY.to_text()).run()
    assert "Signatures are not checked" not in spoken(at)
    for n in (2, 3):
        there.send(turns[n], wire[n])
    at.run()
    assert "Released: growth" in spoken(at)


def test_what_is_in_the_folder_is_refused_in_words_where_it_is_wrong(finished, tmp_path):
    plan, folder, wire = finished
    name = sorted(path.name for path in folder.glob("0*.json"))[0]
    (tmp_path / "plan.json").write_bytes(plan.to_bytes())
    (tmp_path / name.replace("0001-north", "0002-south")).write_bytes((folder / name).read_bytes())
    at = part(several_sites(), "follow")
    at.text_input(key="follow_plan").set_value(str(tmp_path / "plan.json"))
    at.text_input(key="follow_folder").set_value(str(tmp_path)).run()
    assert any("was renamed" in error.value for error in at.error)


def test_a_finished_run_is_opened_from_its_transcript(finished):
    plan, _, wire = finished
    made = centre.released(protocol(plan), messages.checked(protocol(plan), read(wire), KEY))
    files = centre.all_files(protocol(plan), made, read(wire))
    at = part(several_sites(), "open")
    at.file_uploader(key="open_run").upload("transcript.json", files["transcript.json"],
                                            "application/json").run()
    assert not at.exception
    assert "Released: growth" in [h.value for h in at.subheader]
    charged, seen = (table.value for table in at.dataframe[-2:])
    assert list(charged["Site"]) == ["north", "south"] and len(seen) == 4


def test_where_others_can_reach_the_dashboard_no_folder_and_no_file_is_read(monkeypatch):
    monkeypatch.setenv(visitors.UPLOADS_NAME, "off")
    for which in ("follow", "open"):
        at = part(several_sites(), which)
        assert "on a machine of your own only" in spoken(at)
        assert not [w for w in at.text_input if w.key == "follow_folder"]
