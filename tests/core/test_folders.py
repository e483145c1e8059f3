"""A folder is written as a set: all of it or nothing, stale files gone, foreign files untouched."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mensura import MensuraError
from mensura.core.folders import MANIFEST, whole_folder


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


@pytest.mark.parametrize("kind", ["link", "broken link", "file"])
def test_a_link_or_file_where_a_folder_is_to_be_written_is_refused_and_kept(tmp_path, kind):
    """A user's link to models elsewhere was moved into the new folder, under another name."""
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "notes").write_text("keep")
    if kind == "file":
        (tmp_path / "out" / "models").write_text("mine")
    else:
        (tmp_path / "out" / "models").symlink_to(tmp_path / ("elsewhere" if kind == "link" else "nowhere"))
    before = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    with pytest.raises(MensuraError, match=r"models: exists and was not written by mensura"):
        write(tmp_path / "out", "report", models__a="page")
    with pytest.raises(MensuraError, match=r"models: exists"), whole_folder(tmp_path / "out", "x", certain=["models/"]):
        pytest.fail("the work was begun")
    assert sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*")) == before
    assert (tmp_path / "out" / "models").is_symlink() == (kind != "file")


def test_a_folder_of_a_user_may_hold_files_beside_the_new_ones(tmp_path):
    (tmp_path / "out" / "models").mkdir(parents=True)
    (tmp_path / "out" / "models" / "mine").write_text("keep")
    with whole_folder(tmp_path / "out", "report", certain=["models/"]) as stage:
        (stage / "models").mkdir()
        (stage / "models" / "a").write_text("page")
    assert contents(tmp_path / "out") == {"models/mine": "keep", "models/a": "page"}


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
        "import os, sys; from pathlib import Path; from mensura.core.folders import whole_folder\n"
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


def test_the_manifest_lists_the_files_of_every_writer_for_people_to_read(tmp_path):
    write(tmp_path / "out", "stitch", b="2", a="1")
    write(tmp_path / "out", "iq", größe="3")
    assert (tmp_path / "out" / MANIFEST).read_text(encoding="utf-8") == (
        '{\n "iq": [\n  "größe"\n ],\n "stitch": [\n  "a",\n  "b"\n ]\n}\n'
    )


@pytest.mark.parametrize("text", ["[]", '{"iq": "composites"}', '{"iq": ["composites"], "stitch": 1}', '"x"'])
def test_a_manifest_that_lists_no_files_by_writer_is_refused(text, tmp_path):
    write(tmp_path / "out", "iq", composites="1")
    (tmp_path / "out" / MANIFEST).write_text(text)
    with pytest.raises(MensuraError, match="not a list of files by writer; remove it or choose another folder"):
        write(tmp_path / "out", "iq", composites="2")


def test_a_manifest_with_whole_paths_cannot_reach_outside(tmp_path):
    (tmp_path / "precious").write_text("mine")
    write(tmp_path / "out", "iq", composites="1")
    (tmp_path / "out" / MANIFEST).write_text(json.dumps({"iq": [str(tmp_path / "precious"), "composites"]}))
    write(tmp_path / "out", "iq", composites="2")
    assert contents(tmp_path) == {"precious": "mine", "out/composites": "2"}


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize(("mask", "mode"), [(0o000, 0o777), (0o022, 0o755), (0o077, 0o700)])
def test_a_new_folder_has_the_permissions_that_the_user_gives(mask, mode, tmp_path):
    before = os.umask(mask)
    try:
        write(tmp_path / "out", "iq", composites="1")
    finally:
        assert os.umask(before) == mask
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == mode


@pytest.mark.parametrize("way", ["linked", "copied", "in place"])
def test_links_of_the_user_stay_links(way, tmp_path, monkeypatch):
    out = tmp_path / "out"
    write(out, "iq", composites="1")
    (tmp_path / "elsewhere").mkdir()
    (out / "data").symlink_to(tmp_path / "elsewhere")
    (out / "gone").symlink_to(tmp_path / "nowhere")
    (out / "notes").write_text("mine")
    if way == "copied":
        monkeypatch.setattr(os, "link", refuse)
    if way == "in place":
        monkeypatch.chdir(out)
    write(out, "iq", composites="2")
    assert (out / "data").readlink() == tmp_path / "elsewhere"
    assert (out / "gone").readlink() == tmp_path / "nowhere"
    assert contents(out) == {"composites": "2", "notes": "mine"}


def refuse(*_, **__):
    raise OSError(1, "not permitted")


def test_an_error_between_two_renames_is_told_and_the_old_set_is_back(tmp_path, monkeypatch):
    write(tmp_path / "out", "iq", composites="1")
    monkeypatch.setattr("mensura.core.folders.sys.platform", "darwin")
    real, calls = Path.rename, []

    def second_fails(path, target):
        calls.append(path)
        return refuse() if len(calls) == 2 else real(path, target)

    monkeypatch.setattr(Path, "rename", second_fails)
    with pytest.raises(OSError, match="not permitted"):
        write(tmp_path / "out", "iq", composites="2")
    assert contents(tmp_path) == {"out/composites": "1"}
    write(tmp_path / "out", "iq", composites="3")
    assert contents(tmp_path) == {"out/composites": "3"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_link_of_ones_own_is_a_file_of_the_set(tmp_path):
    """A link to a folder is one name, however much lies behind it."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "large").write_text("x")
    with whole_folder(tmp_path / "out", "iq") as stage:
        (stage / "data").symlink_to(tmp_path / "elsewhere")
    assert json.loads((tmp_path / "out" / MANIFEST).read_text()) == {"iq": ["data"]}
    write(tmp_path / "out", "iq", composites="1")
    assert contents(tmp_path) == {"elsewhere/large": "x", "out/composites": "1"}


def test_an_error_in_place_brings_everything_back_links_as_links(tmp_path, monkeypatch):
    out = tmp_path / "out"
    (tmp_path / "large").write_text("x")
    with whole_folder(out, "iq") as stage:
        (stage / "data").symlink_to(tmp_path / "large")
        (stage / "table").write_text("1")
    monkeypatch.chdir(out)
    real = Path.replace
    monkeypatch.setattr(Path, "replace", lambda path, to: refuse() if path.name == "ready" else real(path, to))
    with pytest.raises(OSError, match="not permitted"):
        write(out, "iq", data="new", ready="new", table="2")
    assert (out / "data").readlink() == tmp_path / "large"
    assert contents(tmp_path) == {"large": "x", "out/data": "x", "out/table": "1"}


@pytest.mark.skipif(sys.platform != "linux", reason="a call of Linux")
def test_on_linux_a_folder_changes_place_with_the_new_one_in_one_step(tmp_path, monkeypatch):
    write(tmp_path / "out", "iq", composites="1")
    monkeypatch.setattr(Path, "rename", refuse)
    write(tmp_path / "out", "iq", composites="2")
    assert contents(tmp_path) == {"out/composites": "2"}


def test_files_within_folders_are_replaced_and_brought_back_in_place(tmp_path, monkeypatch):
    out = tmp_path / "out"
    write(out, "iq", index="1", old__a="a")
    monkeypatch.chdir(out)
    write(out, "iq", index="2", new__deep__b="b")
    assert contents(out) == {"index": "2", "new/deep/b": "b"}
    real = Path.replace
    monkeypatch.setattr(Path, "replace", lambda path, to: refuse() if path.name == "z" else real(path, to))
    with pytest.raises(OSError, match="not permitted"):
        write(out, "iq", index="3", new__deep__b="c", z="z")
    assert contents(out) == {"index": "2", "new/deep/b": "b"}
