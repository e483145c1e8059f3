"""Anderson's acceleration on steps that are linear in the point, where it must find the end by itself."""

import numpy as np
import pytest

from mensura.responses.irt.fitting import Anderson

ONE = np.ones(1)


def test_two_steps_along_a_line_lead_to_its_root():
    """A step of 1 at 0 and of ½ at 1: none is left at 2, one further on."""
    memory = Anderson()
    assert memory.improved(np.array([0.0]), np.array([1.0]), ONE) == 1.0
    assert memory.improved(np.array([1.0]), np.array([0.5]), ONE) == pytest.approx(1.0)


def test_what_was_forgotten_does_not_count():
    memory = Anderson()
    memory.improved(np.array([0.0]), np.array([1.0]), ONE)
    memory.forget()
    assert memory.improved(np.array([1.0]), np.array([0.5]), ONE) == 0.5


@pytest.mark.parametrize("directions", [2, 4])
def test_one_more_step_than_there_are_directions_leads_to_the_end(directions):
    """Each direction has its own pace; plain steps would be a fifth of the way off."""
    pace, end = np.linspace(0.2, 0.8, directions), np.arange(1.0, 1.0 + directions)
    memory, at = Anderson(), np.zeros(directions)
    for _ in range(directions + 1):
        at = at + memory.improved(at, pace * (end - at), np.ones(directions))
    assert at == pytest.approx(end, abs=1e-3)


def test_steps_are_weighed_in_standard_errors():
    """The first parameter would be settled one step further on, the second three: the surer one decides."""
    for errors, share in (([1e-4, 1.0], 1.0), ([1.0, 1e-4], 3.0)):
        memory = Anderson()
        memory.improved(np.array([0.0, 0.0]), np.array([1.0, 1.0]), np.array(errors))
        step = np.array([0.5, 0.75])  # has fallen by a half, and by a quarter
        found = memory.improved(np.array([1.0, 0.0]), step, np.array(errors))
        assert found == pytest.approx(step + share * (np.array([1.0, 0.0]) + step - 1.0), abs=1e-5)
