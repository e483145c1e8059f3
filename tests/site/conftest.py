"""One report, built once per test session from the embedded evidence, and a real browser to read it with."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from typer.testing import CliRunner

import mensura
from mensura.cli.main import build_app
from mensura.evidence import Evidence
from mensura.study import Study

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
]


BROWSER_PATIENCE = int(os.environ.get("MENSURA_PATIENCE", "120"))
"""Seconds to wait for anything on a page: a busy machine is no fault of the page."""


@pytest.fixture(scope="session")
def evidence(evidence_folder) -> Evidence:
    return mensura.load(evidence_folder)


@pytest.fixture(scope="session")
def report(once, evidence_folder) -> Path:
    """The folder of a freshly built report: read it, copy it, but leave it as it is."""

    def build(folder: Path) -> None:
        arguments = ["report", "--out", str(folder / "report"), "--evidence", str(evidence_folder), "--json"]
        run = CliRunner().invoke(build_app(), arguments)
        (folder / "printed.json").write_text(json.dumps([run.exit_code, run.output]), encoding="utf-8")

    built = once("built", build)
    code, printed = json.loads((built / "printed.json").read_text(encoding="utf-8"))
    assert code == 0, printed
    return built / "report"


@pytest.fixture(scope="session")
def study(evidence) -> Study:
    """Everything the report shows, computed once for all tests."""
    return Study.open(evidence)


@pytest.fixture(scope="session")
def printed(report):
    """What ``mensura report --json`` printed when it built the report."""
    return json.loads(json.loads((report.parent / "printed.json").read_text(encoding="utf-8"))[1])


@pytest.fixture(scope="module")
def browser():
    """Debian's chromium, headless; tests that need it skip where it is not installed.

    One per file: while it runs its driver keeps an event loop in this thread, where other tests run their own.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra: browser)")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no chromium on this machine")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield running
        running.close()


class Window(NamedTuple):
    """A window of the browser and what went wrong in it: errors of scripts, requests to other places."""

    page: Page
    faults: list[str]

    @classmethod
    def open(cls, browser: Browser, *, scripts: bool) -> Window:
        context = browser.new_context(java_script_enabled=scripts)
        context.set_default_timeout(1000 * BROWSER_PATIENCE)
        window = cls(context.new_page(), [])
        page, note = window.page, window.faults.append
        page.on("console", lambda message: note(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda fault: note(str(fault)))
        page.on("request", lambda request: None if request.url.startswith(("file:", "data:")) else note(request.url))
        return window

    def leave(self) -> list[str]:
        """Leave what was visited: no choice, medium or pointer stays for the next page; return what was wrong."""
        if self.page.url != "about:blank":
            self.page.wait_for_load_state()  # a link may have been followed last
            self.page.evaluate("localStorage.clear()")
            self.page.goto("about:blank")
            self.page.emulate_media(media="null")
            self.page.mouse.move(-1, -1)
        wrong = list(self.faults)
        self.faults.clear()
        return wrong


@pytest.fixture(scope="module")
def windows(browser):
    """A window with scripts and one without, opened when first needed: a new one costs as much as a page."""
    opened: dict[bool, Window] = {}

    def window(scripts: bool) -> Window:
        if scripts not in opened:
            opened[scripts] = Window.open(browser, scripts=scripts)
        return opened[scripts]

    yield window
    for window in opened.values():
        window.page.context.close()


@pytest.fixture
def visit(windows, report):
    """Open a page of the report from its folder; console errors and outside requests fail the test.

    It opens in the one window there is (one more for pages without scripts): what was visited before is left.
    """
    used: dict[bool, Window] = {}
    faults: list[str] = []

    def open_page(name: str, *, width: int = 1280, height: int = 900, theme: str = "light", scripts: bool = True):
        window = used[scripts] = windows(scripts)
        faults.extend(window.leave())
        window.page.set_viewport_size({"width": width, "height": height})
        window.page.emulate_media(color_scheme=theme)
        file, mark, rest = name.partition("?") if "?" in name else name.partition("#")
        window.page.goto((report / file).as_uri() + mark + rest)
        return window.page

    yield open_page
    for window in used.values():
        faults.extend(window.leave())
    assert faults == []
