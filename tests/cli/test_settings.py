"""Rarer settings are given with --set: they are checked, and the help of a command lists them."""

import json
from dataclasses import dataclass
from typing import Annotated

import pytest

from mensura.cli.settings import changed, list_settings, read_pairs, read_settings, split_names
from mensura.core.errors import MensuraError

SCORES = """model,benchmark,score
a,x,0.2
a,y,0.4
a,z,0.3
b,x,0.5
b,y,0.7
b,z,0.6
c,x,0.8
c,y,0.9
c,z,0.7
d,x,0.4
d,y,0.6
d,z,0.5
"""


@pytest.fixture
def stitched(mensura_command, tmp_path):
    """Stitch a small table with these words after the command; return the run."""
    (tmp_path / "scores.csv").write_text(SCORES)
    command = ("stitch", tmp_path / "scores.csv", "--method", "rosetta", "--anchor-benchmark", "x", "--json")
    return lambda *more: mensura_command(*command, *more)


def test_a_setting_counts_and_the_result_says_so(stitched):
    plain, strong = (json.loads(stitched(*words).out) for words in ((), ("--set", "ridge=5")))
    assert (plain["settings"]["ridge"], strong["settings"]["ridge"]) == (0.1, 5.0)
    assert [one["provenance"]["settings"]["ridge"] for one in (plain, strong)] == [None, 5.0]
    difficulty = [[abs(row["difficulty"]) for row in one["benchmarks"]] for one in (plain, strong)]
    assert max(difficulty[0]) > max(difficulty[1])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rigde=1"], "--set rigde=1: not understood; expected NAME=VALUE, NAME one of duplicates, dimensions, ridge,"),
        (["ridge"], "--set ridge: not understood; expected NAME=VALUE"),
        (["ridge=much"], "--set ridge=much: Input should be a valid number"),
        (["dimensions=2.5"], "--set dimensions=2.5: Input should be a valid integer"),
        (["ridge=1", "ridge=2"], "--set ridge: given twice; expected once"),
    ],
)
def test_a_wrong_setting_is_refused_with_the_reason(stitched, words, message):
    run = stitched(*(word for one in words for word in ("--set", one)))
    assert run.code == 2
    assert message in " ".join(run.err.split())


def test_the_help_lists_the_rarer_settings(mensura_command):
    help_text = mensura_command("extrapolate", "--help").out
    assert "With --set NAME=VALUE" in help_text
    assert "chunk=…" in help_text
    assert "--chunk" not in help_text


@dataclass(frozen=True, kw_only=True)
class Rare:
    """Settings of an invented command."""

    share: Annotated[float, "A share."] = 0.5
    least_n: Annotated[int, "A count."] = 30
    name: Annotated[str | None, "A name."] = None
    header: Annotated[bool, "A switch."] = True


def test_settings_are_read_by_their_types_and_the_others_keep_their_defaults():
    settings = read_settings(["share=12.5 %", "least-n=7", "header=false"], Rare)
    assert settings == Rare(share=0.125, least_n=7, header=False)
    assert changed(settings, "share", "name") == {"share": 0.125}
    assert read_settings(None, Rare) == Rare()


def test_the_help_writes_defaults_as_a_user_would():
    lines = list_settings(Rare)[2:-1]
    assert lines == ["  share=0.5  A share.", "  least_n=30  A count.", "  name=…  A name.", "  header=true  A switch."]


def test_names_and_numbers_of_an_option_are_taken_apart():
    assert split_names(" KNc, QLl,, ") == ["KNc", "QLl"]
    assert read_pairs("--anchor", ["a=b=1.5", " c =-2"], "NAME=NUMBER") == {"a=b": 1.5, "c": -2.0}
    with pytest.raises(MensuraError, match=r"--anchor a=high: expected NAME=NUMBER\. Correct the value"):
        read_pairs("--anchor", ["a=high"], "NAME=NUMBER")
