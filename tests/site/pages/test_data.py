"""The first page, tools for a reader's own question, pages about evidence and method, and the record of our claims."""

from types import SimpleNamespace

import polars as pl

from mensura.site.pages import compare
from mensura.site.pages.data import _claims, _shares, linked_change, record, snapshot_sentence
from mensura.study.grading import shipped_claims


def test_compare_opens_with_the_best_models_of_three_providers(study):
    chosen = study.models.filter(pl.col("subject").is_in(compare(study).context["compared"]))
    assert chosen["provider"].n_unique() == chosen.height == 3
    best = study.ranked.group_by("provider").agg(pl.col("exact_iq").max())["exact_iq"]
    assert sorted(chosen["exact_iq"], reverse=True) == sorted(best, reverse=True)[:3]


def test_a_change_leads_to_the_page_of_its_model():
    files = {"Kimi K3": "models/kimi-k3.html", "Kimi": "models/kimi.html", "<b>": "models/b.html"}
    link = '<a href="models/kimi-k3.html">Kimi K3</a>'
    assert linked_change("Kimi K3: IQ 130.7 → 124.9.", files) == f"{link}: IQ 130.7 → 124.9."
    assert linked_change("New: Kimi K3, IQ 125, 5 scores.", files) == f"New: {link}, IQ 125, 5 scores."
    assert linked_change("Source Kimi & sons: 5 scores.", files) == "Source Kimi &amp; sons: 5 scores."
    assert linked_change("<b>: IQ 1", files) == '<a href="models/b.html">&lt;b&gt;</a>: IQ 1'


def test_the_two_records_of_claims_are_counted_apart(study):
    claims = shipped_claims()
    counts = {name: dict(words) for name, words in record(study).context["counts"]}
    assert list(counts) == ["as known", "reconstructed"]
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


def test_shares_are_in_percent_and_claims_newest_first_with_their_outcome():
    shares = [row["coverage"] for row in _shares(pl.DataFrame({"coverage": [0.5, 1.0], "n": [100, 10]}))]
    assert shares == ["50% (42% to 58%)", "100% (79% to 100%)"]  # by hand: Wilson's interval
    claims = pl.DataFrame(
        {"record": ["as known", "reconstructed", "as known"], "made": ["2026-01", "2026-05", "2026-03"]}
        | {"came_true": [True, False, None]}
    )
    assert [(row["made"], row["outcome"]) for row in _claims(claims)] == [
        *(("2026-03", "still open"), ("2026-01", "came true"), ("2026-05", "did not"))
    ]
