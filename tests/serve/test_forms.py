"""Forms of the reviewer's rooms: small ones are read, everything else is none."""

import asyncio

import pytest
from starlette.requests import Request

from mensura.serve.review.forms import is_own, read_form

KIND = "application/x-www-form-urlencoded"


def request_of(body=b"", **headers):
    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": named}, receive)


def read(body, kind=KIND):
    return asyncio.run(read_form(request_of(body, content_type=kind)))


def test_the_first_value_of_each_field_counts_and_blanks_are_kept():
    assert read(b"a=1&a=2&b=") == {"a": "1", "b": ""}
    assert read(b"a=%C3%A9+x", f"{KIND}; charset=utf-8") == {"a": "é x"}
    assert read(b"a=1", KIND.upper()) == {"a": "1"}
    assert read(b"a=1", "text/plain") is None
    assert read(b"a=\xff") is None


def test_a_form_has_64_kibibytes_and_32_fields_at_most():
    assert len(read(b"a=" + b"x" * (64 * 1024 - 2))["a"]) == 64 * 1024 - 2
    assert read(b"a=" + b"x" * (64 * 1024 - 1)) is None
    assert len(read(b"&".join(b"a%d=1" % number for number in range(32)))) == 32
    assert read(b"&".join(b"a%d=1" % number for number in range(33))) is None


@pytest.mark.parametrize(
    ("headers", "own"),
    [
        ({"origin": "https://site.example", "host": "SITE.example"}, True),
        ({"origin": "https://evil.example", "host": "site.example"}, False),
        ({"origin": "null", "host": "site.example"}, False),
        ({"origin": "https://evil.example", "host": "site.example", "sec_fetch_site": "same-origin"}, False),
        ({"host": "site.example", "sec_fetch_site": "same-origin"}, True),
        ({"host": "site.example", "sec_fetch_site": "cross-site"}, False),
        ({"host": "site.example"}, False),
    ],
)
def test_a_form_is_the_sites_own_by_the_browsers_word(headers, own):
    assert is_own(request_of(**headers)) is own
