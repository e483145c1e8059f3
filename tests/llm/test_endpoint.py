"""Talk to one OpenAI-compatible endpoint, one request per question, and keep keys out of every text."""

import asyncio
import email.utils
import json
import time
from types import SimpleNamespace

import pytest

from mensura.core.errors import MensuraError
from mensura.llm.endpoint import (
    Endpoint,
    _read_up_to,
    chat_body,
    open_endpoint,
    plain_url,
    proxy_for,
    redactor,
    reply_of,
    retry_after,
    secrets_of,
)
from mensura.llm.protocol import CallError, Question, Reply, Settings, Trouble


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


def endpoint(address="http://host/v1"):
    return Endpoint(address, served="m", key="secret-key", key_variable="X_API_KEY", timeout=5.0)


@pytest.mark.parametrize(
    ("status", "trouble", "billed"),
    [
        *(
            (401, Trouble.FATAL, False),
            (402, Trouble.FATAL, False),
            (403, Trouble.FATAL, False),
            (404, Trouble.FATAL, False),
        ),
        *((429, Trouble.BUSY, False), (503, Trouble.BUSY, False), (529, Trouble.BUSY, False)),
        *((400, Trouble.QUESTION, False), (413, Trouble.QUESTION, False), (422, Trouble.QUESTION, False)),
        *(
            (409, Trouble.PASSING, False),
            (499, Trouble.PASSING, False),
            (500, Trouble.PASSING, True),
            (502, Trouble.PASSING, True),
        ),
    ],
)
def test_what_a_refusal_means_for_other_questions(status, trouble, billed):
    fault = endpoint()._refusal(status, {"Retry-After": "7"}, b'{"error": {"code": "c", "message": "why"}}')
    assert (fault.trouble, fault.billed) == (trouble, billed)
    assert f"HTTP {status}: c: why" in fault.message
    assert ("environment variable X_API_KEY" in fault.message) == (status in (401, 403))
    assert fault.wait == (7.0 if trouble in (Trouble.BUSY, Trouble.PASSING) else None)


def test_no_credit_ends_all_and_a_filter_only_one_question():
    quota = endpoint()._refusal(429, {}, b'{"error": {"code": "insufficient_quota"}}')
    assert quota.trouble is Trouble.FATAL and "the account has no credit" in quota.message
    filtered = endpoint()._refusal(400, {}, b'{"error": {"code": "content_filter"}}')
    assert filtered.message == "filtered: the provider's content filter stopped the answer (HTTP 400: content_filter)"
    assert endpoint()._refusal(400, {}, b"").message == "HTTP 400"
    assert endpoint()._refusal(400, {}, b'{"error": "plain"}').message == "HTTP 400: plain"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        *(({}, None), ({"Retry-After": "2.5"}, 2.5), ({"Retry-After": " 3 "}, 3.0), ({"retry-after-ms": "1500"}, 1.5)),
        *(({"retry-after-ms": "-5"}, 0.0), ({"retry-after-ms": "250", "Retry-After": "9"}, 0.25)),
        *(({"Retry-After": "soon"}, None), ({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0)),
    ],
)
def test_a_provider_says_how_long_to_wait(headers, seconds):
    assert retry_after(headers) == seconds


def test_a_date_to_wait_for_is_so_many_seconds_away():
    later = email.utils.formatdate(time.time() + 60, usegmt=True)
    assert retry_after({"Retry-After": later}) == pytest.approx(60, abs=5)


def test_a_request_has_its_system_message_first_and_no_temperature_where_none_is_wanted():
    body = chat_body(Question("p", system="s", schema={"type": "object"}), Settings("name", 0.3, 9), "served")
    assert body["messages"] == [{"role": "system", "content": "s"}, {"role": "user", "content": "p"}]
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("served", 9, 0.3)
    assert body["response_format"]["json_schema"] == {"name": "answer", "schema": {"type": "object"}, "strict": True}
    plain = chat_body(Question("p", pictures=("data:x",)), Settings("name", None), "served")
    assert set(plain) == {"model", "messages", "max_tokens"}
    assert [part["type"] for part in plain["messages"][0]["content"]] == ["text", "image_url"]
    assert chat_body(Question("p"), Settings("name", 0.0), "served")["temperature"] == 0.0


def completion(content="3", **message):
    reason = message.pop("finish_reason", "stop")
    return json.dumps({"choices": [{"message": {"content": content, **message}, "finish_reason": reason}]}).encode()


def test_a_reply_says_whether_it_was_cut_or_withheld():
    assert reply_of(completion()) == Reply("3")
    assert reply_of(completion(finish_reason="length")).cut
    assert reply_of(completion(finish_reason="content_filter")).withheld == "filtered"
    refused = reply_of(completion(None, refusal="I may not"))
    assert (refused.text, refused.withheld) == ("I may not", "refused")
    assert reply_of(completion("3", refusal="no")).withheld == ""
    assert reply_of(completion([{"type": "text", "text": "a"}, {"text": "b"}, "c"])).text == "ab"
    for body in (b"", b"[]", b'{"choices": []}', b"null"):
        with pytest.raises(CallError, match="not a chat completion") as caught:
            reply_of(body)
        assert (caught.value.trouble, caught.value.billed) == (Trouble.PASSING, True)
    with pytest.raises(CallError, match="does base_url end as the API's address does, in /v1"):
        reply_of(b" <html>")


def test_an_endpoint_is_found_by_its_name_and_its_key_in_the_environment(monkeypatch):
    monkeypatch.setenv("MY_HOST_API_KEY", "k1")
    monkeypatch.setenv("MY_HOST_BASE_URL", "http://there/v1/")
    found, key = open_endpoint("openai-api/my-host/a/b", None, 5.0)
    assert (found.served, found.address, key) == ("a/b", "http://there/v1", "k1")
    assert open_endpoint("openai-api/my-host/a", "http://other", 5.0)[0].address == "http://other"
    monkeypatch.setenv("VLLM_API_KEY", "k2")
    monkeypatch.setenv("MENSURA_API_KEY", "k3")
    assert (open_endpoint("vllm/x/y", "http://h", 5.0)[0].served, open_endpoint("vllm/x/y", "http://h", 5.0)[1]) == (
        "x/y",
        "k2",
    )
    assert (open_endpoint("else/x", "http://h", 5.0)[0].served, open_endpoint("else/x", "http://h", 5.0)[1]) == (
        "else/x",
        "k3",
    )
    for name, address, words in (
        ("openai-api/only", None, "is incomplete; expected openai-api/SERVICE/MODEL"),
        ("openai-api/none-here/m", None, "needs an address: base_url, or the variable NONE_HERE_BASE_URL"),
        ("vllm/m", None, "needs base_url"),
        ("vllm/m", "ftp://me:pass@h", "'ftp://h' must begin with http"),
    ):
        with pytest.raises(MensuraError, match=words):
            open_endpoint(name, address, 5.0)


def test_a_proxy_is_taken_but_not_for_what_is_excepted(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY", "https_proxy", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert proxy_for("http://host/v1") is None
    monkeypatch.setenv("http_proxy", "proxy:3128")
    monkeypatch.setenv("no_proxy", "local.example")
    assert proxy_for("http://host/v1") == "http://proxy:3128"
    assert proxy_for("https://host/v1") is None
    assert proxy_for("http://local.example/v1") is None


def test_addresses_are_shown_without_what_is_secret():
    assert plain_url("http://[::1]:80/v1?k=x") == "http://[::1]:80/v1"
    assert secrets_of({}, "1234567") == ()
    assert secrets_of({"a_password": "12345678"}) == ("12345678",)


def response_of(*pieces, length=None):
    """Return a response that comes in pieces; ``closed`` says whether its rest was given up."""

    async def chunks(size):
        for piece in pieces:
            yield piece

    response = SimpleNamespace(content_length=length, content=SimpleNamespace(iter_chunked=chunks), closed=False)
    response.close = lambda: setattr(response, "closed", True)
    return response


@pytest.mark.parametrize(("pieces", "length"), [((b"ab", b"cde"), 5), ((b"abcde",), None), ((), 0)])
def test_a_response_is_read_up_to_the_limit(pieces, length):
    whole = response_of(*pieces, length=length)
    assert asyncio.run(_read_up_to(5, whole)) == b"".join(pieces)
    assert not whole.closed


@pytest.mark.parametrize(("pieces", "length"), [((b"ab", b"cdef"), None), ((b"ab",), 6)])
def test_a_response_beyond_the_limit_is_given_up(pieces, length):
    large = response_of(*pieces, length=length)
    with pytest.raises(CallError, match="the response is larger than 0 MB") as caught:
        asyncio.run(_read_up_to(5, large))
    assert (caught.value.trouble, caught.value.billed, large.closed) == (Trouble.QUESTION, True, True)
