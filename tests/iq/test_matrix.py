"""The method written plainly, one model and one benchmark at a time: what the fast version must agree with."""

import numpy as np
import pytest

import mensura
from mensura.iq.matrix import ALWAYS
from mensura.iq.waterfall import STEPS


def percentile(values, q):
    return float(np.percentile(values, q))


def waterfall(matrix, rules):
    """Benchmark IQs and steps by plain loops."""
    n, m = matrix.iqs.shape
    values = [[None if np.isnan(x) else float(x) for x in row] for row in matrix.iqs]
    steps = [["source" if v is not None else "none" for v in row] for row in values]
    measured = [[v is not None for v in row] for row in values]
    source = [row[:] for row in values]
    members = [[b for b in range(m) if matrix.dimension_of[b] == k] for k in range(len(matrix.dimensions))]
    dated = [int(day) for day in matrix.zero_before if 0 < day < ALWAYS]
    early = max(dated, default=0)

    for i in range(n):  # predecessors
        for b in range(m):
            if values[i][b] is None and any(measured[i]):
                for ancestor in matrix.ancestors[i]:
                    if ancestor >= 0 and measured[ancestor][b]:
                        values[i][b], steps[i][b] = source[ancestor][b], "predecessor"
                        break

    peer_dimensions = {matrix.dimension_of[b] for b in range(m) if matrix.by_peers[b]}
    capability = []
    for i in range(n):
        known = [values[i][b] for b in range(m) if matrix.dimension_of[b] not in peer_dimensions]
        known = [v for v in known if v is not None]
        capability.append(np.mean(known) if known else np.nan)
    peers = {}
    for b in range(m):
        if not matrix.by_peers[b]:
            continue
        for i in range(n):
            if any(measured[i][c] for c in members[matrix.dimension_of[b]]):
                continue
            found = []
            for j in range(n):
                alike = matrix.reasoning[j] == matrix.reasoning[i] and matrix.released[j] <= matrix.released[i]
                if measured[j][b] and alike and not np.isnan(capability[i] + capability[j]):
                    provider, line = matrix.provider[i] == matrix.provider[j], matrix.line[i] == matrix.line[j]
                    tier = matrix.tier[i] == matrix.tier[j]
                    kind = 0 if provider and line else 1 if provider and tier else 2 if provider else 3 if tier else 4
                    found.append((1000 * kind + abs(capability[i] - capability[j]), source[j][b]))
            found.sort()
            if len(found) >= rules.peers.minimum:
                peers[i, b] = percentile([v for _, v in found[: rules.peers.count]], rules.peers.percentile)
    for (i, b), value in peers.items():
        if values[i][b] is None:
            values[i][b], steps[i][b] = value, "peers"

    for i in range(n):  # assumed zeros
        for b in range(m):
            known = any(measured[i][c] for c in members[matrix.dimension_of[b]])
            allowed = any(measured[i]) and (not matrix.by_peers[b] or known or matrix.released[i] < early)
            if values[i][b] is None and matrix.released[i] < matrix.zero_before[b] and allowed:
                values[i][b], steps[i][b] = float(matrix.ladders[b].iq(np.array(0.0))), "zero"

    rule = rules.correlation
    for i in range(n):
        for k, inside in enumerate(members):
            name = matrix.dimensions[k]
            minimum, zeros_suffice = rules.dimensions[name].minimum, rules.dimensions[name].zeros_suffice
            known = [b for b in inside if values[i][b] is not None]
            here = [steps[i][b] for b in inside]
            direct = ("source" in here or "predecessor" in here) and (len(known) >= minimum or "source" in here)
            zeros = "zero" in here and zeros_suffice and matrix.released[i] < early
            if not (direct or "peers" in here or zeros):
                continue
            average = np.mean([values[i][b] for b in known])
            tried = "source" in here and (minimum > 1 or len(known) <= rule.up_to)
            single = len(known) == 1
            margin = rule.margin_single if single else rule.margin
            penalty = rule.penalty_single if single else rule.penalty
            filled = {}
            for b in inside:
                if b in known:
                    continue
                cap = percentile([source[j][b] for j in range(n) if measured[j][b]] or [np.nan], 80)
                weights, estimates, residuals = [], [], []
                for a in inside:
                    both = [j for j in range(n) if measured[j][a] and measured[j][b]]
                    if a == b or not measured[i][a] or len(both) < rule.minimum_overlap or not tried:
                        continue
                    x, y = (np.array([source[j][c] for j in both]) for c in (a, b))
                    if x.var() < 1e-9 or y.var() < 1e-9:
                        continue
                    r = np.corrcoef(x, y)[0, 1] * len(both) / (len(both) + rule.shrinkage)
                    if r <= 0:
                        continue
                    slope = r * y.std(ddof=1) / x.std(ddof=1)
                    estimates.append(y.mean() + slope * (source[i][a] - x.mean()))
                    residuals.append(y.std(ddof=1) * np.sqrt(1 - r * r))
                    weights.append(len(both) * r * r)
                if weights:
                    value = np.average(estimates, weights=weights) - penalty * np.average(residuals, weights=weights)
                    filled[b] = (min(value, average - margin), "correlation")
                else:
                    filled[b] = (np.fmin(average - margin if tried or single else average, cap), "within")
            for b, (value, step) in filled.items():
                values[i][b], steps[i][b] = float(np.clip(value, 70, 160)), step
    return np.array([[np.nan if v is None else v for v in row] for row in values]), steps


def composites(matrix, rules, values, steps):
    """Dimension IQs and composites by plain loops."""
    n, count = len(matrix.subjects), len(matrix.dimensions)
    dims = np.full((n, count), np.nan)
    scored = np.zeros((n, count), bool)
    for i in range(n):
        for k in range(count):
            inside = [b for b in range(len(matrix.benchmarks)) if matrix.dimension_of[b] == k]
            dims[i, k] = np.mean([values[i, b] for b in inside])
            here = {steps[i][b] for b in inside}
            scored[i, k] = not np.isnan(dims[i, k]) and bool(here & {"source", "predecessor"})
    found = dims.copy()
    for i in range(n):
        if scored[i].sum() < rules.dimension.minimum_scored:
            continue
        own = dims[i][scored[i]].mean()
        for k in range(count):
            if not np.isnan(dims[i, k]):
                continue
            near = []
            for j in range(n):
                others = [c for c in range(count) if scored[j, c] and c != k]
                if scored[j, k] and scored[j].sum() >= 2 and matrix.released[j] <= matrix.released[i]:
                    near.append((abs(dims[j][others].mean() - own), dims[j, k]))
            near.sort()
            alike = [v for d, v in near if d <= rules.dimension.band]
            if len(alike) < rules.dimension.comparable:
                alike = [v for _, v in near[: rules.dimension.comparable]]
            if alike:
                found[i, k] = min(own, percentile(alike, rules.dimension.percentile))
    total = np.where(scored.sum(axis=1) >= rules.dimension.minimum_scored, found.mean(axis=1), np.nan)
    return found, total


@pytest.mark.slow
@pytest.mark.parametrize("source", [None, "aiiq"])
@pytest.mark.parametrize("ladders", ["published", "recut"])
def test_fast_version_agrees_with_the_plain_one(source, ladders):
    result = mensura.score_iq(mensura.load(), source=source, ladders=ladders, method="published")
    values, steps = waterfall(result.matrix, result.rules)
    np.testing.assert_allclose(result.filled.iqs[0], values, atol=1e-9)
    assert [[STEPS[code] for code in row] for row in result.filled.steps] == steps
    dims, total = composites(result.matrix, result.rules, values, steps)
    np.testing.assert_allclose(result.scored.dimensions[0], dims, atol=1e-9)
    np.testing.assert_allclose(result.scored.composites[0], total, atol=1e-9)
