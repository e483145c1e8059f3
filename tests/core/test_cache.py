"""Results kept between runs."""

import json
import os
import subprocess
import sys
from types import MappingProxyType, SimpleNamespace

import pytest

from mensura.core import cache
from mensura.core.cache import cache_folder, clear_cache, keep, kept_results, recall


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache of the test's own."""
    monkeypatch.setenv("MENSURA_CACHE", str(tmp_path))
    return tmp_path / "mensura-cache"


class Counted:
    """Something to compute, that knows how often it was."""

    def __init__(self, result):
        self.result, self.times = result, 0

    def __call__(self):
        self.times += 1
        return self.result


def test_what_was_computed_once_is_read_afterwards(folder):
    work = Counted({"rates": [0.1, 0.2], "rules": MappingProxyType({"draws": 1000})})
    first, second = (recall("study", ("evidence-1",), work) for _ in range(2))
    assert work.times == 1
    assert first == second == work.result
    with pytest.raises(TypeError):
        second["rules"]["draws"] = 1


def test_other_inputs_are_other_results(folder):
    lists = [("a", "bc"), ("ab", "c"), ("abc",), ()]
    assert [recall("study", inputs, lambda inputs=inputs: inputs) for inputs in lists] == lists
    assert recall("other", lists[0], lambda: "mine") == "mine"
    assert [recall("study", inputs, Counted(None)) for inputs in lists] == lists


def test_changed_code_computes_anew(folder, monkeypatch):
    recall("study", (), lambda: "old")
    monkeypatch.setattr(cache, "_code", lambda: "another version")
    assert recall("study", (), lambda: "new") == "new"


@pytest.mark.parametrize("damage", [lambda held: held[:-1], lambda held: b"\0" + held[1:], lambda held: b""])
def test_a_damaged_entry_costs_time_not_the_result(folder, damage):
    recall("study", (), lambda: list(range(100)))
    (entry,) = kept_results(folder)
    entry.file.write_bytes(damage(entry.file.read_bytes()))
    work = Counted("again")
    assert [recall("study", (), work) for _ in range(2)] == ["again", "again"]
    assert work.times == 1


def test_results_that_cannot_be_kept_are_returned_all_the_same(folder):
    unkept = lambda: None  # noqa: E731 - a pickle holds no nameless function
    assert recall("study", (), lambda: unkept) is unkept
    assert kept_results(folder) == []


def test_off_keeps_nothing(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("MENSURA_CACHE", "off")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    work = Counted(1)
    assert (recall("study", (), work), recall("study", (), work), work.times) == (1, 1, 2)
    assert list(tmp_path.iterdir()) == []


def test_the_systems_folder_is_the_default(monkeypatch, tmp_path):
    monkeypatch.delenv("MENSURA_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "mensura"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "mensura"


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_folder_others_can_write_to_is_not_believed(folder):
    recall("study", (), lambda: "mine")
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    assert recall("study", (), lambda: "computed") == "computed"


def test_a_file_in_the_folders_place_costs_nothing_but_time(folder):
    folder.write_text("not a folder")
    assert recall("study", (), lambda: 7) == 7
    assert folder.read_text() == "not a folder"


def test_the_longest_unused_go_first(folder, monkeypatch):
    monkeypatch.setattr(cache, "MOST_ENTRIES", 5)
    for number in range(cache.MOST_ENTRIES):
        recall("study", (str(number),), lambda number=number: number)
    for place, entry in enumerate(kept_results(folder)):
        os.utime(entry.file, (place, place))
    oldest = min(kept_results(folder), key=lambda entry: entry.used).file
    recall("study", ("one more",), lambda: None)
    assert len(kept_results(folder)) == cache.MOST_ENTRIES
    assert not oldest.exists()


def test_five_hundred_results_are_kept_and_no_more(folder):
    recall("study", ("first",), lambda: None)
    for number in range(520):
        (folder / f"study-{number:040x}.result").touch()
    recall("study", ("second",), lambda: None)
    assert len(kept_results(folder)) == 500


@pytest.mark.parametrize(("spare", "kept"), [(0, True), (1, False)])
def test_a_gibibyte_is_kept_and_no_more(spare, kept, folder):
    recall("study", ("first",), lambda: None)
    (first,) = kept_results(folder)
    with (folder / f"study-{0:040x}.result").open("wb") as file:
        file.truncate(2**30 - 2 * first.size + spare)  # takes no room
    os.utime(folder / f"study-{0:040x}.result", (0, 0))
    recall("study", ("second",), lambda: None)
    assert (folder / f"study-{0:040x}.result").exists() == kept
    assert len(kept_results(folder)) == 2 + kept


def test_the_folder_stays_within_its_bytes_and_keeps_the_newest(folder, monkeypatch):
    monkeypatch.setattr(cache, "MOST_BYTES", 1000)
    for number in range(4):
        recall("study", (str(number),), lambda: bytes(400))
        for entry in kept_results(folder):
            os.utime(entry.file, (entry.used - 60, entry.used - 60))
    assert len(kept_results(folder)) == 2
    recall("study", ("large",), lambda: bytes(5000))
    assert [entry.size > 5000 for entry in kept_results(folder)] == [True]


def test_clearing_removes_entries_and_nothing_else(folder):
    recall("study", (), lambda: 1)
    (folder / "notes.txt").write_text("mine")
    assert clear_cache(folder) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["CACHEDIR.TAG", "notes.txt"]


def test_no_file_of_the_user_goes(folder, monkeypatch):
    """The user's files may be old, in a folder ``drawings``, or end as entries do."""
    chosen = folder.parent
    mine = [chosen / "drawings" / "plan.svg", chosen / "thesis.result", chosen / f"notes-{0:040x}.txt"]
    for file in mine:
        file.parent.mkdir(exist_ok=True)
        file.write_text("mine")
        os.utime(file, (0, 0))
    monkeypatch.setattr(cache, "MOST_BYTES", 1)
    for number in range(3):
        recall("study", (str(number),), lambda number=number: number)
    clear_cache(cache_folder())
    assert cache_folder() == folder
    assert [file.read_text() for file in mine] == ["mine"] * 3


def test_a_folder_without_the_mark_is_never_emptied(folder):
    folder.mkdir()
    (folder / f"study-{0:040x}.result").touch()
    assert clear_cache(folder) == 0


@pytest.mark.skipif(os.name != "posix", reason="owners of POSIX")
def test_an_entry_of_another_user_is_never_loaded(folder, monkeypatch):
    recall("study", (), lambda: "mine")
    real = os.fstat

    def of_another(handle):
        facts = list(real(handle))
        facts[4] += 1  # st_uid
        return os.stat_result(facts)

    monkeypatch.setattr(os, "fstat", of_another)
    assert recall("study", (), lambda: "computed") == "computed"


def test_processes_share_a_folder(folder):
    code = "from mensura.core.cache import recall\nfor n in range(20): print(recall('study', (str(n),), lambda: n * n))"
    runs = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert {run.communicate()[0] for run in runs} == {"".join(f"{n * n}\n" for n in range(20))}
    assert len(kept_results(folder)) == 20


def test_the_command_shows_and_clears(folder, mensura_command):
    recall("study", (), lambda: list(range(1000)))
    told = json.loads(mensura_command("evidence", "cache", "--json").out)
    assert told["folder"] == str(folder)
    assert [row["result"] for row in told["kept"]] == ["study"]
    assert "study" in mensura_command("evidence", "cache").out
    assert mensura_command("evidence", "cache", "--clear").out.startswith("removed 1 result from")
    assert json.loads(mensura_command("evidence", "cache", "--clear", "--json").out)["removed"] == 0


def test_the_command_says_when_nothing_is_kept(monkeypatch, mensura_command):
    monkeypatch.setenv("MENSURA_CACHE", "off")
    assert mensura_command("evidence", "cache").out == "Nothing is kept: MENSURA_CACHE is off.\n"


def test_a_folder_filled_to_the_last_byte_is_not_too_full(folder, monkeypatch):
    for number in range(2):
        recall("study", (str(number),), lambda: bytes(400))
    monkeypatch.setattr(cache, "MOST_BYTES", 3 * kept_results(folder)[0].size)
    recall("study", ("third",), lambda: bytes(400))
    assert len(kept_results(folder)) == 3
    recall("study", ("fourth",), lambda: bytes(400))
    assert len(kept_results(folder)) == 3


def test_a_setting_that_is_text_and_one_that_is_a_file_are_told_apart(folder, tmp_path):
    evidence = SimpleNamespace(fingerprint="f", origin="o", warnings=("w",))
    (tmp_path / "rules").write_text("a")
    work = Counted("done")
    for value in ("a", tmp_path / "rules", str(tmp_path / "rules"), 3, None):
        assert keep("iq", evidence, {"rules": value}, work) == "done"
    assert work.times == 4, "a file is what it holds, by whichever kind of name"


def test_the_command_counts_bytes_in_millions(folder, mensura_command):
    recall("study", (), lambda: bytes(2_000_000))
    (entry,) = kept_results(folder)
    (row,) = json.loads(mensura_command("evidence", "cache", "--json").out)["kept"]
    assert row["megabytes"] == pytest.approx(entry.size / 1e6)
    assert row["megabytes"] == pytest.approx(2, abs=0.001)
