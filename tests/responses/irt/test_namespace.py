"""One algorithm, several machines: PyTorch, double precision and Ray give the numbers of NumPy."""

import json
import os
import signal
import sys
from functools import partial

import numpy as np
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import FitOptions, fit_responses, read_responses, write_store
from mensura.responses.irt.fitting import fit_held, start
from mensura.responses.irt.model import MODELS
from mensura.responses.irt.namespace import TorchArrays, namespace
from mensura.responses.irt.shards import of_matrix, placed
from mensura.responses.store import RayPass, parts_of
from tests.responses.conftest import as_long, draw


def fitted(space, model, *, missing, seed=1):
    right = draw(400, 60, seed=seed).wide.drop("subject").to_numpy().astype(np.uint8)
    trials = None
    if missing:
        trials = np.random.default_rng(seed).integers(0, 3, right.shape).astype(np.uint8)
        right = np.minimum(right * 2, trials)
    held = placed(space, of_matrix(right, trials, np.arange(400) % 2))
    return fit_held(space, held, start(model, np.full(60, 0.5), 2))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("missing", [False, True])
def test_single_and_double_precision_agree(model, missing):
    one, other = (fitted(namespace(double=double), model, missing=missing) for double in (False, True))
    assert one.converged
    assert np.allclose(one.parameters.flat(), other.parameters.flat(), atol=1e-3)


@pytest.mark.parametrize("model", MODELS)
def test_torch_gives_the_numbers_of_numpy(model):
    pytest.importorskip("torch", reason="the extra gpu is not installed")
    one, other = (fitted(namespace(device), model, missing=True) for device in ("numpy", "cpu"))
    assert np.allclose(one.parameters.flat(), other.parameters.flat(), atol=1e-3)


def test_three_bfloat16_hold_a_float():
    torch = pytest.importorskip("torch", reason="the extra gpu is not installed")
    values = torch.randn(1000, 3)
    parts = TorchArrays(torch, "cpu")._parts(values)
    assert torch.equal(sum(part.float() for part in parts), values)


def test_devices_that_are_not_there_are_refused():
    with pytest.raises(MensuraError, match="device: got 'tpu'; expected one of numpy, cpu, cuda"):
        namespace("tpu")
    with pytest.raises(MensuraError, match="reference of device 'numpy'"):
        namespace("cpu", double=True)


def dies_once(marker, part):
    """A part whose worker is killed when it first reads it."""
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part()


@pytest.mark.filterwarnings("ignore")  # of Ray's own making
def test_shards_on_ray_give_the_same_fit_though_a_worker_is_killed(ray, tmp_path):
    long = as_long(draw(300, 15, seed=4).wide)
    store = write_store([long], tmp_path / "store", parts=4)
    options = FitOptions(checks=False)
    alone = fit_responses(store, options=options)
    parts = parts_of(store)
    marker = tmp_path / "died"
    parts[1] = partial(dies_once, marker, parts[1])
    spread = fit_responses(store, options=options, run=RayPass(parts, store.groups, complete=store.complete))
    assert marker.exists()
    assert spread.log_likelihood == alone.log_likelihood
    assert spread.subjects.equals(alone.subjects)
    table = read_responses(long)
    memory = fit_responses(table, options=options, run=RayPass(parts_of(table.held()), 1, complete=True))
    assert memory.log_likelihood == pytest.approx(alone.log_likelihood, abs=0.01)


def test_the_option_ray_spreads_a_table_and_a_store(here_ray, mensura_command, tmp_path, monkeypatch):
    monkeypatch.setattr("mensura.responses.store.PART_ROWS", 100)
    wide = draw(300, 12, seed=6).wide
    wide.write_csv(tmp_path / "answers.csv")
    write_store([wide], tmp_path / "store", parts=3)
    for source in ("answers.csv", "store"):
        plain = json.loads(mensura_command("responses", "fit", tmp_path / source, "--json").out)
        spread = json.loads(mensura_command("responses", "fit", tmp_path / source, "--set", "ray=local", "--json").out)
        assert spread["log_likelihood"] == pytest.approx(plain["log_likelihood"], rel=1e-6)
        assert len(spread["subjects"]) == 300
    assert here_ray.asked == ["local"]


def test_no_cluster_and_no_ray_are_said(here_ray, mensura_command, tmp_path, monkeypatch):
    draw(60, 5, seed=6).wide.write_csv(tmp_path / "answers.csv")
    told = mensura_command("responses", "fit", tmp_path / "answers.csv", "--set", "ray=nowhere")
    assert (told.code, "no cluster answers" in told.err) == (2, True)
    monkeypatch.setitem(sys.modules, "ray", None)
    told = mensura_command("responses", "fit", tmp_path / "answers.csv", "--set", "ray=local")
    assert (told.code, "needs the extra 'ray'" in told.err) == (2, True)
