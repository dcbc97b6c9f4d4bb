"""No input of the hostile corpus ends in a traceback, a hang, a data value or a path of the machine."""

import pytest

from tests.heavy import slow
from tests.hostile import corpus

CASES, FEW = corpus.cases(), corpus.few()


def test_the_corpus_is_large_and_the_same_each_time():
    assert len(CASES) >= 400 and len({str(case) for case in CASES}) == len(CASES)
    assert {case.door for case in CASES} == {"file", "scenario", "request", "arguments", "link"}
    again = corpus.cases()
    assert [(case.name, case.arguments, case.codes) for case in again] == [
        (case.name, case.arguments, case.codes) for case in CASES
    ]
    for one, other in zip(CASES, again, strict=True):
        for name in () if one.is_heavy or "workbook" in one.name else one.inputs:
            content = one.inputs[name]()
            assert (
                content.startswith(b"PK") or content == other.inputs[name]()
            )  # an archive holds the time


@pytest.mark.parametrize("case", [*corpus.in_order(), *FEW], ids=str)
def test_an_input_is_answered_or_refused_in_a_sentence(case, tmp_path, monkeypatch, capfd):
    corpus.prepared(case, tmp_path)
    monkeypatch.chdir(tmp_path)
    code = corpus.answer(case.door, list(case.arguments))
    result = capfd.readouterr()
    corpus.assert_held(case, corpus.Ran(code, result.out + result.err, 0.0, 0.0), tmp_path)


@pytest.mark.parametrize("case", [slow(case) for case in CASES], ids=str)
def test_an_input_in_a_process_of_its_own_keeps_to_time_and_memory(case, tmp_path):
    ran = corpus.run(case, tmp_path)
    corpus.assert_held(case, ran, tmp_path)
    assert ran.megabytes < corpus.MAX_MEGABYTES


def test_a_check_that_should_fail_does(tmp_path):
    case = CASES[0]
    for code, output in (
        (0, "fine"),
        (2, "Traceback (most recent call last)"),
        (2, "on our side"),
        (2, ""),
        (2, f"error: {corpus.SECRET.decode()}"),
        (2, f"error: {tmp_path}"),
        (-9, "error"),
    ):
        with pytest.raises(AssertionError):
            corpus.assert_held(case, corpus.Ran(code, output, 0.0, 0.0), tmp_path)
