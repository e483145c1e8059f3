"""Batches, which inspect-ai submits and collects: half the price, one submission, none paid twice in silence."""

import asyncio
import time

import pytest

from mensura.core.errors import MensuraError
from mensura.llm import Prices, journal_status, open_asker
from tests.llm.conftest import questions, read_level

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of inspect-ai
    pytest.mark.slow,
]


@pytest.fixture
def batched(monkeypatch, tmp_path):
    """Settings that send batches to a server, and look at them often."""
    pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
    from mensura.llm import providers

    monkeypatch.setattr(providers, "BATCH_TICK", 0.5)
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-inspect-0123")
    return lambda server, **more: {"journal": tmp_path / "j.sqlite", "base_url": server.url, "batch": True, **more}


def test_a_batch_is_answered_at_half_price_in_the_order_of_the_questions(serve, batched, tmp_path):
    server = serve()
    asked = questions(50)
    with open_asker("openai/gpt-4o", **batched(server, prices=Prices(2, 10))) as asker:
        answers = asker.ask(asked, read_level)
    with open_asker("openai/gpt-4o", journal=tmp_path / "x", base_url=server.url, prices=Prices(2, 10)) as asker:
        single = asker.ask(asked, read_level)
    assert [answer.value for answer in answers] == [answer.value for answer in single]
    assert [answer.cost for answer in answers] == pytest.approx([answer.cost / 2 for answer in single])
    assert len(server.log.batches) == 1
    with open_asker("openai/gpt-4o", **batched(server)) as asker:
        assert all(answer.stored for answer in asker.ask(asked, read_level))


def test_a_batch_that_a_run_left_behind_is_paid_again_only_where_the_user_asks_for_it(serve, batched, monkeypatch):
    server = serve()
    server.batches_ready = False
    monkeypatch.setattr("mensura.llm.queue._GRACE_SECONDS", 1.0)
    with open_asker("openai/gpt-4o", **batched(server)) as asker:
        asyncio.run_coroutine_threadsafe(asker._queue.serve(questions(3), read_level), asker._loop)
        while not server.log.batches:  # the run ends while its batch is under way
            time.sleep(0.01)
    journal = batched(server)["journal"]
    assert journal_status(journal)["batched"].to_list() == [3]
    server.batches_ready = True
    for way in (True, False):
        with open_asker("openai/gpt-4o", **batched(server, batch=way)) as asker:
            assert all("retry=batched asks again" in answer.error for answer in asker.ask(questions(3), read_level))
    assert (len(server.log.batches), sum(server.log.requests.values())) == (1, 0)
    with open_asker("openai/gpt-4o", **batched(server, retry=["batched"])) as asker:
        assert all(answer.value is not None for answer in asker.ask(questions(3), read_level))


def test_a_refused_batch_gives_its_questions_back(serve, batched, monkeypatch):
    server = serve(key="the-right-key-0123456789")
    with open_asker("openai/gpt-4o", **batched(server)) as asker, pytest.raises(MensuraError, match="key is missing"):
        asker.ask(questions(3), read_level)
    monkeypatch.setenv("OPENAI_API_KEY", "the-right-key-0123456789")
    with open_asker("openai/gpt-4o", **batched(server)) as asker:
        assert all(answer.value is not None for answer in asker.ask(questions(3), read_level))


def test_a_batch_keeps_to_the_budget(serve, batched):
    server = serve()
    with open_asker("openai/gpt-4o", **batched(server, max_calls=4)) as asker:
        answers = asker.ask(questions(10), read_level)
    assert sum(answer.value is not None for answer in answers) == 4
    assert answers[-1].error == "budget: the 4 calls allowed were made"
    assert sum(server.log.requests.values()) == 4


def test_a_provider_without_batches_is_refused_before_anything_is_sent(serve, batched):
    with pytest.raises(MensuraError, match=r"provider of the model: got .openai-api.; expected one of openai"):
        open_asker("openai-api/local/mine", **batched(serve()))
