"""Draw docs/architecture.svg: the packages of Mensura in layers, with an arrow for each import that no other implies.

Run: python -m tools.draw_architecture (writes the picture and prints the number of packages and arrows).
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "mensura"
PICTURE = ROOT / "docs" / "architecture.svg"
_BOX, _GAP, _ROW = (104, 30), 22, 78
_STYLE = "font-family:system-ui,sans-serif;font-size:13px"


def read_imports() -> dict[str, set[str]]:
    """Return the packages that each package imports, from every import statement in its files."""
    packages = sorted(path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists())
    return {name: _imported(SOURCE / name, set(packages)) - {name} for name in packages}


def _imported(folder: Path, packages: set[str]) -> set[str]:
    found: set[str] = set()
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            else:
                continue
            parts = [module.split(".") for module in modules]
            found |= {part[1] for part in parts if part[0] == "mensura" and len(part) > 1}
    return found & packages


def find_layers(imports: dict[str, set[str]]) -> list[list[str]]:
    """Return the packages in layers, the lowest first: each imports only packages of lower layers."""
    height: dict[str, int] = {}
    while len(height) < len(imports):
        ready = [name for name in imports if name not in height and imports[name] <= set(height)]
        if not ready:
            raise ValueError(f"circle among {sorted(set(imports) - set(height))}")
        for name in ready:
            height[name] = 1 + max((height[below] for below in imports[name]), default=-1)
    return [[name for name in imports if height[name] == level] for level in range(max(height.values()) + 1)]


def drop_implied(imports: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the imports that no chain of other imports implies."""

    def below(name: str) -> set[str]:
        return set().union(*({other} | below(other) for other in imports[name]))

    return {name: {one for one in imports[name] if all(one not in below(o) for o in imports[name])} for name in imports}


def draw(imports: dict[str, set[str]]) -> str:
    """Return the picture as SVG text."""
    layers = find_layers(imports)
    width = max(len(layer) for layer in layers) * (_BOX[0] + _GAP) + _GAP
    centre = {}
    for level, layer in enumerate(reversed(layers)):
        left = (width - len(layer) * (_BOX[0] + _GAP) + _GAP) / 2
        for place, name in enumerate(layer):
            centre[name] = left + place * (_BOX[0] + _GAP) + _BOX[0] / 2, 30 + level * _ROW
    height = 60 + (len(layers) - 1) * _ROW
    lines = [
        f'<line x1="{centre[a][0]:g}" y1="{centre[a][1] + _BOX[1] / 2:g}" x2="{centre[b][0]:g}" '
        f'y2="{centre[b][1] - _BOX[1] / 2 - 3:g}" stroke="#8a94a0" marker-end="url(#tip)"/>'
        for a, others in drop_implied(imports).items()
        for b in sorted(others)
    ]
    boxes = [
        f'<rect x="{x - _BOX[0] / 2:g}" y="{y - _BOX[1] / 2:g}" width="{_BOX[0]}" height="{_BOX[1]}" rx="5" '
        f'fill="#eef3f8" stroke="#44546a"/><text x="{x:g}" y="{y + 4.5:g}" text-anchor="middle">{name}</text>'
        for name, (x, y) in centre.items()
    ]
    tip = '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" style="{_STYLE}">'
    title = "<title>Packages of Mensura: an arrow points to the package that is imported</title>"
    defs = f'<defs>{tip}<path d="M0 0L8 4L0 8z" fill="#8a94a0"/></marker></defs>'
    paper = '<rect width="100%" height="100%" fill="#fff"/>'
    return "\n".join([head, title, defs, paper, *lines, *boxes, "</svg>", ""])


def main() -> None:
    imports = read_imports()
    PICTURE.write_text(draw(imports), encoding="utf-8")
    print(
        f"{PICTURE.relative_to(ROOT)}: {len(imports)} packages, {sum(map(len, imports.values()))} imports between them"
    )


if __name__ == "__main__":
    main()
