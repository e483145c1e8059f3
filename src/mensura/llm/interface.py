"""Open a model by its name: the one interface to every provider."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from mensura.core.errors import MensuraError
from mensura.llm.asker import Advance, ModelAsker
from mensura.llm.endpoint import Endpoint, EndpointProvider
from mensura.llm.protocol import Provider
from mensura.llm.recordings import PREFIX, RecordedProvider, read_recording
from mensura.llm.redaction import secrets_of
from mensura.llm.settings import DEFAULT_MAX_TOKENS, Prices, Settings

DEFAULT_TIMEOUT = 120.0
DEFAULT_CONCURRENCY = 32
COMPATIBLE = ("openai-api", "openai", "vllm", "sglang", "ollama", "llama-cpp-python")
"""Providers whose own endpoint, once its address is given, is a plain OpenAI-compatible one."""
_OWN_KEY = "MENSURA_API_KEY"

Interface: TypeAlias = Literal["auto", "direct", "inspect"]
RETRY = ("refused", "unreadable")
"""Kinds of stored answers that can be asked for again."""


def open_asker(
    name: str,
    *,
    journal: str | Path | None,
    base_url: str | None = None,
    temperature: float | None = 0.0,
    max_tokens: int = DEFAULT_MAX_TOKENS,
    timeout: float = DEFAULT_TIMEOUT,
    max_cost: float | None = None,
    max_calls: int | None = None,
    prices: Prices | None = None,
    concurrency: int = DEFAULT_CONCURRENCY,
    retry: Collection[str] = (),
    advance: Advance | None = None,
    interface: Interface = "auto",
) -> ModelAsker:
    """Open a model for asking; close it after use, or use it in a ``with`` block.

    ``name`` is a model as inspect-ai names it (``openai/…``, ``anthropic/…``, ``ollama/…``), or
    ``openai-api/SERVICE/MODEL`` for any OpenAI-compatible endpoint (address and key from ``SERVICE_BASE_URL`` and
    ``SERVICE_API_KEY``), any name together with ``base_url``, or ``recorded/NAME``. ``journal`` is the file that
    records everything; only a recording can do without (None). ``timeout`` in seconds per call. ``max_cost`` (US
    dollars; needs ``prices``) and ``max_calls`` bound what this asker spends; it stops before either is passed.
    ``concurrency`` is the most calls at once; "too many requests" lowers it. ``retry`` ("refused", "unreadable") asks
    again for such stored answers; "refused" includes filtered ones. ``advance`` gets the :class:`Standing` ten times a
    second. ``interface`` chooses how compatible endpoints are reached: ``direct`` (their default) or ``inspect``.
    """
    settings = Settings(name, temperature, max_tokens)
    provider: Provider
    key: str | None
    _check(name, journal, timeout, concurrency, interface, retry)
    if name.startswith(PREFIX):
        recording = read_recording(name)
        settings = replace(settings, version=recording.version)
        provider, key = RecordedProvider(recording), None
        prices = prices or Prices(0.0, 0.0)
    else:
        provider, key = _provider(settings, base_url, timeout, concurrency, interface)
    return ModelAsker(
        settings,
        provider,
        journal=None if journal is None else Path(journal),
        secrets=secrets_of(os.environ, key),
        prices=prices,
        max_cost=max_cost,
        max_calls=max_calls,
        concurrency=concurrency,
        retry=retry,
        advance=advance,
    )


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


def _provider(
    settings: Settings, base_url: str | None, timeout: float, concurrency: int, interface: Interface
) -> tuple[Provider, str | None]:
    name = settings.model
    if interface == "direct" or (interface == "auto" and _is_compatible(name, base_url)):
        endpoint, key = open_endpoint(name, base_url, timeout)
        return EndpointProvider(endpoint, settings), key
    from mensura.llm.inspected import InspectProvider

    return InspectProvider(settings, base_url=base_url, timeout=timeout, concurrency=concurrency), None


def _is_compatible(name: str, base_url: str | None) -> bool:
    """Return whether the direct interface can serve: an OpenAI-compatible endpoint with a known address."""
    provider, _, rest = name.partition("/")
    return provider == "openai-api" or (base_url is not None and (not rest or provider in COMPATIBLE))


def _check(
    name: str, journal: str | Path | None, timeout: float, concurrency: int, interface: str, retry: Collection[str]
) -> None:
    if journal is None and not name.startswith(PREFIX):
        raise MensuraError(f"journal: {name!r} costs money; give the file that records its answers (journal.sqlite)")
    if not timeout > 0:
        raise MensuraError(f"timeout: expected seconds above 0, got {timeout!r}")
    if not isinstance(concurrency, int) or concurrency < 1:
        raise MensuraError(f"concurrency: expected a whole number of at least 1, got {concurrency!r}")
    if interface not in get_args(Interface):
        raise MensuraError(f"interface: {interface!r} is unknown; expected one of {', '.join(get_args(Interface))}")
    if isinstance(retry, str) or not set(retry) <= set(RETRY):
        raise MensuraError(f"retry: expected some of {', '.join(RETRY)}, got {retry!r}")
