"""One item of an exam, the reading of items from any file or table, and their media, numbers and Markdown."""

import pytest

from mensura.exam.items import read_number, render_markdown


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "[click](javascript:alert(1))",
        "![x](https://elsewhere.example/track.png)",
        "<img src=x onerror=alert(1)>",
        "<https://elsewhere.example>",
        "[a]: https://elsewhere.example\n\n[a]",
    ],
)
def test_markdown_runs_nothing_and_leads_nowhere(hostile):
    shown = render_markdown(hostile).lower()
    assert not any(part in shown for part in ("<script", "<a ", "<img", "<iframe", "href="))


def test_markdown_shows_the_usual_marks():
    assert render_markdown("*one* **two**\n\n- three") == (
        "<p><em>one</em> <strong>two</strong></p>\n<ul>\n<li>three</li>\n</ul>\n"
    )
    assert "<table>" in render_markdown("| a | b |\n|---|---|\n| 1 | 2 |")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("1,234.5", 1234.5), ("1 234", 1234.0), ("−7", -7.0), ("50%", 50.0), ("0,375", 0.375), ("1e3", 1000.0)),
        *(("3/0", None), ("ten", None), ("9" * 99, None)),
    ],
)
def test_numbers_as_people_write_them(text, number):
    assert read_number(text) == number
