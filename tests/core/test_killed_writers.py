"""Writers that are stopped at any rename leave the old set or the new one; writers at once leave both of theirs."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from mensura import MensuraError
from mensura.cli.main import build_app
from mensura.core import folders
from mensura.core.files import write_text
from mensura.core.folders import MANIFEST
from mensura.people import ItemPool
from tests.cli.conftest import inputs  # noqa: F401
from tests.cli.every_command import arguments
from tests.core.test_folders import contents, write

pytestmark = pytest.mark.slow

OLD = {"index": "old", "pages/a": "old a", "pages/b": "old b"}
NEW = {"index": "new", "pages/b": "new b", "pages/c": "new c"}


class KilledError(BaseException):
    """A stop that no handler of errors catches."""


@contextmanager
def killed_at(number: int, *, after: bool = False) -> Iterator[list[str]]:
    """Stop the k-th rename of the process, before or after it happens; yields the targets of all renames."""
    seen: list[str] = []

    def stopping(real):
        def call(*paths, **options):
            seen.append(str(paths[1]))
            if len(seen) == number and not after:
                raise KilledError
            result = real(*paths, **options)
            if len(seen) == number:
                raise KilledError
            return result

        return call

    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((os, "rename"), (os, "replace"), (folders, "_exchange")):
            patch.setattr(module, name, stopping(getattr(module, name)))
        with suppress(KilledError):
            yield seen


def write_set(folder: Path, files: dict[str, str]) -> None:
    write(folder, "report", **{name.replace("/", "__"): text for name, text in files.items()})


@pytest.mark.parametrize("way", ["exchange", "renaming", "in place"])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("number", range(1, 9))
def test_a_writer_stopped_at_any_rename_leaves_old_or_new(way, after, number, tmp_path, monkeypatch):
    folder = tmp_path / "out"
    write_set(folder, OLD)
    write(folder, "other", notes="kept")
    if way != "exchange":
        monkeypatch.setattr(folders, "_exchange", lambda *_: False)
    if way == "in place":
        monkeypatch.chdir(folder)
    with killed_at(number, after=after):
        write_set(folder, NEW)
    found = contents(folder)
    assert found.pop("notes") == "kept"
    assert found in (OLD, NEW)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


QUICK = [
    *("scale", "calibrate", "profile", "demands dimensions", "demands sheet", "demands agreement"),
    *("demands check", "evidence summary", "people summary", "people rates", "people import", "llm status", "add"),
]
"""Commands that write a folder and are quick; the others end in the same writer."""


@pytest.mark.parametrize("command", QUICK)
def test_a_command_stopped_at_its_renames_leaves_old_or_new(command, inputs, tmp_path):  # noqa: F811
    out = tmp_path / "out"
    words = list(arguments(command, inputs, out))
    with killed_at(0):
        assert CliRunner().invoke(build_app(), words).exit_code == 0
    files = [path for path in out.rglob("*") if path.is_file() and path.name != MANIFEST]
    for path in files:
        path.write_text("old", encoding="utf-8")
    with killed_at(0) as renames:
        assert CliRunner().invoke(build_app(), words).exit_code == 0
    for number, after in ((1, False), (len(renames), False), (len(renames), True)):
        for path in files:
            path.write_text("old", encoding="utf-8")
        with killed_at(number, after=after):
            CliRunner().invoke(build_app(), words, catch_exceptions=False)
        left = {path.read_bytes() for path in files}
        assert left == {b"old"} or b"old" not in left
        assert (b"old" not in left) == after
        assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("after", [False, True])
def test_a_file_is_old_or_new(after, tmp_path):
    note = tmp_path / "n.txt"
    write_text(note, "old")
    with killed_at(1, after=after):
        write_text(note, "new")
    assert note.read_text() == ("new" if after else "old")
    assert [path.name for path in tmp_path.iterdir()] == ["n.txt"]


def test_the_part_of_a_killed_file_writer_is_swept_up(tmp_path):
    program = (
        "import os, sys; from pathlib import Path; from mensura.core.files import atomic_path\n"
        "with atomic_path(Path(sys.argv[1])): os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "table.csv")], check=False)
    assert len(list(tmp_path.glob(".table.csv.*.part"))) == 1
    write_text(tmp_path / "table.csv", "whole")
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_writers_at_once_all_find_their_files(tmp_path):
    def fill(number):
        for turn in range(5):
            write(tmp_path / "out", f"writer {number}", **{f"table{number}": f"{turn}"})

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(fill, range(6)))
    assert contents(tmp_path / "out") == {f"table{number}": "4" for number in range(6)}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_importing_over_an_older_pool_mixes_nothing(tmp_path):
    rates = pl.DataFrame({"item": ["a", "b"], "group": "all", "n": [100, 100], "rate": [0.2, 0.4]})
    folder = tmp_path / "pool"
    folder.mkdir()
    rates.select("item", domain=pl.lit("fluid")).write_csv(folder / "items.csv")
    rates.write_csv(folder / "group_rates.csv")
    (folder / "responses.csv").write_text("person,item,correct\n1,a,1\n", encoding="utf-8")
    pool = ItemPool.read(folder)
    with pytest.raises(MensuraError, match=r"responses.csv: would stand beside the new responses.parquet"):
        pool.write(folder)
    pl.read_csv(folder / "responses.csv").write_parquet(folder / "responses.parquet")
    with pytest.raises(MensuraError, match=r"both responses.csv and responses.parquet; remove one of them"):
        ItemPool.read(folder)
