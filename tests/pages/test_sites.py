"""Budgets of single sites, a part of Decide: they react to edits, refuse kindly and link."""

import dataclasses

import pytest

from engine.topics.sites import words as site_words
from engine.topics.sites.answer import federation
from engine.topics.sites.site_table import PRESETS, SiteRow
from engine.uploads.facts import declare
from pages.shared.state import links, settings, site_table
from tests import files
from tests.heavy import few
from tests.pages.opening import own_curves, upload_of, visit
from tests.pages.reading import words
from tests.pages.test_explore import METHODS, first_of_each
from tests.sentences import of_topic

wording = of_topic("sites")

DEFAULT = settings.Settings()
EQUAL = PRESETS["equal"].rows


def editor(at):
    """The table with a budget for each site, beside which stands that of their sizes."""
    return at.data_editor[-1]


def edit(at, row, **cells):
    """What the browser sends when cells of one row were changed."""
    at.session_state[editor(at).key] = {
        "edited_rows": {row: cells},
        "added_rows": [],
        "deleted_rows": [],
    }
    return at.run()


def with_sites():
    """A file with a column for the site, whose names must not leave the session."""
    frame = files.growth_frame(120, 8)
    frame["site"] = [f"Clinic {int(child[1:]) % 3}" for child in frame["child"]]
    return upload_of(
        frame,
        declare(
            60,
            210,
            2,
            18,
            "growth chart",
            person="child",
            people="children",
            value_unit="cm",
            **files.EVEN,
        ),
        server="site",
    )


def test_the_page_answers_on_arrival_with_the_engines_numbers():
    at = visit("sites")
    answer = federation(DEFAULT.source, DEFAULT.mechanism, EQUAL, DEFAULT.seed)
    assert site_words.compared(answer) in words(at)
    assert not at.error
    at = visit("sites", "open-trust")
    assert site_words.odds(answer, "sites") in words(at)
    assert "trusts only itself" in words(at)


@pytest.mark.slow
def test_every_preset_draws_and_is_a_short_link():
    at = visit("sites", "open-hospitals.table")
    for key, preset in PRESETS.items():
        at.selectbox(key="w_site_preset").set_value(preset.label).run()
        assert not at.error and not at.exception, key
        assert at.session_state.settings.sites == preset.rows
        assert len(editor(at).value) == len(preset.rows)
    assert "sites-study" in "".join(at.query_params["s"])
    assert "Since your change" in words(at)


@pytest.mark.slow
@pytest.mark.parametrize(("cls", "chosen"), few(first_of_each(METHODS), 2), ids=lambda x: str(x))
def test_every_method_draws(cls, chosen):
    token = links.encode(DEFAULT.with_study(settings.TASK, mechanism=cls(**chosen)))
    for part in ("leaves", "centre_saw"):
        visit("sites", f"{token}~open-{part}".strip("~"))  # says that nothing of ours goes wrong


def test_an_edited_cell_changes_the_numbers_the_address_and_says_what_it_did():
    at = edit(visit("sites", "open-hospitals.table"), 1, epsilon=3.0)
    assert at.session_state.settings.sites[1] == SiteRow("East", 250, 10, 3.0)
    wording.found("since change error", words(at))
    assert editor(at).value["guarantee"][1].startswith("ε = 3")
    assert "__East_250_10_3__" in "".join(at.query_params["s"])
    assert at.selectbox(key="w_site_preset").value == "Your own table"


def test_an_edit_keeps_the_editor_it_was_made_in():
    at = visit("sites")
    before = editor(at).proto.id
    assert editor(edit(at, 1, epsilon=3.0)).proto.id == before


@pytest.mark.slow
def test_a_site_can_be_left_out_and_its_row_stays():
    at = edit(visit("sites", "open-hospitals.table"), 3, included=False)
    assert editor(at).value["weight"][3] == ""
    assert len(editor(at).value) == 4
    at.button(key="remove_sites").click().run()
    assert [row.name for row in at.session_state.settings.sites] == ["North", "East", "South"]
    at.button(key="add_site").click().run()
    assert at.session_state.settings.sites[3].name == "Site 4"


@pytest.mark.parametrize(
    ("cells", "problem"),
    few(
        [
            ({"epsilon": 50.0}, "ε must lie between"),
            ({"people": None}, "needs a number"),
            ({"people": 0}, "people must lie between"),
            ({"readings": 2.5}, "whole number"),
            ({"name": "North"}, "same name"),
            ({"name": "<b>"}, "letters, digits"),
            ({"delta": 0.5}, "below 1/n"),
        ]
    ),
)
def test_a_cell_that_cannot_be_is_refused_under_the_table_and_nothing_is_lost(cells, problem):
    at = edit(visit("sites"), 2, epsilon=2.0)
    kept, said = at.session_state.settings.sites, site_words.compared
    edit(at, 1, **cells)
    assert any(problem in error.value for error in at.error)
    assert at.session_state.settings.sites == kept
    assert said(federation(DEFAULT.source, DEFAULT.mechanism, kept, DEFAULT.seed)) in words(at)
    edit(at, 1, epsilon=1.5)
    assert not at.error


@pytest.mark.slow
def test_a_link_brings_back_the_table():
    rows = (
        SiteRow("St-Mary 1", 40, 8, 0.5, 1e-6),
        SiteRow("Zürich", 300, 12, 2.5),
        SiteRow("B", 30, 5, included=False),
        SiteRow("C", 30, 5, 1.0, 0.001, False),
    )
    chosen = dataclasses.replace(DEFAULT, sites=rows)
    assert links.decode(links.encode(chosen)) == (chosen, [])
    at = visit("sites", links.encode(chosen))
    assert at.session_state.settings.sites == rows
    assert not at.error


@pytest.mark.parametrize(
    "text",
    [
        "North",
        "North_10",
        "North_10_5_x",
        "North_10_5_99",
        "A_10_5_1__A_10_5_1",
        "<b>_10_5_1",
        "A_10_5_1_usual_in",
        "A_10_5_1_usual_out",
        "A_1e3_5_1",
        "__".join(["A_10_5_1"] * 51),
        "nan",
    ],
)
def test_a_damaged_table_in_a_link_is_named_and_the_usual_one_stands(text):
    assert links.decode(f"sites-{text}") == (DEFAULT, ["sites"])


def test_the_longest_table_fits_into_an_address():
    rows = tuple(
        SiteRow(f"Somewhere far off {k:02d}"[:20], 4000, 10, 0.15, 1.25e-05, k > 0)
        for k in range(50)
    )
    chosen = dataclasses.replace(DEFAULT, sites=rows)
    assert links.decode(links.encode(chosen)) == (chosen, [])


def test_the_centre_can_be_trusted_instead():
    at = visit("sites", "open-trust")
    at.segmented_control(key="w_trust").set_value("centre").run()
    wording.found("sites trust centre", words(at))


def test_details_show_what_was_sent_and_what_would_change():
    wording.found("messages sites", words(visit("sites", "open-transcript")), 24, 4, 6)
    changed = words(visit("sites", "open-what_if"))
    assert "Without" in changed
    wording.found("half", changed)


def test_a_method_that_refuses_the_table_is_explained_and_the_table_stays():
    at = edit(visit("sites", "m-noisy_gradient_mean~target-100"), 0, delta=0.0)
    assert len(at.error) == 1
    assert len(editor(at).value) == 4
    assert not edit(at, 0, delta=None).error


def test_ones_own_sites_have_fixed_sizes_and_never_enter_an_address():
    at = visit("sites", "target-100", upload=with_sites(), show_upload=True)
    assert not at.error
    assert list(editor(at).value["name"]) == ["Clinic 0", "Clinic 1", "Clinic 2"]
    wording.found("non private mean", words(at))
    edit(at, 0, epsilon=3.0, people=5)
    assert at.session_state.given_sites[0].epsilon == 3.0
    assert "s" not in at.query_params
    assert at.session_state.settings.sites == EQUAL
    at.session_state.show_upload = False
    at.run()
    assert "Clinic" not in links.encode(at.session_state.settings)


def test_a_file_without_sites_is_told_what_is_missing():
    at = visit("sites", upload=own_curves(), show_upload=True)
    assert any("at one site" in error.value for error in at.error)


def test_words_of_the_table_survive_the_way_into_the_address_and_back():
    for preset in PRESETS.values():
        assert site_table.rows_of_word(site_table.word(preset.rows)) == preset.rows


@pytest.mark.slow
def test_the_hormone_study_at_seven_sites_brings_its_own_curves_and_protocol():
    at = visit("sites", "open-holdout.table")
    at.selectbox(key="w_site_preset").set_value("Hormone study at seven sites").run()
    assert not at.exception and not at.error
    now = at.session_state.settings
    assert now.source.key == "hormone_study" and sum(row.n_curves for row in now.sites) == 678
    assert any("woman" in text.value or "women" in text.value for text in at.markdown)
    assert any("licensed" in text.value for text in at.markdown)


def test_the_label_of_who_is_protected_from_whom_follows_who_adds_the_noise():
    at = visit("sites", "open-sites_label")
    wording.found("other sites centre", words(at))
    at.segmented_control(key="w_trust").set_value("centre").run()
    wording.found("centre sees curve", words(at))
    at.segmented_control(key="w_trust").set_value("sums").run()
    assert not at.error
    wording.found("masks message sum", words(at))


def test_a_link_to_a_way_to_look_that_is_no_longer_there_shows_the_usual_one():
    at = visit("sites", "look.trust-40~open-sites_label")
    assert not at.exception
    wording.found("site trusts itself", words(at))
