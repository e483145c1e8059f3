"""Ask through a provider's batch interface: half the price, an answer within a day, collected also after a restart."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from mensura.core.errors import MensuraError
from mensura.llm.batch_client import BatchClient
from mensura.llm.budget import Budget
from mensura.llm.interface import DEFAULT_TIMEOUT, open_endpoint
from mensura.llm.journal import Journal
from mensura.llm.protocol import Answer, CallError, Question, Reader
from mensura.llm.redaction import redactor, secrets_of
from mensura.llm.settings import DEFAULT_MAX_TOKENS, KeyMaker, Prices, Settings

DISCOUNT = 0.5
"""What batches cost of the list price."""
_OPENAI = "https://api.openai.com/v1"


class BatchAsker:
    """Asks one model through the OpenAI-style batch interface; obeys the same contract as any asker.

    ``ask`` submits what has neither an answer nor a batch, collects what has arrived, and waits ``wait`` seconds (None:
    as long as it takes), looking every ``poll`` seconds. Questions still under way then have an error that names their
    batch; asking again later, in this process or another, collects them. ``waiting`` counts them after ``ask``;
    ``stopped`` names the budget that left questions unasked.
    """

    def __init__(
        self,
        name: str,
        *,
        journal: str | Path,
        base_url: str | None = None,
        temperature: float | None = 0.0,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        timeout: float = DEFAULT_TIMEOUT,
        max_cost: float | None = None,
        max_calls: int | None = None,
        prices: Prices | None = None,
        wait: float | None = None,
        poll: float = 30.0,
    ) -> None:
        self._settings = Settings(name, temperature, max_tokens)
        self._prices = None if prices is None else Prices(DISCOUNT * prices.input, DISCOUNT * prices.output)
        self._budget = Budget(self._settings, self._prices, max_cost, max_calls)
        self._journal_path = Path(journal)
        self._base_url = base_url or (_OPENAI if name.startswith("openai/") else None)
        self._timeout, self._wait, self._poll = timeout, wait, poll
        self._key = KeyMaker(self._settings)
        self.waiting = 0
        self.stopped = ""

    @property
    def model(self) -> str:
        """The model's name, as ``--model`` takes it."""
        return self._settings.model

    def ask(self, questions: Sequence[Question], read: Reader) -> list[Answer]:
        """Return one answer per question, in their order; a question without an answer yet has an ``error``."""
        endpoint, key = open_endpoint(self.model, self._base_url, self._timeout)
        redact = redactor(secrets_of(os.environ, key))
        with Journal(self._journal_path, redact=redact) as journal:
            client = BatchClient(endpoint, journal, self._settings, self._prices, self._budget, redact)
            keys = [self._key(question) for question in questions]
            try:
                _run(client.work(dict(zip(keys, questions, strict=True)), self._wait, self._poll))
            except CallError as fault:
                raise MensuraError(f"{self.model}: {redact(fault.message)}") from None
            answers = client.answers(keys, questions, read)
            self.waiting = len(client.batches.of_questions(keys))
            self.stopped = client.refused
            return answers


def ask_batch(name: str, questions: Sequence[Question], read: Reader, **settings: Any) -> list[Answer]:  # noqa: ANN401
    """Ask questions through a provider's batch interface; ``settings`` as :class:`BatchAsker` takes them."""
    return BatchAsker(name, **settings).ask(questions, read)


def _run(work: Coroutine[None, None, None]) -> None:
    """Run a coroutine to its end, also where an event loop is running already (a notebook)."""
    faults: list[BaseException] = []

    def target() -> None:
        try:
            asyncio.run(work)
        except BaseException as fault:
            faults.append(fault)

    thread = threading.Thread(target=target, name="mensura-batch")
    thread.start()
    thread.join()
    if faults:
        raise faults[0]
