"""Small parts of asking: canonical texts, money, the content of a reply."""

import json

import pytest

from mensura import MensuraError
from mensura.llm import Prices
from mensura.llm.endpoint import reply_of
from mensura.llm.protocol import Settings, schema_text


def test_a_schema_has_one_text_however_it_is_written():
    """The text is part of an answer's key: another spelling of it would ask every question anew."""
    assert schema_text({"b": "ü", "a": [1, 2]}) == schema_text({"a": [1, 2], "b": "ü"}) == '{"a":[1,2],"b":"ü"}'
    assert schema_text(None) == ""
    assert Settings("mü", 0.5, 7).text() == '{"max_tokens": 7, "model": "mü", "temperature": 0.5, "version": ""}'
    with pytest.raises(MensuraError, match="schema: not JSON"):
        schema_text({"a": {1, 2}})


def test_prices_are_per_million_tokens():
    assert Prices(2, 10).cost(1_000_000, 1_000_000) == 12
    assert Prices(2, 10).cost(500, 0) == pytest.approx(0.001)


@pytest.mark.parametrize(("told", "read"), [(0, 0), (7, 7), (-1, None), ("7", None), (None, None)])
def test_token_counts_are_what_a_server_can_have_counted(told, read):
    completion = {
        "choices": [{"message": {"content": "3"}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": told},
    }
    reply = reply_of(json.dumps(completion).encode())
    assert (reply.text, reply.tokens_in, reply.tokens_out) == ("3", 5, read)
