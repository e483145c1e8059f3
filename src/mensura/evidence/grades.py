"""How well a human result was obtained: its kind, and a grade from A to E by one short rule."""

from __future__ import annotations

import polars as pl

KINDS = ("measured", "threshold", "quoted", "estimated")
"""Measured: in its source. Threshold: a pass mark, or by construction. Quoted: second-hand. Estimated: judged."""
GRADES = {
    "A": "answers published, 30 people or more",
    "B": "counted, 10 people or more",
    "C": "in a paper, people not counted or fewer than 10",
    "D": "second-hand: a catalogue, a leaderboard or a quotation",
    "E": "judged: nobody took the test",
}
"""What each letter says; thresholds have none and count nowhere."""
SOLID = ("A", "B", "C")
"""Grades whose result was read where it was first reported."""
_PUBLISHED = r"(?i)published csv|data file|released .*data|human dataset|answers published"
_SECOND_HAND = r"(?i)quoted|leaderboard table|public comparisons|as audited|tabulated in|tables after"
_RAISE = {
    "A": "nothing: report the checklist's other answers",
    "B": "publish the answers of 30 people or more",
    "C": "state that 10 people or more took it",
    "D": "read the score and the number of people in its first source",
    "E": "let people take the test: mensura exam",
}


def with_grades(people: pl.DataFrame) -> pl.DataFrame:
    """Add ``kind``, ``grade`` and ``raised_by`` to human results (status, n, source and seen).

    The rule is that of ``GRADES``. ``raised_by`` says what would give the next better letter.
    """
    status, source = pl.col("status"), pl.col("source").fill_null("")
    second_hand = (pl.col("seen") == "catalogue").fill_null(False) | source.str.contains(_SECOND_HAND)
    kind = (
        pl.when(status.is_in(["threshold", "constructed"]))
        .then(pl.lit("threshold"))
        .when(status.is_in(["judged", "estimated"]))
        .then(pl.lit("estimated"))
        .when(second_hand)
        .then(pl.lit("quoted"))
        .otherwise(pl.lit("measured"))
    )
    n = pl.col("n").cast(pl.Int64, strict=False).fill_null(0)
    letter = (
        pl.when(pl.col("kind") == "threshold")
        .then(pl.lit(None, pl.String))
        .when(pl.col("kind") == "estimated")
        .then(pl.lit("E"))
        .when(pl.col("kind") == "quoted")
        .then(pl.lit("D"))
        .when((n >= 30) & source.str.contains(_PUBLISHED))
        .then(pl.lit("A"))
        .when(n >= 10)
        .then(pl.lit("B"))
        .otherwise(pl.lit("C"))
    )
    graded = people.with_columns(kind=kind).with_columns(grade=letter)
    return graded.with_columns(
        raised_by=pl.col("grade").replace_strict(_RAISE, default="a score of people, not a mark that they must reach")
    )


def count_grades(graded: pl.DataFrame) -> str:
    """Say how many results have each letter, and how many are thresholds."""
    counts = dict(graded["grade"].value_counts().iter_rows())
    letters = ", ".join(f"{letter} {counts.get(letter, 0)}" for letter in GRADES)
    marks = graded.filter(kind="threshold").height
    return f"{letters}" + (f"; {marks} threshold{'s' * (marks != 1)} without a letter" if marks else "")
