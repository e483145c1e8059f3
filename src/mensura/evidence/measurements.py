"""Measurements behind the scores: one may be printed by several sources, rounded differently, and still is one."""

from math import log

import polars as pl

from mensura.core.arrays import just_above, just_below
from mensura.core.errors import MensuraError
from mensura.evidence.evidence import Evidence
from mensura.intake.figures import RATE_UNITS

_ELO_LOGIT = 400 / log(10)  # Elo points per logit of the expected win rate
_SPANS = {**RATE_UNITS, "index": 200.0, "elo": 4 * _ELO_LOGIT}
"""Points of a unit in which a rate rises from 0 to 1; of Elo as it rises at a rate of one half."""
_SAME = 0.1
"""Readings of one evaluator that lie this near (in points of 100) are one measurement, printed twice."""
_WHOLE = 0.5
"""A whole number stands for everything that rounds to it."""


def trials() -> pl.Expr:
    """Return how many tries stand behind a score of a benchmark: what its sampling error follows.

    Returns
    -------
    polars expression
        items × repeats.

    Examples
    --------
    >>> import polars as pl
    >>> from mensura.evidence import trials
    >>> pl.DataFrame({"items": [50], "repeats": [4]}).select(trials()).item()
    200

    """
    return (pl.col("items") * pl.col("repeats").fill_null(1)).alias("trials")


def with_tries(evidence: Evidence, scores: pl.DataFrame) -> pl.DataFrame:
    """Return scores with the column ``tries``: answers behind each, which its sampling error follows.

    They are as many as the score's own number of answers and its standard error tell, the fewer of the two, else the
    benchmark's items × repeats; null where nobody knows. A standard error of 0 tells nothing.

    Parameters
    ----------
    evidence : Evidence
        The tables, as :func:`mensura.load` returns them.
    scores : table
        Rows of its table of scores.

    Returns
    -------
    table
        The rows with the column ``tries``.

    Examples
    --------
    >>> import mensura
    >>> from mensura.evidence import with_tries
    >>> evidence = mensura.load()
    >>> "tries" in with_tries(evidence, evidence.scores).columns
    True

    """
    span = pl.col("source_unit").replace_strict(_SPANS, default=None)
    place = pl.when(pl.col("source_unit") == "index").then(0.5).otherwise(0.0)
    rate = pl.when(pl.col("source_unit") == "elo").then(0.5).otherwise(pl.col("source_score") / span + place)
    error = pl.when(pl.col("stderr") > 0).then(pl.col("stderr") / span)
    tries_of_error = pl.max_horizontal(rate * (1 - rate) / error**2, 1 / error)
    items = evidence.benchmarks.select("benchmark", items_tried=trials())
    return (
        scores.join(items, on="benchmark", how="left", maintain_order="left")
        .with_columns(tries=pl.coalesce(pl.min_horizontal(tries_of_error, "n"), "items_tried").cast(pl.Float64))
        .drop("items_tried")
    )


def distinct_scores(evidence: Evidence) -> pl.DataFrame:
    """Return the scores without second readings of one measurement; the primary one, else the first, stays.

    A second reading: the same evaluator (of the source, or the upstream that the source's note names) and the same
    value but for rounding. Counted twice it would pass for agreement between sources.

    Parameters
    ----------
    evidence : Evidence
        The tables, as :func:`mensura.load` returns them.

    Returns
    -------
    table
        The rows of ``scores`` that stay.

    Examples
    --------
    >>> import mensura
    >>> from mensura.evidence import distinct_scores
    >>> distinct_scores(mensura.load()).height < mensura.load().scores.height
    True

    """
    rows = _with_evaluator(evidence).with_row_index("place").sort("primary", descending=True, maintain_order=True)
    rows = rows.with_row_index("turn")
    pairs = rows.join(rows, on=["subject", "benchmark", "evaluator"], suffix="_before").filter(
        (pl.col("turn_before") < pl.col("turn")) & _is_one_reading()
    )
    return rows.join(pairs, on="turn", how="anti").sort("place").select(evidence.scores.columns)


def used_scores(evidence: Evidence) -> pl.DataFrame:
    """Return the distinct scores that count.

    Where none of a model's scores on a test is primary, they are only on record.

    Parameters
    ----------
    evidence : Evidence
        The tables, as :func:`mensura.load` returns them.

    Returns
    -------
    table
        The rows of ``scores`` that count.

    Examples
    --------
    >>> import mensura
    >>> from mensura.evidence import used_scores
    >>> used_scores(mensura.load())["primary"].any()
    True

    """
    counted = evidence.scores.filter("primary").select("subject", "benchmark")
    return distinct_scores(evidence).join(counted, on=["subject", "benchmark"], how="semi")


def _with_evaluator(evidence: Evidence) -> pl.DataFrame:
    return (
        evidence.scores.join(
            evidence.sources.select("source", "evaluator"), on="source", how="left", maintain_order="left"
        )
        .with_columns(evaluator=pl.coalesce(pl.col("note").str.extract(r"^upstream: (.+)$"), "evaluator", "source"))
        .with_columns(points=pl.col("score") * 100 / pl.col("unit").replace_strict(RATE_UNITS, default=100.0))
    )


def _is_one_reading() -> pl.Expr:
    first, second = pl.col("points_before"), pl.col("points")
    whole = pl.min_horizontal((first - first.round()).abs(), (second - second.round()).abs()) <= just_above(0.0)
    return (first - second).abs() <= pl.when(whole).then(just_above(_WHOLE)).otherwise(just_above(_SAME))


# How far the evidence reaches: scores by benchmark, by dimension and by source, and how sources disagree.


def benchmark_coverage(evidence: Evidence) -> pl.DataFrame:
    """Count the scores of each benchmark.

    Parameters
    ----------
    evidence : Evidence
        The tables, as :func:`mensura.load` returns them.

    Returns
    -------
    table
        One row per benchmark: models with a score, first and last release among them, second sources, human groups.

    Examples
    --------
    >>> import mensura
    >>> from mensura.evidence import benchmark_coverage
    >>> benchmark_coverage(mensura.load()).height == mensura.load().benchmarks.height
    True

    """
    counted = (
        evidence.primary_scores.join(evidence.models.select("subject", "released"), on="subject")
        .group_by("benchmark")
        .agg(pl.len().alias("models"), pl.min("released").alias("first"), pl.max("released").alias("last"))
    )
    second = evidence.scores.filter(~pl.col("primary")).group_by("benchmark").agg(pl.len().alias("second_sources"))
    groups = evidence.human_references.group_by("benchmark").agg(pl.len().alias("human_groups"))
    return (
        evidence.benchmarks.select("benchmark", "dimension", "unit")
        .join(counted, on="benchmark", how="left", maintain_order="left")
        .join(second, on="benchmark", how="left", maintain_order="left")
        .join(groups, on="benchmark", how="left", maintain_order="left")
        .with_columns(pl.col("models", "second_sources", "human_groups").fill_null(0))
    )


def source_coverage(evidence: Evidence) -> pl.DataFrame:
    """Count the scores of each source.

    Parameters
    ----------
    evidence : Evidence
        The tables, as :func:`mensura.load` returns them.

    Returns
    -------
    table
        One row per source: its scores, and how many of them are primary.

    Examples
    --------
    >>> import mensura
    >>> from mensura.evidence import source_coverage
    >>> source_coverage(mensura.load()).columns[-2:]
    ['scores', 'primary']

    """
    counted = evidence.scores.group_by("source").agg(pl.len().alias("scores"), pl.sum("primary").alias("primary"))
    named = evidence.sources.select("source", "name", "date", "kind")
    return named.join(counted, on="source", how="left", maintain_order="left").with_columns(
        pl.col("scores", "primary").fill_null(0)
    )


def source_disagreement(evidence: Evidence) -> pl.DataFrame:
    """Measure how far second sources lie from the primary score.

    A second printing of one measurement is no second source.

    Parameters
    ----------
    evidence : Evidence
        The tables, as :func:`mensura.load` returns them.

    Returns
    -------
    table
        One row per benchmark with second sources: pairs, median and largest difference, in its unit.

    Examples
    --------
    >>> import mensura
    >>> from mensura.evidence import source_disagreement
    >>> source_disagreement(mensura.load()).columns[:3]
    ['benchmark', 'pairs', 'median_gap']

    """
    keys = ["subject", "benchmark"]
    primary = evidence.primary_scores.select(*keys, first="score")
    second = distinct_scores(evidence).filter(~pl.col("primary")).join(primary, on=keys)
    gap = (pl.col("score") - pl.col("first")).abs()
    return (
        second.group_by("benchmark")
        .agg(pl.len().alias("pairs"), gap.median().alias("median_gap"), gap.max().alias("largest_gap"))
        .join(evidence.benchmarks.select("benchmark", "unit"), on="benchmark")
        .sort("pairs", "benchmark", descending=[True, False])
    )


# Scores to look at again: a model far below the one it follows, where a version or a mode may have been mixed up.

FAR = 8.0
"""Points of 100 that a model must be below its predecessor; with the usual number of items sampling rarely gives so
many."""


def far_below_predecessor(evidence: Evidence) -> pl.DataFrame:
    """Return the primary scores that lie far below those of the model's predecessor on the same benchmark.

    A newer model of the same line and tier seldom loses so much. Often the two scores are of different versions of the
    test, or of different modes of the model.

    Parameters
    ----------
    evidence : Evidence
        The tables, as :func:`mensura.load` returns them.

    Returns
    -------
    table
        subject, benchmark, score, predecessor, predecessor_score, widest difference first.

    Examples
    --------
    >>> import mensura
    >>> from mensura.evidence import far_below_predecessor
    >>> far_below_predecessor(mensura.load()).columns[:3]
    ['subject', 'benchmark', 'score']

    """
    scores = evidence.scores.filter(pl.col("primary") & pl.col("unit").is_in(list(RATE_UNITS))).select(
        "subject", "benchmark", "score", points=pl.col("score") * 100 / pl.col("unit").replace_strict(RATE_UNITS)
    )
    models = evidence.models.select("subject", "line", "tier", "predecessor")
    alike = models.join(models, left_on="predecessor", right_on="subject", suffix="_before").filter(
        (pl.col("line") == pl.col("line_before")) & (pl.col("tier") >= pl.col("tier_before"))
    )
    before = scores.rename({"subject": "predecessor", "score": "predecessor_score", "points": "points_before"})
    pairs = alike.join(scores, on="subject").join(before, on=["predecessor", "benchmark"])
    lost = pl.col("points_before") - pl.col("points")
    far = pairs.filter(lost >= just_below(FAR)).sort(lost, "subject", descending=[True, False])
    return far.select("subject", "benchmark", "score", "predecessor", "predecessor_score")


def require_subject(evidence: Evidence, subject: str) -> str:
    """Find the id of a model.

    Parameters
    ----------
    evidence : Evidence
        Where to look.
    subject : str
        An id, or a name for people.

    Returns
    -------
    str
        The id.

    Raises
    ------
    MensuraError
        With the nearest names, if no model fits.

    Examples
    --------
    >>> import mensura
    >>> from mensura.evidence import require_subject
    >>> require_subject(mensura.load(), "GPT-5")
    'gpt-5'

    """
    if subject in evidence.models["subject"]:  # names are read only where needed: a report asks once per model
        return subject
    match = evidence.names["model"].match(subject)
    if match.id is not None:
        return match.id
    raise MensuraError(
        f"model: {subject!r} is not in the evidence{match.hint} (mensura evidence summary --models all lists them)"
    )
