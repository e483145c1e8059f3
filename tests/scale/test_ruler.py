"""The ruler reads one rate in every unit, and every reading leads back to the same rate."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mensura import MensuraError, scale

log_rates = st.floats(min_value=math.log(1e-300), max_value=0.0, exclude_max=True)
rates = st.one_of(
    log_rates.map(math.exp).filter(lambda p: p < 1.0),
    st.floats(min_value=1e-300, max_value=1.0, exclude_max=True),
    st.floats(min_value=1e-16, max_value=0.5).map(lambda gap: 1.0 - gap).filter(lambda p: p < 1.0),
)
bases = st.floats(min_value=1.05, max_value=1000.0)


@given(rates, bases, st.sampled_from(["adele", "calibrated"]))
def test_level_leads_back_to_the_rate(p, base, convention):
    level = scale.rate_to_level(p, base, convention)
    assert math.isfinite(level)
    assert scale.level_to_rate(level, base, convention) == pytest.approx(p, rel=1e-12)


@given(rates)
def test_rarity_and_iq_lead_back_to_the_rate(p):
    assert scale.one_in_to_rate(scale.rate_to_one_in(p)) == pytest.approx(p, rel=1e-12)
    assert scale.iq_to_rate(scale.rate_to_iq(p)) == pytest.approx(p, rel=1e-10)


@given(rates)
def test_percentile_leads_back_to_the_rate_as_far_as_a_percentile_can_tell(p):
    assert scale.percentile_to_rate(scale.rate_to_percentile(p)) == pytest.approx(p, rel=1e-12, abs=3e-16)


@given(st.floats(min_value=25.0, max_value=650.0))
def test_iq_leads_back_to_itself(iq):
    assert scale.rate_to_iq(scale.iq_to_rate(iq)) == pytest.approx(iq, abs=1e-5)


@given(st.lists(rates, min_size=2, max_size=5, unique=True))
def test_rarer_is_higher_in_every_unit(values):
    p = np.sort(np.array(values))[::-1]
    for read in (scale.rate_to_level, scale.rate_to_one_in, scale.rate_to_percentile, scale.rate_to_iq):
        assert np.all(np.diff(read(p)) >= 0)


def test_published_conventions():
    assert scale.rate_to_level(10**-0.5) == pytest.approx(1.0)  # log_B(√B / p), B = 10
    assert scale.rate_to_level(0.01) == pytest.approx(-math.log10(0.01 / math.sqrt(10)))
    assert scale.rate_to_level(0.01, convention="calibrated") == pytest.approx(2.0)
    assert scale.rate_to_level(1 / 32, 32.0, "calibrated") == pytest.approx(1.0)
    assert scale.rate_to_iq(0.5) == pytest.approx(100.0)
    assert scale.rate_to_iq(0.15865525393145707) == pytest.approx(115.0)
    assert scale.rate_to_percentile(0.04) == pytest.approx(96.0)


def test_arrays_keep_their_shape():
    p = np.array([[0.1, 0.2], [0.3, 0.4]])
    assert scale.rate_to_iq(p).shape == (2, 2)
    np.testing.assert_allclose(scale.level_to_rate(scale.rate_to_level(p)), p)
    assert isinstance(scale.rate_to_iq(0.1), float)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scale.rate_to_iq(38), r"rate: got 38; expected a number from 1e-300 to below 1 \(is it a percentage"),
        (lambda: scale.rate_to_level(0.0), "rate: got 0; .* upper bound such as 3/n"),
        (lambda: scale.rate_to_level([0.2, -0.1]), "rate: got -0.1"),
        (lambda: scale.rate_to_level(float("nan")), "rate: got nan"),
        (lambda: scale.rate_to_level(0.5, base=1.0), "base: got 1.0; expected a number above 1"),
        (lambda: scale.rate_to_level(0.5, convention="other"), "convention: got 'other'; .* adele, calibrated"),
        (lambda: scale.level_to_rate(0.2), r"level \(base 10, adele\): got 0.2; expected a number from 0.5"),
        (lambda: scale.iq_to_rate(2000), "iq: got 2000; expected a number from -24 to 656"),
        (lambda: scale.percentile_to_rate(100), "percentile: got 100; expected a number from 0 to below 100"),
        (lambda: scale.one_in_to_rate(0.5), "one_in: got 0.5; expected a number from 1"),
    ],
)
def test_out_of_range_names_the_value_and_the_range(call, message):
    with pytest.raises(MensuraError, match=message):
        call()


def test_one_iq_and_a_column_of_them_have_the_same_rates():
    iqs = [-24, 55, 99.5, 100, 137, 210, 656]
    assert [scale.iq_to_rate(iq) for iq in iqs] == pytest.approx(list(scale.iq_to_rate(iqs)), rel=1e-12)
    assert scale.iq_to_rate(100) == 0.5


@pytest.mark.parametrize(
    ("rate", "tested", "said"),
    [
        (0.25, None, "1 in 4 people"),
        (1 / 6_850_000, None, "1 in 6,850,000 people"),
        (1 / 6_850_000, 142, "at least 1 in 142 tested"),
        (1 / 142, 142, "1 in 142 people"),
        (0.25, 142, "1 in 4 people"),
    ],
)
def test_a_rarity_is_cut_at_what_the_people_tested_can_tell(rate, tested, said):
    assert scale.say_rarity(rate, tested) == said


@pytest.mark.parametrize(
    ("rate", "band"), [(1.0, "10–100%"), (0.5, "10–100%"), (0.1, "10–100%"), (0.038, "1–10%"), (1e-6, "0.0001–0.001%")]
)
def test_bands_of_the_common_scale_have_names(rate, band):
    assert scale.band_of(rate) == band
