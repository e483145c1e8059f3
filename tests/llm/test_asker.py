"""Asking through the journal, against a server that misbehaves."""

import time
from concurrent.futures import Future
from threading import Timer

import pytest

from mensura.core.errors import MensuraError
from mensura.llm import AnswerReading, Prices, Question, UnreadableError, open_asker
from mensura.llm.endpoint import reply_of
from mensura.llm.protocol import CallError
from tests.llm.conftest import questions, read_level
from tests.llm.server import level_answer


def expected(asked: list[Question]) -> list[int]:
    return [read_level(level_answer(question.prompt, {})).value for question in asked]


def test_answers_come_in_the_order_of_the_questions_with_what_they_took(serve, tmp_path):
    server = serve()
    asked = questions(600)
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url, prices=Prices(2, 10)) as asker:
        answers = asker.ask(asked, read_level)
    assert [answer.question for answer in answers] == asked
    assert [answer.value for answer in answers] == expected(asked)
    assert answers[0].rationale.startswith("this asks for about")
    first = answers[0]
    assert first.cost == pytest.approx((first.tokens_in * 2 + first.tokens_out * 10) / 1e6)
    assert (first.stored, first.attempts, first.error) == (False, 1, "")


def test_what_is_sent_is_the_question_at_low_temperature_and_nothing_else(serve, tmp_path):
    server = serve()
    schema = {"type": "object", "properties": {"level": {"type": "integer"}}}
    asked = Question("How hard?", system="You judge items.", schema=schema, about={"item": "secret-id"})
    with open_asker("openai/mine", journal=tmp_path / "j.sqlite", base_url=server.url, max_tokens=50) as asker:
        asker.ask([asked], read_level)
    form = {"name": "answer", "schema": schema, "strict": True}
    assert server.log.bodies == [
        {
            "model": "mine",
            "messages": [{"role": "system", "content": "You judge items."}, {"role": "user", "content": "How hard?"}],
            "max_tokens": 50,
            "temperature": 0.0,
            "response_format": {"type": "json_schema", "json_schema": form},
        }
    ]


def test_a_chunk_that_ends_just_as_its_wait_runs_out_is_answered(serve, tmp_path):
    """On a busy machine the answers may come between the end of a wait and the look at whether they are there."""
    server = serve()

    class Late(Future):
        def result(self, timeout=None):
            if timeout is not None:
                self.set_result(["answered"])
                raise TimeoutError
            return super().result(timeout)

    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        order = Late()
        Timer(0.25, lambda: order.done() or order.set_result(["answered"])).start()
        assert asker._answers(order, 0, 1) == ["answered"]


def test_a_second_run_asks_nothing_again(serve, tmp_path):
    server = serve()
    settings = {"journal": tmp_path / "j.sqlite", "base_url": server.url}
    with open_asker("mine", **settings) as asker:
        first = asker.ask(questions(300), read_level)
    with open_asker("mine", **settings) as asker:
        second = asker.ask(questions(300), read_level)
        assert asker.calls == 0
    assert all(answer.stored for answer in second)
    assert [answer.value for answer in second] == [answer.value for answer in first]
    assert [answer.cost for answer in second] == [answer.cost for answer in first]
    assert set(server.log.requests.values()) == {1}


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"temperature": 0.7},
        {"temperature": None},
        {"max_tokens": 7},
        {"question": Question("How hard is item 0? ")},
        {"question": Question("How hard is item 0?", system="Be brief.")},
        {"question": Question("How hard is item 0?", schema={"type": "object"})},
        {"question": Question("How hard is item 0?", repeat=1)},
    ],
)
def test_everything_that_determines_an_answer_is_in_its_key(serve, tmp_path, change):
    server = serve()
    base = {"name": "mine", "journal": tmp_path / "j.sqlite", "base_url": server.url}
    question = Question("How hard is item 0?")
    with open_asker(**base) as asker:
        asker.ask([question], read_level)
    asked = change.pop("question", question)
    with open_asker(**{**base, **change}) as asker:
        assert asker.ask([asked], read_level)[0].stored is False


def test_what_a_question_is_about_and_where_it_is_served_do_not_make_it_another(serve, tmp_path):
    first, second = serve(), serve()
    journal = tmp_path / "j.sqlite"
    with open_asker("mine", journal=journal, base_url=first.url) as asker:
        asker.ask([Question("How hard?", about={"item": "a"})], read_level)
    with open_asker("mine", journal=journal, base_url=second.url) as asker:
        assert asker.ask([Question("How hard?", about={"item": "b"})], read_level)[0].stored


def test_a_better_reader_reads_stored_answers_anew_and_the_journal_follows(serve, tmp_path):
    from mensura.llm import audit_table

    server = serve(answer=lambda prompt, _: "Level: four")

    def words(text):
        return AnswerReading({"four": 4}[text.split()[-1]], "in words")

    settings = {"journal": tmp_path / "j.sqlite", "base_url": server.url}
    with open_asker("mine", **settings) as asker:
        (first,) = asker.ask(questions(1), read_level)
    with open_asker("mine", **settings) as asker:
        (second,) = asker.ask(questions(1), words)
    assert (first.value, first.error) == (None, "unreadable: no level")
    assert (second.value, second.rationale, second.error, second.stored) == (4, "in words", "", True)
    assert audit_table(tmp_path / "j.sqlite").select("value", "rationale", "error").row(0) == ("4", "in words", "")
    assert sum(server.log.requests.values()) == 1


def test_a_resumed_run_gives_all_that_the_first_gave_and_asks_only_what_is_new(serve, tmp_path):
    server = serve()
    settings = {"journal": tmp_path / "j.sqlite", "base_url": server.url, "prices": Prices(1, 10)}
    with open_asker("mine", **settings) as asker:
        first = asker.ask(questions(40), read_level)
    asked = [*questions(50)[40:], *questions(40)[::-1], *questions(3, "another")]
    with open_asker("mine", **settings) as asker:
        second = asker.ask(asked, read_level)
        assert asker.calls == 13
    assert [answer.question for answer in second] == asked
    assert [answer.stored for answer in second] == [False] * 10 + [True] * 40 + [False] * 3
    known = [answer._replace(seconds=round(answer.seconds, 3), stored=True) for answer in first]
    assert second[10:50] == known[::-1]
    assert min(answer.cost for answer in known) > 0


def test_a_reader_that_takes_less_or_another_thing_from_stored_answers_is_followed_answer_by_answer(serve, tmp_path):
    from mensura.llm import audit_table

    settings = {"journal": tmp_path / "j.sqlite", "base_url": serve().url}
    with open_asker("mine", **settings) as asker:
        first = asker.ask(questions(30), read_level)

    def stricter(text):
        level, why = read_level(text)
        if level % 3 == 0:
            raise UnreadableError("divisible by three")
        return AnswerReading(10 * level, why) if level % 3 == 1 else AnswerReading(level, "for another reason")

    with open_asker("mine", **settings) as asker:
        second = asker.ask(questions(30), stricter)
    expected = [(None, 10 * one.value, one.value)[one.value % 3] for one in first]
    assert {one.value % 3 for one in first} == {0, 1, 2}
    assert [one.value for one in second] == expected
    assert [one.rationale for one in second if one.value is not None and one.value < 10] == [
        "for another reason" for one in first if one.value % 3 == 2
    ]
    assert {one.error for one in second if one.value is None} == {"unreadable: divisible by three"}
    table = audit_table(tmp_path / "j.sqlite")
    assert table["value"].to_list() == ["null" if value is None else str(value) for value in expected]
    assert [bool(error) for error in table["error"]] == [value is None for value in expected]


def test_a_reader_that_crashes_or_returns_what_json_cannot_hold_fails_its_question_alone(serve, tmp_path):
    server = serve()

    def careless(text):
        if expected(questions(1))[0] == read_level(text).value:
            raise KeyError("oops")
        return AnswerReading(float("nan"))

    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        answers = asker.ask(questions(20), careless)
    assert all(answer.value is None and answer.error.startswith("unreadable: the reader failed") for answer in answers)
    assert all(answer.text for answer in answers)


@pytest.mark.slow
def test_every_fault_of_a_server_is_outlived(serve, tmp_path):
    faults = {"busy": 0.06, "broken": 0.06, "dropped": 0.06, "truncated": 0.06, "wrong": 0.06, "slow": 0.01}
    server = serve(**faults, busy_wait=0.02, slow_seconds=20)
    asked = questions(400)
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url, timeout=2.0) as asker:
        answers = asker.ask(asked, read_level)
    assert [answer.value for answer in answers] == expected(asked)
    assert set(server.log.answers.values()) == {1}
    assert sum(answer.attempts for answer in answers) == sum(server.log.requests.values()) > 480


def test_pacing_follows_a_server_that_bears_few_calls_at_once(serve, tmp_path):
    server = serve(delay=0.02, most_at_once=3)
    asked = questions(60)
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url, concurrency=30) as asker:
        answers = asker.ask(asked, read_level)
    assert [answer.value for answer in answers] == expected(asked)
    refused = sum(server.log.requests.values()) - len(asked)
    assert 0 < refused < 2 * len(asked)


@pytest.mark.slow
def test_retry_after_is_kept_to(serve, tmp_path):
    server = serve(busy=1.0, busy_wait=1.1)
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        began = time.monotonic()
        (answer,) = asker.ask(questions(1), read_level)
    assert answer.attempts == 4
    assert time.monotonic() - began >= 3.3


def test_money_needs_prices_and_other_settings_are_checked(tmp_path):
    url = {"base_url": "http://127.0.0.1:9/v1", "journal": tmp_path / "j.sqlite"}
    for settings, message in [
        ({"max_cost": 1.0}, "no prices are known for 'mine'"),
        ({"max_cost": -1.0, "prices": Prices(1, 1)}, "max_cost"),
        ({"max_calls": -1}, "max_calls"),
        ({"temperature": -0.1}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"timeout": 0}, "timeout"),
        ({"concurrency": 0}, "concurrency"),
        ({"interface": "back"}, "interface"),
        ({"journal": None}, "journal"),
        ({"base_url": "localhost:80"}, "http://"),
    ]:
        with pytest.raises(MensuraError, match=message):
            open_asker("mine", **{**url, **settings})
    with pytest.raises(MensuraError, match="openai-api/SERVICE/MODEL"):
        open_asker("openai-api/mine", journal=tmp_path / "j.sqlite")
    with pytest.raises(MensuraError, match="NOWHERE_BASE_URL"):
        open_asker("openai-api/nowhere/mine", journal=tmp_path / "j.sqlite")
    with pytest.raises(MensuraError, match="prices: output"):
        Prices(1, -1)


def test_a_prompt_that_is_no_text_is_refused(serve, tmp_path):
    with (
        open_asker("mine", journal=tmp_path / "j.sqlite", base_url=serve().url) as asker,
        pytest.raises(MensuraError, match="no text"),
    ):
        asker.ask([Question("a\ud800b")], read_level)


def test_progress_tells_done_cost_rate_and_time_left(serve, tmp_path):
    seen = []
    server = serve(delay=0.01)
    settings = {"journal": tmp_path / "j.sqlite", "base_url": server.url, "prices": Prices(1, 1)}
    with open_asker("mine", advance=seen.append, concurrency=4, **settings) as asker:
        asker.ask(questions(300), read_level)
    assert [standing.done for standing in seen] == sorted(standing.done for standing in seen)
    last = seen[-1]
    assert (last.done, last.total, last.failed) == (300, 300, 0)
    assert last.cost > 0
    middle = next(standing for standing in seen if 0 < standing.done < 300)
    assert middle.rate > 0
    assert middle.seconds_left > 0


def test_a_stream_takes_questions_as_it_goes_and_may_be_left(serve, tmp_path):
    server = serve()
    taken = []

    def endless():
        number = 0
        while True:
            taken.append(number)
            yield Question(f"How hard is item {number}?")
            number += 1

    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        stream = asker.stream(endless(), read_level)
        values = [next(stream).value for _ in range(700)]
        stream.close()
    assert values == expected(questions(700))
    assert len(taken) < 20_000


def test_a_closed_asker_says_so_and_unreadable_is_an_error_of_ours(serve, tmp_path):
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=serve().url) as asker:
        pass
    with pytest.raises(MensuraError, match="closed"):
        asker.ask(questions(1), read_level)
    assert issubclass(UnreadableError, MensuraError)


def test_a_web_page_in_place_of_an_answer_says_what_to_look_at():
    with pytest.raises(CallError, match=r"a web page.*base_url.*/v1.*Sign in"):
        reply_of(b" <!doctype html><title>Sign in</title>")
    with pytest.raises(CallError, match=r"^not a chat completion: 'nothing'$"):
        reply_of(b"nothing")


def test_what_keeps_a_model_from_being_opened_is_named(tmp_path):
    there = {"journal": tmp_path / "j.sqlite", "base_url": "http://127.0.0.1:9/v1"}
    for name, settings, words in [
        ("mine", {"batch": True}, "batch: the provider of the model: got 'mine'; expected one of openai, anthropic"),
        ("mine", {"retry": "refused"}, "retry: expected some of refused, unreadable, batched, got 'refused'"),
        ("mine", {"retry": ["later"]}, "retry"),
        ("mine", {"concurrency": 1.5}, "concurrency: expected a whole number of at least 1, got 1.5"),
        ("mine", {"timeout": float("nan")}, "timeout: expected seconds above 0"),
        ("mine", {"journal": None}, "journal: 'mine' costs money; give the file that records its answers"),
    ]:
        with pytest.raises(MensuraError, match=words):
            open_asker(name, **{**there, **settings})


def test_an_asker_says_what_it_spent_and_how_many_answers_it_has(serve, tmp_path):
    settings = {"journal": tmp_path / "j.sqlite", "base_url": serve().url}
    with open_asker("mine", prices=Prices(1, 1), **settings) as asker:
        answers = asker.ask(questions(3), read_level)
        assert (asker.answered, asker.calls, asker.stopped) == (3, 3, "")
        assert asker.cost == pytest.approx(sum(answer.cost for answer in answers))
    with open_asker("mine", **settings) as asker:
        asker.ask(questions(4), read_level)
        assert (asker.answered, asker.calls, asker.cost) == (4, 1, None)


@pytest.fixture
def inspected(monkeypatch):
    """Let something stand for inspect-ai's provider that keeps how it was opened."""
    opened = []

    class Through:
        def __init__(self, settings, **how):
            opened.append((settings.model, how))

        async def close(self):
            pass

    monkeypatch.setattr("mensura.llm.asker.InspectProvider", Through)
    return opened


def test_a_batch_costs_half_and_takes_two_days_and_fifty_thousand_calls_at_once(inspected, tmp_path):
    settings = {"journal": tmp_path / "j.sqlite", "prices": Prices(2, 10)}
    with open_asker("openai/m", batch=True, **settings) as asker:
        assert asker._caller.prices == Prices(1, 5)
        assert (asker._queue._pacer.ceiling, asker._queue._pacer.allowed) == (50_000, 50_000)
    with open_asker("openai/m", **settings) as asker:
        assert asker._caller.prices == Prices(2, 10)
        assert (asker._queue._pacer.ceiling, asker._queue._pacer.allowed) == (32, 8)
    batch, plain = (how for _, how in inspected)
    assert batch == {"base_url": None, "timeout": 172_800.0, "concurrency": 50_000, "batch": True}
    assert plain == {"base_url": None, "timeout": 120.0, "concurrency": 32, "batch": False}


@pytest.mark.parametrize(
    ("name", "settings", "direct"),
    [
        ("mine", {"base_url": "http://h/v1"}, True),
        ("openai/m", {"base_url": "http://h/v1"}, True),
        ("anthropic/m", {"base_url": "http://h/v1"}, False),
        ("openai/m", {}, False),
        ("openai/m", {"base_url": "http://h/v1", "interface": "inspect"}, False),
        ("anthropic/m", {"base_url": "http://h/v1", "interface": "direct"}, True),
        ("openai-api/here/m", {"base_url": "http://h/v1"}, True),
    ],
)
def test_compatible_endpoints_are_asked_directly_and_others_not(name, settings, direct, inspected, tmp_path):
    with open_asker(name, journal=tmp_path / "j.sqlite", **settings):
        assert (not inspected) is direct
