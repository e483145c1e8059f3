"""Keys stay out of everything that is stored, shown or raised."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import urlsplit, urlunsplit

HIDDEN = "[key]"
_SECRET_NAMES = ("_API_KEY", "_TOKEN", "_SECRET", "_ACCESS_KEY", "_KEY", "_PASSWORD")
_SHORTEST = 8
"""Shorter values are no keys, and hiding them would mangle ordinary text."""


def secrets_of(environment: Mapping[str, str] = os.environ, *more: str | None) -> tuple[str, ...]:
    """Return what may not be seen: values of environment variables named like keys, and those given."""
    named = (value for name, value in environment.items() if name.upper().endswith(_SECRET_NAMES))
    found = {text for text in (*named, *more) if text and len(text) >= _SHORTEST}
    return tuple(sorted(found, key=len, reverse=True))


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
