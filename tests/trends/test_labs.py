"""How much of the releases' scatter stays with their lab."""

import numpy as np
import polars as pl
import pytest

from mensura.trends.labs import describe_labs
from mensura.trends.streams import first_releases, read_stream


def releases(share, labs=40, each=25, seed=0):
    rng = np.random.default_rng(seed)
    lab = np.repeat(np.arange(labs), each)
    levels, own = rng.standard_normal(labs)[lab], rng.standard_normal(lab.size)
    return lab, np.sqrt(share) * levels + np.sqrt(1 - share) * own


@pytest.mark.parametrize("share", [0.0, 0.4, 0.8])
def test_many_labs_show_the_share_that_stays_with_them(share):
    found = describe_labs(*releases(share))
    assert np.median(found.draw_share(2000, np.random.default_rng(1))) == pytest.approx(share, abs=0.1)


def test_few_labs_leave_the_share_uncertain():
    many, few = (describe_labs(*releases(0.4, labs=n)).draw_share(4000, np.random.default_rng(0)) for n in (40, 4))
    assert few.std() > 2 * many.std()


def test_levels_are_common_to_the_releases_of_a_lab_and_standard_normal():
    found = describe_labs(*releases(0.4, labs=3, each=2))
    levels = found.draw_levels(20_000, np.random.default_rng(0))
    np.testing.assert_array_equal(levels[:, 0], levels[:, 1])
    assert levels.std() == pytest.approx(1, abs=0.02)
    assert np.corrcoef(levels[:, 1], levels[:, 2])[0, 1] == pytest.approx(0, abs=0.03)


@pytest.mark.parametrize("lab", [[0, 0, 0, 1, 1, 1], [0, 1, 2, 3, 4, 5]])
def test_too_few_labs_or_releases_say_nothing(lab):
    assert describe_labs(np.array(lab), np.arange(6.0)) is None


def test_a_stream_knows_its_labs_where_the_table_names_them():
    table = pl.DataFrame(
        {
            "subject": ["a1", "b1", "a2", "x"],
            "benchmark": ["t"] * 4,
            "score": [0.1, 0.4, 0.3, 0.2],
            "released": ["2024-03-01", "2024-01-01", "2024-02-01", "2024-04-01"],
            "provider": ["A", "B", "A", None],
        }
    )
    stream, subjects = read_stream(table, None)
    assert subjects == ["b1", "a2", "a1", "x"]
    assert stream.labs[1] == stream.labs[2]
    assert len(set(stream.labs)) == 3
    np.testing.assert_array_equal(first_releases(stream, 2).labs, stream.labs[:2])
    assert read_stream(table.drop("provider"), None)[0].labs is None
