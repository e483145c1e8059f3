"""Pictures of the record of claims: what was said against what came true, one curve per record."""

from types import SimpleNamespace

import polars as pl
import pytest

from mensura.site.pictures import record
from mensura.site.pictures.record import record_known, record_reconstructed
from mensura.study.record import AS_KNOWN, RECONSTRUCTED

CLAIMS = pl.DataFrame(
    [
        (AS_KNOWN, 0.9, True),
        (AS_KNOWN, 0.8, False),
        (AS_KNOWN, 0.5, True),
        (AS_KNOWN, 0.7, None),
        (RECONSTRUCTED, 0.9, True),
    ],
    schema=["record", "chance", "came_true"],
    orient="row",
)
GROUPS = pl.DataFrame({"record": [AS_KNOWN], "said": [0.8], "came_true": [0.5], "low": [0.2], "high": [0.8], "n": [2]})
SUMMARY = pl.DataFrame(
    {
        "record": [AS_KNOWN, AS_KNOWN, RECONSTRUCTED],
        "brier": [0.1, 0.3, 0.9],
        "brier_baseline": [0.2, 0.2, 0.9],
        "settled": [3, 1, 50],
    }
)


@pytest.fixture(autouse=True)
def small_record(monkeypatch):
    """A record of four claims as known, of which one is open, and one reconstructed."""
    graded = SimpleNamespace(calibration=GROUPS, claims=CLAIMS, summary=SUMMARY)
    monkeypatch.setattr(record, "shipped_record", lambda: graded)


def test_the_finding_counts_settled_claims_above_one_half_against_what_their_chances_add_up_to():
    figure = record_known(None)
    assert figure.finding.startswith("Of 2 claims above 50%, 1 came true; 2 would be right"), "0.9 + 0.8 is about 2"


def test_errors_are_weighed_by_the_settled_claims_of_their_own_record():
    """(3 · 0.1 + 1 · 0.3) / 4 is 0.15, and the other record counts for nothing."""
    words = " ".join(str(part) for part in vars(record_known(None)).values())
    assert "0.15" in words and "0.20" in words


def test_a_record_without_a_settled_group_says_so():
    figure = record_reconstructed(None)
    assert figure.finding == "No claim of this record is settled yet"
    assert "nothing to show" in str(figure.drawing.description if hasattr(figure, "drawing") else vars(figure))


def test_what_to_see_names_the_chances_that_were_off_by_more_than_luck(monkeypatch):
    assert record_known(None).see == (
        "The dotted line crosses every interval: luck alone could explain how far the chances were off."
    )
    off = GROUPS.with_columns(said=pl.lit(0.16), came_true=pl.lit(0.32), low=pl.lit(0.22), high=pl.lit(0.44))
    graded = SimpleNamespace(calibration=off, claims=CLAIMS, summary=SUMMARY)
    monkeypatch.setattr(record, "shipped_record", lambda: graded)
    assert record_known(None).see.startswith(
        "Off by more than luck: of claims given 16%, 32% (22% to 44%) came true. There we were not sure enough."
    )
