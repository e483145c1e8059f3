"""The house keeps its floors: no import runs upward, sideways between instruments, or in a circle."""

import ast
from pathlib import Path

import mensura

SOURCE = Path(mensura.__file__).parent
ALLOWED = {
    "scale": set(),
    "evidence": {"scale"},
    "llm": {"scale"},
    "people": {"scale"},
    "demands": {"scale", "evidence", "llm", "people"},
    "extrapolation": {"scale", "evidence", "llm", "people", "demands"},
    "calibration": {"scale", "evidence", "llm", "people", "demands", "extrapolation"},
    "stitching": {"scale", "evidence", "llm", "people"},
    "trends": {"scale", "evidence", "llm", "people", "stitching"},
    "iq": {"scale", "evidence", "llm", "people"},
    "charts": {"scale"},
}
TOP = {"site", "cli"}
GROUND = {"arrays", "errors", "files", "folders", "frames", "results"}


def imports_of(file: Path) -> set[str]:
    """The packages of ours that a file imports, at module level or inside functions."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("mensura"):
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("mensura.")}
    return found


def test_every_package_has_its_floor():
    packages = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert packages <= set(ALLOWED) | TOP, "a new package needs a floor in docs/architecture.md and here"


def test_no_import_runs_against_the_floors():
    wrong = []
    for package, below in ALLOWED.items():
        for file in (SOURCE / package).rglob("*.py"):
            against = imports_of(file) - below - GROUND - {package}
            wrong += [f"{file.relative_to(SOURCE)} imports {name}" for name in sorted(against)]
    assert wrong == []


def test_ground_and_floors_never_import_the_top():
    files = [SOURCE / f"{name}.py" for name in GROUND]
    assert [file.name for file in files if imports_of(file) - GROUND] == []


def test_architecture_page_shows_every_package():
    page = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    packages = [path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()]
    assert [name for name in packages if f"{name}/" not in page] == []
