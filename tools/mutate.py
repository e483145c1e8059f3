"""Do the tests bite: plant one-line mutants, one at a time, and list those that no test of the package sees.

``python -m tools.mutate [PACKAGE …] [--mutants N] [--seed S] [--jobs J]``

Works in temporary copies of the tree, never in the tree itself. First a package's tests run once, to see that they are
green, what each costs and which functions it calls. A mutant is then shown to the tests that call its function, the
quickest first, and one that survives these to all tests of the package. Limits count processor time. Tests that drive a
browser are left out. Survivors that no test could see are listed with their reason in ``tools/mutate_equivalent.txt``;
they are neither run nor counted in the rates.
"""

from __future__ import annotations

import argparse
import json
import queue
import random
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tools.mutants import Mutant, mutants_of
from tools.mutate_runs import Tree

ROOT = Path(__file__).parents[1]
SOURCE = Path("src/mensura")
GROUND = "ground"
"""Name of the files that stand outside every package; ``tests/test_*.py`` are their tests."""
COMMANDS = "cli"
"""The package of all commands, whose options are also tested by the page about them."""
COMMAND_TESTS = ("tests/test_docs.py",)
EQUIVALENT = ROOT / "tools" / "mutate_equivalent.txt"


def packages() -> list[str]:
    """Return the packages that have a folder of tests, and the ground."""
    named = sorted(path.parent.name for path in (ROOT / SOURCE).glob("*/__init__.py"))
    return [*(name for name in named if (ROOT / "tests" / name).is_dir()), GROUND]


def sources_of(package: str, root: Path) -> list[Path]:
    """Return a package's files, relative to the project."""
    files = (root / SOURCE).glob("*.py") if package == GROUND else (root / SOURCE / package).rglob("*.py")
    return sorted(path.relative_to(root) for path in files)


def tests_of(package: str, root: Path) -> list[str]:
    """Return a package's test files, relative to the project."""
    folder = root / "tests"
    files = set(folder.glob("test_*.py") if package == GROUND else (folder / package).rglob("test_*.py"))
    if package == COMMANDS:
        files |= {path for pattern in COMMAND_TESTS for path in root.glob(pattern)}
    return sorted(path.relative_to(root).as_posix() for path in files)


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


def survivors_of(package: str, count: int, seed: int, trees: Sequence[Tree]) -> tuple[list[Mutant], int, int]:
    """Return the survivors of a package, how many mutants were run, and how many are known as equivalent."""
    root = trees[0].root  # the copy: the project may be worked on meanwhile
    everything = [
        mutant for path in sources_of(package, root) for mutant in mutants_of(str(path), (root / path).read_bytes())
    ]
    chosen = choose(everything, count, random.Random(f"{seed} {package}"))
    explained = known_equivalent()
    planted = [mutant for mutant in chosen if (mutant.file, mutant.before, mutant.after) not in explained]
    free: queue.SimpleQueue[Tree] = queue.SimpleQueue()
    for tree in trees:
        free.put(tree)

    room = trees[0].listen(tests_of(package, root))

    def plant(mutant: Mutant) -> bool:
        with _borrowed(free) as tree:
            lived = tree.survives(mutant, room)
        print(f"\n{_shown(mutant)}" if lived else ".", end="", file=sys.stderr, flush=True)
        return lived

    pool = ThreadPoolExecutor(len(trees))
    try:
        alive = [mutant for mutant, lived in zip(planted, pool.map(plant, planted), strict=True) if lived]
    finally:  # reached early when the tool is stopped: what runs is ended, what waits is not begun
        pool.shutdown(wait=False, cancel_futures=True)
        for tree in trees:
            tree.end()
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
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that a tool that is stopped ends its runs
    survivors: list[tuple[str, Mutant]] = []
    rates: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        trees = [Tree(ROOT, Path(folder) / f"copy{number}") for number in range(options.jobs)]
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
