"""What every answer carries: security headers, host names; and that no fault shows its inside."""

import re

import pytest
from starlette.testclient import TestClient

from mensura.serve import live_app
from mensura.serve.serving import site_names


@pytest.mark.parametrize("path", ["/", "/nowhere", "/healthz", "/review/", "/api/v1/models.json"])
def test_every_answer_carries_the_security_headers(reader, path):
    headers = reader.get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["connect-src"] == "'self'"
    assert policy["style-src"] == "'self'"
    own, inside = policy["script-src"].split(" ")
    assert own == "'self'"
    assert re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", inside), "one text that stands in pages, by its hash"
    assert policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
    assert "server" not in headers


def test_other_sites_may_frame_a_picture_alone(reader):
    """Only ``charts/NAME.html?embed``: a page that can be clicked through is framed by nobody."""
    framed = reader.get("/charts/iq-bell.html?embed").headers
    assert "frame-ancestors *" in framed["content-security-policy"]
    assert "default-src 'none'" in framed["content-security-policy"]
    assert "x-frame-options" not in framed
    for path in (
        "/charts/iq-bell.html",
        "/charts/iq-bell.html?embedded",
        "/?embed",
        "/review/?embed",
        "/index.html?embed",
    ):
        headers = reader.get(path).headers
        assert "frame-ancestors 'none'" in headers["content-security-policy"], path
        assert headers["x-frame-options"] == "DENY", path
    assert "frame-ancestors 'none'" in reader.post("/charts/iq-bell.html?embed").headers["content-security-policy"]


def test_a_fault_shows_nothing_of_its_inside(renewal, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("secret inside")

    monkeypatch.setattr("mensura.serve.serving.JSONResponse", fail)
    answer = TestClient(live_app(renewal), raise_server_exceptions=False).get("/healthz")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_on_loopback_only_its_own_names_are_answered(renewal):
    """A page elsewhere whose name is made to point here (DNS rebinding) reads nothing."""
    reader = TestClient(live_app(renewal, names=site_names("127.0.0.1", ["mensura.example.org"])))
    for name in ("127.0.0.1", "127.0.0.1:8000", "localhost:8000", "LOCALHOST", "[::1]:8000", "mensura.example.org"):
        assert reader.get("/", headers={"host": name}).status_code == 200
    for name in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "[::2]", ""):
        answer = reader.get("/", headers={"host": name})
        assert answer.status_code == 421
        assert "first" not in answer.text


def test_elsewhere_any_name_is_answered_unless_names_are_given():
    assert site_names("0.0.0.0", []) == []
    assert site_names("0.0.0.0", ["a.example"]) == ["0.0.0.0", "a.example"]


def test_health_says_ready_and_stale(renewal, reader):
    assert reader.get("/healthz").json() == {"status": "ok", "evidence": "aaaa"}
    renewal.fault = "the store is gone"
    answer = reader.get("/healthz")
    assert (answer.status_code, answer.json()["status"]) == (200, "stale")
    assert "gone" not in answer.text


def test_the_reviewers_rooms_are_shut_unless_opened(reader):
    assert reader.get("/review/").status_code == 404
    assert reader.post("/review/enter", data={"secret": "x"}).status_code == 404
