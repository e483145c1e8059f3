"""Scores that makers chose: estimates are corrected by what such a choice does to well-measured models."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.core.errors import MensuraError
from tests.few_models import of_named

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
    rest = np.flatnonzero(told.lowered == 0)
    moved = (told.scored.composites - plain.scored.composites)[0, rest]
    assert np.nanmax(np.abs(moved)) < 1  # what random draws do
    words = [text for text in told.about_selection if text.split(":")[0] in hidden]
    assert len(words) == len(hidden)
    assert all("lower for that" in text for text in words)


def test_only_models_of_the_evidence_can_be_called_selected(chosen):
    with pytest.raises(MensuraError, match="selected: 'nobody' is no model"):
        mensura.score_iq(chosen[0], selected=["nobody"])


def test_a_method_that_corrects_nobody_takes_no_selected_models(chosen):
    evidence, _, hidden = chosen
    with pytest.raises(MensuraError, match=r"^selected: only the joint method uses it"):
        mensura.score_iq(evidence, method="published", selected=list(hidden)[:1])
    mensura.score_iq(evidence, method="published", selected=())


@pytest.mark.slow
def test_models_with_scores_of_their_makers_are_lowered_unless_one_asks_for_none(mensura_command):
    plain, corrected = (
        json.loads(mensura_command("iq", "--set", "draws=0", "--json", *more).out) for more in (("--no-selected",), ())
    )
    assert all(row["lowered"] == 0 for row in plain["composites"])
    lowered = {row["subject"]: row["lowered"] for row in corrected["composites"] if row["lowered"] > 0}
    assert {"claude-opus-5", "claude-haiku-5.5"} <= set(lowered)
    assert "gpt-4o" not in lowered
    assert lowered["claude-haiku-5.5"] > lowered["claude-opus-5"]  # all of its scores are its maker's, or some of many
    notes = [text for text in corrected["warnings"] if "chosen by its maker, who profits" in text]
    assert set(lowered) <= {text.split(":")[0] for text in notes}


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
def test_the_correction_starts_at_one_score_and_never_raises(count):
    evidence = mensura.load()
    matrix = mensura.score_iq(evidence, method="published", ladders="recut").matrix
    subject = "gpt-5.5"
    own = [matrix.benchmarks[place] for place in np.flatnonzero(matrix.measured[matrix.row(subject)])][:count]
    mine = pl.col("subject") == subject
    scores = evidence.scores.filter(~mine | pl.col("benchmark").is_in(own))
    scores = scores.with_columns(measured_by=pl.when(mine).then(pl.lit("vendor")).otherwise("measured_by"))
    result = mensura.score_iq(replace(evidence, scores=scores))
    assert (result.lowered >= 0).all()
    assert result.lowered[result.matrix.row(subject)] > 0.5


@pytest.mark.slow
def test_scores_that_spread_as_nobody_chose_them_are_lowered_less(chosen):
    """The best of many scores lie close together; the same model's first scores do not, and cost it less."""
    evidence, matrix, hidden = chosen
    told = mensura.score_iq(evidence, selected=list(hidden))
    whole = mensura.load()
    first = {name: np.flatnonzero(matrix.measured[matrix.row(name)])[:FIVE] for name in hidden}
    pairs = pl.DataFrame(
        [(name, matrix.benchmarks[place]) for name, places in first.items() for place in places],
        schema=["subject", "benchmark"],
        orient="row",
    )
    mine = pl.col("subject").is_in(list(hidden))
    scores = pl.concat([whole.scores.filter(~mine), whole.scores.join(pairs, on=["subject", "benchmark"], how="semi")])
    plainly = mensura.score_iq(replace(whole, scores=scores), selected=list(hidden))
    rows = [matrix.row(name) for name in hidden]
    assert plainly.lowered[rows].mean() < told.lowered[rows].mean()


@pytest.mark.slow
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


@pytest.mark.usefixtures("few_draws")
def test_selected_models_count_as_chosen_wherever_they_were_measured():
    """None: the scores that makers chose, of makers' own; an empty list: no score at all."""
    evidence = of_named("claude-opus-4.8", "gpt-5.5", "kimi-k2", "step-3.7-flash")
    plain = mensura.score_iq(evidence).matrix
    assert plain.chosen.any() and not plain.chosen[plain.row("kimi-k2")].any()
    named = mensura.score_iq(evidence, selected=["kimi-k2"]).matrix
    row = plain.row("kimi-k2")
    assert (named.chosen[row] == plain.measured[row]).all()
    others = np.arange(4) != row
    assert (named.chosen[others] == plain.chosen[others]).all()
    assert not mensura.score_iq(evidence, selected=[]).matrix.chosen.any()
