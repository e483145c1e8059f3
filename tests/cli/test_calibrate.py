"""``mensura calibrate`` and ``profile``: files in, tables and words out, and what is refused."""

import json
from types import SimpleNamespace

import polars as pl
import pytest

from mensura.cli.calibrate import _print_profile
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
    wide.drop("AT").write_csv(files / "one.csv")
    wide.select("item", "AT", "VO").write_csv(files / "two.csv")
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


def test_the_command_writes_the_contract(mensura_command, tmp_path):
    run = mensura_command("profile", "gpt4o", "--method", "adele", "--out", tmp_path / "out")
    assert run.code == 0
    assert "gpt4o: not placed among people" in run.out
    first = (tmp_path / "out" / "profile.csv").read_text().splitlines()
    assert first[0] == "subject,dimension,ability,low,high,world_rate,one_in,percentile,iq"
    assert len(first) == 19


def test_the_command_reads_files(mensura_command, tmp_path):
    """Sixty items of one demand each: both subjects solve the easy ones, the able one a level more."""
    codes = ("AS", "QLl", "KNn")
    items = [(f"t:{code}{level}{copy}", code, level) for code in codes for level in range(1, 6) for copy in range(4)]
    demands = [{"item": item, **{one: level if one == code else 0 for one in codes}} for item, code, level in items]
    outcomes = [(who, item, int(level <= able)) for who, able in (("able", 4), ("less", 2)) for item, _, level in items]
    pl.DataFrame(outcomes, schema=["subject", "item", "correct"], orient="row").write_csv(tmp_path / "outcomes.csv")
    pl.DataFrame(demands).write_csv(tmp_path / "demands.csv")
    files = ("--outcomes", tmp_path / "outcomes.csv", "--demands", tmp_path / "demands.csv")
    told = json.loads(mensura_command("profile", "less", *files, "--json").out)
    assert told["method"] == "joint"
    assert [row["dimension"] for row in told["profile"]] == ["AS", "QLl", "KNn"]
    assert {row["subject"] for row in told["profile"]} == {"less"}
    everybody = json.loads(mensura_command("profile", *files, "--json").out)["profile"]
    abilities = {(row["subject"], row["dimension"]): row["ability"] for row in everybody}
    assert all(abilities["able", code] > abilities["less", code] + 1 for code in codes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gpt4"], "did you mean gpt4o"),
        (["gpt4o", "--method", "joint"], "needs outcomes item by item"),
        (["gpt4o", "--demands", "d.csv"], "--demands goes with --outcomes"),
        (["--pool", "closed"], "is not known; the embedded one is open"),
        (["--outcomes", "o.csv"], "needs --demands"),
        (["nobody", "--pool", "open"], "has no outcomes here"),
    ],
)
def test_the_command_says_what_is_wrong(mensura_command, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    for name in ("d.csv", "o.csv"):
        (tmp_path / name).touch()
    run = mensura_command("profile", *arguments)
    assert run.code == 2
    assert message in run.err


def test_the_command_prints_levels_and_why_no_rarity(mensura_command):
    run = mensura_command("profile", "gpt4o")
    assert "154" not in run.out and "6,928" not in run.out and "one_in" not in run.out
    assert "nobody is placed: the rank correlation of these lines with people's success is 0.22" in run.out
    assert "3.38" in run.out


def test_the_published_method_prints_its_own_tables_and_the_fastest_fall(files, mensura_command):
    call = ("calibrate", "--rates", files / "rates.csv", "--demands", files / "demands.csv", "--method")
    means = mensura_command(*call, "means").out
    told = json.loads(mensura_command(*call, "means", "--json").out)
    assert {"raw", "together", "spreads"} <= set(told) and "beside" not in told
    assert "Success falls fastest in KNn: by a factor of 3.2 per level" in means, "10 to the slope 0.5"
    assert "Open pool" not in means and "Rulers (" not in means
    joint = mensura_command(*call, "hierarchical", "--set", "draws=20").out
    raw, together = "beside that of a regression on the items", "the other demands move along"
    assert raw in means and together not in means and together in joint and raw not in joint


def result_of(placed=True, **more):
    """Return abilities of two subjects, one of them placed among people."""
    rows = [("a", "KNn", 3.0, 2.5, 3.5), ("b", "KNn", 1.0, 0.5, 1.5)]
    profile = pl.DataFrame(rows, schema=["subject", "dimension", "ability", "low", "high"], orient="row")
    rarity = [200.0, None] if placed else [None, None]
    profile = profile.with_columns(one_in=pl.Series(rarity, dtype=pl.Float64), world_rate=0.005)
    positions = profile.select("subject", "dimension").with_columns(
        percentile_low=99.0, percentile_high=99.9, at_least=pl.Series([True, False]), note=pl.Series(["", "too few"])
    )
    statements = pl.DataFrame({"subject": ["a", "b"], "statement": ["one in 200", "not placed"]})
    parts = {"profile": profile, "positions": positions, "statements": statements, "heading": "H", "warnings": ["w"]}
    return SimpleNamespace(**(parts | more))


def test_a_profile_shows_places_where_anybody_has_one_and_says_why_others_have_none(capsys, monkeypatch):
    monkeypatch.setattr("mensura.cli.output.console._width", 200)
    _print_profile(result_of())
    printed = capsys.readouterr().out
    assert "┃ subject ┃ dimension ┃ ability ┃  low ┃ high ┃          one_in ┃  from ┃    to ┃" in printed
    assert "at least 200.00" in printed and "world_rate" not in printed
    assert "a: one in 200.\nb: not placed.\nnote: b KNn: too few\nwarning: w\n" in printed
    assert "90% interval; percentile from–to: 90%, with the error of the calibrated line.\n" in printed
    nobody = result_of(placed=False)
    nobody.positions = nobody.positions.with_columns(note=pl.lit("too few"))
    _print_profile(nobody)
    printed = capsys.readouterr().out
    assert "┃ subject ┃ dimension ┃ ability ┃  low ┃ high ┃\n" in printed
    assert "note: nobody is placed: too few\n" in printed and "90% interval.\n" in printed


def test_of_many_who_are_not_placed_six_are_named(capsys):
    names = [f"s{at}" for at in range(9)]
    positions = pl.DataFrame({"subject": names, "dimension": "KNn", "note": ["", "", *["few"] * 7]}).with_columns(
        percentile_low=1.0, percentile_high=2.0, at_least=False
    )
    profile = positions.select("subject", "dimension", ability=1.0, low=0.5, high=1.5, one_in=2.0, world_rate=0.5)
    _print_profile(result_of(positions=positions, profile=profile))
    assert "note: s2 KNn, s3 KNn, s4 KNn, s5 KNn, s6 KNn, s7 KNn and 1 more: few\n" in capsys.readouterr().out
    one = result_of(statements=pl.DataFrame({"subject": ["a"], "statement": ["x"]}), profile=profile.head(1))
    _print_profile(one)
    assert "┃ subject" not in capsys.readouterr().out, "of one subject the name stands in the sentence"
