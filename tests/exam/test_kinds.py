"""Ratings, sliders, practice, sounds and films: shown to people, asked of models, and left out of scores where due."""

import pytest

from mensura.core.errors import MensuraError
from mensura.exam import AnswerStore, make_form, read_exam
from mensura.exam.design import full_form
from mensura.exam.gathering import people_outcomes, people_takers
from mensura.exam.report import report_exam
from mensura.exam.scoring import score
from mensura.exam.sitting import prompt_of, questions_of, sit_exam
from mensura.llm import open_asker
from tests.exam.conftest import TOML, write_exam
from tests.exam.test_sitting import recorded

KINDS = """item,text,options,key,scoring,tolerance,low,high,step,practice,media,transcript
try,What is 1 + 1?,1 | 2,2,choice,,,,,yes,,
capital,Capital of Kenya?,Nairobi | Mombasa,Nairobi,choice,,,,,,,
share,How many in a hundred are boys?,,51,slider,2,0,100,1,,,
sure,How sure are you?,not at all | a little | very,,rating,,,,,,,
mood,How do you feel now?,,,slider,,-5,5,0.5,,,
song,Which song is it?,,anthem,text,,,,,,song.mp3,A slow song.
"""


@pytest.fixture
def exam(tmp_path):
    folder = write_exam(tmp_path / "kinds", TOML, KINDS)
    (folder / "song.mp3").write_bytes(b"ID3" + bytes(50))
    return read_exam(folder)


def test_practice_comes_first_ratings_last_and_neither_counts(exam):
    assert [item.item for item in exam.scored] == ["capital", "share", "song"]
    assert make_form(exam, 1).items == ("try", "capital", "share", "song", "sure", "mood")
    assert full_form(exam, 0).items == ("capital", "share", "song", "sure", "mood")
    shuffled = exam.settings.model_copy(update={"order": "shuffled", "shuffle_options": True})
    for number in range(20):
        form = make_form(type(exam)(exam.folder, shuffled, exam.items), number)
        assert form.items[0] == "try"
        assert form.options["sure"] == [0, 1, 2]


def test_a_slider_with_a_key_is_scored_as_a_number_and_one_without_is_a_rating(exam):
    assert score(exam.by_name["share"], "52") == 1.0
    assert score(exam.by_name["share"], "60") == 0.0
    assert score(exam.by_name["mood"], "3") is None
    assert score(exam.by_name["sure"], [1]) is None


def test_the_report_counts_ratings_and_leaves_them_out_of_rates(exam, tmp_path):
    store = AnswerStore(tmp_path / "kinds.db", exam)
    for number in range(6):
        code, _ = store.begin()
        store.start(store.find(code))
        answers = {
            "try": [0],
            "capital": [0],
            "share": "51",
            "song": "anthem",
            "sure": [number % 2],
            "mood": str(number),
        }
        for item, given in answers.items():
            store.answer(store.find(code), item, given, seconds=9.0)
        store.finish(store.find(code))
    outcomes = people_outcomes(exam, store)
    takers = people_takers(exam, store, outcomes).with_columns(seconds=9.0)
    store.close()
    made = report_exam(exam, outcomes, takers)
    assert made.comparison["rate"].to_list() == [1.0]
    assert made.items["item"].to_list() == ["capital", "share", "song"]
    sure = made.ratings.filter(item="sure").rows()
    assert sure == [("sure", "people", "not at all", 3, 0.5, 1.5), ("sure", "people", "a little", 3, 0.5, 1.5)]
    assert made.ratings.filter(item="mood")["mean"][0] == 2.5


def test_a_model_rates_too_and_skips_what_it_cannot_hear(exam, tmp_path):
    assert "a number from -5 to 5" in prompt_of(exam.by_name["mood"], [], exam.texts)
    replies = {"capital": "ANSWER: A", "share": "ANSWER: 51", "sure": "ANSWER: C", "mood": "ANSWER: 2"}
    with open_asker(recorded(tmp_path, replies), journal=None) as asker:
        sat = sit_exam(exam, asker).sittings
    outcomes = {row["item"]: (row["outcome"], row["score"], row["answer"]) for row in sat.to_dicts()}
    assert outcomes == {
        "capital": ("right", 1.0, "Nairobi"),
        "share": ("right", 1.0, "51"),
        "sure": ("rated", None, "very"),
        "mood": ("rated", None, "2"),
        "song": ("skipped", None, None),
    }
    assert [name for _, name, question in questions_of(exam, 1, pictures=True) if question is None] == ["song"]


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
