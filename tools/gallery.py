"""The gallery of the documentation: every picture of the report with the command that draws it."""

from __future__ import annotations

from pathlib import Path

from mensura.evidence import Evidence, load
from mensura.site.pictures import registry
from mensura.study import Study

WIDTH, DPI = 120.0, 110
EXAMPLES = {"scores-": "hle", "ladder-": "hle", "history-": "hle", "profile-": "gpt-5.5"}
"""Members of families that a reader knows."""
HEAD = """# Gallery

Every picture of the report, with the command that draws it. `mensura figure --list` prints the names. Add
`--width 183` for two columns, and write `.pdf` or `.png` for another format. [Figures](figures.md) tells more.
"""


def names() -> dict[str, str]:
    """Return the name of every picture, an example for each family, and what it shows."""
    table = registry.picture_table()
    return dict(zip(table["figure"], table["shows"], strict=True))


def examples(evidence: Evidence) -> dict[str, str]:
    """Return for each listed name one that can be drawn."""
    return {name: name if name in registry.PICTURES else _member(name, evidence) for name in names()}


def _member(name: str, evidence: Evidence) -> str:
    prefix = max((prefix for prefix in registry.FAMILIES if name.startswith(prefix)), key=len)
    return prefix + EXAMPLES.get(prefix, next(iter(registry.FAMILIES[prefix].keys(evidence)))[0])


def write_gallery(pages: Path, evidence: Evidence | None = None) -> int:
    """Write ``gallery.md`` and one PNG per picture into the folder of pages; return the number of pictures."""
    evidence = evidence or load()
    study = Study.open(evidence)
    (pages / "gallery").mkdir()
    parts = [HEAD]
    for listed, name in examples(evidence).items():
        picture = registry.draw(study, name)
        picture.drawing.save(pages / "gallery" / f"{name}.png", width_mm=WIDTH, dpi=DPI)
        command = f"```\nmensura figure {name} --out {name}.svg\n```"
        image = f"![{picture.title}](gallery/{name}.png)"
        parts.append(f"## {picture.title}\n\n{names()[listed]}\n\n{command}\n\n{image}\n")
    (pages / "gallery.md").write_text("\n".join(parts), encoding="utf-8")
    return len(parts) - 1
