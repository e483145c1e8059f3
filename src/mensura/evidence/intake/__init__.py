"""The one door for scores that people bring: any table, log or frame in, rows the evidence understands out."""

from mensura.evidence.intake.cells import LONGEST_CELL, CellTable, read_cells
from mensura.evidence.intake.columns import OPTIONAL, Shape, find_shape
from mensura.evidence.intake.names import KnownNames, NameMatch
from mensura.evidence.intake.reading import Allowed, ScoreReading, read_scores_of

__all__ = [
    "LONGEST_CELL",
    "OPTIONAL",
    "Allowed",
    "CellTable",
    "KnownNames",
    "NameMatch",
    "ScoreReading",
    "Shape",
    "find_shape",
    "read_cells",
    "read_scores_of",
]
