"""Talk to one OpenAI-compatible endpoint, one request per question, and keep keys out of every text."""

import json

import pytest

from mensura.llm.endpoint import plain_url, redactor, reply_of, secrets_of


def test_secrets_are_found_by_the_names_of_their_variables_and_hidden_longest_first():
    environment = {"X_API_KEY": "abcdefgh", "HF_TOKEN": "abcdefgh-and-more", "KEYBOARD": "qwertyuiop", "A_KEY": "short"}
    secrets = secrets_of(environment, None, "given-one")
    assert set(secrets) == {"abcdefgh", "abcdefgh-and-more", "given-one"}
    assert redactor(secrets)("sent abcdefgh-and-more, abcdefgh") == "sent [key], [key]"
    assert plain_url("https://me:pass@host:8080/v1?key=abc#x") == "https://host:8080/v1"


@pytest.mark.parametrize(("told", "read"), [(0, 0), (7, 7), (-1, None), ("7", None), (None, None)])
def test_token_counts_are_what_a_server_can_have_counted(told, read):
    completion = {
        "choices": [{"message": {"content": "3"}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": told},
    }
    reply = reply_of(json.dumps(completion).encode())
    assert (reply.text, reply.tokens_in, reply.tokens_out) == ("3", 5, read)
