"""Commands that end early say so: exit codes, the command that goes on, waits, and the way through a proxy."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mensura.cli.asking import INCOMPLETE, INTERRUPTED, asking_bar
from mensura.llm import Standing, open_asker
from mensura.llm.endpoint import proxy_for
from tests.llm.conftest import questions, read_level

ROOT = Path(__file__).parents[2]

ANNOTATE = ["annotate", "example", "--protocol", "cell", "--dimensions", "QLq", "--model", "mine"]


def level(prompt, _request):
    return '{"level": 2, "why": "two steps"}'


def test_a_run_that_max_calls_ended_writes_its_results_and_has_an_exit_code_of_its_own(
    serve, tmp_path, mensura_command
):
    server = serve(answer=level)
    command = [*ANNOTATE, "--set", f"base_url={server.url}", "--out", tmp_path / "out"]
    ended = mensura_command(*command, settings={"max_calls": 3})
    assert ended.code == INCOMPLETE == 3
    assert "stopped early: budget: the 3 calls allowed were made" in ended.err
    assert (tmp_path / "out" / "demands.csv").exists()
    assert mensura_command(*command).code == 0


def test_a_cost_without_a_known_price_is_unknown(serve, tmp_path, mensura_command):
    server = serve(answer=level)
    ended = mensura_command(*ANNOTATE, "--set", f"base_url={server.url}", settings={"journal": tmp_path / "j.sqlite"})
    assert "cost unknown" in ended.out
    assert "0.00 US dollars" not in ended.out
    assert "total cost is unknown" in mensura_command("llm", "status", tmp_path / "j.sqlite").out


@pytest.mark.slow
def test_ctrl_c_names_what_is_kept_and_the_command_that_goes_on(serve, tmp_path):
    server = serve(answer=level, delay=0.3)
    arguments = [
        *ANNOTATE,
        "--set",
        f"base_url={server.url}",
        "--set",
        "concurrency=1",
        "--out",
        str(tmp_path / "my out"),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "400"}
    command = [sys.executable, "-m", "mensura", *arguments]
    run = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while sum(server.log.answers.values()) < 3:
        assert run.poll() is None, run.stderr.read()
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    _, told = run.communicate(timeout=60)
    assert run.returncode == INTERRUPTED == 130
    assert f"answers are kept in {tmp_path / 'my out' / 'journal.sqlite'}" in told
    assert f"Go on with: {shlex.join(['mensura', *arguments])}" in told
    assert "Traceback" not in told


def test_a_long_wait_is_reported_once_with_its_end_and_the_way_out(capsys):
    standing = Standing(done=5, total=10, stored=0, failed=0, cost=None, rate=0.5, seconds_left=None, waiting=120.0)
    with asking_bar("asking", "openai/mine") as advance:
        for _ in range(3):
            advance(standing)
    told = capsys.readouterr().err.replace("\n", " ")
    assert told.count("openai/mine asks for a pause: waiting until") == 1
    assert "Ctrl-C stops" in told


def test_a_provider_that_asks_for_a_day_is_seen_to_wait(serve, tmp_path):
    server, seen = serve(busy=1.0, busy_wait=86400), []

    class EnoughError(Exception):
        pass

    def advance(standing):
        seen.append(standing.waiting)
        if standing.waiting:
            raise EnoughError

    settings = {"journal": tmp_path / "j.sqlite", "base_url": server.url}
    with open_asker("mine", advance=advance, **settings) as asker, pytest.raises(EnoughError):
        asker.ask(questions(3), read_level)
    assert 590 < seen[-1] <= 600
    assert sum(server.log.requests.values()) <= 3


def test_proxies_of_the_environment_are_used_but_where_they_are_excluded(serve, tmp_path, monkeypatch):
    proxy = serve(answer=level)
    for name in ("http_proxy", "https_proxy", "no_proxy", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url="http://models.example/v1") as asker:
        (answer,) = asker.ask(questions(1), read_level)
    assert (answer.value, sum(proxy.log.requests.values())) == (2, 1)
    monkeypatch.setenv("NO_PROXY", "models.example,.internal")
    assert proxy_for("http://models.example/v1") is None
    assert proxy_for("http://a.internal/v1") is None
    assert proxy_for("http://other.example/v1") == proxy.url.removesuffix("/v1")
    monkeypatch.setenv("HTTPS_PROXY", "proxy.example:3128")
    assert proxy_for("https://other.example/v1") == "http://proxy.example:3128"
