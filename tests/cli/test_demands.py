"""The commands as a user types them."""

import json
from types import SimpleNamespace

import polars as pl
import pytest

from mensura.cli.demands import _agreed, _print, _shown_agreement
from tests.demands.test_checking import study


@pytest.fixture
def annotated(mensura_command, tmp_path):
    run = mensura_command(
        "annotate", "example", "--model", "recorded/example", "--repeats", 2, "--out", tmp_path / "out"
    )
    assert run.code == 0, run.err
    return tmp_path / "out", run


def test_annotate_writes_the_tables(annotated):
    out, run = annotated
    lines = (out / "demands.csv").read_text().splitlines()
    assert lines[0] == "item,dimension,level,spread,annotator"
    assert len(lines) == 1 + 16 * 18
    assert {int(line.split(",")[2]) for line in lines[1:]} <= set(range(6))
    assert (out / "unparsed.csv").read_text().splitlines() == ["item,dimension,annotator,repeat,reason,answer"]
    assert pl.read_csv(out / "guessing.csv").columns == ["item", "n_options", "unguessability", "basis"]
    assert "(protocol bundle × 2): 576 levels read, 0 cells" in run.out
    assert (out / "journal.sqlite").exists()
    assert "2 calls" in run.out


def test_a_run_stopped_by_its_budget_still_prints_one_json_object(mensura_command, tmp_path):
    run = mensura_command(
        *("annotate", "example", "--model", "recorded/example", "--protocol", "item", "--json"),
        settings={"max_calls": 3, "journal": tmp_path / "journal.sqlite"},
    )
    assert json.loads(run.out)["calls"] == 3
    assert "stopped early: budget: the 3 calls allowed were made" in run.err


def test_annotate_in_json_and_in_part(mensura_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = mensura_command("annotate", "example", "--model", "recorded/example", "--dimensions", "KNc,QLl", "--json")
    found = json.loads(run.out)
    assert {row["dimension"] for row in found["demands"]} == {"KNc", "QLl"}
    assert (found["calls"], found["protocol"]) == (1, "bundle")
    assert list(tmp_path.iterdir()) == [], "a recording needs no journal"


def test_a_dry_run_asks_nothing_and_needs_no_model(mensura_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["--model", "openai/some", "--dry-run", "--set", "price_in=1", "--set", "price_out=4"]
    run = mensura_command("annotate", "example", "--protocol", "cell", *arguments)
    assert "288 questions to openai/some: 0 answered already, 288 calls" in run.out
    assert "about $0." in run.out
    assert list(tmp_path.iterdir()) == []


def test_a_budget_stops_and_says_so(mensura_command, tmp_path):
    run = mensura_command(
        "annotate",
        "example",
        "--model",
        "recorded/example",
        "--protocol",
        "item",
        "--set",
        "max_calls=3",
        "--out",
        tmp_path,
    )
    assert run.code == 3
    assert "3 calls" in run.out and "budget" in run.out
    assert pl.read_csv(tmp_path / "unparsed.csv").height == 13 * 18


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["annotate", "example", "--model", "recorded/none"], "no recording 'none'"),
        (["annotate", "example"], "give --model, such as"),
        (["annotate", "nowhere", "--model", "recorded/example"], "nowhere: no such folder or file"),
        (
            ["annotate", "example", "--model", "recorded/example", "--protocol", "x"],
            "protocol: got 'x'; expected one of bundle, item, cell",
        ),
        (["annotate", "example", "--model", "recorded/example", "--protocol", "cell"], "no level could be read"),
        (
            ["annotate", "example", "--model", "recorded/example", "--set", "price_in=1"],
            "give both price_in and price_out",
        ),
        (
            ["annotate", "example", "--model", "recorded/example", "--rubrics", "nowhere"],
            "nowhere: no such file or folder",
        ),
        (["demands", "agreement", "nowhere.csv"], "nowhere.csv: no such file"),
        (["demands", "check", "nowhere.csv"], "nowhere.csv: no such file or folder"),
        (["demands", "dimensions", "--rubric", "XX"], "no rubric for 'XX'"),
    ],
)
def test_what_a_careless_user_types(mensura_command, arguments, message):
    run = mensura_command(*arguments)
    assert run.code == 2
    assert message in run.err
    assert "Traceback" not in run.err


def test_dimensions_and_one_rubric(mensura_command, tmp_path):
    run = mensura_command("demands", "dimensions", "--out", tmp_path)
    assert "Verbal Comprehension" in run.out and "vocabulary" in run.out
    assert pl.read_csv(tmp_path / "levels.csv").height == 18 * 6
    assert pl.read_csv(tmp_path / "dimensions.csv").height == 19
    shown = mensura_command("demands", "dimensions", "--rubric", "VO").out
    assert "Level 3: Intermediate. From ten to a hundred minutes" in shown


def test_own_dimensions_are_listed(mensura_command, tmp_path):
    lines = [f"Level {level}: Any. So much planning as step {level} asks for." for level in range(6)]
    (tmp_path / "PLp.txt").write_text("# Planning\n\nHow much planning.\n" + "\n".join(lines))
    rows = json.loads(mensura_command("demands", "dimensions", "--rubrics", tmp_path, "--json").out)["dimensions"]
    assert [row["name"] for row in rows if row["dimension"] == "PLp"] == ["Planning"]
    assert len(rows) == 20


def test_sheet_out_agreement_in_and_merge(mensura_command, annotated, tmp_path):
    out, _ = annotated
    mensura_command("demands", "sheet", "example", "--dimensions", "KNc,CEe", "--out", tmp_path / "sheet")
    sheet = pl.read_csv(tmp_path / "sheet" / "sheet.csv", infer_schema=False)
    levels = pl.read_csv(out / "demands.csv").filter(dimension="KNc")["level"].cast(pl.String)
    sheet.with_columns(levels.alias("KNc"), CEe=pl.lit("1"), annotator=pl.lit("anna")).write_csv(tmp_path / "anna.csv")
    run = mensura_command("demands", "agreement", out / "readings.csv", tmp_path / "anna.csv", "--json")
    found = json.loads(run.out)
    assert found["raters"] == ["recorded/example #1", "recorded/example #2", "anna"]
    assert len(found["pairs"]) == 3
    merged = mensura_command(
        "demands", "agreement", out / "readings.csv", tmp_path / "anna.csv", "--merge", "ordinal", "--json"
    )
    rows = json.loads(merged.out)
    assert {row["annotator"] for row in rows["demands"]} == {"recorded/example+anna"}
    assert {row["annotator"] for row in rows["annotators"]} == {"recorded/example", "anna"}


def write_pools(folder, rates):
    for name, table in rates.partition_by("pool", as_dict=True).items():
        place = folder / name[0].replace(" ", "-")
        place.mkdir(parents=True)
        table.select("item", pl.lit("reasoning").alias("domain")).write_csv(place / "items.csv")
        counts = table.select("item", group=pl.lit("all"), n=pl.lit(1000), rate=pl.col("rate"))
        counts.write_csv(place / "group_rates.csv")
        yield place


def test_check_knows_the_shipped_pool_as_annotate_does(mensura_command, tmp_path):
    made = mensura_command("annotate", "example", "--model", "recorded/example", "--out", tmp_path)
    assert made.code == 0, made.err
    run = mensura_command("demands", "check", "example", tmp_path / "demands.csv", "--draws", 20, "--json")
    assert run.code == 0, run.err
    assert (json.loads(run.out)["pools"], json.loads(run.out)["items"]) == (1, 16)


def test_check_reads_pools_and_levels(mensura_command, tmp_path):
    rates, levels = study(pools=4, items=12)
    levels.write_csv(tmp_path / "demands.csv")
    folders = list(write_pools(tmp_path / "pools", rates))
    run = mensura_command(
        "demands", "check", *folders, tmp_path / "demands.csv", "--out", tmp_path / "c", "--draws", 50
    )
    assert run.code == 0, run.err
    assert "Predicting pools left out" in run.out
    overall = pl.read_csv(tmp_path / "c" / "overall.csv")
    assert overall.filter(dimension="QLl")["r"].item() < -0.7
    assert pl.read_csv(tmp_path / "c" / "correlations.csv").columns == [
        "pool",
        "dimension",
        "r",
        "low",
        "high",
        "n",
        "note",
    ]
    assert {"prediction.csv", "verdicts.csv"} <= {path.name for path in (tmp_path / "c").iterdir()}
    turned = mensura_command("demands", "check", tmp_path / "demands.csv", folders[0])
    assert turned.code == 2 and "last the file of levels" in turned.err


def test_agreement_is_one_row_per_dimension_and_said_with_its_interval():
    rows = [
        ("KNc", "kappa", 0.5, 0.4, 0.6, 12, ""),
        ("KNc", "alpha", 0.45, None, None, 12, ""),
        ("mean", "kappa", 0.625, 0.5, 0.75, 24, "two"),
        ("mean", "alpha", 0.55, None, None, 24, "two"),
    ]
    table = pl.DataFrame(rows, schema=["dimension", "statistic", "value", "low", "high", "n", "note"], orient="row")
    shown = _shown_agreement(table)
    assert shown.columns == ["dimension", "kappa", "alpha", "kappa_low", "kappa_high", "n", "note"]
    assert shown.row(1) == ("mean", 0.625, 0.55, 0.5, 0.75, 24, "two")
    said = "; 1 is full agreement, 0 is chance."
    assert _agreed(shown) == f"Mean kappa 0.62 (0.50 to 0.75, 90%){said}"
    for end in ("kappa_low", "kappa_high"):
        assert _agreed(shown.with_columns(pl.lit(None).alias(end))) == f"Mean kappa 0.62{said}"
    assert _agreed(shown.with_columns(kappa=None)) == "Kappa is unknown: the levels do not vary."


def test_levels_above_zero_are_printed_highest_first_and_unread_answers_counted(capsys):
    demands = [("q1", "KNc", 1), ("q1", "QLl", 3), ("q1", "AS", 0), ("q2", "KNc", 0)]
    unparsed = [("q1", "AS", "no number"), ("q1", "VO", "no number"), ("q2", "AS", "no number"), ("q3", "AS", "empty")]
    result = SimpleNamespace(
        demands=pl.DataFrame(demands, schema=["item", "dimension", "level"], orient="row"),
        unparsed=pl.DataFrame(unparsed, schema=["item", "dimension", "reason"], orient="row"),
        agreement=pl.DataFrame(),
        heading="2 items",
        stored=1,
        calls=3,
        cost=0.256,
        warnings=["careful"],
    )
    _print(result)
    printed = capsys.readouterr().out
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines() if line[0] == "│"]
    assert cells == [["q1", "QLl 3, KNc 1"], ["q2", ""], ["no number", "3", "2", "q1"], ["empty", "1", "1", "q3"]]
    assert "3 calls, 1 answer from the journal, 0.26 US dollars\nnote: careful\n" in printed
    assert "4 levels of 2 items; most is demanded in QLl" in printed


def test_one_rubric_is_printed_whole_and_all_are_listed(mensura_command):
    one = mensura_command("demands", "dimensions", "--rubric", "QLl")
    assert one.code == 0 and "┏" not in one.out and "QLl" in one.out
    tables = json.loads(mensura_command("demands", "dimensions", "--rubric", "QLl", "--json").out)
    assert {row["dimension"] for row in tables["levels"]} == {"QLl"}
    assert [row["level"] for row in tables["levels"]] == [0, 1, 2, 3, 4, 5]
    assert [row["dimension"] for row in tables["dimensions"]][:1] == ["QLl"]
    everything = mensura_command("demands", "dimensions").out
    assert "18 dimensions have a rubric. mensura demands dimensions --rubric " in everything
