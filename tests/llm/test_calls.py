"""Calls and their cost: the budget of a run, what an answer is charged, and an estimate before any call."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest

from mensura.core.errors import MensuraError
from mensura.llm import Prices, Question, estimate, open_asker
from mensura.llm.calls import Budget, Caller, Slot, likely_tokens
from mensura.llm.protocol import CallError, Reply, Settings, Trouble
from tests.llm.conftest import questions, read_level
from tests.llm.server import level_answer


def expected(asked: list[Question]) -> list[int]:
    return [read_level(level_answer(question.prompt, {})).value for question in asked]


def test_a_model_that_declines_has_answered(serve, tmp_path):
    server = serve()
    server.completion = lambda request: {"choices": [{"message": {"content": None, "refusal": "I will not."}}]}
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        (answer,) = asker.ask(questions(1), read_level)
    assert (answer.text, answer.value, answer.error) == ("I will not.", None, "refused: I will not.")


@pytest.mark.slow
def test_the_budget_of_calls_is_never_passed_and_the_rest_goes_on_later(serve, tmp_path):
    server = serve(broken=0.2)
    settings = {"journal": tmp_path / "j.sqlite", "base_url": server.url}
    with open_asker("mine", max_calls=40, **settings) as asker:
        answers = asker.ask(questions(100), read_level)
        assert asker.stopped == "budget: the 40 calls allowed were made"
    assert sum(server.log.requests.values()) == 40
    unanswered = [answer for answer in answers if answer.value is None]
    assert unanswered
    assert {answer.error for answer in unanswered} == {"budget: the 40 calls allowed were made"}
    with open_asker("mine", **settings) as asker:
        again = asker.ask(questions(100), read_level)
    assert [answer.value for answer in again] == expected(questions(100))
    assert set(server.log.answers.values()) == {1}


def test_the_budget_of_money_is_never_passed_though_calls_run_side_by_side(serve, tmp_path):
    server = serve(delay=0.01)
    prices = Prices(1000, 5000)
    settings = {"journal": tmp_path / "j.sqlite", "base_url": server.url, "max_tokens": 40}
    with open_asker("mine", prices=prices, max_cost=3.0, **settings) as asker:
        answers = asker.ask(questions(100), read_level)
        spent = asker.cost
    made = sum(server.log.requests.values())
    dearest = prices.cost(200, 40)
    assert 3.0 - dearest < spent <= 3.0
    assert spent == pytest.approx(sum(answer.cost for answer in answers))
    assert sum(answer.value is not None for answer in answers) == made
    assert "another call could pass $3" in answers[-1].error


def test_a_server_that_counts_no_tokens_is_charged_at_the_worst_case(serve, tmp_path):
    server = serve(usage=False)
    settings = {"journal": tmp_path / "j.sqlite", "base_url": server.url, "max_tokens": 10}
    with open_asker("mine", prices=Prices(0, 1e5), max_cost=5.0, **settings) as asker:
        answers = asker.ask(questions(20), read_level)
    assert sum(answer.value is not None for answer in answers) == 5
    assert answers[0].tokens_out > 0


def test_an_answer_cut_off_says_so(serve, tmp_path):
    server = serve(answer=lambda *_: '{"level": 3, "wh')
    plain = server.completion

    def completion(request):
        made = plain(request)
        made["choices"][0]["finish_reason"] = "length"
        return made

    server.completion = completion
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url, max_tokens=9) as asker:
        (answer,) = asker.ask(questions(1), read_level)
    assert answer.error == "unreadable: no level; the answer was cut off at max_tokens=9"


def test_an_estimate_says_what_is_stored_and_what_the_rest_would_take(serve, tmp_path):
    from mensura.llm import Prices

    server = serve()
    journal = tmp_path / "j.sqlite"
    asked = questions(100)
    before = estimate([*asked, asked[0]], "mine", journal=journal, max_tokens=100, prices=Prices(1, 10))
    assert not journal.exists()
    assert (before.questions, before.stored, before.calls, before.tokens_out) == (101, 0, 100, 10_000)
    assert before.tokens_in == sum(-(-len(question.prompt) // 4) for question in asked)
    assert before.cost == before.cost_at_most == pytest.approx((before.tokens_in + 10 * 10_000) / 1e6)
    with open_asker("mine", journal=journal, base_url=server.url, max_tokens=100) as asker:
        asker.ask(asked[:40], read_level)
    after = estimate(asked, "mine", journal=journal, max_tokens=100, prices=Prices(1, 10), tokens_out=30)
    assert (after.stored, after.calls) == (40, 60)
    assert after.tokens_in == sum(-(-len(question.prompt) // 4) for question in asked[40:])
    assert after.tokens_out == 60 * 30
    assert after.cost == pytest.approx((after.tokens_in + 10 * 60 * 30) / 1e6)
    assert after.cost_at_most == pytest.approx((after.tokens_in + 10 * 60 * 100) / 1e6)
    assert "40 answered already, 60 calls" in str(after)
    assert sum(server.log.requests.values()) == 40


QUESTION = Question("x" * 36)
"""With 64 tokens for its wrapping, 100 tokens at most."""


def budget(max_cost=None, max_calls=None):
    """A budget at 1,000,000 and 2,000,000 dollars a million tokens, so that a token costs 1 and 2; answers of 50."""
    return Budget(Settings("mine", max_tokens=50), Prices(1e6, 2e6), max_cost, max_calls)


def test_the_worst_case_is_a_token_for_each_byte_and_a_whole_answer():
    assert budget(max_cost=1e9).worst_case(QUESTION) == 36 + 64 + 2 * 50
    assert budget(max_cost=1e9).worst_case(Question("é" * 18)) == 200, "two bytes each"
    assert budget().worst_case(QUESTION) == 0.0, "no limit, nothing to reserve"


def test_a_call_starts_only_beside_what_is_reserved_spent_and_lost():
    money = budget(max_cost=500.0)
    assert [money.take(200.0) for _ in range(3)] == [True, True, False]
    money.settle(200.0, 20.0)
    assert money.take(200.0), "a settled call gives back what it did not cost"
    money.settle(200.0, None)
    assert not money.take(200.0), "what an answer that was lost cost is not known, so its worst case counts"
    assert money.spent == 20.0
    assert (
        money.reason
        == "budget: another call could pass $500 ($20.0000 spent, up to $200.0000 for calls whose answer was lost)"
    )


def test_calls_are_counted_whether_they_cost_or_not():
    calls = budget(max_calls=2)
    assert [calls.take(0.0) for _ in range(3)] == [True, True, False]
    assert (calls.calls, calls.reason) == (2, "budget: the 2 calls allowed were made")


@pytest.mark.parametrize(("size", "tokens"), [(0, 0), (1, 1), (4, 1), (5, 2)])
def test_a_token_is_likely_four_bytes(size, tokens):
    assert likely_tokens(size) == tokens


def test_an_estimate_without_prices_has_no_cost_and_a_negative_length_is_refused():
    found = estimate([QUESTION, QUESTION], "mine", max_tokens=10)
    assert (found.questions, found.calls, found.tokens_in, found.tokens_out, found.cost) == (2, 1, 9, 10, None)
    assert str(found).endswith("cost unknown, for no price is known")
    with pytest.raises(MensuraError, match="tokens_out: expected a number of at least 0, got -1"):
        estimate([QUESTION], "mine", tokens_out=-1)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"max_cost": -0.1}, "max_cost: expected US dollars of at least 0, got -0.1"),
        ({"max_cost": float("inf")}, "max_cost"),
        ({"max_calls": -1}, "max_calls: expected a number of at least 0, got -1"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits, words):
    with pytest.raises(MensuraError, match=words):
        budget(**limits)
    assert not budget(max_calls=0).take(0.0)
    assert budget(max_cost=0.0).take(0.0)


def test_a_picture_counts_for_four_thousand_tokens_in_the_worst_case():
    assert budget(max_cost=1e9).worst_case(replace(QUESTION, pictures=("data:x", "data:y"))) == 200 + 2 * 4000
    schema = replace(QUESTION, prompt="x" * 20, system="y" * 9, schema={"a": 1})
    assert budget(max_cost=1e9).worst_case(schema) == 20 + 9 + len('{"a":1}') + 64 + 100


class Failing:
    """A provider that fails as it is told."""

    def __init__(self, fault):
        self.fault = fault

    async def complete(self, question):
        if isinstance(self.fault, Reply):
            return self.fault
        raise self.fault


@pytest.mark.parametrize(
    ("outcome", "spent", "lost"),
    [
        (Reply("3", 10, 5), 20.0, 0.0),
        (Reply("3", 10, None), 0.0, 200.0),  # nobody knows what it cost
        (CallError(Trouble.PASSING, "x"), 0.0, 0.0),
        (CallError(Trouble.PASSING, "x", billed=True), 0.0, 200.0),
        (RuntimeError("odd"), 0.0, 200.0),
    ],
)
def test_a_call_settles_its_budget_whatever_happens(outcome, spent, lost):
    money = budget(max_cost=500.0)
    caller = Caller(Failing(outcome), Settings("mine", max_tokens=50), Prices(1e6, 2e6), money, str)
    slot = Slot(QUESTION, b"k", None, 0, worst=200.0)
    assert money.take(slot.worst)
    result = asyncio.run(caller.call(slot))
    assert slot.attempts == 1 and money.spent == spent
    assert [money.take(500.0 - spent - lost), money.take(1.0)] == [True, False]
    if isinstance(outcome, RuntimeError):
        assert (result.trouble, result.message, result.billed) == (Trouble.QUESTION, "RuntimeError: odd", True)


def entry(reply, read=read_level, prices=None):
    caller = Caller(
        None, Settings("mine", max_tokens=9), prices, budget(), lambda text: text.replace("s3cret", "[key]")
    )
    slot = Slot(Question("x" * 41), b"k", SimpleNamespace(read=read), 0, attempts=2)
    return caller.entry_of(slot, reply)


def test_an_entry_has_what_was_read_counted_and_paid_without_keys():
    read, kept = entry(Reply('{"level": 3, "why": "my s3cret"}', 7, 4), prices=Prices(1e6, 2e6))
    assert read.reading.value == 3
    assert (kept.text, kept.value, kept.rationale, kept.error) == (
        '{"level": 3, "why": "my [key]"}',
        "3",
        "my [key]",
        "",
    )
    assert (kept.tokens_in, kept.tokens_out, kept.cost, kept.attempts) == (7, 4, 15.0, 2)
    _, guessed = entry(Reply("abcde"))
    assert (guessed.tokens_in, guessed.tokens_out, guessed.cost) == (11, 2, None)
    assert guessed.error == "unreadable: no level"
    assert entry(Reply("abcde", cut=True))[1].error == "unreadable: no level; the answer was cut off at max_tokens=9"
    assert entry(Reply('{"level": 3, "why": ""}', cut=True))[1].error == ""
    declined = entry(Reply(f"I  will\nnot. {'x' * 200}", withheld="refused"))[1]
    assert declined.error == f"refused: I will not. {'x' * 147}"
    assert entry(Reply("", withheld="filtered"))[1].error.startswith("filtered: the provider's content filter")


def test_an_estimate_is_said_in_one_line():
    found = estimate([QUESTION], "mine", max_tokens=10, prices=Prices(1e6, 1e6), tokens_out=500)
    assert str(found) == (
        "1 questions to mine: 0 answered already, 1 calls, about 9 tokens in and 10 out; about $19.00, at most $19.00"
    )
    assert estimate([QUESTION], "mine", tokens_out=0).tokens_out == 0


def test_an_estimate_of_a_recording_knows_what_it_answered(tmp_path):
    journal = tmp_path / "j.sqlite"
    asked = Question("?", about={"item": "harbour", "dimension": "QLq"})
    with open_asker("recorded/demo", journal=journal) as asker:
        asker.ask([asked], read_level)
    found = estimate([asked, Question("other")], "recorded/demo", journal=journal)
    assert (found.questions, found.stored, found.calls) == (2, 1, 1)
