"""A folder is written as a set: all of it or nothing, stale files gone, foreign files untouched."""

import subprocess
import sys
from pathlib import Path

import pytest

from mensura import MensuraError
from mensura.folders import MANIFEST, whole_folder


def write(folder: Path, writer: str, **files: str) -> None:
    with whole_folder(folder, writer) as stage:
        for name, text in files.items():
            target = stage / name.replace("__", "/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def test_a_second_set_replaces_the_first_and_removes_what_is_stale(tmp_path):
    write(tmp_path / "out", "report", index="old", pages__a="a", pages__b="b")
    write(tmp_path / "out", "report", index="new", pages__b="b2")
    assert contents(tmp_path / "out") == {"index": "new", "pages/b": "b2"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_foreign_files_and_those_of_other_writers_stay(tmp_path):
    write(tmp_path / "out", "iq", composites="1")
    (tmp_path / "out" / "mine").mkdir()
    (tmp_path / "out" / "mine" / "notes").write_text("keep")
    (tmp_path / "out" / "empty").mkdir()
    write(tmp_path / "out", "stitch", capabilities="2")
    write(tmp_path / "out", "stitch", capabilities="3")
    assert contents(tmp_path / "out") == {"composites": "1", "mine/notes": "keep", "capabilities": "3"}
    assert (tmp_path / "out" / "empty").is_dir()


def test_a_foreign_file_in_the_way_is_refused_and_kept(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "rates").write_text("years of work")
    with pytest.raises(MensuraError, match="rates: exists and was not written by mensura; choose another folder"):
        write(tmp_path / "out", "extrapolate", rates="0.1")
    assert contents(tmp_path) == {"out/rates": "years of work"}
    write(tmp_path / "out", "iq", composites="1")
    with pytest.raises(MensuraError, match="composites: exists and was written by mensura iq"):
        write(tmp_path / "out", "stitch", composites="2")


def test_a_foreign_file_that_is_sure_to_be_in_the_way_is_refused_before_the_work(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "index").write_text("my own page")
    work = []
    with (
        pytest.raises(MensuraError, match="index: exists and was not written by mensura"),
        whole_folder(tmp_path / "out", "report", certain=["index"]) as stage,
    ):
        work.append(stage)
    assert not work
    assert contents(tmp_path) == {"out/index": "my own page"}


def test_a_failure_leaves_the_old_set_and_nothing_beside_it(tmp_path):
    write(tmp_path / "out", "report", index="old")
    with pytest.raises(ZeroDivisionError), whole_folder(tmp_path / "out", "report") as stage:
        (stage / "index").write_text("half")
        1 / 0  # noqa: B018
    assert contents(tmp_path / "out") == {"index": "old"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_a_killed_writer_left_is_swept_up(tmp_path):
    program = (
        "import os, sys; from pathlib import Path; from mensura.folders import whole_folder\n"
        "with whole_folder(Path(sys.argv[1]), 'report') as stage:\n"
        "    (stage / 'index').write_text('half'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "out")], check=False)
    assert len(list(tmp_path.glob(".out.*.part"))) == 1
    write(tmp_path / "out", "report", index="whole")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_working_directory_is_filled_in_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Path(), "iq", composites="1", ranking="2")
    before = tmp_path.stat().st_ino
    write(Path(), "iq", composites="3")
    assert contents(tmp_path) == {"composites": "3"}
    assert tmp_path.stat().st_ino == before


def test_a_file_where_the_folder_should_be_is_refused(tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(MensuraError, match="a file stands where a folder is to be written"):
        write(tmp_path / "out", "iq", composites="1")
    assert (tmp_path / "out").read_text() == "mine"


def test_a_manifest_cannot_reach_outside(tmp_path):
    (tmp_path / "precious").write_text("mine")
    write(tmp_path / "out", "iq", composites="1")
    (tmp_path / "out" / MANIFEST).write_text('{"iq": ["../precious", "composites"]}')
    write(tmp_path / "out", "iq", composites="2")
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_broken_manifest_is_refused(tmp_path):
    write(tmp_path / "out", "iq", composites="1")
    (tmp_path / "out" / MANIFEST).write_text("{")
    with pytest.raises(MensuraError, match="remove it or choose another folder"):
        write(tmp_path / "out", "iq", composites="2")
    assert contents(tmp_path / "out") == {"composites": "1"}
