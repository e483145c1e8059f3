"""Evidence of one's own may be small: what it cannot say is said, and the rest is there."""

from dataclasses import replace

import polars as pl
import pytest

import mensura
from mensura.errors import MensuraError
from mensura.site import Study
from mensura.site.cards import overview_cards
from mensura.site.pictures import draw
from mensura.site.sentences import pace_sentence


def of_models(count: int) -> mensura.Evidence:
    """The embedded evidence of the best-measured models alone."""
    evidence = mensura.load()
    counted = evidence.primary_scores.group_by("subject").len().sort("len", "subject", descending=True)
    kept = counted.head(count)["subject"].to_list()
    tables = {name: table for name, table in evidence.tables().items() if "subject" in table.columns}
    fewer = {name: getattr(evidence, name).filter(pl.col("subject").is_in(kept)) for name in tables}
    there = {name: pl.when(pl.col(name).is_in(kept)).then(pl.col(name)) for name in ("predecessor", "predecessor2")}
    return replace(evidence, **{**fewer, "models": fewer["models"].with_columns(**there)})


def test_a_report_of_six_models_says_what_they_are_too_few_for():
    study = Study.run(of_models(6))
    assert study.watch is None
    assert pace_sentence(study).endswith("too few models were released to watch for an acceleration.")
    assert "too few releases" in overview_cards(study)[3]["under"]
    assert draw(study, "acceleration").finding == "Too few models were released to watch for an acceleration"
    assert study.evidence.demand_outcomes.is_empty()
    assert "GPT-4o" in study.abilities.places["subject"].to_list()  # published systems, which its own table lacks


def test_three_models_are_refused_in_words():
    with pytest.raises(MensuraError, match=r"3 models have both .* a report needs 5 or more"):
        _ = Study.run(of_models(3)).pace
