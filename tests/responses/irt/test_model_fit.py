"""How well a model reproduces the answers: items (S-X², infit, outfit), pairs (Q3, X²), and the whole (M2)."""

import numpy as np
import polars as pl
import pytest

from mensura.responses import fit_responses
from mensura.responses.irt.model_fit import _merged

LSAT7 = (12, 19, 1, 7, 3, 19, 3, 17, 10, 5, 3, 7, 7, 23, 8, 28, 7, 39, 11, 34, 14, 51, 15, 90, 6, 25, 7, 35, 18, 136)
LSAT7 += (32, 308)
"""Subjects with the answers 00000, 00001, …, 11111 to section 7 of the Law School Admission Test (Bock and Lieberman
1970)."""


@pytest.fixture(scope="module")
def section_7():
    answers = [[int(sign) for sign in f"{pattern:05b}"] for pattern, count in enumerate(LSAT7) for _ in range(count)]
    table = pl.DataFrame(answers, schema=[f"i{place}" for place in range(1, 6)], orient="row")
    return fit_responses(table.with_columns(subject=pl.int_range(1000).cast(pl.String)))


def test_the_fit_of_the_whole_is_what_mirt_prints(section_7):
    """mirt 1.47: M2 11.938 (5 df, p .036), RMSEA .037 (.009 to .065), SRMSR .032, TLI .937, CFI .968."""
    whole = section_7.quality.row(0, named=True)
    assert whole["m2"] == pytest.approx(11.938, abs=5e-4)
    assert (whole["m2_df"], whole["m2_p"]) == (5, pytest.approx(0.036, abs=5e-4))
    names = ("rmsea", "rmsea_low", "rmsea_high", "srmsr", "tli", "cfi", "reliability_marginal")
    assert [whole[name] for name in names] == pytest.approx([0.037, 0.009, 0.065, 0.032, 0.937, 0.968, 0.442], abs=5e-4)


def test_the_fit_of_items_is_what_mirt_prints(section_7):
    """The second item is the one that does not fit."""
    items = section_7.items
    assert items["s_x2"].to_list() == pytest.approx([4.751, 14.453, 1.273, 5.236, 0.941], abs=0.01)
    assert items["s_x2_df"].to_list() == [2] * 5
    assert items["s_x2_p"].to_list() == pytest.approx([0.093, 0.001, 0.529, 0.073, 0.625], abs=5e-4)


def test_sparse_scores_are_merged_into_the_smaller_neighbour():
    """The lowest score with a sparse cell goes first; one in the middle goes to the neighbour with fewer people."""
    observed = np.array([[5.0, 5.0], [2.0, 3.0], [1.0, 2.0], [4.0, 5.0]])
    expected = np.array([[5.0, 5.0], [4.5, 0.5], [2.0, 1.0], [4.0, 5.0]])
    seen, cells = _merged(observed, expected)
    assert seen.tolist() == [[5.0, 5.0], [3.0, 5.0], [4.0, 5.0]]
    assert cells.tolist() == [[5.0, 5.0], [6.5, 1.5], [4.0, 5.0]]
