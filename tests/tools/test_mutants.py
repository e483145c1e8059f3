"""What the mutation tool changes, and what it leaves alone."""

import random

import pytest

from tools import mutate
from tools.mutants import mutants_of


def changed(source: str) -> list[str]:
    """Every line that a mutant of ``source`` shows."""
    return [mutant.after for mutant in mutants_of("file.py", source.encode())]


@pytest.mark.parametrize(
    ("line", "mutants"),
    [
        ("x = a + b", ["x = a - b"]),
        ("x = (a) * (b)", ["x = (a) / (b)"]),
        ("x = a < b", ["x = a <= b", "x = a >= b"]),
        ("x = a is not b", ["x = a is b"]),
        ("x = a and b", ["x = a or b"]),
        ("x = not a", ["x = a"]),
        ("x = -a", ["x = a"]),
        ("x = f(7)", ["x = f(6)", "x = f(8)"]),
        ("x = f(0)", ["x = f(1)"]),
        ("x = 0.5", ["x = 0.25", "x = 1.0"]),
        ("x = f(deep=True)", ["x = f(deep=False)"]),
        ("x = np.minimum(a, b)", ["x = np.maximum(a, b)"]),
        ("x = min(a)", ["x = max(a)"]),
        ("x = range(n)", ["x = range(n - 1)"]),
        ("é = 'ü' if a == b else c", ["é = 'ü' if a != b else c"]),
    ],
)
def test_each_operator_shows_its_mutants(line, mutants):
    assert sorted(changed(line)) == sorted(mutants)


def test_a_returned_value_is_lost():
    assert changed("def f(a):\n    return g(a)\n") == ["return None"]


@pytest.mark.parametrize(
    "source",
    [
        '"""Two of 3."""\n',
        "def f(a: Literal[1, 2], b: int | None) -> tuple[int, int]: ...",
        "Option = Annotated[int, Help(least=1)]",
        "Either = str | None",
        "raise ValueError(f'expected {1 + 1} or more')",
        "__all__ = ['a' + 'b']",
        "if TYPE_CHECKING:\n    limit = 3",
        "@dataclass(frozen=True)\nclass A:\n    x: int",
        "x = zip(a, b, strict=True)",
        "x = folder / 'name'",
        "x = isinstance(a, str | None)",
        "x = f'{1 + 1:.2f}'",
    ],
)
def test_what_no_test_can_see_is_left_alone(source):
    assert changed(source) == []


def test_a_mutant_knows_its_line_and_function_and_changes_nothing_else():
    source = b"import a\n\n\n@a.cached\ndef f(x):\n    # x + 1\n    return [x,\n            x + y]  # sum\n"
    mutant = next(one for one in mutants_of("file.py", source) if "x - y" in one.after)
    assert (mutant.line, mutant.function) == (8, 4)
    assert mutant.apply(source) == source.replace(b"x + y", b"x - y")


def test_places_are_drawn_once_before_any_is_drawn_twice():
    mutants = mutants_of("file.py", b"x = f(5, 6, 7)")
    drawn = mutate.choose(mutants, 3, random.Random(0))
    assert len(mutants) == 6
    assert len({mutant.start for mutant in drawn}) == 3
    assert len(mutate.choose(mutants, 99, random.Random(0))) == 6


def test_every_explained_survivor_still_stands_in_its_file():
    lines = {
        file: {line.strip() for line in (mutate.ROOT / file).read_text(encoding="utf-8").splitlines()}
        for file, _, _ in mutate.known_equivalent()
    }
    assert [entry for entry in mutate.known_equivalent() if entry[1] not in lines[entry[0]]] == []
