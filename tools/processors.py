"""Tests as other processors compute: ``python -m tools.processors [--quick] [TESTS …]``.

Processors differ in the last bits of sums, products and logarithms. Each run gives OpenBLAS the kernels of another
processor, takes newer instructions from NumPy, and moves results of exponentials and logarithms by a last bit. A test
that fails in one of them has a decision or a bar on a last bit.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.special

ROOT = Path(__file__).parents[1]
KERNELS = {"x86_64": ("Prescott", "Nehalem", "Haswell"), "aarch64": ("THUNDERX", "CORTEXA53", "NEOVERSEN1")}
"""Kernels of OpenBLAS that the processors of a family can run; the first differs most from the usual ones."""
QUICK = ("tests/responses", "tests/stitching", "tests/iq")
"""Tests with the most numbers, for ``--quick``."""
DISTURBED = {
    np: ("exp", "log", "log1p", "expm1", "tanh", "arctanh", "log10"),
    scipy.special: ("expit", "ndtr", "ndtri"),
}
"""Functions that libraries of mathematics round differently."""
_HASH = np.uint64(0x9E3779B97F4A7C15)


def pytest_load_initial_conftests() -> None:
    """Disturb functions before any test module is imported (``pytest -p tools.processors``)."""
    for module, names in DISTURBED.items():
        for name in names:
            disturb(module, name)


def disturb(module: ModuleType, name: str) -> None:
    """Make a quarter of a function's results a last bit larger and a quarter smaller; simple ones stay exact."""
    exact = getattr(module, name)

    def nearly(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        values = exact(*arguments, **options)
        if not isinstance(values, np.ndarray | np.float64) or values.dtype != np.float64 or "out" in options:
            return values
        choice = np.asarray(values).view(np.uint64) * _HASH >> np.uint64(62)
        simple = ~np.isfinite(values) | np.isin(np.abs(values), (0.0, 0.5, 1.0))
        toward = np.select([simple, choice == 0, choice == 1], [values, np.inf, -np.inf], values)
        return np.nextafter(values, toward)

    setattr(module, name, nearly)


def switches(kernel: str) -> dict[str, str]:
    """Return the environment of a run: one thread, these kernels, and NumPy without the instructions it chose here."""
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    features = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    return {"OPENBLAS_CORETYPE": kernel, "NPY_DISABLE_CPU_FEATURES": " ".join(features), **threads}


def run_tests(kernel: str, tests: list[str], left_out: str) -> bool:
    """Run tests under the switches; print how they went."""
    begin = time.perf_counter()
    processes = ["-n", str(os.cpu_count() or 1), "--dist", "loadfile", "--no-loadscope-reorder"]
    chosen = ["-p", "tools.processors", "-m", f"not ({left_out})", "-p", "no:cacheprovider", *processes, *tests]
    environment = os.environ | switches(kernel)
    run = subprocess.run([sys.executable, "-m", "pytest", *chosen], cwd=ROOT, env=environment, check=False)
    print(
        f"{kernel}: {'passed' if run.returncode == 0 else 'FAILED'} in {time.perf_counter() - begin:.0f} s", flush=True
    )
    return run.returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.processors", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one other processor, the tests with the most numbers")
    parser.add_argument("tests", nargs="*", help="tests to run (default: all)")
    options = parser.parse_args()
    kernels = KERNELS.get(platform.machine(), ())
    if not kernels:
        raise SystemExit(f"{platform.machine()}: no other kernels listed; expected one of {', '.join(KERNELS)}")
    tests = options.tests or (list(QUICK) if options.quick else ["tests"])
    left_out = "slow or browser" if options.quick else "browser"
    passed = [run_tests(kernel, tests, left_out) for kernel in (kernels[:1] if options.quick else kernels)]
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main()
