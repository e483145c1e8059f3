"""What the project claims can be checked in a clone that has nothing but the repository."""

import json

import pytest

import benchmarks
from benchmarks import iq_published


def test_published_composites_are_met_without_development_data(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(iq_published, "FACTS", tmp_path / "absent")
    monkeypatch.setattr("sys.argv", ["iq_published"])
    iq_published.main()
    *_, note, figures = capsys.readouterr().out.splitlines()
    assert "need the publisher's own table" in note
    told = json.loads(figures)
    assert told["published"]["n"] == 46
    assert told["published"]["composite_mae"] < 1


def test_a_measurement_without_its_data_says_what_is_missing(capsys, monkeypatch, tmp_path):
    def main():
        raise FileNotFoundError(2, "No such file or directory", "shared/data/x.csv")

    monkeypatch.setattr(benchmarks, "SHARED", tmp_path / "shared")
    with pytest.raises(SystemExit) as end:
        benchmarks.run(main)
    assert end.value.code == 2
    printed = capsys.readouterr().err
    assert "not measured" in printed
    assert "x.csv" in printed
