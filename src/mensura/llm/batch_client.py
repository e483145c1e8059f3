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
from collections.abc import Awaitable, Callable, Iterator, Sequence
from http import HTTPStatus
from typing import Any

from mensura.llm.calls import Caller, withheld
from mensura.llm.endpoint import Endpoint, chat_body, reply_of
from mensura.llm.journal import Entry, Journal, State
from mensura.llm.pacing import LONGEST_WAIT
from mensura.llm.protocol import Answer, CallError, Question, Reader, Trouble
from mensura.llm.record import note_readings, stored_answers

MOST_PER_BATCH, MOST_BYTES = 50_000, 100_000_000
LARGEST_RESULT = 600_000_000
"""Bytes of a batch's result that are read at most: 50,000 answers of 12 kB."""
_REFERENCE = "mensura"
_ENDED = ("completed", "failed", "expired", "cancelled")
_TRIES = 4
_LISTED_AT_ONCE = 100
_SHOWN = 120
_WAITING = """
SELECT calls.key, batches.id, CASE remote WHEN '' THEN reference ELSE remote END
FROM calls JOIN batches ON batches.id = calls.batch
WHERE calls.state = 3 AND batches.state IN ('intended', 'submitted')
"""
_INTEND = "INSERT INTO batches (reference, model, endpoint, state, calls, made) VALUES (?, ?, ?, 'intended', ?, ?)"


class BatchClient:
    """Submit batches to a provider and collect them."""

    def __init__(self, endpoint: Endpoint, journal: Journal, caller: Caller) -> None:
        self._endpoint, self._journal, self._caller = endpoint, journal, caller
        self._settings, self._budget = caller.settings, caller.budget
        self.refused = ""
        self._troubles: dict[int, str] = {}

    async def work(self, questions: dict[bytes, Question], wait: float | None, poll: float) -> None:
        """Collect, submit what is new, and collect again until nothing is under way or the time is up."""
        deadline = float("inf") if wait is None else time.monotonic() + wait
        try:
            await self._collect()
            for group in self._groups(self._claimed(questions)):
                await self._submit(group)
            await self._collect()
            while self.waiting(list(questions)) and time.monotonic() < deadline:
                await asyncio.sleep(max(0.0, min(poll, deadline - time.monotonic())))
                await self._collect()
        finally:
            await self._caller.close()

    def answers(self, keys: Sequence[bytes], questions: Sequence[Question], read: Reader) -> list[Answer]:
        """Return the answers that the journal contains now, and write down the values that the reader takes."""
        stored = stored_answers(self._journal, keys, questions, read)
        with self._journal.transaction():
            note_readings(self._journal, stored.reread, self._caller.redact)
        waiting = self.waiting(keys)
        failed = dict(self._journal.rows("SELECT key, error FROM calls WHERE state = 2"))
        answers = []
        for key, question, answer in zip(keys, questions, stored.answers, strict=True):
            error = failed.get(key) or self.refused or "not asked"
            if key in waiting:
                number, name = waiting[key]
                trouble = self._troubles.get(number)
                reason = f" (it could not be collected: {trouble})" if trouble else ""
                error = f"waits in batch {name}{reason}; ask again to collect it"
            answers.append(answer or Answer(question, error=error))
        return answers

    def waiting(self, keys: Sequence[bytes]) -> dict[bytes, tuple[int, str]]:
        """Return number and name of the open batch that each of these questions is in, if any."""
        rows = {key: (number, name) for key, number, name in self._journal.rows(_WAITING)}
        return {key: rows[key] for key in keys if key in rows}

    # Submitting

    def _claimed(self, questions: dict[bytes, Question]) -> dict[bytes, Question]:
        """Claim those questions that have neither an answer nor a batch, as far as the budget goes."""
        mine: dict[bytes, Question] = {}
        settings = self._settings.text()
        with self._journal.transaction():
            for key, question in questions.items():
                if self._journal.claim(key, question, settings) is not State.CLAIMED:
                    continue
                if self._budget.take(self._budget.worst_case(question)):
                    mine[key] = question
                else:
                    self.refused = self._budget.reason
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
        run = self._journal.connection.execute
        with self._journal.transaction():
            number = run(
                _INTEND, (reference, self._settings.model, self._endpoint.shown, len(lines), time.time())
            ).lastrowid
            for key in lines:
                run("UPDATE calls SET state = 3, batch = ? WHERE key = ?", (number, key))
        assert number is not None
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
                self._finish(number, "lost")
            raise
        self._note_remote(number, remote)

    async def _create(self, reference: str, body: dict[str, object]) -> str:
        """Create the batch; when the reply is lost, look whether it was created before trying again."""

        async def create() -> str:
            return str(_as_object(await self._endpoint.request("POST", "/batches", json=body))["id"])

        async def look() -> str | None:
            return (await self._listed()).get(reference)

        return str(await _patiently(create, look))

    def _note_remote(self, number: int, remote: str) -> None:
        with self._journal.transaction():
            submitted = "UPDATE batches SET state = 'submitted', remote = ? WHERE id = ?"
            self._journal.connection.execute(submitted, (remote, number))

    def _finish(self, number: int, state: str) -> None:
        """Close a batch; those of its questions that have no answer may be asked again."""
        with self._journal.transaction():
            self._journal.connection.execute("UPDATE batches SET state = ? WHERE id = ?", (state, number))
            self._journal.connection.execute("UPDATE calls SET state = 0 WHERE batch = ? AND state = 3", (number,))

    # Collecting

    async def _collect(self) -> None:
        """Take in the results of this model's batches; a batch that fails is left for later, the others go on."""
        select = "SELECT id, reference, remote FROM batches WHERE model = ? AND state = ? ORDER BY id"
        model = self._settings.model
        for number, reference, _ in list(self._journal.rows(select, model, "intended")):  # cut short while submitting
            arrived = (await self._listed()).get(reference)
            if arrived is None:
                self._finish(number, "lost")
            else:
                self._note_remote(number, arrived)
        for number, _, remote in list(self._journal.rows(select, model, "submitted")):
            try:
                batch = await self._send("GET", f"/batches/{remote}")
                if batch.get("status") in _ENDED:
                    await self._take_in(number, remote, batch)
            except CallError as failure:
                self._troubles[number] = self._caller.shown(failure.message)

    async def _take_in(self, number: int, remote: str, batch: dict[str, Any]) -> None:
        """Write down the results of a batch; a line that cannot be read fails its question alone."""
        names = [batch[name] for name in ("output_file_id", "error_file_id") if batch.get(name)]
        bodies = [await self._fetch("GET", f"/files/{name}/content", largest=LARGEST_RESULT) for name in names]
        unreadable = ""
        with self._journal.transaction():
            for line in (line for body in bodies for line in io.BytesIO(body) if line.strip()):
                read = self._entry(line)
                if read is None:
                    unreadable = unreadable or f", such as {line[:_SHOWN]!r}"
                    continue
                key, entry = read
                (self._journal.answer if entry.text or not entry.error else self._journal.fail)(key, entry)
            missing = f"the result of batch {remote} has no readable line for this question{unreadable}"
            left = "SELECT key FROM calls WHERE batch = ? AND state = 3"
            for (key,) in list(self._journal.rows(left, number)):
                self._journal.fail(key, Entry("", error=self._caller.shown(missing)))
        self._finish(number, "collected")

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
                refusal = json.dumps(result.get("error") or body)[:200]
                raise CallError(Trouble.QUESTION, f"refused in the batch: {refusal}")
            reply = reply_of(json.dumps(body).encode("ascii"))
        except CallError as failure:
            return key, Entry("", error=self._caller.shown(failure.message))
        tokens = (reply.tokens_in or 0, reply.tokens_out or 0)
        cost = None if self._caller.prices is None else self._caller.prices.cost(*tokens)
        text = self._caller.shown(reply.text)
        error = withheld(reply, text).error if reply.withheld else ""
        return key, Entry(text, error=error, tokens_in=tokens[0], tokens_out=tokens[1], cost=cost)

    async def _listed(self) -> dict[str, str]:
        """Return the provider's batches of ours: reference → id."""
        listed: dict[str, str] = {}
        after = ""
        while True:
            page = await self._send("GET", f"/batches?limit={_LISTED_AT_ONCE}{after}")
            rows = page.get("data") or []
            listed |= {(row.get("metadata") or {}).get(_REFERENCE, ""): row["id"] for row in rows}
            if not page.get("has_more") or not rows:
                return listed
            after = f"&after={rows[-1]['id']}"

    async def _send(self, method: str, path: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
        return _as_object(await self._fetch(method, path, **options))

    async def _fetch(self, method: str, path: str, **options: Any) -> bytes:  # noqa: ANN401
        """Send a request that may be sent again."""
        body: bytes = await _patiently(lambda: self._endpoint.request(method, path, **options))
        return body


async def _patiently(send: Callable[[], Awaitable[Any]], look: Callable[[], Awaitable[Any]] | None = None) -> Any:  # noqa: ANN401
    """Send a few times, with patience; ``look`` returns the result of a request whose reply was lost."""
    for attempt in range(1, _TRIES + 1):
        try:
            return await send()
        except CallError as fault:
            if fault.trouble not in (Trouble.PASSING, Trouble.BUSY) or attempt == _TRIES:
                raise
            await asyncio.sleep(min(LONGEST_WAIT, fault.wait or 0.2 * 2**attempt))
            if look is not None and (result := await look()) is not None:
                return result
    raise AssertionError


def _as_object(body: bytes) -> dict[str, Any]:
    try:
        result = json.loads(body)
    except ValueError:
        result = None
    if not isinstance(result, dict):
        raise CallError(Trouble.PASSING, f"not a JSON object: {body[:120]!r}")
    return result
