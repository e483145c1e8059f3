"""The chart policy is data: who is drawn by default, and how an override changes it."""

from dataclasses import replace
from datetime import date

import polars as pl
import pytest

import mensura
from mensura.study.policy import apply_policy, frontier_lines, load_policy

MODELS = pl.DataFrame(
    {
        "subject": ["big-1", "big-2", "big-3", "small-1", "small-2", "elsewhere"],
        "provider": ["OpenAI"] * 5 + ["Startup"],
        "line": ["big"] * 3 + ["small"] * 2 + [None],
        "released": [
            date(2024, 1, 1),
            date(2025, 1, 1),
            date(2026, 1, 1),
            date(2025, 1, 1),
            date(2026, 1, 1),
            date(2026, 1, 1),
        ],
        "tier": [0, 0, 0, -1, -1, 0],
    }
)


def shown(column, policy=None, scored=None):
    scored = MODELS["subject"] if scored is None else pl.Series(scored)
    rows = apply_policy(MODELS, scored, policy or load_policy(mensura.load()))
    return rows.filter(column)["subject"].to_list()


def test_two_generations_of_flagships_one_of_smaller_models():
    assert shown("charted") == ["big-2", "big-3", "small-2", "elsewhere"]


def test_timeline_takes_every_flagship_of_a_top_lab():
    assert shown("on_timeline") == ["big-1", "big-2", "big-3"]


def test_without_a_derived_iq_nothing_is_drawn():
    assert shown("charted", scored=["big-3"]) == ["big-3"]


def test_overrides_show_and_hide():
    exceptions = pl.DataFrame(
        {
            "subject": ["big-1", "big-3", "small-1"],
            "publication": [None, "hidden", None],
            "type": pl.Series([None] * 3, dtype=pl.String),
            "generation": [None, None, 0],
            "display": ["show", None, None],
            "reason": ["history", None, None],
        }
    )
    policy = replace(load_policy(mensura.load()), overrides=exceptions)
    assert shown("charted", policy) == ["big-1", "big-2", "small-1", "small-2", "elsewhere"]


def test_a_model_made_for_one_thing_is_in_no_chart_by_default():
    """Coding models have an IQ and a page, and stand on no chart of general models."""
    rows = mensura.load().policy.filter(type="specialised")
    assert {"gpt-5.3-codex", "kimi-k2.7-code", "kat-coder-pro-v1"} <= set(rows["subject"])
    exceptions = rows.head(1).with_columns(subject=pl.lit("big-3"))
    policy = replace(load_policy(mensura.load()), overrides=exceptions)
    assert shown("charted", policy) == ["big-2", "small-2", "elsewhere"]
    assert shown("on_timeline", policy) == ["big-1", "big-2"]


def test_the_policy_comes_from_the_evidence_not_from_the_installed_package(tmp_path):
    mensura.load().save(tmp_path)
    rules = tmp_path / "chart_rules.csv"
    rules.write_text(rules.read_text().replace("current_generations_flagship,2", "current_generations_flagship,1"))
    (tmp_path / "policy.csv").write_text(
        "subject,publication,type,generation,display,reason\ngpt-5,archive,,,,a test\n"
    )
    policy = load_policy(mensura.load(tmp_path))
    assert policy.flagship_generations == 1
    assert policy.overrides.row(0, named=True)["publication"] == "archive"
    assert shown("charted", policy) == ["big-3", "small-2", "elsewhere"]


def test_a_rule_that_is_missing_is_refused_with_the_evidence(tmp_path):
    mensura.load().save(tmp_path)
    rules = tmp_path / "chart_rules.csv"
    kept = [line for line in rules.read_text().splitlines() if not line.startswith("per_chart")]
    rules.write_text("\n".join(kept))
    with pytest.raises(mensura.MensuraError, match="a row per_chart; every rule has one"):
        mensura.load(tmp_path)


def test_lines_connect_checkpoints_that_do_not_fall():
    points = pl.DataFrame(
        {
            "provider": ["A"] * 3,
            "released": [date(2024, 1, 1), date(2025, 1, 1), date(2026, 1, 1)],
            "value": [100.0, 90.0, 110.0],
        }
    )
    assert frontier_lines(points)["value"].to_list() == [100.0, 110.0]
    level = pl.DataFrame({"provider": ["A", "A", "B"], "released": [1, 2, 1], "value": [5.0, 5.0, 1.0]})
    assert frontier_lines(level).rows() == [("A", 1, 5.0), ("A", 2, 5.0), ("B", 1, 1.0)]
