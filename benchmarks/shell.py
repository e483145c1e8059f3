"""Attack everything that can be attacked: ``python -m benchmarks.shell [--files N] [--calls N] [--seed S]``.

Running commands are killed, robbed of their disk and run in hostile folders (:mod:`benchmarks.attacks_machine`). Then a
provider misbehaves, and visitors flood the site and an exam (:mod:`benchmarks.attacks_network`).

Each try hands a spoiled file to a command, as a careless or hostile user would: cut, doubled, in another encoding,
packed, with odd cells or headers. A try holds when the command ends with 0, 1 or 2, prints no traceback and writes
nothing outside its folder. Then kept results are damaged, and a command must print what it printed before. Bits of
every stored format are flipped (:mod:`benchmarks.attacks_stores`), and small files announce gigabytes. Small and
extreme tables of answers are fitted. Last, verbs are called with wrong arguments (both in :mod:`benchmarks.fuzz`).
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import os
import signal
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from benchmarks import fuzz, run
from benchmarks.attacks_machine import attack_by_kills, attack_closed_folder, attack_folder, attack_full_disk
from benchmarks.attacks_network import attack_by_provider, attack_exam, attack_site
from benchmarks.attacks_stores import attack_bombs, attack_stores

SECONDS = 60
"""A command that takes longer is stopped, which counts as a failure: nobody waits so long for an error."""
TABLES = {
    "scores": "model,benchmark,score,unit,released\n"
    + "".join(f"m{i},b{j},{30 + 5 * i + 3 * j},percent,2025-0{1 + i}-01\n" for i in range(6) for j in range(6)),
    "answers": "person,"
    + ",".join(f"q{j}" for j in range(6))
    + "\n"
    + "".join(f"p{i}," + ",".join(str((i * j + i + j) % 3 % 2) for j in range(6)) + "\n" for i in range(40)),
    "items": "item,question,A,B,C,answer\n" + "".join(f"i{k},What is {k}+{k}?,{2 * k},{k},7,A\n" for k in range(12)),
    "estimates": "item,rate,low,high\n" + "".join(f"i{k},0.{k + 1},0.0{k + 1},0.9{k}\n" for k in range(8)),
    "demands": "item,VO,KN,QL\n" + "".join(f"i{k},{k % 5},{k % 3},{(k * 7) % 6}\n" for k in range(12)),
    "rates": "item,rate\n" + "".join(f"i{k},0.{k + 10}\n" for k in range(12)),
    "baselines": "benchmark,group,score,n\ngpqa_diamond,my class,55,20\nhle,my class,8,20\n",
}
"""Small files that the commands read as they are."""
COMMANDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("scores", ("add", "{}")),
    ("scores", ("add", "{}", "--released", "2025-01-01")),
    ("scores", ("stitch", "{}")),
    ("scores", ("stitch", "{}", "--method", "rosetta")),
    ("answers", ("responses", "read", "{}")),
    ("answers", ("responses", "fit", "{}", "--model", "rasch")),
    ("answers", ("people", "import", "{}", "--items", "q*", "--out", "pool")),
    ("items", ("exam", "new", "exam", "--from", "{}")),
    ("items", ("baseline", "{}", "--people", "adults in Germany", "--estimates", "estimates.csv")),
    ("estimates", ("baseline", "items.csv", "--people", "adults in Germany", "--estimates", "{}")),
    ("rates", ("baseline", "items.csv", "--people", "DEU", "--estimates", "estimates.csv", "--anchors", "{}")),
    ("rates", ("calibrate", "--rates", "{}", "--demands", "demands.csv")),
    ("demands", ("calibrate", "--rates", "rates.csv", "--demands", "{}")),
    ("baselines", ("add", "--people", "{}")),
    ("scores", ("evidence", "check", "{}")),
    ("items", ("exam", "check", "{}")),
    ("scores", ("iq", "m1", "--add", "{}")),
)
CELLS = (
    "",
    "x",
    "-1",
    "1e999",
    "NaN",
    "inf",
    "=1+1",
    "<script>",
    "é",
    "\x00",
    "9" * 400,
    "a" * 70_000,
    '"',
    "٣",
    "1,5",
    "0x1F",
)
ENDINGS = (".csv", ".json", ".jsonl", ".parquet", ".sav", ".RData", ".xlsx", ".toml", ".db", ".eval")
Spoil = Callable[[bytes, np.random.Generator], tuple[bytes, str]]


def spoilers() -> list[Spoil]:
    """Return the ways of spoiling a file: each gives its new content and the ending of its name."""

    def cells(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
        rows = [line.split(",") for line in data.decode().splitlines()]
        for _ in range(int(rng.integers(1, 5))):
            row = rows[int(rng.integers(len(rows)))]
            row[int(rng.integers(len(row)))] = CELLS[int(rng.integers(len(CELLS)))]
        return "\n".join(map(",".join, rows)).encode("utf-8", "surrogatepass"), ".csv"

    def noise(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
        found = bytearray(data)
        for _ in range(int(rng.integers(1, 30))):
            found[int(rng.integers(len(found)))] = int(rng.integers(256))
        return bytes(found), ".csv"

    def columns(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
        rows = [line.split(",") for line in data.decode().splitlines()]
        at = int(rng.integers(len(rows[0])))
        change = int(rng.integers(3))
        for row in rows:
            if change == 0:
                row.insert(at, row[at])
            elif change == 1:
                del row[at]
            else:
                row.reverse()
        return "\n".join(map(",".join, rows)).encode(), ".csv"

    def packed(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
        bomb = rng.random() < 0.3
        body = b"0," * 5_000_000 if bomb else data
        if rng.random() < 0.5:
            return gzip.compress(body, 6), str(rng.choice([".csv", ".csv.gz", ".sav"]))
        packed_file = io.BytesIO()
        with zipfile.ZipFile(packed_file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(str(rng.choice(["../../evil.csv", "header.json", "a.csv"])), body)
        return packed_file.getvalue(), str(rng.choice([".csv", ".zip", ".eval", ".xlsx"]))

    return [
        cells,
        cells,
        cells,
        noise,
        noise,
        columns,
        columns,
        packed,
        lambda data, rng: (data[: int(rng.integers(len(data)))], ".csv"),
        lambda data, rng: (data * int(rng.integers(2, 4)), ".csv"),
        lambda data, rng: (data.decode().encode(str(rng.choice(["utf-16", "utf-32", "cp037", "utf-8-sig"]))), ".csv"),
        lambda data, rng: (data.replace(b",", bytes(str(rng.choice([";", "\t", "|", " "])), "ascii")), ".csv"),
        lambda data, rng: (
            data,
            str(rng.choice([".json", ".jsonl", ".parquet", ".sav", ".RData", ".xlsx", ".toml", ".db"])),
        ),
        lambda _, rng: (
            bytes(rng.integers(0, 256, 500, dtype=np.uint8)),
            str(rng.choice([".csv", ".parquet", ".eval", ".sav"])),
        ),
        lambda _, rng: (
            str(rng.choice(["", "[]", "{}", "null", "[" * 3000, '{"a":' * 500, "\n\n\n"])).encode(),
            ".json",
        ),
        lambda _, rng: (str(rng.choice(["", "\n", ",,,\n", "a\n", '"', "\ufeff"])).encode(), ".csv"),
    ]


def call(arguments: list[str]) -> str | None:
    """Run a command in this process; return why it did not hold, or None."""
    from mensura.cli import main as command

    said, errors = io.StringIO(), io.StringIO()
    kept, sys.argv = sys.argv, ["mensura", *arguments]
    signal.alarm(SECONDS)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
            command.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        told = said.getvalue() + errors.getvalue()
        if code not in (0, 1, 2):
            return f"ended with {code}"
        return "printed a traceback" if "Traceback (most recent call last)" in told else None
    except fuzz.TooSlowError:
        return f"took more than {SECONDS} s"
    except BaseException as fault:
        return fuzz.where(fault)
    finally:
        signal.alarm(0)
        sys.argv = kept
    return None


def attack_files(tries: int, rng: np.random.Generator) -> int:
    """Hand spoiled files to commands; return how many tries failed."""
    ways, failed = spoilers(), 0
    for turn in range(tries):
        kind, words = COMMANDS[turn % len(COMMANDS)]
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            for name, text in TABLES.items():
                Path(f"{name}.csv").write_text(text, encoding="utf-8")
            content, ending = ways[int(rng.integers(len(ways)))](TABLES[kind].encode(), rng)
            Path(f"mine{ending}").write_bytes(content)
            outside = set(Path(folder).parent.iterdir())
            why = call([word.format(f"mine{ending}") for word in words])
            if why is None and set(Path(folder).parent.glob("evil*")) - outside:
                why = "wrote outside its folder"
            os.chdir("/")
        if why:
            failed += 1
            print(ascii(f"{' '.join(words)} mine{ending} ({content[:60]!r}): {why}"), flush=True)
    return failed


def attack_cache(tries: int, rng: np.random.Generator) -> int:
    """Damage kept results; a command must print what it printed before."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MENSURA_CACHE"] = folder
        before = _printed(["scale", "--iq", "130"]), _printed(["where", "gpt-5.5"])
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        for _ in range(tries):
            damaged = files[int(rng.integers(len(files)))]
            whole = damaged.read_bytes() if damaged.exists() else b"x"
            cut = int(rng.integers(max(len(whole), 1)))
            flipped = (
                whole[:cut] + bytes([whole[cut] ^ 1 << int(rng.integers(8))]) + whole[cut + 1 :] if whole else b"?"
            )
            damaged.parent.mkdir(parents=True, exist_ok=True)
            damaged.write_bytes([whole[:cut], flipped, b"", whole + b"more"][int(rng.integers(4))])
            if (_printed(["scale", "--iq", "130"]), _printed(["where", "gpt-5.5"])) != before:
                failed += 1
                print(f"another answer after damage of {damaged.name}", flush=True)
    return failed


def _printed(arguments: list[str]) -> str:
    said = io.StringIO()
    kept, sys.argv = sys.argv, ["mensura", *arguments]
    from mensura.cli import main as command, output

    held, output.console.file = output.console.file, said
    try:
        with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
            command.main()
    finally:
        sys.argv, output.console.file = kept, held
    return said.getvalue()


def count(tried: Iterable[str | None]) -> tuple[int, int]:
    """Print why tries did not hold; return how many tries there were and how many failed."""
    outcomes = list(tried)
    for why in filter(None, outcomes):
        print(ascii(why), flush=True)
    return len(outcomes), sum(why is not None for why in outcomes)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--damages", type=int, default=20)
    parser.add_argument("--calls", type=int, default=4000)
    parser.add_argument("--fits", type=int, default=500)
    parser.add_argument("--flips", type=int, default=500)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    signal.signal(signal.SIGALRM, fuzz.late)
    rng = np.random.default_rng(chosen.seed)
    attacks: dict[str, Callable[[], tuple[int, int]]] = {
        "hostile folder": lambda: count(attack_folder(TABLES)),
        "kills": lambda: count(attack_by_kills(TABLES, chosen.kills, rng)),
        "full disk": lambda: count(attack_full_disk(TABLES, chosen.kills, rng)),
        "file in the way": lambda: count(attack_closed_folder(TABLES)),
        "bad provider": lambda: count(attack_by_provider(chosen.requests, chosen.seed)),
        "exam": lambda: count(attack_exam(chosen.requests, rng)),
        "live site": lambda: count(attack_site()),
        "spoiled files": lambda: (chosen.files, attack_files(chosen.files, rng)),
        "damaged cache": lambda: (chosen.damages, attack_cache(chosen.damages, rng) if chosen.damages else 0),
        "damaged stores": lambda: count(attack_stores(chosen.flips, rng)),
        "bombs": lambda: count(attack_bombs()),
        "small fits": lambda: count(fuzz.fit_small_table(chosen.seed + one) for one in range(chosen.fits)),
        "wrong arguments": lambda: (chosen.calls, fuzz.attack(chosen.calls, chosen.seed)),
    }
    print("attack            tried   held  failed", flush=True)
    for name, attack in attacks.items():
        tried, failed = attack()
        print(f"{name:16} {tried:6} {tried - failed:6} {failed:7}", flush=True)


if __name__ == "__main__":
    run(main)
