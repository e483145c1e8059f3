"""The one door for scores that people bring: any table, log or frame in, rows the evidence understands out."""

from mensura.evidence.intake.cells import LONGEST_CELL, CellTable, read_cells
from mensura.evidence.intake.columns import OPTIONAL, Shape, find_shape
from mensura.evidence.intake.figures import read_figure, uses_decimal_commas
from mensura.evidence.intake.names import KnownNames, NameMatch, spelling
from mensura.evidence.intake.own_names import read_own_scores
from mensura.evidence.intake.reading import Allowed, NewModel, ScoreReading, read_scores_of
from mensura.intake.text import decoded_text, plain_cell, separator_of

__all__ = [
    "LONGEST_CELL",
    "OPTIONAL",
    "Allowed",
    "CellTable",
    "KnownNames",
    "NameMatch",
    "NewModel",
    "ScoreReading",
    "Shape",
    "decoded_text",
    "find_shape",
    "plain_cell",
    "read_cells",
    "read_figure",
    "read_own_scores",
    "read_scores_of",
    "separator_of",
    "spelling",
    "uses_decimal_commas",
]
