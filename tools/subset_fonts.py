"""Make the two small fonts of the pages from their open originals: ``python -m tools.subset_fonts SERIF SANS``.

SERIF and SANS are the variable fonts Source Serif 4 (axes opsz and wght) and Inter (axis wght), Latin part, as woff2.
The npm packages ``@fontsource-variable/source-serif-4`` and ``@fontsource-variable/inter`` hold them as
``files/source-serif-4-latin-opsz-normal.woff2`` and ``files/inter-latin-wght-normal.woff2``, with their licence (SIL
Open Font License 1.1). The tool needs ``fonttools`` and ``brotli``. A changed font may not keep a reserved name, so
the results are called Mensura Serif and Mensura Sans.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "src" / "mensura" / "site" / "static" / "fonts"
MOST_BYTES = 60_000
"""Both files together."""
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


def main() -> None:
    """Write both fonts and print their sizes."""
    serif, sans = (Path(given) for given in sys.argv[1:3])
    sizes = {kind: subset(path, kind, TARGET / f"{kind}.woff2") for kind, path in (("serif", serif), ("sans", sans))}
    print(", ".join(f"{kind} {size / 1000:.1f} kB" for kind, size in sizes.items()))
    if sum(sizes.values()) > MOST_BYTES:
        raise SystemExit(f"fonts: {sum(sizes.values())} bytes; expected {MOST_BYTES} or less. Keep fewer letters.")


if __name__ == "__main__":
    main()
