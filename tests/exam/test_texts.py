"""Texts of the pages: every language is whole, a file of one's own adds another, and translations are complete."""

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.exam import AnswerStore, read_exam
from mensura.exam.gathering import people_outcomes, people_takers
from mensura.exam.report import report_exam
from mensura.exam.settings import CATALOGUES
from tests.exam.conftest import ITEMS, TOML, write_exam
from tests.exam.invented import invent

FRENCH = """
[translations.fr]
title = "Petit examen"
instructions = "Répondez à chaque question."
consent = "Nous enregistrons vos réponses."
questions.age = {text = "Quel âge avez-vous ?", options = ["moins de 40", "40 ou plus"]}
"""
TWO = """item,text,text_fr,options,options_fr,key,key_fr,scoring
capital,Capital of Kenya?,Capitale du Kenya ?,Nairobi | Mombasa,Nairobi | Mombassa,Nairobi,,choice
poet,Author of Faust?,Auteur de Faust ?,,,Goethe,Jean de Goethe,text
"""


def test_a_language_without_texts_is_refused_and_a_file_of_ones_own_adds_it(tmp_path):
    folder = write_exam(tmp_path / "swahili", 'language = "sw"\n' + TOML)
    with pytest.raises(MensuraError, match=r"language: 'sw' has no texts; expected one of ar, de, en.*copy .*en\.toml"):
        read_exam(folder)
    own = folder / "languages" / "sw.toml"
    own.parent.mkdir()
    source = (CATALOGUES / "en.toml").read_text(encoding="utf-8")
    own.write_text(source.replace('saved = "Saved."', 'saved = "Imehifadhiwa."'), encoding="utf-8")
    assert read_exam(folder).texts("saved") == "Imehifadhiwa."
    own.write_text(source.replace('start = "Start"\n', "").replace("{at} of {n}", "{at}"), encoding="utf-8")
    with pytest.raises(MensuraError) as fault:
        read_exam(folder)
    assert "languages/sw.toml, start: missing; translate 'Start'" in str(fault.value)
    assert "languages/sw.toml, question_of: expected the same words in braces" in str(fault.value)


def test_a_translation_that_lacks_an_item_or_a_question_is_refused(tmp_path):
    with pytest.raises(MensuraError, match=r"item capital, text_fr: missing"):
        read_exam(write_exam(tmp_path / "a", TOML + FRENCH, ITEMS))
    lacking = FRENCH.replace('options = ["moins de 40", "40 ou plus"]', 'options = ["moins de 40"]')
    with pytest.raises(MensuraError, match=r"translations\.fr\.questions\.age: expected a text and 2 options"):
        read_exam(write_exam(tmp_path / "b", TOML + lacking, TWO))
    with pytest.raises(MensuraError, match=r"options_fr: 1 given; give 2 in the same order"):
        read_exam(write_exam(tmp_path / "c", TOML + FRENCH, TWO.replace("Nairobi | Mombassa", "Nairobi")))


def test_answers_in_both_languages_are_scored_alike(tmp_path):
    exam = read_exam(write_exam(tmp_path / "two", TOML + FRENCH, TWO))
    assert exam.translated("fr").by_name["capital"].options == ("Nairobi", "Mombassa")
    store = AnswerStore(tmp_path / "two.db", exam)
    code, _ = store.begin(language="fr")
    store.start(store.find(code))
    store.answer(store.find(code), "capital", [0], seconds=1.0)
    store.answer(store.find(code), "poet", "jean de goethe", seconds=1.0)
    store.finish(store.find(code))
    outcomes = people_outcomes(exam, store)
    assert outcomes["score"].to_list() == [1.0, 1.0]
    assert people_takers(exam, store, outcomes)["sat_in"].to_list() == ["fr"]
    store.close()


def test_the_report_names_the_item_that_a_translation_made_harder(tmp_path):
    rows = "".join(f"q{number},Question {number}?,Question {number} ?,x,x\n" for number in range(12))
    exam = read_exam(write_exam(tmp_path / "dif", TOML + FRENCH, "item,text,text_fr,key,key_fr\n" + rows))
    outcomes, takers = invent(exam, [(number % 40) / 10 - 2 for number in range(400)], seed=5)
    french = [f"person-{number}" for number in range(0, 400, 2)]
    is_bad = pl.col("subject").is_in(french) & (pl.col("item") == "q3")
    outcomes = outcomes.with_columns(
        score=pl.when(is_bad).then(pl.col("score") * (pl.col("subject").hash(1) % 3 == 0)).otherwise("score")
    )
    takers = takers.with_columns(
        sat_in=pl.when(pl.col("subject").is_in(french)).then(pl.lit("fr")).otherwise(pl.lit("en"))
    )
    table = report_exam(exam, outcomes, takers).languages
    assert table.height == 24
    flagged = table.filter("flagged")
    assert flagged["item"].to_list() == ["q3"]
    assert flagged["language"].to_list() == ["fr"]
    assert flagged["difference_high"][0] < 0
    one = takers.with_columns(sat_in=pl.lit("en"))
    assert report_exam(exam, outcomes, one).languages.height == 0
