"""Every measured figure in the documents, commands and pages is the one in ``docs/measured.toml``.

A figure in Markdown stands directly before ``<!-- measured: KEY -->``. A line of Python or TOML that states one ends
with ``# measured: KEY``. Two rules find figures without a marker:

- A Markdown paragraph, list item or table row that names ``python -m benchmarks.NAME`` and contains a decimal number
  or a percentage needs a marker. So does such a line of the method page.
- Every line with a percentage in the command line's sentences on trust needs one.

The nominal ``90%`` is no figure, and neither is the number of an arXiv paper.
"""

import re
import sys
from pathlib import Path

import pytest

from benchmarks import measured
from mensura import MensuraError

ROOT = Path(__file__).parents[1]
REFERENCE = {"commands.md", "tables.md", "rubrics.md"}
PAGES = sorted(page for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")] if page.name not in REFERENCE)
TRUST, METHOD = ROOT / "src/mensura/cli/trust.toml", ROOT / "src/mensura/site/data/method.toml"
MARKER = re.compile(r"(?<!`)<!-- measured: (\S+) -->")
COMMENT = re.compile(r"# measured: ([\w., ]+)$")
COMMAND = re.compile(r"python -m benchmarks\.\w+")
FIGURE = re.compile(r"\d\.\d|(?<!\w)\.\d|\d ?%")


def marked_lines():
    """Return (file, line, key) for each marker in the package's own texts."""
    return [
        (file.name, line, key.strip())
        for file in sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("src/**/*.toml")])
        for line in file.read_text(encoding="utf-8").splitlines()
        if (comment := COMMENT.search(line))
        for key in comment[1].split(",")
    ]


def mentions(text):
    """Return (words before the marker, key) for each marker of a Markdown text."""
    parts = MARKER.split(text)
    return [(" ".join(before.split()), key) for before, key in zip(parts[::2], parts[1::2], strict=False)]


def passages(text):
    """Split Markdown into paragraphs, list items and table rows."""
    return re.split(r"\n\s*\n|\n(?=\||- |\d+\. )", text)


def has_figure(text):
    return FIGURE.search(re.sub(r"arXiv \d+\.\d+|\b90 ?%", "", text)) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_marked_figure_of_a_page_is_the_measured_one(page):
    figures = {key: entry["figure"] for key, entry in measured.read_measured().items()}
    wrong = [
        f"{page.name}: …{before[-30:]!r} should end with {figures.get(key, 'a known key')!r} ({key})"
        for before, key in mentions(page.read_text(encoding="utf-8"))
        if not re.search(rf"(?<![\w.,–]){re.escape(str(figures.get(key, '?')))}[*`]*$", before)
    ]
    assert wrong == []


def test_every_marked_line_of_the_package_states_the_measured_figure():
    figures = {key: entry["figure"] for key, entry in measured.read_measured().items()}
    lines = marked_lines()
    wrong = [f"{file}: {key}: {line.strip()}" for file, line, key in lines if figures.get(key, "?") not in line]
    assert wrong == []
    assert {"trust.toml", "method.toml", "cost.py"} <= {file for file, _, _ in lines}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_figure_beside_its_command_has_a_marker(page):
    text = page.read_text(encoding="utf-8")
    assert [p for p in passages(text) if COMMAND.search(p) and has_figure(p) and not MARKER.search(p)] == []


def test_figures_of_the_command_line_and_the_method_page_have_a_marker():
    trust = [line for line in TRUST.read_text(encoding="utf-8").splitlines() if has_figure(line)]
    method = [line for line in METHOD.read_text(encoding="utf-8").splitlines() if COMMAND.search(line)]
    assert [line for line in [*trust, *filter(has_figure, method)] if not COMMENT.search(line)] == []


def test_every_entry_is_complete_and_stated_somewhere():
    entries = measured.read_measured()
    used = {key for page in PAGES for _, key in mentions(page.read_text(encoding="utf-8"))}
    assert set(entries) - used - {key for _, _, key in marked_lines()} == set()
    for key, entry in entries.items():
        assert list(entry) == list(measured.FIELDS), key
        name = re.match(r"python -m benchmarks\.(\w+)", entry["command"])[1]
        assert (ROOT / "benchmarks" / f"{name}.py").is_file(), key


@pytest.fixture
def copy(tmp_path, monkeypatch):
    file = tmp_path / "measured.toml"
    file.write_text(measured.FILE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(measured, "FILE", file)
    monkeypatch.setattr(sys, "argv", ["benchmarks/iq_sparse.py", "--conditions", "one dimension", "--record"])
    return file


def test_record_rewrites_one_entry_and_keeps_the_rest(copy, capsys):
    before = copy.read_text(encoding="utf-8")
    measured.take_option()
    measured.record("iq.coverage", measured.percent_range([0.902, 0.874, 0.883]))
    after = measured.read_measured(copy)
    assert after["iq.coverage"]["figure"] == "87–90%"
    assert after["iq.coverage"]["command"] == "python -m benchmarks.iq_sparse --conditions 'one dimension'"
    assert {k: v for k, v in after.items() if k != "iq.coverage"} == {
        k: v for k, v in measured.read_measured(ROOT / "docs" / "measured.toml").items() if k != "iq.coverage"
    }
    assert copy.read_text(encoding="utf-8").startswith(before.partition("\n[")[0])
    assert "iq.coverage: 87–90% (documented: " in capsys.readouterr().out


def test_without_the_option_nothing_is_written(copy):
    before = copy.read_bytes()
    sys.argv.remove("--record")
    measured.take_option()
    measured.record("iq.coverage", "1–2%")
    assert copy.read_bytes() == before


def test_an_unknown_key_is_rejected_with_the_known_ones(copy):
    with pytest.raises(MensuraError, match=r"no entry 'iq\.covrage'; expected one of iq\.coverage"):
        measured.record("iq.covrage", "1%")
