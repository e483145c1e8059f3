"""Every command of the tutorials and of the questions runs in an empty folder and prints what the page shows."""

import pytest

from tools import tutorials


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
