"""Public names that load on first use: the list under TYPE_CHECKING is the one list."""

import sys
from types import ModuleType

import pytest

from mensura.core.exports import on_first_use

SOURCE = """\
from typing import TYPE_CHECKING
from os import sep
if TYPE_CHECKING:
    from fractions import Fraction as Fraction
    from decimal import Decimal as Decimal
"""


def test_a_name_loads_when_it_is_asked_for(tmp_path, monkeypatch):
    (tmp_path / "__init__.py").write_text(SOURCE, encoding="utf-8")
    package = ModuleType("small_package")
    monkeypatch.setitem(sys.modules, "small_package", package)
    get, listed, names = on_first_use("small_package", str(tmp_path / "__init__.py"), "version")
    assert names == ["Decimal", "Fraction"]
    assert listed() == sorted([*names, "version"])
    assert not hasattr(package, "Fraction")
    assert get("Fraction")(1, 2) == 0.5
    assert package.Fraction is get("Fraction")
    with pytest.raises(AttributeError, match="module 'small_package' has no attribute 'sep'; public names: Fraction"):
        get("sep")
