"""Ladders from data: people on the stitched scale say what score an IQ stands for.

The stitched model says score = chance + (ceiling − chance) · σ(slope · (C − difficulty)) for a subject of capability C.
A human group with a score on a benchmark therefore has a capability there, and a group whose rarity is known has an IQ,
100 + 15 Φ⁻¹(1 − 1/rarity).

People do not lie on one line of the scale that models made: the average adult on ARC-AGI-2 stands above the doctor of
science on GPQA. So each benchmark keeps its own intercept, IQ = a(benchmark) + b · C, and only b is common, estimated
from benchmarks that have two or more groups. Read backwards with the benchmark's curve this gives the score expected
at IQ 70 … 160: a ladder that rests on people instead of judgement, for the benchmarks that people took.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import expit, just_above, just_below
from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.core.results import Result
from mensura.evidence import RATE_UNITS, Evidence
from mensura.intake.tables import as_frame
from mensura.iq.ladders import LEVELS, POINTS, ladder_table
from mensura.iq.rules import DATA
from mensura.scale import EDGE_SHARE, one_in_to_rate, rate_to_iq, score_to_capability, share_above_chance

_AVERAGE = 100.0  # the IQ of the average person
_CURVE = ("difficulty", "slope", "chance", "ceiling")  # what places a score on the stitched scale


@dataclass(frozen=True, eq=False, repr=False)
class DerivedLadders(Result):
    """Ladders derived from human groups on the stitched scale.

    ``ladders``: a set ``human`` in the form of the evidence table, usable as ``score_iq(…, ladders=…)``.
    ``anchors``: benchmark, group, score, one_in, iq, capability, line_iq (what the fit says), basis.
    ``offsets``: benchmark, groups, average_person (capability at IQ 100). ``differences``: benchmark, level, published
    and derived score, and derived_iq, the IQ the data give to the published score of that level.
    ``slope`` is b, IQ points per unit of capability; ``spread`` the standard deviation of groups around their lines.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("ladders", "anchors", "offsets", "differences")

    ladders: pl.DataFrame
    anchors: pl.DataFrame
    offsets: pl.DataFrame
    differences: pl.DataFrame
    slope: float
    spread: float

    @property
    def heading(self) -> str:
        """How many ladders, from how many groups, with what common slope."""
        return f"{self.ladders.height} ladders from {self.anchors.height} human groups, {self.slope:.1f} IQ per unit"


def derive_ladders(evidence: Evidence, curves: Any, groups: Any = None) -> DerivedLadders:
    """Derive ladders from the human references and the stitched curves.

    Parameters
    ----------
    evidence : Evidence
        The human references, and the counts behind a chance level.
    curves : table
        benchmark, difficulty, slope; their own ``chance`` (a share, as in a fit's table of floors) replaces the
        evidence's.
    groups : table, optional
        benchmark, group, one_in: how rare each human group is. Mensura's own list gives a basis for each; some are
        assumptions, so give your own list to see what depends on them.

    Returns
    -------
    DerivedLadders
        Ladders, the groups they depend on, and the differences from the published ones.

    Examples
    --------
    >>> import mensura
    >>> from mensura.iq import derive_ladders
    >>> curves = mensura.stitch(mensura.load()).benchmarks
    >>> derive_ladders(mensura.load(), curves).ladders.columns[:2]
    ['set', 'benchmark']

    """
    curves = as_frame(curves, name="curves")
    require_columns(curves, ["benchmark", "difficulty", "slope"], name="curves")
    people = as_frame(DATA / "human_groups.csv" if groups is None else groups, name="groups")
    require_columns(people, ["benchmark", "group", "one_in"], name="groups")
    curves = _with_levels(curves, evidence)
    anchors = _anchors(evidence, curves.filter(pl.col("slope") > 0), people)
    slope = _common_slope(anchors)
    offset = pl.col("iq") - slope * pl.col("capability")
    anchors = anchors.with_columns(line_iq=slope * pl.col("capability") + offset.mean().over("benchmark"))
    free = anchors.height - anchors["benchmark"].n_unique() - 1
    residual = (anchors["iq"] - anchors["line_iq"]).to_numpy()
    spread = float(np.sqrt(residual @ residual / max(free, 1)))
    offsets = anchors.group_by("benchmark", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("groups"), ((_AVERAGE - offset.mean()) / slope).alias("average_person")
    )
    ladders = _ladders(evidence, curves, offsets, slope)
    return DerivedLadders(ladders, anchors, offsets, _differences(ladder_table(evidence), ladders), slope, spread)


def _with_levels(curves: pl.DataFrame, evidence: Evidence) -> pl.DataFrame:
    """Give every curve its chance and ceiling as shares: its own, else the evidence's, else 0 and 1."""
    size = pl.col("unit").replace_strict(RATE_UNITS, default=None, return_dtype=pl.Float64)
    stated = evidence.benchmarks.select(
        "benchmark", *((pl.col(name) / size).alias(f"{name}_stated") for name in ("chance", "ceiling"))
    )
    joined = curves.join(stated, on="benchmark", how="left", maintain_order="left")
    for name, limit in (("chance", 0.0), ("ceiling", 1.0)):
        own = [pl.col(name)] if name in curves.columns else []
        joined = joined.with_columns(pl.coalesce(*own, f"{name}_stated", pl.lit(limit)).alias(name))
    return joined.select("benchmark", *_CURVE)


def _anchors(evidence: Evidence, curves: pl.DataFrame, groups: pl.DataFrame) -> pl.DataFrame:
    """Groups of known rarity with their capability; those at chance or at the ceiling, only bounded, are left out."""
    rates = evidence.human_references.filter(pl.col("unit").is_in(list(RATE_UNITS)))
    joined = (
        rates.select("benchmark", "group", "score", "unit")
        .join(groups, on=["benchmark", "group"], maintain_order="left")
        .join(curves, on="benchmark", maintain_order="left")
    )
    score = joined["score"].to_numpy() / joined["unit"].replace_strict(RATE_UNITS, return_dtype=pl.Float64).to_numpy()
    difficulty, slope, chance, ceiling = (joined[name].to_numpy() for name in _CURVE)
    share = share_above_chance(score, chance, ceiling)
    capability = score_to_capability(score, difficulty, slope, chance, ceiling)
    iq = rate_to_iq(one_in_to_rate(joined["one_in"].to_numpy().astype(float)))
    placed = joined.with_columns(capability=pl.Series(capability), iq=pl.Series(iq)).drop("unit", *_CURVE)
    return placed.filter(pl.Series((share >= just_below(EDGE_SHARE)) & (share <= just_above(1 - EDGE_SHARE))))


def _common_slope(anchors: pl.DataFrame) -> float:
    """Return b by least squares within benchmarks."""
    centred = [pl.col(name) - pl.col(name).mean().over("benchmark") for name in ("capability", "iq")]
    capability, iq = (anchors.select(column).to_series().to_numpy() for column in centred)
    total = float(capability @ capability)
    if total <= just_above(0.0):
        raise MensuraError(
            "groups: no stitched benchmark has two human groups of known rarity and different scores; add such a "
            "benchmark to the evidence"
        )
    slope = float(capability @ iq) / total
    if slope <= 0:
        raise MensuraError(f"groups: rarer groups do not score higher (slope {slope:.2f}); check rarities and scores")
    return slope


def _ladders(evidence: Evidence, curves: pl.DataFrame, offsets: pl.DataFrame, slope: float) -> pl.DataFrame:
    units = evidence.benchmarks.select("benchmark", "unit")
    usable = offsets.join(curves, on="benchmark", maintain_order="left").join(units, on="benchmark")
    size = usable["unit"].replace_strict(RATE_UNITS, return_dtype=pl.Float64).to_numpy()[:, None]
    steep, hard, average = (usable[name].to_numpy()[:, None] for name in ("slope", "difficulty", "average_person"))
    capability = average + (LEVELS - _AVERAGE) / slope
    low, high = (usable[name].to_numpy()[:, None] for name in ("chance", "ceiling"))
    scores = size * (low + (high - low) * expit(steep * (capability - hard)))
    named = usable.select(pl.lit("human").alias("set"), "benchmark")
    table = pl.concat([named, pl.DataFrame(scores, schema=POINTS, orient="row")], how="horizontal")
    return table.filter(pl.Series((np.diff(scores, axis=1) > 0).all(axis=1)))


def _differences(published: pl.DataFrame, derived: pl.DataFrame) -> pl.DataFrame:
    theirs = {row[0]: row[1:] for row in published.select("benchmark", *POINTS).iter_rows()}
    rows: list[tuple[object, ...]] = []
    for benchmark, *scores in derived.select("benchmark", *POINTS).iter_rows():
        if benchmark in theirs:
            read = np.interp(theirs[benchmark], scores, LEVELS)
            rows += zip([benchmark] * LEVELS.size, LEVELS, theirs[benchmark], scores, read, strict=True)
    schema = {"benchmark": pl.String} | dict.fromkeys(("level", "published", "derived", "derived_iq"), pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row").cast({"level": pl.Int64})
