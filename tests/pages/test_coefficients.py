"""The page on varying coefficients: it draws, reacts, refuses kindly and links."""

import json

import pytest

from engine.core.errors import InputError
from engine.core.types import Budget
from engine.language.numbers import times
from engine.mechanisms.adaptive_coefficients import AdaptiveCoefficients
from engine.mechanisms.noisy_gradient_coefficients import NoisyGradientCoefficients
from engine.mechanisms.study import Study
from engine.sources.coefficient_curves import CoefficientCurves
from engine.sources.sparse_curves import SparseCurves
from engine.topics.coefficients import words as coefficient_words
from engine.topics.coefficients.answer import coefficients_answer, cost_of_covariates
from engine.uploads.facts import StatedCovariate, declare
from pages.shared.state import links, settings
from tests import files
from tests.pages.opening import open_page, upload_of, visit
from tests.pages.reading import typed, words
from tests.sentences import of_topic

wording = of_topic("coefficients")


def test_it_opens_on_growth_and_says_what_the_engine_computed():
    at = visit("coefficients")
    assert not at.error
    assert at.session_state.settings.estimand == "coefficients"
    source = CoefficientCurves(**CoefficientCurves.presets()[0][1])
    answer = coefficients_answer(source, AdaptiveCoefficients(), Budget(1.0, 1 / 2000**2), 1)
    assert coefficient_words.accuracy(answer) in words(at)
    assert [h.value for h in at.subheader][:3] == [
        "Average curve",
        "Effect of parents’ height",
        "Effect of sex",
    ]


@pytest.mark.slow
def test_the_slider_moves_the_budget_of_all_pages():
    at = visit("coefficients")
    before = words(at)
    at.select_slider(key="w_coefficients_epsilon").set_value(4.0).run()
    assert not at.exception and words(at) != before
    assert at.session_state.settings.epsilon == 4.0


@pytest.mark.parametrize("show", ["One release", "Difference"])
def test_every_view_of_the_functions_draws(show):
    at = visit("coefficients")
    at.segmented_control(key="w_coefficients_show").set_value(show).run()
    assert not at.exception and not at.error


@pytest.mark.slow
def test_every_method_and_every_source_draws():
    at = visit("coefficients")
    for label in at.selectbox(key="w_mechanism_varying_coefficients").options:
        at.selectbox(key="w_mechanism_varying_coefficients").set_value(label).run()
        assert not at.exception and not at.error, label
    at.selectbox(key="w_source_varying_coefficients").set_value("Smooth effects, simulated").run()
    assert not at.exception and not at.error


@pytest.mark.slow
def test_too_little_for_the_covariates_is_refused_and_everything_else_stays():
    at = visit("coefficients", "g-coefficient_curves~g.n_curves-300~epsilon-0.5")
    assert len(at.error) == 1
    wording.found("nothing published", at.error[0].value)
    assert at.selectbox(key="w_source_varying_coefficients")
    assert not any(word in words(at) for word in ("nan", "None"))


@pytest.mark.slow
def test_a_link_restores_its_curves_and_method_beside_those_of_explore():
    token = (
        "c-sparse_curves~c.mean-mu1~g-coefficient_curves~g.n_covariates-3~"
        "k-noisy_gradient_coefficients~epsilon-2"
    )
    chosen, problems = links.decode(token)
    assert not problems
    assert chosen.source_of("varying_coefficients") == CoefficientCurves(n_covariates=3)
    assert chosen.mechanism_of("varying_coefficients") == NoisyGradientCoefficients()
    assert chosen.source == SparseCurves(mean="mu1")
    assert links.decode(links.encode(chosen)) == (chosen, [])
    at = visit("coefficients", token)
    assert "Effect of G3" in [h.value for h in at.subheader]


@pytest.mark.slow
def test_what_is_changed_is_said_and_taken_back():
    at = visit(
        "coefficients",
        "g-coefficient_curves~g.likeness-0.5~k-adaptive_coefficients~k.gram-declared",
    )
    badges = " ".join(one.value for one in at.markdown if "badge" in one.value)
    assert "Likeness" in badges, badges
    at.button(key="reset").click().run()
    assert at.session_state.settings.source_of("varying_coefficients") == CoefficientCurves(
        **CoefficientCurves(likeness=0.5).nearest_preset()[1]
    )


@pytest.mark.slow
def test_the_folds_hold_numbers_ledger_and_a_command_that_runs():
    details = {
        key: visit("coefficients", f"open-{key}")
        for key in ("numbers", "coefficients_ledger", "coefficients_formula", "coefficients_code")
    }
    assert not any(at.error for at in details.values())
    assert len(details["numbers"].dataframe) >= 3 and details["coefficients_formula"].latex
    assert "Noise" in details["coefficients_ledger"].dataframe[0].value
    code = details["coefficients_code"].code[1].value
    plain = json.loads(code[code.index("{") : code.rindex("}") + 1])
    assert plain["mechanism"]["key"] == "adaptive_coefficients"


@pytest.mark.slow
def test_explore_is_not_moved_by_what_is_chosen_here():
    at = open_page("g-coefficient_curves~g.n_covariates-3")
    assert at.session_state.settings.source == settings.Settings().source


# -- sentences ------------------------------------------------------------------------------


def test_effects_that_noise_would_hide_are_named():
    source, budget = CoefficientCurves(n_curves=1500), Budget(1.0, 1e-6)
    clear, lost = (
        coefficients_answer(source, method, budget, 1)
        for method in (AdaptiveCoefficients(), NoisyGradientCoefficients(scheme="split"))
    )
    assert "Every effect" in coefficient_words.visible(clear)
    assert "noise would hide" in coefficient_words.visible(lost)


@pytest.mark.slow
def test_the_cost_of_covariates_grows_and_is_said_as_measured():
    source = CoefficientCurves(n_curves=1500)
    budget = cost_of_covariates(
        Study(source=source, mechanism=AdaptiveCoefficients(), budgets=(Budget(1.0, 1e-6),))
    )
    assert budget.counts == tuple(range(1, 9)) and budget.here == 2
    assert budget.private[1] > budget.private[0] > budget.ordinary[0]
    grown = times(float(budget.private[budget.private == budget.private][-1] / budget.private[0]))
    assert grown in coefficient_words.cost(budget, Budget(1.0, 1e-6))
    with pytest.raises(InputError, match="only be changed in simulated"):
        cost_of_covariates(
            Study(
                source=SparseCurves(),
                mechanism=AdaptiveCoefficients(),
                budgets=(Budget(1.0, 1e-6),),
            )
        )


def test_what_would_help_a_refusal_is_enough():
    source = CoefficientCurves(n_curves=300)
    verdict = AdaptiveCoefficients().feasibility(source.sizes, (Budget(0.5, 1e-5),))
    budget = coefficient_words.refused(source.facts, verdict, Budget(0.5, 1e-5), 300)
    needed = int(budget.split("one of: ")[1].split(" ")[0].replace(",", ""))
    enough = CoefficientCurves(n_curves=needed).sizes
    assert AdaptiveCoefficients().feasibility(enough, (Budget(0.5, 1e-5),)).is_feasible


# -- own curves -----------------------------------------------------------------------------


def own(n=1500, **stated):
    """The visitor's own curves, with the columns `dose` and, twice as large, `twice`."""
    frame = files.growth_frame(n, 6)
    number = frame["child"].str[1:].astype(int)
    frame = frame.assign(dose=number % 5, twice=2 * (number % 5), always=3)
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
            **files.EVEN,
            covariates=[StatedCovariate(name, *ends) for name, ends in stated.items()],
        ),
        covariates=["dose", "twice", "always"],
    )


@pytest.mark.slow
def test_own_curves_are_shown_with_their_effects_and_cannot_be_linked():
    at = visit("coefficients", "open-numbers", upload=own(dose=(0, 4)), show_upload=True)
    assert not at.error
    assert "Effect of dose" in [h.value for h in at.subheader]
    wording.found("one without privacy", words(at))
    assert at.query_params.get("s", "") in ("", [""])
    assert len(at.table) >= 4 and not at.dataframe  # a data frame can be downloaded
    wording.missing("covariate costs", [h.value for h in at.header])


@pytest.mark.parametrize(
    ("stated", "problem"),
    [({"dose": (0, 4), "twice": (0, 8)}, "condition number"), ({"always": (0, 6)}, "always")],
)
def test_own_covariates_that_explain_nothing_are_refused_by_name(stated, problem):
    at = visit("coefficients", upload=own(**stated), show_upload=True)
    assert len(at.error) == 1
    assert all(name in at.error[0].value for name in stated) and problem in at.error[0].value
    assert at.selectbox(key="w_source_varying_coefficients")


def test_own_curves_without_covariates_are_explained_and_simulated_ones_shown():
    at = visit("coefficients", upload=own(), show_upload=True)
    assert not at.error
    wording.found("columns explain them", [box.value for box in at.info])


# -- warnings that releases carry -----------------------------------------------------------


@pytest.mark.slow
def test_a_rare_answer_carries_its_warnings_on_the_page_and_in_the_drawer():
    token = "g-coefficient_curves~g.covariate_law-rare~g.rare_share-0.01~epsilon-4~open-cautions"
    at = visit("coefficients", token)
    assert not at.exception
    (worst,) = [text.value for text in at.markdown if "Caution]" in text.value]
    assert "average curve" in worst and "(100 %" in typed(worst)
    (listed,) = [text.value for text in at.markdown if text.value.startswith("* ")]
    assert "The covariate G1 varies too little" in listed and "covariate G2" not in listed


@pytest.mark.slow
def test_usual_covariates_carry_no_warning_and_the_page_says_what_sizes_cannot_know():
    at = visit("coefficients", "g-coefficient_curves")
    assert "Caution]" not in words(at) and not at.warning
    wording.found("covariates spread evenly", words(at))
