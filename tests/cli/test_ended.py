"""Commands that are ended from outside, as real processes: by SIGTERM, by SIGINT, by a reader that goes away."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mensura
from mensura.cli.output import READER_GONE
from tests.cli.test_report import free_port

pytestmark = pytest.mark.slow

PATIENCE = 300.0  # seconds, on however busy a machine
SOURCE = str(Path(mensura.__file__).parents[1])


def start(temporary: Path, *arguments: object, **streams: object) -> subprocess.Popen[bytes]:
    """Start a command whose temporary files have a folder of their own."""
    temporary.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": SOURCE, "TMPDIR": str(temporary), "MENSURA_CACHE": "off"}
    return subprocess.Popen([sys.executable, "-m", "mensura", *map(str, arguments)], env=environment, **streams)


def workers_of(pid: int) -> list[int]:
    """The processes that a process has started, and theirs."""
    threads = Path(f"/proc/{pid}/task").glob("*/children")  # each thread has children of its own
    own = [int(child) for children in threads for child in _read(children).split()]
    return [*own, *(grandchild for child in own for grandchild in workers_of(child))]


def _read(file: Path) -> str:
    """The text of a file of the process table, empty where its thread has ended."""
    try:
        return file.read_text(encoding="ascii")
    except OSError:
        return ""


def is_running(pid: int) -> bool:
    """Whether a process is there and at work."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(done) -> None:
    until = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < until
        time.sleep(0.05)


def end_at_work(command: subprocess.Popen[bytes], temporary: Path, how: signal.Signals) -> None:
    """End a command as soon as it has a worker and temporary files; both go with it."""
    wait_until(lambda: (workers_of(command.pid) and any(temporary.iterdir())) or command.poll() is not None)
    assert command.poll() is None
    workers = workers_of(command.pid)
    command.send_signal(how)
    _, told = command.communicate(timeout=PATIENCE)
    assert b"Traceback" not in told
    assert command.returncode == (-signal.SIGTERM if how == signal.SIGTERM else 130)
    wait_until(lambda: not any(map(is_running, workers)))
    assert list(temporary.iterdir()) == []


needs_proc = pytest.mark.skipif(
    not Path(f"/proc/self/task/{os.getpid()}/children").exists(), reason="processes are read from /proc"
)


@needs_proc
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_report_that_is_ended_leaves_no_process_and_no_file(tmp_path, how):
    temporary, out = tmp_path / "temporary", tmp_path / "report"
    command = start(temporary, "report", "--out", out, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    end_at_work(command, temporary, how)
    assert list(tmp_path.iterdir()) == [temporary]


@needs_proc
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_ended_leaves_no_process_and_no_file(tmp_path, how):
    pytest.importorskip("uvicorn", reason="uvicorn is not installed (extra: serve)")
    temporary = tmp_path / "temporary"
    command = start(temporary, "serve", "--port", free_port(), stderr=subprocess.PIPE)
    end_at_work(command, temporary, how)


@pytest.mark.parametrize("arguments", [("iq", "--set", "draws=20"), ("evidence", "summary", "--json")])
def test_a_reader_that_goes_away_ends_a_command_quietly(tmp_path, arguments, few_models):
    """As in ``mensura iq | head``."""
    reading, writing = os.pipe()
    os.close(reading)
    command = start(tmp_path, *arguments, "--evidence", few_models, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    _, told = command.communicate(timeout=PATIENCE)
    assert (command.returncode, told) == (READER_GONE, b"")


def test_no_source_needs_another_module_to_be_compiled():
    """An interrupt while Python loads the names of characters becomes a SyntaxError that nothing can catch."""
    sources = Path(mensura.__file__).parent.rglob("*.py")
    assert [path.name for path in sources if "\\N{" in path.read_text(encoding="utf-8")] == []


def test_an_interrupt_that_a_library_drops_comes_again():
    """As pydantic drops one that comes while it calls back, an object at its end drops what it raises."""
    program = """
import time
from mensura.cli import main as cli

class Dropping:
    def __del__(self):
        raise KeyboardInterrupt

def work(words):
    Dropping()
    time.sleep(60)

cli.run = work
cli.main()
"""
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment, timeout=50)
    assert (ended.returncode, ended.stderr) == (130, b"")
