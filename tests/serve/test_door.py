"""The door of the reviewer's rooms: secrets, how often they may be tried, and sessions."""

import pytest

from mensura.core.errors import MensuraError
from mensura.serve import ReviewerSecret, is_open_to_others
from mensura.serve.review.secret import Attempts
from mensura.serve.review.sessions import IDLE, LONGEST, Sessions

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
