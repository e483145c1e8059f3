"""The shapes of answers to agents: every number with its interval, status and source, and nothing that says nothing."""

import pytest
from pydantic import ValidationError

from mensura.serve.agent_answers import GUIDE, PROMPTS, Comparison, Explained, Quantity, ScoreFound, quantity_of

ROW = {"iq": 120.0, "low": 112.0, "high": None}


def test_a_quantity_of_a_row_has_its_ends_and_leaves_out_the_one_that_is_open():
    found = quantity_of(ROW, "iq", interval="90%", status="estimated", source="mensura iq")
    told = {"value": 120.0, "low": 112.0, "interval": "90%", "status": "estimated", "source": "mensura iq"}
    assert found.model_dump() == told
    assert quantity_of({"p": 1.0, "a": 0.0, "b": 2.0}, "p", "a", "b", interval="", status="x", source="y").low == 0.0


def test_a_number_that_nothing_supports_is_null_and_not_left_out():
    assert Quantity(value=None, status="unknown", source="none").model_dump() == {
        "value": None,
        "status": "unknown",
        "source": "none",
    }


def test_fields_that_say_nothing_are_left_out_at_every_depth():
    iq = Quantity(value=1.0, status="measured", source="s")
    tree = Explained(label="whole", iq=iq, parts=[Explained(label="part", iq=iq, note="why")])
    told = tree.model_dump()
    assert set(told) == {"label", "iq", "parts"}
    assert set(told["parts"][0]) == {"label", "iq", "note"}
    assert Comparison(models=[], shared=[], chances=[]).model_dump() == {"models": [], "shared": [], "chances": []}


@pytest.mark.parametrize("change", [{"primary": None}, {"rank": 1}, {"unit": 3}])
def test_an_answer_of_another_shape_is_refused(change):
    score = {"who": "m", "benchmark": "b", "score": {"value": 1.0, "status": "s", "source": "t"}, "unit": "percent"}
    with pytest.raises(ValidationError):
        ScoreFound.model_validate({**score, "primary": True, **change})


def test_every_prompt_names_what_it_is_asked_about_and_which_tool_answers():
    for prompt in PROMPTS:
        words = [f"name {place}" for place in range(prompt.__code__.co_argcount)]
        text = prompt(*words)
        assert all(repr(word) in text for word in words)
        assert "Call look_up" in text or "Call compare" in text
    assert "interval" in GUIDE
