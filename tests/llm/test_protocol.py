"""Small parts of asking: canonical texts, money, the content of a reply."""

import pytest

from mensura import MensuraError
from mensura.llm import Prices
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
