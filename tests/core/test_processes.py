"""Work in other processes: results and errors come back, nothing of the working folder runs, nothing is left over."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

import mensura
from mensura.charts.render import check_figure
from mensura.core.cache import VARIABLE
from mensura.core.errors import MensuraError, listed_names
from mensura.core.files import write_text
from mensura.core.frames import read_csv
from mensura.core.processes import Processes, _ended, _search_path, collect, in_words, run_apart
from mensura.stitching import stitch

HOSTILE = "import os; open(os.environ['RAN'], 'a').write(__name__ + '\\n'); raise SystemExit('hostile')\n"


@pytest.mark.slow
def test_a_function_returns_its_result_from_another_process():
    with Processes() as processes:
        texts = [processes.submit(json.dumps, {"n": n}, sort_keys=True) for n in range(5)]
        assert [text.result() for text in texts] == [f'{{"n": {n}}}' for n in range(5)]
        assert processes.submit(os.getpid).result() != os.getpid()


@pytest.mark.slow
def test_arguments_are_those_of_the_call():
    numbers = {"a": 1}
    with Processes(1) as processes:
        text = processes.submit(json.dumps, numbers)
        numbers["b"] = 2
        assert text.result() == '{"a": 1}'


@pytest.mark.slow
def test_an_error_for_the_user_comes_back_as_it_was_raised(tmp_path):
    with Processes() as processes:
        with pytest.raises(MensuraError, match=r"^a\.gif: unknown format"):
            processes.submit(check_figure, Path("a.gif"), 89).result()
        with pytest.raises(FileNotFoundError, match=r"nothing\.csv"):
            processes.submit(read_csv, tmp_path / "nothing.csv").result()


@pytest.mark.slow
def test_any_other_error_is_logged_and_reported_in_one_sentence(caplog):
    with Processes() as processes, pytest.raises(MensuraError, match=r"loads: failed in its process .*JSONDecodeError"):
        processes.submit(json.loads, "[1,").result()
    assert "Traceback" in caplog.text


@pytest.mark.slow
def test_a_killed_process_is_reported_with_what_to_do():
    with Processes() as processes, pytest.raises(MensuraError, match="killed before it ended; free some memory"):
        processes.submit(signal.raise_signal, signal.SIGKILL).result()


@pytest.mark.slow
def test_no_python_file_of_the_working_folder_runs_in_a_child(tmp_path, monkeypatch):
    """A download folder may hold a json.py; importing it would run somebody else's code."""
    for name in ("json", "pickle", "polars", "mensura", "resvg_py", "threading", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(HOSTILE)
    ran = tmp_path / "ran.txt"
    monkeypatch.setenv("RAN", str(ran))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    with Processes() as processes:
        assert processes.submit(listed_names, ["a", "b"]).result() == "a, b"
    assert not ran.exists()


@pytest.mark.slow
def test_a_report_from_a_hostile_folder_runs_nothing_of_it(tmp_path):
    for name in ("json", "resvg_py", "polars", "numpy", "multiprocessing"):
        (tmp_path / f"{name}.py").write_text(HOSTILE)
    environment = {**os.environ, "RAN": str(tmp_path / "ran.txt"), VARIABLE: "off"}
    code = (
        "from mensura.core.processes import Processes\n"
        "from mensura.charts.render import to_png\n"
        "with Processes() as processes:\n"
        '    svg = \'<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"></svg>\'\n'
        "    print(processes.submit(to_png, svg, 1.0).result()[1:4].decode())\n"
    )
    command = [sys.executable, "-P", "-c", code]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.strip()) == (0, "PNG"), run.stderr
    assert not (tmp_path / "ran.txt").exists()


def sleeping(note):
    """Python that writes the number of its process to a file, then sleeps for an hour."""
    return f"import os, pathlib, time; pathlib.Path({str(note)!r}).write_text(str(os.getpid())); time.sleep(3600)"


@pytest.mark.slow
def test_leaving_the_block_ends_what_still_runs(tmp_path):
    start = time.monotonic()
    with Processes(1) as processes:
        running = processes.submit(exec, sleeping(tmp_path / "pid"))
        waiting = processes.submit(time.sleep, 3600)
        while not (tmp_path / "pid").exists():
            time.sleep(0.01)
    assert running.exception() is not None or running.cancelled()
    assert waiting.cancelled()
    assert time.monotonic() - start < 600


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "nice"), reason="no priorities on this system")
def test_a_process_steps_back_as_far_as_asked():
    here = os.nice(0)
    with Processes(niceness=3) as processes:
        assert processes.submit(os.nice, 0).result() == here + 3


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs the process table of Linux")
def test_a_child_ends_with_its_killed_parent(tmp_path):
    code = (
        "from mensura.core.processes import Processes\n"
        "with Processes() as processes:\n"
        f"    processes.submit(exec, {sleeping(tmp_path / 'pid')!r}).result()\n"
    )
    parent = subprocess.Popen([sys.executable, "-P", "-c", code], env=dict(os.environ))
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        time.sleep(0.01)
    child = Path("/proc") / (tmp_path / "pid").read_text()
    assert child.exists()
    parent.kill()
    parent.wait()
    for _ in range(6000):
        try:
            if "State:\tZ" in (child / "status").read_text():
                return
        except (FileNotFoundError, ProcessLookupError):
            return
        time.sleep(0.01)
    pytest.fail("the child outlived its parent")


@pytest.mark.slow
def test_a_script_without_a_main_guard_may_start_processes(tmp_path):
    """Python's own pools would run the script again in every child."""
    write_text(
        tmp_path / "script.py",
        "import os\nfrom mensura.core.processes import Processes\n"
        "print('once')\n"
        "with Processes() as processes:\n    assert processes.submit(os.getpid).result() != os.getpid()\n",
    )
    run = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=True)
    assert run.stdout == "once\n"


@pytest.mark.slow
def test_cancelled_work_of_a_server_is_killed():
    async def start_and_cancel():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(run_apart(time.sleep, 3600), 1)

    start = time.monotonic()
    asyncio.run(start_and_cancel())
    assert time.monotonic() - start < 600


@pytest.mark.slow
def test_work_of_a_server_comes_back_with_its_value_at_a_lower_priority():
    assert asyncio.run(run_apart(json.loads, "[42]")) == [42]
    if hasattr(os, "nice"):
        assert asyncio.run(run_apart(os.nice, 0)) > os.nice(0)
        assert asyncio.run(run_apart(os.nice, 0, niceness=0)) == os.nice(0)


# Ray: a stand-in runs the work in this process, and the results are those without Ray


@pytest.mark.slow
def test_a_cluster_that_cannot_finish_is_said_in_one_sentence(here_ray, monkeypatch, mensura_command):
    def fail(_):
        raise here_ray.exceptions.RayError("Failed to start a worker\nTraceback …")

    monkeypatch.setattr(here_ray, "get", fail)
    told = mensura_command("stitch", "--bootstrap", 2, "--set", "ray=local")
    assert told.code == 2
    assert "did not finish the work (Failed to start a worker). Read its logs" in told.err


@pytest.mark.slow
def test_replicates_are_those_of_one_process(here_ray):
    rows = [(f"m{i}", f"b{j}", 1 / (1 + 2.0 ** (j - i / 2))) for i in range(12) for j in range(6) if (i + j) % 4]
    fit = stitch(pl.DataFrame(rows, schema=["model", "benchmark", "score"], orient="row"), method="rosetta")
    plain, spread = (fit.bootstrap(10, seed=3, ray=ray) for ray in (None, "local"))
    assert spread.capabilities["low"].to_list() == pytest.approx(plain.capabilities["low"].to_list(), abs=1e-6)
    assert here_ray.ran == 4


@pytest.mark.slow
def test_without_ray_the_extra_is_named(mensura_command, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    told = mensura_command("stitch", "--bootstrap", 2, "--set", "ray=local")
    assert (told.code, "needs the extra 'ray'" in told.err) == (2, True), told.err


@pytest.mark.slow
def test_ray_without_work_for_it_is_refused(mensura_command):
    assert "--bootstrap is not given" in mensura_command("stitch", "--set", "ray=local").err


def test_the_last_words_of_a_process_are_its_reason(caplog):
    def compute():
        pass

    with caplog.at_level("ERROR", logger="mensura.processes"):
        told = str(_ended(compute, "Traceback\n  line\nKeyError: 'x'\n"))
    assert told == "compute: failed in its process (KeyError: 'x'); please report this error"
    assert "compute failed in its process:\nTraceback" in caplog.text
    assert str(_ended(partial(compute), " \n")).startswith(
        "work: its process was killed before it ended; free some mem"
    )


def test_a_process_searches_where_this_one_does_but_for_the_working_folder(monkeypatch, tmp_path):
    home = str(Path(mensura.__file__).resolve().parents[1])
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), home, "/elsewhere"])
    monkeypatch.chdir(tmp_path)
    assert _search_path() == os.pathsep.join([home, "/elsewhere"])
    monkeypatch.chdir(home)
    assert _search_path() == os.pathsep.join([str(tmp_path.resolve()), home, "/elsewhere"])


def test_an_error_of_the_work_itself_is_told_and_others_are_the_clusters():
    fault = RuntimeError("lost\nTraceback")
    assert str(in_words(fault)).startswith("Ray: the cluster did not finish the work (lost). Read its logs")
    fault.cause = MensuraError("mine")
    assert in_words(fault) is fault.cause
    assert collect(SimpleNamespace(get=lambda handles: [2 * one for one in handles]), [1, 2]) == [2, 4]
