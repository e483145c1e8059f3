"""Colours that everybody can see."""

import itertools

import numpy as np
import pytest

from mensura.charts import LABS, THEMES
from mensura.charts.theme import OTHER, SHAPES, lab_of

# Viénot, Brettel and Mollon (1999), linear RGB: how red-blind and green-blind readers see.
BLINDNESS = {
    "none": np.eye(3),
    "protan": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
    "deutan": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour):
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    light, dark = sorted((float(linear(c) @ TO_XYZ[1]) for c in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lab(colour, blindness):
    xyz = TO_XYZ @ np.clip(BLINDNESS[blindness] @ linear(colour), 0, 1) / np.array([0.9505, 1, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one, other, blindness):
    return float(np.linalg.norm(lab(one, blindness) - lab(other, blindness)))


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_marks_and_text_stand_out_from_the_page(theme):
    assert all(contrast(colour, theme.surface) >= 3 for colour in (*theme.labs, theme.people, theme.accent))
    assert all(contrast(colour, theme.surface) >= 4.5 for colour in (theme.ink, theme.quiet, theme.people))


@pytest.mark.parametrize("blindness", BLINDNESS)
@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_the_three_largest_labs_are_told_apart_by_colour_alone(theme, blindness):
    for one, other in itertools.combinations(theme.labs[:3], 2):
        assert difference(one, other, blindness) > 20


def test_every_lab_has_its_own_shape_and_the_largest_a_hue():
    assert len(set(SHAPES)) == len(LABS) + 1
    for theme in THEMES.values():
        assert len(set(theme.labs)) == 7, "five hues, the ink and one grey"


@pytest.mark.parametrize("blindness", BLINDNESS)
@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_warm_means_people_and_no_maker(theme, blindness):
    assert min(difference(theme.people_strong, lab, blindness) for lab in theme.labs) > 18


def test_unknown_providers_share_one_look():
    assert lab_of("OpenAI") == "OpenAI"
    assert lab_of("Somebody") == lab_of(None) == OTHER
