"""Page templates, and what stands in pages themselves instead of in files: style sheet, theme, their hashes.

In a template ``row.name`` reads a key of a mapping and never one of Python's methods. A style sheet in a file costs the
first page a further answer of the network before anything is painted, so the overview holds the whole sheet. Every page
holds the few lines that choose the theme, so that no script stands between a reader and the first picture. A strict
policy allows both by their hashes.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from mensura.charts.theme import palette_css

STATIC = Path(__file__).parent / "static"
"""The style sheet and the scripts, as they are written by hand."""
EARLY = (STATIC.with_name("templates") / "early.js").read_text(encoding="utf-8").strip()
"""The lines that run in every page before it is painted."""
EMBEDDED = "data:"
"""Where the fonts of a page that is one file are: in the page itself."""
_FACE = (
    "@font-face{{font-family:'Mensura {name}';src:url({source}) format('woff2');"
    "font-weight:{weights};font-display:swap}}\n"
)
_FACES = (("Serif", "serif", "400 650"), ("Sans", "sans", "400 700"))
_NUMBERED = re.compile(r"(?<!\S)(?=\S{1,18}(?!\S))\S+-\d\S*")
"""A short name with a number after a hyphen, such as GLM-5.2, which a browser would break."""


def whole_names(text: str) -> Markup:
    """Return a heading whose names with numbers stay on one line."""
    return Markup(_NUMBERED.sub(lambda name: f'<span class="whole">{name[0]}</span>', str(escape(text))))


_MAPPINGS = dict, Mapping  # the first is known at once


class Templates(jinja2.Environment):
    """Load the templates of a package and escape every value they print.

    Plain Jinja reads ``row.update`` as the method ``dict.update``, even where the row has a column of that name. Here a
    dot reads keys of a mapping only, so a column may have any name. Loop over a mapping with ``row|items``.
    """

    def __init__(self, package: str) -> None:
        super().__init__(loader=jinja2.PackageLoader(package), autoescape=True, trim_blocks=True, lstrip_blocks=True)

    def getattr(self, obj: Any, attribute: str) -> Any:  # noqa: ANN401
        """Return ``obj.attribute`` as templates see it."""
        if isinstance(obj, _MAPPINGS):
            return obj[attribute] if attribute in obj else self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)


@cache
def style_sheet(fonts: str | None = None) -> str:
    """Return the style sheet of every page, the colours of both themes first.

    ``fonts``: the way from the sheet to the folder of the fonts, or :data:`EMBEDDED` for a page that is one file;
    without it the reader's own faces serve.
    """
    faces = "" if fonts is None else "".join(_face(fonts, *face) for face in _FACES)
    return faces + palette_css() + (STATIC / "style.css").read_text(encoding="utf-8")


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
