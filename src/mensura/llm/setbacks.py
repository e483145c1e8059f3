"""What a failed call means for its question and for all others: ask again, give it up, or stop."""

from __future__ import annotations

import random

from mensura.llm.providers.base import CallError, Trouble
from mensura.llm.throttle import Throttle, backoff

MOST_ATTEMPTS = 6
"""Times one question is asked before a passing fault is taken for a lasting one."""
FAILURES_IN_A_ROW = 16
"""Questions that fail one after the other before the rest are left alone: the endpoint is down."""
BUSY_PATIENCE = 900.0
"""Seconds without any answer after which "too many requests" is taken for a refusal."""


class Setbacks:
    """Judges the failures of one model's calls, and tells the throttle of them; ``now`` in seconds of one clock."""

    def __init__(self, model: str, throttle: Throttle, now: float) -> None:
        self._model, self._throttle = model, throttle
        self._chance = random.Random()
        self._failures = 0
        self._last_success = now

    def succeeded(self, now: float) -> None:
        """Take note of an answer."""
        self._failures = 0
        self._last_success = now
        self._throttle.succeeded()

    def stops(self, fault: CallError, message: str, now: float) -> str:
        """Take note of a failure, and return why nothing more may be asked after it; empty where other calls may."""
        if fault.trouble is Trouble.FATAL:
            return f"{self._model}: {message}"
        if fault.trouble is Trouble.BUSY:
            self._throttle.complained(now, fault.wait)
            if now - self._last_success > BUSY_PATIENCE:
                return f"{self._model}: no call was let through for {BUSY_PATIENCE / 60:.0f} minutes ({message})"
        return ""

    def rest(self, fault: CallError, attempts: int) -> float | None:
        """Return the seconds after which to ask again, None where the question is to be given up."""
        passing = fault.trouble is Trouble.PASSING and attempts < MOST_ATTEMPTS
        if not passing and fault.trouble is not Trouble.BUSY:
            return None
        return max(fault.wait or 0.0, backoff(attempts, self._chance))

    def given_up(self, trouble: Trouble, message: str, *, none_answered: bool) -> str:
        """Take note of a question without an answer, and return why the rest are left alone; empty where not."""
        self._failures += trouble is Trouble.PASSING or (trouble is Trouble.QUESTION and none_answered)
        if self._failures < FAILURES_IN_A_ROW:
            return ""
        return f"{self._model}: {self._failures} questions in a row found no answer; the last: {message}"
