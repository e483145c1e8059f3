"""``mensura serve`` as a process of its own, and what it refuses; ``mensura mcp`` without its package."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

import mensura.serve
from tests.ledger.small import small_ledger

PATIENCE = 300.0  # seconds for a process to start, on however busy a machine
SECRET = "correct horse battery staple"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def store(tmp_path):
    return small_ledger(tmp_path / "evidence.db").path


@pytest.fixture
def secret(tmp_path):
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n", encoding="utf-8")
    file.chmod(0o600)
    return file


def ask(port, method, path, host="127.0.0.1", **request):
    with closing(http.client.HTTPConnection(host, port, timeout=60)) as connection:
        connection.request(method, path, **request)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()


@pytest.mark.slow
def test_it_listens_at_once_on_loopback_alone_and_ends_when_asked(store, secret):
    """No edition is waited for: one that small cannot even be built, and the server stands."""
    pytest.importorskip("uvicorn", reason="uvicorn is not installed (extra: serve)")
    port = free_port()
    command = [sys.executable, "-m", "mensura", "serve", "--port", str(port), "--store", str(store)]
    environment = {**os.environ, "PYTHONPATH": str(Path(mensura.__file__).parents[1])}
    server = subprocess.Popen(
        [*command, "--reviewer-secret-file", str(secret)], env=environment, stderr=subprocess.PIPE
    )
    try:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                status, headers, body = ask(port, "GET", "/healthz")
                break
            except ConnectionRefusedError:
                assert server.poll() is None and time.monotonic() < until
                time.sleep(0.1)
        assert (status, body) == (503, b'{"status":"starting","evidence":null}')
        assert "server" not in headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert ask(port, "GET", "/")[0] == 503
        assert ask(port, "GET", "/", headers={"Host": "evil.example"})[0] == 421
        form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{port}"}
        body = f"name=Ada&secret={SECRET.replace(' ', '+')}"
        status, headers, _ = ask(port, "POST", "/review/enter", body=body, headers=form)
        assert status == 303
        cookie = headers["set-cookie"].split(";")[0]
        status, _, page = ask(port, "GET", "/review/", headers={"Cookie": cookie})
        assert status == 200 and b"Pending updates" in page
        assert addresses_that_answer(port) == []
    finally:
        server.send_signal(signal.SIGTERM)
        _, said = server.communicate(timeout=PATIENCE)
    assert b"Traceback" not in said


def addresses_that_answer(port):
    """Addresses of this machine, other than loopback, at which somebody answers on a port."""
    own = {entry[4][0] for entry in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    reached = []
    for address in own - {"127.0.0.1", "127.0.1.1"}:
        with socket.socket() as probe:
            probe.settimeout(5)
            if probe.connect_ex((address, port)) == 0:
                reached.append(address)
    return reached


def test_what_cannot_work_is_refused_before_it_listens(mensura_command, tmp_path, store, secret):
    pytest.importorskip("uvicorn", reason="uvicorn is not installed (extra: serve)")
    absent = mensura_command("serve", "--store", tmp_path / "absent.db")
    assert (absent.code, "absent.db" in absent.err) == (2, True)
    secret.write_text("short", encoding="utf-8")
    short = mensura_command("serve", "--store", store, "--reviewer-secret-file", secret)
    assert (short.code, "5 characters; give 16" in short.err) == (2, True)
    secret.write_text(SECRET, encoding="utf-8")
    embedded = mensura_command("serve", "--reviewer-secret-file", secret)
    assert (embedded.code, "changes need a store with a history" in embedded.err) == (2, True)
    assert mensura_command("serve", "--port", "0").code == 2
    assert mensura_command("serve", "--port", "70000").code == 2


@pytest.mark.parametrize(
    ("arguments", "warned"),
    [
        (["--host", "0.0.0.0"], True),
        (["--host", "::"], True),
        (["--host", "0.0.0.0", "--name", "mensura.example.org"], False),
        ([], False),
    ],
)
def test_a_server_for_other_machines_without_a_name_warns(mensura_command, monkeypatch, tmp_path, arguments, warned):
    pytest.importorskip("uvicorn", reason="uvicorn is not installed (extra: serve)")
    for module in ("serving", "exam_app"):
        monkeypatch.setattr(f"mensura.serve.{module}.run_app", lambda app, **_: sys.exit(0))
    for command in (["serve"], ["exam", "serve", "example", "--store", tmp_path / "answers.db"]):
        run = mensura_command(*command, *arguments)
        assert run.code == 0
        assert ("answers to any host name" in run.err and "--name HOST" in run.err) is warned
        assert ("without TLS before it" in run.err) is ("exam" in command and "--host" in arguments)


@pytest.mark.parametrize(("command", "package"), [("serve", "uvicorn"), ("mcp", "mcp")])
def test_without_its_extra_a_command_says_what_to_install(mensura_command, monkeypatch, command, package):
    for name in [name for name in sys.modules if name.startswith(("mensura.serve", f"{package}."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(mensura, "serve", mensura.serve)  # the same module again in the end: others patch it by name
    monkeypatch.setitem(sys.modules, package, None)
    run = mensura_command(command)
    assert run.code == 2
    assert f"pip install 'mensura[{command}]'" in run.err
