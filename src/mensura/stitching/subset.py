"""Some subjects of a score set, on the same benchmarks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mensura.stitching.layout import Ints, Layout
from mensura.stitching.scores import ScoreSet


def subset(data: ScoreSet, subjects: Ints) -> ScoreSet:
    """Keep the scores of some subjects (sorted positions); benchmarks keep their positions, scored or not."""
    keep = np.isin(data.layout.rows, subjects)
    rows = np.searchsorted(subjects, data.layout.rows[keep])
    return replace(
        data,
        subjects=tuple(data.subjects[i] for i in subjects),
        layout=Layout(rows, data.layout.cols[keep], len(subjects), data.layout.n_benchmarks),
        y=data.y[keep],
        counts=data.counts[keep],
        sampling=data.sampling[keep],
        years=data.years[subjects],
    )
