"""Words on pages mean what the documents say, and open without a script. Links out of the report."""

import re

import polars as pl
import pytest

from mensura import MensuraError
from mensura.site.texts import FILE, first_link, glossary, price_source, source_link, term
from tools.write_glossary import GLOSSARY, read_glossary


def test_the_package_ships_the_glossary_of_the_documents():
    text = GLOSSARY.read_text(encoding="utf-8")
    written = read_glossary(text)
    assert written.height == len(re.findall(r"^- \*\*", text, re.MULTILINE))
    assert written.equals(pl.read_csv(FILE)), "run python -m tools.write_glossary"
    assert not any(re.search(r"[*`\]]|\.md", meaning) for meaning in glossary().values())


def test_a_term_carries_its_meaning_as_text():
    assert term("capability", "its <capability>") == (
        '<button type="button" class="term">its &lt;capability&gt;<span role="tooltip">'
        f"{glossary()['Capability'][0].upper()}{glossary()['Capability'][1:]}</span></button>"
    )


def test_an_unknown_term_is_refused_with_the_known_ones():
    with pytest.raises(MensuraError, match="the glossary does not have it; expected one of Ability"):
        term("wisdom")


def test_a_reader_opens_a_term_by_keyboard_without_scripts(visit):
    page = visit("models/gpt-5.5.html", scripts=False)
    word = page.locator("button.term").first
    meaning = word.locator("[role=tooltip]")
    assert not meaning.is_visible()
    word.focus()
    assert meaning.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("https://a.example/x ; copy at b", "https://a.example/x"),
        ("https://a.example; more", "https://a.example"),
        ("javascript:alert(1)", ""),
        ("see https://a.example", ""),
        (None, ""),
    ],
)
def test_only_web_addresses_become_links(text, link):
    assert first_link(text) == link


def test_sources_named_in_words_lead_to_where_they_can_be_read(evidence):
    for words in evidence.human_references["source"].unique():
        assert words.startswith("by construction") or source_link(words).startswith("https://"), words
    assert source_link("nobody's list") == ""
    assert source_link("https://a.example/x ; table 3") == "https://a.example/x"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("release: here; price: models.dev provider record; context: there", "models.dev provider record"),
        ("price: a list", "a list"),
        ("one source for all", "one source for all"),
        (None, None),
    ],
)
def test_the_source_of_a_price_is_told_from_the_others(text, said):
    assert price_source(text) == said
