"""The pace of requests under limits, on a clock of our own; and the judgement of failed calls."""

import pytest

from mensura.llm.pacing import BUSY_PATIENCE, LONGEST_WAIT, CallFailures, Pacer, Rate
from mensura.llm.protocol import CallError, Trouble
from tests.llm.limits import AtOnceLimit, RandomRefusals, RateLimit, simulate

MOST_REQUESTS, MOST_TIME = 1.3, 1.4
RATES = [(600, 60.0), (300, 60.0), (10, 1.0), (5, 1.0)]


@pytest.mark.parametrize("latency", [0.005, 0.1, 1.0])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize(("count", "seconds"), RATES)
@pytest.mark.parametrize("kind", ["bucket", "fixed", "sliding"])
def test_a_limit_of_requests_per_time_is_found_with_few_refusals(kind, count, seconds, header, latency):
    requests, time = simulate(RateLimit(kind, count, seconds, header=header), 500, latency)
    assert requests <= MOST_REQUESTS
    assert time <= MOST_TIME or RateLimit(kind, count, seconds).ideal(500, latency) < 2 * latency


@pytest.mark.parametrize("latency", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 10, 31])
def test_a_limit_of_requests_at_once_is_found_with_few_refusals(count, latency):
    requests, time = simulate(AtOnceLimit(count), 300, latency)
    assert requests <= MOST_REQUESTS
    assert time <= MOST_TIME


def test_without_a_limit_all_that_is_allowed_is_under_way():
    requests, time = simulate(AtOnceLimit(1000), 2000, 0.1, ceiling=32)
    assert requests == 1.0
    assert time < 1.1


def test_a_refusal_stops_every_request_until_one_tries_again():
    pacer = Pacer(8)
    tickets = [pacer.start(0.0) for _ in range(8)]
    for ticket in tickets:
        pacer.answered(0.1, ticket)
    assert pacer.wait(0.1) == 0.0
    pacer.refused(0.2, pacer.start(0.1), 30.0)
    assert pacer.wait(0.2) == pytest.approx(30.0)
    assert pacer.wait(29.2) == pytest.approx(1.0)
    assert pacer.wait(30.2) == 0.0
    pacer.start(30.2)
    assert pacer.wait(40.0) == float("inf"), "one request tries, the others wait for it"


@pytest.mark.parametrize("wait", [LONGEST_WAIT + 1, 86400.0, float("inf")])
def test_no_wait_is_longer_than_ten_minutes_whatever_a_provider_asks_for(wait):
    pacer = Pacer(8)
    pacer.refused(5.0, pacer.start(0.0), wait)
    assert pacer.wait(5.0) == LONGEST_WAIT
    failures = CallFailures("mine", now=0.0)
    passing = CallError(Trouble.PASSING, "HTTP 500", wait=wait)
    assert failures.rest(passing, 1) == LONGEST_WAIT


def test_refusals_end_a_run_when_nothing_was_answered_for_a_quarter_of_an_hour():
    failures = CallFailures("mine", now=0.0)
    busy = CallError(Trouble.BUSY, "HTTP 429", wait=86400.0)
    assert failures.stops(busy, "HTTP 429", now=BUSY_PATIENCE) == ""
    assert "no call was let through for 15 minutes" in failures.stops(busy, "HTTP 429", now=BUSY_PATIENCE + 1)
    failures.succeeded(BUSY_PATIENCE)
    assert failures.stops(busy, "HTTP 429", now=BUSY_PATIENCE + 1) == ""


def test_pauses_without_a_header_grow_while_probes_are_refused():
    pacer, now, pauses = Pacer(1), 0.0, []
    for _ in range(30):
        pacer.refused(now, pacer.start(now), None)
        pauses.append(round(pacer.wait(now), 6))
        now += pauses[-1]
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (0.1, 60.0)
    assert all(later <= 1.31 * sum(pauses[:place]) for place, later in enumerate(pauses) if later > 5)


@pytest.mark.parametrize("share", [0.1, 0.2])
def test_a_provider_that_refuses_at_random_does_not_bring_a_run_to_a_halt(share):
    """An overloaded provider refuses one request in ten, or in five, at any rate. A run without refusals takes 10 s."""
    _, times_the_shortest = simulate(RandomRefusals(share), 1000, 0.3)
    assert times_the_shortest < 25


@pytest.mark.parametrize(("answers", "rate"), [(7, None), (8, 0.8)])
def test_a_rate_is_estimated_from_two_stretches_of_eight_answers(answers, rate):
    """Stretches of ten seconds, each ended by a refusal."""
    found = Rate()
    found.started(0.0, idle=False)
    for end in (10.0, 20.0):
        for _ in range(answers):
            found.answered()
        found.refused(end)
    assert found.value == pytest.approx(rate)
