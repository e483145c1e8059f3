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


def test_scores_are_counted_by_what_they_count_for():
    uses = pl.DataFrame({"counts_for": ["IQ", "capability", "IQ"]})
    assert findings.say_counts(uses) == "Of 3 scores, these count: 2 for IQ, 1 for capability."
    assert findings.say_counts(uses.head(1)) == "Of 1 score, these count: 1 for IQ."
    assert findings.say_counts(uses.clear()) == "No score is new."


def test_the_evidence_is_said_as_a_share_of_what_is_possible_and_with_its_gaps():
    """90 of 20 × 10 scores; 30 pairs 1 point apart and 10 pairs 5 points apart are 2 on average; Elo stays out."""
    scores = pl.DataFrame({"score": [1.0] * 90})
    gaps = pl.DataFrame({"unit": ["percent", "percent", "elo"], "pairs": [30, 10, 99], "median_gap": [1.0, 5.0, 40.0]})
    count = "20 models have 90 scores on 10 benchmarks: 45% of the possible ones."
    said = f"{count} Where two sources have a score in percent, they differ by 2.0 points (40 pairs)."
    assert findings.say_evidence(20, 10, scores, gaps) == said
    assert findings.say_evidence(20, 10, scores, gaps.tail(1)) == count
    assert "none of the possible" in findings.say_evidence(0, 10, scores.clear(), gaps.clear())


def test_what_was_listed_is_counted():
    models = pl.DataFrame({"name": ["New", "Old"], "released": ["2026-05-01", "2024-01-01"]})
    assert findings.say_models(models) == "2 models; the newest is New (2026-05-01)."
    assert findings.say_models(models.clear()).startswith("No model is of this provider.")
    people = pl.DataFrame({"name": ["a", "b"], "ability_mean": [0.5, None]})
    assert findings.say_populations(people).startswith("2 populations have a name, and 1 of them a stated ability.")
    pools = pl.DataFrame({"origin": ["published", "own", "published"]})
    assert findings.say_pools(pools) == "3 pools: 2 behind the published one, 1 behind the own one."
    one = pl.DataFrame({"domain": ["a"], "n_items": [1], "rate": [0.25]})
    assert findings.say_pool("p", one) == "p: 25.0% right on average over 1 item."
    left = pl.DataFrame({"item": ["q"]})
    assert findings.say_import("p", 5, 1, left) == (
        "p has 5 items and 1 person; 1 item left out, with the reason in exclusions.csv."
    )
    assert findings.say_import("p", 1, 9, left.clear()) == "p has 1 item and 9 persons."


def test_the_dimension_that_asks_for_most_and_the_one_that_falls_fastest_are_named():
    rows = [("q1", "KNc", 4), ("q1", "QLl", 5), ("q2", "KNc", 3), ("q2", "QLl", None), ("q3", "QLl", 1)]
    levels = pl.DataFrame(rows, schema=["item", "dimension", "level"], orient="row")
    assert findings.say_levels(levels) == "5 levels of 3 items; most is demanded in KNc, 3.5 on average."
    bases = pl.DataFrame(
        {"dimension": ["a", "b", "c"], "base": [2.0, 3.25, None], "low": [1.0, 2.0, None], "high": [3.0, 4.0, None]}
    )
    said = "Success falls fastest in b: by a factor of 3.2 per level (2.0 to 4.0, 90%)."
    assert findings.say_bases(bases) == said
    assert findings.say_bases(bases.tail(1)).startswith("No dimension has enough items for a base.")
    verdict = {"mae": 0.2, "mae_baseline": 0.25, "low": 0.0, "high": 0.1}
    assert findings.say_verdicts(pl.DataFrame([verdict])) == (
        "The levels do not surely predict the rates of a pool left out: the error is 0.200, without levels 0.250 "
        "(gain 0.000 to 0.100, 90%)."
    )
    assert findings.say_verdicts(pl.DataFrame()).startswith("With fewer pools than three")


def test_the_best_of_several_models_is_compared_with_people():
    best = {"subject": "m", "kind": "models", "rate": 0.6, "low": 0.5, "high": 0.7}
    rows = [best | {"people_rate": 0.59, "difference": 0.01}, best | {"subject": "n", "rate": 0.5, "people_rate": None}]
    people = best | {"subject": "people", "kind": "people", "rate": 0.9, "people_rate": None}
    table = pl.DataFrame([*rows, people], infer_schema_length=None)
    right = "m is right in 60% (50% to 70%, 90%)"
    assert findings.say_comparison(table) == f"{right}, people in 59%: 1 point more."
    assert findings.say_comparison(table.with_columns(difference=0.0)).endswith(": 0 points more.")
    assert findings.say_comparison(table.with_columns(people_rate=None)) == f"{right}; no people to compare with yet."
    assert findings.say_comparison(table.filter(kind="people")).startswith("No model has sat the exam yet.")


def test_a_journal_without_failures_says_so():
    table = pl.DataFrame({"model": ["m", "n"], "answered": [1, 0], "failed": [0, 0], "open": [0, 0]})
    assert findings.say_journal(table) == "1 question answered by 2 models; none failed and none is open."
    assert findings.say_journal(table.with_columns(open=1)).endswith("; 0 failed and 2 are open.")


def test_the_clearest_effect_is_the_largest_beside_its_error():
    effects = pl.DataFrame(
        {
            "dimension": ["one", "one", "two"],
            "term": ["intercept", "age", "sex"],
            "estimate": [9.0, 0.5, -0.4],
            "se": [0.1, 0.5, 0.1],
            "low": [8.8, -0.3, -0.56],
            "high": [9.2, 1.3, -0.24],
        }
    )
    said = "The clearest effect: sex changes two by -0.40 standard deviations (-0.56 to -0.24, 90%)."
    assert findings.say_dimensions(pl.DataFrame(), pl.DataFrame(), effects) == said


def test_trust_is_said_with_the_command_that_measured_it(capsys):
    findings.print_trust("iq")
    said = capsys.readouterr().out
    assert said.startswith("Can I trust this interval? ") and said.endswith("; docs/trust.md).\n")
    assert "(python -m benchmarks." in said
