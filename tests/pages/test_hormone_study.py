"""The detail of Explore that repeats the published study, on its synthetic twin and nowhere else."""

import pytest

from engine.core.types import Budget
from engine.language import tags
from engine.sources.hormone_study import HormoneStudy
from engine.topics.holdout import words as holdout_words
from engine.topics.holdout.answer import PAPER_EPSILONS, release_range
from pages.shared.state import settings
from tests.pages.opening import open_page
from tests.pages.reading import words
from tests.sentences import of_topic

wording = of_topic("mean")

TWIN = "c-hormone_study"
OPEN = "open-published_study"


def details(at):
    return at.selectbox(key="drawer_choice").options


def tables(at):
    return {tuple(frame.value.columns): frame.value for frame in at.dataframe}


@pytest.mark.slow
def test_only_the_twin_of_the_study_has_it():
    wording.found("published study", details(open_page(f"{TWIN}~open-data")))
    for other in ("open-data", "c-sea_temperature~open-data"):
        wording.missing("published study", details(open_page(other)))


@pytest.mark.slow
def test_it_is_chosen_by_name_and_says_that_it_is_simulated():
    at = open_page("open-data")
    at.selectbox(key="w_source").set_value("Hormone study, synthetic").run()
    wording.found("mean hormone curve", at.title[0].value, 678, alone=True)
    assert "c-hormone_study" in at.query_params["s"]
    assert tags.source_tag(HormoneStudy().facts)[0] == "Simulated"
    assert not at.error


@pytest.mark.slow
def test_a_closed_fold_computes_nothing():
    assert holdout_words.LICENSED not in words(open_page(f"{TWIN}~{OPEN}", fold_holdout=False))


@pytest.mark.slow
def test_the_open_fold_shows_both_charts_with_their_sentences_and_numbers():
    at = open_page(f"{TWIN}~{OPEN}", fold_holdout=True)
    assert not at.error
    assert holdout_words.LICENSED in words(at)
    assert holdout_words.holdout(HormoneStudy().facts, 226, 452, 100) in words(at)
    result = tables(at)
    distances = result[("ε", "mean squared distance", "standard error")]
    assert tuple(distances["ε"]) == PAPER_EPSILONS
    usual = settings.Settings()
    budget = Budget(1.0, 1 / 678**2)
    runs = release_range(HormoneStudy(), usual.mechanism, (budget,), usual.seed)
    columns = ("Age", "mean of runs", "5 % quantile", "95 % quantile", "non-private")
    assert result[columns]["mean of runs"].tolist() == runs.mean[0].round(4).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["split", pytest.param("full_batch", marks=pytest.mark.slow)])
def test_other_methods_and_a_link_open_the_same_fold(scheme):
    at = open_page(f"{TWIN}~m-noisy_gradient_mean~m.scheme-{scheme}~{OPEN}", fold_holdout=True)
    assert not at.error
    assert holdout_words.LICENSED in words(at)


@pytest.mark.slow
def test_where_nothing_would_be_published_there_are_no_runs():
    at = open_page(f"{TWIN}~c.n_curves-40~epsilon-0.5~{OPEN}", fold_holdout=True)
    wording.found("runs show", words(at))
    assert not at.error
