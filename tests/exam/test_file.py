"""An exam is read whole or refused with every error and its place."""

import json
from dataclasses import replace

import pytest

from mensura.core.errors import MensuraError
from mensura.exam import inspect_exam, read_exam
from mensura.exam.items import ItemTexts
from tests.exam.conftest import ITEMS, TOML, write_exam

PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (3).to_bytes(4) + (2).to_bytes(4) + b"\x08\x02\0\0\0" + b"\0" * 40


def test_the_example_of_the_package_is_whole():
    exam = read_exam("example")
    assert len(exam.scored) >= 16
    assert [item.item for item in exam.checks] == ["attention"]
    assert exam.per_person < len(exam.scored)


def test_items_have_keys_as_text_letter_number_or_list(exam):
    assert exam.by_name["capital"].right_options() == {0}
    assert exam.by_name["primes"].right_options() == {0, 2}
    assert exam.by_name["poet"].key == ("Goethe", "J. W. von Goethe")
    assert [item.item for item in exam.checks] == ["look"]


def test_the_same_items_come_from_csv_jsonl_and_the_file_itself(tmp_path, exam):
    rows = [item.model_dump(exclude_defaults=True, mode="json") for item in exam.items]
    lines = tmp_path / "lines"
    write_exam(lines, 'items = "items.jsonl"\n' + TOML)
    (lines / "items.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    alone = tmp_path / "alone.toml"
    tables = "".join(
        "\n[[items]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in row.items()) for row in rows
    )
    alone.write_text(TOML + tables, encoding="utf-8")
    assert read_exam(lines).items == exam.items == read_exam(alone).items
    assert read_exam(lines).digest == exam.digest


def test_every_error_is_found_at_once_with_its_place(tmp_path):
    toml = TOML.replace('order = "fixed"', 'order = "random"\ncolour = "red"\nitems_per_person = 9')
    items = (
        ITEMS.replace("Nairobi,choice", "Paris,choice").replace("2.5,number", "two,number").replace("half,", "poet,")
    )
    items += "gone,Look at it.,,x,text,,\nlook,Again?,a | a,a,choice,,\n"
    exam, faults = inspect_exam(write_exam(tmp_path / "bad", toml, items))
    assert exam is None
    told = "\n".join(faults)
    for part in (
        "exam.toml, order:",
        "exam.toml, colour: unknown; remove it",
        "items.csv, row 2: key: 'Paris' is no option; give the text of an option or a letter from A to C",
        "items.csv, row 4: key: 'two' is no number",
        "options: one is there twice",
    ):
        assert part in told, told
    with pytest.raises(MensuraError, match="has 5 errors"):
        read_exam(tmp_path / "bad")


def test_settings_and_items_must_fit_together(tmp_path):
    toml = TOML.replace('order = "fixed"', 'order = "fixed"\nitems_per_person = 9') + (
        '[[sections]]\nname = "one"\ntitle = "One"\n'
    )
    faults = inspect_exam(write_exam(tmp_path / "bad", toml))[1]
    assert "exam.toml, items_per_person: 9 is above the 4 items that count; lower it or leave it out" in faults
    assert "item capital, section: empty; give one of one" in faults
    named = ITEMS.replace("check\n", "check,section\n").replace("choice,,\n", "choice,,,two\n")
    faults = inspect_exam(write_exam(tmp_path / "named", toml, named))[1]
    assert "item capital, section: 'two' is unknown; give one of one" in faults
    without = write_exam(tmp_path / "without", TOML, named)
    assert read_exam(without).by_name["capital"].section == "two", "an exam without sections may have the column"


def test_a_tolerance_that_is_no_number_is_refused(tmp_path):
    faults = inspect_exam(write_exam(tmp_path / "bad", TOML, ITEMS.replace("0.01", "-1 cm")))[1]
    assert faults == ["items.csv, row 4: tolerance: '-1 cm' is no number from 0; give one such as 0.01 or 2%"]


@pytest.mark.parametrize("name", ["left", "seconds", "subject", "person"])
def test_a_question_named_like_a_column_of_the_takers_is_refused(tmp_path, name):
    faults = inspect_exam(write_exam(tmp_path / "bad", TOML.replace('name = "age"', f'name = "{name}"')))[1]
    assert faults == [f"exam.toml, questions: {name!r} is a column of the takers; rename the question"]


def test_an_item_named_like_the_column_of_persons_is_refused(tmp_path):
    faults = inspect_exam(write_exam(tmp_path / "bad", TOML, ITEMS.replace("\nhalf,", "\nperson,")))[1]
    assert faults == ["item person: a table of answers calls a column of its own so; rename the item"]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("../../etc/passwd", None, "must lie in the folder"),
        ("a.svg", b"<svg onload='alert(1)'/>", "is no picture"),
        ("a.png", b"GIF89a" + b"\0" * 60, "is no PNG file"),
        ("a.png", PNG + b"\0" * (3 * 2**20), "3.0 MB; expected at most 2 MB"),
        ("b.png", None, "is not in the folder"),
    ],
)
def test_pictures_outside_huge_or_of_other_kinds_are_refused(tmp_path, name, data, said):
    items = f"item,text,key,picture,picture_alt\nq,What is it?,x,{name},a drawing\n"
    folder = write_exam(tmp_path / "bad", TOML, items)
    if data is not None:
        (folder / name).write_bytes(data)
    assert said in "\n".join(inspect_exam(folder)[1])


def test_a_small_picture_is_taken_but_needs_words(tmp_path):
    folder = write_exam(tmp_path / "one", TOML, "item,text,key,picture,picture_alt\nq,What?,x,a.png,a drawing\n")
    (folder / "a.png").write_bytes(PNG)
    assert read_exam(folder).items[0].picture == "a.png"
    write_exam(folder, TOML, "item,text,key,picture\nq,What?,x,a.png\n")
    assert "picture_alt: empty" in "\n".join(inspect_exam(folder)[1])


def test_a_corrected_key_keeps_the_exam_and_another_text_does_not(tmp_path, exam):
    key = write_exam(tmp_path / "key", items=ITEMS.replace("Goethe |", "Goethe | Johann Goethe |"))
    text = write_exam(tmp_path / "text", items=ITEMS.replace("Capital of Kenya", "Chief city of Kenya"))
    assert read_exam(key).digest == exam.digest != read_exam(text).digest


def test_a_folder_without_an_exam_says_how_to_make_one(tmp_path):
    with pytest.raises(MensuraError, match="mensura exam new"):
        read_exam(tmp_path)


def test_what_keeps_an_exam_from_being_read_is_named(tmp_path, monkeypatch):
    assert inspect_exam(write_exam(tmp_path / "words", "title = "))[1][0].startswith("exam.toml: not TOML (")
    (tmp_path / "words" / "items.csv").unlink()
    write_exam(tmp_path / "lost")
    (tmp_path / "lost" / "items.csv").unlink()
    faults = inspect_exam(tmp_path / "lost")[1]
    assert any("items.csv: no such file" in fault for fault in faults)
    assert "exam.toml: no item that counts; add at least one" in faults
    monkeypatch.setattr("mensura.exam.file.MOST_ITEMS", 4)
    assert "exam.toml: 5 items; expected at most 4. Split the exam" in inspect_exam(write_exam(tmp_path / "many"))[1]
    monkeypatch.setattr("mensura.exam.file.MOST_ITEMS", 5)
    assert inspect_exam(tmp_path / "many")[1] == []


def test_a_twice_named_question_and_a_missing_translation_are_named(tmp_path):
    twice = TOML + '\n[[questions]]\nname = "age"\ntext = "Age?"\noptions = ["x", "y"]\n'
    assert inspect_exam(write_exam(tmp_path / "twice", twice))[1] == [
        "exam.toml, questions: 'age' is there twice; rename one"
    ]
    words = '[translations.fr]\ntitle = "T"\ninstructions = "I"\nconsent = "C"\n'
    words += '[translations.fr.questions.age]\ntext = "Âge ?"\noptions = ["<40", "40+"]\n'
    faults = inspect_exam(write_exam(tmp_path / "french", TOML + words))[1]
    missing = "item capital, text_fr: missing; translate it, or remove translations.fr"
    assert missing in faults and len(faults) == 5


def test_an_exam_warns_of_answers_that_nobody_grades_and_ids_that_are_lost(tmp_path):
    rubric = 'item,text,scoring,rubric\nq,Why?,rubric,"Says why."\n'
    address = 'completion_address = "https://panel.example/done"\n'
    ungraded, lost = read_exam(write_exam(tmp_path / "a", address + TOML, rubric)).warnings
    assert ungraded.endswith("consent.model_grading is not set: people's answers to them stay ungraded")
    assert lost == "completion_address is set without panel_parameter: the panel's ids will not be kept"
    quiet = address + 'panel_parameter = "pid"\n' + TOML.replace("[consent]\n", "[consent]\nmodel_grading = true\n")
    assert read_exam(write_exam(tmp_path / "b", quiet, rubric)).warnings == ()


SEEN = {"text": "New?", "options": ("a", "c"), "section": "s", "picture": "a.png", "check": True, "practice": True}
SEEN |= {"media": "a.mp3", "low": -1.0, "high": 99.0, "step": 0.5, "item": "other", "scoring": "several"}
SEEN |= {"translations": {"fr": ItemTexts(text="Quoi ?")}}
UNSEEN = {
    "points": 2.0,
    "rubric": "x",
    "tolerance": "1",
    "domain": "x",
    "picture_alt": "x",
    "key": ("b",),
    "transcript": "x",
}


def test_what_takers_see_makes_the_version_of_an_exam_and_nothing_else(exam):
    """Answers to another text are answers to another exam; a corrected key scores the same answers again."""
    (first, *rest) = exam.items

    def digest_with(**changes):
        return replace(exam, items=(first.model_copy(update=changes), *rest)).digest

    assert digest_with() == exam.digest
    same = {name for name, value in (SEEN | UNSEEN).items() if digest_with(**{name: value}) == exam.digest}
    assert same == set(UNSEEN)

    def digest_of(**changes):
        return replace(exam, settings=exam.settings.model_copy(update=changes)).digest

    assert digest_of(title="x", completion_code="y", shared_device=True) == exam.digest
    rules = {"instructions": "x", "tools": "pen", "items_per_person": 2, "seed": 8, "form": "adaptive", "questions": []}
    assert all(digest_of(**{name: value}) != exam.digest for name, value in rules.items())
