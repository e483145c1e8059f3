"""Responses on disk and on a cluster: a store of Parquet parts, and passes over parts by Ray.

A folder holds ``items.parquet`` (item), ``groups.parquet`` (group), ``log.parquet`` and ``part-00000.parquet`` …: one
row per subject with ``subject``, ``group`` (its number) and the counts of all items as bytes, ``right`` and
``trials`` (null where every item was taken once; ``right`` holds single-precision numbers where credit is partial).
Where a part's subjects took few of the items, ``places`` holds the numbers of those taken (int32), and the counts are
theirs alone; it is null elsewhere. Subjects of one part belong to one group.

On a cluster, a part is a shard, or a function that returns one (:func:`parts_of`). A worker calls the function once;
Ray keeps the shard in the shared memory of that machine, or on its disk, and runs the passes there. If a worker dies,
Ray runs its task again, and reads again what was lost. Sums are added in the order of the parts, so the result does not
depend on how the work was spread. Workers compute with one thread; with more threads, a fit without Ray differs by the
rounding of single precision.
"""

from __future__ import annotations

import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from mensura.core.addresses import address_of, exists, is_address, parquet_files, read_parquet, upload
from mensura.core.checksums import check_sums, note_sums
from mensura.core.errors import MensuraError
from mensura.core.folders import whole_folder
from mensura.core.processes import MOST_DEATHS, collect, import_ray, join_ray
from mensura.intake.answers import AnswerLog
from mensura.responses.counting import CountPart, CountRules, count_outcomes
from mensura.responses.irt.abilities import ShardAbilities, abilities
from mensura.responses.irt.fitting import Fitted
from mensura.responses.irt.model import Parameters
from mensura.responses.irt.namespace import namespace
from mensura.responses.irt.passes import Grid, NodeTables, PassSums, tally
from mensura.responses.irt.shards import Held, Shard, is_sparse, moved
from mensura.responses.reading import AnswerChoice, owned, pieces

WRITER = "responses store"
PARTS = 32
"""Parts that subjects are spread over; one of them is in memory at a time."""


@dataclass(frozen=True)
class ResponseStore:
    """Read responses from a folder of Parquet parts, one after the other.

    Parameters
    ----------
    folder
        A path, or an address such as ``s3://bucket/store``.

    """

    folder: Path | str

    def _read(self, name: str) -> pl.DataFrame:
        return read_parquet(f"{self.folder}/{name}.parquet")

    def __post_init__(self) -> None:
        if not exists(f"{self.folder}/items.parquet") or not self.parts:
            raise MensuraError(f"{self.folder}: no response store; write one with mensura responses read --store")
        if not is_address(self.folder):
            check_sums(Path(self.folder), WRITER)

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
    group, shape = int(frame["group"][0]), (frame.height, items)
    sparse = "places" in frame.columns and not frame["places"].null_count()
    columns = {name: b"".join(frame[name]) for name in frame.columns[2:] if not frame[name].null_count()}
    cells = len(columns["places"]) // 4 if sparse else frame.height * items
    right = np.frombuffer(columns["right"], dtype=np.uint8 if len(columns["right"]) == cells else np.float32)
    trials: Any = np.frombuffer(columns["trials"], dtype=np.uint8) if "trials" in columns else None
    if not sparse:
        return Shard(right.reshape(shape), None if trials is None else trials.reshape(shape), group)
    from scipy.sparse import csr_array

    places = np.frombuffer(columns["places"], dtype=np.int32)
    starts = np.append(0, np.cumsum(frame["places"].bin.size().to_numpy().astype(np.int64) // 4)).astype(np.int32)
    tables: list[Any] = [csr_array((one, places, starts), shape=shape) for one in (right, trials)]
    return Shard(tables[0], tables[1], group)


def write_store(
    sources: list[Any],
    folder: str | Path,
    *,
    rules: CountRules | None = None,
    subject: str | None = None,
    by: str | None = None,
    group: str | None = None,
    header: bool = True,
    columns: str | None = None,
    choice: AnswerChoice | None = None,
    parts: int = PARTS,
) -> ResponseStore:
    """Write sources as a store, without holding them in memory.

    Outcomes are first spread over ``parts`` by subject on disk, then counted part by part. Repeats and runs of one
    subject all lie in one part.

    Parameters
    ----------
    sources
        See :func:`mensura.responses.read_responses`.
    folder
        A path, or an address: the store is then made here and copied there.
    rules
        How outcomes are counted. Several runs are pooled: ``duplicates`` other than ``pool`` needs all runs at once.
    subject, by, group, header, columns, choice
        See :func:`mensura.responses.read_responses`.
    parts
        Parts that subjects are spread over.

    Returns
    -------
    ResponseStore
        The store, ready for :func:`mensura.fit_responses`.

    Raises
    ------
    MensuraError
        If the sources hold no outcome, a subject is in two groups, or a rule needs all runs at once.

    Examples
    --------
    >>> import tempfile
    >>> from mensura.responses import write_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = write_store([{"subject": ["a", "b"], "q1": [1, 0], "q2": [1, 1]}], folder + "/store")
    ...     store.subjects, store.items
    (2, 2)

    """
    how: dict[str, Any] = {"subject": subject, "by": by, "header": header, "columns": columns, "choice": choice}
    if is_address(folder):
        with tempfile.TemporaryDirectory() as here:
            write_store(sources, Path(here) / "store", rules=rules, parts=parts, group=group, **how)
            upload(Path(here) / "store", folder, "items.parquet")
        return ResponseStore(address_of(folder))
    rules, log = rules or CountRules(), AnswerLog()
    if rules.duplicates != "pool":
        raise MensuraError(f"duplicates: a store pools runs, got {rules.duplicates!r}; read into memory for the others")
    with whole_folder(Path(folder), WRITER) as stage, tempfile.TemporaryDirectory(dir=stage.parent) as spill:
        names = _spread(owned(sources, group, log), Path(spill), parts, rules, log, how)
        for name, column in names.items():
            frame = pl.DataFrame({name: column}, schema={name: pl.String})
            frame.write_parquet(stage / f"{name}s.parquet")
        _write_parts(names, Path(spill), stage, rules, log)
        log.frame().write_parquet(stage / "log.parquet")
        subjects = ResponseStore(stage).names["subject"]
        for name in subjects.filter(subjects.is_duplicated()):  # all its outcomes would be in two places
            raise MensuraError(f"responses: subject {name!r} is in two groups; give each subject one group")
        shutil.rmtree(spill, ignore_errors=True)
        Path(spill).mkdir()
        note_sums(stage, WRITER)
    return ResponseStore(Path(folder))


def _spread(
    sources: list[tuple[Any, str | None]],
    spill: Path,
    parts: int,
    rules: CountRules,
    log: AnswerLog,
    how: dict[str, Any],
) -> dict[str, list[str]]:
    """Write every outcome into the folder of its subject's part; return items and groups in order of appearance."""
    names: dict[str, dict[str, None]] = {"item": {}, "group": {}}
    answers = (piece for source, owner in sources for piece in pieces(source, group=owner, log=log, **how))
    tables = (long for piece in answers for long in ([piece] if isinstance(piece, pl.DataFrame) else piece.long()))
    for number, long in enumerate(tables):
        counted = long if rules.missing == "wrong" else long.filter(pl.col("value").is_not_null())
        for name, column in names.items():
            column.update(dict.fromkeys(counted[name].drop_nulls().unique(maintain_order=True)))
        subjects = long["subject"].unique()
        places = [zlib.crc32((name or "").encode()) % parts for name in subjects]
        for (place,), rows in long.join(pl.DataFrame({"subject": subjects, "part": places}), on="subject").group_by(
            "part"
        ):
            target = spill / f"{place:05d}"
            target.mkdir(exist_ok=True)
            rows.drop("part").write_parquet(target / f"{number:07d}.parquet")
    if not names["item"]:
        raise MensuraError("responses: no outcome; add at least one")
    return {name: list(column) for name, column in names.items()}


def _write_parts(names: dict[str, list[str]], spill: Path, stage: Path, rules: CountRules, log: AnswerLog) -> None:
    """Count the outcomes of one part after the other; every group of a part is a file."""
    number = 0
    for place, group in enumerate(names["group"]):
        for folder in sorted(spill.iterdir()):
            files = [pl.read_parquet(path, glob=False) for path in sorted(folder.glob("*.parquet"))]
            outcomes = pl.concat(files).filter(pl.col("group") == group)
            if outcomes.height:
                counted = count_outcomes([outcomes], rules, log, names["item"])
                if counted.subjects:
                    _part_frame(counted, place).write_parquet(stage / f"part-{number:05d}.parquet")
                    number += 1


def _part_frame(part: CountPart, group: int) -> pl.DataFrame:
    tables = {"right": part.right, "trials": part.trials}
    if is_sparse(part.right):
        cuts = part.right.indptr[1:-1]
        counts = {"places": part.right.indices.astype(np.int32)} | {name: one.data for name, one in tables.items()}
        rows: dict[str, list[bytes | None]] = {
            name: [row.tobytes() for row in np.split(values, cuts)] for name, values in counts.items()
        }
    else:
        trials = None if part.trials is None or bool(np.all(part.trials == 1)) else part.trials
        taken = [None] * len(part.subjects) if trials is None else [row.tobytes() for row in trials]
        rows = {"right": [row.tobytes() for row in part.right], "trials": taken}
    names = {"subject": part.subjects, "group": np.full(len(part.subjects), group, dtype=np.int32)}
    return pl.DataFrame(names | rows, schema_overrides=dict.fromkeys(rows, pl.Binary))


T = TypeVar("T")
Part = Shard | Callable[[], Shard]
PART_ROWS = 5_000
"""Subjects in memory that travel to a worker at a time."""


def on_ray(source: ResponseStore | Held, address: str, device: str = "numpy") -> RayPass:
    """Join or start a Ray cluster and return the pass of a source on it.

    ``address``: ``local`` for one worker per processor of this machine, or that of a cluster, such as
    ``ray://head:10001`` or ``auto``.
    """
    join_ray(address)
    return RayPass(parts_of(source), source.groups, complete=source.complete, device=device)


class RayPass:
    """A pass over parts on Ray, and other work on each of them. Start Ray with ``ray.init`` first."""

    def __init__(self, parts: Sequence[Part], groups: int, *, complete: bool, device: str = "numpy") -> None:
        """``device``: where each worker computes."""
        self._ray = ray = import_ray()
        if not parts:
            raise MensuraError("parts: none given; a pass needs at least one")
        self._groups, self._complete, self._device = groups, complete, device
        self._call = ray.remote(max_retries=MOST_DEATHS)(_call)
        self._handles = [ray.put(part) if isinstance(part, Shard) else self._call.remote(part) for part in parts]

    def __call__(self, parameters: Parameters, grid: Grid, by_node: bool) -> PassSums:
        """Return the sums of all parts, added in their order."""
        how = (self._device, parameters, grid, by_node, self._groups, self._complete)
        first, *others = self.each(partial(_part_sums, *how))
        return sum(others, start=first)

    def abilities(self, fitted: Fitted, method: str) -> list[ShardAbilities]:
        """Return the abilities of the subjects of every part."""
        return self.each(partial(_part_abilities, self._device, fitted, method))

    def each(self, function: Callable[[Shard], T]) -> list[T]:
        """Return ``function(shard)`` of every part, in their order."""
        job = self._ray.put(function)
        results: list[T] = collect(self._ray, [self._call.remote(job, handle) for handle in self._handles])
        return results


def parts_of(source: ResponseStore | Held) -> list[Part]:
    """Return the parts of a store, which workers read from its folder, or of shards in memory, which travel to them."""
    if isinstance(source, ResponseStore):
        return [partial(read_part, path, source.items) for path in source.parts]
    cut = (part.rows(start, start + PART_ROWS) for part in source.parts for start in range(0, len(part), PART_ROWS))
    return list(cut)


def _call(function: Callable[..., T], *shards: Shard) -> T:
    return function(*shards)


def _part_sums(
    device: str, parameters: Parameters, grid: Grid, by_node: bool, groups: int, complete: bool, shard: Shard
) -> PassSums:
    space = namespace(device)
    tables = NodeTables(space, parameters, grid, by_node=by_node)
    return tally(space, moved(space, shard), tables, groups, complete=complete)


def _part_abilities(device: str, fitted: Fitted, method: str, shard: Shard) -> ShardAbilities:
    space = namespace(device)
    return abilities(space, moved(space, shard), fitted, method)
