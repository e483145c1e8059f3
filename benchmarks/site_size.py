"""The report as a reader meets it: ``python -m benchmarks.site_size``.

Builds the report twice (with an empty cache, and again), weighs every page with all it loads by itself (gzip counted),
opens the first page in chromium with the processor slowed four times and 1.6 Mbit/s (the median of several loads, with
what was fetched before the first paint and where the time went), measures how many screens of a phone each kind of page
takes, and counts what axe finds on each, light and dark, at 390 and 1280 pixels. Prints a table, and one line of JSON.
``--report DIR`` looks at a report that is there instead of building one.
"""

from __future__ import annotations

import argparse
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
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import mensura
from mensura.site import build_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LIMITS = {
    "build_seconds": 20.0,
    "largest_page_kb": 600.0,
    "index_usable_s": 1.0,
    "index_interactive_s": 2.5,
    "sort_ms": 200.0,
    "most_screens": 20.0,
    "axe_serious": 0,
}
KINDS = (
    *(
        "index.html",
        "models/index.html",
        "models/gpt-5.5.html",
        "models/claude-opus-5.5.html",
        "benchmarks/index.html",
        "benchmarks/gpqa_diamond.html",
    ),
    *("people.html", "pick.html", "compare.html", "iq.html", "stitched.html", "cost.html", "human.html", "data.html"),
    *("changes.html", "method.html", "404.html", "charts/iq-bell.html"),
)
SLOWER, MEGABITS = 4, 1.6
LOADS = 5
PHONE, SCREEN = (390, 844), (1280, 900)
LOOKS = tuple((theme, size) for theme in ("light", "dark") for size in (PHONE, SCREEN))
FILTERED = {"data.html": "?q=opus", "models/index.html": "?q=opus"}
"""axe looks at every visible cell, and all rows are alike."""
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
        with suppress(BrokenPipeError, ConnectionResetError):  # the browser went on to the next page
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


FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
READY = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
BEFORE_PAINT = """(paint) => performance.getEntriesByType('resource').filter((one) => one.responseEnd <= paint)
  .reduce((sum, one) => sum + one.encodedBodySize, performance.getEntriesByType('navigation')[0].encodedBodySize)"""
SPENT = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration", "TaskDuration")


def throttled(browser: Browser, address: str) -> dict[str, float]:
    """Open the first page on a slow phone, several times with an empty cache, and return the medians."""
    loads: list[dict[str, float]] = []
    for _ in range(LOADS):
        context = browser.new_context(viewport={"width": PHONE[0], "height": PHONE[1]})
        page = context.new_page()
        tools = context.new_cdp_session(page)
        speed = MEGABITS * 1e6 / 8
        slow = {"offline": False, "latency": LATENCY, "downloadThroughput": speed, "uploadThroughput": speed}
        for order, given in (
            ("Network.enable", {}),
            ("Network.emulateNetworkConditions", slow),
            ("Emulation.setCPUThrottlingRate", {"rate": SLOWER}),
            ("Performance.enable", {}),
        ):
            tools.send(order, given)
        page.goto(address + "index.html", wait_until="load")
        paint = page.evaluate(FIRST_PAINT)
        spent = {one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]}
        loads.append(
            {
                "index_usable_s": paint / 1000,
                "index_interactive_s": page.evaluate(READY) / 1000,
                "kb_before_paint": page.evaluate(BEFORE_PAINT, paint) / 1000,
                "elements": page.evaluate("document.querySelectorAll('*').length"),
                **{f"index_{name.removesuffix('Duration').lower()}_s": spent[name] for name in SPENT},
            }
        )
        context.close()
    return {name: round(median(one[name] for one in loads), 2) for name in loads[0]}


def look(browser: Browser, address: str) -> dict[str, object]:
    """Count axe's serious findings on every kind of page in all four looks, and the screens each takes on a phone."""
    from axe_playwright_python.sync_playwright import Axe

    serious, screens = 0, {}
    for theme, (width, height) in LOOKS:
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
        for kind in KINDS:
            page = context.new_page()
            page.goto(address + kind)
            if (width, height) == PHONE:
                tall = page.evaluate("document.documentElement.scrollHeight") / height
                screens[kind] = max(screens.get(kind, 0.0), round(tall, 1))
            if kind in FILTERED:
                page.goto(address + kind + FILTERED[kind])
            results = Axe().run(page, options={"preload": False}).response["violations"]
            named = [one["id"] for one in results if one["impact"] in ("serious", "critical")]
            serious += len(named)
            if named:
                print(f"{kind} {theme} {width}: {', '.join(named)}")
            page.close()
        context.close()
    print(f"{'page':<36}{'screens of a phone':>20}")
    for kind, count in screens.items():
        print(f"{kind:<36}{count:>20}")
    return {"axe_serious": serious, "axe_looks": len(KINDS) * len(LOOKS), "most_screens": max(screens.values())}


def drive(folder: Path) -> dict[str, object]:
    """Time the first page and the explorer's sort, and look at every kind of page."""
    from playwright.sync_api import sync_playwright

    with served(folder) as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        found: dict[str, object] = {**throttled(browser, address)}
        plain = browser.new_context(viewport={"width": SCREEN[0], "height": SCREEN[1]}).new_page()
        plain.goto(address + "data.html?sort=-3")
        plain.wait_for_selector("#explorer[data-took]")
        found["sort_ms"] = float(plain.get_attribute("#explorer", "data-took"))
        found |= look(browser, address)
        browser.close()
    return found


def build_twice(out: Path) -> dict[str, object]:
    """Build the report with an empty cache and again, and return the seconds each took."""
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        build_report(mensura.load(), out)
        seconds.append(time.perf_counter() - start)
    print(f"built in {seconds[0]:.1f} s with an empty cache, {seconds[1]:.1f} s after")
    return {"first_build_seconds": round(seconds[0], 1), "build_seconds": round(seconds[1], 1)}


def weigh(out: Path) -> dict[str, object]:
    """Weigh every page with what it loads by itself, print one of each kind, and return the figures."""
    weights = {str(page.relative_to(out)): weight(page) for page in sorted(out.rglob("*.html"))}
    total = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    print(f"{'page':<36}{'kB gzipped':>12}")
    for name in KINDS:
        print(f"{name:<36}{weights[name] / 1e3:>12.0f}")
    heaviest = max(weights, key=weights.__getitem__)
    print(f"heaviest of {len(weights)}: {heaviest}, {weights[heaviest] / 1e3:.0f} kB; {total / 1e6:.1f} MB in all")
    library = len(gzip.compress((out / "static" / "vega.js").read_bytes(), 6)) / 1e3
    print(f"the drawing library, loaded when a chart is touched: {library:.0f} kB")
    return {
        "index_kb": round(weights["index.html"] / 1e3, 1),
        "largest_page_kb": round(weights[heaviest] / 1e3 + library, 1),
        "pages": len(weights),
        "total_mb": round(total / 1e6, 1),
    }


def main() -> None:
    """Build, weigh, drive."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--report", type=Path, help="a report that is there; nothing is built")
    given: Path | None = asked.parse_args().report
    with tempfile.TemporaryDirectory() as folder:
        out = given or Path(folder) / "report"
        figures: dict[str, object] = {}
        if given is None:
            os.environ["MENSURA_CACHE"] = str(Path(folder) / "cache")
            figures |= build_twice(out)
        figures |= weigh(out)
        figures |= drive(out)
    limits = {name: limit for name, limit in LIMITS.items() if name in figures}
    for name, limit in limits.items():
        print(f"{name:<24}{figures[name]:>10}   at most {limit}")
    within = {name: float(str(figures[name])) <= limit for name, limit in limits.items()}
    print(json.dumps({**figures, "limits": limits, "within": within}))


if __name__ == "__main__":
    main()
