"""A bare import and the help page stay light: heavy libraries load when a command needs them."""

import subprocess
import sys

HEAVY = ["numpy", "scipy", "polars", "pandas", "jinja2", "altair", "pyarrow", "inspect_ai", "numba"]
REPORT = f"import sys; print(sorted(set({HEAVY!r}) & set(sys.modules)))"


def modules_after(code: str) -> str:
    run = subprocess.run([sys.executable, "-c", f"{code}\n{REPORT}"], capture_output=True, text=True, check=True)
    return run.stdout.splitlines()[-1]


def test_import_mensura_is_light():
    assert modules_after("import mensura") == "[]"


def test_help_is_light():
    code = (
        "from typer.testing import CliRunner\nfrom mensura.cli.main import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0"
    )
    assert modules_after(code) == "[]"


def test_public_names_resolve_and_unknown_ones_say_so():
    import mensura

    assert all(getattr(mensura, name) is not None for name in mensura.__all__)
    try:
        mensura.nothing  # noqa: B018
    except AttributeError as fault:
        assert "public names" in str(fault)
