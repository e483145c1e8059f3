"""A typical question and answer for the benchmarks of the journal: a rubric, an item, a reasoned level.

The words are drawn at random from a vocabulary whose frequencies fall as those of English do (Zipf), so that they pack
about as well as prose.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator

from mensura.llm import AnswerReading, Question

VOCABULARY = 3000
RUBRIC_WORDS, ITEM_WORDS, REASON_WORDS = 400, 110, 60
DIMENSIONS = 18


def prose(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(_WORDS, cum_weights=_WEIGHTS, k=count))


def typical_questions(count: int, seed: int = 0) -> Iterator[Question]:
    """Yield items × dimensions: each prompt is the dimension's rubric and the item's text, about 3.3 kB."""
    text = ""
    for number in range(count):
        item, dimension = divmod(number, DIMENSIONS)
        if dimension == 0:
            text = prose(random.Random(f"{seed} {item}"), ITEM_WORDS)
        about = {"item": f"item{item}", "dimension": f"D{dimension}"}
        yield Question(f"{_RUBRICS[dimension]}\n\nItem: {text}\n\nLevel?", about=about)


def typical_answer(prompt: str, _request: object = None) -> str:
    """Return a level with about 400 bytes of reasons."""
    chance = random.Random(prompt[-400:])
    return json.dumps({"level": chance.randrange(6), "why": prose(chance, REASON_WORDS)})


def read_typical(text: str) -> AnswerReading:
    told = json.loads(text)
    return AnswerReading(told["level"], told["why"])


def _vocabulary() -> list[str]:
    chance = random.Random(1)
    syllables = ["".join(pair) for pair in itertools.product("bdfgklmnprstvz", "aeiou")]
    return ["".join(chance.choices(syllables, k=1 + min(3, rank // 200))) for rank in range(VOCABULARY)]


_WORDS = _vocabulary()
_WEIGHTS = list(itertools.accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))
_RUBRICS = [f"Rubric {number}. {prose(random.Random(number), RUBRIC_WORDS)}" for number in range(DIMENSIONS)]
