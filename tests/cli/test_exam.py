"""``mensura exam`` as a newcomer uses it: from a new exam to a report on people and a recorded model."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from types import SimpleNamespace

import polars as pl
import pytest

from mensura.cli.exam import _permissions_of
from mensura.exam import AnswerStore, read_exam
from tests.serve.test_exam_app import Taker


@pytest.fixture
def sat(mensura_command, tmp_path):
    """A new exam, seven people who took it over HTTP, and a recorded model."""
    from mensura.serve.exam_app import exam_app

    assert mensura_command("exam", "new", tmp_path / "my").code == 0
    exam = read_exam(tmp_path / "my")
    store = AnswerStore(tmp_path / "answers.db", exam)
    codes = []
    for number in range(7):
        taker = Taker(exam_app(exam, store))
        taker.begin()
        taker.fill("/about", age="30–44", schooling="secondary school")
        taker.fill("/start")
        form = store.find(taker.code).form
        for place, name in enumerate(form.items):
            item = exam.by_name[name]
            right = item.check or (number + place) % 3 > 0
            if item.options:
                shown = form.options[name]
                wanted = item.right_options() if right else {next(p for p in shown if p not in item.right_options())}
                many = item.scoring == "several"
                given = {f"option-{shown.index(p)}" if many else "option": str(shown.index(p)) for p in wanted}
            else:
                given = {"text": item.key[0] if right else "no idea"}
            taker.fill("/answer", item=name, seconds="0", **given)
        taker.fill("/finish")
        codes.append(taker.code)
    store.close()
    text = (
        (tmp_path / "my" / "exam.toml")
        .read_text(encoding="utf-8")
        .replace("fastest_seconds = 1.0", "fastest_seconds = 0")
    )
    (tmp_path / "my" / "exam.toml").write_text(text, encoding="utf-8")
    asked = ("exam", "sit", tmp_path / "my", "--model", "recorded/exam-example", "--out", tmp_path / "runs" / "one")
    assert mensura_command(*asked).code == 0
    return tmp_path, codes


SIT = ("exam", "sit", "example", "--model", "recorded/exam-example", "--repeats", "2")


@pytest.mark.slow
def test_from_a_new_exam_to_the_report(sat, mensura_command):
    folder, codes = sat
    out = folder / "report"
    run = mensura_command("exam", "report", folder / "my", folder / "answers.db", folder / "runs", "--out", out)
    assert run.code == 0, run.err
    assert "7 people (0 left out), 1 model, 16 items" in run.out
    comparison = pl.read_csv(out / "comparison.csv")
    assert comparison["subject"].to_list() == ["people", "recorded/exam-example"]
    assert comparison["rate"][1] == pytest.approx(12 / 16)
    takers = (out / "takers.csv").read_text(encoding="utf-8")
    assert not any(code in takers for code in codes)
    assert "secondary school" not in takers
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "recorded/exam-example" in page
    assert "not stated" in (out / "checklist.md").read_text(encoding="utf-8")
    assert "http" not in "".join(
        part for part in page.split('"') if part.startswith(("http:", "https:")) and "w3.org" not in part
    )


@pytest.mark.slow
def test_a_code_is_forgotten_and_the_person_leaves_the_report(sat, mensura_command, monkeypatch):
    folder, codes = sat
    assert mensura_command("exam", "forget", codes[0], "--store", folder / "answers.db").code == 0
    again = mensura_command("exam", "forget", codes[0], "--store", folder / "answers.db")
    assert (again.code, "no answers belong to it" in again.err) == (2, True)
    run = mensura_command("exam", "report", folder / "my", folder / "answers.db", folder / "runs")
    assert "6 people (0 left out)" in run.out
    reader = sqlite3.connect(folder / "answers.db")
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM answers").fetchone()
    monkeypatch.setattr("mensura.exam.records.PATIENCE", 0.0)
    delayed = mensura_command("exam", "forget", codes[1], "--store", folder / "answers.db")
    assert (delayed.code, "the text is still in the file" in " ".join(delayed.out.split())) == (0, True)
    reader.close()


@pytest.mark.slow
def test_the_report_notes_a_jump_of_the_servers_clock(sat, mensura_command):
    folder, _ = sat
    ahead = [0.0]
    store = AnswerStore(folder / "answers.db", read_exam(folder / "my"), clock=lambda: time.time() + ahead[0])
    ahead[0] = 7200.0
    store.begin()
    store.close()
    run = mensura_command("exam", "report", folder / "my", folder / "answers.db")
    assert "the server's clock moved during the exam (+7,200 s)" in " ".join(run.out.split())


@pytest.mark.slow
def test_margins_estimates_and_a_pool(sat, mensura_command):
    folder, _ = sat
    exam = read_exam(folder / "my")
    rates = pl.DataFrame({"item": [item.item for item in exam.scored], "rate": [0.6] * 16})
    rates.write_csv(folder / "rates.csv")
    pl.DataFrame({"question": ["age"], "answer": ["30–44"], "share": [1.0]}).write_csv(folder / "margins.csv")
    words = ("--estimates", folder / "rates.csv", "--margins", folder / "margins.csv", "--pool", folder / "pool")
    run = mensura_command("exam", "report", folder / "my", folder / "answers.db", *words, "--out", folder / "out")
    assert run.code == 0, run.err
    assert "combined_low" in pl.read_csv(folder / "out" / "items.csv").columns
    assert mensura_command("people", "summary", folder / "pool").code == 0


def test_check_prints_every_error(mensura_command, tmp_path):
    mensura_command("exam", "new", tmp_path / "my")
    items = tmp_path / "my" / "items.csv"
    items.write_text(items.read_text(encoding="utf-8").replace("9:29,choice", "9:30,choice"), encoding="utf-8")
    settings = tmp_path / "my" / "exam.toml"
    settings.write_text("colour = 3\n" + settings.read_text(encoding="utf-8"), encoding="utf-8")
    run = mensura_command("exam", "check", tmp_path / "my")
    assert run.code == 2
    assert "2 errors" in run.err
    assert "exam.toml, colour: unknown; remove it" in run.err
    assert "items.csv, row 2" in run.err


def test_from_a_log_without_items_says_so(mensura_command, tmp_path):
    (tmp_path / "samples_x.jsonl").write_text('{"doc_id": 1, "doc": {}}\n', encoding="utf-8")
    run = mensura_command("exam", "new", tmp_path / "exam", "--from", tmp_path / "samples_x.jsonl")
    assert run.code == 2
    assert "no item with a text and a key" in run.err


def test_a_file_without_invitations_is_refused(mensura_command, tmp_path):
    (tmp_path / "tokens.txt").write_text("\n \n", encoding="utf-8")
    words = ("--store", tmp_path / "a.db", "--tokens", tmp_path / "tokens.txt")
    run = mensura_command("exam", "serve", "example", *words)
    assert run.code == 2
    assert "no invitation in it; write one per line" in run.err


def test_a_plan_in_words(mensura_command):
    run = mensura_command("exam", "plan", "example", "--precision", "0.05", "--pay-per-hour", "12")
    assert run.code == 0
    assert "±0.05 (90%)" in run.out


@pytest.mark.slow
def test_serve_answers_and_ends_when_asked(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "mensura", "exam", "serve", "example", "--store", str(tmp_path / "a.db")]
    process = subprocess.Popen([*command, "--port", str(port)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(3000):
            try:
                page = urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).read().decode()
                break
            except OSError:
                time.sleep(0.1)
        assert "Everyday reasoning" in page
    finally:
        os.kill(process.pid, signal.SIGINT)
        process.wait(300)
    assert (tmp_path / "a.db").exists()


@pytest.mark.slow
def test_codes_of_a_panel_and_tables_of_a_private_store_are_for_their_owner(sat, mensura_command):
    folder, _ = sat
    run = mensura_command("exam", "codes", folder / "my", "--store", folder / "answers.db", "--out", folder / "codes")
    assert run.code == 0
    assert "7 of 7 sittings are complete" in run.out
    table = pl.read_csv(folder / "codes" / "codes.csv")
    assert table.columns == ["id", "code", "state", "begun", "finished"]
    assert table["code"].str.len_chars().to_list() == [8] * 7
    out = folder / "private"
    mensura_command("exam", "report", folder / "my", folder / "answers.db", "--out", out)
    assert (out / "takers.csv").is_file()
    for path in (out, *out.rglob("*"), folder / "codes" / "codes.csv"):
        assert path.stat().st_mode & 0o077 == 0, path
    missing = mensura_command("exam", "codes", folder / "my", "--store", folder / "none.db")
    assert missing.code == 2
    assert "no such file" in missing.err


def test_what_a_private_store_gives_is_as_private_as_the_store(tmp_path):
    """A file that only its owner may read makes files and folders that only its owner may enter."""
    store, out = tmp_path / "answers.db", tmp_path / "out"
    for mode, folder, file in ((0o600, 0o700, 0o600), (0o640, 0o750, 0o640), (0o644, 0o755, 0o644)):
        store.touch()
        store.chmod(mode)
        with _permissions_of([store], out, None, tmp_path / "absent"):
            (out / "deep").mkdir(parents=True, exist_ok=True)
            (out / "deep" / "table.csv").touch()
            for path in (out, out / "deep"):
                path.chmod(0o755)
            (out / "deep" / "table.csv").chmod(0o644)
        modes = [path.stat().st_mode & 0o777 for path in (out, out / "deep", out / "deep" / "table.csv")]
        assert (modes[0], modes[2]) == (folder, file)
    with _permissions_of([], out):
        out.chmod(0o755)
    assert out.stat().st_mode & 0o777 == 0o755, "without a store nothing is private"


def test_a_new_exam_says_what_to_do_next_and_a_check_counts(mensura_command, tmp_path):
    run = mensura_command("exam", "new", tmp_path / "my")
    assert run.out == (
        f"wrote {tmp_path / 'my'}: 16 items. Edit exam.toml and items.csv, then: mensura exam check {tmp_path / 'my'}\n"
    )
    checked = mensura_command("exam", "check", tmp_path / "my").out
    exam = read_exam(tmp_path / "my")
    assert f": 16 items, {exam.per_person} per person. Attention checks: {len(exam.checks)}. " in checked
    assert f"Questions about the person: {len(exam.settings.questions)}. No errors.\n" in checked
    assert "--map: needs --from SOURCE" in mensura_command("exam", "new", tmp_path / "x", "--map", "a=b").err


def test_of_many_items_left_out_ten_are_named_and_the_others_counted(mensura_command, tmp_path, monkeypatch):
    left = []
    monkeypatch.setattr("mensura.exam.file.exam_from", lambda *_: (SimpleNamespace(scored=["q"] * 3), left))
    (tmp_path / "source.csv").touch()
    asked = ("exam", "new", tmp_path / "e", "--from", tmp_path / "source.csv")
    for count, more in ((10, []), (12, ["note: … and 2 more left out"])):
        left[:] = [f"item {at}" for at in range(count)]
        lines = mensura_command(*asked).out.splitlines()
        assert lines[0] == f"wrote {tmp_path / 'e'}: 3 items. Edit consent and instructions in exam.toml"
        assert lines[1:] == [f"note: left out: item {at}" for at in range(10)] + more


def test_one_store_and_any_number_of_folders_are_gathered(mensura_command, tmp_path):
    for name in ("a.db", "b.db"):
        (tmp_path / name).touch()
    run = mensura_command("exam", "report", "example", tmp_path / "a.db", tmp_path / "b.db")
    assert (run.code, "2 stores; give one store and any number of folders" in run.err) == (2, True)


def test_a_sitting_counts_right_answers_and_a_dry_run_asks_nobody(mensura_command, tmp_path):
    asked = mensura_command(*SIT[:-1], 1, "--dry-run")
    assert asked.code == 0 and asked.out.startswith("16 questions to recorded/exam-example: 0 answered already")
    told = json.loads(mensura_command(*SIT[:-1], 1, "--json").out)["outcomes"]
    right = sum(row["n"] for row in told if row["outcome"] == "right")
    assert f" is right in {right} of {sum(row['n'] for row in told)} answers.\n" in mensura_command(*SIT[:-1], 1).out


def test_a_plan_takes_rates_seconds_pay_and_fee(mensura_command, tmp_path):
    quick, default = ("--seconds-per-item", 15), mensura_command("exam", "plan", "example", "--json").out

    def planned(*words):
        return json.loads(mensura_command("exam", "plan", "example", "--precision", 0.05, *words, "--json").out)

    plain, rich, slow = planned("--pay-per-hour", 12), planned("--pay-per-hour", 24, "--fee", 0.5), planned(*quick)
    assert [row["cost"] for row in plain["plan"]] == pytest.approx([12 * row["hours"] for row in plain["plan"]])
    assert [row["cost"] for row in rich["plan"]] == pytest.approx([3 * row["cost"] for row in plain["plan"]])
    for short, long in zip(slow["plan"], plain["plan"], strict=True):
        assert long["minutes"] - short["minutes"] == pytest.approx(long["items_per_person"] * 30 / 60)
    loose = json.loads(mensura_command("exam", "plan", "example", "--precision", 0.1, "--json").out)["plan"]
    assert loose[0]["people"] < plain["plan"][0]["people"] < json.loads(default)["plan"][0]["people"]


def test_a_report_takes_margins_and_estimates_from_their_own_files(mensura_command, tmp_path, monkeypatch):
    class Handed(Exception):  # noqa: N818 -- no error: what was handed over
        pass

    def hand(*_, **given):
        raise Handed({name: None if given[name] is None else given[name].columns for name in ("margins", "estimates")})

    monkeypatch.setattr("mensura.exam.report.report_exam", hand)
    (tmp_path / "margins.csv").write_text("question,answer,share\nage,old,1\n", encoding="utf-8")
    (tmp_path / "rates.csv").write_text("item,rate\nq1,0.5\n", encoding="utf-8")
    asked = ("exam", "sit", "example", "--model", "recorded/exam-example", "--out", tmp_path / "run")
    assert mensura_command(*asked).code == 0
    margins, estimates = ("--margins", tmp_path / "margins.csv"), ("--estimates", tmp_path / "rates.csv")
    for words, expected in (
        (margins, {"margins": ["question", "answer", "share"], "estimates": None}),
        (estimates, {"margins": None, "estimates": ["item", "rate"]}),
    ):
        with pytest.raises(Handed) as given:
            mensura_command("exam", "report", "example", tmp_path / "run", *words)
        assert given.value.args == (expected,)


def test_a_server_gets_invitations_proxies_and_names_as_they_are_given(mensura_command, tmp_path, monkeypatch):
    served = []
    monkeypatch.setattr("mensura.serve.exam_app.serve_exam", lambda exam, store, **how: served.append(how))
    (tmp_path / "tokens.txt").write_text("one\n\n two \n", encoding="utf-8")
    words = ("exam", "serve", "example", "--store", tmp_path / "a.db")
    run = mensura_command(*words, "--tokens", tmp_path / "tokens.txt", "--trusted-proxy", "10.0.0.1", "--name", "a.org")
    assert run.code == 0 and "http://127.0.0.1:8000/ (Ctrl-C ends; answers are kept in " in run.err, run.err
    assert mensura_command(*words).code == 0
    usual = {"host": "127.0.0.1", "port": 8000, "secret": None}
    assert served == [
        {**usual, "tokens": ["one", "two"], "proxies": ["10.0.0.1"], "names": ["a.org"]},
        {**usual, "tokens": [], "proxies": [], "names": []},
    ]
