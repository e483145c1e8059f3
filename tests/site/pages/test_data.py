"""The first page, tools for a reader's own question, pages about evidence and method, and the record of our claims."""

from datetime import date
from types import SimpleNamespace

import polars as pl

from mensura.site.pages import compare
from mensura.site.pages.data import _claims, _shares, record, snapshot_sentence
from mensura.study.grading import shipped_claims


def test_compare_opens_with_the_best_models_of_three_providers(study):
    chosen = study.models.filter(pl.col("subject").is_in(compare(study).context["compared"]))
    assert chosen["provider"].n_unique() == chosen.height == 3
    best = study.ranked.group_by("provider").agg(pl.col("exact_iq").max())["exact_iq"]
    assert sorted(chosen["exact_iq"], reverse=True) == sorted(best, reverse=True)[:3]


def test_the_two_records_of_claims_are_counted_apart(study):
    claims = shipped_claims()
    context = record(study).context
    assert context["records"] == ["as known", "reconstructed"]
    counts = {name: {word: row[at] for word, row in context["counts"]} for at, name in enumerate(context["records"])}
    for name, words in counts.items():
        own = claims.filter(record=name)
        assert sum(words.values()) == own.height
        assert words["came true"] == own["came_true"].sum()
        assert words["still open"] == own["came_true"].null_count()


def test_the_source_of_most_primary_scores_is_named_with_its_date_and_share():
    scores = pl.DataFrame({"source": ["b"] * 500 + ["a"] * 500 + ["c"] * 200})
    sources = pl.DataFrame({"source": ["a", "b"], "name": ["The A", "The B"], "date": ["2026-10", "2025"]})
    study = SimpleNamespace(evidence=SimpleNamespace(primary_scores=scores, sources=sources))
    assert snapshot_sentence(study).startswith(
        "Of the 1,200 primary scores, 500 (42%) come from one source, The A of 2026-10. What it got wrong, this report"
    ), "of two alike the first by its key"
    study.evidence.primary_scores = scores.tail(200)
    assert "200 (100%) come from one source, c of None" in snapshot_sentence(study)


def test_shares_are_in_percent_with_their_interval():
    shares = [row["coverage"] for row in _shares(pl.DataFrame({"coverage": [0.5, 1.0], "n": [100, 10]}))]
    assert shares == ["50% (42% to 58%)", "100% (79% to 100%)"]  # by hand: Wilson's interval


def claims_of(*rows):
    """Return claims from (record, month made of 2026, months to run, chance, outcome)."""
    return pl.DataFrame(
        [
            {"record": record, "made": date(2026, made, 1), "months": months, "chance": chance, "came_true": outcome}
            | {"subject": f"s{at}", "kind": "passed", "due": date(2026, made + months, 1) if months else None}
            | {"actual": None, "claim": f"claim {at}"}
            for at, (record, made, months, chance, outcome) in enumerate(rows)
        ],
        schema_overrides={"actual": pl.Float64},
        infer_schema_length=None,
    )


def test_claims_shown_at_first_failed_as_often_as_they_came_true():
    """Sure claims and those of one subject again are behind the press, so are more than two of an outcome."""
    rows = [("as known", month, 1, 0.9, True) for month in range(1, 8)]
    rows += [("reconstructed", month, 1, 0.4, False) for month in range(1, 4)] + [("as known", 9, 1, 0.999, True)]
    chosen, others, more = _claims(claims_of(*rows))
    assert [(row["outcome"], row["made"].month) for row in chosen] == [
        *(("came true", 7), ("came true", 6), ("did not", 3), ("did not", 2))
    ]
    assert [row["made"].month for row in others] == [9, 5, 4, 3, 2, 1, 1] and more == 0
    assert {row["claim"] for row in (*chosen, *others)} == {f"claim {at}" for at in range(11)}, "none is lost"


def test_a_forecast_says_what_was_reached():
    claims = claims_of(("as known", 3, 6, None, True)).with_columns(kind=pl.lit("forecast"), actual=pl.lit(1.234))
    assert _claims(claims)[0][0]["reached"] == "reached: 1.23"
    claims = claims.with_columns(kind=pl.lit("iq"), actual=pl.lit(131.6))
    assert _claims(claims)[0][0]["reached"] == "reached: 132"
