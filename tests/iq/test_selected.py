"""Scores that makers chose: estimates are corrected by what such a choice does to well-measured models."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.core.errors import MensuraError

FIVE = 5


@pytest.fixture(scope="module")
def chosen():
    """Six well-measured models with only the five scores that flatter them most, and their IQs on all others."""
    evidence = mensura.load()
    matrix = mensura.score_iq(evidence, method="published", ladders="recut").matrix
    rows = np.argsort(-matrix.measured.sum(axis=1), kind="stable")[:60:10]
    iqs = np.where(matrix.measured, matrix.iqs, np.nan)
    above = iqs - np.nanmean(iqs, axis=0)
    kept, hidden = [], {}
    for row in rows:
        own = np.flatnonzero(matrix.measured[row])
        best = own[np.argsort(-above[row, own], kind="stable")][:FIVE]
        kept += [(matrix.subjects[row], matrix.benchmarks[place]) for place in best]
        hidden[matrix.subjects[row]] = np.setdiff1d(own, best)
    pairs = pl.DataFrame(kept, schema=["subject", "benchmark"], orient="row")
    mine = pl.col("subject").is_in(list(hidden))
    scores = evidence.scores
    few = pl.concat([scores.filter(~mine), scores.join(pairs, on=["subject", "benchmark"], how="semi")])
    return replace(evidence, scores=few), matrix, hidden


@pytest.mark.slow
def test_a_flattering_choice_is_corrected_and_nobody_else_moves(chosen):
    evidence, matrix, hidden = chosen
    plain = mensura.score_iq(evidence, selected=())
    told = mensura.score_iq(evidence, selected=list(hidden))

    def bias(result):
        rows = {name: matrix.row(name) for name in hidden}
        off = [(result.filled.iqs[0, row] - matrix.iqs[row])[hidden[name]].mean() for name, row in rows.items()]
        return float(np.mean(off))

    assert bias(plain) > 2
    assert abs(bias(told)) < bias(plain) / 2
    rest = [row for row, name in enumerate(matrix.subjects) if name not in hidden]
    moved = (told.scored.composites - plain.scored.composites)[0, rest]
    assert np.nanmax(np.abs(moved)) < 1  # what random draws do
    words = [text for text in told.warnings if "chosen by its maker, who profits" in text]
    assert len(words) == len(hidden)
    assert all("lower" in text for text in words)


def test_only_models_of_the_evidence_can_be_called_selected(chosen):
    with pytest.raises(MensuraError, match="selected: 'nobody' is no model"):
        mensura.score_iq(chosen[0], selected=["nobody"])


def test_scores_say_which_models_their_makers_report_on():
    """Most scores of Claude Opus 5 come from its system card; of Claude Haiku 5.5 there are too few scores."""
    found = mensura.iq.reported_by_makers(mensura.load())
    assert found == ["claude-opus-5"]


def test_models_that_makers_report_on_are_corrected_unless_one_asks_for_none(mensura_command):
    plain, corrected = (
        json.loads(mensura_command("iq", "--set", "draws=0", "--json", *more).out) for more in (("--no-selected",), ())
    )
    before, after = ({row["subject"]: row["iq"] for row in made["composites"]} for made in (plain, corrected))
    lower = {name for name in before if before[name] is not None and after[name] < before[name] - 1}
    assert lower == {"claude-opus-5"}
    assert after["gpt-5.5"] == before["gpt-5.5"]
    notes = [text for text in corrected["warnings"] if "its maker, who profits" in text]
    assert [text.split(":")[0] for text in notes] == sorted(lower)


def test_the_same_scores_are_corrected_only_where_their_maker_measured_them(chosen):
    """The default asks each score who measured it: measured by the vendor, flattering scores say less."""
    evidence, matrix, hidden = chosen
    mine = pl.col("subject").is_in(list(hidden))
    scores = evidence.scores.with_columns(measured_by=pl.when(mine).then(pl.lit("vendor")).otherwise("measured_by"))
    reported, independent = mensura.score_iq(replace(evidence, scores=scores)), mensura.score_iq(evidence)
    rows = [matrix.row(name) for name in hidden]
    moved = (reported.scored.composites - independent.scored.composites)[0, rows]
    assert (moved < 0).all()
    assert moved.mean() < -2
