"""Rare options stand in a settings file; the file is checked, and the command line wins over it."""

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
    """Stitch a small table with this settings file; return the run."""
    (tmp_path / "scores.csv").write_text(SCORES)

    def run(settings, *more):
        (tmp_path / "mine.toml").write_text(settings)
        return mensura_command(
            *("stitch", tmp_path / "scores.csv", "--method", "rosetta", "--anchor-benchmark", "x", "--json"),
            *("--settings", tmp_path / "mine.toml", *more),
        )

    return run


def test_a_setting_counts_and_the_result_says_so(stitched):
    plain, strong = (json.loads(stitched(text).out) for text in ("", "ridge = 5.0\n"))
    assert (plain["settings"]["ridge"], strong["settings"]["ridge"]) == (0.1, 5.0)
    difficulty = [[abs(row["difficulty"]) for row in one["benchmarks"]] for one in (plain, strong)]
    assert max(difficulty[0]) > max(difficulty[1])


def test_any_option_may_stand_in_the_file_and_the_command_line_wins(stitched):
    assert json.loads(stitched('anchor-benchmark = "y"\n').out)["settings"]["anchor_benchmark"] == "x"
    assert "capabilities" in json.loads(stitched("residuals = true\n").out)
    assert "residuals" in json.loads(stitched("residuals = true\n").out)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("rigde = 1\n", "'rigde' is no option of this command; expected add, anchor, anchor_benchmark,"),
        ("ridge = 'much'\n", "'much' is not a valid float"),
        ("[ridge]\nvalue = 1\n", "'ridge' is a table; expected a value, as in ridge = 1"),
        ("ridge = \n", "not a readable TOML file"),
    ],
)
def test_a_wrong_file_is_refused_with_the_reason(stitched, settings, message):
    run = stitched(settings)
    assert run.code == 2
    assert message in " ".join(run.err.split())


def test_a_rare_option_on_the_command_line_says_where_it_belongs(mensura_command):
    run = mensura_command("stitch", "--ridge", "5")
    assert run.code == 2
    assert "write ridge = 0.1 into FILE.toml" in " ".join(run.err.split())


def test_a_file_that_is_not_there_is_named(mensura_command, tmp_path):
    run = mensura_command("trends", "--settings", tmp_path / "none.toml")
    assert run.code == 2
    assert "none.toml: cannot be read (No such file or directory); check the path" in " ".join(run.err.split())


def test_the_help_lists_what_a_settings_file_may_hold(mensura_command):
    help_text = mensura_command("extrapolate", "--help").out
    assert "In a settings file" in help_text
    assert "chunk = …" in help_text
    assert "--chunk" not in help_text
