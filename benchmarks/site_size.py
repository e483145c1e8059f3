"""The report as a reader meets it: ``python -m benchmarks.site_size``.

Builds the report twice (with an empty cache, and again), weighs every page with all it loads by itself (gzip counted),
opens one page of each kind in chromium with the processor slowed four times and 1.6 Mbit/s, and counts what axe finds.
Prints a table, and one line of JSON.
"""

from __future__ import annotations

import gzip
import http.server
import json
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import mensura
from mensura.site import build_report

LIMITS = {
    "build_seconds": 20.0,
    "largest_page_kb": 600.0,
    "index_usable_s": 1.0,
    "index_interactive_s": 2.5,
    "sort_ms": 200.0,
    "axe_serious": 0,
}
KINDS = (
    *(
        "index.html",
        "models/index.html",
        "models/gpt-5.5.html",
        "benchmarks/index.html",
        "benchmarks/gpqa_diamond.html",
    ),
    *("people.html", "pick.html", "compare.html", "iq.html", "stitched.html", "cost.html", "human.html", "data.html"),
    *("changes.html", "method.html", "404.html", "charts/iq-bell.html"),
)
SLOWER, MEGABITS = 4, 1.6
LATENCY = 40  # milliseconds of a request, a mobile network's
_TEXTS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def weight(page: Path) -> int:
    """Bytes a browser fetches to show a page, each file gzipped: the page, its scripts and its style sheets."""
    text = page.read_text(encoding="utf-8")
    loaded = re.findall(r'(?:<script[^>]* src|<link rel="stylesheet" href)="([^"]+)"', text)
    files = [page, *((page.parent / name).resolve() for name in loaded)]
    return sum(len(gzip.compress(file.read_bytes(), 6)) for file in files)


class _Zipped(http.server.SimpleHTTPRequestHandler):
    """Serves texts gzipped, as any server of the report would."""

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        kind = _TEXTS.get(path.suffix)
        if kind is None or not path.is_file():
            super().do_GET()
            return
        body = gzip.compress(path.read_bytes(), 6)
        self.send_response(200)
        for name, value in (("Content-Type", f"{kind}; charset=utf-8"), ("Content-Encoding", "gzip")):
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine."""
    handler = lambda *given: _Zipped(*given, directory=str(folder))  # noqa: E731
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


def drive(folder: Path) -> dict[str, object]:
    """Time the first page and the explorer's sort, and count axe's serious findings on every kind of page."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    found: dict[str, object] = {}
    with served(folder) as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
        tools = page.context.new_cdp_session(page)
        speed = MEGABITS * 1e6 / 8
        tools.send("Network.enable")
        tools.send(
            "Network.emulateNetworkConditions",
            {"offline": False, "latency": LATENCY, "downloadThroughput": speed, "uploadThroughput": speed},
        )
        tools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        page.goto(address + "index.html", wait_until="load")
        paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
        ready = "performance.getEntriesByType('navigation')[0]"
        found["index_usable_s"] = round(page.evaluate(paint) / 1000, 2)
        found["index_interactive_s"] = round(page.evaluate(f"{ready}.domContentLoadedEventEnd") / 1000, 2)
        tools.send("Emulation.setCPUThrottlingRate", {"rate": 1})
        plain = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        plain.goto(address + "data.html?sort=-3")
        plain.wait_for_selector("#explorer[data-took]")
        found["sort_ms"] = float(plain.get_attribute("#explorer", "data-took"))
        serious = 0
        for theme, width in (("light", 1280), ("dark", 390)):
            for kind in KINDS:
                looked = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=theme).new_page()
                looked.goto(address + kind + ("?q=opus" if kind in ("data.html", "models/index.html") else ""))
                results = Axe().run(looked, options={"preload": False}).response["violations"]
                named = [one["id"] for one in results if one["impact"] in ("serious", "critical")]
                serious += len(named)
                if named:
                    print(f"{kind} {theme} {width}: {', '.join(named)}")
                looked.context.close()
        found["axe_serious"] = serious
        browser.close()
    return found


def main() -> None:
    """Build, weigh, drive."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "report"
        os.environ["MENSURA_CACHE"] = str(Path(folder) / "cache")
        seconds = []
        for _ in range(2):
            start = time.perf_counter()
            build_report(mensura.load(), out)
            seconds.append(time.perf_counter() - start)
        weights = {str(page.relative_to(out)): weight(page) for page in sorted(out.rglob("*.html"))}
        total = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
        print(f"{'page':<36}{'kB gzipped':>12}")
        for name in KINDS:
            print(f"{name:<36}{weights[name] / 1e3:>12.0f}")
        heaviest = max(weights, key=weights.__getitem__)
        print(f"heaviest of {len(weights)}: {heaviest}, {weights[heaviest] / 1e3:.0f} kB")
        library = len(gzip.compress((out / "static" / "vega.js").read_bytes(), 6)) / 1e3
        print(f"the drawing library, loaded when a chart is touched: {library:.0f} kB")
        print(f"built in {seconds[0]:.1f} s with an empty cache, {seconds[1]:.1f} s after; {total / 1e6:.1f} MB in all")
        figures: dict[str, object] = {
            "first_build_seconds": round(seconds[0], 1),
            "build_seconds": round(seconds[1], 1),
            "index_kb": round(weights["index.html"] / 1e3, 1),
            "largest_page_kb": round(weights[heaviest] / 1e3 + library, 1),
            "pages": len(weights),
            "total_mb": round(total / 1e6, 1),
            **drive(out),
        }
    for name in LIMITS:
        print(f"{name:<24}{figures[name]:>10}   at most {LIMITS[name]}")
    within = {name: float(str(figures[name])) <= limit for name, limit in LIMITS.items()}
    print(json.dumps({**figures, "limits": LIMITS, "within": within}))


if __name__ == "__main__":
    main()
