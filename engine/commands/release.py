"""The commands `state`, `release` and `ledger`: facts are frozen, data published once, and kept."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.answers.card import comparison
from engine.core.errors import InputError
from engine.core.tasks import DataType
from engine.core.types import Budget, Data
from engine.language.grammar import capital, plain_text
from engine.release import captions, ledger, published, repair, sentences, stated
from engine.release import files as release_files
from engine.release import folder as release_folder
from engine.release import request as release_request
from engine.release.books import Odometer
from engine.release.data_content import content_of
from engine.release.freezing import Frozen, freeze_request
from engine.release.ledger import Ledger
from engine.release.plan import Declaration
from engine.release.published import Published
from engine.release.request import Request
from engine.simulation import scenario
from engine.sources import Source
from engine.topics.release import words
from engine.topics.release.preview import preview_before
from engine.uploads.curves import CurveTable
from engine.uploads.proposing.examples import summary_of
from engine.uploads.source import UploadedData


def add(commands: Any) -> None:
    """The three commands with their options."""
    parser = commands.add_parser(
        "release", help="publish real data once, and write it to the ledger")
    parser.add_argument("file", nargs="?",
                        help="what to publish (see docs), or - for standard input")
    parser.add_argument("--again", metavar="ID", help="instead: write the files of an earlier "
                        "release again, from the ledger, at no charge")
    parser.add_argument("--name", help="what the release is called, instead of the file's own")
    add_ledger(parser)
    parser.add_argument("--about-file", action="store_true", help="instead: how a file of your own "
                        "was read and what to look at in it; as private as the data")
    parser.add_argument("--yes", action="store_true",
                        help="really publish; without it only the cost is shown")
    parser.add_argument("--contact", default="", metavar="TEXT", help="who answers questions about "
                        "the data, for the guarantee card")
    parser.add_argument("--out", metavar="DIR", default="release",
                        help="folder for the files (default: release)")
    parser.set_defaults(command=command)
    _add_state_command(commands)
    _add_ledger_command(commands)


def _add_state_command(commands: Any) -> None:
    parser = commands.add_parser(
        "state", help="freeze the stated facts of a file, then compare the file with them",
        description="Writes to the ledger what a request states of its file, and then says, for "
        "you alone, where the file contradicts it. A fact may still be changed; the guarantee card "
        "names it.")
    parser.add_argument("file", help="the request, or - for standard input")
    parser.add_argument("--name", help="what the release is called, instead of the file's own")
    parser.add_argument("--unseen", action="store_true", help="you state that nobody has looked at "
                        "the file yet: the card says so")
    _add_paths(parser)
    parser.set_defaults(command=state)


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """The options that say where the ledger is, and what its holder says of the people."""
    _add_paths(parser)
    parser.add_argument("--people", choices=("same", "others"), help="where people of these data "
                        "seem to be in the ledger already: whether they are the same, so that all "
                        "releases count together, or others, of whom nobody is in both")
    parser.add_argument("--total-epsilon", type=float, metavar="E", help="most that all "
                        "releases of these data may cost; fixed by the first (default: "
                        f"{ledger.DEFAULT_TOTAL:g})")
    parser.add_argument("--total-delta", type=float, metavar="D",
                        help="the same for δ (default: a tenth of 1/n)")


def _add_paths(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ledger", metavar="PATH", help="the ledger (default: what the "
                        f"variable {ledger.VARIABLE} names, else one in your data folder)")
    parser.add_argument("--witness", metavar="PATH", help="the text file outside the ledger with a "
                        "line for each release (default: what the variable "
                        f"{ledger.WITNESS_VARIABLE} names, else one beside the ledger)")


def state(options: argparse.Namespace) -> int:
    """Freeze what is stated, and only then say where the file contradicts it."""
    ledger, text = Ledger(options.ledger, options.witness), scenario.text_of(options.file)
    _frozen(options, ledger, text, options.unseen)
    return _about_file(release_request.from_json(text, _folder(options))[0].source)


def _folder(options: argparse.Namespace) -> Path:
    return Path.cwd() if options.file == "-" else Path(options.file).parent


def _frozen(options: argparse.Namespace, ledger: Ledger, text: str, unseen: bool = False
            ) -> Frozen | None:
    """Freeze what a request states, and say so; nothing of public data."""
    frozen = freeze_request(text, _folder(options), ledger, options.name or "", unseen)
    if frozen is not None:
        print(frozen.in_words, file=sys.stderr)
    return frozen


def command(options: argparse.Namespace) -> int:
    """2 without --yes: the cost is shown and nothing is charged."""
    ledger = Ledger(options.ledger, options.witness)
    if options.again is not None:
        return _again(options, ledger)
    if options.file is None:
        raise InputError("Name a file that says what to publish.", field="file",
                         hint="Or give --again and the id of an earlier release.")
    text = scenario.text_of(options.file)
    frozen = _frozen(options, ledger, text)
    requests = release_request.from_json(text, _folder(options))
    if options.about_file:
        return _about_file(requests[0].source)
    declared = (Declaration(contact=options.contact) if frozen is None else
                frozen.declaration(contact=options.contact))
    if len(requests) == 1:
        return _single(options, ledger, requests[0], options.name or requests[0].name, options.out,
                       declared)
    return _of_groups(options, ledger, requests, declared)


def _about_file(source: Source[Data]) -> int:
    """What a page tells the holder beside their file, which counts private data: only if asked for.

    Raises
    ------
    InputError
        If the data are public.
    """
    if not isinstance(source, UploadedData):
        raise InputError("These data are public; there is no file of your own to look at.",
                         field="about_file")
    table = source.observations
    number = len(table.values) if isinstance(table, CurveTable) else source.sizes.n_curves
    first = () if source.reading is None else (
        "; ".join(summary_of(source.reading, source.sizes.n_curves, number)),)
    for line in (*first, *table.notes, *source.doubts, *source.remarks()):
        print(f"* {capital(line.removesuffix('.'))}.")
    print("These lines are as private as the data. Nothing was published.", file=sys.stderr)
    return 0


def _of_groups(options: argparse.Namespace, ledger: Ledger, requests: Sequence[Request],
               declared: Declaration) -> int:
    """Each group into a folder of its own, and the comparison; costs are known before any is drawn.

    The name in the request says that the groups belong together, so that another is refused.
    """
    if options.name is not None:
        raise InputError("Groups are called by the name in the request.", field="name",
                         hint="Change “name” there.")
    for request in requests:
        published.release_cost(request.source, request.mechanism, request.budget)
    cards: list[Mapping[str, Any]] = []
    for number, request in enumerate(requests, start=1):
        print(f"{request.name} (group {number} of {len(requests)}):")
        out = Path(options.out) / f"group-{number}"
        code = _single(options, ledger, request, request.name, str(out), declared, cards)
    if len(cards) == len(requests):
        print("\n".join(comparison(cards).sentences()))
    return code


def _single(options: argparse.Namespace, ledger: Ledger, request: Request, name: str, out: str,
            declared: Declaration,
            cards: list[Mapping[str, Any]] | None = None) -> int:
    """One release; its guarantee card is added to `cards`."""
    cost = published.release_cost(request.source, request.mechanism, request.budget)
    content = content_of(request.source)
    before, known = ledger.odometer(content), ledger.known(content, request.source.traces())
    earlier = None if before is None or not name else published.asked_before(
        request.source, request.mechanism, request.budget, ledger, name)
    for line in sentences.before(request.source, request.mechanism, cost, before, known):
        print(plain_text(line))
    if known is not None and earlier is None:
        _check_people(options)
    for line in stated.lines_before(request.source.facts, request.source.sizes,
                                    request.mechanism.main_task.data is DataType.CURVES):
        print(line)
    preview = None
    if earlier is not None:
        print(sentences.asked_before(earlier))
    else:
        preview = preview_before(request.source, request.mechanism, request.budget, cost)
    if preview is not None:
        for line in words.in_lines(preview, request.mechanism.main_task.key):
            print(plain_text(line))
    if not options.yes:
        print("Nothing was published. Add --yes to publish and write to the ledger: it cannot be "
              "taken back." if earlier is None else
              "Nothing was written. Add --yes for the files.", file=sys.stderr)
        if request.source.facts.is_upload:
            print("--about-file says first, for you alone, how the file was read and where it "
                  "contradicts what is stated of it.", file=sys.stderr)
        return 2
    if earlier is None or earlier.state == "charged":
        release_folder.empty(out)  # tried before anything is charged or drawn
    same = None if options.people is None else options.people == "same"
    if known is not None and same:
        before = known.odometer
    total = total_of(options, request.source.sizes.n_curves, before)
    release = published.publish(
        request.source, request.mechanism, request.budget, ledger, name, total, same,
        None if preview is None else preview.forecast(request.mechanism.main_task.key),
        declaration=declared)
    _write(out, release)
    if cards is not None:
        cards.append(release.card)
    print(plain_text(sentences.after(request.source.facts, release.odometer)))
    return 0


def _again(options: argparse.Namespace, ledger: Ledger) -> int:
    """The files of an earlier release once more."""
    if options.file is not None:
        raise InputError("Give a file or --again, not both.", field="file")
    _write(options.out, published.again(ledger, options.again))
    print("Made again from the ledger; nothing was charged.")
    return 0


def _write(out: str, published: Published) -> None:
    """Its files, and how far off it may be."""
    try:
        written = release_folder.write(out, release_files.all_files(published))
    except InputError as problem:
        raise InputError(problem.message, field=problem.field, hint=f"{problem.hint} The release "
                         f"is in the ledger and not lost: “release --again {published.release_id}” "
                         "writes its files, at no charge.") from None
    for path in written:
        print(f"wrote {path}")
    band = published.uncertainty.band
    for line in [captions.headline(published), *captions.warnings(published),
                 *filter(None, [band.limit] if band else []), *published.uncertainty.findings]:
        print(line)


def _check_people(options: argparse.Namespace) -> None:
    """Nobody is asked on a command line, so the answer must be there before anything is spent."""
    if options.yes and options.people is None:
        raise InputError("Say whether these are the same people.", field="people",
                         hint="--people same charges their total; --people others states that "
                         "nobody is in both.")


def total_of(options: argparse.Namespace, n: int, before: Odometer | None) -> Budget | None:
    """The total as chosen; what was not chosen stays as it is, or takes its usual value."""
    if options.total_epsilon is None and options.total_delta is None:
        return None
    default = published.usual_total(n) if before is None else before.total
    chosen = (options.total_epsilon, options.total_delta)
    epsilon, delta = (default_part if part is None else part for default_part, part in
                      zip((default.epsilon, default.delta), chosen, strict=True))
    return Budget(epsilon, delta)


# -- the command `ledger` --------------------------------------------------------------------------


def _add_ledger_command(commands: Any) -> None:
    """The command with its two parts."""
    parser = commands.add_parser("ledger", help="check the ledger of releases, or repair it")
    parts = parser.add_subparsers(required=True, metavar="WHAT")
    for name, function, help_text in (
            ("verify", _verify, "check it, and show the budget spent"),
            ("repair", _repair, "make a new one from what is left; never lowers what was spent")):
        part = parts.add_parser(name, help=help_text)
        part.add_argument("--ledger", metavar="PATH", help="the ledger (default: what the variable "
                          f"{ledger.VARIABLE} names, else one in your data folder)")
        part.add_argument("--witness", metavar="PATH", help="its witness (default: what the "
                          f"variable {ledger.WITNESS_VARIABLE} names, else one beside the ledger)")
        part.set_defaults(command=function)


def _verify(options: argparse.Namespace) -> int:
    """The exit code: 1 if the check finds a problem."""
    state = repair.verify(Ledger(options.ledger, options.witness))
    print("\n".join(words.verified(state)))
    return 0 if state.problem is None else 1


def _repair(options: argparse.Namespace) -> int:
    done = repair.repair(Ledger(options.ledger, options.witness))
    print("\n".join(words.repaired(done)))
    return 0
