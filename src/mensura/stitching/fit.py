"""``stitch``: the one door to both methods."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import polars as pl

from mensura import __version__
from mensura.core.arguments import check_arguments
from mensura.core.arrays import just_above
from mensura.core.errors import MensuraError, listed_names
from mensura.evidence import Evidence, load
from mensura.intake.own_scores import read_own_scores
from mensura.stitching.checks import (
    connected_parts,
    position,
    published_anchor,
    refuse_alike,
    refuse_parts,
    warnings_of,
)
from mensura.stitching.fitted import Model, PooledModel, RosettaModel
from mensura.stitching.leaks import GAINING
from mensura.stitching.links import adjust_sources, evidence_scores, offset_notes
from mensura.stitching.positions import Scale, principal
from mensura.stitching.result import REFERENCES, Stitch
from mensura.stitching.rosetta import RIDGE
from mensura.stitching.scores import Duplicates, ScoreSet, encode, read_scores

Method = Literal["pooled", "rosetta"]
Parts = Literal["refuse", "largest", "keep"]
CARRIED = 3
"""So many benchmarks and subjects are asked for per latent dimension."""
DIMENSIONS = 4
"""Latent dimensions of the default method (capability and three residual ones), chosen by held-out error at random and
forward in time (``benchmarks/stitch_heldout.py``, ``benchmarks/stitch_forward.py``)."""
BATTERY = "intervals are about these benchmarks; other benchmarks could order the subjects otherwise"
"""Said with every fit: a general ability behind strongly specific tests is not what the intervals cover."""
REPORTING = "intervals suppose that scores are reported whatever they are; see docs/stitching.md, Selective reporting"
"""Said with every fit, because no score table says what was left out of it."""


@check_arguments
def stitch(
    scores: Any = None,
    *,
    method: Method = "pooled",
    anchor_benchmark: str | None = None,
    anchor_subjects: Mapping[str, float] | None = None,
    duplicates: Duplicates | None = None,
    dimensions: int | None = None,
    pooling: float | None = None,
    informed: bool | None = None,
    ridge: float | None = None,
    parts: Parts = "refuse",
    fewest_benchmarks: int = 1,
    unit: str | None = None,
) -> Stitch:
    """Put subjects and benchmarks on one scale.

    Parameters
    ----------
    scores : table, file, Evidence or None
        A table of any library, or a file, with ``subject`` or ``model``, ``benchmark`` and ``score`` in [0, 1]; also
        wide, or with other headers. ``stderr``, ``n``, ``epochs``, ``source``, ``released``, ``chance`` and ``ceiling``
        are used where they exist. Evidence enters by the links of its units; None is the embedded evidence.
    method : {"pooled", "rosetta"}
        "pooled" is a logistic factor model with partial pooling. "rosetta" is the published model (arXiv 2512.00193)
        at its optimum.
    anchor_benchmark : str, optional
        The benchmark that gets difficulty 0 and slope 1. Without any anchor, the pooled method gives GPT-4o the
        capability 0 and GPT-5 the capability 1 if both have scores, and else subjects the mean 0 and the standard
        deviation 1; rosetta anchors on the benchmark with most scores.
    anchor_subjects : mapping, optional
        Two subjects and their capabilities.
    duplicates : {"max", "mean", "all"}, optional
        What several scores of one subject on one benchmark become: the highest (default of rosetta, as published),
        their mean (default of pooled), or their mean with the weight of all.
    dimensions : int, optional
        Latent dimensions of the pooled method, capability included (default 4).
    pooling : float, optional
        Factor on the precision of the pooled method's prior of benchmarks (default 1).
    informed : bool, optional
        Whether release dates and the choice of tests inform the pooled method's prior of subjects (default True).
    ridge : float, optional
        Strength of the penalty of rosetta (default 0.1, as published).
    parts : {"refuse", "largest", "keep"}
        What happens if no score connects some subjects with the others.
    fewest_benchmarks : int
        Leave out subjects with fewer benchmarks; the published analysis asks for 4.
    unit : {"percent", "fraction"}, optional
        Unit of scores of a table that does not say it.

    Returns
    -------
    Stitch
        Capabilities with 90% intervals, benchmarks, residuals, warnings and notes; predictions and bootstrap.

    Raises
    ------
    MensuraError
        If scores are missing, out of range or fall into parts, or an argument is not used by the method.

    Examples
    --------
    >>> import mensura
    >>> import polars as pl
    >>> scores = {"subject": ["ann", "ann", "bob", "bob"], "benchmark": ["easy", "hard", "easy", "hard"]}
    >>> scores |= {"score": [0.9, 0.5, 0.7, 0.2]}
    >>> fit = mensura.stitch(pl.DataFrame(scores))
    >>> fit.capabilities["subject"].to_list()
    ['ann', 'bob']

    """
    given = {"dimensions": dimensions, "pooling": pooling, "informed": informed, "ridge": ridge}
    _refuse_unused(method, given, anchor_benchmark, anchor_subjects)
    evidence = load() if scores is None else scores if isinstance(scores, Evidence) else None
    if evidence is not None and unit is not None:
        raise MensuraError("unit: evidence states its units, so it is not used; leave it out")
    frame, notes = read_any(scores if evidence is None else evidence, unit)
    frame, few = _with_enough(frame, fewest_benchmarks)
    policy: Duplicates = duplicates or ("max" if method == "rosetta" else "mean")
    notes += tuple(_merged_notes(frame, policy))
    frame, offsets = adjust_sources(frame) if policy == "mean" else (frame, None)
    frame, left_out = _connected(frame, policy, parts)
    data = encode(frame, policy)
    refuse_alike(data)
    settings: dict[str, object] = {"method": method, "duplicates": policy, "anchor_benchmark": anchor_benchmark}
    settings["fewest_benchmarks"] = fewest_benchmarks
    settings["anchor_subjects"] = dict(anchor_subjects) if anchor_subjects else None
    notes += (*few, *offset_notes(offsets), *left_out)
    model: Model
    if method == "rosetta":
        data = replace(data, chance=np.zeros_like(data.chance), ceiling=np.ones_like(data.ceiling))
        free = anchor_benchmark is None and anchor_subjects is not None
        anchor = None if free else published_anchor(data, anchor_benchmark)
        settings["ridge"] = ridge = RIDGE if ridge is None else ridge
        model = RosettaModel.fit(data, anchor, ridge)
        scale = Scale(benchmark=anchor) if anchor_subjects is None else _two_subjects(data, anchor_subjects)
    else:
        pooling, informed = 1.0 if pooling is None else pooling, informed is not False
        asked = DIMENSIONS if dimensions is None else dimensions
        model, data, falling = _rising(frame, policy, asked, pooling, informed)
        notes += (*falling, *_model_notes(model))
        scale = _scale(model, anchor_benchmark, anchor_subjects)
        settings |= {"dimensions": model.fitted.dimensions, "pooling": pooling, "informed": informed}
    settings |= {"mensura": __version__, "evidence": evidence.edition if evidence else None}
    return Stitch(method, model, scale, settings, warnings_of(data), (*notes, REPORTING, BATTERY))


def _refuse_unused(
    method: Method, given: Mapping[str, float | None], benchmark: str | None, subjects: Mapping[str, float] | None
) -> None:
    """Refuse arguments that the method does not use, and strengths that are no number of zero or more."""
    for name, value in given.items():
        used_by = "rosetta" if name == "ridge" else "pooled"
        if value is not None and method != used_by:
            raise MensuraError(
                f"{name}: method={method!r} does not use it; method={used_by!r} does. Leave it out or change method"
            )
        if name in ("ridge", "pooling") and value is not None and not 0 <= value < np.inf:
            raise MensuraError(f"{name}: got {value}; expected a number of zero or more")
    if method == "pooled" and benchmark is not None and subjects is not None:
        raise MensuraError("anchor_benchmark: method='pooled' does not use it beside anchor_subjects; give one of both")


def read_any(scores: Any, unit: str | None = None) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Read a score table, or bring evidence (None: the embedded one) through the links of its units.

    Parameters
    ----------
    scores : table, file, Evidence or None
        What :func:`stitch` takes.
    unit : {"percent", "fraction"}, optional
        Unit of scores of a table that does not say it.

    Returns
    -------
    tuple of table and notes
        Checked scores with subject, benchmark, score and what else they have; what was done to their units.

    Examples
    --------
    >>> from mensura.stitching import read_any
    >>> read_any({"model": ["ann"], "benchmark": ["easy"], "score": [70]}, unit="percent")[0]["score"].to_list()
    [0.7]

    """
    scores = load() if scores is None else scores
    if isinstance(scores, Evidence):
        table, notes = evidence_scores(scores)
        return read_scores(table), notes
    return read_scores(read_own_scores(scores, unit=unit)), ()


def _with_enough(frame: pl.DataFrame, fewest: int) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the scores of subjects with enough benchmarks, and a note on those left out."""
    kept = frame.filter(pl.col("benchmark").n_unique().over("subject") >= fewest)
    if kept.is_empty():
        raise MensuraError(
            f"fewest_benchmarks: no subject has {fewest} benchmarks; expected a smaller number. Lower fewest_benchmarks"
        )
    left = frame["subject"].n_unique() - kept["subject"].n_unique()
    return kept, (f"{left} subjects with fewer than {fewest} benchmarks were left out",) if left else ()


def _merged_notes(frame: pl.DataFrame, policy: Duplicates) -> Iterator[str]:
    """Say where several scores of one source on one benchmark differ."""
    pair = ["subject", "benchmark", *(name for name in ("source",) if name in frame.columns)]
    gaps = frame.group_by(pair, maintain_order=True).agg(gap=pl.max("score") - pl.min("score"))
    differ = gaps.filter(pl.col("gap") > just_above(0.0)).sort("gap", descending=True, maintain_order=True)
    if differ.height:
        counts = "all count" if policy == "all" else f"their {policy} counts"
        who = f"{differ['subject'][0]} on {differ['benchmark'][0]}: {differ['gap'][0]:.2g} apart"
        yield f"several scores of one subject on one benchmark, {counts}: {differ.height} such pairs ({who})"


def _connected(frame: pl.DataFrame, policy: Duplicates, parts: Parts) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the scores that compare subjects, and notes on those left out."""
    notes: list[str] = []
    if parts == "refuse":
        refuse_parts(encode(frame, policy))
    if parts == "largest":
        subjects, benchmarks = connected_parts(encode(frame, policy))[0]
        kept = frame.filter(pl.col("subject").is_in(subjects) & pl.col("benchmark").is_in(benchmarks))
        if left := frame.height - kept.height:
            notes.append(f"{left} scores outside the largest connected part were left out")
        frame = kept
    compared = pl.col("subject").n_unique().over("benchmark") > 1
    single = frame.filter(~compared)["benchmark"].unique().sort().to_list()
    if single and len(single) < frame["benchmark"].n_unique():
        frame = frame.filter(compared)
        notes.append(f"left out, taken by one subject only: {listed_names(single)}")
    return frame, tuple(notes)


def _rising(
    frame: pl.DataFrame, policy: Duplicates, dimensions: int, pooling: float, informed: bool
) -> tuple[PooledModel, ScoreSet, tuple[str, ...]]:
    """Fit benchmarks on which better subjects score higher; one on which they score lower is left out and named."""
    if dimensions < 1:
        raise MensuraError(f"dimensions: at least 1 is expected, got {dimensions}")
    falling: list[str] = []
    while True:
        data = encode(frame.filter(~pl.col("benchmark").is_in(falling)), policy)
        fewest = min(len(data.benchmarks), len(data.subjects))  # a handful carries few dimensions
        model = PooledModel.fit(data, min(dimensions, max(1, fewest // CARRIED)), pooling, informed=informed)
        slopes = principal(model.positions, shares=model.shares).slope[0]
        lower = [data.benchmarks[i] for i in np.flatnonzero(slopes <= 0)]
        if not lower or len(lower) == len(slopes):
            break
        falling += lower
    note = f"left out, better subjects score lower (is lower better there?): {listed_names(falling)}"
    return model, data, (note,) if falling else ()


def _model_notes(model: PooledModel) -> Iterator[str]:
    """Say which chance levels were estimated, whether success rises in two steps, and which intervals are rough."""
    unknown, step = int(np.count_nonzero(~model.data.chance_given)), model.data.step
    if unknown and model.floors.error.any():
        yield f"chance level estimated for {unknown} of {len(model.data.benchmarks)} benchmarks, which state none"
    if step:
        yield f"success rises in two steps, {2 * step:g} logits apart: easy and hard questions, few between them"
    rates = zip(model.data.benchmarks, model.leaks.rate, strict=True)
    leaking = [f"{name} {rate:.2f}" for name, rate in rates if rate > GAINING]
    if leaking:
        yield (
            "slow leaks: later models gain on some tests more than on the others, in logits a year after publication "
            f"(taken off capabilities): {listed_names(leaking)}"
        )
    if not model.joint:
        yield (
            "too many subjects and benchmarks for a joint posterior: each side varies by itself, and intervals are "
            "rough"
        )


def _scale(model: PooledModel, benchmark: str | None, subjects: Mapping[str, float] | None) -> Scale:
    """Choose the scale of the pooled method."""
    data = model.data
    if subjects is not None:
        return _two_subjects(data, subjects)
    if benchmark is not None:
        return Scale(benchmark=position(data.benchmarks, benchmark, "anchor_benchmark"))
    if not set(REFERENCES) <= set(data.subjects):
        return Scale()
    C = Scale().apply(principal(model.positions, shares=model.shares)).capability[0]
    zero, one = (float(C[data.subjects.index(name)]) for name in REFERENCES)
    return Scale(mean=-zero / (one - zero), spread=1 / (one - zero), named=True) if one > zero else Scale()


def _two_subjects(data: ScoreSet, anchors: Mapping[str, float]) -> Scale:
    if len(anchors) != 2 or len(set(anchors.values())) != 2 or not np.isfinite(list(anchors.values())).all():
        raise MensuraError(f"anchor_subjects: two subjects with two different values are expected, got {dict(anchors)}")
    first, second = (position(data.subjects, name, "anchor_subjects") for name in anchors)
    low, high = anchors.values()
    return Scale(subjects=(first, second), values=(low, high))
