"""Success rates of every subgroup, from a persons × items table of 0/1 answers in one pass.

Each person belongs to one *cell*, the crossing of all the covariates asked for. Answers are counted once per
cell and item; every subgroup (one covariate, or any crossing of them) is a sum of cells, so the cost hardly
depends on how many subgroups there are. A person whose covariate is unknown stays in ``all`` and in the
subgroups of the other covariates, and is left out only where the unknown covariate is needed.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Ints
from mensura.core.errors import MensuraError

ALL = "all"
OUTCOMES, NO_ANSWER = 3, 2
"""Wrong, right, no answer; the last of them."""
RATE_COLUMNS = ("item", "covariate", "group", "n", "correct", "rate", "se")


def tabulate(
    responses: pl.DataFrame,
    covariates: pl.DataFrame | None = None,
    *,
    by: Iterable[str | Sequence[str]] = (),
    weight: str | None = None,
) -> pl.DataFrame:
    """Count the success rates of the whole sample and of every group.

    Parameters
    ----------
    responses
        Column ``person`` and one column per item: 1 (right), 0 (wrong) or null (not given or not reached).
    covariates
        One row per row of ``responses``, in its order.
    by
        Names of covariates; a sequence of names is a crossing, labelled as in ``country_sex=AUS_female``.
    weight
        The covariate that holds survey weights.

    Returns
    -------
    polars.DataFrame
        item, covariate, group, n (answers), correct, rate, se. Unweighted, ``rate = correct / n`` and
        ``se = √(rate (1 − rate) / n)``, at 0 and 1 with the rate (correct + ½) / (n + 1).
        Weighted, ``rate = Σwx / Σw``, the standard error uses Kish's effective number
        ``(Σw)² / Σw²``, and ``correct`` stays the plain count.

    Raises
    ------
    MensuraError
        If a covariate is missing, an answer is not scored, or a weight is no number.

    Examples
    --------
    >>> import polars as pl
    >>> from mensura.people import tabulate
    >>> tabulate(pl.DataFrame({"person": [1, 2], "q": [1, 0]}))["rate"].item()
    0.5

    """
    if responses.is_empty():
        raise MensuraError("responses: no persons; add at least one row of answers")
    crossings = [(name,) if isinstance(name, str) else tuple(name) for name in by]
    names = list(dict.fromkeys(name for crossing in crossings for name in crossing))
    frame = covariates if covariates is not None else pl.DataFrame()
    if missing := [name for name in [*names, *([weight] if weight else [])] if name not in frame.columns]:
        have = ", ".join(frame.columns) or "none"
        raise MensuraError(f"no covariate {', '.join(map(repr, missing))} in persons; expected one of: {have}")
    cells, levels = _cells(frame, names, responses.height)
    items = [column for column in responses.columns if column != "person"]
    _refuse_unscored(responses, items)
    weights = None if weight is None else _weights(frame[weight])
    counts = _count(responses, items, cells, levels.height, weights)
    tables = [_group_table(ALL, np.zeros(levels.height, dtype=np.int64), [ALL], items, counts)]
    for crossing in crossings:
        groups, labels = _group_of_cells(levels, crossing)
        tables.append(_group_table("_".join(crossing), groups, labels, items, counts))
    return pl.concat(tables)


def _cells(frame: pl.DataFrame, names: list[str], height: int) -> tuple[Ints, pl.DataFrame]:
    """Return each person's cell and, per cell, its level of each covariate (as text; null: unknown)."""
    if not names:
        return np.zeros(height, dtype=np.int64), pl.DataFrame({"cell": [0]})
    text = frame.select(pl.col(names).cast(pl.String))
    levels = text.unique().sort(names, nulls_last=True)
    placed = text.join(levels.with_row_index("\0cell"), on=names, how="left", nulls_equal=True, maintain_order="left")
    return placed["\0cell"].cast(pl.Int64).to_numpy(), levels


def _weights(column: pl.Series) -> Floats:
    weights = column.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if wrong.size:
        raise MensuraError(
            f"weights {column.name!r}: every weight must be a number ≥ 0, got {column[int(wrong[0])]!r} "
            f"({wrong.size} such); drop or fill those"
        )
    return weights


def _count(
    responses: pl.DataFrame, items: list[str], cells: Ints, size: int, weights: Floats | None
) -> tuple[Floats, ...]:
    """Return cells × items arrays: answers, right answers and, weighted, Σw, Σwx, Σw²."""
    powers = [None] if weights is None else [None, weights, weights**2]
    answered, right = np.zeros((2, len(powers), size, len(items)))
    for at, item in enumerate(items):
        bins = OUTCOMES * cells + responses[item].cast(pl.Int8).fill_null(NO_ANSWER).to_numpy()
        for index, power in enumerate(powers):
            counts = np.bincount(bins, power, minlength=OUTCOMES * size).reshape(size, OUTCOMES)
            answered[index, :, at], right[index, :, at] = counts[:, :NO_ANSWER].sum(axis=1), counts[:, 1]
    return (answered[0], right[0]) if weights is None else (answered[0], right[0], answered[1], right[1], answered[2])


def _refuse_unscored(responses: pl.DataFrame, items: list[str]) -> None:
    """Refuse answers other than 0, 1 and null, by the first item that has one."""
    checked = responses.select(_unscored(item, responses.schema[item]) for item in items)
    if wrong := [item for item in items if checked[item][0]]:
        values = responses[wrong[0]].drop_nulls()
        odd = values.filter(~values.cast(pl.Float64, strict=False).is_in([0.0, 1.0]).fill_null(False))
        shown = repr(odd[0]) if odd.len() else "text"
        raise MensuraError(f"item {wrong[0]!r}: answers must be 0, 1 or null, got {shown}; score them first")


def _unscored(item: str, dtype: pl.DataType) -> pl.Expr:
    """Return whether a column holds anything but 0, 1 and null."""
    column = pl.col(item)
    if dtype.is_integer():
        return (column.min() < 0) | (column.max() > 1)
    if dtype.is_float():
        return ~column.is_in([0.0, 1.0]).all()
    return pl.lit(dtype not in (pl.Boolean, pl.Null)).alias(item)


def _group_of_cells(levels: pl.DataFrame, crossing: tuple[str, ...]) -> tuple[Ints, list[str]]:
    """Return the group of every cell (−1: a covariate is unknown) and the groups' labels."""
    text = levels.select(pl.concat_str(crossing, separator="_").alias("label"))["label"]
    labels = text.drop_nulls().unique().sort()
    lookup = pl.DataFrame({"label": labels, "code": np.arange(labels.len())})
    codes = text.to_frame().join(lookup, on="label", how="left", maintain_order="left")["code"].fill_null(-1)
    return codes.to_numpy().astype(np.int64), [f"{'_'.join(crossing)}={label}" for label in labels]


def _group_table(
    covariate: str, groups: Ints, labels: list[str], items: list[str], counts: tuple[Floats, ...]
) -> pl.DataFrame:
    """Sum cells into groups and turn the sums into rates; a group nobody of which answered has no row."""
    inside = np.flatnonzero(groups >= 0)
    order = inside[np.argsort(groups[inside], kind="stable")]
    starts = np.searchsorted(groups[order], np.arange(len(labels)))
    n, right, *weighted = (np.add.reduceat(table[order], starts, axis=0).T.ravel() for table in counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        if weighted:
            mass, mass_right, square = weighted
            rate, effective = mass_right / mass, mass**2 / square
        else:
            rate, effective = right / n, n
        inner = np.where((right == 0) | (right == n), (rate * effective + 0.5) / (effective + 1), rate)
        error = np.sqrt(inner * (1 - inner) / effective)
    table = pl.DataFrame(
        {
            "item": pl.Series(items, dtype=pl.String).gather(np.repeat(np.arange(len(items)), len(labels))),
            "covariate": pl.repeat(covariate, n.size, eager=True, dtype=pl.String),
            "group": pl.Series(labels, dtype=pl.String).gather(np.tile(np.arange(len(labels)), len(items))),
            "n": n.astype(np.int64),
            "correct": right.astype(np.int64),
            "rate": rate,
            "se": error,
        }
    )
    return table.filter(pl.col("n") > 0)
