"""The house keeps its floors: no import runs upward, sideways between instruments, or in a circle."""

import ast
import re
from functools import cache
from pathlib import Path

import mensura
from tools import draw_architecture

SOURCE = Path(mensura.__file__).parent
BASE = {"core", "intake"}
DATA = {"scale", "people", "llm"}
OBSERVED = DATA | {"evidence", "charts", "demands"}
INSTRUMENTS = {"baseline", "calibration", "exam", "extrapolation", "horizon", "iq", "ledger", "responses", "stitching"}
ALLOWED = {
    "core": set(),
    "intake": {"core"},
    "scale": BASE,
    "people": BASE | {"scale"},
    "llm": BASE | {"scale"},
    "evidence": BASE | {"scale"},
    "charts": BASE | {"scale"},
    "demands": BASE | {"scale", "evidence", "llm", "people"},
    "ledger": BASE | {"scale", "evidence"},
    "extrapolation": BASE | DATA | {"evidence", "demands"},
    "horizon": BASE | {"scale", "evidence"},
    "baseline": BASE | OBSERVED | {"extrapolation", "horizon"},
    "calibration": BASE | DATA | {"evidence", "demands", "extrapolation"},
    "iq": BASE | DATA | {"evidence"},
    "responses": BASE | {"scale", "people", "evidence"},
    "exam": BASE | DATA | {"evidence", "responses"},
    "stitching": BASE | DATA | {"evidence"},
    "trends": BASE | DATA | {"evidence", "stitching", "horizon"},
    "study": BASE | OBSERVED | INSTRUMENTS | {"trends"},
    "site": BASE | OBSERVED | INSTRUMENTS | {"trends", "study"},
    "serve": BASE | OBSERVED | INSTRUMENTS | {"trends", "study", "site"},
    "cli": BASE | OBSERVED | INSTRUMENTS | {"trends", "study", "site", "serve"},
}
"""What each package may import. The order is that of the layers; nothing imports a package after it."""


EXTRAPOLATION = (
    {"protocol", "distributions"},
    {"descriptions", "facts", "straight_line", "slices", "line_methods"},
    {"abilities", "transfer", "poststratification"},
    {"prompts", "correction", "item_by_item", "whole_pool"},
    {"methods"},
    {"cases", "scoring", "breakdown", "answers", "validation"},
)
"""The inner layers of extrapolation, lowest first: a file imports none above its own."""


def modules_of(file: Path) -> set[str]:
    """The modules of ours that a file imports, at module level, inside functions or for its types."""
    found = set()
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "mensura":
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.split(".")[0] == "mensura"}
    return found


@cache
def parsed(file: Path) -> ast.Module:
    """A file's tree, read once for all tests."""
    return ast.parse(file.read_text(encoding="utf-8"))


def last_name(node: ast.expr) -> str:
    """The name of a function, or of a function in a module."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def named_modules(file: Path) -> list[str]:
    """The modules that a file imports by ``import_module``; one that it works out ends where that begins."""
    calls = [node for node in ast.walk(parsed(file)) if isinstance(node, ast.Call)]
    called = [call for call in calls if last_name(call.func) in ("import_module", "__import__")]
    return [ast.unparse(call.args[0]).lstrip("f").strip("'\"").partition("{")[0] for call in called]


def imports_of(file: Path) -> set[str]:
    """The packages of ours that a file imports, at module level, inside functions or by the name of a module."""
    found = {name.split(".")[1] for name in named_modules(file) if name.startswith("mensura.")}
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("mensura"):
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("mensura.")}
    return found


def test_every_package_has_its_floor():
    packages = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert packages == set(ALLOWED), "a new package needs a layer in docs/architecture.md and here"


def test_no_import_runs_against_the_floors():
    wrong = []
    for package, below in ALLOWED.items():
        for file in (SOURCE / package).rglob("*.py"):
            against = imports_of(file) - below - {package, "__version__"}
            wrong += [f"{file.relative_to(SOURCE)} imports {name}" for name in sorted(against)]
    assert wrong == []


def test_a_module_imported_by_its_name_is_seen(tmp_path):
    text = "import_module('mensura.charts.forest'); importlib.import_module(f'mensura.site.{x}'); import_module(name)"
    (tmp_path / "module.py").write_text(text)
    assert imports_of(tmp_path / "module.py") == {"charts", "site"}
    worked_out = {file.name for file in SOURCE.rglob("*.py") if not all("." in one for one in named_modules(file))}
    assert worked_out == {"exports.py", "statistics.py"}, "lists under TYPE_CHECKING, and optional libraries"


def test_the_inner_layers_of_extrapolation_import_downwards():
    folder = SOURCE / "extrapolation"
    layer_of = {name: at for at, names in enumerate(EXTRAPOLATION) for name in names}
    files = {path.stem: path for path in folder.rglob("*.py") if path.stem != "__init__"}
    assert set(files) == set(layer_of), "a new file needs a layer here"
    imported = {
        name: {module.split(".")[2] for module in modules_of(path) if module.startswith("mensura.extrapolation.")}
        for name, path in files.items()
    }
    wrong = [(name, other) for name, others in imported.items() for other in others if layer_of[other] > layer_of[name]]
    assert wrong == []


def test_no_two_files_import_each_other_around_a_circle():
    """Over all imports, also those inside functions and for types alone; a file may name the package it lies in."""
    files = {_module(path): path for path in SOURCE.rglob("*.py")}
    graph = {name: {other for other in modules_of(path) if other in files} for name, path in files.items()}
    graph = {
        name: {other for other in found if not f"{name}.".startswith(f"{other}.")} for name, found in graph.items()
    }
    assert _circles(graph) == []


def _module(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that all reach each other."""
    reach = {name: _reached(graph, name) for name in graph}
    rings = {frozenset(other for other in found if name in reach[other]) for name, found in reach.items()}
    return sorted(sorted(ring) for ring in rings if ring)


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    ahead = set(graph[start])
    while ahead:
        found |= ahead
        ahead = {other for name in ahead for other in graph[name]} - found
    return found


def test_only_packages_lie_beside_each_other():
    assert sorted(path.name for path in SOURCE.glob("*.py")) == ["__init__.py", "__main__.py"]


def test_architecture_page_shows_every_package():
    page = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    packages = [path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()]
    assert [name for name in packages if f"{name}/" not in page] == []


def test_no_two_classes_share_a_name():
    homes: dict[str, list[str]] = {}
    for file in SOURCE.rglob("*.py"):
        for node in parsed(file).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(str(file.relative_to(SOURCE)))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_the_first_lines_of_a_package_name_files_that_exist():
    wrong = []
    for page in SOURCE.glob("*/__init__.py"):
        names = re.findall(r"``([\w./]+)``", ast.get_docstring(parsed(page)) or "")
        exist = {path.relative_to(page.parent).as_posix() for path in page.parent.rglob("*")} | {"exam.toml"}
        exist |= {path.stem for path in page.parent.rglob("*.py")}
        wrong += [f"{page.parent.name}: {name}" for name in names if name.strip("/") not in exist]
    assert wrong == []


def test_the_picture_shows_the_imports_of_today():
    drawn = (Path(__file__).parents[1] / "docs" / "architecture.svg").read_text(encoding="utf-8")
    assert drawn == draw_architecture.draw(draw_architecture.read_imports()), "run python -m tools.draw_architecture"


def test_the_architecture_page_is_short_and_names_only_files_that_exist():
    page = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert len(page.split()) <= 900
    files = re.findall(r"^\d+\. `([a-z_/]+\.py)`", page, flags=re.M)
    assert len(files) > 20
    assert [name for name in files if not (SOURCE / name).is_file()] == []
    walks = [len(re.findall(r"^\d+\. ", part, flags=re.M)) for part in page.split("**")]
    assert max(walks) <= 8
