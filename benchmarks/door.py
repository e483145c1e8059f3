"""How many messy files of scores and answers are read, asked about and refused: ``python -m benchmarks.door``.

The scores are those of ``tests/intake/messy.py``, the answers of people and models those of
``tests/cli/messy.py``, read by the commands there. "As it should" counts outcomes that are the right one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import polars as pl

from mensura import MensuraError, load
from mensura.core.frames import text_table
from tests.cli.messy import CASES, MessyAnswers
from tests.intake.messy import FILES, Messy


def main() -> None:
    evidence = load()
    with tempfile.TemporaryDirectory() as folder:
        rows = [(messy.file, wanted(messy), *outcome(messy, evidence, Path(folder))) for messy in FILES]
    rows += [(case.name, "asked about" if case.asked else "read", *outcome_of_answers(case)) for case in CASES]
    table = pl.DataFrame(rows, schema=["file", "wanted", "found", "said"], orient="row")
    print(text_table(table.with_columns(pl.col("said").str.slice(0, 60)), rows=len(rows)))
    counts = Counter(table["found"])
    right = table.filter(pl.col("wanted") == pl.col("found")).height
    print(json.dumps({"files": len(rows), **counts, "as_it_should": right}))


def wanted(messy: Messy) -> str:
    return "asked about" if messy.asked else "refused" if messy.refused else "read"


def outcome(messy: Messy, evidence: object, folder: Path) -> tuple[str, str]:
    path = folder / messy.file
    path.write_bytes(messy.data)
    try:
        reading = evidence.read_scores(path, **messy.options)  # type: ignore[attr-defined]
    except MensuraError as fault:
        said = " ".join(str(fault).split()).replace(f"{folder}/", "")
        return ("asked about" if messy.asked and messy.asked in said else "refused"), said
    found = reading.scores.with_columns(pl.col("score").cast(pl.Float64))
    same = found.select("subject", "benchmark", "score", "unit").rows() == list(messy.read)
    return ("read" if same else "read wrongly"), reading.heading.replace(f"{folder}/", "")


def outcome_of_answers(case: MessyAnswers) -> tuple[str, str]:
    """Run the commands of a case in an empty folder; return what came of the last one, and what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in case.files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        for command in case.commands:
            words = [sys.executable, "-m", "mensura", *command]
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    said = " ".join(f"{done.stdout} {done.stderr}".split())
    if done.returncode == 0:
        return ("read" if case.read and case.read in said else "read wrongly"), said
    return ("asked about" if case.asked and case.asked in said else "refused"), said


if __name__ == "__main__":
    main()
