"""The documentation as a site: every page is reached, every picture is in the gallery, search needs no network."""

import re
import shutil

import pytest

from mensura.evidence import load
from mensura.site.pictures import registry
from tools import docs, gallery

ROOT = docs.ROOT
SETTINGS, MENU = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")


def test_the_menu_leads_to_every_page():
    listed = set(re.findall(r"[\w/-]+\.md", MENU))
    written = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert listed == written | {"gallery.md"}


def test_the_gallery_has_an_example_of_every_picture():
    evidence = load()
    names = gallery.examples(evidence)
    assert set(names) == set(registry.picture_table()["figure"])
    kept = {prefix + key for prefix, family in registry.FAMILIES.items() for key, *_ in family.keys(evidence)}
    assert [name for name in names.values() if name not in registry.PICTURES and name not in kept] == []


@pytest.mark.slow
def test_the_search_of_pages_opened_as_files_needs_no_network(tmp_path):
    """Browsers refuse workers in such pages; the script that stands for them must not come from another address."""
    playwright = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium") or pytest.skip("no chromium on this machine")
    (script,) = re.findall(r"polyfills: \[(.+)\]", SETTINGS)
    shutil.copy(ROOT / "tools" / script, tmp_path)
    (tmp_path / "twice.js").write_text("addEventListener('message', (asked) => postMessage(2 * asked.data));")
    (tmp_path / "page.html").write_text(f"<script src='{script}'></script>")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        found = page.evaluate(
            """() => new Promise((answer) => {
                const worker = new Worker("twice.js");
                worker.addEventListener("message", (said) => answer(said.data));
                worker.postMessage(21);
            })"""
        )
        browser.close()
    assert found == 42
