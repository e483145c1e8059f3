"""The commands ``mensura iq`` and ``mensura cost``, as typed."""

import json

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.scale.ranking import say_chance
from tools.facts import import_facts

pytestmark = pytest.mark.usefixtures("few_draws")


@pytest.mark.slow
def test_iq_writes_the_contract(mensura_command, tmp_path):
    run = mensura_command("iq", "--set", "draws=20", "--out", tmp_path / "iq")
    assert run.code == 0
    assert "claude-fable-5" in run.out
    heads = {file.stem: file.read_text(encoding="utf-8").splitlines()[0] for file in (tmp_path / "iq").glob("*.csv")}
    counts = "measured,inherited,estimated"
    assert heads["composites"] == f"subject,iq,low,high,published,{counts},scored_dimensions,status,lowered,missing"
    assert heads["dimensions"] == f"subject,dimension,iq,low,high,{counts},status"
    assert heads["benchmark_iqs"] == "subject,benchmark,iq,status,step"
    composites, ranking = (pl.read_csv(tmp_path / "iq" / f"{name}.csv") for name in ("composites", "ranking"))
    assert composites["iq"].drop_nulls().is_between(70, 160).all()
    too_new = composites.drop_nulls(["iq", "missing"])
    assert ranking.height == composites["iq"].count() - too_new.height > 100
    assert not set(too_new["subject"]) & set(ranking["subject"])
    assert too_new["missing"].str.starts_with("scores on 3 tests in 2 dimensions; ").all()
    assert set(composites.filter(pl.col("measured") < 3)["subject"]) <= set(composites.drop_nulls("missing")["subject"])
    assert ranking["p_first"].sum() == pytest.approx(1)
    printed = " ".join(run.out.split())
    assert "Too new to rank, and what a rank would need" in printed
    assert (
        f"{say_chance(ranking['p_first'][0])} chance of being first among all {ranking.height} ranked models" in printed
    )


def test_every_model_is_ranked_when_asked(mensura_command):
    facts = json.loads(
        mensura_command("iq", "--method", "published", "--set", "draws=0", "--set", "least_measured=0", "--json").out
    )
    assert (facts["method"], facts["ladders"], facts["left_out"]) == ("published", "published", 0)
    scored = [row for row in facts["composites"] if row["iq"] is not None]
    assert len(facts["ranking"]) == len(scored)
    assert all(row["iq"] == row["published"] for row in scored)


def test_the_published_method_beside_the_default_one(mensura_command):
    facts = json.loads(mensura_command("iq", "--against", "method=published", "--json").out)
    causes = {row["cause"] for row in facts["inputs"]}
    assert {"imputed by joint instead of correlation", "ladder moved"} <= causes
    changes = [row["change"] for row in facts["changes"] if row["change"] is not None]
    assert sum(changes) / len(changes) > 1


def test_iq_of_one_model_and_its_tree(mensura_command):
    plain = mensura_command("iq", "gpt-5.5", "--set", "draws=20", "--method", "published")
    assert "Cannot be told apart from" in plain.out
    tree = mensura_command("iq", "claude-opus-4.8", "--explain", "--set", "draws=0", "--method", "published")
    for word in ("Claude Opus 4.8", "Mathematical Reasoning", "predecessor", "between IQ"):
        assert word in tree.out
    data = json.loads(mensura_command("iq", "gpt-5.5", "--set", "draws=0", "--method", "published", "--json").out)
    assert data["explanation"]["parts"][6]["label"] == "Reliability"
    assert data["composites"][0]["subject"] == "gpt-5.5"


@pytest.mark.slow
def test_a_model_without_an_iq_is_a_row_with_its_reason(mensura_command, tmp_path):
    scores = "subject,released,benchmark,score,unit\nmy-model,2026-11-01,my-test,0.4,fraction\n"
    (tmp_path / "mine.csv").write_text(scores, encoding="utf-8")
    asked = ("iq", "my-model", "--add", tmp_path / "mine.csv", "--set", "draws=20")
    why = "it has no score on any of the 32 benchmarks that count"
    (row,) = json.loads(mensura_command(*asked, "--json").out)["composites"]
    assert row["iq"] is None
    assert row["missing"].startswith(why)
    said = mensura_command(*asked).out
    assert f"no IQ: {why}" in said
    assert "┏" not in said  # no table without rows, and no word on intervals that are not there
    assert "trust" not in said


@pytest.mark.slow
def test_iq_sensitivity_and_changes(mensura_command, tmp_path):
    run = mensura_command("iq", "--check", "sensitivity", "--method", "published", "--json")
    assert len(json.loads(run.out)["sensitivity"]) == 103
    run = mensura_command("iq", "--method", "published", "--against", "ladders=recut", "--json")
    assert "ladder moved" in {row["cause"] for row in json.loads(run.out)["inputs"]}
    mensura_command("export", "evidence", "--to", "file", "--out", tmp_path / "before")
    (tmp_path / "mine.csv").write_text("subject,benchmark,score\ngpt-5.5,hle,60\n")
    run = mensura_command("iq", "gpt-5.5", "--method", "published", "--against", tmp_path / "before", "--json")
    assert json.loads(run.out)["inputs"] == []
    run = mensura_command(
        *("iq", "gpt-5.5", "--method", "published", "--add", tmp_path / "mine.csv", "--against", "embedded", "--json")
    )
    assert json.loads(run.out)["inputs"][0]["cause"].startswith("score ")


def test_iq_validates_its_imputation(mensura_command, tmp_path):
    facts = "subject,name,provider,released,reasoning\n" + "".join(f"m{i},M{i},Acme,2026-01-01,yes\n" for i in range(6))
    (tmp_path / "models.csv").write_text(facts)
    scores = [f"m{i},{benchmark},{20 + 3 * i},percent,aiiq" for i in range(6) for benchmark in ("hle", "aime")]
    (tmp_path / "scores.csv").write_text("\n".join(["subject,benchmark,score,unit,source", *scores]) + "\n")
    mensura_command("export", "evidence", "--to", "file", "--out", tmp_path / "all")
    (tmp_path / "benchmarks.csv").write_bytes((tmp_path / "all" / "benchmarks.csv").read_bytes())
    run = mensura_command("iq", "--check", "imputation", "--method", "published", "--evidence", tmp_path, "--json")
    assert len(json.loads(run.out)["outcomes"]) == 12


@pytest.mark.slow
def test_iq_options_reach_the_scorer(mensura_command, tmp_path):
    run = mensura_command(
        *("iq", "gpt-5.5", "--weight", "reliability=3", "--method", "published", "--set", "draws=0", "--json")
    )
    assert "weighted mean" in json.loads(run.out)["explanation"]["note"]
    run = mensura_command(
        *("iq", "--set", "source=aiiq", "--method", "published", "--set", "ladders=recut", "--set", "draws=0", "--json")
    )
    facts = json.loads(run.out)
    assert (facts["source"], facts["ladders"]) == ("aiiq", "recut")
    curves = tmp_path / "curves.csv"
    curves.write_text("benchmark,difficulty,slope\narc_agi_1,0,2\ngpqa_diamond,0,1\n")
    run = mensura_command("iq", "--curves", curves, "--json")
    assert {row["benchmark"] for row in json.loads(run.out)["ladders"]} == {"arc_agi_1", "gpqa_diamond"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["iq", "gpt-5.55"], "is not in the evidence; did you mean"),
        (["iq", "--explain"], "name the model"),
        (["iq", "--weight", "reliability"], "expected NAME=NUMBER"),
        (["iq", "--set", "source=nowhere"], "no score comes from 'nowhere'"),
        (["iq", "--set", "ladders=nothing"], "expected a set"),
        (["iq", "--set", "draws=0", "--set", "seed=3"], "--set seed: of no use here, because nothing is drawn"),
        (["iq", "--method", "guess"], "--method: got 'guess'; expected one of joint, published"),
        (["cost", "--at-least", "100", "--by", "beauty"], "'beauty' is no cost"),
        (["cost", "--by", "subject"], "'subject' is no cost"),
    ],
)
def test_wrong_input_is_refused_in_one_line(mensura_command, arguments, message):
    run = mensura_command(*arguments)
    assert run.code == 2
    assert message in " ".join(run.err.split())
    assert "Traceback" not in run.err


BROKEN = {
    "ladders": ("hle,0,2,5,10,20,45,100", "hle,0,2,5,5,20,45,100", "a ladder must rise"),
    "released": (",Anthropic,2026-06-09,", ",Anthropic,,", "not an empty cell"),
    "scores": (
        "claude-fable-5,aa_omniscience,40,",
        "claude-fable-5,aa_omniscient,40,",
        "did you mean 'aa_omniscience'",
    ),
    "units": ("aa_omniscience,40,index", "aa_omniscience,40,elo", "the unit of this benchmark"),
}


@pytest.mark.parametrize("kind", ["ladders", "released", "scores", "units"])
def test_bad_evidence_is_refused_with_the_row(mensura_command, tmp_path, kind):
    folder = tmp_path / "evidence"
    mensura_command("export", "evidence", "--to", "file", "--out", folder)
    file = folder / f"{ {'released': 'models', 'units': 'scores'}.get(kind, kind) }.csv"
    text = file.read_text(encoding="utf-8")
    old, new, message = BROKEN[kind]
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    run = mensura_command("iq", "--evidence", folder)
    assert run.code == 2
    assert message in " ".join(run.err.split())
    assert "row" in run.err


def test_a_predecessor_circle_is_refused_with_the_row(mensura_command, tmp_path):
    folder = tmp_path / "evidence"
    mensura_command("export", "evidence", "--to", "file", "--out", folder)
    models = pl.read_csv(folder / "models.csv", infer_schema=False).with_columns(
        predecessor=pl.when(pl.col("subject") == "claude-opus-4.7")
        .then(pl.lit("claude-fable-5"))
        .otherwise(pl.col("predecessor"))
    )
    models.write_csv(folder / "models.csv")
    run = mensura_command("iq", "--evidence", folder)
    assert run.code == 2
    assert "form a circle" in " ".join(run.err.split())


def test_cost_tables_frontier_and_query(mensura_command, tmp_path):
    run = mensura_command("cost", "--out", tmp_path / "cost")
    assert run.code == 0
    head = (tmp_path / "cost" / "costs.csv").read_text(encoding="utf-8").splitlines()[0]
    assert head.startswith(
        "subject,input_price,output_price,sticker_price,usage_multiplier,signals,status,effective_cost"
    )
    assert set(json.loads(mensura_command("cost", "--frontier", "--json").out)) == {
        *(f"frontier_{axis}" for axis in ("sticker_price", "effective_cost", "usage_multiplier", "response_time")),
        "note",
        "provenance",
    }
    found = json.loads(mensura_command("cost", "--at-least", 125, "--json").out)
    assert "differs by a factor of 1.36" in found["note"]
    assert "differs by a factor of 1.36" in " ".join(run.out.split())
    rows = found["cheapest"]
    assert rows
    assert all(row["iq"] >= 125 for row in rows)
    assert "No model is as good as that." in mensura_command("cost", "--at-least", 500).out


@pytest.mark.shared
def test_published_values_are_met(shared, mensura_command, tmp_path):
    import_facts(shared / "data" / "models").save(tmp_path / "evidence")
    mensura_command(
        *("iq", "--method", "published", "--evidence", tmp_path / "evidence", "--set", "source=aiiq"),
        *("--set", "draws=0", "--out", tmp_path / "iq"),
    )
    theirs = pl.read_csv(shared / "data" / "models" / "aiiq_published.csv").rename({"model_id": "subject"})
    ours = pl.read_csv(tmp_path / "iq" / "composites.csv")
    both = theirs.join(ours, on="subject").drop_nulls("composite_iq")
    assert both["iq"].null_count() == 0
    assert (both["iq"] - both["composite_iq"]).abs().mean() <= 1.5
    dimensions = pl.read_csv(tmp_path / "iq" / "dimensions.csv").filter(status="measured")
    for dimension in ("scientific-reasoning", "reliability", "app-building", "abstract-reasoning", "computer-use"):
        column = dimension.replace("-", "_") + "_iq"
        pair = theirs.select("subject", column).join(dimensions.filter(dimension=dimension), on="subject")
        assert pair.height > 0
        assert (pair[column] - (pair["iq"] + 0.5).floor()).abs().max() == 0


@pytest.mark.parametrize(("asked", "placed"), [(["zeta"], ["zeta"]), ([], ["omega", "zeta"])])
def test_a_frozen_scale_takes_the_model_asked_for_or_all_that_are_new(
    mensura_command, tmp_path, monkeypatch, asked, placed
):
    rows = [(name, test, "60%", "2026-05-01") for name in ("omega", "zeta") for test in ("hle", "gpqa_diamond")]
    file = tmp_path / "mine.csv"
    pl.DataFrame(rows, schema=["model", "benchmark", "score", "released"], orient="row").write_csv(file)
    taken = []

    def place_iq(evidence, score, *, only, **settings):
        taken.extend(only)
        raise MensuraError("that is all this test wants to know")

    monkeypatch.setattr("mensura.iq.frozen.place_iq", place_iq)
    run = mensura_command("iq", *asked, "--scale", "2026-12", "--add", file)
    assert "that is all" in run.err
    assert sorted(taken) == placed


def test_cost_says_which_model_is_the_cheapest(mensura_command):
    """The first of all models with a known cost, and of those with an IQ of 125 or more."""
    for arguments, key in (((), "costs"), (("--at-least", 125), "cheapest")):
        rows = json.loads(mensura_command("cost", *arguments, "--json").out)[key]
        first = min((row for row in rows if row["effective_cost"] is not None), key=lambda row: row["effective_cost"])
        said = f"{first['subject']} has the lowest effective cost: {first['effective_cost']:.2f}"
        assert said in mensura_command("cost", *arguments).out
