"""One item of an exam, the reading of items from any file or table, and their media, numbers and Markdown."""

import re

import pytest
from pydantic import ValidationError

from mensura.core.errors import MensuraError
from mensura.exam import read_exam
from mensura.exam.items import ExamItem, check_media, media_of, read_exam_items, read_number, render_markdown, safe_name
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


CHOICE = {"item": "q", "text": "?", "options": ["2", "4", "B"], "key": ["4"]}


def item(**changes):
    return ExamItem.model_validate({**CHOICE, **changes})


def test_scoring_follows_from_options_and_keys():
    assert item().scoring == "choice"
    assert item(key=["2", "4"]).scoring == "several"
    assert item(options=[]).scoring == "text"
    assert item(scoring="").scoring == "choice"
    assert item(scoring="rating", key=[]).is_rating


def test_a_key_is_the_text_of_an_option_before_it_is_a_letter():
    assert item(key=["B"]).right_options() == {2}
    assert item(key=["b"]).right_options() == {1}
    assert item(key=["a", "4"]).right_options() == {0, 1}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"options": ["4"]}, "options: 1 given; give 2 to"),
        ({"options": ["4", "4"]}, "options: one is there twice"),
        ({"scoring": "number"}, "options: not with scoring 'number'"),
        ({"key": ["4", "2"], "scoring": "choice"}, "key: 2 given; give one, or use scoring several"),
        ({"key": []}, "key: empty; give the right answer"),
        ({"key": ["D"]}, "key: 'D' is no option; give the text of an option or a letter from A to C"),
        ({"scoring": "rating"}, "key: a rating has none"),
        ({"options": [], "scoring": "rubric", "key": []}, "rubric: empty"),
        ({"options": [], "scoring": "number", "key": ["four"]}, "key: 'four' is no number"),
        ({"options": [], "scoring": "slider", "low": 5, "high": 5}, "low, high: 5 and 5; expected low below high"),
        ({"tolerance": "-1"}, "tolerance: '-1' is no number from 0"),
        ({"tolerance": "some"}, "tolerance: 'some' is no number"),
        ({"picture": "a.png"}, "picture_alt: empty"),
        ({"media": "a.mp3"}, "transcript: empty"),
        ({"picture": "../a.png", "picture_alt": "x"}, "must lie in the folder of the exam"),
        ({"media": "/a.mp3", "transcript": "x"}, "must lie in the folder of the exam"),
        ({"points": 0}, "greater than 0"),
        ({"translations": {"fr": {"text": "?", "options": ["deux"]}}}, "options_fr: 1 given; give 3 in the same order"),
        ({"colour": "red"}, "Extra inputs are not permitted"),
    ],
)
def test_an_item_that_cannot_be_scored_is_refused(change, words):
    with pytest.raises(ValidationError, match=re.escape(words)):
        item(**change)


def test_what_counts_is_neither_check_nor_practice_nor_rating():
    assert item().counts and not item().is_open
    assert not item(check=True).counts
    assert not item(practice=True).counts
    assert not item(scoring="rating", key=[]).counts
    slider = {"options": [], "scoring": "slider"}
    assert item(**slider, key=["50"]).counts and item(**slider, key=["50"]).is_open
    assert item(**slider, key=[]).is_rating and not item(**slider, key=[]).counts
    assert item(tolerance="0").points == 1.0


def test_a_translated_item_keeps_its_options_where_none_are_given():
    french = {"text": "Combien ?", "key": ["quatre"]}
    there = item(translations={"fr": french}, picture="a.png", picture_alt="four")
    assert there.translated("fr").text == "Combien ?"
    assert there.translated("fr").options == ("2", "4", "B")
    assert there.translated("fr").picture_alt == "four"
    assert there.accepted == ("4", "quatre")


def test_items_are_read_with_every_fault_and_its_place():
    rows = [
        {
            "item": "a b",
            "text": "?",
            "options": "2 | 4",
            "key": "4",
            "text_fr": "Quoi ?",
            "options_fr": "deux | quatre",
            "colour": "red",
        },
        {"item": "c", "text": "?", "options": "2 | 4", "key": "9"},
        {"item": "a-b", "text": "?", "options": "2 | 4", "key": "2", "pionts": ""},
    ]
    items, faults, notes = read_exam_items(rows)
    assert [one.item for one in items] == ["a-b", "a-b"]
    assert items[0].translations["fr"].options == ("deux", "quatre")
    assert any("key: '9' is no option" in fault for fault in faults)
    assert any("item: 'a-b' is also in" in fault for fault in faults) and len(faults) == 2
    assert notes[-1] == "columns left out: colour"


@pytest.mark.parametrize(
    ("raw", "name"), [("a b/c", "a-b-c"), ("--é_1", "1"), ("x" * 70, "x" * 60), ("éé", "item"), (7, "7")]
)
def test_a_name_may_stand_in_files(raw, name):
    assert safe_name(raw) == name


def test_pictures_and_sounds_are_known_by_their_endings_and_first_bytes(tmp_path):
    kinds = {"a.JPG": "image/jpeg", "a.jpeg": "image/jpeg", "b.webp": "image/webp", "b.gif": "image/gif", "d.svg": None}
    kinds |= {"c.mp3": "audio/mpeg", "c.ogg": "audio/ogg", "c.wav": "audio/wav", "c.m4a": "audio/mp4"}
    kinds |= {"e.mp4": "video/mp4", "e.webm": "video/webm", "f.png": "image/png"}
    assert {name: media_of(name) for name in kinds} == kinds
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n rest")
    (tmp_path / "b.png").write_bytes(b"GIF8")
    (tmp_path / "c.gif").write_bytes(b"GIF8" + bytes(2 * 2**20 - 4))
    (tmp_path / "d.gif").write_bytes(b"GIF8" + bytes(2 * 2**20 - 3))
    assert check_media(tmp_path, "a.png", "picture") == check_media(tmp_path, "c.gif", "picture") == []
    assert check_media(tmp_path, "", "picture") == []
    assert check_media(tmp_path, "b.png", "picture") == ["'b.png' is no PNG file; save it in that format"]
    assert "has 2.0 MB; expected at most 2 MB" in check_media(tmp_path, "d.gif", "picture")[0]
    assert "is no sound or film" in check_media(tmp_path, "a.png", "sound or film")[0]
    assert "is not in the folder of the exam" in check_media(tmp_path / "below", "../a.png", "picture")[0]


def test_a_fraction_and_signs_of_other_scripts_are_numbers():
    assert (read_number("3/4"), read_number("-1/2 %"), read_number("1\u066b5")) == (0.75, -0.5, 1.5)
    assert read_number("0" * 59 + "1") == 1.0 and read_number("0" * 60 + "1") is None
