"""A calibration as a file, the ruler on it, and the commands."""

import pytest

from mensura import MensuraError
from mensura.calibration import calibrate, read_calibration_file, write_calibration
from mensura.scale import LevelLine, level_to_rate
from tests.calibration.conftest import on_lines

LINES = {"KNn": (0.5, 0.8), "VO": (0.3, 0.9), "AT": (-0.1, 1.5)}


def test_levels_of_another_base_and_convention(mensura_command):
    assert level_to_rate(2.0, 3.0, "calibrated") == pytest.approx(1 / 9)
    assert level_to_rate(2.0, 3.0) == pytest.approx(3**-1.5)
    for wrong in ((1.0, "adele"), (3.0, "mine")):
        with pytest.raises(MensuraError):
            level_to_rate(2.0, *wrong)
    assert mensura_command("scale", "--level", "2", "--base", "3").code == 2, "Python has other bases"


def test_a_calibration_read_back_is_the_same(tmp_path):
    made = calibrate(*on_lines(LINES), method="means")
    write_calibration(made, tmp_path / "c.json")
    again = read_calibration_file(tmp_path / "c.json")
    assert again.bases["base"].to_list() == pytest.approx(made.bases["base"].to_list(), rel=1e-5)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not a calibration file"),
        ("[]", "not a calibration file; expected"),
        ('{"format": "mensura calibration", "version": 9}', "version 9 of the format; expected 1"),
        ('{"format": "mensura calibration", "version": 1, "method": "x"}', "lacks dimensions, bases, items, pools"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path, text, says):
    (tmp_path / "c.json").write_text(text, encoding="utf-8")
    with pytest.raises(MensuraError, match=says):
        read_calibration_file(tmp_path / "c.json")
    with pytest.raises(MensuraError, match="no such file"):
        read_calibration_file(tmp_path / "none.json")


def test_lines_say_where_items_end():
    line = LevelLine("KNn", 0.5, 0.8, "KNn", covered=(0, 4))
    assert line.outside(4.0) == "" and "0 to 4" in line.outside(4.2)
