"""Work on Ray: a stand-in runs it in this process, and the results are those without Ray."""

import json
import sys

import polars as pl
import pytest

from mensura.stitching import stitch

SMALL = ("--set", "streams=19")


def test_simulated_streams_are_those_of_one_process(here_ray, mensura_command):
    arguments = ("acceleration", "watch", "--simulate", 4, *SMALL, "--set", "runs=2", "--json")
    plain, spread = (json.loads(mensura_command(*arguments, *more).out) for more in ((), ("--set", "ray=local")))
    assert spread["detection"] == plain["detection"]
    assert here_ray.ran == 2


def test_a_cluster_that_cannot_finish_is_said_in_one_sentence(here_ray, monkeypatch, mensura_command):
    def fail(_):
        raise here_ray.exceptions.RayError("Failed to start a worker\nTraceback …")

    monkeypatch.setattr(here_ray, "get", fail)
    told = mensura_command("acceleration", "watch", "--simulate", 2, *SMALL, "--set", "runs=1", "--set", "ray=local")
    assert told.code == 2
    assert "did not finish the work (Failed to start a worker). Read its logs" in told.err


@pytest.mark.parametrize("kind", ["within", "subjects"])
def test_replicates_are_those_of_one_process(here_ray, kind):
    rows = [(f"m{i}", f"b{j}", 1 / (1 + 2.0 ** (j - i / 2))) for i in range(12) for j in range(6) if (i + j) % 4]
    fit = stitch(pl.DataFrame(rows, schema=["model", "benchmark", "score"], orient="row"), method="rosetta")
    plain, spread = (fit.bootstrap(10, seed=3, kind=kind, ray=ray) for ray in (None, "local"))
    assert spread.capabilities["low"].to_list() == pytest.approx(plain.capabilities["low"].to_list(), abs=1e-6)
    assert here_ray.ran == 4


@pytest.mark.parametrize("command", [("acceleration", "watch", "--simulate", 2), ("stitch", "--bootstrap", 2)])
def test_without_ray_the_extra_is_named(mensura_command, monkeypatch, command):
    monkeypatch.setitem(sys.modules, "ray", None)
    told = mensura_command(*command, "--set", "ray=local")
    assert (told.code, "needs the extra 'ray'" in told.err) == (2, True), told.err


def test_ray_without_work_for_it_is_refused(mensura_command):
    assert "--bootstrap is not given" in mensura_command("stitch", "--set", "ray=local").err
