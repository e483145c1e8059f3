"""Two providers of answers: any that inspect-ai knows, and recordings.

inspect-ai is asked by the names its users know; retries, pacing and record are Mensura's. A recording is a journal,
searched by a question's words, or a table with a column ``answer`` and columns that name what a question is about
(``item``, ``dimension``, ``variant`` …). A row answers a question when each of its filled cells equals what
``Question.about`` says (``repeat``: the question's own); of several rows that do, the one with most filled cells. The
columns in :data:`NOT_MATCHED` may accompany them.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mensura.core.errors import MensuraError
from mensura.llm.endpoint import FILTERED
from mensura.llm.journal import Journal
from mensura.llm.protocol import KEY_BYTES, CallError, KeyMaker, Question, Reply, Settings, Trouble
from mensura.llm.record import WITHHELD

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput

_REFUSED = {401: "the key is missing or wrong", 402: "the account has no credit", 403: "the key may not use this model"}
_NOT_FOUND = 404
BATCH_TICK = 15.0
"""Seconds in which questions of a batch gather, and between two looks at it."""
_MESSAGE_LENGTH = 300
_MARKUP = re.compile(r"\[/?[a-z ]+\]")
"""What inspect-ai puts into a message for its own terminal."""


class InspectProvider:
    """Asks one model through inspect-ai's model interface; its own retries are off, so every request is counted."""

    def __init__(
        self, settings: Settings, *, base_url: str | None, timeout: float, concurrency: int, batch: bool
    ) -> None:
        try:
            from inspect_ai.model import BatchConfig, GenerateConfig, get_model
        except ImportError:
            raise MensuraError(f"{settings.model}: needs the extra 'llm': pip install 'mensura[llm]'") from None
        self._name = settings.model
        self._timeout, self._batch = timeout, batch
        config = GenerateConfig(
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
            max_connections=concurrency,
            max_retries=0,
            batch=BatchConfig(size=concurrency, send_delay=BATCH_TICK, tick=BATCH_TICK) if batch else None,
        )
        try:
            self._model = get_model(settings.model, base_url=base_url, config=config, memoize=False)
        except Exception as fault:
            raise MensuraError(
                f"{settings.model}: cannot be opened: {_hindrance(fault)}; check the model's name and its key"
            ) from None
        client: Any = getattr(self._model.api, "client", None)
        if hasattr(client, "max_retries"):  # the packages of several providers send a request again by themselves
            client.max_retries = 0

    async def complete(self, question: Question) -> Reply:
        """Answer one question or raise :class:`CallError`."""
        from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText

        pictures = [ContentImage(image=address) for address in question.pictures]
        content: Any = [ContentText(text=question.prompt), *pictures] if pictures else question.prompt
        messages: list[Any] = [ChatMessageUser(content=content)]
        if question.system:
            messages.insert(0, ChatMessageSystem(content=question.system))
        try:
            async with asyncio.timeout(self._timeout):
                output = await self._model.generate(messages, **_schema_option(question))
        except TimeoutError:
            raise CallError(Trouble.PASSING, "no answer within the time limit", billed=True) from None
        except Exception as fault:
            raise self._failure(fault) from None
        return _reply(output)

    async def close(self) -> None:
        """Close connections."""
        await self._model.api.aclose()

    def _failure(self, fault: Exception) -> CallError:
        """Say what a provider's exception means; its class says whether to ask again."""
        cause = _cause(fault)
        status = getattr(cause, "status_code", None)
        message = " ".join(f"{type(cause).__name__}: {cause}"[:_MESSAGE_LENGTH].split())
        if status in _REFUSED or status == _NOT_FOUND or "insufficient_quota" in message:
            meaning = _REFUSED.get(status or 0, "there is no such model, or the account has no credit")
            return CallError(Trouble.FATAL, f"{meaning} ({message})")
        if self._batch:  # sent again by the next run at the earliest: this one cannot know whether it was paid
            return CallError(Trouble.QUESTION, message, billed=True)
        decision = self._model.api.should_retry(cause)
        wait = getattr(decision, "retry_after", None)
        if not decision:
            return CallError(Trouble.QUESTION, message, billed=status is None)
        busy = getattr(decision, "kind", "") == "rate_limit"
        return CallError(Trouble.BUSY if busy else Trouble.PASSING, message, wait=wait, billed=not busy)


def _schema_option(question: Question) -> dict[str, Any]:
    """Return what a question with a schema adds to the settings; merging is slow, so nothing where there is none."""
    if question.schema is None:
        return {}
    from inspect_ai.model import GenerateConfig, ResponseSchema
    from inspect_ai.util import JSONSchema

    form = JSONSchema.model_validate(dict(question.schema))
    return {"config": GenerateConfig(response_schema=ResponseSchema(name="answer", json_schema=form, strict=True))}


def _reply(output: ModelOutput) -> Reply:
    usage = output.usage
    withheld = "filtered" if output.stop_reason == "content_filter" else ""
    if output.error:
        message = output.error[:_MESSAGE_LENGTH]
        raise CallError(Trouble.QUESTION, f"{FILTERED} ({message})" if withheld else message)
    cut = output.stop_reason in ("max_tokens", "model_length")
    counts: tuple[int | None, int | None] = (None, None) if usage is None else (usage.input_tokens, usage.output_tokens)
    return Reply(output.completion, *counts, cut, withheld)


def _cause(fault: BaseException) -> Exception:
    """Return the provider's own exception from whatever it was wrapped in."""
    attempt = getattr(fault, "last_attempt", None)
    if attempt is not None and attempt.exception() is not None:
        return _cause(attempt.exception())
    return fault if isinstance(fault, Exception) else RuntimeError(str(fault))


def _hindrance(fault: Exception) -> str:
    """Say why there is no such model to open, in inspect-ai's own words, and what a name looks like."""
    plain = _MARKUP.sub("", str(fault)).removeprefix("ERROR: ")
    reason = "; ".join(line for line in plain.splitlines() if line).replace(":; ", ": ")
    if not isinstance(fault, ValueError):
        return reason
    return f"{reason} Names are openai/NAME, anthropic/NAME, ollama/NAME …; any one word will do together with base_url"


# Recordings

SHIPPED = Path(__file__).parent / "data"
PREFIX = "recorded/"
NOT_MATCHED = ("answer", "tokens_in", "tokens_out", "model", "source", "note")
"""Columns of a recording that are not compared with what a question is about."""
_JOURNAL_ENDINGS = (".sqlite", ".db")
_ENDINGS = (".csv", ".csv.gz", ".parquet", *_JOURNAL_ENDINGS)
_NEUTRAL = Settings("recorded", temperature=None, max_tokens=1)
"""Journals are searched by the words of a question alone, whichever model answered it."""


class TableRecording:
    """Answers found by what a question is about."""

    def __init__(self, rows: list[dict[str, object]], origin: str, version: str) -> None:
        self.version = version
        self._replies: dict[tuple[tuple[str, str], ...], Reply] = {}
        self.tasks = frozenset(str(row["task"]) for row in rows if row.get("task"))
        fields: set[tuple[str, ...]] = set()
        for row in rows:
            filled = {name: str(cell) for name, cell in row.items() if cell not in (None, "")}
            about = {name: text for name, text in filled.items() if name not in NOT_MATCHED}
            if row.get("answer") is None:
                continue
            place = tuple(sorted(about.items()))
            if place in self._replies:
                raise MensuraError(f"{origin}: two answers for {about}; expected one. Remove the other")
            self._replies[place] = Reply(str(row["answer"]), _count(row, "tokens_in"), _count(row, "tokens_out"))
            fields.add(tuple(sorted(about)))
        self._fields = sorted(fields, key=lambda names: (-len(names), names))

    def find(self, question: Question) -> Reply | None:
        """Return the reply recorded for a question, if there is one."""
        about = {**question.about, "repeat": str(question.repeat)}
        for names in self._fields:
            if all(name in about for name in names):
                reply = self._replies.get(tuple((name, str(about[name])) for name in names))
                if reply is not None:
                    return reply
        return None


class JournalRecording:
    """Answers found by a question's words (prompt, system, schema, repeat), whichever model gave them."""

    tasks: frozenset[str] = frozenset()

    def __init__(self, path: Path, version: str) -> None:
        self.version = version
        self._key = KeyMaker(_NEUTRAL)
        self._replies: dict[bytes, Reply] = {}
        with Journal(path, create=False) as journal:
            for question, entry in journal.questions():
                withheld = next((kind for kind in WITHHELD if entry.error.startswith(kind)), "")
                reply = Reply(entry.text, entry.tokens_in, entry.tokens_out, withheld=withheld)
                self._replies.setdefault(self._key(question), reply)

    def find(self, question: Question) -> Reply | None:
        """Return the reply recorded for a question, if there is one."""
        return self._replies.get(self._key(question))


class RecordedProvider:
    """Answer from a recording; a question that was not recorded is an error of that question."""

    def __init__(self, recording: TableRecording | JournalRecording) -> None:
        self._recording = recording

    async def complete(self, question: Question) -> Reply:
        """Answer one question or raise :class:`CallError`."""
        reply = self._recording.find(question)
        if reply is None:
            raise CallError(Trouble.MISSING, f"not in the recording: {self._missing(question)}")
        return reply

    def _missing(self, question: Question) -> str:
        """Name what is missing: the task, where the recording is for others, else the subject of the question."""
        task, tasks = question.about.get("task"), self._recording.tasks
        if task and tasks and task not in tasks:
            return f"{task} (it holds {', '.join(sorted(tasks))})"
        return ", ".join(f"{name}={value}" for name, value in question.about.items()) or "a question"

    async def close(self) -> None:
        """Nothing to close."""


def read_recording(name: str) -> TableRecording | JournalRecording:
    """Open a recording: one that ships with the package by its name, or a file of one's own by its path."""
    path = _path_of(name)
    version = hashlib.blake2b(path.read_bytes(), digest_size=KEY_BYTES).hexdigest()
    if path.name.endswith(_JOURNAL_ENDINGS):
        return JournalRecording(path, version)
    from mensura.core.frames import require_columns
    from mensura.intake.tables import read_table

    frame = read_table(path)
    require_columns(frame, ["answer"], name=str(path))
    if set(frame.columns) <= set(NOT_MATCHED):
        raise MensuraError(f"{path}: no column says what an answer is about; add one such as item or dimension")
    return TableRecording(frame.to_dicts(), str(path), version)


def shipped_recordings() -> list[str]:
    """List the recordings that ship with the package.

    Returns
    -------
    list of str
        Their names; ``recorded/NAME`` opens one.

    Examples
    --------
    >>> from mensura.llm import shipped_recordings
    >>> "demo" in shipped_recordings()
    True

    """
    names = [path.name for path in SHIPPED.iterdir()]
    return sorted({name.removesuffix(end) for name in names for end in _ENDINGS if name.endswith(end)})


def _path_of(name: str) -> Path:
    wanted = name.removeprefix(PREFIX)
    if wanted.endswith(_ENDINGS):
        path = Path(wanted).expanduser()
        if not path.is_file():
            raise MensuraError(f"{name}: no such file {path}; check the path")
        return path
    if wanted in shipped_recordings():
        return next(path for end in _ENDINGS if (path := SHIPPED / f"{wanted}{end}").is_file())
    raise MensuraError(
        f"model: there is no recording {wanted!r}; expected one of {', '.join(shipped_recordings())}, "
        f"or recorded/PATH with a file of your own ({', '.join(_ENDINGS)})"
    )


def _count(row: Mapping[str, object], name: str) -> int | None:
    cell = row.get(name)
    return cell if isinstance(cell, int) else None
