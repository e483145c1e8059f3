"""Providers with limits, and a clock of our own to run a pacer against them without waiting."""

from __future__ import annotations

import heapq
import math
import random
from collections import deque

from mensura.llm.pacing import Pacer


class RateLimit:
    """So many requests per stretch of time: in fixed windows, in any window of that length, or from a bucket.

    A bucket fills evenly and contains ``burst`` requests at most. ``header``: refusals carry Retry-After.
    """

    def __init__(
        self, kind: str, count: int, seconds: float, *, burst: int | None = None, header: bool = False
    ) -> None:
        self.kind, self.count, self.seconds, self.header = kind, count, seconds, header
        self.burst = burst or count
        self._tokens, self._filled = float(self.burst), 0.0
        self._log: deque[float] = deque()
        self._window, self._used = -1, 0

    def arrive(self, now: float) -> float | None:
        """Return the seconds after which a request would be taken, None where it is taken."""
        return {"bucket": self._bucket, "fixed": self._fixed, "sliding": self._sliding}[self.kind](now)

    def leave(self) -> None:
        """A request has been answered."""

    def ideal(self, requests: int, latency: float) -> float:
        """Return the shortest time in which so many requests can be answered."""
        if self.kind == "bucket":
            return max(0, requests - self.burst) * self.seconds / self.count + latency
        return (requests - 1) // self.count * self.seconds + latency

    def __str__(self) -> str:
        burst = f", burst {self.burst}" if self.kind == "bucket" else ""
        name = {"bucket": "per time", "fixed": "per fixed window", "sliding": "per sliding window"}[self.kind]
        return f"{self.count} requests {name} of {self.seconds:g} s{burst}"

    def _bucket(self, now: float) -> float | None:
        self._tokens = min(self.burst, self._tokens + (now - self._filled) * self.count / self.seconds)
        self._filled = now
        if self._tokens < 1 - 1e-9:
            return (1 - self._tokens) * self.seconds / self.count
        self._tokens -= 1
        return None

    def _fixed(self, now: float) -> float | None:
        window = math.floor(now / self.seconds + 1e-9)
        if window != self._window:
            self._window, self._used = window, 0
        if self._used >= self.count:
            return (window + 1) * self.seconds - now
        self._used += 1
        return None

    def _sliding(self, now: float) -> float | None:
        while self._log and self._log[0] <= now - self.seconds + 1e-9:
            self._log.popleft()
        if len(self._log) >= self.count:
            return self._log[0] + self.seconds - now
        self._log.append(now)
        return None


class AtOnceLimit:
    """So many requests under way at once."""

    header = False

    def __init__(self, count: int) -> None:
        self.count = count
        self._under_way = 0

    def arrive(self, now: float) -> float | None:
        """Return 0 where the request is refused, None where it is taken."""
        if self._under_way >= self.count:
            return 0.0
        self._under_way += 1
        return None

    def leave(self) -> None:
        """A request has been answered."""
        self._under_way -= 1

    def ideal(self, requests: int, latency: float) -> float:
        """Return the shortest time in which so many requests can be answered."""
        return math.ceil(requests / self.count) * latency

    def __str__(self) -> str:
        return f"{self.count} requests at once"


class RandomRefusals:
    """Refuses this share of requests, however fast they come."""

    header = False

    def __init__(self, share: float) -> None:
        self._share = share
        self._chance = random.Random(0)

    def arrive(self, now: float) -> float | None:
        """Return 0 where the request is refused, None where it is taken."""
        return 0.0 if self._chance.random() < self._share else None

    def leave(self) -> None:
        """A request has been answered."""

    def ideal(self, requests: int, latency: float) -> float:
        """Return the shortest time, which only the number of requests at once sets."""
        return latency


def simulate(
    limit: RateLimit | AtOnceLimit | RandomRefusals,
    questions: int,
    latency: float,
    *,
    ceiling: int = 32,
    refusal: float = 0.005,
) -> tuple[float, float]:
    """Ask questions of a limited provider; return requests per question, and the time over the shortest possible."""
    pacer, now, left, sent = Pacer(ceiling), 0.0, questions, 0
    under_way: list[tuple[float, int, float | None, object]] = []
    while left or under_way:
        while left and pacer.wait(now) <= 0:
            wait = limit.arrive(now)
            left, sent = left - 1, sent + 1
            ends = now + (latency if wait is None else min(refusal, latency))
            heapq.heappush(under_way, (ends, sent, wait, pacer.start(now)))
        start = now + pacer.wait(now) if left else math.inf
        now = max(now, min(start, under_way[0][0] if under_way else math.inf))
        while under_way and under_way[0][0] <= now:
            _, _, wait, ticket = heapq.heappop(under_way)
            if wait is None:
                limit.leave()
                pacer.answered(now, ticket)
            else:
                left += 1
                pacer.refused(now, ticket, wait if limit.header else None)
    return sent / questions, now / max(limit.ideal(questions, latency), questions / ceiling * latency)
