"""The documentation moves with the code: commands, options and columns are all described."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mensura.intake.score_columns import OPTIONAL
from tools.write_reference import commands_page, rubrics_page, tables_page

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("file", "page"), [("commands.md", commands_page), ("tables.md", tables_page), ("rubrics.md", rubrics_page)]
)
def test_reference_pages_are_current(file, page):
    written = (ROOT / "docs" / file).read_text(encoding="utf-8")
    assert written == page(), "run python -m tools.write_reference"


def test_every_option_says_what_it_does():
    empty = re.findall(r"^\| (`[^|]+`) \|\s*\|$", commands_page(), flags=re.MULTILINE)
    assert empty == []


def test_links_between_documents_lead_somewhere():
    broken = []
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.name}: {target}")
    assert broken == []


def test_files_and_names_of_the_contributing_page_exist():
    """Recipes name files by their path, and classes or functions in backquotes: both move with the code."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:src|tests|docs|tools|benchmarks)/[\w./-]+)`", text)
    missing = [path for path in paths if "NAME" not in path and not (ROOT / path).exists()]
    source = "\n".join(file.read_text(encoding="utf-8") for file in ROOT.glob("src/mensura/**/*.py"))
    named = re.findall(r"`([A-Z][a-z]\w+|_[a-z]\w+)`", text)
    gone = [name for name in named if not re.search(rf"\b(?:class|def) {name}\b", source)]
    assert len(paths) > 20
    assert (missing, gone) == ([], [])


def test_every_option_that_a_page_names_with_its_command_exists():
    """``mensura fit --dif`` in a sentence: nobody runs it, so nobody would notice that the option never existed."""
    known = set(re.findall(r"--[a-z][a-z0-9-]+", (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")))
    known |= {f"--no-{option.removeprefix('--')}" for option in known} | {"--version"}
    scripts = [*ROOT.glob("benchmarks/*.py"), *ROOT.glob("tools/*.py")]
    known |= {one for file in scripts for one in re.findall(r"--[a-z][a-z0-9-]+", file.read_text(encoding="utf-8"))}
    unknown = [
        f"{page.name}: {option}"
        for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "tutorials").glob("*.md")]
        for code in re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
        for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", code)
        if option not in known and not code.startswith("ray ")
    ]
    assert unknown == []


def test_quick_start_holds_two_commands_of_one_line():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.split("## Install")[1].split("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", section, flags=re.DOTALL)
    assert [len(block.splitlines()) for block in blocks] == [1, 1]
    assert "mensura report" in blocks[0]
    assert "pytest" in blocks[1]


def test_no_registry_address_and_no_path_of_a_machine_is_committed():
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    words = [
        "py" + "pi.",
        "pythonhosted" + ".org",
        "registry.npm" + "js",
        "/ro" + "ot/",
        "/wo" + "rk/",
        "index" + "-url",
    ]
    found = [
        f"{name}: {word}"
        for name in listed
        if (ROOT / name).suffix in {".py", ".md", ".toml", ".txt", ".html", ".js", ".css", ".csv", ""}
        and (ROOT / name).is_file()
        for word in words
        if word in (ROOT / name).read_text(encoding="utf-8")
    ]
    assert found == []


def test_every_optional_column_of_added_scores_is_documented():
    page = (ROOT / "docs" / "adding.md").read_text(encoding="utf-8")
    for column, about in ((name, column["about"]) for name, column in OPTIONAL.items()):
        assert f"| `{column}` | {about} |" in page
