"""A question asked by its name with options is the question of a file."""

import json

import pytest

from engine.__main__ import main
from engine.commands.ask import question_of
from engine.core.errors import InputError
from engine.questions.kinds import kinds, to_plain
from tests.unit.test_questions import ASKED


def words(path, value):
    """Options for a plain value: the short ones wherever there are any."""
    if isinstance(value, dict) and "key" in value and "parameters" in value:
        return [
            f"--{path}",
            value["key"],
            *(
                word
                for name, part in value["parameters"].items()
                for word in words(f"{path}.{name}", part)
            ),
        ]
    if isinstance(value, list) and value and not isinstance(value[0], dict | list):
        return [f"--{path}", ",".join(map(text, value))]
    if isinstance(value, dict) and value:
        as_json = [f"--{path}", json.dumps(value)]
        is_record = path.split(".")[-1] in ("budget", "person", "asked", "source", "limits")
        return (
            [word for name, part in value.items() for word in words(f"{path}.{name}", part)]
            if is_record
            else as_json
        )
    return [f"--{path}", json.dumps(value) if isinstance(value, list | dict) else text(value)]


def text(value):
    return (
        {None: "none", True: "true", False: "false"}[value]
        if (value is None or isinstance(value, bool))
        else str(value)
    )


@pytest.mark.parametrize("name", ASKED)
def test_options_and_a_file_ask_the_same_question(name):
    values = to_plain(ASKED[name])
    kind = kinds()[values.pop("question")]
    options = [word for path, value in values.items() for word in words(path, value)]
    assert question_of(kind, options) == (ASKED[name], False)
    assert question_of(kind, [*options, "--json"]) == (ASKED[name], True)


REUSE = "ask reuse --first 1 --second 5 --delta 1e-5 --seed 3 --is_fresh true"


def test_a_name_with_options_prints_what_its_file_prints(tmp_path, capsys):
    file = tmp_path / "question.json"
    file.write_text(json.dumps(to_plain(ASKED["reuse"])))
    printed = []
    for command in (
        REUSE.split(),
        ["ask", str(file)],
        [*REUSE.split(), "--json"],
        ["ask", str(file), "--json"],
        ["ask", "--json", str(file)],
    ):
        assert main(command) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] and printed[2] == printed[3] == printed[4]
    assert json.loads(printed[2])


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("ask reuse --first 1", "lacks “second”"),
        (REUSE.replace("--seed 3", "--seed three"), "“seed” must be a whole number"),
        (REUSE.replace("--is_fresh true", "--is_fresh 1"), "“is_fresh” must be true or false"),
        ("ask curves --source nowhere --seed 1", "There is no source"),
        ("ask question.json --seed 1", "A file has no options"),
        ("ask sites --rows [{", "JSON"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(command, problem, capsys):
    assert main(command.split()) == 2
    assert problem in capsys.readouterr().err


def test_help_tells_arguments_and_the_parameters_of_the_chosen_source(capsys):
    kind = kinds()["curves"]
    with pytest.raises(SystemExit):
        question_of(kind, ["--source", "sparse_curves", "--help"])
    said = capsys.readouterr().out
    for option in ("--source.n_curves", "--budget.epsilon", "--mechanism KEY", "--person.units"):
        assert option in said
    assert "--mechanism.band" not in said


@pytest.mark.parametrize("value", ["", "-", "1e999", "nan", "[[[[", "{", "}", "“", "\0", "none"])
@pytest.mark.parametrize("path", ["source", "source.n_curves", "budget", "budget.epsilon", "seed"])
def test_no_value_of_an_option_ends_in_a_traceback(path, value):
    options = {
        "source": "sparse_curves",
        "mechanism": "adaptive_mean",
        "budget.epsilon": "1",
        "seed": "1",
        path: value,
    }
    try:
        question_of(kinds()["curves"], [f"--{name}={text}" for name, text in options.items()])
    except (InputError, SystemExit) as problem:
        assert isinstance(problem, InputError) or problem.code == 2
