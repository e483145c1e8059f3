"""The reviewer's secret: read from a file, compared in constant time, and guarded against guessing."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable
from pathlib import Path

from mensura.core.errors import MensuraError

SHORTEST = 16
"""Characters a secret must have: what people choose below that is found by trying."""
_LONGEST = 1024
_OTHERS = 0o077  # permissions of anybody but the owner


class ReviewerSecret:
    """A secret that can be compared with, not read: only its hash is kept."""

    def __init__(self, secret: str) -> None:
        if not SHORTEST <= len(secret) <= _LONGEST:
            raise MensuraError(
                f"reviewer's secret: got {len(secret)} characters; give {SHORTEST} to {_LONGEST}, for example "
                "the output of: openssl rand -base64 32"
            )
        self._digest = _digest(secret)

    @classmethod
    def read(cls, file: Path) -> ReviewerSecret:
        """Read a secret from a file; blanks and line ends around it do not count."""
        try:
            return cls(file.read_text(encoding="utf-8").strip())
        except (OSError, UnicodeDecodeError) as fault:
            raise MensuraError(
                f"{file}: the reviewer's secret could not be read: {fault}; check the file and its permissions"
            ) from fault

    def is_it(self, tried: str) -> bool:
        """Return whether this is the secret, in a time that does not depend on where they differ."""
        return hmac.compare_digest(self._digest, _digest(tried))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).digest()


def is_open_to_others(file: Path) -> bool:
    """Return whether anybody but its owner may read or change the file."""
    return bool(file.stat().st_mode & _OTHERS)


class Attempts:
    """How often a secret may be tried: a few times at once, then once per pause; for each visitor, and for all.

    The limit for all holds against one who comes from many addresses; the one for each keeps a single visitor from
    using up everybody's. ``clock`` gives seconds.
    """

    EACH, EACH_PAUSE = 5, 30.0
    ALL, ALL_PAUSE = 30, 5.0
    _REMEMBERED = 10_000  # visitors; beyond that those whose tries are long past are forgotten

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._each: dict[str, float] = {}
        self._all = 0.0

    def wait(self, visitor: str) -> float:
        """Return the seconds until this visitor may try; 0 for now."""
        now = self._clock()
        each = self._each.get(visitor, 0.0) - now - (self.EACH - 1) * self.EACH_PAUSE
        everybody = self._all - now - (self.ALL - 1) * self.ALL_PAUSE
        return max(each, everybody, 0.0)

    def failed(self, visitor: str) -> None:
        """Count a wrong secret: each moves the time at which all tries are forgotten by one pause."""
        now = self._clock()
        if len(self._each) >= self._REMEMBERED:
            self._each = {name: until for name, until in self._each.items() if until > now}
        self._each[visitor] = max(self._each.get(visitor, 0.0), now) + self.EACH_PAUSE
        self._all = max(self._all, now) + self.ALL_PAUSE
