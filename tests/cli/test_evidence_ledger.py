"""The commands of moving evidence, as a shell sees them: JSON out, files and pipes in, clear refusals."""

import io
import json
from types import SimpleNamespace

import pytest

from tests.evidence.ledger.small import ANN, MAPPING, score, small_ledger, update


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A small store, in the working directory and by its usual name."""
    monkeypatch.chdir(tmp_path)
    return small_ledger(tmp_path / "evidence.sqlite")


def test_from_a_pipe_to_an_entry_and_back(store, mensura_command, monkeypatch, tmp_path):
    board = b"Model,Agent,Score\nBig 2,X,20\nBigg 1,X,3\n"
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(board)))
    (tmp_path / "board.toml").write_text(MAPPING)
    kept = json.loads(mensura_command("evidence", "capture", "board", "-", "--by", "Ann", "--json").out)
    assert kept["bytes"] == len(board) and store.capture(kept["capture"]).address == "standard input"
    run = mensura_command("evidence", "extract", kept["capture"][:8], "--mapping", "board.toml", "--json")
    made = json.loads(run.out)
    assert [name["nearest"] for name in made["unmatched"]] == ["big-1"]
    listed = json.loads(mensura_command("evidence", "pending", "--json").out)["pending"]
    assert [row["update"] for row in listed] == [made["update"]]
    done = json.loads(mensura_command("evidence", "apply", made["update"], "--by", "Bob", "--json").out)
    assert done["entry"] == 1 and done["fingerprint"] == store.version().fingerprint
    log = json.loads(mensura_command("evidence", "log", "big-2", "--json").out)["history"]
    assert {(row["by"], row["line"], row["address"]) for row in log} == {("Bob", 2, "standard input")}
    assert json.loads(mensura_command("evidence", "undo", "1", "--json").out)["entry"] == 2
    assert json.loads(mensura_command("evidence", "diff", "0", "--json").out)["cells"] == []


def test_what_is_done_already_is_said_with_a_way_on(store, mensura_command, tmp_path):
    (tmp_path / "x.csv").write_text("Model,Agent,Score\nBig 1,X,20\n")
    (tmp_path / "a.toml").write_text(update(score("big-1", "swe_marathon", "12", "15")).text())
    said = [
        mensura_command("evidence", *arguments)
        for arguments in (
            ("capture", "board", "x.csv", "--by", "Ann"),
            ("capture", "other", "x.csv", "--by", "Bob"),
            ("apply", "a.toml", "--by", "Ann"),
            ("apply", "a.toml", "--by", "Bob"),
            ("log", "--entry", "1"),
            ("undo", "1", "--by", "Bob"),
            ("undo", "1", "--by", "Bob"),
            ("diff", "0"),
        )
    ]
    printed = [" ".join((run.out + run.err).split()) for run in said]
    assert "kept before" not in printed[0] and "from board, x.csv: that stands" in printed[1]
    assert "applied already: entry 1 by Ann" in printed[3] and "mensura evidence undo 1 takes it back" in printed[3]
    assert printed[4].startswith("Entry 1 by Ann, 20") and "an update" in printed[4]
    assert "undone already, by entry 2; undo that one to have it again" in printed[6]
    assert "no cell differs: evidence.sqlite, entry 0 and evidence.sqlite" in printed[7]


def test_the_second_reviewer_is_told_and_exits_with_2(store, mensura_command, tmp_path):
    for name, value in (("a", "15"), ("b", "16")):
        (tmp_path / f"{name}.toml").write_text(update(score("big-1", "swe_marathon", "12", value)).text())
    assert mensura_command("evidence", "apply", "a.toml", "--by", "Ann").code == 0
    run = mensura_command("evidence", "apply", "b.toml", "--by", "Bob")
    assert run.code == 2 and "the cell holds 15 since entry 1" in run.err and "by Ann" in run.err


def test_refusals_say_what_to_do(store, mensura_command, tmp_path):
    for arguments, words in (
        (("log", "--store", "none.sqlite"), "mensura evidence init --store none.sqlite makes one"),
        (("init",), "exists; choose another name"),
        (("capture", "board", "nothing.csv"), "expected a file, an http(s) address, or -"),
        (("capture", "board", "http://127.0.0.1:1/"), "a private or reserved address"),
        (("capture", "../x", __file__), "expected an id"),
        (("capture", "board", "ftp://example.org/x"), "save the text and capture the file"),
        (("extract", "zz"), "at least 6 hexadecimal digits of it; mensura evidence log --captures lists them"),
        (("apply", "abcdef"), "is not in the store; mensura evidence pending lists those that are"),
        (("undo", "9"), "9 is not in the log; the last one is 0 (mensura evidence log lists them)"),
        (("policy", "big-1", "--set", "colour=red", "--reason", "x"), "got colour; expected some of publication"),
        (("policy", "--set", "display=hide"), "--set needs a model"),
        (("policy", "big-1", "--set", "display"), "expected FIELD=VALUE"),
        (("mappings", "nothing"), "is none of agents_last_exam"),
    ):
        run = mensura_command("evidence", *arguments)
        assert run.code == 2 and words in " ".join(run.err.split()), (arguments, run.err)


def test_escapes_of_a_hostile_page_are_spelled_out(store, mensura_command, tmp_path):
    (tmp_path / "board.toml").write_text(MAPPING)
    (tmp_path / "x.csv").write_text("Model,Agent,Score\nEvil\x1b]0;owned\x07[red],X,20\n")
    kept = json.loads(mensura_command("evidence", "capture", "board", "x.csv", "--json").out)
    run = mensura_command("evidence", "extract", kept["capture"], "--mapping", "board.toml")
    assert run.code == 0 and "\x1b" not in run.out and "\x07" not in run.out and "Evil ]0;owned [red]" in run.out


def test_a_store_with_a_history_is_exported_and_checked_with_it(store, mensura_command, tmp_path):
    store.apply(update(score("big-1", "swe_marathon", "12", "15")), **ANN)
    assert "2 entries of history" in mensura_command("evidence", "export", "out", "--evidence", "evidence.sqlite").out
    assert mensura_command("evidence", "init", "--store", "again.sqlite", "--from", "out").code == 0
    assert mensura_command("evidence", "check", "again.sqlite").code == 0
    assert (tmp_path / "out" / "ledger" / "cells.csv").read_text().splitlines()[1].startswith("1,0,scores,")
