"""Ask through a provider's batch interface: half the price, an answer within a day, collected also after a restart."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mensura.core.errors import MensuraError
from mensura.llm.asker import DEFAULT_TIMEOUT, open_endpoint
from mensura.llm.batch_client import BatchClient
from mensura.llm.calls import Budget, Caller
from mensura.llm.endpoint import EndpointProvider, redactor, secrets_of
from mensura.llm.journal import Journal
from mensura.llm.protocol import DEFAULT_MAX_TOKENS, Answer, CallError, KeyMaker, Prices, Question, Reader, Settings

DISCOUNT = 0.5
"""What batches cost of the list price."""
_OPENAI = "https://api.openai.com/v1"


class BatchAsker:
    """Ask one model through the OpenAI-style batch interface; obeys the same contract as any asker.

    ``ask`` submits what has neither an answer nor a batch, collects what has arrived, and waits. Questions still under
    way then have an error that names their batch; asking again later, in this process or another, collects them.

    Parameters
    ----------
    name, journal, base_url, temperature, max_tokens, timeout, max_cost, max_calls, prices
        As :func:`mensura.llm.open_asker` takes them; ``prices`` are list prices, of which batches cost half.
    wait : float, optional
        Seconds to wait for answers; None waits as long as it takes.
    poll : float
        Seconds between two looks.

    Attributes
    ----------
    waiting : int
        Questions still under way after ``ask``.
    stopped : str
        The budget that left questions unasked; empty where none did.

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
            journal.lock()
            provider = EndpointProvider(endpoint, self._settings)
            caller = Caller(provider, self._settings, self._prices, self._budget, redact)
            client = BatchClient(endpoint, journal, caller)
            keys = [self._key(question) for question in questions]
            work = client.work(dict(zip(keys, questions, strict=True)), self._wait, self._poll)
            try:  # in a thread of its own, for a notebook has an event loop running already
                with ThreadPoolExecutor(1, thread_name_prefix="mensura-batch") as thread:
                    thread.submit(asyncio.run, work).result()
            except CallError as fault:
                raise MensuraError(f"{self.model}: {redact(fault.message)}") from None
            answers = client.answers(keys, questions, read)
            self.waiting = len(client.waiting(keys))
            self.stopped = client.refused
            return answers


def ask_batch(name: str, questions: Sequence[Question], read: Reader, **settings: Any) -> list[Answer]:  # noqa: ANN401
    """Ask questions through a provider's batch interface.

    Parameters
    ----------
    name : str
        The model, as :func:`mensura.llm.open_asker` takes it.
    questions : sequence of Question
        The questions.
    read : Reader
        Takes the value from an answer's text.
    **settings
        As :class:`BatchAsker` takes them; ``journal`` is needed.

    Returns
    -------
    list of Answer
        One per question, in their order; a question without an answer yet has an ``error`` that names its batch.

    Raises
    ------
    MensuraError
        If the provider refuses the batch, or another process uses the journal.

    Examples
    --------
    >>> ask_batch("openai/gpt-5", questions, read, journal="journal.sqlite", wait=0)  # doctest: +SKIP

    """
    return BatchAsker(name, **settings).ask(questions, read)
