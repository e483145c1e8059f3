"""The Law School Admission Test's section 6, a thousand answer sheets that programs have been measured by since 1970.

Counts: Bock and Lieberman (1970). Estimates and their errors: Rizopoulos, Journal of Statistical Software 17(5), 2006.
"""

from dataclasses import replace

import polars as pl
import pytest

from mensura.responses import FitOptions, fit_responses
from mensura.responses.irt.fitting import Effort
from mensura.responses.irt.priors import Priors

COUNTS = (3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15, 10, 29, 14, 81, 3, 28, 15, 80)
COUNTS += (16, 56, 21, 173, 11, 61, 28, 298)
"""Subjects with the answers 00000, 00001, …, 11111 to the five items."""
UNWEIGHED = FitOptions(priors=Priors(None, None, None), checks=False)


@pytest.fixture(scope="module")
def sheets():
    answers = [[int(sign) for sign in f"{pattern:05b}"] for pattern, count in enumerate(COUNTS) for _ in range(count)]
    table = pl.DataFrame(answers, schema=[f"i{place}" for place in range(1, 6)], orient="row")
    return table.with_columns(subject=pl.int_range(1000).cast(pl.String))


def test_one_discrimination_for_all_items(sheets):
    fit = fit_responses(sheets, model="rasch", options=UNWEIGHED)
    assert fit.log_likelihood == pytest.approx(-2466.938, abs=5e-3)
    assert fit.items["discrimination"].to_list() == pytest.approx([0.755] * 5, abs=2e-3)
    assert fit.items["se_discrimination"].to_list() == pytest.approx([0.0694] * 5, abs=2e-4)
    assert fit.items["difficulty"].to_list() == pytest.approx([-3.6153, -1.3224, -0.3176, -1.7301, -2.7802], rel=3e-3)
    errors = [0.3266, 0.1422, 0.0977, 0.1691, 0.2510]
    assert fit.items["se_difficulty"].to_list() == pytest.approx(errors, rel=4e-3)


def test_a_discrimination_for_each_item(sheets):
    fit = fit_responses(sheets, options=replace(UNWEIGHED, effort=Effort(tolerance=1e-3)))
    assert fit.log_likelihood == pytest.approx(-2466.653, abs=5e-3)
    assert fit.items["discrimination"].to_list() == pytest.approx([0.8254, 0.7229, 0.8905, 0.6886, 0.6575], rel=3e-3)
    assert fit.items["se_discrimination"].to_list() == pytest.approx([0.2581, 0.1867, 0.2326, 0.1852, 0.21], rel=4e-3)
    assert fit.items["difficulty"].to_list() == pytest.approx([-3.3597, -1.3696, -0.2799, -1.8659, -3.1236], rel=3e-3)
    assert fit.items["se_difficulty"].to_list() == pytest.approx([0.8669, 0.3073, 0.0997, 0.4341, 0.87], rel=4e-3)
    assert fit.items["rate"].to_list() == pytest.approx([0.924, 0.709, 0.553, 0.763, 0.87])
    assert (fit.items["guessing"].to_list(), fit.items["se_guessing"].to_list()) == ([0.0] * 5, [0.0] * 5)
