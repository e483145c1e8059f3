"""Who and when, as the ledger writes them."""

from __future__ import annotations

from datetime import UTC, datetime

from mensura.core.errors import MensuraError

_LONGEST_NAME = 100


def written_time(when: datetime) -> str:
    """Return an instant as the ledger writes it: UTC, to the second."""
    if when.tzinfo is None:
        raise MensuraError("when: a time without its zone; expected an aware datetime")
    return when.astimezone(UTC).isoformat(timespec="seconds")


def signed(by: str) -> str:
    """Refuse a reviewer's name that is empty, long, or would not show as one line."""
    name = by.strip()
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        raise MensuraError(f"by: got {by[:_LONGEST_NAME]!r}; expected a name of at most {_LONGEST_NAME} characters")
    return name
