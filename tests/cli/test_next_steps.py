"""The last sentence on a terminal names a next step: for every command, with commands and options that exist."""

import re

import pytest

from mensura.cli import main
from mensura.cli.main import build_app, next_step
from tests.cli.every_command import COMMANDS

GROUPS = {name: group for name, group in main.COMMANDS.items() if "examples" not in group}
TEXTS = {name: texts for name, texts in main.COMMANDS.items() if name not in GROUPS}
TEXTS |= {
    f"{name} {part}": group[part] for name, group in GROUPS.items() for part in group if "examples" in group[part]
}
NEXT = {path: texts["next"] for path, texts in TEXTS.items() if "next" in texts}


def test_every_command_has_a_next_step():
    assert sorted(NEXT) == sorted(COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize("command", NEXT)
def test_the_commands_and_options_of_a_next_step_exist(command, runner):
    for words, options in re.findall(r"mensura ([a-z]+(?: [a-z]+)?)((?: (?:[A-Z]+|--[a-z]+))*)", NEXT[command]):
        named = words if words in COMMANDS or words == "exam serve" else words.split()[0]
        shown = runner.invoke(build_app(), [*named.split(), "--help"], env={"COLUMNS": "200"})
        assert shown.exit_code == 0, named
        assert [option for option in re.findall(r"--[a-z]+", options) if option not in shown.output] == []


def test_a_terminal_shows_it_last_and_a_pipe_does_not(mensura_command, monkeypatch):
    assert "Next:" not in mensura_command("scale", "0.1").err
    monkeypatch.setattr("mensura.cli.output.notices._force_terminal", True)
    assert mensura_command("scale", "0.1").err.splitlines()[-1].strip("\x1b[0m2") == next_step(["scale"])
    assert "Next:" not in mensura_command("scale", "0.1", "--json").err
    assert "Next:" not in mensura_command("scale", "nonsense").err
