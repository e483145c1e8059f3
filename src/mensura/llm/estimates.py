"""Beforehand: how many calls a set of questions takes, how many tokens, how much money."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mensura.core.errors import MensuraError
from mensura.llm.budget import likely_tokens_in
from mensura.llm.journal import Journal
from mensura.llm.keys import KeyMaker
from mensura.llm.protocol import Question
from mensura.llm.recordings import PREFIX, read_recording
from mensura.llm.settings import DEFAULT_MAX_TOKENS, Prices, Settings

_ENOUGH = 20
"""Answers of a model in the journal from which its token counts are taken rather than guessed."""
_CHUNK = 1000


@dataclass(frozen=True)
class Estimate:
    """What asking would take: ``stored`` answers are there already, ``calls`` would be made.

    Token counts are guesses (a quarter of the bytes; scaled by what the journal shows of this model once it holds 20
    answers of it). ``cost`` is what is expected, ``cost_at_most`` if every answer used all its tokens; US dollars,
    None where no price is known.
    """

    model: str
    questions: int
    stored: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    cost_at_most: float | None

    def __str__(self) -> str:
        money = "no price is known for it"
        if self.cost is not None:
            money = f"about ${self.cost:.2f}, at most ${self.cost_at_most:.2f}"
        return (
            f"{self.questions:,} questions to {self.model}: {self.stored:,} answered already, {self.calls:,} calls, "
            f"about {self.tokens_in:,} tokens in and {self.tokens_out:,} out; {money}"
        )


def estimate(
    questions: Iterable[Question],
    name: str,
    *,
    journal: str | Path | None = None,
    temperature: float | None = 0.0,
    max_tokens: int = DEFAULT_MAX_TOKENS,
    prices: Prices | None = None,
    tokens_out: int | None = None,
) -> Estimate:
    """Say what asking these questions would take; nothing is sent.

    ``journal`` (it need not exist) tells which are answered and how long answers are. ``tokens_out`` is the length to
    expect of an answer where the journal does not tell; all of ``max_tokens`` when not given.
    """
    version = read_recording(name).version if name.startswith(PREFIX) else ""
    settings = Settings(name, temperature, max_tokens, version)
    if tokens_out is not None and tokens_out < 0:
        raise MensuraError(f"tokens_out: expected a number of at least 0, got {tokens_out!r}")
    asked = list(questions)
    known = set[bytes]()
    scale, length = 1.0, float(max_tokens if tokens_out is None else tokens_out)
    keys = list(map(KeyMaker(settings), asked))
    if journal is not None and Path(journal).exists():
        with Journal(journal, create=False) as book:
            for start in range(0, len(keys), _CHUNK):
                known |= book.answered(keys[start : start + _CHUNK])
            scale, length = _observed(book, settings, scale, length)
    fresh = {key: question for key, question in zip(keys, asked, strict=True) if key not in known}
    tokens_in = round(scale * sum(map(likely_tokens_in, fresh.values())))
    expected = round(min(length, max_tokens) * len(fresh))
    return Estimate(
        model=name,
        questions=len(asked),
        stored=sum(key in known for key in keys),
        calls=len(fresh),
        tokens_in=tokens_in,
        tokens_out=expected,
        cost=None if prices is None else prices.cost(tokens_in, expected),
        cost_at_most=None if prices is None else prices.cost(tokens_in, max_tokens * len(fresh)),
    )


def _observed(journal: Journal, settings: Settings, scale: float, length: float) -> tuple[float, float]:
    """Return how this model's token counts compare with the guess, and the mean length of its answers."""
    guessed = told = answers = written = 0
    for question, entry in journal.questions(settings.text(), limit=10 * _ENOUGH):
        guessed += likely_tokens_in(question)
        told += entry.tokens_in
        written += entry.tokens_out
        answers += 1
    if answers < _ENOUGH or not guessed:
        return scale, length
    return told / guessed, written / answers
