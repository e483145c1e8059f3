"""What a change of the evidence would do: composites, ranks and capabilities, each with the way it moved."""

from datetime import UTC, datetime

import polars as pl
import pytest

from mensura.ledger import CellChange, Update, init_ledger
from mensura.study.preview import OWN, SAMPLING, preview

pytestmark = pytest.mark.slow

ANN = {"by": "Ann", "when": datetime(2026, 11, 15, tzinfo=UTC)}
CELL = CellChange("scores", ("gpt-5.5", "swe_marathon", "aiiq"), "score", "12", "31")


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    return init_ledger(tmp_path_factory.mktemp("preview") / "store.sqlite", **ANN)


@pytest.fixture(scope="module")
def moved(ledger):
    before = ledger.evidence()
    return preview(before, ledger.with_update(Update(title="one score", source="aiiq", changes=(CELL,))))


def test_a_changed_score_moves_its_model_through_that_very_input(moved):
    assert moved.cells.rows() == [("scores", "gpt-5.5 · swe_marathon · aiiq", "score", "12", "31")]
    first = moved.composites.row(0, named=True)
    assert (first["subject"], first["through"]) == ("gpt-5.5", OWN)
    cause = moved.inputs.filter(subject="gpt-5.5").row(0, named=True)
    assert (cause["benchmark"], cause["cause"]) == ("swe_marathon", "score 12.0 → 31.0")
    total = moved.inputs.filter(subject="gpt-5.5")["contribution"].sum()
    assert total == pytest.approx(first["change"], abs=0.05)
    assert first["published_after"] > first["published_before"]


def test_what_is_only_sampling_is_said_to_be(moved):
    others = moved.composites.filter(pl.col("through") == "others' ranks, or sampling error")
    assert (others["change"].abs() < SAMPLING).all()
    assert moved.composites.filter(through=OWN)["subject"].to_list() == ["gpt-5.5"]
    assert not others.is_empty()
    assert not set(others["subject"]) & set(moved.inputs["subject"])  # sampling has no input to name
    assert moved.inputs["contribution"].abs().min() >= 0.005
    assert moved.composites["through"].to_list()[-others.height :] == others["through"].to_list()


def test_what_moves_least_is_left_out_and_the_rest_stands_by_size(moved):
    assert moved.capabilities["change"].abs().min() >= 0.0025
    assert moved.capabilities["change"].abs().is_sorted(descending=True)
    assert moved.heading == (
        f"1 cells change; IQ or rank of {moved.composites.height} models moves, "
        f"capability of {moved.capabilities.height}"
    )


def test_capabilities_move_through_own_scores_or_the_fit(moved):
    through = dict(moved.capabilities.select("subject", "through").iter_rows())
    assert through["gpt-5.5"] == OWN
    assert {way for subject, way in through.items() if subject != "gpt-5.5"} <= {"the joint fit of swe_marathon"}


def test_a_policy_moves_no_score(ledger):
    edit = ledger.policy_edit("gpt-5", {"display": "hide"}, reason="a test")
    still = preview(ledger.evidence(), ledger.with_update(edit))
    assert still.cells["table"].unique().to_list() == ["policy"]
    assert still.composites.is_empty() and still.capabilities.is_empty() and still.inputs.is_empty()
