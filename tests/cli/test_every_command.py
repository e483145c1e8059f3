"""Every command once, with the least it needs: the quick test of other versions of libraries."""

import pytest

from mensura.cli.main import COMMANDS as PROGRAMS
from tests.cli.every_command import COMMANDS, FILE_OUT, arguments


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_runs(command, inputs, mensura_command, tmp_path):
    run = mensura_command(*arguments(command, inputs, tmp_path / FILE_OUT.get(command, "out")))
    assert run.code == 0, run.err


@pytest.mark.parametrize("command", PROGRAMS)
def test_every_command_has_a_help_page(command, mensura_command):
    assert "Usage: mensura" in mensura_command(command, "--help").out
