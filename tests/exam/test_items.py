"""One item of an exam, the reading of items from any file or table, and their media, numbers and Markdown."""

import pytest

from mensura.core.errors import MensuraError
from mensura.exam import read_exam
from mensura.exam.items import read_number, render_markdown
from tests.exam.conftest import KINDS, TOML, write_exam


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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("A slow song.", "", "transcript: empty"),
        ("song.mp3", "song.exe", "is no sound or film"),
        ("song.mp3", "lost.mp3", "is not in the folder"),
        ("-5,5", "5,5", "expected low below high"),
        ("very,,rating", "very,very,rating", "a rating has none"),
    ],
)
def test_what_is_wrong_with_such_an_item_is_named(tmp_path, old, new, message):
    folder = write_exam(tmp_path / "wrong", TOML, KINDS.replace(old, new))
    (folder / "song.mp3").write_bytes(b"ID3")
    with pytest.raises(MensuraError, match=message):
        read_exam(folder)
