"""One model of all scores, from which every missing one is drawn: errors of one model's gaps agree with each other.

    η_mb = μ_b + λ_b · f_m + u_m,d(b) + e_mb,
    f_m = Γᵀ x_m + g_m,   g_m ~ N(0, ω), or N(ρ g_p, σ²) after a predecessor p, 0 ≤ ρ ≤ 1,
    u_md ~ N(0, τ_d),   e_mb ~ N(0, ψ_b),   (μ_b, λ_b) ~ N(centre, spread)

η is the score on the logit scale (:mod:`mensura.iq.metric`), f_m a model's few factors, u_md what it is better or worse
at in dimension d than they say, x_m what is known of it besides its scores. A predecessor is a prior: ρ and σ, learned
from all lines of descent, say how much of its strength a successor keeps and how far it moves. All parameters are
drawn from their conditional distributions in turn (Gibbs sampling), so a draw of the missing scores carries the
uncertainty of the model's factors, of its dimensions and of every benchmark's line at once. Gaps that share a cause
move together; independent errors per gap would average out in the composite, and intervals would be too narrow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask
from mensura.iq.descent import Descent
from mensura.iq.gibbs import (
    FACTORS,
    GibbsData,
    GibbsState,
    draw_models,
    draw_scores,
    start_chains,
    sweep,
)

BURN_IN = 40
"""Sweeps before the first draw is kept: all variances are steady after 25 on the embedded evidence."""
FORGETTING = 15
"""Sweeps after which chains that go on without some models know no more of them."""
CHAINS, FEWER_CHAINS = 10, 4
"""Chains side by side, each giving its share of the draws; more would cost memory and save no time. Every chain burns
in for itself, which with thousands of models takes longer than the draws do: then there are fewer."""
MANY_MODELS = 1000
"""Models from which there are fewer chains, and draws in single precision."""
STATES_KEPT = 30
"""Draws of all parameters that stay at hand for models that come later, the last of every chain."""


@dataclass(frozen=True)
class Sampled:
    """Draws of the missing scores, and the last parameters of every chain, from which others can be drawn."""

    draws: Floats  # draws × models × benchmarks, log odds; scores that are there as they are
    _data: GibbsData
    _states: tuple[GibbsState, ...]

    def without(self, rows: Mask, rng: np.random.Generator) -> Sampled:
        """Return what is sampled when these models have no scores: the chains run on until they are forgotten."""
        known = self._data.known & ~rows[:, None]
        data = replace(self._data, eta=np.where(known, self._data.eta, 0.0), known=known)
        return _run(data, self._states[-1], FORGETTING, STATES_KEPT, rng)

    def draw_new(self, eta: Floats, regressors: Floats, rng: np.random.Generator) -> Floats:
        """Draw all scores of new models (cases) of which these are known, NaN where not: draws × cases × benchmarks."""
        known, alone = ~np.isnan(eta), np.full(len(eta), -1)
        entered = replace(
            self._data,
            eta=np.where(known, eta, 0.0),
            known=known,
            regressors=regressors,
            descent=Descent.of(alone),
        )
        drawn = []
        for state in self._states:
            new = replace(state, factors=np.zeros((len(state.noise), len(eta), FACTORS)))
            drawn.append(draw_scores(entered, draw_models(entered, new, rng), rng))
        return np.concatenate(drawn)[:STATES_KEPT]


def sample(
    eta: Floats,
    regressors: Floats,
    dimension_of: Ints,
    parents: Ints,
    draws: int,
    rng: np.random.Generator,
    advance: Callable[[int], object] | None = None,
) -> Sampled:
    """Draw every missing (NaN) score of η, models × benchmarks, given all others.

    ``regressors`` (models × q) have mean 0, since the benchmarks' intercepts hold the level; ``parents`` holds the row
    of each model's predecessor, −1 where there is none. ``advance`` is told the number of draws after each sweep.
    """
    known = ~np.isnan(eta)
    members = np.eye(int(dimension_of.max()) + 1)[dimension_of]
    data = GibbsData(np.where(known, eta, 0.0), known, dimension_of, members, regressors, Descent.of(parents))
    chains = CHAINS if len(eta) < MANY_MODELS else FEWER_CHAINS
    return _run(data, start_chains(data, chains), BURN_IN, draws, rng, advance)


def _run(
    data: GibbsData,
    state: GibbsState,
    burn_in: int,
    draws: int,
    rng: np.random.Generator,
    advance: Callable[[int], object] | None = None,
) -> Sampled:
    """Run all chains from a state, and keep draws after the first sweeps."""
    chains = len(state.noise)
    exact = np.float64 if len(data.eta) < MANY_MODELS else np.float32  # a score is known to far fewer digits
    kept, states = np.empty((draws, *data.eta.shape), dtype=exact), deque[GibbsState](maxlen=-(-STATES_KEPT // chains))
    for _ in range(burn_in):
        state = sweep(data, state, rng)
    for done in range(0, draws, chains):
        state = sweep(data, state, rng)
        states.append(state)
        room = kept[done : done + chains]
        room[:] = draw_scores(data, state, rng)[: len(room)]
        np.copyto(room, data.eta, where=data.known, casting="same_kind")
        if advance is not None:
            advance(len(room))
    return Sampled(kept, data, tuple(states))
