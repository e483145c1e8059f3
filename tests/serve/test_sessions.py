"""Who may change something: secrets, how often they may be tried, sessions; small forms are read, nothing else."""

import asyncio

import pytest
from starlette.requests import Request

from mensura.core.errors import MensuraError
from mensura.serve import ReviewerSecret, is_open_to_others
from mensura.serve.sessions import IDLE, LONGEST, Attempts, Begins, Sessions, is_own, own_form

SECRET = "correct horse battery staple"


def test_tries_come_back_one_by_one_for_each_visitor_and_for_all():
    now = [0.0]
    attempts = Attempts(lambda: now[0])
    for _ in range(Attempts.EACH):
        assert attempts.wait("a") == 0
        attempts.failed("a")
    assert attempts.wait("a") == Attempts.EACH_PAUSE
    assert attempts.wait("b") == 0
    now[0] += Attempts.EACH_PAUSE
    assert attempts.wait("a") == 0
    attempts.failed("a")
    assert attempts.wait("a") == Attempts.EACH_PAUSE
    for number in range(Attempts.ALL):
        attempts.failed(f"visitor {number}")
    assert attempts.wait("somebody new") > 0


def test_a_session_is_known_by_256_random_bits_and_a_hundred_are_open_at_most():
    now = [0.0]
    sessions = Sessions(lambda: now[0])
    tokens = []
    for number in range(100):
        now[0] = float(number)
        tokens.append(sessions.open(f"reviewer {number}"))
    sessions.find(tokens[0])
    assert {len(token) for token in tokens} == {43}  # 32 bytes, six bits to a letter
    assert len(sessions.find(tokens[0]).form_token) == 43
    last = sessions.open("one more")
    assert sessions.find(tokens[1]) is None  # idle for longest
    assert all(sessions.find(token) is not None for token in (tokens[0], *tokens[2:], last))


def test_sessions_end_by_rest_and_by_age():
    assert (IDLE, LONGEST) == (30 * 60, 8 * 60 * 60)
    now = [0.0]
    sessions = Sessions(lambda: now[0])
    rested = sessions.open("Ada")
    now[0] += IDLE - 1
    assert sessions.find(rested) is not None
    now[0] += IDLE + 1
    assert sessions.find(rested) is None
    busy = sessions.open("Ada")
    for _ in range(int(LONGEST // (IDLE - 1)) + 1):
        now[0] += IDLE - 1
        sessions.find(busy)
    assert sessions.find(busy) is None
    assert sessions.find("") is None


@pytest.mark.parametrize("text", ["short", "", " " * 40, "x" * 2000])
def test_a_poor_secret_is_refused_at_the_start(tmp_path, text):
    (tmp_path / "secret").write_text(text, encoding="utf-8")
    with pytest.raises(MensuraError, match="reviewer's secret"):
        ReviewerSecret.read(tmp_path / "secret")


def test_a_secret_has_16_to_1024_characters():
    for length in (16, 1024):
        assert ReviewerSecret("x" * length).is_it("x" * length)
    for length in (15, 1025):
        with pytest.raises(MensuraError, match=f"got {length} characters; give 16 to 1024"):
            ReviewerSecret("x" * length)


def test_a_visitor_has_five_tries_and_one_each_half_minute_and_all_have_thirty_and_one_each_five_seconds():
    now = [100.0]
    attempts = Attempts(lambda: now[0])
    waits = []
    for _ in range(6):
        waits.append(attempts.wait("a"))
        attempts.failed("a")
    assert waits == [0, 0, 0, 0, 0, 30]
    attempts = Attempts(lambda: now[0])
    waits = []
    for number in range(31):
        waits.append(attempts.wait(f"visitor {number}"))
        attempts.failed(f"visitor {number}")
    assert waits == [0] * 30 + [5]


def test_a_secret_file_that_is_not_there_or_open_to_others_is_noticed(tmp_path):
    with pytest.raises(MensuraError, match="could not be read"):
        ReviewerSecret.read(tmp_path / "absent")
    file = tmp_path / "secret"
    file.write_text(SECRET, encoding="utf-8")
    file.chmod(0o600)
    assert not is_open_to_others(file)
    file.chmod(0o644)
    assert is_open_to_others(file)


KIND = "application/x-www-form-urlencoded"


def request_of(body=b"", **headers):
    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": named}, receive)


def read(body, kind=KIND):
    return asyncio.run(own_form(request_of(body, content_type=kind, sec_fetch_site="same-origin")))


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


def test_of_too_many_visitors_those_whose_tries_are_long_past_are_forgotten(monkeypatch):
    monkeypatch.setattr(Attempts, "_REMEMBERED", 2)
    now = [0.0]
    attempts = Attempts(lambda: now[0])
    attempts.failed("past")
    now[0] = Attempts.EACH_PAUSE
    attempts.failed("late")
    assert attempts.is_new("past") and not attempts.is_new("late")
    attempts.failed("new")
    assert set(attempts._each) == {"late", "new"}


def test_a_class_behind_one_address_may_begin_at_once_and_a_flood_may_not():
    begins = Begins(lambda: 0.0)
    for _ in range(300):
        assert begins.wait("school") == 0
        begins.failed("school")
    assert begins.wait("school") == 2.0 and begins.wait("elsewhere") == 0


def test_a_secret_has_16_to_1024_characters_and_is_read_without_blanks(tmp_path):
    for length, fine in ((15, False), (16, True), (1024, True), (1025, False)):
        if fine:
            assert ReviewerSecret("x" * length).is_it("x" * length)
        else:
            with pytest.raises(MensuraError, match=f"got {length} characters; give 16 to 1024"):
                ReviewerSecret("x" * length)
    (tmp_path / "secret").write_text(f"  {SECRET}\n", encoding="utf-8")
    read = ReviewerSecret.read(tmp_path / "secret")
    assert read.is_it(SECRET) and not read.is_it(f"{SECRET} ")
    with pytest.raises(MensuraError, match="could not be read"):
        ReviewerSecret.read(tmp_path / "none")
    for mode, is_open in ((0o600, False), (0o640, True), (0o601, True), (0o400, False)):
        (tmp_path / "secret").chmod(mode)
        assert is_open_to_others(tmp_path / "secret") == is_open
