"""The switches of ``tools.processors`` reach the libraries, and its last bits are last bits."""

import os
import platform
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tools.processors import KERNELS, disturb, switches

SOLVED = """
import numpy as np
a = np.random.default_rng(0).normal(size=(60, 60))
print(np.linalg.eigvalsh(a @ a.T).tobytes().hex())
"""


@pytest.mark.skipif(platform.machine() not in KERNELS, reason="no other kernels are listed for this processor")
def test_other_kernels_give_other_last_bits():
    plain = {name: text for name, text in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    kernels = [{}, *map(switches, KERNELS[platform.machine()])]
    runs = [subprocess.run([sys.executable, "-c", SOLVED], capture_output=True, env=plain | one) for one in kernels]
    values = [np.frombuffer(bytes.fromhex(run.stdout.decode())) for run in runs]
    assert len({one.tobytes() for one in values}) > 1
    assert all(one == pytest.approx(values[0], rel=1e-9, abs=1e-9) for one in values)


def test_a_disturbed_function_is_off_by_a_last_bit_and_exact_at_simple_values():
    module = SimpleNamespace(exp=np.exp)
    disturb(module, "exp")
    values = np.linspace(-2, 2, 401)
    apart = (module.exp(values) - np.exp(values)) / np.spacing(np.exp(values))
    assert set(np.round(apart, 1)) >= {-1.0, 0.0, 1.0}
    assert np.abs(apart).max() == 1.0
    assert (module.exp(0.0), module.exp(-np.inf)) == (1.0, 0.0)
