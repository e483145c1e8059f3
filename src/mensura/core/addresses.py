"""Folders of Parquet files on a disk or at an address such as ``s3://bucket/folder``, through fsspec."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    import polars as pl

_ADDRESS = re.compile(r"^([a-z][a-z0-9+.-]+):/+")
_OF_DISK = ("file", "local")


def is_address(place: object) -> bool:
    """Return whether a place is an address and no path."""
    return isinstance(place, str | Path) and _ADDRESS.match(str(place)) is not None


def address_of(place: str | Path) -> str:
    """Return an address in full: as a path it has lost a slash."""
    start = _ADDRESS.match(str(place))
    if start is None:
        raise MensuraError(f"{place}: no address; expected one such as s3://bucket/folder")
    slashes = "///" if start[1] in _OF_DISK else "//"
    return f"{start[1]}:{slashes}{str(place)[start.end() :]}".rstrip("/")


def opened(address: str | Path) -> tuple[Any, str]:
    """Return the file system of an address and the path there."""
    whole = address_of(address)
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MensuraError(
            f"{whole}: addresses need the extra 'lake'; install it: pip install 'mensura[lake]'"
        ) from None
    try:
        system, path = url_to_fs(whole)
    except (ImportError, ValueError) as fault:
        raise MensuraError(f"{whole}: cannot be opened ({fault}); check the address and its package") from None
    return system, path


def exists(place: str | Path) -> bool:
    """Return whether there is a file at a path or address."""
    if not is_address(place):
        return Path(place).is_file()
    system, path = opened(place)
    return bool(system.isfile(path))


def parquet_files(folder: str | Path, pattern: str = "*.parquet") -> list[Path | str]:
    """Return the Parquet files in a folder, in the order of their names."""
    if not is_address(folder):
        return [*sorted(Path(folder).glob(pattern))]
    system, path = opened(folder)
    return [system.unstrip_protocol(one) for one in sorted(system.glob(f"{path}/{pattern}"))]


def read_parquet(place: str | Path, columns: list[str] | None = None) -> pl.DataFrame:
    """Read a Parquet file at a path or address."""
    import polars as pl

    if not is_address(place):
        return pl.read_parquet(place, columns=columns, glob=False)
    system, path = opened(place)
    with system.open(path, "rb") as file:
        return pl.read_parquet(file, columns=columns, glob=False)


def upload(folder: Path, address: str | Path, last: str) -> None:
    """Copy the files of a folder to an empty address; the file ``last`` marks the copy as whole."""
    system, path = opened(address)
    if system.exists(path) and system.ls(path):
        raise MensuraError(f"{address_of(address)}: not empty; expected an address without files. Choose another one")
    system.makedirs(path, exist_ok=True)
    files = sorted(folder.iterdir(), key=lambda file: (file.name == last, file.name))
    for file in files:
        system.put_file(str(file), f"{path}/{file.name}")
