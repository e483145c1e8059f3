"""The report as a reader meets it: ``python -m benchmarks.site_size``.

Builds the report twice (with an empty cache, and with the study kept), weighs every page with all it loads by itself
(gzip counted), opens the first page in chromium with the processor slowed four times and 1.6 Mbit/s (the median of
several loads, with what was fetched before the first paint and where the time went), presses a mark there until its
card is open, measures how many screens of a phone each kind of page takes, how far its layout shifts and its small
texts, and counts what axe finds on each, light and dark, at 390 and 1280 pixels. Prints a table, and one line of JSON.
``--report DIR`` looks at a report that is there instead of building one.

The network is the usual slow phone's: 1.6 Mbit/s, and 150 ms from a request to its answer, which the browser adds to
every request. Usable: the first frame after the answers, their links and the whole first picture stand in the page.
Interactive: every script has run and no task of 50 ms or more is under way.
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
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import mensura
from benchmarks import run
from benchmarks.measured import record
from benchmarks.site_axe import grave_findings, thin_out
from mensura.evidence import slug
from mensura.site import build_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LIMITS = {
    "first_build_seconds": 20.0,
    "build_seconds": 20.0,
    "index_kb": 70.0,
    "largest_page_kb": 600.0,
    "own_script_kb": 80.0,
    "total_mb": 25.0,
    "index_largest_paint_s": 0.9,
    "index_click_ms": 50.0,
    "largest_shift": 0.02,
    "index_usable_s": 1.0,
    "index_interactive_s": 2.5,
    "sort_ms": 200.0,
    "most_screens": 20.0,
    "small_texts": 0,
    "axe_serious": 0,
}
RECORDED = {
    "site.report": ("build_seconds", "{:.1f} s"),
    "site.cold": ("first_build_seconds", "{:.0f} s"),
    "site.first_page": ("index_kb", "{:.0f} kB"),
    "site.largest_page": ("largest_page_kb", "{:.0f} kB"),
    "site.scripts": ("own_script_kb", "{:.0f} kB"),
    "site.sort": ("sort_ms", "{:.0f} ms"),
    "site.screens": ("most_screens", "{:.1f}"),
    "site.shift": ("largest_shift", "{:.3f}"),
    "site.axe": ("axe_serious", "{} in {axe_looks} checks"),
    "site.usable": ("index_usable_s", "{:.2f} s"),
    "site.first_paint": ("index_paint_s", "{:.2f} s"),
    "site.interactive": ("index_interactive_s", "{:.2f} s"),
    "site.click": ("index_click_ms", "{:.0f} ms"),
}
"""Figures that the documentation states: key, name here, and how it is written."""
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
    *("changes.html", "method.html", "404.html", "charts/iq-bell.html", f"makers/{slug('OpenAI')}.html"),
)
SLOWER, MEGABITS = 4, 1.6
LOADS = 5
PHONE, SCREEN = (390, 844), (1280, 900)
THEMES = ("light", "dark")
LATENCY = 150  # milliseconds from a request to its answer, a slow phone's
AT_ONCE = 2  # browsers that look at pages
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


WATCH = """() => {
  const seen = { usable: null, busy: 0, largest: 0 };
  window.seen = seen;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) seen.busy = one.startTime + one.duration;
  }).observe({ type: 'longtask', buffered: true });
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) seen.largest = one.startTime;
  }).observe({ type: 'largest-contentful-paint', buffered: true });
  const needed = ['main .questions a', 'main figure .chart svg', 'main figure figcaption'];
  const frame = () => {
    const there = needed.every((one) => document.querySelector(one));
    requestAnimationFrame(there ? () => { seen.usable = performance.now(); } : frame);
  };
  requestAnimationFrame(frame);
}"""
"""Notes when the first frame with all that a reader needs was painted, and when the last long task ended."""
TIMES = """() => {
  const [navigation] = performance.getEntriesByType('navigation');
  const paint = performance.getEntriesByName('first-contentful-paint')[0].startTime;
  const before = performance.getEntriesByType('resource').filter((one) => one.responseEnd <= paint);
  return {
    paint_s: paint / 1000, largest_paint_s: seen.largest / 1000,
    usable_s: Math.max(paint, seen.usable) / 1000, html_s: navigation.responseEnd / 1000,
    interactive_s: Math.max(navigation.domContentLoadedEventEnd, seen.busy) / 1000,
    kb_before_paint: before.reduce((sum, one) => sum + one.encodedBodySize, navigation.encodedBodySize) / 1000,
    elements: document.querySelectorAll('*').length,
  };
}"""
CLICK = """() => new Promise((done) => {
  const marks = [...document.querySelectorAll('.chart .model-row.named')].filter((one) => one.getClientRects().length);
  const mark = marks.at(-1);
  mensura.load('data/models.js').then(() => {
    const start = performance.now();
    const there = () => document.querySelector('.card .big');
    const look = () => there() ? done(performance.now() - start) : requestAnimationFrame(look);
    mark.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
    requestAnimationFrame(look);
  });
})"""
"""Presses a leader's mark and returns the milliseconds until its card was painted, once the records are there."""
SHIFTS = """() => {
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) window.shift += one.value;
  }).observe({ type: 'layout-shift', buffered: true });
}"""
SMALL = """() => [...document.querySelectorAll('main *, header *, footer *')].filter((one) => {
  const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!own || !one.getClientRects().length) return false;
  const svg = one.closest('svg');
  const scaled = svg && svg.viewBox.baseVal.width ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
  return parseFloat(getComputedStyle(one).fontSize) * scaled < 10.9;
}).length"""
"""Counts the elements whose text is smaller than 11 pixels as a reader sees it."""
SPENT = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration", "TaskDuration")


def throttled(browser: Browser, address: str) -> dict[str, float]:
    """Open the first page on a slow phone, several times with an empty cache, and return the medians."""
    loads: list[dict[str, float]] = []
    for _ in range(LOADS):
        context = browser.new_context(viewport={"width": PHONE[0], "height": PHONE[1]})
        context.add_init_script(f"({WATCH})()")
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
        page.goto(address + "index.html", wait_until="networkidle")
        page.wait_for_function("seen.usable !== null")
        spent = {one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]}
        times = page.evaluate(TIMES) | {f"{name.removesuffix('Duration').lower()}_s": spent[name] for name in SPENT}
        times["click_ms"] = page.evaluate(CLICK)
        loads.append({f"index_{name}": value for name, value in times.items()})
        print(
            "a load on a slow phone: " + ", ".join(f"{name} {value:.2f}" for name, value in times.items()), flush=True
        )
        context.close()
    return {name: round(median(one[name] for one in loads), 2) for name in loads[0]}


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run Debian's chromium, without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield browser
        browser.close()


def look(page: Page, kind: str, width: int) -> int:
    """Count axe's serious findings on a page that is open, light and then turned dark as a reader's system would."""
    thin_out(page)
    serious = 0
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        page.wait_for_function("theme => document.documentElement.dataset.theme === theme", arg=theme)
        found = grave_findings(page)
        serious += len(found)
        print(f"{kind} {theme} {width}: {', '.join(one.rule for one in found) or 'none serious'}", flush=True)
    return serious


def look_at_all(address: str, kinds: tuple[str, ...]) -> tuple[int, dict[str, float], dict[str, float], int]:
    """Look at kinds of pages in all four looks.

    Returns the serious findings, the screens each takes on a phone, how far its layout shifts, and the small texts.
    """
    serious, screens, shifts, small = 0, {}, {}, 0
    with chromium() as browser:
        for width, height in (PHONE, SCREEN):
            context = browser.new_context(viewport={"width": width, "height": height})
            context.add_init_script(f"({SHIFTS})()")
            for kind in kinds:
                page = context.new_page()
                page.goto(address + kind, wait_until="networkidle")
                shifts[kind] = max(shifts.get(kind, 0.0), round(page.evaluate("shift"), 3))
                if (width, height) == PHONE:
                    small += page.evaluate(SMALL)
                    screens[kind] = round(page.evaluate("document.documentElement.scrollHeight") / height, 1)
                serious += look(page, kind, width)
                page.close()
            context.close()
    return serious, screens, shifts, small


def drive(folder: Path) -> dict[str, object]:
    """Time the first page and the explorer's sort alone, then look at every kind of page."""
    with served(folder) as address:
        with chromium() as browser:
            found: dict[str, object] = {**throttled(browser, address)}
            plain = browser.new_context(viewport={"width": SCREEN[0], "height": SCREEN[1]}).new_page()
            plain.goto(address + "data.html?sort=-3")
            plain.wait_for_selector("#explorer[data-took]")
            found["sort_ms"] = float(plain.get_attribute("#explorer", "data-took") or "nan")
        with ThreadPoolExecutor(AT_ONCE) as pool:
            parts = list(pool.map(lambda place: look_at_all(address, KINDS[place::AT_ONCE]), range(AT_ONCE)))
    screens = {kind: count for _, one, _, _ in parts for kind, count in one.items()}
    shifts = {kind: size for _, _, one, _ in parts for kind, size in one.items()}
    print(f"{'page':<36}{'screens of a phone':>20}{'layout shift':>16}")
    for kind in KINDS:
        print(f"{kind:<36}{screens[kind]:>20}{shifts[kind]:>16}")
    looks = len(KINDS) * len(THEMES) * len((PHONE, SCREEN))
    found |= {
        "axe_serious": sum(part[0] for part in parts),
        "axe_looks": looks,
        "small_texts": sum(p[3] for p in parts),
    }
    return {**found, "most_screens": max(screens.values()), "largest_shift": max(shifts.values())}


def build_twice(out: Path) -> dict[str, object]:
    """Build the report with an empty cache, and another with the study kept, and return the seconds each took."""
    seconds = []
    for folder in (out, out.with_name("again")):
        start = time.perf_counter()
        build_report(mensura.load(), folder)
        seconds.append(time.perf_counter() - start)
    print(f"built in {seconds[0]:.1f} s with an empty cache, {seconds[1]:.1f} s with the study kept")
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
    scripts = sum(file.stat().st_size for file in (out / "static").glob("*.js"))
    print(f"all scripts of our own: {scripts / 1e3:.0f} kB before packing")
    return {
        "index_kb": round(weights["index.html"] / 1e3, 1),
        "largest_page_kb": round(weights[heaviest] / 1e3, 1),
        "own_script_kb": round(scripts / 1e3, 1),
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
    for key, (name, form) in RECORDED.items():
        if name in figures:
            record(key, form.format(figures[name], **figures), "python -m benchmarks.site_size")
    within = {name: float(str(figures[name])) <= limit for name, limit in limits.items()}
    print(json.dumps({**figures, "limits": limits, "within": within}))


if __name__ == "__main__":
    run(main)
