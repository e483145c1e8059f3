"""Calls per second through each interface against an instant local server, bytes per call, memory over many calls.

``python -m benchmarks.llm_throughput [--calls 2000] [--most 100000] [--turns 12] [--pairs-only]``

Each way is measured in a process of its own with the server in another. "per CPU second" counts the asking process
alone: what it reaches when it has a core to itself, whatever else the machine does. What the journal takes from
inspect-ai's own interface is measured apart, in one process, in short blocks of calls that alternate (without, with,
with, without): whatever else slows the machine then slows both; the median of the turns' ratios has its quartiles.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import polars as pl

from benchmarks.llm_typical import read_typical, typical_questions
from mensura.core.frames import text_table
from mensura.llm import open_asker

MODEL = "openai-api/local/mine"
CONCURRENCY = 32
WARM_UP = 100
MADE_BEFOREHAND = 10_000
"""Up to so many questions are made before the clock starts; more are made as they are asked, to leave memory alone."""
ROUNDS = 3
"""The ways take turns this often and each keeps its best, for other work on the machine disturbs them."""
BLOCK = 120
"""Calls of one block of a turn: about a processor second, shorter than most disturbances last."""
PAIRS = "pairs"
WAYS = {
    "aiohttp": "bare aiohttp",
    "inspect_bare": "inspect-ai's own model interface, no journal",
    "inspect_journal": "inspect-ai behind our journal",
    "direct_journal": "direct interface behind our journal",
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--most", type=int, default=100_000)
    parser.add_argument("--way")
    parser.add_argument("--turns", type=int, default=12, help="turns of four blocks, without and with the journal")
    parser.add_argument(
        "--pairs-only", action="store_true", help="only what the journal takes from inspect-ai's interface"
    )
    asked = parser.parse_args()
    if asked.way:
        print(json.dumps(measure(asked.way, asked.calls)))
        return
    pairs = in_a_process(PAIRS, asked.turns)
    print(text_table(pl.DataFrame([pairs])))
    if asked.pairs_only:
        return
    rounds = [{way: in_a_process(way, asked.calls) for way in WAYS} for _ in range(ROUNDS)]
    found = {way: max((told[way] for told in rounds), key=lambda told: told["cpu_rate"]) for way in WAYS}
    sizes = sorted({1000, asked.most})
    memory = {size: in_a_process("direct_journal", size) for size in sizes}
    columns = ["way", "calls", "per second", "per CPU second", "peak MB", "journal bytes per call"]
    rows = [(WAYS[way], *row_of(told)) for way, told in found.items()]
    rows += [(f"direct interface, {size} calls", *row_of(told)) for size, told in memory.items()]
    print(text_table(pl.DataFrame(rows, schema=columns, orient="row"), rows=20, digits=1))
    print(json.dumps(summary(found, memory, pairs)))


def row_of(told: dict[str, float]) -> tuple[float, ...]:
    return (int(told["calls"]), told["rate"], told["cpu_rate"], told["peak_mb"], told["bytes_per_call"])


def summary(
    found: dict[str, dict[str, float]], memory: dict[int, dict[str, float]], pairs: dict[str, float]
) -> dict[str, object]:
    bare, direct = (found[way]["cpu_rate"] for way in ("inspect_bare", "direct_journal"))
    small, large = memory[min(memory)], memory[max(memory)]
    return {
        "calls_per_second": {way: round(told["rate"], 1) for way, told in found.items()},
        "calls_per_cpu_second": {way: round(told["cpu_rate"], 1) for way, told in found.items()},
        "journal_over_bare_inspect": pairs,
        "direct_over_inspect": round(direct / bare, 2),
        "bytes_per_typical_call": round(large["bytes_per_call"]),
        "peak_mb": {str(size): round(told["peak_mb"], 1) for size, told in memory.items()},
        "memory_growth": round(large["peak_mb"] / small["peak_mb"], 3),
    }


def in_a_process(way: str, calls: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.llm_throughput", "--way", way, "--calls", str(calls)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"{way}: {run.stderr[-2000:]}")
    told: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return told


def measure(way: str, calls: int) -> dict[str, float]:
    os.environ["LOCAL_API_KEY"] = "none-is-needed"
    with serving() as url, tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal.sqlite"
        if way == PAIRS:
            return in_turns(url, calls, journal)
        if way == "aiohttp":
            took = asyncio.run(by_aiohttp(url, calls))
        elif way == "inspect_bare":
            took = asyncio.run(by_inspect(url, calls))
        else:
            took = by_asker(url, calls, journal, "direct" if way == "direct_journal" else "inspect")
        size = journal.stat().st_size if journal.exists() else 0
    wall, cpu = took
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    per_call = size / (calls + WARM_UP)
    return {"calls": calls, "rate": calls / wall, "cpu_rate": calls / cpu, "peak_mb": peak, "bytes_per_call": per_call}


@contextmanager
def serving() -> Iterator[str]:
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.llm.server", "--typical"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.kill()
        server.wait()


class Watch:
    """Wall and processor seconds since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        """Return both."""
        return time.perf_counter() - self._wall, time.process_time() - self._cpu


def by_asker(url: str, calls: int, journal: Path, interface: str) -> tuple[float, float]:
    with open_asker(MODEL, journal=journal, base_url=url, concurrency=CONCURRENCY, interface=interface) as asker:  # type: ignore[arg-type]
        for _ in asker.stream(typical_questions(WARM_UP, seed=1), read_typical):
            pass
        asked = typical_questions(calls) if calls > MADE_BEFOREHAND else iter(list(typical_questions(calls)))
        watch = Watch()
        answered = sum(answer.value is not None for answer in asker.stream(asked, read_typical))
        took = watch.read()
    assert answered == calls
    return took


async def by_aiohttp(url: str, calls: int) -> tuple[float, float]:
    import aiohttp

    asked = iter([question.prompt for question in typical_questions(calls)])
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def work() -> None:
            for prompt in asked:
                body = {"model": "mine", "messages": [{"role": "user", "content": prompt}], "max_tokens": 2048}
                async with session.post(f"{url}/chat/completions", json=body) as response:
                    told = json.loads(await response.read())
                    read_typical(told["choices"][0]["message"]["content"])

        watch = Watch()
        await asyncio.gather(*(work() for _ in range(CONCURRENCY)))
        return watch.read()


async def by_inspect(url: str, calls: int) -> tuple[float, float]:
    ask = ask_inspect(url)
    await ask([question.prompt for question in typical_questions(WARM_UP, seed=1)])
    prompts = [question.prompt for question in typical_questions(calls)]
    watch = Watch()
    await ask(prompts)
    return watch.read()


def ask_inspect(url: str) -> Callable[[list[str]], Coroutine[None, None, None]]:
    """Return what asks prompts through inspect-ai's own interface, many at a time, and reads the answers."""
    from inspect_ai.model import ChatMessageUser, GenerateConfig, get_model

    config = GenerateConfig(temperature=0.0, max_tokens=2048, max_connections=CONCURRENCY)
    model = get_model(MODEL, base_url=url, config=config)

    async def ask(prompts: list[str]) -> None:
        rest = iter(prompts)

        async def work() -> None:
            for prompt in rest:
                output = await model.generate([ChatMessageUser(content=prompt)])
                read_typical(output.completion)

        await asyncio.gather(*(work() for _ in range(CONCURRENCY)))

    return ask


def in_turns(url: str, turns: int, journal: Path) -> dict[str, float]:
    """Ask through inspect-ai's interface in turns of four blocks; return the journal's share of processor time."""
    loop = asyncio.new_event_loop()
    ask = ask_inspect(url)
    questions = iter(list(typical_questions(BLOCK * (4 * turns + 2), seed=2)))
    with open_asker(MODEL, journal=journal, base_url=url, concurrency=CONCURRENCY, interface="inspect") as asker:

        def block(*, journalled: bool) -> float:
            asked = list(islice(questions, BLOCK))
            watch = Watch()
            if journalled:
                assert not any(answer.stored or answer.error for answer in asker.ask(asked, read_typical))
            else:
                loop.run_until_complete(ask([question.prompt for question in asked]))
            return watch.read()[1]

        block(journalled=True), block(journalled=False)  # warm up
        took = [[block(journalled=which) for which in (False, True, True, False)] for _ in range(turns)]
    loop.close()
    ratios = [(one[0] + one[3]) / (one[1] + one[2]) for one in took]
    low, middle, high = statistics.quantiles(ratios, n=4)
    total = sum(one[0] + one[3] for one in took) / sum(one[1] + one[2] for one in took)
    return {
        "turns": turns,
        "calls": 4 * BLOCK * turns,
        "journal_over_bare": round(middle, 3),
        "lower_quartile": round(low, 3),
        "upper_quartile": round(high, 3),
        "of_all_seconds": round(total, 3),
    }


if __name__ == "__main__":
    main()
