"""The composite, its tables, rules as data, weights, ladders, refusals."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.iq import ladder_table, read_rules
from mensura.iq.rules import DATA


def test_tables_have_the_contract_columns(drawn):
    counts = ["measured", "inherited", "estimated"]
    assert drawn.composites.columns == [
        *("subject", "iq", "low", "high", "published", *counts, "scored_dimensions", "status", "lowered", "missing")
    ]
    assert drawn.dimensions.columns == ["subject", "dimension", "iq", "low", "high", *counts, "status"]
    assert drawn.benchmark_iqs.columns == ["subject", "benchmark", "iq", "status", "step"]


def test_composite_is_the_rounded_mean_of_seven(scored):
    means = scored.dimensions.group_by("subject").agg(pl.mean("iq"), pl.len())
    both = scored.composites.drop_nulls("iq").join(means, on="subject", suffix="_mean")
    assert both["len"].to_list() == [7] * both.height
    assert (both["iq"] - (both["iq_mean"] + 0.5).floor()).abs().max() == 0


def test_evidence_is_left_alone(scored):
    before = mensura.load()
    tables = {name: getattr(before, name).clone() for name in ("models", "scores", "ladders")}
    mensura.score_iq(before, draws=2, method="published").tables()
    assert all(getattr(before, name).equals(table) for name, table in tables.items())


def test_measured_values_are_never_changed(scored):
    there = scored.matrix.measured
    assert np.array_equal(scored.filled.iqs[0][there], scored.matrix.iqs[there])
    imputed = scored.benchmark_iqs.filter(pl.col("status") == "imputed")
    assert "source" not in imputed["step"].unique()


def test_a_model_that_inherits_all_is_not_full(build):
    """Two scores of its own and a predecessor measured on everything: a composite, but a provisional one."""
    tests = mensura.load().benchmarks.filter("in_composite")["benchmark"]
    scores = {("elder", name): 0.5 if name == "swe_bench_pro" else 50.0 for name in tests}
    scores |= {("heir", "hle"): 12.0, ("heir", "ifbench"): 70.0}
    result = mensura.score_iq(build(scores, {"elder": {}, "heir": {"predecessor": "elder"}}), method="published")
    rows = {row["subject"]: row for row in result.composites.iter_rows(named=True)}
    counts = ("measured", "inherited", "estimated", "scored_dimensions", "status")
    assert [rows["heir"][name] for name in counts] == [2, 30, 0, 7, "Provisional"]
    assert [rows["elder"][name] for name in counts] == [32, 0, 0, 7, "Full"]
    assert result.ranking["subject"].to_list() == ["elder"]
    assert result.left_out == 1
    assert "too new to rank: 1" in str(result)
    assert result.not_ranked["missing"].to_list() == ["scores on 8 benchmarks; it has 2"]
    assert [rows[name]["missing"] for name in ("heir", "elder")] == ["scores on 8 benchmarks; it has 2", None]
    assert set(result.rank(least=0.0)["subject"]) == {"elder", "heir"}
    assert result.rank(least=1.0)["subject"].to_list() == ["elder"]
    with pytest.raises(mensura.MensuraError, match=r"least: 25; expected a share"):
        result.rank(least=25)


def test_counts_say_what_every_value_rests_on(scored):
    """Dimensions add up to the model, and each benchmark counts once wherever there is a composite."""
    counts = ["measured", "inherited", "estimated"]
    whole = scored.composites.drop_nulls("iq")
    assert (whole.select(pl.sum_horizontal(counts)).to_series() == 32).all()
    parts = scored.dimensions.group_by("subject").agg(pl.col(counts).sum()).join(whole, on="subject", suffix="_whole")
    for name in counts:
        assert (parts[name] == parts[f"{name}_whole"]).all()
    steps = scored.benchmark_iqs.group_by("subject").agg(
        (pl.col("step") == "source").sum().alias("source"), (pl.col("step") == "predecessor").sum().alias("heir")
    )
    both = scored.composites.join(steps, on="subject")
    assert (both["measured"] == both["source"]).all()
    assert (both["inherited"] == both["heir"]).all()
    assert both["inherited"].sum() > 100


def test_the_published_composite_stands_beside_the_default_one(scored, joint):
    ours = joint
    assert (ours.method, ours.ladders) == ("joint", "recut")
    assert (scored.method, scored.ladders) == ("published", "published")
    assert ours.composites["published"].to_list() == scored.composites["iq"].to_list()
    assert scored.composites["published"].to_list() == scored.composites["iq"].to_list()
    moved = ours.composites.drop_nulls(["iq", "published"])
    assert (moved["iq"] - moved["published"]).mean() > 1  # the waterfall puts sparse models low


def test_published_ladder_points():
    matrix = mensura.score_iq(mensura.load(), method="published").matrix
    gpqa = matrix.ladders[matrix.benchmarks.index("gpqa_diamond")]
    assert [float(gpqa.iq(np.array(x))) for x in (10, 25, 34, 74, 200)] == [70, 85, 100, 130, 160]
    assert float(gpqa.iq(np.array(65.0))) == pytest.approx(124.4, abs=0.05)
    assert len(matrix.ladders) == 32
    assert len(matrix.dimensions) == 7


def test_ladders_and_rules_from_files(tmp_path):
    evidence = mensura.load()
    row = "benchmark,iq70,iq85,iq100,iq115,iq130,iq145,iq160\nhle,0,10,20,30,40,50,60\n"
    (tmp_path / "mine.csv").write_text(row)
    matrix = mensura.score_iq(evidence, ladders=tmp_path / "mine.csv", method="published").matrix
    assert float(matrix.ladders[matrix.benchmarks.index("hle")].iq(np.array(20.0))) == 100
    text = (DATA / "rules.toml").read_text(encoding="utf-8").replace("band = 4.0", "band = 9.0")
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    assert mensura.score_iq(evidence, rules=tmp_path / "mine.toml", method="published").rules.dimension.band == 9
    (tmp_path / "least.toml").write_text(text.replace("comparable = 3", "comparable = 1"), encoding="utf-8")
    assert read_rules(tmp_path / "least.toml").dimension.comparable == 1


def ladders_with(benchmark, **points):
    table = ladder_table(mensura.load())
    return table.with_columns(
        pl.when(pl.col("benchmark") == benchmark).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
        for name, value in points.items()
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "guess"}, "method: 'guess' is unknown; expected one of joint, published"),
        ({"ladders": "recutt"}, "expected a set (published, recut) or a CSV file"),
        ({"source": "nowhere"}, "no score comes from 'nowhere'"),
        ({"weights": {"maths": 1}}, "'maths' is no dimension"),
        ({"weights": {"reliability": -1}}, "reliability = -1"),
        ({"draws": 0, "ladders": ladders_with("hle", iq100=200.0)}, "ladder of hle: expected seven rising scores"),
        ({"ladders": pl.DataFrame({"benchmark": ["x"]})}, "missing column 'iq70'"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(mensura.MensuraError) as fault:
        mensura.score_iq(mensura.load(), **{"method": "published", **arguments})
    assert message in str(fault.value)


def test_a_benchmark_without_ladder_or_with_an_unknown_dimension_is_named():
    evidence = mensura.load()
    counted = evidence.benchmarks.with_columns(
        in_composite=pl.col("in_composite") | (pl.col("benchmark") == "mmlu_pro")
    )
    with pytest.raises(mensura.MensuraError, match=r"mmlu_pro: dimension None is none of the rules"):
        mensura.score_iq(replace(evidence, benchmarks=counted), method="published")
    placed = counted.with_columns(dimension=pl.col("dimension").fill_null("reliability"))
    with pytest.raises(mensura.MensuraError, match="mmlu_pro counts in the composite but has no ladder"):
        mensura.score_iq(replace(evidence, benchmarks=placed), method="published")


def test_weights_move_the_composite_only(scored):
    weighted = mensura.score_iq(mensura.load(), weights={"mathematical-reasoning": 3}, method="published")
    assert weighted.dimensions.equals(scored.dimensions)
    row = scored.matrix.row("gpt-5.5")
    dims = scored.scored.dimensions[0, row]
    assert weighted.scored.composites[0, row] == pytest.approx((dims.sum() + 2 * dims[0]) / 9)


def test_emotional_reasoning_by_hand(build):
    scores = {("claude", "eq_bench_3"): 1800, ("claude", "arena_overall"): 1450, ("other", "eq_bench_3"): 1800}
    table = mensura.score_iq(build(scores, {"claude": {"provider": "Anthropic"}}), method="published").emotional
    claude, other = table.to_dicts()
    assert claude["eq_bench_3"] == pytest.approx(113)  # 1800 − 300 = 1500
    assert claude["eq"] == pytest.approx((113 + 114) / 2)
    assert other["eq_bench_3"] == pytest.approx(123 + 9 / 3)
    assert other["eq"] is None
    assert other["components"] == 1


def test_an_emotional_curve_that_falls_anywhere_is_refused():
    evidence = mensura.load()
    first = evidence.eq_ladders["benchmark"][0]
    points = evidence.eq_ladders.filter(benchmark=first).sort("score")
    dented = points.with_columns(eq=pl.Series([*points["eq"][:-1], points["eq"][-2]]))
    others = evidence.eq_ladders.filter(pl.col("benchmark") != first)
    with pytest.raises(mensura.MensuraError, match=f"eq_ladders.csv, {first}: expected a rising curve"):
        _ = mensura.score_iq(replace(evidence, eq_ladders=pl.concat([others, dented])), method="published").emotional


def test_a_result_prints_itself(scored):
    assert str(scored).startswith(f"IQ of {scored.ranking.height} ranked models (method published, ladders published")
    assert scored.shown["subject"].to_list() == scored.ranking["subject"].to_list()
    assert repr(scored).count("\n") < 30
    assert "claude" in scored._repr_html_()
    assert list(scored.tables()) == ["composites", "dimensions", "benchmark_iqs", "ranking", "trail", "emotional"]
    draws = scored.draws(20)
    assert np.array_equal(draws.composites, scored.draws(20, seed=0).composites, equal_nan=True)


def test_the_ranking_is_by_the_composite_before_rounding(scored):
    assert scored.ranking["rank"].to_list() == list(range(1, scored.ranking.height + 1))
    assert scored.ranking["exact"].is_sorted(descending=True)
    assert scored.rank(0).height == scored.composites["iq"].count() > scored.ranking.height
    assert scored.ranking["measured"].min() == 8


def test_without_an_evidence_the_embedded_one_is_scored():
    alone, loaded = mensura.score_iq(method="published"), mensura.score_iq(mensura.load(), method="published")
    assert alone.ranking.equals(loaded.ranking)


def test_a_seed_without_draws_is_refused():
    with pytest.raises(mensura.MensuraError, match="seed: got 7, but nothing is drawn; give draws=1000"):
        mensura.score_iq(seed=7)
