"""The one place that checks arguments of public verbs: the kind that the signature states, by the argument's name."""

import inspect
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError, with_article

P = ParamSpec("P")
R = TypeVar("R")

BOUNDS = {
    "seed": (0, 2**63 - 1),
    "draws": (0, 1_000_000),
    "streams": (1, 1_000_000),
    "runs": (1, 10_000),
    "n": (1, 1_000_000),
    "rows": (1, 1_000_000),
    "top": (1, 1_000_000),
    "sample": (1, 10**9),
}
"""Whole numbers that a verb can use, by the name of the argument."""
ANY_BOUNDS = (-(2**63), 2**63 - 1)
"""Whole numbers that arrays can hold; no argument is larger."""
LONGEST = 4096
"""Characters of a text: more than any name, and as many as a path may have."""
LOOKED_AT = 10_000
"""Entries of a list that are checked; a longer one is checked by what reads it."""
SHOWN = 60
"""Characters of a wrong value in a message."""
WORDS: dict[Any, str] = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "a text",
    Path: "a path",
    date: "a date",
    pl.DataFrame: "a polars table",
    type(None): "None",
}


def check_arguments(verb: Callable[P, R]) -> Callable[P, R]:
    """Refuse arguments of another kind than the signature states, with the name of the argument.

    ``Any`` takes everything: tables and results are checked by what reads them. A wrong number of arguments stays a
    TypeError.
    """
    signature = inspect.signature(verb)
    kinds: dict[str, Any] = {}

    @wraps(verb)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        if not kinds:  # read when first called: annotations may name what is imported later
            kinds.update(dict.fromkeys(signature.parameters, Any) | get_type_hints(verb))
        bound = signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            if signature.parameters[name].kind in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL):
                continue
            may_be_list = any(get_origin(one) is Iterable for one in (kinds[name], *get_args(kinds[name])))
            if isinstance(value, Iterator) and may_be_list:  # looking at it would use it up
                value = bound.arguments[name] = list(value)
            if not _fits(value, kinds[name]) or (isinstance(value, str) and not _fits(value, str)):
                raise MensuraError(f"{name}: got {_shown(value)}; expected {_words(kinds[name])}")
            low, high = BOUNDS.get(name, ANY_BOUNDS)
            if isinstance(value, int | np.integer) and not low <= int(value) <= high:
                raise MensuraError(f"{name}: got {_shown(value)}; expected a whole number from {low} to {high}")
        return verb(*bound.args, **bound.kwargs)

    return checked


def _fits(value: Any, kind: Any) -> bool:
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any or isinstance(kind, TypeVar):
        return True
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is Literal:
        return isinstance(value, str | int) and value in inner
    if kind in (float, complex):  # a number is a complex one, too
        return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    if kind is str:
        return isinstance(value, str) and len(value) <= LONGEST and _can_be_written(value)
    if kind is Path:
        return isinstance(value, Path) and len(str(value)) <= LONGEST and _can_be_written(str(value))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(_fits(k, inner[0]) and _fits(v, inner[1]) for k, v in value.items())
    if origin in (list, tuple, set, Sequence, Iterable, Collection):
        return _is_list(value, origin) and all(_fits(one, inner[0]) for one in islice(value, LOOKED_AT))
    kind = origin or kind
    if not isinstance(kind, type):
        return True
    return isinstance(value, kind)


def _is_list(value: Any, origin: Any) -> bool:
    if isinstance(value, str | bytes | Mapping | pl.DataFrame | type):
        return False
    if origin in (list, tuple, set):
        return isinstance(value, origin | np.ndarray)
    return isinstance(value, Collection) and getattr(value, "ndim", 1) == 1


def _can_be_written(text: str) -> bool:
    """Tell whether a text can be a name: no lone surrogates, no null."""
    return "\x00" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _words(kind: Any) -> str:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_words(one) for one in inner))
    if origin is Literal:
        return "one of " + ", ".join(map(str, inner))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return "a mapping"
    if origin in (list, tuple, set, Sequence, Iterable, Collection):
        return f"a list of {_words(inner[0]).removeprefix('a ')}s" if inner and inner[0] in WORDS else "a list"
    if kind in WORDS:
        return WORDS[kind]
    name = getattr(origin or kind, "__name__", str(kind))
    return "evidence, as mensura.load() returns it" if name == "Evidence" else with_article(name)


def _shown(value: Any) -> str:
    text = ascii(value) if isinstance(value, str | bytes | int | float | Path) else f"a {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
