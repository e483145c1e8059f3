"""What changed between two scorings: which composites moved, and through which input."""

from dataclasses import replace

import polars as pl

from mensura.iq import compare_iq


def test_comparison_with_itself_is_empty(scored):
    change = compare_iq(scored, scored)
    assert change.inputs.is_empty()
    assert change.shown.is_empty()
    assert change.composites["change"].drop_nulls().abs().max() == 0


def test_a_composite_that_differs_in_its_last_bits_did_not_move(scored):
    change = compare_iq(scored, scored)
    moved = pl.when(pl.col("subject") == "gpt-5.5").then(0.25).otherwise(1.4e-14)
    noisy = replace(change, composites=change.composites.with_columns(change=moved))
    assert noisy.shown["subject"].to_list() == ["gpt-5.5"]
