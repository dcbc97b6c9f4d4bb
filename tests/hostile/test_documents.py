"""Hostile words in every HTML document: they can be read as they were written, and do nothing else."""

import ast
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import jinja2
import pytest
from jinja2 import meta, nodes

from engine import templates
from engine.exports import one_file
from engine.exports.files import handout
from engine.exports.looking import looked_at
from engine.exports.memo import comparison_memo, decision_memo, study_memo
from engine.exports.one_file import SharedPage
from engine.figures import rendered
from engine.figures.live import figure_script
from engine.figures.theme import Chart
from engine.lessons.what_epsilon_does import WhatEpsilonDoes
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.release import files as release_files
from engine.sources.sparse_curves import SparseCurves
from engine.sources.twin import Twin
from engine.topics.decision import answer as decision_topic
from engine.uploads.people import read
from engine.uploads.proposal import propose
from tests.files import csv, growth_frame
from tests.heavy import few
from tests.hostile.test_words import EVIL as EVIL_MARKDOWN
from tests.release.test_release_files import children, released
from tests.unit.test_memo import FACTS, HERE
from tests.unit.test_pinned import pin
from tests.unit.test_planner import answer

pytestmark = pytest.mark.usefixtures("few_data_sets")

EVIL = [
    '"><img src=x onerror=x>',
    "' onclick='x",
    "</style></title><script>x</script>",
    "--><svg onload=x>",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;script&gt;",
    *EVIL_MARKDOWN,
]
ROOT = Path(templates.__file__).parents[2]
FILES = sorted(Path(templates.__file__).parent.glob("*.jinja"))
# The only markup that is not escaped: drawings of our own code, or of plotly; files of the program;
# and what is in base64.
UNESCAPED = {
    ("handout.html.jinja", "guess"),
    ("handout.html.jinja", "answer"),
    ("report.html.jinja", "picture"),
    ("exhibit.html.jinja", "drawing"),
    ("study_memo.html.jinja", "chart"),
    ("look.html.jinja", "drawing"),
    ("look_in_notebook.html.jinja", "drawing"),
    ("check.html.jinja", "script"),
    ("one_file.html.jinja", "style"),
    ("one_file.html.jinja", "sent"),
    ("one_file.html.jinja", "script"),
    ("class_page.html.jinja", "style"),
    ("class_page.html.jinja", "markup"),
    ("class_page.html.jinja", "drawing_style"),
    ("class_page.html.jinja", "script"),
}
# Templates in which no word of anybody else is filled in, and what is.
OF_THE_PROGRAM = {
    "check.html.jinja": {"script", "digest"},
    "class_page.html.jinja": {"style", "markup", "drawing_style", "script"},
    "plan.html.jinja": {"said", "rows"},
}
DRAWERS = {f"engine/{part}.py" for part in ("figures/drawn", "release/picture")}  # of SVG, by hand


class Markup(HTMLParser):
    """The elements of a document with their attributes, and what is read of it."""

    def __init__(self, document):
        super().__init__()
        self.elements, self.read = [], []
        self.feed(document)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag not in ("b", "i"):  # Markdown of a sentence: it only looks different
            self.elements.append((tag, sorted(name for name, _ in attrs)))
        self.read += [value for _, value in attrs if value]

    def handle_data(self, data):
        self.read.append(data)


@pytest.fixture(scope="module")
def planned():
    return answer(HERE, "epsilon", 2.0)


@pytest.fixture(scope="module")
def worked():
    return WhatEpsilonDoes.work(3)


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return released(tmp_path_factory.mktemp("release"), children(60), epsilon=4.0)


@pytest.fixture(scope="module")
def study():
    source = SparseCurves(mean="growth", n_curves=90, n_observations_per_curve=5, n_servers=3)
    rows = decision_topic.equal_sites(source, "School")
    return decision_topic.profile_of(source, AdaptiveMean(), rows, None, "sites", 1)


@pytest.fixture
def documents(planned, worked, release, study):
    """Each document by its template, with a word wherever one of another person could stand."""

    def facts(word):
        return replace(
            FACTS,
            person=word,
            people=word,
            name=word,
            curve=word,
            value_name=word,
            value_unit=word,
            time_name=word,
            time_unit=word,
            origin=word,
        )

    def decision(word):
        return decision_memo(HERE, planned, facts(word), 1.0)

    def of_study(word):
        named = replace(
            study,
            study=replace(study.study, source=Twin.of(facts(word), study.study.source.sizes)),
            rows=tuple(replace(row, name=word) for row in study.rows),
        )
        return study_memo(
            decision_topic.decision(named, 1.5, "19"), author=word, date=word, link=word
        ).encode()

    def comparison(word):
        return comparison_memo(
            [
                pin("A", facts=facts(word), method=word),
                pin(
                    word,
                    epsilon=2.0,
                    delta=1e-7,
                    facts=facts(word),
                    protects=word,
                    budgets=word,
                    error_unit=word,
                    largest_part=(word, 0.5),
                    page=word,
                ),
            ]
        )

    def of_lesson(word):
        axis = replace(worked.picture.x, title=word, ticks=((worked.picture.x.low, word),))
        picture = replace(
            worked.picture,
            x=axis,
            y=replace(worked.picture.y, title=word),
            alt=word,
            alt_after=word,
            marks=tuple(replace(mark, label=word) for mark in worked.picture.marks),
        )
        return replace(
            worked, words=dict.fromkeys(worked.words, word), picture=picture, budget=word
        )

    def one_figure(word):
        return one_file.page(
            "one_figure",
            word,
            ("figure.html", "figure.css"),
            figure_script(),
            {"curves": {"title": word}},
            {word: word},
            table={"caption": word, "columns": [word], "rows": [[word]]},
            origin=word,
            credit=word,
            method=word,
            again=word,
            home=word,
            lead=word,
            choices=[word, word],
            sections=[
                {"heading": word, "statements": [word, word], "limits": [word], "summary": word}
            ],
        ).html

    def demo(word):
        line = {"kind": word, "d": word}
        link = {"href": word, "what": word}
        return templates.render(
            "demo",
            title=word,
            tiles=[link | {"picture": [line]}],
            lessons=[link],
            has_docs=True,
            size=(1, 1),
        ).encode()

    def report(word):
        def named(columns):
            return dict(zip([word], columns.values(), strict=True))

        card = {
            **release.card,
            "unit_of_protection": word,
            "neighbours": word,
            "not_covered": [word],
            "release": dict.fromkeys(release.card["release"], word),
            "mechanism": dict.fromkeys(release.card["mechanism"], word),
        }
        card["bounds"] = {
            **card["bounds"],
            "source": word,
            "value": {**card["bounds"]["value"], "name": word},
        }
        return release_files.report(
            replace(
                release,
                name=word,
                axis=word,
                value=word,
                title=word,
                card=card,
                facts=replace(
                    release.facts,
                    person=word,
                    people=word,
                    value_name=word,
                    value_unit=word,
                    time_unit=word,
                ),
                functions=replace(
                    release.functions, columns=named(release.columns), ranges=named(release.ranges)
                ),
            )
        )

    def exhibit(word):
        spec = {"data": [{"x": [1], "y": [1], "name": word}], "layout": {"title": {"text": word}}}
        return rendered.page(word, word, [(word, Chart(spec, word))], [word]).encode()

    def look(word):
        content = csv(growth_frame())
        proposal = propose(content)
        usual = looked_at(read(content, proposal.likely), proposal)
        picture = replace(usual.picture, x=replace(usual.picture.x, title=word), alt=word)
        return replace(
            usual,
            picture=picture,
            proposal=replace(proposal, people=word, notes=(word,), examples={word: (word,)}),
        )

    return {
        "decision_memo": decision,
        "comparison_memo": comparison,
        "handout": lambda word: handout(WhatEpsilonDoes, of_lesson(word), 3, word),
        "report": report,
        "exhibit": exhibit,
        "study_memo": of_study,
        "look": lambda word: look(word).html().encode(),
        "look_in_notebook": lambda word: look(word)._repr_html_().encode(),
        "one_figure": one_figure,
        "one_lesson": lambda word: (
            one_file.of_lesson(WhatEpsilonDoes, of_lesson(word), 3, word).html
        ),
        "frame": lambda word: SharedPage(word, word.encode())._repr_html_().encode(),
        "demo": demo,
    }


@pytest.mark.parametrize("word", few(EVIL, 6))
def test_words_in_a_document_add_no_element_and_no_attribute_and_are_read_as_they_are(
    documents, word
):
    for name, document in documents.items():
        usual, evil = Markup(document("word").decode()), Markup(document(word).decode())
        assert evil.elements == usual.elements, name
        assert any(word in text for text in evil.read), name


def test_every_document_is_tried(documents):
    used = {name for file in FILES for name in meta.find_referenced_templates(tree(file))}
    tried = {f"{name}.html.jinja" for name in documents}
    assert {file.name for file in FILES} - used == tried | OF_THE_PROGRAM.keys()
    for name, filled_in in OF_THE_PROGRAM.items():
        (file,) = (file for file in FILES if file.name == name)
        assert meta.find_undeclared_variables(tree(file)) == filled_in


def tree(file):
    return templates.environment.parse(file.read_text("utf-8"))


def test_only_drawings_and_files_of_the_program_are_left_unescaped_each_with_its_reason():
    filters = [(file.name, each) for file in FILES for each in tree(file).find_all(nodes.Filter)]
    assert {each.name for _, each in filters} == {"safe", "plain", "split_marked", "join"}
    unescaped = [(file, each.node.name) for file, each in filters if each.name == "safe"]
    assert sorted(unescaped) == sorted(UNESCAPED)
    for file in FILES:
        marked = [
            (line, above)
            for above, line in pairwise(file.read_text("utf-8").splitlines())
            if "|safe" in line
        ]
        assert all(above.startswith("{# safe: ") for _, above in marked), file.name
        assert not [*tree(file).find_all(nodes.ScopedEvalContextModifier)], (
            file.name
        )  # {% autoescape %}


def test_a_value_that_is_missing_is_a_fault_and_not_an_empty_place():
    with pytest.raises(jinja2.UndefinedError, match="'about' is undefined"):
        templates.render("exhibit", title="a", panels=[], lines=[])


def test_html_is_made_by_templates_alone():
    """No module escapes for HTML by itself but those that draw, and none declares a string to be markup."""
    for file in (ROOT / "engine").rglob("*.py"):
        names = {
            alias.name
            for node in ast.walk(ast.parse(file.read_text("utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in (*node.names, ast.alias(getattr(node, "module", None) or ""))
        }
        assert not names & {"jinja2", "markupsafe"} or file.parent.name == "templates", file
        assert "html" not in names or str(file.relative_to(ROOT)) in DRAWERS, file


@pytest.mark.parametrize(
    ("words", "pieces"),
    [
        (
            "**Not covered:** compare *Right guess*.",
            [("", ""), ("Not covered:", "**"), (" compare ", ""), ("Right guess", "*"), (".", "")],
        ),
        ("a*b, c*d and 2 * 3 * 4", [("a*b, c*d and 2 * 3 * 4", "")]),
        (r"\*\*x\*\* of \<b\> **a\*b**", [("**x** of <b> ", ""), ("a*b", "**"), ("", "")]),
    ],
    ids=str,
)
def test_marks_of_a_sentence_are_told_from_those_of_a_word(words, pieces):
    assert templates.split_marked(words) == pieces
