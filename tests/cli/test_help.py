"""What a user is told who does not yet know the commands."""

import sys

import pytest
import typer

from mensura.cli.main import COMMANDS, build_app, main


def commands(command, path=""):
    """Every leaf command with its path."""
    for name in command.list_commands(None):
        child = command.get_command(None, name)
        if hasattr(child, "commands"):
            yield from commands(child, f"{path} {name}")
        else:
            yield f"{path} {name}".strip(), child


def test_help_is_one_screen_that_names_every_command(runner):
    shown = runner.invoke(build_app(), ["--help"], terminal_width=100).output
    assert len(shown.splitlines()) <= 45
    words = " ".join(shown.replace("│", " ").split())
    assert [name for name, texts in COMMANDS.items() if f" {name} {texts['about']} " not in words] == []
    assert runner.invoke(build_app(), []).output.strip() == runner.invoke(build_app(), ["--help"]).output.strip()


def test_every_command_has_an_example():
    found = dict(commands(typer.main.get_command(build_app())))
    assert [path for path, command in found.items() if "xample" not in (command.epilog or "")] == []


@pytest.mark.parametrize("group", ["acceleration", "demands", "evidence", "people", "responses", "exam", "llm"])
def test_a_group_without_a_command_shows_its_help(group, runner):
    bare, asked = runner.invoke(build_app(), [group]), runner.invoke(build_app(), [group, "--help"])
    assert "Usage" in asked.output
    assert bare.output.strip() == asked.output.strip()


def test_every_group_is_among_those_tried():
    groups = {path.split()[0] for path, _ in commands(typer.main.get_command(build_app())) if " " in path}
    assert groups == {"acceleration", "demands", "evidence", "people", "responses", "exam", "llm"}


def test_a_command_that_is_none_is_refused_with_a_near_one(mensura_command):
    run = mensura_command("reprot")
    assert run.code == 2
    assert "No such command 'reprot'" in run.err
    assert "Traceback" not in run.err


def test_a_shell_completes_the_options_of_any_command(monkeypatch, capsys):
    monkeypatch.setenv("_MENSURA_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "mensura scale --cal")
    monkeypatch.setenv("COMP_CWORD", "2")
    monkeypatch.setattr("sys.argv", ["mensura"])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().out.split() == ["--calibration"]


def test_a_fault_of_the_program_is_told_as_python_tells_it(mensura_command, monkeypatch, capsys):
    """A frame around it would hold the values of variables, a user's own among them."""
    monkeypatch.setattr("mensura.calibration.chosen_lines", lambda _: {}["gone"])
    with pytest.raises(KeyError) as caught:
        mensura_command("scale", "0.1", "--dimension", "all")
    sys.excepthook(caught.type, caught.value, caught.tb)
    told = capsys.readouterr().err
    assert told.startswith("Traceback (most recent call last)")
    assert told.endswith("KeyError: 'gone'\n")


def test_completion_can_be_installed(runner):
    shown = runner.invoke(build_app(), ["--help"], terminal_width=100).output
    assert "--install-completion" in shown
    assert "--show-completion" in shown


LEAVES = dict(commands(typer.main.get_command(build_app())))


def test_there_are_few_commands_and_each_has_few_options():
    options = {
        path: [one for one in command.params if one.param_type_name == "option" and one.name != "help"]
        for path, command in LEAVES.items()
    }
    assert len(LEAVES) <= 68
    assert {path: len(found) for path, found in options.items() if len(found) > 15} == {}
    assert sum(map(len, options.values())) <= 400


def test_summaries_begin_with_a_verb_and_fit_a_line():
    verbs = {"Add", "Put", "Let", "Take", "Give", "Keep", "Find"}
    abouts = {path: command.short_help for path, command in LEAVES.items()}
    assert {path: text for path, text in abouts.items() if len(text) > 60 or not text.endswith(".")} == {}
    starts = {text.split()[0].rstrip(":,") for text in abouts.values()}
    nouns = {"What", "Where", "How", "The", "A", "Has", "Abilities", "Logs", "Human", "Questions", "Item", "Dimensions"}
    assert not starts & nouns, starts & nouns
    assert verbs & starts
