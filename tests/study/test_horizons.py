"""Horizons by kind of work: pages show what the command prints, and how lengths are said."""

import json

import polars as pl
import pytest

from mensura.core.frames import read_csv
from mensura.study.horizons import (
    DATA,
    DOMAINS,
    expected_horizon,
    horizon_deck,
    horizon_sentence,
    judged_errors,
    pace_words,
    price_tasks,
    say_horizon,
    say_interval,
    say_lengths,
    task_horizons,
    typical_error,
)


def row(value=None, low=None, high=None):
    return {"p50": value, "p50_low": low, "p50_high": high}


def test_open_ends_are_said_and_never_a_number_at_infinity():
    assert say_horizon(row(40.0, 15.0, 130.0)) == "40 minutes"
    assert say_horizon(row(600.0, 155.0)) == "over 2.6 hours"
    assert say_horizon(row(0.1, None, 0.6)) == "under 36 seconds"
    assert say_horizon(row()) == "cannot be told"
    assert say_interval(row(40.0, 15.0, 130.0)) == "15 minutes to 2.2 hours"
    assert say_interval(row(600.0, 155.0)) == "2.6 hours or more"


def test_security_comes_first_and_the_longest_leads():
    rows = task_horizons().rows
    assert rows["domain"].unique(maintain_order=True).to_list() == list(DOMAINS)
    assert rows["name"][0] in horizon_sentence()
    assert rows["model"].drop_nulls().len() > 40


def test_the_sentence_says_the_low_end_where_there_is_no_high_one():
    best = task_horizons().best("security")
    assert best["p50_high"] is None
    assert say_horizon(best).removeprefix("over ") in horizon_sentence()
    assert "no upper end" in horizon_deck() and "The study that ran it says 5.1 hours" in horizon_deck()


def test_judges_are_off_by_a_factor_of_two_to_six():
    errors = judged_errors()
    assert {how: round(typical_error(own)[0]) for how, own in errors.items()} == {
        "expert who saw the solution": 2,
        "language model": 6,
    }


def test_a_model_never_run_gets_a_horizon_from_the_stitched_scale_and_it_says_so(study):
    run = set(task_horizons().rows["model"].drop_nulls())
    placed = study.capabilities.filter(~pl.col("subject").is_in(list(run))).sort("capability")["subject"]
    weak, strong = (expected_horizon(study, one) for one in (placed[0], placed[-1]))
    assert weak["expected"] < strong["expected"]
    assert strong["low"] < strong["expected"] < strong["high"]
    assert "This is no measurement." in say_lengths(study, placed[-1])
    assert "in security" in say_lengths(study, "gpt-5.5")


def test_pages_and_the_command_have_the_same_security_horizons(mensura_command):
    printed = json.loads(mensura_command("horizon", "--json").out)["horizons"]
    told = {row["subject"]: row["p50"] for row in printed if row["suite"] == "all"}
    shown = dict(task_horizons().rows.filter(domain="security").select("subject", "p50").iter_rows())
    assert shown == pytest.approx(told, rel=1e-6)


def test_a_model_is_cheaper_from_a_shorter_task_where_people_earn_more(study):
    wages = pl.DataFrame({"occupation": ["analyst", "clerk"], "wage": [90.0, 30.0]})
    bounds, lengths = price_tasks(study.evidence.models, wages)
    both = bounds.pivot(on="occupation", index="subject", values="cheaper_from").drop_nulls()
    assert both.height >= 5 and (both["analyst"] < both["clerk"]).all()
    assert set(bounds["subject"]) <= set(study.evidence.models["subject"])
    hour = lengths.filter(minutes=60.0, occupation="clerk")
    assert hour["people"].unique().to_list() == [30.0]
    assert ((hour["cost_low"] <= hour["cost"]) & (hour["cost"] <= hour["cost_high"])).all()


def test_tasks_of_a_kind_have_as_many_below_each_length_as_the_curve_says():
    for (domain,), curve in read_csv(DATA / "spread.csv").group_by("domain", maintain_order=True):
        lengths = task_horizons().lengths.filter(suite=domain)
        assert lengths.height == int(curve["shorter"][-1])
        assert lengths["timed"].unique().to_list() == [domain == "science"]
        for shorter, minutes in curve.select("shorter", "minutes").iter_rows():
            assert (lengths["minutes"] < minutes).sum() == pytest.approx(shorter, abs=0.51)


def test_ends_of_an_interval_are_said_open_either_way():
    assert say_interval(row()) == "both ends are open"
    assert say_interval(row(0.1, None, 0.6)) == "36 seconds or less"
    two = {"p80": 10.0, "p80_low": 4.0, "p80_high": 20.0} | row(40.0, 15.0)
    assert say_horizon(two, "p80") == "10 minutes"


def test_errors_are_typically_the_middle_one_whichever_way_and_on_average_a_share():
    factor, share = typical_error([1.0, -1.0, 3.0, -3.0, -1.0])
    assert factor == 2.0 and share == pytest.approx(2**-0.2)


def test_the_doubling_time_is_said_since_2024_and_over_all_systems():
    trend = task_horizons().trend.filter(domain="security")
    recent = trend.filter(pl.col("since") != "all").row(0, named=True)
    every = trend.filter(since="all").row(0, named=True)
    months = [
        f"{row['doubling_months']:.1f} months (90%: {row['low']:.1f} to {row['high']:.1f})" for row in (recent, every)
    ]
    said = f"In security the length has doubled every {months[0]} since 2024; over all {every['systems']} systems"
    assert pace_words() == f"{said}, {months[1]}"
