"""Terms and what they mean, for pages: the text is that of ``docs/glossary.md``, the one source.

The package ships it as ``data/glossary.csv`` (``python -m tools.write_glossary``).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from markupsafe import Markup, escape

from mensura.core.errors import MensuraError
from mensura.core.frames import read_csv
from mensura.evidence import slug

FILE = Path(__file__).parent / "data" / "glossary.csv"


@cache
def glossary() -> dict[str, str]:
    """Return the meaning of each term."""
    return dict(read_csv(FILE).select("term", "meaning").iter_rows())


def term(name: str, said: str = "") -> Markup:
    """Return a term that shows its meaning on hover, by a tap and by the keyboard, without a script.

    ``said``: the words in the text, the term itself when not given.
    """
    known = {key.lower(): meaning for key, meaning in glossary().items()}
    if name.lower() not in known:
        raise MensuraError(f"term {name!r}: the glossary does not have it; expected one of {', '.join(glossary())}")
    meaning = known[name.lower()]
    tag = '<button type="button" class="term">{}<span role="tooltip">{}</span></button>'
    return Markup(tag).format(said or name, meaning[0].upper() + meaning[1:])


def term_id(name: str) -> str:
    """Return where the method page explains a term."""
    return str(escape(f"term-{slug(name)}"))
