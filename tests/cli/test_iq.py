"""The commands ``mensura iq`` and ``mensura cost``, as typed."""

import json
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from mensura.cli import iq as iq_command
from mensura.core.errors import MensuraError
from mensura.scale.ranking import say_chance, say_leader
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


def scored(n_draws=1000, **more):
    """Return a scoring of models a to c, of which c is too new to rank."""
    composites = pl.DataFrame(
        {"subject": list("abc"), "iq": [130, 120, 110], "low": [125.4, 110.5, 90.0], "high": [134.6, 129.5, 130.0]}
        | {"measured": [9, 7, 2], "inherited": 1, "estimated": 22, "status": "Full", "published": [131, None, None]}
    )
    ranking = pl.DataFrame(
        {"rank": [1, 2], "subject": ["a", "b"], "p_first": [0.996, 0.004], "rank_low": [1, 1], "rank_high": [2, 3]}
        | {"measured": [9, 7]}
    )
    facts = {
        "method": "joint",
        "ladders": "recut",
        "source": None,
        "warnings": ("a: odd", "b: even"),
        "n_draws": n_draws,
    }
    result = SimpleNamespace(
        composites=composites,
        rank=lambda least: ranking if least is None else ranking.head(1),
        tables=lambda: {"composites": composites, "dimensions": DIMENSIONS},
        matrix=SimpleNamespace(benchmarks=["x"] * 32),
        not_ranked=composites.tail(1).with_columns(missing=pl.lit("scores on 3 tests")),
        about_selection=["chosen"],
        evidence=None,
        **facts,
    )
    for name, value in more.items():
        setattr(result, name, value)
    return result


DIMENSIONS = pl.DataFrame(
    {"subject": ["a", "a", "a", "b"], "dimension": ["fluid", "trust", "odd", "fluid"], "iq": [110.0, 140.0, None, 90.0]}
)


def cells_of(printed):
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines() if line[:1] == "│"]


def test_all_models_are_printed_in_one_line_each_with_interval_chance_and_ranks(capsys, monkeypatch):
    monkeypatch.setattr("mensura.cli.output.console._width", 250)
    emitted = []
    monkeypatch.setattr("mensura.cli.iq.emit", lambda tables, **facts: emitted.append(facts))
    iq_command._print_all(scored(), None, None)
    printed = capsys.readouterr().out
    assert cells_of(printed) == [
        ["1", "a", "130", "125–135", "9", ">99%", "1–2", "Full", "131", "1", "22"],
        ["2", "b", "120", "110–130", "7", "<1%", "1–3", "Full", "–", "1", "22"],
        ["c", "110", "2", "scores on 3 tests"],
    ]
    assert "IQ, method joint, ladders recut" in printed and "how many of the 32 benchmarks" in printed
    assert "note: chosen\n" in printed and "Can I trust this interval?" in printed and "Yours" not in printed
    assert (
        emitted[0]["left_out"] == 1 and emitted[0]["lead"] is None and emitted[0]["warnings"] == ["a: odd", "b: even"]
    )
    assert say_leader("a", [0.996], 2) in printed
    lead = SimpleNamespace(to_dict=lambda _: {}, headline=lambda _: "A leads.", basis=lambda _: "By much.")
    iq_command._print_all(scored(n_draws=0), 0.5, lead)
    printed = capsys.readouterr().out
    assert "A leads. By much.\n" in printed and "Can I trust" not in printed and emitted[1]["left_out"] == 2


def test_models_that_were_added_come_first_with_their_rank_or_none(capsys, monkeypatch):
    monkeypatch.setattr("mensura.cli.output.console._width", 250)
    monkeypatch.setattr("mensura.cli.iq.emit", lambda *_, **__: None)
    monkeypatch.setattr("mensura.cli.iq.added_subjects", lambda: ["c", "b"])
    iq_command._print_all(scored(), None, None)
    printed = capsys.readouterr().out
    assert printed.startswith("Yours (mensura iq MODEL says why)\n")
    assert cells_of(printed)[:2] == [
        ["2", "b", "120", "110–130", "7", "Full"],
        ["–", "c", "110", "90–130", "2", "Full"],
    ]


def explained(result, *, iq=130.0, missing=None, others=("b",)):
    tree = SimpleNamespace(heading="A: IQ 130", iq=iq, to_dict=dict, label="A", low=None, high=None, status="measured")
    tree.note, tree.parts = "mean", ()
    result.explain = lambda model: tree
    pairs = pl.DataFrame({"other": ["b", "c"], "told_apart": [other not in others for other in "bc"]})
    result.drawn = SimpleNamespace(pairs=lambda model: pairs)
    result.composites = result.composites.with_columns(missing=pl.lit(missing, pl.String))
    result.tables = lambda: {"composites": result.composites, "dimensions": DIMENSIONS}
    return result


def test_one_model_is_printed_with_its_ends_and_those_it_cannot_be_told_from(capsys, monkeypatch):
    emitted, shown = [], []
    monkeypatch.setattr("mensura.cli.iq.emit", lambda tables, **facts: emitted.append(tables))
    monkeypatch.setattr("mensura.cli.iq.show", lambda tables, layout: shown.append(layout))
    iq_command._print_one(explained(scored()), "a", explain=False)
    printed = capsys.readouterr().out
    assert printed == (
        "note: a: odd\nA: IQ 130\nStrongest in trust, weakest in fluid.\nCannot be told apart from: b.\n"
    )
    assert emitted[0]["not_told_apart"]["other"].to_list() == ["b"] and shown == ["iq one"]
    assert emitted[0]["composites"]["subject"].to_list() == ["a"]
    iq_command._print_one(explained(scored(), missing="3 tests", others=()), "a", explain=False)
    printed = capsys.readouterr().out
    assert "Too new to rank. It needs 3 tests.\n" in printed and "Cannot be told apart from: none.\n" in printed
    iq_command._print_one(explained(scored(n_draws=0)), "a", explain=False)
    assert "Cannot be told" not in capsys.readouterr().out
    iq_command._print_one(explained(scored(), iq=None), "a", explain=False)
    assert capsys.readouterr().out.endswith("mensura where shows the model's capability.\n")
    monkeypatch.setattr("mensura.cli.iq.added_subjects", lambda: ["a"])
    iq_command._print_one(explained(scored()), "a", explain=False)
    assert "Can I trust this interval?" in capsys.readouterr().out
    iq_command._print_one(explained(scored()), "a", explain=True)
    assert capsys.readouterr().out.endswith("note: a: odd\nA 130 measured mean\n")


def test_changes_of_one_model_are_its_own_and_the_largest_is_said(capsys, monkeypatch):
    monkeypatch.setattr("mensura.cli.iq.emit", lambda *_, **__: None)
    monkeypatch.setattr("mensura.cli.iq.show", lambda *_: None)

    @dataclass(frozen=True)
    class Changes:
        composites: pl.DataFrame
        inputs: pl.DataFrame

        @property
        def shown(self):
            return self.composites.filter(pl.col("change") != 0)

    moved = pl.DataFrame({"subject": ["a", "b", "c"], "change": [-2.25, 1.0, 0.0]})
    monkeypatch.setattr("mensura.iq.compare_iq", lambda before, after: Changes(moved, moved))
    for model, said in (
        (None, "2 of 3 composites moved; most a, by -2.2 points."),
        ("b", "1 of 1 composite moved; most b, by +1.0 points."),
        ("c", "0 of 1 composite moved."),
    ):
        iq_command._print_changes(None, None, model)
        assert capsys.readouterr().out == f"{said}\n"


def test_errors_of_imputation_are_said_with_their_bias(capsys, monkeypatch):
    outcomes = pl.DataFrame({"error": [4.0, -2.0, None]})
    by = []
    monkeypatch.setattr("mensura.iq.hide_and_impute", lambda _, by, advance: outcomes)
    monkeypatch.setattr("mensura.iq.summarise", lambda table, *more: by.append(more) or table)
    monkeypatch.setattr("mensura.cli.iq.emit", lambda *_, **__: None)
    monkeypatch.setattr("mensura.cli.iq.show", lambda *_: None)
    for is_joint in (True, False):
        matrix = SimpleNamespace(measured=np.ones((2, 2)))
        rules = SimpleNamespace(imputation=SimpleNamespace(is_joint=is_joint))
        iq_command._print_imputation(SimpleNamespace(rules=rules, matrix=matrix))
        said = "Imputed IQs are off by 3.0 points on average, with a bias of +1.0.\n"
        assert capsys.readouterr().out == said
    assert by == [(), ("benchmark",)] * 2
