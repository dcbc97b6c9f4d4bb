"""What must hold for every task, the moment it exists."""

from collections import Counter
from dataclasses import fields

import pytest

from engine.core.tasks import COUNTED, PUBLISHED, SUMMARIES, TASKS, DataType, Task, Unit
from engine.core.types import Budget
from engine.mechanisms import mechanisms
from engine.sources import sources
from engine.topics.decision.answer import DECIDED
from engine.uploads.curves import Upload
from engine.uploads.events import UploadEvents
from engine.uploads.reading_of_files import SINGLE
from engine.uploads.rows import UploadRows
from pages.parts.lab.estimands import ESTIMANDS
from pages.shared.state import links, settings
from pages.shared.state.lab_tasks import LAB_TASKS

ROLES = {"id", "server", "covariates", "label", *SINGLE}
every_task = pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.key)


@every_task
def test_it_says_what_it_is_in_words_that_no_other_task_has(task):
    assert all(getattr(task, name) for name in ("label", "result", "meaning", "loss"))
    assert task.meaning[0].isupper() and task.meaning.endswith(".")
    assert Counter(one.label for one in TASKS.values())[task.label] == 1
    assert task.unit is not Unit.UNSTATED


@every_task
def test_its_usual_source_and_method_serve_it_and_the_method_is_offered_first(task):
    source, mechanism = (
        sources.default(task.source, task.key),
        mechanisms.default(task.mechanism, task.key),
    )
    assert source.is_random and task.key in source.tasks & mechanism.tasks
    assert type(source) in sources.for_task(task.key)
    assert type(mechanism) is mechanisms.for_task(task.key)[0]


@every_task
def test_columns_of_a_file_have_roles_that_are_read_and_so_much_of_them_as_its_data_have(task):
    upload = (
        UploadRows if task.features else UploadEvents if task.data is DataType.EVENTS else Upload
    )
    assert set(task.roles) <= ROLES
    assert (task.features is not None) == (task.data is DataType.RECORDS and bool(task.roles))
    assert bool(task.roles) == (task.key in upload.tasks or task.data_of in Upload.tasks)
    if task.features:
        assert 1 <= task.features.fewest <= task.features.most
        assert [
            task.features.allows(n)
            for n in (task.features.fewest - 1, task.features.fewest, task.features.most + 1)
        ] == [False, True, False]
    else:
        assert set(task.states) <= {"spread"}


@every_task
def test_it_is_published_only_where_a_method_for_it_has_a_hardened_path_and_data_can_be_chosen(
    task,
):
    hardened = [
        cls
        for cls in mechanisms.for_task(task.key)
        for _, chosen in cls.presets_for(task.key)
        for budget in (Budget(1.0), Budget(1.0, 1e-6))
        if not cls(**chosen).why_not_published(budget)
    ]
    assert hardened or task.key not in PUBLISHED
    assert task.data_of in ("", *LAB_TASKS)
    assert task.key not in PUBLISHED or task.key in LAB_TASKS or task.data_of


@pytest.mark.parametrize("task", LAB_TASKS)
def test_data_and_method_that_can_be_chosen_serve_their_task_and_have_letters_of_their_own(task):
    study, offered = settings.FRONT_PAGE.studies[task], LAB_TASKS[task]
    assert task in study.source.tasks & study.mechanism.tasks
    assert offered.estimand in ESTIMANDS
    assert all(links.LETTERS.count(letter) == 1 for letter in offered.letters)


def test_letters_of_links_that_people_keep_stay_what_they_are():
    assert {task: "".join(offered.letters) for task, offered in LAB_TASKS.items()} == {
        "mean_function": "cm",
        "varying_coefficients": "gk",
        "wavelet_regression": "wv",
        "density": "dn",
        "covariance": "hq",
        "risk_minimisation": "lu",
        "sparse_regression": "xy",
        "survival": "ab",
        "cumulative_incidence": "ei",
        "distribution": "jo",
        "roc": "tz",
        "percentile_curves": "JZ",
    }


@pytest.mark.parametrize("keys", [PUBLISHED, SUMMARIES, DECIDED, COUNTED])
def test_what_is_offered_are_tasks_each_once(keys):
    assert set(keys) <= set(TASKS) and len(set(keys)) == len(keys)


def test_what_is_summarised_or_counted_can_be_chosen():
    assert {*SUMMARIES, *COUNTED} <= set(LAB_TASKS)


def test_every_field_of_a_task_tells_some_tasks_apart():
    assert [
        field.name
        for field in fields(Task)
        if len({getattr(task, field.name) for task in TASKS.values()}) < 2
    ] == []
