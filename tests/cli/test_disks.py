"""Every command, on every disk that cannot take what it writes: one sentence, exit 2, nothing half written."""

import inspect
import resource
import signal
import sys
from pathlib import Path

import pytest
import typer

from mensura.cli import main, options
from tests.cli.every_command import COMMANDS, FILE_OUT, WRITES_NOTHING, arguments

pytestmark = pytest.mark.slow

ELSEWHERE = {
    **dict.fromkeys(
        ("evidence init", "evidence capture", "evidence extract", "evidence apply"), "the store: test_store"
    ),
    **dict.fromkeys(("evidence undo", "evidence policy"), "the store: test_store"),
    **dict.fromkeys(("evidence preview", "evidence log", "evidence diff"), "as evidence summary"),
    "evidence mappings": "as evidence summary",
    "evidence cache": "writes nothing; a full disk costs time, not the result: test_cache",
    "serve": "writes no file a user names: test_report",
    **dict.fromkeys(("exam check", "exam serve", "exam forget", "exam codes", "exam repair"), "test_exam"),
    "mcp": "writes nothing: test_agent_server",
}
"""Commands whose disks are tried where their files are, and why not here."""


def commands(command=None, path=()):
    """Every command of the program by its full name, with the function behind it."""
    command = command or typer.main.get_command(main.build_app())
    for name, child in command.commands.items():
        if hasattr(child, "commands"):
            yield from commands(child, (*path, name))
        else:
            yield " ".join([*path, name]), child.callback


def test_every_command_is_tried_here():
    assert set(dict(commands())) == set(COMMANDS) | set(ELSEWHERE)


def left(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


WRITERS = [name for name in COMMANDS if name not in WRITES_NOTHING]


@pytest.mark.parametrize("command", WRITERS)
def test_below_a_file_nothing_can_be_written(command, inputs, mensura_command, tmp_path):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    run = mensura_command(*arguments(command, inputs, tmp_path / "file" / FILE_OUT.get(command, "out")))
    assert run.code == 2, run.out
    assert f"{tmp_path / 'file'} is a file" in run.err
    assert left(tmp_path) == {"file": b"mine"}


@pytest.mark.parametrize("command", WRITERS)
def test_a_read_only_disk_is_noticed_before_any_work(command, inputs, mensura_command, tmp_path, monkeypatch):
    real = options.os.access
    monkeypatch.setattr(options.os, "access", lambda path, mode: mode != options.os.W_OK and real(path, mode))
    run = mensura_command(*arguments(command, inputs, tmp_path / FILE_OUT.get(command, "out")))
    assert run.code == 2, run.out
    assert "cannot be written" in run.err
    assert left(tmp_path) == {}


@pytest.fixture
def full_disk(monkeypatch):
    """Every write to a file of more than a few bytes fails, as on a full disk.

    Nothing is compiled to a file meanwhile: Python would keep what it could write of it, and trip over it later.
    """
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    class Disk:
        def fill(self):
            resource.setrlimit(resource.RLIMIT_FSIZE, (16, before[1]))

        def empty(self):
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    disk = Disk()
    yield disk
    disk.empty()
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("command", WRITERS)
def test_a_full_disk_is_a_sentence_and_leaves_nothing(command, inputs, mensura_command, tmp_path, full_disk):
    words = list(arguments(command, inputs, tmp_path / FILE_OUT.get(command, "out")))
    full_disk.fill()
    try:
        run = mensura_command(*words)
    finally:
        full_disk.empty()
    assert run.code == 2, run.out
    written = inputs["journal"] if command.startswith("llm ") else tmp_path / FILE_OUT.get(command, "out")
    assert f"error: {written}" in run.err, run.err
    assert "File too large" in run.err or "disk I/O error" in run.err or "os error 27" in run.err, run.err
    assert "Traceback" not in run.err
    assert {name for name in left(tmp_path) if "journal" not in name} == set()


def path_options():
    """Every option and argument that names something to be read: command and parameter."""
    for command, function in commands():
        for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
            annotation = str(parameter.annotation)
            infos = [info for info in getattr(parameter.annotation, "__metadata__", ()) if hasattr(info, "param_decls")]
            reads = infos and infos[0].callback in (options.check_input,)
            if "Path" in annotation and infos and "Option" in type(infos[0]).__name__ and reads:
                named = [word for word in (infos[0].default, *infos[0].param_decls) if str(word).startswith("--")]
                yield command, named[0] if named else f"--{name.replace('_', '-')}"


@pytest.mark.parametrize(("command", "option"), list(path_options()))
def test_an_option_that_names_a_missing_path_is_refused(command, option, inputs, mensura_command, tmp_path):
    words = list(arguments(command, inputs, tmp_path / FILE_OUT.get(command, "out")))
    if option in words:  # an option counts once
        place = words.index(option)
        del words[place : place + 2]
    run = mensura_command(*words, option, tmp_path / "missing")
    assert run.code == 2, run.out
    assert "missing: no such file or folder" in run.err


def test_every_path_is_checked_by_its_option():
    """A path that is neither read nor written through the common checks would slip past the tests above."""
    unchecked = set()
    for command, function in commands():
        for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
            infos = [info for info in getattr(parameter.annotation, "__metadata__", ()) if hasattr(info, "param_decls")]
            if "Path" in str(parameter.annotation) and infos and infos[0].callback is None:
                unchecked.add(f"{command} {name}")
    own = {name for name in unchecked if name.startswith("evidence ") and name.endswith(" store")}  # opening checks it
    assert unchecked - own == {"extrapolate pool", "validate pool_folder"}  # 'example' is one
