"""Build the documentation as a site that works offline: ``python -m tools.docs``; then open build/docs/index.html."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

from tools.gallery import write_gallery

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build" / "pages"
"""A copy of docs/ with the gallery: what MkDocs reads."""


def main() -> None:
    if importlib.util.find_spec("material") is None:
        raise SystemExit("MkDocs Material is not installed; run pip install -c constraints.txt -e '.[docs]'")
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES)
    shutil.copy(ROOT / "tools" / "iframe-worker.js", PAGES)
    pictures = write_gallery(PAGES)
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict"], cwd=ROOT, check=False)
    if done.returncode:
        raise SystemExit("mkdocs build failed; correct the pages that it names")
    pages = len(list((ROOT / "build" / "docs").rglob("*.html")))
    print(f"wrote {pages} pages with {pictures} pictures in the gallery; open build/docs/index.html")


if __name__ == "__main__":
    main()
