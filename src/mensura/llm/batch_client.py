"""Submit batches to a provider and collect them.

The journal contains a batch, with a reference of its own, before it is submitted; the reference is in the batch's
metadata. If the reply to the submission is lost, the provider's list of batches shows it by its reference.
"""

from __future__ import annotations

import asyncio
import io
import json
import time
import uuid
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Any

from mensura.llm.batch_table import OPEN_STATES, BatchRecord, BatchTable
from mensura.llm.budget import Budget
from mensura.llm.calls import withheld
from mensura.llm.endpoint import Endpoint, chat_body, reply_of
from mensura.llm.journal import Hold, Journal
from mensura.llm.pacing import LONGEST_WAIT
from mensura.llm.protocol import Answer, CallError, Question, Reader, Trouble
from mensura.llm.record import note_readings, stored_answers
from mensura.llm.settings import Prices, Settings
from mensura.llm.text_store import Entry, Redact, storable

MOST_PER_BATCH = 50_000
MOST_BYTES = 100_000_000
_REFERENCE = "mensura"
_ENDED = ("completed", "failed", "expired", "cancelled")
_TRIES = 4
_LISTED_AT_ONCE = 100
LARGEST_RESULT = 600_000_000
"""Bytes of a batch's result that are read at most: 50,000 answers of 12 kB."""
_SHOWN = 120


class BatchClient:
    """Submit batches to a provider and collect them."""

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
        self.batches = BatchTable(journal)
        self.refused = ""
        self._troubles: dict[int, str] = {}

    async def work(self, questions: dict[bytes, Question], wait: float | None, poll: float) -> None:
        """Collect, submit what is new, and collect again until nothing is under way or the time is up."""
        deadline = None if wait is None else time.monotonic() + wait
        try:
            await self._collect()
            for group in self._groups(self._claimed(questions)):
                await self._submit(group)
            await self._collect()
            while self.batches.of_questions(list(questions)) and (deadline is None or time.monotonic() < deadline):
                rest = poll if deadline is None else max(0.0, min(poll, deadline - time.monotonic()))
                await asyncio.sleep(rest)
                await self._collect()
        finally:
            await self._endpoint.close()

    def answers(self, keys: Sequence[bytes], questions: Sequence[Question], read: Reader) -> list[Answer]:
        """Return the answers that the journal contains now, and write down the values that the reader takes."""
        stored = stored_answers(self._journal, keys, questions, read)
        if stored.reread:
            with self._journal.transaction():
                note_readings(self._journal, stored.reread, self._redact)
        waiting = self.batches.of_questions(keys)
        return [
            self._unanswered(question, key, waiting.get(key)) if answer is None else answer
            for key, question, answer in zip(keys, questions, stored.answers, strict=True)
        ]

    def _unanswered(self, question: Question, key: bytes, batch: BatchRecord | None) -> Answer:
        waits = ""
        if batch is not None:
            trouble = self._troubles.get(batch.number)
            reason = f" (it could not be collected: {trouble})" if trouble else ""
            waits = f"waits in batch {batch.remote or batch.reference}{reason}; ask again to collect it"
        return Answer(question, error=waits or self._failure(key) or self.refused or "not asked")

    def _failure(self, key: bytes) -> str:
        rows = list(self._journal.rows("SELECT error FROM calls WHERE key = ? AND state = 2", key))
        return str(rows[0][0]) if rows else ""

    # Submitting

    def _claimed(self, questions: dict[bytes, Question]) -> dict[bytes, Question]:
        """Claim those questions that nobody has answered or is asking, as far as the budget goes."""
        mine: dict[bytes, Question] = {}
        settings = self._settings.text()
        with self._journal.transaction():
            for key, question in questions.items():
                if self._journal.claim(key, question, settings) is not Hold.MINE:
                    continue
                if self._budget.take(self._budget.worst_case(question)):
                    mine[key] = question
                else:
                    self.refused = self._budget.reason
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
            number = self.batches.intend(reference, self._settings.model, self._endpoint.shown, list(lines))
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
                    self.batches.finished(number, "lost")
            raise
        with self._journal.transaction():
            self.batches.submitted(number, remote)

    async def _create(self, reference: str, body: dict[str, object]) -> str:
        """Create the batch; when the reply is lost, look whether it was created before trying again."""
        for attempt in range(_TRIES):
            try:
                return str((await self._send_once("POST", "/batches", json=body))["id"])
            except CallError as fault:
                if fault.trouble not in (Trouble.PASSING, Trouble.BUSY) or attempt == _TRIES - 1:
                    raise
                await asyncio.sleep(min(LONGEST_WAIT, fault.wait or 0.2 * 2**attempt))
                found = (await self._listed()).get(reference)
                if found is not None:
                    return found
        raise AssertionError

    # Collecting

    async def _collect(self) -> None:
        """Take in the results of this model's batches; a batch that fails is left for later, the others go on."""
        ours = [r for r in self.batches.records(*OPEN_STATES) if r.model == self._settings.model]
        for record in [r for r in ours if r.state == "intended" and self._journal.is_free(r.owner)]:
            await self._recover(record)
        for record in [r for r in self.batches.records("submitted") if r.model == self._settings.model]:
            try:
                batch = await self._send("GET", f"/batches/{record.remote}")
                if batch.get("status") in _ENDED:
                    await self._take_in(record, batch)
            except CallError as failure:
                self._troubles[record.number] = self._redact(storable(failure.message))

    async def _recover(self, record: BatchRecord) -> None:
        """Find a batch whose submission was cut short: the provider has it, or it never arrived."""
        remote = (await self._listed()).get(record.reference)
        with self._journal.transaction():
            if remote is None:
                self.batches.finished(record.number, "lost")
            else:
                self.batches.submitted(record.number, remote)

    async def _take_in(self, record: BatchRecord, batch: dict[str, Any]) -> None:
        """Write down the results of a batch; a line that cannot be read fails its question alone."""
        names = [batch[name] for name in ("output_file_id", "error_file_id") if batch.get(name)]
        bodies = [await self._fetch("GET", f"/files/{name}/content", largest=LARGEST_RESULT) for name in names]
        unreadable = ""
        with self._journal.transaction():
            for line in (line for body in bodies for line in io.BytesIO(body) if line.strip()):
                found = self._entry(line)
                if found is None:
                    unreadable = unreadable or f", such as {line[:_SHOWN]!r}"
                    continue
                key, entry = found
                (self._journal.answer if entry.text or not entry.error else self._journal.fail)(key, entry)
            missing = f"the result of batch {record.remote} has no readable line for this question{unreadable}"
            for key in self.batches.keys_of(record.number):
                self._journal.fail(key, Entry("", error=self._redact(storable(missing))))
            self.batches.finished(record.number, "collected")

    def _entry(self, line: bytes) -> tuple[bytes, Entry] | None:
        """Read one line of a batch's result; its question's own reader reads the answer later."""
        try:
            result = json.loads(line.decode("utf-8", errors="replace"))
            key = bytes.fromhex(result["custom_id"])
            response = result.get("response") or {}
            status, body = response.get("status_code"), response.get("body")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        try:
            if status != HTTPStatus.OK:
                raise CallError(
                    Trouble.QUESTION, f"refused in the batch: {json.dumps(result.get('error') or body)[:200]}"
                )
            reply = reply_of(json.dumps(body).encode("ascii"))
        except CallError as failure:
            return key, Entry("", error=self._redact(storable(failure.message)))
        tokens = (reply.tokens_in or 0, reply.tokens_out or 0)
        cost = None if self._prices is None else self._prices.cost(*tokens)
        text = storable(reply.text)
        error = withheld(reply, text).error if reply.withheld else ""
        entry = Entry(text, error=error, tokens_in=tokens[0], tokens_out=tokens[1], cost=cost)
        return key, entry.redacted(self._redact)

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
                await asyncio.sleep(min(LONGEST_WAIT, fault.wait or 0.5 * 2**attempt))
        raise AssertionError


def _as_object(body: bytes) -> dict[str, Any]:
    try:
        told = json.loads(body)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise CallError(Trouble.PASSING, f"not a JSON object: {body[:120]!r}")
    return told
