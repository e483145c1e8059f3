"""Bars: on a terminal, on the stream of errors, gone when the work is done; silent in a pipe."""

import contextvars
import io
import json
import math
import sys
import time
from datetime import date
from pathlib import Path

import polars as pl
import pytest
import typer
from typer.testing import CliRunner

import mensura
from mensura.cli import main, output
from mensura.cli.asking import asking_bar
from mensura.cli.output import console, print_json, progress_bar, waiting
from mensura.llm import Standing


def work():
    with progress_bar("worlds", 3) as advance:
        for _ in range(3):
            advance()


def ask():
    with asking_bar("asking") as advance:
        advance(Standing(done=3, total=3, stored=0, failed=0, cost=0.5, rate=2.0, seconds_left=None))


@pytest.mark.parametrize(("run", "words"), [(work, ("worlds", "3/3")), (ask, ("asking", "3/3", "2.0/s · $0.50"))])
def test_a_bar_is_drawn_on_a_terminal_and_cleared_in_the_end(run, words, monkeypatch, capsys):
    run()
    assert "".join(capsys.readouterr()).strip() == ""
    be_a_terminal(monkeypatch)
    run()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [word for word in words if word not in shown.err] == []
    assert shown.err.endswith("\x1b[2K")


def be_a_terminal(monkeypatch):
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm-256color", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)


class Screen(io.StringIO):
    """What a terminal gets, from both streams in turn."""

    def wait_for(self, text, *, after=0):
        for _ in range(2000):
            if text in self.getvalue()[after:]:
                return
            time.sleep(0.01)
        raise AssertionError(f"{text} never came")


def run_silently(monkeypatch, command):
    """Run ``command`` as ``mensura where`` on a terminal that loses its patience at once; return what it got."""
    screen = Screen()
    be_a_terminal(monkeypatch)
    monkeypatch.setattr(output, "SILENCE", 0.01)
    monkeypatch.setattr(sys, "argv", ["mensura", "where"])
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(main, "run", lambda _: command(screen))
    main.main()
    return screen.getvalue()


@pytest.mark.parametrize("answer", [lambda: console.print("the answer"), lambda: print_json({"the answer": 42})])
def test_every_silent_command_shows_a_bar_that_goes_before_the_answer(monkeypatch, answer):
    def slow(screen):
        screen.wait_for("mensura where ━")
        answer()

    before, _, after = run_silently(monkeypatch, slow).partition("the answer")
    assert before.endswith(("\x1b[2K", '\x1b[2K{"'))
    assert "mensura where" not in after


def test_the_bar_comes_back_when_a_command_is_silent_again(monkeypatch):
    def slow_twice(screen):
        screen.wait_for("━")
        console.print("half")
        screen.wait_for("━", after=len(screen.getvalue()))

    assert run_silently(monkeypatch, slow_twice).endswith("\x1b[2K")


def test_a_bar_with_a_count_stands_alone(monkeypatch):
    def counted(screen):
        screen.wait_for("mensura where ━")
        with progress_bar("worlds", 3):
            screen.wait_for("worlds")
            seen = len(screen.getvalue())
            time.sleep(0.2)
            assert "mensura where" not in screen.getvalue()[seen:]

    run_silently(monkeypatch, counted)


def test_a_server_and_a_question_show_no_bar(monkeypatch):
    def serve(screen):
        with waiting.paused():
            time.sleep(0.2)

    assert "mensura" not in run_silently(monkeypatch, serve)


def test_json_is_plain_a_number_that_is_not_finite_is_null_and_no_control_character_passes(capsys):
    print_json(
        {"day": date(2026, 3, 1), "path": Path("a/b"), "rows": [(1, math.nan), {2: math.inf}], "name": "é\x9b\u202e"}
    )
    printed = capsys.readouterr().out
    assert printed == (
        '{"day": "2026-03-01", "path": "a/b", "rows": [[1, null], {"2": null}], "name": "é\\u009b\\u202e"}\n'
    )


def test_texts_are_printed_as_they_are_and_stay_on_their_line(capsys, monkeypatch):
    monkeypatch.setattr(console, "_width", 20)
    console.print("[bold]a :smile: b[/bold] \x1b[2J and more than twenty columns", "two\nlines")
    assert capsys.readouterr().out == ("[bold]a :smile: b[/bold] \\x1b[2J and more than twenty columns two\nlines\n")


def test_a_remark_names_its_kind(capsys):
    output.print_notes(["one", "two"])
    output.print_notes(["three"], "warning")
    assert capsys.readouterr().out == "note: one\nnote: two\nwarning: three\n"


def test_out_and_json_contain_the_tables_the_facts_and_their_origin(mensura_command, tmp_path):
    """What depends on the place of the output is no part of the origin."""
    out = tmp_path / "o"
    run = mensura_command("scale", "--iq", "130", "--out", out)
    assert run.err == f"wrote scale.csv, dimensions.csv to {out}\n"
    expected = {"mensura": mensura.__version__, "command": "scale", "evidence": None}
    origin = json.loads((out / "scale.settings.json").read_text(encoding="utf-8"))
    assert (out / "scale.settings.json").read_text(encoding="utf-8").startswith('{\n "mensura": ')
    assert origin == json.loads(mensura_command("scale", "--iq", "130", "--json").out)["provenance"]
    assert {name: origin[name] for name in expected} == expected
    assert origin["settings"]["iq"] == 130.0 and not {"out", "as_json", "target"} & set(origin["settings"])
    assert {path.name for path in out.iterdir()} >= {"scale.csv", "scale.settings.json"}


def test_without_a_command_there_is_no_origin_and_nothing_to_write(capsys):
    emit = contextvars.Context().run
    emit(output.emit, {"t": pl.DataFrame({"a": [1]})})
    assert "".join(capsys.readouterr()) == ""
    assert emit(output.provenance) == {"mensura": mensura.__version__, "command": "", "settings": {}, "evidence": None}
    assert emit(output.given_options) == []


def test_options_that_a_call_gives_are_told_from_defaults():
    program = typer.Typer()
    given = []

    @program.command()
    def run(context: typer.Context, one: int = 1, two: list[str] | None = None, path: Path = Path("x")) -> None:
        output.note_command(context)
        output.note_settings({"rare": ("a", 2)})
        output.note_evidence({"edition": "e"})
        given.append((output.given_options(), output.provenance()))

    contextvars.copy_context().run(CliRunner().invoke, program, ["--two", "a"], catch_exceptions=False)
    [(names, origin)] = given
    assert names == ["two"]
    assert origin["settings"] == {"one": 1, "path": "x", "rare": ["a", 2], "two": ["a"]}
    assert (origin["command"], origin["evidence"]) == ("", {"edition": "e"})


def test_further_files_are_written_and_named_beside_the_tables(tmp_path):
    frame = pl.DataFrame({"cell": ["=1+1", "a"], "n": [1, -2]})
    output.write_tables(tmp_path / "o", {"t": frame}, writer="people rates", texts={"card.md": "# é\n"})
    assert (tmp_path / "o" / "t.csv").read_text(encoding="utf-8") == "cell,n\n'=1+1,1\na,-2\n"
    assert (tmp_path / "o" / "card.md").read_text(encoding="utf-8") == "# é\n"
    assert (tmp_path / "o" / "people-rates.settings.json").is_file()
    output.write_tables(tmp_path / "o", {"u": frame}, writer="people rates")
    assert not (tmp_path / "o" / "t.csv").exists(), "what the same command wrote before is replaced"


def test_a_terminal_gets_texts_without_colours_of_their_own(monkeypatch):
    be_a_terminal(monkeypatch)
    monkeypatch.delenv("NO_COLOR")
    plain = output.PlainConsole()
    plain.file = io.StringIO()
    plain.print("12 of 'x' at https://a.org, True")
    assert plain.file.getvalue() == "12 of 'x' at https://a.org, True\n"
