"""Talk to one OpenAI-compatible endpoint, one request per question, and keep keys out of every text."""

from __future__ import annotations

import email.utils
import importlib.util
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from http import HTTPStatus
from types import ModuleType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from mensura.core.errors import MensuraError
from mensura.llm.protocol import CallError, Question, Reply, Settings, Trouble

if TYPE_CHECKING:
    import aiohttp

LARGEST_ANSWER = 16_000_000
"""Bytes of a response that are read at most: a hundred times the longest answer of today's models."""
COMPATIBLE = ("openai-api", "openai", "vllm", "sglang", "ollama", "llama-cpp-python")
"""Providers whose own endpoint, once its address is given, is a plain OpenAI-compatible one."""
_OWN_KEY = "MENSURA_API_KEY"
_PIECE = 1 << 16
_MOST_TOKENS = 10**12
_CONNECT_SECONDS = 20.0
_MESSAGE_LENGTH = 300
FILTERED = "filtered: the provider's content filter stopped the answer"
_CONTENT_FILTER = "content_filter"
_PATIENCE = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE, 529}
"""Statuses that mean "more slowly"; 529 is what some providers send when overloaded."""
_FATAL: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: "the key is missing or wrong",
    HTTPStatus.PAYMENT_REQUIRED: "the account has no credit",
    HTTPStatus.FORBIDDEN: "the key may not use this model",
    HTTPStatus.NOT_FOUND: "there is no such model or address",
}
_QUESTION = {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}


class Endpoint:
    """An OpenAI-compatible address, its key, and the name the model has there."""

    def __init__(self, base_url: str, *, served: str, key: str | None, key_variable: str, timeout: float) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise MensuraError(f"base_url: {plain_url(base_url)!r} must begin with http:// or https://")
        if importlib.util.find_spec("aiohttp") is None:
            raise MensuraError("this model needs the extra 'llm': pip install 'mensura[llm]'")
        self.address = base_url.rstrip("/")
        self.shown = plain_url(self.address)
        self.served = served
        self._key_variable = key_variable
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._timeout = timeout
        self._proxy = proxy_for(self.address)
        self._session: aiohttp.ClientSession | None = None

    @cached_property
    def _aiohttp(self) -> ModuleType:
        """Loaded with the first request: a run whose answers are all in the journal sends none."""
        import aiohttp

        return aiohttp

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def post(self, path: str, body: bytes) -> bytes:
        """Return the response to a JSON body, of :data:`LARGEST_ANSWER` bytes at most.

        Raises :class:`CallError` for every failure.
        """
        if self._session is None:
            self._session = self._aiohttp.ClientSession(
                headers={**self._headers, "Content-Type": "application/json"},
                timeout=self._aiohttp.ClientTimeout(total=self._timeout, connect=min(self._timeout, _CONNECT_SECONDS)),
                connector=self._aiohttp.TCPConnector(limit=0),
            )
        address = f"{self.address}{path}"
        try:
            async with self._session.post(address, data=body, proxy=self._proxy) as response:
                reply = await _read_up_to(LARGEST_ANSWER, response)
                status, headers = response.status, response.headers
        except self._aiohttp.ClientConnectorError as fault:
            way = f" through the proxy {plain_url(self._proxy)}" if self._proxy else ""
            message = f"no connection to {self.shown}{way} ({type(fault).__name__})"
            raise CallError(Trouble.PASSING, message) from None
        except TimeoutError:
            raise CallError(Trouble.PASSING, "no answer within the time limit", billed=True) from None
        except (self._aiohttp.ClientError, OSError, ValueError) as fault:
            raise CallError(Trouble.PASSING, f"connection lost ({type(fault).__name__})", billed=True) from None
        if status >= HTTPStatus.BAD_REQUEST:
            raise self._refusal(status, headers, reply)
        return reply

    def _refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> CallError:
        reason = _error_text(body)
        message = f"HTTP {status}: {reason}" if reason else f"HTTP {status}"
        if status in _FATAL or "insufficient_quota" in reason:
            meaning = _FATAL.get(status, "the account has no credit")
            hint = f"; the key comes from the environment variable {self._key_variable}"
            auth = status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
            return CallError(
                Trouble.FATAL, f"{self.shown} refused {self.served!r}: {meaning} ({message}){hint if auth else ''}"
            )
        if status in _PATIENCE:
            return CallError(Trouble.BUSY, message, wait=retry_after(headers))
        if status in _QUESTION:
            filtered = f"{FILTERED} (" if _CONTENT_FILTER in reason else ""
            return CallError(Trouble.QUESTION, f"{filtered}{message}{')' if filtered else ''}")
        return CallError(Trouble.PASSING, message, wait=retry_after(headers), billed=status >= 500)


def open_endpoint(name: str, base_url: str | None, timeout: float) -> tuple[Endpoint, str | None]:
    """Return the plain endpoint a name and an address stand for, and its key; the key comes from the environment."""
    provider, _, rest = name.partition("/")
    variable, served = _OWN_KEY, name
    if provider == "openai-api":
        service, _, served = rest.partition("/")
        if not service or not served:
            raise MensuraError(f"model: {name!r} is incomplete; expected openai-api/SERVICE/MODEL")
        prefix = service.upper().replace("-", "_")
        variable = f"{prefix}_API_KEY"
        base_url = base_url or os.environ.get(f"{prefix}_BASE_URL")
        if not base_url:
            raise MensuraError(f"model: {name!r} needs an address: base_url, or the variable {prefix}_BASE_URL")
    elif provider in COMPATIBLE and rest:
        variable, served = f"{provider.upper().replace('-', '_')}_API_KEY", rest
    if base_url is None:
        raise MensuraError(f"model: {name!r} needs base_url, the address of its endpoint")
    key = os.environ.get(variable)
    return Endpoint(base_url, served=served, key=key, key_variable=variable, timeout=timeout), key


class EndpointProvider:
    """Ask one model behind an OpenAI-compatible endpoint."""

    def __init__(self, endpoint: Endpoint, settings: Settings) -> None:
        self._endpoint = endpoint
        self._settings = settings

    async def complete(self, question: Question) -> Reply:
        """Answer one question or raise :class:`CallError`."""
        body = json.dumps(chat_body(question, self._settings, self._endpoint.served)).encode("ascii")
        return reply_of(await self._endpoint.post("/chat/completions", body))

    async def close(self) -> None:
        """Close connections."""
        await self._endpoint.close()


def chat_body(question: Question, settings: Settings, served: str) -> dict[str, object]:
    """Return the request of one question in the chat-completions form; no tools, ever."""
    content: object = question.prompt
    if question.pictures:
        pictures = [{"type": "image_url", "image_url": {"url": address}} for address in question.pictures]
        content = [{"type": "text", "text": question.prompt}, *pictures]
    messages: list[dict[str, object]] = [{"role": "user", "content": content}]
    if question.system:
        messages.insert(0, {"role": "system", "content": question.system})
    body: dict[str, object] = {"model": served, "messages": messages, "max_tokens": settings.max_tokens}
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if question.schema is not None:
        form = {"name": "answer", "schema": dict(question.schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    return body


def reply_of(body: bytes) -> Reply:
    """Read a chat completion, whatever its bytes; anything else that a server may send is an error of the moment."""
    try:
        completion = json.loads(body.decode("utf-8-sig", errors="replace"))
        choice = completion["choices"][0]
        message = choice["message"]
        text, refusal = _content(message.get("content")), message.get("refusal")
        usage = completion.get("usage") or {}
        counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
        reason = choice.get("finish_reason")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise CallError(Trouble.PASSING, _no_completion(body), billed=True) from None
    tokens_in, tokens_out = (
        count if isinstance(count, int) and 0 <= count < _MOST_TOKENS else None for count in counts
    )
    withheld = "filtered" if reason == _CONTENT_FILTER else "refused" if refusal and not text else ""
    return Reply(text or str(refusal or ""), tokens_in, tokens_out, reason == "length", withheld)


def proxy_for(address: str) -> str | None:
    """Return the proxy that ``HTTP_PROXY``, ``HTTPS_PROXY`` and ``NO_PROXY`` name for an address, if any."""
    parts = urlsplit(address)
    if proxy_bypass(parts.hostname or ""):
        return None
    proxy = getproxies().get(parts.scheme)
    return None if not proxy else proxy if "://" in proxy else f"http://{proxy}"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a provider asks to wait: ``retry-after-ms``, or ``Retry-After`` in seconds or as a date."""
    milliseconds, seconds = headers.get("retry-after-ms"), headers.get("Retry-After")
    try:
        if milliseconds is not None:
            return max(0.0, float(milliseconds) / 1000)
        if seconds is None:
            return None
        if seconds.strip().replace(".", "", 1).isdigit():
            return float(seconds)
        return max(0.0, email.utils.parsedate_to_datetime(seconds).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


async def _read_up_to(most: int, response: aiohttp.ClientResponse) -> bytes:
    """Return a response's body; one that is larger is refused as soon as that is known."""
    body = bytearray()
    if (response.content_length or 0) <= most:
        async for piece in response.content.iter_chunked(_PIECE):
            body += piece
            if len(body) > most:
                break
        else:
            return bytes(body)
    response.close()
    raise CallError(Trouble.QUESTION, f"the response is larger than {most / 1e6:,.0f} MB", billed=True)


def _no_completion(body: bytes) -> str:
    page = body.lstrip().startswith(b"<")
    what = "a web page, not a chat completion; does base_url end as the API's address does, in /v1?" if page else ""
    return f"{what or 'not a chat completion:'} {_shortened(body)!r}"


def _content(content: object) -> str:
    """Return a message's text, which some servers send in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _error_text(body: bytes) -> str:
    try:
        reply = json.loads(body)
        error = reply.get("error", reply)
        if isinstance(error, dict):
            parts = (error.get("code"), error.get("message"))
            return _shortened(": ".join(str(part) for part in parts if part).encode())
        return _shortened(str(error).encode())
    except (ValueError, AttributeError):
        return _shortened(body)


def _shortened(body: bytes) -> str:
    return " ".join(body[:_MESSAGE_LENGTH].decode("utf-8", errors="replace").split())


# Keys stay out of everything that is stored, shown or raised

HIDDEN = "[key]"
_SECRET_NAMES = ("_API_KEY", "_TOKEN", "_SECRET", "_ACCESS_KEY", "_KEY", "_PASSWORD")
_SHORTEST = 8
"""Shorter values are no keys, and hiding them would mangle ordinary text."""


def secrets_of(environment: Mapping[str, str] = os.environ, *more: str | None) -> tuple[str, ...]:
    """Return the secrets: values of environment variables that are named like keys, and those given."""
    named = (value for name, value in environment.items() if name.upper().endswith(_SECRET_NAMES))
    secrets = {text for text in (*named, *more) if text and len(text) >= _SHORTEST}
    return tuple(sorted(secrets, key=len, reverse=True))


def redactor(secrets: Iterable[str]) -> Callable[[str], str]:
    """Return a function that hides every secret in a text."""
    hidden = tuple(secrets)

    def redact(text: str) -> str:
        for secret in hidden:
            if secret in text:
                text = text.replace(secret, HIDDEN)
        return text

    return redact


def plain_url(url: str) -> str:
    """Return an address without user, password, query and fragment, fit to be shown."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    netloc = f"[{host}]" if ":" in host else host
    if parts.port is not None:
        netloc += f":{parts.port}"
    return urlunsplit((parts.scheme, netloc, parts.path, "", ""))
