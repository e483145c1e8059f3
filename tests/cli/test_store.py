"""The commands of moving evidence, as a shell sees them: JSON out, files and pipes in, clear refusals."""

import io
import json
from types import SimpleNamespace

import pytest

from tests.ledger.small import ANN, MAPPING, score, small_ledger, update

EXPORT = ("export", "evidence", "--to", "file", "--out")


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
    listed = json.loads(mensura_command("evidence", "log", "--pending", "--json").out)["pending"]
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
    assert "already undone by entry 2; to restore it, run mensura evidence undo 2" in printed[6]
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
        (("apply", "abcdef"), "is not in the store; run mensura evidence log --pending to list those that are"),
        (("undo", "9"), "9 is not in the log; expected 0 to 0 (mensura evidence log lists them)"),
        (("policy", "big-1", "--set", "colour=red", "--reason", "x"), "got colour; expected some of publication"),
        (("policy", "--set", "display=hide"), "--set needs a model"),
        (("policy", "big-1", "--set", "display"), "expected FIELD=VALUE"),
        (("mappings", "nothing"), "expected one of agents_last_exam"),
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
    assert "2 entries of history" in mensura_command(*EXPORT, "out", "--evidence", "evidence.sqlite").out
    assert mensura_command("evidence", "init", "--store", "again.sqlite", "--from", "out").code == 0
    assert mensura_command("evidence", "check", "again.sqlite").code == 0
    assert (tmp_path / "out" / "ledger" / "cells.csv").read_text().splitlines()[1].startswith("1,0,scores,")


def test_a_capture_is_read_to_its_last_byte_and_no_further_than_allowed(store, mensura_command, monkeypatch, tmp_path):
    monkeypatch.setattr("mensura.ledger.MOST_BYTES", 30)
    monkeypatch.setattr("mensura.ledger.captures.MOST_BYTES", 30)
    for size, told in ((30, "kept 30 bytes"), (31, "31 bytes; at most 30"), (90, "31 bytes; at most 30")):
        (tmp_path / "x.txt").write_bytes(b"x" * size)
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"y" * size)))
        for given in ("x.txt", "-"):
            run = mensura_command("evidence", "capture", "board", given)
            assert told in run.out + run.err


def test_a_log_on_a_terminal_is_short_and_in_json_whole(store, mensura_command, tmp_path):
    (tmp_path / "x.csv").write_text("Model,Agent,Score\nBig 1,X,20\n")
    (tmp_path / "board.toml").write_text(MAPPING)
    kept = json.loads(mensura_command("evidence", "capture", "board", "x.csv", "--by", "Ann", "--json").out)
    shown = mensura_command("evidence", "log", "--captures").out
    assert f"│ {kept['capture'][:12]} │" in shown
    assert f"│ {kept['time'][:10]} {kept['time'][11:16]} │" in shown
    mensura_command("evidence", "extract", kept["capture"][:6], "--mapping", "board.toml", "--file", "u.toml")
    [waiting] = json.loads(mensura_command("evidence", "log", "--pending", "--json").out)["pending"]
    assert f"│ {waiting['update'][:12]} │" in mensura_command("evidence", "log", "--pending").out
    assert mensura_command("evidence", "extract", kept["capture"], "--file", "u.toml").code == 2
    assert mensura_command("evidence", "apply", "u.toml", "--by", "Bob").out.startswith("entry 1: 3 cells changed")
    assert "no entry changed a row with 'small-1'" in mensura_command("evidence", "log", "small-1").out
    assert "no entry changed" not in mensura_command("evidence", "log", "big-1").out


def test_a_shipped_mapping_is_printed_as_its_file_has_it(mensura_command):
    from mensura.ledger import mapping_file

    printed = mensura_command("evidence", "mappings", "swe_marathon").out
    assert printed == mapping_file("swe_marathon").read_text(encoding="utf-8")


def test_policy_of_one_model_of_the_rules_and_of_all(store, mensura_command):
    everybody = json.loads(mensura_command("evidence", "policy", "--json").out)
    assert [row["subject"] for row in everybody["policy"]] == ["big-1", "big-2", "small-1"]
    one = json.loads(mensura_command("evidence", "policy", "Big 2", "--json").out)
    assert [row["subject"] for row in one["policy"]] == ["big-2"]
    rules = mensura_command("evidence", "policy", "chart_rules").out
    assert "Chart rules" in rules and "Policy fields" not in rules
    run = mensura_command("evidence", "policy", "big-2", "--set", " display =hide", "--reason", "old", "--by", "Ann")
    assert run.out.startswith("entry 1: ") and store.policy().filter(subject="big-2")["display"][0] == "hide"
    assert "expected FIELD=VALUE" in mensura_command("evidence", "policy", "big-2", "--set", "=hide").err


def test_versions_are_named_by_entry_place_or_word(store, mensura_command, tmp_path):
    store.apply(update(score("big-1", "swe_marathon", "12", "15")), **ANN)
    assert mensura_command(*EXPORT, "folder", "--evidence", "evidence.sqlite").code == 0
    for before, after, cells in (("0", "now", 1), ("0", "folder", 1), ("1", "now", 0), ("folder", "now", 0)):
        told = json.loads(mensura_command("evidence", "diff", before, after, "--json").out)
        assert len(told["cells"]) == cells, (before, after)
    assert json.loads(mensura_command("evidence", "diff", "embedded", "embedded", "--json").out)["cells"] == []


def test_undo_takes_a_queued_update_off_the_list(store, mensura_command):
    waiting = update(score("big-1", "swe_marathon", "12", "15"))
    store.propose(waiting, **ANN)
    assert f"update {waiting.id} is discarded" in mensura_command("evidence", "undo", waiting.id[:8]).out
    assert store.pending().is_empty()


def test_models_are_listed_newest_first_with_their_counts(store, mensura_command):
    listed = mensura_command("evidence", "summary", "--models", "all", "--evidence", "evidence.sqlite", "--json")
    told = json.loads(listed.out)["models"]
    assert [(row["subject"], row["benchmarks"]) for row in told] == [("big-2", 1), ("small-1", 0), ("big-1", 2)]
    nobody = mensura_command("evidence", "summary", "--evidence", "evidence.sqlite", "--models", "OTHER", "--json")
    assert json.loads(nobody.out)["models"] == []


def test_a_history_goes_into_folders_alone_and_only_as_it_is(store, mensura_command, tmp_path):
    added = tmp_path / "mine.csv"
    added.write_text("model,benchmark,score,unit\nbig-2,swe_marathon,20,percent\n", encoding="utf-8")
    words = ("--evidence", "evidence.sqlite")
    assert "entries of history" not in mensura_command(*EXPORT, "with", *words, "--add", added).out
    for more in ((), ("--add", added)):
        refused = mensura_command(*EXPORT, "copy.sqlite", *words, *more)
        assert (refused.code, "copy.sqlite: a store comes with its history" in refused.err) == (2, True)
    assert not (tmp_path / "copy.sqlite").exists()
