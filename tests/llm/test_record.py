"""Recordings: everything can be tried offline, with no key."""

import asyncio
import json

import pytest

from mensura.core.errors import MensuraError
from mensura.llm import (
    AnswerReading,
    Journal,
    Question,
    Settings,
    audit_table,
    open_asker,
    shipped_recordings,
    write_audit,
)
from mensura.llm.journal import Entry
from mensura.llm.protocol import KeyMaker
from mensura.llm.record import Read, Record, read_entry, read_safely, stored_answers
from tests.llm.conftest import questions, read_level

ASKED = [
    Question(f"How much {dimension} does {item} ask for?", about={"item": item, "dimension": dimension, "more": "x"})
    for item in ("harbour", "orchard", "letter")
    for dimension in ("QLq", "KNn", "AT")
]


def test_the_recording_that_ships_answers_without_key_journal_or_network():
    assert "demo" in shipped_recordings()
    with open_asker("recorded/demo", journal=None) as asker:
        answers = asker.ask(ASKED, read_level)
        (unknown,) = asker.ask([Question("?", about={"item": "harbour", "dimension": "VO"})], read_level)
        assert asker.model == "recorded/demo"
    assert [answer.value for answer in answers] == [2, 0, 1, 4, 1, 3, None, 0, 2]
    assert answers[3].rationale == "a proportion inside a proportion, with a trap in the units"
    assert answers[6].error == "unreadable: no level"
    assert answers[6].text == "I would rather not say."
    assert unknown.error == "not in the recording: item=harbour, dimension=VO"


@pytest.mark.parametrize("ending", ["csv", "parquet", "sqlite"])
def test_what_a_model_answered_can_be_recorded_and_answered_from_again(serve, tmp_path, ending):
    server = serve()
    asked = [Question(q.prompt, about=q.about, repeat=repeat) for q in questions(5) for repeat in (0, 1)]
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        live = asker.ask(asked, read_level)
    path = tmp_path / f"j.{ending}"
    if ending != "sqlite":
        assert write_audit(tmp_path / "j.sqlite", path, recording=True) == 10
    with open_asker(f"recorded/{path}", journal=None, temperature=0.5) as asker:
        again = asker.ask(asked, read_level)
        assert asker.ask([Question("never asked", about={"item": "item99"})], read_level)[0].error
    assert [answer.value for answer in again] == [answer.value for answer in live]
    assert [answer.tokens_out for answer in again] == [answer.tokens_out for answer in live]


def test_an_answer_that_a_spreadsheet_would_compute_is_kept_from_it_and_read_back(serve, tmp_path):
    """What a model writes is no formula of ours; the apostrophe goes again when the recording is read."""
    server = serve(answer=lambda *_: "=HYPERLINK(1)")
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        asker.ask(questions(1), lambda text: AnswerReading(text))
    for name, is_recording in (("audit.csv", False), ("r.csv", True)):
        write_audit(tmp_path / "j.sqlite", tmp_path / name, recording=is_recording)
        assert "'=HYPERLINK(1)" in (tmp_path / name).read_text()
    with open_asker(f"recorded/{tmp_path}/r.csv", journal=None) as asker:
        (again,) = asker.ask(questions(1), lambda text: AnswerReading(text))
    assert again.value == "=HYPERLINK(1)"


def test_the_row_that_says_most_answers(tmp_path):
    rows = ["item,group,repeat,answer", ",,,general", "a,,,of a", "a,men,,of a for men", "a,men,1,again"]
    (tmp_path / "mine.csv").write_text("\n".join(rows))
    asked = [
        Question("?", about={"item": "b", "group": "men"}),
        Question("?", about={"item": "a", "group": "women"}),
        Question("?", about={"item": "a", "group": "men"}, repeat=0, system="0"),
        Question("?", about={"item": "a", "group": "men"}, repeat=1),
    ]
    asked = [Question(f"{place}?", about=q.about, repeat=q.repeat) for place, q in enumerate(asked)]
    with open_asker(f"recorded/{tmp_path}/mine.csv", journal=None) as asker:
        texts = [answer.text for answer in asker.ask(asked, read_level)]
    assert texts == ["general", "of a", "of a for men", "again"]


def test_a_recording_that_changed_is_not_answered_from_an_old_journal(tmp_path):
    recording, journal = tmp_path / "mine.csv", tmp_path / "j.sqlite"
    for answer in ("first", "second"):
        recording.write_text(f"item,answer\nitem0,{answer}")
        with open_asker(f"recorded/{recording}", journal=journal) as asker:
            assert asker.ask(questions(1), read_level)[0].text == answer
    assert audit_table(journal).height == 2


def test_recordings_that_cannot_be_used_say_why(tmp_path):
    (tmp_path / "twice.csv").write_text("item,answer\na,1\na,2")
    (tmp_path / "nothing.csv").write_text("answer,model\n1,m")
    (tmp_path / "silent.csv").write_text("item,level\na,1")
    for name, message in [
        ("twice.csv", "two answers for"),
        ("nothing.csv", "no column says what"),
        ("silent.csv", "missing column 'answer'"),
        ("missing.csv", "no such file"),
    ]:
        with pytest.raises(MensuraError, match=message):
            open_asker(f"recorded/{tmp_path}/{name}", journal=None)
    with pytest.raises(MensuraError, match=r"expected one of .*demo"):
        open_asker("recorded/unheard-of", journal=None)


def test_schema_questions_are_recorded_by_their_words(serve, tmp_path):
    schema = {"type": "object", "properties": {"level": {"type": "integer"}}}
    question = Question("How hard?", system="Judge.", schema=schema)
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=serve().url) as asker:
        asker.ask([question], read_level)
    with open_asker(f"recorded/{tmp_path}/j.sqlite", journal=None) as asker:
        (answer,) = asker.ask([Question("How hard?", "Judge.", json.loads(json.dumps(schema)))], read_level)
        (other,) = asker.ask([Question("How hard?", "Judge.")], read_level)
    assert answer.value is not None
    assert other.error == "not in the recording: a question"
    with pytest.raises(MensuraError, match="do not say what they are about"):
        write_audit(tmp_path / "j.sqlite", tmp_path / "r.csv", recording=True)


def test_a_task_that_a_recording_does_not_hold_is_named_with_those_that_it_does(tmp_path):
    (tmp_path / "mine.csv").write_text("task,item,answer,note\ngrading,a,1,x\njudging,b,2,y\ngrading,c,,z\n")
    name = f"recorded/{tmp_path}/mine.csv"
    asked = [
        Question("1", about={"task": "coding", "item": "a"}),
        Question("2", about={"task": "judging", "item": "a"}),
        Question("3", about={"task": "grading", "item": "a", "note": "other"}),
        Question("4", about={"task": "grading", "item": "c"}),
    ]
    with open_asker(name, journal=None) as asker:
        answers = asker.ask(asked, lambda text: AnswerReading(text))
        assert (asker.answered, asker.cost) == (1, 0.0)
    assert [answer.error for answer in answers] == [
        "not in the recording: coding (it holds grading, judging)",
        "not in the recording: task=judging, item=a",
        "",
        "not in the recording: task=grading, item=c",
    ]
    assert answers[2].text == "1"


def test_a_reading_is_kept_as_json_and_what_has_none_is_an_error_of_the_reader():
    assert read_safely("x", lambda text: AnswerReading({"a": [1, None]}, "why")) == Read(
        AnswerReading({"a": [1, None]}, "why"), '{"a": [1, null]}'
    )
    halves = read_safely("x", lambda text: AnswerReading("a\ud800", "b\ud800"))
    assert halves == Read(AnswerReading("a\ufffd", "b\ufffd"), '"a\ufffd"')
    assert read_safely("x", lambda text: AnswerReading(float("nan"))).error.startswith(
        "unreadable: the reader failed (Va"
    )
    withheld = Entry("I will not.", error="refused: I will not.")
    assert read_entry(withheld, lambda text: AnswerReading(text)) == Read(AnswerReading(None), error=withheld.error)
    assert read_entry(Entry("3", error="unreadable: x"), lambda text: AnswerReading(text)).reading.value == "3"


def test_stored_answers_are_read_again_and_those_that_changed_are_listed():
    asked = [Question(str(number)) for number in range(4)]
    keys = [KeyMaker(Settings("m"))(question) for question in asked]
    with Journal(None) as journal:
        for key, question, value in zip(keys[:3], asked, ('"a"', '"b"', "7"), strict=False):
            with journal.transaction():
                journal.claim(key, question, Settings("m").text())
                journal.answer(key, Entry(json.loads(value) if value[0] == '"' else "c", value, cost=0.5))
        stored = stored_answers(journal, keys, asked, lambda text: AnswerReading(text))
        assert [answer and answer.value for answer in stored.answers] == ["a", "b", "c", None]
        assert list(stored.reread) == [keys[2]] and stored.reread[keys[2]].value == '"c"'
        assert (stored.answers[0].stored, stored.answers[0].cost, stored.answers[0].error) == (True, 0.5, "")
        with journal.transaction():
            journal.reread(keys[2], '"c"', "why", "")
            journal.reread(b"nobody", '"c"', "why", "")
        assert stored_answers(journal, keys, asked, lambda text: AnswerReading(text, "why")).reread.keys() == set(
            keys[:2]
        )
        with journal.transaction():
            journal.reopen([keys[0]])
        assert journal.answered(keys) == set(keys[1:3])


def test_an_order_that_fails_fails_alone_and_a_journal_that_cannot_be_written_fails_all(tmp_path):
    def half(journal):
        journal.texts.keep("half")
        raise ZeroDivisionError

    async def orders():
        record = Record(Journal(tmp_path / "j.sqlite"), Settings("m"), str)
        waiting = [record.write(work) for work in (lambda journal: journal.texts.keep("whole"), half, lambda _: 7)]
        number, fault, seven = await asyncio.gather(*waiting, return_exceptions=True)
        assert (number, type(fault), seven) == (1, ZeroDivisionError, 7)
        kept = await record.write(lambda journal: journal.connection.execute("SELECT count(*) FROM texts").fetchone())
        assert kept == (1,), "what failed wrote nothing"
        assert await record.write(lambda journal: journal.texts.keep("half")) == 2
        works = (lambda journal: journal.connection.execute("no SQL"), lambda _: 7)
        faults = await asyncio.gather(*(record.write(work) for work in works), return_exceptions=True)
        assert all("the journal cannot be read or written" in str(fault) for fault in faults)
        await record.finish()
        record.close()

    asyncio.run(orders())
