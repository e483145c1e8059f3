"""Published scores of people on known benchmarks."""

import mensura
from mensura.baseline import find_known


def test_a_part_that_no_model_took_gives_no_warning(recwarn):
    find_known("gpqa", mensura.load())
    assert [str(one.message) for one in recwarn] == []
