"""What the project claims can be checked in a clone that has nothing but the repository."""

import ast
import importlib
import json
import re
from functools import cache
from pathlib import Path

import pytest

import benchmarks
from benchmarks import iq_published

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))]
COMMAND = re.compile(r"(?:python -m |`)((?:benchmarks|tools)\.[a-z]\w+)\b")
READER, GUARD = "development_data", "optional_data"


@cache
def parsed(module):
    """Return what a script defines, and where the names that it imports from other scripts come from."""
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
    defined = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    constants = [(target, node) for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    defined |= {target.id: node for target, node in constants if isinstance(target, ast.Name)}
    imported = {
        name.asname or name.name: (node.module, name.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(("benchmarks.", "tools."))
        for name in node.names
    }
    return defined, imported


def names_used(script):
    """Return the names that the main function of a script uses, and all that these use in turn."""
    waiting, done, names = [(script, "main")], set(), set()
    while waiting:
        module, name = waiting.pop()
        defined, imported = parsed(module)
        if (module, name) in done or name not in defined:
            continue
        done.add((module, name))
        own = {node.id for node in ast.walk(defined[name]) if isinstance(node, ast.Name)}
        waiting += [imported.get(one, (module, one)) for one in own]
        names |= own
    return names


def needs_data(script):
    used = names_used(script)
    return READER in used and GUARD not in used


NAMED = {name for page in PAGES for name in COMMAND.findall(page.read_text(encoding="utf-8"))}
SCRIPTS = sorted(name for name in NAMED if (ROOT / f"{name.replace('.', '/')}.py").is_file())
NEEDY = [script for script in SCRIPTS if needs_data(script)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_that_names_a_command_says_if_a_clone_lacks_its_data(page):
    """The words stand in the same paragraph, list item or row of a table as the command."""
    passages = re.split(r"\n\s*\n|\n(?=\||- |\d+\. )", page.read_text(encoding="utf-8"))
    silent = [
        (name, passage[:60])
        for passage in passages
        for name in COMMAND.findall(passage)
        if name in NEEDY and "development data" not in " ".join(passage.split())
    ]
    assert silent == []


def test_only_one_place_knows_where_the_development_data_are():
    files = [*ROOT.glob("benchmarks/*.py"), *ROOT.glob("tools/*.py")]
    named = [file.name for file in files if re.search(r'/ "shared"|\.\./shared', file.read_text(encoding="utf-8"))]
    assert named == ["__init__.py"]
    assert {"benchmarks.baseline", "benchmarks.countries", "benchmarks.stitch_coverage"} < set(NEEDY)
    assert "benchmarks.trends_backtest" in SCRIPTS
    assert "benchmarks.trends_backtest" not in NEEDY


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_command_that_a_page_names_can_be_imported(script):
    """A script that needs an extra which is not installed is skipped; a name that moved is an error."""
    pytest.importorskip(script, exc_type=ModuleNotFoundError)


@pytest.mark.parametrize("script", NEEDY)
def test_a_command_without_its_data_ends_with_one_sentence(script, monkeypatch, tmp_path):
    """A text is printed to standard error, and the status is 1."""
    monkeypatch.setattr(benchmarks, "SHARED", tmp_path / "shared")
    monkeypatch.setattr("sys.argv", [script])
    with pytest.raises(SystemExit) as end:
        importlib.import_module(script).main()
    assert str(end.value.code).startswith(f"{tmp_path / 'shared' / 'data'}")
    assert str(end.value.code).endswith("absent; this command needs development data (docs/trust.md)")


def test_published_composites_are_met_without_development_data(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(benchmarks, "SHARED", tmp_path / "absent")
    iq_published.main()
    *_, note, figures = capsys.readouterr().out.splitlines()
    assert "need the publisher's own table" in note
    told = json.loads(figures)
    assert told["published"]["n"] == 46
    assert told["published"]["composite_mae"] < 1
