"""Ask any provider that inspect-ai knows, by the names its users know; retries, pacing and record are Mensura's."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from mensura.core.errors import MensuraError
from mensura.llm.endpoint import FILTERED
from mensura.llm.protocol import CallError, Question, Reply, Trouble
from mensura.llm.settings import Settings

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput

_REFUSED = {401: "the key is missing or wrong", 402: "the account has no credit", 403: "the key may not use this model"}
_NOT_FOUND = 404
_MESSAGE_LENGTH = 300
_MARKUP = re.compile(r"\[/?[a-z ]+\]")
"""What inspect-ai puts into a message for its own terminal."""


class InspectProvider:
    """Asks one model through inspect-ai's model interface; its own retries are off, so every request is counted."""

    def __init__(self, settings: Settings, *, base_url: str | None, timeout: float, concurrency: int) -> None:
        try:
            from inspect_ai.model import GenerateConfig, get_model
        except ImportError:
            raise MensuraError(f"{settings.model}: needs the extra 'llm': pip install 'mensura[llm]'") from None
        self._name = settings.model
        self._timeout = timeout
        config = GenerateConfig(
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
            max_connections=concurrency,
            max_retries=0,
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
        message = _told(cause)
        if status in _REFUSED or status == _NOT_FOUND or "insufficient_quota" in message:
            meaning = _REFUSED.get(status or 0, "there is no such model, or the account has no credit")
            return CallError(Trouble.FATAL, f"{meaning} ({message})")
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
    if usage is None:
        return Reply(output.completion, cut=cut, withheld=withheld)
    return Reply(output.completion, usage.input_tokens, usage.output_tokens, cut, withheld)


def _cause(fault: BaseException) -> Exception:
    """Return the provider's own exception from whatever it was wrapped in."""
    attempt = getattr(fault, "last_attempt", None)
    if attempt is not None and attempt.exception() is not None:
        return _cause(attempt.exception())
    return fault if isinstance(fault, Exception) else RuntimeError(str(fault))


def _told(fault: BaseException) -> str:
    return " ".join(f"{type(fault).__name__}: {fault}"[:_MESSAGE_LENGTH].split())


def _hindrance(fault: Exception) -> str:
    """Say why there is no such model to open, in inspect-ai's own words, and what a name looks like."""
    plain = _MARKUP.sub("", str(fault)).removeprefix("ERROR: ")
    told = "; ".join(line for line in plain.splitlines() if line).replace(":; ", ": ")
    if not isinstance(fault, ValueError):
        return told
    return f"{told} Names are openai/NAME, anthropic/NAME, ollama/NAME …; any one word will do together with base_url"
