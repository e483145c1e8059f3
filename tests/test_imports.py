"""A bare import and the help page stay light: heavy libraries load when a command needs them."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

HEAVY = ["numpy", "scipy", "polars", "pandas", "jinja2", "pyarrow", "inspect_ai", "numba"]
REPORT = f"import sys; print(sorted(set({HEAVY!r}) & set(sys.modules)))"


def modules_after(code: str) -> str:
    run = subprocess.run([sys.executable, "-c", f"{code}\n{REPORT}"], capture_output=True, text=True, check=True)
    return run.stdout.splitlines()[-1]


def test_import_mensura_is_light():
    assert modules_after("import mensura") == "[]"


def test_help_is_light():
    code = (
        "from typer.testing import CliRunner\nfrom mensura.cli.main import build_app\n"
        "assert CliRunner().invoke(build_app(''), ['--help']).exit_code == 0"
    )
    assert modules_after(code) == "[]"


def test_reading_what_is_kept_loads_no_solver_no_renderer_and_no_event_loop():
    code = (
        "import sys\nimport mensura.study.standing, mensura.cli.iq, mensura.cli.stitch, mensura.cli.report\n"
        "loaded = ['scipy.special', 'scipy.linalg', 'scipy.sparse', 'scipy.optimize', 'asyncio']\n"
        "print([name for name in loaded if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["mensura", "mensura.llm", "mensura.responses", "mensura.site"])
def test_names_imported_on_first_use_are_those_that_types_see(name):
    package = import_module(name)
    (block,) = (node for node in ast.parse(Path(package.__file__).read_text()).body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in block.body for alias in node.names}
    assert sorted(seen) == sorted(package.__all__) == sorted(set(dir(package)) - {"__version__"})
    for public, home in seen.items():
        assert getattr(package, public) is getattr(import_module(home), public)
    with pytest.raises(AttributeError, match="public names"):
        package.nothing  # noqa: B018


def test_a_command_imports_no_other_command():
    code = (
        "import sys\nfrom mensura.cli.main import build_app\nbuild_app('scale')\n"
        "print([name for name in sys.modules if name in ('mensura.cli.iq', 'mensura.cli.report')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_other_libraries_are_used_by_their_documented_interfaces():
    """Objects that a library builds for itself change with its next release, and a user's installation breaks."""
    inner = re.compile(
        r"typer\.core|__signature__|json\.(scanner|decoder)|\beval\(|\b_is_protocol\b|\.__dict__(\[|\.(update|setdefault)\b)"
    )
    source = Path(import_module("mensura").__file__).parent
    assert [str(file) for file in source.rglob("*.py") if inner.search(file.read_text(encoding="utf-8"))] == []
