"""The pace of requests under limits, on a clock of our own; and the judgement of failed calls."""

import pytest

from mensura.llm.pacing import BUSY_PATIENCE, LONGEST_WAIT, AtOnce, CallFailures, Pacer, Rate
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


def test_the_window_grows_to_the_refused_number_less_one_and_is_tried_again_more_and_more_rarely():
    window = AtOnce(ceiling=6, start=3)
    assert (window.window, AtOnce(2, 8).window) == (3, 2)
    for _ in range(5):
        window.grow(1)
    assert window.window == 6, "the ceiling"
    window.prove(4)
    assert (window.fits(4), window.fits(5)) == (True, False)
    window.shrink(5)
    assert window.window == 4
    tries = []
    for _ in range(3):
        answers = 0
        while window.window == 4:
            window.grow(4)
            answers += 1
        tries.append(answers)
        window.shrink(5)
    assert tries == [4, 8, 16], "a round of the limit, then two, then four"
    window.grow(3)
    assert window.window == 4, "answers with less company prove nothing"
    window.grow(5)
    assert window.window == 5, "one more was answered: the limit is gone"


def test_a_rate_falls_with_each_refusal_and_goes_back_where_that_does_not_help():
    rate = Rate()

    def stretch(answers, end):
        for _ in range(answers):
            rate.answered()
        rate.refused(end)

    rate.started(0.0, idle=False)
    stretch(10, 10.0)
    assert rate.value is None
    stretch(10, 20.0)
    assert rate.value == 1.0
    rate.grow()
    assert rate.value == pytest.approx(1.008)
    stretch(30, 30.0)
    assert rate.value == pytest.approx(0.95 * 1.008), "never above 95% of what was refused"
    stretch(8, 40.0)
    assert rate.value == pytest.approx(1.9), "below half of the best, 38 answers in 20 seconds: back to it"
    stretch(63, 200.0)
    assert rate.value == pytest.approx(1.9), "it is trusted for 64 answers"
    stretch(1, 230.0)
    assert rate.value == pytest.approx(72 / 200), "then all answers since the last estimate count"


def test_counting_begins_again_after_an_idle_time():
    rate = Rate()
    rate.started(0.0, idle=False)
    for _ in range(8):
        rate.answered()
    rate.started(100.0, idle=True)
    for end in (110.0, 120.0):
        for _ in range(8):
            rate.answered()
        rate.refused(end)
    assert rate.value == pytest.approx(0.8)


@pytest.mark.parametrize(("attempts", "least", "most"), [(1, 0.25, 0.5), (2, 0.5, 1.0), (5, 4.0, 8.0)])
def test_a_passing_failure_rests_twice_as_long_each_time(attempts, least, most):
    failures = CallFailures("mine", now=0.0)
    rests = [failures.rest(CallError(Trouble.PASSING, "x"), attempts) for _ in range(50)]
    assert least <= min(rests) < max(rests) <= most
    assert failures.rest(CallError(Trouble.PASSING, "x", wait=9.0), attempts) == 9.0


def test_what_is_given_up_and_what_is_not():
    failures = CallFailures("mine", now=0.0)
    assert failures.rest(CallError(Trouble.BUSY, "x"), 99) == 0.0
    assert failures.rest(CallError(Trouble.PASSING, "x"), 5) is not None
    assert failures.rest(CallError(Trouble.PASSING, "x"), 6) is None
    assert failures.rest(CallError(Trouble.QUESTION, "x"), 1) is None
    assert failures.stops(CallError(Trouble.FATAL, "x"), "wrong key", now=0.0) == "mine: wrong key"
    assert failures.stops(CallError(Trouble.PASSING, "x"), "x", now=1e9) == ""
    for _ in range(15):
        assert failures.given_up(Trouble.PASSING, "x", none_answered=False) == ""
    assert failures.given_up(Trouble.QUESTION, "x", none_answered=False) == ""
    assert failures.given_up(Trouble.QUESTION, "why", none_answered=True) == (
        "mine: 16 questions in a row found no answer; the last: why"
    )
    failures.succeeded(1.0)
    assert failures.given_up(Trouble.PASSING, "x", none_answered=True) == ""
    assert failures.given_up(Trouble.MISSING, "x", none_answered=True) == ""


def test_a_pacer_starts_eight_at_once_and_one_more_with_each_answer():
    pacer = Pacer(32)
    assert (pacer.ceiling, pacer.allowed) == (32, 8)
    tickets = [pacer.start(0.0) for _ in range(8)]
    assert [ticket.number for ticket in tickets] == list(range(1, 9))
    assert pacer.wait(0.0) == float("inf")
    pacer.ended()
    assert pacer.wait(0.0) == 0.0 and pacer.allowed == 8
    pacer.answered(0.1, tickets[0])
    assert pacer.allowed == 9


def test_a_refusal_beyond_what_was_proven_narrows_the_window_without_a_pause():
    pacer = Pacer(8)
    tickets = [pacer.start(0.0) for _ in range(8)]
    for ticket in tickets[:4]:
        pacer.answered(0.1, ticket)
    pacer.refused(0.2, tickets[7], None)
    assert pacer.allowed == 7 and pacer.resume_at == float("-inf")
    pacer.refused(0.2, tickets[5], None)
    assert pacer.allowed == 5
    pacer.refused(0.3, tickets[2], None)
    assert pacer.resume_at == float("-inf"), "it was sent before the last refusal"


def test_after_a_refusal_requests_are_spread_over_the_time_that_one_takes():
    """Calls of 1 and 0.5 seconds: 0.9 on the mean that forgets a fifth each time; four at once, so 0.9 / (0.95 · 4)."""
    pacer = Pacer(8)
    for start, end in ((0.0, 1.0), (1.0, 1.5)):
        pacer.answered(end, pacer.start(start))
    pacer.refused(2.1, pacer.start(2.0), 1.0)
    assert pacer.wait(2.1) == pytest.approx(1.0)
    ticket = pacer.start(3.1)
    assert pacer.allowed == 1
    pacer.answered(3.2, ticket)
    assert pacer.allowed == 5, "four, and one more for the answer"
    assert pacer.wait(3.2) == pytest.approx(3.1 - 0.002 + 0.9 / (0.95 * 4) - 3.2)
    pacer.start(5.0)
    assert pacer.wait(5.0) == pytest.approx((0.9 - 0.2 * 0.8) / (0.95 * 5) - 0.002), "the latency now, and five at once"
