"""The commands of moving evidence, as a shell sees them: JSON out, files and pipes in, clear refusals."""

import io
import json
from types import SimpleNamespace

from tests.ledger.small import ANN, MAPPING, score, update


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


def test_a_capture_is_read_to_its_last_byte_and_no_further_than_allowed(store, mensura_command, monkeypatch, tmp_path):
    monkeypatch.setattr("mensura.ledger.MOST_BYTES", 30)
    monkeypatch.setattr("mensura.ledger.captures.MOST_BYTES", 30)
    for size, told in ((30, "kept 30 bytes"), (31, "31 bytes; at most 30"), (90, "31 bytes; at most 30")):
        (tmp_path / "x.txt").write_bytes(b"x" * size)
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"y" * size)))
        for given in ("x.txt", "-"):
            run = mensura_command("evidence", "capture", "board", given)
            assert told in run.out + run.err


def test_a_shipped_mapping_is_printed_as_its_file_has_it(mensura_command):
    from mensura.ledger import mapping_file

    printed = mensura_command("evidence", "mappings", "swe_marathon").out
    assert printed == mapping_file("swe_marathon").read_text(encoding="utf-8")


def test_undo_takes_a_queued_update_off_the_list(store, mensura_command):
    waiting = update(score("big-1", "swe_marathon", "12", "15"))
    store.propose(waiting, **ANN)
    assert f"update {waiting.id} is discarded" in mensura_command("evidence", "undo", waiting.id[:8]).out
    assert store.pending().is_empty()
