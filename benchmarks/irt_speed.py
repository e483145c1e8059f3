"""How fast item response models are fitted: beside a peer, by size, and on a GPU.

``python -m benchmarks.irt_speed`` fits a 2PL model to 100,000 × 200 responses and to tables of growing size
(``--responses``: the largest). Where mirt (R) or girth (Python) is installed it is fitted too, in the same run, to the
same responses of a table that it finishes in minutes (``--peer-size``; 0 leaves it out); both log likelihoods are
computed by the same function. ``--gpu`` fits 10⁵ to 10⁹ responses on a GPU and a tenth of the last in double
precision on the processor. It needs NumPy and PyTorch alone. ``--shapes`` reads and fits a wide and a sparse file.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import run
from benchmarks.irt_data import simulate, simulate_on
from benchmarks.measured import record
from mensura.responses.irt.fitting import Fitted, fit_held, start
from mensura.responses.irt.namespace import namespace
from mensura.responses.irt.shards import Held, Shard

SUBJECTS, ITEMS = 100_000, 200
MIRT_CITED = {"cpu_s": 262.0, "mb": 1650.0}
"""mirt 1.44 on one core, measured when the bar was set; used where no peer is installed."""
PEER_SIZE = (10_000, 100)
SMALLEST = 100_000
_MIRT = """
library(mirt)
con <- file("{path}", "rb"); y <- readBin(con, "integer", {n} * {items}, size = 1, signed = FALSE); close(con)
y <- matrix(y, ncol = {items}); colnames(y) <- paste0("i", 1:{items})
used <- system.time(fit <- mirt(as.data.frame(y), 1, "2PL", verbose = FALSE))
est <- coef(fit, simplify = TRUE)$items
cat("CPU", sum(used[c(1, 2, 4, 5)]), "\\n")
write.csv(est, "{path}.csv")
"""


def cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def fit_ours(right: np.ndarray, *, double: bool = False) -> tuple[Fitted, float]:
    """Fit responses in memory; the fit and its CPU seconds."""
    began = cpu_seconds()
    space = namespace("numpy", double=double)
    fitted = fit_held(space, Held([Shard(right, None, 0)]), start("2pl", right.mean(axis=0), 1))
    return fitted, cpu_seconds() - began


def evidence_of(right: np.ndarray, slope: np.ndarray, intercept: np.ndarray) -> float:
    """Log marginal likelihood of given items in double precision, the same for every fitter."""
    from mensura.responses.irt.fitting import over
    from mensura.responses.irt.model import Parameters
    from mensura.responses.irt.passes import Grid

    zeros = np.zeros(len(slope))
    items = Parameters("2pl", slope, intercept, zeros, np.zeros(1), np.ones(1))
    run = over(namespace("numpy", double=True), Held([Shard(right, None, 0)]))
    return run(items, Grid.over(items.mean, items.sd), False).evidence


def fit_peer_items(right: np.ndarray) -> tuple[np.ndarray, np.ndarray, str, float] | None:
    """Fit mirt where R has it, else girth where Python has it: slopes, intercepts, its name, its CPU seconds."""
    if shutil.which("Rscript"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "y.bin"
            path.write_bytes(right.T.tobytes())
            code = _MIRT.format(path=path, n=len(right), items=right.shape[1])
            run = subprocess.run(["Rscript", "-e", code], capture_output=True, text=True, check=False)
            if run.returncode == 0:
                said = dict(line.split() for line in run.stdout.splitlines() if line.startswith("CPU"))
                rows = np.genfromtxt(f"{path}.csv", delimiter=",", skip_header=1)[:, 1:]
                return rows[:, 0], rows[:, 1], "mirt", float(said["CPU"])
    if importlib.util.find_spec("girth"):
        from girth import twopl_mml

        began = cpu_seconds()
        found = twopl_mml(np.ascontiguousarray(right.T.astype(int)))
        used = cpu_seconds() - began
        slope = np.asarray(found["Discrimination"])
        return slope, -slope * np.asarray(found["Difficulty"]), "girth", used
    return None


def fit_peer(right: np.ndarray) -> dict[str, Any] | None:
    """Fit a peer to the same responses; its log likelihood is computed as ours is."""
    found = fit_peer_items(right)
    if found is None:
        return None
    slope, intercept, name, used = found
    memory = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
    told = {"name": name, "cpu_s": used, "mb": memory, "slope": slope, "intercept": intercept}
    return told | {"log_likelihood": evidence_of(right, slope, intercept)}


def on_processor(largest: int, subjects: int, peer_size: tuple[int, int]) -> dict[str, Any]:
    right, truth = simulate(subjects, ITEMS)
    fitted, used = fit_ours(right)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    p = fitted.parameters
    figures: dict[str, Any] = {
        "subjects": subjects,
        "items": ITEMS,
        "cpu_s": round(used, 2),
        "mb": round(memory),
        "passes": len(fitted.history),
        "log_likelihood": round(evidence_of(right, p.slope, p.intercept), 2),
        "rmse_slope": round(float(np.sqrt(np.mean((p.slope - truth.slope) ** 2))), 5),
    }
    print(
        f"2PL, {subjects:,} × {ITEMS}: {used:.2f} CPU s, peak {memory:.0f} MB, {len(fitted.history)} passes,", end=" "
    )
    print(f"log likelihood {figures['log_likelihood']:,.1f}", flush=True)
    if subjects == SUBJECTS:
        print(
            f"mirt's cited {MIRT_CITED['cpu_s']:.0f} CPU s (another machine) are {MIRT_CITED['cpu_s'] / used:.0f} times"
        )
    del right
    figures["growth"] = growth(largest)
    if peer_size[0]:
        figures["peer"] = beside_peer(*peer_size)
    return figures


def beside_peer(subjects: int, items: int) -> dict[str, Any] | None:
    """Fit ours and a peer to the same responses; the peer in a process of its own, for its memory."""
    right, truth = simulate(subjects, items, seed=2)
    fitted, used = fit_ours(right)
    with multiprocessing.get_context("spawn").Pool(1) as alone:
        peer = alone.apply(fit_peer, (right,))
    if peer is None:
        print("\nno peer is installed here (mirt in R, or girth in Python)")
        return None
    p = fitted.parameters
    ours = {
        "cpu_s": used,
        "log_likelihood": evidence_of(right, p.slope, p.intercept),
        "rmse_slope": float(np.sqrt(np.mean((p.slope - truth.slope) ** 2))),
        "rmse_intercept": float(np.sqrt(np.mean((p.intercept - truth.intercept) ** 2))),
    }
    theirs = {
        "rmse_slope": float(np.sqrt(np.mean((peer.pop("slope") - truth.slope) ** 2))),
        "rmse_intercept": float(np.sqrt(np.mean((peer.pop("intercept") - truth.intercept) ** 2))),
    }
    theirs |= peer
    print(f"\n2PL, {subjects:,} × {items}, the same responses:")
    for name, row in (("ours", ours), (theirs["name"], theirs)):
        print(f"{name:>8}: {row['cpu_s']:8.2f} CPU s, log likelihood {row['log_likelihood']:,.2f},", end=" ")
        print(f"RMSE a {row['rmse_slope']:.4f}, d {row['rmse_intercept']:.4f}")
    print(f"{theirs['cpu_s'] / used:.0f} times faster than {theirs['name']}, whose peak is {theirs['mb']:.0f} MB")
    return {"subjects": subjects, "items": items, "ours": ours, "theirs": theirs}


def growth(largest: int) -> list[dict[str, float]]:
    rows, size = [], SMALLEST
    print(f"\n{'responses':>14} {'CPU s':>8} {'passes':>7} {'ns per response and pass':>25}")
    while size <= largest:
        right, _ = simulate(size // ITEMS, ITEMS, seed=1)
        fitted, used = fit_ours(right)
        each = 1e9 * used / (size * len(fitted.history))
        print(f"{size:>14,} {used:>8.2f} {len(fitted.history):>7} {each:>25.2f}")
        rows.append({"responses": size, "cpu_s": round(used, 3), "passes": len(fitted.history)})
        size *= 10
    return rows


def on_gpu(largest: int, device: str) -> dict[str, Any]:
    import torch

    space = namespace(device)
    name = torch.cuda.get_device_name() if device == "cuda" else "processor"
    print(f"PyTorch {torch.__version__}, NumPy {np.__version__}, {name}")
    print(f"{'responses':>14} {'s to convergence':>17} {'passes':>7} {'s per pass':>11} {'GPU MB':>8}")
    rows, size, used = [], SMALLEST, 0.0
    warm, *_ = simulate_on(torch, device, 1000, ITEMS)
    fit_held(space, Held([Shard(warm, None, 0)]), start("2pl", warm.double().mean(0).cpu().numpy(), 1))
    while size <= largest:
        right, *_ = simulate_on(torch, device, size // ITEMS, ITEMS, seed=1)
        began = _clock(torch, device)
        shares = _shares(right)
        fitted = fit_held(space, Held([Shard(right, None, 0)]), start("2pl", shares, 1))
        used = _clock(torch, device) - began
        memory = torch.cuda.max_memory_allocated() / 2**20 if device == "cuda" else 0.0
        passes = len(fitted.history)
        print(f"{size:>14,} {used:>17.3f} {passes:>7} {used / passes:>11.4f} {memory:>8.0f}", flush=True)
        row = {"responses": size, "seconds": round(used, 4), "passes": passes, "converged": fitted.converged}
        rows.append(row | {"history": [round(step, 4) for step in fitted.history]})
        size *= 10
    tenth = right[::10].cpu().numpy()
    reference, cpu = fit_ours(tenth, double=True)
    errors = reference.information.errors().reshape(-1, 2)
    there, here = (np.stack([f.parameters.slope, f.parameters.intercept], 1) for f in (reference, fitted))
    apart = np.abs(here - there) / errors
    print(
        f"the float64 fit of a tenth took {cpu:.1f} CPU s; parameters differ by {np.mean(apart):.2f} of its standard",
        end=" ",
    )
    print(f"errors on average, {np.mean(apart < 1.0):.0%} by less than one, at most {np.max(apart):.1f}")
    same = fit_held(space, Held([Shard(space.put(tenth), None, 0)]), start("2pl", tenth.mean(axis=0), 1))
    off = max(
        float(np.max(np.abs(getattr(same.parameters, n) - getattr(reference.parameters, n))))
        for n in ("slope", "intercept")
    )
    print(f"on the same tenth, {device} and float64 on the processor differ by at most {off:.1e}")
    return {
        "device": name,
        "growth": rows,
        "apart_in_errors": round(float(np.mean(apart)), 3),
        "largest": round(float(np.max(apart)), 2),
        "same_data": off,
    }


def _shares(right: Any) -> np.ndarray:  # noqa: ANN401
    """Share of right answers per item, in parts: a sum of many bytes makes large copies."""
    rows = 500_000
    parts = [right[start : start + rows].float().sum(0).double() for start in range(0, len(right), rows)]
    return (sum(parts) / len(right)).cpu().numpy()


def _clock(torch: Any, device: str) -> float:  # noqa: ANN401
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", action="store_true", help="fit on a GPU")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"], help="with --gpu: where PyTorch runs")
    parser.add_argument("--responses", type=float, default=None, help="largest table of the growth")
    parser.add_argument("--subjects", type=int, default=SUBJECTS, help="subjects of the first table")
    parser.add_argument(
        "--peer-size", type=int, nargs=2, default=PEER_SIZE, help="subjects and items beside a peer; 0 0: none"
    )
    parser.add_argument("--shapes", action="store_true", help="read and fit wide and sparse files instead")
    chosen = parser.parse_args()
    if chosen.shapes:
        from benchmarks.irt_shapes import show_shapes  # needs polars, which a machine for --gpu may lack

        print(json.dumps(show_shapes()))
        return
    if chosen.gpu:
        figures = on_gpu(int(chosen.responses or 1e9), chosen.device)
    else:
        figures = on_processor(int(chosen.responses or 1e7), chosen.subjects, tuple(chosen.peer_size))
    print(json.dumps(figures))
    if chosen.gpu:
        record("irt.gpu", f"{figures['growth'][-1]['seconds']:.2f} s")
        return
    record("irt.seconds", f"{figures['cpu_s']:.1f}")
    record("irt.memory", f"{figures['mb']} MB")
    if peer := figures.get("peer"):
        record("irt.peer", f"1/{peer['theirs']['cpu_s'] / peer['ours']['cpu_s']:.0f}")


if __name__ == "__main__":
    run(main)
