"""One report, built once from the embedded evidence, and a real browser to read it with."""

import shutil

import pytest

import mensura
from mensura.site import build_report

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
]


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """The folder of a freshly built report."""
    out = tmp_path_factory.mktemp("report")
    build_report(mensura.load(), out)
    return out


@pytest.fixture(scope="session")
def browser():
    """Debian's chromium, headless; tests that need it skip where it is not installed."""
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

    def open_page(name: str, *, width: int = 1200, height: int = 900, theme: str = "light"):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
        page = context.new_page()
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda fault: faults.append(str(fault)))
        page.on(
            "request",
            lambda request: None if request.url.startswith(("file:", "data:")) else faults.append(request.url),
        )
        page.goto((report / name.split("#")[0]).as_uri() + ("#" + name.split("#")[1] if "#" in name else ""))
        opened.append(context)
        return page

    yield open_page
    for context in opened:
        context.close()
    assert faults == []
