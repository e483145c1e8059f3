"""The commands as a user types them."""

import json
import os
import subprocess
import sys

import polars as pl
import pytest

from mensura.cli.main import build_app, main


def test_a_command_ended_while_it_imports_prints_no_traceback(mensura_command, monkeypatch):
    def end(name):
        raise KeyboardInterrupt

    monkeypatch.setattr("mensura.cli.main.import_module", end)
    build_app.cache_clear()
    run = mensura_command("scale", "0.038")
    assert (run.code, run.out, run.err) == (130, "", "")


def test_scale_json_holds_every_reading(mensura_command):
    run = mensura_command("scale", "0.038", "--json")
    found = json.loads(run.out)
    assert {name: round(found[name], 2) for name in ("rate", "level", "one_in", "percentile", "iq")} == {
        "rate": 0.04,
        "level": 1.92,
        "one_in": 26.32,
        "percentile": 96.2,
        "iq": 126.62,
    }


@pytest.mark.parametrize(
    ("arguments", "rate"),
    [
        (["--iq", "130"], 0.02275),
        (["--one-in", "26"], 1 / 26),
        (["--percentile", "96"], 0.04),
        (["--level", "2"], 10**-1.5),
        (["--level", "2.3", "--dimension", "volume"], 10 ** (0.5 - (1.5 * 2.3 - 0.55))),
    ],
)
def test_scale_starts_from_any_unit(mensura_command, arguments, rate):
    run = mensura_command("scale", *arguments, "--json")
    assert json.loads(run.out)["rate"] == pytest.approx(rate, rel=1e-3)


def test_scale_prints_for_people_and_carries_intervals(mensura_command):
    run = mensura_command("scale", "0.038", "--low", "0.027", "--high", "0.053")
    assert "1 in 26.32" in run.out
    assert "124.2 to 128.9" in run.out
    both = json.loads(mensura_command("scale", "0.038", "--low", "0.027", "--high", "0.053", "--json").out)
    assert both["low"]["iq"] < both["iq"] < both["high"]["iq"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scale"], "give exactly one of a rate, --iq"),
        (["scale", "38"], "is it a percentage? 38% is 0.38"),
        (["scale", "0.1", "--dimension", "charm"], "'charm' has no calibrated line; choose one of volume"),
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


def test_evidence_summary_counts(mensura_command, tmp_path):
    run = mensura_command("evidence", "summary", "--json", "--out", tmp_path)
    counts = json.loads(run.out)
    assert (counts["models"], counts["benchmarks"], counts["scores"]) == (166, 44, 3065)
    assert pl.read_csv(tmp_path / "benchmark_coverage.csv").height == 44


def test_evidence_models_export_and_check(mensura_command, tmp_path):
    assert "Claude" in mensura_command("evidence", "summary", "--models", "anthropic").out
    assert mensura_command("export", "evidence", "--to", "file", "--out", tmp_path / "copy").code == 0
    described = {one["name"] for one in json.loads((tmp_path / "copy/croissant.json").read_text())["distribution"]}
    assert described == {path.name for path in (tmp_path / "copy").glob("*.csv")}
    assert "no fault found" in mensura_command("evidence", "check", tmp_path / "copy").out


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


def test_the_ruler_needs_no_table_library():
    asked = "import sys; from mensura.cli.main import build_app as build; "
    asked += "build('scale')(['scale', '0.038'], standalone_mode=False); "
    found = subprocess.run(
        [sys.executable, "-c", asked + "print({'polars', 'scipy'} & set(sys.modules))"], capture_output=True, text=True
    )
    assert found.stdout.endswith("set()\n")
