"""What is large is walked once for its name, and another one has another name."""

from dataclasses import dataclass, replace

import pytest

from engine.core.identity import digest
from engine.core.registry import Parameterised, param
from tests import files
from tests.readings import curves_in


class Counted(tuple):
    """A tuple that counts how often it is walked."""

    walks = 0

    def __iter__(self):
        Counted.walks += 1
        return super().__iter__()


def curves():
    return curves_in(files.csv())


def test_a_large_table_is_walked_once_for_all_questions_about_it():
    table = replace(curves(), ids=Counted(curves().ids))
    walks = Counted.walks
    names = {digest(("a question", table)), digest(("another", table)), digest(table)}
    assert len(names) == 3 and Counted.walks == walks + 1


@pytest.mark.parametrize("change", [{"ids": ()}, {"n_people": 3}, {"values": None}])
def test_tables_that_are_equal_share_a_name_and_others_do_not(change):
    table = curves()
    change = {name: table.values + 1 if value is None else value for name, value in change.items()}
    assert digest(table) == digest(curves()) != digest(replace(table, **change))


def smoother(**newer):
    """A class of settings of one name, in which there may be a newer parameter."""

    @dataclass(frozen=True, kw_only=True)
    class Smoother(Parameterised):
        key, label = "smoother", "Smoother"
        width: float = param(0.1, "Width", "Of the window.", low=0.01, high=1.0)
        if newer:
            edges: str = param(
                "free", "Edges", "How they are treated.", choices=("free", "tied"), earlier="tied"
            )

    return Smoother(**newer)


def test_a_newer_parameter_counts_only_where_it_changes_what_was_done_before():
    assert digest(smoother()) == digest(smoother(edges="tied")) != digest(smoother(edges="free"))


def test_a_function_counts_as_its_name_and_one_that_no_module_has_is_refused():
    assert digest(curves) == digest(f"{__name__}:curves") != digest(smoother)
    for nameless in (lambda: None, Counted.__iter__, Counted().count):
        with pytest.raises(TypeError, match="cannot name"):
            digest(nameless)
