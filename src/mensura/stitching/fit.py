"""``stitch``: the one door to both methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import polars as pl

from mensura import __version__
from mensura.core.arguments import check_arguments
from mensura.core.errors import MensuraError, listed_names
from mensura.evidence import Evidence, load
from mensura.intake.own_scores import read_own_scores
from mensura.stitching.checks import of_largest_part, position, refuse_parts, warnings_of
from mensura.stitching.fitted import PooledModel, RosettaModel
from mensura.stitching.links import adjust_sources, evidence_scores
from mensura.stitching.models import Model
from mensura.stitching.positions import Scale, constant_warnings, principal, refuse_alike
from mensura.stitching.result import REFERENCES, Stitch
from mensura.stitching.rosetta import RIDGE
from mensura.stitching.scores import Duplicates, ScoreSet, encode, read_scores

Method = Literal["pooled", "rosetta"]
Parts = Literal["refuse", "largest", "keep"]
WORTH_A_NOTE = 0.05
"""Source offsets, in logits, below this are taken out without a note."""
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
    scores: Any = None,  # noqa: ANN401
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

    ``scores`` is a table of any library (or file) with ``subject`` or ``model``, ``benchmark`` and ``score`` in [0, 1],
    or wide, or with other headers (``intake.own_scores.read_own_scores``); ``unit="percent"`` says 0 to 100.
    ``stderr``, ``n``, ``source``, ``released``, ``chance`` and ``ceiling`` are used when there
    (:mod:`mensura.stitching.scores`).
    An :class:`~mensura.evidence.Evidence`, or nothing for the embedded one, enters through
    :mod:`mensura.stitching.links`.

    ``method="pooled"`` (default) is a logistic factor model with partial pooling, ``dimensions`` latent dimensions and
    a prior informed by release dates and by who took which test (``informed=False`` switches that off).
    ``method="rosetta"`` is the published model (arXiv 2512.00193) at its optimum, with its ``ridge``.

    Scale: ``anchor_benchmark`` has difficulty 0 and slope 1, or ``anchor_subjects`` maps two subjects to their values.
    With neither, the pooled method gives GPT-4o the estimate 0 and GPT-5 the estimate 1 where both have scores, and
    else subjects the mean 0 and the standard deviation 1; in rosetta the benchmark with most scores is the anchor.
    ``duplicates``: ``max`` (default of rosetta, as published), ``mean`` (default of pooled), ``all``.
    ``parts`` says what happens when no score connects some subjects with the others. ``fewest_benchmarks`` leaves out
    subjects with fewer benchmarks; the published analysis asks for 4.

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
    notes += few
    policy: Duplicates = duplicates or ("max" if method == "rosetta" else "mean")
    if policy == "mean":
        frame, offsets = adjust_sources(frame)
        notes += tuple(
            f"source {name} scores {offset:+.2f} logits off the others on the same cells; taken out"
            for name, offset, _ in offsets.iter_rows()
            if abs(offset) >= WORTH_A_NOTE
        )
    frame, left_out = _connected(frame, policy, parts)
    data = encode(frame, policy)
    refuse_alike(data)
    settings: dict[str, object] = {"method": method, "duplicates": policy, "anchor_benchmark": anchor_benchmark}
    settings["fewest_benchmarks"] = fewest_benchmarks
    settings["anchor_subjects"] = dict(anchor_subjects) if anchor_subjects else None
    model: Model
    if method == "rosetta":
        data = replace(data, chance=np.zeros_like(data.chance), ceiling=np.ones_like(data.ceiling))
        anchor = _rosetta_anchor(data, anchor_benchmark, anchor_subjects)
        ridge = RIDGE if ridge is None else ridge
        model = RosettaModel.fit(data, anchor, ridge)
        scale = Scale(benchmark=anchor) if anchor_subjects is None else _two_subjects(data, anchor_subjects)
        settings |= {"ridge": ridge}
    else:
        pooling, informed = 1.0 if pooling is None else pooling, informed is not False
        model, data, falling = _rising(
            frame, policy, DIMENSIONS if dimensions is None else dimensions, pooling, informed
        )
        left_out += falling
        scale = _scale(model, anchor_benchmark, anchor_subjects)
        settings |= {"dimensions": model.fitted.dimensions, "pooling": pooling, "informed": informed}
    settings |= {"mensura": __version__, "evidence": evidence.edition if evidence else None}
    about = (*warnings_of(data), *constant_warnings(data))
    notes += (*left_out, *_guessed(model), *_two_steps(data if method == "rosetta" else model.data))
    notes += (*_apart(model), REPORTING, BATTERY)
    return Stitch(method, model, scale, settings, about, notes)


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


def read_any(scores: Any, unit: str | None = None) -> tuple[pl.DataFrame, tuple[str, ...]]:  # noqa: ANN401
    """Read a score table, or bring evidence through its links."""
    if scores is None:
        scores = load()
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


def _connected(frame: pl.DataFrame, policy: Duplicates, parts: Parts) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the scores that compare subjects, and notes on those left out."""
    notes: list[str] = []
    if parts == "refuse":
        refuse_parts(encode(frame, policy))
    if parts == "largest":
        subjects, benchmarks = of_largest_part(encode(frame, policy))
        kept = frame.filter(pl.col("subject").is_in(list(subjects)) & pl.col("benchmark").is_in(list(benchmarks)))
        if left := frame.height - kept.height:
            notes.append(f"{left} scores outside the largest connected part were left out")
        frame = kept
    compared = pl.col("subject").n_unique().over("benchmark") > 1
    alone = frame.filter(~compared)["benchmark"].unique().sort().to_list()
    if alone and len(alone) < frame["benchmark"].n_unique():
        frame = frame.filter(compared)
        notes.append(f"left out, taken by one subject only: {listed_names(alone)}")
    return frame, tuple(notes)


def _rising(
    frame: pl.DataFrame, policy: Duplicates, dimensions: int, pooling: float, informed: bool
) -> tuple[PooledModel, ScoreSet, tuple[str, ...]]:
    """Fit benchmarks on which better subjects score higher; one on which they score lower is left out and named."""
    falling: list[str] = []
    while True:
        data = encode(frame.filter(~pl.col("benchmark").is_in(falling)), policy)
        model = PooledModel.fit(data, _affordable(dimensions, data), pooling, informed=informed)
        slopes = principal(model.positions, shares=model.shares).slope[0]
        found = [data.benchmarks[i] for i in np.flatnonzero(slopes <= 0)]
        if not found or len(found) == len(slopes):
            break
        falling += found
    note = f"left out, better subjects score lower (is lower better there?): {listed_names(falling)}"
    return model, data, (note,) if falling else ()


def _guessed(model: Model) -> tuple[str, ...]:
    """Say for how many benchmarks the chance level had to be estimated."""
    unknown = int(np.count_nonzero(~model.data.chance_given))
    if not isinstance(model, PooledModel) or not unknown or not model.floors.error.any():
        return ()
    return (f"chance level estimated for {unknown} of {len(model.data.benchmarks)} benchmarks, which state none",)


def _two_steps(data: ScoreSet) -> tuple[str, ...]:
    """Say that success rises in two steps on these benchmarks."""
    if not data.step:
        return ()
    return (f"success rises in two steps, {2 * data.step:g} logits apart: easy and hard questions, few between them",)


def _apart(model: Model) -> tuple[str, ...]:
    """Say where both sides are too many for a joint posterior."""
    if not isinstance(model, PooledModel) or model.joint:
        return ()
    return (
        "too many subjects and benchmarks for a joint posterior: each side varies by itself, and intervals are rough",
    )


def _affordable(dimensions: int, data: ScoreSet) -> int:
    """Refuse nonsense, and cap the dimensions at what a handful of benchmarks can carry."""
    if dimensions < 1:
        raise MensuraError(f"dimensions: at least 1 is expected, got {dimensions}")
    return min(dimensions, max(1, len(data.benchmarks) // CARRIED), max(1, len(data.subjects) // CARRIED))


def _rosetta_anchor(data: ScoreSet, benchmark: str | None, subjects: Mapping[str, float] | None) -> int | None:
    """Index of the benchmark whose slope is fixed; none when only subjects anchor the scale."""
    if benchmark is not None:
        return position(data.benchmarks, benchmark, "anchor_benchmark")
    if subjects is not None:
        return None
    return int(np.argmax(np.bincount(data.layout.cols)))


def _scale(model: PooledModel, benchmark: str | None, subjects: Mapping[str, float] | None) -> Scale:
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
