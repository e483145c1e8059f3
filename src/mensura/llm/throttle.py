"""How many calls may be under way: as many as the provider bears, found from its own signals."""

from __future__ import annotations

import random

_START = 8
_CUT = 0.5
_CUT_EVERY = 1.0
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0
LONGEST_PAUSE = 600.0


class Throttle:
    """Additive increase, multiplicative decrease.

    Until the provider first complains every success allows one call more (doubling per round); after that a whole round
    of successes does. A complaint halves the number, at most once a second, for one overload is told many times over,
    and stops new calls for as long as the provider asks.
    """

    def __init__(self, ceiling: int) -> None:
        self._ceiling = float(ceiling)
        self._allowed = float(min(_START, ceiling))
        self._complained = False
        self._last_cut = float("-inf")
        self.resume_at = float("-inf")

    @property
    def allowed(self) -> int:
        """Calls that may be under way."""
        return max(1, int(self._allowed))

    def succeeded(self) -> None:
        """Take note of an answer."""
        step = 1 / self._allowed if self._complained else 1.0
        self._allowed = min(self._ceiling, self._allowed + step)

    def complained(self, now: float, wait: float | None) -> None:
        """Take note of "too many requests" and the pause asked for, in seconds."""
        self._complained = True
        if now - self._last_cut >= _CUT_EVERY:
            self._allowed = max(1.0, self._allowed * _CUT)
            self._last_cut = now
        if wait is not None:
            self.resume_at = max(self.resume_at, now + min(wait, LONGEST_PAUSE))


def backoff(attempt: int, chance: random.Random) -> float:
    """Return seconds to wait after failed attempt 1, 2, …: doubling from half a second to a minute, half by chance."""
    longest: float = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (attempt - 1))
    return longest * (0.5 + 0.5 * chance.random())
