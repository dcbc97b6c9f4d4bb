"""The commands `state`, `release` and `ledger`: facts are frozen, data published once, and kept."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.answers.card import comparison
from engine.commands import survival_request
from engine.commands.exit_codes import Exit
from engine.core.errors import InputError
from engine.core.lists import counted
from engine.core.tasks import DataType
from engine.core.types import Budget, Data
from engine.language.grammar import capital, plain_text
from engine.language.numbers import small
from engine.privacy.failure import large_delta
from engine.release import captions, ledger, published, repair, sentences, stated
from engine.release import files as release_files
from engine.release import folder as release_folder
from engine.release import request as release_request
from engine.release.freezing import Frozen, freeze_request
from engine.release.ledger import DEFAULT_TOTAL, Ledger
from engine.release.plan import Declaration
from engine.release.published import Published
from engine.release.request import Request
from engine.running import partitions, progress
from engine.simulation import scenario
from engine.sources import Source
from engine.topics.release import words
from engine.topics.release.preview import preview_before
from engine.uploads.curves import CurveTable
from engine.uploads.proposing.examples import summary_of
from engine.uploads.scratch import Resources
from engine.uploads.source import UploadedData
from engine.uploads.stored_curves import StoredCurves


def add(commands: Any) -> None:
    """The three commands with their options."""
    parser = commands.add_parser(
        "release", help="publish real data once, and write it to the ledger"
    )
    parser.add_argument(
        "file",
        nargs="?",
        help="what to publish (see docs), or - for standard input; or a .csv or .tsv of times to "
        "an event, which the options below describe",
    )
    parser.add_argument(
        "--again",
        metavar="ID",
        help="instead: write the files of an earlier release again, from the ledger, at no charge",
    )
    parser.add_argument("--name", help="what the release is called, instead of the file's own")
    add_paths(parser)
    add_people(parser)
    _add_resources(parser)
    parser.add_argument(
        "--about-file",
        action="store_true",
        help="instead: how a file of your own "
        "was read and what to look at in it; as private as the data",
    )
    parser.add_argument(
        "--yes", action="store_true", help="really publish; without it only the cost is shown"
    )
    parser.add_argument(
        "--contact",
        default="",
        metavar="TEXT",
        help="who answers questions about the data, for the guarantee card",
    )
    parser.add_argument(
        "--out", metavar="DIR", default="release", help="folder for the files (default: release)"
    )
    survival_request.add(parser)
    parser.set_defaults(command=command)
    _add_state_command(commands)
    _add_ledger_command(commands)


def _add_state_command(commands: Any) -> None:
    parser = commands.add_parser(
        "state",
        help="freeze the stated facts of a file, then compare the file with them",
        description="Writes to the ledger what a request states of its file, and then says, for "
        "you alone, where the file contradicts it. A fact may still be changed; the guarantee card "
        "names it.",
    )
    parser.add_argument("file", help="the request, or - for standard input")
    parser.add_argument("--name", help="what the release is called, instead of the file's own")
    parser.add_argument(
        "--unseen",
        action="store_true",
        help="you state that nobody has looked at the file yet: the card says so",
    )
    add_paths(parser)
    _add_resources(parser)
    parser.set_defaults(command=state)


def _add_resources(parser: argparse.ArgumentParser) -> None:
    """Add what files of any size may take, and if progress is shown."""
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help="memory that reading a large file may take, such as 500MB (default: half of what is "
        "free, at most 2GB)",
    )
    parser.add_argument(
        "--scratch",
        metavar="DIR",
        help="folder for what does not fit into memory: a copy of the columns that are read, in "
        "files without a name that are gone with the process (default: the system's)",
    )
    parser.add_argument(
        "--executor",
        default="serial",
        help="serial (default), processes:N or dask://HOST:PORT: workers of your own that read "
        "parts of the files; --memory holds for each",
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress")


@contextmanager
def _resources(options: argparse.Namespace) -> Iterator[Resources]:
    """Yield what reading may take; workers end with it."""
    with partitions.make(options.executor) or nullcontext() as executor:
        yield Resources.usual(_bytes_of(options.memory), options.scratch, executor)


def _bytes_of(text: str | None) -> int | None:
    """Read a size such as 500MB or 2GB."""
    if text is None:
        return None
    size = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(MB|GB)", text.strip().upper())
    if size is None:
        raise InputError(
            "“--memory” must be a size.", field="memory", hint="For example 500MB or 2GB."
        )
    return int(float(size[1]) * {"MB": 10**6, "GB": 10**9}[size[2]])


def add_people(parser: argparse.ArgumentParser) -> None:
    """Add what the holder says of the people and of the most that they may lose."""
    parser.add_argument(
        "--people",
        choices=("same", "others"),
        help="if people have the curve of "
        "somebody released before under other ids: the same people, who are "
        "charged together (default), or others, which the ledger records",
    )
    parser.add_argument(
        "--total-epsilon",
        type=float,
        metavar="E",
        help="most that all "
        "releases may cost one person; fixed by the first of a ledger (default: "
        f"{ledger.DEFAULT_TOTAL:g})",
    )
    parser.add_argument(
        "--total-delta", type=float, metavar="D", help="the same for δ (default: a tenth of 1/n)"
    )


def add_paths(parser: argparse.ArgumentParser) -> None:
    """Add where the ledger and its witness are."""
    parser.add_argument(
        "--ledger",
        metavar="PATH",
        help="the ledger (default: what the "
        f"variable {ledger.VARIABLE} names, else one in your data folder)",
    )
    parser.add_argument(
        "--witness",
        metavar="PATH",
        help="the text file outside the ledger with a "
        "line for each release (default: what the variable "
        f"{ledger.WITNESS_VARIABLE} names, else one beside the ledger)",
    )


def state(options: argparse.Namespace) -> Exit:
    """Freeze what is stated, and only then say where the file contradicts it."""
    ledger, text = Ledger(options.ledger, options.witness), scenario.text_of(options.file)
    with _resources(options) as resources, progress.shown(options.quiet):
        _frozen(options, ledger, text, options.unseen)
        return _about_file(release_request.from_json(text, _folder(options), resources)[0].source)


def _folder(options: argparse.Namespace) -> Path:
    return Path.cwd() if options.file == "-" else Path(options.file).parent


def _frozen(
    options: argparse.Namespace, ledger: Ledger, text: str, unseen: bool = False
) -> Frozen | None:
    """Freeze what a request states, and say so; nothing of public data."""
    frozen = freeze_request(text, _folder(options), ledger, options.name or "", unseen)
    if frozen is not None:
        print(frozen.in_words, file=sys.stderr)
    return frozen


def command(options: argparse.Namespace) -> Exit:
    """Publish; without --yes show the cost, and charge nothing."""
    ledger = Ledger(options.ledger, options.witness)
    if options.again is not None:
        return _again(options, ledger)
    if options.file is None:
        raise InputError(
            "Name a file that says what to publish.",
            field="file",
            hint="Or give --again and the id of an earlier release.",
        )
    with progress.shown(options.quiet) as shown:
        try:
            with _resources(options) as resources:
                return _released(options, ledger, resources)
        except KeyboardInterrupt:
            shown.end_line()
            print(
                f"Stopped in {shown.where}, after the charge. The same command goes on there."
                if shown.where
                else "Stopped. Nothing was charged.",
                file=sys.stderr,
            )
            return Exit.STOPPED


def _released(options: argparse.Namespace, ledger: Ledger, resources: Resources) -> Exit:
    """Read what the request names, and publish it or show the cost."""
    is_table = survival_request.is_table(options.file)
    text = survival_request.text(options) if is_table else scenario.text_of(options.file)
    frozen = _frozen(options, ledger, text)
    requests = release_request.from_json(text, _folder(options), resources)
    if options.about_file:
        return _about_file(requests[0].source)
    declared = (
        Declaration(contact=options.contact)
        if frozen is None
        else frozen.declaration(contact=options.contact)
    )
    declared = replace(declared, tuned_on=requests[0].tuned_on)
    if declared.tuned_on:
        print(f"Tuned on public data, for no budget: {declared.tuned_on}.")
    if len(requests) == 1:
        return _single(
            options, ledger, requests[0], options.name or requests[0].name, options.out, declared
        )
    return _of_groups(options, ledger, requests, declared)


def _about_file(source: Source[Data]) -> Exit:
    """Describe the file to its holder as a page does, only if asked: it counts private data."""
    if not isinstance(source, UploadedData):
        raise InputError(
            "These data are public; there is no file of your own to look at.", field="about_file"
        )
    table = source.observations
    number = len(table.values) if isinstance(table, CurveTable) else source.sizes.n_curves
    if isinstance(source, StoredCurves):
        number = source.table.n_observations
    first = (
        ()
        if source.reading is None
        else ("; ".join(summary_of(source.reading, source.sizes.n_curves, number)),)
    )
    for line in (*first, *table.notes, *source.doubts, *source.remarks()):
        print(f"* {capital(line.removesuffix('.'))}.")
    print("These lines are as private as the data. Nothing was published.", file=sys.stderr)
    return Exit.DONE


def _of_groups(
    options: argparse.Namespace, ledger: Ledger, requests: Sequence[Request], declared: Declaration
) -> Exit:
    """Each group into a folder of its own, and the comparison; costs are known before any is drawn.

    The name in the request says that the groups belong together, so that another is refused.
    """
    if options.name is not None:
        raise InputError(
            "Groups are called by the name in the request.",
            field="name",
            hint="Change “name” there.",
        )
    for request in requests:
        published.release_cost(request.source, request.mechanism, request.budget)
    cards: list[Mapping[str, Any]] = []
    for number, request in enumerate(requests, start=1):
        print(f"{request.name} (group {number} of {len(requests)}):")
        out = Path(options.out) / f"group-{number}"
        code = _single(options, ledger, request, request.name, str(out), declared, cards)
    if len(cards) == len(requests):
        try:
            print("\n".join(comparison(cards).sentences()))
        except InputError as problem:  # all groups are published
            print(problem)
    return code


def _single(
    options: argparse.Namespace,
    ledger: Ledger,
    request: Request,
    name: str,
    out: str,
    declared: Declaration,
    cards: list[Mapping[str, Any]] | None = None,
) -> Exit:
    """One release; its guarantee card is added to `cards`."""
    cost = published.release_cost(request.source, request.mechanism, request.budget)
    same = None if options.people is None else options.people == "same"
    total = total_of(options, request.source.sizes.n_curves, ledger)
    standing = ledger.standing_of(request.source, same, total)
    earlier = (
        None
        if not name
        else published.asked_before(
            request.source, request.mechanism, request.budget, ledger, name, request.leave_out
        )
    )
    for line in sentences.before(request.source, request.mechanism, cost, standing):
        print(plain_text(line))
    for line in stated.lines_before(
        request.source.facts,
        request.source.sizes,
        request.mechanism.main_task.data is DataType.CURVES,
    ):
        print(line)
    preview = None
    if earlier is not None:
        print(sentences.asked_before(earlier))
    else:
        if name:
            ledger.check_new(name, total)
        if not request.leave_out:
            standing.check_room(published.charge_of(cost), request.source.facts)
        preview = preview_before(request.source, request.mechanism, request.budget, cost)
    if preview is not None:
        for line in words.in_lines(preview, request.mechanism.main_task.key):
            print(plain_text(line))
        if unused := words.not_used(request.mechanism, request.source.facts):
            print(unused)
    if not options.yes:
        print(
            "Nothing was published. Add --yes to publish and write to the ledger: it cannot be "
            "taken back."
            if earlier is None
            else "Nothing was written. Add --yes for the files.",
            file=sys.stderr,
        )
        if request.source.facts.is_upload:
            print(
                "--about-file says first, for you alone, how the file was read and where it "
                "contradicts what is stated of it.",
                file=sys.stderr,
            )
        return Exit.DONE
    if earlier is None or earlier.state == "charged":
        release_folder.empty(out)  # tried before anything is charged or drawn
    release = published.publish(
        request.source,
        request.mechanism,
        request.budget,
        ledger,
        name,
        total,
        same,
        None if preview is None else preview.forecast(request.mechanism.main_task.key),
        request.leave_out,
        declared,
    )
    _write(out, release)
    if cards is not None:
        cards.append(release.card)
    print(plain_text(sentences.after(request.source.facts, release.standing)))
    return Exit.DONE


def _again(options: argparse.Namespace, ledger: Ledger) -> Exit:
    """The files of an earlier release once more."""
    if options.file is not None:
        raise InputError("Give a file or --again, not both.", field="file")
    _write(options.out, published.again(ledger, options.again))
    print("Made again from the ledger; nothing was charged.")
    return Exit.DONE


def _write(out: str, published: Published) -> None:
    """Its files, and how far off it may be."""
    try:
        written = release_folder.write(out, release_files.all_files(published))
    except InputError as problem:
        raise InputError(
            problem.message,
            field=problem.field,
            hint=f"{problem.hint} The release "
            f"is in the ledger and not lost: “release --again {published.release_id}” "
            "writes its files, at no charge.",
        ) from None
    for path in written:
        print(f"wrote {path}")
    band = published.uncertainty.band
    for line in [
        captions.headline(published),
        *captions.warnings(published),
        *filter(None, [band.limit] if band else []),
        *published.uncertainty.findings,
    ]:
        print(line)


def total_of(options: argparse.Namespace, n: int, ledger: Ledger) -> Budget | None:
    """The total as chosen; what was not chosen is that of the ledger, or takes its usual value."""
    if options.total_epsilon is None and options.total_delta is None:
        return None
    known = ledger.total()
    epsilon = DEFAULT_TOTAL if known is None else known.epsilon
    return Budget(
        epsilon if options.total_epsilon is None else options.total_epsilon,
        large_delta(n) if options.total_delta is None else options.total_delta,
    )


# -- the command `ledger` --------------------------------------------------------------------------


def _add_ledger_command(commands: Any) -> None:
    """The command with its parts."""
    parser = commands.add_parser(
        "ledger",
        help="what was released, who has how much left, and whether the ledger can be believed",
    )
    parts = parser.add_subparsers(required=True, metavar="WHAT")

    def part(name: str, function: Any, help_text: str) -> argparse.ArgumentParser:
        added: argparse.ArgumentParser = parts.add_parser(name, help=help_text)
        add_paths(added)
        added.set_defaults(command=function)
        return added

    part(
        "show", _show, "list all releases, or say what the people of a request have left"
    ).add_argument("request", nargs="?", help="a request, as for “release”")
    lower = part("lower", _lower, "lower the total of everybody, or of the people of a request")
    lower.add_argument("epsilon", type=float, help="the new total ε")
    lower.add_argument("--delta", type=float, help="the new total δ (default: as it is)")
    lower.add_argument("--request", help="whose people; without it everybody")
    part("join", _join, "add the releases of another ledger with the same key").add_argument(
        "other", help="the other ledger"
    )
    part(
        "complete",
        _complete,
        "say whose the releases of an earlier version are, by showing their data",
    ).add_argument("request", help="a request that names the very same data")
    part("verify", _verify, "check its seals, sets and witness")
    part("rebuild", _rebuild, "make a new one from its witness, if no copy of it is left")


def _requests(name: str) -> tuple[Request, ...]:
    folder = Path.cwd() if name == "-" else Path(name).parent
    return release_request.from_json(scenario.text_of(name), folder)


def _show(options: argparse.Namespace) -> Exit:
    """All releases, or the standing of the people of a request."""
    book = Ledger(options.ledger, options.witness)
    if options.request is None:
        print("\n".join(words.shown(book.entries(), book.total())))
        return Exit.DONE
    for request in _requests(options.request):
        if request.source.group_names or request.source.facts.group is not None:
            print(f"{request.name}:")
        standing = book.standing_of(request.source)
        print("\n".join(words.standing_lines(request.source.facts, standing)))
    return Exit.DONE


def _lower(options: argparse.Namespace) -> Exit:
    book = Ledger(options.ledger, options.witness)
    sources = (
        [None]
        if options.request is None
        else [request.source for request in _requests(options.request)]
    )
    for source in sources:
        known = book.total() if source is None else book.standing_of(source).least.total
        delta = (
            options.delta
            if options.delta is not None
            else (large_delta(1) if known is None else known.delta)
        )
        book.lower(Budget(options.epsilon, delta), source)
    own_delta = "" if options.delta is None else f", δ = {small(options.delta)}"
    print(f"The total is ε = {options.epsilon:g}{own_delta} from now on.")
    return Exit.DONE


def _join(options: argparse.Namespace) -> Exit:
    n = Ledger(options.ledger, options.witness).join(Ledger(options.other))
    print(
        f"{counted(n, 'release')} joined. Retire the other ledger: what it is charged from now "
        "on is not known here."
    )
    return Exit.DONE


def _complete(options: argparse.Namespace) -> Exit:
    book = Ledger(options.ledger, options.witness)
    for request in _requests(options.request):
        entries = book.complete(request.source)
        print(
            f"{counted(len(entries), 'release')} of these {request.source.facts.people} alone: "
            + ", ".join(f"“{entry.name}”" for entry in entries)
            + "."
        )
    return Exit.DONE


def _verify(options: argparse.Namespace) -> Exit:
    """Check, and end with 1 if a check fails, with 3 if none could be made."""
    state = repair.verify(Ledger(options.ledger, options.witness))
    print("\n".join(words.verified(state)))
    return Exit.of([state.holds])


def _rebuild(options: argparse.Namespace) -> Exit:
    done = repair.rebuild(Ledger(options.ledger, options.witness))
    print("\n".join(words.rebuilt(done)))
    return Exit.DONE
