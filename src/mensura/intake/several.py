"""Scores from several files, folders and patterns at once, and which rows of which file they are."""

import glob
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mensura.core.errors import EvidenceError, MensuraError, counted
from mensura.intake import score_columns
from mensura.intake.names import KnownNames
from mensura.intake.packed import suffix_of
from mensura.intake.score_logs import LOG_SUFFIXES
from mensura.intake.shared_writing import NAMES as DESCRIPTIONS

TABLES = (".csv", ".tsv", ".parquet", ".jsonl")
"""Suffixes of tables that are looked for in a folder, besides those of logs."""
_KINDS = {
    "wide": "one row per model, one column per benchmark",
    "turned": "one row per benchmark, one column per model",
}
_HELM = ("stats.json", "run_spec.json")
_SHOWN = 3  # reasons of files that were left out


@dataclass(frozen=True)
class WrittenScores:
    """Scores as files write them. ``places``: file and row of each running number, where there are several files."""

    name: str
    entries: list[score_columns.WrittenScore]
    dropped: list[tuple[int, str, str]]
    notes: list[str]
    left_out: list[str]
    columns: frozenset[str]
    places: tuple[tuple[str, int], ...] = ()

    def locate(self, refused: EvidenceError) -> EvidenceError:
        """Return faults with the file and row that the user sees."""
        if not self.places:
            return refused
        faults = []
        for fault in refused.faults:
            file, row = self.places[fault.row - 1] if 0 < fault.row <= len(self.places) else (fault.file, fault.row)
            faults.append(replace(fault, file=file, row=row))
        return EvidenceError(faults)


def find_sources(given: Sequence[str | Path]) -> tuple[list[Path], bool]:
    """Return the files that paths, folders and patterns mean, and whether they were looked for."""
    files: dict[Path, None] = {}
    searched = False
    for one in given:
        path, text = Path(str(one)), str(one)
        if path.is_dir():
            inside, searched = _inside(path), True
            if not inside:
                raise MensuraError(f"{path}: no file of scores in this folder; expected logs, records or tables")
        elif not path.exists() and glob.has_magic(text):
            inside = [Path(match) for match in sorted(glob.glob(text, recursive=True)) if Path(match).is_file()]  # noqa: PTH207
            searched = True
            if not inside:
                raise MensuraError(f"{text}: matches no file; check the pattern")
        else:
            inside = [path]
        files.update(dict.fromkeys(inside))
    return list(files), searched


def _inside(folder: Path) -> list[Path]:
    """Return the files of a folder that may have scores; of a run of HELM only its totals."""
    wanted = (*LOG_SUFFIXES, *TABLES)
    files = sorted(path for path in folder.rglob("*") if suffix_of(path) in wanted and path.is_file())
    files = [path for path in files if path.name not in DESCRIPTIONS]
    runs = {path.parent for path in files if path.name == _HELM[1]}
    return [path for path in files if path.parent not in runs or path.name == _HELM[0]]


def read_written(
    source: Any, names: Mapping[str, KnownNames], *, metric: str | None = None, name: str = "scores"
) -> WrittenScores:
    """Read the scores of one source, or of a list of files; in searched ones files without scores are left out."""
    if not isinstance(source, list | tuple):
        return _read_one(source, names, metric, name)
    files, searched = find_sources(source)
    if len(files) == 1 and not searched:
        return _read_one(files[0], names, metric, name)
    parts: list[WrittenScores] = []
    left: list[MensuraError] = []
    for file in files:
        try:
            parts.append(_read_one(file, names, metric, name))
        except MensuraError as refused:
            if not searched:
                raise
            left.append(refused)
    if not parts:
        raise left[0]
    return _joined(parts, left)


def _read_one(source: Any, names: Mapping[str, KnownNames], metric: str | None, name: str) -> WrittenScores:
    cells = score_columns.read_cells(source, name=name, metric=metric)
    shape = score_columns.shape_of(cells, names)
    shape = score_columns.without_words(cells, shape, names["benchmark" if shape.kind == "wide" else "model"])
    entries, dropped = score_columns.unfold_entries(cells, shape)
    if not entries:
        raise MensuraError(f"{cells.name}: no row has a model, a benchmark and a score; fill in at least one")
    notes = [_KINDS[shape.kind]] if shape.kind in _KINDS else []
    notes += cells.notes
    left = [f"columns left out: {', '.join(shape.left_out)}"] if shape.left_out else []
    return WrittenScores(cells.name, entries, dropped, notes, left, frozenset(shape.columns))


def _joined(parts: Sequence[WrittenScores], left: Sequence[MensuraError]) -> WrittenScores:
    """Number the rows of all files through, and say once what several of them say."""
    entries: list[score_columns.WrittenScore] = []
    dropped: list[tuple[int, str, str]] = []
    places: list[tuple[str, int]] = []
    notes: dict[str, int] = {}
    for part in parts:
        numbers: dict[int, int] = {}
        for row in [*(entry.row for entry in part.entries), *(row for row, *_ in part.dropped)]:
            if row not in numbers:
                places.append((part.name, row))
                numbers[row] = len(places)
        entries += [entry._replace(row=numbers[entry.row]) for entry in part.entries]
        dropped += [(numbers[row], what, reason) for row, what, reason in part.dropped]
        for note in (*part.notes, *part.left_out):
            notes[note] = notes.get(note, 0) + 1
    lines = [note if count == 1 else f"{note} ({count} files)" for note, count in list(notes.items())[:12]]
    lines += [f"… and {len(notes) - 12} more notes"] if len(notes) > 12 else []
    left_out = (
        [f"left out {counted(len(left), 'file')}: {'; '.join(str(one) for one in left[:_SHOWN])}"] if left else []
    )
    columns = frozenset().union(*(part.columns for part in parts))
    return WrittenScores(counted(len(parts), "file"), entries, dropped, lines, left_out, columns, tuple(places))
