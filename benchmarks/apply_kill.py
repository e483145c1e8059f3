"""Kill −9 at random instants while updates are applied and undone: the store is whole, and what was promised is kept.

Run with ``python -m benchmarks.apply_kill [--kills 200] [--seed 0]``. A real process applies an update of many cells to
a store of the embedded evidence, undoes it, and so on, and prints every entry that was committed. It is killed without
warning at a random instant. Then the store is opened: the file must be sound, its history must lead to its cells, and
its state must be the old or the new one, whole. A cell is lost where an entry that was printed is gone.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.measured import record, take_option
from mensura.core.errors import MensuraError
from mensura.ledger import CellChange, Ledger, Update, init_ledger, open_ledger

CELLS = 1000  # scores that the update changes
LONGEST = 1.2  # of the time an apply and its undo take: the instants of killing are spread over it

WORKER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from mensura.ledger import Update, open_ledger
ledger = open_ledger(Path(sys.argv[1]))
update = Update.parse(Path(sys.argv[2]).read_text())
when = datetime(2026, 1, 1, tzinfo=UTC)
heavy = sorted({"scipy", "jinja2"} & set(sys.modules))
print("ready", *heavy, flush=True)
sys.stdin.readline()
while True:
    last = ledger.entries().row(0, named=True)
    if last["kind"] == "apply":
        done = ledger.undo(last["entry"], by="worker", when=when)
    else:
        done = ledger.apply(update, by="worker", when=when)
    print(done.entry, done.fingerprint, flush=True)
"""


def make_update(ledger: Ledger) -> Update:
    """Change the note of many scores."""
    rows = list(ledger.cells()["scores"].items())[:CELLS]
    changes = [CellChange("scores", key, "note", row.get("note"), f"changed {n}") for n, (key, row) in enumerate(rows)]
    return Update(title="many cells", source="benchmark", changes=tuple(changes))


def start(store: Path, update: Path) -> subprocess.Popen[str]:
    """Start a worker on a store; it loads what it needs and waits for :func:`go`."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(store), str(update)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


def go(worker: subprocess.Popen[str]) -> None:
    """Let a worker begin to write."""
    assert worker.stdout is not None and worker.stdin is not None
    ready = worker.stdout.readline().split()
    if ready != ["ready"]:
        raise SystemExit(f"a worker did not start, or loads what it should not: {ready}")
    worker.stdin.write("go\n")
    worker.stdin.flush()


def kill(worker: subprocess.Popen[str]) -> list[tuple[int, str]]:
    """Kill a worker and return the entries it had promised."""
    worker.kill()
    printed, _ = worker.communicate()
    whole = [line.split() for line in printed.splitlines(keepends=True) if line.endswith("\n")]
    return [(int(entry), fingerprint) for entry, fingerprint in whole]


def typical(store: Path, update: Path) -> float:
    """Measure how long an apply and an undo take in a worker."""
    worker = start(store, update)
    go(worker)
    assert worker.stdout is not None
    begun = time.monotonic()
    for _ in range(2):
        worker.stdout.readline()
    taken = time.monotonic() - begun
    kill(worker)
    return taken


def killed_again(base: Path, update: Path, states: set[str], kills: int, seed: int) -> Iterator[dict[str, int]]:
    """Kill one worker after the other, each on its own copy of the store; yield what was found after each."""
    rng = random.Random(seed)
    copies = [base.with_name(f"copy-{number}.sqlite") for number in range(kills + 1)]
    for copy in copies:
        copy.write_bytes(base.read_bytes())
    longest = LONGEST * typical(copies[0], update)
    worker = start(copies[1], update)
    for number, copy in enumerate(copies[1:], start=1):
        go(worker)
        time.sleep(rng.uniform(0, longest))
        promised = kill(worker)
        if number < kills:
            worker = start(copies[number + 1], update)  # it loads while this one's store is looked at
        yield looked_at(copy, promised, states)


def looked_at(store: Path, promised: list[tuple[int, str]], states: set[str]) -> dict[str, int]:
    """Open a store after a kill and say whether it is whole, in one of the two states, with every entry promised."""
    left = int(Path(f"{store}-journal").exists())
    ledger = open_ledger(store)
    try:
        ledger.verify()
        log = {row["entry"]: row["fingerprint"] for row in ledger.entries().iter_rows(named=True)}
        intact = int(ledger.version().fingerprint in states)
    except MensuraError as fault:
        print(fault)
        log, intact = {}, 0
    lost = sum(CELLS for entry, fingerprint in promised if log.get(entry) != fingerprint)
    return {"intact": intact, "lost_cells": lost, "half_written": left, "committed": len(promised)}


def main(kills: int, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store, file = Path(folder) / "store.sqlite", Path(folder) / "update.toml"
        when = datetime(2026, 1, 1, tzinfo=UTC)
        ledger = init_ledger(store, by="benchmark", when=when)
        update = make_update(ledger)
        file.write_text(update.text())
        new = Path(folder) / "new.sqlite"
        new.write_bytes(store.read_bytes())
        applied = open_ledger(new).apply(update, by="benchmark", when=when)
        states = {ledger.version().fingerprint, applied.fingerprint}
        begun = time.monotonic()
        found = list(killed_again(store, file, states, kills, seed))
        figures = {
            "kills": kills,
            "intact_states": sum(row["intact"] for row in found),
            "lost_cells": sum(row["lost_cells"] for row in found),
            "killed_while_writing": sum(row["half_written"] for row in found),
            "entries_promised": sum(row["committed"] for row in found),
            "seconds": round(time.monotonic() - begun, 1),
        }
    print(f"an update of {CELLS} cells, applied and undone in turn, killed at a random instant")
    for name, value in figures.items():
        print(f"  {name.replace('_', ' '):24}{value:>10}")
    print(json.dumps(figures))
    record("ledger.kills", str(figures["intact_states"]))


if __name__ == "__main__":
    from argparse import ArgumentParser

    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    take_option()
    options = parser.parse_args()
    main(options.kills, options.seed)
