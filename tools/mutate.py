"""Do the tests bite: plant one-line mutants, one at a time, and list those that no test of the package sees.

``python -m tools.mutate [PACKAGE …] [--mutants N] [--seed S] [--jobs J]``

Works in temporary copies of the tree, never in the tree itself. First every test file of a package runs once, alone, to
see that it is green, how long it takes and which functions it calls; a mutant is then shown only to the files that call
its function, the quickest first, until one fails. Tests that drive a browser are left out. Survivors that no test could
see are listed with their reason in ``tools/mutate_equivalent.txt``; they are neither run nor counted in the rates.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.mutants import Mutant, mutants_of

ROOT = Path(__file__).parents[1]
SOURCE = Path("src/mensura")
GROUND = "ground"
"""Name of the files that stand outside every package; ``tests/test_*.py`` are their tests."""
EQUIVALENT = ROOT / "tools" / "mutate_equivalent.txt"

_LEFT_BEHIND = shutil.ignore_patterns(".*", "__pycache__", "report", "dist", "build")
_PYTEST = ("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not browser")
_PATIENCE, _GRACE = 4.0, 30.0
"""A mutant is stopped, and counts as killed, after so many times its tests' own time plus so many seconds."""

_LISTENER = """
import atexit, json, os, sys, threading
called = set()
def listen(frame, event, argument):
    if event == "call":
        called.add(frame.f_code)
def tell():
    sys.setprofile(None)
    found = sorted({(code.co_filename, code.co_firstlineno) for code in called if "mensura" in code.co_filename})
    with open(os.environ["MENSURA_CALLED"], "w", encoding="utf-8") as file:
        json.dump(found, file)
atexit.register(tell)
threading.setprofile(listen)
sys.setprofile(listen)
"""


@dataclass(frozen=True)
class TestFile:
    """One test file: its seconds, and the functions it calls as (file, first line)."""

    name: str
    seconds: float
    calls: frozenset[tuple[str, int]]


class Tree:
    """A temporary copy of the project, in which files are changed and tests are run."""

    def __init__(self, folder: Path) -> None:
        self.root = folder.resolve()
        shutil.copytree(ROOT, self.root, ignore=_LEFT_BEHIND)
        (self.root / "mensura_listener.py").write_text(_LISTENER, encoding="utf-8")
        compiled = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "src"]
        subprocess.run(compiled, cwd=self.root, check=True)

    def watch(self, test: str) -> TestFile:
        """Run one unchanged test file and listen to what it calls."""
        heard = self.root / "called.json"
        start = time.perf_counter()
        run = self._pytest([test], ["-p", "mensura_listener"], heard=heard, limit=None)
        if run not in (0, 5):
            raise SystemExit(f"{test} fails without any mutant; run it by itself and mend it first")
        calls = json.loads(heard.read_text(encoding="utf-8"))
        source = str(self.root) + os.sep
        own = frozenset((str(file).removeprefix(source), int(line)) for file, line in calls)
        return TestFile(test, time.perf_counter() - start, own)

    def survives(self, mutant: Mutant, tests: Sequence[TestFile]) -> bool:
        """Return whether every test stays green with the mutant in place."""
        path = self.root / mutant.file
        source = path.read_bytes()
        path.write_bytes(mutant.apply(source))
        try:
            limit = _GRACE + _PATIENCE * sum(test.seconds for test in tests)
            return self._pytest([test.name for test in tests], [], heard=None, limit=limit) == 0
        finally:
            path.write_bytes(source)

    def _pytest(self, tests: list[str], options: list[str], *, heard: Path | None, limit: float | None) -> int:
        """Run tests in the copy; the exit status, or 1 when the time is up."""
        paths = os.pathsep.join([str(self.root / "src"), str(self.root)])
        environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "MENSURA_CALLED": str(heard)}
        command = [sys.executable, *_PYTEST, *options, *tests]
        try:
            run = subprocess.run(
                command, cwd=self.root, env=environment, timeout=limit, capture_output=True, check=False
            )
        except subprocess.TimeoutExpired:
            return 1
        return run.returncode


def packages() -> list[str]:
    """Return the packages that have a folder of tests, and the ground."""
    named = sorted(path.parent.name for path in (ROOT / SOURCE).glob("*/__init__.py"))
    return [*(name for name in named if (ROOT / "tests" / name).is_dir()), GROUND]


def sources_of(package: str) -> list[Path]:
    """Return a package's files, relative to the project."""
    files = (ROOT / SOURCE).glob("*.py") if package == GROUND else (ROOT / SOURCE / package).rglob("*.py")
    return sorted(path.relative_to(ROOT) for path in files)


def tests_of(package: str) -> list[str]:
    """Return a package's test files, relative to the project."""
    folder = ROOT / "tests"
    files = folder.glob("test_*.py") if package == GROUND else (folder / package).rglob("test_*.py")
    return sorted(path.relative_to(ROOT).as_posix() for path in files)


def choose(mutants: Sequence[Mutant], count: int, generator: random.Random) -> list[Mutant]:
    """Draw mutants at different places; a second one at the same place only when the places run out."""
    shuffled = generator.sample(list(mutants), len(mutants))
    first: dict[tuple[str, int], Mutant] = {}
    again = []
    for mutant in shuffled:
        if first.setdefault((mutant.file, mutant.start), mutant) is not mutant:
            again.append(mutant)
    return [*first.values(), *again][:count]


def known_equivalent() -> set[tuple[str, str, str]]:
    """Read the explained survivors: blocks of file, before, after and a reason, one line each."""
    if not EQUIVALENT.is_file():
        return set()
    lines = [line.strip() for line in EQUIVALENT.read_text(encoding="utf-8").splitlines()]
    kept = [line for line in lines if line and not line.startswith("#")]
    if len(kept) % 4:
        raise SystemExit(f"{EQUIVALENT.name}: each survivor takes four lines: file, before, after, reason")
    return {(kept[at], kept[at + 1], kept[at + 2]) for at in range(0, len(kept), 4)}


def select_tests(mutant: Mutant, watched: Iterable[TestFile]) -> list[TestFile]:
    """Return the test files that call the mutant's function, the quickest first; all of them when none is seen to."""
    quickest = sorted(watched, key=lambda test: test.seconds)
    near = [test for test in quickest if mutant.function == 0 or (mutant.file, mutant.function) in test.calls]
    return near or quickest


def survivors_of(package: str, count: int, seed: int, trees: Sequence[Tree]) -> tuple[list[Mutant], int, int]:
    """Return the survivors of a package, how many mutants were run, and how many are known as equivalent."""
    everything = [
        mutant for path in sources_of(package) for mutant in mutants_of(str(path), (ROOT / path).read_bytes())
    ]
    chosen = choose(everything, count, random.Random(f"{seed} {package}"))
    explained = known_equivalent()
    planted = [mutant for mutant in chosen if (mutant.file, mutant.before, mutant.after) not in explained]
    free: queue.SimpleQueue[Tree] = queue.SimpleQueue()
    for tree in trees:
        free.put(tree)

    def watch(test: str) -> TestFile:
        with _borrowed(free) as tree:
            return tree.watch(test)

    def plant(mutant: Mutant) -> bool:
        with _borrowed(free) as tree:
            lived = tree.survives(mutant, select_tests(mutant, watched))
        print(f"\n{_shown(mutant)}" if lived else ".", end="", file=sys.stderr, flush=True)
        return lived

    with ThreadPoolExecutor(len(trees)) as pool:
        watched = list(pool.map(watch, tests_of(package)))
        alive = [mutant for mutant, lived in zip(planted, pool.map(plant, planted), strict=True) if lived]
    print(f" {package}", file=sys.stderr)
    return alive, len(planted), len(chosen) - len(planted)


@contextmanager
def _borrowed(free: queue.SimpleQueue[Tree]) -> Iterator[Tree]:
    """Yield a tree that nobody else uses meanwhile."""
    tree = free.get()
    try:
        yield tree
    finally:
        free.put(tree)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.mutate", description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=f"any of {', '.join(packages())}; default: all")
    parser.add_argument("--mutants", type=int, default=20, metavar="N", help="mutants per package (default 20)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which mutants are drawn (default 0)")
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help="copies of the tree to work in (default 1)")
    options = parser.parse_args()
    unknown = sorted(set(options.packages) - set(packages()))
    if unknown:
        parser.error(f"no package with tests: {', '.join(unknown)}; there are {', '.join(packages())}")
    if options.mutants < 1 or options.jobs < 1:
        parser.error("--mutants and --jobs: expected 1 or more")
    survivors: list[tuple[str, Mutant]] = []
    rates: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        trees = [Tree(Path(folder) / f"copy{number}") for number in range(options.jobs)]
        for package in options.packages or packages():
            alive, planted, equivalent = survivors_of(package, options.mutants, options.seed, trees)
            survivors += [(package, mutant) for mutant in alive]
            rates[package] = _rate(planted, planted - len(alive), equivalent)
    _print(survivors, rates, options.seed)


def _rate(mutants: int, killed: int, equivalent: int) -> dict[str, float]:
    share = round(killed / mutants, 3) if mutants else 1.0
    return {"mutants": mutants, "killed": killed, "equivalent": equivalent, "rate": share}


def _shown(mutant: Mutant) -> str:
    return f"{mutant.file}:{mutant.line}\n    {mutant.before}\n  → {mutant.after}\n"


def _print(survivors: list[tuple[str, Mutant]], rates: dict[str, dict[str, float]], seed: int) -> None:
    print("Survivors" if survivors else "No survivors")
    for package, mutant in survivors:
        print(f"{package}  {_shown(mutant)}")
    print(f"\n{'package':<16}{'mutants':>8}{'killed':>8}{'equivalent':>12}{'rate':>8}")
    total = {name: int(sum(rate[name] for rate in rates.values())) for name in ("mutants", "killed", "equivalent")}
    whole = _rate(total["mutants"], total["killed"], total["equivalent"])
    for package, rate in {**rates, "all": whole}.items():
        counts = f"{rate['mutants']:>8}{rate['killed']:>8}{rate['equivalent']:>12}"
        print(f"{package:<16}{counts}{rate['rate']:>8.1%}")
    print(json.dumps({"seed": seed, **whole, "packages": rates}))


if __name__ == "__main__":
    main()
