"""Careless inputs through the real commands: count the numbers that appear without the warning that belongs to them.

Each input has one fault that strangers make: five answers of 198, a missing n, percent for fraction, guessing, a test
of one's own with one taker, a date in the future, a repeated row, an unknown id. ``mensura iq MODEL --add FILE``
gets it as a user would give it. ``refused``: the command names the fault and
prints no IQ. ``warned``: it prints an IQ and the sentence that belongs to the fault. ``silent``: that sentence is
missing.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmarks import run
from benchmarks.measured import record
from mensura.core.frames import text_table

HEAD = "model,released,benchmark,score,unit"
MINE = "mine,2026-10-01"


class Careless(NamedTuple):
    """A fault, the file that has it, and words of the refusal or warning that belong to it."""

    fault: str
    text: str
    words: str
    suffix: str = ".csv"


def table(*rows: str, head: str = HEAD) -> str:
    """Return a CSV file."""
    return "\n".join([head, *rows]) + "\n"


def log(answers: int) -> str:
    """Return an Inspect log of GPQA Diamond with so many answers, all right."""
    scores = [{"name": "choice", "metrics": {"accuracy": {"value": 1.0}, "stderr": {"value": 0.0}}}]
    task = {"task": "gpqa_diamond", "model": "acme/mine", "dataset": {"samples": 198}, "config": {}}
    results = {"completed_samples": answers, "scores": scores}
    return json.dumps({"status": "success", "eval": task, "results": results})


CASES = (
    Careless(
        "five of 198 answers, n stated", table(f"{MINE},gpqa_diamond,100,percent,5", head=f"{HEAD},n"), "partial run"
    ),
    Careless("a log of five answers, no release date", log(5), "release date", ".json"),
    Careless("one score of 100%", table(f"{MINE},gpqa_diamond,100,percent"), "tells little|at least"),
    Careless("one score of 0%", table(f"{MINE},gpqa_diamond,0,percent"), "no better than guessing|at most"),
    Careless("guessing", table(f"{MINE},gpqa_diamond,25,percent"), "no better than guessing"),
    Careless("one plain score", table(f"{MINE},gpqa_diamond,60,percent"), "scores on 3 tests"),
    Careless("fractions without a unit", table("mine,2026-10-01,gpqa_diamond,0.6", head=HEAD[:-5]), "unit"),
    Careless("percent called fraction", table(f"{MINE},gpqa_diamond,60,fraction"), "fraction from 0 to 1"),
    Careless("a score above 100", table(f"{MINE},gpqa_diamond,140,percent"), "140"),
    Careless("a score below 0", table(f"{MINE},gpqa_diamond,-3,percent"), "-3"),
    Careless("a test that one model took", table(f"{MINE},my exam,70,percent"), "no IQ"),
    Careless("a release in the future", table("mine,2031-01-01,gpqa_diamond,60,percent"), "in the future"),
    Careless("a date that does not exist", table("mine,2026-02-31,gpqa_diamond,60,percent"), "2026-02-31"),
    Careless("one score twice, two values", table(f"{MINE},hle,20,percent", f"{MINE},hle,40,percent"), "Remove one"),
    Careless("one row twice", table(f"{MINE},hle,20,percent", f"{MINE},hle,20,percent"), "repeat"),
    Careless("an unknown model without a date", table("mine,hle,20", head="model,benchmark,score"), "release date"),
    Careless("another snapshot", table("gpt-4o-2024-08-06,hle,5", head="model,benchmark,score"), "another snapshot"),
    Careless("a near name", table("gpt-5,GPQA,85", head="model,benchmark,score"), "did you mean gpqa_diamond"),
    Careless("a classic without evidence", table(f"{MINE},MMLU,90,percent"), "for nothing"),
    Careless("columns swapped", table("gpqa_diamond,2026-10-01,mine,60,percent"), "no IQ"),
    Careless("n of zero", table(f"{MINE},gpqa_diamond,60,percent,0", head=f"{HEAD},n"), "column n"),
    Careless(
        "an impossible error", table(f"{MINE},gpqa_diamond,60,percent,80", head=f"{HEAD},stderr"), "column stderr"
    ),
    Careless("fraction called percent", table(f"{MINE},gpqa_diamond,0.85,percent"), "say fraction"),
    Careless(
        "an error as fraction beside percent",
        table(f"{MINE},gpqa_diamond,60,percent,0.03", head=f"{HEAD},stderr"),
        "answers to 198 items",
    ),
    Careless("77% of five answers", table(f"{MINE},gpqa_diamond,77,percent,5", head=f"{HEAD},n"), "no whole number"),
    Careless("an Elo of 60", table(f"{MINE},arena_overall,60,elo"), "far from all others"),
    Careless("percent for an Elo test", table(f"{MINE},arena_overall,60,percent"), "expected elo"),
    Careless("a release in 1970", table("mine,1970-01-01,gpqa_diamond,60,percent"), "before all others"),
    Careless("day and month swapped", table("mine,01/10/2026,gpqa_diamond,60,percent"), "2026-09-30"),
    Careless("two release dates", table(f"{MINE},hle,10,percent", "mine,2024-10-01,scicode,30,percent"), "first date"),
    Careless(
        "one model, two spellings",
        table("My Model,2026-10-01,hle,10,percent", "my-model,2026-10-01,scicode,30,percent"),
        "different models",
    ),
    Careless("far from the evidence", table("gpt-5,gpqa_diamond,20%", head="model,benchmark,score"), "in place of"),
    Careless("above all the evidence", table(f"{MINE},hle,100,percent"), "far from all others"),
    Careless(
        "three answers for 198",
        table("gpt-5,gpqa_diamond,100,percent,3", head="model,benchmark,score,unit,n"),
        "these 3",
    ),
    Careless("a group of people as model", table("People: us,2026-10-01,hle,10,percent"), "not as a group of people"),
    Careless(
        "a cell without a figure", table(f"{MINE},gpqa_diamond,60,percent", f"{MINE},hle,n/a,percent"), "no score"
    ),
    Careless(
        "an error of zero", table(f"{MINE},gpqa_diamond,60,percent,0", head=f"{HEAD},stderr"), "counts as unknown"
    ),
    Careless("a score from the future", table(f"{MINE},hle,20,percent,2031-01", head=f"{HEAD},date"), "in the future"),
    Careless("a score before the model", table(f"{MINE},hle,20,percent,2020-01", head=f"{HEAD},date"), "long before"),
    Careless(
        "one score copied",
        table(*(f"{MINE},{test},77.7,percent" for test in ("hle", "scicode", "ifbench", "gpqa_diamond"))),
        "the same score, 77.7, on 4 tests",
    ),
    Careless("a model named like a test", table("hle,2026-10-01,scicode,30,percent"), "name of a benchmark"),
    Careless("a letter of another alphabet", table("min\u0435,2026-10-01,hle,20,percent"), "CYRILLIC"),
    Careless("with tools", table(f"{MINE},hle,55,percent,with tools", head=f"{HEAD},note"), "taken without that"),
    Careless(
        "a predecessor from later",
        table("mine,2024-06-01,hle,20,percent,gpt-5.5", head=f"{HEAD},predecessor"),
        "was released later",
    ),
    Careless("a predecessor that nobody knows", table(f"{MINE},hle,20,percent,x-9", head=f"{HEAD},predecessor"), "x-9"),
    Careless("reasoning or not", table(f"{MINE},hle,20,percent,maybe", head=f"{HEAD},reasoning"), "yes or no"),
    Careless("a number in words", table(f"{MINE},hle,twenty,percent"), "twenty"),
    Careless("right answers of all", table(f"{MINE},gpqa_diamond,150/198,percent"), "150/198"),
    Careless("a range", table(f"{MINE},gpqa_diamond,60-70,percent"), "60-70"),
    Careless("an infinite score", table(f"{MINE},gpqa_diamond,inf,percent"), "inf"),
    Careless("a part of a test", table(f"{MINE},GPQA Diamond (first 20),100,percent"), "did you mean gpqa_diamond"),
    Careless("tools in the name", table(f"{MINE},HLE (with tools),55,percent"), "did you mean hle"),
    Careless("an Elo for a rate", table(f"{MINE},gpqa_diamond,1510,elo"), "column unit"),
    Careless("a tier of 99", table(f"{MINE},hle,20,percent,99", head=f"{HEAD},tier"), "column tier"),
    Careless("nobody's score", table(",2026-10-01,hle,20,percent"), "has a model"),
    Careless(
        "a mean among the tests",
        "model,released,hle,scicode,Average\nmine,2026-10-01,20%,30%,25%\n",
        "new benchmark: Average",
    ),
    Careless("a log cut off", log(198)[:90], "not readable as JSON", ".json"),
    Careless("best of ten tries", table(f"{MINE},livecodebench pass@10,90,percent"), "did you mean livecodebench"),
)


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for place, case in enumerate(CASES):
            file = Path(folder) / f"mine{place}{case.suffix}"
            file.write_text(case.text, encoding="utf-8")
            rows.append((case.fault, *outcome(case, file)))
    found = pl.DataFrame(rows, schema=["input", "outcome", "sentence"], orient="row")
    print(text_table(found, rows=len(CASES)))
    counts = dict(found["outcome"].value_counts().iter_rows())
    silent = counts.get("silent", 0)
    print(f"{len(CASES)} careless inputs: {silent} numbers without a warning")
    print(json.dumps({"inputs": len(CASES), "silent": silent, **counts}))
    record("own_numbers.silent", f"{silent} of {len(CASES)}")
    record("own_numbers.refused", str(counts.get("refused", 0)))


def outcome(case: Careless, file: Path) -> tuple[str, str]:
    """Run the command on one input; return what came of it, and the sentence that says so."""
    first = case.text.split("\n")[1].split(",")[0] if case.suffix == ".csv" else "acme/mine"
    command = [sys.executable, "-m", "mensura", "iq", first, "--add", str(file)]
    process = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "200"})
    printed = re.sub(r"\s+", " ", process.stdout + process.stderr)
    sentence = re.search(rf"[^.;:]*(?:{case.words})[^.;]*", printed)
    if sentence is None:
        return "silent", printed[-70:]
    return "refused" if process.returncode else "warned", sentence.group().strip()[:70]


if __name__ == "__main__":
    run(main)
