"""What one change does to the composites, in closed form and in its direction."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.iq import read_rules
from mensura.iq.validation import hide_and_impute, hidings
from mensura.iq.variations import count_changes, sensitivity

SCIENCE = {"hle": 12, "critpt": 3, "scicode": 50, "gpqa_diamond": 50}
ABSTRACT = {"arc_agi_1": 50, "arc_agi_2": 40, "arc_agi_3": 30}
RELIABILITY = {"ifbench": 60, "aa_omniscience": 10}


def on_three_dimensions(build, scores, method="published"):
    """Score models that were measured on every benchmark of three dimensions; the others are not asked for."""
    evidence = build(scores)
    used = [*SCIENCE, *ABSTRACT, *RELIABILITY]
    kept = evidence.benchmarks.with_columns(in_composite=pl.col("benchmark").is_in(used))
    rules = read_rules().keep(["scientific-reasoning", "abstract-reasoning", "reliability"])
    return mensura.score_iq(replace(evidence, benchmarks=kept), rules=rules, method=method)


@pytest.fixture(scope="module")
def few(build):
    """Four models, each a tenth better than the one before, inside every ladder."""
    tests = SCIENCE | ABSTRACT | RELIABILITY
    return on_three_dimensions(build, {(f"m{i}", n): v * (1 + 0.1 * i) for i in range(4) for n, v in tests.items()})


@pytest.fixture(scope="module")
def found(few):
    return sensitivity(few, shift=4.0)


def moves(found, change, name):
    return found.moves.filter(change=change, name=name)


def test_a_harder_ladder_takes_and_an_easier_one_gives_its_share(few, found):
    """IFBench is one of two in Reliability, one of three dimensions: 4 points on it are 4/6 of the composite."""
    for change, sign in (("ladder harder", -1), ("ladder easier", 1)):
        assert moves(found, change, "ifbench")["move"].to_list() == pytest.approx([sign * 4 / 6] * 4)
        assert moves(found, change, "hle")["move"].to_list() == pytest.approx([sign * 4 / 12] * 4)
    assert count_changes(few) == found.summary.height == 3 * 9 + 3


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
def test_by_the_joint_method_measured_models_move_alike_and_a_gap_moves_with_its_ladder(build, found):
    """Nothing is missing but one score: the moves of all others are those of the published method."""
    tests = SCIENCE | ABSTRACT | RELIABILITY
    scores = {(f"m{i}", n): v * (1 + 0.1 * i) for i in range(4) for n, v in tests.items()}
    del scores["m0", "ifbench"]
    ours = sensitivity(on_three_dimensions(build, scores, "joint"), shift=4.0)
    for change, name in (("ladder harder", "hle"), ("without dimension", "reliability")):
        both = moves(ours, change, name).join(moves(found, change, name), on="subject")
        rest = both.filter(pl.col("subject") != "m0")
        assert rest["move"].to_list() == pytest.approx(rest["move_right"].to_list())
    gap = moves(ours, "ladder easier", "ifbench").filter(subject="m0")["move"].item()
    assert 0.3 < gap <= 4 / 6 + 1e-9


def test_on_the_embedded_evidence_a_harder_ladder_raises_nobody_measured(scored):
    sign = {"ladder harder": -1, "ladder easier": 1}
    table = sensitivity(scored).moves.filter(pl.col("change").is_in(list(sign)))
    mean = table.group_by("change").agg(pl.mean("move"))
    assert {row["change"]: np.sign(row["move"]) for row in mean.iter_rows(named=True)} == sign


def test_what_is_left_out_is_gone_and_not_imputed(few, found):
    dims = few.dimensions.pivot("dimension", index="subject", values="iq")
    science, abstract = dims["scientific-reasoning"], dims["abstract-reasoning"]
    alone = moves(found, "without dimension", "reliability")
    assert alone["after"].to_list() == pytest.approx(((science + abstract) / 2).to_list())
    iqs = few.benchmark_iqs.filter(benchmark="aa_omniscience")["iq"]
    without = moves(found, "without benchmark", "ifbench")
    assert without["after"].to_list() == pytest.approx(((science + abstract + iqs) / 3).to_list())
    assert without["move"].to_list() == pytest.approx((without["after"] - without["before"]).to_list())
    assert without["before"].to_list() == pytest.approx(few.scored.composites[0].tolist())


def test_the_summary_digests_the_moves(few, found):
    row = found.summary.filter(change="without dimension", name="reliability").row(0, named=True)
    table = moves(found, "without dimension", "reliability")
    size = table["move"].abs()
    assert row["mean_move"] == pytest.approx(size.mean())
    assert row["largest_move"] == pytest.approx(size.max())
    assert row["mover"] == table["subject"][int(size.arg_max())]
    assert row["leader"] == "m3"
    assert row["rank_correlation"] == pytest.approx(1.0)
    assert found.summary["mean_move"].round(9).is_sorted(descending=True)
    assert repr(found).count("\n") < 30
    assert list(found.tables()) == ["summary", "moves"]


def test_places_won_are_positive(build):
    """Without the dimension that only c fails, c passes both others."""
    scores = {(name, test): value for name in "abc" for test, value in (SCIENCE | ABSTRACT | RELIABILITY).items()}
    scores |= {("b", "ifbench"): 62, ("c", "ifbench"): 70}
    scores |= {("c", "hle"): 1, ("c", "scicode"): 5, ("c", "gpqa_diamond"): 16}
    found = sensitivity(on_three_dimensions(build, scores))
    won = moves(found, "without dimension", "scientific-reasoning")
    assert dict(won.select("subject", "rank_move").iter_rows()) == {"a": -1, "b": -1, "c": 2}
    assert won.row(int(won["before"].arg_max()), named=True)["subject"] == "b"
    digest = found.summary.filter(change="without dimension", name="scientific-reasoning").row(0, named=True)
    assert (digest["leader"], digest["rank_correlation"]) == ("c", pytest.approx(-0.5))  # 1 − 6 · (1 + 1 + 4) / 24


def test_with_two_models_there_is_nothing_to_digest(build):
    scores = {(name, test): value for name in "ab" for test, value in (SCIENCE | ABSTRACT | RELIABILITY).items()}
    assert sensitivity(on_three_dimensions(build, scores)).summary["mean_move"].null_count() == 30


def test_changes_that_leave_too_few_models_to_compare_come_last(build):
    """Without one of its two dimensions c has no composite, and two models are no ranking."""
    scores = {(name, test): value for name in "ab" for test, value in (SCIENCE | ABSTRACT | RELIABILITY).items()}
    scores |= {("c", test): value for test, value in (SCIENCE | ABSTRACT).items()}
    summary = sensitivity(on_three_dimensions(build, scores)).summary
    assert summary["mean_move"].null_count() == 2
    assert set(summary.tail(2)["name"]) == {"scientific-reasoning", "abstract-reasoning"}


def test_ladders_move_by_five_points_unless_told_otherwise(few):
    assert sensitivity(few).moves.equals(sensitivity(few, shift=5.0).moves)


@pytest.mark.slow
def test_weights_are_shared_out_again_when_a_dimension_goes(scored):
    weighted = mensura.score_iq(mensura.load(), weights={"reliability": 3.0}, method="published")
    found = sensitivity(weighted).moves.filter(change="without dimension", name="mathematical-reasoning")
    rest = weighted.dimensions.filter(pl.col("dimension") != "mathematical-reasoning").with_columns(
        weight=pl.when(pl.col("dimension") == "reliability").then(3.0).otherwise(1.0)
    )
    mean = rest.group_by("subject").agg((pl.col("iq") * pl.col("weight")).sum() / pl.sum("weight"))
    full = weighted.composites.filter(scored_dimensions=7).select("subject")
    both = found.join(mean, on="subject").join(full, on="subject")
    assert both.height > 5
    assert (both["after"] - both["iq"]).abs().max() < 1e-9


def test_the_random_parts_are_those_of_the_seed_which_is_zero_unless_given(few):
    def first(**settings):
        rows, columns = next(hidings(few.matrix, "fold", **settings)).T
        return [
            (few.matrix.subjects[row], few.matrix.benchmarks[column]) for row, column in zip(rows, columns, strict=True)
        ]

    def hidden(**settings):
        table = hide_and_impute(few, by="fold", **settings).select("subject", "benchmark")
        return table.head(len(first())).rows()

    assert hidden() == hidden(seed=0) == first(seed=0)
    assert hidden(seed=1) == first(seed=1) != first(seed=0)
