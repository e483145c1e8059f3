"""Files are written whole, with the permissions they had, beside parts that other writers left."""

import os
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl
import pytest

from mensura.core import files
from mensura.core.errors import MensuraError
from mensura.core.files import atomic_path, locked_part, write_text


@pytest.fixture
def names(tmp_path):
    return lambda: sorted(path.name for path in tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_a_new_file_has_the_permissions_that_the_user_gives_and_keeps_its_own(mask, tmp_path):
    file = tmp_path / "table.csv"
    before = os.umask(mask)
    try:
        write_text(file, "a")
        assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~mask
        file.chmod(0o640)
        write_text(file, "b")
    finally:
        assert os.umask(before) == mask
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_hundred_characters_of_a_name_go_into_that_of_its_part(tmp_path, names):
    file = tmp_path / ("n" * 250)
    with atomic_path(file) as part:
        assert part.name.startswith(f".{'n' * 100}.{os.getpid()}.")
        part.write_text("a")
    assert names() == ["n" * 250]


WRITER = """
import sys; from pathlib import Path; from mensura.core.files import atomic_path
with atomic_path(Path(sys.argv[1])): print(flush=True); input()
"""


def test_a_part_stays_while_its_writer_lives_though_its_number_means_nobody_here(tmp_path, names):
    """A writer in another container has a number that no process, or another one, has here."""
    command = [sys.executable, "-c", WRITER, str(tmp_path / "table.csv")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout.readline()
        (tmp_path / names()[0]).rename(tmp_path / f".table.csv.{2**22 + 1}.abc.part")
        write_text(tmp_path / "table.csv", "whole")
        assert names() == [f".table.csv.{2**22 + 1}.abc.part", "table.csv"]
        writer.kill()
    write_text(tmp_path / "table.csv", "whole")
    assert names() == ["table.csv"]


def test_a_part_of_a_killed_writer_goes_though_another_process_has_its_number_now(tmp_path, names):
    (tmp_path / f".table.csv.{os.getpid()}.abc.part").write_text("half")
    write_text(tmp_path / "table.csv", "whole")
    assert names() == ["table.csv"]


def test_a_part_that_is_swept_up_before_it_is_locked_is_made_again(tmp_path, names):
    made = []

    def make(*names):
        made.append(tempfile.mkdtemp(*names))
        if len(made) == 1:
            Path(made[0]).rmdir()
        return made[-1]

    with locked_part(tmp_path / "out", make) as part:
        assert (len(made), str(part)) == (2, made[1])


def test_without_locks_a_part_is_given_up_after_a_day(tmp_path, names, monkeypatch):
    monkeypatch.setattr("mensura.core.files.fcntl", None)
    for age, name in ((0, "new"), (86_500, "old")):
        part = tmp_path / f".table.csv.7.{name}.part"
        part.write_text("half")
        os.utime(part, (time.time() - age,) * 2)
    write_text(tmp_path / "table.csv", "whole")
    assert names() == [".table.csv.7.new.part", "table.csv"]


@pytest.mark.parametrize(
    "name",
    [
        ".table.csv.notes.part",
        f".table.csv.{10**30}.part",
        f".table.csv.{2**22 + 1}.txt",
        f".other.csv.{2**22 + 1}.part",
        f"table.csv.{2**22 + 1}.part",
    ],
)
def test_what_is_not_surely_a_part_of_a_dead_writer_stays(name, tmp_path, names):
    (tmp_path / name).write_text("mine")
    write_text(tmp_path / "table.csv", "whole")
    assert names() == sorted([name, "table.csv"])


def test_a_folder_of_a_dead_writer_goes_and_what_a_link_leads_to_stays(tmp_path, names):
    """No process has a number above 2²²."""
    (tmp_path / f".t.{2**22 + 1}.part").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f".t.{2**22 + 2}.part").symlink_to(tmp_path / "elsewhere")
    write_text(tmp_path / "t", "whole")
    assert names() == ["elsewhere", "t"]


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path, names):
    (tmp_path / "table.csv").mkdir()
    with pytest.raises(MensuraError, match="a folder stands where a file is to be written"):
        write_text(tmp_path / "table.csv", "a")
    assert names() == ["table.csv"]


def test_a_full_disk_is_named_with_its_file_also_in_the_words_of_older_polars(tmp_path):
    with pytest.raises(OSError, match="File too large") as caught, atomic_path(tmp_path / "table.parquet"):
        raise pl.exceptions.ComputeError("parquet: underlying IO error: File too large (os error 27)")
    assert caught.value.filename == str(tmp_path / "table.parquet")


def test_a_lock_is_given_back_with_its_handle(tmp_path):
    pytest.importorskip("fcntl")
    file = tmp_path / "a"
    file.write_text("x")
    with files.locked(file), pytest.raises(BlockingIOError):
        files._take_lock(file, wait=False)
    handle = files._take_lock(file, wait=False)
    assert handle is not None
    os.close(handle)
