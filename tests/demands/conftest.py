"""Annotators that answer by a script, and a few items of our own."""

import json
import re
from dataclasses import dataclass, field

import polars as pl
import pytest

from mensura.demands import load_rubrics
from mensura.llm import Answer, UnreadableError

CODES = list(load_rubrics())


@dataclass
class Scripted:
    """An asker whose answers a function makes of the question; it remembers what it was asked."""

    reply: object
    model: str = "scripted"
    asked: list = field(default_factory=list)

    def ask(self, questions, read):
        self.asked += questions
        return [self._answer(question, read) for question in questions]

    def _answer(self, question, read):
        text = self.reply(question)
        try:
            reading = read(text)
        except UnreadableError as fault:
            return Answer(question, text, error=str(fault), attempts=1)
        return Answer(question, text, reading.value, reading.rationale, tokens_in=len(question.prompt) // 4, attempts=1)


def item_texts(question) -> list[str]:
    """The items a prompt shows, in its order."""
    shown = re.split(r"--- Item \d+ ---\n", question.prompt)[1:] or [question.prompt.split("\nItem\n\n")[1]]
    return [text.split("Text: ")[1].split("\n")[0] for text in shown]


def answering(level_of):
    """A reply in the form the question asks for; ``level_of(text, code, repeat)`` decides the level."""

    def reply(question):
        about, repeat = question.about, question.repeat
        texts = item_texts(question)
        if about["protocol"] == "cell":
            code = about["dimension"]
            return f"Because.\n\nThe level of {code} that this item demands is: {level_of(texts[0], code, repeat)}"
        codes = about["dimensions"].split()
        entries = [
            {"why": f"as {text}", "levels": {code: level_of(text, code, repeat) for code in codes}} for text in texts
        ]
        if about["protocol"] == "item":
            return json.dumps(entries[0])
        return json.dumps({"items": [{"item": number, **entry} for number, entry in enumerate(entries, 1)]})

    return reply


def by_text(text, code, repeat):
    """A level that only the text and the dimension decide."""
    return (len(text) + 3 * CODES.index(code)) % 6


@pytest.fixture
def items() -> pl.DataFrame:
    texts = ["How many legs has a spider?", "Name a river.", "What is 7 + 5?", "Is ice warm?", "Who wrote Emma?"]
    return pl.DataFrame(
        {
            "item": [f"q{number}" for number in range(5)],
            "text": texts,
            "options": ["6 || 8 || 10", None, None, "yes || no", None],
            "key": ["8", "any river", "12", "no", "Austen"],
            "scoring": [None, "any river on a map", None, None, None],
        }
    )
