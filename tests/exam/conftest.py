"""A small exam of each kind of item, and takers who answer it."""

from pathlib import Path

import numpy as np
import pytest

from mensura.exam import AnswerStore, Exam, read_exam
from mensura.exam.report import report_exam
from tests.exam.invented import invent

TOML = """
title = "Small exam"
instructions = "Answer each question."
order = "fixed"
shuffle_options = false
seed = 7

[consent]
text = "We store your answers."

[[questions]]
name = "age"
text = "How old are you?"
options = ["under 40", "40 or older"]
"""
ITEMS = """item,text,options,key,scoring,tolerance,check
capital,Capital of Kenya?,Nairobi | Mombasa | Kisumu,Nairobi,choice,,
primes,Which are prime?,2 | 4 | 5,2 | 5,several,,
half,What is half of 5?,,2.5,number,0.01,
poet,Write the name of the author of Faust.,,Goethe | J. W. von Goethe,text,,
look,Choose B.,A thing | B thing,B thing,choice,,yes
"""


def write_exam(folder: Path, toml: str = TOML, items: str = ITEMS) -> Path:
    """Write an exam into a folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "exam.toml").write_text(toml, encoding="utf-8")
    (folder / "items.csv").write_text(items, encoding="utf-8")
    return folder


@pytest.fixture
def exam(tmp_path) -> Exam:
    return read_exam(write_exam(tmp_path / "small"))


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, exam, clock):
    store = AnswerStore(tmp_path / "answers.db", exam, clock=clock, steady=clock)
    yield store
    store.close()


def started(store):
    code, _ = store.begin()
    store.start(store.find(code))
    return code, store.find(code)


def filled(path, exam, people=30):
    """A closed store of several people."""
    store = AnswerStore(path, exam)
    for number in range(people):
        code, _ = store.begin(panel=f"id{number}")
        store.start(store.find(code))
        store.answer(store.find(code), "capital", [number % 3], seconds=3.0)
        store.answer(store.find(code), "poet", f"Poet {number}", seconds=3.0)
        store.finish(store.find(code))
    content = {table: store.rows(table) for table in ("sittings", "answers", "shown")}, store.codes().rows()
    store.close()
    return content


KINDS = """item,text,options,key,scoring,tolerance,low,high,step,practice,media,transcript
try,What is 1 + 1?,1 | 2,2,choice,,,,,yes,,
capital,Capital of Kenya?,Nairobi | Mombasa,Nairobi,choice,,,,,,,
share,How many in a hundred are boys?,,51,slider,2,0,100,1,,,
sure,How sure are you?,not at all | a little | very,,rating,,,,,,,
mood,How do you feel now?,,,slider,,-5,5,0.5,,,
song,Which song is it?,,anthem,text,,,,,,song.mp3,A slow song.
"""


@pytest.fixture
def kinds(tmp_path) -> Exam:
    """An exam with practice, a slider, two ratings and a song."""
    folder = write_exam(tmp_path / "kinds", TOML, KINDS)
    (folder / "song.mp3").write_bytes(b"ID3" + bytes(50))
    return read_exam(folder)


@pytest.fixture(scope="session")
def bank(tmp_path_factory):
    rows = "".join(f"q{n:02d},Text of {n},a | b,a,\n" for n in range(20))
    toml = "items_per_person = 10\n" + TOML
    return read_exam(write_exam(tmp_path_factory.mktemp("bank") / "exam", toml, f"item,text,options,key,check\n{rows}"))


@pytest.fixture(scope="session")
def made(bank):
    abilities = np.random.default_rng(3).normal(size=80)
    about = lambda number: {"age": "under 40" if number % 20 else "40 or older"}  # noqa: E731
    outcomes, takers = invent(bank, abilities, [-1.5, 2.5], repeats=2, about=about)
    return report_exam(bank, outcomes, takers), takers
