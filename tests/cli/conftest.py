"""Shared by the tests of the command line: files for every command."""

import json

import polars as pl
import pytest

import mensura
from mensura.cli.main import build_app
from mensura.study import Study
from tests.calibration.conftest import on_lines
from tests.cli.test_demands import write_pools
from tests.demands.test_checking import study as demands_study
from tests.horizon.conftest import runs, times  # noqa: F401
from tests.iq.conftest import few_draws  # noqa: F401
from tests.ledger.small import ANN, score, small_ledger, update
from tests.llm.conftest import journal, serve  # noqa: F401
from tests.stitching.conftest import simulated  # noqa: F401

COUNTRIES = (
    *("AUS", "AUT", "BEL", "BRA", "CAN", "CHE", "CHL", "CZE", "DEU", "DNK", "ESP"),
    *("FIN", "FRA", "GBR", "GRC", "HUN", "IRL", "ITA", "JPN", "KOR", "NLD", "NOR"),
)

HARNESS = {
    "model_name": "acme/new-7b",
    "results": {"gpqa_diamond": {"acc,none": 0.41}, "mmlu_pro": {"exact_match,custom-extract": 0.52}},
}
INSPECT = {
    "status": "success",
    "eval": {"task": "inspect_evals/gpqa_diamond", "model": "acme/new-7b", "dataset": {"samples": 198}},
    "results": {"scores": [{"name": "choice", "metrics": {"accuracy": {"value": 0.41}}}]},
}


@pytest.fixture(params=[("results.json", HARNESS), ("run.json", INSPECT)], ids=["harness", "inspect"])
def log(request, tmp_path):
    """A log of a new model, as two harnesses write it."""
    file, content = request.param
    (tmp_path / file).write_text(json.dumps(content), encoding="utf-8")
    return tmp_path / file


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A small store, in the working directory and by its usual name."""
    monkeypatch.chdir(tmp_path)
    return small_ledger(tmp_path / "evidence.sqlite")


@pytest.fixture(scope="session")
def inputs(tmp_path_factory, few_models, once):
    """Small files of every kind that a command reads, made with the program itself where it can make them."""
    from typer.testing import CliRunner

    base = tmp_path_factory.mktemp("inputs")
    rates, demands = on_lines({"KNn": (0.5, 0.8)})
    rates.write_csv(base / "rates.csv")
    demands.write_csv(base / "demands.csv")
    scores = [
        (
            f"m{m}",
            f"b{b}",
            0.05 + 0.9 * ((m * 5 + 3 * b) % 23) / 23,
            f"202{3 + m // 16}-{1 + m % 8:02d}-{1 + m % 16:02d}",
        )
        for m in range(48)
        for b in range(5)
    ]
    pl.DataFrame(scores, schema=["model", "benchmark", "score", "released"], orient="row").write_csv(
        base / "scores.csv"
    )
    many = [f"own-{m},2026-01-{1 + m:02d},hle,{m}" for m in range(25)] + [f"late-{m},,hle," for m in range(25)]
    (base / "many.csv").write_text("\n".join(["model,released,benchmark,score", *many]), encoding="utf-8")
    (base / "added.csv").write_text("model,benchmark,score\ngpt-5.5,hle,41.5%\n", encoding="utf-8")
    questions = [f"q{q}" for q in range(1, 46)]
    people = [
        (p, "fm"[p % 2], p % 45, *((p * q + p // 3) % 2 if q < 21 or p < 100 else None for q in range(1, 46)))
        for p in range(200)
    ]
    pl.DataFrame(people, schema=["who", "sex", "school", *questions], orient="row").write_csv(base / "answers.csv")
    pools, levels = demands_study(pools=3, items=12)
    levels.write_csv(base / "levels.csv")
    folders = [str(folder) for folder in write_pools(base / "pools", pools)]
    runner = CliRunner()
    asked = [*("annotate", "example", "--model", "recorded/example", "--dimensions", "KNc", "--repeats", "2")]
    made = runner.invoke(build_app(), [*asked, "--out", str(base / "annotated")])
    assert made.exit_code == 0, made.output
    imported = [
        *(
            "people",
            "import",
            str(base / "answers.csv"),
            "--items",
            "^q",
            "--person",
            "who",
            "--covariates",
            "sex,school",
        )
    ]
    made = runner.invoke(build_app(), [*imported, "--by", "sex,school", "--out", str(base / "pool")])
    assert made.exit_code == 0, made.output
    outcomes = [
        (f"s{s}", f"i{i}", int((s * 7 + i * 5) % 11 + s % 12 > i % 8 + 6)) for s in range(60) for i in range(45)
    ]
    pl.DataFrame(outcomes, schema=["subject", "item", "correct"], orient="row").write_csv(base / "outcomes.csv")
    shares = [(f"i{i}", 0.9 - 0.1 * (i % 8), 200) for i in range(45)]
    pl.DataFrame(shares, schema=["item", "rate", "n"], orient="row").write_csv(base / "item_rates.csv")
    fit = ["responses", "fit", str(base / "outcomes.csv"), "--model", "rasch", "--out", str(base / "fitted")]
    made = runner.invoke(build_app(), fit)
    assert made.exit_code == 0, made.output
    sat = ["exam", "sit", "example", "--model", "recorded/exam-example", "--out", str(base / "runs" / "recorded")]
    made = runner.invoke(build_app(), sat)
    assert made.exit_code == 0, made.output
    rated = [(f"i{i}", "KNc", (i + r) % 6, f"r{r}") for i in range(21) for r in range(41)]
    pl.DataFrame(rated, schema=["item", "dimension", "level", "annotator"], orient="row").write_csv(base / "raters.csv")
    _write_countries(base / "countries")
    ledger = small_ledger(base / "store.sqlite")
    for number in range(101):
        ledger.add_capture(f"{number}".encode(), source="board", address="a", **ANN)
    ledger.apply(update(score("big-1", "swe_marathon", "12", "15")), **ANN)
    once("few-models-studied", lambda _: Study.open(mensura.load(few_models)))  # a full disk could not keep it
    return {
        **{path.stem: str(path) for path in base.iterdir()},
        "evidence": str(few_models),
        "pools": folders,
        "readings": str(base / "annotated" / "readings.csv"),
        "journal": str(base / "annotated" / "journal.sqlite"),
    }


def _write_countries(folder):
    """A pool of published rates: twenty items in 22 countries."""
    folder.mkdir()
    items = [f"q{item}" for item in range(20)]
    rows = [
        (item, "country", f"country={code}", 300, (37 * place + 53 * at) % 240 + 30)
        for at, code in enumerate(COUNTRIES)
        for place, item in enumerate(items)
    ]
    table = pl.DataFrame(rows, schema=["item", "covariate", "group", "n", "n_correct"], orient="row")
    whole = table.group_by("item", maintain_order=True).agg(pl.col("n", "n_correct").sum())
    whole = whole.select("item", covariate=pl.lit("all"), group=pl.lit("all"), n="n", n_correct="n_correct")
    pl.concat([table, whole]).with_columns(rate=pl.col("n_correct") / pl.col("n")).write_csv(folder / "group_rates.csv")
    pl.DataFrame({"item": items, "domain": ["reading"] * 20}).write_csv(folder / "items.csv")
