"""The drawing library for the pages: taken from its package while the pages are built, so that nothing is fetched."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from mensura.errors import MensuraError
from mensura.files import atomic_path

_BUNDLE = """
import sys, vl_convert
with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write("(function () {\\n" + vl_convert.javascript_bundle(None) + "\\n})();\\n")
"""


class Library:
    """Bundling runs beside the build, since it takes seconds and needs nothing of it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._part = path.with_name(f".{path.name}.bundle")
        self._work = subprocess.Popen([sys.executable, "-c", _BUNDLE, str(self._part)], stderr=subprocess.PIPE)

    def finish(self) -> None:
        """Wait for the bundle and put it in its place."""
        _, said = self._work.communicate()
        if self._work.returncode != 0:
            self._part.unlink(missing_ok=True)
            raise MensuraError(f"the drawing library could not be bundled: {said.decode(errors='replace').strip()}")
        with atomic_path(self._path) as part:
            self._part.replace(part)
