"""Pictures of the record of Mensura's own claims: said against came true, one curve per record."""

from typing import Any

import polars as pl

from mensura import charts
from mensura.charts.plot import draw_nothing
from mensura.site.pictures.registry import Figure, picture, worded
from mensura.study.grading import shipped_record
from mensura.study.record import AS_KNOWN, RECONSTRUCTED
from mensura.study.study import Study


@picture("record-known")
def record_known(study: Study) -> Figure:
    """How often claims came true, by the evidence as it was known then."""
    return _curve("record-known", AS_KNOWN)


@picture("record-reconstructed")
def record_reconstructed(study: Study) -> Figure:
    """How often claims came true, reconstructed month by month."""
    return _curve("record-reconstructed", RECONSTRUCTED)


def _curve(name: str, record: str) -> Figure:
    graded = shipped_record()
    groups = graded.calibration.filter(record=record)
    claims = graded.claims.filter(record=record).drop_nulls(["chance", "came_true"])
    summary = graded.summary.filter(pl.col("record") == record).drop_nulls("brier")
    if groups.is_empty():
        nothing = "No claim of this record is settled yet"
        return worded(name, draw_nothing(nothing), nothing, see=nothing, settled=0, brier=0.0, baseline=0.0)
    weight = summary["settled"] / summary["settled"].sum()
    facts: dict[str, Any] = {"brier": float((summary["brier"] * weight).sum()), "settled": claims.height}
    facts["baseline"] = float((summary["brier_baseline"] * weight).sum())
    drawing = charts.calibration_curve(groups.to_dicts(), claims.select("chance", "came_true").to_dicts())
    likely = claims.filter(pl.col("chance") > 0.5)
    finding = (
        f"Of {likely.height} claims above 50%, {likely['came_true'].sum()} came true; "
        f"{likely['chance'].sum():.0f} would be right"
    )
    return worded(name, drawing, finding, rows=groups.to_dicts(), see=_see(groups.to_dicts()), **facts)


def _see(groups: list[dict[str, Any]]) -> str:
    """Say where the chances were off most, by more than luck explains."""
    off = [row for row in groups if not row["low"] <= row["said"] <= row["high"]]
    if not off:
        return "The dotted line crosses every interval: luck alone could explain how far the chances were off."
    row = max(off, key=lambda one: abs(one["came_true"] - one["said"]))
    share = f"{row['came_true']:.0%} ({row['low']:.0%} to {row['high']:.0%})"
    sure = "not sure enough" if row["came_true"] > row["said"] else "too sure"
    return f"Off by more than luck: of claims given {row['said']:.0%}, {share} came true. There we were {sure}."
