"""Journals that outlive damage: checksums, recovery, answers that are asked for again."""

import random
import sqlite3

import pytest

from mensura.core.errors import MensuraError
from mensura.llm import Journal, audit_table, journal_status, open_asker, recover_journal
from tests.llm.conftest import locked_elsewhere, questions, read_level


def fill(path, server, count):
    with open_asker("mine", journal=path, base_url=server.url) as asker:
        answers = asker.ask(questions(count), read_level)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return [(answer.value, answer.rationale) for answer in answers]


def test_no_flipped_bit_gives_a_wrong_value_in_silence(serve, tmp_path):
    server = serve()
    truth = fill(tmp_path / "good.sqlite", server, 40)
    good = (tmp_path / "good.sqlite").read_bytes()
    with sqlite3.connect(tmp_path / "good.sqlite") as connection:
        blobs = [blob for (blob,) in connection.execute("SELECT answer FROM calls")]
    connection.close()
    chance = random.Random(3)
    noticed = 0
    for number in range(60):
        blob = chance.choice(blobs)
        inside = good.index(blob) + chance.randrange(9, len(blob))
        place, bit = inside if number % 2 else chance.randrange(100, len(good)), 1 << chance.randrange(8)
        path = tmp_path / f"{number}.sqlite"
        path.write_bytes(good[:place] + bytes([good[place] ^ bit]) + good[place + 1 :])
        try:
            with open_asker("mine", journal=path, base_url=server.url) as asker:
                answers = asker.ask(questions(40), read_level)
            assert [(answer.value, answer.rationale) for answer in answers] == truth
        except MensuraError as fault:
            assert "--recover" in str(fault)
            noticed += 1
        for rest in tmp_path.glob(f"{number}.sqlite*"):
            rest.unlink()
    assert noticed >= 25, "most of the thirty flips within answers"


@pytest.mark.parametrize("column", ["value", "error", "tokens_in", "cost", "attempts", "answer"])
def test_a_changed_cell_of_an_answer_is_noticed(serve, tmp_path, column):
    path = tmp_path / "j.sqlite"
    fill(path, serve(), 3)
    changed = "CAST('x' AS BLOB)" if column == "answer" else "7"
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE calls SET {column} = {changed} WHERE id = 2")
    connection.close()
    with Journal(path) as journal, pytest.raises(MensuraError, match=r"damaged.*mensura llm status .* --recover"):
        list(journal.questions())


def test_recovery_keeps_every_answer_that_can_be_read(serve, tmp_path, mensura_command):
    path, server = tmp_path / "j.sqlite", serve()
    truth = fill(path, server, 400)
    whole = path.read_bytes()
    start, pages = len(whole) // 2 // 4096 * 4096, 4
    path.write_bytes(whole[:start] + b"\xa5" * 4096 * pages + whole[start + 4096 * pages :])
    told = mensura_command("llm", "status", path, "--recover")
    assert told.code == 0, told.err
    assert f"The damaged file is kept as {path}.damaged" in told.err.replace("\n", "")
    kept = audit_table(path).height
    assert 200 < kept < 400
    assert not list(tmp_path.glob(".*"))
    before = sum(server.log.requests.values())
    with open_asker("mine", journal=path, base_url=server.url) as asker:
        answers = asker.ask(questions(400), read_level)
    assert [(answer.value, answer.rationale) for answer in answers] == truth
    assert sum(server.log.requests.values()) - before == 400 - kept


def test_recovery_of_a_sound_journal_changes_nothing(serve, tmp_path):
    path = tmp_path / "j.sqlite"
    fill(path, serve(), 30)
    before = audit_table(path)
    assert str(recover_journal(path)).startswith("30 answers recovered; no call was lost")
    assert audit_table(path).equals(before)
    assert recover_journal(path).endswith("j.sqlite.damaged-2")


def test_recovery_refuses_what_is_no_journal_or_in_use(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing of the kind " * 500)
    with pytest.raises(MensuraError, match=r"nothing can be read from it .* Restore a backup"):
        recover_journal(tmp_path / "notes.txt")
    in_use = pytest.raises(MensuraError, match="another process is using the journal")
    with Journal(tmp_path / "j.sqlite"), locked_elsewhere(tmp_path / "j.sqlite"), in_use:
        recover_journal(tmp_path / "j.sqlite")


def withheld(server, texts):
    """Let a server decline some questions and filter others."""
    plain = server.completion

    def completion(request):
        made = plain(request)
        prompt = request["messages"][-1]["content"]
        for word, change in texts.items():
            if word in prompt:
                made["choices"][0] |= change
        return made

    server.completion = completion


REFUSED = {"message": {"content": None, "refusal": "I will not."}}
FILTERED = {"message": {"content": ""}, "finish_reason": "content_filter"}


def test_refused_filtered_and_unreadable_answers_are_named_and_asked_again_on_demand(serve, tmp_path):
    server = serve()
    plain = server.completion
    texts = {"item 0?": REFUSED, "item 1?": FILTERED, "item 2?": {"message": {"content": "three"}}}
    withheld(server, texts)
    settings = {"journal": tmp_path / "j.sqlite", "base_url": server.url}
    with open_asker("mine", **settings) as asker:
        first = asker.ask(questions(4), read_level)
    assert [answer.error for answer in first] == [
        "refused: I will not.",
        "filtered: the provider's content filter stopped the answer",
        "unreadable: no level",
        "",
    ]
    with open_asker("mine", **settings) as asker:
        assert [answer.error for answer in asker.ask(questions(4), read_level)] == [one.error for one in first]
        assert asker.calls == 0
    server.completion = plain
    with open_asker("mine", retry=["refused"], **settings) as asker:
        second = asker.ask(questions(4), read_level)
        assert asker.calls == 2
    assert [bool(answer.error) for answer in second] == [False, False, True, False]
    with open_asker("mine", retry=["unreadable"], **settings) as asker:
        assert not any(answer.error for answer in asker.ask(questions(4), read_level))
        assert asker.calls == 1
    table = audit_table(tmp_path / "j.sqlite")
    assert table["state"].to_list() == ["answered"] * 4 + ["replaced"] * 3
    assert table["error"].to_list()[4:] == [answer.error for answer in first[:3]]
    assert journal_status(tmp_path / "j.sqlite")["requests"].to_list() == [7]


def test_a_question_that_stays_unreadable_is_asked_again_once_per_run(serve, tmp_path):
    server = serve(answer=lambda *_: "three")
    settings = {"journal": tmp_path / "j.sqlite", "base_url": server.url}
    with open_asker("mine", **settings) as asker:
        asker.ask(questions(1), read_level)
    with open_asker("mine", retry=["unreadable"], **settings) as asker:
        for _ in range(3):
            assert asker.ask(questions(1), read_level)[0].error == "unreadable: no level"
        assert asker.calls == 1
    with pytest.raises(MensuraError, match="retry: expected some of refused, unreadable"):
        open_asker("mine", retry=["everything"], **settings)


@pytest.mark.parametrize("damage", ["system = 999", "schema = 999", "settings = 999", "cost = 5", "value = '3'"])
def test_an_answer_that_leads_nowhere_or_was_changed_stops_every_reader(serve, tmp_path, damage):
    path = tmp_path / "j.sqlite"
    with open_asker("mine", journal=path, base_url=serve().url) as asker:
        asker.ask(questions(3), read_level)
    with sqlite3.connect(path) as db:
        db.execute(f"UPDATE calls SET {damage} WHERE id = 2")
    db.close()
    for read in (audit_table, journal_status):
        with pytest.raises(MensuraError, match="--recover"):
            read(path)
    with Journal(path) as journal, pytest.raises(MensuraError, match="--recover"):
        list(journal.questions())
