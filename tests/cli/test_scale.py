"""``mensura scale`` and ``equate``: a rate as every other reading and back, and one test read in another."""

import json
import subprocess
import sys

import polars as pl
import pytest


@pytest.mark.parametrize("rate", ["0.038", "0,038", "3.8%", " 3.8 %"])
def test_a_rate_is_read_as_people_write_it(rate, mensura_command):
    assert json.loads(mensura_command("scale", rate, "--json").out)["rate"] == pytest.approx(0.038, abs=1e-12)


@pytest.mark.parametrize("words", [["high"], ["%"], ["--one-in", "2000", "--low", "1,000"]])
def test_a_rate_that_is_no_number_is_refused(words, mensura_command):
    refused = " ".join(mensura_command("scale", *words).err.replace("│", " ").split())
    assert "is no number; expected one such as 0.038 or 3.8%" in refused


def test_scale_json_holds_every_reading(mensura_command):
    run = mensura_command("scale", "0.038", "--json")
    found = json.loads(run.out)
    assert {name: round(found[name], 2) for name in ("rate", "level", "one_in", "percentile", "iq")} == {
        "rate": 0.04,
        "level": 1.92,
        "one_in": 26.32,
        "percentile": 96.2,
        "iq": 126.62,
    }


@pytest.mark.parametrize(
    ("arguments", "rate"),
    [
        (["--iq", "130"], 0.02275),
        (["--one-in", "26"], 1 / 26),
        (["--percentile", "96"], 0.04),
        (["--level", "2"], 10**-1.5),
        (["--level", "2.3", "--dimension", "volume"], 10 ** (0.5 - (1.5 * 2.3 - 0.55))),
    ],
)
def test_scale_starts_from_any_unit(mensura_command, arguments, rate):
    run = mensura_command("scale", *arguments, "--json")
    assert json.loads(run.out)["rate"] == pytest.approx(rate, rel=1e-3)


def test_scale_prints_for_people_and_carries_intervals(mensura_command):
    run = mensura_command("scale", "0.038", "--low", "0.027", "--high", "0.053")
    assert "1 in 26.32" in run.out
    assert "124.2 to 128.9" in run.out
    both = json.loads(mensura_command("scale", "0.038", "--low", "0.027", "--high", "0.053", "--json").out)
    assert both["low"]["iq"] < both["iq"] < both["high"]["iq"]


def test_the_ruler_needs_no_table_library():
    asked = "import sys; from mensura.cli.main import build_app as build; "
    asked += "build('scale')(['scale', '0.038'], standalone_mode=False); "
    found = subprocess.run(
        [sys.executable, "-c", asked + "print({'polars', 'scipy'} & set(sys.modules))"], capture_output=True, text=True
    )
    assert found.stdout.endswith("set()\n")


def test_levels_without_a_dimension_have_base_ten(mensura_command):
    run = mensura_command("scale", "--level", "2", "--json")
    assert json.loads(run.out)["rate"] == pytest.approx(10**-1.5)
    assert "base 10, level 1 centred on 1 in √10" in " ".join(mensura_command("scale", "--level", "2").out.split())


def test_lines_of_two_calibrations_are_never_mixed(mensura_command):
    rows = json.loads(mensura_command("scale", "0.05", "--json").out)["dimensions"]
    by = {row["dimension"]: row for row in rows}
    assert (by["volume"]["base"], by["volume"]["class"], by["volume"]["calibration"]) == (31.95, "High", "published")
    assert {row["calibration"] for row in rows} == {"published"}
    own = json.loads(mensura_command("scale", "0.05", "--calibration", "open", "--json").out)["dimensions"]
    assert {row["calibration"] for row in own} == {"open"}
    published = json.loads(mensura_command("scale", "0.05", "--calibration", "published", "--json").out)["dimensions"]
    assert [row["base"] for row in published] == [31.95, 17.19, 6.70, 5.08, 3.17, 2.99, 1.74, 1.60, 1.26]
    old = mensura_command("scale", "--level", "2", "--dimension", "metacognition", "--json")
    assert json.loads(old.out)["rate"] == pytest.approx(10 ** (0.5 - 0.83 * 2 - 0.50))


def test_equate_on_the_command_line(mensura_command, tmp_path):
    run = mensura_command("equate", "enem", "naep", "--draws", "50", "--out", tmp_path / "e")
    assert run.code == 0, run.err
    assert pl.read_csv(tmp_path / "e" / "levels.csv").columns == [
        "level", "other_level", "low", "high", "world_rate", "covered",
    ]  # fmt: skip
    assert mensura_command("equate", "enem", "nowhere").code == 2


def test_a_test_whose_items_are_all_alike_cannot_be_equated(mensura_command, tmp_path):
    pl.DataFrame({"item": [*"abcde"], "observed": 0.4, "rate": [0.1, 0.2, 0.3, 0.4, 0.5]}).write_csv(
        tmp_path / "flat.csv"
    )
    refused = mensura_command("equate", tmp_path / "flat.csv", "naep")
    assert refused.code == 2 and "all items have the same observed rate" in refused.err


def test_the_ruler_reads_plain_lines(mensura_command, tmp_path):
    (tmp_path / "lines.csv").write_text("dimension,slope,intercept\nmine,0.5,0.8\n", encoding="utf-8")
    run = mensura_command(
        "scale", "--level", "2", "--dimension", "mine", "--calibration", tmp_path / "lines.csv", "--json"
    )
    assert json.loads(run.out)["rate"] == pytest.approx(10 ** (0.5 - 1.8))


def test_equating_ends_with_one_score_in_words(mensura_command):
    rows = json.loads(mensura_command("equate", "enem", "naep", "--draws", 50, "--json").out)["scores"]
    middle = rows[len(rows) // 2]
    said = (
        f"{middle['score']:.0%} right in enem is like {middle['other_score']:.0%} in naep (90%: {middle['low']:.0%} to"
    )
    assert said in mensura_command("equate", "enem", "naep", "--draws", 50).out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "got nothing; give exactly one of a rate, --iq"),
        (["0.1", "--iq", "110"], "got rate, iq; give exactly one of a rate, --iq"),
        (["38"], "is it a percentage? 38% is 0.38"),
        (["0.1", "--dimension", "charm"], "'charm' has no calibrated line; choose one of volume"),
    ],
)
def test_a_start_that_says_nothing_or_two_things_is_refused(mensura_command, arguments, message):
    run = mensura_command("scale", *arguments)
    assert (run.code, message in run.err) == (2, True), run.err


def test_a_rate_is_printed_in_every_unit(mensura_command):
    assert mensura_command("scale", "0.5").out.splitlines() == [
        "On the human ruler",
        "┌───────────────┬─────────┬────────────────────────────────────────────────────┐",
        "│ success rate  │ 50.000% │ of the population succeed                          │",
        "│ rarity        │ 1 in 2  │ people                                             │",
        "│ percentile    │ 50      │ percent of people do not succeed                   │",
        "│ IQ-equivalent │ 100.0   │ mean 100, standard deviation 15                    │",
        "│ level         │ 0.80    │ base 10, level 1 centred on 1 in √10; band 10–100% │",
        "└───────────────┴─────────┴────────────────────────────────────────────────────┘",
        "--dimension all: the level this is on each calibrated dimension.",
        "Rates speak of the population they were measured in or extrapolated to.",
    ]


def test_ends_are_printed_beside_the_value_in_the_units_of_a_dimension(mensura_command):
    """Of volume 0.5 − 1.5 · level + 0.55 is the logarithm of the rate: 0.1 is level 1.37."""
    run = mensura_command("scale", "10%", "--low", "1%", "--high", "20%", "--dimension", "volume")
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in run.out.splitlines() if line[0] == "│"]
    assert rows[0] == ["success rate", "10.000%", "1.000% to 20.000%", "of the population succeed"]
    assert rows[1] == ["rarity", "1 in 10", "1 in 5 to 1 in 100", "people"]
    assert rows[2][1:3] == ["90", "80 to 99"]
    assert [row[0] for row in rows] == ["success rate", "rarity", "percentile", "IQ-equivalent", "level"]
    assert rows[4][3] == "volume, base 31.95 (High)"
    level, ends = float(rows[4][1]), [float(end) for end in rows[4][2].split(" to ")]
    assert ends[0] < level < ends[1]
    told = json.loads(mensura_command("scale", "10%", "--low", "1%", "--high", "20%", "--json").out)
    assert (told["low"]["one_in"], told["high"]["one_in"]) == pytest.approx((5.0, 100.0))
    assert {"low", "high"} <= set(told["dimensions"][0]) and told["notes"] == []
    alone = json.loads(mensura_command("scale", "10%", "--json").out)
    assert not {"low", "high"} & ({*alone} | {*alone["dimensions"][0]} | {*alone["scale"][0]})


def test_all_dimensions_are_listed_where_asked_for_or_with_a_calibration(mensura_command):
    listed = "The level this is on each calibrated dimension"
    assert listed not in mensura_command("scale", "0.1", "--dimension", "volume").out
    for words in (("--dimension", "all"), ("--calibration", "open"), ("--calibration", "published")):
        assert listed in mensura_command("scale", "0.1", *words).out
    rows = json.loads(mensura_command("scale", "0.038", "--json").out)["dimensions"]
    assert [row["dimension"] for row in rows if row["items"] == "outside"] == ["atypicality", "spatial-reasoning"]


def test_tests_of_files_are_called_by_the_name_of_the_file(mensura_command, tmp_path):
    rates = [0.05 * at for at in range(2, 18)]
    table = pl.DataFrame({"item": [f"q{at}" for at in range(len(rates))], "rate": rates})
    for name, shift in (("one.csv", 0.02), ("two.final.csv", 0.1)):
        table.with_columns(observed=pl.col("rate") + shift).write_csv(tmp_path / name)
    files = (tmp_path / "one.csv", tmp_path / "two.final.csv", "--draws", 5)
    assert json.loads(mensura_command("equate", *files, "--json").out)["tests"] == ["one", "two"]
