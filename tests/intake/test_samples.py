"""Evaluation logs, sample by sample: what is none is refused in words."""

import json

import pytest

from mensura.core.errors import MensuraError
from mensura.intake.samples import read_samples


@pytest.mark.parametrize("told", [{}, {"results": {"acc": 0.5}}, [], ["eval"], 7])
def test_json_that_is_no_log_is_refused_in_words(tmp_path, told):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(MensuraError, match=r"log\.json: unknown log; expected an Inspect log with samples or HELM's"):
        list(read_samples(path))
