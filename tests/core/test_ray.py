"""Work on Ray: a stand-in runs it in this process, and the results are those without Ray."""

import sys

import polars as pl
import pytest

from mensura.stitching import stitch


def test_a_cluster_that_cannot_finish_is_said_in_one_sentence(here_ray, monkeypatch, mensura_command):
    def fail(_):
        raise here_ray.exceptions.RayError("Failed to start a worker\nTraceback …")

    monkeypatch.setattr(here_ray, "get", fail)
    told = mensura_command("stitch", "--bootstrap", 2, "--set", "ray=local")
    assert told.code == 2
    assert "did not finish the work (Failed to start a worker). Read its logs" in told.err


@pytest.mark.parametrize("kind", ["within", "subjects"])
def test_replicates_are_those_of_one_process(here_ray, kind):
    rows = [(f"m{i}", f"b{j}", 1 / (1 + 2.0 ** (j - i / 2))) for i in range(12) for j in range(6) if (i + j) % 4]
    fit = stitch(pl.DataFrame(rows, schema=["model", "benchmark", "score"], orient="row"), method="rosetta")
    plain, spread = (fit.bootstrap(10, seed=3, kind=kind, ray=ray) for ray in (None, "local"))
    assert spread.capabilities["low"].to_list() == pytest.approx(plain.capabilities["low"].to_list(), abs=1e-6)
    assert here_ray.ran == 4


def test_without_ray_the_extra_is_named(mensura_command, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    told = mensura_command("stitch", "--bootstrap", 2, "--set", "ray=local")
    assert (told.code, "needs the extra 'ray'" in told.err) == (2, True), told.err


def test_ray_without_work_for_it_is_refused(mensura_command):
    assert "--bootstrap is not given" in mensura_command("stitch", "--set", "ray=local").err
