"""What is shipped is complete, and says of itself what is true."""

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tools.versions import lowest_pins, oldest_minor

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
BY_ITSELF = {"pyproject.toml", ".gitignore"}  # the build adds these to every source distribution


def test_source_distribution_takes_everything_that_is_tracked():
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tracked = {name.split("/")[0].strip('"') for name in listed.splitlines()}
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert tracked - BY_ITSELF == set(included)


def test_classifiers_begin_with_the_oldest_python_allowed():
    versions = [line.rpartition(" :: 3.")[2] for line in PROJECT["project"]["classifiers"] if " :: 3." in line]
    assert versions == [str(oldest_minor() + step) for step in range(len(versions))]
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py3{versions[0]}"
    assert PROJECT["tool"]["mypy"]["python_version"] == f"3.{versions[0]}"


def test_every_library_has_a_lower_bound_that_the_tested_version_meets():
    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line)
    tested = {name.lower(): version for name, version in pins.items()}
    for pin in lowest_pins():
        name, lowest = pin.split("==")
        assert numbers(lowest) <= numbers(tested[name.lower()]), pin


def numbers(version):
    return [int(part) for part in version.split(".") if part.isdigit()]


def test_no_lint_rule_is_ignored_twice():
    ignored = PROJECT["tool"]["ruff"]["lint"]["ignore"]
    assert len(ignored) == len(set(ignored))
