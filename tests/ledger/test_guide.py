"""The guide for updating the data works: its files and commands, as they stand on the page, one after the other."""

import re
import shlex
from pathlib import Path

import pytest

import mensura
from mensura.ledger import open_ledger

pytestmark = pytest.mark.slow

GUIDE = Path(__file__).parents[2] / "docs" / "updating.md"
FILES = {"csv": "board.csv", "text": "own.txt", "toml": "own.toml"}


def blocks():
    return re.findall(r"^```(\w+)\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("guide")
    for kind, text in blocks():
        if kind in FILES:
            (place / FILES[kind]).write_text(text, encoding="utf-8")
    return place


def test_every_command_of_the_guide_works(folder, monkeypatch, mensura_command):
    monkeypatch.chdir(folder)
    commands = [line for kind, text in blocks() if kind == "sh" for line in text.splitlines()]
    assert len(commands) > 15
    printed = {}
    for line in commands:
        program, *arguments = shlex.split(line)
        run = mensura_command(*arguments)
        assert (program, run.code) == ("mensura", 0), f"{line}\n{run.out}{run.err}"
        printed[line] = run.out
    text = next(out for line, out in printed.items() if line.startswith("mensura evidence preview"))
    assert "Claud Opus 4.7" in text and "claude-opus-4.7" in text and "Composite IQs and ranks that move" in text
    assert "its own scores" in text and "Agents' Last Exam" in text

    ledger = open_ledger(folder / "evidence.sqlite")
    assert ledger.entries()["kind"].to_list() == ["apply", "apply", "apply", "undo", "apply", "init"]
    hle = ledger.evidence().scores.filter(source="ours").select("subject", "score", "primary", "note").rows()
    assert hle == [("gpt-5.5", 61.5, False, "200 questions"), ("kimi-k2.6", 52.0, False, "200 questions")]
    assert ledger.policy().filter(subject="gpt-5").row(0)[2:] == ("archive", None, 0, "gpt", 3, None, "superseded")
    again = open_ledger(folder / "again.sqlite")
    assert again.version().entry == 4 and again.version().fingerprint == ledger.entries()["fingerprint"][1]
    assert mensura.load(folder / "evidence-folder").scores.height == again.evidence().scores.height


def test_every_key_of_a_mapping_is_documented():
    page = GUIDE.read_text(encoding="utf-8")
    from mensura.intake.documents import LAYOUTS

    for key in {key for keys in LAYOUTS.values() for key in keys} | {"also", "effort", "least", "single", "named"}:
        assert f"`{key}`" in page or f"] {key}`" in page, key
