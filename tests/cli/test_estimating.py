"""From the command line: a recording, an endpoint that speaks the common protocol, resumption, refusals."""

import json
import re

import polars as pl
import pytest

from mensura.cli.estimating import pool_models, stack_models
from mensura.extrapolation.methods import example_pool
from tests.llm.server import ChatServer, Faults, serving


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_world_rates_of_the_example_come_from_a_recording(mensura_command, tmp_path):
    run = mensura_command(
        "extrapolate", "example", "--model", "recorded/example-rates", "--to", "world", "--out", "out"
    )
    assert run.code == 0
    rates = pl.read_csv(tmp_path / "out" / "rates.csv")
    assert rates.columns[:5] == ["item", "rate", "low", "high", "calls"]
    assert rates["item"].to_list() == example_pool().items["item"].to_list()
    assert rates["calls"].to_list() == [1] * 16
    assert ((rates["low"] < rates["rate"]) & (rates["rate"] < rates["high"])).all()
    distance = pl.read_csv(tmp_path / "out" / "distance.csv")
    assert distance["n"][0] == 16 and distance["shift"][0] < 0
    assert "No error: nobody knows" in " ".join(run.out.split())
    assert "ever been checked" in run.out


def test_the_recorded_estimate_is_damped_as_learned_elsewhere(mensura_command, tmp_path):
    """ferry-fare: recorded 42%, observed 73.75% of 400; 92.22% of the shift in logits is kept."""
    mensura_command("extrapolate", "example", "--model", "recorded/example-rates", "--out", "out")
    rate = pl.read_csv(tmp_path / "out" / "rates.csv").filter(pl.col("item") == "ferry-fare")["rate"][0]
    assert rate == pytest.approx(0.4458, abs=0.0005)


def test_item_by_item_asks_27_variants_of_every_item(mensura_command):
    run = mensura_command(
        "extrapolate", "example", "--model", "recorded/example-rates", "--method", "item-by-item", "--json"
    )
    found = json.loads(run.out)
    assert found["method"] == "item-by-item"
    assert {row["calls"] for row in found["rates"]} == {27}
    ferry = next(row for row in found["rates"] if row["item"] == "ferry-fare")
    assert ferry["rate"] == pytest.approx(0.42, abs=1e-4)


def test_validation_writes_what_it_always_writes_and_the_published_table(mensura_command, tmp_path):
    run = mensura_command("validate", "example", "--model", "recorded/example-rates", "--out", "out")
    assert run.code == 0
    assert {"summary.csv", "overall.csv", "predictions.csv", "models.csv"} <= {
        p.name for p in (tmp_path / "out").iterdir()
    }
    models = pl.read_csv(tmp_path / "out" / "models.csv")
    assert models.columns == ["model", "unit", "n", "unread", "mae", "rmse", "pearson", "spearman"]
    assert models["unit"].to_list() == ["answer", "mean of variants"] and models["n"].to_list() == [32, 32]
    overall = pl.read_csv(tmp_path / "out" / "overall.csv")
    assert overall["mae"][0] < overall["mae_identity"][0]


def test_a_dry_run_says_what_would_be_asked_and_asks_nobody(mensura_command):
    run = mensura_command(
        "validate", "example", "--model", "recorded/example-rates", "--method", "item-by-item", "--dry-run"
    )
    assert run.code == 0 and "864 questions" in run.out


@pytest.mark.parametrize(
    ("words", "asked", "written"),
    [
        ("", 1, 200 + 16 * 36),
        ("--set chunk=5", 4, 4 * 200 + 16 * 36),
        ("--set repeats=2", 2, 2 * (200 + 16 * 36)),
        ("--method item-by-item", 16 * 27, 16 * 27 * 200),
        ("--method item-by-item --set width=0.05 --set budget=9", 16 * 27, 16 * 27 * 200),
    ],
)
def test_an_answer_is_expected_to_take_200_tokens_and_36_for_each_of_several_items(
    mensura_command, words, asked, written
):
    """At most: asking until an interval is narrow enough may end sooner."""
    run = mensura_command("extrapolate", "example", "--model", "recorded/example-rates", "--dry-run", *words.split())
    assert run.out.startswith(f"{asked} questions to recorded/example-rates: 0 answered already, {asked} calls")
    assert f"tokens in and {written:,} out" in run.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--set width=0.1", "only with --model"),
        ("--dry-run", "only with --model"),
        ("--method whole-pool", "give --model"),
        ("--model recorded/example-rates --method described", "asks no language model"),
        ("--model recorded/example-rates --method item-by-item --set chunk=5", "no setting 'chunk'"),
        ("--model recorded/example-rates --set chunk=0", "chunk must be at least 1, got 0"),
        ("--model recorded/example-rates --set draws=50", "no setting 'draws'"),
        ("--model recorded/example-rates --set chunk=5", "could not be read: not in the recording"),
        ("--model recorded/example", "not in the recording: extrapolation (it holds demands)"),
        ("--model recorded/nobody", "no recording 'nobody'; expected one of demo, exam-example, example"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(mensura_command, words, message):
    run = mensura_command("extrapolate", "example", *words.split())
    assert run.code == 2 and message in " ".join(run.err.split())


def estimates(prompt: str, request: dict) -> str:
    """An endpoint's answer: half of every observed rate, by schema; or in words where one item is asked about."""
    rows = re.findall(r"^(i\d+) \| ([\d.]+)% \|", prompt, re.MULTILINE)
    if not rows:
        return "People are less practised elsewhere.\nFinal answer: about 13 %"
    assert request["response_format"]["json_schema"]["schema"]["required"] == ["rationale", "answers"]
    told = [
        {"item": label, "estimate": float(rate) / 2, "low": float(rate) / 3, "high": float(rate)}
        for label, rate in rows
    ]
    return json.dumps({"rationale": "half as many", "answers": told})


@pytest.fixture
def endpoint():
    server = ChatServer(Faults(busy=0.2, broken=0.2), answer=estimates)
    with serving(server) as running:
        yield running


def test_an_endpoint_is_asked_in_chunks_once_and_never_twice(mensura_command, endpoint, tmp_path):
    command = ["extrapolate", "example", "--model", "mine", "--set", f"base_url={endpoint.url}", "--out", "out"]
    assert mensura_command(*command, settings={"chunk": 4}).code == 0
    first = pl.read_csv(tmp_path / "out" / "rates.csv")
    assert first["rate"].null_count() == 0 and first["calls"].to_list() == [1] * 16
    answered = sum(endpoint.log.answers.values())
    assert answered == 4
    assert mensura_command(*command, settings={"chunk": 4}).code == 0
    assert sum(endpoint.log.answers.values()) == answered
    assert pl.read_csv(tmp_path / "out" / "rates.csv").equals(first)


@pytest.mark.slow
def test_free_text_of_an_endpoint_is_read_item_by_item(mensura_command, endpoint):
    asked = ["--model", "mine", "--set", f"base_url={endpoint.url}", "--method", "item-by-item"]
    run = mensura_command("extrapolate", "example", *asked, "--json", settings={"journal": "j.sqlite", "variants": 3})
    found = json.loads(run.out)["rates"]
    assert {row["calls"] for row in found} == {3}
    assert {round(row["rate"], 3) for row in found} == {0.13}


def test_rates_of_several_models_are_averaged_in_logits():
    """The mean of 0.2 and 0.8 is a half, that of 0.5 and 0.9 is 0.75: odds of 1 and 9 have the mean 3."""
    rows = [("q", "a", 0.2, 0.5), ("q", "b", 0.8, 0.9), ("r", "a", 0.3, 0.0), ("s", "a", None, None)]
    rates = pl.DataFrame(rows, schema=["item", "model", "rate", "low"], orient="row").with_columns(high=pl.col("low"))
    pooled = pool_models(rates)
    assert pooled["item"].to_list() == ["q", "r"] and pooled["models"].to_list() == [2, 1]
    assert pooled["rate"].to_list() == pytest.approx([0.5, 0.3])
    assert pooled["low"].to_list() == pytest.approx([0.75, 1e-6]), "a rate of 0 or 1 has no logit"


def test_tables_of_several_models_stand_below_each_other_and_those_of_one_as_they_are():
    one, two = pl.DataFrame({"item": ["q"], "rate": [0.5]}), pl.DataFrame({"item": ["q"], "n": [3], "model": ["x"]})
    assert stack_models({"a": {"rates": one}}) == {"rates": one}
    stacked = stack_models({"a": {"rates": one}, "b": {"rates": two, "more": two}})
    assert stacked["rates"].rows() == [("a", "q", 0.5, None), ("b", "q", None, 3)]
    assert stacked["more"].rows() == [("b", "q", 3)]
