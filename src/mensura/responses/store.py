"""The response store: responses that do not fit into memory, as Parquet parts that passes read one after the other.

A folder holds ``items.parquet`` (item), ``groups.parquet`` (group), ``log.parquet`` and ``part-00000.parquet`` …: one
row per subject with ``subject``, ``group`` (its number) and the counts of all items as bytes, ``right`` and
``trials`` (null where every item was taken once; ``right`` holds single-precision numbers where credit is partial).
Where a part's subjects took few of the items, ``places`` holds the numbers of those taken (int32), and the counts are
theirs alone; it is null elsewhere. Subjects of one part belong to one group.
"""

from __future__ import annotations

import shutil
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.core.addresses import address_of, exists, is_address, parquet_files, read_parquet, upload
from mensura.core.errors import MensuraError
from mensura.core.folders import whole_folder
from mensura.responses.counting import CountLog, CountPart, WideTable, count_outcomes
from mensura.responses.irt.shards import Shard, is_sparse
from mensura.responses.rules import CountRules
from mensura.responses.sources import owned, pieces

WRITER = "responses store"
PARTS = 32
"""Parts that subjects are spread over; one of them is in memory at a time."""


@dataclass(frozen=True)
class ResponseStore:
    """A folder of Parquet parts; obeys the contract of :class:`~mensura.responses.irt.shards.ShardSource`.

    ``folder``: a path, or an address such as ``s3://bucket/store``.
    """

    folder: Path | str

    def _read(self, name: str) -> pl.DataFrame:
        return read_parquet(f"{self.folder}/{name}.parquet")

    def __post_init__(self) -> None:
        if not exists(f"{self.folder}/items.parquet") or not self.parts:
            raise MensuraError(f"{self.folder}: no response store; write one with mensura responses read --store")

    @cached_property
    def parts(self) -> list[Path | str]:
        """The files of the parts, in their order."""
        return parquet_files(self.folder, "part-*.parquet")

    @cached_property
    def item_names(self) -> list[str]:
        """The items, in the order of the counts."""
        return self._read("items")["item"].to_list()

    @cached_property
    def group_names(self) -> list[str]:
        """The groups; the first is the measure."""
        return self._read("groups")["group"].to_list()

    @cached_property
    def names(self) -> pl.DataFrame:
        """Subject and group number of every row, in the order of the shards."""
        return pl.concat([read_parquet(path, ["subject", "group"]) for path in self.parts])

    @cached_property
    def log(self) -> pl.DataFrame:
        """What the rules met when the store was written."""
        return self._read("log")

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.group_names)

    @property
    def items(self) -> int:
        """How many items there are."""
        return len(self.item_names)

    @property
    def subjects(self) -> int:
        """How many subjects there are."""
        return self.names.height

    @cached_property
    def complete(self) -> bool:
        """Whether every subject took every item once."""
        return all(bool(read_parquet(path, ["trials"])["trials"].is_null().all()) for path in self.parts)

    def shards(self) -> Iterator[Shard]:
        """Read one part after the other."""
        for path in self.parts:
            yield read_part(path, self.items)


def is_store(place: object) -> bool:
    """Return whether a path or address is that of a response store."""
    return isinstance(place, str | Path) and exists(f"{place}/part-00000.parquet")


def read_part(path: Path | str, items: int) -> Shard:
    """Return the counts of one part."""
    frame = read_parquet(path)
    if "places" in frame.columns and not frame["places"].null_count():
        return _sparse_part(frame, items)
    size = len(frame["right"][0]) // items
    right = _matrix(frame["right"], np.dtype(np.uint8 if size == 1 else np.float32), items)
    trials = None if frame["trials"].null_count() else _matrix(frame["trials"], np.dtype(np.uint8), items)
    return Shard(right, trials, int(frame["group"][0]))


def _sparse_part(frame: pl.DataFrame, items: int) -> Shard:
    """Return the counts of a part that stores the items taken alone."""
    from scipy.sparse import csr_array

    sizes = frame["places"].bin.size().to_numpy().astype(np.int64) // 4
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    places = np.frombuffer(b"".join(frame["places"]), dtype=np.int32)
    right, trials = b"".join(frame["right"]), np.frombuffer(b"".join(frame["trials"]), dtype=np.uint8)
    counts = np.frombuffer(right, dtype=np.uint8 if len(right) == len(places) else np.float32)
    shape = (frame.height, items)
    group = int(frame["group"][0])
    return Shard(
        csr_array((counts, places, starts), shape=shape), csr_array((trials, places, starts), shape=shape), group
    )


def _matrix(column: pl.Series, dtype: np.dtype[Any], items: int) -> np.ndarray[Any, Any]:
    return np.frombuffer(b"".join(column.to_list()), dtype=dtype).reshape(-1, items)


def write_store(
    sources: list[Any],
    folder: str | Path,
    *,
    rules: CountRules | None = None,
    subject: str | None = None,
    by: str | None = None,
    group: str | None = None,
    header: bool = True,
    parts: int = PARTS,
) -> ResponseStore:
    """Write sources (see :func:`mensura.responses.read_responses`) as a store, without holding them in memory.

    Outcomes are first spread over ``parts`` by subject on disk, then counted part by part. Repeats and runs of one
    subject all lie in one part, and several runs are pooled: ``duplicates`` other than ``pool`` needs all runs at
    once and is refused. ``folder`` may be an address: the store is then made here and copied there.
    """
    if is_address(folder):
        with tempfile.TemporaryDirectory() as here:
            how: dict[str, Any] = {"rules": rules, "subject": subject, "by": by, "group": group, "header": header}
            write_store(sources, Path(here) / "store", **how, parts=parts)
            upload(Path(here) / "store", folder, "items.parquet")
        return ResponseStore(address_of(folder))
    rules, log = rules or CountRules(), CountLog()
    if rules.duplicates != "pool":
        raise MensuraError(f"duplicates: a store pools runs, got {rules.duplicates!r}; read into memory for the others")
    with whole_folder(Path(folder), WRITER) as stage, tempfile.TemporaryDirectory(dir=stage.parent) as spill:
        spread = _spread(sources, Path(spill), parts, subject, by, group, header, rules, log)
        _write_parts(spread, Path(spill), stage, rules, log)
        pl.DataFrame({"item": list(spread.items)}, schema={"item": pl.String}).write_parquet(stage / "items.parquet")
        pl.DataFrame({"group": list(spread.groups)}, schema={"group": pl.String}).write_parquet(
            stage / "groups.parquet"
        )
        log.frame().write_parquet(stage / "log.parquet")
        _refuse_twice(ResponseStore(stage).names["subject"])
        shutil.rmtree(spill, ignore_errors=True)
        Path(spill).mkdir()
    return ResponseStore(Path(folder))


@dataclass(frozen=True)
class _Spread:
    """What was spread: items and groups in order of appearance."""

    items: dict[str, None]
    groups: dict[str, None]


def _spread(
    sources: list[Any],
    spill: Path,
    parts: int,
    subject: str | None,
    by: str | None,
    group: str | None,
    header: bool,
    rules: CountRules,
    log: CountLog,
) -> _Spread:
    """Write every outcome into the folder of its subject's part."""
    items: dict[str, None] = {}
    groups: dict[str, None] = {}
    number = 0
    for source, owner in owned(sources, group, log):
        for piece in pieces(source, subject=subject, by=by, group=owner, header=header, log=log):
            for long in _long(piece):
                said = long if rules.missing == "wrong" else long.filter(pl.col("value").is_not_null())
                items.update(dict.fromkeys(said["item"].drop_nulls().unique(maintain_order=True)))
                groups.update(dict.fromkeys(said["group"].unique(maintain_order=True)))
                names = long["subject"].unique()
                places = pl.DataFrame({"subject": names, "part": [_part(name, parts) for name in names]})
                for (place,), rows in long.join(places, on="subject").group_by("part"):
                    target = spill / f"{place:05d}"
                    target.mkdir(exist_ok=True)
                    rows.drop("part").write_parquet(target / f"{number:07d}.parquet")
                number += 1
    if not items:
        raise MensuraError("responses: no outcome; add at least one")
    return _Spread(items, groups)


_WIDE_CELLS = 2_000_000


def _long(piece: pl.DataFrame | WideTable) -> Iterator[pl.DataFrame]:
    """Yield a piece as long tables of bounded size."""
    if isinstance(piece, pl.DataFrame):
        yield piece
        return
    rows, items = max(1, _WIDE_CELLS // max(1, len(piece.items))), pl.Series("item", piece.items)
    for start in range(0, len(piece.groups), rows):
        some = piece.values[start : start + rows]
        subject, item = (places.ravel().astype(np.uint32) for places in np.indices(some.shape))
        yield pl.DataFrame(
            {
                "subject": piece.subjects[start : start + rows].gather(subject),
                "group": pl.Series(piece.groups[start : start + rows]).gather(subject),
                "item": items.gather(item),
                "value": pl.Series(some.ravel(), dtype=pl.Float64).fill_nan(None),
            }
        ).with_columns(n=pl.lit(1, pl.Int64))


def _part(name: str | None, parts: int) -> int:
    return zlib.crc32((name or "").encode()) % parts


def _write_parts(spread: _Spread, spill: Path, stage: Path, rules: CountRules, log: CountLog) -> None:
    """Count the outcomes of one part after the other; every group of a part is a file."""
    items, groups = list(spread.items), {name: place for place, name in enumerate(spread.groups)}
    number = 0
    for group, place in groups.items():
        for folder in sorted(spill.iterdir()):
            parts = [
                pl.read_parquet(path, glob=False) for path in sorted(folder.iterdir()) if path.suffix == ".parquet"
            ]
            outcomes = pl.concat(parts).filter(pl.col("group") == group)
            if outcomes.height:
                counted = count_outcomes([outcomes], rules, log, items)
                if counted.subjects:
                    _part_frame(counted, place).write_parquet(stage / f"part-{number:05d}.parquet")
                    number += 1


def _refuse_twice(subjects: pl.Series) -> None:
    """Refuse a subject of two groups: all its outcomes would be in two places."""
    twice = subjects.filter(subjects.is_duplicated())
    if twice.len():
        raise MensuraError(f"responses: subject {twice[0]!r} is in two groups; give each subject one group")


def _part_frame(part: CountPart, group: int) -> pl.DataFrame:
    if is_sparse(part.right):
        return _sparse_frame(part, group)
    trials = part.trials
    whole = trials is None or bool(np.all(trials == 1))
    return pl.DataFrame(
        {
            "subject": part.subjects,
            "group": np.full(len(part.subjects), group, dtype=np.int32),
            "right": [row.tobytes() for row in part.right],
            "trials": [None if whole or trials is None else row.tobytes() for row in trials]
            if trials is not None
            else [None] * len(part.subjects),
        },
        schema={"subject": pl.String, "group": pl.Int32, "right": pl.Binary, "trials": pl.Binary},
    )


def _sparse_frame(part: CountPart, group: int) -> pl.DataFrame:
    cuts = part.right.indptr[1:-1]
    counts = {"places": part.right.indices.astype(np.int32), "right": part.right.data}
    counts |= {} if part.trials is None else {"trials": part.trials.data}
    rows = {name: [row.tobytes() for row in np.split(values, cuts)] for name, values in counts.items()}
    numbers = np.full(len(part.subjects), group, dtype=np.int32)
    return pl.DataFrame({"subject": part.subjects, "group": numbers, **rows})
