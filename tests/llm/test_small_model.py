"""A real small model end to end: schema answers, a second run from the journal. Never judged for quality."""

import json

import pytest

from mensura.llm import AnswerReading, Question, UnreadableError, audit_table, journal_status, open_asker

pytestmark = pytest.mark.slow

SCHEMA = {
    "type": "object",
    "properties": {"level": {"type": "integer", "enum": [0, 1, 2, 3, 4, 5]}},
    "required": ["level"],
    "additionalProperties": False,
}
ITEMS = ["What is 7 + 5?", "Which is heavier, a feather or a stone?", "Name the capital of France."]


def read(text: str) -> AnswerReading:
    try:
        return AnswerReading(json.loads(text)["level"])
    except (ValueError, KeyError):
        raise UnreadableError("not the form asked for") from None


@pytest.mark.parametrize("interface", ["direct", "inspect"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of inspect-ai's own dependencies
def test_schema_answers_and_resume(small_model, tmp_path, monkeypatch, interface):
    if interface == "inspect":
        pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
    monkeypatch.setenv("LOCAL_API_KEY", "none-is-needed-here")
    asked = [
        Question(f"Rate from 0 to 5 how hard this is: {item}", schema=SCHEMA, about={"item": str(number)})
        for number, item in enumerate(ITEMS)
    ]
    settings = {"journal": tmp_path / "j.sqlite", "base_url": small_model, "max_tokens": 30, "interface": interface}
    with open_asker("openai-api/local/smollm2", concurrency=2, **settings) as asker:
        first = asker.ask(asked, read)
    with open_asker("openai-api/local/smollm2", **settings) as asker:
        second = asker.ask(asked, read)
        assert asker.calls == 0
    assert all(answer.value in range(6) for answer in first)
    assert [answer.value for answer in second] == [answer.value for answer in first]
    assert all(answer.stored and answer.tokens_in > 0 and answer.tokens_out > 0 for answer in second)
    assert journal_status(tmp_path / "j.sqlite")["answered"].to_list() == [3]
    assert audit_table(tmp_path / "j.sqlite")["state"].to_list() == ["answered"] * 3
