"""One report, built once per test session from the embedded evidence, and a real browser to read it with."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import mensura
from mensura.cli.main import app
from mensura.evidence import Evidence
from mensura.site import Study
from tests.site.hostile import hostile_evidence

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
]


BROWSER_PATIENCE = 120  # seconds to wait for anything on a page: a busy machine is no fault of the page
PATIENCE = 600.0  # seconds to wait for the worker that builds the report, on however busy a machine


@pytest.fixture(scope="session")
def evidence_folder(tmp_path_factory) -> Path:
    """The embedded evidence with a few hostile names in it, so that every page of the one report carries them."""
    folder = tmp_path_factory.mktemp("evidence")
    hostile_evidence(folder)
    return folder


@pytest.fixture(scope="session")
def evidence(evidence_folder) -> Evidence:
    return mensura.load(evidence_folder)


@pytest.fixture(scope="session")
def report(tmp_path_factory, evidence_folder) -> Path:
    """The folder of a freshly built report: read it, copy it, but leave it as it is.

    Where tests run in several processes the first to come builds it, and the others wait.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    try:
        (shared / "building").mkdir()
    except FileExistsError:
        _wait_for(shared / "printed.json")
    else:
        run = CliRunner().invoke(
            app, ["report", "--out", str(shared / "report"), "--evidence", str(evidence_folder), "--json"]
        )
        (shared / "printed.part").write_text(json.dumps([run.exit_code, run.output]), encoding="utf-8")
        (shared / "printed.part").rename(shared / "printed.json")
    code, printed = json.loads((shared / "printed.json").read_text(encoding="utf-8"))
    assert code == 0, printed
    return shared / "report"


@pytest.fixture(scope="session")
def study(evidence) -> Study:
    """Everything the report shows, computed once for all tests of a process."""
    return Study.open(evidence)


@pytest.fixture(scope="session")
def printed(report):
    """What ``mensura report --json`` printed when it built the report."""
    return json.loads(json.loads((report.parent / "printed.json").read_text(encoding="utf-8"))[1])


def _wait_for(file: Path) -> None:
    until = time.monotonic() + PATIENCE
    while not file.exists():
        assert time.monotonic() < until, f"no report after {PATIENCE:.0f} seconds"
        time.sleep(0.2)


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


@pytest.fixture
def visit(browser, report):
    """Open a page of the report from its folder; console errors and outside requests fail the test."""
    opened, faults = [], []

    def open_page(name: str, *, width: int = 1280, height: int = 900, theme: str = "light", scripts: bool = True):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, java_script_enabled=scripts
        )
        context.set_default_timeout(1000 * BROWSER_PATIENCE)
        page = context.new_page()
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda fault: faults.append(str(fault)))
        page.on(
            "request",
            lambda request: None if request.url.startswith(("file:", "data:")) else faults.append(request.url),
        )
        file, mark, rest = name.partition("?") if "?" in name else name.partition("#")
        page.goto((report / file).as_uri() + mark + rest)
        opened.append(context)
        return page

    yield open_page
    for context in opened:
        context.close()
    assert faults == []


@pytest.fixture
def draw_all():
    """Touch every chart of the drawing library on a page, or the first ``most``, and wait until it is drawn anew."""

    def touch(page, most=None):
        for name in page.eval_on_selector_all("figure[data-drawn-by=vega]", "all => all.map(f => f.id)")[:most]:
            page.evaluate("name => mensura.charts.start(document.getElementById(name))", name)
            page.wait_for_selector(f'figure[id="{name}"] .chart[data-drawn] svg')
        return page

    return touch
