"""The result of an estimated baseline, and its card for a README or a paper: Markdown, SVG and JSON."""

import pytest

from mensura.baseline import result


@pytest.mark.parametrize(("one_in", "written"), [(1.14, "1.1"), (9.54, "9.5"), (10.4, "10"), (12345.0, "12,345")])
def test_a_rarity_below_ten_is_written_with_one_decimal(one_in, written):
    assert result._short(one_in) == written
