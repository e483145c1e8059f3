"""The commands as a user types them."""

import json
import os
import signal

import polars as pl
import pytest

from mensura.cli.main import _end_when_asked, build_app, main


def test_a_command_ended_while_it_imports_prints_no_traceback(mensura_command, monkeypatch):
    def end(name):
        raise KeyboardInterrupt

    monkeypatch.setattr("mensura.cli.main.import_module", end)
    build_app.cache_clear()
    run = mensura_command("scale", "0.038")
    assert (run.code, run.out, run.err) == (130, "", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scale", "0.1", "--calibration", "nowhere.csv"], "nowhere.csv: no such file"),
        (["evidence", "check", "nowhere"], "nowhere: no such file or folder"),
        (["report", "--add", "nowhere.csv"], "nowhere.csv: no such file"),
        (["evidence", "check", "[bold]nowhere"], "[bold]nowhere: no such file or folder"),
    ],
)
def test_what_a_careless_user_types(mensura_command, arguments, message):
    run = mensura_command(*arguments)
    assert run.code == 2
    assert message in run.err
    assert "Traceback" not in run.err


def test_a_capability_is_explained_on_a_frozen_scale(mensura_command):
    told = json.loads(mensura_command("stitch", "--scale", "2026-12", "--at", "1.5", "--json").out)
    assert all(row["score"] < row["score_above"] for row in told["expected"] if row["benchmark"] == "hle")
    near = [row["capability"] for row in told["neighbours"]]
    assert near == sorted(near, reverse=True)
    assert near[0] > 1.5 > near[-1]
    assert mensura_command("stitch", "--at", "1.5").code == 2
    assert "finite number" in mensura_command("stitch", "--scale", "2026-12", "--at", "nan").err


def test_intervals_are_printed_with_how_often_they_held(mensura_command):
    run = mensura_command("extrapolate", "--rate", "0.5", "--n", "100", "--from", "pisa", "--set", "draws=20")
    assert "Can I trust this interval?" in run.out
    assert "docs/trust.md" in run.out
    assert run.out.index("Observed: pisa, ages 15") < run.out.index("pisa → world")
    assert run.out.index(
        "no domain was given; items are treated as literacy. Name another: --domain mathematics"
    ) < run.out.index("pisa → world")


@pytest.mark.parametrize("words", [["iq-bell"], ["--out", "x.svg"], []])
def test_a_figure_needs_a_name_and_a_file(mensura_command, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = mensura_command("figure", *words)
    assert run.code == 2
    assert "give a NAME and --out FILE" in run.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (pl.exceptions.ComputeError("No space left on device (os error 28)"), 2),
        (OSError(28, "No space left on device", "out.csv"), 2),
        (OSError("nobody knows"), 2),
        (pl.exceptions.ComputeError("a fault of our own"), None),
        (ValueError("(os error 28)"), None),
    ],
)
def test_only_what_the_system_refused_is_told_in_a_sentence(mensura_command, monkeypatch, fault, code):
    def fail(_):
        raise fault

    monkeypatch.setattr("mensura.calibration.chosen_lines", fail)
    if code is None:
        with pytest.raises(type(fault)):
            mensura_command("scale", "0.1", "--dimension", "all")
        return
    run = mensura_command("scale", "0.1", "--dimension", "all")
    assert run.code == code
    assert run.err.startswith("error: ") and run.err.endswith("; nothing was changed there\n")


@pytest.mark.parametrize(
    ("host", "mode", "warnings"),
    [("127.0.0.1", 0o600, 0), ("127.0.0.1", 0o644, 1), ("0.0.0.0", 0o600, 1), ("0.0.0.0", 0o644, 2)],
)
def test_a_secret_that_others_could_read_is_warned_of(mensura_command, monkeypatch, tmp_path, host, mode, warnings):
    pytest.importorskip("uvicorn", reason="uvicorn is not installed (extra: serve)")
    served = []
    monkeypatch.setattr("mensura.serve.serve_site", lambda store, **options: served.append((store, options)))
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret of more than sixteen characters", encoding="utf-8")
    secret.chmod(mode)
    run = mensura_command("serve", "--host", host, "--port", "8123", "--reviewer-secret-file", secret, "--name", "a.b")
    assert run.code == 0, run.err
    assert run.err.count("warning:") == warnings
    assert f"http://{host}:8123/" in run.err
    [(store, options)] = served
    assert (store, options["host"], options["port"], options["names"]) == (None, host, 8123, ["a.b"])
    assert mensura_command("serve").code == 0
    assert served[1][1]["names"] == [] and served[1][1]["secret"] is None


@pytest.mark.parametrize(("chosen", "threads"), [(None, "1"), ("8", "8")])
def test_matrices_take_one_thread_unless_the_user_chooses_more(monkeypatch, chosen, threads):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if chosen:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", chosen)
    monkeypatch.setattr("sys.argv", ["mensura", "responses", "--help"])
    with pytest.raises(SystemExit):
        main()
    assert os.environ.get("OPENBLAS_NUM_THREADS") == threads


def test_a_signal_ends_the_program_as_a_key_does_and_a_forked_worker_at_once(monkeypatch):
    handlers, last, killed, process = [], [], [], [7]
    monkeypatch.setattr("mensura.cli.main.signal.signal", lambda number, handler: handlers.append((number, handler)))
    monkeypatch.setattr("mensura.cli.main.atexit.register", last.append)
    monkeypatch.setattr("mensura.cli.main.os.getpid", lambda: process[0])
    monkeypatch.setattr("mensura.cli.main.os.kill", lambda *given: killed.append(given))
    _end_when_asked()
    [(number, end)], [die] = handlers, last
    assert number == signal.SIGTERM
    die()
    assert killed == [], "nobody asked"
    with pytest.raises(KeyboardInterrupt):
        end()
    assert handlers[-1] == (signal.SIGTERM, signal.SIG_DFL) and killed == []
    die()
    assert killed == [(7, signal.SIGTERM)]
    process[0] = 8
    with pytest.raises(KeyboardInterrupt):
        end()
    assert killed[1:] == [(8, signal.SIGTERM)]
