"""Small parts of asking: canonical texts, money, the content of a reply."""

import hashlib
import json
from dataclasses import replace

import pytest

from mensura import MensuraError
from mensura.llm import Prices
from mensura.llm.protocol import Answer, CallError, KeyMaker, Question, Settings, Trouble, schema_text


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


def test_prices_and_settings_that_make_no_sense_are_refused():
    for given in ((-1, 0), (0, -1), (float("inf"), 1), (1, float("nan"))):
        with pytest.raises(MensuraError, match=r"prices: (input|output) must be a number of US dollars of at least 0"):
            Prices(*given)
    assert Prices(0, 0).cost(10, 10) == 0
    assert Prices(3, 0).cost(1_000_000, 1_000_000) == 3
    for change, words in (
        *(({"model": " "}, "model: empty"), ({"temperature": 2.1}, "temperature: expected 0 to 2 or None")),
        *(
            ({"temperature": -0.1}, "temperature"),
            ({"max_tokens": 0}, "max_tokens"),
            ({"max_tokens": 1.5}, "max_tokens"),
        ),
    ):
        with pytest.raises(MensuraError, match=words):
            Settings(**{"model": "m", **change})
    assert Settings("m", temperature=2.0, max_tokens=1).temperature == 2.0
    assert (Settings("m").temperature, Settings("m").max_tokens) == (0.0, 2048)


def test_a_key_tells_all_questions_and_settings_apart_and_never_changes():
    ask = KeyMaker(Settings("m"))
    base = Question("p", system="s", schema={"a": 1}, repeat=0)
    others = [
        *(replace(base, prompt="q"), replace(base, system=""), replace(base, schema=None), replace(base, repeat=1)),
        *(replace(base, prompt="p\0", repeat=0), replace(base, schema={"a": 2})),
    ]
    keys = {ask(one) for one in (base, *others)}
    assert len(keys) == 7
    assert all(len(key) == 16 for key in keys)
    assert ask(replace(base, about={"item": "x"}, pictures=("data:",))) == ask(base)
    assert KeyMaker(Settings("m", temperature=None))(base) not in keys
    assert KeyMaker(Settings("m", max_tokens=7))(base) not in keys
    text = json.dumps([1, Settings("m").text(), "s", '{"a":1}']).encode("ascii") + b"\x000\x00p"
    assert ask(base) == hashlib.blake2b(text, digest_size=16).digest()
    with pytest.raises(MensuraError, match="question: contains a character that is no text"):
        ask(Question("half \ud800 of a sign"))


def test_an_answer_that_was_never_sent_cost_nothing():
    answer = Answer(Question("p"))
    assert (answer.cost, answer.stored, answer.value, answer.attempts, answer.seconds) == (0.0, False, None, 0, 0.0)
    assert (answer.tokens_in, answer.tokens_out, answer.text, answer.rationale, answer.error) == (0, 0, "", "", "")
    fault = CallError(Trouble.BUSY, "slow down", wait=3.0)
    assert (fault.trouble, fault.message, fault.wait, fault.billed, str(fault)) == (
        Trouble.BUSY,
        "slow down",
        3.0,
        False,
        "slow down",
    )
