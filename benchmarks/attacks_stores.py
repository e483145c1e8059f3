"""Flip bits of every stored format: it is refused in words, or gives what it gave before (``benchmarks.shell``).

Small files that unpack to gigabytes are refused, or read in pieces, before they take the memory.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl

import mensura
from benchmarks import fuzz
from mensura import MensuraError
from mensura.cli.output import write_tables
from mensura.evidence import load
from mensura.exam import AnswerStore, read_exam
from mensura.ledger import init_ledger
from mensura.llm import Journal, Question
from mensura.llm.journal import Entry
from mensura.responses import fit_responses, write_store
from mensura.responses.result import read_fit
from mensura.responses.store import ResponseStore
from mensura.stitching import load_scale

EXAM = read_exam("example")


def _answers(path: Path) -> object:
    store = AnswerStore(path, EXAM)
    try:
        return {table: store.rows(table) for table in ("sittings", "shown", "answers")}, store.codes().rows()
    finally:
        store.close()


def _journal(path: Path) -> object:
    with Journal(path, create=False) as journal:
        return list(journal.questions())


def _scale(path: Path) -> object:
    scale = load_scale(path)
    return scale.capabilities.rows(), scale.names, scale.settings


def _write_answers(path: Path) -> None:
    store = AnswerStore(path, EXAM)
    for number in range(20):
        _, sitting = store.begin(panel=f"id {number}")
        store.start(sitting)
        for item in sitting.form.items:
            given: list[int] | str = [number % 2] if EXAM.by_name[item].options else str(number)
            store.answer(sitting, item, given, seconds=1.0)
        store.finish(sitting)
    store.close()


def _write_journal(path: Path) -> None:
    with Journal(path) as journal, journal.transaction():
        for number in range(50):
            key = bytes([number] * 32)
            journal.claim(key, Question(f"What is {number}?", "Answer.", None, 0, {}), "{}")
            journal.answer(key, Entry(f"ANSWER: {number}", str(number)))


def _write_fit(path: Path) -> None:
    rng = np.random.default_rng(0)
    answers = {f"q{item}": (rng.random(60) < 0.4 + 0.02 * item).astype(int).tolist() for item in range(10)}
    fit = fit_responses({"subject": [f"p{n}" for n in range(60)], **answers}, model="rasch")
    write_tables(path.parent, fit.tables(), writer="responses fit")


def _write_responses(path: Path) -> None:
    rng = np.random.default_rng(0)
    answers = {f"q{item}": (rng.random(60) < 0.5).astype(int).tolist() for item in range(10)}
    write_store([{"subject": [f"p{n}" for n in range(60)], **answers}], path.parent, parts=1)


def _responses(path: Path) -> object:
    store = ResponseStore(path.parent)
    shards = [(shard.right.tolist(), shard.trials is None) for shard in store.shards()]
    return shards, store.names.rows(), store.item_names, store.group_names, store.log.rows()


FORMATS: dict[str, tuple[Callable[[Path], object], Callable[[Path], object]]] = {
    "answers.db": (_write_answers, _answers),
    "evidence.db": (
        lambda path: init_ledger(path, by="Ann", when=datetime(2026, 11, 1, tzinfo=UTC)),
        lambda path: load(path).fingerprint,
    ),
    "items.csv": (_write_fit, lambda path: [table.rows() for table in read_fit(path.parent).tables().values()]),
    "part-00000.parquet": (_write_responses, _responses),
    "journal.sqlite": (_write_journal, _journal),
    "scale.json": (lambda path: load_scale("2026-11").write(path), _scale),
}
"""Each stored format: how to write one, and how to read all of it."""


def attack_stores(tries: int, rng: np.random.Generator) -> Iterator[str | None]:
    """Flip one bit per try; yield why a format did not hold, or None."""
    for name, (write, read) in FORMATS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            write(path)
            others = {file: file.read_bytes() for file in Path(folder).iterdir() if file != path}
            whole, before = path.read_bytes(), read(path)
            for _ in range(tries):
                data = bytearray(whole)
                place = int(rng.integers(len(data)))
                data[place] ^= 1 << int(rng.integers(8))
                for file in Path(folder).iterdir():
                    file.unlink()
                for file, content in (others if path.suffix in (".csv", ".parquet") else {}).items():
                    file.write_bytes(content)
                path.write_bytes(data)
                try:
                    yield None if read(path) == before else f"{name}: other content after a flip at {place}"
                except MensuraError:
                    yield None
                except Exception as fault:
                    yield f"{name}: {fuzz.where(fault)} after a flip at {place}"


# Small files that take much memory when they are read as they announce themselves.

MOST_MEMORY = 1.5 * 2**30
"""Bytes that a command may take for a file of a few megabytes."""
SIZE = 9 * 2**27
"""Bytes that a packed text has when it is unpacked; a file may unpack to 2**30."""


def _write_parquet(path: Path) -> None:
    part = pl.LazyFrame({"a": ["x"] * 1_000_000})
    pl.concat([part] * 350).sink_parquet(path)  # 5.6 GB of texts


def _write_spss(path: Path) -> None:
    import pandas as pd
    import pyreadstat

    pyreadstat.write_sav(pd.DataFrame({f"v{n}": np.zeros(1_000_000) for n in range(20)}), str(path), compress=True)
    data = bytearray(path.read_bytes())
    data[80:84] = (-1).to_bytes(4, "little", signed=True)  # the number of cases: not stated
    path.write_bytes(data)


def _fill(file: IO[bytes]) -> None:
    for _ in range(SIZE // 2**20):
        file.write(b"0,1\n" * 2**18)


def _write_packed(path: Path) -> None:
    with gzip.open(path, "wb", 1) as file:
        _fill(file)


def _write_archive(path: Path, member: str) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(member, "w") as file,
    ):
        _fill(file)


BOMBS = {
    "texts.parquet": _write_parquet,
    "unstated.sav": _write_spss,
    "packed.csv.gz": _write_packed,
    "sheet.xlsx": partial(_write_archive, member="xl/worksheets/sheet1.xml"),
    "log.eval": partial(_write_archive, member="header.json"),
    "packed.zip": partial(_write_archive, member="a.csv"),
}


def attack_bombs() -> Iterator[str | None]:
    """Hand each bomb to commands that read tables; yield why one did not hold, or None."""
    environment = os.environ | {"PYTHONPATH": str(Path(mensura.__file__).parents[1])}
    for name, write in BOMBS.items():
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder) / name)
            for words in (["responses", "read", name], ["evidence", "check", name], ["exam", "check", name]):
                with (Path(folder) / "said").open("w+", encoding="utf-8") as said:
                    command = [sys.executable, "-P", "-m", "mensura", *words]
                    process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said, env=environment)
                    _, status, used = os.wait4(process.pid, 0)
                    process.returncode = code = os.waitstatus_to_exitcode(status)
                    said.seek(0)
                    text = said.read()
                if code not in (0, 1, 2) or "Traceback (most recent call last)" in text:
                    yield f"{' '.join(words)}: ended with {code}: {text[-200:]}"
                elif used.ru_maxrss * 1024 > MOST_MEMORY:
                    yield f"{' '.join(words)}: took {used.ru_maxrss / 2**20:.1f} GB"
                else:
                    yield None
