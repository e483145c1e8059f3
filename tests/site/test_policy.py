"""The chart policy is data: who is drawn by default, and how an override changes it."""

from datetime import date

import polars as pl
import pytest

import mensura
from mensura.site.policy import apply_policy, frontier_lines, load_policy

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
    rows = apply_policy(MODELS, scored, policy or load_policy())
    return rows.filter(column)["subject"].to_list()


def test_two_generations_of_flagships_one_of_smaller_models():
    assert shown("charted") == ["big-2", "big-3", "small-2", "elsewhere"]


def test_timeline_takes_every_flagship_of_a_top_lab():
    assert shown("on_timeline") == ["big-1", "big-2", "big-3"]


def test_without_a_derived_iq_nothing_is_drawn():
    assert shown("charted", scored=["big-3"]) == ["big-3"]


def test_overrides_show_and_hide(tmp_path):
    (tmp_path / "policy.csv").write_text(
        "surface,setting,value,about\nc,current_generations_flagship,2,\nc,current_generations_smaller,1,\n"
        "t,minimum_tier,0,\nt,top_labs,OpenAI,\nl,per_chart,5,\n"
    )
    (tmp_path / "overrides.csv").write_text(
        "subject,publication,type,generation,display,reason\nbig-1,,,,show,history\nbig-3,hidden,,,,\nsmall-1,,,0,,\n"
    )
    assert shown("charted", load_policy(tmp_path)) == ["big-1", "big-2", "small-1", "small-2", "elsewhere"]
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "policy.csv").write_text("setting,value\nper_chart,5\n")
    (tmp_path / "broken" / "overrides.csv").write_text("subject,publication,type,generation,display,reason\n")
    with pytest.raises(mensura.MensuraError, match="setting missing or not a number: 'current_generations_flagship'"):
        load_policy(tmp_path / "broken")


def test_lines_connect_checkpoints_that_do_not_fall():
    points = pl.DataFrame(
        {
            "provider": ["A"] * 3,
            "released": [date(2024, 1, 1), date(2025, 1, 1), date(2026, 1, 1)],
            "value": [100.0, 90.0, 110.0],
        }
    )
    assert frontier_lines(points)["value"].to_list() == [100.0, 110.0]
