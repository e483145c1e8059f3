"""Killed at any instant and started again: nothing is lost, nothing is paid twice, the table is the same."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mensura.core.errors import MensuraError
from mensura.llm import open_asker
from tests.llm.conftest import questions, read_level

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CONCURRENCY = 16


def start(url: str, journal: Path, count: int) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "tests.llm.asking_process", url, str(journal), str(count), str(CONCURRENCY)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)


def wait_for_answers(server, count: int, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + 60
    while sum(server.log.answers.values()) < count and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_killed_again_and_again_in_the_middle_of_thousands_of_calls(serve, tmp_path):
    count, kills = 2000, 4
    server = serve(delay=0.002, broken=0.02, busy=0.01, busy_wait=0.01)
    journal = tmp_path / "j.sqlite"
    chance = random.Random(1)
    promised: dict[int, str] = {}
    for kill in range(kills):
        process = start(server.url, journal, count)
        wait_for_answers(server, (kill + 1) * 350 + chance.randrange(100), process)
        process.send_signal(signal.SIGKILL)
        told, _ = process.communicate()
        whole, _, _ = told.rpartition("\n")  # the kill may cut the last line short
        promised |= dict(line.split() for line in whole.splitlines() if line.count(" ") == 1)
    in_doubt = {prompt: times for prompt, times in server.log.answers.items() if times > 1}
    with open_asker("mine", journal=journal, base_url=server.url) as asker:
        answers = asker.ask(questions(count), read_level)
    with open_asker("mine", journal=tmp_path / "undisturbed.sqlite", base_url=server.url) as asker:
        requests_before = sum(server.log.requests.values())
        undisturbed = asker.ask(questions(count), read_level)
    answered_twice = sum(times - 2 for times in server.log.answers.values())  # the undisturbed run adds one of each
    assert requests_before > count
    assert answered_twice <= kills * CONCURRENCY
    assert len(in_doubt) <= kills * CONCURRENCY
    assert [answer.value for answer in answers] == [answer.value for answer in undisturbed]
    assert all(str(answers[int(number)].value) == value for number, value in promised.items())


def test_a_second_process_that_asks_is_refused_until_the_first_is_killed(serve, tmp_path):
    count = 500
    server = serve(delay=0.01)
    first = start(server.url, tmp_path / "j.sqlite", count)
    wait_for_answers(server, 100, first)
    second = open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url)
    with second, pytest.raises(MensuraError, match="another process is using the journal"):
        second.ask(questions(count), read_level)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        answers = asker.ask(questions(count), read_level)
    assert all(answer.value is not None for answer in answers)
    assert sum(server.log.answers.values()) <= count + CONCURRENCY


@pytest.mark.parametrize("count", [1, 300])
def test_interrupting_leaves_nothing_claimed(serve, tmp_path, count):
    server = serve(delay=0.01)
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url, concurrency=4) as asker:
        stream = asker.stream(questions(count), read_level)
        next(stream)
        stream.close()
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        assert all(answer.value is not None for answer in asker.ask(questions(count), read_level))
    assert set(server.log.answers.values()) == {1}
