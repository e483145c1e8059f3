"""Anderson's acceleration on steps that are linear in the point, where it must find the end by itself."""

import numpy as np
import pytest

from mensura.responses.irt import fitting
from mensura.responses.irt.fitting import (
    Anderson,
    Effort,
    ascend,
    climb,
    exact_information,
    fit_held,
    over,
    place_at,
    start,
)
from mensura.responses.irt.namespace import namespace
from mensura.responses.irt.priors import Priors
from mensura.responses.irt.shards import Held, Shard

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


@pytest.mark.parametrize("weighed", [False, True])
def test_one_slope_needs_total_scores_alone(weighed):
    """Parameters, likelihood and errors are those of all subjects, of two groups."""
    rng = np.random.default_rng(8)
    right = (rng.random((160, 6)) < rng.uniform(0.3, 0.8, (160, 1))).astype(np.uint8)
    given = rng.integers(0, 3, 160) / 1.0 if weighed else [None] * 160
    parts = [
        Shard(right[rows], None, group, given[rows] if weighed else None)
        for group, rows in enumerate((slice(90), slice(90, 160)))
    ]
    space, held, priors = namespace(double=True), Held(parts), Priors()
    begin = start("rasch", right.mean(axis=0), 2)
    short = fit_held(space, held, begin, priors)
    whole = climb(over(space, held), begin, priors, Effort(0.002))
    errors = exact_information(held, whole.parameters, whole.grid, priors).errors()
    assert short.evidence == pytest.approx(whole.evidence, abs=1e-8)
    assert short.parameters.flat() == pytest.approx(whole.parameters.flat(), abs=1e-8)
    assert short.information.errors() == pytest.approx(errors, rel=1e-5)


def test_steps_that_halve_keep_the_information(monkeypatch):
    """Passes near the end take the information of one before, and lead to the same end."""
    rng = np.random.default_rng(6)
    ability, items = rng.normal(size=(900, 1)), rng.normal(size=20)
    right = (rng.random((900, 20)) < 1.0 / (1.0 + np.exp(items - ability))).astype(np.uint8)
    run, begin = over(namespace(double=True), Held([Shard(right, None, 0)])), start("2pl", right.mean(axis=0), 1)
    calls, plain = [], fitting.information
    monkeypatch.setattr(fitting, "information", lambda *given: calls.append(1) or plain(*given))
    fit = climb(run, begin, Priors(), Effort(1e-3))
    used = len(calls)
    assert used < len(fit.history)
    sure = climb(run, begin, Priors(), Effort(1e-7))
    assert np.max(np.abs(fit.parameters.flat() - sure.parameters.flat()) / sure.information.errors()) < 2e-3


@pytest.mark.parametrize("seed", range(4))
def test_a_likelihood_blurred_by_rounding_does_not_hold_a_climb_back(seed):
    """A place that looks too high by chance once held the climb at one step for all its passes."""
    rng = np.random.default_rng(seed)
    right = np.repeat((np.arange(27) % 9 < 4)[:, None], 6, axis=1).astype(np.uint8)
    run = over(namespace(double=True), Held([Shard(right, None, 0, None)]))

    def look(p):
        place = place_at(run, Priors(), p)
        return place._replace(height=place.height + 3e-4 * rng.uniform(-1.0, 1.0))

    place, converged, history = ascend(look, start("2pl", right.mean(axis=0), 1), Effort(tolerance=1e-4))
    exact = climb(run, start("2pl", right.mean(axis=0), 1), Priors(), Effort(tolerance=1e-4)).parameters
    assert converged and len(history) < 200
    assert place.parameters.slope == pytest.approx(exact.slope, abs=0.01)
