"""Decide through the framework's own tester: sentence, budgets, table, memo, and earlier addresses."""

import re
from dataclasses import replace

import pytest

from engine.core.identity import digest
from engine.language.numbers import number
from engine.topics.decision import answer as decision_topic
from engine.topics.decision import trust
from engine.topics.decision import words as decision_words
from engine.topics.decision.effective_size import effective_size
from engine.topics.sites.site_table import PRESETS, SiteRow
from pages.parts.decide.sentence import example_on_screen, example_studies
from pages.shared import places
from pages.shared.state import links, run, settings
from tests.pages.opening import own_curves, visit
from tests.pages.reading import components, error_in_lab, words
from tests.sentences import of_topic

wording = of_topic("decide")

OPEN = {"sites_of_study": True}  # the box of the sites in the sentence
SMALL = "c-sparse_curves~c.n_curves-150~target-1"


def link(at):
    return "".join(at.query_params["s"])


def memo(at):
    sent = next(sent["html"] for sent in components(at, "memo_sheet") if "html" in sent)
    return sent.replace("\u00a0", " ")


def without_prices(at):
    """The memo without prices of kinds of trust, simulated one by one while the page rests."""
    table = r"<table[^>]*>(?:(?!</table>).)*Who is trusted.*?</table>"
    rest, found = re.subn(table, "", memo(at), flags=re.DOTALL)
    assert found == 1
    return rest


def recommended(at):
    return re.search(r"differential privacy at ε = ([\d.]+)", memo(at)).group(1)


def test_the_page_answers_on_arrival_with_the_engines_numbers_on_cards_and_in_the_memo():
    at, usual = visit("decide"), settings.Settings()
    rows = decision_topic.equal_sites(usual.source, "School")
    answer = decision_topic.decision(
        decision_topic.profile_of(usual.source, usual.mechanism, rows, None, "sites", 1), 2.0, "19"
    )
    assert len(answer.options) == 3 and not at.error
    for _, option in answer.options:
        assert f"Error **{decision_words.typical_error(option, answer.profile)}**" in words(at)
        assert decision_words.typical_error(option, answer.profile) in memo(at)
        assert decision_words.within(answer, option) in memo(at)
    assert decision_words.question(answer) in memo(at)


@pytest.mark.slow
def test_another_target_or_confidence_needs_no_further_simulation(simulating):
    at = visit("decide", SMALL)
    before, simulated = memo(at), []
    simulating(lambda _, *asked, **more: simulated.append(asked))
    at.text_input(key="w_target").set_value("2.0").run()
    assert "target-2" in link(at) and memo(at) != before
    at.selectbox(key="w_confidence").set_value("10").run()
    wording.found("releases", memo(at), 10, 20)
    assert not simulated
    assert not at.error


@pytest.mark.slow
def test_two_sizes_that_are_typed_before_the_page_is_drawn_again_both_count():
    """What the second bracket changes is the study with the first, not the one on screen."""
    at = visit("decide", SMALL, **OPEN)
    at.text_input(key="w_study_people").set_value("40")
    at.text_input(key="w_study_sites").set_value("3").run()
    assert at.session_state.settings.source.sizes.n_curves_per_server == (40, 40, 40)


@pytest.mark.slow
def test_two_blanks_of_the_planner_that_are_typed_at_once_both_count():
    at = visit("plan", SMALL)
    at.text_input(key="w_plan_people").set_value("60")
    at.text_input(key="w_plan_readings").set_value("4").run()
    sizes = at.session_state.settings.source.sizes
    assert (sizes.n_curves, sizes.n_observations) == (60, 240)


@pytest.mark.slow
def test_every_bracket_changes_the_study_and_the_link():
    at = visit("decide", SMALL, **OPEN)
    at.text_input(key="w_study_sites").set_value("3").run()
    at.text_input(key="w_study_people").set_value("60").run()
    at.text_input(key="w_study_readings").set_value("5").run()
    at.segmented_control(key="w_noise").set_value("centre").run()
    chosen, problems = links.decode(link(at))
    assert not problems and chosen.noise_place == "centre"
    assert chosen.source.sizes.n_curves_per_server == (60, 60, 60)
    wording.found("equal sites total", memo(at), 60, 3, 180)
    wording.found("centre sees curve", memo(at))
    at.text_input(key="w_study_sites").set_value("10000").run()
    assert any("must lie between" in error.value for error in at.error)


@pytest.mark.slow
def test_nobody_trusted_is_a_choice_that_link_memo_and_drawer_keep():
    at = visit("decide", "c-sparse_curves~c.n_curves-400~target-1~open-trust")
    at.segmented_control(key="w_noise").set_value("person").run()
    chosen, problems = links.decode(link(at))
    assert not problems and chosen.noise_place == "person" and not at.error
    wording.found("everybody’s own device", memo(at))
    wording.found("trusted nobody", memo(at))
    wording.found("whole curve person", memo(at))
    for heading in ("Unit of privacy", "Interaction", "Effective size"):
        assert any(f"**{heading}:**" in part.value and part.help for part in at.markdown)
    again = visit("decide", link(at))
    assert memo(again) == memo(at) and again.segmented_control(key="w_noise").value == "person"


def test_too_few_people_for_nobody_trusted_are_told_what_it_would_need():
    at = visit("decide", "c-sparse_curves~c.n_curves-7~target-1~noise-person~open-map")
    size = effective_size(
        decision_topic.profile_of(
            at.session_state.settings.source,
            at.session_state.settings.mechanism,
            (SiteRow("All", 7, 10),),
            None,
            "person",
            1,
        ),
        10.0,
    )
    assert size.value < size.needed and not size.is_enough
    wording.found("size with noise", at.error[0].value, number(size.value), 10)
    wording.found("need people instead", at.error[0].value, size.people_needed, 7)
    wording.found("nothing released anywhere", words(at))
    wording.found("budget reaches target", memo(at))
    wording.found("size and noise", memo(at))


def test_a_method_without_a_law_says_how_many_devices_are_simulated():
    at = visit("decide", "c-sparse_curves~c.n_curves-2000~m-noisy_gradient_mean~noise-person")
    assert any(
        f"At most {decision_topic.MAX_DEVICES} are simulated" in error.value for error in at.error
    )


@pytest.mark.usefixtures("every_gain")
def test_a_target_out_of_reach_is_refused_with_a_button_that_mends_it():
    at = visit("decide", "c-sparse_curves~c.n_curves-150~target-0.01")
    wording.found("up reaches target", at.error[0].value, 10)
    offered = [button for button in at.button if button.key.startswith("better_")]
    assert 0 < len(offered) <= 3
    offered[-1].click().run()
    assert not at.error and at.session_state.settings.target_distance > 0.01


def test_the_key_of_the_map_names_a_recommendation_only_where_there_is_one():
    assert "◇ the recommendation" in words(visit("decide", f"{SMALL}~open-map"))
    assert "the recommendation" not in words(
        visit("decide", "c-sparse_curves~c.n_curves-150~target-0.01~open-map")
    )


def test_the_map_is_titled_by_the_budget_of_this_study_and_names_that_of_more_people_apart():
    at = visit("decide", f"{SMALL}~open-map.numbers")
    wording.found("people target met", words(at).replace("\\\\", "\\"), 150, recommended(at))
    more = re.findall(r"With 300 people, ε = ([\d.]+) is enough", words(at).replace("\u202f", " "))
    assert all(float(epsilon) < float(recommended(at)) for epsilon in more)


def test_the_sites_on_which_the_result_hangs_are_named_with_their_weights():
    at = visit(
        "decide", "c-sparse_curves~target-1~sites-Large_400_6_1__Small_20_6_1__Middle_60_6_1"
    )
    said = re.search(
        r"Large \(400 of 480 people\) has a weight of \*\*(\d+) %\*\*, Small \(20 of 480 "
        r"people\) of \*\*(\d+|less than 1) %",
        words(at),
    )
    assert int(said.group(1)) > 50
    wording.found("large people", memo(at), 400, 480)
    alike = words(visit("decide", f"{SMALL}~c.n_servers-3"))
    assert "has a weight" not in alike
    unlike = "with more precise results get more weight: if their people differ"
    assert unlike in words(at) and unlike in memo(at) and unlike not in alike


def test_a_memo_prints_the_words_of_its_study_and_no_address_of_this_machine():
    page = memo(visit("decide", SMALL))
    assert f"/decide?s={SMALL}<" in page and "href" not in page and "localhost" not in page


def test_the_trust_strip_chooses_who_adds_noise_and_the_memo_has_the_price_of_each():
    at = visit("decide", "c-sparse_curves~c.n_curves-400~c.n_servers-4~target-1~seed-7")
    source, mechanism = at.session_state.settings.source, at.session_state.settings.mechanism
    rows = decision_topic.by_number(decision_topic.equal_sites(source, "Site"))
    found = {
        place: run.answer(decision_topic.tried, source, mechanism, rows, None, str(place), 7)
        for place in trust.KINDS
    }
    at.run()
    faces, page = at.segmented_control(key="w_noise").options, memo(at)
    for price, face in zip(trust.prices(found, 1.0, "19"), faces, strict=True):
        budget = price.epsilon if price.reason else f"ε = {price.epsilon}"
        assert f"**{budget}**" in face and (price.attacker or price.reason) in face
        assert f"<td>{price.epsilon}</td>" in page
    at.segmented_control(key="w_noise").set_value("centre").run()
    chosen, problems = links.decode(link(at))
    assert not problems and chosen.noise_place == "centre"
    assert recommended(at) == trust.prices(found, 1.0, "19")[0].epsilon


def test_one_site_is_its_own_centre_and_masks_nothing():
    at = visit("decide", SMALL)
    central, masked, each_site, _ = at.segmented_control(key="w_noise").options
    budget = re.search(r"\*\*ε = [\d.]+\*\*", each_site).group()
    assert budget in central and at.segmented_control(key="w_noise").value == "centre"
    at.segmented_control(key="w_noise").set_value("sums").run()
    assert "two sites" in at.error[0].value
    assert "not possible" in at.segmented_control(key="w_noise").options[1]


def test_one_site_says_why_it_cannot_be_federated_and_stays_marked_as_central():
    at = visit("decide", SMALL)
    before = recommended(at)
    at.segmented_control(key="w_noise").set_value("sites").run()
    wording.found("own centre", at.error[0].value)
    assert at.segmented_control(key="w_noise").value == "centre" and recommended(at) == before
    several = visit("decide", f"{SMALL}~c.n_servers-2")
    assert not several.error and several.segmented_control(key="w_noise").value == "sites"


def test_lab_is_offered_for_one_site_that_is_its_own_centre():
    at = visit("decide", f"{SMALL}~noise-centre")
    assert "memo_lab" in {button.key for button in at.button}
    assert "numbers differ" not in " ".join(words(to_lab(at)))


def test_a_kind_of_trust_that_the_server_gave_up_is_tried_again_on_a_press():
    token = "c-sparse_curves~c.n_curves-200~c.n_servers-2~target-1~seed-9"
    at = visit("decide", token)
    now = at.session_state.settings
    source, mechanism = now.source, now.mechanism
    rows = decision_topic.by_number(decision_topic.equal_sites(source, "Site"))
    call = (source, mechanism, rows, None, "sums", 9)
    at.session_state.trust_given_up = {digest(call)}
    at.run()
    wording.found("given up", at.segmented_control(key="w_noise").options[1])
    at.segmented_control(key="w_noise").set_value("sums").run()
    assert not at.error and not at.session_state.trust_given_up
    assert "ε = " in at.segmented_control(key="w_noise").options[1]


@pytest.mark.usefixtures("every_gain")
def test_a_target_out_of_reach_offers_hospitals_to_share_the_noise_first_where_that_reaches_it():
    at = visit("decide", "c-sparse_curves~c.n_curves-240~c.n_servers-12~target-0.09")
    first = at.button(key="better_0")
    needed = re.search(r"ε = ([\d.]+) is enough", words(at)).group(1)
    first.click().run()
    assert at.session_state.settings.noise_place == "sums" and recommended(at) == needed


def test_what_does_not_help_is_no_button():
    at = visit("decide", "c-sparse_curves~c.n_curves-240~c.n_servers-12~target-0.0001")
    offered = [button.label for button in at.button if button.key.startswith("better_")]
    assert offered and not any("share" in label for label in offered)
    wording.found("far beyond target", at.error[0].value)


def test_a_target_that_is_met_without_a_margin_is_said_to_be():
    at = visit("decide", SMALL)
    within = re.search(r"19 of 20 within \*\*([\d.]+)", words(at)).group(1)
    chosen = re.findall(r"19 of 20 within \*\*([\d.]+)", words(at))[1]
    at.text_input(key="w_target").set_value(f"{1.004 * float(chosen):.6g}").run()
    assert float(within) > float(chosen)
    assert "without a margin" in memo(at) and not at.warning
    at.text_input(key="w_target").set_value(f"{1.05 * float(chosen):.6g}").run()
    assert "without a margin" not in memo(at)


def test_the_memo_lists_the_sites_that_differ_and_says_how_its_link_is_opened():
    page = memo(visit("decide", f"c-sparse_curves~target-1~{UNEVEN}"))
    for site in ("North: 40", "South: 90", "West: 60"):
        assert site in page


@pytest.mark.slow
def test_a_paste_fills_the_table_and_a_line_that_does_not_fit_leaves_it():
    at = visit("decide", SMALL)
    at.text_area(key="pasted_table").set_value("North;40;6\nSouth;90;6").run()
    at.button(key="use_pasted").click().run()
    assert at.session_state.settings.sites == (SiteRow("North", 40, 6), SiteRow("South", 90, 6))
    wording.found("unequal sites", memo(at), 130, 2, 40, 90)
    at.text_area(key="pasted_table").set_value("South;5\nNorth;none").run()
    at.button(key="use_pasted").click().run()
    assert any("Line 2" in error.value for error in at.error)
    assert at.session_state.settings.sites == (SiteRow("North", 40, 6), SiteRow("South", 90, 6))


UNEVEN = "sites-North_40_6_1__South_90_6_1__West_60_6_1"


def test_the_sentence_changes_what_it_names_of_a_table_and_nothing_else():
    """Sizes that differ are changed in the table alone; the observations are those of all rows."""
    at = visit("decide", f"c-sparse_curves~target-1~{UNEVEN}", **OPEN)
    before = at.session_state.settings.sites
    assert "w_study_people" not in {box.key for box in at.text_input}
    at.text_input(key="w_study_readings").set_value("5").run()
    assert at.session_state.settings.sites == tuple(
        replace(row, n_observations_per_curve=5) for row in before
    )
    at.text_input(key="w_study_readings").set_value("6").run()
    assert at.session_state.settings.sites == before
    at.text_input(key="w_study_sites").set_value("2").run()
    assert at.session_state.settings.sites == before[:2]
    assert any("West" in toast.value for toast in at.toast)
    at.text_input(key="w_study_sites").set_value("3").run()
    assert [row.name for row in at.session_state.settings.sites[:2]] == ["North", "South"]
    assert sum(row.n_curves for row in at.session_state.settings.sites) == 220


@pytest.mark.parametrize(
    ("field", "typed", "problem"),
    [
        ("target", "abc", "“abc” is not a number"),
        ("target", "", "The field is empty"),
        ("study_people", "2.5", "“2.5” is not a whole number"),
    ],
)
def test_what_is_no_number_stays_to_be_put_right_and_the_value_that_counts_is_said(
    field, typed, problem
):
    at = visit("decide", SMALL)
    before, counts = at.session_state.settings, at.text_input(key=f"w_{field}").value
    at.text_input(key=f"w_{field}").set_value(typed).run()
    assert any(
        problem in error.value.replace("\\", "") and f"{counts} counts" in error.value
        for error in at.error
    )
    assert at.text_input(key=f"w_{field}").value == typed and at.session_state.settings == before
    at.text_input(key=f"w_{field}").set_value(counts).run()
    assert not at.error and at.session_state.settings == before


def test_a_decimal_comma_is_a_decimal_mark():
    at = visit("decide", SMALL)
    at.text_input(key="w_target").set_value("1,5").run()
    assert (
        at.session_state.settings.target_distance == 1.5
        and at.text_input(key="w_target").value == "1.5"
    )


def test_strip_memo_and_sentence_count_the_same_people_whether_or_not_the_target_is_reached():
    for target in ("target-30", "target-0.0001"):
        at = visit(
            "decide", f"c-glucose_days~c.n_curves-1800~{target}~{UNEVEN}".replace("-30", "-3")
        )
        chips = [
            chip["text"]
            for sent in components(at, "decide_strip")
            for chip in sent.get("chips", ())
        ]
        assert any("190 patients" in chip for chip in chips) and "190 patients" in memo(at)
        assert not any("800" in chip for chip in chips)


def test_a_cell_of_the_table_changes_the_study():
    at = visit("decide", f"{SMALL}~c.n_servers-2~open-table")
    at.session_state[at.data_editor[0].key] = {
        "edited_rows": {0: {"people": 30}},
        "added_rows": [],
        "deleted_rows": [],
    }
    at.run()
    assert not at.error
    wording.found("unequal sites", memo(at), 105, 2, 30, 75)


def test_the_author_signs_the_memo_and_is_in_no_link():
    at = visit("decide", SMALL)
    at.text_input(key="memo_author").set_value("A. Ministry").run()
    assert "A. Ministry" in memo(at) and "Ministry" not in link(at)


def test_a_file_is_decided_on_by_its_twin_and_never_linked():
    at = visit("decide", "target-5", upload=own_curves(), show_upload=True)
    assert not at.error and "80 children" in memo(at) and "s" not in at.query_params
    at.text_input(key="w_study_people").set_value("120").run()
    assert "120 children" in memo(at) and at.session_state["upload"].sizes.n_curves == 80


def test_every_worked_example_opens():
    for label, token in example_studies():
        chosen, problems = links.decode(token)
        assert label and not problems and chosen.source.sizes.n_servers >= 8


@pytest.mark.parametrize(
    ("page", "token", "opened"),
    [("plan", "unknown-error~epsilon-2", "planner"), ("sites", "sites-mixed", "hospitals")],
)
def test_an_earlier_address_opens_its_part_with_its_settings(page, token, opened):
    today, words_of = places.present(page, token)
    chosen, problems = links.decode(words_of)
    assert today == "decide" and not problems and chosen.open_folds == (opened,)
    alone, _ = links.decode(token)
    assert (chosen.unknown_quantity, chosen.epsilon) == (alone.unknown_quantity, alone.epsilon)
    assert chosen.sites == (PRESETS["mixed"].rows if page == "sites" else ())


def test_an_example_is_marked_while_it_is_on_screen_and_not_once_its_study_was_changed():
    label, token = example_studies()[1]
    on_screen, _ = links.decode(f"{token}~open-numbers")
    assert example_on_screen(on_screen) == label
    assert (
        example_on_screen(replace(on_screen, target_distance=on_screen.target_distance + 1)) is None
    )


def test_the_numbers_of_the_memo_are_those_of_lab():
    answer = visit("decide", SMALL)
    lab = visit("lab", f"{SMALL}~epsilon-{recommended(answer)}")
    assert all(
        f">{number}" in memo(answer) for number in re.findall(r"[\d.]+", error_in_lab(lab))[::2]
    )


@pytest.mark.slow
def test_a_redraw_writes_to_no_bracket_but_those_whose_value_the_browser_does_not_have():
    """What is written to a bracket replaces what is being typed there."""
    at = visit("decide", SMALL, **OPEN)
    before = {box.key: box.proto.id for box in at.text_input}
    at.text_input(key="w_study_people").set_value("40").run()
    at.text_input(key="w_target").set_value("1.5").run()
    assert {box.key: box.proto.id for box in at.text_input} == before
    assert not [box.key for box in at.text_input if box.proto.set_value]
    at.text_input(key="w_study_sites").set_value("10000").run()  # refused: it stays to be put right
    assert not [box.key for box in at.text_input if box.proto.set_value]
    assert at.error and at.text_input(key="w_study_sites").value == "10000"


def test_a_control_that_two_pages_have_is_told_its_value_wherever_it_is_drawn_first():
    """The browser begins a page with the defaults of its controls."""
    at = visit("decide", "c-glucose_days~c.n_curves-150~target-1")
    for page in ("lab", "decide"):
        at.switch_page(f"../{page}.py").run()
        curves = at.selectbox(key="w_source")
        wording.found("glucose over day", curves.value, alone=True)
        assert curves.proto.set_value
        at.run()
        assert not at.selectbox(key="w_source").proto.set_value


@pytest.mark.parametrize(
    ("target", "problem"), [(1000.0, "must be below"), (0.0, "above zero"), (-3.0, "above zero")]
)
def test_a_target_that_asks_for_nothing_or_cannot_be_is_refused(target, problem):
    at = visit("decide", SMALL)
    at.text_input(key="w_target").set_value(str(target)).run()
    assert any(problem in error.value for error in at.error)
    assert link(at).endswith("target-1")


@pytest.mark.slow
def test_the_unit_of_glucose_is_chosen_and_nothing_that_was_meant_changes_with_it():
    at = visit("decide", "c-glucose_days~c.n_curves-150~sites-large~target-1")
    epsilon = recommended(at)
    at.selectbox(key="w_target_unit").select("mg/dL").run()
    now, problems = links.decode(link(at))
    assert (
        not at.error and not problems and (now.target_distance, now.source.unit) == (18.0, "mg/dL")
    )
    assert now.sites == PRESETS["large"].rows and recommended(at) == epsilon
    assert "within 18 mg/dL" in memo(at) and "mmol/L" not in memo(at)
    again = visit("decide", link(at))
    assert without_prices(again) == without_prices(at)
    assert recommended(again) == epsilon and again.text_input(key="w_target").value == "18"


def test_a_target_is_not_taken_over_by_data_in_another_unit():
    at = visit("decide", "c-growth_curves~target-3")
    at.selectbox(key="w_source").select("Glucose over a day, simulated").run()
    assert at.session_state.settings.target_distance is None and "within 3 mmol/L" not in memo(at)


def test_a_target_that_the_smallest_budget_meets_is_not_said_to_need_it():
    at = visit("decide", "c-sparse_curves~c.n_curves-3000~target-30")
    assert recommended(at) == "0.05"
    wording.found("smallest budget tried", memo(at))
    assert "is enough" not in words(at)


def test_the_recommended_budget_is_opened_in_lab_with_the_errors_of_the_memo():
    at = visit("decide", SMALL)
    epsilon = recommended(at)
    assert at.button(key="memo_lab").label.endswith(f"ε = {epsilon}")
    at.button(key="memo_lab").click().run()
    now = at.session_state.settings
    assert not at.exception and f"{now.epsilon:g}" == epsilon
    assert now.estimated == now.decided_task


def test_lab_says_that_decide_moved_epsilon_and_leads_back_to_the_one_before():
    at = visit("decide", f"{SMALL}~epsilon-3")
    epsilon = recommended(at)
    at.button(key="memo_lab").click().run()
    wording.found("epsilon from decide", words(at), epsilon)
    at.button(key="epsilon_before").click().run()
    assert not at.exception and at.session_state.settings.epsilon == 3
    assert "epsilon_before" not in {button.key for button in at.button}


def test_lab_names_decide_no_longer_once_its_epsilon_has_moved_on():
    at = visit("decide", f"{SMALL}~epsilon-3")
    at.button(key="memo_lab").click().run()
    at.session_state.settings = replace(at.session_state.settings, epsilon=2.0)
    at.run()
    assert not at.exception and "epsilon_before" not in {button.key for button in at.button}


def test_memo_and_lab_say_alike_how_many_simulated_releases_their_distance_rests_on():
    at = visit("decide", SMALL)
    said = re.search(r"\d+ of \d+ simulated releases; [^.]+\.", memo(at)).group()
    lab = visit("lab", f"{SMALL}~epsilon-{recommended(at)}~open-error")
    assert said in words(lab)


def test_a_scenario_has_one_name_in_the_sentence_and_in_the_memo():
    at = visit("decide", "c-glucose_days~c.n_curves-150~target-1")
    at.selectbox(key="w_source").select("Glucose without diabetes, simulated").run()
    wording.found("glucose without diabetes", memo(at))
    assert not at.error


@pytest.mark.parametrize("noise", ["centre", "sums"])
def test_lab_is_not_offered_where_it_has_other_numbers(noise):
    at = visit("decide", f"{SMALL}~c.n_servers-3~noise-{noise}")
    assert not at.error and "memo_lab" not in {button.key for button in at.button}


def to_lab(at):
    """By the menu, which drops the address."""
    at.query_params.pop("s")
    at.switch_page("../lab.py").run()
    assert not at.exception
    return at


def test_a_button_leads_to_the_study_with_its_table_in_lab_at_the_recommended_budget():
    at = visit("decide", f"c-sparse_curves~target-1~{UNEVEN}")
    epsilon, page = recommended(at), memo(at)
    wording.found("table sites", words(at), 3)
    assert "reset" in {button.key for button in at.button}
    at.button(key="memo_lab").click().run()
    assert f"{at.session_state.settings.epsilon:g}" == epsilon
    assert "190\u202fpeople" in words(at).replace(" people", "\u202fpeople")
    wording.found("site", words(at), 40, 90)
    error = re.search(r"[\d.]+", error_in_lab(at)).group()
    assert f">{error}" in page


def test_the_menu_carries_no_recommendation_along():
    for token, epsilon in ((SMALL, 1), (f"{SMALL}~epsilon-3", 3)):
        assert to_lab(visit("decide", token)).session_state.settings.epsilon == epsilon


def test_lab_says_what_is_different_where_somebody_else_adds_the_noise():
    at = visit("decide", f"{SMALL}~c.n_servers-3~noise-centre")
    wording.found("trusted centre adds", words(to_lab(at)))


def test_reset_puts_the_table_aside():
    at = visit("decide", f"c-sparse_curves~target-1~{UNEVEN}")
    at.button(key="reset").click().run()
    assert at.session_state.settings.sites == () and not at.exception


def test_only_the_browsers_back_leads_to_an_address_that_it_has_not_replaced_yet():
    at = visit("decide", "c-sparse_curves~target-1")
    before = at.query_params["s"]
    at.text_input(key="w_study_people").set_value("40").run()
    assert at.session_state.settings.source.n_curves == 40
    at.query_params["s"] = before  # as in a run that follows at once, such as of a box that opens
    at.run()
    assert at.session_state.settings.source.n_curves == 40
    at.session_state["frame"] = {"went_back": 1}
    at.run()
    assert at.session_state.settings.source.n_curves == 250 and at.query_params["s"] == before


def test_another_name_of_a_site_is_in_the_memo_and_asks_for_no_simulation(simulating):
    token = "c-sparse_curves~target-1~sites-{}_400_6_1__Small_20_6_1__Middle_60_6_1"
    visit("decide", token.format("Large"))
    asked = []
    simulating(lambda usual, key, *call, **more: asked.append(key) or usual(key, *call, **more))
    wording.found("capital people", memo(visit("decide", token.format("Capital"))), 400, 480)
    assert asked == []


def test_the_study_of_the_first_visit_is_known_from_the_start(simulating):
    """Nothing but masked sums, which one site refuses at once, is left to be simulated."""
    run.forget()
    run.warm_up()
    asked = []
    simulating(lambda *call, **more: asked.append(call[2].__name__))
    at = visit("decide")
    assert not asked and not at.error
    prices = [face.split("**")[1] for face in at.segmented_control(key="w_noise").options]
    assert ["…" in price for price in prices] == [False, True, False, False]
