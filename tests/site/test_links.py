"""Links out of the report."""

import pytest

from mensura.site.texts import first_link, price_source, source_link


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
