"""Rarer settings are given with --set: they are checked, and the help of a command lists them."""

import json

import pytest

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


@pytest.mark.parametrize("rate", ["0.038", "0,038", "3.8%", " 3.8 %"])
def test_a_rate_is_read_as_people_write_it(rate, mensura_command):
    assert json.loads(mensura_command("scale", rate, "--json").out)["rate"] == pytest.approx(0.038, abs=1e-12)


@pytest.mark.parametrize("words", [["high"], ["%"], ["--one-in", "2000", "--low", "1,000"]])
def test_a_rate_that_is_no_number_is_refused(words, mensura_command):
    refused = " ".join(mensura_command("scale", *words).err.replace("│", " ").split())
    assert "is no number; expected one such as 0.038 or 3.8%" in refused
