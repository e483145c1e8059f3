"""Ids: what a model, benchmark, group or source may be called, and the name its pages and files get.

An id is a key, a word in messages and tables, and, through :func:`slug`, a file name and an address. So it may be any
name that people give to models, in any script, but holds nothing that a path, a terminal or a page could take for
something else.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from mensura.core.errors import MensuraError

LONGEST = 100
MARKS = " ._-+:/()[],@="
ALLOWED = (
    f"an id: at most {LONGEST} letters and digits of any script, single spaces and {' '.join(MARKS.strip())}, "
    "beginning with a letter or digit"
)

_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
_LETTERS_AND_DIGITS = ("L", "N")  # general categories of Unicode
_ACCENTS = "M"
_PLAIN = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9_-])?")
_READABLE = 60  # letters of an id that its slug repeats for the reader
_DIGEST = 32  # hexadecimal digits, 128 bits: nobody finds two ids that share them


def id_fault(text: str) -> str | None:
    """Return what is wrong with an id, in words that follow "expected", or nothing where it may stand."""
    if not 0 < len(text) <= LONGEST:
        return f"{ALLOWED} (this has {len(text)})"
    stray = next((sign for sign in text if sign not in MARKS and not _is_word(sign)), None)
    if stray is not None:
        return f"{ALLOWED} (without U+{ord(stray):04X})"
    if unicodedata.normalize("NFC", text) != text:
        return f"{ALLOWED}, composed as Unicode's form NFC has it (accents joined to their letters)"
    if not unicodedata.category(text[0]).startswith(_LETTERS_AND_DIGITS):
        return ALLOWED
    if text[-1] in " ./" or "  " in text:
        return f"{ALLOWED}, without a space, dot or slash at its end"
    if any(not part.strip() or part.lstrip().startswith(".") for part in text.split("/")):
        return f"{ALLOWED}; between slashes a name that begins with no dot"
    if _is_reserved(text):
        return f"{ALLOWED}, and no name that an operating system keeps for itself ({text.split('.')[0]})"
    return None


def require_id(text: str, name: str) -> str:
    """Return an id that may stand, or refuse it; ``name`` says in the message where it was found."""
    fault = id_fault(text)
    if fault is not None:
        raise MensuraError(f"{name}: got {text[:LONGEST]!r}; expected {fault}")
    return text


def fold(text: str) -> str:
    """Return what an id is without case and compatibility forms: ids that agree in this are twins."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def slug(text: str) -> str:
    """Return the name of an id in files and addresses: a to z, 0 to 9 and . _ - ~, at most 100 characters.

    A plain id (``claude-opus-4.8``) is its own slug. Any other becomes what can be read of it, ``~`` and a digest:
    ``Qwen2.5 72B (FP8)`` is ``qwen2.5-72b-fp8~`` and 32 hexadecimal digits. Different ids have different slugs, also
    where a file system ignores case.
    """
    if len(text) <= LONGEST and _PLAIN.fullmatch(text) and not _is_reserved(text):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{readable(text)}~{digest[:_DIGEST]}"


def readable(text: str) -> str:
    """Return what can be read of an id in a to z, 0 to 9, . and -; different ids may give the same."""
    latin = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii").lower()
    return re.sub(r"[^a-z0-9.]+", "-", latin)[:_READABLE].strip("-.") or "id"


def _is_word(sign: str) -> bool:
    return unicodedata.category(sign).startswith((*_LETTERS_AND_DIGITS, _ACCENTS))


def _is_reserved(text: str) -> bool:
    return fold(text).split(".")[0].strip() in _RESERVED
