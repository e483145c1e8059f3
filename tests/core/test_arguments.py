"""Arguments of another kind than a verb takes are refused by their name, in words, before any work."""

import inspect
from collections.abc import Iterable
from datetime import date
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Protocol, get_args, get_type_hints

import numpy as np
import polars as pl
import pytest

import mensura
from benchmarks import fuzz
from mensura.core.arguments import check_arguments
from mensura.core.errors import MensuraError


@check_arguments
def verb(
    table: object,
    *,
    name: str = "a",
    path: str | Path | None = None,
    level: float = 0.9,
    draws: int = 1,
    seed: int = 0,
    day: date | None = None,
    weights: "dict[str, float] | None" = None,
    names: "list[str] | None" = None,
    **settings: object,
) -> str:
    """Do nothing."""
    return name


def test_the_kinds_of_every_verb_can_be_read_and_checked():
    """A name that only a type checker imports, or a protocol that ``isinstance`` refuses, would end a user's call."""
    checked, kinds = 0, []
    names = [found.name for found in walk_packages(mensura.__path__, "mensura.") if found.name != "mensura.__main__"]
    for module in map(import_module, names):
        classes = [one for one in vars(module).values() if inspect.isclass(one) and one.__module__ == module.__name__]
        for member in (one for holder in (module, *classes) for one in list(vars(holder).values())):
            if inspect.isfunction(member) and member.__code__ is verb.__code__:
                checked += 1
                kinds += get_type_hints(member).values()
    for kind in kinds:
        kinds += get_args(kind)
    for kind in (one for one in kinds if isinstance(one, type) and Protocol in one.__mro__):
        isinstance(None, kind)
    assert checked > 60


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"name": "x", "level": 1, "draws": np.int64(3), "seed": 0, "day": date(2025, 1, 1)},
        {"path": Path("here"), "weights": {"a": 1, "b": 0.5}, "names": ["a"], "anything": object()},
        {"level": np.float64(0.5), "path": "there"},
    ],
)
def test_what_the_signature_states_is_taken(given):
    assert verb(pl.DataFrame(), **given) == given.get("name", "a")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"draws": "many"}, "draws: got 'many'; expected a whole number"),
        ({"draws": 1.5}, "draws: got 1.5; expected a whole number"),
        ({"draws": True}, "draws: got True; expected a whole number"),
        ({"draws": 10**30}, "draws: got 1000000000000000000000000000000; expected a whole number from 0 to 1000000"),
        ({"seed": -1}, "seed: got -1; expected a whole number from 0 to"),
        ({"seed": np.int64(-1)}, "seed: got a int64; expected a whole number from 0 to"),
        ({"level": "high"}, "level: got 'high'; expected a number"),
        ({"level": None}, "level: got a NoneType; expected a number"),
        ({"name": "\ud800"}, r"name: got '\\ud800'; expected a text"),
        ({"name": "n" * 10_000}, "expected a text"),
        ({"path": b"bytes"}, "expected a text or a path or None"),
        ({"day": "2025-01-01"}, "day: got '2025-01-01'; expected a date or None"),
        ({"weights": {"a": "much"}}, "weights: got a dict; expected a mapping or None"),
        ({"names": "a"}, "names: got 'a'; expected a list of texts or None"),
        ({"names": [1]}, "names: got a list; expected a list of texts or None"),
    ],
)
def test_what_it_does_not_state_is_refused_by_name(given, said):
    with pytest.raises(MensuraError, match=said):
        verb(pl.DataFrame(), **given)


def test_an_iterator_is_taken_and_not_used_up():
    @check_arguments
    def listed(names: Iterable[str]) -> list[str]:
        return list(names)

    assert listed(name for name in ("a", "b")) == ["a", "b"]
    with pytest.raises(MensuraError, match="names: got 'ab'; expected a list of texts"):
        listed("ab")
    with pytest.raises(MensuraError, match="names: got a list; expected a list of texts"):
        listed(iter([1]))


def test_a_wrong_number_of_arguments_stays_a_type_error():
    with pytest.raises(TypeError, match="missing a required argument"):
        verb()


def test_public_verbs_name_the_argument():
    with pytest.raises(MensuraError, match=r"evidence: got 'board.csv'; expected evidence, as mensura.load"):
        mensura.score_iq("board.csv")
    with pytest.raises(MensuraError, match="seed: got -3"):
        mensura.forecast(seed=-3)
    with pytest.raises(MensuraError, match="rules: got 'x'; expected a CountRules or None"):
        mensura.fit_responses(pl.DataFrame(), rules="x")


@pytest.mark.slow
def test_a_few_hundred_wrong_calls_end_in_words(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # a wrong call may still write where it was told to
    monkeypatch.setattr("sys.argv", ["fuzz", "--tries", "300", "--seed", "77"])
    fuzz.main()
    assert "failed 0" in capsys.readouterr().out


def test_a_number_too_large_for_an_array_is_refused():
    with pytest.raises(MensuraError, match=r"^pooling: got -1000000000000000000000000000000; expected a whole number"):
        mensura.stitch(pooling=-(10**30))


ENDS = {
    "seed": (0, 2**63 - 1),
    "draws": (0, 1_000_000),
    "streams": (1, 1_000_000),
    "runs": (1, 10_000),
    "n": (1, 1_000_000),
    "rows": (1, 1_000_000),
    "top": (1, 1_000_000),
    "sample": (1, 1_000_000_000),
    "other": (-(2**63), 2**63 - 1),
}


@pytest.mark.parametrize(("name", "ends"), ENDS.items())
def test_a_whole_number_lies_between_the_ends_of_its_argument(name, ends):
    """A table of a billion items is the largest that anybody samples; a million draws are an afternoon."""

    def counted(number: int) -> int:
        return number

    kind = inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=int)
    counted.__signature__ = inspect.Signature([kind])
    verb = check_arguments(counted)
    assert [verb(end) for end in ends] == list(ends)
    for beyond in (ends[0] - 1, ends[1] + 1):
        with pytest.raises(MensuraError, match=f"^{name}: got {beyond}; expected a whole number from {ends[0]} to"):
            verb(beyond)
