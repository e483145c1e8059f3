"""Build the documentation as a site that works offline: ``python -m tools.docs``; then open build/docs/index.html."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    if importlib.util.find_spec("material") is None:
        raise SystemExit("MkDocs Material is not installed; run pip install -c constraints.txt -e '.[docs]'")
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict"], cwd=ROOT, check=False)
    if done.returncode:
        raise SystemExit("mkdocs build failed; correct the pages that it names")
    print(f"wrote {len(list((ROOT / 'build' / 'docs').rglob('*.html')))} pages; open build/docs/index.html")


if __name__ == "__main__":
    main()
