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


@pytest.mark.parametrize("name", ["part-00000.parquet", "items.parquet"])
def test_a_store_with_a_flipped_bit_is_refused_by_name(tmp_path, name):
    """Parquet itself gave other answers, or ended the process, after most flips."""
    folder = tmp_path / "store"
    write_store([{"subject": ["a", "b"], "q1": [1, 0], "q2": [1, 1]}], folder, parts=1)
    whole = (folder / name).read_bytes()
    for place in range(0, len(whole), 97):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        (folder / name).write_bytes(damaged)
        with pytest.raises(MensuraError, match=rf"{name}: differs from what mensura wrote"):
            fit_responses(folder)
    (folder / name).write_bytes(whole)
    assert ResponseStore(folder).subjects == 2


def sparse_table(subjects=300, items=60, seed=5):
    """A long table of which every subject took a tenth of the items."""
    long = as_long(draw(subjects, items, seed=seed).wide)
    taken = np.random.default_rng(seed).random(long.height) < 0.1
    return long.filter(pl.Series(taken))


@pytest.fixture
def always_sparse(monkeypatch):
    """Let small tables be stored sparsely too."""
    monkeypatch.setattr("mensura.responses.table.LEAST_SPARSE", 0)


def close(one, other):
    assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-2)
    for table in ("subjects", "items", "groups", "dif"):
        numbers = [fit.tables()[table].select(pl.selectors.numeric()).fill_null(0.0).to_numpy() for fit in (one, other)]
        assert np.allclose(*numbers, atol=2e-2), table


@pytest.mark.slow
@pytest.mark.parametrize("model", ["rasch", "3pl"])
def test_a_sparse_table_gives_the_fit_of_a_dense_one(model, request):
    long = sparse_table().with_columns(
        group=pl.when(pl.col("subject").str.ends_with("1")).then(pl.lit("b")).otherwise(pl.lit("a"))
    )
    whole = fit_responses(long, model=model)
    request.getfixturevalue("always_sparse")
    table = read_responses(long)
    assert table.trials.nnz == long.height, "what nobody took is not stored"
    assert table.heading.startswith(f"{long.height:,} responses")
    close(fit_responses(table, model=model), whole)


def test_sparse_runs_are_joined_by_the_rules(always_sparse):
    """Two runs of four items: the cells of both are pooled, or the first or the last is kept."""
    one = pl.DataFrame({"subject": ["a"] * 2 + ["b"], "item": ["x", "y", "x"], "correct": [1, 0, 1]})
    two = pl.DataFrame({"subject": ["a", "c"], "item": ["x", "z"], "correct": [0, 1]})
    padding = pl.DataFrame({"subject": ["d"] * 12, "item": [f"p{at}" for at in range(12)], "correct": [1] * 12})
    found = {}
    for rule in ("pool", "first", "last"):
        table = read_responses([pl.concat([one, padding]), two], rules=CountRules(duplicates=rule))
        row, place = table.subjects["subject"].to_list().index("a"), table.items["item"].to_list().index("x")
        found[rule] = (int(table.right[row, place]), int(table.trials[row, place]))
    assert found == {"pool": (1, 2), "first": (1, 1), "last": (0, 1)}
    with pytest.raises(MensuraError, match="1 outcomes are there in two runs"):
        read_responses([pl.concat([one, padding]), two], rules=CountRules(duplicates="refuse"))


def test_a_store_of_sparse_parts_is_small_and_gives_the_fit_of_memory(tmp_path, always_sparse):
    long = sparse_table()
    store = write_store([long], tmp_path / "store", parts=3)
    assert all(pl.read_parquet(part)["places"].null_count() == 0 for part in store.parts)
    assert sum(shard.trials.nnz for shard in store.shards()) == long.height
    memory = fit_responses(long, options=FitOptions(checks=False))
    disk = fit_responses(store)
    assert disk.log_posterior == pytest.approx(memory.log_posterior, abs=1e-2)
    assert dict(disk.items.select("item", "n").iter_rows()) == dict(memory.items.select("item", "n").iter_rows())


@pytest.mark.parametrize("sparse", [False, True])
def test_a_store_is_fitted_on_pytorch(tmp_path, sparse, monkeypatch):
    pytest.importorskip("torch", reason="the extra gpu is not installed")
    if sparse:
        monkeypatch.setattr("mensura.responses.table.LEAST_SPARSE", 0)
    store = write_store([sparse_table()], tmp_path / "store", parts=3)
    one, other = (fit_responses(store, options=FitOptions(device=device)) for device in ("numpy", "cpu"))
    assert other.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-2)
    assert np.allclose(one.subjects["ability"], other.subjects["ability"], atol=1e-3)
