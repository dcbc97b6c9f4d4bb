"""The Audit page: it draws, attacks, catches a planted fault, counts misses, and links."""

import pytest

from engine.audit import broken
from engine.topics.audit import answer as audit_topic
from engine.topics.audit import claims
from engine.topics.audit import words as audit_words
from engine.topics.coverage import answer as coverage_topic
from engine.topics.coverage import words as coverage_words
from engine.topics.reuse import answer as reuse_topic
from engine.topics.reuse import words as reuse_words
from pages.shared.state import links, settings
from tests.conftest import fewer_data_sets
from tests.pages.opening import own_curves, visit
from tests.pages.reading import words
from tests.sentences import of_topic
from tests.waiting import PATIENCE

wording = of_topic("audit")

GRADIENT = "audited-noisy_gradient_mean.mean_function"


@pytest.fixture
def short():
    """Short attacks: what they say stands in tests of the audit, here it has to arrive."""
    sizes = {"TRIES": 100, "RUNS": 2000, "SECONDS": 3600.0}
    yield from fewer_data_sets(
        {f"engine.topics.audit.answer.{name}": size for name, size in sizes.items()}
    )


def finished(at):
    """Wait for every job of the page to end, and run it once more."""
    for job in at.session_state["audit_jobs"].values():
        assert job.wait(PATIENCE), job.state
        assert job.state == "done", (job.fault, job.problem)
    at.run()
    assert not at.exception
    return at


def badges(at):
    return [element.value for element in at.markdown if "-badge[" in element.value]


def test_it_opens_with_the_method_of_explore_and_waits_for_a_button():
    at = visit("audit")
    assert at.session_state.settings.lab_tab == "verify" and not at.error
    assert at.selectbox(key="w_audit_method").value == "adaptive_mean.mean_function"
    assert audit_words.SIMULATED in words(at)
    assert at.button(key="audit_planted").disabled and not badges(at)


def test_each_claim_stands_with_its_test_and_is_attacked_by_one_button(short):
    at = visit("audit")
    assert at.title[0].value == claims.title()
    buttons = [button for button in at.button if button.label == "Attack it"]
    assert len(buttons) == sum(bool(claim.part) for claim in claims.CLAIMS)
    assert all(claim.text in words(at) for claim in claims.CLAIMS)
    k = next(k for k, claim in enumerate(claims.CLAIMS) if claim.subject == "noisy_counts.survival")
    at.button(key=f"claim_{k}").click().run()
    assert at.session_state.settings.audited_method == "noisy_counts.survival"
    assert any("-badge[" in each for each in badges(finished(at)))


def test_a_claim_of_a_band_is_repeated_by_its_button_with_its_estimand(short):
    at = visit("audit")
    k = next(k for k, claim in enumerate(claims.CLAIMS) if claim.subject == "coefficient")
    at.button(key=f"claim_{k}").click().run()
    now = at.session_state.settings
    assert (now.audit_part, now.estimand, now.coverage_limits) == (
        "coverage",
        "sparse",
        "coefficient",
    )
    assert at.session_state["audit_jobs"] and not at.error
    for job in at.session_state["audit_jobs"].values():
        job.stop()


@pytest.mark.slow
def test_an_attack_on_a_method_ends_with_a_verdict_and_a_report(short):
    at = visit("audit", GRADIENT)
    at.button(key="audit_run").click().run()
    finished(at)
    assert any(audit_words.HOLDS in badge for badge in badges(at))
    wording.found("not proved whole", words(at))
    (job,) = at.session_state["audit_jobs"].values()
    assert audit_words.attacked(job.result) in words(at)
    assert not at.error


def test_a_planted_fault_is_caught_beside_the_method(short):
    at = visit("audit", f"{GRADIENT}~variant-EachRoundSpendsEverything")
    at.button(key="audit_planted").click().run()
    finished(at)
    assert any(audit_words.BROKEN in badge for badge in badges(at))
    wording.found("claim false", words(at))
    assert broken.get("EachRoundSpendsEverything").what in words(at)


def test_only_faults_of_the_method_are_offered_and_one_of_another_method_is_left_out():
    at = visit("audit", f"{GRADIENT}~variant-LabelsCannotTurn")
    assert not at.exception
    offered = at.selectbox(key="w_audit_variant").options
    assert len(offered) == 1 + len(
        audit_topic.variants_of(links.decode("m-noisy_gradient_mean")[0].mechanism)
    )
    assert at.button(key="audit_planted").disabled


@pytest.mark.slow
def test_limits_are_repeated_and_misses_counted():
    at = visit("audit", "part-coverage")
    at.button(key="audit_repeat").click().run()
    finished(at)
    (job,) = at.session_state["audit_jobs"].values()
    result = coverage_topic.CoverageAnswer.joined(job.parts)
    assert len(result.proper.off) == coverage_topic.REPEATS
    assert coverage_words.misses(result.proper, at.session_state.settings.coverage_limits) in words(
        at
    )
    assert coverage_words.misses(
        result.naive, at.session_state.settings.coverage_limits, True
    ) in words(at)


def test_reused_noise_gives_the_average_away_and_fresh_noise_does_not():
    at = visit("audit", "part-reuse~again-5")
    found = reuse_topic.reuse_answer(1.0, 5.0, 1 / reuse_topic.SOURCE.n_curves**2, 1, False)
    assert reuse_words.recovered(found, False) in words(at)
    at.segmented_control(key="w_audit_draw").set_value("fresh").run()
    assert "the formula fails" in words(at) and "draw-fresh" in "".join(at.query_params["s"])


@pytest.mark.parametrize("part", settings.AUDIT_PARTS)
def test_formula_and_code_of_each_part_open(part):
    at = visit("audit", f"part-{part}~open-audit_formula")
    assert not at.error and at.latex
    at = visit("audit", f"part-{part}~open-audit_code")
    assert at.code[0].language == "python" and "python -m engine" in at.code[1].value


def test_the_same_budget_twice_is_refused_kindly():
    at = visit("audit", "part-reuse~again-1")
    assert not at.exception and "must differ" in at.error[0].value


def test_a_link_brings_everything_back():
    token = (
        "epsilon-2~part-attack~audited-iclp.density~around-screen~variant-DividesByTheMass~"
        "limits-curve~again-5~draw-fresh"
    )
    now = visit("audit", token).session_state.settings
    assert (now.audited_method, now.audited_data, now.planted_fault) == (
        "iclp.density",
        "screen",
        "DividesByTheMass",
    )
    assert (now.coverage_limits, now.second_epsilon, now.second_noise) == ("curve", 5.0, "fresh")
    assert links.decode(links.encode(now)) == (now, [])


@pytest.mark.parametrize(
    "word",
    [
        "audited-nobody.mean_function",
        "variant-Perfect",
        "around-mars",
        "again-1000",
        "part-escape",
        "limits-x",
        "draw-none",
    ],
)
def test_a_bad_link_is_said_and_the_usual_page_stands(word):
    at = visit("audit", word)
    assert not at.exception and not at.error
    assert word.partition("-")[0] in at.warning[0].value


@pytest.mark.slow
def test_ones_own_curves_are_never_used_here(short):
    """They are on screen elsewhere; here the recipe stands, and the page can be linked."""
    at = visit("audit", f"{GRADIENT}~around-screen", upload=own_curves(), show_upload=True)
    assert "around-screen" in "".join(at.query_params["s"])
    at.button(key="audit_run").click().run()
    finished(at)
    assert settings.Settings().source.label in words(at)
