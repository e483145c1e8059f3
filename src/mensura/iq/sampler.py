"""One model of all scores, from which every missing one is drawn: errors of one model's gaps agree with each other.

    η_mb = μ_b + λ_b · f_m + u_m,d(b) + e_mb,
    f_m = Γᵀ x_m + g_m,   g_m ~ N(0, ω), or N(ρ g_p, σ²) after a predecessor p, 0 ≤ ρ ≤ 1,
    u_md ~ N(0, τ_d),   e_mb ~ N(0, ψ_b),   (μ_b, λ_b) ~ N(centre, spread)

η is the score on the logit scale (:class:`mensura.iq.ladders.Metric`), f_m a model's few factors, u_md what it is
better or worse at in dimension d than they say, x_m what is known of it besides its scores. A predecessor is a prior: ρ
and σ, learned from all lines of descent, say how much of its strength a successor keeps and how far it moves. All
parameters are drawn from their conditional distributions in turn (Gibbs sampling), so a draw of the missing scores
carries the uncertainty of the model's factors, of its dimensions and of every benchmark's line at once. Gaps that share
a cause move together; independent errors per gap would average out in the composite, and intervals would be too narrow.
"""

from __future__ import annotations

from collections import deque
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask
from mensura.iq.doubt import Doubt, shorten
from mensura.iq.gibbs import FACTORS, START_NOISE, GibbsData, GibbsState, draw_models, draw_scores, start_chains, sweep
from mensura.iq.relatives import ENOUGH
from mensura.iq.score_sums import Descent

BURN_IN = 40
"""Sweeps before the first draw is kept: all variances are steady after 25 on the embedded evidence."""
FORGETTING = 15
"""Sweeps after which chains that go on without some models know no more of them."""
CHAINS, FEWER_CHAINS = 10, 4
"""Chains side by side, each giving its share of the draws; more would cost memory and save no time. Every chain burns
in for itself, which with thousands of models takes longer than the draws do: then there are fewer."""
WHOLE_ROUNDS = 20
"""Draws, or a multiple of them, that all chains end together."""
MANY_MODELS = 1000
"""Models from which there are fewer chains, and draws in single precision."""
START_SPREAD = 4.0
"""Squared logits: how far scores are thought to spread around the mean of their test before the first fit."""
Cells: TypeAlias = tuple[Ints, ...]
"""Rows and columns of some scores."""
STATES_KEPT = 30
"""Draws of all parameters that stay at hand for models that come later, the last of every chain."""


@dataclass(frozen=True)
class Readings:
    """Scores as log odds (models × benchmarks), and how surely they are read."""

    odds: Floats
    doubt: Floats  # variance beyond that of a usual score, infinite where there is no score
    fitted: Floats  # as the model is fitted to them: a leap past all others by a model with few scores is shortened

    @classmethod
    def of(cls, odds: Floats, doubt: Floats) -> Readings:
        """Read scores, NaN where there is none."""
        few = (~np.isnan(odds)).sum(axis=1, keepdims=True) < ENOUGH
        doubt = np.where(np.isnan(odds), np.inf, doubt)
        return cls(np.nan_to_num(odds), doubt, np.nan_to_num(np.where(few, shorten(odds), odds)))

    def weights(self, scatter: Floats) -> Floats:
        """Return what each score counts for beside the scatter of its test: ψ / (ψ + its variance)."""
        return np.asarray(scatter / (scatter + self.doubt))

    def replaced(self, cells: Cells, odds: Floats, doubt: Floats) -> Readings:
        """Return the readings with others of some scores."""
        new, variance = np.where(np.isinf(self.doubt), np.nan, self.odds), self.doubt.copy()
        new[cells], variance[cells] = odds, doubt
        return Readings.of(new, variance)


@dataclass(frozen=True)
class Sampled:
    """Draws of the missing scores, and the last parameters of every chain, from which others can be drawn."""

    draws: Floats  # draws × models × benchmarks, log odds; usual scores as they are
    readings: Readings
    _data: GibbsData
    _states: tuple[GibbsState, ...]
    _rng: np.random.Generator  # as it was after the last draw

    def longer(self, draws: int) -> tuple[Sampled, np.random.Generator]:
        """Return this many draws, these first, as if the chains had never stopped, and the generator after the last."""
        rng, more = deepcopy(self._rng), self
        if draws > len(self.draws):
            more = _run(self._data, self.readings, self._states[-1], 0, draws - len(self.draws), rng)
            states = (*self._states, *more._states)[-max(len(self._states), len(more._states)) :]
            more = replace(more, draws=np.concatenate([self.draws, more.draws]), _states=states)
        return more, rng

    def without(self, rows: Mask, rng: np.random.Generator) -> Sampled:
        """Return what is sampled when these models have no scores: the chains run on until they are forgotten."""
        readings = replace(self.readings, doubt=np.where(rows[:, None], np.inf, self.readings.doubt))
        return _run(self._data, readings, self._states[-1], FORGETTING, STATES_KEPT, rng)

    def draw_new(self, eta: Floats, doubt: Floats, regressors: Floats, rng: np.random.Generator) -> Floats:
        """Draw all scores of new models (cases) of which these are known, NaN where not: draws × cases × benchmarks.

        ``doubt``: the variance of each known score beyond the usual one.
        """
        scatter = np.exp(np.log(self._states[-1].noise).mean(axis=0))
        weights = np.where(np.isnan(eta), 0.0, scatter / (scatter + doubt))
        unrelated = Descent.of(np.full(len(eta), -1))
        entered = replace(self._data, eta=np.nan_to_num(eta), weights=weights, regressors=regressors, descent=unrelated)
        drawn = []
        for state in self._states:
            new = replace(state, factors=np.zeros((len(state.noise), len(eta), FACTORS)))
            drawn.append(draw_scores(entered, draw_models(entered, new, rng), rng))
        return np.concatenate(drawn)[:STATES_KEPT]

    def predict(self, cells: Cells, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return mean and variance of each of these scores as all others predict it."""
        models, benchmarks = cells
        doubt, places = self.readings.doubt[models], np.arange(models.size)
        eta = np.where(np.isinf(doubt), np.nan, self.readings.fitted[models])
        eta[places, benchmarks] = np.nan
        drawn = self.draw_new(eta, doubt, self._data.regressors[models], rng)[:, places, benchmarks]
        return drawn.mean(axis=0), drawn.var(axis=0)


def sample(
    eta: Floats,
    regressors: Floats,
    dimension_of: Ints,
    parents: Ints,
    draws: int,
    rng: np.random.Generator,
    doubt: Doubt | None = None,
) -> Sampled:
    """Draw every missing (NaN) score of η, models × benchmarks, given all others.

    ``regressors`` (models × q) have mean 0, since the benchmarks' intercepts hold the level; ``parents`` holds the row
    of each model's predecessor, −1 where there is none.
    ``doubt`` says which scores tell less than usual ones. These are drawn too, each read beside what a first fit
    predicts of it.
    """
    members = np.eye(int(dimension_of.max()) + 1)[dimension_of]
    readings = Readings.of(eta, np.zeros(eta.shape))
    data = GibbsData(readings.fitted, readings.doubt, dimension_of, members, regressors, Descent.of(parents))
    cells = np.nonzero(np.zeros(eta.shape) if doubt is None else doubt.doubtful)
    chains = CHAINS if len(eta) < MANY_MODELS else FEWER_CHAINS
    state, burn_in = start_chains(replace(data, weights=readings.weights(np.array(START_NOISE))), chains), BURN_IN
    if doubt is not None and cells[0].size:
        centre = np.nanmean(eta[:, np.unique(cells[1])], axis=0)[np.unique(cells[1], return_inverse=True)[1]]
        readings = readings.replaced(cells, *doubt.match(centre, np.full(centre.size, START_SPREAD)))
        first = _run(data, readings, state, BURN_IN, STATES_KEPT, rng)
        readings = readings.replaced(cells, *doubt.match(*first.predict(cells, rng)))
        state, burn_in = first._states[-1], FORGETTING
    return _run(data, readings, state, burn_in, draws, rng)


def _run(
    data: GibbsData, readings: Readings, state: GibbsState, burn_in: int, draws: int, rng: np.random.Generator
) -> Sampled:
    """Run all chains from a state, and keep draws after the first sweeps.

    A doubtful score is one reading of the true one: a draw x from its line moves by ψ / (ψ + doubt) of its distance to
    the reading, itself drawn with its doubt, which is a draw from the distribution given both.
    """
    chains = len(state.noise)
    exact = np.float64 if len(data.eta) < MANY_MODELS else np.float32  # a score is known to far fewer digits
    kept, states = np.empty((draws, *data.eta.shape), dtype=exact), deque[GibbsState](maxlen=-(-STATES_KEPT // chains))
    for done in range(burn_in):
        if done in (0, burn_in // 2):  # by then the scatter of every test is near its own
            scatter = np.exp(np.log(state.noise).mean(axis=0))
            data = replace(data, eta=readings.fitted, weights=readings.weights(scatter))
        state = sweep(data, state, rng)
    models, benchmarks = np.nonzero((readings.doubt > 0) & np.isfinite(readings.doubt))
    odds, doubt = readings.odds[models, benchmarks], readings.doubt[models, benchmarks]
    for done in range(0, draws, chains):
        state = sweep(data, state, rng)
        states.append(state)
        room = kept[done : done + chains]
        room[:] = draw_scores(data, state, rng)[: len(room)]
        np.copyto(room, readings.odds, where=readings.doubt == 0, casting="same_kind")
        if models.size:
            reading = odds + np.sqrt(doubt) * rng.standard_normal((len(room), models.size))
            noise = state.noise[: len(room), benchmarks]
            room[:, models, benchmarks] += noise / (noise + doubt) * (reading - room[:, models, benchmarks])
    return Sampled(kept, readings, data, tuple(states), deepcopy(rng))
