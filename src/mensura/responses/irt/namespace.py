"""The arrays a pass runs on: NumPy, or PyTorch on a processor or a GPU. One code, three machines.

Both libraries share the names that passes use (``exp``, ``where``, ``matmul`` …). What they do not share is here:
types, moving arrays, and the two products with a table of counts, which carry all the work.
"""

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, check_choice

Array: TypeAlias = Any
"""An array of any library, on any device."""
_CHUNK_BYTES = {"numpy": 4 * 2**20, "cpu": 4 * 2**20, "cuda": 2 * 2**30}
"""What one chunk may take as floats: a processor's cache, a small part of a GPU's memory."""

_BLURRED = 1_000
"""Up to so many subjects the rounding of single precision is a share of the log likelihood that misleads a fit."""


class DeviceCounts(NamedTuple):
    """Sparse counts on a device: subjects × items, and turned, so that both products run along rows."""

    plain: Array
    turned: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Subjects and items."""
        return int(self.plain.shape[0]), int(self.plain.shape[1])


@dataclass(frozen=True)
class NumpyArrays:
    """NumPy in single (the default) or double precision (the reference)."""

    precision: type[np.floating[Any]] = np.float32
    device: str = "numpy"
    xp: Any = np

    def put(self, array: Array) -> Array:
        """Return the array; sparse counts item by item, whose products keep to a small part of the memory."""
        if hasattr(array, "tocsr"):
            by_item = array.astype(self.precision).tocsc()
            return DeviceCounts(by_item, by_item.T)
        return array

    def real(self, array: Array) -> Array:
        """Return the array as floats of the passes' precision."""
        return np.asarray(array, dtype=self.precision)

    def double(self, array: Array) -> Array:
        """Return the array in double precision."""
        return np.asarray(array, dtype=np.float64)

    def get(self, array: Array) -> Floats:
        """Return the array in double precision."""
        return np.asarray(array, dtype=np.float64)

    def score(self, counts: Array, table: Array) -> Array:
        """Return counts × table (subjects × columns)."""
        plain = counts.plain if isinstance(counts, DeviceCounts) else counts.astype(self.precision, copy=False)
        return np.asarray(plain @ table)

    def total(self, counts: Array, weights: Array) -> Array:
        """Return countsᵀ × weights (items × columns) in double precision."""
        turned = counts.turned if isinstance(counts, DeviceCounts) else counts.T.astype(self.precision, copy=False)
        return self.double(turned @ weights)


@dataclass(frozen=True)
class TorchArrays:
    """PyTorch. On a GPU counts enter products as bfloat16, which holds 0 to 256 exactly, floats as three such parts.

    Three parts of 8 bits are the 24 bits of a float; products are exact and sums are kept in single precision.
    """

    xp: Any
    device: str

    def put(self, array: Array) -> Array:
        """Move an array to the device as it is; sparse counts as single-precision numbers."""
        if hasattr(array, "tocsr"):
            return DeviceCounts(self._sparse(array), self._sparse(array.T.tocsr()))
        return self.xp.from_numpy(np.require(array, requirements=["C", "W"])).to(self.device)

    def _sparse(self, array: Array) -> Array:
        parts = (array.indptr.astype(np.int64), array.indices.astype(np.int64), array.data.astype(np.float32))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse")
            return self.xp.sparse_csr_tensor(*map(self.put, parts), size=array.shape)

    def real(self, array: Array) -> Array:
        """Move an array to the device in single precision."""
        return self.put(np.asarray(array, dtype=np.float32))

    def double(self, array: Array) -> Array:
        """Return an array of the device in double precision."""
        return array.double()

    def get(self, array: Array) -> Floats:
        """Bring an array back, in double precision."""
        return np.asarray(array.double().cpu().numpy())

    def score(self, counts: Array, table: Array) -> Array:
        """Return counts × table (subjects × columns)."""
        return counts.plain @ table if isinstance(counts, DeviceCounts) else self._product(counts, table)

    def total(self, counts: Array, weights: Array) -> Array:
        """Return countsᵀ × weights (items × columns) in double precision."""
        if isinstance(counts, DeviceCounts):
            return (counts.turned @ weights).double()
        return self._product(counts.T, weights).double()

    def _product(self, counts: Array, table: Array) -> Array:
        if self.device != "cuda" or counts.dtype != self.xp.uint8:
            return counts.to(table.dtype) @ table
        exact, columns = counts.to(self.xp.bfloat16), table.shape[1]
        product = self.xp.mm(exact, self.xp.cat(self._parts(table), 1), out_dtype=self.xp.float32)
        return product[:, :columns] + product[:, columns : 2 * columns] + product[:, 2 * columns :]

    def _parts(self, table: Array) -> list[Array]:
        """Split floats into three bfloat16 that add up to them."""
        parts = []
        for _ in range(3):
            parts.append(table.to(self.xp.bfloat16))
            table = table - parts[-1].to(table.dtype)
        return parts


Namespace: TypeAlias = NumpyArrays | TorchArrays
"""Arrays of one library on one device."""


def namespace(device: str = "numpy", *, double: bool = False) -> Namespace:
    """Return the arrays of a device: ``numpy``, or PyTorch on the processor (``cpu``) or a GPU (``cuda``)."""
    check_choice("device", device, _CHUNK_BYTES)
    if device == "numpy":
        return NumpyArrays(np.float64 if double else np.float32)
    if double:
        raise MensuraError("double precision is the reference of device 'numpy'; leave out one of the two")
    try:
        import torch
    except ImportError as fault:
        raise MensuraError(f"device {device!r} needs PyTorch: pip install 'mensura[gpu]'") from fault
    if device == "cuda" and not torch.cuda.is_available():
        raise MensuraError("device 'cuda': PyTorch finds no GPU here; use 'numpy' or 'cpu'")
    return TorchArrays(torch, device)


def sharp(space: Namespace, subjects: int) -> Namespace:
    """Return where to compute: few subjects in double precision, because single precision blurs their likelihood."""
    return namespace(double=True) if subjects <= _BLURRED and space.device == "numpy" else space


def chunk_rows(device: str, items: int) -> int:
    """Return how many subjects one chunk holds."""
    return max(1, _CHUNK_BYTES[device] // (4 * max(1, items)))
