"""The guide and Method notes: links open a chapter or a method, and words are found."""

import dataclasses

from engine import handbook
from engine.language import glossary
from engine.mechanisms import mechanisms
from tests.pages.opening import visit
from tests.pages.reading import words
from tests.sentences import of_topic

wording = of_topic("learn")


def turn(at, **chosen):
    """The same visit with other settings."""
    at.session_state.settings = dataclasses.replace(at.session_state.settings, **chosen)
    at.session_state.changed = True
    at.run()


def headers(at):
    return [header.value for header in at.header]


def test_the_guide_opens_on_the_first_chapter_with_links_to_the_pages_it_names():
    at = visit("guide")
    assert headers(at) == [handbook.chapter(handbook.CHAPTERS[0]).title]
    linked = {link.proto.label for link in at.get("page_link") if link.proto.icon}
    assert {"Explore", "Decide", "Publish"} <= linked


def test_each_chapter_renders_and_nothing_is_html():
    at = visit("guide")
    for key in (*handbook.CHAPTERS, handbook.GLOSSARY):
        turn(at, guide_chapter=key)
        title = "Glossary" if key == handbook.GLOSSARY else handbook.chapter(key).title
        assert headers(at) == [title]
        assert not any(one.proto.allow_html for one in at.markdown)
        assert not at.error


def test_a_link_opens_a_chapter():
    assert headers(visit("guide", "chapter-own_curves")) == ["Your own curves"]


def test_choosing_a_chapter_writes_the_address():
    at = visit("guide")
    at.selectbox(key="w_chapter").set_value("publishing").run()
    assert headers(at) == ["Publishing for real"]
    assert {*at.query_params["s"].split("~")} == {"learn-guide", "chapter-publishing"}


def test_an_unknown_chapter_is_said_and_the_first_one_shown():
    at = visit("guide", "chapter-nonsense")
    assert headers(at) == [handbook.chapter(handbook.CHAPTERS[0]).title]


def test_the_glossary_has_all_terms_by_the_alphabet_and_shows_formulas_when_asked():
    at = visit("guide", "chapter-glossary")
    shown = words(at)
    places = {term.name: shown.index(f"**{term.title}**") for term in glossary.TERMS}
    assert all(term.meaning in shown for term in glossary.TERMS)
    spelled = {"δ": "delta", "μ": "mu"}  # a Greek letter is looked for under its name
    order = [spelled.get(name, name).casefold() for name in sorted(places, key=places.__getitem__)]
    assert order == sorted(order)
    assert "\\psi_R" not in words(at)
    at.toggle(key="glossary_formulas").set_value(True).run()
    assert "\\psi_R" in words(at)


def test_a_search_in_the_guide_finds_terms_and_chapters_which_open():
    at = visit("learn")
    at.button(key="guide_open").click().run()
    at.text_input(key="guide_search").set_value("witness").run()
    found = [button.label for button in at.button if button.key.startswith("found_")]
    wording.found("publishing real ledger", found[0], alone=True)
    at.text_input(key="guide_search").set_value("clipping").run()
    assert glossary.explain("clipping") in words(at)
    assert glossary.explain("masked sum") not in words(at)
    at.text_input(key="guide_search").set_value("witness").run()
    at.button(key="found_0").click().run()
    assert headers(at) == ["Publishing for real"]
    at.button(key="learn_path").click().run()
    assert at.button(key="learn_plan") and "Publishing for real" not in headers(at)


def test_the_path_has_one_button_to_the_guide():
    at = visit("learn")
    at.button(key="guide_open").click().run()
    assert headers(at) == [handbook.chapter(handbook.CHAPTERS[0]).title]


def test_a_word_that_stands_nowhere_is_met_with_what_to_do():
    at = visit("guide")
    at.text_input(key="guide_search").set_value("xyzzy $ <b>").run()
    wording.found("try shorter one", at.info[0].value)
    assert not at.exception


def test_notes_on_each_method_have_all_their_parts_and_nothing_is_html():
    at = visit("methods")
    for cls in mechanisms.all():
        turn(at, notes_method=cls.key)
        assert headers(at) == [cls.label]
        assert [one.value for one in at.subheader] == list(handbook.PARTS)
        assert not any(one.proto.allow_html for one in at.markdown)
        assert not at.error


def test_a_link_opens_the_notes_on_a_method():
    at = visit("methods", "about-iclp")
    assert headers(at) == [mechanisms.get("iclp").label]
    assert not at.latex


def test_formula_and_measurements_are_one_click_away():
    at = visit("methods", "about-iclp", fold_method_formula=True)
    assert at.latex[0].value.strip("$\n") == mechanisms.get("iclp").formula
    assert "Exact sensitivities" in words(visit("methods", "about-iclp", fold_method_measured=True))


def test_all_methods_stand_in_one_table():
    at = visit("methods", fold_all_methods=True)
    assert len(at.dataframe[0].value) == len(mechanisms.all())


def test_figures_of_papers_that_run_a_method_are_linked():
    at = visit("methods", "about-wavelet_pointwise", fold_method_exhibits=True)
    links = {link.proto.label: link.proto.query_string for link in at.get("page_link")}
    titles = dict(handbook.exhibits("wavelet_pointwise"))
    assert titles["federated_wavelets/experiment-2"] in links
    assert "exhibit-federated_wavelets" in links[titles["federated_wavelets/experiment-2"]]
