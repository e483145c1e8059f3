"""What a change of the evidence would do: composites, ranks and capabilities, each with the way it moved."""

from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from mensura.ledger import CellChange, Update, init_ledger
from mensura.study import preview as preview_module
from mensura.study.preview import OWN, SAMPLING, preview

ANN = {"by": "Ann", "when": datetime(2026, 11, 15, tzinfo=UTC)}
CELL = CellChange("scores", ("gpt-5.5", "swe_marathon", "aiiq"), "score", "12", "31")


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    return init_ledger(tmp_path_factory.mktemp("preview") / "store.sqlite", **ANN)


@pytest.fixture(scope="module")
def moved(ledger):
    before = ledger.evidence()
    return preview(before, ledger.with_update(Update(title="one score", source="aiiq", changes=(CELL,))))


@pytest.mark.slow
def test_a_changed_score_moves_its_model_through_that_very_input(moved):
    assert moved.cells.rows() == [("scores", "gpt-5.5 · swe_marathon · aiiq", "score", "12", "31")]
    first = moved.composites.row(0, named=True)
    assert (first["subject"], first["through"]) == ("gpt-5.5", OWN)
    cause = moved.inputs.filter(subject="gpt-5.5").row(0, named=True)
    assert (cause["benchmark"], cause["cause"]) == ("swe_marathon", "score 12.0 → 31.0")
    total = moved.inputs.filter(subject="gpt-5.5")["contribution"].sum()
    assert total == pytest.approx(first["change"], abs=0.05)
    assert first["published_after"] > first["published_before"]


@pytest.mark.slow
def test_what_is_only_sampling_is_said_to_be(moved):
    others = moved.composites.filter(pl.col("through") == "others' ranks, or sampling error")
    assert (others["change"].abs() < SAMPLING).all()
    assert moved.composites.filter(through=OWN)["subject"].to_list() == ["gpt-5.5"]
    assert not others.is_empty()
    assert not set(others["subject"]) & set(moved.inputs["subject"])  # sampling has no input to name
    assert moved.inputs["contribution"].abs().min() >= 0.005
    assert moved.composites["through"].to_list()[-others.height :] == others["through"].to_list()


@pytest.mark.slow
def test_what_moves_least_is_left_out_and_the_rest_stands_by_size(moved):
    assert moved.capabilities["change"].abs().min() >= 0.0025
    assert moved.capabilities["change"].abs().is_sorted(descending=True)
    assert moved.heading == (
        f"1 cells change; IQ or rank of {moved.composites.height} models moves, "
        f"capability of {moved.capabilities.height}"
    )


@pytest.mark.slow
def test_capabilities_move_through_own_scores_or_the_fit(moved):
    through = dict(moved.capabilities.select("subject", "through").iter_rows())
    assert through["gpt-5.5"] == OWN
    assert {way for subject, way in through.items() if subject != "gpt-5.5"} <= {"the joint fit of swe_marathon"}


@pytest.mark.slow
def test_a_policy_moves_no_score(ledger):
    edit = ledger.policy_edit("gpt-5", {"display": "hide"}, reason="a test")
    still = preview(ledger.evidence(), ledger.with_update(edit))
    assert still.cells["table"].unique().to_list() == ["policy"]
    assert still.composites.is_empty() and still.capabilities.is_empty() and still.inputs.is_empty()


def side(**models):
    """Return a scoring and a fit of models by published IQ, rank and capability."""
    published = [value[0] for value in models.values()]
    ranking = [(name, value[1]) for name, value in models.items() if value[1] is not None]
    capabilities = [(name, value[2]) for name, value in models.items() if value[2] is not None]
    scored = SimpleNamespace(
        matrix=SimpleNamespace(subjects=tuple(models)),
        published=np.array([np.nan if one is None else one for one in published]),
        ranking=pl.DataFrame(ranking, schema=["subject", "rank"], orient="row"),
    )
    table = pl.DataFrame(capabilities, schema=["subject", "capability"], orient="row")
    return SimpleNamespace(scored=scored, fit=SimpleNamespace(capabilities=table))


def compared(monkeypatch, before, after, composites, inputs, rows=("own · x · board",)):
    """Preview two sides of which composites and inputs differ as they are given."""
    keys = {"table": ["scores"] * len(rows), "row": list(rows), "field": "score", "old": "1", "new": "2"}
    monkeypatch.setattr(preview_module, "evidence_changes", lambda *_: pl.DataFrame(keys))
    monkeypatch.setattr(preview_module, "score_iq", lambda one: one.scored)
    monkeypatch.setattr(preview_module, "stitch", lambda one: one.fit)
    columns = ["subject", "before", "after"]
    table = pl.DataFrame(composites, schema=columns, orient="row").with_columns(
        change=pl.col("after").fill_null(0) - pl.col("before").fill_null(0)
    )
    causes = pl.DataFrame(inputs, schema=["subject", "contribution"], orient="row")
    change = SimpleNamespace(composites=table, inputs=causes)
    monkeypatch.setattr(preview_module, "compare_iq", lambda *_: change)
    return preview(before, after)


def test_each_model_moves_through_its_scores_estimates_or_only_by_rank(monkeypatch):
    names = ("own", "still", "rules", "far", "near", "new", "ranked", "none", "odd")
    before = side(**dict.fromkeys(names[:-1], (0.0, 1, 0.0)), odd=(None, None, 1.0))
    changed = {"rules": (0.05, 1, 0.0), "near": (0.04, 1, 0.0), "new": (0.0, 2, 0.0), "ranked": (0.0, 2, 0.0)}
    after = side(**dict.fromkeys(names[:-1], (0.0, 1, 0.0)) | changed, odd=(None, None, 1.0))
    composites = [
        *(("ranked", 0.0, 0.59), ("still", 0.0, 0.04), ("far", 0.0, 0.6), ("near", 0.0, 0.59)),
        *(("own", 0.0, -0.05), ("rules", 0.0, 0.0), ("new", None, 100.0), ("none", None, None)),
    ]
    inputs = [("own", 0.005), ("own", 0.0049), ("far", -0.2), ("ranked", 9.0), ("rules", 0.01)]
    seen = compared(monkeypatch, before, after, composites, inputs, ("own · x · board", "still · y · board"))
    assert seen.composites.select("subject", "through").rows() == [
        ("own", OWN),
        ("new", "it gains or loses its composite"),
        ("far", "estimates from others' scores"),
        ("rules", "estimates from others' scores"),
        ("ranked", "others' ranks, or sampling error"),
    ]
    assert seen.composites.filter(subject="rules").row(0, named=True)["published_after"] == 0.05
    assert seen.composites.filter(subject="ranked").select("rank_before", "rank_after").row(0) == (1, 2)
    assert seen.inputs.rows() == [("own", 0.005), ("far", -0.2), ("rules", 0.01)]


def test_capabilities_that_move_by_a_hair_or_come_and_go_are_listed(monkeypatch):
    before = side(a=(1.0, 1, 0.0), b=(1.0, 1, 0.5), c=(1.0, 1, 1.0), own=(1.0, 1, 2.0), gone=(1.0, 1, 3.0))
    after = side(a=(1.0, 1, 0.0024), b=(1.0, 1, 0.4974), c=(1.0, 1, 2.0), own=(1.0, 1, 2.5), new=(1.0, 1, 3.0))
    rows = [f"own · {test} · board" for test in ("z", "x", "y", "w")]
    seen = compared(monkeypatch, before, after, [("own", 1.0, 1.0)], [("own", 0.0)], rows).capabilities
    assert seen.filter(pl.col("change").is_not_null()).select("subject", "through").rows() == [
        *(("c", "the joint fit of w, x, y, …"), ("own", OWN), ("b", "the joint fit of w, x, y, …"))
    ]
    assert set(seen.filter(pl.col("change").is_null())["subject"]) == {"gone", "new"}
    assert seen["change"].to_list()[:3] == pytest.approx([1.0, 0.5, -0.0026])
    few = compared(monkeypatch, before, after, [("own", 1.0, 1.0)], [("own", 0.0)], rows[:3]).capabilities
    assert few["through"][0] == "the joint fit of x, y, z"
