"""Links out of the report."""

import pytest

from mensura.site.links import first_link


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
