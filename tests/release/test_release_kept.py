"""What is charged is never lost: a release is made from the ledger alone, whole, and charged once."""

import errno
import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine import __main__
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.types import Budget
from engine.mechanisms import mechanisms
from engine.mechanisms.families.adaptive import location
from engine.privacy.failure import Delta, large_delta, usual_delta
from engine.release import certified, ledger_file, published, repair, witness
from engine.release import files as release_files
from engine.release import folder as release_folder
from engine.release.books import Charge
from engine.release.ledger import Ledger
from engine.release.plan import ReleasePlan, messages_from_bytes, messages_to_bytes
from engine.sources import sources
from tests.heavy import few
from tests.ledgers import charges, pure, spent
from tests.release.test_ledger import own, study
from tests.release.test_release import SETTINGS, asked, data_for, made
from tests.release.test_release_files import request
from tests.sentences import of_topic

wording = of_topic("release")

SEA = sources.build("sea_temperature", {})
MEAN, BUDGET = mechanisms.build("bernstein", {}), Budget(1.0)


@pytest.fixture
def book(tmp_path):
    return Ledger(tmp_path / "ledger")


def publish(book, source=SEA, name="a", budget=BUDGET, mechanism=MEAN, **more):
    return published.publish(source, mechanism, budget, book, name, **more)


# -- a ledger from before steps had keys -----------------------------------------------------------

EARLIER = Path(__file__).parents[1] / "golden" / "releases_before_step_keys.sqlite3"
RELEASED = json.loads(EARLIER.with_suffix(".json").read_text())


@pytest.fixture
def earlier(tmp_path, costly_guesses):
    for suffix in ("", ".witness"):
        shutil.copyfile(f"{EARLIER}{suffix}", tmp_path / f"ledger{suffix}")
    return Ledger(tmp_path / "ledger")


def same_curves(again, then):
    """The same up to rounding: other processors add the products of a matrix in another order."""
    assert again.columns.keys() == then["columns"].keys()
    for name, column in again.columns.items():
        np.testing.assert_allclose(column[::10], then["columns"][name], rtol=1e-11)


READ_OTHERWISE = ("covariates", "unknown times")  # by methods that have changed since


@pytest.mark.parametrize("name", few([name for name in RELEASED if name not in READ_OTHERWISE], 3))
def test_a_release_from_before_steps_had_keys_is_made_again(earlier, name):
    then = RELEASED[name]
    again = published.again(earlier, then["id"])
    same_curves(again, then)
    listed = again.card["accounting"]["messages"]
    assert [[one["from"], one["what"], one["numbers"]] for one in listed] == then["messages"]


@pytest.mark.parametrize("name", READ_OTHERWISE)
def test_messages_that_an_earlier_version_read_in_another_way_are_not_read(earlier, name):
    with pytest.raises(InputError, match=r"version 0\.2\.0"):
        published.again(earlier, RELEASED[name]["id"])


def test_a_ledger_from_before_steps_had_keys_is_right_and_a_request_in_it_is_charged_once(earlier):
    assert repair.verify(earlier).problem is None
    air = sources.build("airport_temperature", {})
    before = spent(earlier, air)
    done = publish(
        earlier, air, "gradient", Budget(1.0, 1e-6), mechanisms.build("noisy_gradient_mean", {})
    )
    assert done.release_id == RELEASED["gradient"]["id"]
    assert spent(earlier, air) == before


@pytest.fixture
def all_alike():
    """Every step of the adaptive mean is called the same by people."""
    labels = {step: step.label for step in location.SEPARATE}
    for step in labels:
        object.__setattr__(step, "label", "a message")
    yield
    for step, label in zip(location.SEPARATE, labels.values(), strict=True):
        object.__setattr__(step, "label", label)


def test_messages_and_lines_are_matched_by_keys_whatever_people_read(all_alike, earlier):
    then = RELEASED["adaptive"]
    again = published.again(earlier, then["id"])
    same_curves(again, then)
    assert {one["what"] for one in again.card["accounting"]["messages"]} == {"a message"}
    assert [line.sensitivity for line in again.cost.spends] == [
        (step.sensitivity / 1092,) for step in location.SEPARATE
    ]


# -- made from messages alone ---------------------------------------------------------------------


@pytest.mark.parametrize(("key", "chosen"), few(SETTINGS, 9), ids=str)
def test_a_release_is_the_same_from_its_messages_as_it_was_where_they_were_drawn(key, chosen):
    """Data of other people of the same sizes stand in, and give it to the last bit."""
    mechanism = made(key, chosen)
    data, others = (data_for(mechanism, seed) for seed in (0, 5))
    cost = certified.release_cost(data, mechanism, asked(mechanism))
    first, messages = certified.hardened(data, mechanism, cost)
    stored = messages_from_bytes(messages_to_bytes(messages))
    again = certified.replayed(others.stand_in(), mechanism, cost, stored)
    grid = drawing_grid()
    assert np.array_equal(first.values(grid), again.values(grid))
    assert first.limits is None or all(map(np.array_equal, first.limits, again.limits))


@pytest.mark.parametrize("size", [0.0, 1.0, 1e12])
def test_what_is_stored_of_messages_has_a_size_that_does_not_depend_on_their_numbers(size):
    messages = {(0, "b"): np.full(7, size), (-1, "a"): np.full(3, -size)}
    assert len(messages_to_bytes(messages)) == len(
        messages_to_bytes({key: np.full(len(one), np.pi) for key, one in messages.items()})
    )
    back = messages_from_bytes(messages_to_bytes(messages))
    assert {key: one.tolist() for key, one in back.items()} == {
        key: one.tolist() for key, one in messages.items()
    }


def test_of_several_ways_to_form_a_number_only_the_one_that_is_sent_is_noised_and_kept():
    mechanism = mechanisms.build(
        "univariate_mean", {"setting": "central_user", "person_spread": 0.0}
    )
    data = data_for(mechanism)
    many = type(data)(
        **{
            **{name: getattr(data, name) for name in ("facts", "truth")},
            "times": np.tile(data.times, 50),
            "values": np.tile(data.values, 50) * 0.01,
            "counts": np.tile(data.counts, 50),
            "server": np.tile(data.server, 50),
        }
    )
    cost = certified.release_cost(many, mechanism, Budget(1.0))
    _, messages = certified.hardened(many, mechanism, cost)
    assert cost.messages.keys() == messages.keys()
    assert {step: len(one) for (_, step), one in messages.items()} == {
        step: one.size for (_, step), one in cost.messages.items()
    }
    assert all(one.ndim == 1 for one in messages.values())


@pytest.mark.parametrize("what", ["curves", "covariates", "records"])
def test_a_plan_holds_public_facts_and_no_number_of_anybody(what, book):
    source, mechanism = own(study(), 300.0), MEAN
    if what == "records":
        source = sources.build("ages_at_death", {})
        mechanism = mechanisms.build("iclp", {"task": "density"})
    plan = published.planned(source, mechanism, BUDGET, "a")
    assert ReleasePlan.read(plan.to_bytes()).plain == plan.plain
    cost = published.release_cost(source, mechanism, BUDGET)
    assert (plan.cost.certified, plan.cost.inner_budgets, plan.cost.messages) == (
        cost.certified,
        cost.inner_budgets,
        cost.messages,
    )
    if what == "curves":
        text = plan.to_bytes().decode()
        other = published.planned(own(study(seed=9), 300.0), mechanism, BUDGET, "a")
        assert text == other.to_bytes().decode() and "child-7" not in text


@pytest.mark.parametrize("n", [1, 5, 9, 10, 11, 40, 199, 200, 10**6])
def test_the_usual_total_has_room_for_twenty_of_the_usual_delta_and_is_not_called_large(n):
    total = large_delta(n)
    assert 20 * usual_delta(n) <= total * (1 + 1e-12)
    assert not Delta(total, n).is_near_one_in_n and Delta(2 * total, n).is_near_one_in_n


def test_a_release_that_would_take_new_people_to_a_large_delta_is_refused(book):
    source, n = own(study(), 300.0), own(study(), 300.0).sizes.n_curves
    with pytest.raises(InputError, match="40 of 40 people have less left") as refusal:
        published.publish(
            source,
            mechanisms.build("noisy_gradient_mean", {"n_iterations": 2}),
            Budget(3.0, 0.2 / n),
            book,
            "a",
        )
    assert "δ" in refusal.value.hint


# -- people who have nothing left -----------------------------------------------------------------


def test_people_without_budget_are_left_out_where_that_is_asked_and_the_card_says_so(book):
    rows, budget = study(), Budget(2.0)
    some = own([row for row in rows if int(row[0][6:]) < 10], 300.0)
    publish(book, some, "some", budget)
    with pytest.raises(InputError, match="10 of 40 people have less left"):
        publish(book, own(rows, 300.0), "all", budget)
    first = publish(book, own(rows, 300.0), "all", budget, leave_out=True)
    assert first.sizes.n_curves == 30
    assert first.card["exhausted"] == "left out"
    assert book.standing(own(rows, 300.0)) == {1.0: 40}
    again = publish(book, own(rows[::-1], 300.0), "all", budget, leave_out=True)
    assert again.release_id == first.release_id and len(book.entries()) == 2


def test_who_was_charged_is_drawn_for_after_a_kill_though_nothing_is_left_of_theirs(
    book, monkeypatch
):
    rows, budget = study(), Budget(2.0)
    publish(book, own([row for row in rows if int(row[0][6:]) < 10], 300.0), "some", budget)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(certified, "hardened", dies)
        publish(book, own(rows, 300.0), "all", budget, leave_out=True)
    release = publish(book, own(rows, 300.0), "all", budget, leave_out=True)
    assert release.sizes.n_curves == 30 and len(book.entries()) == 2


def test_where_all_have_nothing_left_nobody_can_be_left_out(book):
    publish(book, own(study(), 300.0), "first", Budget(3.0))
    with pytest.raises(InputError, match="None of these people has as much left"):
        publish(book, own(study(), 300.0), "second", leave_out=True)


def test_a_plan_that_is_read_back_is_not_rehearsed_again():
    plan = published.planned(own(study(), 300.0), MEAN, BUDGET, "a")
    again = ReleasePlan.read(plan.to_bytes())
    assert again.cost is plan.cost and again.stand_in is plan.stand_in


@pytest.mark.slow
def test_the_ledger_alone_makes_the_same_files_again_in_another_process(tmp_path, book):
    first = publish(book, own(study(), 300.0))
    script = (
        "import sys, pickle; from engine.release import published, files; "
        "from engine.release.ledger import Ledger; "
        "sys.stdout.buffer.write(pickle.dumps(files.all_files(published.again("
        "Ledger(sys.argv[1]), sys.argv[2]))))"
    )
    again = subprocess.run(
        [sys.executable, "-c", script, str(book.path), first.release_id],
        capture_output=True,
        check=True,
    ).stdout
    assert pickle.loads(again) == release_files.all_files(first)


def test_a_release_that_another_version_noised_otherwise_is_not_made_again(book, monkeypatch):
    first = publish(book)
    monkeypatch.setattr(
        "engine.release.plan._cost",
        lambda _: certified.release_cost(certified.publishable_data(SEA), MEAN, Budget(0.9)),
    )
    with pytest.raises(InputError, match="drawn by version"):
        published.again(book, first.release_id)


# -- charged once ---------------------------------------------------------------------------------


def test_the_same_request_gives_the_same_release_and_is_charged_once(book):
    first = publish(book)
    second = publish(book)
    assert release_files.all_files(first) == release_files.all_files(second)
    assert charges(book, SEA) == [("a", "drawn")]


def test_the_order_and_the_names_of_a_file_make_no_other_request(book):
    rows = study()
    first = publish(book, own(rows, 300.0))
    second = publish(book, own(rows[::-1], 300.0))
    assert first.release_id == second.release_id


@pytest.mark.parametrize(
    "other",
    [
        {"budget": Budget(0.5)},
        {"source": own(study(), 299.0)},
        {"mechanism": mechanisms.build("iclp", {})},
    ],
    ids=["ε", "bounds", "method"],
)
def test_another_request_under_the_same_name_is_refused(book, other):
    publish(book, own(study(), 300.0))
    with pytest.raises(InputError, match="has this name already"):
        publish(book, **{"source": own(study(), 300.0), **other})


def test_another_name_is_another_release(book):
    first, second = publish(book), publish(book, name="b")
    assert first.release_id != second.release_id
    assert not np.array_equal(*(next(iter(one.columns.values())) for one in (first, second)))
    assert charges(book, SEA) == [("a", "drawn"), ("b", "drawn")]


def test_the_same_people_at_other_sites_are_another_request(book):
    plans = [published.planned(own(study(), 300.0), MEAN, BUDGET, "a") for _ in range(2)]
    data = certified.publishable_data(own(study(), 300.0))
    moved = type(data)(
        data.times, data.values, data.counts, (np.arange(40) >= 20).astype(int), data.facts
    )
    mixed = type(data)(
        data.times[:, ::-1], data.values[:, ::-1], data.counts, moved.server, data.facts
    )
    digests = {plans[0].requests_of(one) for one in (data, moved, mixed)}
    assert len(digests) == 3 and plans[1].requests_of(data) in digests


class Killed(BaseException):
    """Stands for the end of the process."""


def dies(*_args, **_more):
    raise Killed


def fails(*_args, **_more):
    raise ArithmeticError("the numbers are at fault")


def test_a_charge_without_a_draw_is_drawn_under_the_same_charge(book, monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(certified, "hardened", dies)
        publish(book)
    assert charges(book, SEA) == [("a", "charged")]
    with pytest.raises(InputError, match="nothing was drawn"):
        published.again(book, book.entries()[0].release_id)
    publish(book)
    assert charges(book, SEA) == [("a", "drawn")] and spent(book, SEA) == 1.0


@pytest.mark.parametrize("less", [Budget(2.9, 1e-4), Budget(3.0, 5e-5)], ids=["epsilon", "delta"])
def test_nothing_is_drawn_under_a_charge_of_less_than_it_costs(book, less):
    """As an earlier version may have left it, whose noise was thought to cost less."""
    source, budget = own(study(), 300.0), Budget(3.0, 1e-4)
    mechanism = mechanisms.build("noisy_gradient_mean", {"n_iterations": 2})
    plan = published.planned(source, mechanism, budget, "a")
    assert published.charge(plan, source, Charge(less), book, "a mean").budget == less
    with pytest.raises(InputError, match="charged by another version"):
        published.publish(source, mechanism, budget, book, "a")
    (entry,) = book.entries()
    assert (entry.name, entry.state) == ("a", "charged")


def test_a_drawing_that_fails_closes_its_charge_so_that_nothing_chooses_among_drawings(
    book, monkeypatch
):
    with monkeypatch.context() as patch, pytest.raises(ArithmeticError):
        patch.setattr(certified, "hardened", fails)
        publish(book)
    assert charges(book, SEA) == [("a", "closed")]
    with pytest.raises(InputError, match="failed after it was charged"):
        publish(book)
    publish(book, name="b")
    assert charges(book, SEA) == [("a", "closed"), ("b", "drawn")]


def test_of_two_drawings_at_once_the_first_that_is_stored_is_the_release(book, run_with_noise):
    """Another process draws and stores under the same charge while this one draws."""
    seen = []

    def slow(usual, *given):
        if not seen:
            seen.append(None)
            seen[0] = publish(book)
        return usual(*given)

    run_with_noise(slow)
    assert release_files.all_files(publish(book)) == release_files.all_files(seen[0])
    assert charges(book, SEA) == [("a", "drawn")]


def test_nothing_is_shown_before_it_is_stored_and_in_the_witness(book, monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(Ledger, "store", dies)
        patch.setattr(published, "assemble", fails)  # would be called if anything were shown
        publish(book)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        usual, calls = witness.append, []
        patch.setattr(witness, "append", lambda *args: dies() if calls else usual(*args))
        patch.setattr(published, "assemble", fails)
        calls.append("from now on")
        publish(book)
    assert charges(book, SEA) == [("a", "drawn")]
    assert " drawn " not in book.witness.read_text()
    published.again(book, book.entries()[0].release_id)
    assert " drawn " in book.witness.read_text()  # before it was shown


def test_unfinished_charges_of_earlier_versions_are_not_drawn_again(book):
    book.charge(SEA, pure(1.0), "a", "what")  # without a request, as they wrote it
    with pytest.raises(InputError, match="has this name already"):
        publish(book)
    assert charges(book, SEA) == [("a", "unfinished")]


# -- a full disk ----------------------------------------------------------------------------------


def full(*_args, **_more):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_of_the_ledger_loses_nothing(book, monkeypatch):
    usual = ledger_file._connected

    def small(path):
        file = usual(path)
        pages = file.execute("PRAGMA page_count").fetchone()[0]
        file.execute(f"PRAGMA max_page_count = {pages}")
        return file

    publish(book)
    with monkeypatch.context() as patch:
        patch.setattr(ledger_file, "_connected", small)
        with pytest.raises(InputError, match=r"disk of the ledger.*full"):
            for k in range(9):
                publish(book, name=f"b{k}", budget=Budget(0.1))
    assert spent(book, SEA) <= 1.9
    states = dict(charges(book, SEA))
    for name in [*states, "after"]:
        publish(book, name=name, budget=BUDGET if name == "a" else Budget(0.1))
    assert set(dict(charges(book, SEA)).values()) == {"drawn"}


@pytest.mark.parametrize("line", [1, 2], ids=["of the charge", "of the drawing"])
def test_a_full_disk_of_the_witness_loses_nothing(book, monkeypatch, line):
    usual, calls = witness.append, []

    def append(path, rows):
        calls.append(rows)
        return full() if len(calls) == line else usual(path, rows)

    with monkeypatch.context() as patch:
        patch.setattr(witness, "append", append)
        with pytest.raises(InputError, match="full"):
            publish(book)
    assert charges(book, SEA) == [("a", ["charged", "drawn"][line - 1])]
    assert publish(book) and spent(book, SEA) == 1.0


def test_files_are_written_whole_or_not_at_all_on_a_full_disk(tmp_path, monkeypatch, capsys):
    command = [*request(tmp_path), "--yes"]
    usual, opened = release_folder.Path.open, []

    class Full:
        def __init__(self, stream):
            self._stream = stream

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self._stream.close()

        def write(self, content):
            self._stream.write(content[:10])
            full()

    def third(path, *args, **more):
        stream = usual(path, *args, **more)
        if path.name.endswith(".unfinished") and not path.name.startswith(
            (".tried", ".release.csv")
        ):
            opened.append(path)
            return Full(stream)
        return stream

    with monkeypatch.context() as patch:
        patch.setattr(release_folder.Path, "open", third)
        assert __main__.main(command) == 2
    problem = capsys.readouterr().err
    assert opened and "No space left" in problem and "release --again" in problem
    assert not list((tmp_path / "out").iterdir())
    assert __main__.main(command) == 0
    assert "made again" in capsys.readouterr().out
    assert len(list((tmp_path / "out").iterdir())) == 8


# -- the command ----------------------------------------------------------------------------------


def test_the_command_says_that_a_release_is_there_already_and_writes_it_again(tmp_path, capsys):
    command = request(tmp_path)
    assert __main__.main([*command, "--yes"]) == 0
    files = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    capsys.readouterr()
    assert __main__.main(command) == 0
    out, problem = capsys.readouterr()
    wording.found("made again ledger", out)
    assert "--yes" in problem
    (tmp_path / "out" / "release.svg").unlink()
    assert __main__.main([*command, "--yes"]) == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == files
    (tmp_path / "heights.csv").unlink()
    release_id = json.loads(files["guarantee.json"])["release"]["id"]
    again = ["release", "--again", release_id, *command[2:-1]]
    assert __main__.main([*again, str(tmp_path / "elsewhere")]) == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "elsewhere").iterdir()} == files
    assert "Left for" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--again", "0" * 16], "no release with this id"),
        ([], "Name a file"),
        (["x.json", "--again", "0" * 16], "not both"),
    ],
    ids=str,
)
def test_what_is_wrong_with_asking_again_is_said(tmp_path, capsys, arguments, words):
    options = ["--ledger", str(tmp_path / "ledger"), "--out", str(tmp_path / "out")]
    assert __main__.main(["release", *arguments, *options]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_folder_with_anything_else_is_never_written_into(tmp_path, capsys):
    command = request(tmp_path)
    assert __main__.main([*command, "--yes"]) == 0
    (tmp_path / "out" / "release.csv").write_text("edited")
    assert __main__.main([*command, "--yes"]) == 2
    assert "not empty" in capsys.readouterr().err
    assert (tmp_path / "out" / "release.csv").read_text() == "edited"
