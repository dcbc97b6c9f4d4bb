"""What is written is true: links, commands, pages, numbers and words of the documents."""

import argparse
import re
from functools import cache
from pathlib import Path

import pytest

from engine import __main__ as command_line
from engine import api, handbook
from engine.answers import curve_questions
from engine.commands import share
from engine.commands.ask import parser_of
from engine.core.errors import InputError
from engine.language import glossary
from engine.mechanisms import mechanisms
from engine.questions.kinds import kinds
from engine.sources import sources
from engine.topics.compare import method_constants
from pages.shared.places import PAGES

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
GUIDE = [ROOT / "docs" / "guide" / f"{key}.md" for key in handbook.CHAPTERS]
# The history of earlier versions names what is no more.
ALL = [ROOT / "README.md", *(file for file in DOCS if file.name != "history.md")]
AROUND = [
    *ROOT.glob("[A-Z]*.md"),
    *(ROOT / "paper").glob("*.md"),
    *(ROOT / "data").glob("*.md"),
    *(ROOT / ".github").rglob("*.md"),
]
LINKED = sorted({*ALL, *AROUND} - {ROOT / "CHANGELOG.md"})
TITLES = [title for section, _, title in PAGES if not section]  # those that a person is told of
OTHERS = {"org", "localhost", "distributed"}  # whose dotted names are not of this project
METHODS = [cls.key for cls in mechanisms.all()]
# docs/security.md writes of attacks on servers, in that trade's own words.
OF_PROTECTION = [file for file in ALL if file.name != "security.md"]
BANNED = re.compile(
    r"\b(safe|safely|safer|secure|secured|anonymous|anonymis\w+|anonymiz\w+|"
    r"compliant|compliance|simply|just|guarantee of privacy|true privacy|"
    r"leak-free)\b",
    re.IGNORECASE,
)


def text(file):
    return file.read_text("utf-8")


def name(file):
    return str(file.relative_to(ROOT))


# -- links, files, commands -----------------------------------------------------------------------


def anchors(file):
    """The anchors of headings, as they are made of their words."""
    titles = re.findall(r"^#+ (.+)$", text(file), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("file", LINKED, ids=name)
def test_links_lead_to_files_and_headings_that_exist(file):
    for target in re.findall(r"\]\(([^)\s]+)\)", text(file)):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        found = (file.parent / path).resolve() if path else file
        assert found.exists(), target
        assert not anchor or anchor in anchors(found), target


# -- the documentation site -----------------------------------------------------------------------


def test_every_document_stands_in_a_list_of_the_site():
    """Sphinx finds only what a toctree names; patterns as it reads them."""
    listed = re.findall(r"^[\w/*]+$", text(ROOT / "docs" / "index.md"), flags=re.MULTILINE)
    pages = {page for pattern in listed for page in (ROOT / "docs").glob(f"{pattern}.md")}
    left_out = re.search(
        r"^exclude_patterns = \[(.*)\]", text(ROOT / "docs" / "conf.py"), flags=re.MULTILINE
    )
    others = {ROOT / "docs" / file for file in ["index.md", *re.findall(r'"([^"]+)"', left_out[1])]}
    assert set(DOCS) - pages == others
    for pattern in listed:
        assert any((ROOT / "docs").glob(f"{pattern}.*")), pattern


def test_the_reference_describes_the_public_interface_and_nothing_else():
    described = re.findall(
        r"^\.\. auto\w+:: (\w+)$", text(ROOT / "docs" / "reference.md"), flags=re.MULTILINE
    )
    assert sorted(described) == sorted({*api.__all__} - {"__version__"})


# -- files and names ------------------------------------------------------------------------------

# What the walk-throughs write is not there yet.
TO_BE_WRITTEN = {
    path
    for file in DOCS
    for path in re.findall(r"^`([^`]+)`[^\n]*:\n\n```", text(file), flags=re.MULTILINE)
}
FOR_READERS_OF_CODE = [*ALL, ROOT / "CONTRIBUTING.md"]
CODE = [
    path
    for folder in ("engine", "reproductions", "benchmarks", "pages", "tests", "scripts")
    for path in sorted((ROOT / folder).rglob("*.py"))
]


@pytest.mark.parametrize("file", FOR_READERS_OF_CODE, ids=name)
def test_files_that_are_named_exist(file):
    for path in re.findall(
        r"`((?:engine|reproductions|benchmarks|pages|docs|tests|data|scripts|deploy)/[^`\s*…]*)`",
        text(file),
    ):
        assert path in TO_BE_WRITTEN or (ROOT / path.partition("::")[0]).exists(), path
    for last in re.findall(r"`(\w+\.py)`", text(file)):
        assert any(path.name == last for path in CODE), last


@cache
def defined():
    """Names that modules define or import, by every dotted name that ends in the module's own."""
    names = {}
    for path in CODE:
        parts = [
            part for part in path.relative_to(ROOT).with_suffix("").parts if part != "__init__"
        ]
        inside = {
            part
            for line in re.findall(
                r"^(?:    )?(?:class|(?:async )?def) (\w+)|^(\w+)[ :]",
                text(path),
                flags=re.MULTILINE,
            )
            for part in line
        }
        inside |= (
            {other.stem for other in path.parent.glob("*")} if path.stem == "__init__" else set()
        )
        for k in range(len(parts)):
            names.setdefault(".".join(parts[k:]), set()).update(inside)
    return names


@pytest.mark.parametrize("file", FOR_READERS_OF_CODE, ids=name)
def test_names_of_the_code_that_are_named_exist(file):
    for dotted in re.findall(r"`([a-z_]+(?:\.\w+)+)(?:\([^`]*\))?`", text(file)):
        module, _, last = dotted.rpartition(".")
        is_file = last in ("py", "md", "json", "csv", "txt", "toml", "yaml", "conf", "svg", "html")
        if module.partition(".")[0] in OTHERS or is_file:
            continue
        if module == "pc":  # import privacy_curves as pc
            assert last in api.__all__, dotted
            continue
        assert last in defined().get(module, ()) or dotted in defined(), dotted


def commands():
    """The commands of `python -m engine` with the options of each."""
    parser = command_line._parser()
    chosen = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return {key: set(sub._option_string_actions) for key, sub in chosen.choices.items()}


@pytest.mark.parametrize("file", ALL, ids=name)
def test_commands_that_are_named_exist_with_their_options(file):
    known = commands()
    targets = set(re.findall(r"^([a-z-]+):", text(ROOT / "Makefile"), flags=re.MULTILINE))
    for target in re.findall(r"`make ([a-z-]+)", text(file)):
        assert target in targets
    for command, rest in re.findall(r"python -m engine ([a-z-]+)([^`\n]*)", text(file)):
        assert command in known
        assert set(re.findall(r"--[a-z-]+", rest)) <= known[command], (command, rest)


def test_the_guide_names_every_command_and_only_options_that_there_are():
    chapter = handbook.chapter("command_line").text
    assert set(re.findall(r"`python -m engine ([a-z-]+)", chapter)) == set(commands())
    asked = re.findall(r"`ask (\w+) ([^`]+)`", chapter)
    for question, options in asked:
        parser = parser_of(kinds()[question], options.split())
        assert set(re.findall(r"--[a-z._]+", options)) <= set(parser._option_string_actions)
    of_cards = re.findall(r"`ask-card CARD (\w+) ([^`]+)`", chapter)
    for question, options in of_cards:
        known = {f"--{p.name}" for p in curve_questions.get(question).parameters()}
        assert set(re.findall(r"--[a-z._]+", options)) <= known
    shared = re.findall(r"`share (\w+) (-[^`]+)`", chapter)
    for key, options in shared:
        known = {*share.OPTIONS, *(f"--source.{p.name}" for p in sources.get(key).parameters())}
        assert set(re.findall(r"--[a-z._]+", options)) <= known
    assert asked and of_cards and shared
    other = re.sub(r"`(ask(-card)?|share) [^`]+`", "", chapter)
    assert set(re.findall(r"--[a-z-]+", other)) <= set().union(*commands().values())


# -- pages ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("title", TITLES)
def test_every_page_of_the_menu_stands_in_the_table_of_the_guide(title):
    assert f"| *{title}* |" in handbook.chapter("first_steps").text


@pytest.mark.parametrize("title", [title for section, _, title in PAGES if not section])
def test_every_place_of_the_menu_stands_in_the_table_of_the_readme(title):
    assert f"| **{title}** |" in text(ROOT / "README.md")


def test_the_readme_is_short_and_its_pictures_are_small():
    readme = text(ROOT / "README.md")
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", readme)
    assert len(readme.split()) <= 700
    assert len(pictures) == 1 + len({title for section, _, title in PAGES if not section})
    most = {".png": 150_000, ".webp": 1_000_000}  # one of them moves
    assert all((ROOT / each).stat().st_size < most[Path(each).suffix] for each in pictures)


@pytest.mark.parametrize("title", [t for t in TITLES if t != "Explore"])
def test_every_page_is_explained_beyond_the_table(title):
    others = [key for key in handbook.CHAPTERS if key != "first_steps"]
    assert any(handbook.chapter(key).names(title) for key in others)


def test_the_container_takes_along_what_the_guide_reads():
    assert "COPY docs docs" in text(ROOT / "Dockerfile")
    assert "!docs" in text(ROOT / ".dockerignore").split()


# -- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", OF_PROTECTION, ids=name)
def test_words_that_promise_too_much_are_absent(file):
    assert not BANNED.findall(text(file))


def test_the_glossary_promises_no_more_than_the_documents():
    spoken = " ".join(f"{term.meaning} {term.used}" for term in glossary.TERMS)
    assert not BANNED.findall(spoken)


@pytest.mark.parametrize(
    "file", [*GUIDE, *sorted((ROOT / "docs" / "methods").glob("*.md"))], ids=name
)
def test_what_pages_show_holds_no_html_and_no_links_that_pages_could_not_follow(file):
    assert not re.search(r"<[a-zA-Z/!]", text(file))
    assert "](" not in text(file)


@pytest.mark.parametrize("file", GUIDE, ids=name)
def test_sentences_of_the_guide_are_short(file):
    plain = re.sub(r"```.*?```|^\|.*$|^#.*$", "", text(file), flags=re.DOTALL | re.MULTILINE)
    for sentence in re.split(r"(?<=[.?:;])\s|\n\n|\n\* |\n\d\. ", plain):
        assert len(sentence.split()) <= 32, sentence


# -- the glossary -----------------------------------------------------------------------------


def test_terms_have_one_meaning_each_under_any_of_their_names():
    names = [n.casefold() for term in glossary.TERMS for n in (term.name, *term.other_names)]
    assert len(names) == len(set(names))
    assert len(glossary.TERMS) >= 40


def test_a_term_is_explained_by_any_of_its_names():
    assert (
        glossary.explain("epsilon")
        == glossary.explain("ε")
        == glossary.find("Privacy budget").meaning
    )
    with pytest.raises(InputError, match="no term 'xyzzy'"):
        glossary.explain("xyzzy")


def test_a_search_takes_every_word_and_puts_names_first():
    assert glossary.search("noise gaussian")[0].name == "Gaussian noise"
    assert glossary.search("") == glossary.TERMS
    assert glossary.search("gaussian xyzzy") == ()


def test_terms_say_where_they_are_met_and_formulas_have_balanced_braces():
    for term in glossary.TERMS:
        assert term.used and term.meaning.endswith(".")
        assert term.formula.count("{") == term.formula.count("}")
        assert "$" not in term.formula


# -- methods ------------------------------------------------------------------------------------


def test_every_registered_mechanism_has_notes_and_no_notes_are_left_over():
    assert sorted(file.stem for file in (ROOT / "docs" / "methods").glob("*.md")) == sorted(METHODS)


@pytest.mark.parametrize("key", METHODS)
def test_notes_have_every_part_and_the_name_and_paper_of_the_registry(key):
    cls, notes = mechanisms.get(key), handbook.method(key)
    assert notes.title == cls.label
    assert cls.reference.lower() in " ".join(notes.part("Source").split()).lower()
    assert all(notes.part(part) for part in handbook.PARTS)
    assert re.findall(r"^## (.+)$", notes.text, flags=re.MULTILINE) == list(handbook.PARTS)


@pytest.mark.parametrize("key", METHODS)
def test_the_guarantee_is_that_of_the_registry_and_names_its_unit(key):
    said, kind = handbook.method(key).part("Guarantee"), mechanisms.get(key).guarantee
    assert "Protected is " in said
    assert ("δ = 0" in said) == (kind in ("pure", "either"))
    assert bool(re.search(r"δ above\s+zero", said)) == (kind in ("approximate", "either"))


@pytest.mark.parametrize("key", METHODS)
def test_tables_of_constants_are_what_the_engine_computes(key):
    found = method_constants.constants_of(key)
    table = "\n".join(
        line for line in handbook.method(key).part("Constants").splitlines() if line.startswith("|")
    )
    assert table == ("" if found is None else found.markdown)


@pytest.mark.parametrize("key", METHODS)
def test_no_number_stands_in_the_notes_that_nobody_computes(key):
    """Beside tables: numbers of theorems, δ and ε of a table, and whole numbers below ten."""
    notes = handbook.method(key)
    for part in (part for part in handbook.PARTS if part != "Source"):
        prose = re.sub(r"^\|.*$", "", notes.part(part), flags=re.MULTILINE)
        prose = re.sub(
            r"(Theorem|Lemma|Remark|Corollary|Table|Algorithms?) [A-Z]?\.?\d+(\.\d+)?", "", prose
        )
        prose = prose.replace("δ = 0.001", "")
        assert not re.findall(r"\d+\.\d+|\d{2,}", prose), part


def test_what_was_measured_is_found_wherever_a_method_names_its_section():
    named = {key for key in METHODS if mechanisms.get(key).measured}
    assert {key for key in METHODS if handbook.measured(key)} == named
    assert len({mechanisms.get(key).measured for key in named}) > 3


def test_a_mechanism_without_notes_is_told_where_they_belong():
    with pytest.raises(InputError, match=r"docs/methods/nowhere\.md is missing"):
        handbook._read("methods/nowhere.md")
