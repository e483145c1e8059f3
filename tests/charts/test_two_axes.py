"""Two quantities against each other: trade-offs, a ladder, and curves of a test."""

import pytest

from mensura import charts
from mensura.core.errors import MensuraError
from tests.charts.reading import SVG, marks_of, place_of, tree_of, words_of

MODELS = {
    "subject": ["opus", "sol", "free"],
    "name": ["Opus", "Sol", "Free"],
    "provider": ["Anthropic", "OpenAI", None],
    "x": [30.0, 3.0, 0.0],
    "y": [130.0, 120.0, 90.0],
    "status": ["measured", "measured", "measured"],
    "label": [True, True, True],
}


def scatter(table=None, **settings):
    return charts.scatter(table or MODELS, x_title="USD", y_title="IQ", **settings)


def test_a_status_that_is_not_known_is_refused_with_those_that_are():
    with pytest.raises(MensuraError, match="status 'guess' is unknown; expected 'measured' or 'estimated'"):
        scatter({**MODELS, "status": ["guess"] * 3})


def test_a_mark_may_lead_somewhere():
    svg = scatter({**MODELS, "href": ["models/x.html"] * 3}).wide
    assert svg.count('<a href="models/x.html"') == 3
    assert 'data-subject="opus" data-provider="Anthropic"' in svg


def test_a_logarithmic_axis_leaves_out_what_is_not_above_zero():
    assert scatter().description.startswith("IQ against USD for 3 models; highest IQ: Opus (130 at 30)")
    assert scatter(log_x=True).description.startswith("IQ against USD for 2 models")
    assert (
        scatter({**MODELS, "x": [0.0] * 3}, log_x=True).description == "nothing to show: no model has both USD and IQ"
    )


@pytest.mark.parametrize("reverse", [False, True])
def test_a_reversed_axis_falls_to_the_right(reverse):
    marks = marks_of(tree_of(scatter(reverse_x=reverse)))
    dear, cheap = (place_of(marks[f"{text}, measured"]) for text in ("Opus, USD 30, IQ 130", "Sol, USD 3, IQ 120"))
    assert (dear[0] < cheap[0]) == reverse
    assert dear[1] < cheap[1]


def test_models_of_the_frontier_have_their_name_with_both_values():
    frontier = {"x": [3.0, 30.0], "y": [120.0, 130.0]}
    words = words_of(tree_of(scatter({**MODELS, "label": [False] * 3}, frontier=frontier)))
    assert {"Opus 30, 130", "Sol 3, 120"} <= set(words) and not any(text.startswith("Free") for text in words)


def test_a_model_on_the_ladder_stands_on_its_line():
    spot = charts.Mark("Opus", "Anthropic", 40.0, 100.0, "Opus: 40%")
    tree = tree_of(charts.draw_ladder([(0, 70), (40, 100), (90, 160)], [spot], (), tick=str, description="a ladder"))
    steps = {(float(node.get("cx")), float(node.get("cy"))) for node in tree.iter(f"{SVG}circle")}
    assert len(steps) == 3 and place_of(marks_of(tree)["Opus: 40%"]) in steps


def test_a_test_is_surest_where_its_information_is_highest():
    curve = {"ability": [-2.0, 0.5, 2.0], "information": [2.0, 9.0, 4.0], "error": [1.16, 0.55, None]}
    drawing = charts.information_curve(curve)
    assert drawing.description == "Information of a test over ability, highest (9) at 0.5."
    tree = tree_of(drawing)
    assert "surest at 0.5, ±0.55" in words_of(tree)
    marks = marks_of(tree)
    assert "ability 2, information 4" in marks, "an unknown error is not written"
    assert min(marks, key=lambda label: place_of(marks[label])[1]).startswith("ability 0.5")


def test_an_observed_rate_is_compared_with_the_nearest_part_of_the_curve():
    curve = {"ability": [-1.0, 1.0], "rate": [0.3, 0.7]}
    observed = {"ability": [-0.9, 1.0], "rate": [0.35, 0.45], "low": [0.3, None], "high": [0.4, None], "n": [1, 80]}
    drawing = charts.item_characteristic(curve, observed)
    assert drawing.description == "An item's curve and 2 observed rates, at most 0.25 from it."
    assert {"ability −0.9, 35% right, 0.3 to 0.4, 1 subject", "ability 1, 45% right, 80 subjects"} <= set(
        marks_of(tree_of(drawing))
    )
    none = {name: [] for name in observed}
    assert charts.item_characteristic(curve, none).description == "An item's curve."
