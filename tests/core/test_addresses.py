"""Addresses of folders: what is one, its slashes, and files that are found and copied there."""

from pathlib import Path

import polars as pl
import pytest

from mensura.core.addresses import address_of, exists, is_address, parquet_files, read_parquet, upload
from mensura.core.errors import MensuraError


@pytest.mark.parametrize(
    ("place", "address"),
    [
        ("s3://bucket/folder/", "s3://bucket/folder"),
        (Path("s3://bucket/folder"), "s3://bucket/folder"),
        ("memory:/pool", "memory://pool"),
        ("file:///tmp/pool", "file:///tmp/pool"),
        ("local:/tmp/pool", "local:///tmp/pool"),
    ],
)
def test_an_address_has_all_its_slashes(place, address):
    assert is_address(place)
    assert address_of(place) == address


def test_a_path_is_no_address():
    assert not any(map(is_address, ("folder/s3", "C:/folder", "/tmp/x", Path("a:b"), None, 3)))
    with pytest.raises(MensuraError, match="folder: no address; expected one such as s3://bucket/folder"):
        address_of("folder")


def test_files_are_read_where_they_lie_in_the_order_of_their_names(tmp_path):
    pytest.importorskip("fsspec")
    for number in (2, 1):
        pl.DataFrame({"a": [number], "b": [0]}).write_parquet(tmp_path / f"part-{number}.parquet")
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    for folder in (tmp_path, f"file://{tmp_path}"):
        files = parquet_files(folder)
        assert [str(file).rsplit("/", 1)[1] for file in files] == ["part-1.parquet", "part-2.parquet"]
        assert read_parquet(files[1], ["a"]).rows() == [(2,)]
        assert exists(files[0])
        assert not exists(f"{folder}/none.parquet")


def test_a_copy_goes_to_an_empty_address_alone(tmp_path):
    pytest.importorskip("fsspec")
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    for name in ("a-last.json", "b.parquet"):
        (source / name).write_text(name, encoding="utf-8")
    upload(source, f"file://{target}", "a-last.json")
    assert {file.name: file.read_text(encoding="utf-8") for file in target.iterdir()} == {
        "a-last.json": "a-last.json",
        "b.parquet": "b.parquet",
    }
    with pytest.raises(MensuraError, match="not empty; expected an address without files"):
        upload(source, f"file://{target}", "a-last.json")
