"""Tables drawn as rows: what stands where, in what order, and what is said; every result draws itself."""

import re

import polars as pl
import pytest

import mensura
from mensura import MensuraError, charts
from mensura.charts.row_charts import plot_table
from tests.charts.reading import marks_of, tree_of

BASES = pl.DataFrame(
    {"name": ["Knowledge", "Metacognition and Critical Thinking"], "base": [6.7, 31.95], "low": None, "high": None}
)
REGIONS = pl.DataFrame({"region": ["Europe", "Asia"], "rate": [0.6, 0.4], "low": [0.5, 0.3], "high": [0.7, 0.5]})
DRIVERS = pl.DataFrame(
    {"driver": ["age", "schooling"], "effect": [3.0, -12.0], "low": [1.0, -15.0], "high": [5.0, -9.0]}
)
PROGRESS = pl.DataFrame({"label": ["ours", "theirs"], "value": [3.0, 8.0], "low": [2.0, 4.0], "high": [5.0, 20.0]})


def bases(table):
    look = {"text": lambda base: f"{base:.2f}", "log": True, "rule": 10.0}
    return charts.estimates(table, label="name", value="base", x_title="Base", **look)


def regions(table):
    look = {"tick": lambda share: f"{share:.0%}", "text": lambda share: f"{share:.0%}", "least": 0.0}
    return charts.estimates(table, label="region", value="rate", x_title="Rate of success", **look)


def drivers(table):
    return charts.estimates(table, label="driver", value="effect", x_title="Change of the rate", order=abs, rule=0.0)


def progress(table):
    look = {"order": lambda _: 0.0, "log": True, "rule": 1.0}
    return charts.estimates(table, label="label", value="value", x_title="Less compute", **look)


def rows_of(drawing):
    """What a screen reader says of each row, from the top, and where its mark stands."""
    sign = r'<path class="sign" transform="translate\(([\d.]+),([\d.]+)\)"'
    mark = rf'role="img" aria-label="([^"]+)">(?:<line [^>]*>)*{sign}'
    found = re.findall(mark, str(drawing.wide))
    return [(float(x), said) for said, x, _ in sorted(found, key=lambda one: float(one[2]))]


def rule_of(drawing):
    """Where the dashed line stands."""
    return [float(x) for x in re.findall(r'<line x1="([\d.]+)"[^>]*stroke-dasharray="4 3"', str(drawing.wide))]


def test_bases_fall_from_the_largest_and_are_printed_as_calibrations_print_them():
    assert [said for _, said in rows_of(bases(BASES))] == [
        "Metacognition and Critical Thinking: 31.95, estimated",
        "Knowledge: 6.70, estimated",
    ]


def test_the_line_stands_at_what_the_numbers_are_measured_against():
    """Bases at the design value 10, drivers at no change, progress at the same compute; regions have none."""
    (high, _), (low, _) = rows_of(bases(BASES))
    [ten] = rule_of(bases(BASES))
    assert low < ten < high
    (schooling, _), (age, _) = rows_of(drivers(DRIVERS))
    [zero] = rule_of(drivers(DRIVERS))
    assert schooling < zero < age
    [same] = rule_of(progress(PROGRESS))
    assert same < min(x for x, _ in rows_of(progress(PROGRESS)))
    assert rule_of(regions(REGIONS)) == []


def test_a_logarithmic_axis_gives_equal_room_to_equal_factors():
    table = pl.DataFrame({"label": ["a", "b", "c"], "value": [1.0, 10.0, 100.0], "low": [None] * 3, "high": [None] * 3})
    a, b, c = (x for x, _ in rows_of(progress(table)))
    assert b - a == pytest.approx(c - b, abs=0.11)


def test_rates_are_said_in_percent_with_their_interval():
    assert [said for _, said in rows_of(regions(REGIONS))] == [
        "Europe: 60%, 50% to 70%, estimated",
        "Asia: 40%, 30% to 50%, estimated",
    ]


def test_the_largest_driver_comes_first_whatever_its_sign():
    assert [said.split(":")[0] for _, said in rows_of(drivers(DRIVERS))] == ["schooling", "age"]


def test_an_interval_without_an_end_runs_to_the_edge():
    table = PROGRESS.with_columns(high=pl.Series([float("inf"), 20.0]))
    assert "nan" not in str(progress(table).wide)


def test_an_empty_table_says_why_nothing_is_drawn():
    assert "no region has a rate" in str(regions(REGIONS.clear()).wide)


def test_a_missing_column_is_named():
    with pytest.raises(MensuraError, match="missing column 'high'"):
        regions(REGIONS.drop("high"))


def ranks() -> pl.DataFrame:
    return pl.DataFrame(
        {"rank": [1, 2, 3], "subject": ["ann", "bob", "eve"], "iq": [130.0, 110.0, None], "low": [120.0, 90.0, None]}
    ).with_columns(high=pl.col("iq") + 10)


def test_a_table_with_intervals_becomes_rows_with_marks():
    drawn = plot_table(ranks(), "People")._repr_svg_()
    assert "ann" in drawn
    assert "bob" in drawn
    assert "eve" not in drawn, "she has no value"
    assert "People: iq with its 90% interval" in drawn


def test_a_table_without_intervals_draws_its_first_number():
    drawn = plot_table(ranks().select("rank", "subject", "iq"), "People")._repr_svg_()
    assert "People: iq" in drawn
    assert "interval" not in drawn


def test_only_the_rows_asked_for_are_drawn():
    assert "bob" not in plot_table(ranks(), "People", rows=1)._repr_svg_()


def test_a_table_of_words_is_refused():
    with pytest.raises(MensuraError, match="plot: expected a column of numbers, got a"):
        plot_table(pl.DataFrame({"a": ["x"]}), "Words")


def test_a_fit_draws_its_capabilities(few_models):
    fitted = mensura.stitch(mensura.load(few_models))
    assert fitted.capabilities["subject"][0] in fitted.plot()._repr_svg_()


@pytest.mark.slow
def test_a_figure_by_name_is_the_one_of_the_report(few_models):
    picture = mensura.figure("iq-bell", mensura.load(few_models))
    assert isinstance(picture, charts.Drawing)


def test_an_unknown_figure_is_refused_with_the_names(few_models):
    with pytest.raises(MensuraError, match="'iq-ball' is not known"):
        mensura.figure("iq-ball", mensura.load(few_models))


MODELS = pl.DataFrame(
    {
        "subject": ["opus", "sol", "small"],
        "name": ["Opus", "Sol", "Small"],
        "provider": ["Anthropic", "OpenAI", None],
        "value": [11.0, 1.0, 0.12],
        "low": [None, 0.5, None],
        "high": [None, 2.0, None],
        "status": ["measured", "estimated", "measured"],
        "other": [7.0, None, 0.17],
    }
)


def test_models_stand_in_the_order_of_their_value_or_the_other_way_round():
    said = [said for _, said in rows_of(charts.bars(MODELS, x_title="dollars"))]
    assert said == ["Opus: 11.0, measured", "Sol: 1.0, 0.5 to 2, estimated", "Small: 0.1, measured"]
    assert rows_of(charts.bars(MODELS, x_title="dollars", ascending=True))[0][1].startswith("Small")


def test_a_second_value_is_a_stroke_with_its_number_on_the_other_side():
    drawn = charts.bars(MODELS, x_title="dollars", beside="list price", log=True)
    assert "Opus: 11, list price 7, measured" in drawn.wide
    (opus, _), _, (small, _) = sorted(((x, said) for x, said in rows_of(drawn)), reverse=True)
    own, other = (float(re.search(rf'<text x="([\d.]+)"[^>]*>{text}</text>', drawn.wide)[1]) for text in ("11", "7"))
    assert other < opus < own, "dearer than its list price: its number is on the right"
    own, other = (
        float(re.search(rf'<text x="([\d.]+)"[^>]*>{text}</text>', drawn.wide)[1]) for text in ("0.12", "0.17")
    )
    assert own < small < other


def test_tests_are_ranges_with_a_stroke_at_their_peak_under_a_row_of_models():
    ranges = pl.DataFrame({"benchmark": ["a", "b"], "name": ["A", "B"], "low": [0.1, 1.0], "peak": [0.5, 1.4]})
    svg = charts.sensors(ranges.with_columns(high=pl.col("peak") + 1), MODELS).wide
    assert "B: 1.4, informs from 1 to 2.4" in svg
    assert svg.index(">B<") < svg.index(">A<"), "hardest first"
    signs = re.findall(r'class="sign" transform="translate\(([\d.]+),([\d.]+)\)"', svg)
    assert len(signs) == 3 and len({y for _, y in signs}) == 1


def test_the_picture_of_no_estimates_has_the_right_article():
    empty = {"driver": [], "effect": [], "low": [], "high": []}
    drawing = charts.estimates(empty, label="driver", value="effect", x_title="Change")
    assert drawing.description == "nothing to show: no driver has an effect"


def test_of_many_items_those_that_differ_are_drawn_before_the_larger_differences():
    count = 100
    points = {"item": [f"q{at}" for at in range(count)], "difference": [0.01 * at for at in range(count)]}
    points |= {"low": [None] * count, "high": [None] * count, "flagged": [at < 3 for at in range(count)]}
    drawing = charts.item_differences(points)
    drawn = {label.split(",")[0].split(":")[0] for label in marks_of(tree_of(drawing))}
    assert {"q0", "q1", "q2", "q99", "q98"} <= drawn and "q3" not in drawn
    assert f"{count - len(drawn)} smaller ones left out" in drawing.wide
