"""A small exam of each kind of item, and takers who answer it."""

from pathlib import Path

import pytest

from mensura.exam import Exam, read_exam

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
