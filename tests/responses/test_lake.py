"""Responses and stores at addresses: what lies in a lake is read where it is."""

import numpy as np
import pytest

from mensura.core.addresses import address_of, is_address
from mensura.core.errors import MensuraError
from mensura.responses import FitOptions, ResponseStore, fit_responses, read_responses, write_store
from tests.responses.conftest import as_long, draw

fsspec = pytest.importorskip("fsspec", reason="the extra lake is not installed")
QUIET = FitOptions(checks=False)


@pytest.fixture
def lake():
    """A file system in memory, empty before and after."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


def write_lake(system, wide, files=3):
    for part, rows in enumerate(np.array_split(np.arange(wide.height), files)):
        with system.open(f"/bucket/day={part}/answers.parquet", "wb") as file:
            as_long(wide[rows]).write_parquet(file)


def test_a_folder_of_parquet_files_is_one_table(lake):
    wide = draw(90, 8, seed=1).wide
    write_lake(lake, wide)
    there, here = read_responses("memory://bucket"), read_responses(wide)
    assert there.subjects.sort("subject").equals(here.subjects.sort("subject"))
    assert there.items["rate"].to_list() == here.items["rate"].to_list()


def test_a_folder_on_disk_is_read_alike(tmp_path):
    wide = draw(60, 5, seed=2).wide
    for part in range(2):
        as_long(wide[part * 30 : part * 30 + 30]).write_parquet(tmp_path / f"{part}.parquet")
    assert read_responses(tmp_path).items["rate"].to_list() == read_responses(wide).items["rate"].to_list()


def test_a_store_at_an_address_gives_the_same_fit(lake, tmp_path):
    wide = draw(200, 10, seed=3).wide
    here, there = (write_store([wide], place, parts=3) for place in (tmp_path / "store", "memory://bucket/store"))
    assert isinstance(there, ResponseStore)
    assert lake.isfile("/bucket/store/items.parquet")
    found = [fit_responses(place, options=QUIET) for place in (str(tmp_path / "store"), "memory://bucket/store")]
    assert found[0].log_likelihood == found[1].log_likelihood
    assert found[0].subjects.equals(found[1].subjects)
    assert there.complete == here.complete
    with pytest.raises(MensuraError, match="not empty"):
        write_store([wide], "memory://bucket/store")


@pytest.mark.slow
def test_the_command_takes_addresses(lake, mensura_command):
    write_lake(lake, draw(120, 6, seed=4).wide)
    assert mensura_command("responses", "read", "memory://bucket", "--store", "memory://out/store").code == 0
    run = mensura_command("responses", "fit", "memory://out/store", "--json")
    assert run.code == 0
    assert '"model": "2pl"' in run.out


@pytest.mark.parametrize("place", ["s3://bucket/x", "s3:/bucket/x", "s3://bucket/x/"])
def test_an_address_gets_its_slashes_back(place):
    assert address_of(place) == "s3://bucket/x"


def test_paths_are_no_addresses():
    assert not any(map(is_address, ("answers.csv", "/data/answers.csv", "C:/answers.csv", "a:b")))


def test_what_is_not_there_is_said(lake):
    with pytest.raises(MensuraError, match="no Parquet file; check the address"):
        read_responses("memory://nothing")
    with lake.open("/wide/a.parquet", "wb") as one, lake.open("/wide/b.parquet", "wb") as two:
        for file in (one, two):
            draw(5, 3).wide.write_parquet(file)
    with pytest.raises(MensuraError, match="expected them in each file of a folder"):
        read_responses("memory://wide")
    with pytest.raises(MensuraError, match="cannot be opened"):
        read_responses("odd://x/y")
