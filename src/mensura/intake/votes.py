"""Read pairwise votes in every layout that arenas, studies and the Item Response Warehouse use."""

from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError, listed_names
from mensura.intake.columns import NAMES, find_columns
from mensura.intake.records import simple_name
from mensura.intake.tables import as_frame

OUTCOMES = ("first", "second", "tie", "both bad")
"""What a vote says, in the order of the codes 0 to 3."""
VOTES = {"first": pl.String, "second": pl.String, "outcome": pl.Int8, "judge": pl.String, "prompt": pl.String}
_PAIRS, _LENGTHS = NAMES["contestants"]["pairs"], NAMES["contestants"]["lengths"]


def read_votes(source: Any) -> pl.DataFrame:
    """Return votes as first, second, outcome (0 to 3), judge, prompt and, where known, length.

    ``source``: a file or a frame. ``length`` is the logarithm of the first answer's length over the second's. Judge and
    prompt are null where the table has none.
    """
    if isinstance(source, pl.DataFrame) and set(VOTES) <= set(source.columns):
        return source  # read before
    name = str(source) if isinstance(source, str | Path) else "votes"
    frame = as_frame(source, name=name)
    simple = {simple_name(title): title for title in reversed(frame.columns)}
    frame = frame.select(pl.col(title).alias(plain) for plain, title in simple.items())
    titles = set(frame.columns)
    pair = next((pair for pair in _PAIRS if set(pair) <= titles), None)
    if pair is None:
        raise MensuraError(
            f"{name}: no columns of two contestants; expected model_a and model_b, it has "
            f"{listed_names(sorted(titles))}"
        )
    columns: dict[str, Any] = {
        "first": pl.col(pair[0]).cast(pl.String),
        "second": pl.col(pair[1]).cast(pl.String),
        "outcome": _outcome(frame, name),
        **{
            field: pl.lit(None, pl.String) if column is None else pl.col(column).cast(pl.String)
            for field, column in find_columns(frame.columns, NAMES["votes"], {}, name).items()
        },
    }
    lengths = next((pair for pair in _LENGTHS if set(pair) <= titles), None)
    if lengths is not None:
        sizes = [_size(frame, title, name) for title in lengths]
        columns["length"] = (sizes[0].clip(1) / sizes[1].clip(1)).log().fill_null(0.0)
    votes = frame.select(**columns).with_row_index("row", offset=2)
    _refuse(
        votes.filter(pl.any_horizontal(pl.col("first", "second").is_null())), f"{pair[0]} or {pair[1]}: blank", name
    )
    _refuse(votes.filter(pl.col("first") == pl.col("second")), f"{pair[0]} and {pair[1]}: the same contestant", name)
    if not votes.height:
        raise MensuraError(f"{name}: no votes; expected one row per vote")
    return votes.drop("row")


def _refuse(wrong: pl.DataFrame, what: str, name: str) -> None:
    if wrong.height:
        raise MensuraError(
            f"{name}, row {wrong['row'][0]}, {what}; expected two contestants. Remove {wrong.height} rows"
        )


def _outcome(frame: pl.DataFrame, name: str) -> pl.Series:
    """Return the codes of the outcomes; words that mean none are refused with their row."""
    marked = ("winner_model_a", "winner_model_b", "winner_tie")
    if set(marked) <= set(frame.columns):
        flags = frame.select(pl.col(title).cast(pl.Float64, strict=False) for title in marked)
        sums = flags.sum_horizontal()
        if not (sums == 1).all():
            row = int((sums != 1).arg_max() or 0) + 2
            raise MensuraError(f"{name}, row {row}, {', '.join(marked)}: expected one 1 and two 0")
        return flags.select(pl.concat_list(marked).list.arg_max().cast(pl.Int8)).to_series()
    if "winner" not in frame.columns:
        raise MensuraError(f"{name}: no column winner; expected model_a, model_b, tie or both_bad in it")
    codes = {word: code for code, words in enumerate(NAMES["outcomes"].values()) for word in words}
    written = frame["winner"].cast(pl.String).str.strip_chars().str.to_lowercase()
    outcomes = written.replace_strict(codes, default=None, return_dtype=pl.Int8)
    if outcomes.null_count():
        row = int(outcomes.is_null().arg_max() or 0)
        raise MensuraError(
            f"{name}, row {row + 2}, winner: {frame['winner'][row]!r}; expected model_a, model_b, tie or both_bad"
        )
    return outcomes


def _size(frame: pl.DataFrame, title: str, name: str) -> pl.Expr:
    """Return a length: a number as it is, the characters of a text."""
    column = frame[title]
    if column.dtype.is_numeric():
        if not (column.drop_nulls().is_finite() & (column.drop_nulls() >= 0)).all():
            raise MensuraError(f"{name}, {title}: a length that is negative or no number; expected 0 or more")
        return pl.col(title).cast(pl.Float64)
    return pl.col(title).cast(pl.String).str.len_chars().cast(pl.Float64)
