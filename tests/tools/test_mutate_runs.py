"""Which tests a mutant is shown to, and how it ends."""

import os
import time

import pytest

from tools import mutate, mutate_runs
from tools.mutants import Mutant, mutants_of
from tools.mutate_runs import HeardTest, Room, Tree

pytestmark = pytest.mark.slow

SOURCE = """
def doubled(x):
    return 2 * x

def halved(x):
    return x / 2

def unseen(x):
    return x + 1

def countdown(x):
    while x > 0:
        x -= 1
    return x

def left_behind():
    import subprocess
    return subprocess.Popen(["sleep", "1000"]).pid
"""

TESTS = """
from pathlib import Path
import pytest
from mensura import room

@pytest.fixture(scope="module")
def four():
    return room.doubled(2)

def test_first(four):
    assert four == 4

def test_again(four):
    assert room.halved(four) == 2

def test_alone():
    assert room.countdown(3) == 0

def test_left_behind():
    Path("left.txt").write_text(str(room.left_behind()))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of a small project."""
    project = tmp_path_factory.mktemp("project")
    for name, text in {"src/mensura/room.py": SOURCE, "tests/test_room.py": TESTS}.items():
        (project / name).parent.mkdir(parents=True)
        (project / name).write_text(text, encoding="utf-8")
    (project / "src/mensura/__init__.py").touch()
    (project / "pyproject.toml").touch()
    return Tree(project, tmp_path_factory.mktemp("copies") / "copy")


@pytest.fixture(scope="module")
def room(tree):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(tree.root))
        return tree.listen(["tests/test_room.py"])


def mutant(after: str) -> Mutant:
    """The mutant of the small project that shows this line."""
    file = "src/mensura/room.py"
    return next(one for one in mutants_of(file, SOURCE.encode()) if one.after == after)


def test_what_a_shared_fixture_calls_belongs_to_all_tests_that_use_it(room):
    called = {
        function: [test.name.split("::")[1] for test in room.tests if ("src/mensura/room.py", line) in test.calls]
        for line, function in ((2, "doubled"), (5, "halved"), (8, "unseen"), (11, "countdown"))
    }
    assert called == {
        "doubled": ["test_first", "test_again"],
        "halved": ["test_again"],
        "unseen": [],
        "countdown": ["test_alone"],
    }


@pytest.mark.parametrize(("after", "lives"), [("return 2 / x", False), ("return x * 2", False), ("return x - 1", True)])
def test_a_mutant_survives_where_no_test_looks(tree, room, after, lives):
    before = (tree.root / "src/mensura/room.py").read_bytes()
    assert tree.survives(mutant(after), room) is lives
    assert (tree.root / "src/mensura/room.py").read_bytes() == before


def test_a_mutant_without_end_is_stopped_by_its_processor_time(tree, room, monkeypatch):
    monkeypatch.setattr(mutate_runs, "_GRACE", 1.0)
    assert not tree.survives(mutant("x -= 0"), Room(room.files, room.tests, 0.0))


def test_no_process_of_a_run_stays(tree, room):
    left = int((tree.root / "left.txt").read_text(encoding="utf-8"))
    with pytest.raises(ProcessLookupError):
        for _ in range(600):  # until the system has buried it
            os.kill(left, 0)
            time.sleep(0.1)


def test_what_was_heard_is_kept_for_the_same_sources_and_tests(tree, room, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tree.root))
    monkeypatch.delattr(Tree, "_pytest")
    assert tree.listen(room.files) == room
    (tree.root / "tests" / "test_other.py").touch()
    with pytest.raises(AttributeError):
        tree.listen(room.files)


def test_tests_that_call_the_function_come_first_the_quickest_first():
    near, far = frozenset({("file.py", 4)}), frozenset({("file.py", 8)})
    tests = (
        HeardTest("slow.py::a", 9.0, near),
        HeardTest("quick.py::b", 1.0, near),
        HeardTest("slow.py::c", 0.5, near),
        HeardTest("other.py::d", 0.1, far),
    )
    room = Room(("other.py", "quick.py", "slow.py"), tests, 10.6)

    def shown(function):
        one = Mutant("file.py", 5, function, 0, 1, "", "", "")
        return [test.name for test in room.first(one)], room.ordered(one)

    assert shown(4) == (["slow.py::c", "quick.py::b"], ["quick.py", "slow.py", "other.py"])
    assert shown(0) == (["other.py::d", "slow.py::c", "quick.py::b"], ["other.py", "quick.py", "slow.py"])
    assert shown(20) == ([], ["other.py", "quick.py", "slow.py"]), "nobody was heard to call it: everybody is asked"


def test_tests_that_fail_without_a_mutant_are_shown(tree, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tree.root))
    (tree.root / "tests" / "test_red.py").write_text("def test_red():\n    assert 1 == 2\n", encoding="utf-8")
    try:
        with pytest.raises(SystemExit, match=r"(?s)without any mutant.*test_red\.py::test_red"):
            tree.listen(["tests/test_red.py"])
    finally:
        (tree.root / "tests" / "test_red.py").unlink()


def test_commands_meet_the_tests_of_the_page_about_them():
    found = mutate.tests_of("cli", mutate.ROOT)
    assert {"tests/cli/test_add.py", "tests/cli/test_stitch.py", "tests/test_docs.py"} <= set(found)
    assert "tests/demands/test_rubrics.py" not in found
