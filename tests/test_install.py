"""The two commands of the README that install Mensura, word for word, in a copy of the repository.

The libraries come from the environment that runs the tests, so that nothing but the build backend is fetched.
"""

import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NEEDS = "No matching distribution found for hatchling"


def commands():
    """The commands of the README's section on installing."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("## Install")[1].split("\n## ")[0]
    return re.findall(r"```sh\n(.*?)\n```", section, flags=re.DOTALL)


@pytest.fixture
def clone(tmp_path):
    """What git would give a newcomer."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        target = tmp_path / "mensura" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    return tmp_path / "mensura"


def run(command, folder):
    """Run a command of the README in a shell; a machine without hatchling and without an index cannot."""
    home = {"HOME": str(folder.parent)}
    known = {"PYTHONPATH": sysconfig.get_paths()["purelib"], "PYTEST_ADDOPTS": "tests/scale/test_ranking.py"}
    settings = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_RETRIES": "0", "PIP_TIMEOUT": "5"}
    ran = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, **home, **known, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode and NEEDS in ran.stderr:
        pytest.skip("the build backend hatchling is neither installed nor to be had without a network")
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.slow
def test_the_first_command_installs_the_package_and_writes_a_report(clone):
    printed = run(commands()[0], clone)
    assert "has the highest IQ" in printed
    assert (clone / "report" / "index.html").is_file()
    where = "import mensura; print(mensura.__file__)"
    told = subprocess.run([clone / ".venv/bin/python", "-I", "-c", where], capture_output=True, text=True, check=False)
    assert str(clone / ".venv") in told.stdout


@pytest.mark.slow
def test_the_second_command_installs_for_work_on_it_and_runs_tests(clone):
    assert re.search(r"\d+ passed|\[100%\]", run(commands()[1], clone))
