"""Whatever a provider sends: it is stored, or its question fails alone and is named."""

import json

import pytest

from mensura.llm import AnswerReading, audit_table, open_asker, write_audit
from mensura.llm.endpoint import LARGEST_ANSWER
from tests.llm.conftest import questions, read_level


def level(prompt, why):
    return json.dumps({"level": 3, "why": why if "item 1?" in prompt else "fine"}, ensure_ascii=False)


@pytest.mark.parametrize("escaped", [False, True])
def test_half_a_character_in_a_reply_is_stored_once_and_the_rest_goes_on(serve, tmp_path, escaped):
    """A model cut an emoji in two: in its text, or in a JSON string within its text."""
    why = "\\ud83d cut" if escaped else "\ud83d cut"
    server = serve(answer=lambda prompt, _: level(prompt, "HERE").replace("HERE", why))
    settings = {"journal": tmp_path / "j.sqlite", "base_url": server.url}
    for _ in range(2):
        with open_asker("mine", **settings) as asker:
            answers = asker.ask(questions(5), read_level)
        assert [answer.value for answer in answers] == [3] * 5
        assert answers[1].rationale == "\N{REPLACEMENT CHARACTER} cut"
    assert set(server.log.requests.values()) == {1}
    assert audit_table(tmp_path / "j.sqlite")["rationale"][1] == "\N{REPLACEMENT CHARACTER} cut"
    assert write_audit(tmp_path / "j.sqlite", tmp_path / "audit.html") == 5


def test_a_value_with_half_a_character_is_a_value(serve, tmp_path):
    server = serve(answer=lambda *_: '{"city": "Z\\udcfcrich"}')
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        (answer,) = asker.ask(questions(1), lambda text: AnswerReading(json.loads(text)))
    assert answer.value == {"city": "Z\N{REPLACEMENT CHARACTER}rich"}


def test_bytes_that_are_no_utf8_and_absurd_token_counts_are_stored(serve, tmp_path, monkeypatch):
    from tests.llm import server as module

    server = serve()
    reply = module._Connection.reply

    def broken(connection, status, body, headers=None):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        data = data.replace(b"this asks", b"this \xff\xfe asks")
        reply(connection, status, data.replace(b'"completion_tokens": ', b'"completion_tokens": ' + b"9" * 30), headers)

    monkeypatch.setattr(module._Connection, "reply", broken)
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        answers = asker.ask(questions(3), read_level)
    assert [answer.error for answer in answers] == [""] * 3
    assert "\N{REPLACEMENT CHARACTER}" in answers[0].text
    assert 0 < answers[0].tokens_out < 100


def test_an_answer_that_cannot_be_stored_fails_alone(serve, tmp_path, monkeypatch):
    from mensura.llm import Journal

    answer = Journal.answer

    def refuse_one(journal, key, entry):
        journal.connection.execute("UPDATE calls SET value = 'half written' WHERE key = ?", (key,))
        if "of five" in entry.rationale and "about 4" in entry.rationale:
            raise OverflowError("no room for this")
        return answer(journal, key, entry)

    server = serve()
    monkeypatch.setattr(Journal, "answer", refuse_one)
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        answers = asker.ask(questions(30), read_level)
    failed = [answer for answer in answers if answer.error]
    assert 0 < len(failed) < 15
    assert {one.error for one in failed} == {"the answer could not be stored (OverflowError: no room for this)"}
    table = audit_table(tmp_path / "j.sqlite")
    assert table["state"].to_list().count("failed") == len(failed)
    assert "half written" not in table["value"].to_list()


def test_a_response_that_never_ends_is_refused_while_it_is_read(serve, tmp_path):
    server = serve(
        answer=lambda prompt, _: "x" * (LARGEST_ANSWER + 1) if "item 1?" in prompt else '{"level": 1, "why": ""}'
    )
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        answers = asker.ask(questions(3), read_level)
    assert [answer.error for answer in answers] == ["", "the response is larger than 16 MB", ""]
    assert set(server.log.requests.values()) == {1}
