"""Answers as they come are read, asked about, or refused with the command that helps."""

import pytest

from tests.cli.messy import CASES


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_messy_answers(case, mensura_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in case.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for command in case.commands[:-1]:
        mensura_command(*command)
    said = mensura_command(*case.commands[-1])
    assert said.code == (2 if case.asked else 0)
    assert (case.asked or case.read) in " ".join(f"{said.out} {said.err}".split())
