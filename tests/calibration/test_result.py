"""A calibration as a file, the ruler on it, and the commands."""

import json

import polars as pl
import pytest

from mensura import MensuraError
from mensura.calibration import calibrate, read_calibration_file, write_calibration
from mensura.scale import LevelLine, level_to_rate
from tests.calibration.conftest import on_lines

LINES = {"KNn": (0.5, 0.8), "VO": (0.3, 0.9), "AT": (-0.1, 1.5)}


@pytest.fixture
def files(tmp_path):
    rates, demands = on_lines(LINES)
    rates.write_csv(tmp_path / "rates.csv")
    demands.write_csv(tmp_path / "demands.csv")
    return tmp_path


def test_contract_of_the_command(files, mensura_command):
    run = mensura_command("calibrate", "--rates", files / "rates.csv", "--demands", files / "demands.csv",
                          "--method", "means", "--out", files / "made")  # fmt: skip
    assert run.code == 0, run.err
    bases = pl.read_csv(files / "made" / "bases.csv")
    assert bases.columns == ["dimension", "slope", "intercept", "base", "low", "high", "r2", "n_items", "verdict"]
    assert bases.filter(dimension="KNn")["slope"].item() == pytest.approx(0.5)
    assert bases.filter(dimension="AT")["verdict"].item() == "negative slope"
    told = json.loads((files / "made" / "calibration.json").read_text(encoding="utf-8"))
    assert told["format"] == "mensura calibration" and told["version"] == 1
    assert len(told["inputs"]["rates"]) == 64


def test_wide_demands_and_several_files_of_them(files, mensura_command):
    wide = pl.read_csv(files / "demands.csv").pivot("dimension", index="item", values="level")
    for name in ("one", "two"):
        wide.write_csv(files / f"{name}.csv")
    run = mensura_command("calibrate", "--rates", files / "rates.csv", "--demands", files / "one.csv",
                          "--demands", files / "two.csv", "--method", "means", "--json")  # fmt: skip
    assert {row["dimension"]: row["n_items"] for row in json.loads(run.out)["bases"]} == dict.fromkeys(LINES, 15)


@pytest.mark.parametrize(("method", "held"), [("means", "in about half"), ("hierarchical", "contained the true base")])
def test_each_method_says_how_often_its_own_intervals_held(files, mensura_command, method, held):
    run = mensura_command("calibrate", "--rates", files / "rates.csv", "--demands", files / "demands.csv",
                          "--method", method, "--set", "draws=20")  # fmt: skip
    assert "Can I trust this interval?" in run.out
    assert held in run.out


def test_the_ruler_reads_it_by_folder_file_and_bases(files, mensura_command):
    mensura_command("calibrate", "--rates", files / "rates.csv", "--demands", files / "demands.csv",
                    "--method", "means", "--out", files / "made")  # fmt: skip
    for place in ("made", "made/calibration.json", "made/bases.csv"):
        run = mensura_command("scale", "--level", "2", "--dimension", "KNn", "--calibration", files / place, "--json")
        assert run.code == 0, run.err
        assert json.loads(run.out)["rate"] == pytest.approx(10 ** (0.5 - 1.8))
    run = mensura_command("scale", "--level", "5.5", "--dimension", "KNn", "--calibration", files / "made")
    assert "level 5.50 of KNn is outside what its items cover" in run.out
    told = json.loads(mensura_command("scale", "0.5", "--calibration", "published", "--json").out)["dimensions"]
    assert {1 <= row["level"] <= 5: row["items"] for row in told} == {True: "", False: "outside"}
    refused = mensura_command("scale", "--level", "2", "--dimension", "AT", "--calibration", files / "made")
    assert refused.code == 2 and "'AT' cannot be read: negative slope" in refused.err


def test_levels_of_another_base_and_convention(mensura_command):
    assert level_to_rate(2.0, 3.0, "calibrated") == pytest.approx(1 / 9)
    assert level_to_rate(2.0, 3.0) == pytest.approx(3**-1.5)
    for wrong in ((1.0, "adele"), (3.0, "mine")):
        with pytest.raises(MensuraError):
            level_to_rate(2.0, *wrong)
    assert mensura_command("scale", "--level", "2", "--base", "3").code == 2, "Python has other bases"


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


def test_a_calibration_read_back_is_the_same(files):
    made = calibrate(*on_lines(LINES), method="means")
    write_calibration(made, files / "c.json")
    again = read_calibration_file(files / "c.json")
    assert again.bases["base"].to_list() == pytest.approx(made.bases["base"].to_list(), rel=1e-5)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not a calibration file"),
        ("[]", "not a calibration file; expected"),
        ('{"format": "mensura calibration", "version": 9}', "version 9 of the format; expected 1"),
        ('{"format": "mensura calibration", "version": 1, "method": "x"}', "lacks dimensions, bases, items, pools"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path, text, says):
    (tmp_path / "c.json").write_text(text, encoding="utf-8")
    with pytest.raises(MensuraError, match=says):
        read_calibration_file(tmp_path / "c.json")
    with pytest.raises(MensuraError, match="no such file"):
        read_calibration_file(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "give --rates CSV and --demands CSV, or --pool open"),
        (("--pool", "mine"), "pool: 'mine' is not known"),
        (("--pool", "open", "--method", "magic"), "method: got 'magic'"),
        (("--pool", "open", "--rates", __file__), "not both"),
        (("--rates", "none.csv", "--demands", "none.csv"), "none.csv: no such file"),
        (("--rates", __file__, "--demands", __file__, "--estimate", "both"), "estimate"),
    ],
)
def test_wrong_calls_say_what_to_do(mensura_command, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "x.csv"):
        (tmp_path / name).touch()
    run = mensura_command("calibrate", *arguments)
    assert run.code == 2 and says in run.err


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


def test_lines_say_where_items_end():
    line = LevelLine("KNn", 0.5, 0.8, "KNn", covered=(0, 4))
    assert line.outside(4.0) == "" and "0 to 4" in line.outside(4.2)


def test_equating_ends_with_one_score_in_words(mensura_command):
    rows = json.loads(mensura_command("equate", "enem", "naep", "--draws", 50, "--json").out)["scores"]
    middle = rows[len(rows) // 2]
    said = (
        f"{middle['score']:.0%} right in enem is like {middle['other_score']:.0%} in naep (90%: {middle['low']:.0%} to"
    )
    assert said in mensura_command("equate", "enem", "naep", "--draws", 50).out


def test_commands_read_any_format_and_take_columns_by_map(mensura_command, tmp_path):
    items = [f"i{at}" for at in range(24)]
    rates = pl.DataFrame({"qid": items, "p": [0.9 - 0.2 * (at % 4) for at in range(24)]})
    levels = pl.DataFrame({"qid": items, "KNc": [at % 4 for at in range(24)], "vo": [1 + at // 8 for at in range(24)]})
    rates.write_csv(tmp_path / "rates.tsv", separator="\t")
    levels.write_parquet(tmp_path / "levels.parquet")
    call = (
        "calibrate",
        "--rates",
        tmp_path / "rates.tsv",
        "--demands",
        tmp_path / "levels.parquet",
        "--method",
        "means",
    )
    run = mensura_command(*call, "--map", "rate=p", "--set", "draws=20", "--json")
    assert {row["dimension"] for row in json.loads(run.out)["bases"]} == {"KNc", "VO"}
    refused = mensura_command(*call, "--map", "rate=p", "--set", "readers=0.9")
    assert refused.code == 2 and "readers: the method means does not use it" in refused.err
    answers = pl.DataFrame(
        {"model": "m", "item": items, "correct": ["yes" if at % 4 < 2 else "no" for at in range(24)]}
    )
    (tmp_path / "answers.json").write_text(answers.write_json(), encoding="utf-8")
    call = (
        "profile",
        "--outcomes",
        tmp_path / "answers.json",
        "--demands",
        tmp_path / "levels.parquet",
        "--draws",
        "20",
    )
    run = mensura_command(*call, "--json")
    assert {row["subject"] for row in json.loads(run.out)["profile"]} == {"m"}
    refused = mensura_command(*call, "--map", "correct=right")
    assert (
        refused.code == 2 and "--map correct=right: no such column; expected one of model, item, correct" in refused.err
    )
