"""Shared by all tests: the command line as a user runs it, and the development data where it is there."""

import os
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import hypothesis
import pytest
from typer.testing import CliRunner

from mensura.cli import main, output
from mensura.core.processes import ONE_THREAD
from tests.few_models import of_models
from tests.llm import small_model as small
from tests.site.hostile import hostile_evidence

hypothesis.settings.register_profile("mensura", deadline=None, derandomize=True)
hypothesis.settings.load_profile("mensura")

main.build_app = cache(main.build_app)  # each program is built once in a process, not for each of a thousand calls
main.typer.main.get_command = cache(main.typer.main.get_command)

_CACHE = pytest.StashKey[str]()
_PLAIN = "MENSURA_PLAIN_TESTS"
"""Set for the workers of a ``pytest`` without arguments."""
PATIENCE = 600.0  # seconds to wait for the process that makes what all tests read, on however busy a machine
SHARED = Path(__file__).parents[2] / "shared"


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Use every processor for a plain ``pytest``, and leave slow and browser tests to continuous integration."""
    is_worker = hasattr(config, "workerinput") or "PYTEST_XDIST_WORKER" in os.environ  # it would start workers too
    if not is_worker and not config.invocation_params.args and config.pluginmanager.hasplugin("xdist"):
        config.option.numprocesses = os.cpu_count() or 1
        config.option.dist = "loadfile"
        config.option.loadscopereorder = False  # the order below is better
        os.environ[_PLAIN] = "1"  # workers inherit it; options that are set here do not reach them
        os.environ.update(ONE_THREAD, POLARS_MAX_THREADS="1")  # the processes use the processors, not their threads


def pytest_configure(config):
    """Keep results in a folder of this run: shared by its processes, never what an earlier version computed."""
    if not hasattr(config, "workerinput"):
        config.stash[_CACHE] = tempfile.mkdtemp(prefix="mensura-tests-")
        os.environ["MENSURA_CACHE"] = config.stash[_CACHE]


def pytest_unconfigure(config):
    if _CACHE in config.stash:
        shutil.rmtree(config.stash[_CACHE], ignore_errors=True)


_LONGEST = (
    *("test_tutorials", "test_pooled", "test_agent_server", "test_pages", "test_disks"),
    *("test_joint", "test_degenerate", "test_shapes", "test_notebooks", "test_relatives", "test_contract"),
    *(
        "test_exam_browser",
        "test_accessibility",
        "test_at_hand",
        "test_checks",
        "test_preview",
        "test_interface",
        "test_report",
    ),
)
"""Files that take longest. They come first, so that no process is still busy with one when the others have ended."""


def pytest_collection_modifyitems(config, items):
    """Mark the tests that drive a browser; of a plain ``pytest`` leave these and slow ones out."""
    places = {name: place for place, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
    if _PLAIN in os.environ:
        slow = [bool(item.get_closest_marker("slow") or item.get_closest_marker("browser")) for item in items]
        config.hook.pytest_deselected(items=[item for item, left_out in zip(items, slow, strict=True) if left_out])
        items[:] = [item for item, left_out in zip(items, slow, strict=True) if not left_out]


@dataclass(frozen=True)
class Run:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def mensura_command(monkeypatch, capsys):
    """Run ``mensura ARGS…`` in this process, its error handling included, on a terminal of so many columns.

    ``settings`` become words for ``--set``.
    """

    def run(*arguments: object, width: int = 200, settings: dict[str, object] | None = None) -> Run:
        for name, value in (settings or {}).items():
            arguments += ("--set", f"{name}={value}")
        monkeypatch.setattr("sys.argv", ["mensura", *map(str, arguments)])
        monkeypatch.setattr(output.console, "_width", width)
        with pytest.raises(SystemExit) as end:
            main.main()
        printed = capsys.readouterr()
        return Run(int(end.value.code or 0), printed.out, printed.err)

    return run


@pytest.fixture
def runner() -> CliRunner:
    return CliRunner()


@pytest.fixture(scope="session")
def once(tmp_path_factory) -> Callable[[str, Callable[[Path], None]], Path]:
    """Return a folder that is filled once, however many processes test: the first to come fills it, others wait."""
    base = tmp_path_factory.getbasetemp()
    common = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def made(name: str, fill: Callable[[Path], None]) -> Path:
        folder, done = common / name, common / f"{name}.done"
        try:
            folder.mkdir()
        except FileExistsError:
            until = time.monotonic() + PATIENCE
            while not done.exists():
                assert time.monotonic() < until, f"{name} was not made in {PATIENCE:.0f} seconds"
                time.sleep(0.2)
        else:
            fill(folder)
            done.touch()
        return folder

    return made


@pytest.fixture(scope="session")
def evidence_folder(once) -> Path:
    """The embedded evidence with a few hostile names in it, so that every page of the one report carries them."""
    return once("evidence", hostile_evidence)


@pytest.fixture(scope="session")
def few_models(once) -> Path:
    """A folder of evidence with ten models."""
    return once("few-models", lambda folder: of_models(10).save(folder))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of development data beside the project; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"development data not found at {SHARED}")
    return SHARED


@pytest.fixture(scope="module")
def ray():
    """Ray with two processors of this machine, whose workers find the package and the tests."""
    ray = pytest.importorskip("ray", reason="the extra ray is not installed")
    os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    root = Path(__file__).parents[1]
    path = os.pathsep.join([str(root), str(root / "src")])
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": path}})
    yield ray
    ray.shutdown()


@pytest.fixture(scope="session")
def small_model():
    """The address of a real small language model; tests that need it skip where it is not installed."""
    if reason := small.missing():
        pytest.skip(reason)
    with small.running() as address:
        yield address


class HereRay:
    """The functions of Ray that work and passes use, in this process; what is handed over is pickled as Ray would."""

    def __init__(self):
        self.asked = []
        self.ran = 0

    def is_initialized(self):
        return bool(self.asked)

    def init(self, **settings):
        if settings["address"] == "nowhere":
            raise ConnectionError("nothing listens there")
        self.asked.append(settings["address"])

    def cluster_resources(self):
        return {"CPU": 2.0}

    def put(self, value):
        return SimpleNamespace(held=pickle.dumps(value))

    def remote(self, **_):
        def run(function, held):
            self.ran += 1
            sent = [one.held if isinstance(one, SimpleNamespace) else pickle.dumps(one) for one in held]
            return pickle.loads(pickle.dumps(function(*map(pickle.loads, sent))))

        return lambda function: SimpleNamespace(remote=lambda *held: run(function, held))

    exceptions = SimpleNamespace(RayError=RuntimeError)

    def get(self, found):
        return found


@pytest.fixture
def here_ray(monkeypatch):
    """Return a stand-in for Ray that runs the work in this process."""
    stand_in = HereRay()
    monkeypatch.setitem(sys.modules, "ray", stand_in)
    return stand_in
