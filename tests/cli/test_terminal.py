"""The terminal shows what is there: brackets are no markup, and no control character gets through."""

import json

import polars as pl
import pytest

import mensura
from mensura.cli import output, tables

HOSTILE = "evil\x1b[2J\x9b31m\u202ename"


@pytest.fixture
def printed(monkeypatch, capsys):
    """What a call prints on a terminal of 120 columns, colours and all."""
    monkeypatch.setattr(output.console, "_width", 120)

    def run(call, *arguments, **settings):
        call(*arguments, **settings)
        return capsys.readouterr().out

    return run


def test_brackets_in_cells_headers_and_titles_are_text(printed):
    table = pl.DataFrame({"subject": ["gpt-5 [high]", "gpt-5 [low]", "[/low]", ":smile:"], "rate [0, 1]": [1, 2, 3, 4]})
    shown = printed(tables.print_table, table, title="Scores of [bold]mine[/bold].csv")
    for text in ("gpt-5 [high]", "gpt-5 [low]", "[/low]", ":smile:", "rate [0, 1]", "[bold]mine[/bold].csv"):
        assert text in shown


def test_control_characters_are_shown_and_not_obeyed(printed):
    table = pl.DataFrame({f"head{HOSTILE}": [HOSTILE, "two\nlines", "tab\there"]})
    shown = printed(tables.print_table, table, title=HOSTILE)
    assert shown.count(r"evil\x1b[2J\x9b31m\u202ename") == 3
    assert r"two\nlines" in shown
    assert r"tab\there" in shown
    assert not set(shown) & {"\x1b", "\x9b", "\u202e", "\t"}


@pytest.mark.parametrize("text", ["[/low] and [red]", HOSTILE, "lone \udcff surrogate"])
def test_plain_lines_notes_and_warnings_are_text(printed, text):
    for shown in (printed(output.console.print, text), printed(output.print_note, text, kind="warning")):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert output.visible(text) in shown


def test_columns_stay_aligned_around_a_hostile_name(printed):
    table = pl.DataFrame({"subject": [HOSTILE, "plain"], "iq": [100, 101]})
    lines = printed(tables.print_table, table, title="").splitlines()
    assert len({len(line) for line in lines if "│" in line}) == 1


def test_json_holds_the_name_and_no_raw_control_character(printed):
    shown = printed(output.print_json, {"name": HOSTILE + "é"})
    assert json.loads(shown) == {"name": HOSTILE + "é"}
    assert "é" in shown
    assert not set(shown) & {"\x1b", "\x9b", "\u202e"}


def test_commands_print_names_of_a_user_as_they_are(mensura_command, tmp_path):
    added = tmp_path / "mine.csv"
    names = ["Lab [high]", "Lab [low]", "Lab [/low]"]
    rows = [f"own-{number},{name},2026-01-01,gpqa_diamond,0.{number}1,fraction" for number, name in enumerate(names)]
    added.write_text("subject,provider,released,benchmark,score,unit\n" + "\n".join(rows), encoding="utf-8")
    run = mensura_command("evidence", "summary", "--models", "all", "--add", added)
    assert run.code == 0, run.err
    assert [name for name in names if name not in run.out] == []


def test_an_error_shows_the_value_and_obeys_nothing_in_it(mensura_command):
    run = mensura_command("evidence", "check", f"[bold]{HOSTILE}")
    assert run.code == 2
    assert r"[bold]evil\x1b[2J" in run.err
    assert "\x1b[2J" not in run.err


def test_a_warning_of_a_fit_may_hold_brackets(mensura_command, tmp_path):
    scores = tmp_path / "scores.csv"
    rows = [f"m{m} [/x],b{b} [low],{0.1 + 0.8 * ((m + 2 * b) % 7) / 7:.2f}" for m in range(8) for b in range(6)]
    scores.write_text("subject,benchmark,score\n" + "\n".join(rows), encoding="utf-8")
    run = mensura_command("stitch", scores)
    assert run.code == 0, run.err
    assert "m3 [/x]" in run.out
    assert "b2 [low]" in run.out


def test_tables_are_written_as_the_set_of_their_command(mensura_command, tmp_path):
    out = tmp_path / "out"
    first = mensura_command("cost", "--frontier", "--out", out)
    assert first.code == 0, first.err
    (out / "notes.txt").write_text("mine", encoding="utf-8")
    assert mensura_command("people", "summary", "--out", out).code == 0
    assert mensura_command("cost", "--at-least", "120", "--out", out).code == 0
    files = {path.name for path in out.iterdir() if not path.name.startswith(".")}
    told = {"cost.settings.json", "people-summary.settings.json"}
    assert files == {"cheapest.csv", "populations.csv", "pools.csv", "notes.txt", *told}


def test_a_folder_of_tables_says_what_they_depend_on(mensura_command, tmp_path):
    run = mensura_command("cost", "--at-least", "120", "--out", tmp_path / "out", "--json")
    told = json.loads((tmp_path / "out" / "cost.settings.json").read_text(encoding="utf-8"))
    assert told == json.loads(run.out)["provenance"]
    assert (told["mensura"], told["command"]) == (mensura.__version__, "cost")
    assert told["settings"]["at_least"] == 120
    assert told["evidence"] == mensura.load().edition


def test_a_table_in_the_way_of_another_command_is_refused(mensura_command, tmp_path):
    (tmp_path / "populations.csv").write_text("mine", encoding="utf-8")
    run = mensura_command("people", "summary", "--out", tmp_path)
    assert run.code == 2
    assert "was not written by mensura" in run.err
    assert (tmp_path / "populations.csv").read_text(encoding="utf-8") == "mine"


def test_a_folder_where_a_file_is_to_be_written_is_a_sentence_not_a_traceback(mensura_command, tmp_path):
    (tmp_path / "copy.svg").mkdir()
    run = mensura_command("figure", "bases", "--out", tmp_path / "copy.svg")
    assert run.code == 2
    assert "copy.svg: a folder stands where a file is to be written" in run.err
    assert list(tmp_path.iterdir()) == [tmp_path / "copy.svg"]


def test_a_name_the_system_refuses_is_a_sentence_not_a_traceback(mensura_command, tmp_path):
    run = mensura_command("export", "evidence", "--to", "file", "--out", tmp_path / ("n" * 300))
    assert run.code == 2
    assert "File name too long" in run.err
    assert "Traceback" not in run.err


def test_the_version_is_printed(mensura_command):
    run = mensura_command("--version")
    assert (run.code, run.out.strip()) == (0, f"mensura {mensura.__version__}")


def test_a_line_stays_whole_on_a_narrow_terminal(printed, monkeypatch, tmp_path):
    monkeypatch.setattr(output.console, "_width", 20)
    long = f"wrote 12 rows to {tmp_path}/a-folder-with-a-name-of-its-own/table.csv"
    assert printed(output.console.print, long) == f"{long}\n"
    assert printed(output.print_note, long) == f"note: {long}\n"


def test_tables_and_derivations_are_broken_within_a_narrow_terminal(mensura_command, few_models):
    ruler = mensura_command("scale", "0.1", "--dimension", "all", width=50).out
    assert "percent of people" in ruler and "percent of people do not succeed" not in ruler
    assert max(len(line) for line in ruler.splitlines() if line[:1] in "┏┃┡│└") <= 50
    words = ("iq", "gpt-5.5", "--explain", "--method", "published", "--set", "draws=0", "--evidence", few_models)
    tree = mensura_command(*words, width=60).out.splitlines()
    assert max(map(len, tree)) <= 60
    assert len(tree) > len(mensura_command(*words, width=400).out.splitlines())


@pytest.mark.parametrize("name", ["console", "notices"])
def test_only_styles_that_are_asked_for_colour_a_terminal(name, monkeypatch, capsys):
    """A number, a quoted word or an address is no reason for a colour of its own."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    to = output.PlainConsole(stderr=name == "notices")
    to.print("12 rows of 'x' at https://example.org")
    to.print("dim", style="dim")
    shown = capsys.readouterr()
    text, other = (shown.err, shown.out) if name == "notices" else (shown.out, shown.err)
    assert text.startswith("12 rows of 'x' at https://example.org\n\x1b[2mdim\x1b[0m")
    assert other == ""


def test_what_is_beside_the_result_goes_to_the_other_stream(mensura_command, tmp_path):
    run = mensura_command("people", "summary", "--out", tmp_path / "out")
    assert f"wrote populations.csv, pools.csv to {tmp_path / 'out'}" in run.err
    assert "wrote" not in run.out
