"""A model far below the one it follows is asked about: a version of the test or a mode may have been mixed up."""

from dataclasses import replace

import polars as pl
import pytest

from mensura.evidence import far_below_predecessor, load


@pytest.fixture(scope="module")
def evidence():
    return load()


def with_score(evidence, subject, benchmark, score):
    mine = (pl.col("subject") == subject) & (pl.col("benchmark") == benchmark) & pl.col("primary")
    return replace(
        evidence, scores=evidence.scores.with_columns(pl.when(mine).then(score).otherwise("score").alias("score"))
    )


def test_a_score_far_below_the_model_before_is_listed_first_with_both_figures(evidence):
    mixed = with_score(evidence, "gpt-5.2", "gpqa_diamond", 55.0)
    first = far_below_predecessor(mixed).row(0, named=True)
    assert (first["subject"], first["benchmark"], first["predecessor"]) == ("gpt-5.2", "gpqa_diamond", "gpt-5.1")
    assert first["score"] == 55
    assert first["predecessor_score"] > 80


def test_eight_points_are_far_whatever_their_last_bit(evidence):
    mixed = with_score(with_score(evidence, "gpt-5.1", "gpqa_diamond", 20.4), "gpt-5.2", "gpqa_diamond", 12.4)
    assert far_below_predecessor(mixed).filter(subject="gpt-5.2", benchmark="gpqa_diamond").height == 1


def test_a_smaller_model_may_be_far_below(evidence):
    below = far_below_predecessor(evidence)
    tiers = dict(evidence.models.select("subject", "tier").iter_rows())
    assert all(tiers[row["subject"]] >= tiers[row["predecessor"]] for row in below.iter_rows(named=True))


def test_scores_of_the_first_version_of_a_test_stand_apart(evidence):
    """The two versions have other problems: 285 and 41 instead of 290 and 48."""
    printed = evidence.scores.filter(pl.col("benchmark").str.starts_with("frontiermath")).select("benchmark", "score")
    items = dict(evidence.benchmarks.select("benchmark", "items").iter_rows())
    share = {
        name: sum(abs(round(s * items[name] / 100) / items[name] * 100 - s) <= 0.0501 for s in part["score"])
        / part.height
        for (name,), part in printed.group_by("benchmark")
    }
    assert min(share.values()) > 0.8  # a few were printed as whole numbers, or of fewer problems
    assert "gpt-5.1" in evidence.scores.filter(pl.col("benchmark") == "frontiermath_v1_t1_3")["subject"]
    assert "gpt-5" in evidence.scores.filter(pl.col("benchmark") == "frontiermath_t1_3")["subject"]


def test_one_model_has_one_mode(evidence):
    """Claude Opus 4 stands with thinking, and the version of May 2025 has no scores of January's."""
    aime = evidence.scores.filter((pl.col("subject") == "claude-opus-4") & (pl.col("benchmark") == "aime"))
    modes = dict(aime.select("primary", "variant").iter_rows())
    assert modes == {False: "without thinking", True: "claude-4-opus-thinking"}
    arc = evidence.scores.filter(pl.col("benchmark").str.starts_with("arc_agi"))
    assert "deepseek-r1" not in arc["subject"]
    assert "deepseek-r1-0120" in arc["subject"]


def test_the_check_asks_and_finds_no_fault(mensura_command, evidence, tmp_path):
    evidence.save(tmp_path / "mine")
    scores = tmp_path / "mine" / "scores.csv"
    text = scores.read_text(encoding="utf-8")
    scores.write_text(text.replace("gpt-5.2,gpqa_diamond,86.4,percent", "gpt-5.2,gpqa_diamond,55,percent"))
    run = mensura_command("evidence", "check", tmp_path / "mine")
    assert run.code == 0
    assert "no fault found" in run.out
    assert "Look again" in run.out
    assert "gpt-5.2" in run.out
