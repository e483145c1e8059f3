"""Every command that prints a table ends with a finding: plain sentences after the last table."""

import re

import polars as pl
import pytest

from mensura.cli import findings
from tests.cli.test_shapes import APPROVED

CUT = re.compile(r"… and # more rows? \(.*?\) ?|Left out[^.]*?(?:wider terminal\) ?|$)|Can I trust this interval\?.*")


@pytest.mark.parametrize("file", sorted(APPROVED.glob("*.txt")), ids=lambda file: file.stem)
def test_every_table_is_followed_by_a_finding(file):
    """The approved output of every command: what comes after its last table is a sentence."""
    last = file.read_text(encoding="utf-8").splitlines()[-1]
    assert not last.startswith("  "), "nothing after the last table"
    assert CUT.sub("", last).strip(), "only remarks after the last table"


def test_a_comparison_says_who_is_ahead_of_whom():
    row = {
        "subject": "m",
        "kind": "models",
        "rate": 0.6,
        "low": 0.5,
        "high": 0.7,
        "people_rate": 0.75,
        "difference": -0.15,
    }
    assert (
        findings.say_comparison(pl.DataFrame([row]))
        == "m is right in 60% (50% to 70%, 90%), people in 75%: 15 points less."
    )
    ahead = pl.DataFrame([row | {"people_rate": 0.5, "difference": 0.1}])
    assert findings.say_comparison(ahead).endswith("people in 50%: 10 points more.")


def test_levels_that_gain_nothing_are_not_said_to_predict():
    row = {"question": "new pool", "pools": 3, "mae": 0.2, "mae_baseline": 0.21, "low": -0.01, "high": 0.03}
    assert "do not surely predict" in findings.say_verdicts(pl.DataFrame([row]))
    assert "levels predict the rates" in findings.say_verdicts(pl.DataFrame([row | {"low": 0.005}]))


def test_the_mean_of_a_pool_counts_every_item_once():
    domains = pl.DataFrame({"domain": ["a", "b"], "n_items": [30, 10], "rate": [0.8, 0.4]})
    assert findings.say_pool("p", domains) == "p: 70.0% right on average over 40 items; least in b (40.0%)."


def test_a_journal_says_what_is_left_to_do():
    table = pl.DataFrame({"model": ["m", "m"], "answered": [5, 2], "failed": [1, 0], "open": [0, 3]})
    assert findings.say_journal(table) == "7 questions answered by 1 model; 1 failed and 3 are open."


def test_of_several_abilities_the_closest_two_are_named_if_there_are_two():
    items = pl.DataFrame({"item": ["a", "b", "c"], "dimension": ["one", "one", "two"], "loading": [0.5, 0.7, 0.6]})
    pairs = pl.DataFrame({"dimension": ["one"], "other": ["two"], "correlation": [0.42], "low": [0.3], "high": [0.5]})
    best = "Highest loadings: one on b (0.70), two on c (0.60)."
    assert findings.say_dimensions(items, pairs.clear(), None) == best
    assert findings.say_dimensions(items, pairs, None).startswith(f"{best} one and two correlate by 0.42 ")
    bare = pairs.with_columns(low=pl.lit(None), high=pl.lit(None))
    assert findings.say_dimensions(items, bare, None) == f"{best} one and two correlate by 0.42."
    unrelated = findings.say_dimensions(items, pairs.with_columns(correlation=0.0), None)
    assert unrelated == f"{best} The abilities are uncorrelated by design."
