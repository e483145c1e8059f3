"""What users rely on is listed, and nothing leaves the list unnoticed."""

import inspect
from importlib import import_module
from itertools import pairwise

import pytest

from tools.public import LISTED, public_list, public_names, read_commands
from tools.size import lines_of_code


def test_the_list_of_public_things_is_that_of_the_package():
    assert LISTED.read_text(encoding="utf-8") == public_list(), "run python -m tools.public, and say so in CHANGELOG.md"


def test_the_list_knows_names_and_options_that_the_readme_uses():
    assert {"load", "score_iq", "stitch"} <= set(public_names()["mensura"])
    assert "--add" in read_commands()["mensura iq"]


def test_a_line_of_code_is_no_docstring_comment_or_blank():
    text = '"""Module.\n\nMore."""\n\nx = 1  # why\n# a comment\n\n\ndef f():\n    """Say."""\n    return "text"\n'
    assert lines_of_code(text) == 3


@pytest.mark.parametrize("package", sorted(public_names()))
def test_public_functions_list_their_parameters_what_they_return_and_an_example(package):
    short = {}
    for name in public_names()[package]:
        verb = getattr(import_module(package), name)
        if inspect.isfunction(verb):
            signature = inspect.signature(verb)
            needed = {"Examples", *(["Parameters"] if signature.parameters else [])}
            needed |= set() if signature.return_annotation in (None, "None") else {"Returns"}
            lines = (verb.__doc__ or "").splitlines()
            has = {line.strip() for line, under in pairwise(lines) if under.strip("- ") == ""}
            if needed - has:
                short[name] = sorted(needed - has)
    assert short == {}


@pytest.mark.parametrize("package", sorted(public_names()))
def test_who_names_no_seed_gets_the_numbers_of_seed_0(package):
    """Numbers of the documentation come again without a word about seeds."""
    others = {}
    for name in public_names()[package]:
        public = getattr(import_module(package), name)
        methods = inspect.getmembers(public, inspect.isfunction) if inspect.isclass(public) else [(name, public)]
        for called, one in methods:
            seed = inspect.signature(one).parameters.get("seed") if inspect.isfunction(one) else None
            if seed is not None and seed.default not in (0, seed.empty):
                others[f"{name}.{called}"] = seed.default
    assert others == {}
