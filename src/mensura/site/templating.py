"""Page templates: in them, ``row.name`` reads a key of a mapping and never one of Python's methods."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import jinja2
from markupsafe import Markup, escape

_NUMBERED = re.compile(r"(?<!\S)(?=\S{1,18}(?!\S))\S+-\d\S*")
"""A short name with a number after a hyphen, such as GLM-5.2, which a browser would break."""


def whole_names(text: str) -> Markup:
    """Return a heading whose names with numbers stay on one line."""
    return Markup(_NUMBERED.sub(lambda found: f'<span class="whole">{found[0]}</span>', str(escape(text))))


class Templates(jinja2.Environment):
    """Load the templates of a package and escape every value they print.

    Plain Jinja reads ``row.update`` as the method ``dict.update``, even where the row has a column of that name. Here a
    dot reads keys of a mapping only, so a column may have any name. Loop over a mapping with ``row|items``.
    """

    def __init__(self, package: str) -> None:
        super().__init__(loader=jinja2.PackageLoader(package), autoescape=True, trim_blocks=True, lstrip_blocks=True)

    def getattr(self, obj: Any, attribute: str) -> Any:  # noqa: ANN401
        """Return ``obj.attribute`` as templates see it."""
        if isinstance(obj, Mapping):
            return obj[attribute] if attribute in obj else self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)
