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
page.dataset.theme = chosen || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
})();"""
"""The lines that run in every page before it is painted."""


@cache
def style_sheet() -> str:
    """Return the style sheet of every page, the colours of both themes first."""
    return palette_css() + (STATIC / "style.css").read_text(encoding="utf-8")


def policy_hash(text: str) -> str:
    """Return how a content security policy names a text that stands in a page: ``'sha256-…'``."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
