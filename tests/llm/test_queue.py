"""The queue of questions: each is asked once, in order, and given back when the work stops."""

import gc
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from mensura.core.errors import MensuraError
from mensura.llm import Question, open_asker
from mensura.llm.record import Record
from tests.llm.conftest import questions, read_level
from tests.llm.server import level_answer


def expected(asked: list[Question]) -> list[int]:
    return [read_level(level_answer(question.prompt, {})).value for question in asked]


def test_the_same_question_twice_in_one_list_is_asked_once(serve, tmp_path):
    server = serve(delay=0.05)
    twice = [Question("How hard?", about={"item": name}) for name in "ab"]
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        answers = asker.ask(twice, read_level)
    assert server.log.requests["How hard?"] == 1
    assert [answer.question.about["item"] for answer in answers] == ["a", "b"]
    assert answers[0].value == answers[1].value is not None
    assert [answer.stored for answer in answers] == [False, True]


def test_a_question_that_a_server_will_not_take_fails_alone_and_is_asked_again_next_time(serve, tmp_path):
    server = serve()
    settings = {"journal": tmp_path / "j.sqlite", "base_url": server.url}
    server.refuse = lambda prompt: "item 1?" in prompt
    with open_asker("mine", **settings) as asker:
        answers = asker.ask(questions(3), read_level)
    assert [answer.error for answer in answers] == ["", "HTTP 400: too_long: this is too long", ""]
    server.refuse = None
    with open_asker("mine", **settings) as asker:
        again = asker.ask(questions(3), read_level)
    assert [answer.value for answer in again] == expected(questions(3))
    assert [answer.stored for answer in again] == [True, False, True]


def test_a_wrong_key_stops_everything_with_one_clear_error_and_loses_nothing(serve, tmp_path, monkeypatch):
    server = serve(key="the-right-key-0123456789", delay=0.01)
    monkeypatch.setenv("LOCAL_API_KEY", "the-right-key-0123456789")
    settings = {"journal": tmp_path / "j.sqlite", "base_url": server.url, "concurrency": 4}
    with open_asker("openai-api/local/mine", **settings) as asker:
        assert all(answer.value is not None for answer in asker.ask(questions(50), read_level))
        server.key = "another-key-9876543210"
        with pytest.raises(MensuraError, match=r"key is missing or wrong.*LOCAL_API_KEY"):
            asker.ask(questions(200), read_level)
    sent = sum(server.log.requests.values())
    assert sent == 50
    monkeypatch.setenv("LOCAL_API_KEY", "another-key-9876543210")
    with open_asker("openai-api/local/mine", **settings) as asker:
        answers = asker.ask(questions(200), read_level)
    assert [answer.stored for answer in answers] == [True] * 50 + [False] * 150


def test_an_endpoint_that_is_down_stops_the_work_instead_of_failing_every_question(tmp_path, monkeypatch):
    monkeypatch.setattr("mensura.llm.pacing.MOST_ATTEMPTS", 2)
    with (
        open_asker("mine", journal=tmp_path / "j.sqlite", base_url="http://127.0.0.1:9/v1") as asker,
        pytest.raises(MensuraError, match=r"16 questions in a row found no answer.*no connection"),
    ):
        asker.ask(questions(5000), read_level)


def test_questions_that_rest_after_a_failure_are_given_back_when_the_asker_is_closed(
    serve, tmp_path, monkeypatch, caplog
):
    """A disk slow in closing gave their timers time to order claims back from a writer that took no more orders."""
    server = serve(broken=1.0)
    close = Record.close

    def slowly(writer):
        close(writer)
        time.sleep(1.2)

    monkeypatch.setattr(Record, "close", slowly)
    asker = open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url)
    with asker, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(asker.ask, questions(20), read_level)
        while sum(server.log.requests.values()) < 20:
            time.sleep(0.01)
        asker.close()
        answers = asked.result()
    del asker
    gc.collect()
    assert not caplog.records  # asyncio logs what it destroys unfinished
    assert {answer.error for answer in answers} == {"closed"}
    assert set(server.log.requests.values()) == {1}


def test_what_comes_first_is_asked_first_so_that_answers_come_while_others_are_asked(serve, tmp_path):
    server = serve(delay=0.002)
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        stream = asker.stream(questions(3000), read_level)
        next(stream)
        sent = [body["messages"][0]["content"] for body in server.log.bodies]
        stream.close()
    assert set(sent[:256]) == {question.prompt for question in questions(256)}
    assert len(sent) < 1500


def test_a_server_that_takes_no_question_at_all_is_asked_no_further(serve, tmp_path):
    server = serve()
    settings = {"journal": tmp_path / "j.sqlite", "base_url": server.url, "concurrency": 1}
    server.refuse = lambda prompt: True
    with (
        open_asker("mine", **settings) as asker,
        pytest.raises(MensuraError, match=r"16 questions in a row found no answer.*this is too long"),
    ):
        asker.ask(questions(100), read_level)
    assert sum(server.log.requests.values()) < 50
    server.refuse = lambda prompt: "item 0?" not in prompt
    with open_asker("mine", **settings) as asker:
        answers = asker.ask(questions(20), read_level)
    assert [not answer.error for answer in answers] == [True] + [False] * 19, "one answer shows that the server works"
