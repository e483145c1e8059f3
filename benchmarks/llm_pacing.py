"""Requests and time that questions take from a provider with a limit, compared with the fewest and the shortest.

``python -m benchmarks.llm_pacing [--questions 500]`` runs a local server with one limit after the other: requests per
time with and without Retry-After, and requests at once. It takes about two minutes.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import polars as pl

from mensura.core.frames import text_table
from mensura.llm import AnswerReading, Question, open_asker
from mensura.llm.asker import DEFAULT_CONCURRENCY
from tests.llm.limits import AtOnceLimit, RateLimit
from tests.llm.server import ChatServer, Faults, serving

MOST_REQUESTS, MOST_TIME = 1.3, 1.4
SECONDS = 0.1
"""Time the server takes for an answer."""


def limits() -> list[RateLimit | AtOnceLimit]:
    return [
        *(RateLimit("bucket", 25, 1.0, header=header) for header in (True, False)),
        *(RateLimit("fixed", 100, 5.0, header=header) for header in (True, False)),
        *(RateLimit("sliding", 100, 5.0, header=header) for header in (True, False)),
        *(AtOnceLimit(count) for count in (4, 10)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=500)
    asked = parser.parse_args()
    rows = [measure(limit, asked.questions) for limit in limits()]
    print(text_table(pl.DataFrame(rows), rows=20, digits=2))
    worst = {name: max(row[name] for row in rows) for name in ("requests per question", "time over shortest")}
    passed = worst["requests per question"] <= MOST_REQUESTS and worst["time over shortest"] <= MOST_TIME
    print(f"at most {MOST_REQUESTS} requests per question and {MOST_TIME} times the shortest time: {passed}")
    print(json.dumps({"questions": asked.questions, "worst": worst, "passed": passed, "limits": rows}))


def measure(limit: RateLimit | AtOnceLimit, count: int) -> dict[str, object]:
    """Ask questions of a server with one limit, and compare with the shortest time.

    Under a limit at once, a client that knows the limit is timed on the same machine, for a busy machine slows both.
    """
    shortest = limit.ideal(count, SECONDS)
    if isinstance(limit, AtOnceLimit):
        shortest = max(shortest, ask(None, count, limit.count)[0])
    took, requests = ask(limit, count, DEFAULT_CONCURRENCY)
    return {
        "limit": str(limit),
        "Retry-After": limit.header,
        "requests per question": requests / count,
        "seconds": round(took, 2),
        "time over shortest": round(took / shortest, 3),
    }


def ask(limit: RateLimit | AtOnceLimit | None, count: int, concurrency: int) -> tuple[float, int]:
    """Return the seconds and the requests that questions take."""
    questions = [Question(f"How hard is item {number}?") for number in range(count)]
    server = ChatServer(Faults(delay=SECONDS), keep_bodies=False, limit=limit)
    with (
        serving(server),
        tempfile.TemporaryDirectory() as folder,
        open_asker(
            "mine", journal=Path(folder) / "journal.sqlite", base_url=server.url, concurrency=concurrency
        ) as asker,
    ):
        began = time.monotonic()
        answers = asker.ask(questions, AnswerReading)
        took = time.monotonic() - began
    assert not any(answer.error for answer in answers)
    return took, sum(server.log.requests.values())


if __name__ == "__main__":
    main()
