"""Page templates: in them, ``row.name`` reads a key of a mapping and never one of Python's methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jinja2


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
