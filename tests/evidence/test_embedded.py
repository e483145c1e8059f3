"""The embedded evidence: what a newcomer gets, and the policy it keeps."""

from datetime import date
from importlib.resources import files

import polars as pl
import pytest

import mensura
from mensura import evidence as ev


@pytest.fixture(scope="module")
def loaded():
    return mensura.load()


def test_tables_and_their_size(loaded):
    assert loaded.models.height == 166
    assert loaded.benchmarks.height == 44
    assert loaded.primary_scores.height == 2183
    assert loaded.scores.height - loaded.primary_scores.height == 882
    assert loaded.ladders.filter(set="published").height == 32
    assert loaded.demand_outcomes["subject"].n_unique() == 15


def test_scores_are_in_the_unit_of_their_benchmark(loaded):
    joined = loaded.scores.join(loaded.benchmarks, on="benchmark", suffix="_benchmark")
    assert (joined["unit"] == joined["unit_benchmark"]).all()
    fraction = loaded.scores.filter(source_unit="fraction", unit="percent")
    assert fraction.height > 1000
    gap = fraction["score"] - 100 * fraction["source_score"]
    assert gap.abs().max() < 1e-9


def test_every_pair_has_at_most_one_primary_score(loaded):
    assert loaded.primary_scores.select("subject", "benchmark").is_unique().all()


def test_human_ranges_are_one_row(loaded):
    row = loaded.human_references.filter(benchmark="arc_agi_1", group="crowd workers").row(0, named=True)
    assert (row["low"], row["score"], row["high"], row["status"]) == (64, 70.5, 77, "measured")


def test_figures_that_their_own_source_contradicts_are_corrected(loaded):
    people = loaded.human_references
    diamond = people.filter(pl.col("status") == "measured", benchmark="gpqa_diamond")["score"].to_list()
    assert diamond == [21.9, 81.3]  # 34, 65 and 74 are figures of the whole GPQA
    assert people.filter(benchmark="arc_agi_2", group="general public, average")["score"].item() == 60
    assert people.filter(benchmark="frontiermath_t1_3")["status"].to_list() == ["estimated"]
    facts = {row["benchmark"]: row for row in loaded.benchmarks.iter_rows(named=True)}
    assert (facts["hle"]["chance"], facts["hle"]["items"]) == (4.65, 2500)
    assert (facts["mmmu_pro"]["chance"], facts["mmmu_pro"]["items"]) == (10, 1730)
    tries = {name: (facts[name]["items"], facts[name]["repeats"]) for name in facts}
    assert [tries[name] for name in ("terminal_bench_hard", "critpt", "scicode")] == [(44, 3), (70, 5), (288, 3)]
    assert (facts["aa_omniscience"]["items"], facts["frontiermath_t4"]["items"]) == (6000, 41)
    prices = {row["subject"]: (row["input_price"], row["output_price"]) for row in loaded.models.iter_rows(named=True)}
    assert prices["deepseek-v3-0324"] == (0.27, 1.1)
    assert prices["deepseek-r1-0120"] == (0.55, 2.19)
    assert prices["gemini-2.0-flash"] == (0.1, 0.4)
    assert loaded.models.filter(subject="claude-haiku-3.5")["released"].item() == date(2024, 11, 4)


@pytest.mark.parametrize("name", ["GDPval", "τ²-bench", "AA-LCR", "the Vals Index", "ARC-AGI-1", "qwen3.6-27b"])
def test_what_is_asked_for_and_absent_is_said_to_be(loaded, name):
    said = (files("mensura.evidence") / "data" / "README.md").read_text(encoding="utf-8")
    absent = said[said.index("- Absent:") :].split("\n- ")[0]
    assert name in absent
    mathematics = loaded.benchmarks.filter(dimension="mathematical-reasoning")["benchmark"].to_list()
    assert len(mathematics) >= 5
    assert loaded.scores.filter(pl.col("benchmark").is_in(mathematics), subject="qwen3.6-27b").is_empty()


@pytest.mark.parametrize("benchmark", ["terminal_bench_hard", "scicode", "ifbench", "mmmu_pro"])
def test_printed_values_are_multiples_of_one_try(loaded, benchmark):
    tries = loaded.benchmarks.filter(benchmark=benchmark).select(ev.trials()).item()
    printed = loaded.scores.filter(pl.col("source") == "aa0710", benchmark=benchmark)["source_score"]
    right = printed * tries
    assert ((right - right.round()).abs() < 0.01 + 1e-5 * tries).mean() > 0.9


def test_published_bases_are_the_default_calibration(loaded):
    volume = loaded.calibration["volume"]
    assert (volume.slope, volume.intercept) == (1.5, -0.55)
    printed = loaded.bases.select((pl.lit(10).pow("slope") / pl.col("base")).log().abs().max()).item()
    assert printed < 0.02  # the printed bases are 10^slope up to the rounding of the slope


def test_coverage_tables(loaded):
    coverage = ev.benchmark_coverage(loaded)
    assert coverage["models"].sum() == loaded.primary_scores.height
    assert ev.source_coverage(loaded)["scores"].sum() == loaded.scores.height
    gaps = ev.source_disagreement(loaded)
    assert gaps["pairs"].sum() <= loaded.scores.height - loaded.primary_scores.height
    assert gaps["pairs"].is_sorted(descending=True)
    assert (gaps["median_gap"] <= gaps["largest_gap"]).all()
    assert "166" in str(loaded)
    assert "validations" in repr(loaded)
    assert repr(loaded).count("\n") < 30
    assert "<table" in loaded._repr_html_()
    assert list(loaded.tables()) == list(ev.TABLES)


def test_coverage_by_hand(tmp_path):
    """Two models, one scored twice: what was printed by whom, and how far it lies apart."""
    (tmp_path / "models.csv").write_text(
        "subject,name,provider,released,reasoning\na,A,X,2025-01-01,yes\nb,B,X,2026-01-01,no\n"
    )
    (tmp_path / "benchmarks.csv").write_text(
        "benchmark,name,kind,unit,in_composite\nt,T,tracked,percent,no\nu,U,tracked,elo,no\n"
    )
    (tmp_path / "scores.csv").write_text(
        "subject,benchmark,score,unit,source,primary\na,t,40,percent,aiiq,yes\na,t,0.43,fraction,epoch,no\n"
        "a,t,35,percent,mdev,no\nb,t,60,percent,aiiq,yes\nb,t,61,percent,epoch,no\n"
    )
    evidence = mensura.load(tmp_path)
    first, second = ev.benchmark_coverage(evidence).to_dicts()
    assert (first["models"], first["second_sources"], first["human_groups"]) == (2, 3, 0)
    assert (str(first["first"]), str(first["last"])) == ("2025-01-01", "2026-01-01")
    assert (second["models"], second["second_sources"], second["first"]) == (0, 0, None)
    counted = {
        row["source"]: (row["scores"], row["primary"]) for row in ev.source_coverage(evidence).iter_rows(named=True)
    }
    assert {key: counted[key] for key in ("aiiq", "epoch", "mdev", "k3")} == {
        "aiiq": (2, 2),
        "epoch": (2, 0),
        "mdev": (1, 0),
        "k3": (0, 0),
    }
    [gap] = ev.source_disagreement(evidence).to_dicts()
    assert (gap["pairs"], gap["median_gap"], gap["largest_gap"]) == (3, pytest.approx(3.0), 5.0)


def test_without_a_primary_column_the_first_row_of_a_pair_is_primary(tmp_path):
    (tmp_path / "models.csv").write_text("subject,name,provider,released,reasoning\na,A,X,2025-01-01,yes\n")
    (tmp_path / "benchmarks.csv").write_text("benchmark,name,kind,unit,in_composite\nt,T,tracked,percent,no\n")
    (tmp_path / "scores.csv").write_text(
        "subject,benchmark,score,unit,source\na,t,40,percent,aiiq\na,t,43,percent,epoch\n"
    )
    assert mensura.load(tmp_path).scores["primary"].to_list() == [True, False]


def test_data_readme_names_every_file_and_source(loaded):
    page = (ev.EMBEDDED / "README.md").read_text(encoding="utf-8")
    missing = [name for name in ev.TABLES if f"{name}.csv" not in page]
    missing += [key for key in loaded.sources["source"] if f"`{key}`" not in page]
    assert missing == []


@pytest.mark.shared
def test_embedded_rows_are_those_that_may_be_embedded(loaded, shared):
    facts = pl.read_csv(shared / "data/models/scores.csv", infer_schema_length=None)
    allowed = facts.filter(pl.col("via").is_in(["lookup", "seed"]))
    newer = pl.read_csv(shared / "data/models_2026_11/scores.csv", infer_schema_length=None).filter(use="score")
    earlier = set(facts["source_key"])
    own = loaded.scores.filter(pl.col("source").is_in(earlier))
    assert own.height == allowed.height - 3  # two rows of another model, and one of another harness, were taken out
    versions = pl.col("benchmark").str.replace("_v1", "")  # first versions of a test stand apart
    joined = own.with_columns(versions).join(
        allowed, left_on=["subject", "benchmark", "source"], right_on=["model_id", "benchmark_id", "source_key"]
    )
    assert joined.height == own.height
    assert (joined["score"] - joined["score_right"]).abs().max() < 0.001
    later = loaded.scores.filter(~pl.col("source").is_in(earlier))
    assert later.join(newer, on=["subject", "benchmark"], how="anti").is_empty()
    assert newer.height - later.height == 2  # a model without a day of release, and one printing too many


@pytest.mark.parametrize("written", ["gpt-5.5", "GPT-5.5", "gpt 5.5", "openai/gpt-5.5"])
def test_a_model_is_found_by_the_names_people_write(loaded, written):
    assert ev.require_subject(loaded, written) == "gpt-5.5"


def test_a_second_printing_does_not_pass_for_agreement_between_sources(loaded):
    pairs = ev.source_disagreement(loaded)["pairs"].sum()
    second = ev.distinct_scores(loaded).filter(~pl.col("primary"))
    assert pairs == second.join(loaded.primary_scores, on=["subject", "benchmark"], how="semi").height
    assert pairs < loaded.scores.height - loaded.primary_scores.height
