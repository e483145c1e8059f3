"""Decide when the next request may start, and what a failed call means for the others.

Providers limit requests per time or requests at once, and most do not name their limit. The pacer finds either limit
from answers and refusals ("too many requests"). Every refusal slows all requests to the provider.
"""

import random
from dataclasses import dataclass

from mensura.llm.protocol import CallError, Trouble

LONGEST_WAIT = 600.0
"""Seconds of one wait at most, whatever a provider asks for; then one request tries again."""
MOST_ATTEMPTS = 6
"""Requests for one question before a passing failure counts as a lasting one."""
FAILURES_IN_A_ROW = 16
"""Questions without an answer, one after the other, that show that the endpoint is down."""
BUSY_PATIENCE = 900.0
"""Seconds without any answer after which "too many requests" ends the run."""

_MOST_ROUNDS = 64
_FIRST_PAUSE, _SHORTEST_PAUSE, _LONGEST_PAUSE = 0.1, 0.01, 60.0
_DOUBLE_UNTIL, _PAUSE_GROWTH = 0.5, 1.2
"""Pauses without Retry-After double up to half a second and then grow by 20%: no limit is overslept by more."""
_ENOUGH = 8
"""Answers from which a rate is estimated."""
_SLOWER = 0.95
_FASTER = 1.008
"""Growth of the rate per answer."""
_FALLEN, _TRUSTED = 0.5, 64
"""A rate that falls to half of what a provider took is not why it refuses: for 64 answers refusals do not slow it.

Each time that this happens again, the number of answers doubles."""
_BURST = 2
"""The first estimates may hold a burst that a provider takes once; they do not count as what it takes."""
_SPREAD = 0.95
_SLACK = 0.002
_IDLE = 1.0
_LATENCY_WEIGHT = 0.2
_FIRST_BACKOFF, _LONGEST_BACKOFF = 0.5, 60.0


@dataclass(eq=False, slots=True)
class Ticket:
    """One request under way: ``number`` of requests at once when it was sent (itself included), and when."""

    number: int
    sent: float


class AtOnce:
    """Find the number of requests that a provider takes at once.

    The window grows with every answer until a request is refused that had more company than any answered one. From
    then on the window is the largest number that fits, and one more is tried after ever more answers.
    """

    def __init__(self, ceiling: int, start: int) -> None:
        self._ceiling = ceiling
        self._limit: int | None = None
        self._rounds = 1
        self._full = 0
        self._proven = 1
        self.window = min(start, ceiling)

    def fits(self, number: int) -> bool:
        """Return whether a request with so much company has been answered."""
        return number <= self._proven

    def prove(self, number: int) -> None:
        """Note that a request with so much company was answered."""
        self._proven = max(self._proven, number)

    def grow(self, number: int) -> None:
        """Widen the window after an answer."""
        if self._limit is not None and number > self._limit:
            self._limit, self._rounds = None, 1
        if self._limit is None or self.window < self._limit:
            self.window += 1
        elif number >= self._limit:
            self._full += 1
            if self._full >= self._rounds * self._limit:
                self.window = self._limit + 1
        self.window = min(self.window, self._ceiling)

    def shrink(self, number: int) -> None:
        """Keep to fewer requests than were refused."""
        if self._limit is not None and number == self._limit + 1:
            self._rounds = min(_MOST_ROUNDS, 2 * self._rounds)
        self._limit = min(self._limit or number, number - 1)
        self.window, self._full = self._limit, 0


class Rate:
    """Find the number of requests per second that a provider takes; ``value`` is None until it is known.

    The estimate is the number of answers over the last two stretches between refusals, pauses included. An overloaded
    provider refuses at any rate: where slowing down does not help, the rate goes back to the best one.
    """

    def __init__(self) -> None:
        self.value: float | None = None
        self._best, self._estimates = 0.0, 0
        self._trusted, self._next_trusted = 0, _TRUSTED
        self._answers = 0
        self._since: float | None = None
        self._before: tuple[int, float] | None = None

    def started(self, now: float, *, idle: bool) -> None:
        """Note a request; after an idle time the counting begins again."""
        if self._since is None or idle:
            self._since, self._answers = now, 0

    def answered(self) -> None:
        """Count an answer."""
        self._answers += 1
        self._trusted = max(0, self._trusted - 1)

    def grow(self) -> None:
        """Try a little more after an answer."""
        if self.value is not None:
            self.value *= _FASTER

    def refused(self, resume_at: float) -> None:
        """Estimate the rate from the answers until now and the pause that follows."""
        if self._trusted:
            return
        if self._answers < _ENOUGH or self._since is None:
            return
        answers, seconds = self._answers, resume_at - self._since
        if self._before is not None:
            self._slow_down((answers + self._before[0]) / (seconds + self._before[1]))
        self._before = (answers, seconds)
        self._since, self._answers = resume_at, 0

    def _slow_down(self, observed: float) -> None:
        self._estimates += 1
        if self._estimates > _BURST:
            self._best = max(self._best, observed)
        self.value = observed if self.value is None else min(observed, _SLOWER * self.value)
        if self.value < _FALLEN * self._best:
            self.value, self._best = self._best, 0.0
            self._trusted, self._next_trusted = self._next_trusted, 2 * self._next_trusted


class Pacer:
    """Pace all requests to one provider; times in seconds of one clock.

    ``ceiling``: most requests at once; ``start``: at first. A refused request with more company than any answered one
    narrows the window; any other refusal pauses everything, for as long as the provider asks or for a growing time.
    """

    def __init__(self, ceiling: int, start: int = 8) -> None:
        self.ceiling = ceiling
        self._at_once, self._rate = AtOnce(ceiling, start), Rate()
        self._under_way = 0
        self._latency = 0.0
        self._next = float("-inf")
        self._first, self._pause = _FIRST_PAUSE, 0.0
        self._probing = self._refused_once = False
        self._slowed = float("-inf")
        self.resume_at = float("-inf")

    @property
    def allowed(self) -> int:
        """Requests that may be under way now; one after a pause, until it is answered."""
        return 1 if self._probing else max(1, self._at_once.window)

    def wait(self, now: float) -> float:
        """Return the seconds until a request may start; infinite until one under way has ended."""
        if self._under_way >= self.allowed:
            return float("inf")
        return max(0.0, self.resume_at - now, self._next - now)

    def start(self, now: float) -> Ticket:
        """Note that a request starts."""
        idle = not self._under_way and now > max(self._next, self.resume_at) + _IDLE
        self._rate.started(now, idle=idle)
        self._under_way += 1
        gap = 0.0 if self._rate.value is None else 1 / self._rate.value
        if self._refused_once:  # spread the requests over the time that one takes
            gap = max(gap, self._latency / (_SPREAD * max(1, self._at_once.window)))
        self._next = max(self._next, now - min(_SLACK, gap)) + gap
        return Ticket(self._under_way, now)

    def ended(self) -> None:
        """Note that a request ended in a failure that tells nothing about limits."""
        self._under_way -= 1

    def answered(self, now: float, ticket: Ticket) -> None:
        """Note an answer."""
        self._under_way -= 1
        weight = _LATENCY_WEIGHT if self._latency else 1.0
        self._latency += weight * (now - ticket.sent - self._latency)
        self._rate.answered()
        self._at_once.prove(ticket.number)
        if ticket.sent < self._slowed:  # it was sent before the last refusal and proves nothing about the time after
            return
        if self._pause:
            self._first = max(_SHORTEST_PAUSE, self._pause / 2)
        self._probing, self._pause = False, 0.0
        self._rate.grow()
        self._at_once.grow(ticket.number)

    def refused(self, now: float, ticket: Ticket, wait: float | None) -> None:
        """Note "too many requests" and the pause that the provider asks for, in seconds (None: it names none)."""
        self._under_way -= 1
        if wait is not None:
            self.resume_at = max(self.resume_at, now + min(wait, LONGEST_WAIT))
        crowded = not self._at_once.fits(ticket.number)
        if crowded:
            self._at_once.shrink(ticket.number)
        if ticket.sent < self._slowed:  # one overload is reported many times over
            return
        self._slowed, self._refused_once = now, True
        if crowded:
            return
        again = self._pause > 0
        if wait is None:
            self._pause = self._longer_pause()
            self.resume_at = max(self.resume_at, now + self._pause)
        self._rate.refused(self.resume_at)
        self._probing = again or self._rate.value is None
        if self._rate.value is None:
            self._at_once.window = max(1, self._at_once.window // 2)

    def _longer_pause(self) -> float:
        if self._pause:
            longer = self._pause * (2.0 if self._pause < _DOUBLE_UNTIL else _PAUSE_GROWTH)
        else:
            longer = self._first if self._rate.value is None else 1 / self._rate.value
        return min(_LONGEST_PAUSE, longer)


class CallFailures:
    """Judge the failed calls of one model; ``now`` in seconds of one clock."""

    def __init__(self, model: str, now: float) -> None:
        self._model = model
        self._chance = random.Random()
        self._in_a_row = 0
        self._last_success = now

    def succeeded(self, now: float) -> None:
        """Note an answer."""
        self._in_a_row = 0
        self._last_success = now

    def stops(self, failure: CallError, message: str, now: float) -> str:
        """Return the reason to send nothing more after this failure, empty where other calls may go on."""
        if failure.trouble is Trouble.FATAL:
            return f"{self._model}: {message}"
        if failure.trouble is Trouble.BUSY and now - self._last_success > BUSY_PATIENCE:
            return f"{self._model}: no call was let through for {BUSY_PATIENCE / 60:.0f} minutes ({message})"
        return ""

    def rest(self, failure: CallError, attempts: int) -> float | None:
        """Return the seconds after which to send this question again, None to give it up.

        A refused question rests no longer than all others: the pacer decides. Others rest 0.5 seconds, doubling to
        60, half of it by chance.
        """
        if failure.trouble is Trouble.BUSY:
            return 0.0
        if failure.trouble is not Trouble.PASSING or attempts >= MOST_ATTEMPTS:
            return None
        longest: float = min(_LONGEST_BACKOFF, _FIRST_BACKOFF * 2.0 ** (attempts - 1))
        return min(LONGEST_WAIT, max(failure.wait or 0.0, longest * (0.5 + 0.5 * self._chance.random())))

    def given_up(self, trouble: Trouble, message: str, *, none_answered: bool) -> str:
        """Note a question without an answer, and return the reason to leave the rest alone, if there is one."""
        self._in_a_row += trouble is Trouble.PASSING or (trouble is Trouble.QUESTION and none_answered)
        if self._in_a_row < FAILURES_IN_A_ROW:
            return ""
        return f"{self._model}: {self._in_a_row} questions in a row found no answer; the last: {message}"
