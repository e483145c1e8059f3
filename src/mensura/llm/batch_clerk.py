"""Carrying batches to a provider and back.

A batch is written into the journal, with a reference of ours, before it is submitted; the reference travels in the
batch's metadata. Should the reply to the submission be lost, the batch is found again among those the provider lists.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Any

from mensura.core.errors import MensuraError
from mensura.llm.batch_book import OPEN_STATES, BatchBook, BatchRecord
from mensura.llm.budget import Budget
from mensura.llm.entries import Entry, redacted
from mensura.llm.journal import Hold, Journal
from mensura.llm.protocol import Answer, Question, Reader
from mensura.llm.providers.base import CallError, Trouble
from mensura.llm.providers.lean import Endpoint, chat_body, reply_of
from mensura.llm.settings import Prices, Settings
from mensura.llm.shelf import Redact
from mensura.llm.stored import note_readings, stored_answers

MOST_PER_BATCH = 50_000
MOST_BYTES = 100_000_000
_REFERENCE = "mensura"
_ENDED = ("completed", "failed", "expired", "cancelled")
_TRIES = 4
_LISTED_AT_ONCE = 100
_SAMPLES = 24


class Clerk:
    """Carries batches to the provider and back."""

    def __init__(
        self,
        endpoint: Endpoint,
        journal: Journal,
        settings: Settings,
        prices: Prices | None,
        budget: Budget,
        redact: Redact,
    ) -> None:
        self._endpoint, self._journal, self._settings = endpoint, journal, settings
        self._prices, self._budget, self._redact = prices, budget, redact
        self._book = BatchBook(journal)
        self._refused = ""

    async def work(self, questions: dict[bytes, Question], wait: float | None, poll: float) -> None:
        """Collect, submit what is new, and collect again until nothing is under way or the time is up."""
        deadline = None if wait is None else time.monotonic() + wait
        try:
            await self._collect()
            for group in self._groups(self._claimed(questions)):
                await self._submit(group)
            await self._collect()
            while self._book.of_questions(list(questions)) and (deadline is None or time.monotonic() < deadline):
                rest = poll if deadline is None else max(0.0, min(poll, deadline - time.monotonic()))
                await asyncio.sleep(rest)
                await self._collect()
        finally:
            await self._endpoint.close()

    def answers(self, keys: Sequence[bytes], questions: Sequence[Question], read: Reader) -> list[Answer]:
        """Return what the journal holds for questions now, and write down what the reader takes from it."""
        stored = stored_answers(self._journal, keys, questions, read)
        if stored.reread:
            with self._journal.transaction():
                note_readings(self._journal, stored.reread, self._redact)
        waiting = self._book.of_questions(keys)
        return [
            self._unanswered(question, key, waiting.get(key)) if answer is None else answer
            for key, question, answer in zip(keys, questions, stored.answers, strict=True)
        ]

    def _unanswered(self, question: Question, key: bytes, batch: BatchRecord | None) -> Answer:
        waits = "" if batch is None else f"waits in batch {batch.remote or batch.reference}; ask again to collect it"
        return Answer(question, error=waits or self._failure(key) or self._refused or "not asked")

    def _failure(self, key: bytes) -> str:
        rows = list(self._journal.rows("SELECT error FROM calls WHERE key = ? AND state = 2", key))
        return str(rows[0][0]) if rows else ""

    # Submitting

    def _claimed(self, questions: dict[bytes, Question]) -> dict[bytes, Question]:
        """Claim those questions that nobody has answered or is asking, as far as the budget goes."""
        mine: dict[bytes, Question] = {}
        settings = self._settings.text()
        with self._journal.transaction():
            self._journal.shelf.learn([question.prompt for question in list(questions.values())[:_SAMPLES]])
            for key, question in questions.items():
                if self._journal.claim(key, question, settings) is not Hold.MINE:
                    continue
                if self._budget.take(self._budget.worst_case(question)):
                    mine[key] = question
                else:
                    self._refused = self._budget.reason
                    self._journal.release([key])
        return mine

    def _groups(self, questions: dict[bytes, Question]) -> Iterator[dict[bytes, bytes]]:
        """Yield the request lines of one batch after another, each within the provider's limits."""
        group: dict[bytes, bytes] = {}
        size = 0
        for key, question in questions.items():
            body = chat_body(question, self._settings, self._endpoint.served)
            request = {"custom_id": key.hex(), "method": "POST", "url": "/v1/chat/completions", "body": body}
            line = json.dumps(request).encode("ascii") + b"\n"
            if group and (len(group) >= MOST_PER_BATCH or size + len(line) > MOST_BYTES):
                yield group
                group, size = {}, 0
            group[key] = line
            size += len(line)
        if group:
            yield group

    async def _submit(self, lines: dict[bytes, bytes]) -> None:
        """Write the intention down, then submit; a refusal gives the questions back.

        When it cannot be known whether the batch arrived, the intention stands, and the next asking looks for it.
        """
        reference = uuid.uuid4().hex
        with self._journal.transaction():
            number = self._book.intend(reference, self._settings.model, self._endpoint.shown, list(lines))
        arrived_perhaps = False
        try:
            file = await self._send("POST", "/files", **self._endpoint.form(b"".join(lines.values())))
            body = {
                "input_file_id": file["id"],
                "endpoint": "/v1/chat/completions",
                "completion_window": "24h",
                "metadata": {_REFERENCE: reference},
            }
            arrived_perhaps = True
            remote = await self._create(reference, body)
        except CallError as fault:
            if not arrived_perhaps or fault.trouble is not Trouble.PASSING:
                with self._journal.transaction():
                    self._book.finished(number, "lost")
            raise
        with self._journal.transaction():
            self._book.submitted(number, remote)

    async def _create(self, reference: str, body: dict[str, object]) -> str:
        """Create the batch; when the reply is lost, look whether it was created before trying again."""
        for attempt in range(_TRIES):
            try:
                return str((await self._send_once("POST", "/batches", json=body))["id"])
            except CallError as fault:
                if fault.trouble not in (Trouble.PASSING, Trouble.BUSY) or attempt == _TRIES - 1:
                    raise
                await asyncio.sleep(fault.wait or 0.2 * 2**attempt)
                found = (await self._listed()).get(reference)
                if found is not None:
                    return found
        raise AssertionError

    # Collecting

    async def _collect(self) -> None:
        """Take in what has arrived of the batches of this model and endpoint."""
        ours = [r for r in self._book.records(*OPEN_STATES) if r.model == self._settings.model]
        for record in [r for r in ours if r.state == "intended" and self._journal.is_free(r.owner)]:
            await self._recover(record)
        for record in [r for r in self._book.records("submitted") if r.model == self._settings.model]:
            batch = await self._send("GET", f"/batches/{record.remote}")
            if batch.get("status") in _ENDED:
                await self._take_in(record, batch)

    async def _recover(self, record: BatchRecord) -> None:
        """Find a batch whose submission was cut short: the provider has it, or it never arrived."""
        remote = (await self._listed()).get(record.reference)
        with self._journal.transaction():
            if remote is None:
                self._book.finished(record.number, "lost")
            else:
                self._book.submitted(record.number, remote)

    async def _take_in(self, record: BatchRecord, batch: dict[str, Any]) -> None:
        entries: list[tuple[bytes, Entry]] = []
        for name in ("output_file_id", "error_file_id"):
            if batch.get(name):
                body = await self._fetch("GET", f"/files/{batch[name]}/content")
                entries += [self._entry(line) for line in body.splitlines() if line.strip()]
        with self._journal.transaction():
            for key, entry in entries:
                if entry.error:
                    self._journal.fail(key, entry)
                else:
                    self._journal.answer(key, entry)
            self._book.finished(record.number, "collected")

    def _entry(self, line: bytes) -> tuple[bytes, Entry]:
        """Read one line of a batch's result; it is unread until its own reader comes."""
        try:
            told = json.loads(line)
            key = bytes.fromhex(told["custom_id"])
            response = told.get("response") or {}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise MensuraError(f"{self._settings.model}: the batch's result is not readable: {line[:120]!r}") from None
        body = json.dumps(response.get("body")).encode()
        try:
            if response.get("status_code") != HTTPStatus.OK:
                reason = told.get("error") or response.get("body")
                raise CallError(Trouble.QUESTION, f"refused in the batch: {json.dumps(reason)[:200]}")
            reply = reply_of(body)
        except CallError as fault:
            return key, Entry("", error=self._redact(fault.message))
        tokens = (reply.tokens_in or 0, reply.tokens_out or 0)
        cost = None if self._prices is None else self._prices.cost(*tokens)
        entry = Entry(reply.text, tokens_in=tokens[0], tokens_out=tokens[1], cost=cost)
        return key, redacted(entry, self._redact)

    async def _listed(self) -> dict[str, str]:
        """Return the provider's batches of ours: reference → id."""
        found: dict[str, str] = {}
        after = ""
        while True:
            page = await self._send("GET", f"/batches?limit={_LISTED_AT_ONCE}{after}")
            rows = page.get("data") or []
            for row in rows:
                reference = (row.get("metadata") or {}).get(_REFERENCE)
                if reference:
                    found[reference] = row["id"]
            if not page.get("has_more") or not rows:
                return found
            after = f"&after={rows[-1]['id']}"

    # Requests

    async def _send(self, method: str, path: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
        return _as_object(await self._fetch(method, path, **options))

    async def _send_once(self, method: str, path: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
        return _as_object(await self._endpoint.request(method, path, **options))

    async def _fetch(self, method: str, path: str, **options: Any) -> bytes:  # noqa: ANN401
        """Send a request that may be sent again: a few times, with patience."""
        for attempt in range(_TRIES):
            try:
                return await self._endpoint.request(method, path, **options)
            except CallError as fault:
                if fault.trouble not in (Trouble.PASSING, Trouble.BUSY) or attempt == _TRIES - 1:
                    raise
                await asyncio.sleep(fault.wait or 0.5 * 2**attempt)
        raise AssertionError


def _as_object(body: bytes) -> dict[str, Any]:
    try:
        told = json.loads(body)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise CallError(Trouble.PASSING, f"not a JSON object: {body[:120]!r}")
    return told
