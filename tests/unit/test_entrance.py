"""What people bring passes one entrance: paths, text and JSON are bounded before they are read."""

import os
import stat
from types import SimpleNamespace

import pytest

from engine.__main__ import main
from engine.core import entrance
from engine.core.errors import InputError, brief
from tests.sentences import of_topic

wording = of_topic("work")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    os.mknod(tmp_path / "socket", 0o600 | stat.S_IFSOCK)
    (tmp_path / "to-file").symlink_to("file")
    (tmp_path / "to-device").symlink_to("/dev/zero")
    (tmp_path / "to-nothing").symlink_to("nothing")
    (tmp_path / "loop").symlink_to("loop")
    return tmp_path


STRANGE = ["pipe", "socket", "to-device", "loop", "file/below", "a\0b", "\ud800", "x" * 5000]


def test_a_regular_file_is_read_and_links_are_followed(folder):
    assert (
        entrance.bytes_of(folder / "file", 4)
        == entrance.bytes_of(folder / "to-file", 10)
        == b"text"
    )
    assert entrance.existing_file(folder / "file") == entrance.file_to_keep(str(folder / "file"))
    assert entrance.file_to_keep(folder / "new") == folder / "new"


@pytest.mark.parametrize(
    "door", [entrance.existing_file, entrance.file_to_keep, entrance.folder_to_fill]
)
@pytest.mark.parametrize(
    "name", [*STRANGE, "", "/proc/self/mem", "/proc/1/nothing", "/sys/kernel", "/dev/null"]
)
def test_what_is_no_file_or_folder_is_refused_unopened(folder, monkeypatch, door, name):
    monkeypatch.setattr(os, "open", None)  # calling it would be a TypeError
    where = name if name.startswith("/") or not name else f"{folder}/{name}"
    with pytest.raises(InputError) as refused:
        door(where, "file")
    assert (
        str(folder) not in str(refused.value)
        and len(str(refused.value)) < 200
        and refused.value.hint
    )


def test_a_folder_is_no_file_a_file_no_folder_and_a_broken_link_neither(folder):
    with pytest.raises(InputError, match="“folder” is a folder, not a regular file"):
        entrance.existing_file(folder / "folder")
    with pytest.raises(InputError, match="“file”: it is a regular file, no folder"):
        entrance.folder_to_fill(folder / "file")
    with pytest.raises(InputError, match="leads nowhere"):
        entrance.file_to_keep(folder / "to-nothing")


def test_no_more_than_the_limit_is_ever_held(folder):
    with pytest.raises(InputError, match="larger than 3e-06 MB"):
        entrance.bytes_of(folder / "file", 3)
    with (folder / "sparse").open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(InputError, match="larger than 1 MB"):
        entrance.text_of(str(folder / "sparse"))


def test_standard_input_has_the_same_limit(typed):
    typed("é".encode())
    assert entrance.text_of("-") == "é"
    for content, words in ((b"x" * 1_000_001, "longer than 1 MB"), (b"\xff", "not UTF-8")):
        typed(content)
        with pytest.raises(InputError, match=words):
            entrance.text_of("-")
    typed(None)
    assert entrance.text_of("-") == ""


def test_a_file_is_written_whole_or_not_at_all(folder, monkeypatch):
    entrance.write_whole(folder / "file", b"new")
    assert (folder / "file").read_bytes() == b"new"

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left on device"):
        entrance.write_whole(folder / "file", b"newer")
    assert (folder / "file").read_bytes() == b"new"
    assert not [name for name in os.listdir(folder) if "unfinished" in name]


# -- JSON -----------------------------------------------------------------------------------------


def test_json_at_its_limits_is_read():
    deep = "[" * entrance.MAX_DEPTH + "]" * entrance.MAX_DEPTH
    assert entrance.json_of(deep, "scenario")
    assert entrance.json_of(
        '{"a": "[[[{{{\\"[[", "b": [1e308, -1.5, 10, 5e-324, true, null]}', "scenario"
    ) == {"a": '[[[{{{"[[', "b": [1e308, -1.5, 10, 5e-324, True, None]}
    assert entrance.json_of(f'"{"x" * (entrance.MAX_TEXT - 2)}"', "scenario")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ('{\n"a": }', "line 2"),
        ("\0", "not valid JSON"),
        ("[" * 33 + "]" * 33, "more than 32 levels"),
        ("[" * 900_000, "more than 32 levels"),
        ('{"a":' * 100_000, "more than 32 levels"),
        ('"' + '\\"' * 400_000, "not valid JSON"),
        (" " * 1_000_001, "longer than 1 million"),
        ("1" + "0" * 400, "too large"),
        ("-1e999", "too large"),
        ("9" * 100_000, "too large"),
        ("NaN", "NaN or Infinity"),
        ("[-Infinity]", "NaN or Infinity"),
        ('{"ab": 1, "ab": 2}', "key “ab” twice"),
        ('["\\ud800"]', "no Unicode"),
    ],
    ids=range(16),
)
def test_other_json_is_refused_in_a_sentence(text, words):
    with pytest.raises(InputError, match=words) as refused:
        entrance.json_of(text, "scenario")
    assert refused.value.field == "scenario" and refused.value.hint


def test_values_are_brief_in_messages():
    assert brief("x" * 100) == repr("x" * 60 + "…") and brief("\x1b") == "'\\x1b'"
    assert (
        brief(10**400) == "a number of about 401 digits"
        and brief(7) == "7"
        and brief(True) == "True"
    )
    assert (brief([1]), brief({}), brief(object())) == ("a list", "an object", "something else")


def test_a_fault_of_our_own_shows_its_place_and_never_its_message(monkeypatch, capsys):
    from engine.commands import listing

    def breaks(_):
        raise ValueError(f"cannot use {100 + 23.456}")

    monkeypatch.setitem(listing._SHELVES, "x", SimpleNamespace(all=lambda: breaks(0)))
    assert main(["list"]) == 70
    said = capsys.readouterr().err
    wording.found("our side", said)
    assert "123.456" not in said
