"""The drawing library for the pages: taken from its package while the pages are built, so that nothing is fetched."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mensura.errors import MensuraError

_BUNDLE = """
import sys, vl_convert
with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write("(function () {\\n" + vl_convert.javascript_bundle(None) + "\\n})();\\n")
"""


@contextmanager
def bundled_library(path: Path) -> Iterator[None]:
    """Write the library to ``path`` while the block runs: bundling takes seconds and needs nothing of the build."""
    path.parent.mkdir(parents=True, exist_ok=True)
    work = subprocess.Popen([sys.executable, "-c", _BUNDLE, str(path)], stderr=subprocess.PIPE)
    try:
        yield
    except BaseException:
        work.kill()
        work.communicate()
        raise
    _, said = work.communicate()
    if work.returncode != 0:
        raise MensuraError(f"the drawing library could not be bundled: {said.decode(errors='replace').strip()}")
