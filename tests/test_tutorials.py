"""Every command of the tutorials and of the questions runs in an empty folder and prints what the page shows."""

import json
import re

import pytest

import mensura
from tools import tutorials

README = (tutorials.ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("page", tutorials.PAGES, ids=lambda page: page.stem)
def test_the_page_shows_what_its_commands_print(page, tmp_path, monkeypatch):
    text = page.read_text(encoding="utf-8")
    found = tutorials.run_page(text, tmp_path)
    assert found == text, f"run python -m tools.tutorials --write docs/{page.name}"


def test_a_command_that_fails_is_named(tmp_path):
    with pytest.raises(SystemExit, match="ended with 2"):
        tutorials.run_page("```console\n$ mensura scale --iq high\n```", tmp_path)


def test_a_long_answer_is_cut_where_the_page_says(tmp_path):
    found = tutorials.run_page("```console 3\n$ mensura scale 0.038\n```", tmp_path)
    assert found.splitlines()[-2:] == ["…", "```"]
    assert len(found.splitlines()) == 7


@pytest.mark.slow
def test_the_first_result_of_the_readme_is_what_the_commands_say(mensura_command):
    shown = re.findall(r"^│ +(\d+) │ (.+?) +│ +(\d+) │ (\d+) to (\d+) │ +(\d+) │ +([\d.]+) │$", README, re.M)
    facts = json.loads(mensura_command("iq", "--json").out)
    picture = (tutorials.ROOT / "docs" / "first.svg").read_text(encoding="utf-8")
    assert facts["lead"]["sentence"] in picture, "run mensura figure first --width 183 --out docs/first.svg"
    iq = {row["subject"]: row for row in facts["composites"]}
    stitched = json.loads(mensura_command("stitch", "--json").out)["capabilities"]
    capability = {row["subject"]: row["capability"] for row in stitched}
    names = {row["subject"]: row["name"] for row in mensura.load().models.to_dicts()}
    assert len(shown) == 3
    for row, ranked in zip(shown, facts["ranking"], strict=False):
        subject = ranked["subject"]
        numbers = [f"{iq[subject][part]:.0f}" for part in ("iq", "low", "high", "measured")]
        assert row == (str(ranked["rank"]), names[subject], *numbers, f"{capability[subject]:.2f}")
