"""Kinds of human times, read from the words that describe them."""

from typing import Any

import polars as pl

MEASURED, ESTIMATE, MODEL = "measured", "expert estimate", "language model"
FIRST, LEAST, RANGE = "first solve", "at least", "range"
"""Kinds of times."""
_KINDS = (
    (RANGE, ("bucket", "range")),
    (FIRST, ("first",)),
    (LEAST, ("at least", "gave up", "gave_up", "censored", "lower bound")),
    (MEASURED, ("measured", "recorded", "baseline", "timed", "complet", "attempt")),
    (MODEL, ("language model", "llm", "model")),
    (ESTIMATE, ("estimate", "expert", "judge", "guess", "annotator")),
)
_COUNTS = {word: float(n) for n, word in enumerate(("two", "three", "four", "five", "six", "seven", "eight"), start=2)}


def kind_of() -> pl.Expr:
    """Return the kind of a time from the words of its column how; a range without minutes is a range."""
    words = pl.col("how").str.to_lowercase().fill_null(MEASURED)
    chain: Any = pl.when(pl.col("minutes").is_null()).then(pl.lit(RANGE))
    for kind, signs in _KINDS:
        chain = chain.when(pl.any_horizontal(words.str.contains(sign, literal=True) for sign in signs)).then(
            pl.lit(kind)
        )
    expression: pl.Expr = chain.otherwise(words)
    return expression


def people_behind() -> pl.Expr:
    """Return how many people are behind a time: as given, else as its description counts them ("mean of three")."""
    words = pl.col("how").str.to_lowercase().str.extract(r"(?:mean|average|median) of (\w+)")
    counts = words.replace_strict(_COUNTS, default=None, return_dtype=pl.Float64)
    return pl.coalesce(pl.col("people").cast(pl.Float64), counts, words.cast(pl.Float64, strict=False))
