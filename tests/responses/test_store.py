"""Responses on disk: a store keeps the counts that memory keeps, and gives the same fit."""

import zlib

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import CountRules, FitOptions, ResponseStore, fit_responses, read_responses, write_store
from tests.responses.conftest import as_long, draw


def test_a_store_keeps_shares_and_spreads_subjects_over_thirty_two_parts(tmp_path):
    rng = np.random.default_rng(1)
    wide = pl.DataFrame({"subject": [f"s{at}" for at in range(90)], "x": rng.random(90), "y": rng.random(90)})
    store, memory = write_store([wide], tmp_path / "store"), read_responses(wide)
    assert len(store.parts) == len({zlib.crc32(name.encode()) % 32 for name in wide["subject"]})
    assert store.complete
    read = dict(zip(store.names["subject"], np.concatenate([shard.right for shard in store.shards()]), strict=True))
    assert {len(shard.right[0]) for shard in store.shards()} == {2}
    for row, name in enumerate(memory.subjects["subject"]):
        assert read[name] == pytest.approx(memory.right[row])


def test_store_gives_the_fit_of_memory(tmp_path):
    one, other = draw(120, 25, seed=2, name="a"), draw(80, 25, seed=3, mean=1.0, name="b")
    both = pl.concat([one.wide.with_columns(group=pl.lit("g")), other.wide.with_columns(group=pl.lit("h"))])
    long = as_long(both).sample(fraction=0.8, seed=1)
    store = write_store([long], tmp_path / "store", parts=5)
    assert (store.subjects, store.items, len(store.parts)) == (200, 25, 10)
    memory = fit_responses(long, options=FitOptions(dif=False, checks=False))
    disk = fit_responses(
        tmp_path / "store", reference=memory.reference if memory.reference == store.group_names[0] else None
    )
    assert disk.log_likelihood == pytest.approx(
        fit_responses(long, reference=store.group_names[0], options=FitOptions(dif=False, checks=False)).log_likelihood,
        abs=0.05,
    )
    wide = write_store([both], tmp_path / "wide", parts=2)
    assert wide.complete
    assert not store.complete
    with pytest.raises(MensuraError, match="a store pools runs"):
        write_store([long], tmp_path / "x", rules=CountRules(duplicates="first"))
    with pytest.raises(MensuraError, match="no response store"):
        ResponseStore(tmp_path)
