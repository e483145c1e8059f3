"""What stands in pages themselves instead of in files of its own, and the hashes by which a strict policy allows it.

A style sheet in a file costs the first page a further answer of the network before anything is painted, so the overview
holds the whole sheet; it names the file as well, for printing, so that the next page finds it at hand. Every page holds
the few lines that choose the theme, so that no script stands between a reader and the first picture.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path

from mensura.charts.canvas import palette_css

STATIC = Path(__file__).parent / "static"
"""The style sheet and the scripts, as they are written by hand."""
EARLY = """(() => {
const page = document.documentElement;
let chosen = null;
try { chosen = localStorage.getItem("theme"); } catch { /* a private window */ }
page.classList.add("js");
if (/[?&]embed\\b/.test(location.search)) page.classList.add("embedded");
page.dataset.theme = chosen || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
if (location.protocol !== "file:" && page.dataset.root !== undefined) for (const name of ["serif", "sans"]) {
const font = document.createElement("link");
Object.assign(font, { rel: "preload", as: "font", type: "font/woff2", crossOrigin: "" });
font.href = page.dataset.root + "static/fonts/" + name + ".woff2";
document.head.append(font);
}
})();"""
"""The lines that run in every page before it is painted."""


_FACE = (
    "@font-face{{font-family:'Mensura {name}';src:url({source}) format('woff2');"
    "font-weight:{weights};font-display:swap}}\n"
)
_FACES = (("Serif", "serif", "400 650"), ("Sans", "sans", "400 700"))
EMBEDDED = "data:"
"""Where the fonts of a page that is one file are: in the page itself."""
_STAND_INS = (
    "@font-face{font-family:'Mensura Serif Stand-in';src:local('Georgia'),local('Gelasio'),local('Noto Serif'),"
    "local('Liberation Serif'),local('Times New Roman');size-adjust:98%}\n"
    "@font-face{font-family:'Mensura Sans Stand-in';src:local('Arial'),local('Liberation Sans'),local('Roboto'),"
    "local('Helvetica Neue');size-adjust:107%}\n"
)
"""What stands in until the fonts are there: nearly as wide, so that no line breaks elsewhere afterwards."""


@cache
def style_sheet(fonts: str | None = None) -> str:
    """Return the style sheet of every page, the colours of both themes first.

    ``fonts``: the way from the sheet to the folder of the fonts, or :data:`EMBEDDED` for a page that is one file;
    without it the reader's own faces serve.
    """
    faces = "" if fonts is None else "".join(_face(fonts, *face) for face in _FACES)
    return faces + _STAND_INS + palette_css() + (STATIC / "style.css").read_text(encoding="utf-8")


def _face(fonts: str, name: str, file: str, weights: str) -> str:
    source = f"{fonts}{file}.woff2"
    if fonts == EMBEDDED:
        letters = (STATIC / "fonts" / f"{file}.woff2").read_bytes()
        source = f"data:font/woff2;base64,{base64.b64encode(letters).decode()}"
    return _FACE.format(name=name, source=source, weights=weights)


def page_sheet() -> str:
    """Return the style sheet as it stands in the first page."""
    return style_sheet("static/fonts/")


def policy_hash(text: str) -> str:
    """Return how a content security policy names a text that stands in a page: ``'sha256-…'``."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
