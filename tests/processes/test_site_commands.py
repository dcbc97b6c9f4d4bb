"""Several sites on the command line, each a process with a folder of its own; the chapter of the guide, word for word."""

import itertools
import json
import os
import re
import shlex
import signal
import sys
import tempfile
import traceback
from pathlib import Path

import numpy as np
import pytest

from engine import __main__, handbook
from engine.core.errors import InputError
from engine.release import repair
from engine.release.ledger import Ledger
from engine.sites import centre
from engine.sites.folder import Folder
from engine.sites.protocol import Protocol
from engine.sites.signing import key_of
from tests.sentences import of_topic
from tests.site_runs import (
    KEY,
    NAMES,
    RING,
    agreed,
    curves_csv,
    files_of,
    opened,
    read,
    run,
    run_of,
    study,
    with_library,
)
from tests.waiting import PATIENCE, until

wording = of_topic("sites")

WORDS = re.compile(r"same at all sites:\s+([a-z-]{23})")
KEY_LINE = re.compile(r"partners add (\w+) ([0-9a-f]{64})")
SPOKEN = re.compile(r"[a-z]{5}(?:-[a-z]{5}){7}")
CHEAP = dict(key="noisy_gradient_mean", parameters={"n_iterations": 2}, people=(40, 30))
USERS = dict(zip((*NAMES, "centre"), range(64101, 64105), strict=True))  # of nobody else


@pytest.fixture(scope="module", autouse=True)
def warm(tmp_path_factory):
    """Everything is loaded before a process is forked: it may become a user who cannot read it."""
    assert "".encode("utf-8-sig")
    sites = opened(study(**CHEAP), tmp_path_factory.mktemp("warm"))
    wire = run(sites)
    release = sites[0].finished(read(wire))
    centre.all_files(run_of(sites, wire), release)


@pytest.fixture(autouse=True)
def _library(monkeypatch):
    with_library(monkeypatch)


class Command:
    """A command in a process of its own, forked so that nothing is loaded again."""

    def __init__(self, folder, words, user=None):
        self.output = folder / f".said-{os.urandom(4).hex()}"
        self.output.touch()
        self.output.chmod(0o666)
        sys.stdout.flush()
        self.process = os.fork()
        if self.process == 0:
            os._exit(self._run(folder, words, user))

    def _run(self, folder, words, user):
        code = 99
        signal.alarm(int(PATIENCE))  # a party that waits for ever is a failure
        try:
            with self.output.open("a") as said:
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
            sys.stdout = sys.stderr = os.fdopen(1, "w", buffering=1)
            if user is not None:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
                os.environ["PRIVACY_CURVES_KEY"] = str(folder / "server.key")
            os.chdir(folder)
            code = __main__.main(words)
        except SystemExit as end:
            code = end.code
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        return code

    def code(self):
        """Its exit code, once it has ended."""
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])

    def kill(self):
        """End it at once, unless it has just come to its end."""
        os.kill(self.process, signal.SIGKILL)
        assert self.code() in (-signal.SIGKILL, 0), self.said()

    def said(self):
        return self.output.read_text()


def steps():
    """The commands of the chapter, block by block: who types them, and what."""
    text = handbook.chapter("real_sites").text
    return [
        [tuple(line.split("$ ", 1)) for line in block.splitlines()]
        for block in re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)
    ]


def study_of_guide():
    text = handbook.chapter("real_sites").text
    return re.search(r"```json\n(.*?)```", text, flags=re.DOTALL)[1]


def words_of(line, **filled):
    for name, text in filled.items():
        line = re.sub(rf"\b{name}\b", text, line)
    words = shlex.split(line)
    assert words[:3] == ["python", "-m", "engine"]
    return words[3:]


def folders(tmp_path):
    """A folder for each party, with its file; and one that all share."""
    people = {site["name"]: site["people"] for site in json.loads(study_of_guide())["sites"]}
    for k, name in enumerate((*NAMES, "centre")):
        (tmp_path / name).mkdir()
        if name in people:
            (tmp_path / name / "heights.csv").write_text(curves_csv(k, people[name]))
            (tmp_path / name / "study.json").write_text(study_of_guide())
    (tmp_path / "through").mkdir()
    return {name: tmp_path / name for name in (*NAMES, "centre")}


def followed(places, users=None):
    """The chapter from its first command to its last; what was said, by command."""
    users = users or {}

    def all_of(block, **filled):
        said = []
        for who, line in block:
            command = Command(places[who], words_of(line, **filled), users.get(who))
            assert command.code() == 0, command.said()
            said.append(command.said())
        return said

    enrolment, books, offers, planning, looks, consents, at_once = steps()
    printed = "".join(all_of(enrolment))
    keys = {f"KEY_OF_{name.upper()}": key for name, key in KEY_LINE.findall(printed)}
    compared = SPOKEN.findall("".join(all_of(books, **keys)))
    assert set(compared) == set(SPOKEN.findall(printed)) and len(set(compared)) == 3
    all_of(offers)
    all_of(planning)
    for name in ("south", "east", "centre"):  # what North gives to the others
        copy = places[name] / "plan.json"
        copy.write_bytes((places["north"] / "plan.json").read_bytes())
        if users:
            os.chown(copy, users[name], users[name])
    shown = all_of(looks)
    (words,) = {WORDS.search(text)[1] for text in shown}
    all_of(consents, WORDS=words)
    running = [Command(places[who], words_of(line), users.get(who)) for who, line in at_once]
    for command in running:
        assert command.code() == 0, command.said()
    return shown, [command.said() for command in running]


def test_the_chapter_of_the_guide_can_be_followed_word_for_word(tmp_path):
    places = folders(tmp_path)
    shown, said = followed(places)
    assert "You are east" in shown[2]
    wording.found("charged", shown[2], 0.5)
    assert "Nothing was signed" in shown[2]
    for text in said:
        wording.found("all there", text, 18)
    written = {path.name for path in (places["centre"] / "release").iterdir()}
    assert written >= {
        "release.csv",
        "release.html",
        "transcript.json",
        "guarantee-north.json",
        "guarantee-south.json",
        "guarantee-east.json",
    }
    card = json.loads((places["centre"] / "release" / "guarantee-east.json").read_text())
    assert card["guarantee"]["epsilon"] == 0.5
    # each hospital has the release in its own ledger, and can write it at no charge
    (release_id,) = re.findall(r"with id ([0-9a-f]{16})", said[0])
    command = Command(
        places["north"],
        ["release", "--again", release_id, "--ledger", "ledger.sqlite3", "--out", "mine"],
    )
    assert command.code() == 0, command.said()
    mine, theirs = (
        (folder / "release.csv").read_text()
        for folder in (places["north"] / "mine", places["centre"] / "release")
    )
    assert mine == theirs


@pytest.fixture
def shared_place():
    """A folder that all users may enter; any run of pytest closes those of `tmp_path` again."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may be several users")
def test_hospitals_are_users_who_cannot_read_each_other_s_files(shared_place):
    places = folders(shared_place)
    (shared_place / "through").chmod(0o1777)
    for name, place in places.items():
        for path in (place, *place.iterdir()):
            os.chown(path, USERS[name], USERS[name])
            path.chmod(0o700 if path.is_dir() else 0o600)
    probe = Command(places["north"], ["site-key", "probe", "--shared"], USERS["north"])
    if probe.code() != 0:
        pytest.skip("other users cannot read this program here")
    _, said = followed(places, USERS)
    for text in said:
        wording.found("all there", text, 18)
    spy = Command(
        places["north"],
        [
            "site",
            "../south/heights.csv",
            "--name",
            "north",
            "--through",
            "../through",
            "--key",
            "north.key",
            "--ledger",
            "ledger.sqlite3",
        ],
        USERS["north"],
    )
    assert spy.code() == 2
    spy = Command(
        places["north"], ["ledger", "verify", "--ledger", "../south/ledger.sqlite3"], USERS["north"]
    )
    assert spy.code() != 0
    # the whole traffic, searched for what stands in the files
    traffic = b"".join(path.read_bytes() for path in (shared_place / "through").iterdir()).decode()
    for k, name in enumerate(NAMES):
        rows = curves_csv(k, 60).splitlines()[1:]
        assert not any(value in traffic for row in rows for value in row.split(",")[1:]), name
        assert f"c{k}_" not in traffic


# -- killed, and gone on with ----------------------------------------------------------------------


@pytest.fixture
def parties(tmp_path):
    """A plan of several rounds that all signed off, with files and keys, and the words of each."""
    signed, _ = agreed(study(**CHEAP), tmp_path)
    plan = signed[0].plan
    (tmp_path / "through").mkdir()
    for text, member in zip(files_of(plan.study), plan.study.members, strict=True):
        (tmp_path / f"{member.name}.csv").write_text(text)
    (tmp_path / "plan.json").write_bytes(plan.to_bytes())
    (tmp_path / "all.key").write_text(KEY.to_text())
    words = {
        name: [
            "site",
            f"{name}.csv",
            "--name",
            name,
            "--through",
            "through",
            "--key",
            "all.key",
            "--ledger",
            f"{name}.sqlite3",
        ]
        for name in ("north", "south")
    }
    return (
        plan,
        tmp_path,
        {**words, "centre": ["centre", "--through", "through", "--key", "all.key"]},
    )


def sent(folder):
    return {path.name: path.read_bytes() for path in (folder / "through").glob("0*.json")}


@pytest.mark.slow
def test_every_party_can_be_killed_at_every_message_and_goes_on(parties):
    """No message is drawn twice, the release is one, and each ledger was charged once."""
    plan, folder, words = parties
    history = []
    for n in range(1, 5):
        both = [Command(folder, words[name]) for name in ("north", "south")]
        until(lambda n=n: len(sent(folder)) >= n)
        for command in both:
            command.kill()
        history.append(sent(folder))
    ends = [Command(folder, words[name]) for name in ("north", "south", "centre")]
    assert [command.code() for command in ends] == [0, 0, 0], [c.said() for c in ends]
    history.append(sent(folder))
    for earlier, later in itertools.pairwise(history):
        assert earlier.items() <= later.items()  # what was sent stays as it was
    assert len(history[-1]) == 4
    for name, epsilon in (("north", 3), ("south", 3)):
        verify = Command(folder, ["ledger", "verify", "--ledger", f"{name}.sqlite3"])
        assert verify.code() == 0 and f"ε = {epsilon}" in verify.said()
    text = (folder / "release" / "transcript.json").read_text()
    heard = centre.from_transcript(text)
    assert len(heard.checked(RING)) == 4 and heard.plan.digest == plan.digest


@pytest.mark.slow
def test_with_once_a_site_does_what_it_can_and_ends(parties):
    _, folder, words = parties
    codes = [
        Command(folder, [*words[name], "--once"]).code()
        for name in ("north", "south", "north", "south", "centre", "north")
    ]
    # North waits for South’s sign-off; South, which has North’s, draws its first; North both.
    assert codes == [3, 3, 3, 0, 0, 0]


@pytest.mark.slow
def test_a_site_waits_for_the_sign_offs_of_all_and_charges_nothing_before(parties):
    _, folder, words = parties
    alone = Command(folder, [*words["north"], "--once"])
    assert alone.code() == 3
    wording.found("south signed off", alone.said())
    assert not (folder / "north.sqlite3").exists() and sent(folder) == {}


def test_a_site_that_has_not_signed_off_reads_no_row(parties):
    plan, folder, words = parties
    (folder / "copy").mkdir()
    command = Command(folder, [*words["north"], "--ledger", "copy/north.sqlite3"])
    assert command.code() == 2
    wording.found("offer north made", command.said())
    command = Command(folder, ["sign-off", "plan.json", *words["north"][2:], "--words", "no-words"])
    assert command.code() == 2
    wording.found("first words", command.said())


def test_a_site_that_withdraws_says_from_which_round_on_and_never_draws_again(parties):
    _, folder, words = parties
    for name in ("south", "north"):
        assert Command(folder, [*words[name], "--once"]).code() == 3
    back = Command(folder, ["withdraw", "plan.json", *words["north"][2:]])
    assert back.code() == 0
    wording.found("round never draws", back.said(), 2, 2)
    stated = json.loads((folder / "through" / "withdrawal-north.json").read_text())
    assert stated["round"] == 1 and stated["kind"] == "withdrawal"
    Command(folder, [*words["south"], "--once"]).code()
    before = sent(folder)
    ended = Command(folder, [*words["north"], "--once"])
    assert ended.code() == 2
    wording.found("part study ended", ended.said())
    assert sent(folder) == before


def test_words_that_do_not_fit_are_refused_before_a_row_is_read(parties):
    _, folder, words = parties
    north = words["north"]
    for wrong, why in (
        (["--plan", "north.csv"], "plan"),
        (["--name", "west"], "no site 'west'"),
        (["--through", "nowhere"], "no folder"),
        (["--key", "plan.json"], "no key"),
    ):
        command = Command(folder, [*north, *wrong])
        assert command.code() == 2 and why in command.said().replace("“", "'"), command.said()
        assert not (folder / "north.sqlite3").exists()


@pytest.mark.slow
def test_pipes_carry_the_same_messages_as_a_folder(parties):
    """South speaks on its standard streams; what it says is put into the folder of the others."""
    plan, folder, words = parties
    from engine.sites.pipes import Pipes

    ends = os.pipe(), os.pipe()
    there = Folder(folder / "through")
    child = os.fork()
    if child == 0:
        os.dup2(ends[0][0], 0)
        os.dup2(ends[1][1], 1)
        for pair in ends:
            os.close(pair[0]), os.close(pair[1])
        os.chdir(folder)
        signal.alarm(int(PATIENCE))
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(0),
            os.fdopen(1, "w"),
            os.fdopen(os.open("said", os.O_CREAT | os.O_WRONLY), "w"),
        )
        os._exit(__main__.main(["-" if word == "through" else word for word in words["south"]]))
    os.close(ends[0][0]), os.close(ends[1][1])
    pipes = Pipes(os.fdopen(ends[1][0], "rb"), os.fdopen(ends[0][1], "wb"))
    protocol = Protocol(plan)
    assert pipes.wait(0)  # the sign-off of South
    there.say(*pipes.sign_offs())
    assert Command(folder, [*words["north"], "--once"]).code() == 3
    for sign_off in there.sign_offs():
        pipes.say(sign_off)
    for n_round in range(protocol.n_rounds):
        Command(folder, [*words["north"], "--once"]).code()
        assert pipes.wait(0)  # a line of South
        for message in pipes.received():
            content = (
                json.dumps(
                    {"body": message.body, "signature": message.signature}, ensure_ascii=False
                ).encode()
                + b"\n"
            )
            there.send(protocol.turns[message.position], content)
        for message in there.received():
            if message.body["site"] == "north" and message.body["round"] == n_round:
                pipes.send(
                    protocol.turns[message.position],
                    json.dumps({"body": message.body, "signature": message.signature}).encode(),
                )
    pipes.incoming.close(), pipes.outgoing.close()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, (folder / "said").read_text()
    assert Command(folder, words["centre"]).code() == 0


# -- the folder ------------------------------------------------------------------------------------


def test_a_file_that_is_not_whole_waits_and_a_renamed_one_is_refused(parties):
    plan, folder, words = parties
    assert [Command(folder, [*words[name], "--once"]).code() for name in ("south", "north")] == [
        3,
        3,
    ]
    (path,) = (folder / "through").glob("0*.json")
    there, content = Folder(folder / "through"), path.read_bytes()
    path.write_bytes(content[:100])
    assert there.received() == [] and there.unfinished == [path.name]
    path.write_bytes(content)
    (folder / "through" / "notes.txt").write_text("of somebody else")
    assert len(there.received()) == 1
    path.rename(path.with_name(path.name.replace("0001-north", "0002-south")))
    with pytest.raises(Exception, match=r"0002-south-.* holds something else than its name says"):
        there.received()


class Service:
    """Copies files between the folders of three machines, as services for that do: not at once.

    Under its name a file may be there as a link to nothing, empty, in part, closed to readers or
    gone again before it is whole; in part it may be under another name first.
    """

    STAGES = ("link", "empty", "part", "aside", "gone", "closed", "part")

    def __init__(self, folders, rng):
        self.folders, self.rng, self.left = folders, rng, {}

    def step(self, most):
        """Take one file a step further; only `most` messages become whole anywhere."""
        ways = []
        for origin, folder in self.folders.items():
            for path in sorted(folder.glob(f"*-{origin}*.json")):
                for to, there in self.folders.items():
                    key = (path.name, to)
                    if to != origin and self.left.get(key) != []:
                        self.left.setdefault(key, [*self.rng.permutation(self.STAGES)[:4], "whole"])
                        ways.append((path, there / path.name, key))
        whole = {name for (name, _), left in self.left.items() if not left and name[0] == "0"}
        ways = [
            way
            for way in ways
            if self.left[way[2]] != ["whole"]
            or way[0].name[0] != "0"
            or way[0].name in whole
            or len(whole) < most
        ]
        if ways:
            path, target, key = ways[self.rng.integers(len(ways))]
            self._copy(path.read_bytes(), target, self.left[key].pop(0))

    def _copy(self, content, target, stage):
        aside = target.with_name(f"{target.name}.{stage}~")
        target.unlink(missing_ok=True)
        if stage == "link":
            target.symlink_to(aside)
        elif stage == "aside":
            aside.write_bytes(content[:-1])
        elif stage == "whole":
            aside.write_bytes(content)
            aside.replace(target)
        elif stage != "gone":
            n = {"empty": 0, "part": self.rng.integers(len(content)), "closed": len(content)}[stage]
            target.write_bytes(content[:n])
            target.chmod(0o000 if stage == "closed" else 0o644)


def killed_while_files_travel(parties, seed, kills):
    """A run of three machines whose parties are killed; how many kills came after messages."""
    plan, folder, words = parties
    rng = np.random.default_rng(seed)
    folders = {name: folder / f"through-{name}" for name in words}
    for path in folders.values():
        path.mkdir()
    words = {
        name: [f"through-{name}" if word == "through" else word for word in each]
        for name, each in words.items()
    }
    service, sent, late = Service(folders, rng), {}, 0
    running = {name: Command(folder, each) for name, each in words.items()}

    def travel(most):
        for _ in range(rng.integers(1, 6)):
            service.step(most)
        for name in ("north", "south"):  # of what a site sent nothing ever changes
            for path in folders[name].glob(f"0*-{name}-*.json"):
                assert sent.setdefault(path.name, path.read_bytes()) == path.read_bytes()

    for done in range(kills):
        if 2 * done >= kills:
            until(lambda: travel(1) or sent)
        for _ in range(rng.integers(1, 400)):  # a random while
            travel(1)
        name = [*running][rng.integers(3)]
        running[name].kill()
        late += bool(sent)
        running[name] = Command(folder, words[name])
    until(lambda: travel(4) or (folder / "release" / "transcript.json").exists())
    until(lambda: travel(4) or all(left == [] for left in service.left.values()))
    for command in running.values():
        assert command.code() == 0, command.said()
    heard = centre.from_transcript((folder / "release" / "transcript.json").read_text())
    assert len(heard.checked(RING)) == len(sent) == 4 and heard.plan.digest == plan.digest
    for name in ("north", "south"):
        (entry,) = Ledger(folder / f"{name}.sqlite3").entries()
        assert entry.state == "drawn" and repair.verify(Ledger(folder / f"{name}.sqlite3")).holds
    return late


def test_files_that_a_service_brings_in_parts_are_waited_for_through_kills(parties):
    assert killed_while_files_travel(parties, 0, 4) >= 2


def test_the_transcript_holds_what_the_release_was_made_of_where_a_file_goes_again(parties):
    """A service may have a file gone a moment after it was read."""
    _, folder, words = parties
    running = [Command(folder, words[name]) for name in ("north", "south")]
    assert [command.code() for command in running] == [0, 0]
    last = max((folder / "through").glob("0*.json"))
    made = centre.released

    def goes_again(run, transcript):
        last.unlink()
        return made(run, transcript)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(centre, "released", goes_again)
        assert Command(folder, words["centre"]).code() == 0
    heard = centre.from_transcript((folder / "release" / "transcript.json").read_text())
    assert len(heard.checked(RING)) == 4 and not last.exists()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 13))
def test_a_hundred_kills_while_a_service_brings_files_lose_nothing(parties, seed):
    """Twelve runs of ten kills, half of which come after messages exist."""
    assert killed_while_files_travel(parties, seed, 10) >= 5


def test_what_is_in_the_way_of_a_message_waits_or_is_named(parties):
    _, folder, words = parties
    assert [Command(folder, [*words[name], "--once"]).code() for name in ("south", "north")] == [
        3,
        3,
    ]
    (path,) = (folder / "through").glob("0*.json")
    there, content = Folder(folder / "through"), path.read_bytes()
    for begun in (b"", content[:-1], content + b" ", bytes(len(content))):
        path.write_bytes(begun)
        assert there.received() == [] and there.unfinished == [path.name]
    waits = Command(folder, [*words["centre"], "--once"])
    assert waits.code() == 3 and path.name in waits.said()
    path.unlink()
    path.symlink_to("nowhere")
    assert there.received() == [] and there.unfinished == [path.name]
    for foreign in ("notes.txt", f"{path.stem} (1).json", f".{path.name}.tmp", path.name.upper()):
        (folder / "through" / foreign).write_text("of somebody else")
    assert there.received() == [] and there.unfinished == [path.name]
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError, match=path.name):
        there.received()
    assert Command(folder, [*words["north"], "--once"]).code() == 2
    path.rmdir()
    os.mkfifo(path)  # which would wait for a writer
    assert Command(folder, [*words["north"], "--once"]).code() == 2
    path.unlink()
    assert there.received() == [] and there.unfinished == []
    assert Command(folder, [*words["north"], "--once"]).code() == 3  # writes it again
    assert path.read_bytes() == content and len(there.received()) == 1


def test_the_command_prints_the_public_half_of_the_key_that_it_writes_and_never_over_it(tmp_path):
    command = Command(tmp_path, ["site-key", "north"])
    assert command.code() == 0
    key = key_of((tmp_path / "north.key").read_text())
    assert KEY_LINE.search(command.said())[2] == key.public
    assert key.secret.hex() not in command.said()
    assert Command(tmp_path, ["site-key", "hospitals", "--shared"]).code() == 0
    shown = Command(tmp_path, ["partners", "add", "north", key.public])
    assert shown.code() == 0 and SPOKEN.search(command.said())[0] in shown.said()
    listed = Command(tmp_path, ["partners", "list"])
    assert listed.code() == 0 and listed.said().startswith("north: ")
    assert Command(tmp_path, ["site-key", "hospitals", "--shared"]).code() == 2  # never over it
