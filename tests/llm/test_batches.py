"""Batches: submitted once, remembered before, collected after a restart, found again when the reply was lost."""

import pytest

from mensura.core.errors import MensuraError
from mensura.llm import BatchAsker, Prices, ask_batch, audit_table, journal_status, open_asker
from tests.llm.conftest import questions, read_level


def batched(server, tmp_path, **more):
    return {"journal": tmp_path / "j.sqlite", "base_url": server.url, "wait": 0.0, **more}


def test_a_batch_is_answered_at_half_price_in_the_order_of_the_questions(serve, tmp_path):
    server = serve()
    asked = questions(50)
    answers = ask_batch("mine", asked, read_level, **batched(server, tmp_path, prices=Prices(2, 10)))
    with open_asker("mine", journal=tmp_path / "other.sqlite", base_url=server.url, prices=Prices(2, 10)) as asker:
        single = asker.ask(asked, read_level)
    assert [answer.value for answer in answers] == [answer.value for answer in single]
    assert [answer.cost for answer in answers] == pytest.approx([answer.cost / 2 for answer in single])
    assert len(server.log.batches) == 1


def test_what_is_not_ready_is_collected_by_a_later_process_and_never_submitted_again(serve, tmp_path):
    server = serve()
    server.batches_ready = False
    settings = batched(server, tmp_path)
    first = ask_batch("mine", questions(20), read_level, **settings)
    assert all("waits in batch batch-0" in answer.error for answer in first)
    assert journal_status(tmp_path / "j.sqlite")["batches"].select("batch", "state", "calls").row(0) == (
        "batch-0",
        "submitted",
        20,
    )
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        assert "waits in a batch" in asker.ask(questions(1), read_level)[0].error
    again = ask_batch("mine", questions(25), read_level, **settings)
    assert [answer.error.split(";")[0] for answer in again[19:21]] == [
        "waits in batch batch-0",
        "waits in batch batch-1",
    ]
    server.batches_ready = True
    last = BatchAsker("mine", **settings).ask(questions(25), read_level)
    assert all(answer.value is not None for answer in last)
    assert len(server.log.batches) == 2
    assert set(server.log.requests.values()) == {1}
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        assert all(answer.stored for answer in asker.ask(questions(25), read_level))
    assert audit_table(tmp_path / "j.sqlite")["value"].to_list() == [str(answer.value) for answer in last]


def test_a_submission_whose_reply_is_lost_is_found_among_the_providers_batches(serve, tmp_path):
    server = serve()
    server.lose_next_batch_reply = True
    answers = ask_batch("mine", questions(10), read_level, **batched(server, tmp_path))
    assert all(answer.value is not None for answer in answers)
    assert len(server.log.batches) == 1


@pytest.mark.parametrize("arrived", [True, False])
def test_a_process_that_died_while_submitting_left_an_intention_that_is_followed_up(
    serve, tmp_path, monkeypatch, arrived
):
    from mensura.llm.batch_client import BatchClient

    server = serve()
    create = BatchClient._create

    async def die(self, reference, body):
        if arrived:
            await create(self, reference, body)
        raise KeyboardInterrupt

    settings = batched(server, tmp_path)
    monkeypatch.setattr(BatchClient, "_create", die)
    with pytest.raises(KeyboardInterrupt):
        ask_batch("mine", questions(10), read_level, **settings)
    assert journal_status(tmp_path / "j.sqlite")["batches"]["state"].to_list() == ["intended"]
    monkeypatch.setattr(BatchClient, "_create", create)
    answers = ask_batch("mine", questions(10), read_level, **settings)
    assert all(answer.value is not None for answer in answers)
    assert len(server.log.batches) == 1
    states = journal_status(tmp_path / "j.sqlite")["batches"]["state"].to_list()
    assert states == (["collected"] if arrived else ["lost", "collected"])


def test_a_refused_batch_gives_its_questions_back(serve, tmp_path, monkeypatch):
    server = serve(key="the-right-key-0123456789")
    monkeypatch.setenv("MENSURA_API_KEY", "the-wrong-key-0123456789")
    with pytest.raises(MensuraError, match="key is missing or wrong") as told:
        ask_batch("mine", questions(3), read_level, **batched(server, tmp_path))
    assert "the-wrong-key" not in str(told.value)
    monkeypatch.setenv("MENSURA_API_KEY", "the-right-key-0123456789")
    answers = ask_batch("mine", questions(3), read_level, **batched(server, tmp_path))
    assert all(answer.value is not None for answer in answers)


def test_a_batch_keeps_to_the_budget(serve, tmp_path):
    server = serve()
    answers = ask_batch("mine", questions(10), read_level, **batched(server, tmp_path, max_calls=4))
    assert sum(answer.value is not None for answer in answers) == 4
    assert answers[-1].error == "budget: the 4 calls allowed were made"
    assert sum(server.log.requests.values()) == 4
