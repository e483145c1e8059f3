"""Kill and resume: how fast answered questions come back, what a kill costs, two Ray workers of which one is killed.

``python -m benchmarks.llm_resume [--questions 100000]``
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import polars as pl

from benchmarks.llm_typical import read_typical, typical_answer, typical_questions
from mensura.core.frames import text_table
from mensura.llm import Journal, Question, Settings, open_asker
from mensura.llm.journal import Entry
from mensura.llm.protocol import KeyMaker
from tests.llm.server import ChatServer, Faults, serving

MODEL = "mine"
KILLS, CALLS, CONCURRENCY = 5, 3000, 16
AT_ONCE = 1000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=100_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        resumed = resume(Path(folder) / "answered.sqlite", asked.questions)
        killed = kill_and_resume(Path(folder) / "killed.sqlite")
    rows = [
        (f"resume {asked.questions:,} answered questions, seconds", resumed["seconds"], 5.0),
        ("of these, processor seconds", resumed["cpu_seconds"], None),
        (f"kills of one run of {CALLS:,} calls", float(KILLS), None),
        ("calls answered more than once", float(killed["answered_twice"]), float(KILLS * CONCURRENCY)),
        ("reported answers lost", float(killed["lost"]), 0.0),
        ("values that differ from an undisturbed run", float(killed["different"]), 0.0),
    ]
    print(text_table(pl.DataFrame(rows, schema=["what", "found", "at most"], orient="row")))
    print(json.dumps({"resume": resumed, "kill": killed}))


def resume(path: Path, count: int) -> dict[str, float]:
    """Fill a journal, then time a whole run over it: opening, every answer, closing."""
    settings = Settings(MODEL)
    make_key = KeyMaker(settings)
    questions = list(typical_questions(count))
    with Journal(path) as journal:
        rest = iter(questions)
        while chunk := list(islice(rest, AT_ONCE)):
            _fill(journal, settings, make_key, chunk)
    wall, cpu = time.perf_counter(), time.process_time()
    with open_asker(MODEL, journal=path, base_url="http://127.0.0.1:9/v1") as asker:
        answers = asker.ask(questions, read_typical)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert all(answer.stored and answer.value is not None for answer in answers)
    return {
        "questions": count,
        "seconds": round(wall, 2),
        "cpu_seconds": round(cpu, 2),
        "bytes_per_call": round(path.stat().st_size / count),
    }


def _fill(journal: Journal, settings: Settings, make_key: KeyMaker, questions: Sequence[Question]) -> None:
    with journal.transaction():
        for question in questions:
            key = make_key(question)
            journal.claim(key, question, settings.text())
            text = typical_answer(question.prompt)
            reading = read_typical(text)
            journal.answer(key, Entry(text, json.dumps(reading.value), reading.rationale, "", 800, 100, 0.001, 0.5, 1))


def kill_and_resume(path: Path) -> dict[str, int]:
    """Kill a run again and again, finish it, and compare with what was promised and with an undisturbed run."""
    chance = random.Random(1)
    promised: dict[int, str] = {}
    with serving(ChatServer(Faults(delay=0.002), answer=typical_answer, keep_bodies=False)) as server:
        for kill in range(KILLS):
            process = _start(server.url, path)
            wanted = (kill + 1) * CALLS // (KILLS + 1) + chance.randrange(100)
            while sum(server.log.answers.values()) < wanted and process.poll() is None:
                time.sleep(0.001)
            process.send_signal(signal.SIGKILL)
            told, _ = process.communicate()
            promised |= {int(number): value for number, value in map(str.split, told.splitlines()[:-1])}
        with open_asker(MODEL, journal=path, base_url=server.url) as asker:
            values = [answer.value for answer in asker.stream(typical_questions(CALLS), read_typical)]
        answered = server.log.answers
    truth = [read_typical(typical_answer(question.prompt)).value for question in typical_questions(CALLS)]
    return {
        "kills": KILLS,
        "calls": CALLS,
        "answered_twice": sum(answered.values()) - CALLS,
        "in_flight_at_most": KILLS * CONCURRENCY,
        "promised": len(promised),
        "lost": sum(str(values[number]) != value for number, value in promised.items()),
        "different": sum(first != second for first, second in zip(values, truth, strict=True)),
    }


def _start(url: str, path: Path) -> subprocess.Popen[str]:
    code = (
        "import sys\nfrom benchmarks.llm_typical import *\nfrom mensura.llm import open_asker\n"
        f"with open_asker({MODEL!r}, journal={str(path)!r}, base_url={url!r}, concurrency={CONCURRENCY}) as asker:\n"
        f"    for number, answer in enumerate(asker.stream(typical_questions({CALLS}), read_typical)):\n"
        "        print(number, answer.value, flush=True)\n"
    )
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=dict(os.environ))


if __name__ == "__main__":
    main()
