"""Two columns of one name are refused by every command that reads a table, and so is a packed bomb."""

import csv
import gzip
import shutil
from pathlib import Path

import pytest

from tests.cli.every_command import filled

READERS = {
    "add": ["{added}"],
    "iq": ["--add", "{added}"],
    "stitch": ["{scores}"],
    "trends": ["{scores}", "--no-watch"],
    "trends --models": ["{kept_scores}", "--set", "models={scores}", "--no-watch"],
    "acceleration watch": ["{scores}", "--set", "streams=19"],
    "calibrate --rates": ["--rates", "{rates}", "--demands", "{kept_demands}"],
    "calibrate --demands": ["--rates", "{kept_rates}", "--demands", "{demands}"],
    "profile": ["--outcomes", "{outcomes}", "--demands", "{kept_demands}"],
    "profile --demands": ["--outcomes", "{kept_outcomes}", "--demands", "{demands}"],
    "equate": ["{rates}", "naep"],
    "extrapolate": ["{pool}/items.csv"],
    "extrapolate --links": [
        "{kept_pool}",
        "--from",
        "DEU",
        "--to",
        "FRA",
        "--method",
        "linked",
        "--links",
        "{item_rates}",
    ],
    "validate": ["{pool}/group_rates.csv"],
    "people import": ["{answers}", "--items", "^q"],
    "people summary": ["{pool}/items.csv"],
    "people rates": ["{pool}/persons.csv"],
    "responses read": ["{outcomes}"],
    "responses fit": ["{answers}"],
    "responses place": ["{kept_fitted}", "--rates", "{item_rates}"],
    "responses next --form": ["{fitted}/items.csv", "--form", "2"],
    "responses next": ["{fitted}/items.csv"],
    "demands agreement": ["{readings}"],
    "demands agreement --merge": ["{readings}", "--merge", "median"],
    "evidence check": ["{evidence}/scores.csv"],
}
"""A command and its least arguments; the file under ``{NAME}`` is spoilt, one under ``{kept_NAME}`` is not."""
WRITES = {"people import", "demands agreement --merge"}


def spoilt(path, spoil, tmp_path, inner=""):
    """Copy a file, or the folder of one, and spoil it there."""
    source = Path(path)
    target = tmp_path / source.name
    if source.is_dir():
        shutil.copytree(source, target)
        spoil(target / inner)
        return target
    shutil.copy(source, target)
    spoil(target)
    return target


def double_header(file):
    """Give the last column the name of the first, as a careless merge does."""
    with file.open(encoding="utf-8", newline="") as text:
        rows = list(csv.reader(text))
    again = [[rows[0][0], *rows[0]], *([row[0], *row] for row in rows[1:])]
    with file.open("w", encoding="utf-8", newline="") as text:
        csv.writer(text).writerows(again)


def bomb(file):
    file.write_bytes(gzip.compress(file.read_bytes() + b"\n" * 2**21))


def call(command, inputs, spoil, tmp_path):
    words = []
    for word in READERS[command]:
        setting, _, place = word.partition("{")
        name, _, inner = place.replace("}", "").partition("/")
        if not place:
            words.append(word)
        elif name.startswith("kept_"):
            words += filled(["{" + name.removeprefix("kept_") + "}"], inputs, tmp_path)
        else:
            (path, *_) = filled(["{" + name + "}"], inputs, tmp_path)
            words.append(f"{setting}{spoilt(path, spoil, tmp_path, inner)}")
    words += ["--out", str(tmp_path / "out")] if command in WRITES else []
    return [word for word in command.split() if not word.startswith("--")] + words


@pytest.mark.parametrize("command", READERS)
def test_two_columns_of_one_name_are_refused(command, inputs, mensura_command, tmp_path):
    run = mensura_command(*call(command, inputs, double_header, tmp_path))
    assert run.code == 2, run.out
    assert "is there twice; rename or drop one" in run.err


@pytest.mark.parametrize("command", READERS)
def test_a_packed_bomb_is_refused(command, inputs, mensura_command, tmp_path, monkeypatch):
    monkeypatch.setattr("mensura.intake.packed.MOST_UNPACKED", 2**20)
    monkeypatch.setattr("mensura.intake.score_columns.MOST_BYTES", 2**20)
    run = mensura_command(*call(command, inputs, bomb, tmp_path))
    assert run.code == 2, run.out
    assert "unpack to more than 1 MB" in run.err
