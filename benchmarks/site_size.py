"""Page weights and build time of the report: ``python -m benchmarks.site_size``.

The weight of a page is its own file plus every file it loads by itself (scripts and style sheets), once each.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from pathlib import Path

import mensura
from mensura.site import build_report

LIMITS = {"build_seconds": 20.0, "first_page_mb": 1.5, "largest_page_mb": 3.0}


def weight(page: Path) -> int:
    """Bytes a browser fetches to show a page."""
    text = page.read_text(encoding="utf-8")
    loaded = re.findall(r'(?:<script[^>]* src|<link rel="stylesheet" href)="([^"]+)"', text)
    return page.stat().st_size + sum((page.parent / name).resolve().stat().st_size for name in loaded)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        start = time.perf_counter()
        build_report(mensura.load(), out)
        seconds = time.perf_counter() - start
        weights = {str(page.relative_to(out)): weight(page) for page in sorted(out.rglob("*.html"))}
        total = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    models = {name: size for name, size in weights.items() if name.startswith("models/")}
    print(f"{'page':<28}{'MB':>8}")
    for name, size in weights.items():
        if name not in models:
            print(f"{name:<28}{size / 1e6:>8.2f}")
    if models:
        largest = max(models, key=models.__getitem__)
        print(f"{f'{len(models)} model pages, largest':<28}{models[largest] / 1e6:>8.2f}")
    print(f"\nbuilt in {seconds:.1f} s, {total / 1e6:.1f} MB in all")
    figures = {
        "build_seconds": round(seconds, 2),
        "first_page_mb": round(weights["index.html"] / 1e6, 3),
        "largest_page_mb": round(max(weights.values()) / 1e6, 3),
        "pages": len(weights),
        "total_mb": round(total / 1e6, 2),
    }
    within = {name: figures[name] <= limit for name, limit in LIMITS.items()}
    print(json.dumps({**figures, "limits": LIMITS, "within": within}))


if __name__ == "__main__":
    main()
