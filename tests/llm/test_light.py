"""The room is light, and says which extra is missing."""

import subprocess
import sys

import pytest

from mensura.core.errors import MensuraError
from mensura.llm import open_asker

HEAVY = ["numpy", "polars", "jinja2", "aiohttp", "inspect_ai", "openai", "ray"]


def test_importing_the_room_loads_no_heavy_library():
    code = f"import mensura.llm, sys; print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize(("name", "library"), [("mine", "aiohttp"), ("anthropic/mine", "inspect_ai.model")])
def test_a_missing_extra_is_named(tmp_path, monkeypatch, name, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MensuraError, match=r"mensura\[llm\]"):
        open_asker(name, journal=tmp_path / "j.sqlite", base_url="http://127.0.0.1:9/v1")
