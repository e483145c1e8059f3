"""Captures: what a source said, byte for byte, with where and when; kept for good and read again at will.

The text of a capture is hostile: it is data to parse within limits, and never a name, a path, a query or a page.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from mensura.core.errors import MensuraError
from mensura.evidence.ids import require_id

MOST_BYTES = 16 * 2**20
"""Bytes of one capture; a leaderboard has a hundredth of that."""
FORMATS = ("csv", "json", "html", "text")
_LONGEST_ADDRESS = 2000


@dataclass(frozen=True)
class Capture:
    """Raw text of a source. ``capture`` is its SHA-256; ``form`` says how to read it, None where nobody said."""

    capture: str
    source: str
    address: str
    by: str
    time: str
    form: str | None
    data: bytes

    @property
    def day(self) -> str:
        """The day it was taken."""
        return self.time[:10]


def new_capture(data: bytes, *, source: str, address: str, by: str, time: str, form: str | None = None) -> Capture:
    """Return a capture, or refuse one that is empty, too large, or without a proper origin."""
    if not data.strip():
        raise MensuraError(f"capture: {address} is empty; expected the text of a source. Check the file or address")
    if len(data) > MOST_BYTES:
        raise MensuraError(f"capture: {len(data):,} bytes; at most {MOST_BYTES:,} are kept")
    if form is not None and form not in FORMATS:
        raise MensuraError(f"format: {form!r} is unknown; expected one of {', '.join(FORMATS)}")
    if not 0 < len(address) <= _LONGEST_ADDRESS or not address.isprintable():
        raise MensuraError(f"address: got {address[:80]!r}; expected one printable line of {_LONGEST_ADDRESS} at most")
    require_id(source, "source")
    return Capture(hashlib.sha256(data).hexdigest(), source, address, by, time, form, data)
