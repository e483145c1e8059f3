"""Make the two small fonts of the pages from their open originals: ``python -m tools.subset_fonts SERIF SANS``.

It also writes both fonts and the widths of their letters for pictures that are drawn without a browser.

SERIF and SANS are the variable fonts Source Serif 4 (axes opsz and wght) and Inter (axis wght), Latin part, as woff2.
The npm packages ``@fontsource-variable/source-serif-4`` and ``@fontsource-variable/inter`` hold them as
``files/source-serif-4-latin-opsz-normal.woff2`` and ``files/inter-latin-wght-normal.woff2``, with their licence (SIL
Open Font License 1.1). The tool needs ``fonttools`` and ``brotli``. A changed font may not keep a reserved name, so
the results are called Mensura Serif and Mensura Sans.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "src" / "mensura" / "site" / "static" / "fonts"
CHARTS = Path(__file__).parents[1] / "src" / "mensura" / "charts" / "data"
MOST_BYTES = 60_000
"""Both files together."""
SENTENCE = 560
"""Weight of the serif letters in which sentences are set."""
_LETTERS = [*range(0x20, 0x7F), *range(0xA0, 0x100)]
_SIGNS = [ord(sign) for sign in "–—‘’“”…•−×→↑↓←≤≥≈√∞·Φσαμπ"]
_FAMILIES = {
    "serif": ("Mensura Serif", {"opsz": 48, "wght": (400, 650)}, [*range(0x20, 0x7F), *_SIGNS], ["kern", "liga"]),
    "sans": ("Mensura Sans", {"wght": (400, 700)}, [*_LETTERS, *_SIGNS], ["kern", "tnum", "case"]),
}
_FAMILY, _UNIQUE, _FULL, _POSTSCRIPT, _TYPOGRAPHIC = 1, 3, 4, 6, 16
"""Places of a font's names in its table of names."""


def subset(source: Path, kind: str, target: Path) -> int:
    """Write the font ``kind`` (serif or sans) from its original and return its size in bytes."""
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont
    from fontTools.varLib.instancer import instantiateVariableFont

    name, limits, letters, features = _FAMILIES[kind]
    whole = io.BytesIO()
    instantiateVariableFont(TTFont(source), limits).save(whole)
    font: Any = TTFont(io.BytesIO(whole.getvalue()))
    options = Options(flavor="woff2", layout_features=features, hinting=False, desubroutinize=True)
    cutter = Subsetter(options)
    cutter.populate(unicodes=letters)
    cutter.subset(font)
    plain = name.replace(" ", "")
    for place, text in ((_FAMILY, name), (_UNIQUE, plain), (_FULL, name), (_POSTSCRIPT, plain), (_TYPOGRAPHIC, name)):
        font["name"].setName(text, place, 3, 1, 0x409)
    font.flavor = "woff2"
    target.parent.mkdir(parents=True, exist_ok=True)
    font.save(target)
    return target.stat().st_size


def write_letters() -> None:
    """Write the fonts as a renderer of SVG reads them, and the width of each letter, for :mod:`mensura.charts`."""
    from fontTools.ttLib import TTFont
    from fontTools.varLib.instancer import instantiateVariableFont

    widths: dict[str, dict[str, int]] = {}
    for kind, weight in (("sans", 400), ("sans", 600), ("sans", 700), ("serif", SENTENCE)):
        face: Any = instantiateVariableFont(TTFont(TARGET / f"{kind}.woff2"), {"wght": weight})
        face.flavor = None
        face.save(CHARTS / f"{kind}-{weight}.ttf")
        glyphs, units = face.getGlyphSet(), 1000 / face["head"].unitsPerEm
        widths[kind if kind == "serif" else str(weight)] = {
            chr(code): round(glyphs[name].width * units) for code, name in sorted(face.getBestCmap().items())
        }
    text = json.dumps(widths, ensure_ascii=False, separators=(",", ":"))
    (CHARTS / "letters.json").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Write both fonts and the letters, and print the sizes of the fonts."""
    serif, sans = (Path(given) for given in sys.argv[1:3])
    sizes = {kind: subset(path, kind, TARGET / f"{kind}.woff2") for kind, path in (("serif", serif), ("sans", sans))}
    write_letters()
    print(", ".join(f"{kind} {size / 1000:.1f} kB" for kind, size in sizes.items()))
    if sum(sizes.values()) > MOST_BYTES:
        raise SystemExit(f"fonts: {sum(sizes.values())} bytes; expected {MOST_BYTES} or less. Keep fewer letters.")


if __name__ == "__main__":
    main()
